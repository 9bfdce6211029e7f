"""Seeds for fuzzing: small valid inputs of every kind, created by the project itself."""

from __future__ import annotations

import json
import tempfile
import wave
from io import BytesIO
from pathlib import Path

import cv2
import numpy as np

from calibration.table.zones import TableZones, ZoneSource
from docs.drawings.wiring import EXAMPLE
from tallybone.json_values import to_json
from tallybone.maintain.backup import ArchivedFile, write_archive
from tallybone.recording.format import Topic
from tallybone.recording.reader import RecordedMessage, read_recording
from tallybone.store.calibration_file import Calibration, LightKept, format_calibration
from tests.fuzz.targets import PIN
from tests.tallybone.hub.messages import scores, state, topic
from tests.tallybone.recorded_game import record_game
from tests.tallybone.recording.sittings import write
from tests.tallybone.store.test_calibration_file import LENS, TABLE

_RECORD = """[DGR "1"] [Rules "bones"] [Options "target=150"] [Seats "A:Brian B:Tom"]
#1 deal=7,7 yard=14 lead=A ; a comment
A: 1-1  B: 1-6@W  A: 6-3@W =5  B: 1-5@E  A: 5-5@E  B: 1-2@N =15
A: d<2-0> 2-0@N (t=3.1)  B: u 3-2@W k  A: H<4-4 6-6>  B: +20
#end B+20
"""
_ACTIONS = (
    {"type": "press", "button": "undo"},
    {"type": "amend", "seq": 3, "pips": [6, 5]},
    {"type": "points", "seat": 0, "points": 5},
    {"type": "insert", "seq": 3, "seat": 1, "pips": [6, 1], "at": {"node": 0, "port": "E"}},
    {"type": "take_back", "log": 2},
)


def seeds() -> dict[str, list[bytes]]:
    """Return seed inputs for each target."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        recording = write(folder / "a.mcap").read_bytes()
        record_game(folder / "game.mcap")
        messages = _messages(folder / "game.mcap")
        (folder / "owner.json").write_text("{}")
        archive = BytesIO()
        entries = (ArchivedFile("state/owner.json", folder / "owner.json"),)
        write_archive(entries, archive, made_at="2026-11-21", software="", tick=lambda *_: None)
    square = ((0.0, 0.0), (100.0, 0.0), (100.0, 50.0), (0.0, 50.0))
    zones = TableZones(ZoneSource.GIVEN, seats=(square,), boneyard=square)
    light = LightKept((90.0, 91.0, 92.0), (20.0, 40.0), is_held=True, warnings=("dark",))
    stored = Calibration(lens=LENS, table=TABLE, zones=zones, light=light)
    return {
        "mcap": [recording, recording[: len(recording) // 2]],
        "message": messages,
        "game_record": [_RECORD.encode()],
        "table_toml": [EXAMPLE.read_bytes()],
        "calibration": [format_calibration(stored).encode(), json.dumps(to_json(stored, Calibration)).encode()],
        "picture": [_encoded(kind) for kind in (".jpg", ".png", ".webp", ".bmp", ".tiff")],
        "wav": [_wav()],
        "backup": [archive.getvalue()],
        "action": [json.dumps({"action": action, "if_version": 3}).encode() for action in _ACTIONS],
        "http": [b"login application/json\n" + json.dumps({"pin": PIN, "name": "Zoe"}).encode(), b"logout \n{}"],
        "mqtt": _mqtt_messages(),
        "results": [
            b"\n".join(scores(150, 5, table="t-1", over=True, winner=0, match=f"run-{index}") for index in range(3))
        ],
        "websocket": [b"ping\0hello\0\x01\x02"],
    }


def _messages(path: Path) -> list[bytes]:
    """Return the first and the longest record on each topic of a recording, for `targets.message`."""
    found: dict[Topic, list[bytes]] = {}
    for record in read_recording(path):
        if isinstance(record, RecordedMessage) and record.topic is not Topic.CAMERA:
            data = bytes([tuple(Topic).index(record.topic)]) + json.dumps(record.payload).encode()
            found.setdefault(record.topic, []).append(data)
    return [data for all_data in found.values() for data in (all_data[0], max(all_data, key=len))]


def _mqtt_messages() -> list[bytes]:
    """Return messages of some tables, for `targets.mqtt`."""
    payloads = (
        ("availability", b"online"),
        ("scores", scores(15, 5, tournament="May")),
        ("state", state(last={"text": "Ann knocks"}, question="Which?")),
        ("scores", scores(150, 5, tournament="May", over=True, winner=0)),
        ("availability", b"offline"),
        ("scores", b""),
    )
    messages = [f"{topic('t-1', kind)}\n".encode() + payload for kind, payload in payloads]
    return [*messages, b"\0".join((*messages, f"{topic('t-2', 'scores')}\n".encode() + scores()))]


def _encoded(kind: str) -> bytes:
    image = np.random.default_rng(1).integers(0, 255, (16, 24, 3), dtype=np.uint8)
    return bytes(cv2.imencode(kind, image)[1])


def _wav() -> bytes:
    file = BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(16_000)
        sound.writeframes(bytes(800))
    return file.getvalue()
