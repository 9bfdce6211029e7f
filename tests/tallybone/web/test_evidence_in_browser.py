"""Tests of evidence in a real browser: crop, sum and rule of plays, questions and recorded steps."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

pytest.importorskip("playwright", reason='playwright is not installed: pip install ".[browser]"')
if shutil.which("chromium") is None and shutil.which("chromium-browser") is None:
    pytest.skip("there is no Chromium: sudo apt install chromium", allow_module_level=True)

from tallybone.play.recorder import RecordingQuota
from tests.tallybone.web.browsers import Browser, Viewer, viewing
from tests.tallybone.web.conftest import at_table
from tests.tallybone.web.doubts import ASKED_AFTER, doubtful
from tests.tallybone.web.true_table import file_recorder

pytestmark = pytest.mark.slow

PHONE, TELEVISION = (360, 740), (1920, 1080)
RULE = "Rule: a play scores if its count is a multiple of this number: 5"


def wait_for_crop(viewer: Viewer, where: str) -> str:
    """Wait until a crop is drawn and return its URL path."""
    crop = viewer.page.locator(f"{where} .crop")
    crop.wait_for()
    viewer.page.wait_for_function(
        "element => element.complete && element.naturalWidth > 100", arg=crop.element_handle()
    )
    return str(crop.evaluate("element => element.src")).partition("/api/v1/")[2]


def test_plays_of_a_finished_hand_and_its_recording_show_evidence(browser: Browser, tmp_path: Path) -> None:
    recorder = file_recorder(RecordingQuota(tmp_path, 10**9), tmp_path / "a.mcap")
    with at_table(recorder=recorder, hands=2, recordings=tmp_path) as table, viewing(browser, table, PHONE) as viewer:
        while not table.camera.is_done:
            table.play(1)
        viewer.page.locator("#hand-chosen").select_option("1")
        viewer.page.locator("#plays-title", has_text="hand 1").wait_for()
        viewer.page.locator("#play-list .play:has(.tile-icon)", has_text="+5").first.click()
        assert wait_for_crop(viewer, "#sheet").startswith("evidence/")
        count, rule = viewer.page.locator("#sheet figcaption > *").all_inner_texts()
        assert count.endswith("= 5 · +5")
        assert rule == RULE

        recorder.close()
        viewer.page.goto(f"{table.page.url}/#recordings/a.mcap")
        viewer.page.reload()
        viewer.page.locator(".replay-steps .play", has_text="+5").first.click()
        assert wait_for_crop(viewer, ".replay").startswith("recordings/a.mcap/steps/")
        count, rule = viewer.page.locator(".replay figcaption > *").all_inner_texts()
        assert (count[-8:], rule) == ("= 5 · +5", RULE)
        viewer.page.locator(".replay-steps .play").first.click()
        viewer.page.locator(".replay .crop").wait_for(state="detached")
        assert viewer.complaints == []


@pytest.mark.parametrize(("size", "path", "caption"), [(PHONE, "/", 1), (TELEVISION, "/?display", 0)])
def test_an_open_question_shows_its_evidence(browser: Browser, size: tuple[int, int], path: str, caption: int) -> None:
    with at_table(reader=doubtful) as table, viewing(browser, table, size, path=path) as viewer:
        table.play(ASKED_AFTER)
        assert wait_for_crop(viewer, "#question").startswith("evidence/question.jpg?topic=")
        assert viewer.page.locator("#question-tiles figcaption", has_text="Open ends: ").count() == caption
        box, answers = viewer.page.locator("#question .crop").bounding_box(), viewer.page.locator("#choices > *")
        last = answers.last.bounding_box()
        assert box is not None
        assert last is not None
        assert box["height"] <= 0.2 * size[1] + 1
        assert last["y"] + last["height"] <= size[1] or size == PHONE
        assert viewer.complaints == []
