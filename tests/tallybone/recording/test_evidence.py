"""Tests of recording crops of plays and questions, and of their size limit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tallybone.recording.format import Topic
from tallybone.recording.reader import RecordedMessage, read_recording
from tallybone.recording.resume import MAX_BYTES, Crops, Evidence, evidence_of, left_in, write_evidence, write_left
from tallybone.recording.writer import RecordingWriter
from tests.tallybone.recording.sittings import START, records_of
from tests.tallybone.recording.test_resume import WHOLE, write

PLAY, QUESTION = Evidence(12, 5, b"\xff\xd8\xff"), Evidence("the 5-4 / the 6-4", 6, b"\xff\xd8")


def test_crops_are_read_as_written(tmp_path: Path) -> None:
    with RecordingWriter(tmp_path / "a.mcap", START) as writer:
        for evidence in (PLAY, QUESTION):
            write_evidence(writer, evidence)
    records = records_of(tmp_path / "a.mcap")
    assert records[0] == RecordedMessage(0, 5, Topic.EVIDENCE, {"seq": 12, "jpeg": "/9j/"})
    assert records[1].payload == {"topic": "the 5-4 / the 6-4", "jpeg": "/9g="}
    assert [evidence_of(record) for record in records] == [PLAY, QUESTION]


@pytest.mark.parametrize(
    "fact", [{}, {"seq": True, "jpeg": "/9j/"}, {"seq": 1.5, "jpeg": "/9j/"}, {"seq": 1}, {"seq": 1, "jpeg": "é?"}]
)
def test_an_invalid_crop_does_not_stop_a_match(tmp_path: Path, fact: dict[str, object]) -> None:
    path = write(tmp_path / "a.mcap")
    whole = tmp_path / "b.mcap"
    with RecordingWriter(whole, WHOLE.start) as writer:
        write_left(writer, left_in(read_recording(path)), 3)
        writer.write(Topic.EVIDENCE, 4, fact)
    assert left_in(read_recording(whole)) == WHOLE


def test_a_resumed_match_has_the_crops_of_the_previous_recording(tmp_path: Path) -> None:
    left = replace(WHOLE, evidence=(PLAY, QUESTION))
    path = tmp_path / "a.mcap"
    with RecordingWriter(path, WHOLE.start) as writer:
        write_left(writer, left, 4)
        write_evidence(writer, replace(PLAY, jpeg=b"\xff\xd8\xfe"))
    evidence = left_in(read_recording(path)).evidence
    assert [(crop.of, crop.jpeg) for crop in evidence] == [(QUESTION.of, QUESTION.jpeg), (12, b"\xff\xd8\xfe")]


def test_the_oldest_crops_are_dropped() -> None:
    size = MAX_BYTES // 4
    crops = Crops(Evidence(seq, seq, bytes(size)) for seq in (1, 2, 3, 4, 1))
    assert [crop.of for crop in crops] == [2, 3, 4, 1]
    crops.add(Evidence("?", 9, bytes(1)))
    assert [crop.of for crop in crops] == [3, 4, 1, "?"]
    assert crops.find(2) is None
    assert sum(len(crop.jpeg) for crop in crops) <= MAX_BYTES
