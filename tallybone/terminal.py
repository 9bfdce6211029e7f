"""Terminal output: escaped text, tables, muted libraries and stop signals."""

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

from tallybone.choices import OptionError
from tallybone.files import sentence_of

if TYPE_CHECKING:
    from typing_extensions import Buffer


@dataclass(slots=True)
class Output:
    """Output of a command.

    Attributes:
        command: Name of the command, the prefix of error messages. "" if messages start with a file name.
        out: Stream for results.
        err: Stream for errors and progress.
        complaints: Errors reported so far.
    """

    command: str
    out: TextIO = field(default_factory=lambda: sys.stdout)
    err: TextIO = field(default_factory=lambda: sys.stderr)
    complaints: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, command: str, out: TextIO | None, err: TextIO | None) -> Output:
        """Create the output of a command. None stands for stdout or stderr."""
        return cls(command, out or sys.stdout, err or sys.stderr)

    @classmethod
    def lasting(cls, command: str, out: TextIO | None, err: TextIO | None) -> Output:
        """Create the output of a command that keeps running if the terminal is lost. Printing never raises an error."""
        errors = _lasting(err or sys.stderr, lambda _: None)

        def complain(why: str) -> None:
            errors.write(f"tallybone {command}: cannot write to stdout: {why}; {command} goes on\n")
            errors.flush()

        return cls(command, _lasting(out or sys.stdout, complain), errors)

    @property
    def console(self) -> Console:
        """Console for tables and colours on *out*."""
        return Console(file=self.out, highlight=False)

    @property
    def err_console(self) -> Console:
        """Console for progress on *err*."""
        return Console(file=self.err, stderr=self.err is sys.stderr, highlight=False)

    @property
    def exit_code(self) -> int:
        """1 if any error was reported, otherwise 0."""
        return 1 if self.complaints else 0

    def write(self, line: str) -> None:
        """Print a line unchanged and flush, without rich, which would wrap and colour the line."""
        self.out.write(line + "\n")
        self.out.flush()

    def say(self, text: str) -> None:
        """Print a text of any characters, escaped for the terminal."""
        self.write(printable(text))

    def complain(self, *faults: str | Exception) -> int:
        """Report errors, one line each, and return the exit code: 1, or 2 for the value of an option."""
        before = f"tallybone {self.command}: " if self.command else ""
        for fault in faults:
            text = fault if isinstance(fault, str) else sentence_of(fault)
            self.complaints.append(text)
            self.err.write(f"{before}{printable(text)}\n")
            self.err.flush()
        return 2 if any(isinstance(fault, OptionError) for fault in faults) else 1


def printable(text: str) -> str:
    r"""Escape control sequences and unprintable characters of a text.

    >>> printable("a\x1b[31mb\udcff")
    'a\\x1b[31mb\\udcff'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


@contextmanager
def quiet_libraries() -> Iterator[None]:
    """Discard everything written to stderr, such as harmless warnings of libpng and libjpeg.

    This affects the whole process, including log messages. Keep the block short.
    """
    with silent_libraries(sys.stderr):
        yield


@contextmanager
def silent_libraries(err: TextIO) -> Iterator[TextIO]:
    """Discard everything written to stderr by any thread. Yield a stream that still writes to *err*."""
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
    except OSError:  # an in-memory stream
        return False


@dataclass(slots=True)
class StopRequest:
    """Whether the user or the system asked the program to stop."""

    is_requested: bool = False


@contextmanager
def stop_requested() -> Iterator[StopRequest]:
    """Catch SIGINT, SIGTERM and SIGHUP. Yield a `StopRequest`, which the program polls to stop cleanly."""
    stop = StopRequest()

    def end(number: int, frame: FrameType | None) -> None:
        stop.is_requested = True

    before = [(number, signal.signal(number, end)) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    try:
        yield stop
    finally:
        for number, handler in before:
            signal.signal(number, handler)


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural if needed.

    >>> counted(1, "tile"), counted(0, "tile")
    ('1 tile', '0 tiles')
    """
    return f"{number} {noun}{'' if number == 1 else 's'}"


def format_total(points: int, *, is_provisional: bool) -> str:
    """Return a total as text, with a mark if it is provisional.

    >>> format_total(45, is_provisional=True), format_total(45, is_provisional=False)
    ('~45', '45')
    """
    return f"{'~' if is_provisional else ''}{points}"


def format_totals(scores: Iterable[tuple[str, int]], *, is_provisional: bool) -> str:
    """Return names and totals in one line.

    >>> format_totals([("Ann", 45), ("Ben", 5)], is_provisional=True)
    'Ann ~45, Ben ~5'
    """
    return ", ".join(f"{name} {format_total(total, is_provisional=is_provisional)}" for name, total in scores)


def _lasting(stream: TextIO, complain: Callable[[str], None]) -> TextIO:
    """Return a stream that writes to the file of *stream*, and drops data that cannot be written."""
    # At the first error, *complain* is called with the reason.
    try:
        fd = stream.fileno()
    except OSError:
        return stream  # an in-memory stream
    raw = io.BufferedWriter(_LastingFile(fd, complain))
    return io.TextIOWrapper(raw, encoding=stream.encoding, errors="replace", newline="\n")


class _LastingFile(io.RawIOBase):
    """A file whose writes never fail. Data is dropped if the disk is full or the pipe or terminal is closed."""

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
