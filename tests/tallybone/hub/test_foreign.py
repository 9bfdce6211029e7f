"""What a broker hands over is anybody's: what is understood is bounded, all else is junk and nothing worse."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tallybone.hub.heard import MOST_BYTES, Gone, JunkError, MatchProgress, Online, Player, Scores, heard
from tests.tallybone.hub.said import PREFIX, scores, state, topic

BUSY = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # the machine may be
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def of(what: str, payload: bytes) -> Any:
    return heard(PREFIX, topic("t-1", what), payload)[1]


def test_what_a_table_says_is_understood() -> None:
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
    assert of("state", state(last={"words": "Ann knocks"})) == MatchProgress("run-1", 2, 1, None, "Ann knocks", None)
    assert of("availability", b"offline") == Online(is_online=False)
    assert of("scores", b"") == Gone()


@pytest.mark.parametrize(
    "where",
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
def test_other_topics_are_no_table(where: str) -> None:
    with pytest.raises(JunkError):
        heard(PREFIX, where, scores())


@pytest.mark.parametrize(
    "payload",
    [
        b"\xff\xfe",
        b"[1]",
        b"null",
        b"{",
        b"[" * 15_000,
        b'{"v":1}',
        b'{"v":2,"players":[]}',
        b'{"v":1,"players":[1]}',
        b'{"v":1,"players":[{"name":"A","total":1e999}]}',
        b'{"v":1,"players":[{"name":"A","total":NaN}]}',
        b'{"v":1,"players":[{"name":"A","total":true}]}',
        b'{"v":1,"players":[{"name":"A","total":99999999999}]}',
        b'{"v":1,"players":[{"name":"A","total":' + b"9" * 5000 + b"}]}",
        scores(*[0] * 17, names=("A",) * 17),
        scores() + b" " * MOST_BYTES,
    ],
)
def test_junk_is_no_score(payload: bytes) -> None:
    with pytest.raises(JunkError):
        of("scores", payload)


def test_names_are_bounded_and_made_plain_and_markup_stays_text() -> None:
    said = of("scores", scores(1, 2, names=("<script>alert(1)</script>", "\u202e\x00evil" + "x" * 1000)))
    assert said.players[0].name == "<script>alert(1)</script>"
    assert said.players[1].name.startswith("evilx")
    assert len(said.players[1].name) <= 40


@pytest.mark.parametrize(
    "at", ["yesterday", "2026-05-01T20:00:00", 7, "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "x" * 99]
)
def test_a_time_that_is_none_costs_no_score(at: object) -> None:
    assert of("scores", scores(1, 2, at=at)).at is None


def test_a_winner_who_does_not_sit_there_has_not_won() -> None:
    assert of("scores", scores(1, 2, over=True, winner=7)).winner is None
    assert of("scores", scores(1, 2, over=False, winner=1)).winner is None
    assert of("scores", scores(1, 2, over=True, winner=1)).winner == 1


@BUSY
@given(st.sampled_from(["scores", "state", "availability"]), st.binary(max_size=200))
def test_no_bytes_do_any_harm(what: str, payload: bytes) -> None:
    with suppress(JunkError):
        of(what, payload)


@BUSY
@given(st.dictionaries(st.sampled_from(list(json.loads(scores()))), JSON), st.sampled_from(["scores", "state"]))
def test_no_json_does_any_harm(said: dict[str, Any], what: str) -> None:
    payload = json.dumps({**json.loads(scores()), **said, "v": 1}).encode()
    with suppress(JunkError):
        of(what, payload)
