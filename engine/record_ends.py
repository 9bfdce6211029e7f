"""How a hand of a game record ends: hands laid open, points paid for it, or left as it is."""

from dataclasses import replace

from engine.events import Abandon, Adjust, Domino, HandEnd, Reveal, RevealPips, Seat
from engine.outcomes import Outcome
from engine.record import BonusMove
from engine.record_checks import Facts, bonus_problem, told
from engine.record_steps import Step, Steps
from engine.record_table import SHOWN, RecordTable, Taken
from engine.state import Phase


def lay_open(table: RecordTable, action: Reveal | RevealPips, step: Step, steps: Steps) -> Taken:
    """Lay a hand open; while the hand is played this says that it has ended: if one alone shows nothing, he is out."""
    game = table.game
    hand = None if game is None else game.hand
    before = Taken()
    if game is not None and hand is not None and game.phase is Phase.PLAY:
        hidden = [Seat(seat) for seat in range(len(game.players)) if seat not in steps.shown_from(step)]
        before = table.take(Domino(hidden[0]) if len(hidden) == 1 else HandEnd(), trusted=SHOWN)
    elif game is not None and hand is not None and hand.out == action.seat and not _is_something(action):
        return Taken()  # who is out may say so
    taken = table.take(action, is_accepted=step.is_accepted)
    return Taken((*before.outcomes, *taken.outcomes), (*before.problems, *taken.problems), taken.stands)


def take_bonus(table: RecordTable, facts: Facts, step: Step, steps: Steps) -> tuple[Facts, Taken]:
    """Hold `+20` against what the hand pays; where that cannot be known, it is taken as written."""
    assert isinstance(step.move, BonusMove)  # no other move is left
    seat, points = step.seat, step.move.points
    outcomes: tuple[Outcome, ...] = ()
    if facts.bonus is None and not steps.shows_follow(step):
        outcomes = _lay_open_empty_hands(table).outcomes
        facts = facts.after(outcomes, step, steps)
    if facts.held is not None and facts.held[0] == seat:
        facts = replace(facts, held=None)
    assert table.game is not None  # a match is played
    players, phase = table.game.players, table.game.phase
    if facts.bonus is not None:
        return facts, Taken(outcomes, told(bonus_problem(facts, seat, points, players)).problems)
    if phase not in (Phase.PLAY, Phase.REVEAL):
        why = "the match is over" if phase is Phase.MATCH_OVER else "no tile of this hand has been played"
        return facts, told(f"+{points} is written, but {why}")
    if steps.shows_follow(step):
        return replace(facts, promised=(*facts.promised, (seat, points))), Taken()
    paid = table.take(Adjust(seat, points, "points of the hand, as written"))
    words = f"+{points} is taken as written: the hand cannot be counted from what is shown"
    return facts, Taken((*outcomes, *paid.outcomes), (words,))


def finish_hand(table: RecordTable) -> None:
    """Count a hand in which all have shown what they have and nothing tells a tie apart: nobody wins it."""
    game = table.game
    if game is not None and game.hand is not None and game.phase is Phase.REVEAL and None not in game.hand.holdings:
        table.take(HandEnd())


def leave_hand(table: RecordTable, number: int) -> tuple[str, ...]:
    """Leave a hand that is not counted, where the next is dealt: points of its plays are kept, nobody wins it."""
    game = table.game
    if game is None or game.hand is None or not game.rules.refereed:
        return ()
    if game.phase not in (Phase.LEAD, Phase.PLAY, Phase.REVEAL):
        return ()
    table.take(Abandon())
    return (f"hand {number} was not finished",)


def _is_something(action: Reveal | RevealPips) -> bool:
    """Return whether tiles are shown."""
    return action.pips > 0 if isinstance(action, RevealPips) else bool(action.tiles)


def _lay_open_empty_hands(table: RecordTable) -> Taken:
    """Lay open the hands of those who have nothing left, when a hand is over."""
    taken = Taken()
    game = table.game
    if game is None or game.hand is None or game.phase is not Phase.REVEAL:
        return taken
    for seat, (holding, size) in enumerate(zip(game.hand.holdings, game.hand.sizes, strict=True)):
        if holding is None and size == 0:
            taken = table.take(Reveal(Seat(seat), ()))
    return taken
