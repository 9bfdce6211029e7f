"""Tests of the ends offered for a missed or misplaced tile: those open at that time."""

from __future__ import annotations

import httpx

from tests.tallybone.web.true_table import TrueTable

API = "/api/v1"
SPINNER, FIRST = 3, 4
"""The 5-5 that leads the hand, and the 5-1 to its right."""


def offered(client: httpx.Client, before: int, *pips: int) -> list[dict[str, object]]:
    answer = client.get(f"{API}/ends", params={"before": before, "pips": pips})
    assert answer.status_code == 200, answer.text
    ends: list[dict[str, object]] = answer.json()
    return ends


def test_both_sides_of_a_new_spinner_are_open(guest: httpx.Client) -> None:
    ends = offered(guest, FIRST, 5, 2)
    assert [(end["seq"], end["port"], end["value"]) for end in ends] == [(SPINNER, "W", 5), (SPINNER, "E", 5)]
    assert [end["fits"] for end in ends] == [True, True]
    assert [end["taken"] for end in ends] == [False, True]
    assert len({(end["x"], end["y"]) for end in ends}) == 2


def test_ends_that_do_not_match_are_marked(guest: httpx.Client) -> None:
    assert [end["fits"] for end in offered(guest, FIRST, 6, 2)] == [False, False]


def test_no_end_is_open_before_the_first_tile(guest: httpx.Client) -> None:
    assert offered(guest, SPINNER, 5, 5) == []


def test_later_ends_are_not_offered(table: TrueTable, guest: httpx.Client) -> None:
    game = table.live.session.state.game
    assert game is not None
    later = {node.id for node in game.layout.nodes[2:]}
    assert not later & {end["seq"] for end in offered(guest, game.layout.nodes[2].id, 5, 2)}


def test_rejects_unknown_actions_and_invalid_pips(guest: httpx.Client) -> None:
    assert guest.get(f"{API}/ends", params={"before": 999, "pips": (5, 2)}).status_code == 404
    assert guest.get(f"{API}/ends", params={"before": FIRST, "pips": (5, 19)}).status_code == 422
    assert guest.get(f"{API}/ends", params={"before": FIRST, "pips": (5,)}).status_code == 422
