"""Tests of the page of `tallybone play`: opening it, and announcing its address."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import numpy as np
import pytest

from hardware.libraries import install_command
from hardware.table import HardwareSettings
from tallybone.cli.app import with_port
from tallybone.cli.play import PlayOptions, open_page
from tallybone.doctor.machine import this_machine
from tallybone.play.counts import Counts
from tallybone.play.table import NoPage
from tallybone.serve.health import TableSources, camera_found
from tests.tallybone.cli.test_play import run_play
from tests.tallybone.not_installed import without_fastapi
from tests.tallybone.replay.videos import write_video
from tests.tallybone.web.conftest import at_table

GREY = np.full((360, 480, 3), 90, np.uint8)


def table_in(folder: Path) -> TableSources:
    """Return the sources of a table without problems."""
    return TableSources(
        source="none",
        camera=lambda: camera_found("none", None),
        hardware=HardwareSettings(),
        problems=dict,
        folder=folder,
        machine=this_machine,
        clock=lambda: 0,
        counts=Counts(),
        is_silent=lambda: False,
    )


def test_without_the_serve_option_there_is_no_page(tmp_path: Path) -> None:
    with open_page(None, table_in(tmp_path)) as page:
        assert isinstance(page, NoPage)
        assert (page.text, page.pin_words) == ("", "")


def test_the_terminal_shows_the_address_and_the_pin(tmp_path: Path) -> None:
    video = write_video(tmp_path / "a.avi", [GREY] * 3, per_s=10)
    code, out, _ = run_play(PlayOptions(camera=str(video), record="none", speed=0, serve="127.0.0.1:0"))
    assert code == 0
    assert "page http://127.0.0.1:" in out
    assert "PIN " in out


def test_every_state_contains_the_address() -> None:
    with at_table() as table:
        table.play(2)
        assert table.display.now is not None
        assert table.display.now.page == table.page.text
        assert table.display.notes == [table.page.text]


def test_an_invalid_address_is_reported_before_the_game(tmp_path: Path) -> None:
    video = write_video(tmp_path / "a.avi", [GREY] * 3, per_s=10)
    code, out, err = run_play(PlayOptions(camera=str(video), record="none", speed=0, serve="eighty"))
    assert (code, out) == (2, "")
    assert "page at eighty: expected a port" in err


def test_missing_packages_are_reported_with_the_command_to_install_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    without_fastapi(monkeypatch, "tallybone.web.live.page")
    with (
        pytest.raises(OSError, match="needs fastapi, .*" + re.escape(install_command("web"))),
        open_page("", table_in(tmp_path)),
    ):
        pass


def test_the_port_of_the_serve_option_is_optional() -> None:
    assert with_port(["--serve", "--rules", "bones"]) == ["--serve=", "--rules", "bones"]
    assert with_port(["--players", "Ann", "--serve"]) == ["--players", "Ann", "--serve="]
    assert with_port(["--serve", "127.0.0.1:80"]) == ["--serve", "127.0.0.1:80"]


def test_a_snapshot_in_the_middle_of_a_hand_is_small() -> None:
    with at_table() as table:
        table.play(12)
        answer = httpx.get(f"{table.page.url}/api/v1/state")
        assert 1000 < len(answer.content) < 10_000
