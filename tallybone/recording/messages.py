"""Write the inputs and results of a sitting as records of a recording, and read them back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from engine import Event
from tallybone.json_values import from_json, to_json
from tallybone.recording.format import Topic
from tallybone.recording.reader import RecordedMessage
from tallybone.recording.writer import RecordingWriter
from tallybone.session.inputs import Answer, AnswerBack, KnockHeard, Press
from tallybone.session.places import Places
from tallybone.session.sitting import ByHand, Step
from vision.reader.custom_set import RecordedSet
from vision.reading import SeenTile
from vision.tracking.camera_motion import STRAIGHT_ON, Alignment, AlignmentNumbers

CORRECTION: Final = Answer | AnswerBack | Event | RecordedSet
"""Type of a record on `Topic.CORRECTION`."""
_INPUTS: Mapping[Topic, object] = {Topic.BUTTON: Press, Topic.KNOCK: KnockHeard, Topic.CORRECTION: CORRECTION}
_BY = "by"
TILES: Final = tuple[SeenTile, ...]
"""Type of `tiles` in a record on `Topic.TABLE`."""


def write_input(writer: RecordingWriter, item: ByHand, t_ns: int, *, by: str = "") -> None:
    """Write a press, knock, answer, correction or tile set, before it is fed to the sitting.

    Args:
        writer: The recording.
        item: The input.
        t_ns: Time of the input, in nanoseconds of a monotonic clock.
        by: Name of its author at the page, for information only. "" if unknown.

    Raises:
        RecordingError: If the input cannot be written.
    """
    topic = Topic.BUTTON if isinstance(item, Press) else Topic.CORRECTION
    if isinstance(item, KnockHeard):
        topic = Topic.KNOCK
    writer.write(topic, t_ns, to_json(item, _INPUTS[topic]) | ({_BY: by} if by else {}))


def input_of(record: RecordedMessage) -> ByHand | None:
    """Return the press, knock, answer, correction or tile set in a record, or None for a record on another topic.

    Raises:
        JsonValueError: If the record cannot be parsed, for example because a later version wrote it.
    """
    kind = _INPUTS.get(record.topic)
    fact = {name: value for name, value in record.fact.items() if name != _BY}
    item: ByHand | None = None if kind is None else from_json(fact, kind, record.topic.path)
    return item


def event_of_record(record: RecordedMessage) -> Event:
    """Return the event in a record on `Topic.EVENT`.

    Raises:
        JsonValueError: If it cannot be parsed.
    """
    event: Event = from_json(record.fact, Event, record.topic.path)
    return event


def write_step(writer: RecordingWriter, step: Step, *, picture: int | None = None) -> None:
    """Write the results of an input. Events are synced to the disk before this returns, so no shown result is lost.

    Args:
        writer: The recording.
        step: The results.
        picture: Record number of the last settled picture, or None.

    Raises:
        RecordingError: If the results cannot be written.
    """
    for event in step.events:
        writer.write(Topic.EVENT, step.t_ns, to_json(event, Event))
    for line in step.lines:
        writer.write(Topic.OUTCOME, step.t_ns, line)
    if (step.view is not None and step.view.changes) or step.events:
        write_table(writer, step, picture=picture)


def write_table(writer: RecordingWriter, step: Step, *, picture: int | None = None) -> None:
    """Write the tracked layout. After a frame, include the tiles of its view, *picture* and the camera alignment.

    Raises:
        RecordingError: If it cannot be written.
    """
    view = step.view
    seen = {} if view is None else {"picture": picture, "tiles": to_json(view.tiles, TILES)} | aim_line(view.aim)
    writer.write(Topic.TABLE, step.t_ns, seen | {"places": to_json(step.session.places, Places)})


def aim_line(aim: Alignment) -> dict[str, Any]:
    """Return the fields of a `Topic.TABLE` record for the camera alignment. Empty if the camera has not moved."""
    return {} if aim.is_straight else {"aim": list(aim.numbers)}


def aim_of_record(record: RecordedMessage) -> Alignment:
    """Return the camera alignment in a record on `Topic.TABLE`. Without one, the camera has not moved.

    Raises:
        JsonValueError: If it cannot be parsed.
    """
    aim = record.fact.get("aim")
    if aim is None:
        return STRAIGHT_ON
    numbers: AlignmentNumbers = from_json(aim, AlignmentNumbers, record.topic.path)
    return Alignment(numbers)


def places_of_record(record: RecordedMessage) -> Places:
    """Return the tracked layout in a record on `Topic.TABLE`.

    Raises:
        JsonValueError: If it cannot be parsed.
    """
    places: Places = from_json(record.fact.get("places"), Places, record.topic.path)
    return places
