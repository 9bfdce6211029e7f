"""Report an evaluation of photos as values, JSON and tables."""

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
    """Figures of an evaluation of photos.

    Attributes:
        overall: Counts over all pictures.
        sources, looks, kinds, scenes: Counts by these groups of the labels. Pictures without such a group are left out.
        sizes: Counts of tiles by half size.
        reliability: Accuracy of halves by confidence.
        read_ms: Median and 95th percentile of the time to read a picture.
        mistakes: Mistakes with the paths of their pictures, sorted by source, then in the order of the labels.
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
    """Return the figures of pictures.

    Args:
        photos: Evaluated pictures, at least one.
        read_ms: Time to read each picture.
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


def evaluation_json(evaluation: Evaluation) -> dict[str, object]:
    """Return all figures as a JSON object. Undefined rates are None."""
    median, late = evaluation.read_ms
    groups = {
        "sources": evaluation.sources,
        "looks": evaluation.looks,
        "kinds": evaluation.kinds,
        "scenes": evaluation.scenes,
        "half_px": evaluation.sizes,
    }
    return {
        "overall": _counts(evaluation.overall),
        **{name: {key: _counts(counts) for key, counts in group.items()} for name, group in groups.items()},
        "reliability": [_bin(each) for each in evaluation.reliability],
        "expected_calibration_error": expected_calibration_error(evaluation.reliability),
        "read_ms": {"median": round(median, 1), "p95": round(late, 1)},
        "mistakes": [_mistake(image, mistake) for image, mistake in evaluation.mistakes],
    }


def _counts(counts: PhotoCounts) -> dict[str, object]:
    return {"counts": asdict(counts), **counts.shares()}


def _bin(each: Bin) -> dict[str, object]:
    return {
        "from": each.low,
        "to": each.high,
        "halves": each.claims,
        "mean_confidence": each.mean_confidence,
        "share_right": each.share_right,
    }


def _mistake(image: str, mistake: Mistake) -> dict[str, object]:
    x, y = mistake.center_px
    center = [round(x, 1), round(y, 1)]
    return {"image": image, "wrong": mistake.wrong.value, "words": mistake.words, "center_px": center}


def print_evaluation(console: Console, evaluation: Evaluation) -> None:
    """Print all figures, the most general first, then a line for each mistake."""
    overall = evaluation.overall
    sources = {**evaluation.sources, "all": overall}
    print_table(console, "Tiles by source, in per cent", _tiles(sources))
    if overall.backs or overall.backs_spare or overall.joins:
        print_table(console, "Face-down tiles and joins by source", _rest(sources))
    print_table(console, "Missed, and misread with high confidence", _hidden(sources))
    print_table(console, "By the size of a half in pixels", _tiles(evaluation.sizes, by_picture=False))
    for title, groups in (("By look", evaluation.looks), ("By kind of picture", evaluation.kinds)):
        if groups:
            print_table(console, title, _tiles(groups))
    _print_scenes(console, evaluation.scenes)
    print_table(console, "Halves read with their joins and set, and each alone", _ways(overall))
    _print_reliability(console, evaluation)
    median, late = evaluation.read_ms
    console.print(f"Reading a picture: median {median:.0f} ms, 95th percentile {late:.0f} ms")
    console.print()
    count = len(evaluation.mistakes)
    console.print(f"Mistakes: {count}" if count else "No mistakes", style="bold")
    for image, mistake in evaluation.mistakes:
        x, y = mistake.center_px
        console.print(Text(f"{printable(image)}: {mistake.words} at {x:.0f}, {y:.0f}"), soft_wrap=True)


def _print_scenes(console: Console, scenes: Mapping[str, PhotoCounts]) -> None:
    """Print the imperfect scenes and the number of perfect ones.

    There are many scenes with one or two pictures each.
    """
    imperfect = {name: counts for name, counts in scenes.items() if counts.perfect < counts.pictures}
    if not scenes:
        return
    if imperfect:
        print_table(console, "By scene, where a tile is missed, wrong or spare", _tiles(imperfect))
    perfect = len(scenes) - len(imperfect)
    console.print(f"Scenes with every tile right and none spare: {perfect} of {len(scenes)}")
    console.print()


def _print_reliability(console: Console, evaluation: Evaluation) -> None:
    print_table(console, "Calibration of confidence", _reliability(evaluation.reliability))
    for each in evaluation.reliability:
        if each.low >= _SURE and each.claims:
            console.print(f"Confidence {_SURE} or more: {percent(each.share_right)} % are right")
    error = expected_calibration_error(evaluation.reliability)
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
    """Return the table of unreported mistakes: silently missed tiles, and halves misread with high confidence."""
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
    for each in bins:
        confidence = f"{each.low:g} to {each.high:g}" if each.low else f"below {each.high:g}"
        table.add_row(confidence, str(each.claims), percent(each.mean_confidence), percent(each.share_right))
    return table


def _some(count: int) -> str:
    return str(count) if count else "-"
