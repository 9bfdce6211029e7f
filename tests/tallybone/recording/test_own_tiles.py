"""Tests of readers for the user's own tiles, from a calibration and from a recording."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from calibration import RefusedError
from calibration.tiles.tile_set import reader_checksum
from tallybone.choices import TileSet
from tallybone.recording.own_tiles import as_recorded, recorded_set, shipped_reader
from tallybone.store.calibration_file import Calibration
from tests.tallybone.play.test_calibrated import five_everywhere, written
from vision.reader.custom_set import RecordedSet
from vision.reader.reader import Reader, load_reader


@pytest.fixture(scope="module")
def reader() -> Reader:
    return load_reader(6)


def test_a_recording_keeps_the_set_for_suitable_games(reader: Reader) -> None:
    kept = five_everywhere(reader_checksum())
    assert recorded_set(kept, reader) == RecordedSet(6, kept.reader, kept.weights, kept.believed)
    assert recorded_set(replace(kept, max_pips=9), reader) == RecordedSet(9, kept.reader, kept.weights, kept.believed)
    assert recorded_set(kept, replace(reader, max_pips=9)) is None
    assert recorded_set(None, reader) is None
    assert recorded_set(kept, replace(reader, max_pips=None)) is None
    assert recorded_set(replace(kept, weights=""), reader) is None


def test_a_damaged_recorded_set_is_reported_and_not_used(reader: Reader) -> None:
    kept, complaints = five_everywhere(reader_checksum()), list[str]()
    good = RecordedSet(6, kept.reader, kept.weights, kept.believed)
    assert as_recorded(reader, good, complaints.append).own_set is not None
    assert complaints == []
    assert as_recorded(reader, replace(good, weights="AAAA"), complaints.append) is reader
    assert len(complaints) == 1
    assert complaints[0].startswith("The learned tile set is not used: ")


def test_a_photo_is_read_with_the_calibrated_set(tmp_path: Path) -> None:
    picture, tiles = np.full((480, 640, 3), 90, np.uint8), TileSet.DOUBLE_6
    path = written(tmp_path / "own.json", Calibration(set=five_everywhere(reader_checksum())))
    assert shipped_reader(tiles, path)(picture) == shipped_reader(tiles)(picture)  # the picture has no tiles
    with pytest.raises(RefusedError, match="no tiles were learned"):
        shipped_reader(tiles, written(tmp_path / "none.json", Calibration()))
