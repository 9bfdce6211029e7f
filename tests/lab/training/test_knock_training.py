"""Tests of knock training: modelled sounds, examples, reweighting and reproducibility."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hardware.knock.classifier import AFTER, BEFORE, FEATURES, SOUNDS, Classifier, Dense, load_classifier, measure
from hardware.knock.sensor import Sound
from lab.sounds.signals import RATE_HZ, Impact, finger_pad, force, frequencies, knuckle, nail
from lab.training.recordings import Examples, chances_of, collect_examples, draw_recording, figures, reweight
from tests.hardware.knock.scenes import draw_scene, scene_of
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


def test_recordings_follow_from_their_seeds() -> None:
    first, repeated, other = (draw_recording(np.random.default_rng(seed)) for seed in (5, 5, 6))
    assert first.events == repeated.events
    assert (first.samples == repeated.samples).all()
    assert first.events != other.events


@pytest.mark.slow
def test_recordings_contain_every_kind_of_sound() -> None:
    recordings = [draw_recording(np.random.default_rng([8, seed])) for seed in range(30)]
    assert {event.kind for recording in recordings for event in recording.events} == set(SOUNDS)
    assert all(np.isfinite(recording.samples).all() for recording in recordings)
    assert all(np.abs(recording.samples).max() <= 1 for recording in recordings)


def test_many_knocks_are_detected_and_labelled_as_knocks() -> None:
    # Others are hidden by louder sounds, by noise or by a gate.
    examples = collect_examples(9, 16, None, 1, lambda share: None)
    assert examples.knocks.sum() >= 20
    assert 0.5 <= (examples.sounds == 0).sum() / examples.knocks.sum() <= 1.05


def test_scripted_sounds_occur_at_their_times() -> None:
    script = [(Sound.TILE, 0.5), (Sound.KNOCK, 1.5), (Sound.SHUFFLE, 3.0)]
    scene = scene_of(np.random.default_rng(3), script, lasts_s=6.0)
    assert len(scene.samples) == 6 * RATE_HZ
    assert [(event.kind, event.t_s) for event in scene.events if event.t_s in (0.5, 1.5, 3.0)] == script


def test_batched_features_equal_single_ones() -> None:
    excerpts = np.random.default_rng(4).normal(0, 0.1, (6, BEFORE + AFTER)).astype(np.float32)
    assert measure(excerpts) == pytest.approx(np.array([measure(excerpt) for excerpt in excerpts]), abs=1e-4)


def test_features_do_not_depend_on_loudness() -> None:
    excerpt = np.random.default_rng(4).normal(0, 0.1, BEFORE + AFTER).astype(np.float32)
    assert measure(excerpt * np.float32(0.05)) == pytest.approx(measure(excerpt), abs=0.02)


def judged(rows: list[tuple[Sound, dict[Sound, float]]]) -> tuple[Classifier, Examples]:
    """Return a classifier that gives each example the stated probabilities, and the examples."""
    shipped = load_classifier()
    features = np.random.default_rng(6).uniform(-4, 3, (len(rows), FEATURES)).astype(np.float16)
    wanted = np.log([[chances.get(sound, 0.01) for sound in SOUNDS] for _, chances in rows])
    found = shipped.embed(features.astype(np.float32)).astype(np.float64)
    found = np.column_stack([found, np.ones(len(rows))])
    solution = np.linalg.lstsq(found, wanted, rcond=None)[0].astype(np.float32)
    classifier = replace(shipped, output=Dense(solution[:-1], solution[-1]))
    sounds = np.array([SOUNDS.index(sound) for sound, _ in rows])
    return classifier, Examples(features, sounds, np.array([int((sounds == 0).sum())]))


@pytest.mark.parametrize(("other", "most"), [(Sound.NAIL, 0.40), (Sound.TILE, 0.10), (Sound.CLAP, 0.04)], ids=str)
def test_other_sounds_have_the_least_weight_that_keeps_them_from_passing(other: Sound, most: float) -> None:
    # Half of them would pass with a weight of 1.
    near = [(other, {Sound.KNOCK: 0.65, other: 0.2})] * 10 + [(other, {Sound.KNOCK: 0.15, other: 0.75})] * 10
    sure = [(Sound.KNOCK, {Sound.KNOCK: 0.9, other: 0.05})] * 10
    classifier, check = judged(near + sure)
    name = f"{other} taken for a knock"
    assert figures(classifier, check)[name] == 0.5
    after = reweight(classifier, check)
    assert figures(after, check) == {"knocks with an onset": 1, "knocks found, of those with an onset": 1, name: 0.0}
    index = SOUNDS.index(other)
    less = replace(after.output, bias=after.output.bias - 0.25 * (np.arange(len(SOUNDS)) == index))
    assert float(str(figures(replace(after, output=less), check)[name])) > most


def test_sounds_that_never_pass_have_less_weight() -> None:
    classifier, check = judged([(Sound.KNOCK, {Sound.KNOCK: 0.3, Sound.NAIL: 0.6})] * 8)
    assert figures(classifier, check)["knocks found, of those with an onset"] == 0
    assert figures(reweight(classifier, check), check)["knocks found, of those with an onset"] == 1


@pytest.mark.slow
def test_equal_seeds_give_equal_classifiers_better_than_chance() -> None:
    pytest.importorskip("torch", reason="training needs the extra `finder`")
    from lab.training.knock import train_knock

    def trained(seed: int) -> Classifier:
        return train_knock(seed=seed, scenes=40, epochs=6, jobs=2, progress=lambda what, share: None, library=None)

    first, repeated, other = trained(1), trained(1), trained(2)
    assert first.notes["seed"] == 1
    assert (first.output.weight == repeated.output.weight).all()
    assert not (first.output.weight == other.output.weight).all()
    check = collect_examples(3, 10, None, 1, lambda share: None)
    assert (chances_of(first, check).argmax(axis=1) == check.sounds).mean() > 0.25
