"""The players of a recording that is judged: they answer what the table asks, from what really happened."""

from __future__ import annotations

import time
from collections.abc import Iterator

from tallybone.evaluate.truth import Truth
from tallybone.recording.damage import Damage
from tallybone.replay.run import Seen
from tallybone.session.inputs import Answer
from tallybone.session.session import Session
from tallybone.simulate.players import answer_of
from tallybone.sources.source import Given, Item, Source

# Who is asked so often without anything having come of it stops answering.
_PATIENCE = 8


class TruePlayers:
    """Sit between what came in and what follows it, and put their answers in when they are asked.

    Attributes:
        answered: How many questions they have answered.
    """

    def __init__(self, truth: Truth) -> None:
        """Know what happens."""
        self._truth = truth
        self._session: Session | None = None
        self._given_ns = 0
        self._refused: tuple[object, ...] = ()
        self.answered = 0

    def among(self, _source: Source, items: Iterator[Item]) -> Iterator[Item]:
        """Yield what came in, and after each the answers to what is asked then."""
        for item in items:
            self._given_ns = time.perf_counter_ns()
            yield item
            if isinstance(item, Damage):
                continue
            for _ in range(_PATIENCE):
                answer = self._answer(item.t_ns)
                if answer is None:
                    break
                before = self._session
                yield _said(answer, item.t_ns)
                self.answered += 1
                if self._session == before:
                    break

    def saw(self, seen: Seen) -> float:
        """Take what an item brought about; return how many milliseconds that took."""
        now_ns = time.perf_counter_ns()
        if seen.happened is not None:
            self._session = seen.happened.session
        return (now_ns - self._given_ns) / 1e6 if self._given_ns else 0.0

    def _answer(self, t_ns: int) -> Answer | None:
        """Return what they answer now; None where nothing is asked, or none of the answers is right."""
        if self._session is None or not self._session.questions:
            return None
        true_state = self._truth.state_at(t_ns)
        asked = (self._session.questions, len(true_state.log))
        if asked == self._refused:  # nothing has changed since
            return None
        answer = answer_of(self._session, true_state)
        self._refused = () if answer is not None else asked
        return answer


def _said(answer: Answer, t_ns: int) -> Given:
    return Given(t_ns, "an answer", lambda: answer)
