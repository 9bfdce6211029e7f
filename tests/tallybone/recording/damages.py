"""Damage to recordings as by cards, disks and cables, and the commands that read them."""

from __future__ import annotations

import io
import json
import random
import shutil
import struct
import zlib
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
from tallybone.replay.export import ExportFiles
from tallybone.replay.lines import recorded_facts
from tallybone.show.recordings import print_recordings
from tallybone.web.recordings.shown import Shelf
from vision.arrays import Image
from vision.tracking.perception import Perception
from vision.tracking.table_view import TableView

_SECTOR_BYTES, _PAGE_BYTES = 512, 4096
_FOOTER_BYTES = 37  # including the magic


class Kind(StrEnum):
    """Kinds of damage."""

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
    """The positions of chunks and index in an undamaged recording."""

    data: bytes
    chunks: tuple[int, ...]
    index_byte: int

    @classmethod
    def of(cls, path: Path) -> Layout:
        data = path.read_bytes()
        (index_byte,) = struct.unpack_from("<Q", data, len(data) - _FOOTER_BYTES + 9)
        with path.open("rb") as file:
            pieces = [piece for piece in scan(file, len(data)) if isinstance(piece, RawRecord)]
        return cls(data, tuple(piece.start_byte for piece in pieces if piece.opcode == Opcode.CHUNK), index_byte)

    def damaged(self, kind: Kind, rng: random.Random) -> bytes:
        """Return the recording with damage of a kind."""
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
                size, (first, second) = _two_blocks(len(data), rng)
                first_block, second_block = data[first : first + size], data[second : second + size]
                data[first : first + size], data[second : second + size] = second_block, first_block
            case Kind.DOUBLED:
                size, (first, second) = _two_blocks(len(data), rng)
                data[second : second + size] = data[first : first + size]
        return bytes(data)


def with_checksum(metadata: dict[str, str]) -> dict[str, str]:
    """Return metadata with their checksum."""
    unchecked = {name: value for name, value in metadata.items() if name != "crc32"}
    return unchecked | {"crc32": f"{zlib.crc32(json.dumps(unchecked, sort_keys=True).encode()):08x}"}


def _two_blocks(length: int, rng: random.Random) -> tuple[int, list[int]]:
    size = rng.choice((_SECTOR_BYTES, _PAGE_BYTES))
    return size, [size * number for number in rng.sample(range(length // size), 2)]


@dataclass(frozen=True, slots=True)
class Read:
    """The result of a command, and whether it reported damage."""

    result: object
    is_reported: bool


class BlindReader(Perception):
    """A reader that finds no tile, and keeps hashes of its pictures."""

    def __init__(self) -> None:
        self.seen: list[int] = []

    def feed(self, image: Image) -> TableView:
        self.seen.append(hash(image.tobytes()))
        return TableView((), (), ())


def _replayed(path: Path) -> Read:
    out, err, reader = io.StringIO(), io.StringIO(), BlindReader()
    code = replay(path, perception=reader, as_json=True, out=out, err=err)
    return Read((out.getvalue(), reader.seen), code != 0)


def _exported(path: Path) -> Read:
    """Replay the log and write all exports. Their contents must be right, and they name no recording."""
    out, err, folder = io.StringIO(), io.StringIO(), path.parent / "exports"
    folder.mkdir()
    try:
        files = ExportFiles(tuple(folder / f"game{suffix}" for suffix in (".dgr", ".csv", ".json")))
        code = replay_log(path, as_json=True, exports=files, out=out, err=err)
        texts = [path.read_bytes() for path in sorted(folder.iterdir())]
    finally:
        shutil.rmtree(folder)
    return Read((out.getvalue(), texts), code != 0)


def _listed(path: Path) -> Read:
    out, err = io.StringIO(), io.StringIO()
    code = print_recordings(path.parent, as_json=True, out=out, err=err)
    entries = [json.loads(line) for line in out.getvalue().splitlines()][:-1]
    damage = [problem for entry in entries for problem in entry.pop("damage")]
    names = [(entry.pop("path"), entry.pop("size_bytes")) for entry in entries]
    assert names in ([], [(str(path), path.stat().st_size)])
    return Read(entries, bool(damage) or code != 0)


def _shown(path: Path) -> Read:
    try:
        game = Shelf(path.parent).opened(path.name).game
    except (EngineError, OSError) as error:
        return Read(str(error), is_reported=True)
    reports = [*game.complaints, *game.found.damage]
    return Read((game.steps, game.frame_times_ns, game.start_ns), bool(reports) or game.start is None)


def _compared(path: Path) -> Read:
    reports: list[str] = []
    try:
        return Read(recorded_facts(path, reports.append), bool(reports))
    except OSError as error:
        return Read(str(error), is_reported=True)


def _resumed(path: Path) -> Read:
    try:
        recording = read_recording(path)
        left = asdict(left_in(recording))
    except OSError as error:
        return Read(str(error), is_reported=True)
    return Read(left, bool(left.pop("damage")) or _ends_early(recording))


def _ends_early(records: RecordingFile) -> bool:
    """Return whether a recording only ends early, as after a power cut. The match then resumes from the end."""
    damage = [record for record in records if isinstance(record, Damage)]
    return bool(damage) and all(part.problem.startswith("the file ends") for part in damage)


READERS: Mapping[str, Callable[[Path], Read]] = {
    "replay": _replayed,
    "exports": _exported,
    "sessions": _listed,
    "page": _shown,
    "compare": _compared,
    "resume": _resumed,
}


class Verdict(StrEnum):
    """Results of reading a damaged recording."""

    RIGHT = "right"
    REPORTED = "reported"
    SILENT = "silently wrong"
    UNCAUGHT = "uncaught"


def verdict(reader: str, path: Path, whole: Read) -> tuple[Verdict, str]:
    """Return the result, and the error if it was not caught."""
    try:
        now = READERS[reader](path)
    except Exception as error:  # noqa: BLE001  any uncaught error is a result
        return Verdict.UNCAUGHT, repr(error)
    if now.result == whole.result:
        return Verdict.RIGHT, ""
    return (Verdict.REPORTED if now.is_reported else Verdict.SILENT), ""
