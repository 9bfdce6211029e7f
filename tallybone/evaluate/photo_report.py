"""Report an evaluation of photographs: figures and mistakes as values, JSON and tables."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tallybone.evaluate.mistakes import Mistake, mistakes_in
from tallybone.evaluate.photos import (
    Bin,
    PhotoCounts,
    PhotoJudged,
    by_group,
    by_half_px,
    claims_of,
    expected_calibration_error,
    sort_into_bins,
    total,
)
from tallybone.terminal import TableStyle, add_row, percent, print_table, printable

_STYLE = TableStyle(least_name=16, most_name=24, gap=2)
_SURE = 0.99


@dataclass(frozen=True, slots=True)
class Evaluation:
    """All figures of some photographs.

    Attributes:
        overall: The counts over all pictures.
        sources, looks, kinds, scenes: The counts by group of the labels, without pictures that belong to none.
        sizes: The counts of tiles by the size of their halves.
        reliability: How often halves were right, by confidence.
        read_ms: How long reading a picture took: median and 95th percentile.
        mistakes: Each with the path of its picture, in the order of the labels within each source.
    """

    overall: PhotoCounts
    sources: Mapping[str, PhotoCounts]
    looks: Mapping[str, PhotoCounts]
    kinds: Mapping[str, PhotoCounts]
    scenes: Mapping[str, PhotoCounts]
    sizes: Mapping[str, PhotoCounts]
    reliability: tuple[Bin, ...]
    read_ms: tuple[float, float]
    mistakes: tuple[tuple[str, Mistake], ...]


def evaluate(photos: Sequence[PhotoJudged], read_ms: Sequence[float]) -> Evaluation:
    """Return the figures of some pictures.

    Args:
        photos: At least one picture.
        read_ms: How long reading each took.
    """
    return Evaluation(
        overall=total(photos),
        sources=by_group(photos, lambda photo: photo.label.source),
        looks=by_group(photos, lambda photo: photo.label.look),
        kinds=by_group(photos, lambda photo: photo.label.kind),
        scenes=by_group(photos, lambda photo: photo.label.scene),
        sizes=by_half_px(photos),
        reliability=sort_into_bins(claims_of(photos)),
        read_ms=(statistics.median(read_ms), float(np.percentile(read_ms, 95))),
        mistakes=tuple(
            (photo.label.image, mistake)
            for photo in sorted(photos, key=lambda photo: photo.label.source)
            for mistake in mistakes_in(photo)
        ),
    )


def evaluation_json(found: Evaluation) -> dict[str, object]:
    """Return all figures as JSON holds them; a share of nothing is null."""
    median, late = found.read_ms
    groups = {
        "sources": found.sources,
        "looks": found.looks,
        "kinds": found.kinds,
        "scenes": found.scenes,
        "half_px": found.sizes,
    }
    return {
        "overall": _counts(found.overall),
        **{name: {key: _counts(counts) for key, counts in group.items()} for name, group in groups.items()},
        "reliability": [_bin(one) for one in found.reliability],
        "expected_calibration_error": expected_calibration_error(found.reliability),
        "read_ms": {"median": round(median, 1), "p95": round(late, 1)},
        "mistakes": [_mistake(image, one) for image, one in found.mistakes],
    }


def _counts(counts: PhotoCounts) -> dict[str, object]:
    return {"counts": asdict(counts), **counts.shares()}


def _bin(one: Bin) -> dict[str, object]:
    return {
        "from": one.low,
        "to": one.high,
        "halves": one.claims,
        "mean_confidence": one.mean_confidence,
        "share_right": one.share_right,
    }


def _mistake(image: str, one: Mistake) -> dict[str, object]:
    x, y = one.center_px
    return {"image": image, "wrong": one.wrong.value, "words": one.words, "center_px": [round(x, 1), round(y, 1)]}


def print_evaluation(console: Console, found: Evaluation) -> None:
    """Print all figures, the most general first."""
    everything = found.overall
    print_table(console, "Tiles by source, in per cent", _tiles({**found.sources, "all": everything}))
    if everything.backs or everything.backs_spare or everything.joins:
        print_table(console, "Face-down tiles and joins by source", _rest({**found.sources, "all": everything}))
    print_table(console, "Missed, and misread as if it were sure", _hidden({**found.sources, "all": everything}))
    print_table(console, "By the size of a half in pixels", _tiles(found.sizes, by_picture=False))
    for title, groups in (("By look", found.looks), ("By kind of picture", found.kinds)):
        if groups:
            print_table(console, title, _tiles(groups))
    _print_scenes(console, found.scenes)
    print_table(console, "Halves read with their joins and set, and each alone", _ways(everything))
    _print_reliability(console, found)
    median, late = found.read_ms
    console.print(f"Reading a picture: median {median:.0f} ms, 95th percentile {late:.0f} ms")
    console.print()
    console.print(f"Mistakes: {len(found.mistakes)}" if found.mistakes else "No mistakes", style="bold")
    for image, one in found.mistakes:
        x, y = one.center_px
        console.print(Text(f"{printable(image)}: {one.words} at {x:.0f}, {y:.0f}"), soft_wrap=True)


def _print_scenes(console: Console, scenes: Mapping[str, PhotoCounts]) -> None:
    """Print the scenes in which something is wrong: a label file has many, most of a picture or two."""
    doubtful = {name: counts for name, counts in scenes.items() if counts.perfect < counts.pictures}
    if not scenes:
        return
    if doubtful:
        print_table(console, "By scene, where a tile is missed, wrong or spare", _tiles(doubtful))
    fine = len(scenes) - len(doubtful)
    console.print(f"Scenes with every tile right and none spare: {fine} of {len(scenes)}")
    console.print()


def _print_reliability(console: Console, found: Evaluation) -> None:
    print_table(console, "Confidence: is it right as often as it says?", _reliability(found.reliability))
    for one in found.reliability:
        if one.low >= _SURE and one.claims:
            console.print(f"Said with {_SURE} or more: {percent(one.share_right)} % are right")
    error = expected_calibration_error(found.reliability)
    if error is not None:
        console.print(f"Expected calibration error: {error:.4f} (a half of a spare tile counts as wrong)")
    console.print()


def _tiles(groups: Mapping[str, PhotoCounts], *, by_picture: bool = True) -> Table:
    names = ("pictures", "perfect") if by_picture else ()
    table = _STYLE.table("", *names, "tiles", "found", "precision", "right", "half\nerror")
    for name, counts in groups.items():
        share = counts.shares()
        shares = (percent(share[key]) for key in ("recall", "precision", "right", "half_error"))
        pictures = (str(counts.pictures), str(counts.perfect)) if by_picture else ()
        add_row(table, name, *pictures, str(counts.tiles), *shares)
    return table


def _rest(groups: Mapping[str, PhotoCounts]) -> Table:
    table = _STYLE.table("", "face\ndown", "\nfound", "\nspare", "\njoins", "joins\nfound %", "joins\nprecision %")
    for name, counts in groups.items():
        share = counts.shares()
        joins = (percent(share["joins_recall"]), percent(share["joins_precision"])) if counts.joins else ("", "")
        add_row(table, name, *map(_some, (counts.backs, counts.backs_found, counts.backs_spare, counts.joins)), *joins)
    return table


def _hidden(groups: Mapping[str, PhotoCounts]) -> Table:
    """Return the mistakes that nobody is told of: tiles missed in silence, and halves misread with `SURE` or more."""
    table = _STYLE.table("", "missed in\nsilence", "\nin %", "unsure,\nno tile", "misread\nboldly", "\nin %")
    for name, counts in groups.items():
        share = counts.shares()
        cells = (counts.silent, share["silent"]), (counts.bold, share["bold"])
        (silent, silent_share), (bold, bold_share) = ((_some(count), percent(part)) for count, part in cells)
        add_row(table, name, silent, silent_share, _some(counts.unsure_false), bold, bold_share)
    return table


def _ways(counts: PhotoCounts) -> Table:
    share = counts.shares()
    table = _STYLE.table("", "tiles right %", "half error %")
    table.add_row("with joins and set", percent(share["right"]), percent(share["half_error"]))
    table.add_row("each half alone", percent(share["alone_right"]), percent(share["alone_half_error"]))
    return table


def _reliability(bins: Iterable[Bin]) -> Table:
    table = _STYLE.table("said", "halves", "mean said %", "right %")
    for one in bins:
        said = f"{one.low:g} to {one.high:g}" if one.low else f"below {one.high:g}"
        table.add_row(said, str(one.claims), percent(one.mean_confidence), percent(one.share_right))
    return table


def _some(count: int) -> str:
    return str(count) if count else "-"
