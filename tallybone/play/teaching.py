"""Learn the looks of tiles from the corrections of a match, and forget them when a correction is undone."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import assert_never

from calibration.errors import CalibrationError
from calibration.tiles.corrections import (
    Example,
    ExampleTile,
    LessonResult,
    Lessons,
    TileCorrection,
    TilePair,
    calibrated_examples,
    examples_from,
    learn_correction,
    lessons_of,
)
from calibration.tiles.tile_set import LearnedSet, reader_checksum
from engine import Amend, Insert, NewHand, Node, NodeId, Play, Redeal, Tile, entries
from engine.phrases import Phrase, phrase
from tallybone.files import sentence_of
from tallybone.session.observations import numbers_of
from tallybone.session.places import Known
from tallybone.session.session import Session
from tallybone.session.sitting import Step
from tallybone.store.learned_file import TableTiles, load_tiles, save_tiles, tiles_to_store
from vision.arrays import Image
from vision.reader.custom_set import RecordedSet
from vision.reader.reader import Reader
from vision.reading import SURE, PointPx, SeenTile
from vision.tracking.table_view import TableView
from vision.tracking.tracks import in_place_of, poses_of

log = logging.getLogger(__name__)

# Log odds that the number by which a tile is joined is on the half nearer to its neighbour, and minimum log probability
# of a number. A half that is read right outweighs the place.
_NEARER, _MIN_CHANCE = 3.0, 1e-6


@dataclass(frozen=True, slots=True)
class NamedTile:
    """A tile on the table that the players have named.

    Attributes:
        key: Its name in the layout.
        tile: The tile.
        seen: Its last reading.
        near: Centre of its neighbour, and the number next to it. None if unknown.
    """

    key: NodeId
    tile: Tile
    seen: SeenTile
    near: tuple[PointPx, int] | None = None

    @property
    def read(self) -> TilePair:
        """Numbers of its halves as read."""
        first, second = (half.alone.pips for half in self.seen.halves)
        return first, second

    @property
    def pips(self) -> TilePair:
        """Its numbers, in the likelier order of the halves of its reading."""
        low, high = self.tile.low, self.tile.high
        return max((low, high), (high, low), key=self._log_weight)

    def _log_weight(self, pips: TilePair) -> float:
        pairs = tuple(zip(self.seen.halves, pips, strict=True))
        chances = (sum(half.chances[number : number + 1]) for half, number in pairs)
        weight = sum(math.log(max(chance, _MIN_CHANCE)) for chance in chances)
        if self.near is None:
            return weight
        center, number = self.near
        _, nearer = min(pairs, key=lambda pair: math.dist(pair[0].center_px, center))
        return weight + (_NEARER if nearer == number else 0.0)


def named_tiles(before: Session, step: Step) -> Iterator[NamedTile]:
    """Yield the tiles that the players have named by an input: by a correction, or a missed play."""
    after, item = step.session, step.item
    old = {node.id: node.tile for node in _nodes(before)}
    for node in _nodes(after):
        known = after.places.find(node.id)
        if known is None or not known.is_settled:
            continue
        was_known = before.places.find(node.id)
        match item:
            case Amend(seq=seq):
                is_named = int(seq) == int(node.id) and old.get(node.id) != node.tile
            case Play() | Insert():
                # Without a number in common, another tile may have been taken for it.
                is_shared = bool({node.tile.low, node.tile.high} & {*numbers_of(known.tile)})
                is_named = was_known is None and is_shared
            case _:
                is_named = False
        if is_named:
            host = None if node.joins is None else after.places.find(node.joins.host)
            near = None if host is None or node.inner is None else (host.place.center, node.inner)
            yield NamedTile(node.id, node.tile, known.tile, near)


def _nodes(session: Session) -> tuple[Node, ...]:
    return () if session.state.game is None else session.state.game.layout.nodes


@dataclass(frozen=True, slots=True)
class Taught:
    """Effects of a step: the set to read with from now on, None if it is unchanged, and notes for the players."""

    own_set: RecordedSet | None = None
    notes: tuple[Phrase, ...] = ()


class Teaching:
    """Learns from the corrections of a match.

    Args:
        path: File of what the table has learned about its tiles.
        reader: Reader of the match.
        own_set: Custom tile set of the match, or None.
        calibrated: Calibrated tile set of the table, or None.
        session: Session at the start.
    """

    def __init__(
        self, path: Path, reader: Reader, own_set: RecordedSet | None, calibrated: LearnedSet | None, session: Session
    ) -> None:
        self._path, self._reader, self._calibrated = path, replace(reader, exemplars=None), calibrated
        if own_set is None or own_set.reader != reader_checksum():
            assert reader.max_pips is not None  # a game has a set
            own_set = RecordedSet(reader.max_pips, reader_checksum(), "", 1.0)
        self._base, self._session = own_set, session
        self._image: Image | None = None
        self._view = TableView((), (), ())
        self._fixed: tuple[Example, ...] | None = None
        self._lessons: Lessons | None = None
        # Named tiles of the match. Those that were not learned have no example.
        self._taught: dict[NodeId, tuple[Tile, ExampleTile | None]] = {}
        self._stored = self._load()

    def after(self, step: Step, image: Image | None = None) -> Taught:
        """Learn from a step of the sitting, and return the effects. *image* is its picture, if it is one."""
        view, before = step.view, self._session
        self._session = step.session
        if image is not None and view is not None and view.is_settled and not view.is_covered:
            self._image, self._view = image, view
        if step.item is None and not step.events:
            return Taught()
        exemplars, notes = self._stored.exemplars, list[Phrase]()
        try:
            self._update(before, step, notes)
        except CalibrationError as error:
            log.warning("a correction is not learned: %s", sentence_of(error))
        now = self._stored.exemplars
        return Taught(None if now == exemplars else replace(self._base, exemplars=now), tuple(notes))

    def _update(self, before: Session, step: Step, notes: list[Phrase]) -> None:
        if any(isinstance(event, NewHand | Redeal) for event in step.events):
            self._stored, self._lessons = self._load(), None  # The players may have deleted the last tile.
        earlier = set(self._taught)
        self._follow(step, notes)
        for tile in named_tiles(before, step):
            if tile.key not in earlier:
                self._learn(tile, notes)

    def _follow(self, step: Step, notes: list[Phrase]) -> None:
        """Forget the tiles whose correction was undone. A tile that is named anew is not learned in this match."""
        named = {NodeId(entry.seq): getattr(entry.action, "tile", None) for entry in entries(step.session.state)}
        for key, (tile, example) in tuple(self._taught.items()):
            now = named.get(key)
            if now == tile:
                continue
            if example is not None:
                known, fixed = self._known()
                self._keep(lessons_of(tuple(old for old in known.examples if old.tile != example), fixed))
                notes.append(phrase("Forgot how the {tile} looks.", tile=tile))
            self._taught[key] = (tile if now is None else now, None)
            if now is None or (example is not None and Tile.of(*example.read) == now):
                del self._taught[key]

    def _learn(self, named: NamedTile, notes: list[Phrase]) -> None:
        correction = self._correction(named)
        if correction is None:
            return
        known, fixed = self._known()
        lessons, verdict = learn_correction(known, correction, self._reader, fixed)
        log.info("correction of a tile tile=%s read=%s-%s result=%s", named.tile, *named.read, verdict.name.lower())
        is_learned = verdict is LessonResult.LEARNED
        self._taught[named.key] = (named.tile, lessons.examples[-1].tile if is_learned else None)
        if lessons is not known:
            self._keep(lessons)
        notes.append(_note(verdict, named.tile))

    def _correction(self, named: NamedTile) -> TileCorrection | None:
        """Return a correction in the last picture. None if the tile was read right, or is not in the picture."""
        tiles, pips = tuple(tile for tile in self._view.tiles if tile.halves), named.pips
        at = in_place_of(named.seen, tiles)
        if self._image is None or at is None or pips == named.read:
            return None
        others = (*tiles[:at], *tiles[at + 1 :])
        node_tiles = {node.id: node.tile for node in _nodes(self._session)}
        doubted = tuple(known.tile for known in self._session.places.known if _is_misread(known, node_tiles))
        confident = (
            number
            for number, tile in enumerate(others, 1)
            if all(half.alone.confidence >= SURE for half in tile.halves) and in_place_of(tile, doubted) is None
        )
        image = self._view.aim.straightened(self._image)
        return TileCorrection(image, poses_of((tiles[at], *others)), pips, named.read, tuple(confident))

    def _known(self) -> tuple[Lessons, tuple[Example, ...]]:
        """Return the lessons of the table and the examples of the calibrated set, which are computed once."""
        if self._fixed is None:
            calibrated = self._calibrated if self._base.weights else None
            self._fixed = () if calibrated is None else calibrated_examples(calibrated, self._reader)
        if self._lessons is None:
            self._lessons = lessons_of(examples_from(self._stored.tiles, self._reader), self._fixed)
        return self._lessons, self._fixed

    def _keep(self, lessons: Lessons) -> None:
        """Use and store what was learned."""
        self._lessons, self._stored = lessons, tiles_to_store(lessons)
        try:
            save_tiles(self._path, self._stored)
        except OSError as error:
            log.warning("learned tiles cannot be stored: %s", sentence_of(error))

    def _load(self) -> TableTiles:
        try:
            return load_tiles(self._path)
        except (CalibrationError, OSError) as error:
            log.warning("learned tiles are not used: %s", sentence_of(error))
            return TableTiles()


def _is_misread(known: Known, tiles: Mapping[NodeId, Tile]) -> bool:
    """Return True if a tile of the layout is read differently from its play."""
    tile = tiles.get(known.node)
    return tile is not None and numbers_of(known.tile) != (tile.low, tile.high)


def _note(verdict: LessonResult, tile: Tile) -> Phrase:
    match verdict:
        case LessonResult.LEARNED:
            return phrase("Learned how the {tile} looks.", tile=tile)
        case LessonResult.HARMFUL:
            return phrase("The {tile} counts, but was not learned: other tiles would be misread.", tile=tile)
        case LessonResult.CONTRADICTORY:
            return phrase("The {tile} counts, but contradicts an earlier correction: neither is learned.", tile=tile)
        case _:
            assert_never(verdict)
