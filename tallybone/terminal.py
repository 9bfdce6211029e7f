"""Print to a terminal safely: harmless names, tables of figures, quiet libraries, and when to stop."""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import TYPE_CHECKING, TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tallybone.files import sentence_of

if TYPE_CHECKING:
    from typing_extensions import Buffer


@dataclass(slots=True)
class Output:
    """The output of a command, and its complaints so far.

    Attributes:
        command: Its name, which stands before each complaint; "" where the complaint begins with a file.
        out: Where results go.
        err: Where complaints and progress go.
        complaints: The faults so far.
    """

    command: str
    out: TextIO = field(default_factory=lambda: sys.stdout)
    err: TextIO = field(default_factory=lambda: sys.stderr)
    complaints: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, command: str, out: TextIO | None, err: TextIO | None) -> Output:
        """Return the output of a command to these streams; None is stdout and stderr."""
        return cls(command, out or sys.stdout, err or sys.stderr)

    @classmethod
    def lasting(cls, command: str, out: TextIO | None, err: TextIO | None) -> Output:
        """Return the same for a command that goes on where nobody can see it: printing never fails."""
        errors = _lasting(err or sys.stderr, lambda _: None)

        def complain(why: str) -> None:
            errors.write(f"tallybone {command}: stdout takes nothing more: {why}; {command} goes on\n")
            errors.flush()

        return cls(command, _lasting(out or sys.stdout, complain), errors)

    @property
    def console(self) -> Console:
        """Where tables and colours are printed."""
        return Console(file=self.out, highlight=False)

    @property
    def err_console(self) -> Console:
        """Where progress is shown."""
        return Console(file=self.err, stderr=self.err is sys.stderr, highlight=False)

    @property
    def exit_code(self) -> int:
        """0, or 1 where anything was wrong."""
        return 1 if self.complaints else 0

    def write(self, line: str) -> None:
        """Print a line as it is, at once: not through rich, which would wrap and colour."""
        self.out.write(line + "\n")
        self.out.flush()

    def say(self, text: str) -> None:
        """Print a text that may hold any characters."""
        self.write(printable(text))

    def complain(self, *faults: str | Exception) -> int:
        """Print faults, a line each, and keep them; return the exit code, 1."""
        before = f"tallybone {self.command}: " if self.command else ""
        for fault in faults:
            text = fault if isinstance(fault, str) else sentence_of(fault)
            self.complaints.append(text)
            self.err.write(f"{before}{printable(text)}\n")
            self.err.flush()
        return 1


def printable(text: str) -> str:
    r"""Return a text with everything a terminal would obey or cannot show written out.

    >>> printable("a\x1b[31mb\udcff")
    'a\\x1b[31mb\\udcff'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


@contextmanager
def quiet_libraries() -> Iterator[None]:
    """Swallow what C libraries write to stderr: libpng and libjpeg remark on harmless oddities of a picture there.

    It holds for the whole process, so keep it short and write nothing to stderr meanwhile, from any thread.
    """
    with silent_libraries(sys.stderr):
        yield


@contextmanager
def silent_libraries(err: TextIO) -> Iterator[TextIO]:
    """Swallow what C libraries write to stderr, in any thread; yield a stream that still writes where *err* did."""
    err.flush()
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    shown = os.fdopen(os.dup(kept), "w", encoding="utf-8", errors="backslashreplace") if _is_stderr(err) else err
    try:
        os.dup2(nowhere, 2)
        yield shown
    finally:
        if shown is not err:
            shown.close()
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _is_stderr(stream: TextIO) -> bool:
    try:
        return stream.fileno() == 2
    except OSError:  # it is in memory
        return False


@dataclass(slots=True)
class StopRequest:
    """Whether the user or the system has asked the program to end."""

    is_requested: bool = False


@contextmanager
def stop_requested() -> Iterator[StopRequest]:
    """Yield whether somebody pressed Ctrl-C or the system ends the program, which then ends by itself."""
    stop = StopRequest()

    def end(number: int, frame: FrameType | None) -> None:
        stop.is_requested = True

    before = [(number, signal.signal(number, end)) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    try:
        yield stop
    finally:
        for number, handler in before:
            signal.signal(number, handler)


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


def print_table(console: Console, title: str, table: Table) -> None:
    """Print a table under its title, and an empty line."""
    console.print(title, style="bold")
    console.print(table)
    console.print()


def add_row(table: Table, name: str, *cells: str) -> None:
    """Add a row; the one of all stands out."""
    table.add_row(Text(printable(name)), *cells, style="bold" if name == "all" else None)


def counted(number: int, noun: str) -> str:
    """Return how many there are of something.

    >>> counted(1, "tile"), counted(0, "tile")
    ('1 tile', '0 tiles')
    """
    return f"{number} {noun}{'' if number == 1 else 's'}"


def format_total(points: int, *, is_provisional: bool) -> str:
    """Return a total, marked while it is provisional.

    >>> format_total(45, is_provisional=True), format_total(45, is_provisional=False)
    ('~45', '45')
    """
    return f"{'~' if is_provisional else ''}{points}"


def format_totals(scores: Iterable[tuple[str, int]], *, is_provisional: bool) -> str:
    """Return totals by name in one line.

    >>> format_totals([("Ann", 45), ("Ben", 5)], is_provisional=True)
    'Ann ~45, Ben ~5'
    """
    return ", ".join(f"{name} {format_total(total, is_provisional=is_provisional)}" for name, total in scores)


def percent(share: float | None) -> str:
    """Return a share in per cent.

    >>> percent(0.995), percent(None)
    ('99.5', '-')
    """
    return "-" if share is None else f"{100 * share:.1f}"


def _lasting(stream: TextIO, complain: Callable[[str], None]) -> TextIO:
    """Return a stream that writes where *stream* does and drops what cannot be written; it says once why."""
    try:
        fd = stream.fileno()
    except OSError:
        return stream  # it is in memory
    raw = io.BufferedWriter(_LastingFile(fd, complain))
    return io.TextIOWrapper(raw, encoding=stream.encoding, errors="replace", newline="\n")


class _LastingFile(io.RawIOBase):
    """A file that takes everything: what a full disk, a closed pipe or a lost terminal does not take is dropped."""

    def __init__(self, fd: int, complain: Callable[[str], None]) -> None:
        self._fd, self._complain = fd, complain
        self._has_failed = False

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._fd

    def isatty(self) -> bool:
        return os.isatty(self._fd)

    def write(self, data: Buffer, /) -> int:
        view = memoryview(data)
        try:
            return os.write(self._fd, view)
        except OSError as error:
            if not self._has_failed:
                self._has_failed = True
                self._complain(os.strerror(error.errno or 0))
            return view.nbytes
