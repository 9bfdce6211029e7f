"""Convert the actions and messages of a match to the page's JSON types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import engine
from engine import ActionResult, Adjust, Ending, Entry, Game, HandOver, Phase, Reason, Rules, Scored, ShowHands, Stack
from tallybone.json_values import tag_of
from tallybone.plain_text import names_of, plain
from tallybone.session.session import Announcement
from tallybone.session.sitting import Step, kind_of
from tallybone.show.scoreboard import summarize
from tallybone.web.games_shown import rule_of_play
from tallybone.web.shapes import IrregularShown, PlayShown, ToldShown
from tallybone.web.story import Story

NOTE = "note"
"""Kind of a message that is not about an action of the game."""
_SCENES = ("match", "domino", "block", "steal", "spell")
"""Events that a television celebrates, rarest first."""
_MAX_SCORING = 3
_COUNT_PAID = (Reason.PLAY, Reason.STEAL)
_PAID = (Reason.PLAY, Reason.BONUS, Reason.STEAL)


def told_of(source: Step | str, players: tuple[str, ...], number: int) -> tuple[ToldShown, ...]:
    """Convert a step or note to at most one message. Empty if the step has no words.

    Args:
        source: The step, or the text of a note.
        players: Names by seat.
        number: Identifier of the message.
    """
    if isinstance(source, str):
        return (ToldShown(number, 0, plain(source), NOTE, None),)
    text = summarize(source.announcements, names_of(players))
    if not text:
        return ()
    first, scene = source.announcements[0], _scene_of(source.announcements)
    return (ToldShown(number, source.t_ns, plain(text), kind_of(first), _seat_of(first), scene),)


def _scene_of(announcements: Sequence[Announcement]) -> str | None:
    """Return the rarest event of a step that a television celebrates. None for any other step.

    Each exposed hand reports the end of the hand again, so only the step that ended it counts.
    """
    is_report = isinstance(announcements[0], ShowHands | HandOver)
    scenes = {_scene(one) for one in announcements if not (is_report and isinstance(one, ShowHands | HandOver))}
    return next((scene for scene in _SCENES if scene in scenes), None)


def _scene(announcement: Announcement) -> str | None:
    match announcement:
        case engine.MatchOver():
            return "match"
        case ShowHands(ending=Ending.DOMINO) | HandOver(ending=Ending.DOMINO):
            return "domino"
        case ShowHands(ending=ending) | HandOver(ending=ending) if ending is not Ending.CALLED:
            return "block"
        case Scored(reason=Reason.STEAL):
            return "steal"
        case engine.Spelled(is_on=True):
            return "spell"
        case _:
            return None


def _seat_of(what: engine.Action | Announcement) -> int | None:
    """Return the seat of an action or announcement, or None if it has no seat."""
    seat: int | None = getattr(what, "seat", None)
    return seat


def plays_of(results: Iterable[ActionResult], story: Story, players: Sequence[str]) -> tuple[PlayShown, ...]:
    """Convert the actions of a hand, oldest first, with the current seats of their players.

    Args:
        results: Actions of the hand and their outcomes.
        story: The match. Adjustments are included in the points of their play.
        players: Display names by seat, now.
    """
    by_hand, seats = corrections(story), story.seats_now()
    game = story.state.game
    rules = None if game is None else game.rules
    shown: list[PlayShown] = []
    for one in results:
        now = seats[one.entry.seq]
        play = play_shown(one, game, rules, by_hand, tuple(players[seat] for seat in now))
        shown.append(play if play.seat is None else replace(play, seat=now[play.seat]))
    return tuple(shown)


def unseen_hands_of(
    hands: Iterable[Iterable[ActionResult]], story: Story, players: Sequence[str]
) -> tuple[PlayShown, ...]:
    """Convert the estimates of pips left in *hands* that nobody saw, which players may still enter."""
    results = [one for hand in hands for one in hand if one.entry.inferred]
    results = [one for one in results if isinstance(one.entry.action, engine.RevealPips)]
    return plays_of(results, story, players) if results else ()


def irregular_of(story: Story, players: Sequence[str]) -> tuple[IrregularShown, ...]:
    """Return the irregular actions of the current hand that the table has not accepted.

    Empty once the match is over, because nothing can be accepted any more.
    """
    if story.state.game is None or story.state.game.phase is Phase.MATCH_OVER:
        return ()
    wrong = frozenset(story.state.irregular)
    shown: list[IrregularShown] = []
    for one in reversed(story.results):
        if any(isinstance(outcome, HandOver | engine.Abandoned) for outcome in one.outcomes):
            break
        problem = next((outcome.problem for outcome in one.outcomes if isinstance(outcome, engine.Irregular)), None)
        if problem is not None and one.entry.seq in wrong:
            can_stand = problem.weight is not engine.Weight.IMPOSSIBLE
            shown.append(IrregularShown(one.entry.seq, _wrong(one, players) or "", can_stand))
        if any(isinstance(outcome, engine.HandStarted | engine.Redealt) for outcome in one.outcomes):
            break
    return tuple(reversed(shown))


def why_of(entry: Entry) -> str:
    """Return the text of `Adjust.why` that links an adjustment to this play."""
    action = entry.action
    tile = f"{action.tile}, " if isinstance(action, engine.Play | Stack) else ""
    return f"{tile}play {entry.seq}"


def corrections(story: Story) -> dict[str, Entry]:
    """Return the players' adjustments by their `why`. Of several with the same `why`, the last."""
    return {one.entry.action.why: one.entry for one in story.results if isinstance(one.entry.action, Adjust)}


def paid(result: ActionResult) -> int:
    """Return the points that a play has scored for its own player, without adjustments."""
    seat = _seat_of(result.entry.action)
    scored = (one for one in result.outcomes if isinstance(one, Scored) and one.reason in _PAID)
    return sum(one.points for one in scored if one.seat == seat)


def play_shown(
    result: ActionResult, game: Game | None, rules: Rules | None, by_hand: Mapping[str, Entry], players: Sequence[str]
) -> PlayShown:
    """Convert an action.

    Args:
        result: The action and its outcomes.
        game: Match whose layout contains the tile, to order its pips. None if unknown.
        rules: Rules of the match. None if unknown.
        by_hand: Adjustments by their `why`.
        players: Display names by seat.
    """
    action, given = result.entry.action, by_hand.get(why_of(result.entry))
    points = paid(result) + (given.action.points if given is not None and isinstance(given.action, Adjust) else 0)
    if isinstance(action, Adjust):
        points = action.points
    return PlayShown(
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
    if game is None or game.rules.unit is None or game.phase not in (Phase.LEAD, Phase.PLAY):
        return None
    most: dict[engine.Tile, int] = {}
    for suggestion in engine.best_plays(state, engine.unseen(game)):
        if suggestion.points > 0:
            most.setdefault(suggestion.play.tile, suggestion.points)
    best = tuple(most.items())[:_MAX_SCORING]
    return [ScoringShown((tile.high, tile.low), points) for tile, points in best]


def _rule(result: ActionResult, rules: Rules) -> str | None:
    """Return the rule under which the count of a play scores. None if it does not score."""
    is_paid = any(
        isinstance(one, engine.Claimable) or (isinstance(one, Scored) and one.reason in _COUNT_PAID)
        for one in result.outcomes
    )
    return rule_of_play(rules, is_stack=isinstance(result.entry.action, Stack)) if is_paid else None


def _is_summed(outcome: engine.Outcome) -> bool:
    """Check whether the `sum` or `points` field already shows an outcome."""
    return isinstance(outcome, engine.Counted) or (isinstance(outcome, Scored) and outcome.reason is Reason.PLAY)


def _pips(result: ActionResult, game: Game | None) -> tuple[int, int] | None:
    """Return the pips of a played or stacked tile, or of the only tile drawn, if known. Else None.

    They are ordered (inner, outer) for a tile of the layout, else the larger first.
    """
    match result.entry.action:
        case engine.Play(tile=tile) | Stack(tile=tile):
            node = None if game is None else game.layout.find(engine.NodeId(result.entry.seq))
            return (tile.high, tile.low) if node is None else (node.inner, node.outer)
        case engine.Draw(faces=(tile,)):
            return (tile.high, tile.low)
        case _:
            return None


def _wrong(result: ActionResult, players: Sequence[str]) -> str | None:
    """Return a description of the rules that an action breaks, or None."""
    wrong = [one for one in result.outcomes if isinstance(one, engine.Irregular)]
    return plain(summarize(wrong, players)) if wrong else None
