"""Define the JSON of a page: frozen values whose fields docs/page.md and OpenAPI describe.

Places are pixels of the camera's picture, x right and y down; `seq` is the place of an action in the log of the match.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from vision.reading import PointPx


@dataclass(frozen=True, slots=True)
class MatchShown:
    """How the match stands; *count* is the sum of the open ends, *winner* a seat.

    *provisional* is true while the totals rely on inferred actions that nobody has confirmed.
    *phase* is "lobby" while none is played: then all else is how the last one ended; without one *game* is "".
    """

    game: str
    target: int | None
    phase: str
    hand: int | None
    boneyard: int | None
    count: str | None
    max_pips: int
    copies: int
    over: bool
    winner: int | None
    provisional: bool


@dataclass(frozen=True, slots=True)
class HouseShown:
    r"""A house of the tally: strokes of the cross (0 to 2), and in each quadrant "", "\", "X" or "O"."""

    cross: int
    quadrants: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StrokeShown:
    """One mark in a row: "/", "X" or "O"; lined out when its points were stolen."""

    stroke: str
    lined_out: bool


@dataclass(frozen=True, slots=True)
class MarksShown:
    """The tally of a player: *kind* is houses, rows or none; *rest* are points that the marks do not say."""

    kind: str
    houses: tuple[HouseShown, ...] = ()
    rows: tuple[tuple[StrokeShown, ...], ...] = ()
    rest: int = 0


@dataclass(frozen=True, slots=True)
class PlayerShown:
    """A player: *side* is where in the picture they sit, if that is known; *team* is a number where partners play."""

    seat: int
    name: str
    total: int
    tiles: int | None
    turn: bool
    side: str | None
    team: int | None
    marks: MarksShown


@dataclass(frozen=True, slots=True)
class QuestionShown:
    """What the table is asked; *seqs* are the plays that it is about, as far as that is known.

    *chosen* is the place of the choice that a button of the table would take now; null where none is shown.
    *evidence* is true if a crop of the picture that raised it is kept (`evidence/question.jpg`).
    """

    topic: str
    words: str
    choices: tuple[str, ...]
    seqs: tuple[int, ...]
    holds_up: bool
    chosen: int | None
    evidence: bool = False


@dataclass(frozen=True, slots=True)
class ToldShown:
    """Something that was said to the table."""

    id: int
    t_ns: int
    words: str
    kind: str
    seat: int | None


@dataclass(frozen=True, slots=True)
class PlayShown:
    """An action of a hand; *pips* are those of the tile as it lies (W, E), *sum* is its count, *what* all else.

    *inferred* is true if nobody saw it and nobody has confirmed it. *rule* is the rule that pays its count, in the
    words of the options of the game; null if the count pays nothing.
    """

    seq: int
    kind: str
    seat: int | None
    pips: tuple[int, int] | None
    points: int
    sum: str | None
    words: str
    what: str
    irregular: str | None
    inferred: bool
    rule: str | None = None


@dataclass(frozen=True, slots=True)
class IrregularShown:
    """An action of the current hand that breaks a rule; *can_stand* is false if it can never count."""

    seq: int
    words: str
    can_stand: bool


@dataclass(frozen=True, slots=True)
class TileShown:
    """A tile of the layout: *pips*, *halves_px*, *read* and *confidence* in the same order.

    *pips* is what counts, *read* what the camera read there; null if it does not see the face of the tile.
    """

    seq: int
    pips: tuple[int, int]
    corners_px: tuple[PointPx, ...]
    halves_px: tuple[PointPx, PointPx]
    read: tuple[int, int] | None
    confidence: tuple[float, float]
    spinner: bool
    last: bool
    stacked: int
    doubtful: bool


@dataclass(frozen=True, slots=True)
class EndShown:
    """Where a tile can be laid: *value* is the number it needs, *counts* what the end adds to the count."""

    x: float
    y: float
    seq: int
    port: str
    value: int
    counts: int
    open: bool


@dataclass(frozen=True, slots=True)
class WaitingShown:
    """A tile that lies on the table and is not part of the game yet."""

    pips: tuple[int, int] | None
    corners_px: tuple[PointPx, ...]


@dataclass(frozen=True, slots=True)
class UnsureShown:
    """Something that lies on the table, looks like a tile and cannot be read; it is no part of the game."""

    corners_px: tuple[PointPx, ...]


@dataclass(frozen=True, slots=True)
class ZoneShown:
    """Where a seat lays its tiles open, or with no seat the boneyard; corners in shares of width and height."""

    seat: int | None
    corners: tuple[PointPx, ...]


@dataclass(frozen=True, slots=True)
class LayoutShown:
    """What lies on the table; tiles of the game whose place nobody knows are in *unplaced* by their seq.

    *unsure* is asked about: each place once, until it is read or taken away.
    """

    picture_px: tuple[int, int]
    tiles: tuple[TileShown, ...]
    ends: tuple[EndShown, ...]
    waiting: tuple[WaitingShown, ...]
    unplaced: tuple[int, ...]
    zones: tuple[ZoneShown, ...]
    unsure: tuple[UnsureShown, ...] = ()


@dataclass(frozen=True, slots=True)
class EyeShown:
    """What camera and eye are doing; *lost* says why the table cannot be followed."""

    words: str
    lost: str | None


@dataclass(frozen=True, slots=True)
class CanShown:
    """Buttons that have an effect now, including those that break a rule."""

    knock: bool = False
    call: bool = False
    draw: bool = False
    done: bool = False
    undo: bool = False
    stands: bool = False
    next: bool = False
    hand_end: bool = False
    redeal: bool = False
    stack: bool = False
    table: bool = False


@dataclass(frozen=True, slots=True)
class WhyShown:
    """Per button, why it has no effect now or which rule it breaks; "" for neither."""

    knock: str = ""
    call: str = ""
    draw: str = ""
    done: str = ""
    undo: str = ""
    stands: str = ""
    next: str = ""
    hand_end: str = ""
    redeal: str = ""
    stack: str = ""
    table: str = ""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All that a page shows, at one moment; *version* rises with every change."""

    version: int
    match: MatchShown
    players: tuple[PlayerShown, ...]
    waits_for: str
    question: QuestionShown | None
    last: PlayShown | None
    told: tuple[ToldShown, ...]
    layout: LayoutShown
    plays: tuple[PlayShown, ...]
    irregular: tuple[IrregularShown, ...]
    can: CanShown
    why: WhyShown
    eye: EyeShown
    recording: str
    problems: tuple[str, ...] = field(default=())
