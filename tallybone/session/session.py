"""State of a sitting: the match, its tracked layout, the decoder, and pending input."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TypeAlias

from engine import Action, Event, Game, NewHand, NodeId, Outcome, Phase, Redeal, Seq, State
from engine.state.match import Applied
from engine.value import changed
from tallybone.session.course import MatchCourse, Written, names_in
from tallybone.session.decoder import Decoder
from tallybone.session.inputs import Answer, AnswerBack, KnockHeard, Press
from tallybone.session.observations import FIRST_NAME, Observation, Piece, TablePieces, Zones, numbers_of
from tallybone.session.places import Known, Laid, Places, Waiting, footprint_of
from tallybone.session.questions import Adoption, Ambiguity, Question
from vision.reader.custom_set import RecordedSet
from vision.tracking.table_view import TableView

Announcement: TypeAlias = Outcome | Ambiguity
Input: TypeAlias = Event | TableView | KnockHeard | Press | Answer | AnswerBack | RecordedSet


@dataclass(frozen=True, slots=True)
class Session:
    """State of a sitting. All times are nanoseconds of a monotonic clock.

    Attributes:
        state: The match.
        places: Its tracked layout.
        t_ns: Time of the last event.
        zones: Zones of boneyard and open hands, fixed during a sitting.
        decoder: The likeliest courses of the match. None before it has begun.
        path: The courses that the log holds, oldest first.
        idle: Names of pieces that do not count: taken back, or left from the previous hand.
        undone: Names of those whose plays were undone, until the players decide about them.
        seen: Last settled view, or None before the first.
        look: Last look, or None before the first.
        looked_ns: Time at which the table last changed. None once the unchanged table has been looked at again.
        heard: Sounds since the last look, each with its time.
        pressed: Presses and entered actions since the last look, each with its time.
        last_press: Last press of a button, with its time, or None.
        is_at_rest: The last view showed the table at rest.
        viewed_ns: Time of the last view, or None before the first.
        sighted_ns: Time of the first view after the last gap, if the table was not at rest then.
        is_deaf: The machine was off before the next look.
        doubtful_ns: Time since which the totals are doubtful, or None.
        marked: Actions that are marked because they are doubtful. Others were marked by hand, or before the restart.
        rejected: Topics of questions of which the players have rejected all choices.
        adoption: Progress of putting the score right, or None.
        answered: Answer that can be withdrawn, or None.
    """

    state: State = field(default_factory=State)
    places: Places = field(default_factory=Places)
    questions: tuple[Question, ...] = ()
    t_ns: int = 0
    zones: Zones = field(default_factory=Zones)
    decoder: Decoder | None = None
    path: tuple[Written, ...] = ()
    table: TablePieces = field(default_factory=TablePieces)
    idle: frozenset[NodeId] = frozenset()
    undone: frozenset[NodeId] = frozenset()
    named: frozenset[int] = frozenset()
    seen: TableView | None = None
    look: Observation | None = None
    looked_ns: int | None = None
    heard: tuple[tuple[int, KnockHeard], ...] = ()
    pressed: tuple[tuple[int, Press | Action], ...] = ()
    last_press: tuple[int, Press] | None = None
    is_at_rest: bool = True
    viewed_ns: int | None = None
    sighted_ns: int = 0
    is_deaf: bool = False
    doubtful_ns: int | None = None
    marked: frozenset[Seq] = frozenset()
    confirmed: frozenset[Seq] = frozenset()
    rejected: frozenset[str] = frozenset()
    adoption: Adoption | None = None
    answered: Answered | None = None

    @classmethod
    def resumed(cls, state: State, places: Places, *, t_ns: int = 0, zones: Zones | None = None) -> Session:
        """Return the session of a stored match and its places. Nothing was recorded since it was stored."""
        pieces = [Piece(known.node, known.tile) for known in places.known if not known.is_missing]
        lost = [Piece(known.node, known.tile) for known in places.known if known.is_missing]
        others = [*places.waiting, *(Waiting(tile) for tile in places.dismissed)]
        names = [NodeId(FIRST_NAME + at) for at in range(len(others))]
        pieces += [Piece(name, old.tile, old.came_from, old.since_ns) for name, old in zip(names, others, strict=True)]
        table = TablePieces(tuple(pieces), tuple(lost), NodeId(FIRST_NAME + len(others)))
        idle = frozenset(names[len(places.waiting) :])
        named = frozenset(int(known.node) for known in places.known if known.is_settled)
        session = cls(state, places, (), t_ns, zones or Zones(), table=table, idle=idle, named=named, is_deaf=True)
        return anchored(session, own=places.own, other=places.other, missing=places.missing)

    @property
    def open_question(self) -> Ambiguity | None:
        """Question to be answered next, or None."""
        return self.questions[-1].ambiguity if self.questions else None

    @property
    def is_provisional(self) -> bool:
        """True if the totals rely on what was neither seen nor confirmed, or something is not explained yet."""
        return self.state.is_provisional or self.doubtful_ns is not None


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer that can still be withdrawn.

    Attributes:
        log: Length of the match log before the answer.
        before: The session before it.
    """

    log: int
    before: Session


def anchored(session: Session, *, own: int = 0, other: int = 0, missing: int | None = None) -> Session:
    """Return the session with a single course, decoded from the actions in the log.

    Actions before one that the decoder cannot reproduce are final.
    """
    game = session.state.game
    if game is None:
        return replace(session, decoder=None, path=())
    names = names_in(session.path)
    nodes = {node.id for node in game.layout.nodes}

    def renamed(name: NodeId) -> NodeId:
        return NodeId(names.get(Seq(name), name))

    def named(pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
        return tuple(
            replace(piece, name=renamed(piece.name)) if Seq(piece.name) in names else piece for piece in pieces
        )

    undone = frozenset(map(renamed, session.undone)) - nodes
    session = replace(session, idle=frozenset(map(renamed, session.idle)), undone=undone)
    lost = named(session.table.lost)
    pieces = _with_entered(game, named(session.table.pieces), lost, session)
    table = replace(session.table, pieces=pieces, lost=lost)
    before = None if session.decoder is None else session.decoder.beam[0]
    old = {} if before is None else {renamed(laid.node): laid.place for laid in before.laid}
    placed = {known.node: known.place for known in session.places.known} | old
    laid, left = list[Laid](), list[Piece]()
    for piece in (*table.pieces, *table.lost):
        if piece.name in nodes:
            laid.append(Laid(piece.name, placed.get(piece.name) or footprint_of(piece.tile)))
        elif piece.name not in session.idle and piece in table.pieces:
            left.append(piece)
    is_swept = bool(laid) and all(any(piece.name == one.node for piece in lost) for one in laid)
    is_swept = is_swept or (bool(nodes) and not laid and game.phase not in (Phase.LEAD, Phase.PLAY))
    first = missing
    if before is not None:
        own, other = before.own, before.other
        if _hand_number(before.game) == _hand_number(game):
            missing, first, is_swept = before.missing, before.missing_first, before.is_swept
    steps = _steps_of_hand(session.state)
    start = game if not steps or steps[0].before is None else steps[0].before
    base = MatchCourse(start, missing=missing, missing_first=first, own=own, other=other)
    everything = {piece.name: piece for piece in (*table.pieces, *table.lost)}
    decoder = Decoder.of_log(base, steps, game, everything)
    course = changed(decoder.beam[0], laid=tuple(laid), left=tuple(left), own=own, other=other, is_swept=is_swept)
    decoder = replace(decoder, beam=(course,))
    return replace(session, table=table, decoder=decoder, path=_path_to(course, steps))


def _path_to(course: MatchCourse, steps: tuple[Applied, ...]) -> tuple[Written, ...]:
    """Return the path to a course that was decoded from actions in the log, the last of which are *steps*."""
    first, *path = course.chain()  # An action that changes nothing is a course without actions.
    written = (
        Written(each, (step.entry.seq,) if each.actions else ())
        for each, step in zip(path, steps[len(steps) - len(path) :], strict=True)
    )
    return (Written(first), *written)


def _steps_of_hand(state: State) -> tuple[Applied, ...]:
    """Return the actions in force since the last deal, with the deal."""
    steps = state.steps
    deals = (at for at in reversed(range(len(steps))) if isinstance(steps[at].entry.action, NewHand | Redeal))
    first = next(deals, None)
    return () if first is None else tuple(steps[first:])


def _hand_number(game: Game) -> int:
    return 0 if game.hand is None else game.hand.number


def _with_entered(
    game: Game, pieces: tuple[Piece, ...], lost: tuple[Piece, ...], session: Session
) -> tuple[Piece, ...]:
    """Return the pieces with those named that show plays entered by hand."""
    # Such a piece is the only one without a play that has the numbers of the play. If no piece has these numbers, and
    # no other play lacks a piece, a single unexplained piece is taken.
    names = {piece.name for piece in (*pieces, *lost)}
    lacking = [node for node in game.layout.nodes if node.id not in names]
    nodes = {node.id for node in game.layout.nodes}
    for node in lacking:
        free = [piece for piece in pieces if piece.name not in nodes]
        same = [piece for piece in free if numbers_of(piece.tile) == (node.tile.low, node.tile.high)]
        if not same and len(lacking) == 1:
            same = [piece for piece in free if piece.name not in session.idle]
        if len(same) == 1:
            pieces = tuple(replace(one, name=node.id) if one is same[0] else one for one in pieces)
    return pieces


def with_places(session: Session) -> Session:
    """Return the session with its tracked layout updated from the best course."""
    if session.decoder is None:
        return session
    best, names = session.decoder.beam[0], names_in(session.path)
    tiles = {piece.name: piece.tile for piece in (*session.table.pieces, *session.table.lost)}
    lost = {piece.name for piece in session.table.lost}
    known = tuple(
        Known(Laid(NodeId(seq), laid.place), tiles[laid.node], seq in session.named, laid.node in lost, int(laid.node))
        for laid in best.laid
        if laid.node in tiles
        for seq in [names.get(Seq(laid.node), Seq(laid.node))]
    )
    is_laid = {laid.node for laid in best.laid}
    left = {piece.name for piece in best.left}
    waiting = tuple(
        Waiting(piece.tile, piece.came_from, piece.since_ns, int(piece.name))
        for piece in session.table.pieces
        if piece.name in left
    )
    dismissed = tuple(piece.tile for piece in session.table.pieces if piece.name not in left | is_laid)
    places = Places(known, waiting, dismissed, best.missing, best.own, best.other)
    return session if places == session.places else replace(session, places=places)


def in_play(state: State) -> bool:
    """Return True during a hand, from the deal to its last tile."""
    return state.game is not None and state.game.phase in (Phase.LEAD, Phase.PLAY)
