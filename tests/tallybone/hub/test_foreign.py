"""Tests of untrusted messages from a broker: valid ones are bounded, all others are rejected as junk."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tallybone.hub.heard import MAX_BYTES, Gone, JunkError, MatchProgress, Online, Player, Scores, heard
from tests.tallybone.hub.messages import PREFIX, scores, state, topic

BUSY = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])  # the machine may be busy
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def parsed(kind: str, payload: bytes) -> Any:
    return heard(PREFIX, topic("t-1", kind), payload)[1]


def test_parses_the_messages_of_a_table() -> None:
    assert heard(PREFIX, topic("t-1", "scores"), scores(15, 5)) == (
        "t-1",
        Scores(
            name="Table 3",
            tournament=None,
            match="run-1",
            game="bones",
            target=150,
            playing=True,
            over=False,
            winner=None,
            players=(Player("Ann", 15), Player("Ben", 5)),
            at=datetime(2026, 5, 1, 18, tzinfo=UTC),
        ),
    )
    assert parsed("state", state(last={"text": "Ann knocks"})) == MatchProgress("run-1", 2, 1, None, "Ann knocks", None)
    assert parsed("availability", b"offline") == Online(is_online=False)
    assert parsed("scores", b"") == Gone()


@pytest.mark.parametrize(
    "address",
    [
        "tallybone/v2/t-1/scores",
        "tallybone/v1/t-1/scores/more",
        "tallybone/v1//scores",
        "tallybone/v1/T 1/scores",
        "tallybone/v1/../scores",
        f"tallybone/v1/{'t' * 41}/scores",
        "other/v1/t-1/scores",
        "tallybone/v1/t-1/commands",
        "scores",
        "",
    ],
)
def test_rejects_other_topics(address: str) -> None:
    with pytest.raises(JunkError):
        heard(PREFIX, address, scores())


@pytest.mark.parametrize(
    "payload",
    [
        b"\xff\xfe",
        b"[1]",
        b"null",
        b"{",
        b"[" * 15_000,
        b'{"v":1}',
        b'{"v":3,"players":[]}',
        b'{"v":1,"players":[1]}',
        b'{"v":1,"players":[{"name":"A","total":1e999}]}',
        b'{"v":1,"players":[{"name":"A","total":NaN}]}',
        b'{"v":1,"players":[{"name":"A","total":true}]}',
        b'{"v":1,"players":[{"name":"A","total":99999999999}]}',
        b'{"v":1,"players":[{"name":"A","total":' + b"9" * 5000 + b"}]}",
        scores(*[0] * 17, names=("A",) * 17),
        scores() + b" " * MAX_BYTES,
    ],
)
def test_rejects_junk_scores(payload: bytes) -> None:
    with pytest.raises(JunkError):
        parsed("scores", payload)


def test_names_are_sanitised_and_truncated_and_markup_stays_text() -> None:
    message = parsed("scores", scores(1, 2, names=("<script>alert(1)</script>", "\u202e\x00evil" + "x" * 1000)))
    assert message.players[0].name == "<script>alert(1)</script>"
    assert message.players[1].name.startswith("evilx")
    assert len(message.players[1].name) <= 40


@pytest.mark.parametrize(
    "at", ["yesterday", "2026-05-01T20:00:00", 7, "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "x" * 99]
)
def test_an_invalid_time_does_not_reject_the_score(at: object) -> None:
    assert parsed("scores", scores(1, 2, at=at)).at is None


def test_the_page_of_a_table_is_an_address_and_a_winner_has_a_seat() -> None:
    for page in ("http://192.0.2.7:8080", "https://table.local", "http://[2001:db8::1]:8080"):
        assert parsed("scores", scores(15, 5, page=page)).page == page
    for other in (7, None, "", "javascript:alert(1)", "http://a b", "http://a/b?c", f"http://{'a' * 81}"):
        assert parsed("scores", scores(15, 5, page=other)).page is None
    for over, winner, known in ((True, 7, None), (False, 1, None), (True, 1, 1)):
        assert parsed("scores", scores(1, 2, over=over, winner=winner)).winner == known


@BUSY
@given(st.sampled_from(["scores", "state", "availability"]), st.binary(max_size=200))
def test_arbitrary_bytes_raise_only_junk_errors(kind: str, payload: bytes) -> None:
    with suppress(JunkError):
        parsed(kind, payload)


@BUSY
@given(st.dictionaries(st.sampled_from(list(json.loads(scores()))), JSON), st.sampled_from(["scores", "state"]))
def test_arbitrary_json_raises_only_junk_errors(message: dict[str, Any], kind: str) -> None:
    payload = json.dumps({**json.loads(scores()), **message, "v": 1}).encode()
    with suppress(JunkError):
        parsed(kind, payload)
