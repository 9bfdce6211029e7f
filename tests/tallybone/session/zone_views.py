"""A small table with zones, shown view by view, for tests of the boneyard, revealed hands and sides."""

from __future__ import annotations

from dataclasses import replace

from engine import Event, LeadRule, MatchStart, NewHand, Rules
from tallybone.session.feeding import feed
from tallybone.session.observations import SeatZone, Zones
from tallybone.session.session import Announcement, Session
from tests.tallybone.session.test_referee import seen
from vision.reading import Face, SeenTile
from vision.tracking.settle import EntrySide, Side
from vision.tracking.table_view import Change, ChangeKind, TableView

SIZE_PX = (1600, 1600)
SECOND_NS = 1_000_000_000
ZONES = Zones(
    (
        SeatZone(Side.BOTTOM, ((0.0, 0.85), (1.0, 0.85), (1.0, 1.0), (0.0, 1.0))),
        SeatZone(Side.TOP, ((0.0, 0.0), (0.7, 0.0), (0.7, 0.1), (0.0, 0.1))),
    ),
    ((0.75, 0.0), (1.0, 0.0), (1.0, 0.4), (0.75, 0.4)),
)
ROW_OF = {0: 25.5, 1: -8.5}


def back(at: int, push_px: float = 0.0) -> SeenTile:
    x, y = 1220.0 + 60 * (at % 6) + push_px, 20.0 + 90 * (at // 6)
    return SeenTile(Face.DOWN, ((x, y), (x + 40, y), (x + 40, y + 80), (x, y + 80)), ())


def before(seat: int, at: int, pips: tuple[int, int], sure: tuple[float, float] = (0.999, 0.999)) -> SeenTile:
    """Return a tile that lies open in front of a seat."""
    return seen(pips, (2.5 * at, ROW_OF[seat]), 90, sure)


class Table:
    """The tiles of a table, and the session that watches it."""

    def __init__(self, rules: Rules, *events: Event, yard: int = 14, zones: Zones = ZONES) -> None:
        self.session = Session(zones=zones)
        self.tiles: tuple[SeenTile, ...] = tuple(back(at) for at in range(yard))
        self.announcements: tuple[Announcement, ...] = ()
        self.t_ns = 0
        for event in (MatchStart(replace(rules, lead_first=LeadRule.LOT_ANY), ("Ann", "Ben")), *events):
            self.session, _ = feed(self.session, event)
        if NewHand() in events:
            self.look()

    @property
    def log(self) -> tuple[Event, ...]:
        return tuple(self.session.state.log)

    @property
    def asked(self) -> list[str]:
        return [question.ambiguity.text for question in self.session.questions]

    def feed(self, event: object, after_s: float = 5.0) -> None:
        if not isinstance(event, TableView) and after_s >= 5.0:  # the camera watches the table continuously
            self.feed(self.view(), after_s - 0.5)
            after_s = 0.5
        self.t_ns += int(after_s * SECOND_NS)
        self.session, self.announcements = feed(self.session, event, t_ns=self.t_ns)  # type: ignore[arg-type]  # any input

    def look(self, *sides: str, after_s: float = 5.0, changes: tuple[Change, ...] = ()) -> None:
        """Show a view after a motion, with hands over these sides at equal chances."""
        entries = tuple(EntrySide(Side(side), 1 / len(sides)) for side in sides)
        self.feed(self.view(entries, changes), after_s)

    def view(self, sides: tuple[EntrySide, ...] = (), changes: tuple[Change, ...] = ()) -> TableView:
        return TableView(self.tiles, (), changes, True, self.t_ns, sides, size_px=SIZE_PX)

    def wait(self) -> None:
        """Show the unchanged table for 15 s, so that a doubt becomes a question."""
        for _ in range(3):
            self.look()

    def put(self, *tiles: SeenTile, side: str = "") -> None:
        self.tiles = (*self.tiles, *tiles)
        self.look(*side.split(), changes=tuple(Change(ChangeKind.PLACED, tile) for tile in tiles))

    def take(self, *tiles: SeenTile, side: str = "") -> None:
        self.tiles = tuple(tile for tile in self.tiles if tile not in tiles)
        self.look(*side.split(), changes=tuple(Change(ChangeKind.REMOVED, tile) for tile in tiles))

    def backs(self, count: int) -> tuple[SeenTile, ...]:
        """Return the last tiles of the boneyard."""
        return tuple(tile for tile in self.tiles if tile.face is Face.DOWN)[-count:]
