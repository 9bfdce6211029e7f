"""Measure the cost and the accuracy of the knock detector.

    python -m lab.bench.knock [--part PART,...] [--count 300] [--seed 1] [--games 10] [--recordings FOLDER]

The parts:

load: the share of a core, and the CPU time for an hour of sound, here and on a core of a Raspberry Pi 4. Blocks are
64 ms, as from a microphone. Only the thread's own CPU time counts. The factor for the Pi is an upper estimate: its
cores reach 1400 to 1640 MIPS in 7-zip with a single thread (sbc-bench), 2.5 to 3 times less than a core of the server
that it was compared with, and vector code loses up to 6 times. Two references are measured in the same run, to compare
machines.

alterations: the share of knocks reported after a microphone, recorder or room changed the sound, for modelled knocks at
random tables, and for recordings of taps (`taps-*.wav`, each of a single kind) if there are any. Each
second figure is after the table has learned ten knocks that were altered in the same way.

others: the share of everyday sounds in which a knock is reported, dry and as recorded in random rooms by random
devices, and of tiles, slams and shuffles.

recorded: false knocks per minute in sounds recorded by others, in Debian packages that training does not use. Packages
that are not installed are skipped; `apt install` those of `_OTHER_COLLECTIONS`, and `pip install soundfile`.

distance: the share of modelled knocks reported in random rooms of 20 to 150 m3, at a distance.

games: knocks reported in modelled games without knocks.
"""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from calibration.knock import fit_correction
from hardware.knock.classifier import Classifier, load_classifier, measure
from hardware.knock.detector import KnockDetector, SoundFinder
from hardware.knock.drivers.wav import read_wav
from hardware.knock.sensor import NS_PER_S, Sound, SoundBlock
from lab.bench.material.harness import options_of
from lab.packages import Collection, files_of
from lab.sounds import devices
from lab.sounds.backgrounds import television
from lab.sounds.everyday import EVERYDAY
from lab.sounds.scenes import LEAD, hit, random_table
from lab.sounds.signals import RATE_HZ, Waveform, draw_microphone, quantize, read_sound
from tests.hardware.knock.scenes import WITHOUT_KNOCKS, draw_scene, scene_of

# Streams of sound for benchmarks of the knock detector: modelled hits, everyday sounds, and alterations of both.


_HIT_EVERY_S = 1.5
_LEARN_EVERY_S = 0.75
_FIRST_S = 1.0
# Peak of hits in a stream and level of its constant noise, relative to full scale.
_PEAK = 0.5
_NOISE = 10 ** (-70 / 20)
# Level of the noise of a room below the hits at 1 m, in dB: 65 dB sound pressure level and 25 dB.
_ROOM_NOISE_BELOW_DB = 40.0
# Pause after each everyday sound.
_PAUSE_S = 1.0
_LOUDNESS_DB = (-20.0, 0.0)

Altering = Callable[[np.random.Generator, Waveform], Waveform]
"""Returns a sound as changed by a device or room. Constant alterations ignore the random generator."""
Row = tuple[str, str]
"""A printed row: what was measured, and the figures."""


@dataclass(frozen=True, slots=True, eq=False)
class Stream:
    """A recording with known sounds.

    Attributes:
        samples: Samples at 16 kHz, shape (N,), float64.
        starts_s: Start of each sound in seconds.
        ends_s: End of each sound in seconds.
    """

    samples: Waveform
    starts_s: tuple[float, ...]
    ends_s: tuple[float, ...]

    def altered(self, rng: np.random.Generator, alter: Altering) -> Stream:
        """Return the stream after an alteration."""
        return replace(self, samples=alter(rng, self.samples))


def stream_of_hits(rng: np.random.Generator, kind: Sound, count: int, *, learned: int = 0) -> Stream:
    """Return hits at a random table, 1.5 s apart, by a microphone with a level response and no echoes.

    Args:
        learned: Number of further hits before them, 0.75 s apart, for a table to learn from.
    """
    table, drawn = random_table(rng), draw_microphone(rng)
    microphone = replace(drawn, response=np.ones_like(drawn.response), smear_db=None)
    first_s = _FIRST_S + _LEARN_EVERY_S * learned
    starts_s = (
        *(_FIRST_S + _LEARN_EVERY_S * index for index in range(learned)),
        *(first_s + _HIT_EVERY_S * index for index in range(count)),
    )
    samples = rng.normal(0, _NOISE, round((first_s + _HIT_EVERY_S * count) * RATE_HZ))
    for start_s in starts_s:
        sound = hit(rng, kind, table, microphone)
        first = round(start_s * RATE_HZ) - LEAD
        samples[first : first + len(sound)] += _PEAK * sound / np.abs(sound).max()
    return Stream(samples, starts_s, tuple(start_s + 0.1 for start_s in starts_s))


def stream_of(rng: np.random.Generator, model: Callable[[np.random.Generator], Waveform], count: int) -> Stream:
    """Return sounds of a model with a peak of -26 to -6 dB, a second apart."""
    parts, starts_s, ends_s = [np.zeros(round(_FIRST_S * RATE_HZ))], [], []
    at = len(parts[0])
    for _ in range(count):
        sound = model(rng) * _PEAK * 10 ** (rng.uniform(*_LOUDNESS_DB) / 20)
        parts += [sound, np.zeros(round(_PAUSE_S * RATE_HZ))]
        starts_s.append(at / RATE_HZ)
        ends_s.append((at + len(sound)) / RATE_HZ)
        at += len(sound) + len(parts[-1])
    samples = np.concatenate(parts)
    return Stream(samples + rng.normal(0, _NOISE, len(samples)), tuple(starts_s), tuple(ends_s))


def at_distance(rng: np.random.Generator, sound: Waveform, *, distance_m: float) -> Waveform:
    """Return a sound in a random room with noise 40 dB below a hit at 1 m, so that the noise is louder farther away."""
    heard = devices.reverberate(sound, devices.room_response(rng, devices.draw_room(rng, distance_m=distance_m)))
    noise = devices.draw_background(rng, len(sound))
    below_db = _ROOM_NOISE_BELOW_DB - 20 * float(np.log10(distance_m))
    return _scaled(heard + devices.add_background(sound, noise, below_db=below_db) - sound)


def _scaled(sound: Waveform) -> Waveform:
    return np.asarray(_PEAK * sound / (np.abs(sound).max() + 1e-12))


def _respond(rng: np.random.Generator, sound: Waveform, *, response: devices.Response) -> Waveform:
    return np.asarray(devices.apply_response(sound.astype(np.float32), response), np.float64)


def _noisy(rng: np.random.Generator, sound: Waveform, *, below_db: float) -> Waveform:
    """Add pink noise."""
    noise = devices.coloured_noise(rng, len(sound), slope=1.0)
    return devices.add_background(sound, noise, below_db=below_db)


def _alterations() -> dict[str, Altering]:
    rows: dict[str, Altering] = {"none": lambda rng, sound: sound}
    for db in (-6, -4, -2, 2, 4, 6):
        rows[f"{db:+d} dB per octave"] = partial(_respond, response=devices.tilted(db))
    for at_hz in (500, 800, 1_500, 2_500, 4_000):
        for db in (-8, 8):
            rows[f"{db:+d} dB at {at_hz} Hz"] = partial(_respond, response=devices.peaking(at_hz, db))
    for limit_hz in (3_000, 5_000):
        rows[f"low-pass {limit_hz} Hz"] = partial(_respond, response=devices.low_pass(limit_hz))
    rows["high-pass 200 Hz"] = partial(_respond, response=devices.high_pass(200))
    rows["20 dB clipped"] = lambda rng, sound: np.clip(sound / np.abs(sound).max() * 10, -1, 1)
    rows["8 bits"] = lambda rng, sound: quantize(sound, bits=8)
    rows["telephone, 8 kHz"] = lambda rng, sound: devices.telephone(sound)
    rows["noise suppression"] = lambda rng, sound: devices.suppress_noise(sound)
    rows["noise gate"] = lambda rng, sound: devices.gate(sound)
    rows["automatic gain"] = lambda rng, sound: _scaled(devices.level(sound))
    rows["codec"] = lambda rng, sound: devices.encode(sound)
    for db in (30, 20, 10, 6):
        rows[f"noise {db} dB below the hits"] = partial(_noisy, below_db=db)
    for distance_m in (0.5, 2.0):
        rows[f"room, {distance_m} m"] = partial(at_distance, distance_m=distance_m)
    rows["random rooms and devices"] = lambda rng, sound: np.asarray(devices.recorded_by_chance(rng, sound), np.float64)
    return rows


ALTERATIONS: Mapping[str, Altering] = _alterations()
"""Alterations of recordings by their description. The first one changes nothing."""


def concatenated(streams: Sequence[Stream]) -> Stream:
    """Return streams one after the other."""
    starts_s: list[float] = []
    ends_s: list[float] = []
    at_s = 0.0
    for stream in streams:
        starts_s += [at_s + start_s for start_s in stream.starts_s]
        ends_s += [at_s + end_s for end_s in stream.ends_s]
        at_s += len(stream.samples) / RATE_HZ
    return Stream(np.concatenate([stream.samples for stream in streams]), tuple(starts_s), tuple(ends_s))


def hit_times_s(samples: Waveform, *, share: float, gap_s: float) -> NDArray[np.float64]:
    """Return the times of hits in a recording in seconds: above a *share* of its peak, after a pause of *gap_s*."""
    at_s = np.flatnonzero(np.abs(samples) > share * np.abs(samples).max()) / RATE_HZ
    return np.asarray(at_s[np.diff(at_s, prepend=-gap_s - 1) > gap_s])


# First number of all seeds. Training sets have other ones.
_HELD_OUT = 31_337
_BLOCK_S = 0.064
_PI_FACTOR = 6.0
# Number of knocks that a table learns from, and of those that it is then judged by.
_LEARNED = 10
_JUDGED = 10
# Number of everyday sounds of each group, and of knocks at each distance, relative to --count.
_SHARE_OF_COUNT = 2 / 3
_DISTANCES_M = (0.3, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0)
# Number of everyday sounds recorded by the same device.
_SOUNDS_A_DEVICE = 5
# Number of sounds in a game of four hands, and the time around a knock in which the table looks for a tile.
_SOUNDS_A_GAME = 80
_EYE_LOOKS_S = 2.0
# Minimum level of a hit relative to the loudest one, and minimum pause before it.
_HIT_SHARE = 0.15
_HIT_GAP_S = 0.19
# Maximum distance of a detected knock from the start of its hit. Codecs and reverberation blur the start.
_NEAR_S = 0.050
# Time after an everyday sound in which a knock is its echo.
_ECHO_S = 0.3
# Time before the first judged hit, in which the detector adapts to the noise.
_LEAD_IN_S = 0.5
# Recorded sounds that training does not use: speech of other people and languages, drums, and effects of games.
_OTHER_COLLECTIONS = (
    Collection("asterisk-core-sounds-es-wav", "asterisk/sounds/es_*/**/*.wav"),
    Collection("asterisk-core-sounds-it-wav", "asterisk/sounds/it_*/**/*.wav"),
    Collection("ktuberling-data", "ktuberling/sounds/*/*.*"),
    Collection("kajongg", "kajongg/voices/**/*.ogg"),
    Collection("hydrogen-drumkits", "hydrogen/data/drumkits/*/*.[wf]*"),
    Collection("supertux-data", "games/supertux2/sounds/**/*.wav"),
    Collection("gnubg-data", "gnubg/sounds/*.wav"),
    Collection("scratch", "scratch/Media/Sounds/**/*.wav"),
)
_LONGEST_S = 20
_MAX_FILES = 200
_SILENT = 1e-3
_TILES = (Sound.TILE, Sound.SLAM, Sound.SHUFFLE)
_TILE_EVERY_S = 2.5
_TILES_A_SCENE = 10


def main() -> None:
    chosen = options_of(
        __doc__,
        part=(",".join(PARTS), "parts with commas"),
        count=(300, "modelled knocks for each alteration"),
        seed=(1, "of the modelled sounds, which are in no training set"),
        seconds=(60, "length of each sound for the load"),
        games=10,
        recordings=(Path, "folder with recordings of taps"),
        library=(Path("/usr/share"), "folder with sounds of packages"),
    )
    for part in chosen.part.split(","):
        for name, text in PARTS[part](chosen):
            print(f"{name:>30s}: {text}", flush=True)


def _generator(*seeds: int) -> np.random.Generator:
    """Return a random generator that no training set uses."""
    return np.random.default_rng([_HELD_OUT, *seeds])


def load_rows(seconds: int) -> Iterator[Row]:
    """Yield the cost of each sound, and of the references."""
    print("load: share of a core, CPU time for an hour of sound, detected sounds; the same on a core of a Pi 4")
    rng = np.random.default_rng(1)
    quiet = rng.normal(0, 0.0005, seconds * RATE_HZ)
    voices = np.resize(np.concatenate([television(rng) for _ in range(10)]), len(quiet))
    sounds = {
        "quiet room": (quiet, RATE_HZ),
        "a knock in three seconds": (quiet + _repeated(rng, Sound.KNOCK, 3.0, len(quiet)), RATE_HZ),
        "a tile in 0.1 s": (quiet + _repeated(rng, Sound.TILE, 0.1, len(quiet)), RATE_HZ),
        "a television all the time": (quiet + 0.3 * voices, RATE_HZ),
        "quiet room at 48 kHz": (rng.normal(0, 0.0005, seconds * 48_000), 48_000),
    }
    for name, (samples, rate_hz) in sounds.items():
        share, heard = _share_of_a_core(samples.astype(np.float32), rate_hz)
        pi = f"{_PI_FACTOR:g} times slower: {share * _PI_FACTOR:.1%}, {3600 * share * _PI_FACTOR:.0f} s"
        yield name, f"{share:.2%}, {3600 * share:.1f} s, {heard} sounds; {pi}"
    block, square = quiet[:1024], np.resize(quiet, (256, 256)).astype(np.float32)
    for name, reference in (
        ("FFT of 1024", lambda: np.fft.rfft(block)),
        ("product of 256 x 256", lambda: square @ square),
    ):
        start = time.thread_time()
        for _ in range(1_000):
            reference()
        yield f"reference, {name}", f"{1e3 * (time.thread_time() - start):.1f} µs"


def alteration_rows(
    seed: int, count: int, recordings: Sequence[Path], *, alterations: Mapping[str, Altering] = ALTERATIONS
) -> Iterator[Row]:
    """Yield the share of knocks reported for each alteration of modelled knocks and recorded taps."""
    # Tables learn from the first recording, which has to be that of the knuckles.
    paths = sorted(recordings, key=lambda path: "knuckle" not in path.stem)
    taps = [_recorded(path) for path in paths]
    names = ", ".join(["modelled", *(path.stem for path in paths)])
    print(f"alterations: knocks reported by the shipped classifier, and after learning ten knocks: {names}")
    tables = [
        stream_of_hits(_generator(seed, 1, index), Sound.KNOCK, _JUDGED, learned=_LEARNED)
        for index in range(max(1, count // _JUDGED))
    ]
    for number, (name, alter) in enumerate(alterations.items()):
        rng = _generator(seed, 2, number)
        counts = np.zeros(2, int)
        for table in tables:
            altered = table.altered(rng, alter)
            counts += [np.count_nonzero(found) for found in _before_and_after(altered, altered)]
        judged = len(tables) * _JUDGED
        texts = [f"{counts[0] / judged:6.1%} {counts[1] / judged:6.1%}"]
        changed = [tap.altered(rng, alter) for tap in taps]
        for at, tap in enumerate(changed):
            before, after = _before_and_after(changed[0], tap, judge_all=at > 0)
            texts.append(f"{np.count_nonzero(before):2d} {np.count_nonzero(after):2d} of {len(before)}")
        yield name, " | ".join(texts)


def _before_and_after(
    learn: Stream, judge: Stream, *, judge_all: bool = False
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return a mask of the hits reported as knocks, before and after learning the first ten of *learn*."""
    # Unless *judge_all*, the hits that the table learns from are not judged.
    from_s = 0.0 if judge_all else learn.starts_s[_LEARNED] - _LEAD_IN_S
    learned = load_classifier()
    if len(knocks := _sounds_at(learn, learn.starts_s[:_LEARNED])):
        embeddings = learned.embed(measure(knocks))
        learned = replace(learned, correction=fit_correction(learned, embeddings, embeddings[:0]))
    first = round(from_s * RATE_HZ)
    starts_s = np.array([start_s - first / RATE_HZ for start_s in judge.starts_s if start_s >= from_s])
    shipped, taught = (_is_reported(judge.samples[first:], starts_s, which) for which in (None, learned))
    return shipped, taught


def _sounds_at(stream: Stream, starts_s: Sequence[float]) -> NDArray[np.float32]:
    """Return the samples around the sounds found at given times, shape (K, N). Missed sounds are left out."""
    until = round((starts_s[-1] + _LEAD_IN_S) * RATE_HZ)
    found = SoundFinder().feed(SoundBlock(stream.samples[:until].astype(np.float32), 0))
    arounds = []
    for start_s in starts_s:
        near = [sound.around for sound in found if abs(sound.t_ns / NS_PER_S - start_s) < _NEAR_S]
        arounds += near[:1]
    return np.array(arounds, np.float32)


def _is_reported(
    samples: Waveform, starts_s: NDArray[np.float64], classifier: Classifier | None = None
) -> NDArray[np.bool_]:
    """Return a mask of the hits at given times that are reported as knocks."""
    reported_s = np.array([*_knocks_s(samples, classifier), np.inf])
    return np.asarray(np.abs(reported_s[:, None] - starts_s).min(axis=0) <= _NEAR_S)


def _recorded(path: Path) -> Stream:
    """Return a recording with the hits found by their level."""
    samples = np.concatenate([np.asarray(block.samples, np.float64) for block in read_wav(path)])
    starts_s = tuple(hit_times_s(samples, share=_HIT_SHARE, gap_s=_HIT_GAP_S).tolist())
    return Stream(samples, starts_s, tuple(start_s + 0.1 for start_s in starts_s))


def other_rows(seed: int, count: int) -> Iterator[Row]:
    """Yield the share of sounds of each group in which a knock is reported."""
    print(f"others: share of {count} sounds in which a knock is reported, dry and in random rooms by random devices")
    for number, (group, model) in enumerate(EVERYDAY.items()):
        rng = _generator(seed, 3, number)
        dry = _share_with_knock(stream_of(rng, model, count))
        streams = [
            stream_of(rng, model, _SOUNDS_A_DEVICE).altered(rng, ALTERATIONS["random rooms and devices"])
            for _ in range(max(1, count // _SOUNDS_A_DEVICE))
        ]
        recorded = _share_with_knock(concatenated(streams))
        yield group, f"{dry:6.1%} {recorded:6.1%}"
    for number, kind in enumerate(_TILES):
        streams = []
        for index in range(max(1, count // _TILES_A_SCENE)):
            rng = _generator(seed, 4, number, index)
            happens = [(kind, 0.5 + _TILE_EVERY_S * at) for at in range(_TILES_A_SCENE)]
            scene = scene_of(rng, happens, lasts_s=_TILE_EVERY_S * _TILES_A_SCENE + 0.5)
            starts_s, ends_s = zip(*((event.t_s, event.until_s) for event in scene.events), strict=True)
            streams.append(Stream(scene.samples.astype(np.float64), starts_s, ends_s))
        share = _share_with_knock(concatenated(streams))
        yield f"{kind.value}s at random tables", f"{share:6.1%}"


def recorded_rows(library: Path) -> Iterator[Row]:
    """Yield the false knocks per minute in recorded sounds of each package that is installed."""
    print("recorded: knocks reported per minute in sounds that were recorded by others")
    gap = np.zeros(RATE_HZ, np.float32)
    for collection in _OTHER_COLLECTIONS:
        files = files_of(library, collection)
        sounds = [read_sound(path)[: _LONGEST_S * RATE_HZ] for path in files[:: max(1, len(files) // _MAX_FILES)]]
        loud = [sound / np.abs(sound).max() / 2 for sound in sounds if np.abs(sound).max(initial=0) > _SILENT]
        minutes = sum(len(sound) for sound in loud) / RATE_HZ / 60
        knocks = len(_knocks_s(np.concatenate([part for sound in loud for part in (sound, gap)]))) if loud else 0
        rate = knocks / max(minutes, 1e-9)
        yield collection.package, f"{rate:5.2f} ({knocks} in {minutes:.1f} min, {len(loud)} files)"


def _share_with_knock(stream: Stream) -> float:
    """Return the share of sounds in which a knock is reported."""
    knocks_s = np.array(_knocks_s(stream.samples))[:, None]
    is_inside = (knocks_s >= np.array(stream.starts_s) - _NEAR_S) & (knocks_s <= np.array(stream.ends_s) + _ECHO_S)
    return float(is_inside.any(axis=0).mean())


def distance_rows(seed: int, count: int) -> Iterator[Row]:
    """Yield the share of modelled knocks reported at each distance."""
    print("distance: share of knocks reported in random rooms, with noise 40 dB below a knock at 1 m")
    tables = [
        stream_of_hits(_generator(seed, 5, index), Sound.KNOCK, _JUDGED) for index in range(max(1, count // _JUDGED))
    ]
    for distance_m in _DISTANCES_M:
        rng = _generator(seed, 6)
        heard = 0
        for table in tables:
            altered = table.altered(rng, partial(at_distance, distance_m=distance_m))
            heard += int(_is_reported(altered.samples, np.array(altered.starts_s)).sum())
        share = heard / (len(tables) * _JUDGED)
        yield f"{distance_m} m", f"{share:6.1%}"


def game_rows(seed: int, games: int) -> Iterator[Row]:
    """Yield the false knocks in games without knocks, and those of them without a tile nearby in time."""
    print(f"games: sounds taken for a knock in games of {_SOUNDS_A_GAME} sounds, and those where no tile fell")
    for game in range(games):
        scene = draw_scene(_generator(seed, 7, game), events=_SOUNDS_A_GAME, shares_of=WITHOUT_KNOCKS)
        tiles_s = np.array([event.t_s for event in scene.events if event.kind in _TILES])
        knocks_s = _knocks_s(scene.samples)
        unseen = sum(np.abs(tiles_s - t_s).min() >= _EYE_LOOKS_S for t_s in knocks_s)
        yield f"game {game + 1}", f"{len(knocks_s)} {unseen}"


def _knocks_s(samples: Waveform | NDArray[np.float32], classifier: Classifier | None = None) -> list[float]:
    """Return the times of detected knocks in samples at 16 kHz."""
    with_trailing_silence = np.concatenate([samples, np.zeros(RATE_HZ // 2)]).astype(np.float32)
    heard = KnockDetector(classifier).feed(SoundBlock(with_trailing_silence, 0, RATE_HZ))
    return [sound.t_ns / NS_PER_S for sound in heard if sound.kind is Sound.KNOCK]


def _share_of_a_core(samples: NDArray[np.float32], rate_hz: int) -> tuple[float, int]:
    """Return the CPU time per second of sound, and the number of detected sounds."""
    detector, size = KnockDetector(), round(_BLOCK_S * rate_hz)
    heard, start = 0, time.thread_time()
    for first in range(0, len(samples), size):
        block = SoundBlock(samples[first : first + size], first * NS_PER_S // rate_hz, rate_hz)
        heard += len(detector.feed(block))
    return (time.thread_time() - start) * rate_hz / len(samples), heard


def _repeated(rng: np.random.Generator, kind: Sound, every_s: float, count: int) -> Waveform:
    """Return a hit every *every_s* from 1 s on, shape (count,)."""
    stream = stream_of_hits(rng, kind, 1)
    sound = stream.samples[round(stream.starts_s[0] * RATE_HZ) :][: RATE_HZ // 2]
    samples = np.zeros(count)
    for first in range(RATE_HZ, count - len(sound), round(every_s * RATE_HZ)):
        samples[first : first + len(sound)] += sound
    return samples


PARTS: Mapping[str, Callable[[Namespace], Iterator[Row]]] = {
    "load": lambda chosen: load_rows(chosen.seconds),
    "alterations": lambda chosen: alteration_rows(
        chosen.seed, chosen.count, sorted(chosen.recordings.glob("taps-*.wav")) if chosen.recordings else ()
    ),
    "others": lambda chosen: other_rows(chosen.seed, round(chosen.count * _SHARE_OF_COUNT)),
    "recorded": lambda chosen: recorded_rows(chosen.library),
    "distance": lambda chosen: distance_rows(chosen.seed, round(chosen.count * _SHARE_OF_COUNT)),
    "games": lambda chosen: game_rows(chosen.seed, chosen.games),
}


if __name__ == "__main__":
    main()
