"""Tests of docs/reference/mqtt.md: its examples work, and all events and fields are described."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tallybone.notify.broker import HEADER, signature
from tallybone.notify.mqtt import Teller, as_payload
from tallybone.store.table_file import EventKind, TableIdentity, load_table
from tests.tallybone.notify.snapshots import played, shown

DOCUMENT = (Path(__file__).parents[3] / "docs" / "reference" / "mqtt.md").read_text()


def test_the_example_is_valid(tmp_path: Path) -> None:
    path = tmp_path / "table.toml"
    path.write_text(DOCUMENT.split("```toml\n")[1].split("```")[0])
    settings = load_table(path).beyond
    assert settings.mqtt is not None
    assert settings.mqtt.place == TableIdentity("table-3", "Table 3", "Spring 2026")
    assert [hook.events for hook in settings.webhooks] == [(EventKind.POINTS, EventKind.MATCH_OVER)]


def test_the_documented_check_accepts_only_valid_signatures() -> None:
    names: dict[str, Any] = {"hashlib": hashlib, "hmac": hmac}
    exec(DOCUMENT.split("```python\n")[1].split("```")[0], names)  # a trusted document
    is_of_the_table: Callable[..., bool] = names["is_of_the_table"]
    header = signature("sesame", 1000, b'{"seq":1}')
    assert HEADER in DOCUMENT
    assert is_of_the_table("sesame", header, b'{"seq":1}', 1200.0)
    assert not is_of_the_table("sesame", header, b'{"seq":2}', 1200.0)
    assert not is_of_the_table("other", header, b'{"seq":1}', 1200.0)
    assert not is_of_the_table("sesame", header, b'{"seq":1}', 1400.0)


@pytest.mark.parametrize("kind", EventKind)
def test_every_event_is_described(kind: EventKind) -> None:
    assert f"`{kind}`" in DOCUMENT


def test_every_field_of_scores_state_and_plays_is_described() -> None:
    published = Teller(TableIdentity("t", "T"), "run").follow(shown(5, 0, plays=(played(1),)), 1, "now")
    fields = set(re.findall(rb'"([a-z_]+)":', b"".join(map(as_payload, published.states.values()))))
    assert {name.decode() for name in fields if name.decode() not in DOCUMENT} == set()
