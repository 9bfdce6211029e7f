"""Tests of the reader in long use and in several threads: same results, constant memory."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.vision.tables import lay, reader, table_with
from vision.arrays import Image
from vision.reader.reader import Reader, load_reader
from vision.reading import Reading


def tables() -> list[Image]:
    return [table_with([lay(3, 5, 0, 0, 30 * turn), lay(6, 6, 90, 40), lay(1, 0, -90, 0)]).image for turn in range(2)]


@pytest.mark.slow
def test_readers_in_two_threads_agree_with_a_single_one() -> None:
    images = tables()
    alone = [reader().read(image) for image in images]
    assert all(len(reading.tiles) == 3 for reading in alone)

    def read_all(thread_reader: Reader) -> list[Reading]:
        return [thread_reader.read(image) for image in images]

    readers = [load_reader() for _ in range(2)]  # networks are not thread-safe
    with ThreadPoolExecutor(len(readers)) as threads:
        assert list(threads.map(read_all, readers)) == [alone] * 2


def resident_mb() -> float:
    found = re.search(r"VmRSS:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1]) / 1024


@pytest.mark.slow
def test_fifty_reads_need_no_more_memory_than_ten() -> None:
    images = tables()
    first = reader().read(images[0])
    for count in range(50):
        reader().read(images[count % 2])
        if count == 10:
            before_mb = resident_mb()
    assert reader().read(images[0]) == first
    assert resident_mb() - before_mb < 5
