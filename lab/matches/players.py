"""Answer questions like the players of a simulated game, who know how they played and read only the choices."""

from __future__ import annotations

import engine
from tallybone.replay.shadow import port_name
from tallybone.session.inputs import Answer
from tallybone.session.session import Session

Path = tuple[str, ...]
# Answers of players who have undone a play by mistake, or want no change.
_AGAIN, _OTHER = "count it again", "something else"


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
    """Return the players' answer to the first question that they can answer by its words, or None.

    Args:
        session: State of the sitting.
        truth: The true match, including at least everything that *session* has seen.
    """
    game = truth.game
    if game is None:
        return None
    true = dict(zip(game.players, game.totals, strict=True))
    for question in reversed(session.questions):
        choices = question.ambiguity.choices
        scores = [_scores_in(text, game.players) for text in choices]
        right = [at for at, each in enumerate(scores) if each and all(true[name] == total for name, total in each)]
        right += [at for at, text in enumerate(choices) if text == _AGAIN]
        right += [at for at, text in enumerate(choices) if text == _OTHER and any(scores)]
        if right:
            return Answer(right[0], question.ambiguity.topic)
    return None


def _scores_in(text: str, players: tuple[str, ...]) -> list[tuple[str, int]]:
    """Return the names and totals at the beginning of a choice, such as "Ann 30, Ben 10, if Ben drew 2 tiles"."""
    found: list[tuple[str, int]] = []
    for part in text.split(", "):
        name, _, total = part.rpartition(" ")
        if name in players and total.lstrip("-").isdigit():
            found.append((name, int(total)))
    return found


def paths_of(state: engine.State) -> dict[engine.NodeId, Path]:
    """Return the path from the first tile to each tile. Equal layouts have equal paths, even if node ids differ."""
    paths: dict[engine.NodeId, Path] = {}
    for node in () if state.game is None else state.game.layout.nodes:
        own = f"{node.tile} {node.inner} inside"
        before = () if node.joins is None else paths.get(node.joins.host, ())
        paths[node.id] = (*before, own if node.joins is None else f"{port_name(node.joins.port)} {own}")
    return paths
