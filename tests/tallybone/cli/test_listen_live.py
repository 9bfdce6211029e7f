"""Tests of `tallybone listen --live`: files and a fake microphone, as JSON, lines and in a terminal."""

from __future__ import annotations

import fcntl
import io
import json
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from hardware.knock.drivers.microphone import MicrophoneKnockSensor
from hardware.knock.heard import NS_PER_S
from hardware.knock.sensor import KnockError
from tallybone.cli.app import app
from tallybone.cli.live_sound import SoundSource, file_source, listen_live, microphone_source
from tests.hardware.knock.faulty_sounds import Signal, at_8_bits, clipped, gated, knocks, telephone, with_gaps
from tests.hardware.knock.sounds import wav_bytes, write_wav
from tests.hardware.knock.test_sensors import Clock, Library
from tests.waiting import until

TIMES_S = (0.6, 1.4, 2.2)
EVERY = ("event", "t_s")


class TickingKeyboard:
    """A keyboard whose waiting advances the clock. It types *keys* after *after* ticks."""

    def __init__(
        self, clock: Clock, *, keys: str = "", after: int = 200, also: Callable[[], None] | None = None
    ) -> None:
        self._clock, self._keys, self._left, self._also = clock, keys, after, also
        self.is_over = False

    def pressed(self, wait_s: float) -> str:
        self._clock.t_ns += round(wait_s * NS_PER_S)
        self._left -= 1
        if self._also is not None:
            self._also()
        assert self._left > -100, "the meter does not end"
        return self._keys if self._left <= 0 else ""


def listened(path: Path, *, as_json: bool = True) -> tuple[int, str, str]:
    out, err, clock = io.StringIO(), io.StringIO(), Clock()
    code = listen_live(
        file_source(path), as_json=as_json, out=out, err=err, clock=clock, keyboard=TickingKeyboard(clock)
    )
    return code, out.getvalue(), err.getvalue()


def events(out: str, event: str) -> list[dict[str, Any]]:
    return [line for line in map(json.loads, out.splitlines()) if line["event"] == event]


def test_a_file_is_played_in_real_time_as_json(tmp_path: Path) -> None:
    code, out, err = listened(write_wav(tmp_path / "a.wav", knocks(TIMES_S)))
    assert (code, err) == (0, "")
    sounds, levels = events(out, "sound"), events(out, "level")
    assert [line["t_s"] for line in sounds] == pytest.approx(list(TIMES_S), abs=0.02)
    assert {line["verdict"] for line in sounds} == {"counts as a pass"}
    assert list(sounds[0]) == [*EVERY, "kind", "confidence", "hit", "strength", "above_noise_db", "clipped", "verdict"]
    assert [line["t_s"] for line in levels] == pytest.approx([1, 2, 3], abs=0.15)
    assert list(levels[0]) == [*EVERY, "level_db", "peak_db", "noise_db", "lost", "faults", "warnings"]
    assert levels[-1]["noise_db"] == pytest.approx(-60, abs=1)


@pytest.mark.parametrize(
    ("samples", "fault"),
    [
        (clipped(knocks(TIMES_S)), "clipped"),
        (gated(knocks(TIMES_S), by_db=200), "gated"),
        (gated(knocks(TIMES_S)), "gated"),
        (with_gaps(knocks(TIMES_S), 0.9, 1.7), "dropped"),
        (telephone(knocks(TIMES_S, noise_db=-45)), "band-limited"),
        (np.zeros(16_000 * 4, np.float32), "muted"),
    ],
    ids=["clipped", "digitally gated", "gated", "dropped", "telephone", "muted"],
)
def test_each_fault_of_a_file_is_a_warning(tmp_path: Path, samples: Signal, fault: str) -> None:
    code, out, _ = listened(write_wav(tmp_path / "a.wav", samples))
    last = events(out, "level")[-1]
    assert code == 0
    assert last["faults"] == [fault]
    assert len(last["warnings"]) == 1


def test_8_bits_of_a_file_are_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    path.write_bytes(wav_bytes((at_8_bits(knocks(TIMES_S)) * 128 + 128).astype(np.uint8).tobytes(), bits=8))
    assert events(listened(path)[1], "level")[-1]["faults"] == ["8-bit"]


def test_clipped_knocks_are_marked(tmp_path: Path) -> None:
    _, out, _ = listened(write_wav(tmp_path / "a.wav", clipped(knocks(TIMES_S))))
    assert all(line["clipped"] and "lower the gain" in line["verdict"] for line in events(out, "sound"))


def test_a_knock_at_the_very_end_of_a_file_is_shown(tmp_path: Path) -> None:
    code, out, _ = listened(write_wav(tmp_path / "a.wav", knocks((0.6,))[: 16_000 * 7 // 10]))
    assert code == 0
    assert [line["kind"] for line in events(out, "sound")] == ["knock"]


def test_without_a_terminal_each_sound_is_a_line(tmp_path: Path) -> None:
    code, out, err = listened(write_wav(tmp_path / "a.wav", gated(knocks(TIMES_S), by_db=200)), as_json=False)
    assert (code, err) == (0, "")
    assert len([line for line in out.splitlines() if " dB above noise: " in line]) == 3
    assert out.count("! a noise gate") == 1


def test_a_missing_or_truncated_file_is_an_error(tmp_path: Path) -> None:
    code, out, err = listened(tmp_path / "none.wav")
    assert (code, out) == (1, "")
    assert "none.wav: No such file" in err
    path = write_wav(tmp_path / "a.wav", knocks(TIMES_S))
    path.write_bytes(path.read_bytes()[:-20_000])
    code, out, err = listened(path)
    assert code == 1
    assert len(events(out, "sound")) == 3
    assert "truncated" in err


def microphone(library: Library) -> SoundSource:
    return SoundSource(
        "microphone USB",
        lambda clock, detector: MicrophoneKnockSensor(clock=clock, detector=detector, library=lambda: library),
    )


def test_a_microphone_is_shown_until_q_and_released() -> None:
    library, clock, out = Library(), Clock(), io.StringIO()
    parts = iter(np.array_split(knocks(TIMES_S), 40))

    def deliver() -> None:
        now_ns = clock.t_ns
        library.hear(next(parts), clock)
        clock.t_ns = now_ns

    keyboard = TickingKeyboard(clock, keys="q", after=39, also=deliver)
    assert listen_live(microphone(library), as_json=True, out=out, clock=clock, keyboard=keyboard) == 0
    assert len(events(out.getvalue(), "sound")) == 3
    assert not library.streams[0].active


def test_a_missing_microphone_is_one_clear_error() -> None:
    library, clock, out, err = Library(), Clock(), io.StringIO(), io.StringIO()
    library.is_listed = library.is_plugged_in = False
    code = listen_live(microphone(library), out=out, err=err, clock=clock, keyboard=TickingKeyboard(clock))
    assert (code, out.getvalue()) == (1, "")
    assert err.getvalue() == (
        "tallybone listen: the microphone cannot be opened: Error querying device -1;"
        " list the microphones: arecord -l\n"
    )


def test_a_busy_microphone_names_the_game(monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(*_: object, **__: object) -> None:
        raise Library.PortAudioError("Error opening InputStream: Device unavailable [PaErrorCode -9985]")

    library, clock, err = Library(), Clock(), io.StringIO()
    monkeypatch.setattr(library, "InputStream", busy)
    assert listen_live(microphone(library), err=err, clock=clock, keyboard=TickingKeyboard(clock)) == 1
    assert err.getvalue().endswith("; end the game that uses it: sudo systemctl stop tallybone\n")


def test_an_unplugged_microphone_is_a_warning_and_the_meter_goes_on() -> None:
    library, clock, out = Library(), Clock(), io.StringIO()

    def unplug() -> None:
        library.is_plugged_in = library.streams[0].active = False

    keyboard = TickingKeyboard(clock, keys="q", after=20, also=unplug)
    assert listen_live(microphone(library), out=out, clock=clock, keyboard=keyboard) == 0
    assert "! the microphone " in out.getvalue()


def test_the_microphone_is_that_of_the_table_unless_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    config = tmp_path / "table.toml"
    config.write_text('[hardware.knock]\ndriver = "microphone"\ndevice = "USB Mic"\n')
    assert microphone_source(None, config).name == "microphone USB Mic"
    assert microphone_source("hw:1", config).name == "microphone hw:1"
    config.write_text("")
    assert microphone_source(None, config).name == "default microphone (none in table.toml)"
    config.write_text('[hardware.knock]\ndriver = "piezo-pin"\npin = 17\n')
    with pytest.raises(KnockError, match="piezo-pin, which records no sound: name a microphone with --device"):
        microphone_source(None, config)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([], "name FILE.wav, or add --live"),
        (["a.wav", "--device", "USB"], "--device and --config need --live"),
        (["a.wav", "--live", "--device", "USB"], "omit FILE.wav, or --device"),
    ],
)
def test_contradicting_options_are_refused(arguments: list[str], text: str) -> None:
    result = CliRunner().invoke(app, ["listen", *arguments])
    assert result.exit_code == 2
    assert text in " ".join(result.output.split())


@pytest.mark.parametrize("ending", ["q", "Ctrl-C", "end of the file"])
def test_the_meter_in_a_terminal_ends_cleanly(tmp_path: Path, ending: str) -> None:
    path = write_wav(tmp_path / "a.wav", knocks((0.4, 0.9)))
    main, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
    before = termios.tcgetattr(side)
    command = [sys.executable, "-m", "tallybone", "listen", str(path), "--live"]
    environment = {**os.environ, "TERM": "vt100", "NO_COLOR": "1"}
    environment.pop("COLUMNS", None)
    with subprocess.Popen(command, stdin=side, stdout=side, stderr=side, env=environment) as process:
        shown = read_until(main, lambda shown: b"counts as a pass" in shown)
        if ending == "q":
            os.write(main, b"q")
        elif ending == "Ctrl-C":
            process.send_signal(signal.SIGINT)
        shown += read_until(main, lambda _: process.poll() is not None)
    assert process.returncode == 0
    assert termios.tcgetattr(side)[3] == before[3]  # echo and line mode are restored
    assert b"too quiet |" in shown
    assert b"Traceback" not in shown
    os.close(main)
    os.close(side)


def read_until(fd: int, is_done: Callable[[bytes], bool]) -> bytes:
    """Return what a program writes to a terminal until *is_done* is true for it."""
    shown = b""

    def read_more() -> bool:
        nonlocal shown
        while select.select([fd], [], [], 0.05)[0]:
            shown += os.read(fd, 65_536)
        return is_done(shown)

    until(read_more, 60.0)
    return shown
