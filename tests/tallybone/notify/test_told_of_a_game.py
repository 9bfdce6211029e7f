"""What others are told of a whole game: every play once, and points that add up to the score."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from tallybone.notify.notifying import telling
from tallybone.store.table_file import BeyondSettings, Webhook
from tests.tallybone.notify.test_webhook import a_wall
from tests.tallybone.web.conftest import at_table
from tests.waiting import until


@pytest.mark.slow
def test_every_play_of_a_game_is_told_once_and_its_points_add_up() -> None:
    with a_wall() as wall, at_table() as table:
        settings = BeyondSettings(webhooks=(Webhook(url=wall.url),))
        with telling(settings, table.page.feed, tuple):
            until(lambda: wall.came)
            table.play(20)

            def told() -> list[dict[str, object]]:
                return [json.loads(body) for _, _, body in list(wall.came)]

            def points() -> Counter[object]:
                sums: Counter[object] = Counter()
                for one in told():
                    if one["event"] == "points":
                        sums[one["seat"]] += one["points"]  # type: ignore[operator]  # JSON of our own
                return sums

            def totals() -> dict[int, int]:
                game = table.live.session.state.game
                return {} if game is None else {seat: total for seat, total in enumerate(game.totals) if total}

            until(lambda: table.camera.is_idle and points() == totals())
            assert totals()
            said = told()
            assert [one["seq"] for one in said] == list(range(1, len(said) + 1))
            assert said[0]["event"] == "match_began"
            plays = [one["play"]["seq"] for one in said if one["event"] == "play"]  # type: ignore[index]
            assert len(plays) == len(set(plays)) > 8
