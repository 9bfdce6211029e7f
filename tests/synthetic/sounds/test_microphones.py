"""Tests of microphone responses: gains, and recordings that keep peak and timing."""

from __future__ import annotations

import numpy as np
import pytest

from synthetic.sounds.microphones import (
    Response,
    apply_response,
    high_pass,
    low_pass,
    peaking,
    tilted,
)

HZ = np.array([125.0, 250.0, 1_000.0, 4_000.0])


@pytest.mark.parametrize(
    ("response", "gains_db"),
    [
        (tilted(2.0), [-6.0, -4.0, 0.0, 4.0]),
        (peaking(250, -8), [-0.0, -8.0, 0.0, 0.0]),
        (low_pass(1_000), [0.0, 0.0, -3.0, -48.2]),
        (high_pass(250), [-14.0, -6.0, -0.5, 0.0]),
    ],
    ids=["tilted", "bent", "without above", "without below"],
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
