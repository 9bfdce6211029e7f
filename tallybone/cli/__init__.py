"""The command line: `app` has the table of all commands; each module has those of one group."""

import errno
import io
import os
import sys
from contextlib import suppress
from pathlib import Path

from tallybone.cli.app import app


def main() -> None:
    """Run the command line; where stdout cannot take what is printed, say so instead of breaking off."""
    _make_printable()
    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except OSError as error:
        if error.filename is not None:
            raise  # it is no stream: those have no name
        if error.errno != errno.EPIPE:  # its reader has read enough
            with suppress(OSError):
                sys.stderr.write(f"tallybone: the output cannot be written: {error.strerror}\n")
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left must not fail again at the end
        sys.exit(1)


def _make_printable() -> None:
    """Give streams that the shell has closed (`>&-`) a place to go; show `?` for what stdout has no letter for."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):  # in this order each gets its usual number
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - open until the end
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
