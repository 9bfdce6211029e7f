"""Learn a set of tiles from pictures of it: which tile is which, how to read them, and what is in doubt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from calibration.errors import RefusedError
from calibration.table.corner_marks import beside_blocks, find_corner_marks
from calibration.tiles.rounds import (
    HandLabels,
    ReportShare,
    are_signs,
    are_signs_so_far,
    are_unfounded,
    doubtful_tiles,
    each_once,
    labelled,
    labelled_signs,
)
from engine.phrases import phrase
from vision.arrays import Image
from vision.geometry.poses import Poses
from vision.image.pyramid import build_pyramid
from vision.networks.refiner import UP
from vision.networks.tile_sheet import TileSheet, cut_out
from vision.reader.custom_set import CustomSet
from vision.reader.custom_set_fit import (
    RESTRAINTS,
    RESTRAINTS_OF_SIGNS,
    Restraint,
    Views,
    best_restraint,
    fit,
    held_out,
    look,
    misread,
    surprises,
)
from vision.reader.reader import Reader

# Fewer tiles show too little of a set: each number should be seen twice at least.
LEAST_TILES = 10
# Sets as they are sold; one seems to have that many more tiles at most, where things are taken for tiles.
_SETS, _SPARE = (6, 9, 12, 15, 18), 1.1
# Where more of the tiles are in doubt, some that are not are mislabelled too, and what is learned of them does harm: of
# 18 tiles 10 were, 9 wrongly labelled, and a game was read with 28 errors instead of 8. Of 27 other sets at most one of
# 28 tiles was in doubt.
_MOST_DOUBTED = 0.2
# Which share of the time has passed when tiles are found, looked at and labelled, when it is known how far to go, and
# how well that reads tiles kept back.
_FOUND, _LOOKED, _LABELLED, _CHOSEN, _JUDGED = 0.02, 0.3, 0.5, 0.65, 0.9


@dataclass(frozen=True, slots=True, eq=False)
class FaceUpTiles:
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
class SetPictures:
    """Pictures of a set, and what they show of it.

    Attributes:
        seen: Each picture.
        max_pips: The highest number of the set, as the shipped eye sees it.
        is_told: Whether that was said beforehand.
        sheet: All tiles.
        views: These, as other pictures may show them, for all numbers.
    """

    seen: tuple[FaceUpTiles, ...]
    max_pips: int
    is_told: bool
    sheet: TileSheet
    views: Views


@dataclass(frozen=True, slots=True, eq=False)
class LearningResult:
    """The result of learning a set from pictures.

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

    seen: tuple[FaceUpTiles, ...]
    max_pips: int
    sheet: TileSheet
    pips: NDArray[np.int64]
    doubtful: tuple[int, ...]
    own_set: CustomSet | None
    restraint: Restraint
    misread: tuple[float, float]


def learn_set(
    pictures: Sequence[Image],
    reader: Reader,
    said: HandLabels | None = None,
    *,
    rng: np.random.Generator | None = None,
) -> LearningResult:
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
    told: ReportShare = lambda _: None,
) -> SetPictures:
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

    views = look(sheet, reader.halves, reader.pips, _SETS[-1], rng, progress=looked)
    return SetPictures(seen, max_pips, reader.max_pips is not None, sheet, views)


def learn(shown: SetPictures, said: HandLabels | None = None, *, told: ReportShare = lambda _: None) -> LearningResult:
    """Return what the tiles of a set teach.

    Where numbers are told by signs that the shipped eye does not know, such as pictures or numerals of another script,
    it is what was said of the tiles that counts: each number must be among that.

    Args:
        shown: What pictures show of it.
        said: Pips said by hand, by the index of the tile over all pictures.
        told: Is told how far it is.

    Raises:
        RefusedError: If a tile was said that a set that was told beforehand does not have, or there is no such tile.
    """
    said, counts = said or {}, [len(one.poses) for one in shown.seen]
    _check(shown, said)
    highest = max((max(pair) for pair in said.values()), default=0)

    def labelling(share: float) -> None:
        told(_LOOKED + share * (_LABELLED - _LOOKED))

    max_pips = shown.max_pips if shown.is_told else least_set(max(counts), highest)
    views = shown.views.up_to(max_pips)
    named = are_signs(views, said)
    if named:
        pips, judged, tried = labelled_signs(views, counts, said, labelling), views, RESTRAINTS_OF_SIGNS
    elif are_signs_so_far(views, said):
        return _not_yet(shown, max_pips, said)
    else:
        max_pips = max(shown.max_pips, least_set(0, highest))
        views = shown.views.up_to(max_pips)
        pips = labelled(_shipped(shown.seen, max_pips), views, counts, said, labelling)
        judged, tried = views.without_pictures(), RESTRAINTS
    restraint = best_restraint(judged, pips, tried, progress=lambda _: told(_LABELLED))
    chances = held_out(views, pips, restraint, progress=lambda share: told(_CHOSEN + share * (_JUDGED - _CHOSEN)))
    told(_JUDGED)
    own, shares = own_set_if_better(views, pips, restraint, chances)
    unfounded = not named and are_unfounded(shares[0])
    in_doubt = _unsaid(pips, said) if unfounded else doubtful_tiles(chances, pips, counts, said)
    own = None if is_too_doubtful(len(in_doubt), len(pips)) else own
    return LearningResult(shown.seen, max_pips, shown.sheet, pips, in_doubt, own, restraint, shares)


def _not_yet(shown: SetPictures, max_pips: int, said: HandLabels) -> LearningResult:
    """Return what is known of a set some of whose signs were not said yet: nothing but what was said."""
    pips = each_once(_shipped(shown.seen, max_pips), [len(one.poses) for one in shown.seen], said)
    share = misread(np.exp(shown.views.up_to(max_pips).logs), pips)
    in_doubt = _unsaid(pips, said)
    return LearningResult(
        shown.seen, max_pips, shown.sheet, pips, in_doubt, None, RESTRAINTS_OF_SIGNS[0], (share, share)
    )


def _unsaid(pips: NDArray[np.int64], said: HandLabels) -> tuple[int, ...]:
    return tuple(at for at in range(len(pips)) if at not in said)


def least_set(tiles: int, highest: int = 0) -> int:
    """Return the highest number of the smallest set as they are sold that has so many tiles, and a number.

    >>> least_set(28), least_set(28, 7), least_set(91)
    (6, 9, 12)
    """
    fitting = (one for one in _SETS if one >= highest and tiles <= _SPARE * (one + 1) * (one + 2) / 2)
    return next(fitting, _SETS[-1])


def _check(shown: SetPictures, said: HandLabels) -> None:
    for at, pair in said.items():
        if at not in range(shown.sheet.count):
            raise RefusedError(phrase("there is no tile {number}", number=at + 1))
        if shown.is_told and max(pair) > shown.max_pips:
            raise RefusedError(
                phrase("this set has no {pips}: it goes to {highest}", pips=max(pair), highest=shown.max_pips)
            )


def _shipped(seen: tuple[FaceUpTiles, ...], max_pips: int) -> NDArray[np.float64]:
    """Return the log probabilities of the numbers as the shipped eye reads them, shape (N, 2, K)."""
    logs = np.concatenate([one.logs for one in seen])
    more = max(0, max_pips + 1 - logs.shape[2])
    return np.pad(logs, ((0, 0), (0, 0), (0, more)), constant_values=logs.min(initial=0.0))[..., : max_pips + 1]


def is_too_doubtful(doubtful: int, tiles: int) -> bool:
    """Return whether so many tiles are in doubt that nothing can be learned of them."""
    return doubtful > _MOST_DOUBTED * tiles


def own_set_if_better(
    views: Views, pips: NDArray[np.int64], restraint: Restraint, chances: NDArray[np.float64] | None = None
) -> tuple[CustomSet | None, tuple[float, float]]:
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


def _seen(pictures: Sequence[Image], reader: Reader) -> tuple[tuple[FaceUpTiles, ...], int]:
    """Return the tiles of each picture, and the highest number of their set."""
    found = [_looked_at(picture, reader) for picture in pictures]
    highest = max(one.logs.shape[2] for one in found) - 1
    if any(one.logs.shape[2] != highest + 1 for one in found):
        found = [_looked_at(picture, replace(reader, max_pips=highest)) for picture in pictures]
    return tuple(found), highest


def _looked_at(picture: Image, reader: Reader) -> FaceUpTiles:
    markers = find_corner_marks(picture)
    poses, faces, chances = reader.find_tiles(
        build_pyramid(picture), lambda tried: beside_blocks(markers, tried[:, :2]), only_tiles=True
    )
    up = faces == UP
    return FaceUpTiles(poses[up], int((~up).sum()), cut_out(picture, poses[up]), np.log(chances[up]))
