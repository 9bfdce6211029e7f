"""All that a page shows of recordings, as paths that a table adds to its own."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from fastapi import APIRouter

from tallybone.web.access import Access
from tallybone.web.one_at_a_time import OneAtATime
from tallybone.web.recordings import recording_routes
from tallybone.web.shared_hands import shared_hand_routes
from tallybone.web.shelf import Shelf
from tallybone.web.statistics import statistics_routes


def recording_pages(
    folder: Path, clock: Callable[[], int] = time.monotonic_ns
) -> Callable[[Access], tuple[APIRouter, ...]]:
    """Return what gives the paths of the recordings in a folder, which need not be there yet; *clock* is monotonic."""

    def pages(access: Access) -> tuple[APIRouter, ...]:
        shelf, work = Shelf(folder), OneAtATime()
        return (
            recording_routes(shelf, access, work),
            statistics_routes(shelf, work, clock),
            shared_hand_routes(shelf, work),
        )

    return pages
