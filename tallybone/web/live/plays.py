"""Convert the actions and messages of a match to the page's JSON types."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import engine
from engine.state.layout import LINE
from tallybone.json_values import tag_of
from tallybone.plain_text import names_of, plain
from tallybone.session.observations import Zones, numbers_of
from tallybone.session.places import Footprint, Known, Places, edges_at
from tallybone.session.session import Announcement, Session
from tallybone.session.sitting import Step, kind_of
from tallybone.show.scoreboard import summarize
from tallybone.web.live import shapes
from tallybone.web.live.games import rule_of_play
from vision.reading import SURE, Face, PointPx, SeenTile
from vision.tracking.table_view import TableView

_REVISIONS = (engine.Undo, engine.Amend, engine.Insert, engine.Remove, engine.ItStands)


def _marked(one: engine.ActionResult, *, is_inferred: bool) -> engine.ActionResult:
    return one if one.entry.inferred == is_inferred else replace(one, entry=replace(one.entry, inferred=is_inferred))


@dataclass(frozen=True, slots=True)
class Story:
    """A match and the outcomes of each action in force."""

    state: engine.State = field(default_factory=engine.State)
    results: tuple[engine.ActionResult, ...] = ()

    def after(self, state: engine.State) -> Story:
        """Return the story of *state*. Only new events are applied, unless one of them corrects an earlier action."""
        if state is self.state:
            return self
        known, log = self.state.log, state.log
        fresh = log[len(known) :]
        continues = len(log) >= len(known) and all(one is other for one, other in zip(known, log, strict=False))
        if not continues or any(isinstance(event, _REVISIONS) for event in fresh):
            return Story(state, engine.history(state))
        at, results = self.state, list(self.results)
        for event in fresh:
            assert not isinstance(event, _REVISIONS)  # checked above
            seq = at.next_seq
            at, outcomes = engine.apply(at, event)
            if not isinstance(event, engine.Inferred | engine.Confirmed):
                results.append(engine.ActionResult(engine.Entry(engine.Seq(seq), event), outcomes))
        if self.state.inferred != state.inferred:
            results = [_marked(one, is_inferred=one.entry.seq in state.inferred) for one in results]
        return Story(state, tuple(results))

    def seats_now(self) -> dict[engine.Seq, tuple[engine.Seat, ...]]:
        """Return for each action, by its number, the current seats of the players by their seats then."""
        players = 0 if self.state.game is None else len(self.state.game.players)
        return dict(zip((one.entry.seq for one in self.results), engine.last_seats(self.results, players), strict=True))

    def hands(self) -> tuple[tuple[engine.ActionResult, ...], ...]:
        """Return the actions of each hand, starting with its deal. Actions before the first hand are dropped."""
        hands: list[list[engine.ActionResult]] = []
        for one in self.results:
            if any(isinstance(outcome, engine.HandStarted | engine.Redealt) for outcome in one.outcomes):
                hands.append([])
            if hands:
                hands[-1].append(one)
        return tuple(tuple(hand) for hand in hands)


NOTE = "note"
"""Kind of a message that is not about an action of the game."""
_SCENES = ("match", "domino", "block", "steal", "spell")
"""Events that a television celebrates, rarest first."""
_MAX_SCORING = 3
_COUNT_PAID = (engine.Reason.PLAY, engine.Reason.STEAL)
_PAID = (engine.Reason.PLAY, engine.Reason.BONUS, engine.Reason.STEAL)


def message_of(source: Step | str, players: tuple[str, ...], number: int) -> tuple[shapes.MessageShown, ...]:
    """Convert a step or note to at most one message. Empty if the step has no words."""
    if isinstance(source, str):
        return (shapes.MessageShown(number, 0, plain(source), NOTE, None),)
    text = summarize(source.announcements, names_of(players))
    if not text:
        return ()
    first, scene = source.announcements[0], _scene_of(source.announcements)
    return (shapes.MessageShown(number, source.t_ns, plain(text), kind_of(first), _seat_of(first), scene),)


def _scene_of(announcements: Sequence[Announcement]) -> str | None:
    """Return the rarest event of a step that a television celebrates. None for any other step."""
    # Each exposed hand reports the end of the hand again, so only the step that ended it counts.
    is_report = isinstance(announcements[0], engine.ShowHands | engine.HandOver)
    scenes = {
        _scene(one) for one in announcements if not (is_report and isinstance(one, engine.ShowHands | engine.HandOver))
    }
    return next((scene for scene in _SCENES if scene in scenes), None)


def _scene(announcement: Announcement) -> str | None:
    match announcement:
        case engine.MatchOver():
            return "match"
        case engine.ShowHands(ending=engine.Ending.DOMINO) | engine.HandOver(ending=engine.Ending.DOMINO):
            return "domino"
        case engine.ShowHands(ending=ending) | engine.HandOver(ending=ending) if ending is not engine.Ending.CALLED:
            return "block"
        case engine.Scored(reason=engine.Reason.STEAL):
            return "steal"
        case engine.Spelled(is_on=True):
            return "spell"
        case _:
            return None


def _seat_of(what: engine.Action | Announcement) -> int | None:
    seat: int | None = getattr(what, "seat", None)
    return seat


def plays_of(
    results: Iterable[engine.ActionResult], story: Story, players: Sequence[str]
) -> tuple[shapes.PlayShown, ...]:
    """Convert the actions of a hand, oldest first, with the current seats of their players.

    Adjustments are included in the points of their play.
    """
    by_hand, seats = corrections(story), story.seats_now()
    game = story.state.game
    rules = None if game is None else game.rules
    shown: list[shapes.PlayShown] = []
    for one in results:
        now = seats[one.entry.seq]
        play = play_shown(one, game, rules, by_hand, tuple(players[seat] for seat in now))
        shown.append(play if play.seat is None else replace(play, seat=now[play.seat]))
    return tuple(shown)


def unseen_hands_of(
    hands: Iterable[Iterable[engine.ActionResult]], story: Story, players: Sequence[str]
) -> tuple[shapes.PlayShown, ...]:
    """Convert the estimates of pips left in *hands* that nobody saw, which players may still enter."""
    results = [one for hand in hands for one in hand if one.entry.inferred]
    results = [one for one in results if isinstance(one.entry.action, engine.RevealPips)]
    return plays_of(results, story, players) if results else ()


def irregular_of(story: Story, players: Sequence[str]) -> tuple[shapes.IrregularShown, ...]:
    """Return the irregular actions of the current hand that the table has not accepted.

    Empty once the match is over, because nothing can be accepted any more.
    """
    if story.state.game is None or story.state.game.phase is engine.Phase.MATCH_OVER:
        return ()
    wrong = frozenset(story.state.irregular)
    shown: list[shapes.IrregularShown] = []
    for one in reversed(story.results):
        if any(isinstance(outcome, engine.HandOver | engine.Abandoned) for outcome in one.outcomes):
            break
        problem = next((outcome.problem for outcome in one.outcomes if isinstance(outcome, engine.Irregular)), None)
        if problem is not None and one.entry.seq in wrong:
            can_stand = problem.weight is not engine.Weight.IMPOSSIBLE
            shown.append(shapes.IrregularShown(one.entry.seq, _wrong(one, players) or "", can_stand))
        if any(isinstance(outcome, engine.HandStarted | engine.Redealt) for outcome in one.outcomes):
            break
    return tuple(reversed(shown))


def why_of(entry: engine.Entry) -> str:
    """Return the text of `Adjust.why` that links an adjustment to this play."""
    action = entry.action
    tile = f"{action.tile}, " if isinstance(action, engine.Play | engine.Stack) else ""
    return f"{tile}play {entry.seq}"


def corrections(story: Story) -> dict[str, engine.Entry]:
    """Return the players' adjustments by their `why`. Of several with the same `why`, the last."""
    return {one.entry.action.why: one.entry for one in story.results if isinstance(one.entry.action, engine.Adjust)}


def paid(result: engine.ActionResult) -> int:
    """Return the points that a play has scored for its own player, without adjustments."""
    seat = _seat_of(result.entry.action)
    scored = (one for one in result.outcomes if isinstance(one, engine.Scored) and one.reason in _PAID)
    return sum(one.points for one in scored if one.seat == seat)


def play_shown(
    result: engine.ActionResult,
    game: engine.Game | None,
    rules: engine.Rules | None,
    by_hand: Mapping[str, engine.Entry],
    players: Sequence[str],
) -> shapes.PlayShown:
    """Convert an action.

    Args:
        result: The action and its outcomes.
        game: Match whose layout contains the tile, to order its pips. None if unknown.
        rules: Rules of the match. None if unknown.
        by_hand: Adjustments by their `why`.
        players: Display names by seat.
    """
    action, given = result.entry.action, by_hand.get(why_of(result.entry))
    points = paid(result) + (
        given.action.points if given is not None and isinstance(given.action, engine.Adjust) else 0
    )
    if isinstance(action, engine.Adjust):
        points = action.points
    return shapes.PlayShown(
        result.entry.seq,
        tag_of(type(action)),
        _seat_of(action),
        _pips(result, game),
        points,
        next((plain(str(one.count)) for one in result.outcomes if isinstance(one, engine.Counted)), None),
        plain(summarize(result.outcomes, players)),
        plain(summarize([one for one in result.outcomes if not _is_summed(one)], players)),
        _wrong(result, players),
        result.entry.inferred,
        None if rules is None else _rule(result, rules),
    )


@dataclass(frozen=True, slots=True)
class ScoringShown:
    """A tile, its larger half first, and the points that its best play would score."""

    pips: tuple[int, int]
    points: int


def most_scoring(state: engine.State) -> list[ScoringShown] | None:
    """Return the unseen tiles that would score most, at most _MAX_SCORING. None if no play can score now.

    Whoever holds them is ignored, so this reveals nothing about hands.
    """
    game = state.game
    if game is None or game.rules.unit is None or game.phase not in (engine.Phase.LEAD, engine.Phase.PLAY):
        return None
    most: dict[engine.Tile, int] = {}
    for suggestion in engine.best_plays(state, engine.unseen(game)):
        if suggestion.points > 0:
            most.setdefault(suggestion.play.tile, suggestion.points)
    best = tuple(most.items())[:_MAX_SCORING]
    return [ScoringShown((tile.high, tile.low), points) for tile, points in best]


def _rule(result: engine.ActionResult, rules: engine.Rules) -> str | None:
    """Return the rule under which the count of a play scores. None if it does not score."""
    is_paid = any(
        isinstance(one, engine.Claimable) or (isinstance(one, engine.Scored) and one.reason in _COUNT_PAID)
        for one in result.outcomes
    )
    return rule_of_play(rules, is_stack=isinstance(result.entry.action, engine.Stack)) if is_paid else None


def _is_summed(outcome: engine.Outcome) -> bool:
    """Check whether the `sum` or `points` field already shows an outcome."""
    return isinstance(outcome, engine.Counted) or (
        isinstance(outcome, engine.Scored) and outcome.reason is engine.Reason.PLAY
    )


def _pips(result: engine.ActionResult, game: engine.Game | None) -> tuple[int, int] | None:
    """Return the pips of a played or stacked tile, or of the only tile drawn, if known. Else None."""
    # They are ordered (inner, outer) for a tile of the layout, else the larger first.
    match result.entry.action:
        case engine.Play(tile=tile) | engine.Stack(tile=tile):
            node = None if game is None else game.layout.find(engine.NodeId(result.entry.seq))
            return (tile.high, tile.low) if node is None else (node.inner, node.outer)
        case engine.Draw(faces=(tile,)):
            return (tile.high, tile.low)
        case _:
            return None


def _wrong(result: engine.ActionResult, players: Sequence[str]) -> str | None:
    """Return a description of the rules that an action breaks, or None."""
    wrong = [one for one in result.outcomes if isinstance(one, engine.Irregular)]
    return plain(summarize(wrong, players)) if wrong else None


_SIDES = (engine.Port.W, engine.Port.E, engine.Port.N, engine.Port.S)


def layout_shown(game: engine.Game, places: Places, zones: Zones, picture_px: tuple[int, int]) -> shapes.LayoutShown:
    """Return the layout for the page."""
    layout = game.layout
    known = {tile.node: tile for tile in places.known}
    last = layout.nodes[-1].id if layout.nodes else None
    return shapes.LayoutShown(
        picture_px,
        tuple(_tile(layout, node, known[node.id], last) for node in layout.nodes if node.id in known),
        _ends(game, known),
        tuple(_waiting(waiting.tile) for waiting in places.waiting),
        tuple(node.id for node in layout.nodes if node.id not in known),
        _zones(zones),
    )


def _tile(layout: engine.Layout, node: engine.Node, known: Known, last: engine.NodeId | None) -> shapes.TileShown:
    place = known.place
    ports = (engine.Port.N, engine.Port.S) if node.tile.is_double and not place.lies_along else LINE
    first, second = (place.half_center(port) for port in ports)
    read = sorted(known.tile.halves, key=lambda half: math.dist(half.center_px, first))
    confidence = (round(read[0].confidence, 3), round(read[1].confidence, 3)) if read else (0.0, 0.0)
    return shapes.TileShown(
        node.id,
        (node.inner, node.outer),
        tuple(_px(point) for point in place.outline()),
        (_px(first), _px(second)),
        (read[0].pips, read[1].pips) if read else None,
        confidence,
        node.branches,
        node.id == last,
        layout.stacked.count(node.id),
        known.is_missing or (min(confidence) < SURE and not known.is_settled),
    )


def _ends(game: engine.Game, known: dict[engine.NodeId, Known]) -> tuple[shapes.EndShown, ...]:
    counts = _counts(game)
    return tuple(
        end_shown(end, place.place, counts.get((end.spot.host, end.spot.port), 0))
        for end in game.layout.ends
        if (place := known.get(end.spot.host)) is not None
    )


def end_shown(end: engine.OpenEnd, place: Footprint, counts: int) -> shapes.EndShown:
    """Convert an open end of the tile at *place*. *counts* is its share of the count."""
    port = end.spot.port
    # A free arm of a starter has no position of its own, so the centre of the starter is shown.
    middle = edges_at(place, port, is_double=True)[0].middle if port in _SIDES else (0.0, 0.0)
    x, y = _px(place.at(*middle))
    return shapes.EndShown(x, y, end.spot.host, port.value, end.number, counts, end.playable)


def _counts(game: engine.Game) -> dict[tuple[engine.NodeId, engine.Port], int]:
    """Return the pips that each open end adds to the count. Empty in games without a count."""
    # The halves of a double are distributed over its ends.
    counts: dict[tuple[engine.NodeId, engine.Port], int] = {}
    if game.rules.unit is None:
        return counts
    ends = [end for end in game.layout.ends if end.playable]
    for host in {end.spot.host for end in ends}:
        own = [end.spot.port for end in ends if end.spot.host == host]
        for at, term in enumerate(term for term in game.count.terms if term.spot.host == host):
            spot = (host, own[at % len(own)])
            counts[spot] = counts.get(spot, 0) + term.pips
    return counts


def _waiting(tile: SeenTile) -> shapes.WaitingShown:
    numbers = numbers_of(tile) if tile.face is Face.UP else ()
    pips = (numbers[1], numbers[0]) if len(numbers) == 2 else None
    return shapes.WaitingShown(pips, tuple(_px(point) for point in tile.corners_px))


def unsure_shown(view: TableView | None) -> tuple[shapes.UnsureShown, ...]:
    """Return the outlines of objects that look like tiles but cannot be read. Empty without a view."""
    tiles = () if view is None else view.unsure
    return tuple(shapes.UnsureShown(tuple(_px(point) for point in tile.corners_px)) for tile in tiles)


def _zones(zones: Zones) -> tuple[shapes.ZoneShown, ...]:
    seats = tuple(shapes.ZoneShown(seat, zone.outline) for seat, zone in enumerate(zones.seats))
    return seats if zones.boneyard is None else (*seats, shapes.ZoneShown(None, zones.boneyard))


def _px(point: PointPx) -> PointPx:
    return (round(point[0], 1), round(point[1], 1))


@dataclass(frozen=True, slots=True)
class EndOffered:
    """An open end before an action, and its position.

    *fits* is true if the tile can be played there, *taken* if the action laid its tile there.
    """

    x: float
    y: float
    seq: int
    port: str
    value: int
    fits: bool
    taken: bool


def ends_before(session: Session, before: int, tile: engine.Tile) -> tuple[EndOffered, ...] | None:
    """Return the open ends before the action number *before*, and if *tile* fits. None if there is no such action.

    Ends that the rules close, and ends of tiles with unknown positions, are left out.
    """
    entry = next((entry for entry in engine.entries(session.state) if entry.seq == before), None)
    if entry is None:
        return None
    then = engine.apply(session.state, engine.Undo(engine.Seq(before)))[0].game
    known = {tile.node: tile.place for tile in session.places.known}
    own = entry.action.at if isinstance(entry.action, engine.Play) else None
    found = []
    for end in () if then is None else then.layout.ends:
        place = known.get(end.spot.host)
        if end.playable and place is not None:
            shown = end_shown(end, place, 0)
            fits = bool(end.fits & tile.bit)
            found.append(EndOffered(shown.x, shown.y, shown.seq, shown.port, shown.value, fits, end.spot == own))
    return tuple(found)
