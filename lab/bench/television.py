"""Measure the television view over simulated matches: `python -m lab.bench.television [--rules bones draw]`.

The share is the area of the layout's bounding box on the screen, divided by that of the felt, after each play: of the
tiles alone, and with the values of the open ends, which are part of the drawing. A bounding box that is longer or
shorter than the felt cannot cover it, so the best possible share is printed as well: that of the tiles alone if they
touched two edges of the felt, in the better of both orientations. *Moved* is the share of plays after which the window
moved or grew.

With `--frames`, the tasks of the page's main thread are traced for a minute of scoring, and for two seconds from the
start of each scene. The times are those of the CPU, because other programs also delay frames. Without a GPU, painting
takes part of them.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

from rich.console import Console

from engine import BONES, profile
from tests.tallybone.truth_eye import PLAYERS_OF
from tests.tallybone.web.browsers import Browser, Viewer, chromium, served, viewing

_GAMES = ("bones", "draw", "allfives", "block", "super", "twoset", "cutthroat")
_SIZES = {"landscape": (1920, 1080), "portrait": (1080, 1920)}
_SHOWN_MS = 120
_FRAME_MS = 50
_CATEGORY = "disabled-by-default-devtools.timeline"
_COMPLETE = """() => import(document.querySelector("script[type=module]").src).then(({ $ }) => "scenes" in $)"""
_SCENE = """async (scene) => {
  const { $ } = await import(document.querySelector("script[type=module]").src);
  const scenes = new $.scenes.Scenes();
  const players = [{ seat: 0, name: "Maximiliana Voss" }];
  const [last, match] = [{ seat: 0 }, { winner: 0 }];
  scenes.show({ messages: [{ id: 1, scene: null }], last, match, players }, 0);
  scenes.show({ messages: [{ id: 2, scene }], last, match, players }, 0);
}"""
_MEASURED = """() => {
  const felt = document.querySelector("#felt").getBoundingClientRect();
  const around = (selector) => {
    const boxes = [...document.querySelectorAll(selector)].map((one) => one.getBoundingClientRect());
    const span = (near, far) => Math.max(...boxes.map((box) => box[far])) - Math.min(...boxes.map((box) => box[near]));
    return boxes.length === 0 ? [0, 0] : [span("left", "right"), span("top", "bottom")];
  };
  const tiles = around("#tiles .ivory"), count = document.querySelectorAll("#tiles .tile").length;
  const window = document.querySelector("#felt").getAttribute("viewBox");
  return { felt: [felt.width, felt.height], tiles, drawn: around("#tiles .ivory, #felt .end rect"), count, window };
}"""


@dataclass(frozen=True, slots=True)
class Drawn:
    """Layout as drawn after a play: sizes in pixels, number of tiles, and visible part of the picture."""

    felt: tuple[float, float]
    tiles: tuple[float, float]
    drawn: tuple[float, float]
    count: int
    window: str

    def share(self, size: tuple[float, float]) -> float:
        """Return the share of the felt that a bounding box covers."""
        return size[0] * size[1] / (self.felt[0] * self.felt[1])

    @property
    def best(self) -> float:
        """Largest share that the tiles could cover, in the better orientation."""
        shape, own = self.felt[0] / self.felt[1], self.tiles[0] / self.tiles[1]
        return max(min(shape / one, one / shape) for one in (own, 1 / own))


def match_drawn(browser: Browser, rules: str, seed: int, size: tuple[int, int], hands: int) -> list[Drawn]:
    """Return the layout after each play of a match. Motion is reduced, so that each is drawn at once."""
    found: list[Drawn] = []
    with served(seed, hands=hands, rules=profile(rules), players=PLAYERS_OF[rules]) as table:
        table.play(3)
        with viewing(browser, table, size, path="/?display") as viewer:
            viewer.page.emulate_media(reduced_motion="reduce")
            while not table.camera.is_done:
                table.play(1)
                viewer.page.wait_for_timeout(_SHOWN_MS)
                now = _look(viewer)
                if now.count > 0 and (not found or now.count != found[-1].count):
                    found.append(now)
    return found


def _look(viewer: Viewer) -> Drawn:
    seen = viewer.page.evaluate(_MEASURED)
    return Drawn(tuple(seen["felt"]), tuple(seen["tiles"]), tuple(seen["drawn"]), seen["count"], seen["window"])


def trace_frames(browser: Browser, console: Console, seconds: int) -> None:
    """Print the longest tasks of a minute of play, and the work of each scene."""
    with served(1, hands=20, rules=BONES) as table:
        table.play(3)
        with viewing(browser, table, _SIZES["landscape"], path="/?display") as viewer:
            viewer.page.wait_for_function(_COMPLETE)

            def play() -> None:
                for _ in range(seconds):
                    table.play(1)
                    viewer.page.wait_for_timeout(1000)

            tasks = _traced(viewer, play)
            long = sum(ms > _FRAME_MS for ms in tasks)
            console.print(
                f"{seconds} s of play: {len(tasks)} tasks, {sum(tasks):.0f} ms, longest {max(tasks):.0f} ms, "
                f"{long} over {_FRAME_MS} ms; points {max(viewer.totals())}; load {os.getloadavg()[0]:.1f}"
            )
            for scene in ("match", "domino", "block", "steal", "spell"):
                tasks = _traced(viewer, partial(_play_scene, viewer, scene))
                console.print(f"{scene}: {sum(tasks):.0f} ms of work, longest task {max(tasks):.0f} ms")


def _play_scene(viewer: Viewer, scene: str) -> None:
    viewer.page.evaluate(_SCENE, scene)
    viewer.page.wait_for_timeout(2000)


def _traced(viewer: Viewer, act: Callable[[], None]) -> list[float]:
    """Return the CPU times of the tasks of the page's main thread while *act* runs, in milliseconds."""
    tools = viewer.page.context.new_cdp_session(viewer.page)
    events: list[dict[str, Any]] = []
    tools.on("Tracing.dataCollected", lambda data: events.extend(data["value"]))
    done: list[bool] = []
    tools.on("Tracing.tracingComplete", lambda _: done.append(True))
    tools.send("Tracing.start", {"transferMode": "ReportEvents", "traceConfig": {"includedCategories": [_CATEGORY]}})
    act()
    tools.send("Tracing.end")
    while not done:
        viewer.page.wait_for_timeout(20)
    tools.detach()
    names = [one for one in events if one["name"] == "thread_name" and one["args"]["name"] == "CrRendererMain"]
    mains = {(one["pid"], one["tid"]) for one in names}
    tasks = [one for one in events if one["name"] == "RunTask" and (one["pid"], one["tid"]) in mains]
    return [one["tdur"] / 1000 for one in tasks if "tdur" in one]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rules", nargs="+", default=_GAMES)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--hands", type=int, default=3)
    parser.add_argument("--size", choices=_SIZES, default="landscape")
    parser.add_argument("--frames", action="store_true", help="trace the main thread instead")
    parser.add_argument("--seconds", type=int, default=60, help="of play that are traced")
    args = parser.parse_args()
    console = Console(highlight=False, width=120)
    with chromium() as browser:
        if args.frames:
            trace_frames(browser, console, args.seconds)
            return 0
        for rules in args.rules:
            plays = [
                one
                for seed in range(1, args.seeds + 1)
                for one in match_drawn(browser, rules, seed, _SIZES[args.size], args.hands)
            ]
            tiles = 100 * statistics.median(one.share(one.tiles) for one in plays)
            drawn = 100 * statistics.median(one.share(one.drawn) for one in plays)
            best = 100 * statistics.median(one.best for one in plays)
            pairs = [(before, one) for before, one in pairwise(plays) if one.count > before.count]
            moved = 100 * statistics.mean(one.window != before.window for before, one in pairs)
            console.print(
                f"{rules}, {args.size}, {len(plays)} plays: tiles {tiles:.0f} %, with the values of the ends "
                f"{drawn:.0f} %, best possible {best:.0f} %, moved {moved:.0f} %"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
