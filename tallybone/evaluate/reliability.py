"""Whether what is said with a confidence is right as often as that: reliability bins and one figure for all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

# Fine where readings are sure: that is where most of them are, and where people trust them.
_EDGES = (0.0, 0.5, 0.8, 0.9, 0.95, 0.99, 1.0)


@dataclass(frozen=True, slots=True)
class Claim:
    """Something that was said with a confidence of 0 to 1, and whether it was right."""

    confidence: float
    is_right: bool


@dataclass(frozen=True, slots=True)
class Bin:
    """Claims of similar confidence.

    Attributes:
        low, high: Confidence from *low* on and below *high*; the last bin holds 1 too.
        claims: How many there are.
        right: How many of them were right.
        confidence_sum: Sum of their confidences.
    """

    low: float
    high: float
    claims: int
    right: int
    confidence_sum: float

    @property
    def mean_confidence(self) -> float | None:
        """What was claimed on average, None where nothing was."""
        return self.confidence_sum / self.claims if self.claims else None

    @property
    def share_right(self) -> float | None:
        """What was true of it, None where nothing was claimed."""
        return self.right / self.claims if self.claims else None


def sort_into_bins(claims: Iterable[Claim]) -> tuple[Bin, ...]:
    """Return claims by confidence, the least sure first.

    >>> [(b.low, b.claims, b.right) for b in sort_into_bins([Claim(0.99, True), Claim(0.4, False)]) if b.claims]
    [(0.0, 1, 0), (0.99, 1, 1)]
    """
    held: list[list[Claim]] = [[] for _ in _EDGES[1:]]
    for claim in claims:
        place = sum(claim.confidence >= edge for edge in _EDGES[1:-1])
        held[place].append(claim)
    return tuple(
        Bin(low, high, len(some), sum(one.is_right for one in some), sum(one.confidence for one in some))
        for low, high, some in zip(_EDGES, _EDGES[1:], held, strict=False)
    )


def expected_calibration_error(bins: Sequence[Bin]) -> float | None:
    """Return how far what is claimed lies from what is true, on average over all claims; None where there are none.

    It is the sum over the bins of (claims in the bin / all claims) * |share right - mean confidence|: Guo, Pleiss, Sun
    and Weinberger, On Calibration of Modern Neural Networks (ICML 2017), equation 3, after Naeini, Cooper and
    Hauskrecht (AAAI 2015). Their bins are equally wide, these are not.

    >>> expected_calibration_error(sort_into_bins([Claim(0.75, True), Claim(0.75, False)]))
    0.25
    """
    claims = sum(one.claims for one in bins)
    return sum(abs(one.right - one.confidence_sum) for one in bins) / claims if claims else None
