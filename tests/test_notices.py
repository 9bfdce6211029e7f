"""Tests of the licence notices of the Debian package: they include all texts of all wheels."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest

from requirements.notices import notice_of, notices_in
from requirements.sbom import pins_in
from tests.conftest import ROOT


def packed(name: str, folder: Path) -> Path:
    """Return a wheel with the metadata of an installed package."""
    package = distribution(name)
    wheel = folder / f"{name.replace('-', '_')}-{package.version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for file in package.files or ():
            if ".dist-info/" in str(file) and ".." not in file.parts:
                archive.writestr(str(file), file.read_binary())
    return wheel


def test_all_dependencies_have_a_licence(tmp_path: Path) -> None:
    installed = set[str]()
    for pin in pins_in((ROOT / "requirements" / "table.txt").read_text()):
        try:
            packed(pin.name, tmp_path)
            installed.add(pin.name)
        except ModuleNotFoundError:  # only for a Raspberry Pi
            continue
    silent = [
        notice.name for notice in notices_in(tmp_path) if notice.licence.startswith("not said") and not notice.texts
    ]
    assert len(installed) > 25
    assert silent == []


@pytest.mark.parametrize(
    ("name", "message"), [("numpy", "libgfortran"), ("opencv-python-headless", "FFmpeg"), ("h11", "Nathaniel J. Smith")]
)
def test_third_party_texts_in_wheels_are_included(name: str, message: str, tmp_path: Path) -> None:
    notice = notice_of(packed(name, tmp_path))
    assert any(message in text for _, text in notice.texts), [name for name, _ in notice.texts]


def test_the_file_starts_with_our_licence_without_our_wheel(tmp_path: Path) -> None:
    packed("h11", tmp_path)
    (tmp_path / "tallybone-0.1.0-py3-none-any.whl").write_bytes(b"no zip at all")
    command = [sys.executable, str(ROOT / "requirements" / "notices.py"), str(ROOT / "LICENSE"), str(tmp_path)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert text.startswith((ROOT / "LICENSE").read_text())
    assert "\nh11 0.16.0: MIT\n" in text
    assert "Nathaniel J. Smith" in text


def test_the_debian_package_includes_the_notices() -> None:
    script = (ROOT / "systemd" / "make_deb.sh").read_text()
    assert 'notices=("$source/requirements/notices.py" "$source/LICENSE" "$tree/opt/tallybone/wheels")' in script
    assert '"${notices[@]}" >"$tree/usr/share/doc/tallybone/copyright"' in script
