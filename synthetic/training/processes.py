"""Draw samples in parallel processes, in an order that does not depend on their number."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import fields, replace
from multiprocessing import get_context
from typing import TYPE_CHECKING, TypeVar

import cv2
import numpy as np

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_CHUNK = 8
T = TypeVar("T")
D = TypeVar("D", bound="DataclassInstance")


def drawn_by_processes(
    draw: Callable[[int], T], count: int, jobs: int, progress: Callable[[float], None]
) -> Iterator[T]:
    """Yield what *draw* returns for 0 to *count* - 1.

    Args:
        draw: A function of a module, or a `partial` of one, to reach other processes.
        count: How often it is called.
        jobs: Processes that draw.
        progress: Called with the share that is done.
    """
    # Spawned, not forked: OpenCV's threads, once used, do not survive a fork, and the child waits for them for ever.
    # One thread each, because the processes share the cores already.
    with ProcessPoolExecutor(jobs, get_context("spawn"), cv2.setNumThreads, (1,)) as pool:
        for done, drawn in enumerate(pool.map(draw, range(count), chunksize=_CHUNK)):
            yield drawn
            progress((done + 1) / count)


def concatenated(parts: Sequence[D]) -> D:
    """Return what many processes drew as one: a dataclass of arrays, each of those of the parts, one after another."""
    arrays = {one.name: np.concatenate([getattr(part, one.name) for part in parts]) for one in fields(parts[0])}
    return replace(parts[0], **arrays)
