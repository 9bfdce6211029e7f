"""Training of the knock classifier with scikit-learn, from a seed to arrays."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

from hardware.knock.classifier import SOUNDS, Array, Classifier
from hardware.knock.detector import Measured, SoundFinder
from hardware.knock.features import FEATURES
from hardware.knock.heard import NS_PER_S, Sound, SoundBlock
from hardware.knock_training.contacts import RATE_HZ
from hardware.knock_training.scenes import Made, Scene, draw_scene

_EVENTS = 16
_HELD_OUT = 0.25
_HIDDEN = (48, 24)
_BATCH = 128
# Features are shaken by so many standard deviations: no modelled table is quite like a real one.
_SHAKEN = 0.15
# A hit is found within so long of its begin; what is found later in it is an echo of it.
_NEAR_S, _EARLY_S, _LATE_S = 0.020, 0.008, 0.030
# Most that may pass for a knock of each kind on sound kept back.
_MOST_MISTAKEN = {
    Sound.TILE: 0.01,
    Sound.SLAM: 0.01,
    Sound.SHUFFLE: 0.01,
    Sound.FINGER: 0.10,
    Sound.NAIL: 0.10,
    Sound.NAIL_TIP: 0.10,
}
_LEAST_KNOCK = np.linspace(0.3, 0.95, 66)

Progress = Callable[[str, float], None]


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """Sounds that the detector found in modelled recordings.

    Attributes:
        features: Shape (N, FEATURES).
        sounds: Shape (N,), what each truly is, as its place in SOUNDS.
        knocks: How many knocks there were.
    """

    features: Array
    sounds: NDArray[np.int64]
    knocks: int


def train_knock(*, seed: int, scenes: int, epochs: int, progress: Progress) -> Classifier:
    """Model recordings, learn to tell their sounds apart, and say how well that goes on recordings kept back.

    Args:
        seed: Everything follows from it; the same seed gives the same classifier on the same machine.
        scenes: Number of recordings to learn from.
        epochs: Passes over their sounds.
        progress: Called with what is being done and the share of it that is done.
    """
    learn = collect(seed, scenes, lambda share: progress("modelling recordings", share))
    held_out = max(1, round(scenes * _HELD_OUT))
    check = collect(seed + 1, held_out, lambda share: progress("modelling recordings to judge by", share))
    classifier = fit(learn, seed, epochs, lambda share: progress("learning", share))
    classifier = replace(classifier, least_knock=least_knock(classifier, check))
    notes: dict[str, object] = {"seed": seed, "scenes": scenes, "epochs": epochs}
    return replace(classifier, notes=notes | figures(classifier, check))


def collect(seed: int, scenes: int, progress: Callable[[float], None]) -> Examples:
    """Return what the detector finds in modelled recordings, each sound with what it is."""
    rows: list[Array] = []
    sounds: list[int] = []
    knocks = 0
    for index in range(scenes):
        scene = draw_scene(np.random.default_rng([seed, index]), events=_EVENTS)
        knocks += sum(made.kind is Sound.KNOCK for made in scene.made)
        for one in SoundFinder().feed(SoundBlock(scene.samples, 0, RATE_HZ)):
            rows.append(one.features)
            sounds.append(SOUNDS.index(true_sound(one, scene)))
        progress((index + 1) / scenes)
    features = np.array(rows, np.float32).reshape(-1, FEATURES)
    return Examples(features, np.array(sounds, np.int64), knocks)


def true_sound(one: Measured, scene: Scene) -> Sound:
    """Return what a sound that was found truly is: the hit that began last, or nothing."""
    t_s = one.t_ns / NS_PER_S
    begun = [made for made in scene.made if made.t_s - _EARLY_S <= t_s <= made.until_s + _LATE_S]
    if not begun:
        return Sound.NOTHING
    last: Made = begun[-1]
    is_echo = last.kind is Sound.KNOCK and t_s - last.t_s > _NEAR_S
    return Sound.NOTHING if is_echo else last.kind


def fit(learn: Examples, seed: int, epochs: int, progress: Callable[[float], None]) -> Classifier:
    """Return a classifier fitted to examples, with a share of the step size that falls to a twentieth."""
    mean = learn.features.mean(axis=0)
    scale = learn.features.std(axis=0) + 0.05
    values = np.clip((learn.features - mean) / scale, -5, 5)
    network = MLPClassifier(hidden_layer_sizes=_HIDDEN)
    network.set_params(max_iter=1, warm_start=True, alpha=3e-3, batch_size=min(_BATCH, len(values)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for epoch in range(epochs):
            network.learning_rate_init = 2e-3 * 0.05 ** (epoch / max(1, epochs - 1))
            network.set_params(random_state=seed + epoch)  # or every epoch would shuffle alike
            shaken = values + np.random.default_rng([seed, epoch]).normal(0, _SHAKEN, values.shape)
            network.fit(shaken.astype(np.float32), learn.sounds)
            progress((epoch + 1) / epochs)
    return as_classifier(network, np.asarray(mean, np.float32), np.asarray(scale, np.float32))


def as_classifier(network: MLPClassifier, mean: Array, scale: Array) -> Classifier:
    """Return the network with one output for each sound, also where none of the examples is that."""
    weights = [np.asarray(weight, np.float32) for weight in network.coefs_]
    biases = [np.asarray(bias, np.float32) for bias in network.intercepts_]
    last = np.zeros((weights[-1].shape[0], len(SOUNDS)), np.float32)
    bias = np.full(len(SOUNDS), -20, np.float32)
    last[:, network.classes_], bias[network.classes_] = weights[-1], biases[-1]
    return Classifier(mean, scale, (*weights[:-1], last), (*biases[:-1], bias), 0.5, {})


def least_knock(classifier: Classifier, check: Examples) -> float:
    """Return the lowest probability of a knock from which few enough other sounds pass for one."""
    chances = classifier.probabilities(check.features)[:, 0]

    def keeps(least: float) -> bool:
        return all(
            (chances[check.sounds == SOUNDS.index(sound)] >= least).mean() <= most
            for sound, most in _MOST_MISTAKEN.items()
            if (check.sounds == SOUNDS.index(sound)).any()
        )

    return float(next((least for least in _LEAST_KNOCK if keeps(least)), _LEAST_KNOCK[-1]))


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
