"""Tests of `tallybone listen`: knocks as JSON or sentences, and errors."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest

from hardware.knock.sensor import Sound
from tallybone.cli.devices import listen
from tests.hardware.knock.sounds import with_hits, write_wav


def run_listen(path: Path, *, as_json: bool = False, says_all: bool = False) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    code = listen(path, as_json=as_json, says_all=says_all, out=out, err=err)
    return code, out.getvalue(), err.getvalue()


@pytest.fixture
def knocks(tmp_path: Path) -> Path:
    return write_wav(tmp_path / "knocks.wav", with_hits(Sound.KNOCK, (0.6, 1.8), seed=3))


def test_json_is_one_line_per_knock(knocks: Path) -> None:
    code, out, err = run_listen(knocks, as_json=True)
    assert (code, err) == (0, "")
    lines = [json.loads(line) for line in out.splitlines()]
    assert [list(line) for line in lines] == [["t_s", "strength", "confidence", "kind"]] * 2
    assert [line["t_s"] for line in lines] == pytest.approx([0.6, 1.8], abs=0.02)
    assert {line["kind"] for line in lines} == {"knock"}
    assert all(0.3 < line["strength"] < 0.5 and 0.3 < line["confidence"] <= 1 for line in lines)


def test_the_default_output_is_sentences(knocks: Path) -> None:
    code, out, _ = run_listen(knocks)
    assert code == 0
    assert out.count("s  a knock (strength 0.4") == 2


def test_other_sounds_are_only_reported_on_request(tmp_path: Path) -> None:
    slams = write_wav(tmp_path / "slams.wav", with_hits(Sound.SLAM, (0.6, 1.8), seed=1))
    assert run_listen(slams, as_json=True) == (0, "", "")
    assert run_listen(slams) == (0, "No knock was heard.\n", "")
    code, out, _ = run_listen(slams, as_json=True, says_all=True)
    kinds = [json.loads(line)["kind"] for line in out.splitlines()]
    assert code == 0
    assert len(kinds) >= 2
    assert "knock" not in kinds


def test_a_knock_at_the_very_end_is_reported(tmp_path: Path) -> None:
    samples = with_hits(Sound.KNOCK, (0.6,), seed=9)[: 16_000 * 7 // 10]
    assert run_listen(write_wav(tmp_path / "a.wav", samples), as_json=True)[1].count("\n") == 1


def test_silence_has_no_output(tmp_path: Path) -> None:
    silence = write_wav(tmp_path / "a.wav", np.zeros(16_000, np.float32))
    assert run_listen(silence, as_json=True, says_all=True) == (0, "", "")
    assert run_listen(silence, says_all=True)[1] == "Nothing was heard.\n"


def test_an_invalid_wav_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a\x1b.wav"
    path.write_bytes(b"no sound")
    code, out, err = run_listen(path, as_json=True)
    assert (code, out) == (1, "")
    assert err.endswith("a\\x1b.wav: expected a WAV file (RIFF ... WAVE), but the file starts differently\n")
    code, _, err = run_listen(tmp_path / "nowhere.wav")
    assert code == 1
    assert "nowhere.wav: there is no such file or folder" in err


def test_a_truncated_file_is_used_up_to_its_end(knocks: Path) -> None:
    knocks.write_bytes(knocks.read_bytes()[:-20_000])
    code, out, err = run_listen(knocks, as_json=True)
    assert code == 1
    assert out.count("\n") == 2
    assert "the file is truncated" in err
