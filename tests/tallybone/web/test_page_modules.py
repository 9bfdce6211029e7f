"""The modules of the page: those that it begins with are asked for at once, not one after the other."""

from __future__ import annotations

import re
from pathlib import Path

STATIC = Path(__file__).parents[3] / "tallybone" / "web" / "static"
_IMPORTS = re.compile(r'^(?:import|export) [^"]*?from "\./([\w.]+)";', re.MULTILINE)
_PRELOADS = re.compile(r'<link rel="modulepreload" href="([\w.]+)">')


def begun_with(name: str = "main.js") -> dict[str, int]:
    """The modules that one needs before it can run, itself among them, by how many others lead there."""
    depths, names = {name: 0}, [name]
    for one in names:
        for other in _IMPORTS.findall((STATIC / one).read_text()):
            if other not in depths:
                depths[other] = depths[one] + 1
                names.append(other)
    return depths


def test_every_module_that_the_page_begins_with_is_asked_for_at_once() -> None:
    assert _PRELOADS.findall((STATIC / "index.html").read_text()) == sorted(begun_with().keys() - {"main.js"})


def test_what_is_seldom_opened_is_not() -> None:
    assert not begun_with().keys() & {"calibrate.js", "zones.js", "hand.js"}


def test_a_module_is_found_through_another() -> None:
    assert begun_with()["dom.js"] == 1
    assert begun_with("calibrate_stored.js").keys() >= {"calibrate_parts.js", "say.js", "login.js"}
