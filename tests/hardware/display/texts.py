"""Ordinary and hostile texts for names."""

from __future__ import annotations

import random

HOSTILE = (
    "|-", "|\x0b|\x17", "|+\xff\xff\xff", "\xfe\x01", "| \x00\x00\x00\x00\x00\x00\x00\x00", "v", "z\x00", "\x81\x81",
    "\x7f\x0b", '"\xff\xff\xffpage 3\xff\xff\xff', '";bauds=2400', "\\", '\\"', "dims=0\xff\xff\xff",
    "\x1b[2J\x1b]0;x\x07", "a\r\nb\x00\x08\x12c", "\u202egnp.exe", "e\u0301\u0301\u0301", "\ud800", "\U0001f600",
    "李雷", "Žofie Ångström",
    "ﷺ" * 40, "|" * 300, "x" * 5000, "", " ",
)  # fmt: skip
_CONTROLS = '|\xfe\xff"\\vwxyz\x7f\x80\x81\x82\x00\x08\x12\x1b\r\n~#0+-./ '


def hostile_text(rng: random.Random) -> str:
    """Return a hostile, random, or ordinary text with control characters."""
    kind = rng.randrange(4)
    if kind == 0:
        return rng.choice(HOSTILE)
    count = rng.randrange(1, 40)
    if kind == 1:
        return "".join(chr(rng.randrange(0x110000)) for _ in range(count))
    if kind == 2:
        return "".join(chr(rng.randrange(256)) for _ in range(count))
    return "".join(rng.choice((rng.choice(_CONTROLS), chr(rng.randrange(0x20, 0x7F)))) for _ in range(count))


def hostile_points(rng: random.Random) -> int:
    """Return points, mostly realistic ones."""
    return rng.choice((0, 5, 35, 120, 250, -15, -1, 999, 1000, 9999, 10_000, -10_000, 10**30, rng.randrange(-200, 600)))
