"""Measure the delay of plays on the page, and the CPU load of fifty viewers.

    python -m lab.bench.page [--viewers 50] [--cameras 0] [--seconds 20] [--pace 0.5] [--browser]

A game is followed by a perfect reader, with an event every half second. The viewers are in another process on the same
machine. "Late" is the time from when the game updates its displays until a viewer has received the snapshot. The load
is the CPU time of the page's threads. With `--cameras`, some of the viewers also fetch the camera picture, like a page
does: the next one a third of a second after the last. With `--browser`, Chromium is another viewer: "changed" is when
the play is in its list, and "painted" is when the frame is drawn.
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
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx
from websockets.asyncio.client import connect

from lab.bench.material.harness import options_of
from tallybone.session.sitting import Step
from tests.tallybone.web.browsers import chromium
from tests.tallybone.web.true_table import SECOND, Silent, TrueTable, true_table

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_PICTURE_PAUSE_S = 0.35
# Records when each play was in the list, and when it was painted, by the browser's clock.
_NOTES = """
window.changed = {}; window.painted = {};
const note = () => {
  const seq = document.querySelector("#play-list > li")?.dataset.key;
  if (seq === undefined || seq in window.changed) return;
  window.changed[seq] = performance.now();
  requestAnimationFrame(() => setTimeout(() => { window.painted[seq] = performance.now(); }));
};
document.addEventListener("DOMContentLoaded", () => {
  new MutationObserver(note).observe(document.querySelector("#play-list"), { childList: true });
});
"""


@dataclass(slots=True)
class Timed(Silent):
    """A display that records when each event of the log was reported."""

    told_ns: dict[int, int] = field(default_factory=dict)

    def happened(self, happened: Step) -> None:
        """Record the time of the last event."""
        if happened.events:
            self.told_ns[len(happened.session.state.log) - 1] = time.monotonic_ns()


def main() -> None:
    args = options_of(__doc__, viewers=50, cameras=0, seconds=20.0, pace=0.5, browser=False, watch=(str, None))
    if args.watch is not None and args.browser:
        _watch_in_browser(args.watch, args.seconds)
        return
    if args.watch is not None:
        asyncio.run(_watch(args.watch, args.viewers, args.cameras, args.seconds))
        return
    display = Timed()
    table = true_table(2, hands=20, pace_ns=round(args.pace * SECOND), display=display)
    table.begin()
    try:
        _measure(table, display, args)
    finally:
        table.end()


def _measure(table: TrueTable, display: Timed, args: argparse.Namespace) -> None:
    looks = [_watching(table, args.seconds, "--viewers", str(args.viewers), "--cameras", str(args.cameras))]
    if args.browser:
        looks.append(_watching(table, args.seconds, "--browser"))
    for process in looks:
        _line(process)  # all are connected
    before_s, began_s = _page_s(), time.monotonic()
    seen: dict[str, dict[str, list[int]]] = json.loads(_line(looks[0]))
    took_s, cost_s = time.monotonic() - began_s, _page_s() - before_s
    for process in looks[1:]:
        seen |= json.loads(_line(process))
    for process in looks:
        process.wait()
    print(f"{args.viewers} viewers, load {os.getloadavg()[0]:.1f}")
    for moment, times_of in seen.items():
        known = {int(seq): times for seq, times in times_of.items() if int(seq) in display.told_ns}
        late_ms = sorted((t_ns - display.told_ns[seq]) / 1e6 for seq, times in known.items() for t_ns in times)
        median_ms, max_ms = late_ms[len(late_ms) // 2], late_ms[len(late_ms) * 95 // 100]
        print(f"{moment}, of {len(known)} events: median {median_ms:.0f} ms, 95 % within {max_ms:.0f} ms")
    print(f"the page's threads: {100 * cost_s / took_s:.1f} % of a core")


def _watching(table: TrueTable, seconds: float, *more: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "lab.bench.page", "--watch", table.page.url, "--seconds", str(seconds), *more]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def _line(watching: subprocess.Popen[str]) -> str:
    assert watching.stdout is not None
    return watching.stdout.readline()


def _page_s() -> float:
    """Return the CPU time of the page's thread and of the threads that encode its pictures."""
    return sum(
        _at_work_s(thread.native_id)
        for thread in threading.enumerate()
        if thread.native_id is not None and thread.name.startswith(("page", "asyncio_"))
    )


def _at_work_s(thread: int) -> float:
    fields = Path(f"/proc/self/task/{thread}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS_PER_S


async def _watch(url: str, viewers: int, cameras: int, seconds: float) -> None:
    """Print a line when all viewers are connected, and after *seconds* the times at which each event arrived."""
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

    async def look(pictures: httpx.AsyncClient) -> None:
        etag = ""
        while True:
            answer = await pictures.get("/api/v1/picture.jpg", params={"width": 640}, headers={"if-none-match": etag})
            etag = answer.headers["etag"]
            await asyncio.sleep(_PICTURE_PAUSE_S)

    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    async with httpx.AsyncClient(base_url=url, limits=limits, timeout=60) as pictures:
        tasks = [asyncio.create_task(view()) for _ in range(viewers)]
        for _ in tasks:
            await ready.acquire()
        tasks += [asyncio.create_task(look(pictures)) for _ in range(cameras)]
        print("ready", flush=True)
        await asyncio.sleep(seconds)
        for task in tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
    print(json.dumps({"read by a viewer": seen}), flush=True)


def _watch_in_browser(url: str, seconds: float) -> None:
    """Print a line when a browser shows the page, and after *seconds* the times at which each event was visible."""
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 360, "height": 740})
        page.add_init_script(_NOTES)
        page.goto(url)
        page.locator("html[data-link=live] .player").first.wait_for()
        known = set(page.evaluate("window.changed"))
        print("ready", flush=True)
        page.wait_for_timeout(seconds * 1000)
        answers: list[tuple[int, int]] = []
        for _ in range(30):
            asked_ns = time.monotonic_ns()
            said_ms = page.evaluate("performance.now()")
            took_ns = time.monotonic_ns() - asked_ns
            answers.append((took_ns, asked_ns + took_ns // 2 - round(said_ms * 1e6)))
        since_ns = min(answers)[1]
        delays = {
            moment: {
                seq: [round(at_ms * 1e6) + since_ns]
                for seq, at_ms in page.evaluate(f"window.{moment}").items()
                if seq not in known
            }
            for moment in ("changed", "painted")
        }
    print(json.dumps({f"{moment} in a browser": times for moment, times in delays.items()}), flush=True)


if __name__ == "__main__":
    main()
