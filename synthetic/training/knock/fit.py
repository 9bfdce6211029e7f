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
# Small networks with different initial weights make different mistakes, so their average is more accurate.
_HIDDEN, _NETWORKS = (48, 24), 5
_BATCH = 128
# Noise added to features, in standard deviations, because modelled tables differ from real ones.
_FEATURE_NOISE = 0.15
# An onset within _NEAR_S of the start of a knock is the knock, and a later one is an echo. Onsets up to _EARLY_S before
# an event, or up to _LATE_S after its end, also belong to the event.
_NEAR_S, _EARLY_S, _LATE_S = 0.020, 0.008, 0.030
# Maximum share of each kind of tile sound classified as a knock, on held-out sounds. Tiles sound at every turn.
_TILES, _MAX_TILE_KNOCKS = (Sound.TILE, Sound.SLAM, Sound.SHUFFLE), 0.02
# Required recall of knocks. The target is 95 %, plus 1 % because modelled tables differ from real ones. The cost is
# more taps classified as knocks, which is tolerable: a player who taps during their turn may well mean to pass.
_RECALL = 0.96
_TAPS = (Sound.FINGER, Sound.NAIL, Sound.NAIL_TIP)
_THRESHOLD = 0.5
# Candidate log weights of taps, and of tiles put down.
_TAP_WEIGHTS, _TILE_WEIGHTS = np.linspace(-2, 2, 21), np.linspace(-1, 4, 11)


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """Onsets that the detector found in modelled recordings.

    Attributes:
        features: Features of each onset, shape (N, FEATURES).
        sounds: True sound of each onset as an index into SOUNDS, shape (N,).
        knocks: Number of knocks in the recordings, detected or not.
    """

    features: NDArray[np.float32]
    sounds: NDArray[np.int64]
    knocks: int


def train_knock(*, seed: int, scenes: int, epochs: int, progress: Callable[[str, float], None]) -> Classifier:
    """Train the knock classifier on modelled recordings and measure it on held-out ones.

    Args:
        seed: Random seed. The same seed gives the same classifier on the same machine.
        scenes: Number of training recordings.
        epochs: Number of passes over the training sounds.
        progress: Called with a description of the current stage and its completed share.
    """
    learn = collect_examples(seed, scenes, lambda share: progress("modelling recordings", share))
    held_out = max(1, round(scenes * _HELD_OUT))
    check = collect_examples(seed + 1, held_out, lambda share: progress("modelling recordings to judge by", share))
    classifier = fit(learn, seed, epochs, lambda share: progress("learning", share))
    classifier = reweight(classifier, check)
    notes: dict[str, object] = {"seed": seed, "scenes": scenes, "epochs": epochs}
    return replace(classifier, notes=notes | figures(classifier, check))


def collect_examples(seed: int, scenes: int, progress: Callable[[float], None]) -> Examples:
    """Return the onsets that the detector finds in modelled recordings, with their true sounds."""
    rows: list[NDArray[np.float32]] = []
    sounds: list[int] = []
    knocks = 0
    for index in range(scenes):
        scene = draw_scene(np.random.default_rng([seed, index]), events=_EVENTS)
        knocks += sum(event.kind is Sound.KNOCK for event in scene.events)
        onsets = SoundFinder().feed(SoundBlock(scene.samples, 0, RATE_HZ))
        around = np.array([onset.around for onset in onsets], np.float32).reshape(-1, BEFORE + AFTER)
        rows.append(measure(around))
        sounds += [SOUNDS.index(true_sound(onset, scene)) for onset in onsets]
        progress((index + 1) / scenes)
    return Examples(np.concatenate(rows), np.array(sounds, np.int64), knocks)


def true_sound(onset: SuddenSound, scene: SoundScene) -> Sound:
    """Return the true sound of an onset: the last event that covers it, or nothing. Echoes of a knock are nothing."""
    t_s = onset.t_ns / NS_PER_S
    matching = [event for event in scene.events if event.t_s - _EARLY_S <= t_s <= event.until_s + _LATE_S]
    if not matching:
        return Sound.NOTHING
    last: SoundEvent = matching[-1]
    is_echo = last.kind is Sound.KNOCK and t_s - last.t_s > _NEAR_S
    return Sound.NOTHING if is_echo else last.kind


def fit(learn: Examples, seed: int, epochs: int, progress: Callable[[float], None]) -> Classifier:
    """Return a classifier fitted to examples, as the average of several networks."""
    mean = learn.features.mean(axis=0)
    scale = learn.features.std(axis=0) + 0.05
    values = np.clip((learn.features - mean) / scale, -5, 5)
    parts = []
    for index in range(_NETWORKS):
        done = partial(_share_done, progress, index)
        network = _network(values, learn.sounds, seed * _NETWORKS + index, epochs, done)
        parts.append(as_classifier(network, np.asarray(mean, np.float32), np.asarray(scale, np.float32)))
    return average_networks(parts)


def average_networks(parts: list[Classifier]) -> Classifier:
    """Combine classifiers into a single one whose logits are the mean of their logits."""
    last = len(parts[0].weights) - 1
    weights = [np.hstack([part.weights[0] for part in parts])]
    weights += [_block_diagonal([part.weights[layer] for part in parts]) for layer in range(1, last)]
    weights += [np.vstack([part.weights[last] for part in parts]) / np.float32(len(parts))]
    biases = [np.concatenate([part.biases[layer] for part in parts]) for layer in range(last)]
    biases += [np.stack([part.biases[last] for part in parts]).mean(axis=0)]
    return replace(parts[0], weights=tuple(weights), biases=tuple(biases))


def _block_diagonal(blocks: list[NDArray[np.float32]]) -> NDArray[np.float32]:
    """Return a block-diagonal array of blocks that all have the same shape."""
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
    """Return a fitted network. The step size decays to a twentieth."""
    network = MLPClassifier(hidden_layer_sizes=_HIDDEN)
    network.set_params(max_iter=1, warm_start=True, alpha=3e-3, batch_size=min(_BATCH, len(values)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for epoch in range(epochs):
            network.learning_rate_init = 2e-3 * 0.05 ** (epoch / max(1, epochs - 1))
            network.set_params(random_state=1_000 * seed + epoch)  # shuffle differently in each epoch
            noisy = values + np.random.default_rng([seed, epoch]).normal(0, _FEATURE_NOISE, values.shape)
            network.fit(noisy.astype(np.float32), sounds)
            progress((epoch + 1) / epochs)
    return network


def as_classifier(network: MLPClassifier, mean: NDArray[np.float32], scale: NDArray[np.float32]) -> Classifier:
    """Convert a network to a classifier with an output for each sound, even for sounds without examples."""
    weights = [np.asarray(weight, np.float32) for weight in network.coefs_]
    biases = [np.asarray(bias, np.float32) for bias in network.intercepts_]
    last = np.zeros((weights[-1].shape[0], len(SOUNDS)), np.float32)
    bias = np.full(len(SOUNDS), -20, np.float32)
    last[:, network.classes_], bias[network.classes_] = weights[-1], biases[-1]
    return Classifier(mean, scale, (*weights[:-1], last), (*biases[:-1], bias), _THRESHOLD, {})


def reweight(classifier: Classifier, check: Examples) -> Classifier:
    """Return the classifier with adjusted priors of taps and tiles.

    The modelled shares reflect neither real frequencies nor the cost of mistakes. Of all weights with few enough tiles
    classified as knocks and a recall of at least 96 %, this selects those with the fewest taps classified as knocks. If
    there are none, the limit for tiles takes precedence over recall.
    """
    chances = classifier.probabilities(check.features)
    is_tap, is_tile = (np.array([sound in kinds for sound in SOUNDS]) for kinds in (_TAPS, (Sound.TILE,)))
    taps, tiles = chances[:, is_tap].sum(axis=1), chances[:, is_tile].sum(axis=1)
    others = chances[:, 1:].sum(axis=1) - taps - tiles

    def cost(of_taps: float, of_tiles: float) -> tuple[bool, float, float]:
        is_knock = chances[:, 0] >= np.exp(of_taps) * taps + np.exp(of_tiles) * tiles + others
        tile_knocks = max(_shares(is_knock, check, _TILES), default=0.0)
        recall = float((is_knock & (check.sounds == 0)).sum() / max(1, check.knocks))
        tap_knocks = float(np.mean(_shares(is_knock, check, _TAPS) or [0.0]))
        return tile_knocks > _MAX_TILE_KNOCKS, max(0.0, _RECALL - recall), tap_knocks

    of_taps, of_tiles = min(((a, b) for a in _TAP_WEIGHTS for b in _TILE_WEIGHTS), key=lambda pair: cost(*pair))
    bias = classifier.biases[-1] + (is_tap * of_taps + is_tile * of_tiles).astype(np.float32)
    return replace(classifier, biases=(*classifier.biases[:-1], bias))


def _shares(is_knock: NDArray[np.bool_], check: Examples, sounds: tuple[Sound, ...]) -> list[float]:
    """Return the share of each sound that is classified as a knock. Sounds without examples are skipped."""
    masks = [check.sounds == SOUNDS.index(sound) for sound in sounds]
    return [float(is_knock[mask].mean()) for mask in masks if mask.any()]


def figures(classifier: Classifier, check: Examples) -> dict[str, object]:
    """Return the recall of knocks, and the share of every other sound classified as a knock, on held-out sounds."""
    is_knock = classifier.probabilities(check.features)[:, 0] >= classifier.least_knock
    correct = is_knock & (check.sounds == 0)
    false_positives: dict[str, object] = {
        f"{sound} taken for a knock": round(float(is_knock[check.sounds == index].mean()), 4)
        for index, sound in enumerate(SOUNDS)
        if index and (check.sounds == index).any()
    }
    return {"knocks found": round(float(correct.sum() / max(1, check.knocks)), 4)} | false_positives
