"""Examples for training: onsets in modelled recordings with their true sounds, and figures of a classifier on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hardware.knock.classifier import SOUNDS, Classifier
from hardware.knock.detector import SoundFinder, SuddenSound
from hardware.knock.features import AFTER, BEFORE, measure
from hardware.knock.heard import NS_PER_S, Sound, SoundBlock
from synthetic.sounds.impacts import RATE_HZ
from synthetic.sounds.scenes import SoundScene
from synthetic.training.knock.recordings import draw_recording
from synthetic.training.processes import concatenated, draw_in_processes

# An onset within _NEAR_S of the start of a knock is the knock, and training ignores later ones, which are its echoes.
# Onsets up to _EARLY_S before an event, or up to _LATE_S after its end, also belong to the event.
_NEAR_S, _EARLY_S, _LATE_S = 0.030, 0.010, 0.030
# Maximum shares classified as knocks, on held-out sounds: of each kind of tile sound, which is heard at every turn, and
# of everyday sounds and taps on average. A player who taps during their turn may well mean to pass.
_TILES = (Sound.TILE, Sound.SLAM, Sound.SHUFFLE)
_TAPS = (Sound.FINGER, Sound.NAIL, Sound.NAIL_TIP)
_MAX_TILES, _MAX_EVERYDAY, _MAX_TAPS = 0.10, 0.04, 0.40
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
    onsets = SoundFinder().feed(SoundBlock(scene.samples, 0, RATE_HZ))
    judged = [(onset.around, sound) for onset in onsets if (sound := true_sound(onset, scene)) is not None]
    around = np.array([samples for samples, _ in judged], np.float32).reshape(-1, BEFORE + AFTER)
    knocks = sum(event.kind is Sound.KNOCK for event in scene.events)
    sounds = np.array([SOUNDS.index(sound) for _, sound in judged], np.int64)
    return Examples(measure(around).astype(np.float16), sounds, np.array([knocks], np.int64))


def true_sound(onset: SuddenSound, scene: SoundScene) -> Sound | None:
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
    is_knock = chances_of(classifier, check)[:, 0] >= classifier.least_knock
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
