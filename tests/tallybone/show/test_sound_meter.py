"""Tests of the level meter: its text at three widths, marks, and a sentence for each sound."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from hardware.knock.heard import NS_PER_S, ClassifiedSound, Sound
from hardware.knock.metering import MeteredSound
from hardware.knock.signal_quality import FAULT_ADVICE, SignalFault
from tallybone.show.sound_meter import SOUND_WORDS, MeterReading, draw_meter, pass_verdict


def heard(
    kind: Sound,
    ago_s: float = 1.0,
    *,
    sure: float = 0.97,
    above_db: float = 40.0,
    is_clipped: bool = False,
    hit: float = 0.04,
) -> MeteredSound:
    hit = sure if kind is Sound.KNOCK else hit
    sound = ClassifiedSound(
        round((100 - ago_s) * NS_PER_S), None, 0.3, sure, kind, in_row=int(kind is Sound.KNOCK), hit=hit
    )
    return MeteredSound(sound, above_db, is_clipped)


READING = MeterReading(
    "microphone USB",
    now_ns=100 * NS_PER_S,
    started_ns=17 * NS_PER_S,
    level_db=-58.2,
    peak_db=-11.6,
    noise_db=-61.0,
    sounds=(
        heard(Sound.KNOCK, 0.4),
        heard(Sound.NAIL_TIP, 2.0, sure=0.55, above_db=14.0),
        heard(Sound.TILE, 3.1, sure=0.88, above_db=35.0),
        heard(Sound.SLAM, 12.5, sure=0.6, above_db=60.9, is_clipped=True),
    ),
    warnings=(FAULT_ADVICE[SignalFault.GATED],),
)


def drawn(reading: MeterReading, columns: int, rows: int = 24) -> str:
    """Return the meter as a terminal of this width shows it, without colours."""
    console = Console(file=io.StringIO(), record=True, width=columns, height=rows, color_system=None)
    console.print(draw_meter(reading, columns, rows))
    return "\n".join(line.rstrip() for line in console.export_text().splitlines())


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_the_meter_is_drawn_at_three_widths(columns: int) -> None:
    assert drawn(READING, columns) == SNAPSHOTS[columns].strip("\n")


SNAPSHOTS = {
    60: """
microphone USB                                          1:23

                               too quiet |          clips |
level  -58 dBFS ################.........|................|
peak   -12 dBFS ======================================....|
noise  -61 dBFS ---------------..........|................|

    ago  kind      sure         pass         above noise
  0.4 s  knock     ######  97%  ######  97%   +40 dB
  counts as a pass
  2.0 s  nail tip  ###...  55%  ......   4%   +14 dB
  too quiet: 14 dB above noise; move the microphone closer
  3.1 s  tile      #####.  88%  ......   4%   +35 dB
  sounded like a tile put down
 12.5 s  slam      ####..  60%  ......   4%   +61 dB
  clipped: lower the gain

! a noise gate or noise suppression cuts the sound, and
  knocks with it: switch it off
A knock is a pass unless the camera sees a new tile.
Knock at every seat, softly too. q or Ctrl-C ends.
""",
    80: """
microphone USB                                                              1:23

                                           too quiet |                  clips |
level  -58 dBFS #######################..............|........................|
peak   -12 dBFS =======================================================.......|
noise  -61 dBFS ---------------------................|........................|

    ago  kind      sure         pass         above noise
  0.4 s  knock     ######  97%  ######  97%   +40 dB  counts as a pass
  2.0 s  nail tip  ###...  55%  ......   4%   +14 dB
  too quiet: 14 dB above noise; move the microphone closer
  3.1 s  tile      #####.  88%  ......   4%   +35 dB
  sounded like a tile put down
 12.5 s  slam      ####..  60%  ......   4%   +61 dB  clipped: lower the gain

! a noise gate or noise suppression cuts the sound, and knocks with it: switch
  it off
A knock is a pass unless the camera sees a new tile.
Knock at every seat, softly too. q or Ctrl-C ends.
""",
    120: """
microphone USB                                                                                                      1:23

                                                                   too quiet |                                  clips |
level  -58 dBFS #####################################........................|........................................|
peak   -12 dBFS ==========================================================================================............|
noise  -61 dBFS ----------------------------------...........................|........................................|

    ago  kind      sure         pass         above noise
  0.4 s  knock     ######  97%  ######  97%   +40 dB  counts as a pass
  2.0 s  nail tip  ###...  55%  ......   4%   +14 dB  too quiet: 14 dB above noise; move the microphone closer
  3.1 s  tile      #####.  88%  ......   4%   +35 dB  sounded like a tile put down
 12.5 s  slam      ####..  60%  ......   4%   +61 dB  clipped: lower the gain

! a noise gate or noise suppression cuts the sound, and knocks with it: switch it off
A knock is a pass unless the camera sees a new tile.
Knock at every seat, softly too. q or Ctrl-C ends.
""",
}


@pytest.mark.parametrize("columns", range(40, 131, 7))
def test_no_line_is_longer_than_the_terminal_and_all_characters_are_ascii(columns: int) -> None:
    text = draw_meter(READING, columns, 40).plain
    assert text.isascii()
    assert max(map(len, text.splitlines())) <= columns


@pytest.mark.parametrize("rows", [16, 20, 24, 40])
def test_a_low_terminal_shows_fewer_sounds(rows: int) -> None:
    many = replace(READING, sounds=READING.sounds * 3)
    text = draw_meter(many, 60, rows).plain
    assert len(text.splitlines()) < rows
    assert 0 < text.count(" s  ") <= 8
    assert draw_meter(many, 120, 60).plain.count(" s  ") == 8


def test_the_meter_starts_empty() -> None:
    text = drawn(MeterReading("microphone USB", 0, 0), 80)
    assert "nothing yet: knock on the table" in text
    assert "too quiet" not in text
    assert "No fault: no lost sound, clipping, noise gate or silence." in text


@pytest.mark.parametrize("noise_db", [-120.0, -95.0, -80.0, -40.0, -26.0, -20.0])
def test_marks_stay_within_the_bar(noise_db: float) -> None:
    lines = draw_meter(replace(READING, noise_db=noise_db, level_db=-120.0), 60, 40).plain.splitlines()
    assert {len(line) for line in lines[3:6]} == {59}
    assert lines[2].rstrip()[-1] in "|s"


@pytest.mark.parametrize(
    ("sound", "verdict"),
    [
        (heard(Sound.KNOCK), "counts as a pass"),
        (heard(Sound.KNOCK, is_clipped=True), "counts as a pass, but clipped: lower the gain"),
        (heard(Sound.KNOCK, sure=0.5), "perhaps a pass: the next move or a question decides"),
        (heard(Sound.NAIL, sure=0.6, hit=0.3), "perhaps a pass: the next move or a question decides"),
        (heard(Sound.NAIL, sure=0.35, hit=0.61), "counts as a pass"),
        (heard(Sound.KNOCK, sure=0.5, above_db=8), "too quiet: 8 dB above noise; move the microphone closer"),
        (heard(Sound.NAIL, is_clipped=True), "clipped: lower the gain"),
        (heard(Sound.TILE, sure=0.95, above_db=20), "sounded like a tile put down"),
        (heard(Sound.TILE, sure=0.5, above_db=20), "too quiet: 20 dB above noise; move the microphone closer"),
        (heard(Sound.GLASS), "sounded like a glass or cup"),
    ],
)
def test_each_sound_has_a_verdict(sound: MeteredSound, verdict: str) -> None:
    assert pass_verdict(sound) == verdict


def test_every_kind_of_sound_has_words() -> None:
    assert set(SOUND_WORDS) == set(Sound)
