"""The rooms of tallybone and the packages below them, drawn from the contracts of pyproject.toml and the imports."""

from __future__ import annotations

import ast
import itertools
import math
import textwrap
import tomllib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from docs.drawings.sheet import FAINT, INK, Point, Sheet

ROOT = Path(__file__).parent.parent.parent
_WIDTH, _EDGE, _TOP = 1000, 70, 96
_GAP_X, _GAP_Y, _LANE, _STEP = 24, 30, 16, 12
_TEXT, _LINE = 12, 17
_FILLS = ("#e8f0e4", "#eef3fb")
"""Of the rooms of tallybone, and of the other packages."""
Edge = tuple[str, str]
"""Names of two boxes: the first imports from the second."""


@dataclass(frozen=True, slots=True)
class Box:
    """A room or a package.

    Attributes:
        name: Its title.
        modules: The modules in it, without those inside them.
        text: Its purpose.
        floor: Its number, from 0 at the top.
    """

    name: str
    modules: tuple[str, ...]
    text: str
    floor: int


@dataclass(frozen=True, slots=True)
class _Frame:
    """The place of a box on the sheet, in units of the drawing."""

    left: float
    top: float
    width: float
    height: float

    @property
    def bottom(self) -> float:
        return self.top + self.height


@dataclass(slots=True)
class _Side:
    """The lanes to the left or to the right of all floors.

    Attributes:
        is_right: Which side.
        busy_to: The lower end of the last arrow in each lane; below it the lane is free.
        met: How many arrows meet each box from this side.
    """

    is_right: bool
    busy_to: dict[int, float] = field(default_factory=dict)
    met: Counter[_Frame] = field(default_factory=Counter)

    @property
    def edge(self) -> float:
        return _WIDTH - _EDGE if self.is_right else _EDGE

    def is_beside(self, frame: _Frame) -> bool:
        return math.isclose(frame.left + frame.width if self.is_right else frame.left, self.edge)

    def lane(self, start: _Frame) -> int:
        """Return the innermost lane that is free for the next arrow from *start*."""
        height = self._next_height(start)
        return next(number for number in itertools.count() if self.busy_to.get(number, 0) < height)

    def meet(self, frame: _Frame) -> float:
        """Return the height at which the next arrow meets a box, and count it."""
        height = self._next_height(frame)
        self.met[frame] += 1
        return height

    def _next_height(self, frame: _Frame) -> float:
        return frame.top + _STEP * (self.met[frame] + 1)


def boxes() -> list[Box]:
    """Return rooms and packages, floor by floor, as the contracts of pyproject.toml order them."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = [one for one in contracts if one["type"] == "layers"]
    (rooms,) = (one["layers"] for one in layers if one.get("containers") == ["tallybone"])
    (packages,) = (one["layers"] for one in layers if "containers" not in one)
    found: list[Box] = []
    for number, floor in enumerate([*rooms, *packages[2:]]):
        prefix = "tallybone." if number < len(rooms) else ""
        if ":" in floor:
            names = tuple(part.strip() for part in floor.split(":"))
            modules = tuple(prefix + name for name in names)
            found.append(Box("small modules", modules, ", ".join(names), number))
        else:
            modules = tuple(prefix + part.strip() for part in floor.split("|"))
            found += [Box(one.removeprefix(prefix), (one,), _first_line(one), number) for one in modules]
    return found


def _first_line(package: str) -> str:
    text = (ROOT / package.replace(".", "/") / "__init__.py").read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(text)) or "").splitlines()[0].replace("`", "")


def imports(known: list[Box]) -> set[Edge]:
    """Return which box imports from which, without what follows from other imports."""
    import grimp

    owner = {module: box.name for box in known for module in box.modules}
    graph = grimp.build_graph(*{module.split(".")[0] for module in owner})
    direct: dict[str, set[str]] = {box.name: set() for box in known}
    for module in graph.modules:
        for other in graph.find_modules_directly_imported_by(module):
            one, two = _owner(module, owner), _owner(other, owner)
            if one and two and one != two:
                direct[one].add(two)
    return {(one, two) for one, below in direct.items() for two in below if not _reached(one, two, direct)}


def _owner(module: str, owner: dict[str, str]) -> str | None:
    """Return the box of a module, or None for `tallybone` itself."""
    parts = module.split(".")
    return owner.get(".".join(parts[:2])) or owner.get(parts[0])


def _reached(start: str, end: str, direct: dict[str, set[str]]) -> bool:
    """Return True if *start* reaches *end* through another box."""
    ahead, seen = list(direct[start] - {end}), set[str]()
    while ahead:
        if (box := ahead.pop()) not in seen:
            seen.add(box)
            ahead += direct[box]
    return end in seen


def rooms_sheet() -> Sheet:
    """Return the drawing of the rooms: floors from top to bottom, and an arrow for each import."""
    known = boxes()
    frames = _frames(known)
    height = round(max(frame.bottom for frame in frames.values())) + 20
    sheet = Sheet(_WIDTH, height, "The rooms of tallybone and the packages below it, and which imports from which")
    sheet.text((_WIDTH / 2, 36), "The rooms of tallybone, and the packages below", size=20, anchor="middle", bold=True)
    for y, line in (
        (58, "A room imports only from floors below its own. An arrow points from a room to one that it imports;"),
        (74, "arrows that follow from others are left out."),
    ):
        sheet.text((_WIDTH / 2, y), line, size=12, anchor="middle", colour=FAINT)
    edges = sorted(imports(known))
    floor = {box.name: box.floor for box in known}
    for one, two in edges:
        if floor[two] == floor[one] + 1:
            _straight(sheet, frames[one], frames[two])
    _around(sheet, [edge for edge in edges if floor[edge[1]] > floor[edge[0]] + 1], frames)
    for box in known:
        _draw(sheet, box, frames[box.name])
    return sheet


def _frames(known: list[Box]) -> dict[str, _Frame]:
    """Return where each box goes: those of a floor beside each other, as high as the longest text asks."""
    frames: dict[str, _Frame] = {}
    top: float = _TOP
    for number in range(known[-1].floor + 1):
        row = [box for box in known if box.floor == number]
        width = (_WIDTH - 2 * _EDGE - _GAP_X * (len(row) - 1)) / len(row)
        height = 36 + _LINE * max(len(_wrapped(box.text, width)) for box in row)
        for column, box in enumerate(row):
            frames[box.name] = _Frame(_EDGE + column * (width + _GAP_X), top, width, height)
        top += height + _GAP_Y
    return frames


def _wrapped(text: str, width: float) -> list[str]:
    return textwrap.wrap(text, round((width - 28) / (_TEXT * 0.6)))


def _draw(sheet: Sheet, box: Box, frame: _Frame) -> None:
    fill = _FILLS[not box.modules[0].startswith("tallybone.")]
    sheet.box((frame.left, frame.top), (frame.width, frame.height), fill=fill)
    sheet.text((frame.left + 14, frame.top + 21), box.name, size=14, bold=True)
    lines = tuple(_wrapped(box.text, frame.width))
    sheet.lines((frame.left + 14, frame.top + 40), lines, size=_TEXT, colour=FAINT)


def _straight(sheet: Sheet, one: _Frame, two: _Frame) -> None:
    """Draw an arrow to the next floor, below the middle of the narrower box."""
    narrow = min(one, two, key=lambda frame: frame.width)
    x = narrow.left + narrow.width / 2
    _arrow(sheet, (x, one.bottom), (x, two.top))


def _around(sheet: Sheet, edges: list[Edge], frames: dict[str, _Frame]) -> None:
    """Draw arrows past floors, in lanes beside them; where several meet a box from one side, one below the other."""
    sides = (_Side(is_right=False), _Side(is_right=True))
    arrows = [(frames[one], frames[two]) for one, two in edges]
    for start, end in sorted(arrows, key=lambda arrow: (arrow[0].top, arrow[1].top)):
        beside = [side for side in sides if side.is_beside(start) and side.is_beside(end)]
        side = min(beside, key=lambda one: one.lane(start))
        lane = side.lane(start)
        upper, lower = side.meet(start), side.meet(end)
        side.busy_to[lane] = lower
        x = side.edge + (1 if side.is_right else -1) * _LANE * (lane + 1)
        sheet.wire((side.edge, upper), (x, upper), (x, lower), colour=FAINT, width=1.5)
        _arrow(sheet, (x, lower), (side.edge, lower), colour=FAINT)


def _arrow(sheet: Sheet, start: Point, end: Point, *, colour: str = INK) -> None:
    """Draw an upright or level line with its head at *end*."""
    (x, y), length = end, 8
    along = (0 if x == start[0] else 1 if x > start[0] else -1, 0 if y == start[1] else 1)
    back = (x - length * along[0], y - length * along[1])
    sheet.wire(start, back, colour=colour, width=1.5)
    across = (4 * along[1], 4 * along[0])
    sheet.shape(
        end,
        (back[0] - across[0], back[1] - across[1]),
        (back[0] + across[0], back[1] + across[1]),
        fill=colour,
        colour=colour,
    )
