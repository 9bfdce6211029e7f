"""Every view and sheet of the page and the steps that open it, for axe and for screenshots."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tallybone.store.calibration_file import save_calibration
from tallybone.store.house import set_password
from tallybone.web.live.app import STATIC
from tests.tallybone.recorded_games import record_game
from tests.tallybone.serve.calibrated import MEASURED
from tests.tallybone.serve.served import at_served_table
from tests.tallybone.web.browsers import Page, Viewer, choose_photo, served
from tests.tallybone.web.doubts import doubtful
from tests.tallybone.web.hand_photos import end_hand, jpeg_of_hand

SIZES = {"phone": (360, 740), "tablet": (820, 1180), "television": (1920, 1080)}
_SCRIPTS = [path for folder in STATIC for path in folder.glob("*.js")]
PASSWORD, _RECORDING = "correct horse", "recordings/bones.mcap"
_DOUBTED, _ITEMS, _INFERRED = 7, 16, 3
_VIEW = re.compile(r'\bview\("(\w+)"|^ *(\w+): async .*\bimport\("', re.MULTILINE)
_FUNCTION = re.compile(r"^(?:export )?(?:async )?function (\w+)")
_OPENS_SHEET = re.compile(r"\bopenSheet\(|\.showModal\(")


@dataclass(frozen=True, slots=True)
class Place:
    """A view or sheet of the page. Its name is unique, since it is used in file names.

    Once it is drawn, the element *ready* exists. *go* opens it from its view. *sheet* is the script and function that
    open it, or "" for the view itself.
    """

    name: str
    view: str
    ready: str
    go: Callable[[Page], object] = lambda page: None
    sheet: str = ""


def _all_open(page: Page) -> None:
    page.locator("#begin").wait_for()
    page.evaluate("document.querySelectorAll('details').forEach(element => { element.open = true; })")
    page.locator("#option-hand").fill("many")
    page.locator("#option-hand").press("Tab")


def _missing(page: Page) -> None:
    page.locator("#play-list .play:has(.tile-icon)").nth(-2).click()
    page.locator("#sheet-body > .row button").last.click()


def _owner(page: Page) -> None:
    page.locator("#keep").fill("7")
    page.locator("#keep-settings").click()


def _count(page: Page) -> None:
    page.locator("[data-press=count]").click()
    choose_photo(page, jpeg_of_hand([(6, 6), (1, 0)]))


def _tap(selector: str) -> Callable[[Page], object]:
    return lambda page: page.locator(selector).first.click()


IN_PLAY = (
    Place("table", "table", "#tiles .tile"),
    Place("camera", "table", "#picture[src]", _tap("#camera-tab")),
    Place("play", "table", "#sheet .end-key", _tap("#play-list .play:has(.tile-icon)"), "play_sheet.js openPlay"),
    Place("missing", "table", "#sheet .numbers", _missing, "play_sheet.js openInsert"),
    Place("seat", "table", "#sheet .part", _tap(".player .seat"), "seat_sheet.js openSeat"),
    Place("more", "table", "#sheet .wide", _tap("#more"), "controls.js openMore"),
    Place("still-out", "table", "#sheet .out-set", _tap("#still-out"), "tiles_out.js openTilesOut"),
    Place("pin", "table", "#login[open]", _tap("#choices button"), "login.js login"),
    Place("recordings", "recordings", ".recording"),
    Place("recording", _RECORDING, ".replay-players li"),
    Place("deleting", _RECORDING, "#sheet .danger", _tap("#view-recordings .danger"), "recording_desk.js deleting"),
    Place("statistics", "statistics", "#view-statistics tbody tr:visible"),
    Place("game-statistics", "statistics/bones.mcap", ".plot .line"),
)
ENDED = (
    Place("count", "table", "#sheet button.primary", _tap("[data-press=count]"), "count_hand.js countHand"),
    Place("counted", "table", "#sheet .hand-tile", _count),
)
RESTING = (
    Place("lobby", "table", "#lobby a"),
    Place("match", "match", "#option-hand-wrong", _all_open),
    Place("settings", "settings", "#keep-settings"),
    Place("owner", "settings", "#owner-password", _owner, "owner.js enterAsOwner"),
    Place("health", "health", "#view-health .finding"),
    Place("parts", "parts", "#see-panel"),
    Place("calibrate", "calibrate", ".earlier button"),
    # The places below need the PIN.
    Place("pairing", "settings", "#sheet .qr", _tap("#pairing"), "pairing.js showCode"),
    Place("panel", "parts", "#panel-knock"),
)
PLACES = (IN_PLAY, ENDED, RESTING)
"""Places of each address of `every_table`."""
_ASK_PIN = ("count", "pairing")


def views_of_page() -> set[str]:
    """Return the views in the scripts, loaded eagerly or lazily. "pair" is left out because it shows nothing."""
    found = (names for path in _SCRIPTS for names in _VIEW.findall(path.read_text()))
    return {eager or lazy for eager, lazy in found} - {"pair"}


def sheets_of_page() -> set[str]:
    """Return the functions that open a sheet, as "script function". Shared code in sheet.js does not count."""
    found = set()
    for path in _SCRIPTS:
        function = ""
        for line in path.read_text().splitlines():
            named = _FUNCTION.match(line)
            function = named[1] if named else function
            if _OPENS_SHEET.search(line) and path.name != "sheet.js":
                found.add(f"{path.name} {function}")
    return found


@contextmanager
def every_table(folder: Path, players: tuple[str, ...] = ("Ann", "Ben")) -> Iterator[tuple[str, str, str]]:
    """Yield the addresses of a table in mid-hand with an open question, one at the end of a hand, and an idle one."""
    recordings, state = folder / "recordings", folder / "tallybone"
    recordings.mkdir(parents=True)
    record_game(recordings / "bones.mcap", hands=2, players=players)
    set_password(PASSWORD, state / "owner.json")
    for _ in range(3):
        save_calibration(MEASURED, state / "calibration" / "usb-0.json")
    with (
        served(players=players, recordings=recordings, reader=partial(doubtful, nth=_DOUBTED)) as table,
        served(players=players) as ended,
        at_served_table(folder, panel=True) as resting,
    ):
        table.play(_ITEMS // 2)
        table.mark(_INFERRED)
        table.play(_ITEMS // 2)
        end_hand(ended)
        resting.plugs.show()
        yield table.page.url.rstrip("/"), ended.page.url.rstrip("/"), resting.url.rstrip("/")


def walk(viewer: Viewer, places: tuple[Place, ...]) -> Iterator[Place]:
    """Open each place and yield it while it is shown. Enter the PIN when asked."""
    page = viewer.page
    for place in places:
        page.evaluate("where => { location.hash = where; }", f"#{place.view}")
        page.locator(f"#view-{place.view.partition('/')[0]}").wait_for()
        place.go(page)
        if place.name in _ASK_PIN:
            viewer.log_in()
        page.locator(place.ready).first.wait_for()
        yield place
        if page.locator("dialog[open]").count():
            page.keyboard.press("Escape")
            page.locator("dialog[open]").wait_for(state="hidden")
