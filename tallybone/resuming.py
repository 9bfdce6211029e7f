"""A sitting that goes on where another was left, and which recording that is."""

from __future__ import annotations

from pathlib import Path

from engine import MatchStart, Phase, Rules, State, profile, replay, with_options
from tallybone.recording.errors import RecordingError
from tallybone.recording.left import Left, left_in
from tallybone.recording.reader import SessionFile, read_session
from tallybone.recording.shelf import SUFFIX
from tallybone.recording.start import SessionStart
from tallybone.recording.survey import is_running
from tallybone.session import Session
from tallybone.sitting import Sitting
from vision.perception import Perception, Start
from vision.picture import decode_picture
from vision.reader import Reader
from vision.watch import Watch


def rules_of(start: SessionStart) -> Rules:
    """Return what is played in a sitting.

    Raises:
        EngineError: If this version has no such game.
    """
    return with_options(profile(start.rules), dict(start.options))


def state_of(left: Left) -> State:
    """Return the match as it was left.

    Raises:
        EngineError: If this version has no such game.
    """
    return replay((MatchStart(rules_of(left.start), left.start.players), *left.events))


def resumed(left: Left, reader: Reader, *, t_ns: int) -> Sitting:
    """Return the sitting that goes on; what has changed on the table meanwhile is seen as changes.

    A live game and a replay of its recording both go on here, from the same values, and so the same way.

    Args:
        left: How it was left.
        reader: What reads tiles.
        t_ns: When it goes on.

    Raises:
        EngineError: If this version has no such game.
        PictureError: If a picture that it needs is damaged.
    """
    session = Session.resumed(state_of(left), left.places, t_ns=t_ns, zones=left.start.zones)
    return Sitting(Watch(_perception(left, reader)).feed, session)


def newest_left(folder: Path) -> tuple[Path, Left]:
    """Return the newest sitting in a folder whose match is not over, and how it was left.

    A recording that another one goes on with is done, and one that is still being written is somebody else's.

    Raises:
        RecordingError: If there is none.
        OSError: If the folder cannot be read.
    """
    sessions = [one for path in sorted(folder.glob(f"*{SUFFIX}")) if (one := _idle(path)) is not None]
    done: set[str] = set()
    for session in sorted(sessions, key=_began, reverse=True):
        if session.path.name in done:
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


def _began(session: SessionFile) -> tuple[float, str]:
    return (0.0 if session.start is None else session.start.started_at.timestamp(), session.path.name)


def _perception(left: Left, reader: Reader) -> Perception:
    if left.last is None:
        return Perception(reader, Start.IN_PLAY if left.start.in_play else Start.EMPTY)
    empty = None if left.empty is None else decode_picture(left.empty, "the picture of the empty table")
    last = decode_picture(left.last, "the last picture of the table")
    return Perception.resumed(reader, empty=empty, last=last, tiles=left.tiles)
