"""The figures of an evaluation in a terminal: tables of at most 80 columns, then the mistakes in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tallybone.evaluate.evaluation import Evaluation, PhotoMistake
from tallybone.evaluate.photos import Bin, Counts
from tallybone.terminal import TableStyle, add_row, percent, printable

_STYLE = TableStyle(least_name=16, most_name=24, gap=2)
_SURE = 0.99


def print_evaluation(console: Console, found: Evaluation) -> None:
    """Print all figures, the most general first."""
    everything = found.overall
    _print(console, "Tiles by source, in per cent", _tiles({**found.sources, "all": everything}))
    if everything.backs or everything.backs_spare or everything.joins:
        _print(console, "Face-down tiles and joins by source", _rest({**found.sources, "all": everything}))
    _print(console, "By the size of a half in pixels", _tiles(found.sizes, by_picture=False))
    for title, groups in (("By look", found.looks), ("By kind of picture", found.kinds)):
        if groups:
            _print(console, title, _tiles(groups))
    _print_scenes(console, found.scenes)
    _print(console, "Halves read with their joins and set, and each alone", _ways(everything))
    _print_reliability(console, found)
    median, late = found.read_ms
    console.print(f"Reading a picture: median {median:.0f} ms, 95th percentile {late:.0f} ms")
    print_mistakes(console, found.mistakes)


def print_mistakes(console: Console, mistakes: Iterable[PhotoMistake]) -> None:
    """Print each mistake as a line."""
    lines = list(mistakes)
    console.print()
    title = "No mistakes" if not lines else f"Mistakes: {len(lines)}"
    console.print(title, style="bold")
    for one in lines:
        x, y = one.mistake.center_px
        console.print(Text(f"{printable(one.image)}: {one.mistake.words} at {x:.0f}, {y:.0f}"), soft_wrap=True)


def _print(console: Console, title: str, table: Table) -> None:
    console.print(title, style="bold")
    console.print(table)
    console.print()


def _print_scenes(console: Console, scenes: Mapping[str, Counts]) -> None:
    """Print the scenes in which something is wrong: a label file has many, most of a picture or two."""
    doubtful = {name: counts for name, counts in scenes.items() if counts.perfect < counts.pictures}
    if not scenes:
        return
    if doubtful:
        _print(console, "By scene, where a tile is missed, wrong or spare", _tiles(doubtful))
    fine = len(scenes) - len(doubtful)
    console.print(f"Scenes with every tile right and none spare: {fine} of {len(scenes)}")
    console.print()


def _print_reliability(console: Console, found: Evaluation) -> None:
    _print(console, "Confidence: is it right as often as it says?", _reliability(found.reliability))
    sure = [one for one in found.reliability if one.low >= _SURE]
    for one in sure:
        if one.claims:
            console.print(f"Said with {_SURE} or more: {percent(one.share_right)} % are right")
    error = found.expected_calibration_error
    if error is not None:
        console.print(f"Expected calibration error: {error:.4f} (a half of a spare tile counts as wrong)")
    console.print()


def _tiles(groups: Mapping[str, Counts], *, by_picture: bool = True) -> Table:
    names = ("pictures", "perfect") if by_picture else ()
    table = _STYLE.table("", *names, "tiles", "found", "precision", "right", "half\nerror")
    for name, counts in groups.items():
        share = counts.shares()
        shares = (percent(share[key]) for key in ("recall", "precision", "right", "half_error"))
        pictures = (str(counts.pictures), str(counts.perfect)) if by_picture else ()
        add_row(table, name, *pictures, str(counts.tiles), *shares)
    return table


def _rest(groups: Mapping[str, Counts]) -> Table:
    table = _STYLE.table("", "face\ndown", "\nfound", "\nspare", "\njoins", "joins\nfound %", "joins\nprecision %")
    for name, counts in groups.items():
        share = counts.shares()
        joins = (percent(share["joins_recall"]), percent(share["joins_precision"])) if counts.joins else ("", "")
        add_row(table, name, *map(_some, (counts.backs, counts.backs_found, counts.backs_spare, counts.joins)), *joins)
    return table


def _ways(counts: Counts) -> Table:
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
