"""Tests of the commands in the documents: `tallybone`, `make`, `pytest` and scripts."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import typer
from typer.main import get_command

import tallybone.cli  # noqa: F401 - adds all commands
from tallybone.cli.app import app

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
TALLYBONE = Path(sys.executable).with_name("tallybone")
# Prefixes of commands.
_BEFORE = re.compile(r"^(?:\$ )?(?:sudo )?(?:[A-Z_]+=\S+ )*(?:\.venv/bin/)?(?:/opt/tallybone/)?(?:\./)?")


@dataclass(frozen=True, slots=True)
class DocumentedCommand:
    """A command in a document."""

    where: str
    parts: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.where}: {' '.join(self.parts)}"


def commands() -> list[DocumentedCommand]:
    """Return all commands in code blocks."""
    return [documented for path in DOCUMENTS for documented in _commands_in(path)]


def _commands_in(path: Path) -> list[DocumentedCommand]:
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.startswith("    ") or line.startswith("     "):
            continue
        for piece in re.split(r" \| | && ", line.strip()):
            text = re.split(r"\s+#|\s+[<>] ", piece.strip())[0]
            text = _BEFORE.sub("", text.strip().rstrip(")"))
            parts = _text(text.replace("[", "").replace("]", ""))
            if parts:
                found.append(DocumentedCommand(f"{path.name}:{number}", parts))
    return found


def _text(text: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError:
        return ()


ALL = commands()
# "tallybone play: ..." is output.
OURS = [
    documented
    for documented in ALL
    if documented.parts[0] in ("tallybone", "tallybone-table")
    and len(documented.parts) > 1
    and not documented.parts[1].endswith(":")
]
MADE = [documented for documented in ALL if documented.parts[0] == "make"]
TESTED = [
    documented
    for documented in ALL
    if documented.parts[:3] == ("python", "-m", "pytest") or documented.parts[0] == "pytest"
]
SCRIPTS = [documented for documented in ALL if documented.parts[0] == "systemd/install.sh"]


def test_the_documents_have_commands_of_every_kind() -> None:
    assert len(OURS) > 60
    assert len(MADE) > 3
    assert len(SCRIPTS) >= 4


@pytest.mark.parametrize("documented", OURS, ids=str)
def test_every_command_of_tallybone_is_valid(documented: DocumentedCommand) -> None:
    command, parts = get_command(app), list(documented.parts[1:])
    # Parsed like typed input without execution, so names, options and numbers of arguments must be right.
    context = typer.Context(command, info_name="tallybone")
    while isinstance(command, typer.core.TyperGroup) and parts and not parts[0].startswith("-"):
        name, found, parts = command.resolve_command(context, parts)
        assert found is not None, documented
        command = found
        context = typer.Context(command, info_name=name, parent=context)
    if "--help" not in parts and "..." not in parts:
        command.parse_args(context, parts)


@pytest.mark.parametrize("documented", MADE, ids=str)
def test_every_make_target_exists(documented: DocumentedCommand) -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    assert {word for word in documented.parts[1:] if re.fullmatch("[a-z]+", word)} <= targets


@pytest.mark.parametrize("documented", SCRIPTS, ids=str)
def test_every_option_of_the_install_script_exists(documented: DocumentedCommand) -> None:
    usage = subprocess.run((ROOT / "systemd/install.sh", "--help"), capture_output=True, text=True, check=True).stdout
    assert [word for word in documented.parts[1:] if word.startswith("--") and word not in usage] == []


def test_every_named_test_exists() -> None:
    paths = [
        (path.name, named)
        for path in DOCUMENTS
        for named in re.findall(r"(?:tests|lab|systemd)/[\w/]+\.(?:py|sh)", path.read_text(encoding="utf-8"))
    ]
    assert len(paths) > 30
    assert [path for path in paths if not (ROOT / path[1]).exists()] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "code"),
    [
        (("doctor", "--json"), {0, 1}),
        (("sessions",), {0}),
        (("backup", "FOLDER/table.tar"), {0, 1}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_commands_of_the_install_guides_run(command: tuple[str, ...], code: set[int], tmp_path: Path) -> None:
    parts = [word.replace("FOLDER", str(tmp_path)) for word in command]
    environment = {"XDG_STATE_HOME": str(tmp_path), "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    done = subprocess.run((TALLYBONE, *parts), env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode in code, done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_the_install_script_installs_into_a_folder(tmp_path: Path) -> None:
    subprocess.run((ROOT / "systemd/install.sh", "--root", tmp_path), check=True, capture_output=True, timeout=60)
    assert (tmp_path / "etc/systemd/system/tallybone.service").exists()
