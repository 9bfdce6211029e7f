"""What still has to reach the broker: of what is retained only the newest, of events the last; bounded, pure."""

from __future__ import annotations

from collections import deque

from tallybone.notify.mqtt import Message

MOST_EVENTS = 500
"""So many events wait while there is no broker; with more, the oldest go, and their numbers are missing."""


class Outbox:
    """Messages in the order in which they go: first how things stand, then what has happened."""

    def __init__(self, most_events: int = MOST_EVENTS) -> None:
        """Keep so many events at most."""
        self._newest: dict[str, Message] = {}
        self._due: dict[str, None] = {}
        self._events: deque[Message] = deque(maxlen=most_events)
        self.lost = 0
        """How many events have gone without having been told."""

    def put(self, message: Message) -> None:
        """Take a message that has to go."""
        if not message.is_retained:
            self.lost += len(self._events) == self._events.maxlen
            self._events.append(message)
        elif self._newest.get(message.topic) != message:
            self._newest[message.topic] = message
            self._due[message.topic] = None

    def all_again(self) -> None:
        """Tell everything that is retained once more: a broker that was begun anew may know nothing of it."""
        self._due = dict.fromkeys(self._newest)

    def next(self) -> Message | None:
        """Return what goes next; None for nothing."""
        for topic in self._due:
            return self._newest[topic]
        return self._events[0] if self._events else None

    def went(self, message: Message) -> None:
        """Take that the broker has a message."""
        if message.is_retained:
            if self._newest.get(message.topic) is message:  # otherwise a newer one has to go as well
                self._due.pop(message.topic, None)
        elif self._events and self._events[0] is message:  # otherwise it was pushed out meanwhile
            self._events.popleft()
