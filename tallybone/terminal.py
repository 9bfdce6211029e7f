"""What every command that prints needs: names that cannot harm a terminal, and libraries that keep quiet."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator


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
