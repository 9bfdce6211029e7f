"""Tests of the page against its OpenAPI description, with valid and invalid requests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import content_type_conformance, response_schema_conformance
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from tests.tallybone.web.conftest import at_table
from tests.tallybone.web.true_table import PIN, TrueTable

pytestmark = pytest.mark.slow

API = "/api/v1"
_AS_DESCRIBED = [not_a_server_error, content_type_conformance, response_schema_conformance]
_BOUNDED = settings(
    max_examples=15,
    derandomize=True,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.generate),
)


@pytest.fixture(scope="module", name="asked")
def a_table_for_fuzzing() -> Iterator[TrueTable]:
    with at_table() as table:
        table.play(9)
        yield table


@pytest.fixture(scope="module", name="cookie")
def the_cookie_of_an_insider(asked: TrueTable) -> str:
    answer = httpx.post(f"{asked.page.url}{API}/login", json={"pin": PIN, "name": "Zoe"})
    return answer.headers["set-cookie"].partition(";")[0]


def test_every_answer_conforms_to_the_description(asked: TrueTable, cookie: str) -> None:
    described = schemathesis.openapi.from_url(f"{asked.page.url}{API}/openapi.json")
    operations = [found.ok() for found in described.get_all_operations() if isinstance(found, Ok)]
    assert len(operations) >= 10
    for operation in operations:
        # With the cookie, a logout would end the session under test.
        headers = {} if operation.path.endswith("/logout") else {"Cookie": cookie}
        send_all(operation.as_strategy(), headers)
        if any((operation.query, operation.path_parameters, operation.body)):
            send_all(operation.as_strategy(generation_mode=GenerationMode.NEGATIVE), headers)


def send_all(cases: st.SearchStrategy[Case[Any]], headers: dict[str, str]) -> None:
    """Send a bounded number of generated requests for an operation."""

    @given(cases)
    @_BOUNDED
    def ask(case: Case[Any]) -> None:
        answer = case.call(headers=headers)
        assert answer.status_code < 500
        case.validate_response(answer, checks=_AS_DESCRIBED)
        assert len(answer.content) < 200_000
        assert PIN.encode() not in answer.content

    ask()


@given(st.lists(st.one_of(st.text(max_size=1100), st.binary(max_size=1100), st.just("ping")), max_size=12))
@_BOUNDED
def test_arbitrary_frames_do_not_affect_other_viewers(asked: TrueTable, frames: list[str | bytes]) -> None:
    url = asked.page.url.replace("http", "ws") + f"{API}/live"
    with connect(url, compression=None, proxy=None) as fuzzed, connect(url, compression=None, proxy=None) as other:
        with suppress(ConnectionClosed):  # an oversized frame closes the connection
            for frame in frames:
                fuzzed.send(frame)
        other.recv(10)
        other.send("ping")
        assert other.recv(10) == '{"type":"pong"}'


def test_memory_is_bounded_after_fuzzing(asked: TrueTable) -> None:
    with httpx.Client(base_url=asked.page.url) as client:
        assert len(client.get(f"{API}/events").json()) <= 500
        shown = client.get(f"{API}/state")
        assert shown.status_code == 200
        assert len(shown.json()["messages"]) <= 12
