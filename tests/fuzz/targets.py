"""Parsers of untrusted bytes, each as a function that returns or raises a documented exception.

Anything else is a bug: another exception, a hang, or growing memory. `fuzzing.py` searches for such inputs.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from functools import cache
from io import BytesIO
from pathlib import Path
from random import Random
from typing import Any

from pydantic import ValidationError
from starlette.types import ASGIApp

from engine import BLOCK, EngineError, Lead, NewHand, Play, Seat, Tile
from engine.record.play import play_record
from engine.record.text import parse_record
from hardware.knock.drivers.wav import read_wav
from hardware.knock.sensor import KnockError
from hardware.part import ConfigError
from tallybone.hub.hall import Hall, tournaments_seen
from tallybone.hub.heard import scores_of
from tallybone.hub.standings import Results, standings
from tallybone.json_values import JsonValueError, from_json
from tallybone.maintain.backup import BackupError, members
from tallybone.notify.broker import BrokerConnection
from tallybone.recording import reader
from tallybone.recording.container import ChannelMessage
from tallybone.recording.format import ImageMessage, RecordingError, Topic
from tallybone.recording.index import records_on
from tallybone.recording.resume import evidence_of, left_in
from tallybone.recording.survey import survey
from tallybone.session.feeding import feed
from tallybone.session.session import Session
from tallybone.session.sitting import opened
from tallybone.store.calibration_file import Calibration, CalibrationFileError, load_calibration
from tallybone.store.table_file import Broker, load_table
from tallybone.web.access.access import Access
from tallybone.web.live.actions import Asked, Refused
from tallybone.web.live.app import make_app
from tallybone.web.live.feed import LiveFeed, PagePictures
from tallybone.web.live.page import inputs_for
from tallybone.web.live.plays import Story
from vision import VisionError
from vision.image.picture import decode_picture

PIN = "123456"
_NOW = datetime(2026, 5, 1, tzinfo=UTC)
_MAX_ITEMS = 2000  # sounds and records per input; more find no further bugs


def mcap(data: bytes) -> None:
    """Read a recording to its end, its indexed records, and the state of its match."""
    path = _file(data, "fuzz.mcap")
    try:
        for index, _ in enumerate(records_on(path, (Topic.EVENT, Topic.OUTCOME))):
            if index > _MAX_ITEMS:
                return
        survey(path)
        recording = reader.read_recording(path)
        for index, _ in enumerate(recording):
            if index > _MAX_ITEMS:
                return
        left_in(recording)
    except (RecordingError, VisionError):
        pass


def game_record(data: bytes) -> None:
    """Play a game record, both strictly and leniently."""
    try:
        record = parse_record(data.decode("utf-8", "replace"))
    except EngineError:
        return
    for strict in (False, True):
        with suppress(EngineError):
            play_record(record, strict=strict)


def table_toml(data: bytes) -> None:
    """Parse a configuration."""
    with suppress(ConfigError):
        load_table(_file(data, "fuzz.toml"))


def calibration(data: bytes) -> None:
    """Parse a calibration."""
    with suppress(CalibrationFileError):
        load_calibration(_file(data, "fuzz.json"))
    # Bypass the checksum, which almost no mutation would pass.
    with suppress(ValueError, RecursionError):
        from_json(json.loads(data), Calibration, "calibration")


def picture(data: bytes) -> None:
    """Decode an image."""
    with suppress(VisionError):
        decode_picture(data, "fuzz")


def wav(data: bytes) -> None:
    """Read a WAV file."""
    try:
        for index, _ in enumerate(read_wav(_file(data, "fuzz.wav"))):
            if index > _MAX_ITEMS:
                return
    except KnockError:
        pass


def backup(data: bytes) -> None:
    """Read a backup to its end."""
    try:
        for _, pieces in members(BytesIO(data)):
            for _ in pieces:
                pass
    except BackupError:
        pass


def message(data: bytes) -> None:
    """Parse a record of a recording. The first byte selects the topic."""
    if not data:
        return
    topic = tuple(Topic)[data[0] % len(Topic)]
    try:
        recorded = reader.record_in(ChannelMessage(topic.path, 0, 0, data[1:]))
    except (ValueError, RecursionError):
        return
    if recorded is None or isinstance(recorded.payload, ImageMessage):
        return
    for parse in (reader.input_of, reader.event_of_record, reader.aim_of_record, reader.places_of_record, evidence_of):
        with suppress(JsonValueError):
            parse(recorded)


def action(data: bytes) -> None:
    """Parse a request of the page, and interpret it in a match with some plays."""
    try:
        request = Asked.model_validate_json(data)
    except ValidationError:
        return
    state = _match().state
    interpreted = inputs_for(request.action, _match(), Story().after(state), ())
    assert isinstance(interpreted, tuple | Refused)


def http(data: bytes) -> None:
    """Send a request to the page. The first line has path and content type, the rest is the body."""
    line, _, body = data.partition(b"\n")
    path, _, kind = line.partition(b" ")
    status = asyncio.run(_post(path.decode("latin-1"), kind, body))
    assert 200 <= status < 500, status


def websocket(data: bytes) -> None:
    """Open a live connection and send frames, separated by zero bytes. Text frames start with a letter."""
    asyncio.run(_send_frames(data.split(b"\0")))


def mqtt(data: bytes) -> None:
    """Receive MQTT messages separated by zero bytes, each a topic, a newline and a payload, and follow the page."""
    hall = Hall(BrokerConnection(Broker(host="127.0.0.1", port=1), Random(0)), "tallybone", Results(None), lambda: _NOW)
    followed: dict[str, Any] = {}
    for item in data.split(b"\0"):
        topic, _, payload = item.partition(b"\n")
        before = hall.version
        hall.hear(topic.decode("utf-8", "replace"), payload)
        hall.publish()
        update = json.loads(hall.body(before))
        followed = {} if update["whole"] else followed
        for removed in update["gone"]:
            followed.pop(removed, None)
        followed |= {table["id"]: table for table in update["tables"]}
    assert followed == {table["id"]: table for table in json.loads(hall.body())["tables"]}


def results(data: bytes) -> None:
    """Load a file of results, add a result, and load it again."""
    path = _file(data, "results.jsonl")
    before = Results(path)
    before.take("t-1", scores_of({"match": "m", "over": True, "winner": 0, "players": [{"name": "A", "total": 1}]}, ""))
    after = Results(path)
    assert {result.key: result for result in after} == {result.key: result for result in before}
    assert json.dumps([asdict(result) for result in tournaments_seen(standings(after))])


TARGETS: dict[str, Callable[[bytes], None]] = {
    "mcap": mcap,
    "game_record": game_record,
    "table_toml": table_toml,
    "calibration": calibration,
    "picture": picture,
    "wav": wav,
    "backup": backup,
    "message": message,
    "action": action,
    "http": http,
    "websocket": websocket,
    "mqtt": mqtt,
    "results": results,
}

_FOLDER = tempfile.TemporaryDirectory(prefix="fuzz")


def _file(data: bytes, name: str) -> Path:
    path = Path(_FOLDER.name) / name
    path.write_bytes(data)
    return path


@cache
def _match() -> Session:
    """Return a match of Block after a lead and a play."""
    session, _ = opened(BLOCK, ("Ann", "Ben"))
    for event in (NewHand(), Lead(Seat(0)), Play(Seat(0), Tile(6, 6))):
        session, _ = feed(session, event)
    return session


@cache
def _page() -> ASGIApp:
    return make_app(LiveFeed(lambda: 0), Access(PIN, b"k" * 32, lambda: 0), PagePictures(lambda: 0))


async def _post(path: str, kind: bytes, body: bytes) -> int:
    scope: dict[str, Any] = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST", "path": f"/api/v1/{path}",
        "raw_path": b"/", "query_string": b"", "scheme": "http", "client": ("127.0.0.1", 9), "root_path": "",
        "server": ("table", 80), "headers": [(b"host", b"localhost"), (b"content-type", kind or b"application/json")],
    }  # fmt: skip
    statuses: list[int] = []
    waiting: list[Any] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Any:
        return waiting.pop(0) if waiting else {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    await _page()(scope, receive, send)
    return statuses[0]


async def _send_frames(frames: list[bytes]) -> None:
    scope: dict[str, Any] = {
        "type": "websocket", "asgi": {"version": "3.0"}, "http_version": "1.1", "path": "/api/v1/live", "scheme": "ws",
        "raw_path": b"/", "query_string": b"", "client": ("127.0.0.1", 9), "root_path": "", "server": ("table", 80),
        "headers": [(b"host", b"localhost")], "subprotocols": [],
    }  # fmt: skip
    waiting: list[Any] = [{"type": "websocket.connect"}]
    for frame in frames:
        is_text = frame[:1].isalpha()
        waiting.append(
            {"type": "websocket.receive", "text": frame.decode("utf-8", "replace")}
            if is_text
            else {"type": "websocket.receive", "bytes": frame}
        )

    async def receive() -> Any:
        return waiting.pop(0) if waiting else {"type": "websocket.disconnect", "code": 1000}

    async def send(message: Any) -> None:
        assert message["type"] in ("websocket.accept", "websocket.send", "websocket.close")

    await _page()(scope, receive, send)
