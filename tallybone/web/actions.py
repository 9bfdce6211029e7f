"""Actions that a page may send, with the bounds of their values, and refusals."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from engine.tiles import HIGHEST_PIPS

_MOST = 1_000_000
SeqNumber = Annotated[int, Field(ge=0, le=_MOST)]
SeatNumber = Annotated[int, Field(ge=0, le=15)]
PointsNumber = Annotated[int, Field(ge=-10_000, le=10_000)]
PipNumber = Annotated[int, Field(ge=0, le=HIGHEST_PIPS)]
# JSON has only lists.
PipNumbers = Annotated[tuple[PipNumber, PipNumber], Field(strict=False)]
ButtonName = Literal["knock", "call", "next", "undo", "stands", "hand_end", "redeal", "stack", "draw", "done", "table"]
Words = Annotated[str, StringConstraints(max_length=80)]


class StrictModel(BaseModel):
    """Takes only numbers as numbers, and only fields that it knows."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class At(StrictModel):
    """A side of a tile on the table: W, E, N, S, or an arm 1 to 8."""

    seq: SeqNumber
    port: Literal["W", "E", "N", "S", "1", "2", "3", "4", "5", "6", "7", "8"]


class PressButton(StrictModel):
    """A button of the table is pressed; without a seat, that of whose turn it is."""

    type: Literal["press"]
    button: ButtonName
    seat: SeatNumber | None = None


class AnswerQuestion(StrictModel):
    """The question with this topic is answered; *choice* counts from 0."""

    type: Literal["answer"]
    topic: Annotated[str, StringConstraints(max_length=400)]
    choice: Annotated[int, Field(ge=0, le=100)]


class AmendAction(StrictModel):
    """An action was another: its tile, its seat, its points, or the place of its tile; at least one of them.

    `pips` are those of the tile as it lies, the half first that touches the tile before.
    """

    type: Literal["amend"]
    seq: SeqNumber
    pips: PipNumbers | None = None
    seat: SeatNumber | None = None
    points: PointsNumber | None = None
    at: At | None = None


class RemoveAction(StrictModel):
    """An action did not happen; those after it did."""

    type: Literal["remove"]
    seq: SeqNumber


class LetStand(StrictModel):
    """The table lets an action stand, whatever the rules say."""

    type: Literal["stands"]
    seq: SeqNumber


class ConfirmInferred(StrictModel):
    """An inferred action is right; without `seq` all of them are."""

    type: Literal["confirm"]
    seq: SeqNumber | None = None


class InsertAction(StrictModel):
    """Nobody saw that something happened before the action *before*; None for just now.

    A play needs `pips`; `at` is only needed where its tile fits more than one end.
    """

    type: Literal["insert"]
    before: SeqNumber | None = None
    kind: Literal["play", "knock", "draw"] = "play"
    seat: SeatNumber
    pips: PipNumbers | None = None
    at: At | None = None
    tiles: Annotated[int, Field(ge=1, le=50)] = 1


class TakeBack(StrictModel):
    """What an earlier action has changed is as it was: this is the `back` of what that action was answered with.

    With `answer` it is the answer to a question, which is asked again.
    """

    type: Literal["take_back"]
    log: SeqNumber
    answer: bool = False


class GivePoints(StrictModel):
    """The table gives or takes points by hand."""

    type: Literal["points"]
    seat: SeatNumber
    points: PointsNumber
    why: Words = ""


class SayLead(StrictModel):
    """It is said who leads."""

    type: Literal["lead"]
    seat: SeatNumber


class SayLeft(StrictModel):
    """The pips that are left in a hand at its end."""

    type: Literal["left"]
    seat: SeatNumber
    pips: Annotated[int, Field(ge=0, le=_MOST)]


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
)
"""Actions that become one input of the sitting."""
PageAction = Annotated[SingleAction | TakeBack, Field(discriminator="type")]


class Asked(StrictModel):
    """An action, and the version of the snapshot that whoever asks for it has seen."""

    action: PageAction
    if_version: Annotated[int, Field(ge=0)] | None = None


class Login(StrictModel):
    """The PIN of the table, and who types it."""

    pin: Annotated[str, StringConstraints(max_length=20)]
    name: Annotated[str, StringConstraints(max_length=200)] = ""


class Refusal(Enum):
    """Why an action is not done."""

    CHANGED = "changed"
    SENSELESS = "senseless"


@dataclass(frozen=True, slots=True)
class Refused:
    """An action that is not done, and why, in words."""

    kind: Refusal
    words: str
