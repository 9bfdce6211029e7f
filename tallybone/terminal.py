"""What every command that prints needs: names that cannot harm a terminal, and libraries that keep quiet."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import TextIO


def printable(text: str) -> str:
    r"""Return a text with everything a terminal would obey or cannot show written out.

    >>> printable("a\x1b[31mb\udcff")
    'a\\x1b[31mb\\udcff'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


@contextlib.contextmanager
def quiet_libraries() -> Iterator[None]:
    """Swallow what C libraries write to stderr: libpng and libjpeg remark on harmless oddities of a picture there.

    It holds for the whole process, so keep it short and write nothing to stderr meanwhile, from any thread.
    """
    sys.stderr.flush()
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


@contextlib.contextmanager
def silent_libraries(err: TextIO) -> Iterator[TextIO]:
    """Swallow what C libraries write to stderr, in any thread, and give what still writes where *err* did."""
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
