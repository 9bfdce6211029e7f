"""Tests of the page's languages and speech in a real browser."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator

import pytest

pytest.importorskip("playwright", reason='playwright is not installed: pip install ".[browser]"')
if shutil.which("chromium") is None and shutil.which("chromium-browser") is None:
    pytest.skip("there is no Chromium: sudo apt install chromium", allow_module_level=True)

from tests.tallybone.web.browsers import AXE, Browser, Viewer, served, tiles_of, viewing, wait_for_tiles
from tests.tallybone.web.hand_photos import end_hand
from tests.tallybone.web.true_table import TrueTable

pytestmark = pytest.mark.slow

PHONE, TABLET, TELEVISION, NARROW = (360, 740), (1024, 768), (1920, 1080), (320, 568)
LANGUAGES = ("es", "pt", "fr")
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


def test_the_page_speaks_the_language_of_the_browser(browser: Browser, table: TrueTable) -> None:
    with viewing(browser, table, locale="es-MX") as viewer:
        assert viewer.page.evaluate("document.documentElement.lang") == "es"
        assert "Jugadas de esta mano" in viewer.page.locator("#plays-title").inner_text()
        assert re.search("juega|roba", viewer.page.locator("#last .what").inner_text())
        assert viewer.complaints == []
    with viewing(browser, table, locale="de-DE") as viewer:
        assert viewer.page.evaluate("document.documentElement.lang") == "en"


def test_a_language_that_is_chosen_is_kept(browser: Browser, table: TrueTable) -> None:
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


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_on_the_page_stays_english(browser: Browser, table: TrueTable, language: str) -> None:
    with viewing(browser, table) as english, viewing(browser, table, path=f"/?lang={language}") as other:
        both = [texts_of(viewer) for viewer in (english, other)]
    same = {text for text in both[0] & both[1] if not any(part in text for part in ("Ann", "Ben", "Tallybone"))}
    # Words that are equal in both languages, the languages' own names, and initials.
    assert same <= {
        "An",
        "Be",
        "English",
        "Español",
        "Português",
        "Français",
        "✕",
        "PIN",
        "Against the rules",
        "Table",
        "Points",
        "Scores",
    }


def texts_of(viewer: Viewer) -> set[str]:
    """Return the texts and labels with letters, including those of the sheets."""
    viewer.page.locator("#more").click()
    texts = viewer.page.evaluate(
        """() => [...document.querySelectorAll("body :not(noscript)")].flatMap((element) => [
          ...[...element.childNodes].filter((node) => node.nodeType === 3).map((node) => node.textContent.trim()),
          element.getAttribute("aria-label") ?? "", element.getAttribute("alt") ?? ""])"""
    )
    return {text for text in texts if any(letter.isalpha() for letter in text)}


@pytest.mark.parametrize("language", LANGUAGES)
def test_longer_words_still_fit(browser: Browser, table: TrueTable, language: str) -> None:
    for size, path in ((NARROW, "/?"), (PHONE, "/?"), (TELEVISION, "/?display&")):
        with viewing(browser, table, size, path=f"{path}lang={language}") as viewer:
            assert viewer.page.evaluate("document.documentElement.scrollWidth") <= size[0]
            cut = "(element) => element.scrollWidth > element.clientWidth + 1"
            keys = "[...document.querySelectorAll('#controls button')]"
            assert viewer.page.evaluate(f"{keys}.filter({cut}).map((element) => element.innerText)") == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_axe_finds_nothing_in_any_language(browser: Browser, table: TrueTable, language: str) -> None:
    with viewing(browser, table, path=f"/?lang={language}") as viewer:
        viewer.page.evaluate(AXE.read_text())
        assert viewer.page.evaluate("axe.run().then(found => found.violations.map(violation => violation.id))") == []


def test_nothing_is_spoken_until_somebody_switches_it_on(browser: Browser) -> None:
    with served() as table, viewing(browser, table, script=SYNTHESIZER) as viewer:
        table.play(5)
        viewer.page.locator("#last .what", has_text="plays").wait_for()
        assert spoken_texts(viewer) == []


def test_points_and_turns_are_spoken_in_order_by_a_voice_of_the_language(browser: Browser) -> None:
    with served() as table, viewing(browser, table, path="/?lang=es", script=SYNTHESIZER) as viewer:
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
