"""Tests of `tallybone calibrate knock` with modelled sound from files and sensors, and of its use in a game."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from calibration.knock import CollectingDetector, KnockCalibration, TableExamples, learned
from hardware.knock.classifier import Classifier, Correction, load_classifier
from hardware.knock.detector import KnockDetector
from hardware.knock.drivers.wav import WavKnockSensor, WavSettings
from hardware.knock.sensor import NS_PER_S, RATE_HZ, Sound
from hardware.libraries import PinLibrary
from hardware.table import PartOpener, VirtualPanel
from lab.matches.calibration import knock_sitting
from lab.sounds.devices import apply_response, tilted
from tallybone.calibrate.knock import calibrate_knock
from tallybone.calibrate.look import timetable
from tallybone.play.start import use_of
from tallybone.store.calibration_file import Calibration, load_calibration, save_calibration
from tests.hardware.knock.sounds import block, with_hits, write_wav
from tests.tallybone.calibrate.test_lens_and_table import captured_output

# A modelled table where a bright microphone detects few knocks.
BRIGHT_TABLE = 5
KNOCKS_S = (0.5, 1.5, 2.5, 3.5)


@pytest.fixture(scope="module")
def sound() -> NDArray[np.float32]:
    return knock_sitting(3, 2)


def test_a_recording_by_the_timetable_gives_a_calibration(tmp_path: Path, sound: NDArray[np.float32]) -> None:
    into = tmp_path / "c.json"
    output, out, err = captured_output()
    assert calibrate_knock(into, 2, wav=write_wav(tmp_path / "a.wav", sound), output=output) == 0, err.getvalue()
    kept = load_calibration(into).knock
    assert kept is not None
    assert (kept.knocks, kept.passed, len(kept.strengths)) == (10, 0, 2)
    assert kept.found >= 9
    assert kept.likest < 0.5 < kept.weakest
    assert "10 of 10 detected" in out.getvalue()


@pytest.mark.slow
def test_a_bright_microphone_detects_knocks_when_calibrated(tmp_path: Path) -> None:
    into, output = tmp_path / "c.json", captured_output()
    bright = write_wav(tmp_path / "a.wav", apply_response(knock_sitting(BRIGHT_TABLE, 2), tilted(9.0)))
    assert calibrate_knock(into, 2, wav=bright, output=output[0]) == 0, output[2].getvalue()
    kept = load_calibration(into).knock
    assert kept is not None
    other = apply_response(knock_sitting(BRIGHT_TABLE, 2, hits=1), tilted(9.0))
    own = block(other[timetable(2)[2].from_s * RATE_HZ :])
    found = [
        [sound.kind for sound in KnockDetector(by).feed(own)].count(Sound.KNOCK)
        for by in (None, learned(load_classifier(), kept.examples))
    ]
    assert found[1] >= max(8, found[0])


def test_live_calibration_gives_the_same_result_with_instructions(tmp_path: Path, sound: NDArray[np.float32]) -> None:
    wav, now_ns = write_wav(tmp_path / "a.wav", sound), [7 * NS_PER_S]

    def pause(_: float) -> None:
        now_ns[0] += NS_PER_S // 4

    def sensor_for(detector: KnockDetector) -> WavKnockSensor:
        return WavKnockSensor(wav, clock=lambda: now_ns[0], detector=detector)

    output, out, err = captured_output()
    code = calibrate_knock(
        tmp_path / "live.json", 2, sensor=sensor_for, clock=lambda: now_ns[0], pause=pause, output=output
    )
    assert code == 0, err.getvalue()
    assert calibrate_knock(tmp_path / "file.json", 2, wav=wav, output=captured_output()[0]) == 0
    live, file = load_calibration(tmp_path / "live.json").knock, load_calibration(tmp_path / "file.json").knock
    assert live == file
    text = out.getvalue()
    assert text.index("Be quiet") < text.index("Shuffle") < text.index("Seat 1: knock 5") < text.index("Seat 2")


def test_tiles_instead_of_knocks_and_a_missing_recording_are_refused(tmp_path: Path) -> None:
    wav = write_wav(tmp_path / "a.wav", knock_sitting(1, 2, knocks=Sound.TILE))
    output, _, err = captured_output()
    assert calibrate_knock(tmp_path / "c.json", 2, wav=wav, output=output) == 1
    assert "were recognized as knocks" in err.getvalue()
    assert calibrate_knock(tmp_path / "c.json", 2, wav=tmp_path / "none.wav", output=output) == 1
    assert "none.wav" in err.getvalue()
    assert not (tmp_path / "c.json").exists()


def test_a_game_uses_the_calibration_of_its_table(tmp_path: Path) -> None:
    path, knocks = tmp_path / "c.json", with_hits(Sound.KNOCK, KNOCKS_S, seed=3)
    # A table where everything that sounds like these knocks was a tile.
    hearing = CollectingDetector()
    hearing.feed(block(knocks))
    heard = [tuple(float(f"{value:.4g}") for value in sound.embedding or ()) for sound in hearing.take()]
    examples = TableExamples(load_classifier().name, ((0.0,) * len(heard[0]),), tuple(heard * 10))
    kept = KnockCalibration(0.3, 0.01, 10, 10, 24, 0, (0.4, 0.5), examples)
    save_calibration(Calibration(knock=kept), path)
    used = use_of(path, 2, None, is_named=True)
    knock = used.calibration.knock
    assert knock == kept
    assert "calibrated at this table" in used.text[-1]
    wav = write_wav(tmp_path / "knocks.wav", knocks)
    kinds = [_knocks(wav, classifier) for classifier in (None, learned(load_classifier(), knock.examples))]
    assert kinds[0] > kinds[1]


def test_an_open_sensor_uses_a_new_classifier(tmp_path: Path) -> None:
    now_ns = [0]
    opener = PartOpener(PinLibrary.MOCK, VirtualPanel(()), lambda: now_ns[0])
    file = write_wav(tmp_path / "knocks.wav", with_hits(Sound.KNOCK, KNOCKS_S, seed=3))
    sensor = opener.knock(WavSettings(driver="wav", file=str(file)))
    now_ns[0] = 1 * NS_PER_S
    before = sensor.read()
    shipped = load_classifier()
    opener.use(replace(shipped, correction=Correction(np.zeros(shipped.others.shape[1], np.float32), -30.0)))
    now_ns[0] = 10 * NS_PER_S
    after = sensor.read()
    sensor.close()
    assert max((sound.hit for sound in after), default=1.0) < 0.01
    assert all(sound.embedding is not None for sound in (*before, *after))


def _knocks(wav: Path, classifier: Classifier | None) -> int:
    """Return the number of knocks that a game detects in a file."""
    now_ns = [0]
    opener = PartOpener(PinLibrary.MOCK, VirtualPanel(()), lambda: now_ns[0], classifier)
    sensor = opener.knock(WavSettings(driver="wav", file=str(wav)))
    now_ns[0] = 10 * NS_PER_S
    sounds = sensor.read()
    sensor.close()
    return sum(sound.kind is Sound.KNOCK for sound in sounds)
