"""The table at which a record is played: events in, what they lead to out, and back again when a record undoes them."""

from dataclasses import dataclass, field

from engine.events import Action, Event, ItStands, Seq, Undo
from engine.judge import problems_with
from engine.outcomes import Outcome
from engine.problems import ProblemKind, Weight
from engine.rules import Policy
from engine.state import Game
from engine.steps import step

WRITTEN = (Weight.DOUBTFUL,)
"""What a sensor may mistake, somebody who writes a record has seen."""

SHOWN = (Weight.DOUBTFUL, Weight.ILLEGAL)
"""Who led, and that hands lie open because a hand has ended, is so whatever the rules say."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What an action led to.

    Attributes:
        outcomes: What follows from it; nothing when it was refused.
        problems: What is wrong with it, in the players' words.
        stands: Whether it counts.
    """

    outcomes: tuple[Outcome, ...] = ()
    problems: tuple[str, ...] = ()
    stands: bool = True


@dataclass(frozen=True, slots=True)
class Mark:
    """A point of a game to which an undo leads back: the match, and how many actions were in force."""

    game: Game | None
    actions: int


@dataclass(slots=True)
class RecordTable:
    """A match whose game moves on with each action.

    `engine.fold` replays the whole log at each undo, this goes back to what was before; replaying *log* gives *game*.

    Attributes:
        game: The match; None before it starts.
        log: The events, as `engine.fold.apply` takes them.
    """

    game: Game | None = None
    log: list[Event] = field(default_factory=list)
    _in_force: list[Seq] = field(default_factory=list)

    def take(
        self,
        action: Action,
        *,
        is_accepted: bool = False,
        trusted: tuple[Weight, ...] = WRITTEN,
        seq: Seq | None = None,
    ) -> Taken:
        """Do what *action* says, if the rules let it stand.

        Args:
            action: What happened.
            is_accepted: The table lets it stand and no longer speaks of what is wrong with it.
            trusted: With what weight of a problem it stands all the same, and is reported. Only a call that came too
                late does not, for that is what the rule is about.
            seq: The place in the log by which later actions call it; None for the end of *log*.
        """
        seq = Seq(len(self.log)) if seq is None else seq
        self.log.append(action)
        self._in_force.append(seq)
        problems = problems_with(self.game, action)
        gravest = problems[0].weight if problems else Weight.NOTED
        by_itself = gravest in self._standing()
        is_trusted = gravest in trusted and problems[0].kind is not ProblemKind.LATE_CALL
        stands = by_itself or is_trusted or (is_accepted and gravest is not Weight.IMPOSSIBLE)
        if problems and stands and (is_accepted or not by_itself):
            self.log.append(ItStands(seq))
        words = () if is_accepted and stands else tuple(problem.words for problem in problems)
        if not stands:
            return Taken((), words, stands=False)
        self.game, outcomes = step(self.game, seq, action)
        return Taken(outcomes, words)

    def mark(self) -> Mark:
        """Return the point to which `undo` can lead back."""
        return Mark(self.game, len(self._in_force))

    def undo(self, mark: Mark) -> None:
        """Undo everything since *mark*."""
        if len(self._in_force) > mark.actions:
            self.log.append(Undo(self._in_force[mark.actions]))
            del self._in_force[mark.actions :]
        self.game = mark.game

    def _standing(self) -> tuple[Weight, ...]:
        """Return the weights of a problem with which an action stands by itself."""
        if self.game is not None and self.game.rules.policy is Policy.WARN:
            return (Weight.NOTED, Weight.ILLEGAL)
        return (Weight.NOTED,)
