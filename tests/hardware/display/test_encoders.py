"""Tests of encoding pages: any text is shown correctly and never executed as a command."""

from __future__ import annotations

import random

import pytest

from hardware.display.drivers.segment import SegmentDriver
from hardware.display.drivers.terminal import TerminalDriver
from hardware.display.page import DisplayLook, DisplayPage, ScoreLine, paced
from lab.emulate.displays import Firmware
from tests.hardware.display.parts import KINDS, Kind, S, on_no_port, send
from tests.hardware.display.texts import HOSTILE, hostile_points, hostile_text


def _hostile_page(rng: random.Random) -> DisplayPage:
    scores = tuple(
        ScoreLine(hostile_text(rng), hostile_points(rng), is_turn=rng.random() < 0.3, is_provisional=rng.random() < 0.3)
        for _ in range(rng.randrange(7))
    )
    return DisplayPage(scores, hostile_text(rng))


def _texts_of(kind: Kind, shown: DisplayLook) -> str:
    """Return the displayed text without the positions of the dots."""
    return shown[0] if isinstance(kind.part, SegmentDriver) else "".join(shown)


def _show_all(kind: Kind, count: int, seed: int) -> Firmware:
    """Show pages one after the other, partly as changes and partly from an unknown state."""
    rng, emulated = random.Random(seed), kind.emulate()
    emulated.power_on(0)
    t_ns, before = S, None
    for index in range(count):
        if index < len(HOSTILE):
            page = DisplayPage((ScoreLine(HOSTILE[index], index),) * 2, HOSTILE[-1 - index])
        else:
            page = _hostile_page(rng)
        look = kind.part.look(page, rng.randrange(20) * S)
        t_ns = send(kind.part, emulated, look, before if rng.random() < 0.8 else None, t_ns)
        shown = emulated.screen(t_ns)
        assert shown == look, page
        assert set(_texts_of(kind, shown)) <= kind.permitted, page
        before = look
    return emulated


def _assert_no_commands(emulated: Firmware) -> None:
    # The driver sends bkcmd=2 to resynchronise a Nextion. It is not stored.
    assert set(emulated.commands) <= {"bkcmd=2"}
    assert emulated.eeprom_writes == 0
    assert emulated.lost_bytes == 0


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
@pytest.mark.parametrize("count", [100, pytest.param(3_000, marks=pytest.mark.slow)])
def test_no_text_injects_a_command_or_writes_eeprom(kind: Kind, count: int) -> None:
    _assert_no_commands(_show_all(kind, count, seed=3))


@pytest.mark.parametrize(
    ("index", "text"), [(0, b"|\x0b"), (2, b"z\x05"), (4, b'n0.txt=""\xff\xff\xffdims=0\xff\xff\xff')]
)
def test_the_emulators_execute_commands_in_raw_text(index: int, text: bytes) -> None:
    emulated = KINDS[index].emulate()
    emulated.power_on(0)
    emulated.receive(text, S)
    emulated.screen(2 * S)
    assert emulated.eeprom_writes > 0
    assert emulated.commands


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_only_changes_are_sent(kind: Kind) -> None:
    part = kind.part
    t_ns = 2 * S if kind.name == "segment in turns" else 0
    old = part.look(DisplayPage((ScoreLine("Ann", 35), ScoreLine("Ben", 40))), t_ns)
    new = part.look(DisplayPage((ScoreLine("Ann", 35), ScoreLine("Ben", 41))), t_ns)
    assert part.encode(old, old) == ()
    assert new != old
    assert len(b"".join(burst.data for burst in part.encode(new, old))) < 16


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_resync_recovers_from_a_page_cut_at_any_byte(kind: Kind) -> None:
    part = kind.part
    first = part.look(DisplayPage((ScoreLine("Ann", 35), ScoreLine("Ben", 40, is_turn=True)), "Ann +5"), 0)
    second = part.look(DisplayPage((ScoreLine("Bo", 1, is_turn=True), ScoreLine("Al", 222)), "Al +9"), 0)
    data = b"".join(burst.data for burst in part.encode(first, None))
    for cut in range(len(data) + 1):
        emulated = kind.emulate()
        emulated.power_on(0)
        emulated.receive(data[:cut], S)
        t_ns = send(part, emulated, second, None, 2 * S)
        assert emulated.screen(t_ns) == second, cut
        _assert_no_commands(emulated)


@pytest.mark.parametrize(
    ("index", "partial"),
    [(1, b"|"), (1, b"|+"), (1, b"|+\x01"), (1, b"| "), (1, b"| 1234567"), (1, b"|\x18"), (2, b"z")],
)
def test_the_second_page_is_right_after_a_partial_command(index: int, partial: bytes) -> None:
    part, emulated = KINDS[index].part, KINDS[index].emulate()
    look = part.look(DisplayPage((ScoreLine("Ann", 35), ScoreLine("Ben", 40, is_turn=True)), "Ann +5"), 0)
    emulated.power_on(0)
    emulated.receive(partial, S)
    t_ns = send(part, emulated, look, None, 2 * S)
    t_ns = send(part, emulated, look, None, t_ns + S)
    assert emulated.screen(t_ns) == look


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
@pytest.mark.parametrize("baud", [2400, 9600, 115200])
def test_buffers_never_overflow(kind: Kind, baud: int) -> None:
    rng = random.Random(baud)
    part = on_no_port(kind.part.driver.replace("20x4", "16x2"), baud=baud)
    emulated = type(kind.emulate())(baud=baud)  # type: ignore[call-arg] # all have a baud
    emulated.power_on(0)
    t_ns = S
    for _ in range(200):
        look = part.look(_hostile_page(rng), 0)
        t_ns = send(part, emulated, look, None, t_ns)
    assert emulated.screen(t_ns) == look
    assert emulated.lost_bytes == 0


def test_without_pacing_a_serlcd_loses_bytes_during_a_message() -> None:
    kind = KINDS[1]
    emulated = kind.emulate()
    emulated.power_on(0)
    look = kind.part.look(
        DisplayPage((ScoreLine("Ann", 35),), "a page that is longer than the sixty-four bytes of the ring"), 0
    )
    data = b"".join(piece for piece, _ in paced(kind.part.encode(look, None), kind.part.wire))
    emulated.receive(b"|," + data, S)  # the version is shown for half a second
    emulated.screen(3 * S)
    assert emulated.lost_bytes > 0


def test_the_reset_byte_of_a_booting_serlcd_is_never_sent() -> None:
    part = on_no_port("serlcd-20x4", backlight=[0x12, 255, 0x12])
    rng = random.Random(5)
    sent = b"".join(burst.data for burst in part.setup)
    for _ in range(300):
        sent += b"".join(burst.data for burst in part.encode(part.look(_hostile_page(rng), 0), None))
    assert 0x12 not in sent
    assert sent[:5] == bytes((0x7C, 0x2B, 0x13, 255, 0x13))


def test_the_bytes_of_a_page_match_the_manuals_with_a_mark_for_provisional_points() -> None:
    page = DisplayPage((ScoreLine("Ann", 35), ScoreLine("Ben", 128, is_turn=True)), "Hi")
    by_name = {kind.name: b"".join(b.data for b in kind.part.encode(kind.part.look(page, 0), None)) for kind in KINDS}
    assert by_name["serlcd-16x2"] == b"\xfe\x80 \xfe\x80 Ann  35>Ben 128\xfe\xc0Hi              "
    assert by_name["segment of a seat"] == b" \x79\x00 128\x77\x08"
    assert by_name["segment in turns"] == b"1\x79\x001 35\x77\x01"
    assert b'n1.txt="Ben"\xff\xff\xffp1.txt="128"\xff\xff\xfft1.txt=">"\xff\xff\xff' in by_name["nextion"]
    page = DisplayPage(
        (ScoreLine("Ann", 35, is_provisional=True), ScoreLine("Ben", 128, is_turn=True, is_provisional=True))
    )
    by_name = {kind.name: b"".join(b.data for b in kind.part.encode(kind.part.look(page, 0), None)) for kind in KINDS}
    assert b" Ann         *35" in by_name["serlcd-16x2"]
    assert by_name["segment of a seat"] == b" \x79\x00 128\x77\x28"
    assert by_name["segment in turns"] == b"1\x79\x001 35\x77\x21"
    assert b'p1.txt="~128"' in by_name["nextion"]
    assert TerminalDriver(driver="terminal", url="port").look(page, 0) == (
        "  Ann                     ~35",
        "> Ben                    ~128",
    )
