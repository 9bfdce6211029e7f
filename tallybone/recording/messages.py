"""Write the inputs of a sitting, and what followed from them, as records of a recording; read them back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from engine import Event
from tallybone.json_values import from_json, to_json
from tallybone.recording.format import Topic
from tallybone.recording.reader import RecordedMessage
from tallybone.recording.writer import RecordingWriter
from tallybone.session.inputs import Answer, AnswerBack, KnockHeard, Press
from tallybone.session.referee import Places
from tallybone.session.sitting import ByHand, Step
from vision.reading import SeenTile
from vision.tracking.camera_motion.alignment import STRAIGHT_ON, Alignment, AlignmentNumbers

CORRECTION: Final = Answer | AnswerBack | Event
"""The type of a record of `Topic.CORRECTION`."""
_INPUTS: Mapping[Topic, object] = {Topic.BUTTON: Press, Topic.KNOCK: KnockHeard, Topic.CORRECTION: CORRECTION}
_BY = "by"
TILES: Final = tuple[SeenTile, ...]
"""The type of `tiles` in a record of `Topic.TABLE`."""


def write_input(writer: RecordingWriter, said: ByHand, t_ns: int, *, by: str = "") -> None:
    """Write a press, a knock, an answer or a correction, before the sitting is fed with it.

    Args:
        writer: Where to.
        said: The input.
        t_ns: When.
        by: The name of its author at the page; nothing follows from it.

    Raises:
        RecordingError: If it cannot be written.
    """
    topic = Topic.BUTTON if isinstance(said, Press) else Topic.CORRECTION
    if isinstance(said, KnockHeard):
        topic = Topic.KNOCK
    writer.write(topic, t_ns, to_json(said, _INPUTS[topic]) | ({_BY: by} if by else {}))


def input_of(record: RecordedMessage) -> ByHand | None:
    """Return the press, knock, answer or correction of a record; None for records of other things.

    Raises:
        JsonValueError: If it is of a later version, or was not written by Tallybone.
    """
    kind = _INPUTS.get(record.topic)
    fact = {name: value for name, value in record.fact.items() if name != _BY}
    said: ByHand | None = None if kind is None else from_json(fact, kind, record.topic.path)
    return said


def event_of_record(record: RecordedMessage) -> Event:
    """Return the event of the rules that a record of `Topic.EVENT` holds.

    Raises:
        JsonValueError: If it holds none.
    """
    event: Event = from_json(record.fact, Event, record.topic.path)
    return event


def write_step(writer: RecordingWriter, happened: Step, *, picture: int | None = None) -> None:
    """Write the results of an input; events are on the disk when this returns, so that nothing shown can be lost.

    Args:
        writer: Where to.
        happened: The results.
        picture: The number of the picture's record, if a picture brought it about.

    Raises:
        RecordingError: If it cannot be written.
    """
    for event in happened.events:
        writer.write(Topic.EVENT, happened.t_ns, to_json(event, Event))
    for line in happened.lines:
        writer.write(Topic.OUTCOME, happened.t_ns, line)
    if (happened.view is not None and happened.view.changes) or happened.events:
        write_table(writer, happened, picture=picture)


def write_table(writer: RecordingWriter, happened: Step, *, picture: int | None = None) -> None:
    """Write the state of the table; after a frame with its tiles and the number of the picture that shows them.

    Raises:
        RecordingError: If it cannot be written.
    """
    view = happened.view
    seen = {} if view is None else {"picture": picture, "tiles": to_json(view.tiles, TILES)} | aim_line(view.aim)
    writer.write(Topic.TABLE, happened.t_ns, seen | {"places": to_json(happened.session.places, Places)})


def aim_line(aim: Alignment) -> dict[str, Any]:
    """Return the fields of a `Topic.TABLE` record about the camera: none while it points as at the start."""
    return {} if aim.is_straight else {"aim": list(aim.numbers)}


def aim_of_record(record: RecordedMessage) -> Alignment:
    """Return where the camera pointed, from a record of `Topic.TABLE`.

    Raises:
        JsonValueError: If that cannot be understood.
    """
    said = record.fact.get("aim")
    if said is None:
        return STRAIGHT_ON
    numbers: AlignmentNumbers = from_json(said, AlignmentNumbers, record.topic.path)
    return Alignment(numbers)


def places_of_record(record: RecordedMessage) -> Places:
    """Return where the tiles of the layout lay after a look, from a record of `Topic.TABLE`.

    Raises:
        JsonValueError: If it holds no places.
    """
    places: Places = from_json(record.fact.get("places"), Places, record.topic.path)
    return places
