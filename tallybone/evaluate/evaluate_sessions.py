"""`tallybone evaluate SESSION...`: recordings of simulated tables in, figures and all that was scored wrongly out."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from rich.console import Console

from tallybone.evaluate.session_report import Judge, judge_recordings, print_batch, recordings_in, session_line
from tallybone.evaluate.sessions import judge_session
from tallybone.recording.folder import SUFFIX
from tallybone.terminal import printable, silent_libraries
from vision.errors import VisionError


def are_sessions(paths: Sequence[Path]) -> bool:
    """Return whether recordings are named, or folders: labels of photographs are a file of another kind."""
    return bool(paths) and (paths[0].suffix.lower() == SUFFIX or paths[0].is_dir())


def evaluate_sessions(
    paths: Sequence[Path],
    *,
    as_json: bool = False,
    jobs: int = 1,
    judge: Judge = judge_session,
    out: TextIO | None = None,
    err: TextIO | None = None,
) -> int:
    """Follow recordings of simulated tables, and print how much of it is right.

    Args:
        paths: Recordings, or folders of them.
        as_json: Print one line of JSON per recording, and one with the figures of all, instead of tables.
        jobs: How many are judged at once.
        judge: What judges one; by default with the shipped reader.
        out: Where figures go, by default stdout.
        err: Where progress and errors go, by default stderr.

    Returns:
        The exit code: 0, or 1 if any of it could not be read or judged.
    """
    console = Console(file=out or sys.stdout, highlight=False)
    with silent_libraries(err or sys.stderr) as shown:
        complaints = Console(file=shown, stderr=err is None, highlight=False)
        try:
            batch = judge_recordings(recordings_in(paths), jobs=jobs, err=complaints, judge=judge)
        except (VisionError, OSError) as error:
            _complain(complaints, str(error))
            return 1
        for failure in batch.failures:
            _complain(complaints, failure)
    if as_json:
        lines = [session_line(one) for one in batch.judged]
        total = {"total": batch.total.as_json | {"not_judged": list(batch.failures)}}
        console.file.writelines(json.dumps(line, allow_nan=False) + "\n" for line in (*lines, total))
    elif batch.judged:
        print_batch(console, batch)
    else:
        console.print("No recording was judged")
    return 1 if batch.failures else 0


def _complain(console: Console, message: str) -> None:
    console.print(f"tallybone evaluate: {printable(message)}", markup=False, soft_wrap=True)
