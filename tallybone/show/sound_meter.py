"""Draw a level meter and the last sounds of a microphone as text, for `tallybone listen --live`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap

from rich.text import Text

from hardware.knock.heard import DOUBTFUL, NS_PER_S, Sound
from hardware.knock.metering import MeteredSound
from hardware.knock.signal_quality import SignalFault
from tallybone.session.feeding import SURE_KNOCK
from tallybone.terminal import printable

SOUND_WORDS = {
    Sound.KNOCK: "a knock",
    Sound.FINGER: "a finger tapping",
    Sound.NAIL: "a nail tapping",
    Sound.NAIL_TIP: "the tip of a nail tapping",
    Sound.TILE: "a tile put down",
    Sound.SLAM: "a tile slammed down",
    Sound.SHUFFLE: "tiles being shuffled",
    Sound.GLASS: "a glass or cup",
    Sound.CLAP: "hands being clapped",
    Sound.COUGH: "a cough or laugh",
    Sound.CHAIR: "a chair or steps",
    Sound.DOOR: "a door or drawer",
    Sound.KEYS: "keys or coins",
    Sound.TYPING: "typing or a click",
    Sound.SPEECH: "somebody speaking",
    Sound.NOTHING: "nothing that counts",
}
"""Description of each kind of sound."""

# Peak above the noise floor from which most knocks are recognised. Of modelled knocks in room noise, 63 % are at 22 dB,
# 84 % at 25 dB and 94 % at 31 dB; of real ones, 97 % at 22 dB in coloured noise, but 90 % only at 31 dB in white noise.
QUIET_DB = 25.0
# A quiet sound that is surely another kind is not a knock that is too quiet.
_SURE_OTHER = 0.8
MAX_SOUNDS = 8
_LOWEST_DB = -90.0
_CLIPS_DB = -0.1
_MAX_COLUMNS = 120
_MIN_COLUMNS = 40
# Columns before the bars of the level, and of the bars of the sounds.
_LABEL = 16
_BAR = 6
# Least width for a sound with bars, without its sentence.
_WITH_BARS = 53
_HINTS = (
    "A knock is a pass unless the camera sees a new tile.",
    "Knock at every seat, softly too. q or Ctrl-C ends.",
)


@dataclass(frozen=True, slots=True)
class MeterReading:
    """Content of the meter.

    Attributes:
        source: Name of the microphone or file.
        now_ns: Current time, on the clock of the sounds.
        started_ns: Time at which listening started.
        level_db: Level now, in dBFS. None before the first sound.
        peak_db: Peak of the last seconds.
        noise_db: Noise floor.
        sounds: Sudden sounds, the newest first.
        faults: Faults of the signal in the last seconds.
        lost: Number of inputs that the driver dropped.
        warnings: Faults of the microphone and its signal, as sentences.
    """

    source: str
    now_ns: int
    started_ns: int
    level_db: float | None = None
    peak_db: float | None = None
    noise_db: float | None = None
    sounds: tuple[MeteredSound, ...] = ()
    faults: tuple[SignalFault, ...] = ()
    lost: int = 0
    warnings: tuple[str, ...] = ()


def pass_verdict(heard: MeteredSound) -> str:
    """Explain why a sound counts as a pass, or does not, and how to improve that."""
    sound = heard.sound
    if sound.hit >= SURE_KNOCK:
        return "counts as a pass, but clipped: lower the gain" if heard.is_clipped else "counts as a pass"
    if heard.is_clipped:
        return "clipped: lower the gain"
    is_doubtful = sound.kind is Sound.KNOCK or sound.hit >= DOUBTFUL
    if heard.above_noise_db < QUIET_DB and (is_doubtful or sound.confidence < _SURE_OTHER):
        return f"too quiet: {heard.above_noise_db:.0f} dB above noise; move the microphone closer"
    if is_doubtful:
        return "perhaps a pass: the next move or a question decides"
    return f"sounded like {SOUND_WORDS[sound.kind]}"


def draw_meter(reading: MeterReading, columns: int, rows: int) -> Text:
    """Return the meter as lines of ASCII characters that fit a terminal. Colours only repeat what the text says.

    Args:
        reading: The content.
        columns: Width of the terminal. At least 40 are used, and at most 120.
        rows: Height of the terminal. Fewer sounds are shown if it is low.
    """
    columns = min(_MAX_COLUMNS, max(_MIN_COLUMNS, columns))
    head = [_title(reading, columns), Text(), *_levels(reading, columns), Text()]
    foot = [Text(), *_warnings(reading.warnings, columns), *_hints(columns)]
    space = rows - len(head) - len(foot) - 1
    body: list[Text] = [_cut(_heading(columns), columns, "dim")]
    for heard in reading.sounds[:MAX_SOUNDS]:
        lines = _sound_lines(heard, reading.now_ns, columns)
        if len(body) + len(lines) > space:
            break
        body += lines
    if not reading.sounds:
        body.append(Text("nothing yet: knock on the table"))
    return Text("\n").join([*head, *body, *foot])


def plain_sound(heard: MeteredSound, started_ns: int) -> str:
    """Return a sound as one line of text, for outputs that cannot be redrawn."""
    return (
        f"{(heard.sound.t_ns - started_ns) / NS_PER_S:8.3f} s  {heard.sound.kind.value:<8} "
        f"{heard.sound.confidence:4.0%} sure, pass {heard.sound.hit:4.0%}, {heard.above_noise_db:3.0f} dB above noise: "
        f"{pass_verdict(heard)}"
    )


def _title(reading: MeterReading, columns: int) -> Text:
    seconds = max(0, reading.now_ns - reading.started_ns) // NS_PER_S
    time = f"{seconds // 60}:{seconds % 60:02}"
    name = printable(reading.source)[: columns - len(time) - 2]
    return Text.assemble((name.ljust(columns - len(time)), "bold"), time)


def _levels(reading: MeterReading, columns: int) -> list[Text]:
    """Return the marks, and a bar each for level, peak and noise."""
    width = columns - _LABEL - 1
    clips = width - 1
    quiet = None if reading.noise_db is None else _column(reading.noise_db + QUIET_DB, width)
    marks = _marks(width, quiet, clips)
    peak_style = "red" if reading.peak_db is not None and reading.peak_db >= _CLIPS_DB else "yellow"
    return [
        _cut(" " * _LABEL + marks, columns, "dim"),
        _level_bar("level", reading.level_db, ("#", "green"), width, quiet),
        _level_bar("peak", reading.peak_db, ("=", peak_style), width, quiet),
        _level_bar("noise", reading.noise_db, ("-", "blue"), width, quiet),
    ]


def _marks(width: int, quiet: int | None, clips: int) -> str:
    """Return the line above the bars: the words end at their marks if there is space, or else start there."""
    line = [" "] * width
    for word, at in (("too quiet", quiet), ("clips", clips)):
        if at is None:
            continue
        label = f"{word} |" if at >= len(word) + 1 else f"| {word}"
        first = at - len(label) + 1 if at >= len(word) + 1 else at
        if "".join(line[first : first + len(label)]).strip():
            label, first = "|", at
        line[first : first + len(label)] = label
    return "".join(line)[:width]


def _level_bar(label: str, level_db: float | None, look: tuple[str, str], width: int, quiet: int | None) -> Text:
    """Return a bar with the level as a number before it. *look* is its character and style."""
    number = "" if level_db is None else f"{level_db:4.0f} dBFS"
    filled = 0 if level_db is None or level_db <= _LOWEST_DB else _column(level_db, width) + 1
    rest = ["."] * width
    for mark in (quiet, width - 1):
        if mark is not None:
            rest[mark] = "|"
    return Text.assemble(
        f"{label:<6}{number:<{_LABEL - 6}}", (look[0] * filled, look[1]), ("".join(rest)[filled:], "dim")
    )


def _column(level_db: float, width: int) -> int:
    share = (level_db - _LOWEST_DB) / -_LOWEST_DB
    return min(width - 1, max(0, round(share * (width - 1))))


def _heading(columns: int) -> str:
    if columns < _WITH_BARS:
        return f"{'ago':>7}  {'kind':<9}{'sure':>5} {'pass':>5} {'noise':>7}"
    return f"{'ago':>7}  {'kind':<9} {'sure':<11}  {'pass':<11}  above noise"


def _sound_lines(heard: MeteredSound, now_ns: int, columns: int) -> list[Text]:
    """Return a sound as a line, and its sentence on the same line if it fits, or else on the next."""
    sound, verdict = heard.sound, pass_verdict(heard)
    ago = f"{max(0, now_ns - sound.t_ns) / NS_PER_S:5.1f} s"
    style = "green" if verdict.startswith("counts") else "yellow"
    above = f"{heard.above_noise_db:+4.0f} dB"
    if columns < _WITH_BARS:
        line = f"{ago}  {sound.kind.value:<9}{sound.confidence:>5.0%} {sound.hit:>5.0%} {above}"
    else:
        bars = f"{_share_bar(sound.confidence)}  {_share_bar(sound.hit)}"
        line = f"{ago}  {sound.kind.value:<9} {bars}  {above}"
    if len(line) + 2 + len(verdict) <= columns:
        return [Text.assemble(line, "  ", (verdict, style))]
    return [Text(line), *(Text(f"  {part}", style) for part in wrap(verdict, columns - 2))]


def _share_bar(share: float) -> str:
    filled = round(share * _BAR)
    return f"{'#' * filled}{'.' * (_BAR - filled)} {share:4.0%}"


def _warnings(warnings: Sequence[str], columns: int) -> list[Text]:
    if not warnings:
        return [_cut("No fault: no lost sound, clipping, noise gate or silence.", columns, "dim")]
    lines = [line for text in warnings for line in wrap(f"! {text}", columns, subsequent_indent="  ")]
    return [Text(line, "bold red") for line in lines]


def _hints(columns: int) -> list[Text]:
    return [Text(line, "dim") for hint in _HINTS for line in wrap(hint, columns)]


def _cut(text: str, columns: int, style: str) -> Text:
    return Text(text[:columns], style)
