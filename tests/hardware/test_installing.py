"""Tests of the command that installs an optional part, by the kind of installation."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from hardware.libraries import InstalledFrom, command_for, install_command

WHEEL = InstalledFrom("/media/usb/tallybone-0.2.0-py3-none-any.whl")


@pytest.mark.parametrize(
    ("file", "command"), [("pipx_metadata.json", "pipx install"), ("uv-receipt.toml", "uv tool install")]
)
def test_tools_that_replace_an_installation_get_all_extras(tmp_path: Path, file: str, command: str) -> None:
    (tmp_path / file).touch()
    assert command_for("web", tmp_path, WHEEL) == f"{command} --force '{WHEEL.path}[all]'"
    assert command_for("train", tmp_path, WHEEL) == f"{command} --force '{WHEEL.path}[all,train]'"


def test_an_active_venv_uses_its_pip_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path))
    assert command_for("web", tmp_path, InstalledFrom("tallybone")) == "pip install 'tallybone[web]'"
    monkeypatch.delenv("VIRTUAL_ENV")
    assert command_for("web", tmp_path, InstalledFrom("tallybone")) == f"{tmp_path}/bin/pip install 'tallybone[web]'"


def test_a_checkout_is_installed_again_from_its_folder() -> None:
    assert install_command("web").endswith(f"pip install -e '{Path(__file__).parents[2]}[web]'")
