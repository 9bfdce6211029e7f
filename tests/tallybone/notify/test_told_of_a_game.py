"""Tests of the published events of a whole game."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from tallybone.notify.notifying import telling
from tallybone.store.table_file import BeyondSettings, Webhook
from tests.tallybone.notify.test_webhook import webhook_server
from tests.tallybone.web.conftest import at_table
from tests.waiting import until


@pytest.mark.slow
def test_all_plays_are_published_once_and_the_points_add_up() -> None:
    with webhook_server() as receiver, at_table() as table:
        settings = BeyondSettings(webhooks=(Webhook(url=receiver.url),))
        with telling(settings, table.page.feed, tuple, lambda: table.page.url):
            until(lambda: receiver.requests)
            table.play(20)

            def received() -> list[dict[str, object]]:
                return [json.loads(body) for _, _, body in list(receiver.requests)]

            def points() -> Counter[object]:
                sums: Counter[object] = Counter()
                for each in received():
                    if each["event"] == "points":
                        sums[each["seat"]] += each["points"]  # type: ignore[operator]
                return sums

            def totals() -> dict[int, int]:
                game = table.live.session.state.game
                return {} if game is None else {seat: total for seat, total in enumerate(game.totals) if total}

            until(lambda: table.camera.is_idle and points() == totals())
            assert totals()
            events = received()
            assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
            assert events[0]["event"] == "match_began"
            plays = [event["play"]["seq"] for event in events if event["event"] == "play"]  # type: ignore[index]
            assert len(plays) == len(set(plays)) > 8
