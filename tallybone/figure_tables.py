"""Tables of figures in a terminal, as every evaluation prints them: a name, then numbers."""

from __future__ import annotations

from dataclasses import dataclass

from rich.table import Table
from rich.text import Text

from tallybone.terminal import printable


@dataclass(frozen=True, slots=True)
class TableStyle:
    """How wide a table is.

    Attributes:
        least_name, most_name: Width of the names, in cells; longer ones are cut.
        gap: Cells between columns.
    """

    least_name: int
    most_name: int
    gap: int

    def table(self, first: str, *others: str) -> Table:
        """Return an empty table with these headings."""
        table = Table(box=None, pad_edge=False, padding=(0, self.gap, 0, 0), header_style="dim")
        table.add_column(first, min_width=self.least_name, max_width=self.most_name, no_wrap=True, overflow="ellipsis")
        for heading in others:
            table.add_column(heading, justify="right", no_wrap=True)
        return table


def add_row(table: Table, name: str, *cells: str) -> None:
    """Add a row; the one of all stands out."""
    table.add_row(Text(printable(name)), *cells, style="bold" if name == "all" else None)


def percent(share: float | None) -> str:
    """Return a share in per cent.

    >>> percent(0.995), percent(None)
    ('99.5', '-')
    """
    return "-" if share is None else f"{100 * share:.1f}"
