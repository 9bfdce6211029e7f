"""Tests of the rules as a library: the wheel in an empty environment, and the examples of docs/reference/library.md."""

from __future__ import annotations

import ast
import doctest
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

import engine

ROOT = Path(__file__).resolve().parent.parent
PROJECT = ROOT / "packaging" / "rules"
PAGE = ROOT / "docs" / "reference" / "library.md"
MAX_BYTES = 300_000

needs_builder = pytest.mark.skipif(
    find_spec("hatchling") is None or find_spec("pip") is None, reason="hatchling and pip build and install the wheel"
)


@dataclass(frozen=True)
class Library:
    """The wheel, and the Python of an environment with nothing else installed."""

    wheel: Path
    python: Path

    def run(self, code: str, *arguments: str) -> str:
        """Return the output of *code* in the environment, with warnings as errors."""
        command = [str(self.python), "-I", "-W", "error", "-c", code, *arguments]
        done = subprocess.run(command, cwd=self.python.parent, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.strip()


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    wheel, folder = build("wheel", tmp_path_factory.mktemp("wheel")), tmp_path_factory.mktemp("empty")
    venv.create(folder, with_pip=False)
    made = Library(wheel, folder / "bin" / "python")
    pip = [sys.executable, "-m", "pip", "--python", str(made.python), "--disable-pip-version-check", "-q"]
    subprocess.run([*pip, "install", "--no-index", str(wheel)], capture_output=True, check=True)
    return made


def build(target: str, folder: Path, project: Path = PROJECT) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run(command, cwd=project, env=environment, capture_output=True, check=True)
    (made,) = folder.iterdir()
    return made


def modules_of(wheel: Path) -> set[str]:
    return {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}


@needs_builder
@pytest.mark.slow
def test_the_wheel_contains_only_the_modules_of_the_rules(library: Library) -> None:
    folder = ROOT / "engine"
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*.py")} | {"py.typed"}
    assert modules_of(library.wheel) == {f"tallybone_rules/{name}" for name in names}
    assert library.wheel.stat().st_size <= MAX_BYTES
    archive = zipfile.ZipFile(library.wheel)
    (metadata,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
    assert b"Requires-Dist" not in archive.read(metadata)
    assert metadata.replace("METADATA", "licenses/LICENSE") in archive.namelist()


@needs_builder
@pytest.mark.slow
def test_no_module_of_the_wheel_names_the_original_package(library: Library) -> None:
    archive = zipfile.ZipFile(library.wheel)
    for name in modules_of(library.wheel):
        source = archive.read(name).decode()
        for node in ast.walk(ast.parse(source)):
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            modules += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not [module for module in modules if module.split(".")[0] == "engine"], name
        assert not re.search(r"(?:>>>|\.\.\.) .*\bengine\b", source), name


@needs_builder
@pytest.mark.slow
def test_the_library_has_all_names_and_working_examples(library: Library) -> None:
    assert library.run("import tallybone_rules; print(*tallybone_rules.__all__)").split() == engine.__all__
    code = """
import doctest, importlib, pkgutil, tallybone_rules
names = ["tallybone_rules", *(one.name for one in pkgutil.walk_packages(tallybone_rules.__path__, "tallybone_rules."))]
found = [doctest.testmod(importlib.import_module(name)) for name in names]
print(sum(one.failed for one in found), sum(one.attempted for one in found) > 20)
"""
    assert library.run(code) == "0 True"


@needs_builder
@pytest.mark.slow
def test_every_example_of_the_page_runs_with_the_wheel_only(library: Library) -> None:
    code = "import doctest, sys; print(*doctest.testfile(sys.argv[1], module_relative=False, encoding='utf-8'))"
    assert library.run(code, str(PAGE)) == f"0 {len(examples())}"


@needs_builder
@pytest.mark.slow
def test_a_source_distribution_builds_the_same_wheel(library: Library, tmp_path: Path) -> None:
    source = build("sdist", tmp_path / "source")
    with tarfile.open(source) as archive:
        archive.extractall(tmp_path / "unpacked", filter="data")
    (project,) = (tmp_path / "unpacked").iterdir()
    assert modules_of(build("wheel", tmp_path / "wheel", project)) == modules_of(library.wheel)


def examples() -> list[doctest.Example]:
    return doctest.DocTestParser().get_examples(PAGE.read_text(encoding="utf-8"))


def test_every_example_of_the_page_runs_with_the_engine() -> None:
    text = PAGE.read_text(encoding="utf-8").replace("tallybone_rules", "engine")
    test = doctest.DocTestParser().get_doctest(text, {}, PAGE.name, str(PAGE), 0)
    output: list[str] = []
    result = doctest.DocTestRunner().run(test, out=output.append)
    assert result.failed == 0, "".join(output)
    assert result.attempted == len(examples()) > 60


def test_the_first_example_is_a_whole_match_in_twenty_lines() -> None:
    section = PAGE.read_text(encoding="utf-8").split("## A whole match")[1].split("A `Table` knows")[0]
    assert len(re.findall(r"^    (?:>>>|\.\.\.) ", section, flags=re.MULTILINE)) <= 20
    assert "wins the match" in section


def test_the_page_lists_every_public_name() -> None:
    section = PAGE.read_text(encoding="utf-8").split("## Public names")[1].split("\n## ")[0]
    named = [name for row in section.splitlines() if row.startswith("| ") for name in re.findall(r"`(\w+)`", row)]
    assert named == engine.__all__


def test_the_library_has_the_same_version_and_license_without_dependencies() -> None:
    rules, whole = (tomllib.loads((at / "pyproject.toml").read_text())["project"] for at in (PROJECT, ROOT))
    assert (rules["version"], rules["requires-python"]) == (whole["version"], whole["requires-python"])
    assert rules["dependencies"] == []
    # A symbolic link would point outside the source distribution.
    assert (PROJECT / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
