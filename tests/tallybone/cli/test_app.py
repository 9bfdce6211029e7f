"""Tests of the command line as a program: start-up time, usage errors, invalid input, and an unwritable stdout."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

from tallybone import laboratory
from tallybone.cli.app import COMMANDS, app
from tallybone.recording.survey import survey
from tests.hardware.knock.sounds import write_wav
from tests.tallybone.replay.videos import write_video

TALLYBONE = Path(sys.executable).with_name("tallybone")


def tallybone(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([TALLYBONE, *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL)


@pytest.mark.timed
def test_help_takes_under_half_a_second_of_cpu_time() -> None:
    """CPU time does not depend on the load of the machine."""
    seconds = []
    for _ in range(5):
        before = sum(os.times()[2:4])
        done = tallybone("--help")
        seconds.append(sum(os.times()[2:4]) - before)
        assert done.returncode == 0
        assert "read" in done.stdout
        if seconds[-1] < 0.5:
            break
    assert 0 < min(seconds) < 0.5


def test_heavy_modules_are_imported_lazily() -> None:
    code = "import sys, tallybone.cli; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    heavy = {"cv2", "numpy", "scipy", "sklearn", "rich", "pydantic"}
    assert not heavy & set(loaded)
    assert "tallybone.cli" in loaded


@pytest.mark.slow
def test_the_version_is_an_option_and_a_command() -> None:
    assert tallybone("--version").stdout == tallybone("version").stdout
    assert tallybone("version").stdout.startswith("tallybone 0.")


def test_the_bare_command_says_how_to_start() -> None:
    done = tallybone()
    assert done.returncode == 0
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("  tallybone demo ")
    assert lines[1].startswith("  tallybone serve ")
    assert [name for name in COMMANDS if name not in done.stdout] == []


@pytest.mark.parametrize(
    ("arguments", "word"), [(["read"], "PHOTO"), (["read", "--set", "double-7", "x.jpg"], "double-7")]
)
def test_usage_errors_exit_with_2_and_name_the_mistake(arguments: list[str], word: str) -> None:
    done = tallybone(*arguments)
    assert done.returncode == 2
    assert word in done.stderr
    assert done.stdout == ""


def test_commands_and_cameras_of_the_laboratory_say_in_a_sentence_that_it_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(metadata, "entry_points", lambda **_: ())
    lines = []
    for arguments in (["demo"], ["train", "pips"], ["calibrate", "guide", "--camera", "simulated"]):
        with pytest.raises(SystemExit) as ended:
            app(arguments)
        out, err = capsys.readouterr()
        lines.append((ended.value.code, out, err.partition(" is a part of tallybone-lab, which is not installed: ")[0]))
    assert lines == [
        (1, "", "tallybone: the command demo"),
        (1, "", "tallybone: the command train"),
        (1, "", "tallybone calibrate: a simulated camera"),
    ]


def test_all_commands_of_the_laboratory_come_from_its_entry_points() -> None:
    points = {point.name for point in metadata.entry_points(group=laboratory.COMMANDS)}
    assert points == {name for name, entry in COMMANDS.items() if entry.module is None}


# Arguments, exit code (1 for invalid input, 2 for invalid usage), and a part of the message.
WRONG = [
    ("replay nosuch", 1, "nosuch: expected a recording (.mcap), a video"),
    ("replay empty", 1, "empty: expected pictures"),
    ("replay text.txt", 1, "text.txt: expected a recording"),
    ("replay bad.mcap", 1, "bad.mcap: expected a recording, but it is not an MCAP file"),
    ("replay nosuch.mcap --log-only", 1, "nosuch.mcap: expected a recording, but there is no such file"),
    ("replay empty --export /proc/z.mp4", 1, "/proc/z.mp4: cannot write files in /proc"),
    ("replay empty --export x.xyz", 2, "x.xyz: expected a name that ends in"),
    ("replay nosuch --jobs 2", 1, "nosuch: there is no such file or folder"),
    ("replay nosuch --rules bonse", 2, 'no game is called "bonse", did you mean bones?'),
    ("replay nosuch --from abc", 2, "got 'abc'"),
    ("replay nosuch --speed 0", 2, "expected a number greater than or equal to 0.01, got '0'"),
    ("sessions nosuch", 1, "nosuch: there is no such file or folder"),
    ("sessions text.txt", 1, "text.txt: expected a folder, but it is a file"),
    ("sessions empty --keep abc", 2, "got 'abc'"),
    ("play --config nosuch.toml", 1, "nosuch.toml: there is no such file or folder"),
    ("play --config bad.toml", 2, "bad.toml: this is not valid TOML"),
    ("play --config empty", 2, "'empty' is a directory"),
    ("play --camera nosuch", 1, "nosuch: there is no such camera or file"),
    ("play --camera text.txt", 1, "text.txt: expected a recording"),
    ("play --camera simulated:seed=x", 2, "seed: expected a whole number, got x"),
    ("play --camera simulated:difficulty=x", 2, "difficulty: expected one of easy, normal, hard, got x"),
    ("play --rules five-up", 2, '"five-up" is the game allfives with the option variation=five_up'),
    ("play --options target=x", 2, 'got "x"'),
    ("play --fps 0", 2, "expected a number greater than or equal to 1, got '0'"),
    ("play --camera nosuch --serve 99999", 2, "page at 99999: expected a port"),
    ("play --camera nosuch --serve 192.0.2.77:0", 1, "page at 192.0.2.77:0: this computer has no such address"),
    ("play --record /proc/x", 1, "--record /proc/x: cannot create the folder in /proc"),
    ("play --record text.txt", 1, "--record text.txt: cannot create the folder: there is a file of that name"),
    ("play --record text.txt/x", 1, "--record text.txt/x: cannot create the folder: "),
    ("play --resume-from nosuch.mcap", 1, "nosuch.mcap: expected a recording, but there is no such file"),
    ("serve --config nosuch.toml", 1, "nosuch.toml: there is no such file or folder"),
    ("serve --at abc:x", 2, "page at abc:x: expected a port"),
    ("hub --broker foo", 2, "broker: expected mqtt://HOST[:PORT], or mqtts:// with TLS, got foo"),
    ("read nosuch.jpg", 1, "nosuch.jpg: there is no such file"),
    ("read bad.jpg", 1, "bad.jpg: not a readable picture"),
    ("read bad.jpg --annotate /proc/x", 1, "--annotate /proc/x: cannot create the folder in /proc"),
    ("read bad.jpg --annotate text.txt", 2, "'text.txt' is a file"),
    ("evaluate nosuch nosuch", 1, "nosuch: it cannot be opened"),
    ("evaluate nosuch.mcap", 1, "nosuch.mcap: expected a recording, but there is no such file"),
    ("demo --seed x", 2, "expected a whole number, got 'x'"),
    ("simulate --out /proc/x.mcap", 1, "/proc/x.mcap: cannot create the recording"),
    ("simulate --out y.mcap --options foo=1", 2, "foo: unknown option"),
    ("rules chess", 2, 'no game is called "chess"; the games are bones'),
    ("rules bones target=x", 2, 'target: expected 1 or more, or none, got "x"'),
    ("score nosuch", 1, "nosuch: there is no such file or folder"),
    ("score empty", 1, "empty: expected a file, but it is a folder"),
    ("score bad.dgr", 1, "bad.dgr: line 1, column 33: expected a tile"),
    ("listen nosuch.wav", 1, "nosuch.wav: there is no such file or folder"),
    ("listen text.txt", 1, "text.txt: expected a WAV file"),
    ("emulate-display foo", 2, "'foo' is not one of 'nextion', 'segment', 'serlcd'"),
    ("emulate-display serlcd --at text.txt", 1, "--at text.txt: the port cannot be made there: there is a file"),
    ("restore nosuch.tar", 1, "nosuch.tar: there is no such file or folder"),
    ("restore text.txt", 1, "the backup is truncated"),
    ("backup /proc/x.tar", 1, "/proc/x.tar: cannot write files in /proc"),
    ("calibrate lens nosuch.jpg", 1, "nosuch.jpg: there is no such file"),
    ("calibrate print --out empty", 1, "--out empty: cannot save: expected a file, but it is a folder"),
    ("calibrate set bad.jpg --tiles x", 2, "got 'x'"),
    ("hardware test --config nosuch.toml", 1, "nosuch.toml: there is no such file or folder"),
    ("hub --broker mqtt://x --at foo", 2, "page at foo: expected a port"),
    ("hub", 2, "tallybone hub: missing option '--broker'; see `tallybone hub --help`"),
    ("evaluate nosuch", 2, "tallybone evaluate: nosuch: expected recordings or folders, or LABELS and ROOT"),
    ("calibrate print --out /no/x", 1, "--out /no/x: cannot save: there is no such file or folder"),
    ("serve --set-password", 2, "tallybone serve: --set-password asks for the password, which needs a terminal"),
    ("play --camera usb:77", 1, "no such camera"),
    ("play --nosuch", 2, "tallybone play: no such option: --nosuch"),
    ("hub --broker", 2, "tallybone: option '--broker' requires an argument"),
    ("raed photo.jpg", 2, "tallybone: no such command 'raed'; did you mean 'read'?"),
    ("calibrate tabel", 2, "tallybone calibrate: no such command 'tabel'; did you mean 'table'?"),
    ("shuffle", 2, "tallybone: no such command 'shuffle'; see `tallybone --help`"),
]

_BLEMISHES = ("[Errno", "Value error,", "Input should be", "Traceback", "invalid literal", "No such file or directory")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Change to a folder with an invalid file of each kind, which is also the home folder."""
    for name in ("empty", "state/tallybone"):
        (tmp_path / name).mkdir(parents=True)
    files = {
        "text.txt": "hello",
        "bad.toml": "bad = [",
        "bad.mcap": "no recording",
        "bad.jpg": "no picture",
        "bad.dgr": '[DGR "1"] [Rules "bones"] #1 A: 7x',
        "state/tallybone/house.json": "{}",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with Path(os.devnull).open(encoding="utf-8") as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        yield tmp_path


def run(arguments: str, capfd: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Return the exit code and stderr."""
    with pytest.raises(SystemExit) as done:
        app(arguments.split(), prog_name="tallybone")
    assert isinstance(done.value.code, int)
    return done.value.code, capfd.readouterr().err


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("arguments", "code", "text"), WRONG, ids=[arguments for arguments, _, _ in WRONG])
def test_invalid_input_is_named_in_a_single_message(
    arguments: str, code: int, text: str, capfd: pytest.CaptureFixture[str]
) -> None:
    found, err = run(arguments, capfd)
    assert text in err
    assert found == code
    assert [blemish for blemish in _BLEMISHES if blemish in err] == []
    command = arguments.split()[0]
    faults = [line for line in err.splitlines() if re.match(rf"tallybone( {command}\b.*)?: ", line)]
    assert len(faults) == 1, err
    assert "Usage:" not in err


def test_an_occupied_port_is_reported_before_the_camera_is_opened(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        where = f"127.0.0.1:{taken.getsockname()[1]}"
        code, err = run(f"play --camera nosuch --serve {where}", capfd)
    assert code == 1
    assert err.startswith(
        f"tallybone play: page at {where}: another program uses this port; stop it, or choose another"
    )


def test_play_without_a_camera_offers_the_simulated_one(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (folder / "usb.toml").write_text('[camera]\nurl = "usb:77"\n')
    code, err = run("play --config usb.toml", capfd)
    assert code == 1
    assert len(err.splitlines()) == 1
    assert err.startswith("tallybone play: usb:77: no such camera")
    assert err.endswith("; `--camera simulated` needs no camera\n")
    assert "simulated" not in run("play --camera usb:77", capfd)[1]


GREY = np.full((360, 480, 3), 90, np.uint8)


def redirected(*args: str, shell: str, encoding: str = "utf-8") -> tuple[int, str]:
    """Return exit code and stderr of the program, with its streams redirected by *shell*."""
    script = f'"$@" {shell}'
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            ["sh", "-c", script, "sh", TALLYBONE, *args],
            stdin=subprocess.DEVNULL,
            stdout=writing,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONIOENCODING": encoding},
            text=True,
            timeout=60,
            check=False,
        )
    finally:
        os.close(writing)
    return done.returncode, done.stderr


# Without redirection, stdout is a pipe without a reader.
@pytest.mark.parametrize(
    ("shell", "form"),
    [
        (">/dev/full", ["--json"]),
        *(
            pytest.param(shell, form, marks=pytest.mark.slow)
            for shell, form in (
                ("", []),
                ("2>&1", ["--json"]),
                (">/dev/full 2>&1", []),
                (">&-", ["--json"]),
                ("2>&- >&-", []),
            )
        ),
    ],
)
def test_a_game_continues_without_a_writable_stdout(tmp_path: Path, shell: str, form: list[str]) -> None:
    video = write_video(tmp_path / "a.avi", [GREY] * 4, per_s=10)
    where = ["--camera", str(video), "--record", str(tmp_path / "sessions"), "--speed", "0"]
    code, err = redirected("play", *where, *form, shell=shell)
    assert code == 0
    assert "Traceback" not in err
    assert err.count("cannot write to stdout") == (shell in ("", ">/dev/full"))
    (recording,) = (tmp_path / "sessions").glob("*.mcap")
    assert survey(recording).facts.frames == 4 + 8  # the last picture of a video is repeated


@pytest.mark.slow
def test_a_game_continues_with_an_encoding_that_lacks_letters_of_a_name(tmp_path: Path) -> None:
    video, out = write_video(tmp_path / "a.avi", [GREY] * 4, per_s=10), tmp_path / "out"
    where = ["--camera", str(video), "--record", "none", "--speed", "0", "--players", "Zo\u00eb,\u5c0f\u660e"]
    assert redirected("play", *where, shell=f">{out}", encoding="latin-1") == (0, "")
    assert "match: Zo\u00eb, ??" in out.read_text(encoding="latin-1")


@pytest.mark.parametrize("command", [pytest.param("rules", marks=pytest.mark.slow), "version", "--help"])
def test_a_full_disk_is_reported_and_a_closed_pipe_is_not(command: str) -> None:
    full = (1, "tallybone: the output cannot be written: No space left on device\n")
    assert redirected(command, shell=">/dev/full") == full
    assert redirected(command, shell="") == (1, "")


def test_listening_ends_silently_when_the_reader_of_its_output_has_finished(tmp_path: Path) -> None:
    clicks = np.zeros(16_000, np.float32)
    clicks[4_000:16_000:3_000] = 0.9
    file = write_wav(tmp_path / "clicks.wav", clicks)
    assert redirected("listen", "--all", str(file), shell="") == (1, "")
