"""A small table with zones, shown look by look: for tests of what the boneyard, open hands and sides tell."""

from __future__ import annotations

from dataclasses import replace

from engine import Event, LeadRule, MatchStart, NewHand, Rules
from tallybone.session.feeding import feed
from tallybone.session.session import Announcement, Session
from tallybone.session.zones import SeatZone, Zones
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
    """A tile that lies open before a seat."""
    return seen(pips, (2.5 * at, ROW_OF[seat]), 90, sure)


class Table:
    """What lies there, and the sitting that sees it."""

    def __init__(self, rules: Rules, *events: Event, yard: int = 14, zones: Zones = ZONES) -> None:
        self.session = Session(zones=zones)
        self.tiles: tuple[SeenTile, ...] = tuple(back(at) for at in range(yard))
        self.said: tuple[Announcement, ...] = ()
        self.t_ns = 0
        for event in (MatchStart(replace(rules, lead_first=LeadRule.LOT_ANY), ("Ann", "Ben")), *events):
            self.session, _ = feed(self.session, event)
        if NewHand() in events:
            self.look()

    @property
    def log(self) -> tuple[Event, ...]:
        return self.session.state.log

    @property
    def asked(self) -> list[str]:
        return [one.ambiguity.words for one in self.session.questions]

    def tell(self, event: object, after_s: float = 5.0) -> None:
        if not isinstance(event, TableView) and after_s >= 5.0:  # the camera sees the table all the time
            self.tell(self.view(), after_s - 0.5)
            after_s = 0.5
        self.t_ns += int(after_s * SECOND_NS)
        self.session, self.said = feed(self.session, event, t_ns=self.t_ns)  # type: ignore[arg-type]  # any input

    def look(self, *came: str, after_s: float = 5.0, changes: tuple[Change, ...] = ()) -> None:
        """One look after a motion; hands came in over these sides alike."""
        sides = tuple(EntrySide(Side(side), 1 / len(came)) for side in came)
        self.tell(self.view(sides, changes), after_s)

    def view(self, sides: tuple[EntrySide, ...] = (), changes: tuple[Change, ...] = ()) -> TableView:
        return TableView(self.tiles, (), changes, True, self.t_ns, sides, size_px=SIZE_PX)

    def put(self, *tiles: SeenTile, came: str = "") -> None:
        self.tiles = (*self.tiles, *tiles)
        self.look(*came.split(), changes=tuple(Change(ChangeKind.PLACED, tile) for tile in tiles))

    def take(self, *tiles: SeenTile, came: str = "") -> None:
        self.tiles = tuple(tile for tile in self.tiles if tile not in tiles)
        self.look(*came.split(), changes=tuple(Change(ChangeKind.REMOVED, tile) for tile in tiles))

    def backs(self, many: int) -> tuple[SeenTile, ...]:
        """The last tiles of the boneyard."""
        return tuple(tile for tile in self.tiles if tile.face is Face.DOWN)[-many:]
