"""`tallybone listen`: a recording of a table in, the knocks in it out."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TextIO

from rich.console import Console

from hardware.knock.detector import KnockDetector
from hardware.knock.errors import KnockError
from hardware.knock.heard import NS_PER_S, KnockHeard, Sound
from hardware.knock.wav import read_wav, with_end
from tallybone.serve.parts_test import sentence
from tallybone.terminal import printable


def listen(
    path: Path,
    *,
    as_json: bool = False,
    says_all: bool = False,
    detector: KnockDetector | None = None,
    out: TextIO | None = None,
    err: TextIO | None = None,
) -> int:
    """Listen to a WAV file and print the knocks in it.

    Args:
        path: Where the file is.
        as_json: Print a line of JSON per knock instead of a sentence.
        says_all: Print every sudden sound, with its kind.
        detector: What listens, by default the shipped one.
        out: Where knocks go, by default stdout.
        err: Where errors go, by default stderr.

    Returns:
        The exit code: 0, or 1 if the file could not be read to its end.
    """
    console = Console(file=out or sys.stdout, highlight=False)
    detector = detector or KnockDetector()
    count = 0
    try:
        for block in with_end(read_wav(path)):
            for heard in detector.feed(block):
                if says_all or heard.kind is Sound.KNOCK:
                    count += 1
                    _say(console, format_line(heard) if as_json else sentence(heard))
    except (OSError, KnockError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or str(error)
        complaints = Console(file=err or sys.stderr, stderr=True)
        complaints.print(f"{printable(str(path))}: {why}", markup=False, highlight=False, soft_wrap=True)
        return 1
    if not count and not as_json:
        _say(console, "Nothing was heard." if says_all else "No knock was heard.")
    return 0


def format_line(heard: KnockHeard) -> str:
    """Return what was heard as one line of JSON, without a line end."""
    said = {
        "t_s": round(heard.t_ns / NS_PER_S, 4),
        "strength": round(heard.strength, 4),
        "confidence": round(heard.confidence, 4),
        "kind": heard.kind.value,
    }
    return json.dumps(said)


def _say(console: Console, line: str) -> None:
    console.file.write(line + "\n")
    console.file.flush()
