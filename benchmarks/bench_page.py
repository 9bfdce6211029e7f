"""How soon a play is on the page, and what fifty viewers cost.

    python benchmarks/bench_page.py [--viewers 50] [--seconds 20] [--pace 0.5]

A game is followed by an eye that sees what is there, something happens every half second, and the viewers are another
process on the same machine. "Late" is from the moment at which the game tells its displays to the moment at which a
viewer has read the snapshot; the cost is time of the processor of the page's thread, so that others do not count.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from websockets.asyncio.client import connect

from tallybone.sitting import Happened
from tests.tallybone.web.true_table import SECOND, Silent, TrueTable, true_table

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@dataclass(slots=True)
class Timed(Silent):
    """A display that notes when each event of the log was told."""

    told_ns: dict[int, int] = field(default_factory=dict)

    def happened(self, happened: Happened) -> None:
        """Note it."""
        if happened.events:
            self.told_ns[len(happened.session.state.log) - 1] = time.monotonic_ns()


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--viewers", type=int, default=50)
    asked.add_argument("--seconds", type=float, default=20.0)
    asked.add_argument("--pace", type=float, default=0.5, help="seconds between two things that happen")
    asked.add_argument("--watch", help=argparse.SUPPRESS)
    said = asked.parse_args()
    if said.watch is not None:
        asyncio.run(_watch(said.watch, said.viewers, said.seconds))
        return
    display = Timed()
    table = true_table(2, hands=20, pace_ns=round(said.pace * SECOND), display=display)
    table.begin()
    try:
        _measure(table, display, said.viewers, said.seconds)
    finally:
        table.end()


def _measure(table: TrueTable, display: Timed, viewers: int, seconds: float) -> None:
    command = [
        sys.executable,
        __file__,
        "--watch",
        table.page.url,
        "--viewers",
        str(viewers),
        "--seconds",
        str(seconds),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as watching:
        assert watching.stdout is not None
        watching.stdout.readline()  # all are there
        before_s, began_s = _page_s(), time.monotonic()
        said = watching.stdout.readline()
        took_s, cost_s = time.monotonic() - began_s, _page_s() - before_s
    seen: dict[str, list[int]] = json.loads(said)
    known = {seq: display.told_ns[int(seq)] for seq in seen if int(seq) in display.told_ns}
    late_ms = sorted((t_ns - told_ns) / 1e6 for seq, told_ns in known.items() for t_ns in seen[seq])
    print(f"{viewers} viewers, {len(seen)} events in {took_s:.0f} s, load {os.getloadavg()[0]:.1f}")
    print(f"late: median {late_ms[len(late_ms) // 2]:.0f} ms, 95 % within {late_ms[len(late_ms) * 95 // 100]:.0f} ms")
    print(f"the page's thread: {100 * cost_s / took_s:.1f} % of a core")


def _page_s() -> float:
    """Return how long the page's thread has been at work."""
    (page,) = (one.native_id for one in threading.enumerate() if one.name == "page")
    fields = Path(f"/proc/self/task/{page}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS_PER_S


async def _watch(url: str, viewers: int, seconds: float) -> None:
    """Print a line when all viewers are there, and after so many seconds when each saw which event."""
    seen: dict[int, list[int]] = {}
    address = url.replace("http", "ws") + "/api/v1/live"
    ready = asyncio.Semaphore(0)

    async def view() -> None:
        async with connect(address, compression=None, proxy=None) as socket:
            ready.release()
            last = None
            async for message in socket:
                plays = json.loads(message)["plays"]
                newest = plays[-1]["seq"] if plays else None
                if newest is not None and newest != last:
                    if last is not None:
                        seen.setdefault(newest, []).append(time.monotonic_ns())
                    last = newest

    tasks = [asyncio.create_task(view()) for _ in range(viewers)]
    for _ in tasks:
        await ready.acquire()
    print("ready", flush=True)
    await asyncio.sleep(seconds)
    for task in tasks:
        task.cancel()
    print(json.dumps(seen), flush=True)


if __name__ == "__main__":
    main()
