"""Tests of microphone responses: gains, and recordings that keep peak and timing."""

from __future__ import annotations

import numpy as np
import pytest

from lab.sounds.devices import Response, apply_response, combined, high_pass, low_pass, peaking, tilted

HZ = np.array([125.0, 250.0, 1_000.0, 4_000.0])


@pytest.mark.parametrize(
    ("response", "gains_db"),
    [
        (tilted(2.0), [-6.0, -4.0, 0.0, 4.0]),
        (peaking(250, -8), [-0.0, -8.0, 0.0, 0.0]),
        (low_pass(1_000), [0.0, 0.0, -3.0, -48.2]),
        (peaking(500, 6, width_octaves=1.0), [0.1, 2.2, 2.2, 0.0]),
        (low_pass(1_000, order=1), [-0.1, -0.3, -3.0, -12.3]),
        (high_pass(250, order=1), [-7.0, -3.0, -0.3, 0.0]),
        (combined(tilted(2.0), tilted(1.0)), [-9.0, -6.0, 0.0, 6.0]),
        (combined(low_pass(125, order=3), high_pass(125)), [-6.0, -18.4, -54.2, -60.0]),
        (high_pass(250), [-12.3, -3.0, 0.0, 0.0]),
    ],
    ids=[
        "tilted",
        "bent",
        "without above",
        "bent widely",
        "gently without above",
        "gently without below",
        "in series",
        "at least -60 dB",
        "without below",
    ],
)
def test_responses_have_the_nominal_gains(response: Response, gains_db: list[float]) -> None:
    assert response(HZ) == pytest.approx(gains_db, abs=0.1)


def test_a_filtered_recording_keeps_its_peak_and_timing() -> None:
    samples = np.zeros(5_000, np.float32)
    samples[3_000:3_004] = 0.3, -0.5, 0.4, -0.1
    filtered = apply_response(samples, tilted(-4.0))
    assert np.abs(filtered).max() == pytest.approx(0.5)
    assert abs(int(np.abs(filtered).argmax()) - 3_001) <= 2
    assert not np.allclose(filtered, samples, atol=0.05)
