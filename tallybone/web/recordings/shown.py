"""Keep recordings open, and convert them to the page's JSON types, and a hand to a self-contained HTML file."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from typing import Any, TypeAlias

import cv2
import numpy as np

from engine import ActionResult, Entry, Seat, Seq, State
from engine.rules.options import PROFILES
from tallybone.plain_text import MAX_NAME, names_of, plain
from tallybone.recording.folder import age_key, recording_files
from tallybone.recording.format import RecordingError, SittingStart
from tallybone.recording.reader import read_recording
from tallybone.recording.survey import Survey, is_running, survey
from tallybone.replay.recorded_game import MAX_NUMBER, RecordedGame
from tallybone.session.observations import Zones
from tallybone.session.places import Places
from tallybone.sources.source import NO_GAME
from tallybone.web.live.app import STATIC
from tallybone.web.live.plays import layout_shown, play_shown
from tallybone.web.live.shapes import LayoutShown, MatchShown, PlayerShown
from tallybone.web.live.snapshot import match_shown, player_shown
from vision.image.picture import PictureError, check_picture

MAX_TIMES = 5000
"""Maximum number of image times sent. For longer recordings, only every second, third, ... time is sent."""
_MAX_SEATS = 16
_NS_PER_MS = 1_000_000

MAX_BYTES = 2_000_000
"""Maximum size of a shared hand in bytes. Images are scaled down or omitted to stay below it."""
MAX_STEPS = 400
_MODULES = ("dom.js", "pips.js", "tile.js", "felt.js", "hand.js")
_STYLES = ("table.css", "hand.css")
_IMPORT = re.compile(r"^import [^;]*;\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=function|const|class)", re.MULTILINE)
# felt.js speaks English in a shared hand, because the file carries no catalogue of texts.
_SAY = "const say = (english, values = {}) => english.replace(/\\{(\\w+)\\}/g, (hole, name) => values[name] ?? hole);\n"
_WIDTHS_PX = (480, 320)
_QUALITY = 60


@dataclass(frozen=True, slots=True)
class RecordingShown:
    """A recording in the list. Damaged fields are null, *winner* is a seat, *damage* describes the damage."""

    name: str
    started_at: str | None
    game: str | None
    players: tuple[str, ...]
    totals: tuple[int, ...] | None
    winner: int | None
    length_ms: int
    frames: int
    size_bytes: int
    running: bool
    damage: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RecordingsShown:
    """Recordings, newest first; *others* are files named like recordings that are not recordings."""

    recordings: tuple[RecordingShown, ...]
    others: tuple[str, ...]
    size_bytes: int


@dataclass(frozen=True, slots=True)
class RecordedStepShown:
    """An event added to the log; *frame* is the number of the newest image at that time.

    *rule* is the rule under which its count scores. *evidence* is true if the image region it was read from was
    recorded.
    """

    t_ms: int
    hand: int
    kind: str
    seat: int | None
    pips: tuple[int, int] | None
    points: int
    sum: str | None
    text: str
    irregular: str | None
    totals: tuple[int, ...]
    frame: int | None
    rule: str | None = None
    evidence: bool = False


@dataclass(frozen=True, slots=True)
class FramesShown:
    """Number of images, and the time of every *every*-th image."""

    count: int
    every: int
    t_ms: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RecordedShown:
    """All steps of a recording; *complaints* lists parts that could not be replayed.

    *games* are the games by which it can be rescored.
    """

    name: str
    game: str | None
    target: int | None
    players: tuple[str, ...]
    hands: int
    length_ms: int
    frames: FramesShown
    steps: tuple[RecordedStepShown, ...]
    complaints: tuple[str, ...]
    running: bool
    games: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MomentShown:
    """The match and the layout after a step."""

    step: int
    match: MatchShown
    players: tuple[PlayerShown, ...]
    layout: LayoutShown


def list_recordings(surveys: Sequence[Survey], others: Sequence[str]) -> RecordingsShown:
    """Convert the list of recordings, keeping its order."""
    size_bytes = sum(one.size_bytes for one in surveys)
    return RecordingsShown(tuple(_listed(one) for one in surveys), tuple(plain(one) for one in others), size_bytes)


def _listed(one: Survey) -> RecordingShown:
    start, facts = one.start, one.facts
    players = names_of(tuple(str(name) for name in one.players[:_MAX_SEATS]))
    winner = facts.winner
    return RecordingShown(
        one.path.name,
        None if start is None else start.started_at.isoformat(),
        None if start is None else plain(str(start.rules), MAX_NAME),
        players,
        _sane(facts.totals),
        winner if winner is not None and 0 <= winner < len(players) else None,
        max(0, facts.length_ns // _NS_PER_MS),
        facts.frames,
        one.size_bytes,
        one.is_running,
        () if one.is_running else tuple(plain(str(damage)) for damage in facts.damage[:3]),
    )


def _sane(totals: tuple[int, ...] | None) -> tuple[int, ...] | None:
    """Return *totals*, or None if they are missing or, because of damage, impossible."""
    if totals is None or len(totals) > _MAX_SEATS or any(abs(one) > MAX_NUMBER for one in totals):
        return None
    return totals


def steps_shown(game: RecordedGame, *, is_running: bool) -> RecordedShown:
    """Convert all steps of a recording."""
    rules = None if game.match is None else game.match.rules
    names = () if game.state.game is None else names_of(game.state.game.players)
    times = game.frame_times_ns
    every = -(-len(times) // MAX_TIMES) or 1
    last_ns = max(game.found.last_ns, game.start_ns)
    return RecordedShown(
        game.path.name,
        None if rules is None else rules.name,
        None if rules is None else rules.target,
        names,
        max((step.hand for step in game.steps), default=0),
        (last_ns - game.start_ns) // _NS_PER_MS,
        FramesShown(len(times), every, tuple(_since_ms(game, t_ns) for t_ns in times[::every])),
        tuple(_step(game, number) for number in range(len(game.steps))),
        tuple(plain(text) for text in game.complaints),
        is_running,
        tuple(rules.name for rules in PROFILES if rules.name != NO_GAME),
    )


def _step(game: RecordedGame, number: int) -> RecordedStepShown:
    step = game.steps[number]
    result = ActionResult(Entry(Seq(step.log - 1), step.event), step.outcomes)  # type: ignore[arg-type]  # corrections, too
    shown = play_shown(result, None, None if game.match is None else game.match.rules, {}, names_of(step.players))
    return RecordedStepShown(
        _since_ms(game, step.t_ns),
        step.hand,
        shown.kind,
        shown.seat,
        shown.pips,
        shown.points,
        shown.sum,
        shown.text,
        shown.irregular,
        step.totals,
        game.frame_at(step.t_ns),
        shown.rule,
        step.log - 1 in game.crops,
    )


def _since_ms(game: RecordedGame, t_ns: int) -> int:
    return max(0, t_ns - game.start_ns) // _NS_PER_MS


def moment_shown(number: int, state: State, places: Places, zones: Zones, picture_px: tuple[int, int]) -> MomentShown:
    """Convert the match and layout after a step. A match must have begun."""
    match = state.game
    assert match is not None  # it begins before the first step
    seats = enumerate(names_of(match.players))
    players = tuple(player_shown(match, Seat(seat), name, zones) for seat, name in seats)
    shown = match_shown(match, is_provisional=state.is_provisional)
    return MomentShown(number, shown, players, layout_shown(match, places, zones, picture_px))


def shared_hand(
    title: str, steps: Sequence[RecordedStepShown], moments: Sequence[MomentShown], jpegs: Sequence[bytes | None]
) -> bytes:
    """Return a hand as a self-contained HTML file, in UTF-8.

    Images are scaled down, and omitted if the file would be too large.
    """
    result = [{"step": asdict(step), **_shown(moment)} for step, moment in zip(steps, moments, strict=True)]
    script, style = script_of_hand(), "\n".join(map(_static, _STYLES))
    room = MAX_BYTES - len(script) - len(style) - 2 * len(json.dumps(result)) - 10_000
    data = {"title": title, "steps": result, "pictures": _pictures(jpegs, room)}
    return _page(title, script, style, data).encode("utf-8")


def script_of_hand() -> str:
    """Return the script of a shared hand: the page modules that it needs, concatenated."""
    texts = [_EXPORT.sub("", _IMPORT.sub("", _static(name))) for name in _MODULES]
    return "\n".join(("'use strict';", _SAY, *texts))


def _static(name: str) -> str:
    return next(path for folder in STATIC if (path := folder / name).is_file()).read_text("utf-8")


def _shown(moment: MomentShown) -> dict[str, Any]:
    players = [{"name": one.name, "total": one.total, "turn": one.turn} for one in moment.players]
    layout = asdict(moment.layout)
    tiles = {name: layout[name] for name in ("tiles", "ends", "waiting")}
    return {"players": players, "provisional": moment.match.provisional, "layout": tiles}


def _page(title: str, script: str, style: str, data: dict[str, Any]) -> str:
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src 'sha256-{_hash(script)}'",
            f"style-src 'sha256-{_hash(style)}'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    # In JSON, "<" occurs only in strings. Escaped, no player's name can close the script element.
    escaped = json.dumps(data, allow_nan=False).replace("<", "\\u003c")
    return (
        "<!doctype html>\n"
        '<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">\n'
        f"<title>{escape(title)}</title>\n"
        f"<style>{style}</style></head>\n"
        '<body><main id="hand"></main>\n'
        "<noscript><p>This file needs JavaScript to step through the plays.</p></noscript>\n"
        f'<script type="application/json" id="told">{escaped}</script>\n'
        f"<script>{script}</script>\n"
        "</body></html>\n"
    )


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def _pictures(jpegs: Sequence[bytes | None], room_bytes: int) -> list[str | None]:
    """Return scaled images as data URLs, None for those that cannot be decoded."""
    # All None if they exceed *room_bytes*.
    for width_px in _WIDTHS_PX:
        urls = [None if jpeg is None else _url(jpeg, width_px) for jpeg in jpegs]
        if sum(len(url) for url in urls if url is not None) <= room_bytes:
            return urls
    return [None] * len(jpegs)


def _url(jpeg: bytes, width_px: int) -> str | None:
    try:
        check_picture(jpeg, "a picture of the recording")
        image = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_REDUCED_COLOR_2)
    except (PictureError, cv2.error):
        return None
    if image is None:
        return None
    height, width = image.shape[:2]
    size = (width_px, max(1, min(4 * width_px, round(height * width_px / width))))
    small = cv2.resize(image, size, interpolation=cv2.INTER_AREA)
    made = cv2.imencode(".jpg", small, [cv2.IMWRITE_JPEG_QUALITY, _QUALITY])[1].tobytes()
    return f"data:image/jpeg;base64,{base64.b64encode(made).decode('ascii')}"


MAX_LISTED = 1000
"""Maximum number of recordings listed. Older ones are omitted."""
_MAX_OPEN = 4
_Age: TypeAlias = tuple[int, float, str]


class NoRecordingError(LookupError):
    """The folder has no recording of that name."""


@dataclass(frozen=True, slots=True)
class _Print:
    """Properties of a file that show if it has changed."""

    inode: int
    changed_ns: int
    size_bytes: int

    @classmethod
    def of(cls, path: Path) -> _Print:
        known = path.stat()
        return cls(known.st_ino, known.st_mtime_ns, known.st_size)


@dataclass(slots=True)
class OpenRecording:
    """A recording, as far as it has been read. *is_running* is True while it is being written."""

    path: Path
    game: RecordedGame
    is_running: bool


class Shelf:
    """Recordings in a folder. Not thread-safe."""

    def __init__(self, folder: Path, most: int = MAX_LISTED) -> None:
        """Read *folder*, which need not exist yet. At most *most* recordings are listed."""
        self.folder, self._max = folder, most
        self._ages: dict[str, tuple[_Print, _Age]] = {}
        self._surveys: dict[str, tuple[_Print, Survey]] = {}
        self._open: OrderedDict[str, tuple[_Print, OpenRecording]] = OrderedDict()

    def listed(self) -> tuple[list[Survey], list[str]]:
        """Return the recordings, newest first, and an error for each .mcap file that is not a recording."""
        kept: dict[str, tuple[_Print, Survey]] = {}
        others: list[str] = []
        for path in self._newest():
            try:
                now = _Print.of(path)
                before, known = self._surveys.get(path.name, (None, None))
                if known is None or before != now or known.is_running:
                    known = survey(path)
                kept[path.name] = now, known
            except FileNotFoundError:
                continue  # it was deleted meanwhile
            except RecordingError as error:
                others.append(str(error).replace(f"{self.folder}/", ""))
        self._surveys = kept
        found = [one for _, one in kept.values()]
        return sorted(found, key=lambda one: _age(one.path, one.start), reverse=True), others

    def path_of(self, name: str) -> Path:
        """Return the path of the recording with this name, which must be a file in the folder.

        Raises:
            NoRecordingError: If there is no such file.
        """
        found = next((path for path in self._files() if path.name == name), None)
        if found is None:
            raise NoRecordingError(name)
        return found

    def opened(self, name: str) -> OpenRecording:
        """Return a recording with its log up to now. The _MAX_OPEN latest ones stay in memory.

        Raises:
            NoRecordingError: If there is no such file.
            EngineError: If this version has no such game.
            OSError: If it cannot be read.
        """
        path = self.path_of(name)
        with path.open("rb") as file:
            running, now = is_running(file), _Print.of(path)
            before, one = self._open.pop(name, (None, None))
            if one is None or before is None or not _is_same_recording(before, now, one):
                one = OpenRecording(path, RecordedGame(path, read_recording(path).start), running)
                before = None
            if before != now or running != one.is_running:
                one.game.update(file, is_growing=running)
                one.is_running = running
        self._open[name] = (now, one)
        while len(self._open) > _MAX_OPEN:
            self._open.popitem(last=False)
        return one

    def _newest(self) -> list[Path]:
        """Return the newest files, in no particular order."""
        # If there are too many, their metadata is read to find the newest.
        files = self._files()
        if len(files) <= self._max:
            self._ages = {}
            return files
        kept: dict[str, tuple[_Print, _Age]] = {}
        for path in files:
            with suppress(FileNotFoundError):  # it was deleted meanwhile
                kept[path.name] = self._aged(path)
        self._ages = kept
        names = sorted(kept, key=lambda name: kept[name][1], reverse=True)
        return [self.folder / name for name in names[: self._max]]

    def _aged(self, path: Path) -> tuple[_Print, _Age]:
        now = _Print.of(path)
        before, known = self._ages.get(path.name, (None, None))
        if known is not None and before == now:
            return now, known
        try:
            return now, _age(path, read_recording(path).start)
        except RecordingError:
            return now, _age(path, None)

    def _files(self) -> list[Path]:
        """Return the files named like recordings, in reverse order of their names. Unprintable names are left out."""
        try:
            return [path for path in reversed(recording_files(self.folder)) if path.name.isprintable()]
        except FileNotFoundError:
            return []


def _is_same_recording(before: _Print, now: _Print, one: OpenRecording) -> bool:
    """Return True if a file is unchanged, or has only grown while it was being written."""
    return before == now or (one.is_running and before.inode == now.inode and now.size_bytes >= before.size_bytes)


def _age(path: Path, start: SittingStart | None) -> _Age:
    """Return the key that sorts recordings by age. Those without metadata count as the oldest."""
    return (0, 0.0, path.name) if start is None else age_key(path, start)
