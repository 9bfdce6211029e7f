"""Draw samples with the shipped networks in several processes. Results do not depend on the number of processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import cv2
import numpy as np
from threadpoolctl import threadpool_limits

from synthetic.training.processes import draw_in_processes
from vision.networks.detector import Detector, load_detector
from vision.networks.network import (
    HardCaseClassifier,
    PipFeatures,
    Refiner,
    load_hard_case_classifier,
    load_pip_features,
    load_refiner,
)

_CHUNK = 8
T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class Networks:
    """The networks that the pip classifier builds on.

    Attributes:
        detector: Proposes tiles.
        refiner: Scores and corrects the proposals.
        halves: Extracts pip features from halves.
        hard_cases: Classifies halves with low confidence.
    """

    detector: Detector
    refiner: Refiner
    halves: PipFeatures
    hard_cases: HardCaseClassifier


def load_networks() -> Networks:
    """Load the shipped networks."""
    return Networks(load_detector(), load_refiner(), load_pip_features(), load_hard_case_classifier())


def collect(
    draw: Callable[[np.random.Generator, Networks], T],
    seed: int,
    scenes: int,
    jobs: int,
    progress: Callable[[float], None],
) -> Iterator[T]:
    """Yield the sample of each table, in an order that does not depend on the number of processes.

    Args:
        draw: Picklable function that draws a table: a module-level function or a `partial` of one.
        seed: Random seed.
        scenes: Number of tables.
        jobs: Number of processes.
        progress: Called with the completed share.
    """
    chunk, chunks = partial(_drawn_chunk, draw, seed, scenes), -(-scenes // _CHUNK)
    if jobs > 1:
        for part in draw_in_processes(chunk, chunks, jobs, progress):
            yield from part
        return
    for index in range(chunks):
        yield from chunk(index)
        progress((index + 1) / chunks)


def _drawn_chunk(draw: Callable[[np.random.Generator, Networks], T], seed: int, scenes: int, index: int) -> list[T]:
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(index,)))
    threads = cv2.getNumThreads()
    cv2.setNumThreads(1)  # the processes already share the cores
    try:
        with threadpool_limits(1):
            networks = load_networks()  # networks cannot be passed between processes
            return [draw(rng, networks) for _ in range(min(_CHUNK, scenes - index * _CHUNK))]
    finally:
        cv2.setNumThreads(threads)
