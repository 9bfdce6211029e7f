"""Loads the next pictures in a thread while one is looked at: decoding takes one core, reading the other."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace

from tallybone.recording.format import Pictures
from tallybone.sources.shots import Shot
from tallybone.sources.source import Item
from vision.errors import VisionError
from vision.pyramid import Image
from vision.settle import small_grey

# So much memory do loaded pictures wait in: 24 of 1280 x 720, about as many as pass while one is read.
_WAITING_BYTES = 64 << 20
_MOST_WAITING = 64


def ahead(items: Iterator[Item], pictures: Pictures) -> Generator[Item, None, None]:
    """Yield the same items in the same order; pictures are loaded before they are asked for.

    What cannot be loaded raises when it is loaded, as it would have. Close it to stop early.
    """
    waiting: deque[Future[tuple[Item | None, int]]] = deque()
    most = 1
    pool = ThreadPoolExecutor(1, thread_name_prefix="pictures")
    try:
        while True:
            while len(waiting) < most:
                waiting.append(pool.submit(_next_loaded, items, is_moving=pictures is Pictures.MOVING))
            item, size_bytes = waiting.popleft().result()
            if item is None:
                return
            if size_bytes:
                most = max(1, min(_MOST_WAITING, _WAITING_BYTES // size_bytes))
            yield item
    finally:
        pool.shutdown(cancel_futures=True)


def _next_loaded(items: Iterator[Item], *, is_moving: bool) -> tuple[Item | None, int]:
    """Return the next item, None after the last, and how many bytes its picture has."""
    item = next(items, None)
    if not isinstance(item, Shot):
        return item, 0
    try:
        image = item.load()
    except (VisionError, OSError) as error:
        return replace(item, load=_raising(error)), 0
    return replace(item, load=lambda: image, grey=small_grey(image) if is_moving else None), image.nbytes


def _raising(error: Exception) -> Callable[[], Image]:
    def load() -> Image:
        raise error

    return load
