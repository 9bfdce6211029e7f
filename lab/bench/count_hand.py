"""Count photographed hands through the page, and compare them with labels.

    python -m lab.bench.count_hand LABELS ROOT [--kinds scatter,rows,single]

Chromium chooses each photo in the sheet that counts a hand. LABELS is a file for `tallybone evaluate`
(docs/reference/labels.md), ROOT its folder of photos. Photos with ignored areas are left out, because the page does
not say where a tile lies. A tap is one correction, removal or addition. The game has the set of the labels.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from engine import BLOCK, Domino, Phase, Seat
from lab.bench.material.harness import options_of
from tests.tallybone.web.browsers import Viewer, chromium, served, viewing
from tests.tallybone.web.hand_photos import game_of
from tests.waiting import until

_TILES = "#sheet .hand-tile strong"


def main() -> None:
    """Print a line for each photo that needs a tap, then the totals."""
    given = options_of(__doc__, "labels", "root", kinds="scatter,rows,single")
    kinds = given.kinds.split(",")
    photos = [one for one in json.loads(given.labels.read_text()) if one["kind"] in kinds and not one.get("ignore")]
    taps, marked, seconds = Counter[int](), 0, list[float]()
    for most in sorted({_highest(photo) for photo in photos}):
        own = [photo for photo in photos if _highest(photo) == most]
        rules = replace(BLOCK, max_pips=most)
        with chromium() as browser, served(rules=rules) as table, viewing(browser, table) as viewer:
            while not table.live.session.state.log or game_of(table).phase is not Phase.PLAY:
                table.play(1)
            table.camera.give(Domino(Seat(0)))
            until(lambda: game_of(table).phase is Phase.REVEAL)
            _begin(viewer)
            for photo in own:
                began_s = time.perf_counter()
                read = _read(viewer.page, given.root / photo["image"])
                seconds.append(time.perf_counter() - began_s)
                counted = Counter(_pair(text.replace("?", "").split("-")) for text in read if text != "?")
                true = Counter(
                    _pair(half["pips"] for half in tile["halves"]) for tile in photo["tiles"] if tile["face"] == "up"
                )
                spare, missing = counted - true, true - counted
                needed = max(spare.total(), missing.total())
                taps[needed] += 1
                marked += sum("?" in text[1:] for text in read)
                if needed:
                    print(f"{photo['image']}: {needed} taps, read {_said(spare)}, true {_said(missing)}", flush=True)
    count = taps.total()
    print(
        f"{count} photos: right without a tap {taps[0]} ({taps[0] / count:.0%}),"
        f" with at most one {taps[0] + taps[1]} ({(taps[0] + taps[1]) / count:.0%});"
        f" {marked} tiles marked as unsure; median {sorted(seconds)[count // 2]:.1f} s"
    )


def _highest(photo: Mapping[str, Any]) -> int:
    return int(photo["set"].removeprefix("double-"))


def _begin(viewer: Viewer) -> None:
    viewer.press("count")
    viewer.log_in()


def _read(page: Page, path: Path) -> list[str]:
    """Return the tiles in the sheet after choosing a photo, such as "6-5", "6-5?" or "?"."""
    page.locator("#sheet input[type=file]").set_input_files(path)
    page.locator("#sheet .hand-tiles").wait_for(state="attached")
    read = page.locator(_TILES).all_inner_texts()
    page.locator("#sheet").get_by_role("button", name="Another photo").click()
    return read


def _pair(numbers: Iterable[str | int]) -> tuple[int, int]:
    """Return the numbers of a tile, the smaller first."""
    first, second = sorted(map(int, numbers))
    return first, second


def _said(tiles: Counter[tuple[int, int]]) -> str:
    return " ".join(f"{high}-{low}" for low, high in tiles.elements()) or "nothing"


if __name__ == "__main__":
    main()
