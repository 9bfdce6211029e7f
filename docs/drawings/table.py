"""Draw the position of all parts on a table seen from above."""

from __future__ import annotations

from docs.drawings.sheet import BLUE, FAINT, GREEN, ORANGE, RED, VIOLET, Point, Sheet
from docs.drawings.symbols import paper_note


def table_from_above() -> Sheet:
    """Return the drawing of a table with its parts."""
    sheet = Sheet(1000, 700, "A domino table from above: where camera, lamp, LEDs, buttons and knock sensor go")
    sheet.text((350, 36), "The table from above", size=20, anchor="middle", bold=True)
    sheet.box((110, 110), (480, 480), fill="#e8f0e4", colour="#5d7052", radius=14, width=3)
    sheet.box((160, 160), (380, 380), fill="none", colour=FAINT, radius=6, width=1)
    sheet.text((350, 182), "what the camera sees: all of the layout", size=12, anchor="middle", colour=FAINT)
    for number, at in enumerate(((350, 570), (130, 350), (350, 130), (570, 350))):
        _seat(sheet, (float(at[0]), float(at[1])), number)
    for corner in ((130, 130), (570, 130), (130, 570), (570, 570)):
        sheet.disc((float(corner[0]), float(corner[1])), 12, fill="#bcaaa4", colour="#8d6e63")
    sheet.box((325, 330), (50, 34), fill="#263238", radius=4)
    sheet.disc((350, 347), 10, fill="#90caf9")
    sheet.text((350, 318), "camera, 60 to 100 cm above", size=12, anchor="middle")
    sheet.text((350, 384), "looking straight down", size=12, anchor="middle")
    _good(sheet, (258, 258))
    sheet.text((258, 286), "piezo, from below", size=12, anchor="middle", colour=GREEN)
    _bad(sheet, (168, 520), (186, 525), "not near a leg")
    _bad(sheet, (350, 440), (350, 464), "not on a crossbar")
    sheet.disc((565, 480), 11, fill="#ce93d8", colour=VIOLET)
    sheet.text((530, 485), "microphone", size=12, anchor="end", colour=VIOLET)
    _key(sheet)
    return sheet


def _seat(sheet: Sheet, at: Point, number: int) -> None:
    """Draw LED and call button of a seat at the table's edge, and its name beside the table."""
    x, y = at
    is_upright = x in (130, 570)
    led: Point = (x, y - 18) if is_upright else (x - 18, y)
    button: Point = (x, y + 18) if is_upright else (x + 18, y)
    sheet.disc(led, 9, fill="#ffd54f", colour=ORANGE)
    sheet.box((button[0] - 9, button[1] - 9), (18, 18), fill="#90caf9", colour=BLUE)
    name: Point = {130: (60.0, y), 570: (640.0, y)}.get(int(x), (x, y + (50 if y > 350 else -38)))
    sheet.text((name[0], name[1] + 5), f"player {number + 1}", anchor="middle", bold=True)


def _good(sheet: Sheet, at: Point) -> None:
    sheet.disc(at, 13, fill="#ffcc80", colour=GREEN, width=3)


def _bad(sheet: Sheet, at: Point, words_at: Point, text: str) -> None:
    sheet.disc(at, 13, fill="#ffcc80", colour=RED, width=3)
    for way in (-1, 1):
        sheet.wire((at[0] - 9, at[1] - 9 * way), (at[0] + 9, at[1] + 9 * way), colour=RED, width=3)
    anchor = "middle" if at[0] == words_at[0] else "start"
    sheet.text(words_at, text, size=12, anchor=anchor, colour=RED)


def _key(sheet: Sheet) -> None:
    x = 710.0
    sheet.disc((x, 120), 9, fill="#ffd54f", colour=ORANGE)
    sheet.text((x + 22, 125), "LED of a player: the turn", size=13)
    sheet.box((x - 9, 151), (18, 18), fill="#90caf9", colour=BLUE)
    sheet.text((x + 22, 165), "call button of a player", size=13)
    sheet.disc((x, 200), 12, fill="#bcaaa4", colour="#8d6e63")
    sheet.text((x + 22, 205), "leg of the table", size=13)
    paper_note(
        sheet,
        (690, 236),
        (
            "Players are counted clockwise as",
            "seen from above. The first sits",
            "where the picture has its lower",
            "edge; files call his seat 0.",
        ),
        width=290,
    )
    paper_note(
        sheet,
        (690, 340),
        (
            "Piezo: flat, glued over its whole",
            "face (cyanoacrylate or epoxy), no",
            "foam, no tape. Half way from the",
            "middle to a corner it hears all",
            "players alike.",
        ),
        width=290,
    )
    paper_note(
        sheet,
        (690, 466),
        (
            "Lamp: from the side, not over the",
            "camera. What shines on the tiles",
            "must not shine back into the lens.",
        ),
        width=290,
    )
    paper_note(
        sheet,
        (690, 556),
        (
            "Next, undo, draw, it stands, hand",
            "end: on one strip, where one of",
            "the players reaches all of them.",
        ),
        width=290,
    )
    sheet.text((350, 672), "Cables leave the table at one corner, and have some slack.", size=13, anchor="middle")
