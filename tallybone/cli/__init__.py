"""Command line: `app` lists all commands; each other module implements one group of them."""

import errno
import io
import os
import sys
from contextlib import suppress
from pathlib import Path

from tallybone.cli.app import app


def main() -> None:
    """Run the command line. Report a failed write to stdout in one line instead of a traceback."""
    # Redirect closed standard streams (`>&-`) to /dev/null, and print `?` for characters that stdout cannot encode.
    # Opened in this order, each gets its standard file descriptor.
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - open until the end
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except OSError as error:
        if error.filename is not None:
            raise  # a file, because the standard streams have no file name
        if error.errno != errno.EPIPE:  # the reader of the pipe has finished
            with suppress(OSError):
                sys.stderr.write(f"tallybone: the output cannot be written: {error.strerror}\n")
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the flush at exit must not fail again
        sys.exit(1)
