"""Render matches, hide parts of their pictures, and read them. What was read is kept, too."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from io import StringIO
from pathlib import Path
from typing import TypeAlias, cast

import cv2
import numpy as np

from engine import MatchStart, NewHand, Play, Rules, Stack, profile
from lab.bench.material.gap_streams import GAMES, KINDS, OPTIONS, Item, Kind, Stream, gaps_of, without_pictures
from lab.commands import simulate
from lab.evaluate.hands import Truth, read_truth
from lab.matches.game_script import ScriptStep
from lab.matches.simulation import simulation_settings
from tallybone.json_values import from_json, to_json
from tallybone.recording.format import Damage
from tallybone.session.inputs import Press
from tallybone.session.observations import Outline, Zones
from tallybone.sources.source import RecordedInput, Shot, Source, source_at
from vision.arrays import Image
from vision.reader.reader import Reader, load_reader
from vision.reading import SeenTile
from vision.tracking.perception import Perception, Start
from vision.tracking.table_view import TableView
from vision.tracking.watch import Frame, Watch

_EARLY_S = 3.0
# Time for which open hands are visible after a gap.
_SEEN_OPEN_NS = 1_500_000_000
# Time from which pictures are disturbed, and in which the boneyard is covered.
_EDITED_AFTER_NS, _COVERED_NS = 5_000_000_000, (30_000_000_000, 75_000_000_000)
# Appearance of a person in front of the camera: grey level and amplitude of folds of dark clothes, and sway in picture
# widths.
_CLOTHES, _FOLDS, _SWAY = 45.0, 14.0, 1 / 40
_SWAYS_PER_S = 0.7
# Tiles on the table at different times, and each view with the index of its tiles.
_KeptViews: TypeAlias = tuple[tuple[tuple[SeenTile, ...], ...], tuple[tuple[int, TableView], ...]]
# Numbers of tiles that players are dealt, in turn.
_FEWEST, _MOST = 3, 9


def rendered_stream(folder: Path, game: str, seats: int, seed: int) -> Stream:
    """Return a match of two hands in pictures. It is rendered unless the folder contains it.

    Players are dealt 3 to 9 tiles, which depends on the seed.
    """
    path = folder / f"{seed}-{game}-{seats}.mcap"
    if not path.exists():
        _render(path, game, seats, seed)
    truth, source = read_truth(path), source_at(path)
    start = truth.events[0].event
    assert isinstance(start, MatchStart)
    assert source.start is not None
    steps = tuple(ScriptStep(event.event, state, ()) for event, state in zip(truth.events, truth.states, strict=True))
    # A step starts at the end of the previous event.
    begins_ns = (0, *(event.t_ns for event in truth.events[:-1]))
    items = tuple(_items(source, truth))
    return Stream(start.rules, start.players, source.start.zones or Zones(), steps, begins_ns, items)


def _render(path: Path, game: str, seats: int, seed: int) -> None:
    part = path.with_suffix(".part")
    part.unlink(missing_ok=True)
    complaints = StringIO()
    most = min(_MOST, profile(game).tiles // seats)
    tiles = _FEWEST + (3 * (seed // len(GAMES)) + 2 * seed) % (most - _FEWEST + 1)
    options = f"{OPTIONS.get(game, '')} hand={tiles}"
    settings = simulation_settings(game, players=seats, seed=seed, options=options, hands=2)
    if simulate(part, settings, out=StringIO(), err=complaints) != 0:
        raise RuntimeError(f"{path.name}: {complaints.getvalue().strip()}")
    part.rename(path)


def _items(source: Source, truth: Truth) -> Iterator[Item]:
    for shot in source.items:
        if isinstance(shot, Damage):
            continue
        done = max(1, bisect_right(truth.events, shot.t_ns, key=lambda event: event.t_ns))
        match shot:
            case Shot():
                yield Item(shot.t_ns, (), done, shot=shot)
            case RecordedInput():
                yield Item(shot.t_ns, (), done, shot.load())


@dataclass(slots=True)
class PictureEye:
    """Reads pictures like a live table.

    Attributes:
        rules: Rules of the match, which determine the highest number.
        reader: The reader.
        watch: Follows the table. Replaced after a restart.
        empty, last: First picture, and last settled picture.
        seen: Last settled view of the table.
    """

    rules: Rules
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

    def view(self, item: Item) -> TableView:
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

    def view(self, item: Item) -> TableView:
        """Return the next view."""
        return next(self.views)


def kept_eye(path: Path, stream: Stream) -> KeptEye:
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


def _early(stream: Stream, rng: np.random.Generator) -> Stream:
    """Move each press up to 3 s earlier."""
    items = [
        replace(item, t_ns=item.t_ns - int(rng.uniform(0.0, _EARLY_S) * 1e9)) if isinstance(item.event, Press) else item
        for item in stream.items
    ]
    presses = sum(isinstance(item.event, Press) for item in items)
    return replace(stream, items=tuple(sorted(items, key=lambda item: item.t_ns)), gaps=presses)


def _end(stream: Stream, _rng: np.random.Generator) -> Stream:
    """Drop pictures from the last tile of the first hand until the open hands have been counted."""
    second = stream.at(NewHand)[1]
    last = max(at for at in stream.at(Play, Stack) if at < second)
    return without_pictures(stream, stream.begins_ns[last], stream.begins_ns[second] - _SEEN_OPEN_NS)


def _edited(edit: Callable[[Image, int], Image]) -> Kind:
    """Return a kind that disturbs all pictures after the first seconds."""

    def kind(stream: Stream, _rng: np.random.Generator) -> Stream:
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


def _cover(stream: Stream, rng: np.random.Generator) -> Stream:
    """Hide from 30 s to 75 s what happens in the boneyard."""
    zone = stream.zones.boneyard
    return stream if zone is None else _edited(_Cover(zone))(stream, rng)


PICTURE_KINDS: dict[str, Kind] = {
    **{name: KINDS[name] for name in ("undisturbed", "nopicture", "unsettled", "restart", "burst")},
    "early": _early,
    "three": gaps_of(8, 3),
    "long": gaps_of(30, 1),
    "end": _end,
    **{name: KINDS[name] for name in ("late", "deal", "hand", "undo", "double")},
    "tint": _edited(_tint),
    "hunting": _edited(_hunting),
    "flicker": _edited(_flicker),
    "cover": _cover,
}
