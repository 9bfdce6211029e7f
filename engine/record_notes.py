"""Notes of a game record that mean something for the game: what has no move of its own, written between parentheses.

All other notes, such as `(t=3.1 c=.99)`, are for machines and do nothing.
"""

import re

from engine.events import Action, Adjust, Boneyard, Domino, HandEnd, MatchClose, Seat
from engine.record import MAX_NUMBER, NoteMove

STANDS = NoteMove("stands")
"""The table lets the move before stand, whatever the rules say."""

_POINTS = re.compile(r"points=([+-]?[0-9]{1,6})(?: (.*))?")
_YARD = re.compile(r"yard=([0-9]{1,3})")
_UNWRITABLE = re.compile(r"[()\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def action_of(note: NoteMove, seat: Seat) -> Action | None:
    """Return what a note in the turn of *seat* says that happened; None for one that does nothing.

    >>> action_of(NoteMove("points=-5 he looked"), Seat(1))
    Adjust(seat=1, points=-5, why='he looked')
    >>> action_of(NoteMove("t=3.1 c=.99"), Seat(1)) is None
    True
    """
    points, yard = _POINTS.fullmatch(note.text), _YARD.fullmatch(note.text)
    if points is not None:
        return Adjust(seat, int(points[1]), points[2] or "")
    if yard is not None:
        return Boneyard(int(yard[1]))
    match note.text:
        case "out":
            return Domino(seat)
        case "end":
            return HandEnd()
        case "close":
            return MatchClose()
        case _:
            return None


def note_of(action: Action) -> NoteMove | None:
    """Return the note that says what *action* says, None if it takes another move.

    >>> note_of(Adjust(Seat(1), -5, "he looked"))
    NoteMove(text='points=-5 he looked')
    """
    match action:
        case Adjust(points=points, why=why) if abs(points) <= MAX_NUMBER:
            return NoteMove(f"points={points} {_UNWRITABLE.sub(' ', why)}".strip(" "))
        case Boneyard(tiles=tiles):
            return NoteMove(f"yard={tiles}")
        case Domino():
            return NoteMove("out")
        case HandEnd():
            return NoteMove("end")
        case MatchClose():
            return NoteMove("close")
        case _:
            return None
