"""Learn from matches: the sounds that were knocks of a table and those that were not, and misread tiles."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from pathlib import Path
from typing import assert_never

from calibration import CalibrationError
from calibration.knock import TableExamples
from calibration.tiles import tile_set
from calibration.tiles.tile_set import LearnedSet, reader_checksum
from engine import Amend, Entry, Insert, Knock, NewHand, Node, NodeId, Play, Redeal, Remove, State, Tile, Undo, entries
from engine.phrases import Phrase, phrase
from hardware.knock.classifier import Classifier, load_classifier
from hardware.knock.sensor import NS_PER_S, ClassifiedSound
from tallybone.files import sentence_of
from tallybone.session.feeding import KNOCK_WAITS_NS, ONE_KNOCK_NS, TILE_ECHOES_NS
from tallybone.session.inputs import Answer, AnswerBack, Button, Press
from tallybone.session.observations import numbers_of
from tallybone.session.places import Known
from tallybone.session.session import Session
from tallybone.session.sitting import ByHand, Step
from tallybone.store import learned_file
from vision.arrays import Image
from vision.reader.custom_set import RecordedSet
from vision.reader.reader import Reader
from vision.reading import SURE, PointPx, SeenTile
from vision.tracking.table_view import TableView
from vision.tracking.tracks import in_place_of, poses_of

log = logging.getLogger(__name__)

# Maximum time between an entered pass and its sound.
_NEAR_NS = 3 * NS_PER_S
# Maximum time between a sound and a pass or an answer that follows from it.
_LATEST_NS = 30 * NS_PER_S
# Minimum number of actions after a pass or play that nobody corrects.
_MIN_FURTHER = 2
# Minimum time between a play and the passes around it. In less, a knock and the tile are not distinguishable.
_APART_NS = 4 * NS_PER_S


class Origin(Enum):
    """Origin of an event in the log."""

    SEEN = auto()
    SENSED = auto()
    """By a sound, or with an input that did not mean this event."""
    ENTERED = auto()
    ANSWERED = auto()
    REPEATED = auto()
    """Written again by the decoder, or from before the match was resumed: its time is unknown."""


@dataclass(frozen=True, slots=True)
class LogMoment:
    """Time and origin of an event in the log."""

    t_ns: int
    origin: Origin


@dataclass(frozen=True, slots=True)
class Denial:
    """An answer that nobody passed.

    Attributes:
        t_ns: Latest time of the end of the sound.
        log: Length of the match log before the answer.
    """

    t_ns: int
    log: int


@dataclass(frozen=True, slots=True)
class LearnableSound:
    """A sound that may have been a pass, with its embedding and the probability of a pass."""

    t_ns: int
    hit: float
    embedding: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class MatchSounds:
    """The sounds of a match, and the evidence on them.

    Attributes:
        moments: Moment of each event in the log of the match.
        sounds: The sounds, in order of time.
        denials: Answers that nobody passed, except withdrawn ones.
    """

    session: Session
    moments: tuple[LogMoment, ...]
    sounds: tuple[LearnableSound, ...] = ()
    denials: tuple[Denial, ...] = ()

    @classmethod
    def of(cls, session: Session) -> MatchSounds:
        """Return the observations at the start of a match, or when it is resumed."""
        return cls(session, (LogMoment(session.t_ns, Origin.REPEATED),) * len(session.state.log))

    def heard(self, sound: ClassifiedSound, t_ns: int) -> MatchSounds:
        """Return the observations after a sound. *t_ns* is its time on the clock of the game."""
        if sound.embedding is None or not sound.is_learnable:
            return self
        # Four digits are more precise than so few sounds allow, and keep the file short.
        embedding = tuple(float(f"{value:.4g}") for value in sound.embedding)
        return replace(self, sounds=(*self.sounds, LearnableSound(t_ns, sound.hit, embedding)))

    def after(self, step: Step) -> MatchSounds:
        """Return the observations after a step of the sitting."""
        before, item = self.session, step.item
        length = len(before.state.log)
        moment, denials = LogMoment(step.t_ns, Origin.SENSED if step.view is None else Origin.SEEN), self.denials
        released = [queued for queued in before.pressed if queued not in step.session.pressed]
        pressed_ns = [t_ns for t_ns, press in released if _is_pass(press)]
        is_rewritten = not isinstance(item, Undo | Press) and any(isinstance(event, Undo) for event in step.events)
        if isinstance(item, AnswerBack) or is_rewritten:
            moment = LogMoment(step.t_ns, Origin.REPEATED)
            back = item.log if isinstance(item, AnswerBack) else None
            denials = tuple(denial for denial in denials if denial.log != back)
        elif isinstance(item, Answer):
            moment = LogMoment(step.t_ns, Origin.ANSWERED)
            denials += tuple(Denial(t_ns, length) for t_ns in self._denied_ns(step))
        elif item is not None and _is_pass(item):
            moment = LogMoment(step.t_ns, Origin.ENTERED)
        elif pressed_ns:
            moment = LogMoment(pressed_ns[0], Origin.ENTERED)
        moments = self.moments + (moment,) * (len(step.session.state.log) - length)
        return replace(self, session=step.session, moments=moments, denials=denials)

    def _denied_ns(self, step: Step) -> list[int]:
        """Return the times of the passes that an answer denies."""
        removed = [event.seq for event in step.events if isinstance(event, Remove)]
        log = self.session.state.log
        return [self.moments[seq].t_ns for seq in removed if _is_pass(log[seq])]


def _is_pass(item: ByHand) -> bool:
    match item:
        case Knock() | Insert(action=Knock()) | Amend(action=Knock()) | Press(button=Button.KNOCK):
            return True
        case _:
            return False


def examples_of(seen: MatchSounds, model: str) -> TableExamples:
    """Return the sounds of a match that are known to be passes or not, newest first.

    Passes that were entered or answered count at once. Others count once the play went on for two actions.
    """
    kept = entries(seen.session.state)
    # The time of each action in force, in order. An inserted action is no later than the next one.
    times_ns = [seen.moments[entry.seq].t_ns for entry in kept]
    for at in range(len(times_ns) - 2, -1, -1):
        times_ns[at] = min(times_ns[at], times_ns[at + 1])
    knocks = _passes(seen, kept, times_ns)
    used = {sound.t_ns for _, sound in knocks}
    others = {
        sound.t_ns: sound
        for sound in (*_beside_tiles(seen, kept, times_ns), *_denied(seen, times_ns))
        if sound.t_ns not in used
    }
    return TableExamples(
        model,
        tuple(sound.embedding for is_confirmed, sound in reversed(knocks) if is_confirmed),
        tuple(others[t_ns].embedding for t_ns in sorted(others, reverse=True)),
    )


def _passes(seen: MatchSounds, kept: Sequence[Entry], times_ns: Sequence[int]) -> list[tuple[bool, LearnableSound]]:
    """Return the sound of each pass, if there is one, and whether the pass is confirmed, in order of time."""
    found, after_ns = list[tuple[bool, LearnableSound]](), 0
    for at, (entry, t_ns) in enumerate(zip(kept, times_ns, strict=True)):
        sound = None
        origin = seen.moments[entry.seq].origin
        if isinstance(entry.action, Knock) and origin is not Origin.REPEATED:
            # The sounds shortly before the next action may be its tile.
            until_ns = times_ns[at + 1] - KNOCK_WAITS_NS if at + 1 < len(kept) else seen.session.t_ns
            if origin is Origin.ENTERED:
                sound = _best(seen.sounds, max(after_ns, t_ns - _NEAR_NS), min(t_ns + _NEAR_NS, until_ns))
            else:
                heard_ns = min(t_ns - KNOCK_WAITS_NS, until_ns)
                sound = _best(seen.sounds, max(after_ns, heard_ns - _LATEST_NS), heard_ns)
        if sound is not None:
            is_by_hand = origin in (Origin.ENTERED, Origin.ANSWERED)
            found.append((is_by_hand or _is_confirmed(seen.session.state, kept, at), sound))
        after_ns = max(after_ns, t_ns if sound is None else sound.t_ns + ONE_KNOCK_NS)
    return found


def _is_confirmed(state: State, kept: Sequence[Entry], at: int) -> bool:
    """Check that the play went on after a sensed action."""
    entry = kept[at]
    return entry.seq not in state.irregular and not entry.inferred and len(kept) - at - 1 >= _MIN_FURTHER


def _beside_tiles(seen: MatchSounds, kept: Sequence[Entry], times_ns: Sequence[int]) -> list[LearnableSound]:
    """Return the sounds of tiles that the camera saw. Plays with a pass just before or after them are left out."""
    found: list[LearnableSound] = []
    for at, (entry, t_ns) in enumerate(zip(kept, times_ns, strict=True)):
        is_seen = isinstance(entry.action, Play) and seen.moments[entry.seq].origin is Origin.SEEN
        around = (other for other in (at - 1, at + 1) if 0 <= other < len(kept))
        passed = (abs(times_ns[other] - t_ns) < _APART_NS for other in around if isinstance(kept[other].action, Knock))
        if is_seen and not any(passed) and _is_confirmed(seen.session.state, kept, at):
            found += _between(seen.sounds, t_ns - KNOCK_WAITS_NS, t_ns + TILE_ECHOES_NS)
    return found


def _denied(seen: MatchSounds, times_ns: Sequence[int]) -> list[LearnableSound]:
    """Return the sounds about which a player answered that nobody passed."""
    found = []
    for denial in seen.denials:
        after_ns = max((t_ns for t_ns in times_ns if t_ns < denial.t_ns), default=0)
        heard_ns = denial.t_ns - KNOCK_WAITS_NS
        found.append(_best(seen.sounds, max(after_ns, heard_ns - _LATEST_NS), heard_ns))
    return [sound for sound in found if sound is not None]


def _between(sounds: Sequence[LearnableSound], from_ns: int, until_ns: int) -> list[LearnableSound]:
    return [sound for sound in sounds if from_ns < sound.t_ns <= until_ns]


def _best(sounds: Sequence[LearnableSound], from_ns: int, until_ns: int) -> LearnableSound | None:
    """Return the most likely pass among the sounds of a time span."""
    return max(_between(sounds, from_ns, until_ns), key=lambda sound: sound.hit, default=None)


class Learning:
    """Learns during a match, and changes the classifier of the table when a hand is dealt."""

    def __init__(self, knocks: learned_file.TableKnocks, session: Session, use: Callable[[Classifier], None]) -> None:
        self._knocks, self._use = knocks, use
        self.seen = MatchSounds.of(session)
        """The sounds of the match."""
        self._learned, self._is_stored = knocks.learned, knocks.path.exists()

    def heard(self, sound: ClassifiedSound, t_ns: int) -> None:
        """Observe a sound. *t_ns* is its time on the clock of the game."""
        self.seen = self.seen.heard(sound, t_ns)

    def after(self, step: Step) -> None:
        """Observe a step of the sitting. Learn if a hand is dealt."""
        self.seen = self.seen.after(step)
        if any(isinstance(event, NewHand | Redeal) for event in step.events):
            self.learn()

    def learn(self) -> None:
        """Learn from the match so far. The previous classifier stays in use if this would make it worse."""
        if self._is_stored and not self._knocks.path.exists():
            log.info("what was learned about knocks was deleted path=%s", self._knocks.path)
            self._knocks, self._is_stored = self._knocks.forgotten(), False
            self.seen = replace(self.seen, sounds=())
            self._learned = self._knocks.learned
            self._use(self._knocks.classifier())
        shipped = load_classifier()
        learned = learned_file.merge_learned(examples_of(self.seen, shipped.name), self._knocks.learned)
        if learned == self._learned:
            return
        self._learned = learned
        counts = f"passes={len(learned.knocks)} others={len(learned.others)}"
        classifier = self._knocks.improvement(shipped, learned)
        if classifier is None:
            # Stored all the same: they may help together with later ones.
            log.warning("learned knocks are not used yet, because they would be detected worse %s", counts)
        else:
            log.info("learned knocks %s", counts)
            self._use(classifier)
        if self._is_stored or learned.knocks or learned.others:
            self._store(learned)

    def _store(self, learned: TableExamples) -> None:
        try:
            learned_file.save_learned(self._knocks.path, learned)
            self._is_stored = True
        except OSError as error:
            log.warning("learned knocks cannot be stored: %s", sentence_of(error))


# Log odds that the number by which a tile is joined is on the half nearer to its neighbour, and minimum log probability
# of a number. A half that is read right outweighs the place.
_NEARER = 3.0
_MIN_CHANCE = 1e-6


@dataclass(frozen=True, slots=True)
class NamedTile:
    """A tile on the table that the players have named.

    Attributes:
        key: Its name in the layout.
        seen: Its last reading.
        near: Centre of its neighbour, and the number next to it. None if unknown.
    """

    key: NodeId
    tile: Tile
    seen: SeenTile
    near: tuple[PointPx, int] | None = None

    @property
    def read(self) -> tile_set.TilePair:
        """Numbers of its halves as read."""
        first, second = (half.alone.pips for half in self.seen.halves)
        return first, second

    @property
    def pips(self) -> tile_set.TilePair:
        """Its numbers, in the likelier order of the halves of its reading."""
        low, high = self.tile.low, self.tile.high
        return max((low, high), (high, low), key=self._log_weight)

    def _log_weight(self, pips: tile_set.TilePair) -> float:
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
        self._fixed: tuple[tile_set.Example, ...] | None = None
        self._lessons: tile_set.Lessons | None = None
        # Named tiles of the match. Those that were not learned have no example.
        self._taught: dict[NodeId, tuple[Tile, tile_set.ExampleTile | None]] = {}
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
            if any(isinstance(event, NewHand | Redeal) for event in step.events):
                self._stored, self._lessons = self._load(), None  # The players may have deleted the last tile.
            earlier = set(self._taught)
            self._follow(step, notes)
            for tile in named_tiles(before, step):
                if tile.key not in earlier:
                    self._learn(tile, notes)
        except CalibrationError as error:
            log.warning("a correction is not learned: %s", sentence_of(error))
        now = self._stored.exemplars
        return Taught(None if now == exemplars else replace(self._base, exemplars=now), tuple(notes))

    def _follow(self, step: Step, notes: list[Phrase]) -> None:
        """Forget the tiles whose correction was undone. A tile that is named anew is not learned in this match."""
        named = {NodeId(entry.seq): getattr(entry.action, "tile", None) for entry in entries(step.session.state)}
        for key, (tile, example) in tuple(self._taught.items()):
            now = named.get(key)
            if now == tile:
                continue
            if example is not None:
                known, fixed = self._known()
                self._keep(tile_set.lessons_of(tuple(old for old in known.examples if old.tile != example), fixed))
                notes.append(phrase("Forgot how the {tile} looks.", tile=tile))
            self._taught[key] = (tile if now is None else now, None)
            if now is None or (example is not None and Tile.of(*example.read) == now):
                del self._taught[key]

    def _learn(self, named: NamedTile, notes: list[Phrase]) -> None:
        tiles, pips = tuple(tile for tile in self._view.tiles if tile.halves), named.pips
        at = in_place_of(named.seen, tiles)
        if self._image is None or at is None or pips == named.read:
            return  # the tile is not in the last picture, or was read right
        others = (*tiles[:at], *tiles[at + 1 :])
        node_tiles = {node.id: node.tile for node in _nodes(self._session)}
        doubted = tuple(known.tile for known in self._session.places.known if _is_misread(known, node_tiles))
        confident = (
            number
            for number, tile in enumerate(others, 1)
            if all(half.alone.confidence >= SURE for half in tile.halves) and in_place_of(tile, doubted) is None
        )
        image = self._view.aim.straightened(self._image)
        correction = tile_set.TileCorrection(image, poses_of((tiles[at], *others)), pips, named.read, tuple(confident))
        known, fixed = self._known()
        lessons, verdict = tile_set.learn_correction(known, correction, self._reader, fixed)
        log.info("correction of a tile tile=%s read=%s-%s result=%s", named.tile, *named.read, verdict.name.lower())
        is_learned = verdict is tile_set.LessonResult.LEARNED
        self._taught[named.key] = (named.tile, lessons.examples[-1].tile if is_learned else None)
        if lessons is not known:
            self._keep(lessons)
        notes.append(_note(verdict, named.tile))

    def _known(self) -> tuple[tile_set.Lessons, tuple[tile_set.Example, ...]]:
        """Return the lessons of the table and the examples of the calibrated set, which are computed once."""
        if self._fixed is None:
            calibrated = self._calibrated if self._base.weights else None
            self._fixed = () if calibrated is None else tile_set.calibrated_examples(calibrated, self._reader)
        if self._lessons is None:
            self._lessons = tile_set.lessons_of(tile_set.examples_from(self._stored.tiles, self._reader), self._fixed)
        return self._lessons, self._fixed

    def _keep(self, lessons: tile_set.Lessons) -> None:
        """Use and store what was learned."""
        self._lessons, self._stored = lessons, learned_file.tiles_to_store(lessons)
        try:
            learned_file.save_tiles(self._path, self._stored)
        except OSError as error:
            log.warning("learned tiles cannot be stored: %s", sentence_of(error))

    def _load(self) -> learned_file.TableTiles:
        try:
            return learned_file.load_tiles(self._path)
        except (CalibrationError, OSError) as error:
            log.warning("learned tiles are not used: %s", sentence_of(error))
            return learned_file.TableTiles()


def _is_misread(known: Known, tiles: Mapping[NodeId, Tile]) -> bool:
    """Return True if a tile of the layout is read differently from its play."""
    tile = tiles.get(known.node)
    return tile is not None and numbers_of(known.tile) != (tile.low, tile.high)


def _note(verdict: tile_set.LessonResult, tile: Tile) -> Phrase:
    match verdict:
        case tile_set.LessonResult.LEARNED:
            return phrase("Learned how the {tile} looks.", tile=tile)
        case tile_set.LessonResult.HARMFUL:
            return phrase("The {tile} counts, but was not learned: other tiles would be misread.", tile=tile)
        case tile_set.LessonResult.CONTRADICTORY:
            return phrase("The {tile} counts, but contradicts an earlier correction: neither is learned.", tile=tile)
        case _:
            assert_never(verdict)
