"""What a page may ask for: models that refuse whatever is not exactly that. All numbers and texts are bounded."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from engine.tiles import HIGHEST_PIPS

_MOST = 1_000_000
SeqNumber = Annotated[int, Field(ge=0, le=_MOST)]
SeatNumber = Annotated[int, Field(ge=0, le=15)]
Points = Annotated[int, Field(ge=-10_000, le=10_000)]
Number = Annotated[int, Field(ge=0, le=HIGHEST_PIPS)]
# What is read from JSON is a list.
Pips = Annotated[tuple[Number, Number], Field(strict=False)]
ButtonName = Literal["knock", "call", "next", "undo", "stands", "hand_end", "redeal", "stack", "draw", "done"]
Words = Annotated[str, StringConstraints(max_length=80)]


class _Model(BaseModel):
    """Takes numbers for numbers only, and nothing that it does not know."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class At(_Model):
    """A side of a tile on the table: W, E, N, S, or an arm 1 to 8."""

    seq: SeqNumber
    port: Literal["W", "E", "N", "S", "1", "2", "3", "4", "5", "6", "7", "8"]


class PressButton(_Model):
    """A button of the table is pressed; without a seat, that of whose turn it is."""

    type: Literal["press"]
    button: ButtonName
    seat: SeatNumber | None = None


class AnswerQuestion(_Model):
    """The question with this topic is answered; *choice* counts from 0."""

    type: Literal["answer"]
    topic: Annotated[str, StringConstraints(max_length=400)]
    choice: Annotated[int, Field(ge=0, le=100)]


class AmendAction(_Model):
    """An action was another: its tile, its seat, its points, or the place of its tile; at least one of them.

    `pips` are those of the tile as it lies, the half first that touches the tile before.
    """

    type: Literal["amend"]
    seq: SeqNumber
    pips: Pips | None = None
    seat: SeatNumber | None = None
    points: Points | None = None
    at: At | None = None


class RemoveAction(_Model):
    """An action did not happen; those after it did."""

    type: Literal["remove"]
    seq: SeqNumber


class LetStand(_Model):
    """The table lets an action stand, whatever the rules say."""

    type: Literal["stands"]
    seq: SeqNumber


class InsertAction(_Model):
    """Nobody saw that something happened before the action *before*; None for just now.

    A play needs `pips`; `at` is only needed where its tile fits more than one end.
    """

    type: Literal["insert"]
    before: SeqNumber | None = None
    kind: Literal["play", "knock", "draw"] = "play"
    seat: SeatNumber
    pips: Pips | None = None
    at: At | None = None
    tiles: Annotated[int, Field(ge=1, le=50)] = 1


class TakeBack(_Model):
    """What an earlier action has changed is as it was: this is the `back` of what that action was answered with.

    With `answer` it is the answer to a question, which is asked again.
    """

    type: Literal["take_back"]
    log: SeqNumber
    answer: bool = False


class GivePoints(_Model):
    """The table gives or takes points by hand."""

    type: Literal["points"]
    seat: SeatNumber
    points: Points
    why: Words = ""


class SayLead(_Model):
    """It is said who leads."""

    type: Literal["lead"]
    seat: SeatNumber


class SayLeft(_Model):
    """The pips that are left in a hand at its end."""

    type: Literal["left"]
    seat: SeatNumber
    pips: Annotated[int, Field(ge=0, le=_MOST)]


Action = Annotated[
    PressButton
    | AnswerQuestion
    | AmendAction
    | RemoveAction
    | LetStand
    | InsertAction
    | GivePoints
    | SayLead
    | SayLeft
    | TakeBack,
    Field(discriminator="type"),
]


class Asked(_Model):
    """An action, and the version of the snapshot that whoever asks for it has seen."""

    action: Action
    if_version: Annotated[int, Field(ge=0)] | None = None


class Login(_Model):
    """The PIN of the table, and who types it."""

    pin: Annotated[str, StringConstraints(max_length=20)]
    name: Annotated[str, StringConstraints(max_length=200)] = ""
