"""Measure how well live simulated matches are scored on a busy machine.

    python -m lab.bench.busy [--runs 20] [--busy 4] [--seed 500] [--games bones,draw,block,allfives,cutthroat]

Each run is the real command: `tallybone play --camera simulated` plays a hand and records it while other processes keep
the cores busy. The recorded match is compared with the simulated one, tile by tile. A run has derailed if a tile is
missed, wrong or spare, or if the totals differ. The exit code is 1 if any run has derailed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory

from engine import State, apply
from lab.matches.items import TrueEvent
from lab.matches.simulation import Simulation, simulation_settings
from tallybone.play.start import state_of
from tallybone.recording.reader import read_recording
from tallybone.recording.resume import left_in
from tallybone.replay.shadow import HandJudged, hand_scored, judge_hand

_PLAYERS = {"bones": 2, "draw": 2, "block": 3, "allfives": 2, "cutthroat": 4}
_NAMES = ("Ann", "Ben", "Cleo", "Dora")
# Timeout of a run.
_TIMEOUT_S = 900


@dataclass(frozen=True, slots=True)
class Run:
    """A scored match, its duration at the table, its real duration, and the number of questions."""

    judged: HandJudged
    table_s: float
    passed_s: float
    questions: int

    @property
    def has_derailed(self) -> bool:
        """True if any part of the score is wrong."""
        judged = self.judged
        plays_right = all(play.is_wholly_right for play in judged.plays)
        return not (plays_right and judged.are_totals_right and not judged.spare)


def main() -> int:
    """Print a line for each run and the total, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--busy", type=int, default=4, help="processes that keep the cores busy")
    parser.add_argument("--seed", type=int, default=500, help="seed of the first run, incremented for each run")
    parser.add_argument("--games", default=",".join(_PLAYERS))
    options = parser.parse_args()
    derailed = 0
    with _busy(options.busy):
        for number, game in enumerate(islice(cycle(options.games.split(",")), options.runs)):
            run = _run(game, options.seed + number)
            derailed += run.has_derailed
            right = sum(play.is_wholly_right for play in run.judged.plays)
            print(
                f"{game} seed {options.seed + number}: {right} of {len(run.judged.plays)} plays right,"
                f" {len(run.judged.spare)} spare, totals {'right' if run.judged.are_totals_right else 'wrong'},"
                f" {run.questions} questions,"
                f" {run.table_s:.0f} s at the table in {run.passed_s:.0f} s{', DERAILED' * run.has_derailed}",
                flush=True,
            )
    print(f"derailed: {derailed} of {options.runs}, with {options.busy} busy processes")
    return 1 if derailed else 0


def _run(game: str, seed: int) -> Run:
    """Play a simulated hand live, and compare the score with the truth."""
    names = _NAMES[: _PLAYERS[game]]
    steps = list(Simulation(simulation_settings(game, players=len(names), seed=seed, hands=1)).plan())
    events = [step.event for step in steps if isinstance(step, TrueEvent)]
    true_state = reduce(lambda state, event: apply(state, event)[0], events, State())
    command = [str(Path(sys.executable).with_name("tallybone")), "play", "--rules", game, "--players", ",".join(names)]
    with TemporaryDirectory() as folder:
        began_s = time.monotonic()
        output = subprocess.run(
            [*command, "--camera", f"simulated:seed={seed},hands=1", "--record", folder, "--json"],
            check=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            timeout=_TIMEOUT_S,
        ).stdout
        passed_s = time.monotonic() - began_s
        (recording,) = Path(folder).glob("*.mcap")
        seen = state_of(left_in(read_recording(recording)))
    lines = [json.loads(line) for line in output.splitlines()]
    judged = judge_hand(1, hand_scored(true_state, ()), hand_scored(seen, ()), closed_ns=0, is_flagged=False)
    questions = sum(line.get("event") == "unclear" for line in lines)
    return Run(judged, steps[-1].t_ns / 1e9, passed_s, questions)


@contextmanager
def _busy(count: int) -> Iterator[None]:
    """Keep *count* processes computing."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


if __name__ == "__main__":
    sys.exit(main())
