"""Answer questions as the players of a simulated game do: they know how they have played."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from engine import (
    Confirmed,
    Draw,
    Event,
    Knock,
    Lead,
    NodeId,
    Phase,
    Play,
    Port,
    Seat,
    Stack,
    State,
    Tile,
    apply,
    entries,
    replay,
)
from tallybone.session.inputs import Answer
from tallybone.session.referee import Question
from tallybone.session.referee.places import seen_name
from tallybone.session.session import Session

Path = tuple[str, ...]


class TruthfulPlayers:
    """Players who know how they have played, and answer a question once; again if they have gone on playing."""

    def __init__(self) -> None:
        """Start before the match."""
        self.truth = State()
        self._considered: tuple[object, ...] = ()

    def did(self, event: Event) -> None:
        """Take note of an event of the match."""
        self.truth, _ = apply(self.truth, event)

    def answer(self, session: Session) -> Answer | None:
        """Return their answer now; None where nothing new is asked, or none of the answers is right."""
        asked = (session.questions, len(self.truth.log))
        if not session.questions or asked == self._considered:
            return None
        self._considered = asked
        return answer_of(session, self.truth)


def answer_of(session: Session, truth: State) -> Answer | None:
    """Return the players' answer to the first question that they can answer; None where no answer is right.

    Questions that hold up the game come first.

    Args:
        session: The state of the sitting.
        truth: The match as it was played, with at least all that was seen.
    """
    for asked in sorted(session.questions, key=lambda one: not one.ambiguity.holds_up):
        choice = (_right_choice if asked.ambiguity.holds_up else _known)(session, asked, truth)
        if choice is not None or asked.ambiguity.holds_up:
            return None if choice is None else Answer(choice, asked.ambiguity.topic)
    return None


def paths_of(state: State) -> dict[NodeId, Path]:
    """Return each tile with the way to it from the first one: alike in two records of the same layout."""
    found: dict[NodeId, Path] = {}
    for node in () if state.game is None else state.game.layout.nodes:
        own = f"{node.tile} {node.inner} inside"
        before = () if node.joins is None else found.get(node.joins.host, ())
        found[node.id] = (*before, own if node.joins is None else f"{port_name(node.joins.port)} {own}")
    return found


def port_name(port: Port) -> str:
    """Return a name of a port that is alike in all records of a layout: arms are numbered as they are started."""
    return "arm" if port.isdigit() else port.value


def _right_choice(session: Session, question: Question, truth: State) -> int | None:
    """Return the answer that leaves fewer tiles wrong, or that confirms the tiles there."""
    now = session.state
    known = _known(session, question, truth)
    if known is not None:
        return known
    wrong = [_difference(replay((*now.log, *answer.events)), truth) for answer in question.answers]
    best = min(wrong, default=(0, 0))
    if best < _difference(now, truth):
        return wrong.index(best)
    right = set(paths_of(truth).values())
    for choice, answer in enumerate(question.answers):
        settled = [one.node for one in answer.places.known if one.is_settled and not _is_settled(session, one.node)]
        if not answer.events and settled and all(paths_of(now)[node] in right for node in settled):
            return choice
    return None


def _known(session: Session, question: Question, truth: State) -> int | None:
    """Return the answer that the players know besides the layout."""
    now = session.state
    for known in (
        _confirmed(now, question, truth),
        _undone(session, question, truth),
        _began(session, question, truth),
        _as_it_was(now, question, truth),
        _knocked(now, question, truth),
        _stacked(now, question, truth),
    ):
        if known is not None:
            return known
    return _all_shown(session, question, truth)


def _confirmed(now: State, question: Question, truth: State) -> int | None:
    """Return the answer that all that was inferred is right, where it is."""
    right, true = set(paths_of(truth).values()), Counter(_done(one.action for one in entries(truth)))
    paths = paths_of(now)
    for choice, answer in enumerate(question.answers):
        match answer.events:
            case (Confirmed(seqs=seqs),):
                marked = [one for one in entries(now) if one.seq in seqs]
                told = Counter(_done(one.action for one in marked))
                is_told = told <= true if told else _is_drawn(now, (), truth)
                if "points" in question.ambiguity.words:
                    is_told &= now.game is not None and truth.game is not None and now.game.totals == truth.game.totals
                # Tiles of an earlier hand lie there no more.
                lie = [paths[NodeId(one.seq)] for one in marked if NodeId(one.seq) in paths]
                return choice if is_told and right.issuperset(lie) else None
            case _:
                pass
    return None


def _undone(session: Session, question: Question, truth: State) -> int | None:
    """Return the answer whether tiles that still lie there count, though their plays were undone."""
    undone, left = session.places.undone, [not answer.places.undone for answer in question.answers]
    if not undone or not all(left):
        return None
    laid = set(paths_of(truth).values()) - set(paths_of(session.state).values())
    counts = any(seen_name(undone[0]) in path[-1] for path in laid)
    many = len(session.places.waiting)
    return next(at for at, one in enumerate(question.answers) if (len(one.places.waiting) > many) is counts)


def _as_it_was(now: State, question: Question, truth: State) -> int | None:
    """Return the answer that names the leader, or the tiles that lie open."""
    if truth.game is None or truth.game.hand is None or now.game is None or now.game.hand is None:
        return None
    leader = _leader(truth)
    name = truth.game.players[leader] if leader >= 0 else None
    for choice, (words, answer) in enumerate(zip(question.ambiguity.choices, question.answers, strict=True)):
        if list(answer.events) == [Lead(leader)] or words.startswith(f"{name} led "):
            return choice
    if now.game.phase is not Phase.REVEAL and now.game.hand.ending is None:
        return None
    open_tiles = {tile for one in truth.game.hand.holdings if one is not None for tile in one.tiles or ()}
    names = {f"the {one}" for one in open_tiles}
    return next((at for at, words in enumerate(question.ambiguity.choices) if words in names), None)


def _knocked(now: State, question: Question, truth: State) -> int | None:
    """Return the answer that says whether a player has knocked: true where more of their passes are true than known."""
    answers = [answer.events for answer in question.answers]
    for choice, events in enumerate(answers):
        if len(events) == 1 and isinstance(knock := events[0], Knock):
            has_passed = _passes(truth, knock.seat) > _passes(now, knock.seat)
            return choice if has_passed else answers.index(()) if () in answers else None
    return None


def _stacked(now: State, question: Question, truth: State) -> int | None:
    """Return the answer that names a stack of the truth that is not known yet."""
    left = _stacks(truth) - _stacks(now)
    paths = paths_of(now)
    for choice, answer in enumerate(question.answers):
        match answer.events:
            case (Stack(seat=seat, tile=tile, on=on),) if left[seat, tile, paths.get(on, ())]:
                return choice
            case _:
                pass
    return None


def _stacks(state: State) -> Counter[tuple[Seat, Tile, Path]]:
    """Return how often each player has laid a tile on its copy, with the way to that copy."""
    paths = paths_of(state)
    actions = (one.action for one in entries(state))
    return Counter((one.seat, one.tile, paths.get(one.on, ())) for one in actions if isinstance(one, Stack))


def _began(session: Session, question: Question, truth: State) -> int | None:
    """Return the answer that says most of what happened while nobody saw the table and nothing false."""
    before, after = session.places.unseen, [answer.places.unseen for answer in question.answers]
    none = [at for at, one in enumerate(after) if one is not None and one != before and one.not_so]
    if not none:
        return None
    true = _done_since(session.state, truth)
    # Where plays score, their order matters.
    scores = truth.game is not None and truth.game.rules.unit is not None
    told = dict[int, int]()
    for choice, (answer, unseen) in enumerate(zip(question.answers, after, strict=True)):
        said = _done(answer.events if unseen is None else unseen.begun)
        done = true[: len(said)]  # they may have gone on since
        is_so = said == done or (unseen is None and not scores and sorted(said) == sorted(done))
        if not said and unseen is None:
            is_so = _is_drawn(session.state, answer.events, truth)
        if choice not in none and is_so:
            told[choice] = len(said)
    return max(told, key=lambda choice: told[choice], default=none[0])


def _is_drawn(now: State, events: Iterable[Event], truth: State) -> bool:
    """Return whether no player has drawn more tiles, with what happened then, than they truly have."""
    drawn, true = (_acted(state) for state in (replay((*now.log, *events)), truth))
    return all(true[one] >= tiles for one, tiles in drawn.items() if one[1] == "draws")


def _done_since(now: State, truth: State) -> list[tuple[Seat, str]]:
    """Return who laid and passed what that *now* does not know, in the order of the *truth*."""
    known = Counter(_done(one.action for one in entries(now)))
    left = []
    for one in _done(entry.action for entry in entries(truth)):
        if known[one]:
            known[one] -= 1
        else:
            left.append(one)
    return left


def _done(actions: Iterable[Event]) -> list[tuple[Seat, str]]:
    """Return who laid which tile, and who passed."""
    done: list[tuple[Seat, str]] = []
    for one in actions:
        match one:
            case Play(seat=seat, tile=tile):
                done.append((seat, str(tile)))
            case Knock(seat=seat):
                done.append((seat, "passes"))
            case _:
                pass
    return done


def _all_shown(session: Session, question: Question, truth: State) -> int | None:
    """Return the answer that all tiles of a player lie open, where as many do as they hold."""
    if truth.game is None or truth.game.hand is None:
        return None
    for choice, answer in enumerate(question.answers):
        for seat, holding in enumerate(truth.game.hand.holdings):
            now, then = (places.around.hand(Seat(seat)) for places in (session.places, answer.places))
            if then.is_whole and not now.is_whole and holding is not None and holding.size == len(now.tiles):
                return choice
    return None


def _leader(truth: State) -> Seat:
    """Return the leader of the last hand; -1 where no tile was played."""
    plays = [one.action for one in entries(truth) if isinstance(one.action, Play) and one.action.at is None]
    return plays[-1].seat if plays else Seat(-1)


def _passes(state: State, seat: Seat) -> int:
    return sum(one.action == Knock(seat) for one in entries(state))


def _difference(now: State, truth: State) -> tuple[int, int]:
    """Return how many tiles of each lie otherwise in the other, and how many actions there were by other players."""
    one, other = Counter(paths_of(now).values()), Counter(paths_of(truth).values())
    return (one - other).total() + (other - one).total(), (_acted(now) - _acted(truth)).total()


def _acted(state: State) -> Counter[tuple[Seat, Tile | str]]:
    """Return how often each player laid each tile, how many tiles each has drawn, and how often each has passed."""
    acted: Counter[tuple[Seat, Tile | str]] = Counter()
    for one in entries(state):
        match one.action:
            case Play(seat=seat, tile=tile):
                acted[seat, tile] += 1
            case Draw(seat=seat, tiles=tiles):
                acted[seat, "draws"] += tiles
            case Knock(seat=seat):
                acted[seat, "passes"] += 1
            case _:
                pass
    return acted


def _is_settled(session: Session, name: NodeId) -> bool:
    known = session.places.find(name)
    return known is not None and known.is_settled
