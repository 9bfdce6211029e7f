"""Run `tallybone replay`: follow a table again, and print every tile as it is placed and the game with its score."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TextIO

from tallybone.play.news import News
from tallybone.recording.reader import read_recording
from tallybone.replay.compare import by_play, differences, has_other_rules, recorded_facts, replayed_facts
from tallybone.replay.export import ExportFiles, exporting
from tallybone.replay.lines import Tally, narrator_for
from tallybone.replay.log import logged_steps
from tallybone.replay.pace import Pace, at_pace, progress, run_command
from tallybone.replay.run import ReplaySettings, ReplayStep, opened_replay, passing
from tallybone.sources.source import Item, Source
from tallybone.terminal import Output
from vision.tracking.perception import Perception


def replay(
    path: Path,
    wishes: ReplaySettings | None = None,
    *,
    pace: Pace | None = None,
    as_json: bool = False,
    exports: ExportFiles | None = None,
    perception: Perception | None = None,
    clock: ReplayClock | None = None,
    out: TextIO | None = None,
    err: TextIO | None = None,
) -> int:
    """Follow a table again and print what happens.

    Args:
        path: A folder, whose pictures are taken in name order, a recording (.mcap) or a video. Of moving pictures only
            what is settled is read.
        wishes: How; by default as the recording says.
        pace: From when on to print, and how fast; by default all, as fast as it can.
        as_json: Print a line of JSON per event and one with the result, instead of sentences.
        exports: The files to write.
        perception: Reads the table; by default one with the shipped reader.
        clock: Keeps the pace; by default that of the machine.
        out: Where events go, by default stdout.
        err: Where progress and errors go, by default stderr.

    Returns:
        The exit code: 0, 1 if any of it could not be read, or not be recorded, or 2 if there is no such game.
    """
    wishes, wanted, hands = wishes or ReplaySettings(), pace or Pace(), clock or ReplayClock()
    files = exports or ExportFiles()

    def work(output: Output) -> int:
        def through(source: Source, items: Iterator[Item]) -> Iterable[Item]:
            return written.through(at_pace(progress(output, source, items), wanted, hands.now_ns, hands.wait))

        with (
            exporting(files, has_pictures=True) as written,
            opened_replay(path, wishes, output.complain, perception=perception, through=through) as run,
        ):
            steps = passing(run.steps, written.add)
            tally = _print(steps, output, has_game=run.match is not None, as_json=as_json, from_ns=wanted.from_ns)
            written.write_texts(run.source.start, tally.result)
        output.write(json.dumps({"result": tally.result}) if as_json else tally.words)
        return 0

    return run_command(work, out, err)


def replay_log(
    path: Path,
    wishes: ReplaySettings | None = None,
    *,
    from_ns: int = 0,
    as_json: bool = False,
    exports: ExportFiles | None = None,
    out: TextIO | None = None,
    err: TextIO | None = None,
) -> int:
    """Let the rules judge the log of a recording again, without a look at its pictures.

    Args:
        path: The recording.
        wishes: Which game is kept score of, by default as the recording says.
        from_ns: From when on to print, since the first event.
        as_json: As of `replay`, as are *exports*, *out* and *err*.

    Returns:
        The exit code, as of `replay`.
    """

    def work(output: Output) -> int:
        with exporting(exports or ExportFiles(), has_pictures=False) as written:
            steps = passing(logged_steps(path, (wishes or ReplaySettings()).game, output.complain), written.add)
            score = _print(steps, output, has_game=True, as_json=as_json, from_ns=from_ns).score
            written.write_texts(read_recording(path).start, score.figures)
        output.write(json.dumps({"result": score.figures}) if as_json else score.words)
        return 0

    return run_command(work, out, err)


def compare(
    path: Path,
    wishes: ReplaySettings | None = None,
    *,
    as_json: bool = False,
    perception: Perception | None = None,
    out: TextIO | None = None,
    err: TextIO | None = None,
) -> int:
    """Follow a recording again and print the differences; by other rules only those in the points of each play.

    Args:
        path: The recording.
        wishes: As of `replay`, as is all the rest.

    Returns:
        The exit code, as of `replay`; 1 also if anything differs.
    """
    wishes = wishes or ReplaySettings()

    def work(output: Output) -> int:
        recorded = recorded_facts(path, output.complain)
        begins_ns: set[int] = set()  # that of the items, and 0 of what is said before the first
        through = partial(progress, output)
        with opened_replay(path, wishes, output.complain, perception=perception, through=through) as run:
            steps = passing(run.steps, lambda seen: begins_ns.add(seen.t_ns - seen.since_ns))
            now = list(replayed_facts(steps))
        if has_other_rules(path, wishes.game):
            recorded, now = by_play(recorded), by_play(now)
        found = differences(recorded, now)
        equal = f"equal: {len(recorded)} events and outcomes"
        head = {"equal": not found, "differences": len(found), "recorded": len(recorded), "now": len(now)}
        output.write(json.dumps(head) if as_json else f"{len(found)} differences" if found else equal)
        for one in found:
            output.write(one.line() if as_json else one.sentence(max(begins_ns, default=0)))
        return 1 if found else 0

    return run_command(work, out, err)


def _print(steps: Iterable[ReplayStep], output: Output, *, has_game: bool, as_json: bool, from_ns: int) -> Tally:
    """Print the steps from some time on, and return the tally of all."""
    tally, news, narrate = Tally(), News(), narrator_for(has_game=has_game, as_json=as_json)
    for seen in steps:
        tally.add(seen)
        notes = news.of(seen.view)  # of what is not printed, too
        for line in narrate(seen, notes) if seen.since_ns >= from_ns else ():
            output.write(line)
    return tally


class ReplayClock:
    """The clock of the machine."""

    def now_ns(self) -> int:
        """Return the time, monotonic."""
        return time.monotonic_ns()

    def wait(self, seconds: float) -> None:
        """Wait."""
        threading.Event().wait(seconds)
