"""Find the most probable consistent reading: joined halves agree, and each tile exists only once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vision.layout.joins import Touch, is_at_side, play_posterior, play_priors

# Weight of a second tile with the same numbers, relative to any other tile, if the set is given or only estimated.
_REPEAT_GIVEN, _REPEAT_ESTIMATED = 0.02, 0.3
# Each confident pair of equal tiles multiplies this weight, because there may be two sets on the table.
_REPEATS_BREED = 15.0
_SURE = 0.99
# Exponent and floor that soften the probabilities of single halves, which are overconfident in poor images. On 130
# rendered tables, most of them blurred, noisy, dim or small, 93.5 % of the halves then reach 0.99, of which 0.27 % are
# wrong. Without softening it is 97 % and 0.4 %, and the log loss is 0.108 instead of 0.103.
_SOFTENING, _MISREAD = 0.75, 0.001
# Maximum number of iterations, and change below which they end.
_MAX_ROUNDS = 10
_CONVERGED = 1e-3
# Tiles above this probability are decided at once, without regard to the others.
_DECIDED = 0.9999


# Log probability used for impossible numbers.
_NEVER = -20.0
# Index of a touch that binds both halves of a tile, as a double, instead of half 0 or 1.
_AS_DOUBLE = 2


@dataclass(frozen=True, slots=True, eq=False)
class JointReading:
    """Joint reading of all tiles.

    Attributes:
        pips: Most probable consistent numbers, shape (N, 2). 0 for face-down tiles.
        chances: Marginal probability of each number for each half, given all tiles, shape (N, 2, K).
        plays: Posterior probability that each touch is a play, shape (T,).
    """

    pips: NDArray[np.int64]
    chances: NDArray[np.float64]
    plays: NDArray[np.float64]


def agree(
    chances: NDArray[np.float64], face_up: NDArray[np.bool_], touches: Sequence[Touch], *, set_is_given: bool
) -> JointReading:
    """Read all tiles jointly, by loopy belief propagation along the touches.

    The result is exact if the plays form no ring. The constraint that each tile exists once is approximated from the
    beliefs about all other tiles.

    Args:
        chances: Probability of each number for each half alone, shape (N, 2, K). All above 0.
        face_up: Mask of face-up tiles, shape (N,).
        touches: Touches between face-up tiles.
        set_is_given: Whether K was given instead of estimated.
    """
    up = np.nonzero(face_up)[0]
    links = _links(touches, np.cumsum(face_up) - 1, play_priors(touches, chances))
    chances = _soften(chances)
    repeat = _repeat_weight(chances[up], set_is_given=set_is_given)
    beliefs = _Beliefs(np.log(chances[up]), links, repeat)
    for _ in range(_MAX_ROUNDS):
        if beliefs.exchange() < _CONVERGED:
            break
    pips, together = np.zeros(chances.shape[:2], np.int64), chances.copy()
    pips[up], together[up] = beliefs.decide(), beliefs.marginals()[:, :_AS_DOUBLE]
    return JointReading(pips, together, beliefs.plays())


def _soften(chances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Soften the probabilities of single halves, which are overconfident in poor images."""
    softer = chances**_SOFTENING
    softer /= softer.sum(axis=-1, keepdims=True)
    return np.asarray((1 - _MISREAD) * softer + _MISREAD / chances.shape[-1])


def _repeat_weight(chances: NDArray[np.float64], *, set_is_given: bool) -> float:
    """Return the weight of a second tile with the same numbers, relative to any other tile, up to 1."""
    sure = (chances.max(axis=2) > _SURE).all(axis=1)
    named = np.sort(chances[sure].argmax(axis=2), axis=1)
    repeats = len(named) - len(np.unique(named, axis=0))
    weight = _REPEAT_GIVEN if set_is_given else _REPEAT_ESTIMATED
    return float(min(weight * _REPEATS_BREED**repeats, 1.0))


@dataclass(frozen=True, slots=True, eq=False)
class _Links:
    """Touches as arrays of length T.

    Attributes:
        a, b: Indices of the tiles.
        at_a, at_b: Half 0 or 1, or `_AS_DOUBLE`.
        likely: Prior probability of a play.
    """

    a: NDArray[np.int64]
    at_a: NDArray[np.int64]
    b: NDArray[np.int64]
    at_b: NDArray[np.int64]
    likely: NDArray[np.float64]

    def strength(self, count: int) -> NDArray[np.float64]:
        """Return the likelihood ratio of agreeing numbers in a play, shape (T, 1), for a set of *count* numbers."""
        return np.where(self.at_b == _AS_DOUBLE, count * count, count)[:, None].astype(np.float64)


def _links(touches: Sequence[Touch], place: NDArray[np.int64], likely: NDArray[np.float64]) -> _Links:
    rows = [(place[t.a], t.a_half, place[t.b], _AS_DOUBLE if is_at_side(t) else t.b_half) for t in touches]
    a, at_a, b, at_b = np.array(rows, np.int64).reshape(-1, 4).T
    return _Links(a, at_a, b, at_b, likely)


class _Beliefs:
    """Beliefs about each tile, and messages along the touches."""

    def __init__(self, evidence: NDArray[np.float64], links: _Links, repeat: float) -> None:
        """Start from *evidence*: the log probabilities of single halves, shape (N, 2, K)."""
        self._evidence, self._links, self._repeat = evidence, links, repeat
        count = evidence.shape[-1]
        self._to_a = np.ones((len(links.a), count))
        self._to_b = np.ones((len(links.a), count))
        self._once = np.zeros((len(evidence), count, count))
        self._beliefs = self._updated_beliefs()

    def exchange(self) -> float:
        """Update all messages and beliefs. Returns the largest change of a belief."""
        before = self._beliefs
        links, from_a, from_b = self._links, *self._cavity()
        likely, agree = links.likely[:, None], links.strength(self._evidence.shape[-1])
        # Messages to a double are relative to the case that the tile is no double.
        other = np.where(links.at_b == _AS_DOUBLE, 1 - links.likely, 1.0)[:, None]
        self._to_b = (1 - likely + likely * agree * from_a) / other
        self._to_a = 1 - likely + likely * agree * from_b
        # Damped, because two tiles that may be the same would otherwise swap forever.
        self._once = (self._once + self._uniqueness()) / 2
        self._beliefs = self._updated_beliefs()
        return float(np.abs(self._beliefs - before).max(initial=0.0))

    def marginals(self) -> NDArray[np.float64]:
        """Return the probability of each number for half 0, for half 1, and as a double, shape (N, 3, K)."""
        diagonal = np.diagonal(self._beliefs, axis1=1, axis2=2)
        return np.stack([self._beliefs.sum(axis=2), self._beliefs.sum(axis=1), diagonal], axis=1)

    def plays(self) -> NDArray[np.float64]:
        """Return the posterior probability that each touch is a play, shape (T,)."""
        from_a, from_b = self._cavity()
        agree = self._links.strength(self._evidence.shape[-1])[:, 0] * (from_a * from_b).sum(axis=1)
        return play_posterior(self._links.likely, agree)

    def _cavity(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the marginals at each end of each touch, without the message of that touch, shape (T, K) each."""
        links, marginals = self._links, self.marginals()
        cavity = []
        for tile, at, message in ((links.a, links.at_a, self._to_a), (links.b, links.at_b, self._to_b)):
            marginal = marginals[tile, at]
            rest = np.maximum(1 - marginal.sum(axis=1, keepdims=True), 0.0)  # probability of not being a double
            own = marginal / message
            cavity.append(own / (own.sum(axis=1, keepdims=True) + rest + 1e-300))
        return cavity[0], cavity[1]

    def _log_weights(self) -> NDArray[np.float64]:
        """Return the evidence plus all messages, as logs, shape (N, 3, K)."""
        logs = np.concatenate([self._evidence, np.zeros_like(self._evidence[:, :1])], axis=1)
        np.add.at(logs, (self._links.a, self._links.at_a), np.log(self._to_a))
        np.add.at(logs, (self._links.b, self._links.at_b), np.log(self._to_b))
        return logs

    def _updated_beliefs(self) -> NDArray[np.float64]:
        """Return the probability of each pair of numbers for each tile, shape (N, K, K)."""
        logs = _pairs(self._log_weights()) + self._once
        beliefs = np.exp(logs - logs.max(axis=(1, 2), keepdims=True))
        return np.asarray(beliefs / beliefs.sum(axis=(1, 2), keepdims=True))

    def _uniqueness(self) -> NDArray[np.float64]:
        """Return the log penalty for each pair of numbers that another tile may have, shape (N, K, K)."""
        absent = _absent(self._beliefs)
        return self._repeat_penalty(np.exp(absent.sum(axis=0) - absent))

    def _repeat_penalty(self, absent_elsewhere: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(np.log(self._repeat + (1 - self._repeat) * absent_elsewhere))

    def decide(self) -> NDArray[np.int64]:
        """Return the most probable consistent numbers, shape (N, 2). Tiles are decided in order of confidence."""
        count = self._evidence.shape[-1]
        flat = self._beliefs.reshape(len(self._beliefs), count * count)
        pips = np.column_stack(np.divmod(flat.argmax(axis=1), count)).astype(np.int64)
        surest = flat.max(axis=1)
        decided = surest > _DECIDED
        weights, absent = self._log_weights(), _absent(self._beliefs)
        elsewhere = absent.sum(axis=0)
        for tile in np.argsort(-surest, kind="stable"):
            elsewhere -= absent[tile]
            if not decided[tile]:
                logs = _pairs((weights[tile] + self._decided_messages(tile, pips, decided))[None])[0]
                pips[tile] = np.divmod((logs + self._repeat_penalty(np.exp(elsewhere))).argmax(), count)
                decided[tile] = True
            first, second = pips[tile]
            absent[tile] = 0.0
            absent[tile, (first, second), (second, first)] = _NEVER
            elsewhere += absent[tile]
        return pips

    def _decided_messages(self, tile: int, pips: NDArray[np.int64], decided: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the log messages that *tile* receives from decided tiles, minus its current ones, shape (3, K)."""
        links, change = self._links, np.zeros((3, self._evidence.shape[-1]))
        strength = links.strength(self._evidence.shape[-1])[:, 0]
        for i in np.nonzero((links.a == tile) & decided[links.b])[0]:
            number = pips[links.b[i], links.at_b[i] % _AS_DOUBLE]
            fits = links.at_b[i] != _AS_DOUBLE or number == pips[links.b[i], 1]
            message = _message(links.likely[i], strength[i] * fits, number, change.shape[1])
            change[links.at_a[i]] += message - np.log(self._to_a[i])
        for i in np.nonzero((links.b == tile) & decided[links.a])[0]:
            message = _message(links.likely[i], strength[i], pips[links.a[i], links.at_a[i]], change.shape[1])
            message -= np.log(1 - links.likely[i]) if links.at_b[i] == _AS_DOUBLE else 0.0
            change[links.at_b[i]] += message - np.log(self._to_b[i])
        return change


def _message(likely: float, strength: float, number: int, count: int) -> NDArray[np.float64]:
    """Return the log message of a touch if the other tile has *number*, shape (K,)."""
    message = np.full(count, 1 - likely)
    message[number] += likely * strength
    return np.asarray(np.log(message))


def _absent(beliefs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log probability that each tile does not have each pair of numbers, in either order, (N, K, K)."""
    as_tile = beliefs + beliefs.swapaxes(1, 2)
    numbers = np.arange(beliefs.shape[1])
    as_tile[:, numbers, numbers] /= 2
    return np.asarray(np.log1p(-np.minimum(as_tile, 1 - np.exp(_NEVER))))


def _pairs(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Combine log weights of halves and doubles, shape (N, 3, K), to those of pairs of numbers, shape (N, K, K)."""
    logs = weights[:, 0, :, None] + weights[:, 1, None, :]
    numbers = np.arange(weights.shape[-1])
    logs[:, numbers, numbers] += weights[:, _AS_DOUBLE]
    return np.asarray(logs)
