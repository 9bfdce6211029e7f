"""Learn a set of tiles from pictures of it: which tile is which, how to read them, and what is in doubt."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from calibration.corner_marks import beside_blocks, find_corner_marks
from calibration.errors import RefusedError
from calibration.tile_set_labels import label_tiles, margins
from engine.phrases import phrase
from vision.heads import UP
from vision.own_set import OwnSet
from vision.own_set_fit import Restraint, Views, best_restraint, fit, held_out, look, misread, surprises
from vision.poses import Poses
from vision.pyramid import Image, build_pyramid
from vision.reader import Reader
from vision.tile_sheet import TileSheet, cut_out

Pips = NDArray[np.int64]
Told = Callable[[float], object]
"""Is told which share of the work is done, 0 to 1; what it raises ends the work."""

# Fewer tiles show too little of a set: each number should be seen twice at least.
LEAST_TILES = 10
# How often labels and what is learned from them are put right by each other.
_ROUNDS = 4
_FIRST = Restraint(0.01, 0.6)
# A tile is asked for where a half is told with less than this by what was learned of the other tiles, and where all
# labels together are not that much likelier, in log odds, than with another one for it.
_SURE, _AHEAD = 0.8, 3.0
# Where more of the tiles are in doubt, some that are not are mislabelled too, and what is learned of them does harm: of
# 18 tiles 10 were, 9 wrongly labelled, and a game was read with 28 errors instead of 8. Of 27 other sets at most one of
# 28 tiles was in doubt.
_MOST_DOUBTED = 0.2
# Which share of the time has passed when tiles are found, looked at and labelled, when it is known how far to go, and
# how well that reads tiles kept back.
_FOUND, _LOOKED, _LABELLED, _CHOSEN, _JUDGED = 0.02, 0.3, 0.5, 0.65, 0.9


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """The tiles of one picture that lie face up.

    Attributes:
        poses: Shape (N, 6), in pixels of the picture.
        backs: How many more lie face down.
        sheet: The tiles cut out.
        logs: Shape (N, 2, K), log probabilities of the numbers of both halves as the shipped eye reads them.
    """

    poses: Poses
    backs: int
    sheet: TileSheet
    logs: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """What pictures show of a set.

    Attributes:
        seen: Each picture.
        max_pips: The highest number of the set.
        sheet: All tiles.
        views: These, as other pictures may show them.
    """

    seen: tuple[Seen, ...]
    max_pips: int
    sheet: TileSheet
    views: Views


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """What pictures of a set taught.

    Attributes:
        seen: Each picture.
        max_pips: The highest number of the set.
        sheet: All tiles.
        pips: Shape (N, 2), what they show.
        doubtful: Of which tiles that is in doubt, by their index.
        own_set: What was learned, or None where it reads no better than the shipped eye, or too much is in doubt.
        restraint: How far it may go away from that.
        misread: Shares of the halves in views of tiles that were kept back: by the shipped eye, and as learned.
    """

    seen: tuple[Seen, ...]
    max_pips: int
    sheet: TileSheet
    pips: Pips
    doubtful: tuple[int, ...]
    own_set: OwnSet | None
    restraint: Restraint
    misread: tuple[float, float]


def learn_set(
    pictures: Sequence[Image],
    reader: Reader,
    said: Mapping[int, tuple[int, int]] | None = None,
    *,
    rng: np.random.Generator | None = None,
) -> Learned:
    """Return what pictures of a set teach, each with tiles of which no two show the same pips.

    Args:
        pictures: Shape (H, W, 3), BGR, each; one or a few.
        reader: The shipped eye; where its *max_pips* is not told, it is guessed.
        said: Pips of tiles that were said by hand, by their index over all pictures.
        rng: Where the chance of the views comes from that are made of the tiles.

    Raises:
        RefusedError: If they show too few tiles.
    """
    return learn(look_at_set(pictures, reader, rng=rng), said)


def look_at_set(
    pictures: Sequence[Image],
    reader: Reader,
    *,
    rng: np.random.Generator | None = None,
    told: Told = lambda _: None,
) -> Shown:
    """Return what pictures show of a set, before anything is learned of it.

    Args:
        pictures: As of `learn_set`.
        reader: The shipped eye.
        rng: Where the chance of the views comes from.
        told: Is told how far it is.

    Raises:
        RefusedError: If they show too few tiles.
    """
    rng = np.random.default_rng(1) if rng is None else rng
    told(0.0)
    seen, max_pips = _seen(pictures, reader)
    sheet = reduce(TileSheet.joined, (one.sheet for one in seen))
    if sheet.count < LEAST_TILES:
        raise RefusedError(
            phrase(
                "{seen} tiles are seen face up, and {least} or more are needed; lay out the whole set",
                seen=sheet.count,
                least=LEAST_TILES,
            )
        )

    def looked(share: float) -> None:
        told(_FOUND + share * (_LOOKED - _FOUND))

    return Shown(seen, max_pips, sheet, look(sheet, reader.halves, reader.heads.pips, max_pips, rng, told=looked))


def learn(shown: Shown, said: Mapping[int, tuple[int, int]] | None = None, *, told: Told = lambda _: None) -> Learned:
    """Return what the tiles of a set teach; *said* are pips said by hand, *told* is told how far it is."""
    views, said = shown.views, said or {}
    pips = _labelled(shown.seen, views, said, told)
    restraint = best_restraint(views.without_pictures(), pips, told=lambda _: told(_LABELLED))
    chances = held_out(views, pips, restraint, told=lambda share: told(_CHOSEN + share * (_JUDGED - _CHOSEN)))
    told(_JUDGED)
    own, shares = own_set_if_better(views, pips, restraint, chances)
    doubtful = _doubtful(shown.seen, chances, pips, said)
    own = None if is_too_doubtful(len(doubtful), len(pips)) else own
    return Learned(shown.seen, shown.max_pips, shown.sheet, pips, doubtful, own, restraint, shares)


def is_too_doubtful(doubtful: int, tiles: int) -> bool:
    """Return whether so many tiles are in doubt that nothing can be learned of them."""
    return doubtful > _MOST_DOUBTED * tiles


def own_set_if_better(
    views: Views, pips: Pips, restraint: Restraint, chances: NDArray[np.float64] | None = None
) -> tuple[OwnSet | None, tuple[float, float]]:
    """Return what reads the set better than the shipped eye, or None, and the shares that both misread.

    Args:
        views: Of the tiles.
        pips: Shape (N, 2), what they show.
        restraint: How far it may go away from the shipped eye.
        chances: What `held_out` says, where it is known.
    """
    chances = held_out(views, pips, restraint) if chances is None else chances
    shipped = np.exp(views.logs)
    shares = misread(shipped, pips), misread(chances, pips)
    gains = surprises(shipped, pips) - surprises(chances, pips)
    # By more than what is left to the chance which tiles were shown: a set that was read well has little to win.
    is_better = shares[1] <= shares[0] and gains.mean() > gains.std() / np.sqrt(len(gains))
    return (fit(views, pips, restraint) if is_better else None), shares


def _seen(pictures: Sequence[Image], reader: Reader) -> tuple[tuple[Seen, ...], int]:
    """Return the tiles of each picture, and the highest number of their set."""
    found = [_looked_at(picture, reader) for picture in pictures]
    highest = max(one.logs.shape[2] for one in found) - 1
    if any(one.logs.shape[2] != highest + 1 for one in found):
        found = [_looked_at(picture, replace(reader, max_pips=highest)) for picture in pictures]
    return tuple(found), highest


def _looked_at(picture: Image, reader: Reader) -> Seen:
    markers = find_corner_marks(picture)
    poses, faces, chances = reader.find_tiles(
        build_pyramid(picture), lambda tried: beside_blocks(markers, tried[:, :2])
    )
    up = faces == UP
    return Seen(poses[up], int((~up).sum()), cut_out(picture, poses[up]), np.log(chances[up]))


def _labelled(seen: tuple[Seen, ...], views: Views, said: Mapping[int, tuple[int, int]], told: Told) -> Pips:
    """Return the pips of all tiles, shape (N, 2).

    What is learned of labels tells of tiles that were kept back whether it fits them: so labels are put right until
    they stay.
    """
    pips = _each_once(seen, np.concatenate([one.logs for one in seen]), said)
    for done in range(_ROUNDS):
        told(_LOOKED + done / _ROUNDS * (_LABELLED - _LOOKED))
        better = _each_once(seen, np.log(_together(held_out(views.without_pictures(), pips, _FIRST))), said)
        if (better == pips).all():
            break
        pips = better
    return pips


def _each_once(seen: tuple[Seen, ...], logs: NDArray[np.float64], said: Mapping[int, tuple[int, int]]) -> Pips:
    """Return the pips of all tiles, shape (N, 2), each tile once in a picture."""
    starts = np.cumsum([0, *(len(one.poses) for one in seen)]).tolist()
    parts = []
    for start, one in zip(starts, seen, strict=False):
        here = {at - start: pips for at, pips in said.items() if start <= at < start + len(one.poses)}
        parts.append(label_tiles(logs[start : start + len(one.poses)], here))
    return np.concatenate(parts)


def _doubtful(
    seen: tuple[Seen, ...], chances: NDArray[np.float64], pips: Pips, said: Mapping[int, tuple[int, int]]
) -> tuple[int, ...]:
    """Return the tiles that may be another one, by what *chances*, shape (V, N, 2, K), say of tiles kept back."""
    together, doubtful, start = _together(chances), [], 0
    for one in seen:
        stop = start + len(one.poses)
        here = {at - start: pair for at, pair in said.items() if start <= at < stop}
        sure = np.take_along_axis(together[start:stop], pips[start:stop, :, None], axis=2)[..., 0].min(axis=1)
        unsure = [at for at in np.nonzero(sure < _SURE)[0].tolist() if at not in here]
        ahead = margins(np.log(together[start:stop]), pips[start:stop], unsure, here)
        doubtful += [start + at for at, margin in zip(unsure, ahead.tolist(), strict=True) if margin < _AHEAD]
        start = stop
    return tuple(doubtful)


def _together(chances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what all views say together, shape (N, 2, K); the first, the picture itself, counts as much as all others.

    Args:
        chances: Shape (V, N, 2, K), V above 1.
    """
    logs = np.log(chances + 1e-9)
    together = np.exp((logs[0] + logs[1:].mean(axis=0)) / 2)
    return np.asarray(together / together.sum(axis=2, keepdims=True))
