"""The figures of judged recordings in a terminal: tables of at most 80 columns, then all that was wrong in words."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tallybone.evaluate.session_batch import Batch
from tallybone.evaluate.session_report import Figures, percentiles, wrong_in
from tallybone.terminal import TableStyle, add_row, percent, printable

_STYLE = TableStyle(least_name=20, most_name=32, gap=1)
_NS_PER_S = 1_000_000_000


def print_batch(console: Console, batch: Batch) -> None:
    """Print all figures, the most general last, and each mistake."""
    total = batch.total
    for title, groups in (
        ("By game", batch.by(lambda one: one.game)),
        ("By look", batch.by(lambda one: one.look or "not said")),
        ("By difficulty", {**batch.by(lambda one: one.difficulty or "not said"), "all": total}),
    ):
        console.print(f"{title}: plays with rules, in per cent", style="bold")
        console.print(_plays(groups))
        console.print()
    console.print("Hands, what was asked, and how long it took from the last motion to the score", style="bold")
    console.print(_rest({**batch.by(lambda one: one.game), "all": total}))
    console.print()
    _print_wrong(console, batch)


def _plays(groups: Mapping[str, Figures]) -> Table:
    table = _STYLE.table(
        "", "plays", "wholly\nright", "\ntile", "\nplace", "\nseat", "\npoints", "eye:\nfound", "tile\nright"
    )
    for name, one in groups.items():
        right = (one.wholly_right, one.tiles_right, one.places_right, one.seats_right, one.points_right)
        eye = (one.eye_found / one.plays, one.eye_right / one.plays) if one.plays else (None, None)
        add_row(table, name, str(one.plays), *(percent(one.share(count)) for count in right), *map(percent, eye))
    return table


def _rest(groups: Mapping[str, Figures]) -> Table:
    table = _STYLE.table(
        "", "\nhands", "totals\nright", "ended\nright", "not\nflagged", "\nasked", "median\nms", "95 %\nms"
    )
    for name, one in groups.items():
        counts = (one.hands, one.totals_right, one.ends_right, one.unflagged, one.asked)
        times = ("-" if ms is None else f"{ms:.0f}" for ms in percentiles(one.latencies_ms))
        add_row(table, name, *map(str, counts), *times)
    return table


def _print_wrong(console: Console, batch: Batch) -> None:
    """Print each mistake as a line."""
    wrong = [(session.path.name, one) for session in batch.judged for one in wrong_in(session)]
    console.print(f"Wrong: {len(wrong)}" if wrong else "Nothing was wrong", style="bold")
    for name, one in wrong:
        seconds = one.t_ns // _NS_PER_S
        flag = "flagged" if one.is_flagged else "NOT FLAGGED"
        line = f"{printable(name)} {seconds // 60}:{seconds % 60:02}: {printable(one.words)} ({flag})"
        console.print(Text(line), soft_wrap=True)
