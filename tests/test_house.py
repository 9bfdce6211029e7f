"""Tests of rules for the whole project that the tools of `make check` do not cover."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
import zipfile
from collections import Counter, defaultdict
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).resolve().parent.parent
TABLE = ("engine", "vision", "hardware", "calibration", "tallybone")
"""Packages of a table's wheel."""
PACKAGES = (*TABLE, "lab")
LOCKS = sorted((ROOT / "requirements").glob("*.txt"))


@cache
def sources() -> dict[Path, str]:
    """Return the text of each module of the packages, by its path in the project."""
    paths = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
    return {path.relative_to(ROOT): path.read_text(encoding="utf-8") for path in paths}


@cache
def parsed() -> dict[Path, ast.Module]:
    return {path: ast.parse(text) for path, text in sources().items()}


# Written so that the patterns do not match this file.
REGISTRY = re.compile(rb"p[y]pi\.org|p[y]thonhosted|n[p]mjs|deb\.d[e]bian|p[i]wheels\.org|file:///[o]pt")
MACHINE_PATH = re.compile(rb"(?<![\w.*>}])/(?:r[o]ot|w[o]rk|h[o]me/(?!pi/)\w+)/")


def project_files() -> list[Path]:
    """Return all committed files and files to be committed."""
    try:
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("without a git checkout, project files cannot be distinguished from generated ones")
    return [path for name in listed.decode().split("\0") if name and (path := ROOT / name).is_file()]


@pytest.mark.parametrize("pattern", [REGISTRY, MACHINE_PATH], ids=["registry", "machine path"])
def test_no_file_names_a_registry_or_machine_path(pattern: re.Pattern[bytes]) -> None:
    assert pattern.search(b"--index-url https://py" + b"pi.org/simple /ho" + b"me/anna/x")
    assert not pattern.search(b"network/" + b"x .venv/work/ ../work/ /var/lib/tallybone")
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:120]!r}"
        for path in project_files()
        for number, line in enumerate(path.read_bytes().splitlines(), start=1)
        if pattern.search(line)
    ]
    assert found == []


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.name)
def test_requirement_files_name_no_host_and_pin_all_hashes(lock: Path) -> None:
    text = lock.read_text()
    assert "://" not in text
    assert "--index" not in text
    assert "--find-links" not in text
    pins = re.split(r"\n(?=\w)", text.strip())
    assert len(pins) > 10
    for pin in pins:
        assert re.match(r"[\w.-]+(\[\w+(, \w+)*\])?==[\w.]+( ; .+)? \\\n", pin), pin
        assert "--hash=sha256:" in pin, pin


def test_tools_use_the_same_versions_as_users() -> None:
    run, dev = (_pins((ROOT / "requirements" / name).read_text()) for name in ("run.txt", "dev.txt"))
    assert run <= dev


def _pins(text: str) -> set[str]:
    return set(re.findall(r"^[\w.-]+(?:\[.+\])?==[^\\]+", text, flags=re.MULTILINE))


@pytest.mark.slow
def test_the_rules_import_only_the_standard_library() -> None:
    allowed = {*sys.stdlib_module_names, "engine"}
    for path in (path for path in parsed() if path.parts[0] == "engine"):
        for node in ast.walk(parsed()[path]):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert {name.split(".")[0] for name in names} <= allowed, path


MAX_LOOSE = {"engine": 4, "vision": 3, "hardware": 4, "calibration": 1, "tallybone": 9, "lab": 2}


@pytest.mark.parametrize(("package", "loose"), MAX_LOOSE.items())
def test_a_package_keeps_its_modules_in_rooms(package: str, loose: int) -> None:
    assert len([path for path in (ROOT / package).glob("*.py") if path.stem != "__init__"]) <= loose


def test_modules_have_no_circular_imports() -> None:
    """Imports in functions and for types count too, as they also connect the modules for a reader."""
    imports = grimp.build_graph(*PACKAGES)
    circles = TopologicalSorter(
        {module: imports.find_modules_directly_imported_by(module) for module in imports.modules}
    )
    circles.prepare()  # raises CycleError with the names


def test_modules_have_at_most_700_lines_and_functions_50() -> None:
    lengths = [(str(path), len(text.splitlines()), 700) for path, text in sources().items()]
    for path, module in parsed().items():
        for node in ast.walk(module):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno is not None:
                lengths.append((f"{path}: {node.name}", node.end_lineno - node.lineno + 1, 50))
    assert len(lengths) > 1000
    assert [f"{name}: {lines}" for name, lines, most in lengths if lines > most] == []


# Product lines that a package or room may have; its parent counts the rest. A change that needs more room lowers
# another ceiling in the same commit, so the sum only falls.
MAX_LINES = {
    "engine": 8_938,
    "vision": 6_031,
    "hardware": 7_809,
    "calibration": 3_548,
    "tallybone/calibrate": 3_031,
    "tallybone/cli": 2_610,
    "tallybone/doctor": 1_850,
    "tallybone/play": 3_658,
    "tallybone/recording": 2_659,
    "tallybone/replay": 2_361,
    "tallybone/serve": 3_036,
    "tallybone/session": 3_920,
    "tallybone/show": 1_607,
    "tallybone/web": 5_828,
    "tallybone": 5_095,
    "lab/bench": 7_232,
    "lab/render": 5_823,
    "lab/sounds": 3_040,
    "lab": 9_124,
}
MAX_LINES_OF_A_TABLE = 61_981
MAX_LINES_OF_THE_LABORATORY = 25_219
MAX_UNUSED_LINES = 100  # a room that has shrunk by more gives up its ceiling


def test_each_room_keeps_to_its_ceiling_of_lines() -> None:
    rooms = sorted(MAX_LINES, key=len, reverse=True)
    lines: Counter[str] = Counter()
    for path, text in sources().items():
        lines[next(room for room in rooms if path.is_relative_to(room))] += len(text.splitlines())
    assert {room: lines[room] - most for room, most in MAX_LINES.items() if lines[room] > most} == {}
    assert {room: lines[room] for room, most in MAX_LINES.items() if most - lines[room] > MAX_UNUSED_LINES} == {}
    laboratory = sum(most for room, most in MAX_LINES.items() if room.startswith("lab"))
    assert laboratory <= MAX_LINES_OF_THE_LABORATORY
    assert sum(MAX_LINES.values()) - laboratory <= MAX_LINES_OF_A_TABLE


def test_phrases_import_nothing() -> None:
    assert grimp.build_graph("engine").find_modules_directly_imported_by("engine.phrases") == set()


def test_a_package_has_a_description_and_no_module_starts_with_a_clause() -> None:
    for path, module in parsed().items():
        first = (ast.get_docstring(module) or "").split("\n")[0]
        assert path.name != "__init__.py" or re.fullmatch(r"[A-Z`].{20,}[.:]", first), path
        assert not re.match(r"(?:What|Which|Whether|How|Where|When|Who)\b", first), path


# Packages with docstrings that start with a noun or a verb. Others are added when they comply.
ROOMS_IN_STYLE = ("play", "recording", "session", "show", "calibrate", "sources")
IN_STYLE = ("engine", "lab", "vision", "calibration", *(f"tallybone/{room}" for room in ROOMS_IN_STYLE))


def test_no_docstring_starts_with_a_clause() -> None:
    clause = re.compile(r'"""(?:(?:Return|Yield) )?(?:what|which|whether|how|where|when)\b.*', re.IGNORECASE)
    found = {path: clause.findall(text) for path, text in sources().items() if str(path).startswith(IN_STYLE)}
    assert {str(path): lines for path, lines in found.items() if lines} == {}


# Names shared by two files, with the reason.
SHARED_NAMES = {
    "Answer": "an input in a game (session), and the body of a request that answers a test (serve)",
    "Table": "a match with all of its tiles, for programs that play (engine), and the measured table (calibration)",
}


def test_class_names_are_unique() -> None:
    found: dict[str, set[str]] = defaultdict(set)
    for path, module in _modules_but_benchmarks().items():
        for name in _named_in(module):
            found[name].add(str(path))
    doubled = {name: sorted(paths) for name, paths in found.items() if len(paths) > 1}
    assert {name: paths for name, paths in doubled.items() if name not in SHARED_NAMES} == {}
    assert set(SHARED_NAMES) <= set(doubled), "these names are no longer shared"
    assert len(SHARED_NAMES) <= 30


def _modules_but_benchmarks() -> dict[Path, ast.Module]:
    """Return all modules but the benchmarks, each of which is a program of its own."""
    return {path: module for path, module in parsed().items() if not path.is_relative_to("lab/bench")}


def _named_in(module: ast.Module) -> set[str]:
    """Return the classes and type aliases of a module: names like `Tile`, not `MAX_TILES` or `tile`."""
    aliases = [node.targets[0] for node in module.body if isinstance(node, ast.Assign)]
    aliases += [node.target for node in module.body if isinstance(node, ast.AnnAssign)]
    names = {alias.id for alias in aliases if isinstance(alias, ast.Name)}
    capital = {name for name in names if re.match(r"_?[A-Z]", name) and name.upper() != name}
    return capital | {node.name for node in module.body if isinstance(node, ast.ClassDef)}


# Some are commands, and the others do the same for different data.
SHARED_FUNCTIONS = {"feed", "fit", "refuse_if_closed", "replay", "restore"}


def test_public_function_names_are_unique() -> None:
    modules_in = _modules_but_benchmarks().values()
    functions = [{node.name for node in module.body if isinstance(node, ast.FunctionDef)} for module in modules_in]
    modules = Counter(name for names in functions for name in names if not name.startswith("_"))
    assert {name for name, count in modules.items() if count > 1} == SHARED_FUNCTIONS


def test_command_functions_take_at_most_six_parameters() -> None:
    for path in (path for path in parsed() if path.is_relative_to("tallybone/cli")):
        for node in ast.walk(parsed()[path]):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                taken = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                assert len([argument for argument in taken if argument.arg != "self"]) <= 6, f"{path.name}: {node.name}"


def test_every_runtime_dependency_has_a_reason() -> None:
    projects = [
        tomllib.loads((ROOT / file).read_text())["project"] for file in ("pyproject.toml", "lab/pyproject.toml")
    ]
    reasons = (ROOT / "docs" / "explanation" / "dependencies.md").read_text()
    for project in projects:
        extras = [needed for extra in project["optional-dependencies"].values() for needed in extra]
        for needed in [*project["dependencies"], *extras]:
            name = re.match(r"[\w-]+", needed)
            assert name
            assert f"`{name[0]}`" in reasons or name[0].startswith("tallybone"), needed
    assert projects[0]["version"] == projects[1]["version"]
    assert projects[1]["dependencies"] == [f"tallybone=={projects[0]['version']}"]
    assert projects[0]["optional-dependencies"]["lab"] == [f"tallybone-lab=={projects[0]['version']}"]


@pytest.mark.slow
def test_a_wheel_contains_only_the_packages_and_their_models(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    shipped = [
        path
        for package in TABLE
        for path in (ROOT / package).rglob("*.*")
        if path.suffix in {".py", ".npz", ".onnx", ".sha256", ".typed"}
    ]
    assert {path.relative_to(ROOT).as_posix() for path in shipped} <= names
    assert {name.split("/")[0] for name in names} == set(TABLE)
    assert wheel.stat().st_size < 9_000_000, "generated training data or a larger network is in the wheel"
