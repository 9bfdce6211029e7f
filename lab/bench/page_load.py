"""Measure the first load of the page on a slow phone in a real browser: `python -m lab.bench.page_load`.

The profile is a slow phone in a home network: 1.6 Mbit/s down, 0.75 up, 150 ms round trip for each request, and a CPU
four times as slow as this one. *Shown* is when the score has been painted. *Reacts* is when the connection to the table
is open and a tap works. "Again" is a second load in the same browser.

Throttling keeps the CPU busy, so load from other processes delays both moments disproportionately. The output therefore
includes the load of the machine, the best time beside the median, and the CPU time of the main thread until the page
reacted, without throttling.
"""

from __future__ import annotations

import os
import statistics
import sys
from dataclasses import dataclass

from playwright.sync_api import BrowserContext, CDPSession
from rich.console import Console

from lab.bench.material.harness import options_of
from tests.tallybone.web.browsers import Browser, chromium, served

_BYTES_PER_S = {"down": 1_600_000 / 8, "up": 750_000 / 8}
_PATIENCE_MS = 120_000
# Records both moments. A task started in an animation frame runs after that frame is painted.
_WATCHES = """
const painted = (name) => requestAnimationFrame(() => setTimeout(() => { window[name] ??= performance.now(); }));
new MutationObserver((_, watcher) => {
  if (document.querySelector(".player")?.checkVisibility({ visibilityProperty: true })) painted("shownMs");
  if (document.documentElement?.dataset.link !== "live") return;
  painted("liveMs");
  watcher.disconnect();
}).observe(document, { childList: true, subtree: true, attributeFilter: ["data-link", "data-shown"] });
"""
_REACTS = """
new Promise((done) => {
  const look = () => {
    if (!window.liveMs || !window.shownMs) return void setTimeout(look, 10);
    document.querySelector("#still-out").click();
    const isOpen = document.querySelector("#sheet").open;
    done({ shown: window.shownMs, reacts: isOpen ? window.liveMs : Infinity });
  };
  look();
})
"""
_WEIGHT = """
[...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
  .filter((one) => !one.name.endsWith("/later.js"))
  .reduce((sum, one) => sum + one.transferSize, 0)
"""


@dataclass(frozen=True, slots=True)
class Load:
    """Times of a load until the score was shown and until the page reacted, and the amount of data fetched."""

    shown_s: float
    reacts_s: float
    kilobytes: float


def load_once(context: BrowserContext, address: str, *, latency_ms: float, slowdown: float) -> Load:
    """Load the page on an emulated slow phone."""
    page = context.new_page()
    tools = context.new_cdp_session(page)
    tools.send("Network.enable")
    tools.send(
        "Network.emulateNetworkConditions",
        {
            "offline": False,
            "latency": latency_ms,
            "downloadThroughput": _BYTES_PER_S["down"],
            "uploadThroughput": _BYTES_PER_S["up"],
        },
    )
    tools.send("Emulation.setCPUThrottlingRate", {"rate": slowdown})
    page.goto(address, wait_until="commit", timeout=_PATIENCE_MS)
    moments = page.evaluate(_REACTS)
    weight = page.evaluate(_WEIGHT)
    page.close()
    return Load(moments["shown"] / 1000, moments["reacts"] / 1000, float(weight) / 1024)


def worked_s(browser: Browser, address: str) -> float:
    """Return the CPU time of the main thread until the page reacted, without throttling."""
    context = phone(browser)
    page = context.new_page()
    tools = context.new_cdp_session(page)
    tools.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(address, wait_until="commit")
    before_s = _spent_s(tools)
    page.evaluate(_REACTS)
    spent_s = _spent_s(tools) - before_s
    context.close()
    return spent_s


def _spent_s(tools: CDPSession) -> float:
    metrics = {metric["name"]: metric["value"] for metric in tools.send("Performance.getMetrics")["metrics"]}
    return float(metrics["TaskDuration"] - metrics["DevToolsCommandDuration"])


def phone(browser: Browser) -> BrowserContext:
    """Return a new phone with an empty cache."""
    context = browser.new_context(viewport={"width": 360, "height": 740})
    context.add_init_script(_WATCHES)
    context.set_default_timeout(_PATIENCE_MS)
    return context


def main() -> int:
    args = options_of(__doc__, loads=9, latency=150.0, slowdown=4.0, language="en")
    console = Console(highlight=False)
    first: list[Load] = []
    again: list[Load] = []
    with served() as table, chromium() as browser:
        table.play(9)
        address = f"{table.page.url}/?lang={args.language}"
        worked_ms = [1000 * worked_s(browser, address) for _ in range(args.loads)][1:]  # the first one warms up
        for _ in range(args.loads):
            context = phone(browser)
            for loads in (first, again):
                loads.append(load_once(context, address, latency_ms=args.latency, slowdown=args.slowdown))
            context.close()
    console.print(f"{args.loads} loads, load of the machine {os.getloadavg()[0]:.1f}")
    for name, loads in (("first", first), ("again", again)):
        for moment, times in (
            ("shown", [load.shown_s for load in loads]),
            ("reacts", [load.reacts_s for load in loads]),
        ):
            figures = f"median {statistics.median(times):.2f} s, best {min(times):.2f} s, worst {max(times):.2f} s"
            console.print(f"{name} {moment}: {figures}")
        console.print(f"{name} fetched: {loads[-1].kilobytes:.1f} KB")
    console.print(
        f"work of the main thread: median {statistics.median(worked_ms):.0f} ms, best {min(worked_ms):.0f} ms"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
