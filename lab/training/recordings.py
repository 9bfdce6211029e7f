"""Modelled recordings for training, their onsets with the true sounds, and figures of a classifier on them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hardware.knock.classifier import AFTER, BEFORE, SOUNDS, Classifier, measure
from hardware.knock.detector import SoundFinder, SuddenSound
from hardware.knock.sensor import NS_PER_S, Sound, SoundBlock
from lab.sounds import scenes as sound_scenes
from lab.sounds import signals
from lab.sounds.devices import recorded_by_chance
from lab.sounds.everyday import EVERYDAY
from lab.training.tables import concatenated, draw_in_processes

_EVENTS = 6
# Relative frequency of hits and shuffles, and of each group of everyday sounds with the kind it is an example of.
_HITS = {
    Sound.KNOCK: 0.33,
    Sound.FINGER: 0.07,
    Sound.NAIL: 0.08,
    Sound.NAIL_TIP: 0.07,
    Sound.TILE: 0.12,
    Sound.SLAM: 0.10,
    Sound.SHUFFLE: 0.03,
    Sound.GLASS: 0.03,
}
_EVERYDAY = {
    "claps": (Sound.CLAP, 0.05),
    "coughs": (Sound.COUGH, 0.04),
    "speech": (Sound.SPEECH, 0.08),
    "cups": (Sound.GLASS, 0.04),
    "chairs": (Sound.CHAIR, 0.05),
    "doors": (Sound.DOOR, 0.05),
    "keys": (Sound.KEYS, 0.04),
    "typing": (Sound.TYPING, 0.05),
    "others": (Sound.NOTHING, 0.11),
}
# Ways to knock, with their shares. A hard knuckle has a ring, a tile or little skin: its contacts are shorter.
_KNOCKS = {"knuckle": 0.63, "hard knuckle": 0.20, "fist": 0.12, "palm": 0.05}
_HARD = (0.3, 0.7)
_SHORTEST_S = 0.00025
# Level of the sounds of one kind in a recording, relative to the loudest, and spreads of events and single hits.
_LEVEL_DB = (-14.0, 0.0)
_EVENT_DB = 3.0
_HIT_DB = 2.5
_FIRST_S = 0.7
_GAP_S = (0.15, 0.9)
_REST_S = 0.8
# Share of other hits that are repeated, as by somebody who taps their fingers, and their distance.
_REPEATED = 0.3
_REPEAT_S = (0.12, 0.6)
# Share of series of a hand that strikes the same place with the same knuckles, and its movement relative to the table.
_STAYS = 0.85
_MOVES = 0.01
_TILE_HITS = (Sound.TILE, Sound.SLAM)
# Share of series with three to six knocks, besides those drawn by `knock_times`.
_LONG = 0.3
# Share of microphones without a response of their own, which leaves it to the devices, and with pre-echo.
_PLAIN = 0.35
_SMEARED = 0.2
_AUDIBLE = 0.02
# Shares of everyday sounds that are recorded ones, and of recordings with some in the background, and their level.
_RECORDED = 0.5
_ACCOMPANIED = 0.15
_QUIET_DB = (-36.0, -8.0)


@dataclass(frozen=True, slots=True, eq=False)
class _Timed:
    """A sound and its event. The event starts *lead* samples after the first."""

    event: sound_scenes.SoundEvent
    samples: signals.Waveform
    lead: int = 0


def draw_recording(rng: np.random.Generator, library: Path | None = None) -> sound_scenes.SoundScene:
    """Return a random recording of six events, with series of knocks.

    Args:
        library: Folder of recorded everyday sounds, or None to model all of them.
    """
    table, microphone = sound_scenes.random_table(rng), signals.draw_microphone(rng)
    if rng.random() < _PLAIN:
        microphone = replace(microphone, response=np.ones_like(microphone.response))
    if rng.random() >= 2 * _SMEARED:
        microphone = replace(microphone, smear_db=None)
    kinds: list[Sound | str] = [*_HITS, *_EVERYDAY]
    shares = np.array([*_HITS.values(), *(share for _, share in _EVERYDAY.values())])
    levels_db = rng.uniform(*_LEVEL_DB, len(kinds))
    sounding: list[_Timed] = []
    t_s = _FIRST_S
    for index in rng.choice(len(kinds), _EVENTS, p=shares / shares.sum()):
        chosen, level_db = kinds[int(index)], levels_db[int(index)] + rng.normal(0, _EVENT_DB)
        if isinstance(chosen, Sound):
            sounding += _hits(rng, chosen, t_s, level_db, table, microphone)
        else:
            everyday = (
                signals.recorded_sound(rng, library, chosen)
                if library is not None and chosen in signals.COLLECTIONS and rng.random() < _RECORDED
                else EVERYDAY[chosen](rng)
            )
            sound = everyday * 10 ** (level_db / 20)
            sounding.append(_sounding(_EVERYDAY[chosen][0], t_s, sound, 0))
        t_s = sounding[-1].event.until_s + rng.uniform(*_GAP_S)
    if library is not None and rng.random() < _ACCOMPANIED:
        sounding = [*_accompaniment(rng, library, t_s), *sounding]
    return sound_scenes.SoundScene(
        recorded_by_chance(rng, _mixed(sounding, t_s + _REST_S)), tuple(sound.event for sound in sounding)
    )


def _accompaniment(rng: np.random.Generator, library: Path, until_s: float) -> list[_Timed]:
    """Return speech or other recorded sounds that go on quietly from the beginning."""
    group, level = str(rng.choice(["speech", "others"])), 10 ** (rng.uniform(*_QUIET_DB) / 20)
    sounding: list[_Timed] = []
    t_s = 0.0
    while t_s < until_s:
        sounding.append(_sounding(_EVERYDAY[group][0], t_s, signals.recorded_sound(rng, library, group) * level, 0))
        t_s = max(t_s + 0.1, sounding[-1].event.until_s)
    return sounding


def _hits(
    rng: np.random.Generator,
    kind: Sound,
    t_s: float,
    level_db: float,
    table: sound_scenes.TableModes,
    microphone: signals.PlacedMicrophone,
) -> Iterator[_Timed]:
    if kind is Sound.SHUFFLE:
        sound = sound_scenes.shuffle_of(rng, table, microphone)
        yield _sounding(kind, t_s, sound / np.abs(sound).max() * 10 ** (level_db / 20), sound_scenes.LEAD)
        return
    draw = _way_to_knock(rng) if kind is Sound.KNOCK else partial(sound_scenes.contacts_of, kind=kind)
    first, place = draw(rng), sound_scenes.random_place(rng)
    # Tiles land elsewhere each time. A hand that knocks or taps stays where it is.
    stays = kind not in _TILE_HITS and rng.random() < _STAYS
    for at_s in _times_s(rng, kind):
        contacts = signals.struck_again(rng, first) if stays else draw(rng)
        near = np.clip(place + rng.normal(0, _MOVES, 2), 0, 1) if stays else None
        sound = sound_scenes.hit(rng, kind, table, microphone, contacts=contacts, place=near)
        loud = 10 ** ((level_db + rng.normal(0, _HIT_DB)) / 20)
        yield _sounding(kind, t_s + at_s, sound / (np.abs(sound).max() + 1e-12) * loud, sound_scenes.LEAD)


def _times_s(rng: np.random.Generator, kind: Sound) -> list[float]:
    """Return the times of a series of hits, from 0 on."""
    if kind is Sound.KNOCK:
        return signals.knock_times(rng, count=int(rng.integers(3, 7)) if rng.random() < _LONG else None)
    if rng.random() >= _REPEATED:
        return [0.0]
    return [0.0, *(float(t_s) for t_s in np.cumsum(rng.uniform(*_REPEAT_S, int(rng.integers(1, 3)))))]


def _way_to_knock(rng: np.random.Generator) -> Callable[[np.random.Generator], list[signals.Impact]]:
    match str(rng.choice(list(_KNOCKS), p=list(_KNOCKS.values()))):
        case "fist":
            return signals.fist
        case "palm":
            return signals.palm
        case "hard knuckle":
            shorter = rng.uniform(*_HARD)
            return lambda own: [
                replace(impact, lasts_s=max(_SHORTEST_S, impact.lasts_s * shorter)) for impact in signals.knuckle(own)
            ]
        case _:
            return signals.knuckle


def _sounding(kind: Sound, t_s: float, samples: signals.Waveform, lead: int) -> _Timed:
    last = np.flatnonzero(np.abs(samples) > _AUDIBLE * np.abs(samples).max())[-1] + 1
    return _Timed(sound_scenes.SoundEvent(kind, t_s, t_s + float(last - lead) / signals.RATE_HZ), samples, lead)


def _mixed(sounding: list[_Timed], lasts_s: float) -> NDArray[np.float64]:
    count = round(lasts_s * signals.RATE_HZ)
    samples = np.zeros(count + signals.LENGTH)
    for sound in sounding:
        first = round(sound.event.t_s * signals.RATE_HZ) - sound.lead
        samples[first : first + len(sound.samples)] += sound.samples[: len(samples) - first]
    return samples[:count]


# An onset within _NEAR_S of the start of a knock is the knock, and training ignores later ones, which are its echoes.
# Onsets up to _EARLY_S before an event, or up to _LATE_S after its end, also belong to the event.
_NEAR_S = 0.030
_EARLY_S = 0.010
_LATE_S = 0.030
# Maximum shares classified as knocks, on held-out sounds: of each kind of tile sound, which is heard at every turn, and
# of everyday sounds and taps on average. A player who taps during their turn may well mean to pass.
_TILES = (Sound.TILE, Sound.SLAM, Sound.SHUFFLE)
_TAPS = (Sound.FINGER, Sound.NAIL, Sound.NAIL_TIP)
_MAX_TILES = 0.10
_MAX_EVERYDAY = 0.04
_MAX_TAPS = 0.40
# Candidate log weights of taps, of tiles, and of all other sounds.
_WEIGHTS = np.linspace(-3.0, 3.0, 25)


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """Onsets that the detector found in modelled recordings.

    Attributes:
        features: Features of each onset, shape (N, FEATURES), float16 to save memory.
        sounds: True sound of each onset as an index into SOUNDS, shape (N,).
        knocks: Number of knocks in each recording, detected or not, shape (R,).
    """

    features: NDArray[np.float16]
    sounds: NDArray[np.int64]
    knocks: NDArray[np.int64]


def collect_examples(
    seed: int, scenes: int, library: Path | None, jobs: int, progress: Callable[[float], None]
) -> Examples:
    """Return the onsets that the detector finds in modelled recordings, with their true sounds."""
    return concatenated(list(draw_in_processes(partial(_examples_of, seed, library), scenes, jobs, progress)))


def _examples_of(seed: int, library: Path | None, index: int) -> Examples:
    scene = draw_recording(np.random.default_rng([seed, index]), library)
    onsets = SoundFinder().feed(SoundBlock(scene.samples, 0, signals.RATE_HZ))
    judged = [(onset.around, sound) for onset in onsets if (sound := true_sound(onset, scene)) is not None]
    around = np.array([samples for samples, _ in judged], np.float32).reshape(-1, BEFORE + AFTER)
    knocks = sum(event.kind is Sound.KNOCK for event in scene.events)
    sounds = np.array([SOUNDS.index(sound) for _, sound in judged], np.int64)
    return Examples(measure(around).astype(np.float16), sounds, np.array([knocks], np.int64))


def true_sound(onset: SuddenSound, scene: sound_scenes.SoundScene) -> Sound | None:
    """Return the true sound of an onset: the last event that covers it, or nothing. None for an echo of a knock."""
    t_s = onset.t_ns / NS_PER_S
    matching = [event for event in scene.events if event.t_s - _EARLY_S <= t_s <= event.until_s + _LATE_S]
    if not matching:
        return Sound.NOTHING
    last = matching[-1]
    return None if last.kind is Sound.KNOCK and t_s - last.t_s > _NEAR_S else last.kind


def chances_of(classifier: Classifier, check: Examples) -> NDArray[np.float32]:
    """Return the probability of each sound, shape (N, number of sounds), for examples."""
    parts = np.array_split(np.arange(len(check.sounds)), 1 + len(check.sounds) // 1_000)
    rows = [classifier.embed(check.features[part].astype(np.float32)) for part in parts]
    return classifier.probabilities(np.concatenate(rows))


def reweight(classifier: Classifier, check: Examples) -> Classifier:
    """Return the classifier with adjusted priors of taps, tiles and everyday sounds.

    The modelled shares reflect neither real frequencies nor the cost of mistakes. Each group has the least weight with
    which few enough of its sounds are classified as knocks. The weights are adjusted in turn, because they interact.
    """
    chances = chances_of(classifier, check)
    groups = [
        (_TAPS, _MAX_TAPS, False),
        (_TILES, _MAX_TILES, True),
        (tuple(sound for sound in SOUNDS[1:] if sound not in (*_TAPS, *_TILES)), _MAX_EVERYDAY, False),
    ]
    masks = np.array([[sound in sounds for sound in SOUNDS] for sounds, _, _ in groups])
    weights = np.zeros(len(groups))
    for _ in range(3):
        for at, (sounds, most, is_of_each) in enumerate(groups):
            for weight in _WEIGHTS:
                weights[at] = weight
                is_knock = chances[:, 0] >= chances @ (masks.T @ np.exp(weights) * masks.any(axis=0))
                shares = [is_knock[check.sounds == SOUNDS.index(sound)] for sound in sounds]
                passed = [float(share.mean()) for share in shares if len(share)]
                if not passed or (max(passed) if is_of_each else sum(passed) / len(passed)) <= most:
                    break
    output = classifier.output
    return replace(classifier, output=replace(output, bias=output.bias + (masks.T @ weights).astype(np.float32)))


def figures(classifier: Classifier, check: Examples) -> dict[str, object]:
    """Return the recall of knocks, and the share of every other sound classified as a knock, on held-out sounds."""
    is_knock = chances_of(classifier, check)[:, 0] >= classifier.min_knock
    correct = is_knock & (check.sounds == 0)
    false_positives: dict[str, object] = {
        f"{sound} taken for a knock": round(float(is_knock[check.sounds == index].mean()), 4)
        for index, sound in enumerate(SOUNDS)
        if index and (check.sounds == index).any()
    }
    knocks = {
        "knocks with an onset": round(float((check.sounds == 0).sum() / max(1, check.knocks.sum())), 4),
        "knocks found, of those with an onset": round(float(correct.sum() / max(1, (check.sounds == 0).sum())), 4),
    }
    return knocks | false_positives
