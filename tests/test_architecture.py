"""Tests of docs/explanation/architecture.md and docs/rooms.svg against the project."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from docs.drawings.rooms import boxes, imports, rooms_sheet
from tests.test_house import PACKAGES, ROOT, project_files, sources
from tests.test_wiring import overlapping

DOCS = ROOT / "docs"
ARCHITECTURE = (DOCS / "explanation" / "architecture.md").read_text(encoding="utf-8")
FILE = re.compile(r"`([\w/-]+\.(?:py|js|sh|svg|npz|onnx))`")
NAME = re.compile(r"`([A-Za-z_]+(?:\.\w+)+)(?:\([\w, ]*\))?`")


def test_the_drawing_of_the_rooms_is_current() -> None:
    assert (DOCS / "rooms.svg").read_text(encoding="utf-8") == rooms_sheet().svg(), "run python -m docs.drawings"
    assert "(../rooms.svg)" in ARCHITECTURE


def test_no_texts_of_the_drawing_overlap_or_exceed_it() -> None:
    assert overlapping(rooms_sheet()) == []


def test_arrows_lead_down_without_redundant_ones() -> None:
    known = boxes()
    floor = {box.name: box.floor for box in known}
    edges = imports(known)
    assert all(floor[start] < floor[end] for start, end in edges)
    assert ("cli", "serve") not in edges
    assert {("cli", "hub"), ("hub", "serve"), ("recording", "store"), ("session", "vision")} <= edges
    assert {start for start, _ in edges} | {"vision", "hardware", "engine"} == set(floor)


def test_every_room_has_a_row() -> None:
    lines = re.findall(r"^\| (?:`(\w+)/`|(small modules)) \| \S.*\|$", ARCHITECTURE, flags=re.MULTILINE)
    rooms = [box.name for box in boxes() if box.modules[0].startswith("tallybone.")]
    assert [room or other for room, other in lines] == rooms


def test_every_room_of_the_other_packages_has_a_row() -> None:
    packages = [ROOT / package for package in PACKAGES if package != "tallybone"]
    rooms = {
        f"{path.parent.parent.name}/{path.parent.name}"
        for package in packages
        for path in package.glob("*/__init__.py")
    }
    assert set(re.findall(r"^\| `(\w+/\w+)/` \| \S", ARCHITECTURE, flags=re.MULTILINE)) == rooms


def test_every_question_is_answered_by_at_most_three_files() -> None:
    section = ARCHITECTURE.split("## Where do I ...")[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ") and not line.startswith(("| ...", "| ---"))]
    assert len(rows) > 10
    for row in rows:
        _, _, answer = row.strip("|").partition("|")
        assert 1 <= len(re.findall(r"`[\w/]+\.\w+|`[\w/]+/`|\]\(", answer)) <= 3, row


def test_every_file_named_on_a_page_exists() -> None:
    paths = [f"/{path.relative_to(ROOT)}" for path in _files()]
    for page in sorted(DOCS.rglob("*.md")):
        named = set(FILE.findall(page.read_text(encoding="utf-8")))
        assert {name for name in named if not any(path.endswith(f"/{name}") for path in paths)} == set(), page


def test_every_name_on_the_page_exists() -> None:
    named = set(NAME.findall(ARCHITECTURE))
    assert len(named) > 50
    assert {name for name in named if not _exists(name)} == set()


@cache
def _files() -> list[Path]:
    return project_files()


def _exists(name: str) -> bool:
    """Return True for a file, a module, or a name in a module, such as `reader.Reader.read` or `config.txt`."""
    if name in {path.name for path in _files()}:
        return True
    parts = name.split(".")
    if parts[0][0].isupper():
        texts = sources().values()
        return any(f"class {parts[0]}" in text and re.search(rf"\b{parts[1]}\b", text) for text in texts)
    for length in range(1, len(parts) + 1):
        module, inside = "/".join(parts[:length]), parts[length:]
        for path, text in sources().items():
            where = str(path.with_suffix("")).removesuffix("/__init__")
            if f"/{where}".endswith(f"/{module}") and all(re.search(rf"\b{name}\b", text) for name in inside):
                return True
    return False


def test_the_section_about_players_names_all_its_files() -> None:
    section = ARCHITECTURE.split("### Who played this tile")[1].split("\n## ")[0]
    walk = re.findall(r"^\d\. `([\w/]+\.py)`", section, flags=re.MULTILINE)
    assert len(walk) <= 6
    found = {str(path) for path, text in sources().items() if "came_from" in text and path.parts[0] != "lab"}
    # Fields of views and of the tracked layout, the layout of a resumed match, and names in recordings.
    session = {"tallybone/session/places.py", "tallybone/session/session.py"}
    assert found - set(walk) == session | {"vision/tracking/table_view.py", "tallybone/json_values.py"}
