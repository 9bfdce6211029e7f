"""Tests of room responses: direct sound, distance, decay, and sounds that keep their length."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lab.sounds.devices import Acoustics, draw_room, reverberate, room_response
from lab.sounds.impacts import RATE_HZ

ROOM = Acoustics(distance_m=1.0, reverberation_s=0.6, volume_m3=60.0, treble=1.0, reflections=0)


def energy_after(response: np.ndarray, from_s: float) -> float:
    return float((response[round(from_s * RATE_HZ) :] ** 2).sum())


def direct_to_reverberant_db(response: np.ndarray) -> float:
    return 10 * float(np.log10(response[0] ** 2 / (response[1:] ** 2).sum()))


@pytest.mark.parametrize(("distance_m", "nominal_db"), [(0.3, 5.6), (0.57, 0.0), (4.0, -16.9)])
def test_the_direct_sound_dominates_nearby_and_the_reverberation_far_away(distance_m: float, nominal_db: float) -> None:
    room = replace(ROOM, distance_m=distance_m)
    assert room.direct_to_reverberant_db == pytest.approx(nominal_db, abs=0.1)
    response = room_response(np.random.default_rng(1), room)
    assert direct_to_reverberant_db(response) == pytest.approx(nominal_db, abs=0.1)


def test_reflections_are_weaker_nearby() -> None:
    shares = []
    for distance_m in (0.3, 4.0):
        room = Acoustics(distance_m=distance_m, gap_s=0.030, reflections=11)
        early = [room_response(np.random.default_rng(seed), room)[1:480] for seed in range(20)]
        shares.append(np.mean([(response**2).sum() for response in early]))
    assert shares[0] < 0.3 * shares[1]


def test_a_longer_reverberation_time_decays_more_slowly() -> None:
    shares = {}
    for reverberation_s in (0.3, 0.9):
        response = room_response(np.random.default_rng(2), replace(ROOM, reverberation_s=reverberation_s))
        shares[reverberation_s] = 10 * np.log10(energy_after(response, 0.21) / energy_after(response, 0.01))
    # 0.2 s are 40 dB of a decay of 60 dB in 0.3 s, and 13 dB of one in 0.9 s.
    assert shares[0.3] == pytest.approx(-40, abs=8)
    assert shares[0.9] == pytest.approx(-13, abs=4)


def test_high_frequencies_decay_faster_with_less_treble() -> None:
    response = room_response(np.random.default_rng(3), replace(ROOM, treble=0.35))
    late = np.abs(np.fft.rfft(response[round(0.25 * RATE_HZ) : round(0.4 * RATE_HZ)])) ** 2
    hz = np.fft.rfftfreq(round(0.15 * RATE_HZ), 1 / RATE_HZ)
    assert late[hz < 400].mean() > 100 * late[hz > 3_500].mean()


def test_a_sound_in_a_random_room_keeps_its_length_and_start() -> None:
    rng = np.random.default_rng(4)
    sound = np.zeros(RATE_HZ)
    sound[5_000] = 1.0
    for _ in range(20):
        heard = reverberate(sound, room_response(rng, draw_room(rng)))
        assert heard.shape == sound.shape
        assert np.isfinite(heard).all()
        assert np.abs(heard[:4_999]).max() < 1e-5
        assert heard[5_000] == pytest.approx(1.0, abs=1e-4)


def test_random_rooms_have_the_requested_distance_and_differ() -> None:
    rng = np.random.default_rng(5)
    rooms = [draw_room(rng, distance_m=2.0) for _ in range(50)]
    assert {room.distance_m for room in rooms} == {2.0}
    assert np.std([room.direct_to_reverberant_db for room in rooms]) > 1
    anywhere = [draw_room(rng).distance_m for _ in range(200)]
    assert 0.2 <= min(anywhere) < 0.4
    assert 2.5 < max(anywhere) <= 4.5
