"""The ends that a page offers for a tile that nobody saw, or that was laid elsewhere: those that were open then."""

from __future__ import annotations

import httpx

from tests.tallybone.web.true_table import TrueTable

API = "/api/v1"
SPINNER, FIRST = 3, 4
"""The 5-5 that begins the hand, and the 5-1 that was laid to its right."""


def offered(client: httpx.Client, before: int, *pips: int) -> list[dict[str, object]]:
    answer = client.get(f"{API}/ends", params={"before": before, "pips": pips})
    assert answer.status_code == 200, answer.text
    ends: list[dict[str, object]] = answer.json()
    return ends


def test_both_sides_of_a_spinner_were_open_before_anything_lay_against_it(anybody: httpx.Client) -> None:
    ends = offered(anybody, FIRST, 5, 2)
    assert [(one["seq"], one["port"], one["value"]) for one in ends] == [(SPINNER, "W", 5), (SPINNER, "E", 5)]
    assert [one["fits"] for one in ends] == [True, True]
    assert [one["taken"] for one in ends] == [False, True]
    assert len({(one["x"], one["y"]) for one in ends}) == 2


def test_what_does_not_fit_is_told(anybody: httpx.Client) -> None:
    assert [one["fits"] for one in offered(anybody, FIRST, 6, 2)] == [False, False]


def test_before_the_first_tile_there_was_no_end(anybody: httpx.Client) -> None:
    assert offered(anybody, SPINNER, 5, 5) == []


def test_ends_that_came_later_are_not_offered(table: TrueTable, anybody: httpx.Client) -> None:
    game = table.live.session.state.game
    assert game is not None
    later = {node.id for node in game.layout.nodes[2:]}
    assert not later & {one["seq"] for one in offered(anybody, game.layout.nodes[2].id, 5, 2)}


def test_an_action_that_there_is_not_and_numbers_that_no_tile_has_are_refused(anybody: httpx.Client) -> None:
    assert anybody.get(f"{API}/ends", params={"before": 999, "pips": (5, 2)}).status_code == 404
    assert anybody.get(f"{API}/ends", params={"before": FIRST, "pips": (5, 19)}).status_code == 422
    assert anybody.get(f"{API}/ends", params={"before": FIRST, "pips": (5,)}).status_code == 422
