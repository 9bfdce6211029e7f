"""`tallybone replay`: what came in at a table once more: every tile as it is placed, and the game with its score."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from rich.console import Console
from rich.progress import track

from engine import EngineError, OptionsError
from tallybone.replay_lines import GameSentences, JsonLines, Narrator, TableSentences
from tallybone.replay_result import Tally
from tallybone.replay_run import Replay, Wishes, opened_replay
from tallybone.replay_source import Item, Source
from tallybone.terminal import printable, silent_libraries
from vision.errors import VisionError
from vision.perception import Perception


@dataclass(slots=True)
class Voice:
    """Where a replay prints, and what it has complained of."""

    out: TextIO
    err: Console
    failures: list[str] = field(default_factory=list)

    def say(self, line: str) -> None:
        """Print a line at once."""
        self.out.write(line + "\n")
        self.out.flush()

    def complain(self, message: str) -> None:
        """Print what is wrong, and keep it."""
        self.failures.append(message)
        self.err.print(f"tallybone replay: {printable(message)}", markup=False, highlight=False, soft_wrap=True)

    def progress(self, source: Source, items: Iterator[Item]) -> Iterable[Item]:
        """Show how far it is while the items pass."""
        return track(
            items, "Replaying", source.count, console=self.err, transient=True, disable=not self.err.is_terminal
        )


def replay(
    path: Path,
    wishes: Wishes | None = None,
    *,
    as_json: bool = False,
    perception: Perception | None = None,
    out: TextIO | None = None,
    err: TextIO | None = None,
) -> int:
    """Follow a table again and print what happens.

    Args:
        path: A folder, whose pictures are taken in name order, a recording (.mcap) or a video. Of moving pictures only
            what is settled is read.
        wishes: How; by default as the recording says.
        as_json: Print a line of JSON per event and one with the result, instead of sentences.
        perception: What reads the table; by default one with the shipped reader.
        out: Where events go, by default stdout.
        err: Where progress and errors go, by default stderr.

    Returns:
        The exit code: 0, 1 if any of it could not be read, or not be recorded, or 2 if there is no such game.
    """
    with _voice(out, err) as voice:
        try:
            with opened_replay(
                path, wishes or Wishes(), voice.complain, perception=perception, through=voice.progress
            ) as run:
                tally = _print(run, voice, as_json=as_json)
        except EngineError as error:
            for fault in error.faults if isinstance(error, OptionsError) else (str(error),):
                voice.complain(fault)
            return 2
        except (VisionError, OSError) as error:
            voice.complain(str(error))
            return 1
        voice.say(json.dumps({"result": tally.result}) if as_json else tally.words)
        return 1 if voice.failures else 0


def _print(run: Replay, voice: Voice, *, as_json: bool) -> Tally:
    """Print what happens, and return what came of it."""
    tally = Tally()
    narrator: Narrator = JsonLines() if as_json else TableSentences() if run.match is None else GameSentences()
    for seen in run.steps:
        tally.add(seen)
        for line in narrator.lines(seen):
            voice.say(line)
    return tally


@contextmanager
def _voice(out: TextIO | None, err: TextIO | None) -> Iterator[Voice]:
    with silent_libraries(err or sys.stderr) as shown:
        yield Voice(out or sys.stdout, Console(file=shown, stderr=err is None))
