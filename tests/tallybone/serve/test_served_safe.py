"""Tests of arbitrary requests to a served table: answered with messages, and without effect."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tallybone.store.house import set_password
from tests.tallybone.serve.served import Served, at_served_table
from tests.tallybone.web.conftest import assert_nothing_broke
from tests.tallybone.web.true_table import PIN

PASSWORD = "correct horse"
_TEXT = st.text(st.characters(), max_size=30)
_ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | _TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXT, inner, max_size=4),
    max_leaves=10,
)
_FIELDS = st.sampled_from(
    ["game", "options", "players", "set", "keep_gb", "language", "usual", "key", "button", "code", "name", "password"]
)
_OBJECTS = st.dictionaries(_FIELDS, _ANYTHING, max_size=6)
# None of these is playable, so no request starts a match.
_MATCHES = st.fixed_dictionaries(
    {"game": st.sampled_from(["bones", "draw", "super", "chess"]), "players": st.just(["Ann", "Ann"])},
    optional={"options": st.dictionaries(_TEXT, _TEXT, max_size=5), "set": _TEXT},
)
_REQUESTS = st.sampled_from(
    [
        ("POST", "match"),
        ("POST", "pair"),
        ("PUT", "settings"),
        ("POST", "owner/login"),
        ("POST", "parts/test/answer"),
        ("POST", "panel"),
    ]
)


@pytest.fixture(name="table", scope="module")
def a_table_with_an_owner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("safe")
    set_password(PASSWORD, folder / "tallybone" / "owner.json")
    with at_served_table(folder, panel=True) as table:
        yield table


@pytest.fixture(autouse=True)
def no_errors_are_logged(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Check that the page logs no error and no secret."""
    caplog.set_level(logging.INFO)
    yield
    assert_nothing_broke(caplog, PIN, PASSWORD)


@pytest.mark.slow
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(request_line=_REQUESTS, content=_OBJECTS | _MATCHES | _ANYTHING)
def test_arbitrary_bodies_are_answered_with_a_message(
    table: Served, request_line: tuple[str, str], content: object
) -> None:
    body = json.dumps(content).encode("utf-8", "replace")
    with table.client() as client:
        client.post("/owner/login", json={"password": PASSWORD})
        answer = client.request(*request_line, content=body, headers={"content-type": "application/json"})
        assert answer.status_code in (204, 403, 404, 409, 413, 422, 429)
        if answer.status_code != 204:
            assert answer.json()["error"]
        assert client.get("/state").json()["match"]["phase"] == "lobby"


@pytest.mark.slow
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(game=_TEXT, options=st.lists(_TEXT, max_size=5), players=st.integers() | _TEXT)
def test_arbitrary_queries_about_a_game_are_answered(
    table: Served, game: str, options: list[str], players: int | str
) -> None:
    with table.client(knows_pin=False) as client:
        for name in ("bones", "super"):
            answer = client.get(f"/games/{name}", params={"option": _sendable(options), "players": str(players)})
            assert answer.status_code in (200, 422)
        assert client.get("/games/", params={"game": _sendable([game])}).status_code in (200, 404, 307)


def _sendable(texts: list[str]) -> list[str]:
    return [text.encode("utf-8", "replace").decode() for text in texts]


def test_malformed_json_is_refused_by_every_path(table: Served) -> None:
    with table.client() as client:
        for method, path in (("POST", "match"), ("PUT", "settings"), ("POST", "pair"), ("POST", "panel")):
            for body in (b"{", b"[" * 3000, b"\xff\xfe", b"NaN", b'{"game": "bones", "game": []}'):
                answer = client.request(method, path, content=body, headers={"content-type": "application/json"})
                assert answer.status_code in (400, 401, 422), (path, body)
