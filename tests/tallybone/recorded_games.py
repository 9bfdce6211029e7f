"""Recordings of whole games with a perfect reader, complete except for realistic pictures."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from engine import BONES, Rules, changed_options
from tallybone.play.recorder import FileRecorder, RecordingQuota
from tallybone.recording.format import Pictures, SittingStart
from tallybone.recording.writer import RecordingWriter
from tallybone.session.session import Session
from tallybone.session.sitting import Sitting, opened
from tallybone.sources.source import RecordedInput
from tests.tallybone.truth_eye import PLAYERS
from tests.tallybone.web.true_table import items_of, look_at
from vision.tracking.watch import Frame

BEGAN = datetime(2026, 11, 21, 18, 30, 5, tzinfo=UTC)


def start_of(rules: Rules = BONES, players: tuple[str, ...] = PLAYERS, began: datetime = BEGAN) -> SittingStart:
    """Return the metadata of a live game."""
    options = tuple(changed_options(rules).items())
    return SittingStart(started_at=began, players=players, rules=rules.name, options=options, pictures=Pictures.MOVING)


def record_game(
    path: Path,
    seed: int = 1,
    *,
    hands: int = 1,
    rules: Rules = BONES,
    players: tuple[str, ...] = PLAYERS,
    began: datetime = BEGAN,
    is_closed: bool = True,
) -> Session:
    """Record a game and return the final session. An unclosed recording is like after a power cut."""
    items, seen = items_of(seed, hands, rules, players)
    writer = RecordingWriter(path, start_of(rules, players, began))
    recorder = FileRecorder(path, writer, RecordingQuota(path.parent, 10**12), lambda _: None, settled=None)
    sitting = Sitting(partial(look_at, seen), opened(rules, players)[0])
    for item in items:
        if isinstance(item, RecordedInput):
            loaded = item.load()
            recorder.input(loaded, item.t_ns)
            recorder.happened(sitting.feed(loaded, item.t_ns))
        else:
            recorder.frame(item.t_ns, item.jpeg(), None)
            recorder.happened(sitting.feed(Frame(item.load(), item.t_ns), item.t_ns))
    if is_closed:
        recorder.close()
    return sitting.session
