"""What a recording can hold: the topics with their schemas, each named once."""

from __future__ import annotations

import json
from enum import Enum
from functools import cached_property

from mcap.records import Channel, Schema

from tallybone.recording.image_message import IMAGE_SCHEMA, IMAGE_SCHEMA_NAME


class Topic(Enum):
    """A channel of a recording: its name, what stands in it, and the fields that are known of it.

    Every topic but CAMERA holds JSON objects. What a reader does not know of them it leaves alone.
    """

    CAMERA = ("/camera", "A picture that perception consumed.", ())
    BUTTON = ("/button", "A button was pressed or let go.", ())
    KNOCK = ("/knock", "A knock on the table was heard.", ())
    CORRECTION = ("/correction", "Somebody put something right at the page.", ())
    EVENT = ("/event", "An event that was fed to the rules.", ())
    OUTCOME = ("/outcome", "What followed from it; `totals` are the points by seat.", (("totals", "integer"),))
    TRUTH = ("/truth", "What really happened, where it is known: simulated tables.", ())
    TABLE = ("/table", "What lay on the table after a look that changed something, or after an event.", ())

    def __init__(self, path: str, meaning: str, lists: tuple[tuple[str, str], ...]) -> None:
        """Take what stands above; *lists* are fields that hold lists, each with the type of what is in them."""
        self.path = path
        self.meaning = meaning
        self.lists = lists

    @property
    def is_synced(self) -> bool:
        """Whether a record is on the disk before the call returns.

        Pictures are many, and a sync of each would wear an SD card out; outcomes follow from the rest. The table is
        written last of what follows from one input: once it is there, all before it is too, and may be shown.
        """
        return self in (Topic.BUTTON, Topic.KNOCK, Topic.CORRECTION, Topic.EVENT, Topic.TABLE)

    @cached_property
    def number(self) -> int:
        """Id of its channel and of its schema in every recording, from 1."""
        return list(Topic).index(self) + 1

    @cached_property
    def schema(self) -> Schema:
        """The schema as it stands in the file."""
        if self is Topic.CAMERA:
            return Schema(id=self.number, name=IMAGE_SCHEMA_NAME, encoding="protobuf", data=IMAGE_SCHEMA)
        fields = {name: {"type": "array", "items": {"type": kind}} for name, kind in self.lists}
        name = f"tallybone.{self.name.title()}"
        described = {"title": name, "description": self.meaning, "type": "object", "properties": fields}
        return Schema(id=self.number, name=name, encoding="jsonschema", data=json.dumps(described).encode())

    @cached_property
    def channel(self) -> Channel:
        """The channel as it stands in the file."""
        encoding = "protobuf" if self is Topic.CAMERA else "json"
        return Channel(
            id=self.number, topic=self.path, message_encoding=encoding, metadata={}, schema_id=self.schema.id
        )


def topic_at(path: str) -> Topic | None:
    """Return the topic of a channel with this name, None if it is none of ours.

    >>> topic_at("/event")
    <Topic.EVENT: ('/event', 'An event that was fed to the rules.', ())>
    """
    return next((topic for topic in Topic if topic.path == path), None)
