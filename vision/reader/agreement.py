"""Find the most probable consistent reading: joined halves agree, and each tile exists once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vision.layout.plays import is_at_side, likely_plays, play_after
from vision.layout.touches import Touch

# A further tile with the numbers of another is this much less likely than any: the set is told, or only guessed.
_REPEAT_TOLD, _REPEAT_GUESSED = 0.02, 0.3
# Each pair of tiles that are surely the same makes further ones this much likelier: there may be two sets on the table.
_REPEATS_BREED = 15.0
_SURE = 0.99
# On 130 rendered tables, most of them blurred, noisy, dim or small, 93.5 % of the halves are said with 0.99 then, and
# 0.27 % of those are wrong; with chances as they come 97 % and 0.4 %, and the log loss of all is 0.108, not 0.103.
_SOFTER, _MISREAD = 0.75, 0.001
# Rounds of exchange, and when they end sooner.
_MOST_ROUNDS = 10
_SETTLED = 1e-3
# A tile surer than this is not weighed again against the others.
_DECIDED = 0.9999


# The log of a probability that is as good as none.
_NEVER = -20.0
# What a touch binds of a tile: its half 0, its half 1, or both as those of a double.
_AS_DOUBLE = 2


@dataclass(frozen=True, slots=True, eq=False)
class JointReading:
    """A reading of all tiles together.

    Attributes:
        pips: Shape (N, 2), the most probable consistent numbers.
        chances: Shape (N, 2, K), the probability of each number of each half, given all others.
        plays: Shape (T,), the probability that each touch is a play.
    """

    pips: NDArray[np.int64]
    chances: NDArray[np.float64]
    plays: NDArray[np.float64]


def agree(
    chances: NDArray[np.float64], face_up: NDArray[np.bool_], touches: Sequence[Touch], *, set_is_told: bool
) -> JointReading:
    """Return what the tiles show, read together.

    Beliefs are passed along the touches until they settle, which is exact where plays form no ring. That each tile
    exists once is weighed by what all others are believed to be.

    Args:
        chances: Shape (N, 2, K), of each number as each half looks by itself, all above 0.
        face_up: Shape (N,), the tiles that show pips.
        touches: What touches, among those that are face up.
        set_is_told: Whether K was told, not guessed.
    """
    up = np.nonzero(face_up)[0]
    links = _links(touches, np.cumsum(face_up) - 1, likely_plays(touches, chances))
    chances = _doubted(chances)
    repeat = _repeat_weight(chances[up], set_is_told=set_is_told)
    beliefs = _Beliefs(np.log(chances[up]), links, repeat)
    for _ in range(_MOST_ROUNDS):
        if beliefs.exchange() < _SETTLED:
            break
    pips, together = np.zeros(chances.shape[:2], np.int64), chances.copy()
    pips[up], together[up] = beliefs.decided(), beliefs.bound()[:, :_AS_DOUBLE]
    return JointReading(pips, together, beliefs.plays())


def _doubted(chances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return chances that hold in bad pictures too, where halves by themselves are surer than they are right."""
    softer = chances**_SOFTER
    softer /= softer.sum(axis=-1, keepdims=True)
    return np.asarray((1 - _MISREAD) * softer + _MISREAD / chances.shape[-1])


def _repeat_weight(chances: NDArray[np.float64], *, set_is_told: bool) -> float:
    """Return how much less likely than any a further tile with the numbers of another is, up to 1."""
    sure = (chances.max(axis=2) > _SURE).all(axis=1)
    named = np.sort(chances[sure].argmax(axis=2), axis=1)
    repeats = len(named) - len(np.unique(named, axis=0))
    return float(min((_REPEAT_TOLD if set_is_told else _REPEAT_GUESSED) * _REPEATS_BREED**repeats, 1.0))


@dataclass(frozen=True, slots=True, eq=False)
class _Links:
    """Touches as arrays, all of length T: what of which tiles they bind, how likely, and how strongly.

    Attributes:
        a, b: Tiles.
        at_a, at_b: Half 0 or 1, or `_AS_DOUBLE`.
        likely: Probability of a play.
        strength: How many pairs of numbers there are for each that agrees.
    """

    a: NDArray[np.int64]
    at_a: NDArray[np.int64]
    b: NDArray[np.int64]
    at_b: NDArray[np.int64]
    likely: NDArray[np.float64]

    def strength(self, count: int) -> NDArray[np.float64]:
        """Return how much likelier numbers that agree are in a play, shape (T, 1), for *count* numbers."""
        return np.where(self.at_b == _AS_DOUBLE, count * count, count)[:, None].astype(np.float64)


def _links(touches: Sequence[Touch], place: NDArray[np.int64], likely: NDArray[np.float64]) -> _Links:
    rows = [(place[t.a], t.a_half, place[t.b], _AS_DOUBLE if is_at_side(t) else t.b_half) for t in touches]
    a, at_a, b, at_b = np.array(rows, np.int64).reshape(-1, 4).T
    return _Links(a, at_a, b, at_b, likely)


class _Beliefs:
    """What is believed of each tile, and what touching tiles have told each other."""

    def __init__(self, evidence: NDArray[np.float64], links: _Links, repeat: float) -> None:
        """Start from *evidence*, shape (N, 2, K), the log probabilities of the halves by themselves."""
        self._evidence, self._links, self._repeat = evidence, links, repeat
        count = evidence.shape[-1]
        self._to_a = np.ones((len(links.a), count))
        self._to_b = np.ones((len(links.a), count))
        self._once = np.zeros((len(evidence), count, count))
        self._beliefs = self._weighed()

    def exchange(self) -> float:
        """Let each touch tell both of its tiles what the other is believed to be; return the largest change."""
        before = self._beliefs
        links, from_a, from_b = self._links, *self._heard()
        likely, agree = links.likely[:, None], links.strength(self._evidence.shape[-1])
        # To a double as a whole, its being none is what the others are compared with.
        other = np.where(links.at_b == _AS_DOUBLE, 1 - links.likely, 1.0)[:, None]
        self._to_b = (1 - likely + likely * agree * from_a) / other
        self._to_a = 1 - likely + likely * agree * from_b
        # Half way only, or two tiles that can be the same change places for ever.
        self._once = (self._once + self._missing_elsewhere()) / 2
        self._beliefs = self._weighed()
        return float(np.abs(self._beliefs - before).max(initial=0.0))

    def bound(self) -> NDArray[np.float64]:
        """Return the probability of each number of half 0, of half 1, and of the double, shape (N, 3, K)."""
        diagonal = np.diagonal(self._beliefs, axis1=1, axis2=2)
        return np.stack([self._beliefs.sum(axis=2), self._beliefs.sum(axis=1), diagonal], axis=1)

    def plays(self) -> NDArray[np.float64]:
        """Return the probability that each touch is a play, shape (T,)."""
        from_a, from_b = self._heard()
        agree = self._links.strength(self._evidence.shape[-1])[:, 0] * (from_a * from_b).sum(axis=1)
        return play_after(self._links.likely, agree)

    def _heard(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return what each touch hears of its tiles, without what it told them itself, shape (T, K) each."""
        links, bound = self._links, self.bound()
        heard = []
        for tile, at, told in ((links.a, links.at_a, self._to_a), (links.b, links.at_b, self._to_b)):
            said = bound[tile, at]
            rest = np.maximum(1 - said.sum(axis=1, keepdims=True), 0.0)  # of a double: that it is none
            own = said / told
            heard.append(own / (own.sum(axis=1, keepdims=True) + rest + 1e-300))
        return heard[0], heard[1]

    def _told(self) -> NDArray[np.float64]:
        """Return the evidence with all that was told, in logs, shape (N, 3, K)."""
        told = np.concatenate([self._evidence, np.zeros_like(self._evidence[:, :1])], axis=1)
        np.add.at(told, (self._links.a, self._links.at_a), np.log(self._to_a))
        np.add.at(told, (self._links.b, self._links.at_b), np.log(self._to_b))
        return told

    def _weighed(self) -> NDArray[np.float64]:
        """Return the probability of each pair of numbers for each tile, shape (N, K, K)."""
        logs = _pairs(self._told()) + self._once
        beliefs = np.exp(logs - logs.max(axis=(1, 2), keepdims=True))
        return np.asarray(beliefs / beliefs.sum(axis=(1, 2), keepdims=True))

    def _missing_elsewhere(self) -> NDArray[np.float64]:
        """Return in logs how much each tile may be each pair of numbers as others may be it, shape (N, K, K)."""
        absent = _absent(self._beliefs)
        return self._unlikely_twice(np.exp(absent.sum(axis=0) - absent))

    def _unlikely_twice(self, absent_elsewhere: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(np.log(self._repeat + (1 - self._repeat) * absent_elsewhere))

    def decided(self) -> NDArray[np.int64]:
        """Return the most probable consistent numbers, shape (N, 2): the surest first, the others to fit."""
        count = self._evidence.shape[-1]
        flat = self._beliefs.reshape(len(self._beliefs), count * count)
        pips = np.column_stack(np.divmod(flat.argmax(axis=1), count)).astype(np.int64)
        surest = flat.max(axis=1)
        decided = surest > _DECIDED
        told, absent = self._told(), _absent(self._beliefs)
        elsewhere = absent.sum(axis=0)
        for tile in np.argsort(-surest, kind="stable"):
            elsewhere -= absent[tile]
            if not decided[tile]:
                logs = _pairs((told[tile] + self._after(tile, pips, decided))[None])[0]
                pips[tile] = np.divmod((logs + self._unlikely_twice(np.exp(elsewhere))).argmax(), count)
                decided[tile] = True
            first, second = pips[tile]
            absent[tile] = 0.0
            absent[tile, (first, second), (second, first)] = _NEVER
            elsewhere += absent[tile]
        return pips

    def _after(self, tile: int, pips: NDArray[np.int64], decided: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return what decided tiles tell this one, in logs, in place of what they were believed to be, shape (3, K)."""
        links, told = self._links, np.zeros((3, self._evidence.shape[-1]))
        strength = links.strength(self._evidence.shape[-1])[:, 0]
        for i in np.nonzero((links.a == tile) & decided[links.b])[0]:
            number = pips[links.b[i], links.at_b[i] % _AS_DOUBLE]
            fits = links.at_b[i] != _AS_DOUBLE or number == pips[links.b[i], 1]
            said = _said(links.likely[i], strength[i] * fits, number, told.shape[1])
            told[links.at_a[i]] += said - np.log(self._to_a[i])
        for i in np.nonzero((links.b == tile) & decided[links.a])[0]:
            said = _said(links.likely[i], strength[i], pips[links.a[i], links.at_a[i]], told.shape[1])
            said -= np.log(1 - links.likely[i]) if links.at_b[i] == _AS_DOUBLE else 0.0
            told[links.at_b[i]] += said - np.log(self._to_b[i])
        return told


def _said(likely: float, strength: float, number: int, count: int) -> NDArray[np.float64]:
    """Return in logs what a touch tells of each number where the other tile has *number*, shape (K,)."""
    said = np.full(count, 1 - likely)
    said[number] += likely * strength
    return np.asarray(np.log(said))


def _absent(beliefs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log probability that a tile is not the one with each pair of numbers, either way round."""
    as_tile = beliefs + beliefs.swapaxes(1, 2)
    numbers = np.arange(beliefs.shape[1])
    as_tile[:, numbers, numbers] /= 2
    return np.asarray(np.log1p(-np.minimum(as_tile, 1 - np.exp(_NEVER))))


def _pairs(told: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log weights of pairs of numbers, shape (N, K, K), from those of halves and doubles, (N, 3, K)."""
    logs = told[:, 0, :, None] + told[:, 1, None, :]
    numbers = np.arange(told.shape[-1])
    logs[:, numbers, numbers] += told[:, _AS_DOUBLE]
    return np.asarray(logs)
