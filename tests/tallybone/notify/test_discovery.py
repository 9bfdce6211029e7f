"""Tests of the discovery message against the documentation of Home Assistant."""

from __future__ import annotations

import json
import re
from typing import Any

import jinja2
import pytest

from tallybone.notify.mqtt import PRESSES, PageLink, Topics, birth_topic, discovery_message, pressed_in
from tallybone.store.table_file import EventKind, TableIdentity

# Required and optional keys, from https://www.home-assistant.io/integrations/mqtt ("Device discovery payload") and
# homeassistant/components/mqtt/schemas.py.
ROOT = (
    {"device", "origin", "components"},
    {
        *("availability", "availability_mode", "availability_template", "availability_topic"),
        *("payload_available", "payload_not_available", "command_topic", "state_topic", "encoding", "qos"),
    },
)
DEVICE = (
    {"identifiers"},
    {
        *("configuration_url", "connections", "hw_version", "manufacturer", "model", "model_id", "name"),
        *("serial_number", "suggested_area", "sw_version", "via_device"),
    },
)
ORIGIN = ({"name"}, {"sw_version", "support_url"})
# The same for each platform, from .../integrations/sensor.mqtt, binary_sensor.mqtt, event.mqtt, image.mqtt and
# button.mqtt, and from the module of that name in homeassistant/components/mqtt. A unique_id is required for a device.
_NEEDED = {"platform", "unique_id"}
_COMMON = {
    *("name", "icon", "entity_category", "enabled_by_default", "entity_picture", "default_entity_id", "qos"),
    *("json_attributes_topic", "json_attributes_template"),
}
_SENSOR = {"value_template", "device_class", "expire_after", "force_update"}
PLATFORMS: dict[str, tuple[set[str], set[str]]] = {
    "sensor": (
        {"state_topic"},
        {*_SENSOR, "state_class", "unit_of_measurement", "options", "suggested_display_precision"},
    ),
    "binary_sensor": ({"state_topic"}, {*_SENSOR, "payload_on", "payload_off", "off_delay"}),
    "event": ({"state_topic", "event_types"}, {"value_template", "device_class"}),
    "image": ({"url_topic"}, {"url_template"}),
    "button": ({"command_topic"}, {"command_template", "payload_press", "device_class", "retain"}),
}
BINARY_CLASSES = {"problem", "running", "connectivity", "occupancy"}
PAGE = "http://192.168.1.5:8080"


def assert_keys(said: dict[str, Any], keys: tuple[set[str], set[str]]) -> None:
    """Check that all required keys are there, and no others than those and the optional ones."""
    required, optional = keys
    assert required <= said.keys() <= required | optional


def announced(link: PageLink) -> dict[str, Any]:
    """Return the discovery message of a table."""
    place = TableIdentity("table-3", "Table 3")
    message = discovery_message("homeassistant", Topics("tallybone", "table-3"), place, link, seats=3, version="1.2")
    assert message.topic == "homeassistant/device/tallybone_table-3/config"
    assert message.is_retained
    discovery: dict[str, Any] = json.loads(message.payload)
    return discovery


@pytest.fixture(name="discovery")
def published_discovery() -> dict[str, Any]:
    return announced(PageLink(lambda: PAGE, lambda button: None))


def test_the_device_has_all_required_and_only_known_fields(discovery: dict[str, Any]) -> None:
    assert_keys(discovery, ROOT)
    assert_keys(discovery["device"], DEVICE)
    assert_keys(discovery["origin"], ORIGIN)
    assert discovery["device"]["configuration_url"] == PAGE
    assert (discovery["payload_available"], discovery["payload_not_available"]) == ("online", "offline")
    assert discovery["availability_topic"] == "tallybone/v1/table-3/availability"
    assert {f"{kind}_{seat}" for kind in ("score", "player") for seat in range(3)} <= set(discovery["components"])
    place = TableIdentity("b_1-c", "B")
    topic = discovery_message("homeassistant", Topics("a", "b_1-c"), place, PageLink(), seats=2, version="1").topic
    assert re.fullmatch(r"homeassistant/device/[a-zA-Z0-9_-]+/config", topic)
    assert birth_topic("homeassistant") == "homeassistant/status"


def test_components_have_all_required_and_only_known_fields(discovery: dict[str, Any]) -> None:
    assert {component["platform"] for component in discovery["components"].values()} == PLATFORMS.keys()
    for component in discovery["components"].values():
        required, optional = PLATFORMS[component["platform"]]
        assert_keys(component, (_NEEDED | required, _COMMON | optional))
        topics = [value for key, value in component.items() if key.endswith("_topic")]
        assert all(topic.startswith("tallybone/v1/table-3/") for topic in topics)
        assert component.get("entity_category", "diagnostic") == "diagnostic"
        if component["platform"] == "binary_sensor":
            assert component["device_class"] in BINARY_CLASSES
        if "options" in component:
            assert component["device_class"] == "enum"
    ids = [component["unique_id"] for component in discovery["components"].values()]
    assert len(ids) == len(set(ids))


def test_without_a_reachable_page_and_permission_there_are_no_links_and_buttons() -> None:
    discovery = announced(PageLink())
    assert "configuration_url" not in discovery["device"]
    assert {component["platform"] for component in discovery["components"].values()} == PLATFORMS.keys() - {
        "image",
        "button",
    }


def test_each_button_sends_a_press_that_the_table_understands(discovery: dict[str, Any]) -> None:
    buttons = [component for component in discovery["components"].values() if component["platform"] == "button"]
    assert {pressed_in(button["payload_press"].encode()) for button in buttons} == PRESSES.keys()
    assert {button["command_topic"] for button in buttons} == {"tallybone/v1/table-3/press"}
    assert not any(button.get("retain") for button in buttons)
    assert {pressed_in(other) for other in (b"redeal", b"", b"undo ", "undo", None, b"\xff" * 1000)} == {None}


def rendered(template: str, value: object) -> str:
    """Return a template's value for a message. Home Assistant adds the filter `to_json` to Jinja's."""
    environment = jinja2.Environment(autoescape=False)
    environment.filters["to_json"] = json.dumps
    return environment.from_string(template).render(value_json=value)


def test_templates_extract_values_of_the_messages(discovery: dict[str, Any]) -> None:
    scores = {"game": "bones", "playing": True, "players": [{"name": "Ann", "total": 15}]}
    values = {"scores": scores, "state": {"waits_for": "x" * 400}, "health": {"grade": "problem"}}

    def shown(key: str) -> str:
        component = discovery["components"][key]
        return rendered(component["value_template"], values[component["state_topic"].rpartition("/")[2]])

    keys = ("score_0", "player_0", "score_2", "game", "playing", "problem", "health")
    assert [shown(key) for key in keys] == ["15", "Ann", "None", "bones", "ON", "ON", "problem"]
    assert len(shown("waits_for")) == 255


def test_each_event_has_a_known_type_and_its_fields(discovery: dict[str, Any]) -> None:
    component = discovery["components"]["event"]
    assert component["event_types"] == [kind.value for kind in EventKind]
    message = {"event": "points", "name": 'Ann "A" B', "points": 5}
    assert json.loads(rendered(component["value_template"], message)) == {**message, "event_type": "points"}


@pytest.mark.parametrize(
    ("last", "path"),
    [({"seq": 7, "pips": [5, 5]}, "evidence/7"), ({"seq": 8, "pips": None}, "picture"), (None, "picture")],
)
def test_the_image_is_that_of_the_last_tile_or_of_the_table(
    discovery: dict[str, Any], last: dict[str, Any] | None, path: str
) -> None:
    component = discovery["components"]["last_play"]
    assert component["url_topic"] == "tallybone/v1/table-3/state"
    assert rendered(component["url_template"], {"last": last}) == f"{PAGE}/api/v1/{path}.jpg"
