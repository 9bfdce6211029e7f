"""Tests of the guided calibration with a simulated camera and user."""

from __future__ import annotations

import io
import math
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from calibration.lens.lens import Lens, LensSource
from calibration.table.zones import ZoneSource
from tallybone.calibrate.guide.course import GuideSettings
from tallybone.cli.calibrate_guide import PageAt, guide_through
from tallybone.store.calibration_file import Calibration, earlier_path, load_calibration, save_calibration
from tallybone.terminal import Output

LENS = Lens(1280, 720, (1100.0, 1100.0), (639.5, 359.5), source=LensSource.MEASURED, error_px=0.1, views=9)


class Person:
    """A user with a fixed list of keys for each step, who leaves when they are used up."""

    def __init__(self, out: io.StringIO, presses: dict[str, str], patience: int) -> None:
        self._out, self._presses, self._patience = out, dict(presses), patience
        self.is_over = False

    def pressed(self, wait_s: float) -> str:
        step = [line.rpartition(": ")[2] for line in self._out.getvalue().splitlines() if ", step " in line][-1]
        keys = self._presses.get(step, "")
        self._patience -= 1
        if self._patience < 0:
            self.is_over = True
        if not keys or keys[0] == ".":
            self._presses[step] = keys[1:]
            return ""
        self._presses[step] = keys[1:]
        return keys[0]


def guided(
    into: Path,
    presses: dict[str, str],
    source: str = "simulated",
    *,
    microphone: str | None = None,
    clock: Callable[[], int] = time.monotonic_ns,
    patience: int = 400,
) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    settings, keys = GuideSettings(source, into, microphone=microphone), Person(out, presses, patience)
    code = guide_through(
        settings, keys=keys, read_tiles=lambda _: (), clock=clock, output=Output("calibrate", out, err)
    )
    return code, out.getvalue(), err.getvalue()


@pytest.mark.slow
def test_following_the_instructions_completes_the_calibration(tmp_path: Path) -> None:
    into = tmp_path / "c.json"
    code, out, err = guided(into, {"table": "..\n", "zones": ".3.\n", "light": "..\n", "set": "s"}, "simulated:seats=3")
    assert (code, err) == (0, "")
    kept = load_calibration(into)
    assert kept.lens is not None
    # Focal length of the simulated lens at its centre: half a width over the tangent, plus 5 % for its distortion.
    assert kept.lens.focal_px[0] == pytest.approx(640 / math.tan(1.05 / 2) * 1.05, rel=0.01)
    assert kept.lens.error_px is not None
    assert kept.lens.error_px < 0.3
    assert kept.table is not None
    assert math.degrees(kept.table.tilt_rad) == pytest.approx(8, abs=0.3)
    assert kept.zones is not None
    assert (kept.zones.source, len(kept.zones.seats)) == (ZoneSource.MAT, 3)
    assert kept.light is not None
    assert (kept.light.is_held, kept.light.warnings) == (True, ())
    assert (tmp_path / "c" / "zones.png").exists()
    assert f"Saved in {into}, for testing: simulated matches have other tables." in out.replace("\n", "")


def test_a_second_run_continues_with_the_stored_steps(tmp_path: Path) -> None:
    into = tmp_path / "c.json"
    save_calibration(Calibration(LENS), into)
    code, out, _ = guided(into, {"lens": "\n", "table": "..\n", "zones": "q"}, "simulated:mat=no")
    assert code == 0
    kept = load_calibration(into)
    assert kept.lens == LENS
    assert kept.table is not None
    assert kept.zones is None
    assert "lens: unchanged" in out
    assert load_calibration(earlier_path(into, 1)).table is None


def test_skipped_steps_are_not_stored(tmp_path: Path) -> None:
    into = tmp_path / "c.json"
    code, out, _ = guided(into, {"lens": "s", "table": "s", "zones": ".\ns", "light": "s", "set": "s"})
    assert code == 0
    assert not into.exists()
    assert out.count(": skipped\n") == 4  # the last one is in the summary
    assert "Lens: not measured" in out
    assert "Nothing was saved" in out


def test_a_guessed_lens_is_calibrated_again(tmp_path: Path) -> None:
    into = tmp_path / "c.json"
    assert guided(into, {"lens": "s", "table": "..\n", "zones": "q"})[0] == 0
    lens = load_calibration(into).lens
    assert lens is not None
    assert lens.source is LensSource.GUESS
    _, out, _ = guided(into, {"lens": "..q"})
    assert "Hold the printed board" in out


def test_too_few_views_are_refused_with_the_next_instruction(tmp_path: Path) -> None:
    code, out, _ = guided(tmp_path / "c.json", {"lens": "....\n.q"})
    assert code == 0
    assert not (tmp_path / "c.json").exists()
    assert "Next: Tilt the right side of the board" in out


def test_knocks_are_learned_with_a_microphone(tmp_path: Path) -> None:
    into, now_ns = tmp_path / "c.json", [0]

    def clock() -> int:
        now_ns[0] += 40_000_000
        return now_ns[0]

    save_calibration(Calibration(LENS), into)
    presses = {"lens": "\n", "table": "s", "zones": "s", "light": "s", "set": "s", "knock": ".\n.l"}
    code, out, err = guided(into, presses, microphone="simulated", clock=clock, patience=4000)
    assert (code, err) == (0, "")
    kept = load_calibration(into).knock
    assert kept is not None
    assert (kept.knocks, kept.passed) == (20, 0)
    assert kept.found >= 16
    assert "Shuffle the tiles" in out
    assert "Seat 4: knock 5 times" in out


class Typist:
    """A user who types all keys at once."""

    is_over = False

    def __init__(self, typed: str) -> None:
        self._typed = typed

    def pressed(self, wait_s: float) -> str:
        typed, self._typed = self._typed, ""
        return typed


def test_with_a_page_the_guide_shows_its_address_and_runs_until_quit(tmp_path: Path) -> None:
    out, err = io.StringIO(), io.StringIO()
    settings = GuideSettings("simulated", tmp_path / "c.json", asks_always=True)
    page_at, output = PageAt("127.0.0.1:0", "123456"), Output("calibrate", out, err)
    code = guide_through(settings, page_at=page_at, keys=Typist("sssssq"), output=output)
    assert (code, err.getvalue()) == (0, "")
    assert "/#calibrate  PIN 123456" in out.getvalue()
    assert "Calibration of simulated\nq: end" in out.getvalue()
    assert "Nothing was saved" in out.getvalue()


def test_a_page_that_cannot_be_served_or_an_invalid_table_is_an_error(tmp_path: Path) -> None:
    out, err = io.StringIO(), io.StringIO()
    settings = GuideSettings("simulated", tmp_path / "c.json")
    page_at, output = PageAt("eighty"), Output("calibrate", out, err)
    assert guide_through(settings, page_at=page_at, keys=Typist("q"), output=output) == 2
    assert "eighty: expected a port" in err.getvalue()
    code, _, text = guided(tmp_path / "c.json", {}, "simulated:seats=9")
    assert (code, "2 to 4 seats" in text) == (1, True)
