"""One sitting at the table: what is seen and what buttons say, in order, and all that has to be shown after each."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TypeAlias

from engine import Event, NewHand, Outcome, Redeal, State, apply
from tallybone.referee import Places, Unclear, decide, observe
from vision.perception import TableView

Said: TypeAlias = Outcome | Unclear


@dataclass(frozen=True, slots=True)
class Session:
    """Where a sitting stands.

    Attributes:
        state: The match.
        places: Where its tiles lie in the picture.
        open_question: What the table was asked last and has not answered by what it did since; None for nothing.
    """

    state: State = field(default_factory=State)
    places: Places = field(default_factory=Places)
    open_question: Unclear | None = None


def feed(session: Session, event: Event | TableView) -> tuple[Session, tuple[Said, ...]]:
    """Return the session after one more event, and what to tell the players about it."""
    said: tuple[Said, ...] = ()
    if isinstance(event, TableView):
        session = replace(session, places=observe(session.places, event))
    else:
        # A new deal begins with an empty table.
        places = Places() if isinstance(event, NewHand | Redeal) else session.places
        state, said = apply(session.state, event)
        session = Session(state, places)
    while True:
        places, found = decide(session.places, session.state)
        session = replace(session, places=places)
        if found is None:
            break
        if isinstance(found, Unclear):
            said = (*said, found)
        else:
            state, outcomes = apply(session.state, found)
            session, said = replace(session, state=state), (*said, *outcomes)
    questions = [one for one in said if isinstance(one, Unclear)]
    still_open = session.open_question if session.places.asked else None
    return replace(session, open_question=questions[-1] if questions else still_open), said
