"""Request models of the page's actions, with bounds, and refusals."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from engine.tiles import HIGHEST_PIPS

_MOST = 1_000_000
MAX_COUNTED = 100
"""Maximum number of tiles in a counted hand."""
SeqNumber = Annotated[int, Field(ge=0, le=_MOST)]
SeatNumber = Annotated[int, Field(ge=0, le=15)]
PointsNumber = Annotated[int, Field(ge=-10_000, le=10_000)]
PipNumber = Annotated[int, Field(ge=0, le=HIGHEST_PIPS)]
# Not strict, because JSON has lists instead of tuples.
PipNumbers = Annotated[tuple[PipNumber, PipNumber], Field(strict=False)]
ButtonName = Literal["knock", "call", "next", "undo", "stands", "hand_end", "redeal", "stack", "draw", "done", "table"]
Words = Annotated[str, StringConstraints(max_length=80)]


class StrictModel(BaseModel):
    """Model that rejects unknown fields and does not convert types."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class At(StrictModel):
    """A port of a tile on the table: W, E, N, S, or an arm 1 to 8."""

    seq: SeqNumber
    port: Literal["W", "E", "N", "S", "1", "2", "3", "4", "5", "6", "7", "8"]


class PressButton(StrictModel):
    """Press a button of the table. Without *seat*, it is the one of the player to move."""

    type: Literal["press"]
    button: ButtonName
    seat: SeatNumber | None = None


class AnswerQuestion(StrictModel):
    """Answer the question with a topic. *choice* is the index of the answer, from 0."""

    type: Literal["answer"]
    topic: Annotated[str, StringConstraints(max_length=400)]
    choice: Annotated[int, Field(ge=0, le=100)]


class AmendAction(StrictModel):
    """Correct the tile, seat, points or position of an action. At least one of them is required.

    `pips` are the numbers of the tile, starting with the half that touches the layout.
    """

    type: Literal["amend"]
    seq: SeqNumber
    pips: PipNumbers | None = None
    seat: SeatNumber | None = None
    points: PointsNumber | None = None
    at: At | None = None


class RemoveAction(StrictModel):
    """Remove an action. Later ones are kept."""

    type: Literal["remove"]
    seq: SeqNumber


class LetStand(StrictModel):
    """Accept an action despite the rules."""

    type: Literal["stands"]
    seq: SeqNumber


class ConfirmInferred(StrictModel):
    """Confirm an inferred action, or all of them without `seq`."""

    type: Literal["confirm"]
    seq: SeqNumber | None = None


class InsertAction(StrictModel):
    """Insert a missed action before the action *before*, or at the end if it is None.

    A play requires `pips`. `at` is required only if the tile fits several ends.
    """

    type: Literal["insert"]
    before: SeqNumber | None = None
    kind: Literal["play", "knock", "draw"] = "play"
    seat: SeatNumber
    pips: PipNumbers | None = None
    at: At | None = None
    tiles: Annotated[int, Field(ge=1, le=50)] = 1


class TakeBack(StrictModel):
    """Revert an earlier action. It is returned as `back` in the response to that action.

    With `answer`, revert the answer to a question, which is then asked again.
    """

    type: Literal["take_back"]
    log: SeqNumber
    answer: bool = False


class GivePoints(StrictModel):
    """Add or subtract points by hand."""

    type: Literal["points"]
    seat: SeatNumber
    points: PointsNumber
    why: Words = ""


class SayLead(StrictModel):
    """Set the player who leads."""

    type: Literal["lead"]
    seat: SeatNumber


class SayLeft(StrictModel):
    """Enter the pips left in a player's hand at the end of a hand."""

    type: Literal["left"]
    seat: SeatNumber
    pips: Annotated[int, Field(ge=0, le=_MOST)]


class RevealHand(StrictModel):
    """Enter the tiles left in a player's hand at the end of a hand."""

    type: Literal["reveal"]
    seat: SeatNumber
    tiles: Annotated[tuple[PipNumbers, ...], Field(strict=False, max_length=MAX_COUNTED)]


class RenamePlayer(StrictModel):
    """Give a player another name. The score stays."""

    type: Literal["rename"]
    seat: SeatNumber
    name: Annotated[str, StringConstraints(max_length=200)]


class SwapPlaces(StrictModel):
    """Exchange the places of two players, between hands."""

    type: Literal["swap"]
    seat: SeatNumber
    other: SeatNumber


SingleAction: TypeAlias = (
    PressButton
    | AnswerQuestion
    | AmendAction
    | RemoveAction
    | LetStand
    | ConfirmInferred
    | InsertAction
    | GivePoints
    | SayLead
    | SayLeft
    | RevealHand
    | RenamePlayer
    | SwapPlaces
)
"""Actions that are converted to a single input of the session."""
PageAction = Annotated[SingleAction | TakeBack, Field(discriminator="type")]


class Asked(StrictModel):
    """An action, and the version of the snapshot on which it is based."""

    action: PageAction
    if_version: Annotated[int, Field(ge=0)] | None = None


class Login(StrictModel):
    """PIN of the table, and the name of the person."""

    pin: Annotated[str, StringConstraints(max_length=20)]
    name: Annotated[str, StringConstraints(max_length=200)] = ""


class Refusal(Enum):
    """Kind of reason why an action is refused."""

    CHANGED = "changed"
    SENSELESS = "senseless"


@dataclass(frozen=True, slots=True)
class Refused:
    """A refused action, with the reason as text."""

    kind: Refusal
    text: str
