"""Tests of the queue for the broker."""

from __future__ import annotations

from tallybone.notify.mqtt import Message, Outbox


def state(text: str, topic: str = "scores") -> Message:
    return Message(topic, text.encode(), is_retained=True)


def event(number: int) -> Message:
    return Message("events", str(number).encode(), is_retained=False)


def drained(outbox: Outbox) -> list[bytes]:
    sent = []
    while (message := outbox.next()) is not None:
        outbox.went(message)
        sent.append(message.payload)
    return sent


def test_only_the_newest_states_are_sent_before_events() -> None:
    outbox = Outbox()
    for message in (event(1), state("a"), event(2), state("b"), state("x", "state")):
        outbox.put(message)
    assert drained(outbox) == [b"b", b"x", b"1", b"2"]
    assert outbox.next() is None


def test_an_event_dropped_during_sending_affects_no_other() -> None:
    outbox = Outbox(max_events=2)
    outbox.put(event(1))
    sending = outbox.next()
    assert sending is not None
    outbox.put(event(2))
    outbox.put(event(3))
    outbox.went(sending)
    assert drained(outbox) == [b"2", b"3"]
    outbox.put(state("a"))
    sending = outbox.next()
    assert sending is not None
    outbox.put(state("b"))  # a state that changes while it is sent
    outbox.went(sending)
    assert drained(outbox) == [b"b"]


def test_all_states_are_sent_again_after_a_restart_of_the_broker() -> None:
    outbox = Outbox()
    for message in (state("a"), state("x", "state"), event(1)):
        outbox.put(message)
    assert len(drained(outbox)) == 3
    outbox.put(state("a"))
    assert drained(outbox) == []
    outbox.all_again()
    assert drained(outbox) == [b"a", b"x"]
