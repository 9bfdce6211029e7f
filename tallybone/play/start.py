"""Start a live game: choose rules, camera, zones and recording; or resume where another was left."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import numpy as np

from engine import EngineError, MatchStart, Phase, Rules, State, changed_options, profile, replay, with_options
from hardware.camera.open_device import is_device
from hardware.clock import Clock
from tallybone.choices import TileSet
from tallybone.play.counts import Counts, MeasuredSitting
from tallybone.play.recorder import FileRecorder, LastingRecorder, Recorder, RecordingQuota
from tallybone.recording.folder import SUFFIX, age_key, next_number
from tallybone.recording.format import Damage, Pictures, RecordingError, SittingStart
from tallybone.recording.reader import RecordingFile, read_recording
from tallybone.recording.resume import Left, left_in, write_left
from tallybone.recording.survey import is_running
from tallybone.recording.writer import RecordingWriter
from tallybone.session.session import Announcement, Session
from tallybone.session.sitting import Sitting, opened
from tallybone.sources.camera import SIMULATED, Camera, open_filmed
from tallybone.sources.device import open_plugged_in
from tallybone.sources.source import GameOverrides, match_of
from vision.image.picture import decode_picture
from vision.reader.reader import Reader
from vision.tracking.perception import Perception, Start

_NO_START = "what it says of its sitting is damaged"
_MOST_NAME = 60
_NOT_IN_NAMES = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class MatchPlan:
    """A match to play.

    Attributes:
        start: Its description for a recording.
        rules: The rules, with all that was agreed otherwise.
        left: How it was left, if it goes on.
    """

    start: SittingStart
    rules: Rules
    left: Left | None = None

    @property
    def max_pips(self) -> int:
        """The set that lies on the table: that of the game, unless somebody said another."""
        return TileSet.named(self.start.tile_set).max_pips or self.rules.max_pips


def open_camera(source: str, game: MatchPlan, clock: Clock, *, speed: float = 1.0) -> tuple[Camera, MatchPlan]:
    """Return the camera over the table, and the game with all that is known of that table.

    Args:
        source: `pi:0`, `usb:0`, `/dev/video0`, `simulated`, or the path of a video, a recording or a folder.
        game: The match; a simulated table is one for it.
        clock: Monotonic; live pictures are stamped with it.
        speed: Pace of a film.

    Raises:
        OSError: If there is no such camera.
        VisionError: If there is no picture in it.
    """
    if source.partition(":")[0] == SIMULATED:
        # A table without it does not load what renders.
        from tallybone.sources.simulated import open_simulated, simulation_of

        simulation = simulation_of(source, game.rules, game.start.players)
        start = replace(game.start, zones=simulation.room.zones)
        return open_simulated(simulation, clock, speed=speed), replace(game, start=start)
    if is_device(source):
        return open_plugged_in(source, clock), game
    return open_filmed(Path(source), clock, speed=speed), game


def new_game(
    name: str,
    options: tuple[str, ...],
    players: tuple[str, ...],
    *,
    tile_set: TileSet,
    in_play: bool,
    began: datetime,
    software: str,
) -> MatchPlan:
    """Return a match that begins.

    Raises:
        EngineError: If nothing can be played so.
    """
    match = match_of(GameOverrides(name, options, players), None)
    if match is None:
        raise EngineError(f"{name} is no game to keep the score of: try `tallybone replay --rules {name}`")
    start = SittingStart(
        started_at=began,
        players=match.players,
        rules=match.rules.name,
        options=tuple(changed_options(match.rules).items()),
        tile_set=(TileSet.to(match.rules.max_pips) if tile_set is TileSet.AUTO else tile_set).value,
        software=software,
        pictures=Pictures.MOVING,
        in_play=in_play,
    )
    return MatchPlan(start, match.rules)


def game_that_goes_on(recording: Path | None, folder: Path, *, began: datetime, software: str) -> MatchPlan:
    """Return the match of a recording, or of the newest in a folder whose match is not over.

    Raises:
        RecordingError: If there is none, or it does not say enough.
        EngineError: If this version has no such game.
    """
    path, left = newest_left(folder) if recording is None else (recording, left_in(read_recording(recording)))
    start = replace(left.start, started_at=began, software=software, pictures=Pictures.MOVING, continues=path.name)
    return MatchPlan(start, rules_of(start), left)


def sitting_of(
    game: MatchPlan, reader: Reader, *, t_ns: int, counts: Counts | None = None
) -> tuple[Sitting, tuple[Announcement, ...]]:
    """Return the sitting that follows a game and adds to *counts*, and the first announcements.

    Raises:
        EngineError: If it cannot be played so.
        PictureError: If a picture that it needs to go on is damaged.
    """
    _wake(reader)
    if game.left is None:
        session, said = opened(game.rules, game.start.players, game.start.zones)
    else:
        session, said = session_of(game.left, t_ns=t_ns), ()
    perception = perception_of(game.left or Left(game.start), reader)
    return MeasuredSitting(perception, session, counts or Counts()), said


def _wake(reader: Reader) -> None:
    """Let the eye look once at nothing, for tiles and at a tile: what it does first takes twice as long."""
    nothing = np.full((720, 1280, 3), 90, np.uint8)
    reader.read(nothing)
    reader.read_again(nothing, np.array([[640.0, 360.0, 40.0, 0.0, 0.0, 20.0]]))


def recorder_of(
    game: MatchPlan, room: RecordingQuota | None, complain: Callable[[str], None], *, t_ns: int
) -> Recorder:
    """Return the recorder of a game in the folder of *room*, which starts as soon as it can; None records nothing."""
    if room is None:
        return Recorder()

    def begin(left: Left | None, continues: str | None, at_ns: int) -> FileRecorder:
        room.folder.mkdir(parents=True, exist_ok=True)
        path = _new_path(room.folder, game.start)
        start = replace(game.start, continues=continues, number=next_number(room.folder))
        writer = RecordingWriter(path, start)
        try:
            settled = None if left is None else write_left(writer, left, at_ns)
        except BaseException:
            writer.abandon()
            raise
        return FileRecorder(path, writer, room, complain, settled=settled)

    left = Left(game.start) if game.left is None else replace(game.left, start=game.start)
    recorder = LastingRecorder(begin, room.folder, left, complain, goes_on=game.left is not None)
    recorder.open(t_ns)
    return recorder


def _new_path(folder: Path, start: SittingStart) -> Path:
    """Return a path with the time and the players in its name, at which there is no file yet."""
    who = "-".join(_NOT_IN_NAMES.sub("", name.lower()) for name in start.players)[:_MOST_NAME].strip("-")
    stem = "-".join(filter(None, (f"{start.started_at:%Y-%m-%dT%H-%M-%S}", who)))
    paths = [folder / f"{stem}{SUFFIX}", *(folder / f"{stem}-{number}{SUFFIX}" for number in range(2, 1000))]
    return next((path for path in paths if not path.exists()), paths[-1])


def rules_of(start: SittingStart) -> Rules:
    """Return the rules of a sitting.

    Raises:
        EngineError: If this version has no such game.
    """
    return with_options(profile(start.rules), dict(start.options))


def state_of(left: Left, match: MatchStart | None = None) -> State:
    """Return the match as it was left, or as it would be if it had begun with *match*.

    Raises:
        EngineError: If this version has no such game.
    """
    return replay((match or MatchStart(rules_of(left.start), left.start.players), *left.events))


def session_of(left: Left, match: MatchStart | None = None, *, t_ns: int) -> Session:
    """Return the session of a sitting that goes on at *t_ns*.

    Raises:
        EngineError: If this version has no such game.
    """
    return Session.resumed(state_of(left, match), left.places, t_ns=t_ns, zones=left.start.zones)


def perception_of(left: Left, reader: Reader) -> Perception:
    """Return the perception of a sitting that begins or goes on; then it sees all that changed meanwhile as changes.

    A live game and a replay of its recording both go on here, from the same values, and so the same way.

    Raises:
        PictureError: If a picture that it needs is damaged.
    """
    if left.last is None:
        return Perception(reader, Start.IN_PLAY if left.start.in_play else Start.EMPTY)
    empty = None if left.empty is None else decode_picture(left.empty, "the picture of the empty table")
    last = decode_picture(left.last, "the last picture of the table")
    return Perception.resumed(reader, empty=empty, last=last, tiles=left.tiles, aim=left.aim)


def newest_left(folder: Path, *, most: int | None = None) -> tuple[Path, Left]:
    """Return the newest sitting in a folder whose match is not over, and how it was left.

    A recording that another one goes on with is done, and one that is still being written is somebody else's. Each that
    is looked at is read to its end: *most* says how many, None for as many as it takes. What was written later but
    cannot be read is named in `Left.passed_over`.

    Raises:
        RecordingError: If there is none.
        OSError: If the folder cannot be read.
    """
    recordings: list[RecordingFile] = []
    unread: dict[Path, str] = {}
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        try:
            recordings += _idle(path)
        except OSError as error:
            unread[path] = str(error)
    unread |= {one.path: f"{one.path}: {_NO_START}" for one in recordings if one.start is None}
    done: set[str | None] = set()
    for recording in sorted(recordings, key=lambda one: age_key(one.path, one.start), reverse=True)[:most]:
        if recording.path.name not in done:
            try:
                left = left_in(recording)
            except RecordingError as error:
                # Cut before it held anything, it holds nothing that the one before it lacks.
                if any(isinstance(one, Damage) and not one.is_cut for one in recording):
                    unread[recording.path] = str(error)
                continue
            game = state_of(left).game if left.start.players else None
            if game is not None and game.phase is not Phase.MATCH_OVER:
                left_s = recording.path.stat().st_mtime
                later = (why for path, why in unread.items() if path.exists() and path.stat().st_mtime >= left_s)
                return recording.path, replace(left, passed_over=tuple(later))
        if recording.start is not None:
            done.add(recording.start.continues)
    raise RecordingError(f"{folder}: there is no recording of a match that is not over")


def _idle(path: Path) -> list[RecordingFile]:
    """Return a recording that nobody is writing; nothing for one that somebody is."""
    with path.open("rb") as file:
        return [] if is_running(file) else [read_recording(path)]
