"""How those are reached whom a table tells, as the doctor says it: pure."""

from __future__ import annotations

from tallybone.doctor.finding import Finding, ok, problem, warning

_GOES_ON = "The game goes on; how it stands is told as soon as that can be."


def broker_found(broker: str, why_not: str | None, lost: int = 0) -> Finding:
    """Return how a broker is reached; *why_not* is what is wrong, *lost* how many events it will never hear of.

    >>> broker_found("mqtt://hub:1883", None, 3).words
    'mqtt://hub:1883: 3 events were never told, the line was away for too long'
    """
    if why_not is not None:
        return problem("broker", why_not, _GOES_ON)
    if lost:
        return warning("broker", f"{broker}: {_events(lost)} never told, the line was away for too long")
    return ok("broker", broker)


def webhook_found(address: str, why_not: str | None, lost: int = 0) -> Finding:
    """Return how a web address takes events; *lost* is how many of them it did not take."""
    if why_not is not None:
        said = f"; {_events(lost)} never taken" if lost else ""
        return problem("webhook", f"{why_not}{said}", "The game goes on, and each later event is sent.")
    if lost:
        return warning("webhook", f"{address}: {_events(lost)} never taken")
    return ok("webhook", address)


def _events(number: int) -> str:
    return "1 event was" if number == 1 else f"{number} events were"
