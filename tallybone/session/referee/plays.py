"""Judge a waiting tile: return its play, an amendment of an earlier tile, or a question."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from engine import Event, Game, NodeId, Play, ProblemKind, State, Tile, apply, problem_with
from engine.phrases import either, phrase
from engine.state.problems import the_tile
from tallybone.session.referee.belief import SURE, Way, shares, ways_of
from tallybone.session.referee.corrections import Amended, amendments, ask_about
from tallybone.session.referee.places import Known, Places, Waiting, numbers_of, seen_name
from tallybone.session.referee.questions import Ambiguity, Question, Resolution
from tallybone.session.referee.seats import placed_by, who_leads
from tallybone.session.touching import Laid
from vision.reading import SeenTile

# Minimum share of an answer for it to be offered, and maximum number of answers that people read.
_MIN_SHARE, _MAX_CHOICES = 0.01, 4
# Number of likeliest plays of a tile that are also tried with another reading of a tile of the layout.
_WAYS_CHECKED = 3

LEFT_OUT = 12.0
"""Cost, in log odds, of leaving a tile unexplained. It is higher than the cost of an illegal play."""
# Cost of playing a tile before another that was visible at least this much earlier. Frames come faster than this, and
# people take longer to play two tiles.
SEEN_EARLIER, _EARLIER_NS = 4.0, 200_000_000


@dataclass(frozen=True, slots=True)
class _Story:
    """A possible play, with the amendment of an earlier tile that it needs, if any."""

    way: Way
    amended: Amended | None
    log_weight: float


def judge_laid(places: Places, state: State, tile: SeenTile) -> Resolution | Question:
    """Return a verdict on a waiting tile: its play, the lead before it, or a question."""
    game = state.game
    if game is None or game.hand is None or game.hand.turn is None:
        return who_leads(places, state, tile)
    plain = ways_of(places, state, tile)
    if not plain:
        words = phrase("the {tile} does not touch an open end", tile=seen_name(tile))
        return Question(Ambiguity(tile, words, holds_up=False))
    if _is_plain(state, tile, plain):
        return _resolve(places, state, tile, _Story(plain[0], None, 0.0))
    if _is_impossible(state, plain[0].play):
        plain = ways_of(places, state, tile, is_doubted=True)
    stories = sorted(_stories(places, state, tile, plain), key=lambda story: -story.log_weight)
    share = shares(story.log_weight for story in stories)
    if share[0] >= SURE:
        return _resolve(places, state, tile, stories[0])
    return _ask(places, state, tile, [s for s, part in zip(stories, share, strict=True) if part >= _MIN_SHARE])


def _is_plain(state: State, tile: SeenTile, ways: Sequence[Way]) -> bool:
    """Return True if the likeliest play is sure, legal and of the tile as read. Earlier tiles are then not in doubt."""
    play = ways[0].play
    is_as_seen = (play.tile.low, play.tile.high) == numbers_of(tile)
    return is_as_seen and shares(way.log_weight for way in ways)[0] >= SURE and problem_with(state, play) is None


def _is_impossible(state: State, play: Play) -> bool:
    """Return True if nobody can hold the tile of a play, so the reading of it or of an earlier tile is wrong."""
    problem = problem_with(state, play)
    return problem is not None and problem.kind in (ProblemKind.ALREADY_USED, ProblemKind.NOT_IN_SET)


def _stories(places: Places, state: State, tile: SeenTile, plain: Sequence[Way]) -> Iterator[_Story]:
    """Yield the possible plays of the tile: all of *plain*, and the likeliest with one tile of the layout amended."""
    yield from (_Story(way, None, way.log_weight) for way in plain)
    numbers = frozenset(number for way in plain[:_WAYS_CHECKED] for number in (way.play.tile.low, way.play.tile.high))
    for amended in amendments(places, state, _suspects(state, tile, plain), also=numbers):
        for way in ways_of(amended.places, amended.state, tile)[:_WAYS_CHECKED]:
            yield _Story(way, amended, way.log_weight + amended.gain)


def _suspects(state: State, tile: SeenTile, ways: Sequence[Way]) -> Iterator[NodeId]:
    """Yield tiles of the layout that may be misread: hosts of the likeliest plays, and copies of their tiles."""
    assert state.game is not None
    tiles = {Tile.of(*numbers_of(tile)), *(way.play.tile for way in ways[:_WAYS_CHECKED])}
    for way in ways[:_WAYS_CHECKED]:
        if way.play.at is not None:
            yield way.play.at.host
    yield from (node.id for node in state.game.layout.nodes if node.tile in tiles)


def _resolve(places: Places, state: State, tile: SeenTile, story: _Story) -> Resolution:
    """Return the events of a story, amendment first, and the places after them."""
    events: tuple[Event, ...] = () if story.amended is None else (story.amended.event,)
    before, after = (state, places) if story.amended is None else (story.amended.state, story.amended.places)
    name = NodeId(state.next_seq + len(events))
    play, after = placed_by(after, before, story.way.play, Known(Laid(name, story.way.place), tile))
    return Resolution((*events, play), after)


def _ask(places: Places, state: State, tile: SeenTile, stories: Sequence[_Story]) -> Question:
    """Return a question that distinguishes the two likeliest stories."""
    game, first, second = state.game, stories[0], stories[:2][-1]
    assert game is not None
    amended = first.amended or second.amended
    if amended is not None and first.amended != second.amended:
        known = places.find(NodeId(amended.event.seq))
        assert known is not None  # only known tiles are amended
        return ask_about(places, state, known, amended)
    options = _options(game, [story for story in stories if story.amended == first.amended])
    answers = tuple(_settled(_resolve(places, state, tile, story)) for story in options.values())
    words = _words(game, first, tuple(options.values()))
    return Question(Ambiguity(tile, words, holds_up=True, choices=tuple(options)), answers)


def _options(game: Game, stories: Sequence[_Story]) -> dict[str, _Story]:
    """Return up to _MAX_CHOICES answers, each with its likeliest story.

    The answers name the tile. If the two likeliest stories agree on the tile, they name its host. If they agree on that
    too, they name the half and the port.
    """
    first, second = stories[0].way.play, stories[:2][-1].way.play
    options: dict[str, _Story] = {}
    for story in stories:
        play = story.way.play
        if first.tile != second.tile:
            words = the_tile(play.tile)
        elif play.tile != first.tile:
            continue
        elif _host(game, first) != _host(game, second):
            words = phrase("next to the {tile}", tile=_host(game, play))
        else:
            words = phrase("the {number} touches the {tile}", number=play.inner, tile=_host(game, play))
            if play.at is not None:
                words = phrase("{words} at {port}", words=words, port=play.at.port)
        if len(options) < _MAX_CHOICES:
            options.setdefault(words, story)
    return options


def _words(game: Game, first: _Story, options: Sequence[_Story]) -> str:
    """Return the text of the question."""
    play, other = first.way.play, options[min(1, len(options) - 1)].way.play
    if play.tile != other.tile:
        return phrase("is this {tiles}?", tiles=either((the_tile(play.tile), the_tile(other.tile))))
    if _host(game, play) != _host(game, other):
        hosts = either((the_tile(_host(game, play)), the_tile(_host(game, other))))
        return phrase("does the {tile} touch {tiles}?", tile=play.tile, tiles=hosts)
    return phrase("which half of the {tile} touches the layout?", tile=play.tile)


def _host(game: Game, play: Play) -> str:
    node = None if play.at is None else game.layout.find(play.at.host)
    return "" if node is None else str(node.tile)


def _settled(resolution: Resolution) -> Resolution:
    """Return a resolution whose new tile is settled, because the players have named it."""
    *before, last = resolution.places.known
    return replace(resolution, places=replace(resolution.places, known=(*before, replace(last, is_settled=True))))


def with_play(
    places: Places, state: State, waiting: Waiting, way: Way, left: Iterable[Waiting]
) -> tuple[Places, State, float]:
    """Return the places and the match after a play of a waiting tile, and the log weight of that play.

    Args:
        places: The tracked layout.
        state: The match before the play.
        waiting: The tile.
        way: Its play.
        left: Tiles that are played later. Each of them that was visible clearly earlier lowers the log weight.
    """
    known = Known(Laid(NodeId(state.next_seq), way.place), waiting.tile)
    after = replace(places.without_waiting(waiting.tile), known=(*places.known, known))
    log_weight = way.log_weight - SEEN_EARLIER * sum(is_earlier(other.since_ns, waiting.since_ns) for other in left)
    return after, apply(state, way.play)[0], log_weight


def is_earlier(since_ns: int | None, other_ns: int | None) -> bool:
    """Return True if a tile was visible clearly earlier than another. False if either time is unknown."""
    return since_ns is not None and other_ns is not None and since_ns + _EARLIER_NS <= other_ns


def result_of(state: State) -> Hashable:
    """Return everything in which two orders of play can differ for the players, except the draws."""
    game = state.game
    assert game is not None
    assert game.hand is not None
    hand, spinner = game.hand, game.layout.spinner
    chance = None if hand.chance is None else (hand.chance.seat, hand.chance.points)
    course = (hand.course.direction, hand.course.spell, hand.course.extra, hand.out)
    return (game.totals, game.phase, hand.turn, chance, course, None if spinner is None else spinner.tile)
