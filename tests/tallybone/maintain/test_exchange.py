"""Tests of version exchange: the running version after failures and power cuts."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tallybone.maintain.update import UpdateError, UpdateSteps, Versions, exchange


class PowerCut(BaseException):
    """Simulated power cut, after which no cleanup runs."""


@dataclass
class Table:
    """An installed table that counts its steps, and can fail or lose power at a given one."""

    opt: Path
    cut_at: int | None = None
    failing: str = ""
    steps_done: int = 0
    started: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        old = self.opt / "venvs" / "old"
        old.mkdir(parents=True)
        (old / "whole").touch()
        (self.opt / "venv").symlink_to(old)

    def step(self) -> None:
        self.steps_done += 1
        if self.steps_done == self.cut_at:
            raise PowerCut

    def update(self, name: str = "new") -> None:
        exchange(Versions(self.opt), name, UpdateSteps(self.make, self.check, self.start))

    def make(self, folder: Path) -> None:
        folder.mkdir()
        self.step()
        if self.failing == "make":
            raise UpdateError("the disk is full")
        (folder / "whole").touch()

    def check(self, folder: Path) -> None:
        self.step()
        assert (folder / "whole").exists()
        assert self.runs != folder.name
        if self.failing == "check":
            raise UpdateError("does not start")

    def start(self) -> None:
        self.step()
        self.started.append(self.runs)
        if self.failing == "start" and self.runs == "new":
            raise UpdateError("not ready")

    @property
    def runs(self) -> str:
        current = Versions(self.opt).current
        assert (current / "whole").exists()
        return current.name

    @property
    def installed(self) -> list[str]:
        return sorted(path.name for path in (self.opt / "venvs").iterdir())


def test_a_good_version_replaces_the_old_one(tmp_path: Path) -> None:
    table = Table(tmp_path)
    table.update()
    assert (table.runs, table.installed, table.started) == ("new", ["new"], ["new"])


@pytest.mark.parametrize("failing", ["make", "check"])
def test_a_version_that_fails_to_install_or_start_never_runs(tmp_path: Path, failing: str) -> None:
    table = Table(tmp_path, failing=failing)
    with pytest.raises(UpdateError):
        table.update()
    assert (table.runs, table.installed, table.started) == ("old", ["old"], [])


def test_a_version_that_never_becomes_ready_is_rolled_back(tmp_path: Path) -> None:
    table = Table(tmp_path, failing="start")
    with pytest.raises(UpdateError, match="not ready; the previous version is running again"):
        table.update()
    assert (table.runs, table.installed, table.started) == ("old", ["old"], ["new", "old"])


def test_after_a_power_cut_a_complete_version_runs_and_the_next_update_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[str] = []
    for cut_at in range(1, 40):
        table = Table(tmp_path / str(cut_at), cut_at=cut_at)
        with monkeypatch.context() as patched:
            for owner, name in ((Path, "symlink_to"), (Path, "replace"), (os, "fsync"), (Path, "unlink")):
                patched.setattr(owner, name, _cut_before(table, getattr(owner, name)))
            try:
                table.update()
            except PowerCut:
                found.append(table.runs)
            else:
                break
        table.update("next")
        assert (table.runs, table.installed) == ("next", ["next"])
    assert len(found) >= 7
    assert found == sorted(found, reverse=True)  # old, and from some step on new
    assert {"old", "new"} == set(found)


def _cut_before(table: Table, real: Callable[..., object]) -> Callable[..., object]:
    def cut_or_call(*values: object, **options: object) -> object:
        table.step()
        return real(*values, **options)

    return cut_or_call


def test_rejects_a_table_not_installed_by_the_script(tmp_path: Path) -> None:
    (tmp_path / "venv").mkdir()
    with pytest.raises(UpdateError, match=r"nothing to update, because systemd/install\.sh"):
        Versions(tmp_path)
