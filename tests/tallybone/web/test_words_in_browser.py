"""Tests of words, languages, signs and speech of the page in a real browser."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from engine import profile
from tests.tallybone.web.browsers import Browser, Viewer, WebSocketRoute, served, tiles_of, viewing, wait_for_tiles
from tests.tallybone.web.hand_photos import end_hand
from tests.tallybone.web.true_table import TrueTable

pytestmark = pytest.mark.slow

Snapshot = dict[str, Any]
NAMES = ("Bartholomew", "Ann")
WRONG = "Bartholomew knocks, but it is the turn of Ann, who can play"
TELEVISION = (1920, 1080)
# A fake synthesizer that records its input and has the voices of a common phone.
SYNTHESIZER = """
window.spoken = [];
const voices = [["en-GB", true], ["es-ES", false], ["es-MX", true], ["pt_BR", true]].map(
  ([lang, localService]) => ({ lang, localService, name: lang }));
window.SpeechSynthesisUtterance = class { constructor(text) { this.text = text; } };
Object.defineProperty(window, "speechSynthesis", { value: {
  getVoices: () => voices,
  cancel: () => window.spoken.push("silence"),
  speak: (utterance) => window.spoken.push([utterance.text, utterance.lang, utterance.voice && utterance.voice.lang]),
}});
"""


# A fake of WebAudio that records the frequencies of notes, and runs after the first touch.
AUDIO = """
window.notes = [];
window.AudioContext = class {
  constructor() { this.state = "suspended"; this.currentTime = 0; }
  resume() { this.state = "running"; }
  createGain() {
    return { gain: { setValueAtTime() {}, exponentialRampToValueAtTime() {} }, connect: (other) => other };
  }
  createOscillator() {
    const frequency = {};
    return { frequency, connect: (other) => other, start: () => window.notes.push(frequency.value), stop() {} };
  }
};
"""


def show_edited(viewer: Viewer, edit: Callable[[Snapshot], None]) -> None:
    """Load the page again, and apply *edit* to each snapshot before the page gets it."""

    def through(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()

        def pass_on(message: str | bytes) -> None:
            said = json.loads(message)
            if "match" in said:
                edit(said)
            socket.send(json.dumps(said))

        server.on_message(pass_on)

    viewer.page.route_web_socket("**/api/v1/live?*", through)
    viewer.page.reload(wait_until="domcontentloaded")
    viewer.page.locator("html[data-link=live]").wait_for(state="attached")


def test_an_action_against_the_rules_without_a_tile_shows_its_words_and_another_reason(browser: Browser) -> None:
    drawn, reason = "Bartholomew draws a tile from the boneyard", "Ann can play, and it is her turn"
    with served(players=NAMES) as table, viewing(browser, table, (360, 700)) as viewer:
        table.play(6)
        row = viewer.page.locator("#play-list .is-irregular")
        for kind, text, irregular in (("knock", WRONG, WRONG), ("draw", drawn, reason)):
            action = {"kind": kind, "pips": None, "points": 0, "text": text, "irregular": irregular}
            show_edited(viewer, lambda snapshot, action=action: snapshot["plays"][-1].update(action))  # type: ignore[misc]
            row.wait_for()
            if kind == "knock":
                box = row.bounding_box()
                assert row.inner_text().strip() == WRONG, "one sentence"
                assert box is not None
                assert box["height"] < 90, "three lines at most"
        boxes = [row.locator(part).bounding_box() for part in (".why", ".what")]
        assert all(box is not None and box["width"] > 200 for box in boxes), "both below each other"


def test_the_button_of_a_message_is_not_broken(browser: Browser) -> None:
    with served(players=NAMES) as table, viewing(browser, table, (360, 700)) as viewer:
        table.play(6)
        wait_for_tiles(viewer, 3)
        viewer.press("undo")
        viewer.log_in()
        viewer.page.locator("#toast p bdi").evaluate(f"one => one.textContent = {json.dumps(WRONG)}")
        lines = (
            "one => { const all = document.createRange(); all.selectNodeContents(one);"
            " return all.getClientRects().length }"
        )
        assert viewer.page.locator("#toast button").evaluate(lines) == 1


@pytest.mark.parametrize(("part", "choice", "named"), [("tile", "3", "5-3"), ("played", "Ann", "Ann: 5-1")])
def test_a_correction_names_what_the_play_is_now(browser: Browser, part: str, choice: str, named: str) -> None:
    with served(players=NAMES) as table, viewing(browser, table) as viewer:
        table.play(5)
        wait_for_tiles(viewer, 2)
        viewer.page.locator("#play-list .play", has_text="5-1").click()
        was = viewer.page.locator("#sheet-title").inner_text()
        if part == "tile":
            viewer.page.locator("#sheet .numbers").nth(1).get_by_role("button", name=choice, exact=True).click()
        else:
            other = next(name for name in NAMES if not was.startswith(name))
            named = f"{other}: 5-1"
            viewer.page.locator("#sheet .part", has_text="Who played it?").get_by_role("button", name=other).click()
        viewer.log_in()
        messages = viewer.toast()
        assert messages.startswith("Corrected: ")
        assert messages.endswith(f"{named}.")


def test_free_arms_of_a_starter_have_a_badge_and_games_their_proper_names(browser: Browser) -> None:
    with served(rules=profile("allfives")) as table, viewing(browser, table) as viewer:
        assert viewer.page.locator("#game").inner_text() == "All Fives to 100"
    rules, players = profile("super"), ("Ann", "Ben", "Cid", "Dee")
    with served(rules=rules, players=players) as table, viewing(browser, table) as viewer:
        table.play(6)
        game = table.live.session.state.game
        assert game is not None
        starter = game.layout.nodes[0]
        free = [end for end in game.layout.ends if end.spot.host == starter.id]
        assert len(free) > 1
        viewer.page.locator("#ends text", has_text=f"{starter.inner}×{len(free)}").wait_for()


def test_a_television_shows_whole_tiles_that_are_not_accepted_yet(browser: Browser) -> None:
    def wait(snapshot: Snapshot) -> None:
        """Lay a row of waiting tiles after the rightmost tile, one of them in a hand far away."""
        tiles = snapshot["layout"]["tiles"]
        right = max(corner[0] for tile in tiles for corner in tile["corners_px"])
        x, y = right + 60, tiles[0]["corners_px"][0][1]
        shown = [
            [(x + 110 * at, y), (x + 110 * at + 82, y), (x + 110 * at + 82, y + 41), (x + 110 * at, y + 41)]
            for at in range(4)
        ]
        far = [[(px, py + 900) for px, py in shown[0]]]
        snapshot["layout"]["waiting"] = [
            {"pips": [6, at], "corners_px": corners} for at, corners in enumerate(shown + far)
        ]

    with served() as table, viewing(browser, table, (1920, 1080), path="/?display") as viewer:
        viewer.page.emulate_media(reduced_motion="reduce")
        table.play(6)
        show_edited(viewer, wait)
        viewer.page.locator("#waiting .tile").nth(3).wait_for()
        felt, *tiles = viewer.page.evaluate(
            "[document.querySelector('#layout-view'), ...document.querySelectorAll('#waiting .ivory')]"
            ".map((one) => one.getBoundingClientRect()).map((box) => [box.left, box.right, box.top, box.bottom])"
        )
        assert len(tiles) == 4
        assert all(
            felt[0] < left and right < felt[1] and felt[2] < top and bottom < felt[3]
            for left, right, top, bottom in tiles
        )


@pytest.mark.parametrize("path", ["/", "/?display"])
def test_a_note_after_the_match_does_not_replace_its_winner(browser: Browser, path: str) -> None:
    def end(snapshot: Snapshot) -> None:
        snapshot["match"].update(over=True, winner=0, phase="match_over")
        won = {"id": 98, "t_ns": 1, "text": "Ann wins the match", "kind": "played", "seat": 0, "scene": None}
        note = {**won, "id": 99, "text": "the video has ended", "kind": "note", "seat": None}
        snapshot["messages"] = [note, won, *snapshot["messages"]]

    with served() as table, viewing(browser, table, path=path) as viewer:
        table.play(6)
        show_edited(viewer, end)
        viewer.page.locator("#told", has_text="Ann wins the match").wait_for()


def test_times_in_english_follow_the_region_of_the_viewer(browser: Browser) -> None:
    script = (
        "Date = class extends Date {"
        " constructor(...given) { super(...(given.length ? given : ['2026-11-28T21:05:00'])) } };"
    )
    with served() as table:
        for locale, shown in (("en-US", "9:05 PM"), ("en-GB", "21:05"), ("de-DE", "21:05")):
            path = "/?display&lang=en"
            with viewing(browser, table, TELEVISION, path=path, locale=locale, script=script) as viewer:
                clock = viewer.page.locator("#clock")
                clock.wait_for(state="attached")
                assert str(clock.text_content()).replace("\u202f", " ") == shown


def play_slowly(table: TrueTable, count: int) -> None:
    """Play *count* items, with pauses long enough for viewers to receive each separately."""
    for _ in range(count):
        table.play(1)
        table.ended.wait(0.1)


@pytest.fixture(scope="module", name="table")
def a_table_in_play() -> Iterator[TrueTable]:
    with served() as table:
        table.play(14)
        yield table


def test_a_chosen_language_is_kept_and_otherwise_that_of_the_browser(browser: Browser, table: TrueTable) -> None:
    with viewing(browser, table, locale="es-MX") as viewer:
        assert viewer.page.evaluate("document.documentElement.lang") == "es"
        assert "Jugadas de esta mano" in viewer.page.locator("#plays-title").inner_text()
        assert re.search("juega|roba", viewer.page.locator("#last .what").inner_text())
        assert viewer.complaints == []
    with viewing(browser, table, locale="de-DE") as viewer:
        assert viewer.page.evaluate("document.documentElement.lang") == "en"
    with viewing(browser, table) as viewer:
        page = viewer.page
        page.locator("[data-language=fr]").click()
        page.locator("html[lang=fr][data-link=live]").wait_for(state="attached")
        assert page.locator("[data-language=fr]").get_attribute("aria-pressed") == "true"
        assert re.search("joue|pioche", page.locator("#last .what").inner_text())
        page.reload()
        page.locator("html[lang=fr][data-link=live]").wait_for(state="attached")


def test_simultaneous_viewers_each_use_their_own_language(browser: Browser) -> None:
    with (
        served() as table,
        viewing(browser, table, path="/?lang=pt") as phone,
        viewing(browser, table, path="/?display&lang=fr", size=TELEVISION) as television,
    ):
        table.play(7)
        phone.page.locator("#last .what", has_text="joga").wait_for()
        television.page.locator("#last .what", has_text="joue").wait_for()
        wait_for_tiles(phone, tiles_of(table))
        phone.press("undo")
        phone.log_in()
        assert phone.toast() == "Desfeito: 5-2 de Ben."


def test_points_and_turns_are_spoken_in_order_by_a_voice_of_the_language(browser: Browser) -> None:
    with served() as table, viewing(browser, table, path="/?lang=es", script=SYNTHESIZER) as viewer:
        play_slowly(table, 4)
        viewer.page.locator("#last .what", has_text="juega").wait_for()
        assert spoken_texts(viewer) == [], "until somebody switches it on"
        viewer.page.locator("#voice").check()
        play_slowly(table, 8)
        viewer.page.wait_for_function("() => window.spoken.filter((entry) => entry !== 'silence').length >= 4")
        spoken = spoken_texts(viewer)
        assert all(before == "silence" for before in spoken[0::2]), "newer speech cancels older speech"
        assert [(utterance[1], utterance[2]) for utterance in spoken[1::2]] == [("es", "es-MX")] * (len(spoken) // 2)
        texts = [utterance[0] for utterance in spoken[1::2]]
        assert any("anota" in text for text in texts)
        assert all(" = " not in text for text in texts), "sums are not spoken"
        assert any(text.endswith((": juega o roba", ": juega o pasa")) for text in texts)
        viewer.page.locator("#voice").uncheck()
        assert spoken_texts(viewer)[-1] == "silence"
        count = len(spoken_texts(viewer))
        table.play(2)
        viewer.page.wait_for_timeout(500)
        assert len(spoken_texts(viewer)) == count


def test_sounds_are_off_until_they_are_switched_on(browser: Browser) -> None:
    with served() as table, viewing(browser, table, script=AUDIO) as viewer:
        page = viewer.page
        play_slowly(table, 4)
        page.locator("#last .what", has_text="plays").wait_for()
        assert page.evaluate("window.notes") == []
        page.locator("#sound").check()
        assert page.evaluate("window.notes") == [659, 988], "a sample"
        play_slowly(table, 8)
        page.wait_for_function("() => window.notes.length >= 6")
        assert set(page.evaluate("window.notes")) == {196, 659, 988}, "plays, and plays with points"
        page.reload()
        assert page.locator("#sound").is_checked()
        page.locator("#sound").uncheck()
        count = len(page.evaluate("window.notes"))
        play_slowly(table, 2)
        page.wait_for_timeout(300)
        assert len(page.evaluate("window.notes")) == count


def test_the_end_of_a_hand_has_its_own_sound_on_a_television(browser: Browser) -> None:
    with (
        served() as table,
        viewing(browser, table, TELEVISION, path="/?display&sound", script=AUDIO) as viewer,
    ):
        viewer.page.mouse.click(5, 5)
        end_hand(table)
        viewer.page.wait_for_function("() => window.notes.includes(784)")
        assert viewer.page.evaluate("window.notes").count(523) == 1, "each exposed hand reports the end again"


def spoken_texts(viewer: Viewer) -> list[str | list[str]]:
    found: list[str | list[str]] = viewer.page.evaluate("window.spoken")
    return found


def test_without_a_voice_of_the_language_the_browser_chooses(browser: Browser) -> None:
    with served() as table, viewing(browser, table, path="/?lang=fr", script=SYNTHESIZER) as viewer:
        viewer.page.locator("#voice").check()
        play_slowly(table, 4)
        viewer.page.wait_for_function("() => window.spoken.length >= 2")
        assert spoken_texts(viewer)[1][1:] == ["fr", None]
