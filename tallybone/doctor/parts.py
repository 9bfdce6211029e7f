"""LEDs, buttons, piezos and displays: whether each can be had, and how it is at rest."""

from __future__ import annotations

from dataclasses import dataclass

from tallybone.finding import Finding, ok, problem, warning

# One may be a door or a cup.
_RESTLESS = 3
_GAME = "Is a game running? Only one program at a time can have it."


@dataclass(frozen=True, slots=True)
class Opened:
    """What came of taking a part and letting it go again.

    Attributes:
        trouble: Why it could not be had; "" where it could.
        details: What there is to say about it.
        held: Buttons that were down though nobody pressed them.
        hits: What a piezo has felt in a second in which nobody knocked.
        doubt: What is odd about it otherwise; "" for nothing.
    """

    trouble: str = ""
    details: str = ""
    held: tuple[str, ...] = ()
    hits: int = 0
    doubt: str = ""


def check_opened(part: str, opened: Opened) -> Finding:
    """Return whether a part could be had."""
    if opened.trouble:
        is_taken = "busy" in opened.trouble.lower() or "in use" in opened.trouble.lower()
        return problem(part, opened.trouble, _GAME if is_taken else "")
    if opened.held:
        words = f"held down, or wired wrongly: {', '.join(opened.held)}"
        mend = "Each button stands between its pin and ground, and closes only when pressed (normally open)."
        return warning(part, words, mend)
    if opened.hits >= _RESTLESS:
        words = f"it feels {opened.hits} hits a second though nobody knocks"
        return warning(part, words, "Turn its trimmer up, and join the ground of the piezo with that of the Pi.")
    if opened.doubt:
        return warning(part, opened.doubt, "docs/wiring.md shows its wires.")
    return ok(part, opened.details)
