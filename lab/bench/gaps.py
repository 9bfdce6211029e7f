"""Measure the score after the camera missed something: right, marked, or silently wrong.

Matches of two hands are followed with perfect readings instead of pictures. In each, something is hidden or disturbed.
Players answer questions by the words of the choices (`true`), answer one question in ten wrongly (`wrong`), or never
answer (`none`). They type no corrections. With `--pictures`, the matches are rendered and read. With `--no-zones`, the
table has neither zones nor buttons. The results are in docs/experiments/gaps.md.

    python -m lab.bench.gaps --matches 14 --seed 1000 --jobs 2
    python -m lab.bench.gaps --pictures DIR --kind tint,cover --matches 10
    python -m lab.bench.gaps --kind restart --answers true --only 1007 --trace
"""

from __future__ import annotations

import json
import sys
import time
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from io import StringIO
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import TypeAlias, cast

import cv2
import numpy as np

import engine
from lab.bench.material import gap_streams
from lab.bench.material.harness import options_of
from lab.commands import simulate
from lab.evaluate.sessions import Truth, read_truth
from lab.matches.game_script import ScriptStep, answer_of
from lab.matches.simulation import simulation_settings
from tallybone.json_values import from_json, to_json
from tallybone.recording.format import Damage
from tallybone.session.feeding import feed
from tallybone.session.inputs import Answer, Press
from tallybone.session.observations import Outline, Zones
from tallybone.session.places import Places
from tallybone.session.questions import Ambiguity
from tallybone.session.session import Announcement, Input, Session
from tallybone.session.sitting import opened
from tallybone.sources.source import RecordedInput, Shot, Source, source_at
from vision.arrays import Image
from vision.reader.reader import Reader, load_reader
from vision.reading import SeenTile
from vision.tracking.perception import Perception, Start
from vision.tracking.table_view import TableView
from vision.tracking.watch import Frame, Watch

# Follow the stream of a match with players who read only the page, and compare the totals with the truth.


# Time to read a question before answering it. Players do not answer while hands are over the table.
_READS_NS = 1_500_000_000
_WRONG_ANSWERS = 0.1


class Answers(StrEnum):
    """Answering behaviour of the players, who choose by the words of the choices."""

    TRUE = "true"
    WRONG = "wrong"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class MatchFound:
    """Evaluation of a match.

    Attributes:
        is_marked: Players see that the totals are uncertain: they are provisional, or a question is open.
        plays: Number of tiles in the record, by the player who laid them.
        kept: Number of tiles in the record, whoever laid them.
        failure: Exception that ended the match. Empty if there was none.
    """

    is_right: bool
    is_marked: bool
    plays: int
    kept: int
    of: int
    gaps: int
    questions: int
    taps: int
    slowest_ms: float
    failure: str = ""

    @property
    def is_silent(self) -> bool:
        """True if the totals are wrong without a mark."""
        return not self.is_right and not self.is_marked


@dataclass(slots=True)
class Follower:
    """A sitting that follows a stream, and its players."""

    stream: gap_streams.Stream
    answers: Answers
    rng: np.random.Generator
    trace: bool = False
    reader: gap_streams.TableEye = field(default_factory=gap_streams.PerfectEye)
    session: Session = field(init=False)
    asked: tuple[str, int | None] | None = None
    questions: int = 0
    taps: int = 0
    slowest_ms: float = 0.0
    t_ns: int = 0

    def __post_init__(self) -> None:
        self.session, _ = opened(self.stream.rules, self.stream.players, self.stream.zones)

    def follow(self) -> MatchFound:
        """Follow the stream and return the evaluation of the match."""
        failure = ""
        try:
            for item in self.stream.items:
                self._take(item)
        except Exception as error:  # a failure is a finding
            failure = f"{type(error).__name__}: {error}"
            if self.trace:
                raise
        truth, now = self.stream.truth(len(self.stream.steps)), self.session.state
        assert truth.game is not None
        true, recorded = _plays(truth), _plays(now)
        return MatchFound(
            is_right=not failure and now.game is not None and now.game.totals == truth.game.totals,
            is_marked=self.session.is_provisional or bool(self.session.questions),
            plays=sum(play in recorded for play in true),
            kept=sum(tile in {tile for _, tile in recorded} for _, tile in true),
            of=len(true),
            gaps=self.stream.gaps,
            questions=self.questions,
            taps=self.taps,
            slowest_ms=self.slowest_ms,
            failure=failure,
        )

    def _take(self, item: gap_streams.Item) -> None:
        if item.restarts:
            places: Places = from_json(to_json(self.session.places, Places), Places)
            log: list[engine.Event] = [
                from_json(to_json(event, engine.Event), engine.Event) for event in self.session.state.log
            ]
            self.session = Session.resumed(engine.replay(log), places, t_ns=item.t_ns, zones=self.stream.zones)
            self.reader = self.reader.resumed()
            self._say(f"-- resumed with {len(log)} events")
        event = self.reader.view(item) if item.event is None else item.event
        self._feed(event, item)
        if isinstance(event, TableView) and event.is_settled:
            self._answer(item)

    def _feed(self, event: Input, item: gap_streams.Item) -> None:
        self.t_ns = max(item.t_ns, self.t_ns)
        log, begins = len(self.session.state.log), time.process_time_ns()
        self.session, announcements = feed(self.session, event, t_ns=self.t_ns)
        took_ms = (time.process_time_ns() - begins) / 1e6
        self.slowest_ms = max(self.slowest_ms, took_ms)
        self.questions += sum(isinstance(one, Ambiguity) for one in announcements)
        if self.trace:
            self._tell(event, item, log, announcements, took_ms)

    def _answer(self, item: gap_streams.Item) -> None:
        """Answer a question after a reading time."""
        if self.answers is Answers.NONE:
            return
        if not self.session.questions:
            # Enter the pips of hands that nobody saw, for which the page has a field.
            known = {(hand, seat): pips for hand, seat, pips, _ in _pips_left(self.stream.truth(item.done))}
            for hand, seat, pips, estimate in _pips_left(self.session.state):
                if estimate is not None and known.get((hand, seat), pips) != pips and self._has_read(f"{hand} {seat}"):
                    self.taps += 1
                    self._feed(engine.Amend(estimate, engine.RevealPips(seat, known[hand, seat])), item)
                    self._feed(engine.Confirmed((estimate,)), item)
            return
        topic = self.session.questions[-1].ambiguity.topic
        answer = answer_of(self.session, self.stream.truth(item.done)) if self._has_read(topic) else None
        if answer is not None:
            self.asked = (topic, None)  # each question once
            self.taps += 1
            # The answer, or sometimes a wrong one if the players answer wrongly.
            choices = len(self.session.questions[-1].answers)
            if self.answers is not Answers.WRONG or choices < 2 or self.rng.random() >= _WRONG_ANSWERS:
                maybe_wrong = answer
            else:
                maybe_wrong = Answer((answer.choice + 1 + int(self.rng.integers(choices - 1))) % choices, answer.topic)
            self._feed(maybe_wrong, item)

    def _has_read(self, topic: str) -> bool:
        """Return True if players have had time to read a question, and have not answered it."""
        if self.asked is None or self.asked[0] != topic:
            self.asked = (topic, self.t_ns)
        return self.asked[1] is not None and self.t_ns - self.asked[1] >= _READS_NS

    def _tell(
        self, event: Input, item: gap_streams.Item, log: int, announced: tuple[Announcement, ...], took_ms: float
    ) -> None:
        fresh = self.session.state.log[log:]
        if isinstance(event, TableView) and not (fresh or announced):
            return
        truth = self.stream.truth(item.done)
        true = self.stream.steps[item.done - 1].event
        self._say(f"{self.t_ns / 1e9:7.1f} {_text(event)}  [{took_ms:.1f} ms; true: {true}]")
        for logged in fresh:
            self._say(f"          log: {logged if not isinstance(logged, engine.MatchStart) else 'MatchStart'}")
        for one in announced:
            shown = f"ASKS: {one.text} {list(one.choices)}" if isinstance(one, Ambiguity) else ""
            self._say(f"          {shown or 'says: ' + engine.describe(one, self.stream.players)}")  # type: ignore[arg-type]
        now = self.session.state.game
        if now is not None and truth.game is not None and now.totals != truth.game.totals:
            self._say(f"          totals {now.totals}, true {truth.game.totals}")

    def _say(self, line: str) -> None:
        if self.trace:
            print(line)


def without_zones(stream: gap_streams.Stream) -> gap_streams.Stream:
    """Return a stream of a table that was just installed: no zones, and no buttons."""
    items = tuple(item for item in stream.items if item.event is None)
    return gap_streams.Stream(stream.rules, stream.players, Zones(), stream.steps, stream.begins_ns, items, stream.gaps)


def _pips_left(state: engine.State) -> list[tuple[int, engine.Seat, int, engine.Seq | None]]:
    """Return the pips left: number of the hand, player, pips, and number of the entry if it is an estimate."""
    hand, found = 0, list[tuple[int, engine.Seat, int, engine.Seq | None]]()
    for entry in engine.entries(state):
        match entry.action:
            case engine.NewHand():
                hand += 1
            case engine.Reveal(seat=seat, tiles=tiles):
                found.append((hand, seat, sum(tile.pips for tile in tiles), None))
            case engine.RevealPips(seat=seat, pips=pips):
                found.append((hand, seat, pips, entry.seq if entry.inferred else None))
            case _:
                pass
    return found


def _plays(state: engine.State) -> list[tuple[int, object]]:
    return [
        (entry.action.seat, entry.action.tile)
        for entry in engine.entries(state)
        if isinstance(entry.action, engine.Play)
    ]


def _text(event: Input) -> str:
    if not isinstance(event, TableView):
        return str(event)
    changes = " ".join(
        f"{change.kind}:{'-'.join(str(half.pips) for half in change.tile.halves) or 'back'}" for change in event.changes
    )
    return f"view of {len(event.tiles)}: {changes or 'no change'}"


# Render matches, hide parts of their pictures, and read them. What was read is kept, too.


_EARLY_S = 3.0
# Time for which open hands are visible after a gap.
_SEEN_OPEN_NS = 1_500_000_000
# Time from which pictures are disturbed, and in which the boneyard is covered.
_EDITED_AFTER_NS = 5_000_000_000
_COVERED_NS = (30_000_000_000, 75_000_000_000)
# Appearance of a person in front of the camera: grey level and amplitude of folds of dark clothes, and sway in picture
# widths.
_CLOTHES = 45.0
_FOLDS = 14.0
_SWAY = 1 / 40
_SWAYS_PER_S = 0.7
# Tiles on the table at different times, and each view with the index of its tiles.
_KeptViews: TypeAlias = tuple[tuple[tuple[SeenTile, ...], ...], tuple[tuple[int, TableView], ...]]
# Numbers of tiles that players are dealt, in turn.
_FEWEST = 3
_MOST = 9


def rendered_stream(folder: Path, game: str, seats: int, seed: int) -> gap_streams.Stream:
    """Return a match of two hands in pictures. It is rendered unless the folder contains it.

    Players are dealt 3 to 9 tiles, which depends on the seed.
    """
    path = folder / f"{seed}-{game}-{seats}.mcap"
    if not path.exists():
        part = path.with_suffix(".part")
        part.unlink(missing_ok=True)
        complaints = StringIO()
        most = min(_MOST, engine.profile(game).tiles // seats)
        tiles = _FEWEST + (3 * (seed // len(gap_streams.GAMES)) + 2 * seed) % (most - _FEWEST + 1)
        options = f"{gap_streams.OPTIONS.get(game, '')} hand={tiles}"
        settings = simulation_settings(game, players=seats, seed=seed, options=options, hands=2)
        if simulate(part, settings, out=StringIO(), err=complaints) != 0:
            raise RuntimeError(f"{path.name}: {complaints.getvalue().strip()}")
        part.rename(path)
    truth, source = read_truth(path), source_at(path)
    start = truth.events[0].event
    assert isinstance(start, engine.MatchStart)
    assert source.start is not None
    steps = tuple(ScriptStep(event.event, state, ()) for event, state in zip(truth.events, truth.states, strict=True))
    # A step starts at the end of the previous event.
    begins_ns = (0, *(event.t_ns for event in truth.events[:-1]))
    items = tuple(_items(source, truth))
    return gap_streams.Stream(start.rules, start.players, source.start.zones or Zones(), steps, begins_ns, items)


def _items(source: Source, truth: Truth) -> Iterator[gap_streams.Item]:
    for shot in source.items:
        if isinstance(shot, Damage):
            continue
        done = max(1, bisect_right(truth.events, shot.t_ns, key=lambda event: event.t_ns))
        match shot:
            case Shot():
                yield gap_streams.Item(shot.t_ns, (), done, shot=shot)
            case RecordedInput():
                yield gap_streams.Item(shot.t_ns, (), done, shot.load())


@dataclass(slots=True)
class PictureEye:
    """Reads pictures like a live table.

    Attributes:
        watch: Follows the table. Replaced after a restart.
    """

    rules: engine.Rules
    reader: Reader = field(init=False)
    watch: Watch = field(init=False)
    empty: Image | None = None
    last: Image | None = None
    seen: TableView | None = None

    def __post_init__(self) -> None:
        self.reader = load_reader(self.rules.max_pips)
        self.watch = Watch(Perception(self.reader, Start.EMPTY))

    def resumed(self) -> PictureEye:
        """Return a reader that continues from the last settled picture."""
        again = PictureEye(self.rules)
        if self.last is not None and self.seen is not None:
            perception = Perception.resumed(
                self.reader, empty=self.empty, last=self.last, tiles=self.seen.tiles, aim=self.seen.aim
            )
            again.watch, again.empty, again.last, again.seen = Watch(perception), self.empty, self.last, self.seen
        return again

    def view(self, item: gap_streams.Item) -> TableView:
        """Return the table after a picture."""
        assert item.shot is not None
        image = item.shot.load()
        image = image if item.edit is None else item.edit(image, item.t_ns)
        view = self.watch.feed(Frame(_with_person(image, item.t_ns) if item.is_hidden else image, item.t_ns))
        if view.is_settled:
            self.empty = image if self.empty is None else self.empty
            self.last, self.seen = image, view
        return view


@dataclass(slots=True)
class KeptEye:
    """Views of a stream that were read before, in order."""

    views: Iterator[TableView]

    def resumed(self) -> KeptEye:
        """Return itself: a restart is part of what was read."""
        return self

    def view(self, item: gap_streams.Item) -> TableView:
        """Return the next view."""
        return next(self.views)


def kept_eye(path: Path, stream: gap_streams.Stream) -> KeptEye:
    """Return the views of a stream, which are read unless *path* contains them. Delete it if the reader changes."""
    if not path.exists():
        reader, tiles, views = PictureEye(stream.rules), list[tuple[SeenTile, ...]](), list[tuple[int, TableView]]()
        for item in stream.items:
            reader = reader.resumed() if item.restarts else reader
            if item.event is None:
                view = reader.view(item)
                if not tiles or tiles[-1] != view.tiles:
                    tiles.append(view.tiles)
                views.append((len(tiles) - 1, replace(view, tiles=())))
        path.write_text(json.dumps(to_json((tuple(tiles), tuple(views)), _KeptViews)))
    tiles_at, kept = cast(_KeptViews, from_json(json.loads(path.read_text()), _KeptViews))
    return KeptEye(replace(view, tiles=tiles_at[at]) for at, view in kept)


def _with_person(image: Image, t_ns: int) -> Image:
    """Return a picture with about half of it covered by a swaying person."""
    height, width = image.shape[:2]
    sway = 1.0 + np.sin(2 * np.pi * _SWAYS_PER_S * t_ns / 1e9)
    edge = int(width * (0.5 + _SWAY * sway))
    across = np.arange(edge)[None, :, None] - edge
    down = np.arange(height)[:, None, None]
    clothes = _CLOTHES + _FOLDS * np.sin(across / 23.0 + down / 61.0)
    shown = image.copy()
    shown[:, :edge] = np.broadcast_to(clothes, (height, edge, 3)).astype(np.uint8)
    return shown


def _early(stream: gap_streams.Stream, rng: np.random.Generator) -> gap_streams.Stream:
    """Move each press up to 3 s earlier."""
    items = [
        replace(item, t_ns=item.t_ns - int(rng.uniform(0.0, _EARLY_S) * 1e9)) if isinstance(item.event, Press) else item
        for item in stream.items
    ]
    presses = sum(isinstance(item.event, Press) for item in items)
    return replace(stream, items=tuple(sorted(items, key=lambda item: item.t_ns)), gaps=presses)


def _end(stream: gap_streams.Stream, _rng: np.random.Generator) -> gap_streams.Stream:
    """Drop pictures from the last tile of the first hand until the open hands have been counted."""
    second = stream.at(engine.NewHand)[1]
    last = max(at for at in stream.at(engine.Play, engine.Stack) if at < second)
    return gap_streams.without_pictures(stream, stream.begins_ns[last], stream.begins_ns[second] - _SEEN_OPEN_NS)


def _edited(edit: Callable[[Image, int], Image]) -> gap_streams.Kind:
    """Return a kind that disturbs all pictures after the first seconds."""

    def kind(stream: gap_streams.Stream, _rng: np.random.Generator) -> gap_streams.Stream:
        items = [
            replace(item, edit=edit) if item.event is None and item.t_ns > _EDITED_AFTER_NS else item
            for item in stream.items
        ]
        return replace(stream, items=tuple(items), gaps=1)

    return kind


def _tint(image: Image, _t_ns: int) -> Image:
    """Return a picture in warm evening light: little blue, more red."""
    return np.asarray(np.clip(image * np.array([0.55, 0.85, 1.15]), 0, 255), np.uint8)


def _hunting(image: Image, t_ns: int) -> Image:
    """Return a picture of a focus that hunts for 0.8 s every 3 s."""
    since_s = t_ns / 1e9 % 3.0
    blur_px = 4 * np.sin(np.pi * since_s / 0.8) if since_s < 0.8 else 0.0
    return np.asarray(cv2.GaussianBlur(image, (0, 0), blur_px), np.uint8) if blur_px > 0.3 else image


def _flicker(image: Image, t_ns: int) -> Image:
    """Return a picture with the bands of a flickering lamp, which drift."""
    down = np.arange(image.shape[0]) / image.shape[0]
    light = 1 - 0.2 * (1 + np.sin(2 * np.pi * (2.5 * down + 0.3 * t_ns / 1e9)))
    return np.asarray(np.clip(image * light[:, None, None], 0, 255), np.uint8)


@dataclass(slots=True)
class _Cover:
    """Covers the boneyard with its picture of 25 s before the end of the cover, from 30 s to 75 s."""

    zone: Outline
    kept: Image | None = None

    def __call__(self, image: Image, t_ns: int) -> Image:
        height, width = image.shape[:2]
        across, down = ([corner[axis] for corner in self.zone] for axis in (0, 1))
        rows = slice(int(min(down) * height), int(max(down) * height))
        columns = slice(int(min(across) * width), int(max(across) * width))
        if t_ns < _COVERED_NS[0] or self.kept is None:
            self.kept = image[rows, columns].copy()
        elif t_ns < _COVERED_NS[1]:
            image = image.copy()
            image[rows, columns] = self.kept
        return image


def _cover(stream: gap_streams.Stream, rng: np.random.Generator) -> gap_streams.Stream:
    """Hide from 30 s to 75 s what happens in the boneyard."""
    zone = stream.zones.boneyard
    return stream if zone is None else _edited(_Cover(zone))(stream, rng)


PICTURE_KINDS: dict[str, gap_streams.Kind] = {
    **{name: gap_streams.KINDS[name] for name in ("undisturbed", "nopicture", "unsettled", "restart", "burst")},
    "early": _early,
    "three": gap_streams.gaps_of(8, 3),
    "long": gap_streams.gaps_of(30, 1),
    "end": _end,
    **{name: gap_streams.KINDS[name] for name in ("late", "deal", "hand", "undo", "double")},
    "tint": _edited(_tint),
    "hunting": _edited(_hunting),
    "flicker": _edited(_flicker),
    "cover": _cover,
}


# Kinds whose totals depend on tiles that nobody saw: most of a hand, or the tiles shown at its end.
_UNDETERMINED = ("deal", "hand")


@dataclass(frozen=True, slots=True)
class Case:
    """A match to follow."""

    kind: str
    game: str
    seats: int
    answers: Answers
    seed: int

    def __str__(self) -> str:
        return f"--kind {self.kind} --game {self.game} --answers {self.answers} --only {self.seed}"


def main(arguments: Sequence[str] | None = None) -> int:
    options = options_of(
        __doc__,
        arguments=arguments,
        pictures=(Path, "folder into which the matches are rendered, to read them"),
        no_zones=(False, "a table without zones and buttons"),
        kind=(str, "kinds with commas, default all"),
        game=(str, "default all in turn"),
        answers=("none,true", "with commas"),
        matches=(14, "of each kind and answers; rendered: of all kinds"),
        seed=(1000, "of the first match; those after it count up"),
        only=(int, "follow only the match with this seed"),
        trace=(False, "print inputs, log, announcements and what was true"),
        jobs=1,
    )
    begins = time.perf_counter()
    seeds = range(options.seed, options.seed + options.matches) if options.only is None else [options.only]
    is_rendered = options.pictures is not None
    kinds = options.kind.split(",") if options.kind else list(PICTURE_KINDS if is_rendered else gap_streams.KINDS)
    cases = [
        case_of(kind, seed, answers, options.game)
        for answers in map(Answers, options.answers.split(","))
        for kind, seed in ([(kinds[s % len(kinds)], s) for s in seeds] if is_rendered else product(kinds, seeds))
    ]
    run = partial(follow, folder=options.pictures, trace=options.trace, has_zones=not options.no_zones)
    if options.jobs == 1 or options.trace:
        results = list(zip(cases, map(run, cases), strict=True))
    else:
        with ProcessPoolExecutor(options.jobs, get_context("spawn")) as pool:
            results = list(zip(cases, pool.map(run, cases, chunksize=2), strict=True))
    groups: dict[str, list[MatchFound]] = defaultdict(list)
    for case, match in results:
        groups[f"{case.kind}, {case.answers}"].append(match)
    for answers in Answers:
        groups[f"all but deal, hand, {answers}"] = [
            match for case, match in results if case.answers is answers and case.kind not in _UNDETERMINED
        ]
    for name, matches in groups.items():
        if matches:
            print(f"{name}: {_row(matches)}")
    for case, match in results:
        if not match.is_right or match.failure:
            verdict = match.failure or ("wrong, marked" if match.is_marked else "WRONG, SILENT")
            print(f"{case}: {verdict}; {match.plays} of {match.of} plays")
    print(f"{len(cases)} matches in {time.perf_counter() - begins:.0f} s")
    return int(any(match.is_silent or match.failure for _, match in results))


def _row(matches: Sequence[MatchFound]) -> str:
    right = sum(match.is_right for match in matches)
    silent = sum(match.is_silent for match in matches)
    gaps, taps, of = (sum(each) for each in zip(*((m.gaps, m.taps, m.of) for m in matches), strict=True))
    return (
        f"{len(matches)} matches, {right} right ({100 * right / len(matches):.0f} %),"
        f" {len(matches) - right - silent} wrong but marked, {silent} WRONG AND SILENT,"
        f" {sum(match.is_right and match.is_marked for match in matches)} right but marked,"
        f" plays {100 * sum(match.plays for match in matches) / of:.1f} %,"
        f" kept {100 * sum(match.kept for match in matches) / of:.1f} %,"
        f" {sum(match.questions for match in matches)} questions,"
        f" {f'{taps / gaps:.2f} taps a gap' if gaps else f'{taps} taps'},"
        f" slowest {max(match.slowest_ms for match in matches):.0f} ms,"
        f" {sum(bool(match.failure) for match in matches)} failed"
    )


def case_of(kind: str, seed: int, answers: Answers, game: str | None = None) -> Case:
    """Return the match with a seed, which selects the game and the number of players in turn."""
    name = game or gap_streams.GAMES[seed % len(gap_streams.GAMES)]
    seats = gap_streams.SEATS.get(name, (4,))
    return Case(kind, name, seats[seed // len(gap_streams.GAMES) % len(seats)], answers, seed)


def follow(case: Case, folder: Path | None = None, *, trace: bool = False, has_zones: bool = True) -> MatchFound:
    """Follow and evaluate a match. With *folder*, the match is rendered and stored there."""
    kind_rng, answer_rng = np.random.default_rng([case.seed, 1]), np.random.default_rng([case.seed, 2])
    if folder is None:
        stream = gap_streams.stream_of(case.game, case.seats, case.seed, presses=case.kind in gap_streams.PRESSING)
        stream = gap_streams.KINDS[case.kind](stream, kind_rng)
        stream = stream if has_zones else without_zones(stream)
        return Follower(stream, case.answers, answer_rng, trace).follow()
    stream = PICTURE_KINDS[case.kind](rendered_stream(folder, case.game, case.seats, case.seed), kind_rng)
    reader = kept_eye(folder / f"{case.seed}-{case.game}-{case.seats}-{case.kind}.views", stream)
    stream = stream if has_zones else without_zones(stream)
    return Follower(stream, case.answers, answer_rng, trace, reader=reader).follow()


if __name__ == "__main__":
    sys.exit(main())
