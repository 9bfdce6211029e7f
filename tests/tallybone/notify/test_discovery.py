"""Tests of the discovery message against the documentation of Home Assistant."""

from __future__ import annotations

import json
import re
from typing import Any

import jinja2
import pytest

from tallybone.notify.mqtt import Topics, birth_topic, discovery_message
from tallybone.store.table_file import TableIdentity

# From the MQTT documentation of Home Assistant: "Device discovery payload", "MQTT sensor" and "MQTT binary sensor".
ROOT = {
    "device",
    "origin",
    "components",
    "availability",
    "availability_topic",
    "payload_available",
    "payload_not_available",
    "availability_mode",
    "availability_template",
    "command_topic",
    "encoding",
    "qos",
    "state_topic",
}
DEVICE = {
    "configuration_url",
    "connections",
    "hw_version",
    "identifiers",
    "manufacturer",
    "model",
    "model_id",
    "name",
    "serial_number",
    "suggested_area",
    "sw_version",
    "via_device",
}
ORIGIN = {"name", "sw_version", "support_url"}
ENTITY = {
    "platform",
    "unique_id",
    "name",
    "state_topic",
    "value_template",
    "icon",
    "device_class",
    "entity_category",
    "enabled_by_default",
    "expire_after",
    "force_update",
    "json_attributes_topic",
    "json_attributes_template",
    "entity_picture",
    "default_entity_id",
}
OF_PLATFORM = {
    "sensor": ENTITY | {"state_class", "unit_of_measurement", "options", "suggested_display_precision"},
    "binary_sensor": ENTITY | {"payload_on", "payload_off", "off_delay"},
}
BINARY_CLASSES = {"problem", "running", "connectivity", "occupancy"}


@pytest.fixture(name="discovery")
def published_discovery() -> dict[str, Any]:
    message = discovery_message(
        "homeassistant",
        Topics("tallybone", "table-3"),
        TableIdentity("table-3", "Table 3"),
        seats=3,
        version="1.2",
    )
    assert message.topic == "homeassistant/device/tallybone_table-3/config"
    assert message.is_retained
    discovery: dict[str, Any] = json.loads(message.payload)
    return discovery


def test_the_topic_matches_home_assistant() -> None:
    topic = discovery_message(
        "homeassistant", Topics("a", "b_1-c"), TableIdentity("b_1-c", "B"), seats=2, version="1"
    ).topic
    assert re.fullmatch(r"homeassistant/device/[a-zA-Z0-9_-]+/config", topic)
    assert birth_topic("homeassistant") == "homeassistant/status"


def test_the_device_has_all_required_and_only_known_fields(discovery: dict[str, Any]) -> None:
    assert set(discovery) <= ROOT
    assert {"device", "origin", "components"} <= set(discovery)
    assert set(discovery["device"]) <= DEVICE
    assert discovery["device"]["identifiers"]
    assert set(discovery["origin"]) <= ORIGIN
    assert discovery["origin"]["name"]
    assert (discovery["payload_available"], discovery["payload_not_available"]) == ("online", "offline")
    assert discovery["availability_topic"] == "tallybone/v1/table-3/availability"


def test_components_have_all_required_and_only_known_fields(discovery: dict[str, Any]) -> None:
    for component in discovery["components"].values():
        assert set(component) <= OF_PLATFORM[component["platform"]]
        assert {"platform", "unique_id", "state_topic"} <= set(component)
        assert component["state_topic"].startswith("tallybone/v1/table-3/")
        if component["platform"] == "binary_sensor":
            assert component["device_class"] in BINARY_CLASSES
    ids = [component["unique_id"] for component in discovery["components"].values()]
    assert len(ids) == len(set(ids))


def test_every_player_has_a_score_and_a_name(discovery: dict[str, Any]) -> None:
    assert {f"{kind}_{seat}" for kind in ("score", "player") for seat in range(3)} <= set(discovery["components"])


def test_templates_extract_values_of_the_messages(discovery: dict[str, Any]) -> None:
    scores = {"game": "bones", "playing": True, "players": [{"name": "Ann", "total": 15}]}
    values = {"scores": scores, "state": {"waits_for": "x" * 400}, "health": {"grade": "problem"}}

    def rendered(key: str) -> str:
        component = discovery["components"][key]
        value = values[component["state_topic"].rpartition("/")[2]]
        return str(jinja2.Template(component["value_template"]).render(value_json=value))

    keys = ("score_0", "player_0", "score_2", "game", "playing", "problem")
    assert [rendered(key) for key in keys] == ["15", "Ann", "None", "bones", "ON", "ON"]
    assert len(rendered("waits_for")) == 255
