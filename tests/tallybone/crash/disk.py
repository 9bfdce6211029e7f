"""A disk that kills its process during a call, with or without a power cut."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any
from unittest.mock import patch

_CALLS = ("open", "write", "fsync", "ftruncate", "close", "rename", "replace", "unlink")
_BLOCK_BYTES = 512


class Death(Enum):
    """Kinds of process ends. After a power cut, only synced data are certain to survive."""

    KILL = "kill"
    POWER = "power"


class Tail(Enum):
    """Outcomes of a power cut for unsynced data."""

    LOST = "lost"
    CUT = "cut"
    LAST_BLOCK_ZERO = "last block zero"
    HOLES = "blocks of zeros"
    NOISE = "last block of something else"
    KEPT = "kept"


@dataclass(slots=True)
class Disk:
    """Intercepts the file calls of a process. Files are only appended to.

    Attributes:
        dies_at: Number of the fatal call, counted from 1.
        death: Kind of end.
        chance: Random generator for other choices.
        calls: Number of calls.
        synced: Path and number of synced bytes of each open file, by descriptor.
        unnamed: Files with an unsynced directory entry.
    """

    dies_at: int
    death: Death
    chance: random.Random
    calls: int = 0
    synced: dict[int, tuple[Path, int]] = field(default_factory=dict)
    unnamed: set[Path] = field(default_factory=set)

    def install(self) -> None:
        """Intercept the calls of this process."""
        for name in _CALLS:
            patch.object(os, name, self._faulty(name, getattr(os, name))).start()

    def _faulty(self, name: str, real_call: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **named: Any) -> Any:
            self.calls += 1
            dies = self.calls == self.dies_at
            if dies and name == "write":
                real_call(args[0], args[1][: self.chance.randint(0, len(args[1]))])
            if dies and self.chance.random() < 0.5:
                self._die()
            done = real_call(*args, **named)
            self._after(name, args, done)
            if dies:
                self._die()
            return done

        return call

    def _after(self, name: str, args: tuple[Any, ...], done: Any) -> None:
        """Track the synced data."""
        if name == "open" and args[1] & os.O_CREAT:
            self.synced[done] = (Path(args[0]), 0)
            self.unnamed.add(Path(args[0]))
        elif name == "fsync" and args[0] in self.synced:
            path, _ = self.synced[args[0]]
            self.synced[args[0]] = (path, path.stat().st_size if path.exists() else 0)
        elif name == "fsync":
            folder = Path(f"/proc/self/fd/{args[0]}").readlink()
            self.unnamed = {path for path in self.unnamed if path.parent.resolve() != folder}
        elif name == "close":
            self.synced.pop(args[0], None)

    def _die(self) -> None:
        if self.death is Death.POWER:
            for path, sure_bytes in self.synced.values():
                self._lose(path, sure_bytes)
        os.kill(os.getpid(), signal.SIGKILL)

    def _lose(self, path: Path, sure_bytes: int) -> None:
        """Simulate a power cut for a file."""
        if not path.exists():
            return
        if path in self.unnamed and self.chance.random() < 0.5:
            path.unlink()
            return
        data = path.read_bytes()
        path.write_bytes(data[:sure_bytes] + torn(data[sure_bytes:], self.chance.choice(list(Tail)), self.chance))


def torn(data: bytes, tail: Tail, chance: random.Random) -> bytes:
    """Return the remains of unsynced bytes."""
    last = max(0, len(data) - chance.randint(1, _BLOCK_BYTES))
    match tail:
        case Tail.LOST:
            return b""
        case Tail.CUT:
            return data[: chance.randint(0, len(data))]
        case Tail.LAST_BLOCK_ZERO:
            return data[:last] + bytes(len(data) - last)
        case Tail.NOISE:
            return data[:last] + chance.randbytes(len(data) - last)
        case Tail.HOLES:
            blocks = (data[at : at + _BLOCK_BYTES] for at in range(0, len(data), _BLOCK_BYTES))
            return b"".join(block if chance.random() < 0.6 else bytes(len(block)) for block in blocks)
        case Tail.KEPT:
            return data
