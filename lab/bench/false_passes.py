"""Count sounds mistaken for a pass in simulated games, with the real detector and the real sitting.

    python -m lab.bench.false_passes [--games 10] [--hands 3] [--seed 1] [--sides 0.7]
        [--doubtful 0.33 | --microphones]

Each game is a few hands of a simulated sitting of normal difficulty, without rendered pictures: a perfect reader sees
the tiles at 10 frames per second once nothing has moved for 0.4 s. All sounds are modelled: played and drawn tiles,
slams, tiles that are dealt or swept away, knocks, glasses and voices. The output of the knock detector replaces the
simulated knocks and is fed to the sitting 0.2 s later. The players answer questions.

Each pass is compared with the true ones by its player and the number of tiles before it, after the game. A missed pass
is silent if no question was asked in the 12 s after the knock.

With `--doubtful`, no sound is modelled. This share of the simulated knocks has a confidence of 0.2 to 0.6, a tenth of
the tiles makes a doubtful sound too, and nobody answers questions about passes. A missed pass is then silent if no
question about passes was open.

With `--microphones`, each game is heard through another of ten unlike microphones, rooms and recorders.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from engine import Draw, Knock, NewHand, Play, Redeal, Rules, Scored, Seat, State, apply, history
from engine.rules.options import profile
from hardware.knock.detector import KnockDetector
from hardware.knock.sensor import DOUBTFUL, NS_PER_S, Sound, SoundBlock
from lab.bench.knock import ALTERATIONS
from lab.bench.material.harness import options_of
from lab.matches.game_script import FramePlan, Planned, SimulatedInput, TilesPlan, TrueEvent, ZonedTile, answer_of
from lab.matches.room import MARGIN_PX
from lab.matches.simulation import Simulation, SimulationSettings
from lab.render.paint import STRAIGHT, Film
from lab.sounds.signals import RATE_HZ
from tallybone.play.parts import knock_of
from tallybone.session.feeding import SURE_KNOCK, feed
from tallybone.session.inputs import KnockHeard
from tallybone.session.questions import Question
from tallybone.session.sitting import ByHand, opened
from tests.hardware.knock.scenes import scene_of
from vision.reading import SeenTile
from vision.tracking.settle import EntrySide
from vision.tracking.table_view import Change, ChangeKind, TableView

_GAMES = (("block", 2), ("draw", 3), ("allfives", 4), ("bones", 2), ("block", 4))
_NAMES = ("Ann", "Ben", "Cleo", "Dan")
_SETTLES_NS = 400_000_000
_HEARD_LATE_NS = 200_000_000
_FOLLOWS_NS = 12 * NS_PER_S
# Other sounds per minute, and minimum number of tiles moved at once that sound like a shuffle.
_OTHERS_A_MINUTE = 6.0
_SHUFFLED = 3
_OTHERS = (Sound.GLASS, Sound.SPEECH, Sound.NOTHING)
_BLOCK = 1024
# Share of the moved tiles that make a doubtful sound, with `--doubtful`.
_SOUNDS = 0.1
_MICROPHONES = (
    "none",
    "-6 dB per octave",
    "+6 dB per octave",
    "low-pass 3000 Hz",
    "telephone, 8 kHz",
    "8 bits",
    "noise suppression",
    "noise 20 dB below the hits",
    "codec",
    "room, 2.0 m",
)
# Maximum number of answers after each input.
_MAX_ANSWERS = 4


@dataclass(slots=True)
class Game:
    """Results of a game.

    Attributes:
        sounds: Sounds and their times in seconds.
        detected: Number of sounds reported to the sitting: knocks, and others that may be a pass.
        figures: Counts of hands and passes, as from `compared`.
    """

    seconds: float = 0.0
    sounds: list[tuple[Sound, float]] = field(default_factory=list)
    detected: int = 0
    asked_ns: list[int] = field(default_factory=list)
    answered: int = 0
    figures: Counter[str] = field(default_factory=Counter)

    def sound_count(self, *kinds: Sound) -> int:
        """Return the number of sounds of the given kinds."""
        return sum(kind in kinds for kind, _ in self.sounds)


def main() -> None:
    chosen = options_of(__doc__, games=10, hands=3, seed=1, doubtful=0.0, microphones=False, sides=1.0)
    if chosen.doubtful > 0:
        judge_doubts(chosen.games, chosen.hands, chosen.seed, chosen.doubtful, chosen.sides)
        return
    games = []
    for number in range(chosen.games):
        rules, players = _GAMES[number % len(_GAMES)]
        heard_by = _MICROPHONES[number % len(_MICROPHONES) if chosen.microphones else 0]
        game = play(profile(rules), _NAMES[:players], chosen.seed + number, chosen.hands, heard_by, chosen.sides)
        games.append(game)
        print(
            f"{rules} of {players}, microphone: {heard_by}: "
            f"{game.seconds:.0f} s, {game.sound_count(Sound.TILE)} tiles, "
            f"{game.sound_count(Sound.SLAM)} slams, {game.sound_count(Sound.SHUFFLE)} shuffles, "
            f"{game.sound_count(*_OTHERS)} others; {game.detected} sounds reported; "
            f"{_as_text(game.figures)}, {game.answered} answers",
            flush=True,
        )
    minutes = sum(game.seconds for game in games) / 60
    print(f"{len(games)} games of {minutes:.0f} minutes: {_as_text(sum((game.figures for game in games), Counter()))}")


def play(
    rules: Rules, players: tuple[str, ...], seed: int, hands: int, heard_by: str = "none", sides: float = 1.0
) -> Game:
    """Play a game and return its results.

    Args:
        heard_by: Name of a microphone in `ALTERATIONS`.
        sides: Share of the hands whose side is known.
    """
    simulation = Simulation(SimulationSettings(rules=rules, players=players, seed=seed, hands=hands))
    planned = list(simulation.plan())
    game = Game(seconds=planned[-1].t_ns / NS_PER_S)
    rng = np.random.default_rng([seed, 1])
    game.sounds = sounds_of(planned, game.seconds, rng)
    heard = heard_in(rng, game, len(players), heard_by)
    table, knocks_ns = _Table(simulation, rules, players, sides=sides), list[int]()
    for item in (*planned, None):
        while heard and (item is None or heard[0][0] + _HEARD_LATE_NS <= item.t_ns):
            t_ns, knock = heard.pop(0)
            table.enter(knock, max(t_ns, table.t_ns), game)
        if item is not None:
            table.follow(item, game)
            knocks_ns += [item.t_ns] if isinstance(item, TrueEvent) and isinstance(item.event, Knock) else []
    game.figures = compared(table.truth, table.session.state, knocks_ns, game.asked_ns)
    return game


@dataclass(frozen=True, slots=True)
class HandDone:
    """Passes and points of a hand.

    Attributes:
        passes: Number of passes by player and number of tiles before.
    """

    passes: Counter[tuple[Seat, int]] = field(default_factory=Counter)
    points: Counter[Seat] = field(default_factory=Counter)
    is_marked: bool = False


def judge_doubts(games: int, hands: int, seed: int, share: float, sides: float) -> None:
    """Play games with doubtful knocks, and print the figures of each and of all."""
    total: Counter[str] = Counter()
    for number in range(games):
        rules, players = _GAMES[number % len(_GAMES)]
        found = play_doubtful(profile(rules), _NAMES[:players], seed + number, hands, share, sides)
        print(f"{rules} of {players}: {_as_text(found)}", flush=True)
        total += found
    print(f"{games} games: {_as_text(total)}")


def _as_text(found: Counter[str]) -> str:
    counts = ("hands", "right", "unmarked", "passes", "doubtful", "false", "missed", "silent", "questions")
    return ", ".join(f"{found[name]} {name}" for name in counts)


def play_doubtful(
    rules: Rules, players: tuple[str, ...], seed: int, hands: int, share: float, sides: float
) -> Counter[str]:
    """Return the results of a game with doubtful knocks and without answers about them."""
    simulation = Simulation(SimulationSettings(rules=rules, players=players, seed=seed, hands=hands))
    rng, found = np.random.default_rng([seed, 2]), Counter[str]()
    table = _Table(simulation, rules, players, sides=sides)
    knocks_ns, asked_ns, asked = list[int](), list[int](), set[str]()
    for item in simulation.plan():
        chance = 1.0
        match item:
            case SimulatedInput(value=KnockHeard() as knock):
                chance = rng.uniform(DOUBTFUL, SURE_KNOCK) if rng.random() < share else 1.0
                table.feed(replace(knock, confidence=chance), item.t_ns)
            case TilesPlan() if rng.random() < _SOUNDS:
                chance = rng.uniform(DOUBTFUL, 0.4)
                table.feed(KnockHeard(confidence=chance), item.t_ns)
            case TrueEvent(event=Knock()):
                knocks_ns.append(item.t_ns)
            case _:
                pass
        found["doubtful"] += chance < SURE_KNOCK
        table.follow(item, Game(), about_passes=False)
        text = {question.ambiguity.text for question in table.session.questions if _is_about_passes(question)}
        asked_ns += [table.t_ns] if text else []
        found["questions"] += len(text - asked)
        asked = text
    return found + compared(table.truth, table.session.state, knocks_ns, asked_ns)


def compared(truth: State, state: State, knocks_ns: Sequence[int], asked_ns: Sequence[int]) -> Counter[str]:
    """Compare the passes and points of a match with the true ones.

    Args:
        knocks_ns: Time of each true pass.

    Returns:
        Number of hands, of hands with the right points, of wrong hands without an inferred action ("unmarked"), of true
        passes, and of false, missed and silently missed ones.
    """
    found = Counter[str]()
    times = iter(knocks_ns)
    true, heard = hands_of(truth), hands_of(state)
    for number, hand in enumerate(true):
        own = heard[number] if number < len(heard) else HandDone()
        found["hands"] += 1
        found["right"] += own.points == hand.points
        found["unmarked"] += own.points != hand.points and not own.is_marked
        found["passes"] += hand.passes.total()
        found["false"] += (own.passes - hand.passes).total()
        left = Counter(own.passes)
        for done in hand.passes.elements():
            knock_ns = next(times)
            is_missed = not left[done]
            left[done] -= not is_missed
            found["missed"] += is_missed
            found["silent"] += is_missed and not any(0 <= at_ns - knock_ns <= _FOLLOWS_NS for at_ns in asked_ns)
    return found


def hands_of(state: State) -> list[HandDone]:
    """Return the passes and points of each hand."""
    hands: list[HandDone] = []
    tiles = 0
    for step in history(state):
        action = step.entry.action
        if isinstance(action, NewHand | Redeal):
            hands.append(HandDone())
            tiles = 0
        if not hands:
            continue
        if isinstance(action, Knock):
            hands[-1].passes[action.seat, tiles] += 1
        tiles += isinstance(action, Play)
        for outcome in step.outcomes:
            if isinstance(outcome, Scored):
                hands[-1].points[outcome.seat] += outcome.points
        if step.entry.inferred:
            hands[-1] = replace(hands[-1], is_marked=True)
    return hands


def _is_about_passes(question: Question) -> bool:
    return any(" passed" in choice for choice in question.ambiguity.choices)


def sounds_of(planned: Sequence[Planned], seconds: float, rng: np.random.Generator) -> list[tuple[Sound, float]]:
    """Return all sounds with their times in seconds."""
    sounds: list[tuple[Sound, float]] = []
    before: tuple[ZonedTile, ...] = ()
    slam_ns: int | None = None
    for item in planned:
        match item:
            case TilesPlan(t_ns=t_ns, tiles=tiles):
                moved = len(set(tiles) ^ set(before))
                kind = Sound.SLAM if slam_ns == t_ns else Sound.TILE if moved < _SHUFFLED else Sound.SHUFFLE
                sounds += [(kind, t_ns / NS_PER_S)] if moved else []
                before = tiles
            case SimulatedInput(t_ns=t_ns, value=KnockHeard()):
                slam_ns = t_ns
                sounds.append((Sound.KNOCK, t_ns / NS_PER_S))
            case _:
                pass
    slammed = {t_s for kind, t_s in sounds if kind is Sound.SLAM}
    sounds = [sound for sound in sounds if sound[0] is not Sound.KNOCK or sound[1] not in slammed]
    others = rng.uniform(1, seconds, rng.poisson(_OTHERS_A_MINUTE * seconds / 60)).tolist()
    return sorted([*sounds, *((_OTHERS[int(rng.integers(3))], t_s) for t_s in others)], key=lambda sound: sound[1])


def heard_in(rng: np.random.Generator, game: Game, seats: int, heard_by: str) -> list[tuple[int, KnockHeard]]:
    """Return the knocks that the detector finds, with their times, as inputs of the sitting."""
    scene = scene_of(rng, game.sounds, lasts_s=game.seconds + 3)
    samples = ALTERATIONS[heard_by](rng, scene.samples.astype(np.float64)).astype(np.float32)
    detector = KnockDetector()
    heard: list[tuple[int, KnockHeard]] = []
    for first in range(0, len(samples), _BLOCK):
        block = SoundBlock(samples[first : first + _BLOCK], first * NS_PER_S // RATE_HZ)
        knocks = [sound for sound in detector.feed(block) if sound.kind is Sound.KNOCK or sound.hit >= DOUBTFUL]
        heard += [(sound.t_ns, knock_of(sound, seats)) for sound in knocks]
    game.detected = len(heard)
    return heard


class _Table:
    """A sitting with a perfect reader, and players who know the true match."""

    def __init__(self, simulation: Simulation, rules: Rules, players: tuple[str, ...], *, sides: float = 1.0) -> None:
        room = simulation.room
        self._film = Film(room.scene, seed=1, margin_px=MARGIN_PX, rng=np.random.default_rng(1))
        self._zones, self._size_px = room.zones, (room.width_px, room.height_px)
        self.session, _ = opened(rules, players, room.zones)
        self.truth = State()
        self._about_passes = True
        self._actors: set[Seat] = set()
        self._sides, self._rng = sides, np.random.default_rng(2)
        self._tiles: tuple[ZonedTile, ...] = ()
        self._seen: dict[ZonedTile, SeenTile] = {}
        self._moved_ns: int | None = None
        self._moved_since_ns: int | None = None
        self.t_ns = 0

    def follow(self, item: Planned, game: Game, *, about_passes: bool = True) -> None:
        """Follow the next item. If not *about_passes*, nobody answers questions about undecided passes."""
        self._about_passes = about_passes
        self.t_ns = max(self.t_ns, item.t_ns)
        match item:
            case TrueEvent(event=event):
                self.truth, _ = apply(self.truth, event)
                self._actors |= {event.seat} if isinstance(event, Play | Draw) else set()
            case TilesPlan(tiles=tiles):
                self._tiles = tiles
            case SimulatedInput(value=value) if not isinstance(value, KnockHeard):
                self.enter(value, item.t_ns, game)
            case FramePlan():
                self._look(item, game)
            case _:
                pass

    def enter(self, item: ByHand | TableView, t_ns: int, game: Game) -> None:
        """Feed an input to the sitting, and let the players answer."""
        self.feed(item, t_ns)
        for _ in range(_MAX_ANSWERS):
            questions = self.session.questions
            game.asked_ns += [t_ns] if any(_is_about_passes(question) for question in questions) else []
            if not self._about_passes:
                questions = tuple(question for question in questions if not _is_about_passes(question))
            answer = answer_of(replace(self.session, questions=questions), self.truth) if questions else None
            if answer is None:
                return
            before = self.session
            self.feed(answer, t_ns)
            game.answered += 1
            if self.session == before:
                return

    def feed(self, item: ByHand | TableView, t_ns: int) -> None:
        """Feed an input to the sitting."""
        self.t_ns = max(self.t_ns, t_ns)
        self.session, _ = feed(self.session, item, t_ns=self.t_ns)

    def _look(self, shot: FramePlan, game: Game) -> None:
        """Feed a view of a frame to the sitting."""
        if shot.moment.reaches or shot.moment.moving:
            self._moved_since_ns = shot.t_ns if self._moved_ns is None else self._moved_since_ns
            self._moved_ns = shot.t_ns
        is_settled = self._moved_ns is None or shot.t_ns - self._moved_ns >= _SETTLES_NS
        changes = tuple(self._changes()) if is_settled else ()
        came_from = self._came_from() if changes else ()
        self._actors = set() if changes else self._actors
        since_ns = self._moved_since_ns
        if is_settled:
            self._moved_ns = None
        view = TableView(
            tuple(self._seen.values()), (), changes, is_settled, since_ns, came_from, size_px=self._size_px
        )
        self.enter(view, shot.t_ns, game)

    def _changes(self) -> Iterator[Change]:
        now = set(self._tiles)
        for gone in [tile for tile in self._seen if tile not in now]:
            yield Change(ChangeKind.REMOVED, self._seen.pop(gone))
        fresh = [tile for tile in self._tiles if tile not in self._seen]
        for placed, tile in zip(fresh, self._film.truth([placed.placed for placed in fresh], STRAIGHT), strict=True):
            self._seen[placed] = tile
            yield Change(ChangeKind.PLACED, tile)

    def _came_from(self) -> tuple[EntrySide, ...]:
        """Return the side of the only player who acted in the true match since the last change, or is to move."""
        hand = None if self.truth.game is None else self.truth.game.hand
        turns = {hand.turn} if hand is not None else set()
        seat, *others = self._actors or turns or {None}
        if seat is None or others or not self._zones.seats or (self._sides < 1 and self._rng.random() >= self._sides):
            return ()
        return (EntrySide(self._zones.seats[seat].side, 1.0),)


if __name__ == "__main__":
    main()
