"""Damage to recordings as cards, disks and cables do it, and the commands that read them all the same."""

from __future__ import annotations

import io
import json
import random
import shutil
import struct
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

from mcap.opcode import Opcode

from engine import EngineError
from tallybone.recording.container import RawRecord, scan
from tallybone.recording.format import Damage
from tallybone.recording.reader import RecordingFile, read_recording
from tallybone.recording.resume import left_in
from tallybone.replay.command import replay, replay_log
from tallybone.replay.compare import recorded_facts
from tallybone.replay.export import ExportFiles
from tallybone.show.recordings import print_recordings
from tallybone.web.shelf import Shelf
from vision.arrays import Image
from vision.tracking.perception import Perception
from vision.tracking.table_view import TableView

_SECTOR_BYTES, _PAGE_BYTES = 512, 4096
_FOOTER_BYTES = 37  # with the magic after it


class Kind(StrEnum):
    """A way in which a file goes wrong."""

    HEADS = "heads of chunks zeroed"
    SECTOR = "512 bytes zeroed"
    PAGE = "4096 bytes zeroed"
    INDEX_BIT = "a bit of the index flipped"
    BIT = "a bit anywhere flipped"
    CUT = "cut"
    SWAPPED = "two blocks swapped"
    DOUBLED = "a block twice"


@dataclass(frozen=True, slots=True)
class Layout:
    """Where a whole recording has its chunks and its index."""

    data: bytes
    chunks: tuple[int, ...]
    index_byte: int

    @classmethod
    def of(cls, path: Path) -> Layout:
        data = path.read_bytes()
        (index_byte,) = struct.unpack_from("<Q", data, len(data) - _FOOTER_BYTES + 9)
        with path.open("rb") as file:
            pieces = [one for one in scan(file, len(data)) if isinstance(one, RawRecord)]
        return cls(data, tuple(one.start_byte for one in pieces if one.opcode == Opcode.CHUNK), index_byte)

    def damaged(self, kind: Kind, rng: random.Random) -> bytes:
        """Return the recording with one damage of a kind."""
        data = bytearray(self.data)
        match kind:
            case Kind.HEADS:
                for at in rng.sample(self.chunks, rng.choice((1, 1, 3, len(self.chunks)))):
                    data[at : at + 9] = bytes(9)
            case Kind.SECTOR | Kind.PAGE:
                size = _SECTOR_BYTES if kind is Kind.SECTOR else _PAGE_BYTES
                at = size * rng.randrange(len(data) // size + 1)
                data[at : at + size] = bytes(len(data[at : at + size]))
            case Kind.INDEX_BIT:
                data[rng.randrange(self.index_byte, len(data))] ^= 1 << rng.randrange(8)
            case Kind.BIT:
                data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
            case Kind.CUT:
                del data[rng.randrange(len(data)) :]
            case Kind.SWAPPED:
                size, (one, other) = _two_blocks(len(data), rng)
                first, second = data[one : one + size], data[other : other + size]
                data[one : one + size], data[other : other + size] = second, first
            case Kind.DOUBLED:
                size, (one, other) = _two_blocks(len(data), rng)
                data[other : other + size] = data[one : one + size]
        return bytes(data)


def _two_blocks(length: int, rng: random.Random) -> tuple[int, list[int]]:
    size = rng.choice((_SECTOR_BYTES, _PAGE_BYTES))
    return size, [size * number for number in rng.sample(range(length // size), 2)]


@dataclass(frozen=True, slots=True)
class Read:
    """What a command made of a recording: its result, and whether it said that anything is wrong."""

    result: object
    is_said: bool


class BlindEye(Perception):
    """Sees no tile, and keeps the pictures that it was shown."""

    def __init__(self) -> None:
        self.seen: list[int] = []

    def feed(self, image: Image) -> TableView:
        self.seen.append(hash(image.tobytes()))
        return TableView((), (), ())


def _replayed(path: Path) -> Read:
    out, err, eye = io.StringIO(), io.StringIO(), BlindEye()
    code = replay(path, perception=eye, as_json=True, out=out, err=err)
    return Read((out.getvalue(), eye.seen), code != 0)


def _exported(path: Path) -> Read:
    """Replay the log and write all texts: what is written must be right too, and it names no recording."""
    out, err, folder = io.StringIO(), io.StringIO(), path.parent / "exports"
    folder.mkdir()
    try:
        files = ExportFiles(tuple(folder / f"game{suffix}" for suffix in (".dgr", ".csv", ".json")))
        code = replay_log(path, as_json=True, exports=files, out=out, err=err)
        texts = [one.read_bytes() for one in sorted(folder.iterdir())]
    finally:
        shutil.rmtree(folder)
    return Read((out.getvalue(), texts), code != 0)


def _listed(path: Path) -> Read:
    out, err = io.StringIO(), io.StringIO()
    code = print_recordings(path.parent, as_json=True, out=out, err=err)
    said = [json.loads(line) for line in out.getvalue().splitlines()][:-1]
    damage = [problem for one in said for problem in one.pop("damage")]
    names = [(one.pop("path"), one.pop("size_bytes")) for one in said]
    assert names in ([], [(str(path), path.stat().st_size)])
    return Read(said, bool(damage) or code != 0)


def _shown(path: Path) -> Read:
    try:
        game = Shelf(path.parent).opened(path.name).game
    except (EngineError, OSError) as error:
        return Read(str(error), is_said=True)
    said = [*game.complaints, *game.found.damage]
    return Read((game.steps, game.frame_times_ns, game.start_ns), bool(said) or game.start is None)


def _compared(path: Path) -> Read:
    said: list[str] = []
    try:
        return Read(recorded_facts(path, said.append), bool(said))
    except OSError as error:
        return Read(str(error), is_said=True)


def _resumed(path: Path) -> Read:
    try:
        recording = read_recording(path)
        left = asdict(left_in(recording))
    except OSError as error:
        return Read(str(error), is_said=True)
    return Read(left, bool(left.pop("damage")) or _ends_early(recording))


def _ends_early(records: RecordingFile) -> bool:
    """Return whether a recording only ends early: a match goes on from where the power went, and nobody wonders."""
    damage = [one for one in records if isinstance(one, Damage)]
    return bool(damage) and all(one.problem.startswith("the file ends") for one in damage)


READERS: Mapping[str, Callable[[Path], Read]] = {
    "replay": _replayed,
    "exports": _exported,
    "sessions": _listed,
    "page": _shown,
    "compare": _compared,
    "resume": _resumed,
}


class Verdict(StrEnum):
    """What came of reading a damaged recording."""

    RIGHT = "right"
    SAID = "said damaged"
    SILENT = "silently wrong"
    UNCAUGHT = "uncaught"


def verdict(reader: str, path: Path, whole: Read) -> tuple[Verdict, str]:
    """Return what came of it, and the error where one was not caught."""
    try:
        now = READERS[reader](path)
    except Exception as error:  # noqa: BLE001  whatever comes out is what is looked for
        return Verdict.UNCAUGHT, repr(error)
    if now.result == whole.result:
        return Verdict.RIGHT, ""
    return (Verdict.SAID if now.is_said else Verdict.SILENT), ""
