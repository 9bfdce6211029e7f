"""docs/explanation/architecture.md and docs/rooms.svg: they show the project as it is."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from docs.drawings.rooms import boxes, imports, rooms_sheet
from tests.test_house import PACKAGES, ROOT, project_files
from tests.test_wiring import overlapping

DOCS = ROOT / "docs"
ARCHITECTURE = (DOCS / "explanation" / "architecture.md").read_text(encoding="utf-8")
MODULES = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
FILE = re.compile(r"`([\w/-]+\.(?:py|js|sh|svg|npz|onnx))`")
NAME = re.compile(r"`([A-Za-z_]+(?:\.\w+)+)(?:\([\w, ]*\))?`")


def test_the_picture_of_the_rooms_is_as_it_is_drawn_now() -> None:
    assert (DOCS / "rooms.svg").read_text(encoding="utf-8") == rooms_sheet().svg(), "run python -m docs.drawings"
    assert "(../rooms.svg)" in ARCHITECTURE


def test_no_text_of_the_picture_runs_into_another_or_off_the_paper() -> None:
    assert overlapping(rooms_sheet()) == []


def test_arrows_lead_down_and_leave_out_only_those_that_follow_from_others() -> None:
    known = boxes()
    floor = {box.name: box.floor for box in known}
    edges = imports(known)
    assert all(floor[one] < floor[two] for one, two in edges)
    assert ("cli", "serve") not in edges
    assert {("cli", "hub"), ("hub", "serve"), ("recording", "store"), ("session", "vision")} <= edges
    assert {one for one, _ in edges} | {"vision", "hardware", "engine"} == set(floor)


def test_every_room_has_its_line() -> None:
    lines = re.findall(r"^\| (?:`(\w+)/`|(small modules)) \| \S.*\|$", ARCHITECTURE, flags=re.MULTILINE)
    rooms = [box.name for box in boxes() if box.modules[0].startswith("tallybone.")]
    assert [room or other for room, other in lines] == rooms


def test_every_room_of_the_other_packages_has_its_line() -> None:
    packages = [ROOT / package for package in PACKAGES if package != "tallybone"]
    rooms = {f"{path.parent.parent.name}/{path.parent.name}" for one in packages for path in one.glob("*/__init__.py")}
    assert set(re.findall(r"^\| `(\w+/\w+)/` \| \S", ARCHITECTURE, flags=re.MULTILINE)) == rooms


def test_every_question_of_a_newcomer_is_answered_by_at_most_three_files() -> None:
    section = ARCHITECTURE.split("## Where do I ...")[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ") and not line.startswith(("| ...", "| ---"))]
    assert len(rows) > 10
    for row in rows:
        _, _, answer = row.strip("|").partition("|")
        assert 1 <= len(re.findall(r"`[\w/]+\.\w+|`[\w/]+/`|\]\(", answer)) <= 3, row


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda path: path.name)
def test_every_file_that_a_page_names_exists(page: Path) -> None:
    paths = [f"/{path.relative_to(ROOT)}" for path in _files()]
    named = set(FILE.findall(page.read_text(encoding="utf-8")))
    assert {name for name in named if not any(path.endswith(f"/{name}") for path in paths)} == set()


def test_every_name_of_the_walks_exists() -> None:
    named = set(NAME.findall(ARCHITECTURE))
    assert len(named) > 50
    assert {name for name in named if not _exists(name)} == set()


@cache
def _files() -> list[Path]:
    return project_files()


def _exists(name: str) -> bool:
    """Say whether *name* is a file, a module, or something in one: `reader.Reader.read`, `config.txt`."""
    if name in {path.name for path in _files()}:
        return True
    parts = name.split(".")
    if parts[0][0].isupper():
        texts = (path.read_text(encoding="utf-8") for path in MODULES)
        return any(f"class {parts[0]}" in text and re.search(rf"\b{parts[1]}\b", text) for text in texts)
    for length in range(1, len(parts) + 1):
        module, inside = "/".join(parts[:length]), parts[length:]
        for path in MODULES:
            where = str(path.relative_to(ROOT).with_suffix("")).removesuffix("/__init__")
            if f"/{where}".endswith(f"/{module}"):
                text = path.read_text(encoding="utf-8")
                if all(re.search(rf"\b{one}\b", text) for one in inside):
                    return True
    return False


def test_who_played_a_tile_is_followed_through_six_files() -> None:
    section = ARCHITECTURE.split("### Who played this tile")[1].split("\n## ")[0]
    walk = re.findall(r"^\d\. `([\w/]+\.py)`", section, flags=re.MULTILINE)
    assert len(walk) <= 6
    found = {str(path.relative_to(ROOT)) for path in MODULES if "came_from" in path.read_text(encoding="utf-8")}
    # The fields of a view and of the tracked layout; their names in recordings.
    declared = {"vision/tracking/table_view.py", "tallybone/session/referee/places.py", "tallybone/json_values.py"}
    # Draws, and plays that nobody has seen in order, have the same evidence.
    others = {f"tallybone/session/referee/{name}.py" for name in ("boneyard", "courses")}
    assert found - set(walk) - declared == others
