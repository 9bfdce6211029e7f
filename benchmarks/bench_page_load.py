"""How long the first load of the page takes on a slow phone, in a real browser: `python benchmarks/bench_page_load.py`.

The profile is that of a slow phone in a home network: 1.6 Mbit/s down, 0.75 up, 150 ms there and back for each request,
a processor that is four times as slow as this one. Say the load of the machine beside what it says.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys

from rich.console import Console

from tests.tallybone.web.browsers import Browser, chromium, play, served

_BYTES_PER_S = {"down": 1_600_000 / 8, "up": 750_000 / 8}
# Marks the moment at which the first score stands on the page.
_WATCHES = """
new MutationObserver((_, watcher) => {
  if (document.querySelector(".player") === null) return;
  window.shownMs = performance.now();
  watcher.disconnect();
}).observe(document, { childList: true, subtree: true });
"""


def load_once(browser: Browser, address: str, *, latency_ms: float, slowdown: float) -> tuple[float, float]:
    """Return after how many seconds the score is shown in a browser that knows nothing yet, and how many KB it took."""
    context = browser.new_context(viewport={"width": 360, "height": 740})
    context.add_init_script(_WATCHES)
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
    page.goto(address, wait_until="commit")
    page.locator(".player").first.wait_for(timeout=120_000)
    shown_ms = page.evaluate("window.shownMs")
    weight = page.evaluate(
        "[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]"
        ".reduce((sum, one) => sum + one.transferSize, 0)"
    )
    context.close()
    return float(shown_ms) / 1000, float(weight) / 1024


def main() -> int:
    said = argparse.ArgumentParser(description=__doc__)
    said.add_argument("--loads", type=int, default=5)
    said.add_argument("--latency", type=float, default=150.0, help="milliseconds there and back")
    said.add_argument("--slowdown", type=float, default=4.0, help="of the processor")
    asked = said.parse_args()
    console = Console(highlight=False)
    with served() as table, chromium() as browser:
        play(table, 9)
        loads = [
            load_once(browser, table.page.url, latency_ms=asked.latency, slowdown=asked.slowdown)
            for _ in range(asked.loads)
        ]
    times = [took_s for took_s, _ in loads]
    console.print(f"{len(loads)} loads, load of the machine {os.getloadavg()[0]:.1f}")
    console.print(f"score shown after: median {statistics.median(times):.2f} s, worst {max(times):.2f} s")
    console.print(f"fetched: {loads[-1][1]:.0f} KB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
