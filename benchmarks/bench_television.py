"""Measure the television view over simulated matches: `python benchmarks/bench_television.py [--rules bones draw]`.

The share is the area of the layout's bounding box on the screen, divided by that of the felt, after each play: of the
tiles alone, and with the values of the open ends, which are part of the drawing. A bounding box that is longer or
shorter than the felt cannot cover it, so the best possible share is printed as well: that of the tiles alone if they
touched two edges of the felt, in the better of both orientations. *Moved* is the share of plays after which the window
moved or grew.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from dataclasses import dataclass
from itertools import pairwise

from rich.console import Console

from engine import profile
from tests.tallybone.truth_eye import PLAYERS_OF
from tests.tallybone.web.browsers import Browser, Viewer, chromium, served, viewing

_GAMES = ("bones", "draw", "allfives", "block", "super", "twoset", "cutthroat")
_SIZES = {"landscape": (1920, 1080), "portrait": (1080, 1920)}
_SHOWN_MS = 120
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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rules", nargs="+", default=_GAMES)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--hands", type=int, default=3)
    parser.add_argument("--size", choices=_SIZES, default="landscape")
    args = parser.parse_args()
    console = Console(highlight=False, width=120)
    with chromium() as browser:
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
