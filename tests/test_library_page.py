"""Tests that the examples of docs/reference/library.md are typed, and that those of `tallybone` run from its wheel."""

from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
import tomllib
import venv
from pathlib import Path

import pytest

from tests.test_rules_library import PAGE, ROOT, Library, build, examples, needs_builder

PHOTO = ROOT / "docs" / "images" / "reading.jpg"
RECORDING = ROOT / "tests" / "tallybone" / "kept" / "recording.mcap"


def programs() -> list[str]:
    """Return the Python programs of the page that are not examples with a prompt."""
    return re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def type_check(folder: Path, *arguments: str) -> str:
    """Return the output of mypy --strict for the files in *folder*, apart from the last line."""
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--cache-dir", str(folder / "cache")]
    done = subprocess.run([*command, *arguments], cwd=folder, capture_output=True, text=True)
    return done.stdout.rpartition("\nFound ")[0] + done.stderr if done.returncode else ""


@pytest.mark.slow
def test_the_examples_are_strictly_typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = "".join(example.source for example in examples()).replace("tallybone_rules", "engine")
    (tmp_path / "page.py").write_text(source, encoding="utf-8")
    for number, program in enumerate(programs()):
        (tmp_path / f"program{number}.py").write_text(program, encoding="utf-8")
    monkeypatch.setenv("MYPYPATH", str(ROOT))
    assert type_check(tmp_path, "--follow-imports=silent", *(path.name for path in tmp_path.glob("*.py"))) == ""
    (tmp_path / "wrong.py").write_text("import tallybone\n\nx: int = tallybone.read\ntallybone.nothing\n")
    wrong = type_check(tmp_path, "--follow-imports=silent", "wrong.py")
    assert "Incompatible types in assignment" in wrong
    assert 'has no attribute "nothing"' in wrong


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """The wheel of the program in an environment of its own. Its dependencies are those of the tests."""
    wheel, folder = build("wheel", tmp_path_factory.mktemp("wheel"), ROOT), tmp_path_factory.mktemp("fresh")
    venv.create(folder, with_pip=False)
    made = Library(wheel, folder / "bin" / "python")
    pip = [sys.executable, "-m", "pip", "--python", str(made.python), "--disable-pip-version-check", "-q"]
    subprocess.run([*pip, "install", "--no-index", "--no-deps", str(wheel)], capture_output=True, check=True)
    site = Path(made.run("import sysconfig; print(sysconfig.get_path('purelib'))"))
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    return made


@needs_builder
@pytest.mark.slow
def test_importing_the_program_imports_nothing_else(installed: Library) -> None:
    code = "import sys; old = set(sys.modules); import tallybone; print(*set(sys.modules) - old, tallybone.__file__)"
    name, place = installed.run(code).split()
    assert name == "tallybone"
    assert Path(place).is_relative_to(installed.python.parent.parent)
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert installed.run("import tallybone; print(tallybone.__version__)") == version
    code = "import tallybone\ntry: tallybone.nothing\nexcept AttributeError as error: print(error)"
    assert installed.run(code) == "module 'tallybone' has no attribute 'nothing'"
    names = installed.run("import tallybone; print(*(type(getattr(tallybone, n)).__name__ for n in tallybone.__all__))")
    assert len(names.split()) == 17


@needs_builder
@pytest.mark.slow
def test_every_program_of_the_page_runs_with_the_wheel(installed: Library, tmp_path: Path) -> None:
    found = programs()
    assert len(found) >= 3
    for program in found:
        code = program.replace("photo.jpg", str(PHOTO)).replace("game.mcap", str(RECORDING))
        lines = installed.run(code.replace("layout.svg", str(tmp_path / "layout.svg"))).splitlines()
        expected = re.findall(r"^# (.*)", program, flags=re.MULTILINE)
        assert expected
        assert [line for line in lines if line in expected] == expected, lines
