"""Tests of knock training: modelled sounds, examples, reweighting and reproducibility."""

from __future__ import annotations

import numpy as np
import pytest

from hardware.knock.classifier import SOUNDS, Classifier
from hardware.knock.features import FEATURES, measure
from hardware.knock.heard import Sound
from synthetic.sounds.impacts import RATE_HZ, Impact, finger_pad, force, frequencies, knuckle, nail
from synthetic.sounds.scenes import draw_scene, scene_of
from synthetic.training.knock.fit import Examples, collect_examples, figures, fit, reweight, train_knock
from tests.hardware.knock.sounds import scene


@pytest.mark.parametrize("softness", [0.0, 0.4, 1.0])
def test_the_spectrum_at_0_hz_is_the_impulse(softness: float) -> None:
    assert force([Impact(0.001, 0.002, 3.0, softness)])[0] == pytest.approx(3.0)


def test_the_spectrum_of_a_pulse_matches_its_samples() -> None:
    # A squared sine of 4 ms, sampled at 16 kHz.
    times_s = np.arange(64) / RATE_HZ
    pulse = np.sin(np.pi * times_s / 0.004) ** 2
    expected = np.fft.rfft(pulse / pulse.sum(), 8192)
    low = frequencies() < 2_000
    assert np.abs(force([Impact(0.0, 0.004, 1.0, 1.0)])[low]) == pytest.approx(np.abs(expected[low]), abs=1e-4)


def test_longer_contacts_sound_duller() -> None:
    high = (frequencies() > 3_000) & (frequencies() < 5_000)

    def brightness(impacts: list[Impact]) -> float:
        spectrum = np.abs(force(impacts)) ** 2
        return float(spectrum[high].sum() / spectrum.sum())

    rng = np.random.default_rng(1)
    of_nail, of_knuckle, of_pad = (
        np.median([brightness(kind(rng)) for _ in range(60)]) for kind in (nail, knuckle, finger_pad)
    )
    assert of_nail > 5 * of_knuckle > 25 * of_pad


def test_a_scene_follows_from_its_seed() -> None:
    first, repeated = (draw_scene(np.random.default_rng(5), events=3) for _ in range(2))
    other = draw_scene(np.random.default_rng(6), events=3)
    assert first.events == repeated.events
    assert (first.samples == repeated.samples).all()
    assert first.events != other.events


def test_sounds_start_at_the_times_of_their_events() -> None:
    samples, events = scene(3, 12).samples, scene(3, 12).events
    assert len(events) >= 12
    onsets = [event.t_s for event in events]
    assert onsets == sorted(onsets)
    for event in events:
        first = round(event.t_s * RATE_HZ)
        before = np.abs(samples[first - 1_600 : first - 480]).max()
        after = np.abs(samples[first : first + 3_200]).max()
        assert after > before or event.kind in (Sound.SPEECH, Sound.NOTHING)


def test_most_knocks_are_detected_and_labelled_as_knocks() -> None:
    examples = collect_examples(9, 3, lambda share: None)
    assert examples.knocks >= 5
    assert 0.9 <= (examples.sounds == 0).sum() / examples.knocks <= 1.05


def test_scripted_sounds_occur_at_their_times() -> None:
    script = [(Sound.TILE, 0.5), (Sound.KNOCK, 1.5), (Sound.SHUFFLE, 3.0)]
    scene = scene_of(np.random.default_rng(3), script, lasts_s=6.0)
    assert len(scene.samples) == 6 * RATE_HZ
    assert [(event.kind, event.t_s) for event in scene.events if event.t_s in (0.5, 1.5, 3.0)] == script


def test_batched_features_equal_single_ones() -> None:
    excerpts = np.random.default_rng(4).normal(0, 0.1, (6, 6_016)).astype(np.float32)
    assert np.array_equal(measure(excerpts), [measure(excerpt) for excerpt in excerpts])


@pytest.mark.slow
def test_a_classifier_is_better_than_chance_after_a_few_scenes() -> None:
    learn, check = (collect_examples(seed, 8, lambda share: None) for seed in (1, 2))
    shares: list[float] = []
    classifier = fit(learn, 1, 60, shares.append)
    assert shares[-1] == 1.0
    right = (classifier.probabilities(check.features).argmax(axis=1) == check.sounds).mean()
    assert right > 0.5
    assert "knocks found" in figures(classifier, check)


def judged(rows: list[tuple[Sound, dict[Sound, float]]]) -> tuple[Classifier, Examples]:
    """Return a classifier that gives each example the stated probabilities, and the examples."""
    # The first features are the log probabilities, and pass through unchanged.
    weight = np.eye(FEATURES, len(SOUNDS), dtype=np.float32)
    plain = np.zeros(FEATURES, np.float32), np.ones(FEATURES, np.float32)
    classifier = Classifier(*plain, (weight,), (np.zeros(len(SOUNDS), np.float32),), 0.5, {})
    features = np.zeros((len(rows), FEATURES), np.float32)
    for index, (_, chances) in enumerate(rows):
        features[index, : len(SOUNDS)] = [np.log(chances.get(sound, 0.01)) for sound in SOUNDS]
    sounds = np.array([SOUNDS.index(sound) for sound, _ in rows])
    return classifier, Examples(features, sounds, int((sounds == 0).sum()))


def test_taps_weigh_less_if_that_finds_more_knocks() -> None:
    unsure = [(Sound.KNOCK, {Sound.KNOCK: 0.3, Sound.NAIL: 0.6})] * 20
    sure = [(Sound.NAIL, {Sound.KNOCK: 0.05, Sound.NAIL: 0.9})] * 20
    classifier, check = judged(unsure + sure)
    assert figures(classifier, check)["knocks found"] == 0
    assert figures(reweight(classifier, check), check) == {"knocks found": 1.0, "nail taken for a knock": 0.0}


def test_tiles_weigh_more_if_they_would_pass_for_knocks() -> None:
    knocks = [(Sound.KNOCK, {Sound.KNOCK: 0.9, Sound.TILE: 0.05})] * 20
    tiles = [(Sound.TILE, {Sound.KNOCK: 0.6, Sound.TILE: 0.35})] * 20
    classifier, check = judged(knocks + tiles)
    assert figures(classifier, check)["tile taken for a knock"] == 1
    assert figures(reweight(classifier, check), check) == {"knocks found": 1.0, "tile taken for a knock": 0.0}


@pytest.mark.slow
def test_equal_seeds_give_equal_classifiers() -> None:
    def trained(seed: int) -> list[np.ndarray]:
        classifier = train_knock(seed=seed, scenes=2, epochs=2, progress=lambda what, share: None)
        assert classifier.notes["seed"] == seed
        return [classifier.mean, classifier.scale, *classifier.weights, *classifier.biases]

    first, repeated, other = trained(1), trained(1), trained(2)
    assert all((a == b).all() for a, b in zip(first, repeated, strict=True))
    assert not all((a == b).all() for a, b in zip(first, other, strict=True))
