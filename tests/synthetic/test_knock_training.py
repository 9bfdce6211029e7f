"""Training: the modelled sound is what physics says, truth agrees with it, and everything follows from the seed."""

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
def test_a_contact_pushes_by_its_impulse(softness: float) -> None:
    assert force([Impact(0.001, 0.002, 3.0, softness)])[0] == pytest.approx(3.0)


def test_the_spectrum_of_a_pulse_is_that_of_its_samples() -> None:
    # A sine squared of 4 ms, summed by hand at 16 kHz.
    times_s = np.arange(64) / RATE_HZ
    pulse = np.sin(np.pi * times_s / 0.004) ** 2
    by_hand = np.fft.rfft(pulse / pulse.sum(), 8192)
    low = frequencies() < 2_000
    assert np.abs(force([Impact(0.0, 0.004, 1.0, 1.0)])[low]) == pytest.approx(np.abs(by_hand[low]), abs=1e-4)


def test_what_presses_longer_sounds_duller() -> None:
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
    first, again = (draw_scene(np.random.default_rng(5), events=3) for _ in range(2))
    other = draw_scene(np.random.default_rng(6), events=3)
    assert first.events == again.events
    assert (first.samples == again.samples).all()
    assert first.events != other.events


def test_what_is_made_is_where_the_scene_says() -> None:
    samples, events = scene(3, 12).samples, scene(3, 12).events
    assert len(events) >= 12
    begins = [one.t_s for one in events]
    assert begins == sorted(begins)
    for one in events:
        first = round(one.t_s * RATE_HZ)
        before = np.abs(samples[first - 1_600 : first - 480]).max()
        after = np.abs(samples[first : first + 3_200]).max()
        assert after > before or one.kind in (Sound.SPEECH, Sound.NOTHING)


def test_most_knocks_are_found_as_sounds_and_taught_as_knocks() -> None:
    examples = collect_examples(9, 3, lambda share: None)
    assert examples.knocks >= 5
    assert 0.9 <= (examples.sounds == 0).sum() / examples.knocks <= 1.05


def test_what_is_told_to_happen_is_heard_when_it_does() -> None:
    happens = [(Sound.TILE, 0.5), (Sound.KNOCK, 1.5), (Sound.SHUFFLE, 3.0)]
    scene = scene_of(np.random.default_rng(3), happens, lasts_s=6.0)
    assert len(scene.samples) == 6 * RATE_HZ
    assert [(one.kind, one.t_s) for one in scene.events if one.t_s in (0.5, 1.5, 3.0)] == happens


def test_many_sounds_at_once_have_the_features_of_each() -> None:
    around = np.random.default_rng(4).normal(0, 0.1, (6, 6_016)).astype(np.float32)
    assert np.array_equal(measure(around), [measure(one) for one in around])


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
    """A classifier that gives each of some examples the chances that are told, and the examples."""
    # The first features are the logarithms of the chances, and go through as they are.
    weight = np.eye(FEATURES, len(SOUNDS), dtype=np.float32)
    plain = np.zeros(FEATURES, np.float32), np.ones(FEATURES, np.float32)
    classifier = Classifier(*plain, (weight,), (np.zeros(len(SOUNDS), np.float32),), 0.5, {})
    features = np.zeros((len(rows), FEATURES), np.float32)
    for index, (_, chances) in enumerate(rows):
        features[index, : len(SOUNDS)] = [np.log(chances.get(sound, 0.01)) for sound in SOUNDS]
    sounds = np.array([SOUNDS.index(sound) for sound, _ in rows])
    return classifier, Examples(features, sounds, int((sounds == 0).sum()))


def test_taps_weigh_less_where_that_finds_knocks() -> None:
    unsure = [(Sound.KNOCK, {Sound.KNOCK: 0.3, Sound.NAIL: 0.6})] * 20
    sure = [(Sound.NAIL, {Sound.KNOCK: 0.05, Sound.NAIL: 0.9})] * 20
    classifier, check = judged(unsure + sure)
    assert figures(classifier, check)["knocks found"] == 0
    assert figures(reweight(classifier, check), check) == {"knocks found": 1.0, "nail taken for a knock": 0.0}


def test_tiles_weigh_more_where_they_would_pass_for_knocks() -> None:
    knocks = [(Sound.KNOCK, {Sound.KNOCK: 0.9, Sound.TILE: 0.05})] * 20
    tiles = [(Sound.TILE, {Sound.KNOCK: 0.6, Sound.TILE: 0.35})] * 20
    classifier, check = judged(knocks + tiles)
    assert figures(classifier, check)["tile taken for a knock"] == 1
    assert figures(reweight(classifier, check), check) == {"knocks found": 1.0, "tile taken for a knock": 0.0}


@pytest.mark.slow
def test_the_same_seed_gives_the_same_classifier() -> None:
    def trained(seed: int) -> list[np.ndarray]:
        one = train_knock(seed=seed, scenes=2, epochs=2, progress=lambda what, share: None)
        assert one.notes["seed"] == seed
        return [one.mean, one.scale, *one.weights, *one.biases]

    first, again, other = trained(1), trained(1), trained(2)
    assert all((a == b).all() for a, b in zip(first, again, strict=True))
    assert not all((a == b).all() for a, b in zip(first, other, strict=True))
