"""Tests of reliability: confidence bins and the expected calibration error."""

from __future__ import annotations

import pytest

from lab.evaluate.photos import JudgedConfidence, expected_calibration_error, sort_into_bins


@pytest.mark.parametrize(("confidence", "low"), [(0.0, 0.0), (0.4999, 0.0), (0.5, 0.5), (0.95, 0.95), (0.9899, 0.95)])
def test_a_bin_includes_its_lower_edge(confidence: float, low: float) -> None:
    (full,) = [b for b in sort_into_bins([JudgedConfidence(confidence, is_right=True)]) if b.claims]
    assert full.low == low


def test_full_confidence_is_in_the_last_bin() -> None:
    last = sort_into_bins([JudgedConfidence(1.0, is_right=True), JudgedConfidence(0.99, is_right=False)])[-1]
    assert (last.claims, last.right, last.mean_confidence, last.share_right) == (2, 1, 0.995, 0.5)


def test_the_error_weights_each_bin_by_its_claims() -> None:
    # Three of four right at 0.6: |0.75 - 0.6| * 4/5. None of one right at 0.9: 0.9 * 1/5.
    claims = [JudgedConfidence(0.6, is_right=right) for right in (True, True, True, False)] + [
        JudgedConfidence(0.9, is_right=False)
    ]
    assert expected_calibration_error(sort_into_bins(claims)) == pytest.approx(0.15 * 0.8 + 0.9 * 0.2)


def test_there_is_no_error_without_claims() -> None:
    assert expected_calibration_error(sort_into_bins([])) is None
