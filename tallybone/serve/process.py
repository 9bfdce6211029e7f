"""What this program takes of its computer, as the kernel counts it."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Process:
    """What it takes; None where the system does not say.

    Attributes:
        cpu_s: Of all cores, since it was started.
        resident_bytes: Of memory, now.
        files: That it holds open.
        threads: That it runs.
    """

    cpu_s: float
    resident_bytes: int | None
    files: int | None
    threads: int


def read_process(proc: Path = Path("/proc/self")) -> Process:
    """Look at this program."""
    return Process(time.process_time(), _resident_bytes(proc / "statm"), _files(proc / "fd"), threading.active_count())


def _resident_bytes(statm: Path) -> int | None:
    try:
        pages = statm.read_text().split()
    except OSError:
        return None
    return int(pages[1]) * os.sysconf("SC_PAGE_SIZE")


def _files(folder: Path) -> int | None:
    try:
        return sum(1 for _ in folder.iterdir())
    except OSError:
        return None
