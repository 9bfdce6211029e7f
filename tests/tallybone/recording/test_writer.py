"""Tests of the recording writer: compatibility, kills, full disks and memory use."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import random
import stat
import subprocess
import sys
import tracemalloc
import zlib
from dataclasses import replace
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any, cast

import pytest
from mcap.data_stream import ReadDataStream
from mcap.reader import make_reader
from mcap.records import Chunk, ChunkIndex, DataEnd, Footer, Message, Statistics, SummaryOffset
from mcap.stream_reader import StreamReader
from mcap.writer import MCAP0_MAGIC
from mcap_protobuf.decoder import DecoderFactory

from tallybone.recording.format import ImageMessage, RecordingError, SittingStart, Topic
from tallybone.recording.reader import RecordedMessage, read_recording
from tallybone.recording.writer import RecordingWriter
from tests.tallybone.recording.sittings import SECOND, START, damage_of, jpeg, numbers, records_of, write


def test_records_are_read_in_the_order_of_writing(tmp_path: Path) -> None:
    with RecordingWriter(tmp_path / "a.mcap", START) as writer:
        writer.frame(5 * SECOND, jpeg(1), name="one.jpg")
        writer.write(Topic.BUTTON, 4 * SECOND, {"button": "seat 1", "note": "übung"})
        writer.frame(6 * SECOND, jpeg(2))
    assert records_of(tmp_path / "a.mcap") == [
        RecordedMessage(0, 5 * SECOND, Topic.CAMERA, ImageMessage(jpeg(1), "one.jpg")),
        RecordedMessage(1, 4 * SECOND, Topic.BUTTON, {"button": "seat 1", "note": "übung"}),
        RecordedMessage(2, 6 * SECOND, Topic.CAMERA, ImageMessage(jpeg(2))),
    ]
    assert damage_of(tmp_path / "a.mcap") == []
    assert read_recording(tmp_path / "a.mcap").start == START


def test_a_recording_may_be_empty_and_without_players_and_is_not_world_readable(tmp_path: Path) -> None:
    path = write(tmp_path / "empty.mcap", frames=0)
    assert (damage_of(path), stat.S_IMODE(path.stat().st_mode)) == ([], 0o640)
    bare = SittingStart(started_at=datetime(2026, 1, 1, tzinfo=UTC))
    RecordingWriter(tmp_path / "a.mcap", bare).close()
    assert read_recording(tmp_path / "a.mcap").start == bare
    with pytest.raises(ValueError, match="zone"):
        replace(bare, started_at=datetime(2026, 1, 1))  # noqa: DTZ001 - refused for the missing time zone


def test_the_mcap_reader_finds_everything_by_the_index(tmp_path: Path) -> None:
    with write(tmp_path / "a.mcap").open("rb") as file:
        reader = make_reader(file, validate_crcs=True, decoder_factories=[DecoderFactory()])
        summary = reader.get_summary()
        assert summary is not None
        assert summary.statistics is not None
        assert summary.statistics == Statistics(
            attachment_count=0,
            channel_count=3,
            channel_message_counts={Topic.CAMERA.number: 3, Topic.EVENT.number: 3, Topic.OUTCOME.number: 3},
            chunk_count=9,
            message_count=9,
            message_end_time=3 * SECOND + 2,
            message_start_time=SECOND,
            metadata_count=1,
            schema_count=3,
        )
        assert {channel.schema_id for channel in summary.channels.values()} == set(summary.schemas)
        assert {schema.name: schema.encoding for schema in summary.schemas.values()} == {
            "foxglove.CompressedImage": "protobuf",
            "tallybone.Event": "jsonschema",
            "tallybone.Outcome": "jsonschema",
        }
        images = [decoded for *_, decoded in reader.iter_decoded_messages(topics=["/camera"])]
        assert [(image.format, image.data, image.frame_id) for image in images] == [
            ("jpeg", jpeg(0), "camera"),
            ("jpeg", jpeg(1), "01.jpg"),
            ("jpeg", jpeg(2), "02.jpg"),
        ]
        assert (images[2].timestamp.seconds, images[2].timestamp.nanos) == (3, 0)
        outcomes = [
            json.loads(message.data) for _, _, message in reader.iter_messages(topics=["/outcome"], reverse=True)
        ]
        assert outcomes[0] == {"totals": [10, 10]}
        (metadata,) = reader.iter_metadata()
        assert metadata.metadata["players"] == '["Ann", "Bob"]'
    with (tmp_path / "a.mcap").open("rb") as file:
        kinds = [type(record).__name__ for record in StreamReader(file, validate_crcs=True).records]
    assert (kinds.count("Message"), kinds.count("MessageIndex"), kinds.count("ChunkIndex")) == (9, 9, 9)
    assert kinds[-1] == "Footer"


def test_the_index_has_the_place_of_every_record(tmp_path: Path) -> None:
    data = write(tmp_path / "a.mcap").read_bytes()
    found: dict[int, tuple[Any, int]] = {}  # by offset, each with the offset of the next
    with (tmp_path / "a.mcap").open("rb") as file:
        begin = len(MCAP0_MAGIC)
        for record in StreamReader(file, emit_chunks=True).records:
            found[begin], begin = (record, file.tell()), file.tell()
    entries = [record for record, _ in found.values() if isinstance(record, ChunkIndex)]
    for entry, chunk in zip(entries, [one for one, _ in found.values() if isinstance(one, Chunk)], strict=True):
        at, end = entry.chunk_start_offset, entry.chunk_start_offset + entry.chunk_length
        index, after = found[end]
        assert found[at] == (chunk, end)
        assert (entry.message_index_offsets, entry.message_index_length) == ({index.channel_id: end}, after - end)
        ((t_ns, offset),) = index.records
        message = Message.read(ReadDataStream(BytesIO(chunk.data[offset + 9 :])), len(chunk.data) - offset - 9)
        times = {entry.message_start_time, entry.message_end_time, chunk.message_start_time, chunk.message_end_time}
        assert {t_ns, message.log_time, message.publish_time} == times == {t_ns}
        assert entry.compressed_size == entry.uncompressed_size == chunk.uncompressed_size == len(chunk.data)
    ((end, (data_end, index_at)),) = [item for item in found.items() if isinstance(item[1][0], DataEnd)]
    assert data_end.data_section_crc == zlib.crc32(data[:end])
    groups = [record for record, _ in found.values() if isinstance(record, SummaryOffset)]
    ends = [group.group_start + group.group_length for group in groups]
    assert [group.group_start for group in groups] == [index_at, *ends[:-1]]
    assert all(data[group.group_start] == group.group_opcode for group in groups)
    (footer,) = [record for record, _ in found.values() if isinstance(record, Footer)]
    assert (footer.summary_start, footer.summary_offset_start) == (index_at, ends[-1])


def test_results_and_inputs_are_synced_before_the_call_returns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    with RecordingWriter(tmp_path / "a.mcap", START) as writer:
        monkeypatch.setattr(os, "fsync", lambda fd: synced.append(os.fstat(fd).st_size))
        writer.frame(1, jpeg(1))
        for topic in (Topic.OUTCOME, Topic.TRUTH, Topic.EVIDENCE):
            writer.write(topic, 2, {})
        writer.write(Topic.EVENT, 2, {}, is_waited_for=False)
        assert synced == []
        for topic in (Topic.BUTTON, Topic.KNOCK, Topic.CORRECTION, Topic.EVENT, Topic.TABLE):
            writer.write(topic, 3, {})
            assert synced.pop() == (tmp_path / "a.mcap").stat().st_size
        assert synced == []
    assert synced == [(tmp_path / "a.mcap").stat().st_size]


@pytest.mark.parametrize(
    ("t_ns", "fact"), [(-1, {}), (2**63, {}), (0, {"x": float("nan")})], ids=["early", "late", "nan"]
)
def test_invalid_records_are_refused_without_being_written(tmp_path: Path, t_ns: int, fact: dict[str, object]) -> None:
    with RecordingWriter(tmp_path / "a.mcap", START) as writer:
        with pytest.raises(ValueError, match=r"t_ns must be|not JSON compliant"):
            writer.write(Topic.EVENT, t_ns, fact)
        with pytest.raises(ValueError, match="frame"):
            writer.write(Topic.CAMERA, 0, {})
        with pytest.raises(RecordingError, match="at most 64 MB, got 64 MB"):
            writer.frame(0, bytes(64 << 20))
        writer.write(Topic.EVENT, 0, {})
        writer.write(Topic.EVENT, 2**63 - 1, {})
    assert [record.t_ns for record in records_of(tmp_path / "a.mcap")] == [0, 2**63 - 1]
    assert damage_of(tmp_path / "a.mcap") == []
    with pytest.raises(ValueError, match="closed"):
        writer.write(Topic.EVENT, 1, {})


def test_an_existing_file_and_a_missing_folder_are_reported_by_name(tmp_path: Path) -> None:
    write(tmp_path / "a.mcap")
    before = (tmp_path / "a.mcap").read_bytes()
    for path in (tmp_path / "a.mcap", tmp_path / "nowhere" / "a.mcap"):
        with pytest.raises(RecordingError, match=str(path)):
            RecordingWriter(path, START)
    assert (tmp_path / "a.mcap").read_bytes() == before


def test_a_failed_sync_leaves_no_new_file_and_keeps_the_records_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(descriptor: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    writer = RecordingWriter(tmp_path / "a.mcap", START)
    writer.frame(1, jpeg(1))
    monkeypatch.setattr(os, "fsync", broken)
    before = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(OSError, match="Input/output error"):
        RecordingWriter(tmp_path / "b.mcap", START)
    assert [path.name for path in tmp_path.iterdir()] == ["a.mcap"]
    assert len(list(Path("/proc/self/fd").iterdir())) == before
    with pytest.raises(RecordingError, match=r"the recording stopped: Input/output error; .*\(1 records\)"):
        writer.close()
    with pytest.raises(ValueError, match="closed"):
        writer.write(Topic.EVENT, 1, {})
    writer.close()  # closing again has no effect
    assert numbers(records_of(tmp_path / "a.mcap")) == [0]


def test_a_deleted_recording_is_reported_with_the_next_event(tmp_path: Path) -> None:
    path = tmp_path / "a.mcap"
    writer = RecordingWriter(path, START)
    path.unlink()
    with pytest.raises(RecordingError, match="it was deleted"):
        writer.write(Topic.EVENT, 1, {})
    writer.close()
    writer.close()


def test_a_recording_is_locked_during_writing(tmp_path: Path) -> None:
    path = tmp_path / "a.mcap"
    with RecordingWriter(path, START), path.open("rb") as file, pytest.raises(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)


def test_writing_continues_after_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    room = [10**9]
    real_write = os.write

    def write_while_there_is_room(fd: int, data: bytes) -> int:
        if room[0] == 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        written = real_write(fd, data[: room[0]])
        room[0] -= written
        return written

    monkeypatch.setattr(os, "write", write_while_there_is_room)
    path = tmp_path / "a.mcap"
    with RecordingWriter(path, START) as writer:
        writer.write(Topic.EVENT, 1, {})
        whole = path.read_bytes()
        room[0] = 100
        with pytest.raises(RecordingError, match=r"a\.mcap: .*the disk is full.*1 records"):
            writer.frame(2, jpeg(2))
        assert path.read_bytes() == whole
        room[0] = 10**9
        writer.write(Topic.EVENT, 3, {})
    assert numbers(records_of(path)) == [0, 1]
    assert damage_of(path) == []


_WRITE_UNTIL_LIMIT = """
import resource, signal, sys
from pathlib import Path
from tallybone.recording.format import RecordingError
from tallybone.recording.writer import RecordingWriter
from tests.tallybone.recording.sittings import START, jpeg
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
written = 0
try:
    with RecordingWriter(Path(sys.argv[1]), START) as writer:
        while True:
            writer.frame(written, jpeg(written, 900))
            written += 1
except RecordingError as error:
    sys.stdout.write(f"{written}|{error}")
"""


def test_a_file_at_its_size_limit_is_readable(tmp_path: Path) -> None:
    path = tmp_path / "a.mcap"
    done = subprocess.run([sys.executable, "-c", _WRITE_UNTIL_LIMIT, path], capture_output=True, text=True, check=True)
    written, message = done.stdout.split("|")
    assert "the disk is full" in message
    assert len(records_of(path)) == int(written) > 5
    (damage,) = damage_of(path)
    assert "without its index" in damage.problem


_WRITE_UNTIL_KILLED = """
import sys
from pathlib import Path
from tallybone.recording.format import Topic
from tallybone.recording.writer import RecordingWriter
from tests.tallybone.recording.sittings import START, jpeg
with RecordingWriter(Path(sys.argv[1]), START) as writer:
    number = 0
    while True:
        writer.frame(number, jpeg(number, 30_000))
        writer.write(Topic.EVENT, number, {"number": number})
        sys.stdout.write(f"{number}\\n")
        sys.stdout.flush()
        number += 1
"""


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_all_acknowledged_records_survive_a_kill(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "a.mcap"
    with subprocess.Popen(
        [sys.executable, "-c", _WRITE_UNTIL_KILLED, path], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        for _ in range(random.Random(seed).randint(1, 60)):
            acknowledged = int(process.stdout.readline())
        process.kill()
        acknowledged = max([acknowledged, *(int(line) for line in process.stdout if line.endswith("\n"))])
    found = [
        cast(dict[str, int], record.payload)["number"] for record in records_of(path) if record.topic is Topic.EVENT
    ]
    assert found[: acknowledged + 1] == list(range(acknowledged + 1))
    assert len(found) <= acknowledged + 2
    assert all(
        "without its index" in damage.problem or "middle of a record" in damage.problem for damage in damage_of(path)
    )


@pytest.mark.slow
def test_writing_and_reading_ten_thousand_pictures_needs_little_memory(tmp_path: Path) -> None:
    path, picture = tmp_path / "a.mcap", jpeg(1, 20_000)
    tracemalloc.start()
    with RecordingWriter(path, START) as writer:
        for number in range(10_000):
            writer.frame(number, picture)
        held_bytes, _ = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    assert sum(isinstance(record, RecordedMessage) for record in read_recording(path)) == 10_000
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert path.stat().st_size > 200_000_000
    assert held_bytes < 2_000_000
    assert peak_bytes < 4_000_000
