"""Decide what a laid tile means: a play, a correction of an earlier reading, or a question."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from engine import Event, Game, NodeId, Play, ProblemKind, State, Tile, apply, problem_with
from engine.phrases import either, phrase
from engine.state.problems import the_tile
from tallybone.session.referee.belief import SURE, Way, shares, ways_of
from tallybone.session.referee.corrections import Amended, amendments, ask_about
from tallybone.session.referee.places import Known, Places, Waiting, numbers_of, seen_name
from tallybone.session.referee.questions import Decided, Question, Unclear
from tallybone.session.referee.seats import placed_by, who_leads
from tallybone.session.touching import Laid
from vision.reading import SeenTile

# An answer is offered where it has this share; more than these would not be read.
_WORTH_ASKING, _MOST_CHOICES = 0.01, 4
# So many of the likeliest ways tell which tiles of the layout may be wrong.
_TELLING_WAYS = 3

LEFT_OUT = 12.0
"""What it costs, in log odds, to leave a tile out: more than a play against the rules."""
# What it costs to lay a tile before one that was to be seen so much earlier: people take longer than that to lay two,
# and pictures come faster.
_SEEN_EARLIER, _EARLIER_NS = 4.0, 200_000_000


@dataclass(frozen=True, slots=True)
class _Story:
    """One way with the amendment, if any, that it needs."""

    way: Way
    amended: Amended | None
    log_weight: float


def judge_laid(places: Places, state: State, tile: SeenTile) -> Decided | Question:
    """Return the verdict on a tile that waits."""
    game = state.game
    if game is None or game.hand is None or game.hand.turn is None:
        return who_leads(places, state, tile)
    plain = ways_of(places, state, tile)
    if not plain:
        words = phrase("the {tile} touches no end of the layout", tile=seen_name(tile))
        return Question(Unclear(tile, words, holds_up=False))
    if _is_plain(state, tile, plain):
        return _taken(places, state, tile, _Story(plain[0], None, 0.0))
    if _cannot_be(state, plain[0].play):
        plain = ways_of(places, state, tile, is_doubted=True)
    stories = sorted(_stories(places, state, tile, plain), key=lambda story: -story.log_weight)
    share = shares(story.log_weight for story in stories)
    if share[0] >= SURE:
        return _taken(places, state, tile, stories[0])
    return _ask(places, state, tile, [s for s, part in zip(stories, share, strict=True) if part >= _WORTH_ASKING])


def _is_plain(state: State, tile: SeenTile, ways: Sequence[Way]) -> bool:
    """Return whether a tile was surely played as it is seen, and by the rules: then nothing earlier is in doubt."""
    play = ways[0].play
    is_as_seen = (play.tile.low, play.tile.high) == numbers_of(tile)
    return is_as_seen and shares(way.log_weight for way in ways)[0] >= SURE and problem_with(state, play) is None


def _cannot_be(state: State, play: Play) -> bool:
    """Return whether a play is of a tile that nobody can hold: then one reading is wrong, this or an earlier one."""
    problem = problem_with(state, play)
    return problem is not None and problem.kind in (ProblemKind.ALREADY_USED, ProblemKind.NOT_IN_SET)


def _stories(places: Places, state: State, tile: SeenTile, plain: Sequence[Way]) -> Iterator[_Story]:
    """Yield every way in which the tile may have been laid, with what was laid before as it is or amended."""
    yield from (_Story(way, None, way.log_weight) for way in plain)
    wanted = frozenset(number for way in plain[:_TELLING_WAYS] for number in (way.play.tile.low, way.play.tile.high))
    for amended in amendments(places, state, _suspects(state, tile, plain), wanted=wanted):
        for way in ways_of(amended.places, amended.state, tile)[:_TELLING_WAYS]:
            yield _Story(way, amended, way.log_weight + amended.gain)


def _suspects(state: State, tile: SeenTile, ways: Sequence[Way]) -> Iterator[NodeId]:
    """Yield the tiles of the layout whose reading the new one may contradict: those it touches, and its like."""
    assert state.game is not None
    tiles = {Tile.of(*numbers_of(tile)), *(way.play.tile for way in ways[:_TELLING_WAYS])}
    for way in ways[:_TELLING_WAYS]:
        if way.play.at is not None:
            yield way.play.at.host
    yield from (node.id for node in state.game.layout.nodes if node.tile in tiles)


def _taken(places: Places, state: State, tile: SeenTile, story: _Story) -> Decided:
    """Return the decision that a story tells."""
    events: tuple[Event, ...] = () if story.amended is None else (story.amended.event,)
    before, after = (state, places) if story.amended is None else (story.amended.state, story.amended.places)
    name = NodeId(state.next_seq + len(events))
    play, after = placed_by(after, before, story.way.play, Known(Laid(name, story.way.place), tile))
    return Decided((*events, play), after)


def _ask(places: Places, state: State, tile: SeenTile, stories: Sequence[_Story]) -> Question:
    """Return the question that tells the two likeliest stories apart."""
    game, first, second = state.game, stories[0], stories[:2][-1]
    assert game is not None
    amended = first.amended or second.amended
    if amended is not None and first.amended != second.amended:
        known = places.find(NodeId(amended.event.seq))
        assert known is not None  # only what is known is amended
        return ask_about(places, state, known, amended)
    told = _told_apart(game, [story for story in stories if story.amended == first.amended])
    answers = tuple(_settled(_taken(places, state, tile, story)) for story in told.values())
    choices = tuple(told)
    return Question(Unclear(tile, _words(game, first, tuple(told.values())), holds_up=True, choices=choices), answers)


def _told_apart(game: Game, stories: Sequence[_Story]) -> dict[str, _Story]:
    """Return the likeliest story for each answer, by the words of the answer."""
    first, second = stories[0].way.play, stories[:2][-1].way.play
    found: dict[str, _Story] = {}
    for story in stories:
        play = story.way.play
        if first.tile != second.tile:
            words = the_tile(play.tile)
        elif play.tile != first.tile:
            continue
        elif _host(game, first) != _host(game, second):
            words = phrase("against the {tile}", tile=_host(game, play))
        else:
            words = phrase("the {number} touches the {tile}", number=play.inner, tile=_host(game, play))
            if play.at is not None:
                words = phrase("{words} at {port}", words=words, port=play.at.port)
        if len(found) < _MOST_CHOICES:
            found.setdefault(words, story)
    return found


def _words(game: Game, first: _Story, told: Sequence[_Story]) -> str:
    """Return the question."""
    one, other = first.way.play, told[min(1, len(told) - 1)].way.play
    if one.tile != other.tile:
        return phrase("is this {tiles}?", tiles=either((the_tile(one.tile), the_tile(other.tile))))
    if _host(game, one) != _host(game, other):
        hosts = either((the_tile(_host(game, one)), the_tile(_host(game, other))))
        return phrase("does the {tile} lie against {tiles}?", tile=one.tile, tiles=hosts)
    return phrase("which way round does the {tile} lie?", tile=one.tile)


def _host(game: Game, play: Play) -> str:
    node = None if play.at is None else game.layout.find(play.at.host)
    return "" if node is None else str(node.tile)


def _settled(decided: Decided) -> Decided:
    """Return a decision of the table, which no reading changes any more."""
    *before, last = decided.places.known
    return replace(decided, places=replace(decided.places, known=(*before, replace(last, is_settled=True))))


def laid_so(
    places: Places, state: State, one: Waiting, way: Way, left: Iterable[Waiting]
) -> tuple[Places, State, float]:
    """Return places and match after a tile was laid in one way, and how much speaks for that, before those *left*."""
    known = Known(Laid(NodeId(state.next_seq), way.place), one.tile)
    after = replace(places.without_waiting(one.tile), known=(*places.known, known))
    log_weight = way.log_weight - _SEEN_EARLIER * sum(_is_earlier(other, one) for other in left)
    return after, apply(state, way.play)[0], log_weight


def _is_earlier(one: Waiting, other: Waiting) -> bool:
    """Return whether a tile was clearly to be seen before another one."""
    if one.since_ns is None or other.since_ns is None:
        return False
    return one.since_ns + _EARLIER_NS <= other.since_ns


def result_of(state: State) -> Hashable:
    """Return all that can differ for the players between two orders, apart from how many tiles each has drawn."""
    game = state.game
    assert game is not None
    assert game.hand is not None
    hand, spinner = game.hand, game.layout.spinner
    chance = None if hand.chance is None else (hand.chance.seat, hand.chance.points)
    course = (hand.course.direction, hand.course.spell, hand.course.extra, hand.out)
    return (game.totals, game.phase, hand.turn, chance, course, None if spinner is None else spinner.tile)
