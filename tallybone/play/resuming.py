"""A sitting that goes on where another was left, and which recording that is."""

from __future__ import annotations

from pathlib import Path

from engine import MatchStart, Phase, Rules, State, profile, replay, with_options
from tallybone.recording.errors import RecordingError
from tallybone.recording.folder import SUFFIX, age_key
from tallybone.recording.format import SessionStart
from tallybone.recording.reader import SessionFile, read_session
from tallybone.recording.resume import Left, left_in
from tallybone.recording.survey import is_running
from tallybone.session.session import Session
from vision.perception import Perception, Start
from vision.picture import decode_picture
from vision.reader import Reader


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
