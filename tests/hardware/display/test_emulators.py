"""The emulators do what the firmware does, its traps included."""

from __future__ import annotations

from hardware.display.emulation.nextion import EmulatedNextion
from hardware.display.emulation.segment import EmulatedSegment
from hardware.display.emulation.serlcd import EmulatedSerLcd
from tests.hardware.display.parts import S


def _serlcd() -> EmulatedSerLcd:
    emulated = EmulatedSerLcd(16, 2)
    emulated.power_on(0)
    return emulated


def _segment() -> EmulatedSegment:
    emulated = EmulatedSegment()
    emulated.power_on(0)
    return emulated


def test_a_serlcd_shows_its_splash_and_hears_nothing_for_half_a_second() -> None:
    emulated = _serlcd()
    emulated.receive(b"lost", 0)
    assert emulated.screen(S // 10)[0] == "SparkFun OpenLCD"
    assert emulated.screen(S) == (" " * 16, " " * 16)


def test_a_serlcd_prints_where_the_cursor_was_set_and_clears() -> None:
    emulated = _serlcd()
    emulated.receive(b"Hello\xfe\xc3you", S)
    assert emulated.screen(2 * S) == ("Hello           ", "   you          ")
    emulated.receive(b"|-||", 2 * S)
    assert emulated.screen(3 * S)[0] == "|               "


def test_a_setting_of_a_serlcd_shows_a_message_for_half_a_second_and_writes_eeprom() -> None:
    emulated = _serlcd()
    emulated.receive(b"|\x0d", S)
    assert emulated.screen(S + S // 4)[0].startswith("Setting")
    assert emulated.eeprom_writes == 1
    assert emulated.screen(2 * S)[0] == " " * 16


def test_a_colour_of_a_serlcd_is_kept_without_power() -> None:
    emulated = _serlcd()
    emulated.receive(b"|+\x01\x02\x03", S)
    emulated.screen(2 * S)
    emulated.power_on(3 * S)
    assert emulated.backlight == (1, 2, 3)
    assert emulated.eeprom_writes == 3


def test_a_blank_after_a_lost_byte_makes_a_serlcd_swallow_eight_and_store_them() -> None:
    emulated = _serlcd()
    emulated.receive(b"| 12345678ok", S)
    assert emulated.screen(2 * S)[0] == "ok              "
    assert emulated.eeprom_writes == 8


def test_a_serlcd_drops_what_does_not_fit_into_its_ring() -> None:
    emulated = _serlcd()
    emulated.receive(b"|," + b"x" * 100, S)
    assert emulated.screen(3 * S)[0] == "x" * 16
    assert 30 <= emulated.lost_bytes <= 40


def test_a_segment_display_starts_with_1234_and_wraps_after_four() -> None:
    emulated = _segment()
    assert emulated.screen(S) == ("1234", "")
    emulated.receive(b" 12856", S)
    assert emulated.screen(2 * S) == ("5628", "")


def test_decimals_cursor_and_clear_of_a_segment_display() -> None:
    emulated = _segment()
    emulated.receive(b"\x76\x79\x02\x05\x77\x15", S)
    assert emulated.screen(2 * S) == ("  5 ", "024")


def test_brightness_of_a_segment_display_writes_eeprom_every_time_the_same_too() -> None:
    emulated = _segment()
    emulated.receive(b"\x7a\x32" * 3, S)
    emulated.screen(2 * S)
    assert (emulated.brightness, emulated.eeprom_writes) == (50, 3)


def test_a_lost_byte_lets_a_segment_display_eat_the_next_even_a_clear() -> None:
    emulated = _segment()
    emulated.receive(b"\x79\x76\x39", S)
    assert emulated.screen(2 * S) == ("9234", "")


def test_a_nextion_obeys_at_the_terminator_and_says_what_was_wrong() -> None:
    emulated = EmulatedNextion()
    emulated.power_on(0)
    assert emulated.replies() == b""
    emulated.screen(S)
    assert emulated.replies() == b"\x00\x00\x00\xff\xff\xff\x88\xff\xff\xff"
    emulated.receive(b'n0.txt="Ann"', S)
    assert emulated.screen(2 * S)[0] == ""
    emulated.receive(b'\xff\xff\xffq9.txt="x"\xff\xff\xffrubbish\xff\xff\xffsendme\xff\xff\xff', 2 * S)
    assert emulated.screen(3 * S)[0] == "Ann"
    assert emulated.replies() == b"\x1a\xff\xff\xff\x00\xff\xff\xff\x66\x00\xff\xff\xff"


def test_a_nextion_says_that_its_buffer_overflowed() -> None:
    emulated = EmulatedNextion(baud=921_600)
    emulated.power_on(0)
    emulated.screen(S)
    emulated.replies()
    emulated.receive(b'n0.txt="a"\xff\xff\xff' * 200, S)
    assert emulated.lost_bytes > 0
    assert emulated.replies().startswith(b"\x24\xff\xff\xff")
