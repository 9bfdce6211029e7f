"""The commands in the documents: each `tallybone`, `make`, `pytest` and script line is one that there is."""

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
# What stands before a command, and what it is then.
_BEFORE = re.compile(r"^(?:\$ )?(?:sudo )?(?:[A-Z_]+=\S+ )*(?:\.venv/bin/)?(?:/opt/tallybone/)?(?:\./)?")


@dataclass(frozen=True, slots=True)
class Said:
    """A command as a document says it."""

    where: str
    words: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.where}: {' '.join(self.words)}"


def commands() -> list[Said]:
    """Every command in a block of code."""
    return [said for path in DOCUMENTS for said in _commands_in(path)]


def _commands_in(path: Path) -> list[Said]:
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.startswith("    ") or line.startswith("     "):
            continue
        for piece in re.split(r" \| | && ", line.strip()):
            text = re.split(r"\s+#|\s+[<>] ", piece.strip())[0]
            text = _BEFORE.sub("", text.strip().rstrip(")"))
            words = _words(text.replace("[", "").replace("]", ""))
            if words:
                found.append(Said(f"{path.name}:{number}", words))
    return found


def _words(text: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError:
        return ()


ALL = commands()
# "tallybone play: ..." is what it prints.
OURS = [
    said
    for said in ALL
    if said.words[0] in ("tallybone", "tallybone-table") and len(said.words) > 1 and not said.words[1].endswith(":")
]
MADE = [said for said in ALL if said.words[0] == "make"]
TESTED = [said for said in ALL if said.words[:3] == ("python", "-m", "pytest") or said.words[0] == "pytest"]
SCRIPTS = [said for said in ALL if said.words[0] == "systemd/install.sh"]


def test_the_documents_have_commands_of_every_kind() -> None:
    assert len(OURS) > 60
    assert len(MADE) > 3
    assert len(SCRIPTS) >= 4


@pytest.mark.parametrize("said", OURS, ids=str)
def test_every_command_of_tallybone_is_understood(said: Said) -> None:
    command, words = get_command(app), list(said.words[1:])
    # As if it were typed, but for doing it: names, options and how many there are, have to be right.
    context = typer.Context(command, info_name="tallybone")
    while isinstance(command, typer.core.TyperGroup) and words and not words[0].startswith("-"):
        name, found, words = command.resolve_command(context, words)
        assert found is not None, said
        command = found
        context = typer.Context(command, info_name=name, parent=context)
    if "--help" not in words and "..." not in words:
        command.parse_args(context, words)


@pytest.mark.parametrize("said", MADE, ids=str)
def test_every_target_of_make_is_there(said: Said) -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    assert {word for word in said.words[1:] if re.fullmatch("[a-z]+", word)} <= targets


@pytest.mark.parametrize("said", SCRIPTS, ids=str)
def test_every_option_of_the_install_script_is_one_of_its_own(said: Said) -> None:
    usage = subprocess.run((ROOT / "systemd/install.sh", "--help"), capture_output=True, text=True, check=True).stdout
    assert [word for word in said.words[1:] if word.startswith("--") and word not in usage] == []


def test_every_test_that_is_named_is_there() -> None:
    paths = [
        (path.name, named)
        for path in DOCUMENTS
        for named in re.findall(r"(?:tests|benchmarks|systemd)/[\w/]+\.(?:py|sh)", path.read_text(encoding="utf-8"))
    ]
    assert len(paths) > 30
    assert [one for one in paths if not (ROOT / one[1]).exists()] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "code"),
    [
        (("doctor", "--json"), {0, 1}),
        (("sessions",), {0}),
        (("backup", "FOLDER/table.tar"), {0, 1}),
        (("doctor", "--bundle", "FOLDER/help.zip"), {0, 1}),
        (("update", "tallybone-0.2.0-py3-none-any.whl", "--root", "FOLDER"), {1}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_install_and_observing_tell_to_run_runs(command: tuple[str, ...], code: set[int], tmp_path: Path) -> None:
    words = [word.replace("FOLDER", str(tmp_path)) for word in command]
    environment = {"XDG_STATE_HOME": str(tmp_path), "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    done = subprocess.run((TALLYBONE, *words), env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode in code, done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_the_install_script_lays_its_files_into_a_folder(tmp_path: Path) -> None:
    subprocess.run((ROOT / "systemd/install.sh", "--root", tmp_path), check=True, capture_output=True, timeout=60)
    assert (tmp_path / "etc/systemd/system/tallybone.service").exists()
