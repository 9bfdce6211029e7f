"""Tests of `tallybone serve`: start-up, configuration errors and signals."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from contextlib import nullcontext
from io import StringIO
from pathlib import Path

import httpx
import pytest

from hardware.libraries import install_command
from tallybone.cli.serve import serve
from tallybone.recording.survey import survey
from tallybone.serve.options import Environment, ServeOptions
from tallybone.terminal import StopRequest
from tests.tallybone.not_installed import without_fastapi

TALLYBONE = Path(sys.executable).with_name("tallybone")


def run_serve(folder: Path, options: ServeOptions) -> tuple[int, str, str]:
    """Run a table that ends at once. Return exit code, stdout and stderr."""
    out, err = StringIO(), StringIO()
    environment = Environment(
        out=out,
        err=err,
        environment={"XDG_STATE_HOME": str(folder)},
        home=folder,
        stop=lambda: nullcontext(StopRequest(is_requested=True)),
    )
    return serve(options, environment), out.getvalue(), err.getvalue()


def test_the_address_is_printed_and_no_files_are_left(tmp_path: Path) -> None:
    code, out, err = run_serve(tmp_path, ServeOptions(at="127.0.0.1:0", camera="none"))
    assert (code, err) == (0, "")
    assert "page http://127.0.0.1:" in out
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_an_occupied_address_is_an_error(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        at = f"127.0.0.1:{taken.getsockname()[1]}"
        code, out, err = run_serve(tmp_path, ServeOptions(at=at, camera="none"))
    assert (code, out) == (1, "")
    assert f"page at {at}: another program uses this port; stop it, or choose another" in err


def test_a_folder_that_cannot_be_created_is_reported_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    options = ServeOptions(at="127.0.0.1:0", camera="none", record=str(tmp_path / "file"))
    code, out, err = run_serve(tmp_path, options)
    assert (code, out) == (1, "")
    assert err.endswith("cannot create the folder: there is a file of that name\n")


def test_all_errors_of_a_configuration_are_reported_and_the_page_is_served(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    config = tmp_path / "table.toml"
    config.write_text('[camera]\nurl = 7\n[hardware]\nlasers = "many"\n')
    code, out, _ = run_serve(tmp_path, ServeOptions(at="127.0.0.1:0", camera="none", config=config))
    assert code == 0
    assert "page http://127.0.0.1:" in out
    assert f"{config}: [camera] url: expected a text, but got 7" in caplog.messages
    assert any("[hardware] lasers: is not known" in message for message in caplog.messages)


def test_missing_packages_are_reported_with_the_command_to_install_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_fastapi(monkeypatch, "tallybone.serve.setup")
    code, _, err = run_serve(tmp_path, ServeOptions(at="127.0.0.1:0"))
    assert code == 1
    assert "needs fastapi" in err
    assert install_command("web") in err


@pytest.mark.slow
def test_a_signal_ends_the_match_and_closes_its_recording(tmp_path: Path) -> None:
    where = ["--at", "127.0.0.1:0", "--camera", "simulated:difficulty=easy", "--record", str(tmp_path)]
    with subprocess.Popen(
        [TALLYBONE, "serve", *where], stdout=subprocess.PIPE, text=True, env={"XDG_STATE_HOME": str(tmp_path)}
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        url, pin = line.split()[1], line.split()[-1]
        with httpx.Client(base_url=f"{url}/api/v1", timeout=60) as client:
            client.post("/login", json={"pin": pin})
            assert client.post("/match", json={"game": "bones", "players": ["Ann", "Ben"]}).status_code == 204
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    (recording,) = tmp_path.glob("*.mcap")
    assert not survey(recording).is_running
    assert survey(recording).facts.damage == ()
