"""Findings about the broker and webhooks for the doctor, and retry delays. Pure."""

from __future__ import annotations

from random import Random

from engine.phrases import Phrase, listed, phrase, plural
from tallybone.finding import Finding, ok, problem, warning

FIRST_S, MAX_S = 1.0, 60.0


def broker_found(broker: str, why_not: str | None, lost: int = 0) -> Finding:
    """Return a finding about a broker. *why_not* is its problem, if any, *lost* the number of events that were dropped.

    >>> broker_found("mqtt://hub:1883", None, 3).text
    'mqtt://hub:1883: 3 events were dropped: the connection was down for too long'
    """
    part = phrase("broker")
    if why_not is not None:
        return problem(
            part, why_not, phrase("The game goes on. The current score is sent once the connection is back.")
        )
    if lost:
        never = plural(
            "1 event was dropped: the connection was down for too long",
            "{number} events were dropped: the connection was down for too long",
            number=lost,
        )
        return warning(part, listed((broker, never), ": "))
    return ok(part, broker)


def webhook_found(address: str, why_not: str | None, lost: int = 0) -> Finding:
    """Return a finding about a webhook. *why_not* is its problem, if any, *lost* the number of events not delivered."""
    part = phrase("webhook")
    if why_not is not None:
        text = listed((why_not, _never_taken(lost)), "; ") if lost else why_not
        return problem(part, text, phrase("The game goes on, and later events are sent."))
    if lost:
        return warning(part, listed((address, _never_taken(lost)), ": "))
    return ok(part, address)


def _never_taken(number: int) -> Phrase:
    return plural("1 event was rejected", "{number} events were rejected", number=number)


def wait_s(failures: int, rng: Random, *, first_s: float = FIRST_S, max_s: float = MAX_S) -> float:
    """Return the delay before a retry in seconds: exponential backoff with jitter.

    The jitter keeps hundreds of tables from reconnecting at once when their broker restarts.

    >>> [round(wait_s(failures, Random(1)), 1) for failures in (1, 2, 3, 20)]
    [0.6, 1.1, 2.3, 34.0]
    """
    whole_s = min(max_s, first_s * 2.0 ** min(failures - 1, 20))
    return whole_s * (0.5 + rng.random() / 2)
