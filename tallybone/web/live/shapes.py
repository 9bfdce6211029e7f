"""JSON types of the page, described in docs/reference/http_api.md and in the OpenAPI description.

Positions are pixels of the camera image, x right and y down; `seq` is the index of an action in the match log.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from vision.reading import PointPx


@dataclass(frozen=True, slots=True)
class MatchShown:
    """State of the match; *count* is the sum of the open ends, *winner* a seat.

    *provisional* is true while the totals depend on unconfirmed inferred actions.
    *phase* is "lobby" while no match is played. The other fields then describe the end of the last match; *game* is ""
    if there was none.
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
    """A mark in a row: "/", "X" or "O"; crossed out if its points were stolen."""

    stroke: str
    lined_out: bool


@dataclass(frozen=True, slots=True)
class TallyShown:
    """Tally of a player: *kind* is houses, rows or none; *rest* is the number of points without a mark."""

    kind: str
    houses: tuple[HouseShown, ...] = ()
    rows: tuple[tuple[StrokeShown, ...], ...] = ()
    rest: int = 0


@dataclass(frozen=True, slots=True)
class PlayerShown:
    """A player; *side* is their side of the image, if known; *team* a number if partners play."""

    seat: int
    name: str
    total: int
    tiles: int | None
    turn: bool
    side: str | None
    team: int | None
    marks: TallyShown


@dataclass(frozen=True, slots=True)
class QuestionShown:
    """An open question to the table; *seqs* are the plays it concerns, if known.

    *chosen* is the index of the choice selected with the table's buttons; null if none is shown.
    *evidence* is true if the image region that raised it is available (`evidence/question.jpg`).
    """

    topic: str
    text: str
    choices: tuple[str, ...]
    seqs: tuple[int, ...]
    chosen: int | None
    evidence: bool = False


@dataclass(frozen=True, slots=True)
class MessageShown:
    """A message to the table. *scene* is "match", "domino", "block", "steal" or "spell" for a rare event, else null."""

    id: int
    t_ns: int
    text: str
    kind: str
    seat: int | None
    scene: str | None = None


@dataclass(frozen=True, slots=True)
class PlayShown:
    """An action of a hand; *pips* are ordered (W, E), *sum* is its count, *what* describes the rest.

    *inferred* is true if it was neither observed nor confirmed. *rule* is the rule under which its count scores, in the
    words of the game's options; null if the count does not score.
    """

    seq: int
    kind: str
    seat: int | None
    pips: tuple[int, int] | None
    points: int
    sum: str | None
    text: str
    what: str
    irregular: str | None
    inferred: bool
    rule: str | None = None


@dataclass(frozen=True, slots=True)
class IrregularShown:
    """An action of the current hand that breaks a rule; *can_stand* is false if it can never count."""

    seq: int
    text: str
    can_stand: bool


@dataclass(frozen=True, slots=True)
class TileShown:
    """A tile of the layout; *pips*, *halves_px*, *read* and *confidence* have the same order.

    *pips* are the pips in the game, *read* those the camera reads; null if the face is not visible.
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
    """An end of the layout; *value* is the pips a tile must match, *counts* its share of the count."""

    x: float
    y: float
    seq: int
    port: str
    value: int
    counts: int
    open: bool


@dataclass(frozen=True, slots=True)
class WaitingShown:
    """A tile on the table that is not part of the game yet."""

    pips: tuple[int, int] | None
    corners_px: tuple[PointPx, ...]


@dataclass(frozen=True, slots=True)
class UnsureShown:
    """An object on the table that resembles a tile but cannot be read; not part of the game."""

    corners_px: tuple[PointPx, ...]


@dataclass(frozen=True, slots=True)
class ZoneShown:
    """The zone where a seat exposes its tiles, or the boneyard (null); corners as fractions of the image size."""

    seat: int | None
    corners: tuple[PointPx, ...]


@dataclass(frozen=True, slots=True)
class LayoutShown:
    """Objects on the table; *unplaced* lists the `seq` of tiles with unknown position.

    The table is asked about each object in *unsure* once.
    """

    picture_px: tuple[int, int]
    tiles: tuple[TileShown, ...]
    ends: tuple[EndShown, ...]
    waiting: tuple[WaitingShown, ...]
    unplaced: tuple[int, ...]
    zones: tuple[ZoneShown, ...]
    unsure: tuple[UnsureShown, ...] = ()


@dataclass(frozen=True, slots=True)
class ReaderShown:
    """State of the camera and the reader; *lost* is the reason why the table cannot be tracked."""

    text: str
    lost: str | None


@dataclass(frozen=True, slots=True)
class CanShown:
    """Buttons that currently have an effect, including those that break a rule."""

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
    """Reason why each button has no effect or which rule it breaks; "" for neither."""

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
    """Complete state of a page; *version* increases with every change, *unseen_hands* are estimates of pips left."""

    version: int
    match: MatchShown
    players: tuple[PlayerShown, ...]
    waits_for: str
    question: QuestionShown | None
    last: PlayShown | None
    messages: tuple[MessageShown, ...]
    layout: LayoutShown
    plays: tuple[PlayShown, ...]
    irregular: tuple[IrregularShown, ...]
    can: CanShown
    why: WhyShown
    reader: ReaderShown
    recording: str
    problems: tuple[str, ...] = field(default=())
    unseen_hands: tuple[PlayShown, ...] = ()
