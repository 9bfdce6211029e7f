"""Train the knock classifier with scikit-learn, from a seed to arrays: `tallybone train knock`."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

from hardware.knock.classifier import SOUNDS, Classifier
from hardware.knock.detector import SoundFinder, SuddenSound
from hardware.knock.features import AFTER, BEFORE, measure
from hardware.knock.heard import NS_PER_S, Sound, SoundBlock
from synthetic.sounds.impacts import RATE_HZ
from synthetic.sounds.scenes import SoundEvent, SoundScene, draw_scene

_EVENTS = 6
_HELD_OUT = 0.25
# Several small networks that begin differently are wrong about different sounds: together they are right more often.
_HIDDEN, _NETWORKS = (48, 24), 5
_BATCH = 128
# Features are shaken by so many standard deviations: no modelled table is quite like a real one.
_SHAKEN = 0.15
# A hit is found within so long of its begin; what is found later in it is an echo of it.
_NEAR_S, _EARLY_S, _LATE_S = 0.020, 0.008, 0.030
# Tiles are heard at every turn: at most this share of each kind may pass for a knock on sound kept back.
_TILES, _MOST_MISTAKEN = (Sound.TILE, Sound.SLAM, Sound.SHUFFLE), 0.02
# 95 % of knocks are wanted; one more, because no modelled table is quite like a real one. Taps are what that costs: who
# taps on the table while it is their turn may mean to pass, and no tile was seen.
_WANTED = 0.96
_TAPS = (Sound.FINGER, Sound.NAIL, Sound.NAIL_TIP)
_LEAST_KNOCK = 0.5
# Weights that are tried, as logarithms: of taps, and of tiles put down.
_TAP_WEIGHTS, _TILE_WEIGHTS = np.linspace(-2, 2, 21), np.linspace(-1, 4, 11)


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """Sounds that the detector found in modelled recordings.

    Attributes:
        features: Shape (N, FEATURES).
        sounds: Shape (N,), what each truly is, as its place in SOUNDS.
        knocks: How many knocks there were.
    """

    features: NDArray[np.float32]
    sounds: NDArray[np.int64]
    knocks: int


def train_knock(*, seed: int, scenes: int, epochs: int, progress: Callable[[str, float], None]) -> Classifier:
    """Model recordings, learn to tell their sounds apart, and say how well that goes on recordings kept back.

    Args:
        seed: Everything follows from it; the same seed gives the same classifier on the same machine.
        scenes: Number of recordings to learn from.
        epochs: Passes over their sounds.
        progress: Called with what is being done and the share of it that is done.
    """
    learn = collect_examples(seed, scenes, lambda share: progress("modelling recordings", share))
    held_out = max(1, round(scenes * _HELD_OUT))
    check = collect_examples(seed + 1, held_out, lambda share: progress("modelling recordings to judge by", share))
    classifier = fit(learn, seed, epochs, lambda share: progress("learning", share))
    classifier = weighed(classifier, check)
    notes: dict[str, object] = {"seed": seed, "scenes": scenes, "epochs": epochs}
    return replace(classifier, notes=notes | figures(classifier, check))


def collect_examples(seed: int, scenes: int, progress: Callable[[float], None]) -> Examples:
    """Return what the detector finds in modelled recordings, each sound with what it is."""
    rows: list[NDArray[np.float32]] = []
    sounds: list[int] = []
    knocks = 0
    for index in range(scenes):
        scene = draw_scene(np.random.default_rng([seed, index]), events=_EVENTS)
        knocks += sum(event.kind is Sound.KNOCK for event in scene.events)
        found = SoundFinder().feed(SoundBlock(scene.samples, 0, RATE_HZ))
        around = np.array([one.around for one in found], np.float32).reshape(-1, BEFORE + AFTER)
        rows.append(measure(around))
        sounds += [SOUNDS.index(true_sound(one, scene)) for one in found]
        progress((index + 1) / scenes)
    return Examples(np.concatenate(rows), np.array(sounds, np.int64), knocks)


def true_sound(one: SuddenSound, scene: SoundScene) -> Sound:
    """Return what a sound that was found truly is: the hit that began last, or nothing."""
    t_s = one.t_ns / NS_PER_S
    begun = [event for event in scene.events if event.t_s - _EARLY_S <= t_s <= event.until_s + _LATE_S]
    if not begun:
        return Sound.NOTHING
    last: SoundEvent = begun[-1]
    is_echo = last.kind is Sound.KNOCK and t_s - last.t_s > _NEAR_S
    return Sound.NOTHING if is_echo else last.kind


def fit(learn: Examples, seed: int, epochs: int, progress: Callable[[float], None]) -> Classifier:
    """Return a classifier fitted to examples: the mean of several networks."""
    mean = learn.features.mean(axis=0)
    scale = learn.features.std(axis=0) + 0.05
    values = np.clip((learn.features - mean) / scale, -5, 5)
    parts = []
    for index in range(_NETWORKS):
        done = partial(_share_done, progress, index)
        network = _network(values, learn.sounds, seed * _NETWORKS + index, epochs, done)
        parts.append(as_classifier(network, np.asarray(mean, np.float32), np.asarray(scale, np.float32)))
    return together(parts)


def together(parts: list[Classifier]) -> Classifier:
    """Return one classifier whose outputs, before they are made probabilities, are the mean of those of its parts."""
    last = len(parts[0].weights) - 1
    weights = [np.hstack([one.weights[0] for one in parts])]
    weights += [_side_by_side([one.weights[layer] for one in parts]) for layer in range(1, last)]
    weights += [np.vstack([one.weights[last] for one in parts]) / np.float32(len(parts))]
    biases = [np.concatenate([one.biases[layer] for one in parts]) for layer in range(last)]
    biases += [np.stack([one.biases[last] for one in parts]).mean(axis=0)]
    return replace(parts[0], weights=tuple(weights), biases=tuple(biases))


def _side_by_side(blocks: list[NDArray[np.float32]]) -> NDArray[np.float32]:
    """Return the blocks along the diagonal of one array, so that none hears of the others."""
    rows, columns = blocks[0].shape
    whole = np.zeros((len(blocks) * rows, len(blocks) * columns), np.float32)
    for index, block in enumerate(blocks):
        whole[index * rows : (index + 1) * rows, index * columns : (index + 1) * columns] = block
    return whole


def _share_done(progress: Callable[[float], None], index: int, share: float) -> None:
    progress((index + share) / _NETWORKS)


def _network(
    values: NDArray[np.float32], sounds: NDArray[np.int64], seed: int, epochs: int, progress: Callable[[float], None]
) -> MLPClassifier:
    """Return a network fitted with a step size that falls to a twentieth."""
    network = MLPClassifier(hidden_layer_sizes=_HIDDEN)
    network.set_params(max_iter=1, warm_start=True, alpha=3e-3, batch_size=min(_BATCH, len(values)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for epoch in range(epochs):
            network.learning_rate_init = 2e-3 * 0.05 ** (epoch / max(1, epochs - 1))
            network.set_params(random_state=1_000 * seed + epoch)  # or every epoch would shuffle alike
            shaken = values + np.random.default_rng([seed, epoch]).normal(0, _SHAKEN, values.shape)
            network.fit(shaken.astype(np.float32), sounds)
            progress((epoch + 1) / epochs)
    return network


def as_classifier(network: MLPClassifier, mean: NDArray[np.float32], scale: NDArray[np.float32]) -> Classifier:
    """Return the network with one output for each sound, also where none of the examples is that."""
    weights = [np.asarray(weight, np.float32) for weight in network.coefs_]
    biases = [np.asarray(bias, np.float32) for bias in network.intercepts_]
    last = np.zeros((weights[-1].shape[0], len(SOUNDS)), np.float32)
    bias = np.full(len(SOUNDS), -20, np.float32)
    last[:, network.classes_], bias[network.classes_] = weights[-1], biases[-1]
    return Classifier(mean, scale, (*weights[:-1], last), (*biases[:-1], bias), _LEAST_KNOCK, {})


def weighed(classifier: Classifier, check: Examples) -> Classifier:
    """Return the classifier that takes taps and tiles for so much more or less likely that it finds enough knocks.

    How often each sound is modelled says nothing of how often it is heard, nor of how bad it is to mistake it.
    Of all weights that keep tiles out and find as many knocks as are wanted, those count that let fewest taps pass.
    """
    chances = classifier.probabilities(check.features)
    is_tap, is_tile = (np.array([sound in kinds for sound in SOUNDS]) for kinds in (_TAPS, (Sound.TILE,)))
    taps, tiles = chances[:, is_tap].sum(axis=1), chances[:, is_tile].sum(axis=1)
    others = chances[:, 1:].sum(axis=1) - taps - tiles

    def cost(of_taps: float, of_tiles: float) -> tuple[bool, float, float]:
        is_said = chances[:, 0] >= np.exp(of_taps) * taps + np.exp(of_tiles) * tiles + others
        mistaken = max(_shares(is_said, check, _TILES), default=0.0)
        found = float((is_said & (check.sounds == 0)).sum() / max(1, check.knocks))
        tapped = float(np.mean(_shares(is_said, check, _TAPS) or [0.0]))
        return mistaken > _MOST_MISTAKEN, max(0.0, _WANTED - found), tapped

    of_taps, of_tiles = min(((a, b) for a in _TAP_WEIGHTS for b in _TILE_WEIGHTS), key=lambda pair: cost(*pair))
    bias = classifier.biases[-1] + (is_tap * of_taps + is_tile * of_tiles).astype(np.float32)
    return replace(classifier, biases=(*classifier.biases[:-1], bias))


def _shares(is_said: NDArray[np.bool_], check: Examples, sounds: tuple[Sound, ...]) -> list[float]:
    """Return the share of each kind, where there are any of it, that is taken for a knock."""
    truly = [check.sounds == SOUNDS.index(sound) for sound in sounds]
    return [float(is_said[is_so].mean()) for is_so in truly if is_so.any()]


def figures(classifier: Classifier, check: Examples) -> dict[str, object]:
    """Return the share of knocks that is found, and of each other sound that passes for one, on sound kept back."""
    is_said = classifier.probabilities(check.features)[:, 0] >= classifier.least_knock
    found = is_said & (check.sounds == 0)
    mistaken: dict[str, object] = {
        f"{sound} taken for a knock": round(float(is_said[check.sounds == index].mean()), 4)
        for index, sound in enumerate(SOUNDS)
        if index and (check.sounds == index).any()
    }
    return {"knocks found": round(float(found.sum() / max(1, check.knocks)), 4)} | mistaken
