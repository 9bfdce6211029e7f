"""All that a page shows of recordings, as paths that a table adds to its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from fastapi import APIRouter

from tallybone.web.access import Access
from tallybone.web.one_at_a_time import OneAtATime
from tallybone.web.recordings import recording_routes
from tallybone.web.shelf import Shelf


def recording_pages(folder: Path) -> Callable[[Access], tuple[APIRouter, ...]]:
    """Return what gives the paths of the recordings in a folder, which need not be there yet."""

    def pages(access: Access) -> tuple[APIRouter, ...]:
        return (recording_routes(Shelf(folder), access, OneAtATime()),)

    return pages
