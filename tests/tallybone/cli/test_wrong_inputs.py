"""Tests of invalid input to every command: a single message that names the value, and the exit code."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tallybone.cli.app import app

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
