"""Draw samples in parallel processes, in a fixed order."""

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


def draw_in_processes(
    draw: Callable[[int], T], count: int, jobs: int, progress: Callable[[float], None]
) -> Iterator[T]:
    """Yield the results of *draw* for 0 to *count* - 1, in order.

    Args:
        draw: Picklable function: a module-level function or a `partial` of one.
        count: Number of calls.
        jobs: Number of processes.
        progress: Called with the completed share after each result.
    """
    # Spawn instead of fork, because OpenCV's threads do not survive a fork and the child would hang. Use a single
    # OpenCV thread per process, because the processes already share the cores.
    with ProcessPoolExecutor(jobs, get_context("spawn"), cv2.setNumThreads, (1,)) as pool:
        for done, drawn in enumerate(pool.map(draw, range(count), chunksize=_CHUNK)):
            yield drawn
            progress((done + 1) / count)


def concatenated(parts: Sequence[D]) -> D:
    """Concatenate dataclasses of arrays, field by field. *parts* must not be empty."""
    arrays = {field.name: np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(parts[0])}
    return replace(parts[0], **arrays)
