"""Rendered tables drawn by several processes, the same ones whatever the number of processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import cv2
import numpy as np
from threadpoolctl import threadpool_limits

from synthetic.training.processes import drawn_by_processes
from vision.networks.detector import Finder, load_finder
from vision.networks.hard_case_classifier import SecondLook, load_second_look
from vision.networks.pip_features import HalfNetwork, load_halves
from vision.networks.refiner import CloserLook, load_closer_look

_CHUNK = 8
T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class Networks:
    """All that the eye learned before its head.

    Attributes:
        finder: What finds tiles.
        closer: What looks closer at them.
        halves: What looks at halves.
        second_look: What looks again at those in doubt.
    """

    finder: Finder
    closer: CloserLook
    halves: HalfNetwork
    second_look: SecondLook


def load_networks() -> Networks:
    """Return what the package ships."""
    return Networks(load_finder(), load_closer_look(), load_halves(), load_second_look())


def collect(
    draw: Callable[[np.random.Generator, Networks], T],
    seed: int,
    scenes: int,
    jobs: int,
    progress: Callable[[float], None],
) -> Iterator[T]:
    """Yield what is drawn for each table in order, whatever the number of processes.

    Args:
        draw: Draws one table; must be a function of a module, or a `partial` of one, to reach other processes.
        seed: Everything follows from it.
        scenes: Number of tables.
        jobs: Processes that draw.
        progress: Called with the share that is done.
    """
    chunk, chunks = partial(_drawn_chunk, draw, seed, scenes), -(-scenes // _CHUNK)
    if jobs > 1:
        for part in drawn_by_processes(chunk, chunks, jobs, progress):
            yield from part
        return
    for index in range(chunks):
        yield from chunk(index)
        progress((index + 1) / chunks)


def _drawn_chunk(draw: Callable[[np.random.Generator, Networks], T], seed: int, scenes: int, index: int) -> list[T]:
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(index,)))
    threads = cv2.getNumThreads()
    cv2.setNumThreads(1)  # the processes share the cores already
    try:
        with threadpool_limits(1):
            networks = load_networks()  # here, because no network goes from process to process
            return [draw(rng, networks) for _ in range(min(_CHUNK, scenes - index * _CHUNK))]
    finally:
        cv2.setNumThreads(threads)
