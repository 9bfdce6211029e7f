"""Tests of modelled tables: sum of modes, dispersion, damping, decay, sandwiches, covers and loose parts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lab.sounds.scenes import MATERIALS, Material, TableModes, plain_table, random_place, random_table
from lab.sounds.signals import LENGTH, RATE_HZ


def plate(*, ears: list[list[float]], own_gain: float = 0.0, loss_per_s: float = 30.0) -> TableModes:
    """Return a thin square plate whose lowest mode is at 12 Hz."""
    waves = np.stack(np.meshgrid(np.arange(26), np.arange(26)), axis=-1).reshape(-1, 2)[1:].astype(np.float64)
    modes_hz = 12.0 * (waves**2).sum(axis=1)
    is_heard = modes_hz < 7_000
    count = int(is_heard.sum())
    return TableModes(
        modes_hz[is_heard],
        np.full(count, loss_per_s),
        waves[is_heard],
        np.ones(count),
        np.array(ears),
        np.ones(len(ears)),
        own_gain,
    )


def struck_at(table: TableModes, along: float, across: float, *, held: float = 1.0) -> np.ndarray:
    """Return the recorded samples."""
    return np.fft.irfft(table.struck(np.array([along, across]), held=held), LENGTH)


def test_a_strike_is_the_sum_of_its_modes() -> None:
    table = TableModes(
        np.array([100.0, 400.0]), np.array([20.0, 50.0]), np.array([[1.0, 0.0], [2.0, 1.0]]), np.array([1.0, 3.0]),
        np.array([[0.0, 0.0]]), np.array([1.0]), 0.0,
    )  # fmt: skip
    times_s = np.arange(LENGTH) / RATE_HZ
    # All modes peak at the microphone's corner, so only the struck place matters.
    first = np.cos(np.pi * 0.25) * np.exp(-20 * times_s) * np.sin(2 * np.pi * 100 * times_s)
    second = 3 * np.cos(np.pi * 0.5) * np.cos(np.pi * 0.4) * np.exp(-50 * times_s) * np.sin(2 * np.pi * 400 * times_s)
    assert struck_at(table, 0.25, 0.4) == pytest.approx(first + second, abs=1e-4)


def test_high_frequencies_arrive_before_low_ones() -> None:
    sound = struck_at(plate(ears=[[0.9, 0.9]]), 0.1, 0.1)

    def onset(from_hz: float, to_hz: float) -> int:
        spectrum, hz = np.fft.rfft(sound), np.fft.rfftfreq(LENGTH, 1 / RATE_HZ)
        tones = np.fft.irfft(spectrum * ((hz > from_hz) & (hz < to_hz)), LENGTH)
        energy = np.cumsum(tones[:400] ** 2)  # before reflections from the edges
        return int(np.searchsorted(energy, 0.1 * energy[-1]))

    assert onset(4_000, 7_000) + 16 < onset(300, 800)


def test_a_hand_on_the_table_damps_it() -> None:
    table = plate(ears=[[0.9, 0.9]])
    free, held = struck_at(table, 0.2, 0.3), struck_at(table, 0.2, 0.3, held=3.0)
    late = slice(RATE_HZ // 10, RATE_HZ // 5)
    assert np.abs(held[late]).max() < 0.1 * np.abs(free[late]).max()


@pytest.mark.parametrize("seed", range(12))
def test_the_sound_of_every_table_decays(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = random_table(rng)
    sound = np.abs(np.fft.irfft(table.struck(random_place(rng)), LENGTH))
    assert 10 < len(table.modes_hz) < 1_100
    assert sound[-LENGTH // 8 :].max() < 0.2 * sound.max()


def modes_between(material: Material, low_hz: float, high_hz: float) -> int:
    """Return the number of modes of 20 tables."""
    tables = [random_table(np.random.default_rng(seed), material=material) for seed in range(20)]
    return sum(int(((table.modes_hz > low_hz) & (table.modes_hz < high_hz)).sum()) for table in tables)


def test_modes_of_a_solid_plate_are_evenly_spaced_and_those_of_a_sandwich_get_closer() -> None:
    for name, low, high in (("board", 0.8, 1.3), ("honeycomb board", 2.0, 8.0)):
        material = MATERIALS[name]
        assert low < modes_between(material, 6_000, 7_000) / modes_between(material, 1_500, 2_500) < high


def test_a_hollow_top_resonates_on_its_air() -> None:
    for seed in range(20):
        table = random_table(np.random.default_rng(seed), material=MATERIALS["hollow door"])
        air_hz = float(table.modes_hz[-1])
        assert 60 <= air_hz <= 300
        assert (table.waves[-1] == 0).all()
        assert table.loudness[-1] >= 0.2 * np.abs(table.loudness[:-1]).max()


def tables_with(part: str) -> list[TableModes]:
    tables = [random_table(np.random.default_rng(seed)) for seed in range(200)]
    return [table for table in tables if getattr(table, part) is not None]


def test_a_quarter_of_the_tables_have_a_cover_that_dulls_hits() -> None:
    covered = tables_with("cover")
    assert 30 < len(covered) < 70
    hz = np.fft.rfftfreq(LENGTH, 1 / RATE_HZ)
    for table in covered:
        place = random_place(np.random.default_rng(1))
        soft, bare = np.abs(table.struck(place)), np.abs(replace(table, cover=None).struck(place))
        assert soft[hz > 5_500].sum() < 0.9 * bare[hz > 5_500].sum()
        assert soft[hz < 100].sum() == pytest.approx(bare[hz < 100].sum(), rel=0.5)


def test_some_tables_have_loose_parts_that_rattle_after_a_hit() -> None:
    loose = tables_with("loose")
    assert 15 < len(loose) < 45
    for table in loose:
        rng = np.random.default_rng(1)
        first, second = table.rattle(rng), table.rattle(rng)
        assert first is not None
        assert second is not None
        assert (first != second).any()
        for spectrum in (first, second):
            sound = np.abs(np.fft.irfft(spectrum, LENGTH))
            assert sound[: RATE_HZ // 2_000].max() < 0.1 * sound.max()
            assert np.sqrt((np.abs(spectrum) ** 2).mean()) < 10 ** (10 / 20)
    assert replace(loose[0], loose=None).rattle(np.random.default_rng(1)) is None


@pytest.mark.parametrize("name", MATERIALS)
def test_the_modes_of_every_material_are_audible_and_decay(name: str) -> None:
    for seed in range(5):
        table = random_table(np.random.default_rng(seed), material=MATERIALS[name])
        assert 10 < len(table.modes_hz) < 1_200
        assert 0 < table.modes_hz.min() <= table.modes_hz.max() < 7_800
        assert table.decays.min() > 5
        assert len(table.modes_hz) == len(table.decays) == len(table.waves) == len(table.loudness)


def test_a_plain_table_is_bare() -> None:
    tables = [plain_table(np.random.default_rng(seed)) for seed in range(30)]
    assert all(table.cover is None and table.loose is None for table in tables)
