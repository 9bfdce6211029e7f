"""Turn a live game into the snapshot that a page shows: layout, plays, ends, story, lobby. Pure."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace

from engine import (
    Abandoned,
    Action,
    ActionResult,
    Adjust,
    Amend,
    Claimable,
    Confirmed,
    Counted,
    Draw,
    Entry,
    Game,
    HandOver,
    HandStarted,
    HouseTally,
    Inferred,
    Insert,
    Irregular,
    ItStands,
    Layout,
    Node,
    NodeId,
    OpenEnd,
    Outcome,
    Phase,
    Play,
    Port,
    ProblemKind,
    Reason,
    Redealt,
    Remove,
    RowsTally,
    Rules,
    Scored,
    Seat,
    Seq,
    Stack,
    State,
    Tile,
    Undo,
    Weight,
    apply,
    entries,
    history,
    problem_with,
    turn,
)
from engine.phrases import Phrase, phrase
from engine.state.layout import LINE
from engine.state.problems import not_now
from tallybone.json_values import tag_of
from tallybone.plain_text import names_of, plain
from tallybone.play.game import LiveState
from tallybone.session.inputs import Button, Press, event_of
from tallybone.session.referee import Unclear
from tallybone.session.referee.places import Known, Places, is_at, numbers_of
from tallybone.session.session import Announcement, Session
from tallybone.session.sitting import Step, kind_of
from tallybone.session.touching import Footprint, edges_at
from tallybone.session.zones import Zones
from tallybone.show.scoreboard import tell, waits_for
from tallybone.texts import in_language
from tallybone.web.games_shown import rule_of_play
from tallybone.web.shapes import (
    CanShown,
    EndShown,
    EyeShown,
    HouseShown,
    IrregularShown,
    LayoutShown,
    MarksShown,
    MatchShown,
    PlayerShown,
    PlayShown,
    QuestionShown,
    Snapshot,
    StrokeShown,
    TileShown,
    ToldShown,
    UnsureShown,
    WaitingShown,
    WhyShown,
    ZoneShown,
)
from vision.reading import SURE, Face, PointPx, SeenTile

MOST_TOLD = 12
"""So many of the last sentences are in a snapshot."""
_MOST_PROBLEMS = 8
# What a player does, in contrast to what the table says or corrects; the last of these is shown by itself.
_DONE = ("play", "stack", "draw", "knock", "decline", "call", "domino")

_SIDES = (Port.W, Port.E, Port.N, Port.S)

NOTE = "note"
"""The kind of a note beside the game."""

_COUNT_PAID = (Reason.PLAY, Reason.STEAL)
_PAID = (Reason.PLAY, Reason.BONUS, Reason.STEAL)

LOBBY = "lobby"
"""The phase of a match that is not played."""
NO_MATCH = phrase("no match is being played")
_NOTHING_PX = (1280, 720)
_USUAL_PIPS = 6

_REVISIONS = (Undo, Amend, Insert, Remove, ItStands)


def snapshot_of(now: LiveState, told: Sequence[ToldShown], story: Story, *, version: int) -> Snapshot | None:
    """Return the snapshot of a game; None before a match has begun.

    Args:
        now: The state of the game.
        told: The sentences of the game, the newest first.
        story: The results of each action of the match of *now*.
        version: Number of the snapshot.
    """
    session, game = now.session, now.session.state.game
    if game is None:
        return None
    names = names_of(game.players)
    hands = story.hands()
    plays = plays_of(hands[-1] if hands else (), story, names)
    irregular = irregular_of(story, names)
    can, why = buttons_shown(session.state, irregular)
    return Snapshot(
        version,
        match_shown(game, is_provisional=session.state.is_provisional),
        tuple(player_shown(game, Seat(seat), name, session.zones) for seat, name in enumerate(names)),
        plain(waits_for(replace(game, players=names))),
        None if session.open_question is None else _question(session.open_question, session.places, now.chosen),
        next((one for one in reversed(plays) if one.kind in _DONE), None),
        tuple(told[:MOST_TOLD]),
        replace(layout_shown(game, session.places, session.zones, now.picture_px), unsure=_unsure(now)),
        plays,
        irregular,
        can,
        why,
        EyeShown(plain(now.eye), _lost(now)),
        plain(now.recording),
        _problems(now),
    )


def as_json(shown: object, language: str = "en") -> bytes:
    """Return a snapshot, or parts of one, as JSON with its sentences in a language.

    All but ASCII is escaped, so that nothing in a name can harm it.
    """
    return json.dumps(_said(shown, language), allow_nan=False, separators=(",", ":")).encode("ascii")


def _said(shown: object, language: str) -> object:
    """Return a value for `json.dumps`."""
    match shown:
        case Phrase():
            return plain(in_language(shown, language))
        case tuple() | list():
            return [_said(one, language) for one in shown]
        case _ if is_dataclass(shown):
            return {one.name: _said(getattr(shown, one.name), language) for one in fields(shown)}
        case _:
            return shown


def buttons_shown(state: State, irregular: Iterable[IrregularShown]) -> tuple[CanShown, WhyShown]:
    """Return which buttons have an effect now, and why the others have none.

    A button that breaks a rule is offered with its reason: the table may know better.

    Args:
        state: The match, which has begun.
        irregular: The actions of its current hand that can still be accepted or removed.
    """
    reasons = {button: _reason_against(button, state) for button in Button}
    can_stand = any(one.can_stand for one in irregular)
    reasons[Button.STANDS] = (can_stand, "" if can_stand else phrase("there is nothing irregular to accept"))
    can = CanShown(**{button.value: is_on for button, (is_on, _) in reasons.items()})
    return can, WhyShown(**{button.value: plain(words) for button, (_, words) in reasons.items()})


def _reason_against(button: Button, state: State) -> tuple[bool, str]:
    """Return whether a button has an effect now, and the reason against it; "" for none."""
    game = state.game
    assert game is not None  # the caller shows a match
    if button is Button.TABLE:
        return True, ""
    if button is Button.STACK:
        words = "" if game.rules.cutthroat else phrase("nobody stacks in {game}", game=game.rules.name)
        words = words or ("" if game.phase is Phase.PLAY else not_now(game.phase).words)
        return not words, words
    turn_seat = None if game.hand is None else game.hand.turn
    event = event_of(Press(button), state) or event_of(Press(button, turn_seat or Seat(0)), state)
    if event is None:
        return False, phrase("there is nothing to undo") if button is Button.UNDO else not_now(game.phase).words
    problem = problem_with(state, event)
    if problem is None:
        return True, ""
    return problem.weight is not Weight.IMPOSSIBLE and problem.kind is not ProblemKind.NO_DRAWING, problem.words


def match_shown(game: Game, *, is_provisional: bool) -> MatchShown:
    """Return the state of a match."""
    hand = game.hand
    return MatchShown(
        game.rules.name,
        game.rules.target,
        game.phase.value,
        None if hand is None else hand.number,
        None if hand is None else hand.boneyard,
        None if game.rules.unit is None or not game.layout.nodes else plain(str(game.count)),
        game.rules.max_pips,
        game.rules.copies,
        game.phase is Phase.MATCH_OVER,
        game.winner,
        is_provisional,
    )


def player_shown(game: Game, seat: Seat, name: str, zones: Zones) -> PlayerShown:
    """Return the state of a player with the name to show; *zones* tell their side."""
    whose, seats = turn(game), zones.seats
    team = next((at for at, side in enumerate(game.sides) if seat in side), None) if game.rules.partners else None
    return PlayerShown(
        seat,
        name,
        game.totals[seat],
        None if game.hand is None else game.hand.sizes[seat],
        whose is not None and whose.seat == seat,
        seats[seat].side.value if seat < len(seats) else None,
        team,
        _marks(game.tally(seat)),
    )


def _marks(tally: HouseTally | RowsTally | None) -> MarksShown:
    match tally:
        case HouseTally():
            houses = tuple(HouseShown(one.cross, tuple(mark.value for mark in one.quadrants)) for one in tally.houses)
            return MarksShown("houses", houses=houses, rest=tally.rest)
        case RowsTally():
            rows = tuple(tuple(StrokeShown(mark.stroke.value, mark.lined_out) for mark in row) for row in tally.rows)
            return MarksShown("rows", rows=rows, rest=tally.rest)
        case None:
            return MarksShown("none")


def _question(asked: Unclear, places: Places, chosen: int | None) -> QuestionShown:
    tile = asked.tile
    seqs = () if tile is None else tuple(int(one.node) for one in places.known if is_at(one.place, tile))
    return QuestionShown(
        topic_of(asked),
        plain(asked.words),
        tuple(plain(words) for words in asked.choices),
        seqs,
        asked.holds_up,
        chosen,
    )


def topic_of(asked: Unclear) -> str:
    """Return the topic of a question as pages know it."""
    return plain(str(asked.topic))


def _lost(now: LiveState) -> str | None:
    return None if now.view is None or now.view.lost is None else Phrase(plain(now.view.lost))


def _problems(now: LiveState) -> tuple[str, ...]:
    """Return the problems that somebody has to solve."""
    no_camera = phrase("the camera gives no pictures") if now.eye == "no camera" else None
    words = (_lost(now), no_camera, *now.parts)
    return tuple(plain(one) for one in words if one is not None)[:_MOST_PROBLEMS]


def layout_shown(game: Game, places: Places, zones: Zones, picture_px: tuple[int, int]) -> LayoutShown:
    """Return the tiles on the table, its ends and zones.

    Args:
        game: The match.
        places: The places of its tiles.
        zones: Those of seats and boneyard.
        picture_px: Width and height of the picture.
    """
    layout = game.layout
    known = {one.node: one for one in places.known}
    last = layout.nodes[-1].id if layout.nodes else None
    return LayoutShown(
        picture_px,
        tuple(_tile(layout, node, known[node.id], last) for node in layout.nodes if node.id in known),
        _ends(game, known),
        tuple(_waiting(one.tile) for one in places.waiting),
        tuple(node.id for node in layout.nodes if node.id not in known),
        _zones(zones),
    )


def _tile(layout: Layout, node: Node, known: Known, last: NodeId | None) -> TileShown:
    place = known.place
    ports = (Port.N, Port.S) if node.tile.is_double and not place.lies_along else LINE
    first, second = (place.half_center(port) for port in ports)
    read = sorted(known.tile.halves, key=lambda half: math.dist(half.center_px, first))
    confidence = (round(read[0].confidence, 3), round(read[1].confidence, 3)) if read else (0.0, 0.0)
    return TileShown(
        node.id,
        (node.inner, node.outer),
        tuple(_px(point) for point in place.outline()),
        (_px(first), _px(second)),
        (read[0].pips, read[1].pips) if read else None,
        confidence,
        node.branches,
        node.id == last,
        layout.stacked.count(node.id),
        known.is_doubtful or (min(confidence) < SURE and not known.is_settled),
    )


def _ends(game: Game, known: dict[NodeId, Known]) -> tuple[EndShown, ...]:
    counts = _counts(game)
    return tuple(
        end_shown(end, place.place, counts.get((end.spot.host, end.spot.port), 0))
        for end in game.layout.ends
        if (place := known.get(end.spot.host)) is not None
    )


def end_shown(end: OpenEnd, place: Footprint, counts: int) -> EndShown:
    """Return an open end of the tile that lies at *place*."""
    port = end.spot.port
    # An arm of a starter has no place before a tile lies there.
    middle = edges_at(place, port, is_double=True)[0].middle if port in _SIDES else (0.0, 0.0)
    x, y = _px(place.at(*middle))
    return EndShown(x, y, end.spot.host, port.value, end.number, counts, end.playable)


def _counts(game: Game) -> dict[tuple[NodeId, Port], int]:
    """Return the pips that each open end adds to the count; both halves of a double are shared among its ends."""
    counts: dict[tuple[NodeId, Port], int] = {}
    if game.rules.unit is None:
        return counts
    ends = [end for end in game.layout.ends if end.playable]
    for host in {end.spot.host for end in ends}:
        own = [end.spot.port for end in ends if end.spot.host == host]
        for at, term in enumerate(term for term in game.count.terms if term.spot.host == host):
            spot = (host, own[at % len(own)])
            counts[spot] = counts.get(spot, 0) + term.pips
    return counts


def _waiting(tile: SeenTile) -> WaitingShown:
    numbers = numbers_of(tile) if tile.face is Face.UP else ()
    pips = (numbers[1], numbers[0]) if len(numbers) == 2 else None
    return WaitingShown(pips, tuple(_px(point) for point in tile.corners_px))


def _unsure(now: LiveState) -> tuple[UnsureShown, ...]:
    tiles = () if now.view is None else now.view.unsure
    return tuple(UnsureShown(tuple(_px(point) for point in tile.corners_px)) for tile in tiles)


def _zones(zones: Zones) -> tuple[ZoneShown, ...]:
    seats = tuple(ZoneShown(seat, zone.outline) for seat, zone in enumerate(zones.seats))
    return seats if zones.boneyard is None else (*seats, ZoneShown(None, zones.boneyard))


def _px(point: PointPx) -> PointPx:
    return (round(point[0], 1), round(point[1], 1))


def told_of(said: Step | str, players: tuple[str, ...], number: int) -> tuple[ToldShown, ...]:
    """Return a step as one sentence; nothing for a silent one.

    Args:
        said: The step, or a note.
        players: Names by seat.
        number: The id that the sentence gets.
    """
    if isinstance(said, str):
        return (ToldShown(number, 0, plain(said), NOTE, None),)
    words = tell(said.said, names_of(players))
    if not words:
        return ()
    return (ToldShown(number, said.t_ns, plain(words), kind_of(said.said[0]), _seat_of(said.said[0])),)


def _seat_of(what: Action | Announcement) -> int | None:
    """Return the seat of an action or an announcement; None where it is nobody's."""
    seat: int | None = getattr(what, "seat", None)
    return seat


def plays_of(told: Iterable[ActionResult], story: Story, players: Sequence[str]) -> tuple[PlayShown, ...]:
    """Return the actions of a hand, the newest last.

    Args:
        told: Its actions and their results.
        story: The match; points that the table gave a play by hand are among those of the play.
        players: Names by seat, as they are shown.
    """
    by_hand = corrections(story)
    game = story.state.game
    rules = None if game is None else game.rules
    return tuple(play_shown(one, game, rules, by_hand, players) for one in told)


def irregular_of(story: Story, players: Sequence[str]) -> tuple[IrregularShown, ...]:
    """Return the actions since the last hand began or ended that the table has not accepted.

    Empty once the match is over: then nothing is left to accept.
    """
    if story.state.game is None or story.state.game.phase is Phase.MATCH_OVER:
        return ()
    wrong = frozenset(story.state.irregular)
    shown: list[IrregularShown] = []
    for one in reversed(story.told):
        if any(isinstance(outcome, HandOver | Abandoned) for outcome in one.outcomes):
            break
        problem = next((outcome.problem for outcome in one.outcomes if isinstance(outcome, Irregular)), None)
        if problem is not None and one.entry.seq in wrong:
            can_stand = problem.weight is not Weight.IMPOSSIBLE
            shown.append(IrregularShown(one.entry.seq, _wrong(one, players) or "", can_stand))
        if any(isinstance(outcome, HandStarted | Redealt) for outcome in one.outcomes):
            break
    return tuple(reversed(shown))


def why_of(entry: Entry) -> str:
    """Return the reason that marks points by hand as those of this play."""
    action = entry.action
    tile = f"{action.tile}, " if isinstance(action, Play | Stack) else ""
    return f"{tile}play {entry.seq}"


def corrections(story: Story) -> dict[str, Entry]:
    """Return the points that the table has given by hand, by their reason."""
    return {one.entry.action.why: one.entry for one in story.told if isinstance(one.entry.action, Adjust)}


def paid(told: ActionResult) -> int:
    """Return the points that followed from a play by itself."""
    seat = _seat_of(told.entry.action)
    scored = (one for one in told.outcomes if isinstance(one, Scored) and one.reason in _PAID)
    return sum(one.points for one in scored if one.seat == seat)


def play_shown(
    told: ActionResult, game: Game | None, rules: Rules | None, by_hand: Mapping[str, Entry], players: Sequence[str]
) -> PlayShown:
    """Return an action as a page lists it.

    Args:
        told: The action, and its results.
        game: The match in which its tile lies; None where that is not known.
        rules: Those of the match; None where they are not known.
        by_hand: Points that the table gave by hand, by their reason.
        players: Names by seat, as they are shown.
    """
    action, given = told.entry.action, by_hand.get(why_of(told.entry))
    points = paid(told) + (given.action.points if given is not None and isinstance(given.action, Adjust) else 0)
    if isinstance(action, Adjust):
        points = action.points
    return PlayShown(
        told.entry.seq,
        tag_of(type(action)),
        _seat_of(action),
        _pips(told, game),
        points,
        next((plain(str(one.count)) for one in told.outcomes if isinstance(one, Counted)), None),
        plain(tell(told.outcomes, players)),
        plain(tell([one for one in told.outcomes if not _is_summed(one)], players)),
        _wrong(told, players),
        told.entry.inferred,
        None if rules is None else _rule(told, rules),
    )


def _rule(told: ActionResult, rules: Rules) -> str | None:
    """Return the rule that pays the count of a play; None if the count pays nothing."""
    is_paid = any(
        isinstance(one, Claimable) or (isinstance(one, Scored) and one.reason in _COUNT_PAID) for one in told.outcomes
    )
    return rule_of_play(rules, is_stack=isinstance(told.entry.action, Stack)) if is_paid else None


def _is_summed(outcome: Outcome) -> bool:
    """Return whether an outcome is the count of a play, or its points, which have fields of their own."""
    return isinstance(outcome, Counted) or (isinstance(outcome, Scored) and outcome.reason is Reason.PLAY)


def _pips(told: ActionResult, game: Game | None) -> tuple[int, int] | None:
    """Return the numbers of a tile, in the order of its halves on the table where that is known."""
    match told.entry.action:
        case Play(tile=tile) | Stack(tile=tile):
            node = None if game is None else game.layout.find(NodeId(told.entry.seq))
            return (tile.high, tile.low) if node is None else (node.inner, node.outer)
        case Draw(faces=(tile,)):
            return (tile.high, tile.low)
        case _:
            return None


def _wrong(told: ActionResult, players: Sequence[str]) -> str | None:
    """Return the faults of an action, in words; None for none."""
    wrong = [one for one in told.outcomes if isinstance(one, Irregular)]
    return plain(tell(wrong, players)) if wrong else None


@dataclass(frozen=True, slots=True)
class EndOffered:
    """An end that was open then, and where it lies.

    *fits* says that the tile can be played there, *taken* that the action itself has laid its tile there.
    """

    x: float
    y: float
    seq: int
    port: str
    value: int
    fits: bool
    taken: bool


def ends_before(session: Session, before: int, tile: Tile) -> tuple[EndOffered, ...] | None:
    """Return the ends that were open before the action with this name; None where there is no such action."""
    entry = next((one for one in entries(session.state) if one.seq == before), None)
    if entry is None:
        return None
    then = apply(session.state, Undo(Seq(before)))[0].game
    known = {one.node: one.place for one in session.places.known}
    own = entry.action.at if isinstance(entry.action, Play) else None
    found = []
    for end in () if then is None else then.layout.ends:
        place = known.get(end.spot.host)
        if end.playable and place is not None:
            shown = end_shown(end, place, 0)
            fits = bool(end.fits & tile.bit)
            found.append(EndOffered(shown.x, shown.y, shown.seq, shown.port, shown.value, fits, end.spot == own))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Lobby:
    """A table at which no match is played.

    Attributes:
        camera: The condition of the camera, in words.
        problems: Problems that somebody has to solve, in words.
        last: The end of the last match; None for none.
    """

    camera: str
    problems: tuple[str, ...] = ()
    last: LiveState | None = None

    @property
    def session(self) -> Session | None:
        """Where the last match stood."""
        return None if self.last is None else self.last.session


def lobby_snapshot(lobby: Lobby, told: Sequence[ToldShown], story: Story, *, version: int) -> Snapshot:
    """Return the snapshot of a lobby; the arguments are those of `snapshot_of`."""
    last = None if lobby.last is None else snapshot_of(lobby.last, told, story, version=version)
    shown = last or _empty(told, version)
    return replace(
        shown,
        match=replace(shown.match, phase=LOBBY),
        players=tuple(replace(player, turn=False) for player in shown.players),
        waits_for=NO_MATCH,
        question=None,
        layout=replace(shown.layout, unsure=()),
        irregular=(),
        can=CanShown(),
        why=WhyShown(),
        eye=EyeShown(plain(lobby.camera), None),
        problems=tuple(plain(words) for words in lobby.problems),
    )


def _empty(told: Sequence[ToldShown], version: int) -> Snapshot:
    """Return the snapshot before the first match."""
    return Snapshot(
        version,
        MatchShown("", None, LOBBY, None, None, None, _USUAL_PIPS, 1, over=False, winner=None, provisional=False),
        (),
        NO_MATCH,
        None,
        None,
        tuple(told[:MOST_TOLD]),
        LayoutShown(_NOTHING_PX, (), (), (), (), ()),
        (),
        (),
        CanShown(),
        WhyShown(),
        EyeShown("", None),
        "",
    )


def _marked(one: ActionResult, *, is_inferred: bool) -> ActionResult:
    return one if one.entry.inferred == is_inferred else replace(one, entry=replace(one.entry, inferred=is_inferred))


@dataclass(frozen=True, slots=True)
class Story:
    """A match, and each action in force with its results.

    Attributes:
        state: The match.
        told: The results of `engine.history`.
    """

    state: State = field(default_factory=State)
    told: tuple[ActionResult, ...] = ()

    def after(self, state: State) -> Story:
        """Return the story of *state*: only new events are applied, unless the record was changed."""
        if state is self.state:
            return self
        known, log = self.state.log, state.log
        fresh = log[len(known) :]
        goes_on = len(log) >= len(known) and all(one is other for one, other in zip(known, log, strict=False))
        if not goes_on or any(isinstance(event, _REVISIONS) for event in fresh):
            return Story(state, history(state))
        at, told = self.state, list(self.told)
        for event in fresh:
            assert not isinstance(event, _REVISIONS)  # checked above
            seq = at.next_seq
            at, outcomes = apply(at, event)
            if not isinstance(event, Inferred | Confirmed):
                told.append(ActionResult(Entry(Seq(seq), event), outcomes))
        if self.state.inferred != state.inferred:
            told = [_marked(one, is_inferred=one.entry.seq in state.inferred) for one in told]
        return Story(state, tuple(told))

    def hands(self) -> tuple[tuple[ActionResult, ...], ...]:
        """Return the actions of each hand, the deal first, without those before the first hand."""
        hands: list[list[ActionResult]] = []
        for one in self.told:
            if any(isinstance(outcome, HandStarted | Redealt) for outcome in one.outcomes):
                hands.append([])
            if hands:
                hands[-1].append(one)
        return tuple(tuple(hand) for hand in hands)
