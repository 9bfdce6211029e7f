"""Tests of docs/start/wiring.md: the example is valid, and drawings and text match it."""

from __future__ import annotations

import re
from itertools import combinations

import pytest

from docs.drawings.header import GPIO_AT, header_sheet
from docs.drawings.sheet import Extent, Sheet
from docs.drawings.wiring import EXAMPLE, FOLDER, drawings, example_pins
from hardware.part import pins_used
from tallybone.store.table_file import load_table
from tests.hardware.table.reading import read_hardware

PIN_OF = {gpio: 2 * row + 1 + side for row, two in enumerate(GPIO_AT) for side, gpio in enumerate(two)}
WIRING = (FOLDER / "start" / "wiring.md").read_text(encoding="utf-8")


def test_the_example_has_every_kind_of_part() -> None:
    hardware = load_table(EXAMPLE).hardware
    assert [leds.driver for leds in hardware.leds] == ["single"]
    assert hardware.buttons is not None
    assert hardware.buttons.driver == "gpio"
    assert hardware.knock is not None
    assert hardware.knock.driver == "microphone"
    assert [display.driver for display in hardware.displays] == ["serlcd-20x4"]


def test_the_text_lists_the_pins_of_the_example() -> None:
    rows = re.findall(r"^\| ((?:LED|button) [\w ]+) \| (\d+) \| (\d+) \|", WIRING, flags=re.MULTILINE)
    assert {(part, int(gpio), int(pin)) for part, gpio, pin in rows} == {
        (part, gpio, PIN_OF[gpio]) for gpio, part in example_pins().items()
    }
    assert len(rows) == 13


def test_the_header_matches_a_raspberry_pi_and_the_drawings() -> None:
    assert {PIN_OF[gpio] for gpio in (2, 3, 4, 17)} == {3, 5, 7, 11}
    assert {gpio: PIN_OF[gpio] for gpio in (14, 18, 10, 8, 0, 1, 12, 26, 21)} == {
        14: 8, 18: 12, 10: 19, 8: 24, 0: 27, 1: 28, 12: 32, 26: 37, 21: 40,
    }  # fmt: skip
    assert sorted(gpio for gpio in PIN_OF if gpio is not None) == list(range(28))
    named = [pair for sheet in drawings().values() for pair in re.findall(r"GPIO (\d+) \(pin (\d+)\)", sheet.svg())]
    assert len(named) == 13
    assert [int(pin) for _, pin in named] == [PIN_OF[int(gpio)] for gpio, _ in named]
    drawn = header_sheet({21: "button bell"}).svg()
    assert "button bell" in drawn
    assert "LED 1" not in drawn


@pytest.mark.parametrize(
    ("row", "part"),
    [
        ("strip", {"leds": [{"driver": "strip", "count": 8, "spi": "0.0"}]}),
        ("MCP3008", {"knock": {"driver": "piezo-spi", "spi": "0.0"}}),
        ("MCP3008 beside a strip", {"knock": {"driver": "piezo-spi", "spi": "1.0"}}),
        ("I2S microphone", {"knock": {"driver": "microphone", "wire": "i2s"}}),
        ("display on the pins", {"displays": [{"driver": "segment", "url": "/dev/serial0"}]}),
    ],
)
def test_the_text_lists_the_pins_of_a_bus(row: str, part: dict[str, object]) -> None:
    taken = sorted(use.pin for use in pins_used(read_hardware(part).parts))
    (row_pins,) = re.findall(rf"^\| {row} \|.*\| (\d+)(?: to |, )(\d+)[^|]*\|$", WIRING, flags=re.MULTILINE)
    assert taken == list(range(int(row_pins[0]), int(row_pins[1]) + 1))


@pytest.mark.parametrize("name", drawings())
def test_drawings_are_current_and_their_texts_do_not_overlap(name: str) -> None:
    assert (FOLDER / name).read_text(encoding="utf-8") == drawings()[name].svg(), "run python -m docs.drawings"
    assert f"(../{name})" in WIRING
    sheet = drawings()[name]
    assert len(sheet.extents) > 5
    assert overlapping(sheet) == []


def overlapping(sheet: Sheet) -> list[tuple[str, str]]:
    """Return pairs of overlapping texts."""
    found = [(a.text, b.text) for a, b in combinations(sheet.extents, 2) if a.overlaps(b)]
    return found + [(a.text, "the edge") for a in sheet.extents if not fits(a, sheet)]


def fits(extent: Extent, sheet: Sheet) -> bool:
    return extent.left >= 0 and extent.top >= 0 and extent.right <= sheet.width and extent.bottom <= sheet.height


def test_overlapping_texts_are_found() -> None:
    sheet = Sheet(100, 40, "two texts")
    sheet.text((10, 20), "first")
    sheet.text((30, 24), "second")
    sheet.text((90, 20), "third")
    assert overlapping(sheet) == [("first", "second"), ("third", "the edge")]
