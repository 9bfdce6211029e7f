"""Start a live game: choose rules, camera, zones and recording; or resume where another was left."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import numpy as np

from calibration.errors import RefusedError
from engine import EngineError, MatchStart, Phase, Rules, State, changed_options, profile, replay, with_options
from hardware.camera.open_device import is_device
from tallybone.choices import TileSet
from tallybone.play.calibrated import Used, stored_for, use_of, words_of_unused
from tallybone.play.counts import Counts, MeasuredSitting
from tallybone.play.recorder import FileRecorder, LastingRecorder, NoRecorder, Recorder, Room
from tallybone.recording.folder import SUFFIX, age_key, next_number
from tallybone.recording.format import Pictures, RecordingError, SessionStart
from tallybone.recording.own_tiles import as_recorded, recorded_set
from tallybone.recording.reader import SessionFile, read_session
from tallybone.recording.resume import Left, left_in, say_left
from tallybone.recording.survey import is_running
from tallybone.recording.writer import SessionWriter
from tallybone.session.session import Said, Session
from tallybone.session.sitting import Sitting, opened
from tallybone.sources.camera import SIMULATED, Camera, Clock, open_filmed
from tallybone.sources.device import DeviceCamera, open_plugged_in
from tallybone.sources.shots import Shot
from tallybone.sources.source import GameWish, match_of, source_at
from vision.perception import Perception, Start
from vision.picture import decode_picture
from vision.reader import Reader

_MOST_NAME = 60
_OWN_TILES = "Tiles are read as they were shown in the calibration."
_NOT_IN_NAMES = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Game:
    """What is played.

    Attributes:
        start: What a recording says of it.
        rules: The rules, with all that was agreed otherwise.
        left: How it was left, if it goes on.
    """

    start: SessionStart
    rules: Rules
    left: Left | None = None

    @property
    def max_pips(self) -> int:
        """The set that lies on the table: that of the game, unless somebody said another."""
        return TileSet.named(self.start.tile_set).max_pips or self.rules.max_pips


def open_camera(source: str, game: Game, clock: Clock, *, speed: float = 1.0) -> tuple[Camera, Game]:
    """Return what looks at the table, and the game with what is known of that table.

    Args:
        source: `pi:0`, `usb:0`, `/dev/video0`, `simulated`, or the path of a video, a recording or a folder.
        game: What is played; a simulated table is one for it.
        clock: Monotonic; live pictures are stamped with it.
        speed: Pace of what was filmed before.

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


def with_calibration(
    game: Game, camera: Camera, source: str, file: Path | None, *, environment: Mapping[str, str], home: Path
) -> tuple[Game, Used]:
    """Return the game with the zones of a calibration, and all that is used of it.

    Args:
        game: What is played. One that goes on keeps the zones that it has.
        camera: What looks at the table.
        source: What it is called, as `open_camera` takes it.
        file: The calibration that somebody names; otherwise that of a camera that is plugged in, if it is stored.
        environment: Says where state is kept.
        home: The user's folder.

    Raises:
        EngineError: If a calibration is named for a match that goes on.
        CalibrationError: If it is named and damaged.
        OSError: If it is named and cannot be read.
        VisionError: If what was filmed has no picture.
    """
    if game.left is not None:
        if file is not None:
            raise EngineError("a match that goes on keeps its zones: leave --calibration away")
        return game, Used(None, ())
    path = stored_for(source, file, environment, home)
    if path is None:
        return game, Used(None, words_of_unused(source, environment, home))
    used = use_of(path, len(game.start.players), _size_px(camera, source), is_said=file is not None)
    if used.zones is None:
        return game, used
    return replace(game, start=replace(game.start, zones=used.zones)), used


def with_own_tiles(game: Game, used: Used, reader: Reader) -> tuple[Game, Reader, tuple[str, ...]]:
    """Return the game with what a calibration has learned of its tiles, what reads them, and what to tell the players.

    A match that goes on reads its tiles as it began, whatever was learned since.
    """
    words: list[str] = []
    own, kept = game.start.own_set, used.calibration.set
    if game.left is None and kept is not None:
        try:
            own = recorded_set(kept, reader)
        except RefusedError as error:
            words.append(f"What was learned of the tiles is not used: {error}.")
    if own is not None:
        reader = as_recorded(reader, own, words.append)
        words += () if words else (_OWN_TILES,)
    return replace(game, start=replace(game.start, own_set=own)), reader, tuple(words)


def _size_px(camera: Camera, source: str) -> tuple[int, int] | None:
    """Return width and height of a camera's pictures; None where nobody knows them yet."""
    if isinstance(camera, DeviceCamera):
        return camera.size_px
    if source.partition(":")[0] == SIMULATED:
        return None
    shot = next((one for one in source_at(Path(source)).items if isinstance(one, Shot)), None)
    if shot is None:
        return None
    height_px, width_px = shot.load().shape[:2]
    return width_px, height_px


def new_game(
    name: str,
    options: tuple[str, ...],
    players: tuple[str, ...],
    *,
    tile_set: TileSet,
    in_play: bool,
    began: datetime,
    software: str,
) -> Game:
    """Return a match that begins.

    Raises:
        EngineError: If nothing can be played so.
    """
    match = match_of(GameWish(name, options, players), None)
    if match is None:
        raise EngineError(f"{name} is no game to keep the score of: try `tallybone replay --rules {name}`")
    start = SessionStart(
        started_at=began,
        players=match.players,
        rules=name,
        options=tuple(changed_options(match.rules).items()),
        tile_set=(TileSet.to(match.rules.max_pips) if tile_set is TileSet.AUTO else tile_set).value,
        software=software,
        pictures=Pictures.MOVING,
        in_play=in_play,
    )
    return Game(start, match.rules)


def game_that_goes_on(recording: Path | None, folder: Path, *, began: datetime, software: str) -> Game:
    """Return the match of a recording, or of the newest in a folder whose match is not over.

    Raises:
        RecordingError: If there is none, or it does not say enough.
        EngineError: If this version has no such game.
    """
    path, left = newest_left(folder) if recording is None else (recording, left_in(read_session(recording)))
    start = replace(left.start, started_at=began, software=software, pictures=Pictures.MOVING, continues=path.name)
    rules = with_options(profile(start.rules), dict(start.options))
    return Game(start, rules, left)


def sitting_of(
    game: Game, reader: Reader, *, t_ns: int, counts: Counts | None = None
) -> tuple[Sitting, tuple[Said, ...]]:
    """Return what follows a game and adds to *counts*, and what to tell the players at once.

    Raises:
        EngineError: If it cannot be played so.
        PictureError: If a picture that it needs to go on is damaged.
    """
    _wake(reader)
    counts = counts or Counts()
    if game.left is not None:
        session = session_of(game.left, t_ns=t_ns)
        return MeasuredSitting(perception_of(game.left, reader), session, counts), ()
    start = Start.IN_PLAY if game.start.in_play else Start.EMPTY
    session, said = opened(game.rules, game.start.players, game.start.zones)
    return MeasuredSitting(Perception(reader, start), session, counts), said


def _wake(reader: Reader) -> None:
    """Let the eye look once at nothing, for tiles and at a tile: what it does first takes twice as long."""
    nothing = np.full((720, 1280, 3), 90, np.uint8)
    reader.read(nothing)
    reader.read_again(nothing, np.array([[640.0, 360.0, 40.0, 0.0, 0.0, 20.0]]))


def recorder_of(game: Game, room: Room | None, complain: Callable[[str], None], *, t_ns: int) -> Recorder:
    """Return what keeps a game in the folder of *room*, or will as soon as it can; None keeps nothing."""
    if room is None:
        return NoRecorder()

    def begin(left: Left | None, continues: str | None, at_ns: int) -> FileRecorder:
        room.folder.mkdir(parents=True, exist_ok=True)
        path = _new_path(room.folder, game.start)
        start = replace(game.start, continues=continues, number=next_number(room.folder))
        writer = SessionWriter(path, start)
        try:
            settled = None if left is None else say_left(writer, left, at_ns)
        except BaseException:
            writer.abandon()
            raise
        return FileRecorder(path, writer, room, complain, settled=settled)

    left = Left(game.start) if game.left is None else replace(game.left, start=game.start)
    recorder = LastingRecorder(begin, room.folder, left, complain, goes_on=game.left is not None)
    recorder.open(t_ns)
    return recorder


def _new_path(folder: Path, start: SessionStart) -> Path:
    """Return a name that says when and who, and that no file has yet."""
    who = "-".join(_NOT_IN_NAMES.sub("", name.lower()) for name in start.players)[:_MOST_NAME].strip("-")
    stem = "-".join(filter(None, (f"{start.started_at:%Y-%m-%dT%H-%M-%S}", who)))
    paths = [folder / f"{stem}{SUFFIX}", *(folder / f"{stem}-{number}{SUFFIX}" for number in range(2, 1000))]
    return next((path for path in paths if not path.exists()), paths[-1])


def rules_of(start: SessionStart) -> Rules:
    """Return what is played in a sitting.

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
    """Return where a sitting stands that goes on at *t_ns*.

    Raises:
        EngineError: If this version has no such game.
    """
    return Session.resumed(state_of(left, match), left.places, t_ns=t_ns, zones=left.start.zones)


def perception_of(left: Left, reader: Reader) -> Perception:
    """Return what follows the table of a sitting that goes on; what has changed meanwhile is seen as changes.

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
    is looked at is read to its end: *most* says how many, None for as many as it takes.

    Raises:
        RecordingError: If there is none.
        OSError: If the folder cannot be read.
    """
    sessions = [one for path in sorted(folder.glob(f"*{SUFFIX}")) if (one := _idle(path)) is not None]
    done: set[str] = set()
    for session in sorted(sessions, key=lambda one: age_key(one.path, one.start), reverse=True)[:most]:
        if session.path.name in done:
            if session.start is not None and session.start.continues is not None:
                done.add(session.start.continues)
            continue
        try:
            left = left_in(session)
        except RecordingError:
            continue  # it was cut before it held anything; the one before it still does
        if left.start.continues is not None:
            done.add(left.start.continues)
        game = state_of(left).game if left.start.players else None
        if game is not None and game.phase is not Phase.MATCH_OVER:
            return session.path, left
    raise RecordingError(f"{folder}: there is no recording of a match that is not over")


def _idle(path: Path) -> SessionFile | None:
    """Return a recording that nobody is writing; None for all else."""
    try:
        with path.open("rb") as file:
            if is_running(file):
                return None
        return read_session(path)
    except OSError:
        return None
