"""Find how a sitting was left, from its recording, and write that at the head of the recording that goes on with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from engine import Event, MatchStart
from tallybone.json_values import JsonValueError, from_json, to_json
from tallybone.recording.evidence import Crops, Evidence, evidence_of, write_evidence
from tallybone.recording.format import Damage, ImageMessage, RecordingError, SittingStart, Topic
from tallybone.recording.messages import TILES, aim_line, aim_of_record, event_of_record, places_of_record
from tallybone.recording.reader import RecordedMessage, RecordingFile
from tallybone.recording.writer import RecordingWriter
from tallybone.session.referee import Places
from vision.reading import SeenTile
from vision.tracking.camera_motion.alignment import STRAIGHT_ON, Alignment

# In the last record of the head: the sitting goes on after it.
_HEAD_ENDS = "continued"


@dataclass(frozen=True, slots=True)
class Left:
    """How a sitting was left.

    Attributes:
        start: The facts at its beginning.
        events: The log of the match, after the start of it.
        places: The referee's memory of the table.
        tiles: The tiles on it.
        empty: The picture of the empty table as a JPEG; None where it was not seen yet, or the game was in play.
        last: The picture in which the tiles lie so; None where nothing was settled yet.
        aim: Where the camera pointed then.
        damage: Losses in the recording, but not that it ends early.
        t_ns: When its last record was made; of a head, when it went on.
        passed_over: Why recordings that were written later were not taken, in words.
        evidence: Crops of the pictures from which plays and questions were read.
    """

    start: SittingStart
    events: tuple[Event, ...] = ()
    places: Places = field(default_factory=Places)
    tiles: tuple[SeenTile, ...] = ()
    empty: bytes | None = None
    last: bytes | None = None
    damage: tuple[Damage, ...] = ()
    t_ns: int = 0
    aim: Alignment = STRAIGHT_ON
    passed_over: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()


def left_in(recording: RecordingFile) -> Left:
    """Return how the sitting of a recording was left; it may have been cut anywhere.

    Raises:
        RecordingError: If that cannot be found in it.
    """
    if recording.start is None:
        raise RecordingError(f"{recording.path}: it cannot be gone on with: what it says of its sitting is damaged")
    found = _gathered(recording.start, recording, recording.path)
    if recording.start.continues is not None and not found.has_head:
        raise RecordingError(f"{recording.path}: it cannot be gone on with: it ends before its sitting went on")
    return _with_pictures(found, recording)


def left_in_head(start: SittingStart, records: Iterator[RecordedMessage | Damage], path: Path) -> Left:
    """Return where a recording goes on, taking only its head from *records*: its inputs follow after that.

    Raises:
        RecordingError: If its head is damaged.
    """
    head = list(_head(records, path))
    return _with_pictures(_gathered(start, head, path), head)


def write_left(writer: RecordingWriter, left: Left, t_ns: int) -> int | None:
    """Write how a sitting was left as the head of a recording; all of it is on the disk when this returns.

    Returns:
        The number of the picture in which the tiles lie so; None where there is none.

    Raises:
        RecordingError: If it cannot be written.
    """
    if left.empty is not None:
        number = writer.records
        writer.frame(t_ns, left.empty, name="empty")
        writer.write(Topic.TABLE, t_ns, {"picture": number, "tiles": [], "places": {}}, is_waited_for=False)
    last = None if left.last is None else writer.records
    if left.last is not None:
        writer.frame(t_ns, left.last, name="last")
    seen = {} if last is None else {"picture": last, "tiles": to_json(left.tiles, TILES)} | aim_line(left.aim)
    for one in left.evidence:
        write_evidence(writer, one)
    for event in left.events:
        writer.write(Topic.EVENT, t_ns, to_json(event, Event), is_waited_for=False)
    writer.write(Topic.TABLE, t_ns, seen | {"places": to_json(left.places, Places), _HEAD_ENDS: True})
    return last


@dataclass(slots=True)
class _Gathered:
    """The state of a sitting as the records so far have it.

    The results of an input end with a record of the table, and are shown after that. Events without one were cut
    off before anybody saw them: they are left out, and their input is fed again. *shown* counts the other events.
    """

    start: SittingStart
    events: list[Event] = field(default_factory=list)
    shown: int = 0
    damage: list[Damage] = field(default_factory=list)
    places: Places = field(default_factory=Places)
    tiles: tuple[SeenTile, ...] = ()
    aim: Alignment = STRAIGHT_ON
    empty: int | None = None
    last: int | None = None
    has_head: bool = False
    t_ns: int = 0
    crops: Crops = field(default_factory=Crops)

    def add(self, one: RecordedMessage) -> None:
        """Take one more record.

        Raises:
            JsonValueError: If it cannot be understood.
        """
        self.t_ns = one.t_ns
        if one.topic is Topic.EVENT:
            event = event_of_record(one)
            if not isinstance(event, MatchStart):  # the metadata say how it began
                self.events.append(event)
        elif one.topic is Topic.EVIDENCE:
            if (crop := evidence_of(one)) is not None:
                self.crops.add(crop)
        elif one.topic is Topic.TABLE:
            self.places, self.shown = places_of_record(one), len(self.events)
            picture = one.fact.get("picture")
            if isinstance(picture, int):
                self.tiles = from_json(one.fact.get("tiles"), TILES, one.topic.path)
                self.aim = aim_of_record(one)
                if self.last is None and not self.start.in_play:
                    self.empty = picture
                self.last = picture
            self.has_head = self.has_head or _ends_head(one)


def _gathered(start: SittingStart, records: Iterable[RecordedMessage | Damage], path: Path) -> _Gathered:
    found = _Gathered(start)
    for one in records:
        if isinstance(one, Damage):
            if not one.is_cut:  # that is what power cuts do
                found.damage.append(one)
            continue
        try:
            found.add(one)
        except JsonValueError as error:
            raise RecordingError(f"{path}: record {one.number} cannot be understood: {error}") from error
    return found


def _with_pictures(found: _Gathered, records: Iterable[RecordedMessage | Damage]) -> Left:
    """Return the state with its pictures, from a second pass: a sitting has too many pictures to keep."""
    wanted = {found.empty, found.last} - {None}
    pictures: dict[int, bytes] = {}
    for one in records if wanted else ():
        if isinstance(one, RecordedMessage) and one.number in wanted and isinstance(one.payload, ImageMessage):
            pictures[one.number] = one.payload.jpeg
            if len(pictures) == len(wanted):
                break
    empty, last = (None if at is None else pictures.get(at) for at in (found.empty, found.last))
    events = tuple(found.events[: found.shown])
    damage = tuple(found.damage)
    evidence = tuple(found.crops)
    return Left(
        found.start, events, found.places, found.tiles, empty, last, damage, found.t_ns, found.aim, evidence=evidence
    )


def _head(records: Iterator[RecordedMessage | Damage], path: Path) -> Iterator[RecordedMessage]:
    for one in records:
        if isinstance(one, Damage):
            raise RecordingError(f"{path}: it cannot be told how its sitting was left: {one}")
        yield one
        if _ends_head(one):
            return
    raise RecordingError(f"{path}: it ends before its sitting went on")


def _ends_head(one: RecordedMessage) -> bool:
    return one.topic is Topic.TABLE and one.fact.get(_HEAD_ENDS) is True
