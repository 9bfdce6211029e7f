"""How those are reached whom a table tells, as the doctor says it: pure."""

from __future__ import annotations

from engine.phrases import Phrase, listed, phrase, plural
from tallybone.finding import Finding, ok, problem, warning


def broker_found(broker: str, why_not: str | None, lost: int = 0) -> Finding:
    """Return how a broker is reached; *why_not* is what is wrong, *lost* how many events it will never hear of.

    >>> broker_found("mqtt://hub:1883", None, 3).words
    'mqtt://hub:1883: 3 events were never told, the line was away for too long'
    """
    part = phrase("broker")
    if why_not is not None:
        return problem(part, why_not, phrase("The game goes on; how it stands is told as soon as that can be."))
    if lost:
        never = plural(
            "1 event was never told, the line was away for too long",
            "{number} events were never told, the line was away for too long",
            number=lost,
        )
        return warning(part, listed((broker, never), ": "))
    return ok(part, broker)


def webhook_found(address: str, why_not: str | None, lost: int = 0) -> Finding:
    """Return how a web address takes events; *lost* is how many of them it did not take."""
    part = phrase("webhook")
    if why_not is not None:
        words = listed((why_not, _never_taken(lost)), "; ") if lost else why_not
        return problem(part, words, phrase("The game goes on, and each later event is sent."))
    if lost:
        return warning(part, listed((address, _never_taken(lost)), ": "))
    return ok(part, address)


def _never_taken(number: int) -> Phrase:
    return plural("1 event was never taken", "{number} events were never taken", number=number)
