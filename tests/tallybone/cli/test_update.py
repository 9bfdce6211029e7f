"""Tests of `tallybone update` with real wheels and venvs, under another root folder."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import venv
import zipfile
from datetime import UTC, datetime
from importlib.metadata import version
from io import StringIO
from pathlib import Path

import pytest

from tallybone.cli.keeping import UpdateOptions, checked_wheel, update
from tallybone.maintain.update import WHAT, WHO, UpdateError, read_wheel, require_ready, require_sha256
from tests.tallybone.maintain.wheels import BREAKS, READY, make_wheel

ROOT = Path(__file__).resolve().parents[3]
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def system(folder: Path) -> Path:
    """Return the root of a system with an installed version."""
    old = folder / "opt/tallybone/venvs/old"
    venv.create(old)
    (folder / "opt/tallybone/venv").symlink_to(old)
    return folder


def updated(options: UpdateOptions) -> tuple[int, str]:
    out = StringIO()
    return update(options, now=NOW, out=out), out.getvalue()


def running(root: Path) -> str:
    command = root / "opt/tallybone/venv/bin/tallybone"
    return subprocess.run((command, "--version"), capture_output=True, text=True).stdout.strip()


@pytest.mark.slow
def test_a_working_wheel_is_installed_and_run(tmp_path: Path) -> None:
    root = system(tmp_path / "root")
    wheel = make_wheel(tmp_path, "0.2.0")
    code, printed = updated(UpdateOptions(wheel=wheel, root=root, wheels=tmp_path))
    assert (code, printed.splitlines()[-1]) == (0, "Tallybone 0.2.0 is running.")
    assert running(root) == "tallybone 0.2.0"
    assert not (root / "opt/tallybone/venvs/old").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "pins", "why"),
    [
        (BREAKS, "", "the new version does not start: tallybone serve: the heart is missing"),
        ("raise RuntimeError", "", "does not start: RuntimeError"),
        (READY, "numpy==1.0 --hash=sha256:" + 64 * "0", "could not be installed"),
    ],
    ids=["its start fails", "it cannot be imported", "what it needs is not to be had"],
)
def test_a_broken_wheel_changes_nothing(tmp_path: Path, code: str, pins: str, why: str) -> None:
    root = system(tmp_path / "root")
    before = (root / "opt/tallybone/venv").resolve()
    wheel = make_wheel(tmp_path, "0.3.0", code, pins=pins)
    exit_code, printed = updated(UpdateOptions(wheel=wheel, root=root, wheels=tmp_path))
    assert exit_code == 1
    assert why in printed
    assert (root / "opt/tallybone/venv").resolve() == before
    assert [path.name for path in before.parent.iterdir()] == ["old"]


@pytest.mark.slow
def test_the_real_program_passes_the_trial() -> None:
    require_ready(Path(sys.prefix), within_s=120.0)


@pytest.mark.slow
def test_a_real_wheel_contains_the_pinned_requirements(tmp_path: Path) -> None:
    command = (sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path)
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    (path,) = tmp_path.glob("*.whl")
    wheel = read_wheel(path)
    assert wheel.version == version("tallybone")
    assert wheel.requirements == (ROOT / "requirements" / "table.txt").read_text()


def test_only_a_wheel_of_tallybone_is_accepted(tmp_path: Path) -> None:
    good = make_wheel(tmp_path, "0.2.0")
    assert read_wheel(good).version == "0.2.0"
    wrong = tmp_path / "numpy-2.0.0-py3-none-any.whl"
    wrong.write_bytes(good.read_bytes())
    with pytest.raises(UpdateError, match="expected a name such as"):
        read_wheel(wrong)
    with pytest.raises(UpdateError, match="wheel of other"):
        read_wheel(make_wheel(tmp_path, "0.4.0", name="other"))
    with pytest.raises(UpdateError, match="not a wheel of Tallybone"):
        read_wheel(make_wheel(tmp_path, "0.5.0", pins=None))


def test_a_truncated_or_changed_wheel_is_rejected(tmp_path: Path) -> None:
    data = make_wheel(tmp_path, "0.2.0").read_bytes()
    path = tmp_path / "tallybone-0.2.1-py3-none-any.whl"
    for at in range(0, len(data), 61):
        path.write_bytes(data[:at])
        with pytest.raises(UpdateError):
            read_wheel(path)
        path.write_bytes(data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :])
        with pytest.raises(UpdateError):
            require_sha256(path, hashlib.sha256(data).hexdigest())


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_a_changed_compressed_wheel_is_rejected_or_unaffected(tmp_path: Path, method: int) -> None:
    good = make_wheel(tmp_path, "0.2.0")
    path = tmp_path / "tallybone-0.2.1-py3-none-any.whl"
    with zipfile.ZipFile(good) as archive, zipfile.ZipFile(path, "w", method) as compressed:
        for name in archive.namelist():
            compressed.writestr(name, archive.read(name))
    data = path.read_bytes()
    refusals = []
    for at in range(0, len(data), 5):
        for bit in (0x01, 0xFF):
            path.write_bytes(data[:at] + bytes([data[at] ^ bit]) + data[at + 1 :])
            try:
                assert read_wheel(path).version == "0.2.0"
            except UpdateError as error:
                refusals.append(str(error))
    assert len(refusals) > 300
    assert {text.split(" ")[0] for text in refusals} == {f"{path.name}:"}


def test_a_wheel_with_another_checksum_is_rejected(tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path, "0.2.0")
    require_sha256(wheel, hashlib.sha256(wheel.read_bytes()).hexdigest().upper())
    for wrong in (64 * "0", "abc", ""):
        with pytest.raises(UpdateError):
            require_sha256(wheel, wrong)


def test_an_update_needs_an_installed_version(tmp_path: Path) -> None:
    code, printed = updated(UpdateOptions(wheel=make_wheel(tmp_path, "0.2.0"), root=tmp_path / "root"))
    assert code == 1
    assert "nothing to update" in printed


def test_a_debian_package_is_left_to_apt(tmp_path: Path) -> None:
    root = system(tmp_path / "root")
    (root / "var/lib/dpkg/info").mkdir(parents=True)
    (root / "var/lib/dpkg/info/tallybone.list").touch()
    assert "with apt" in updated(UpdateOptions(wheel=make_wheel(tmp_path, "0.2.0"), root=root))[1]


needs_ssh_keygen = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="there is no ssh-keygen here")


def key(folder: Path, name: str) -> Path:
    path = folder / name
    subprocess.run(("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", path), check=True)
    return path


def signed(wheel: Path, by: Path, purpose: str = WHAT) -> Path:
    subprocess.run(("ssh-keygen", "-q", "-Y", "sign", "-f", by, "-n", purpose, wheel), check=True, capture_output=True)
    return wheel.with_name(wheel.name + ".sig").replace(wheel.with_name(f"{by.name}-{purpose}.sig"))


def trust(root: Path, by: Path) -> None:
    (root / "etc/tallybone").mkdir(parents=True)
    (root / "etc/tallybone/release_signers").write_text(f"{WHO} {by.with_name(by.name + '.pub').read_text()}")


@needs_ssh_keygen
def test_a_table_with_a_trusted_key_only_accepts_its_signatures(tmp_path: Path) -> None:
    root, wheel, ours, theirs = tmp_path / "root", make_wheel(tmp_path, "0.2.0"), key(tmp_path, "a"), key(tmp_path, "b")
    trust(root, ours)
    good = signed(wheel, ours)

    def check(signature: Path | None) -> None:
        (folder := tmp_path / "copy").mkdir(exist_ok=True)
        checked_wheel(UpdateOptions(wheel=wheel, signature=signature, root=root), folder)

    check(good)
    with pytest.raises(UpdateError, match="only signed versions"):
        check(None)
    for wrong in (signed(wheel, theirs), signed(wheel, ours, "file")):
        with pytest.raises(UpdateError, match="is not signed by anybody"):
            check(wrong)
    with wheel.open("ab") as file:
        file.write(b"\0")
    with pytest.raises(UpdateError, match="is not signed by anybody"):
        check(good)


@needs_ssh_keygen
def test_a_signature_without_a_trusted_key_is_rejected(tmp_path: Path) -> None:
    wheel, ours = make_wheel(tmp_path, "0.2.0"), key(tmp_path, "a")
    (tmp_path / "copy").mkdir()
    with pytest.raises(UpdateError, match="release_signers: no such file"):
        checked_wheel(
            UpdateOptions(wheel=wheel, signature=signed(wheel, ours), root=tmp_path / "root"), tmp_path / "copy"
        )
