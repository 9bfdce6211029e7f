"""Answer questions like the players of a simulated game, who know how they played."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import engine
from tallybone.session.inputs import Answer
from tallybone.session.referee import Question
from tallybone.session.referee.places import seen_name
from tallybone.session.session import Session

Path = tuple[str, ...]


class TruthfulPlayers:
    """Players who know the true match.

    They consider unchanged questions again only after another event of the match.
    """

    def __init__(self) -> None:
        """Start with an empty match."""
        self.truth = engine.State()
        self._considered: tuple[object, ...] = ()

    def observe(self, event: engine.Event) -> None:
        """Apply an event to the true match."""
        self.truth, _ = engine.apply(self.truth, event)

    def answer(self, session: Session) -> Answer | None:
        """Return the players' answer, or None if there is no new question or no right answer."""
        situation = (session.questions, len(self.truth.log))
        if not session.questions or situation == self._considered:
            return None
        self._considered = situation
        return answer_of(session, self.truth)


def answer_of(session: Session, truth: engine.State) -> Answer | None:
    """Return the players' answer to the first question that they can answer, or None.

    Questions that hold up the game come first. If the players cannot answer one of these, they answer no other.

    Args:
        session: State of the sitting.
        truth: The true match, including at least everything that *session* has seen.
    """
    for question in sorted(session.questions, key=lambda question: not question.ambiguity.holds_up):
        choice = (_right_choice if question.ambiguity.holds_up else _known)(session, question, truth)
        if choice is not None or question.ambiguity.holds_up:
            return None if choice is None else Answer(choice, question.ambiguity.topic)
    return None


def paths_of(state: engine.State) -> dict[engine.NodeId, Path]:
    """Return the path from the first tile to each tile. Equal layouts have equal paths, even if node ids differ."""
    paths: dict[engine.NodeId, Path] = {}
    for node in () if state.game is None else state.game.layout.nodes:
        own = f"{node.tile} {node.inner} inside"
        before = () if node.joins is None else paths.get(node.joins.host, ())
        paths[node.id] = (*before, own if node.joins is None else f"{port_name(node.joins.port)} {own}")
    return paths


def port_name(port: engine.Port) -> str:
    """Return a name of a port that does not depend on the order of plays. All arms of a starter share a name."""
    return "arm" if port.isdigit() else port.value


def _right_choice(session: Session, question: Question, truth: engine.State) -> int | None:
    """Return the answer that the players know, else that corrects most tiles, else that confirms true tiles.

    Or None.
    """
    now = session.state
    known = _known(session, question, truth)
    if known is not None:
        return known
    differences = [_difference(engine.replay((*now.log, *answer.events)), truth) for answer in question.answers]
    best = min(differences, default=(0, 0))
    if best < _difference(now, truth):
        return differences.index(best)
    true_paths = set(paths_of(truth).values())
    for choice, answer in enumerate(question.answers):
        settled = [tile.node for tile in answer.places.known if tile.is_settled and not _is_settled(session, tile.node)]
        if not answer.events and settled and all(paths_of(now)[node] in true_paths for node in settled):
            return choice
    return None


def _known(session: Session, question: Question, truth: engine.State) -> int | None:
    """Return the answer that the players know without comparing layouts, or None."""
    now = session.state
    for choice in (
        _passed_before(session, question, truth),
        _confirmed(now, question, truth),
        _undone(session, question, truth),
        _began(session, question, truth),
        _as_it_was(now, question, truth),
        _knocked(now, question, truth),
        _stacked(now, question, truth),
    ):
        if choice is not None:
            return choice
    return _all_shown(session, question, truth)


def _passed_before(session: Session, question: Question, truth: engine.State) -> int | None:
    """Return the answer with the true passes before an action, if the players can say who acted."""
    if session.places.undecided is None or any(answer.places.undecided for answer in question.answers):
        return None
    true = _done(entry.action for entry in engine.entries(truth))
    for choice, answer in enumerate(question.answers):
        done = _done(entry.action for entry in engine.entries(engine.replay((*session.state.log, *answer.events))))
        if done == true[: len(done)]:
            return choice
    return None


def _confirmed(now: engine.State, question: Question, truth: engine.State) -> int | None:
    """Return the answer that confirms all inferred actions, if they are true and no totals in question are wrong."""
    true_paths, true = set(paths_of(truth).values()), Counter(_done(entry.action for entry in engine.entries(truth)))
    paths = paths_of(now)
    for choice, answer in enumerate(question.answers):
        match answer.events:
            case (engine.Confirmed(seqs=seqs),):
                inferred = [entry for entry in engine.entries(now) if entry.seq in seqs]
                done = Counter(_done(entry.action for entry in inferred))
                is_true = done <= true if done else _is_drawn(now, (), truth)
                if "points" in question.ambiguity.words:
                    is_true &= now.game is not None and truth.game is not None and now.game.totals == truth.game.totals
                # Tiles of an earlier hand are no longer on the table and have no path.
                inferred_paths = [
                    paths[engine.NodeId(entry.seq)] for entry in inferred if engine.NodeId(entry.seq) in paths
                ]
                return choice if is_true and true_paths.issuperset(inferred_paths) else None
            case _:
                pass
    return None


def _undone(session: Session, question: Question, truth: engine.State) -> int | None:
    """Return the answer to whether tiles still on the table count although their plays were undone."""
    undone, left = session.places.undone, [not answer.places.undone for answer in question.answers]
    if not undone or not all(left):
        return None
    laid = set(paths_of(truth).values()) - set(paths_of(session.state).values())
    counts = any(seen_name(undone[0]) in path[-1] for path in laid)
    count = len(session.places.waiting)
    return next(at for at, answer in enumerate(question.answers) if (len(answer.places.waiting) > count) is counts)


def _as_it_was(now: engine.State, question: Question, truth: engine.State) -> int | None:
    """Return the answer that names the true leader, or a tile of a hand that is truly open."""
    if truth.game is None or truth.game.hand is None or now.game is None or now.game.hand is None:
        return None
    leader = _leader(truth)
    name = truth.game.players[leader] if leader >= 0 else None
    for choice, (words, answer) in enumerate(zip(question.ambiguity.choices, question.answers, strict=True)):
        if list(answer.events) == [engine.Lead(leader)] or words.startswith(f"{name} led "):
            return choice
    if now.game.phase is not engine.Phase.REVEAL and now.game.hand.ending is None:
        return None
    holdings = (holding for holding in truth.game.hand.holdings if holding is not None)
    names = {f"the {tile}" for holding in holdings for tile in holding.tiles or ()}
    return next((at for at, words in enumerate(question.ambiguity.choices) if words in names), None)


def _knocked(now: engine.State, question: Question, truth: engine.State) -> int | None:
    """Return the answer to whether a player knocked: yes if the true match has more passes of the player."""
    answers = [answer.events for answer in question.answers]
    for choice, events in enumerate(answers):
        if len(events) == 1 and isinstance(knock := events[0], engine.Knock):
            has_passed = _passes(truth, knock.seat) > _passes(now, knock.seat)
            return choice if has_passed else answers.index(()) if () in answers else None
    return None


def _stacked(now: engine.State, question: Question, truth: engine.State) -> int | None:
    """Return the answer that names a true stack missing from the session."""
    missing = _stacks(truth) - _stacks(now)
    paths = paths_of(now)
    for choice, answer in enumerate(question.answers):
        match answer.events:
            case (engine.Stack(seat=seat, tile=tile, on=on),) if missing[seat, tile, paths.get(on, ())]:
                return choice
            case _:
                pass
    return None


def _stacks(state: engine.State) -> Counter[tuple[engine.Seat, engine.Tile, Path]]:
    """Return the number of stacks by seat, tile and path of the tile below."""
    paths = paths_of(state)
    actions = (entry.action for entry in engine.entries(state))
    stacks = (action for action in actions if isinstance(action, engine.Stack))
    return Counter((stack.seat, stack.tile, paths.get(stack.on, ())) for stack in stacks)


def _began(session: Session, question: Question, truth: engine.State) -> int | None:
    """Return the answer with the longest true account of the actions while the table was not seen.

    If no account is true, return the answer that rejects them all. None if the question is not about such actions.
    """
    before, after = session.places.unseen, [answer.places.unseen for answer in question.answers]
    none = [at for at, unseen in enumerate(after) if unseen is not None and unseen != before and unseen.not_so]
    if not none:
        return None
    true = _done_since(session.state, truth)
    # The order matters if plays score.
    scores = truth.game is not None and truth.game.rules.unit is not None
    lengths = dict[int, int]()
    for choice, (answer, unseen) in enumerate(zip(question.answers, after, strict=True)):
        claimed = _done(answer.events if unseen is None else unseen.begun)
        done = true[: len(claimed)]  # the players may have played on since
        is_true = claimed == done or (unseen is None and not scores and sorted(claimed) == sorted(done))
        if not claimed and unseen is None:
            is_true = _is_drawn(session.state, answer.events, truth)
        if choice not in none and is_true:
            lengths[choice] = len(claimed)
    return max(lengths, key=lambda choice: lengths[choice], default=none[0])


def _is_drawn(now: engine.State, events: Iterable[engine.Event], truth: engine.State) -> bool:
    """Return True if, after *events*, no player has drawn more tiles than in the true match."""
    drawn, true = (_acted(state) for state in (engine.replay((*now.log, *events)), truth))
    return all(true[key] >= tiles for key, tiles in drawn.items() if key[1] == "draws")


def _done_since(now: engine.State, truth: engine.State) -> list[tuple[engine.Seat, str]]:
    """Return the true plays and passes that *now* lacks, in order. Repeated ones are matched by their number."""
    known = Counter(_done(entry.action for entry in engine.entries(now)))
    missing = []
    for action in _done(entry.action for entry in engine.entries(truth)):
        if known[action]:
            known[action] -= 1
        else:
            missing.append(action)
    return missing


def _done(actions: Iterable[engine.Event]) -> list[tuple[engine.Seat, str]]:
    """Return the plays and passes among *actions*, as seat and tile or "passes"."""
    done: list[tuple[engine.Seat, str]] = []
    for action in actions:
        match action:
            case engine.Play(seat=seat, tile=tile):
                done.append((seat, str(tile)))
            case engine.Knock(seat=seat):
                done.append((seat, "passes"))
            case _:
                pass
    return done


def _all_shown(session: Session, question: Question, truth: engine.State) -> int | None:
    """Return the answer that a player's hand is completely shown, if as many tiles are shown as the player holds."""
    if truth.game is None or truth.game.hand is None:
        return None
    for choice, answer in enumerate(question.answers):
        for seat, holding in enumerate(truth.game.hand.holdings):
            now, then = (places.around.hand(engine.Seat(seat)) for places in (session.places, answer.places))
            if then.is_whole and not now.is_whole and holding is not None and holding.size == len(now.tiles):
                return choice
    return None


def _leader(truth: engine.State) -> engine.Seat:
    """Return the player of the last leading tile, or -1 before the first play."""
    actions = (entry.action for entry in engine.entries(truth))
    leads = [action for action in actions if isinstance(action, engine.Play) and action.at is None]
    return leads[-1].seat if leads else engine.Seat(-1)


def _passes(state: engine.State, seat: engine.Seat) -> int:
    return sum(entry.action == engine.Knock(seat) for entry in engine.entries(state))


def _difference(now: engine.State, truth: engine.State) -> tuple[int, int]:
    """Return the number of tiles that differ between two layouts, and of actions that are not in the true match."""
    paths, true_paths = Counter(paths_of(now).values()), Counter(paths_of(truth).values())
    return (paths - true_paths).total() + (true_paths - paths).total(), (_acted(now) - _acted(truth)).total()


def _acted(state: engine.State) -> Counter[tuple[engine.Seat, engine.Tile | str]]:
    """Return the number of plays by seat and tile, and of drawn tiles and passes by seat."""
    acted: Counter[tuple[engine.Seat, engine.Tile | str]] = Counter()
    for entry in engine.entries(state):
        match entry.action:
            case engine.Play(seat=seat, tile=tile):
                acted[seat, tile] += 1
            case engine.Draw(seat=seat, tiles=tiles):
                acted[seat, "draws"] += tiles
            case engine.Knock(seat=seat):
                acted[seat, "passes"] += 1
            case _:
                pass
    return acted


def _is_settled(session: Session, name: engine.NodeId) -> bool:
    known = session.places.find(name)
    return known is not None and known.is_settled
