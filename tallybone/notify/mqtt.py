"""MQTT messages and events for snapshots, Home Assistant discovery, and a bounded outbox. Pure.

Events with points include the new total, so that a receiver knows the score even if it misses or repeats an event.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import TypeAlias

from tallybone.finding import Finding, Grade
from tallybone.plain_text import plain
from tallybone.store.table_file import EventKind, TableIdentity
from tallybone.web.live.actions import ButtonName
from tallybone.web.live.shapes import PlayShown, Snapshot
from tallybone.web.live.snapshot import LOBBY

Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"
"""Any JSON value."""


@dataclass(frozen=True, slots=True)
class TableEvent:
    """An event, and the fields of its message."""

    kind: EventKind
    payload: Mapping[str, Json]


def events_between(before: Snapshot | None, after: Snapshot, *, is_same_match: bool) -> tuple[TableEvent, ...]:
    """Return the events between two snapshots, in order.

    Args:
        before: Earlier snapshot. None if there is none. In that case, earlier plays are not reported.
        after: Later snapshot.
        is_same_match: Whether both snapshots are from the same match.
    """
    known = before if before is not None and is_same_match and before.match.phase != LOBBY else None
    if after.match.phase == LOBBY:
        was_played = before is not None and before.match.phase != LOBBY and not before.match.over
        return (TableEvent(EventKind.MATCH_LEFT, {}),) if was_played else ()
    if known is None:
        players: list[Json] = [player.name for player in after.players]
        payload: dict[str, Json] = {"game": after.match.game, "target": after.match.target, "players": players}
        return (TableEvent(EventKind.MATCH_BEGAN, payload), *_asked(None, after))
    return tuple(chain.from_iterable(find(known, after) for find in (_hands, _plays, _points, _ended, _asked)))


def play_values(play: PlayShown, shown: Snapshot) -> dict[str, Json]:
    """Return the message fields of a play. Its `seq` identifies the play in the match, even after corrections."""
    return {
        "seq": play.seq,
        "kind": play.kind,
        "seat": play.seat,
        "name": _name(shown, play.seat),
        "pips": None if play.pips is None else list(play.pips),
        "points": play.points,
        "sum": play.sum,
        "text": str(play.text),
        "irregular": None if play.irregular is None else str(play.irregular),
        "inferred": play.inferred,
    }


def _hands(before: Snapshot, after: Snapshot) -> Iterator[TableEvent]:
    hand = after.match.hand
    if hand is not None and hand > (before.match.hand or 0):
        yield TableEvent(EventKind.HAND_BEGAN, {"hand": hand})


def _plays(before: Snapshot, after: Snapshot) -> Iterator[TableEvent]:
    """Yield events for new, corrected and removed plays of the current hand."""
    # Plays of an earlier hand are not compared.
    old = {play.seq: play for play in before.plays} if before.match.hand == after.match.hand else {}
    is_earlier = (after.match.hand or 0) < (before.match.hand or 0)
    new = {play.seq: play for play in after.plays}
    for seq, play in new.items():
        payload: dict[str, Json] = {"hand": after.match.hand, "play": play_values(play, after)}
        if seq not in old and not is_earlier:
            yield TableEvent(EventKind.PLAY, payload)
        elif seq in old and _without_names(old[seq]) != _without_names(play):
            yield TableEvent(EventKind.PLAY_CHANGED, payload)
    for seq in old.keys() - new.keys():
        yield TableEvent(EventKind.PLAY_REMOVED, {"hand": after.match.hand, "play": {"seq": seq}})


def _without_names(play: PlayShown) -> PlayShown:
    """Return a play without its texts, which also change when a player is renamed."""
    return replace(play, text="", what="", irregular=None if play.irregular is None else "")


def _points(before: Snapshot, after: Snapshot) -> Iterator[TableEvent]:
    """Yield events for new totals. Players who changed places are found by name, renamed ones by seat."""
    by_seat = {player.seat: player.total for player in before.players}
    by_name = {player.name: player.total for player in before.players}
    for player in after.players:
        is_unique = len(by_name) == len(by_seat) and player.name in by_name
        points = player.total - (by_name[player.name] if is_unique else by_seat.get(player.seat, 0))
        if points:
            payload: dict[str, Json] = {
                "seat": player.seat,
                "name": player.name,
                "points": points,
                "total": player.total,
                "provisional": after.match.provisional,
            }
            yield TableEvent(EventKind.POINTS, payload)


def _ended(before: Snapshot, after: Snapshot) -> Iterator[TableEvent]:
    winner, earlier = after.match.winner, before.match.winner
    is_same = winner == earlier or _name(after, winner) == _name(before, earlier)  # renamed, or changed places
    if after.match.over and not (before.match.over and is_same):
        totals: list[Json] = [player.total for player in after.players]
        payload: dict[str, Json] = {"seat": winner, "name": _name(after, winner), "totals": totals}
        yield TableEvent(EventKind.MATCH_OVER, {**payload, "provisional": after.match.provisional})


def _asked(before: Snapshot | None, after: Snapshot) -> Iterator[TableEvent]:
    old = None if before is None or before.question is None else before.question.topic
    new = after.question
    if old is not None and (new is None or new.topic != old):
        yield TableEvent(EventKind.ANSWERED, {"topic": old})
    if new is not None and new.topic != old:
        choices: list[Json] = [str(choice) for choice in new.choices]
        yield TableEvent(EventKind.QUESTION, {"topic": new.topic, "text": str(new.text), "choices": choices})


def _name(shown: Snapshot, seat: int | None) -> str | None:
    return next((player.name for player in shown.players if player.seat == seat), None)


VERSION = 1
"""Version of the topics, contained in each."""
FIELDS_VERSION = 2
"""Version of the fields, contained in every message as `v`."""
ONLINE = b"online"
OFFLINE = b"offline"
_BAD_FIRST = (Grade.PROBLEM, Grade.WARNING)

MIN_SEATS = 2
PRESSES: Mapping[ButtonName, str] = {"undo": "Undo", "next": "Next hand", "table": "Put it right"}
"""Buttons of the table that a client of the broker may press, with their names in Home Assistant."""
_ICONS: Mapping[ButtonName, str] = {"undo": "mdi:undo", "next": "mdi:cards", "table": "mdi:check"}

MAX_EVENTS = 500
"""Maximum number of events queued without a connection.

The oldest are dropped, which leaves gaps in the event numbers.
"""


@dataclass(frozen=True, slots=True)
class Message:
    """An MQTT message. The broker sends retained messages to later subscribers too."""

    topic: str
    payload: bytes
    is_retained: bool


@dataclass(frozen=True, slots=True)
class Topics:
    """The topics of a table."""

    prefix: str
    table: str

    def of(self, what: str) -> str:
        """Return the topic for scores, state, health, events, availability or press.

        >>> Topics("tallybone", "table-3").of("scores")
        'tallybone/v1/table-3/scores'
        """
        return f"{self.prefix}/v{VERSION}/{self.table}/{what}"


@dataclass(frozen=True, slots=True)
class PageLink:
    """Access of a broker's clients to the page of a table.

    Attributes:
        url: Returns the current address of the page, or None if other machines cannot reach it.
        press: Presses a button of the table like a signed-in player. None if clients may not.
    """

    url: Callable[[], str | None] = lambda: None
    press: Callable[[ButtonName], None] | None = None


def pressed_in(payload: object) -> ButtonName | None:
    """Return the button named by a message, or None if there is no such button.

    >>> pressed_in(b"undo"), pressed_in(b"redeal")
    ('undo', None)
    """
    return next((button for button in PRESSES if button.encode() == payload), None)


def scores_said(place: TableIdentity, match: str | None, shown: Snapshot) -> dict[str, Json]:
    """Return the message fields of the score."""
    players: list[Json] = [
        {"seat": player.seat, "name": player.name, "team": player.team, "total": player.total}
        for player in shown.players
    ]
    return {
        **_head(place),
        "match": match,
        "game": shown.match.game,
        "target": shown.match.target,
        "playing": shown.match.phase != LOBBY,
        "over": shown.match.over,
        "winner": shown.match.winner,
        "provisional": shown.match.provisional,
        "players": players,
    }


def state_said(place: TableIdentity, match: str | None, shown: Snapshot) -> dict[str, Json]:
    """Return the message fields for the progress of a match, such as turn, last play and open question."""
    problems: list[Json] = [str(text) for text in shown.problems]
    return {
        **_head(place),
        "match": match,
        "phase": shown.match.phase,
        "hand": shown.match.hand,
        "turn": next((player.seat for player in shown.players if player.turn), None),
        "waits_for": str(shown.waits_for),
        "question": None if shown.question is None else str(shown.question.text),
        "last": None if shown.last is None else play_values(shown.last, shown),
        "count": shown.match.count,
        "boneyard": shown.match.boneyard,
        "problems": problems,
    }


def health_said(place: TableIdentity, findings: Iterable[Finding]) -> dict[str, Json]:
    """Return the message fields for the health of the table."""
    found = tuple(findings)
    grades = {finding.grade for finding in found}
    listed: list[Json] = [
        {
            "part": finding.part,
            "grade": finding.grade.value,
            "text": plain(finding.text),
            "remedy": plain(finding.remedy),
        }
        for finding in found
    ]
    worst = next((grade for grade in _BAD_FIRST if grade in grades), Grade.OK)
    return {**_head(place), "grade": worst.value, "findings": listed}


def as_payload(payload: Mapping[str, Json]) -> bytes:
    """Encode message fields as ASCII JSON."""
    return json.dumps(payload, allow_nan=False, separators=(",", ":")).encode("ascii")


def _head(place: TableIdentity) -> dict[str, Json]:
    return {"v": FIELDS_VERSION, "table": place.table, "name": place.name, "tournament": place.tournament}


def birth_topic(discovery: str) -> str:
    """Return the topic on which Home Assistant announces a restart."""
    return f"{discovery}/status"


def discovery_message(
    discovery: str, topics: Topics, place: TableIdentity, link: PageLink, *, seats: int, version: str
) -> Message:
    """Return the discovery message that creates a device for a table in Home Assistant.

    There is no update entity, because Tallybone does not look for newer versions.

    Args:
        discovery: Prefix of Home Assistant's topics.
        topics: Topics of the table.
        place: Names of the table.
        link: Address of the page, and whether there are buttons.
        seats: Number of seats with sensors. Sensors of free seats have no value.
        version: Version of this program.
    """
    device, url = f"tallybone_{place.table}", link.url()
    described: dict[str, Json] = {
        "identifiers": [device],
        "name": place.name,
        "manufacturer": "Tallybone",
        "model": "Domino table",
        "sw_version": version,
    }
    components = {**_sensors(topics, seats), "event": _event(topics)}
    if url is not None:
        described["configuration_url"] = url
        components["last_play"] = _picture(topics, url)
    if link.press is not None:
        components |= {f"press_{button}": _button(topics, button) for button in PRESSES}
    named: dict[str, Json] = {key: {"unique_id": f"{device}_{key}", **payload} for key, payload in components.items()}
    payload: dict[str, Json] = {
        "device": described,
        "origin": {"name": "Tallybone", "sw_version": version},
        "components": named,
        "availability_topic": topics.of("availability"),
        "payload_available": ONLINE.decode(),
        "payload_not_available": OFFLINE.decode(),
        "qos": 1,
    }
    return Message(f"{discovery}/device/{device}/config", as_payload(payload), is_retained=True)


def _sensors(topics: Topics, seats: int) -> dict[str, dict[str, Json]]:
    made: dict[str, dict[str, Json]] = {}

    def add(key: str, platform: str, name: str, what: str, template: str, **more: Json) -> None:
        topic = topics.of(what)
        made[key] = {"platform": platform, "name": name, "state_topic": topic, "value_template": template, **more}

    for seat in range(seats):
        add(f"score_{seat}", "sensor", f"Score {seat + 1}", "scores", _of_seat(seat, "total"), icon="mdi:counter")
        add(f"player_{seat}", "sensor", f"Player {seat + 1}", "scores", _of_seat(seat, "name"), icon="mdi:account")
    add("game", "sensor", "Game", "scores", "{{ value_json.game or none }}", icon="mdi:cards-playing")
    add("waits_for", "sensor", "Waits for", "state", "{{ value_json.waits_for[:255] }}", icon="mdi:account-clock")
    add("playing", "binary_sensor", "Playing", "scores", _on_off("value_json.playing"), device_class="running")
    is_bad, technical = _on_off("value_json.grade == 'problem'"), "diagnostic"
    add("problem", "binary_sensor", "Problem", "health", is_bad, device_class="problem", entity_category=technical)
    grades: list[Json] = [grade.value for grade in Grade]
    grade = "{{ value_json.grade }}"
    add("health", "sensor", "Health", "health", grade, device_class="enum", options=grades, entity_category=technical)
    return made


def _event(topics: Topics) -> dict[str, Json]:
    """Return an entity with all events. Home Assistant requires the kind as `event_type`."""
    return {
        "platform": "event",
        "name": "Event",
        "state_topic": topics.of("events"),
        "value_template": "{{ dict(value_json, event_type=value_json.event) | to_json }}",
        "event_types": [kind.value for kind in EventKind],
        "icon": "mdi:cards-playing",
    }


def _picture(topics: Topics, url: str) -> dict[str, Json]:
    """Return an image of the last tile played, or else of the table, which Home Assistant loads from the page."""
    shown = "('evidence/%s' % value_json.last.seq) if value_json.last and value_json.last.pips else 'picture'"
    template = f"{url}/api/v1/{{{{ {shown} }}}}.jpg"
    return {"platform": "image", "name": "Last play", "url_topic": topics.of("state"), "url_template": template}


def _button(topics: Topics, button: ButtonName) -> dict[str, Json]:
    return {
        "platform": "button",
        "name": PRESSES[button],
        "command_topic": topics.of("press"),
        "payload_press": button,
        "icon": _ICONS[button],
    }


def _of_seat(seat: int, what: str) -> str:
    """Return a template for a field of a player. Home Assistant shows none as unknown."""
    return f"{{{{ value_json.players[{seat}].{what} if value_json.players | length > {seat} else none }}}}"


def _on_off(condition: str) -> str:
    return f"{{{{ 'ON' if {condition} else 'OFF' }}}}"


class Outbox:
    """Queue of messages. The latest message of each retained topic is sent first, then events in order."""

    def __init__(self, max_events: int = MAX_EVENTS) -> None:
        """Create an empty queue for at most *max_events* events."""
        self._newest: dict[str, Message] = {}
        self._due: dict[str, None] = {}
        self._events: deque[Message] = deque(maxlen=max_events)
        self.lost = 0
        """Number of events that were dropped unsent."""

    def put(self, message: Message) -> None:
        """Queue a message.

        A retained one that is unchanged is ignored. A changed one replaces the last of its topic.
        """
        if not message.is_retained:
            self.lost += len(self._events) == self._events.maxlen
            self._events.append(message)
        elif self._newest.get(message.topic) != message:
            self._newest[message.topic] = message
            self._due[message.topic] = None

    def all_again(self) -> None:
        """Queue all retained messages again, because a restarted broker may have lost them."""
        self._due = dict.fromkeys(self._newest)

    def next(self) -> Message | None:
        """Return the next message without removing it, or None if the queue is empty."""
        for topic in self._due:
            return self._newest[topic]
        return self._events[0] if self._events else None

    def went(self, message: Message) -> None:
        """Remove a message that was sent, unless it has been replaced or dropped."""
        if message.is_retained:
            if self._newest.get(message.topic) is message:  # Otherwise a newer one is queued.
                self._due.pop(message.topic, None)
        elif self._events and self._events[0] is message:  # Otherwise it was dropped meanwhile.
            self._events.popleft()


@dataclass(frozen=True, slots=True)
class ToTell:
    """News of a table.

    Attributes:
        states: Changed states by name: "scores", "state" or "health". Receivers keep only the latest of each.
        events: Events in order.
    """

    states: Mapping[str, Mapping[str, Json]]
    events: tuple[TableEvent, ...] = ()


class Teller:
    """Derives news from snapshots and findings by comparing each with the one reported before."""

    def __init__(self, place: TableIdentity, run: str) -> None:
        """Report on the table *place*. *run* is unique for this run of the program."""
        self._place, self._run = place, run
        self._before: Snapshot | None = None
        self._number: int | None = None
        self._match: str | None = None
        self._seq = 0
        self._reported: dict[str, Mapping[str, Json]] = {}

    def follow(self, shown: Snapshot, number: int, at: str) -> ToTell:
        """Return the news in a snapshot. *at* is the current time with time zone, in ISO 8601 format."""
        is_lobby = shown.match.phase == LOBBY
        is_same = is_lobby or number == self._number
        if not is_lobby:
            self._number, self._match = number, f"{self._run}-{number}"
        events = events_between(self._before, shown, is_same_match=is_same)
        self._before = shown
        states = {
            "scores": scores_said(self._place, self._match, shown),
            "state": state_said(self._place, self._match, shown),
        }
        return ToTell(self._fresh(states, at), tuple(self._numbered(event, at) for event in events))

    def health(self, findings: Iterable[Finding], at: str) -> ToTell:
        """Return the health of the table as news, without any if it has not changed."""
        return ToTell(self._fresh({"health": health_said(self._place, findings)}, at))

    def _fresh(self, states: Mapping[str, dict[str, Json]], at: str) -> dict[str, Mapping[str, Json]]:
        """Return the states that differ from the last report, with the time of the change."""
        fresh: dict[str, Mapping[str, Json]] = {}
        for name, state in states.items():
            if self._reported.get(name) != state:
                self._reported[name] = state
                fresh[name] = {**state, "at": at}
        return fresh

    def _numbered(self, event: TableEvent, at: str) -> TableEvent:
        """Return an event with its number, run, time, table and match added."""
        self._seq += 1
        head: dict[str, Json] = {
            **_head(self._place),
            "run": self._run,
            "seq": self._seq,
            "at": at,
            "match": self._match,
            "event": event.kind.value,
        }
        return TableEvent(event.kind, {**head, **event.payload})
