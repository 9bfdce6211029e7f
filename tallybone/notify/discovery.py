"""What Home Assistant is told, so that it finds the table by itself: one message for the whole device. Pure."""

from __future__ import annotations

from tallybone.notify.events import Json
from tallybone.notify.mqtt import OFFLINE, ONLINE, Message, Topics, as_payload
from tallybone.store.table_file import Place

LEAST_SEATS = 2


def birth_topic(discovery: str) -> str:
    """Return where Home Assistant says that it has begun anew, and wants to be told everything again."""
    return f"{discovery}/status"


def discovery_message(discovery: str, topics: Topics, place: Place, *, seats: int, version: str) -> Message:
    """Return the message that makes a device of a table.

    Args:
        discovery: What topics of Home Assistant begin with.
        topics: Those of the table.
        place: Which table this is.
        seats: So many players have a sensor each; of seats that are free nothing is known.
        version: Of this program.
    """
    device = f"tallybone_{place.table}"
    said: dict[str, Json] = {
        "device": {
            "identifiers": [device],
            "name": place.name,
            "manufacturer": "Tallybone",
            "model": "Domino table",
            "sw_version": version,
        },
        "origin": {"name": "Tallybone", "sw_version": version},
        "components": _components(device, topics, seats),
        "availability_topic": topics.of("availability"),
        "payload_available": ONLINE.decode(),
        "payload_not_available": OFFLINE.decode(),
        "qos": 1,
    }
    return Message(f"{discovery}/device/{device}/config", as_payload(said), is_retained=True)


def _components(device: str, topics: Topics, seats: int) -> dict[str, Json]:
    made: dict[str, Json] = {}

    def add(key: str, platform: str, name: str, what: str, template: str, **more: Json) -> None:
        made[key] = {
            "platform": platform,
            "unique_id": f"{device}_{key}",
            "name": name,
            "state_topic": topics.of(what),
            "value_template": template,
            **more,
        }

    for seat in range(seats):
        add(f"score_{seat}", "sensor", f"Score {seat + 1}", "scores", _of_seat(seat, "total"), icon="mdi:counter")
        add(f"player_{seat}", "sensor", f"Player {seat + 1}", "scores", _of_seat(seat, "name"), icon="mdi:account")
    add("game", "sensor", "Game", "scores", "{{ value_json.game or none }}", icon="mdi:cards-playing")
    add("waits_for", "sensor", "Waits for", "state", "{{ value_json.waits_for[:255] }}", icon="mdi:account-clock")
    add("playing", "binary_sensor", "Playing", "scores", _on_off("value_json.playing"), device_class="running")
    add(
        "problem",
        "binary_sensor",
        "Problem",
        "health",
        _on_off("value_json.grade == 'problem'"),
        device_class="problem",
        entity_category="diagnostic",
    )
    return made


def _of_seat(seat: int, what: str) -> str:
    """Return a template; where it gives none, Home Assistant shows that nothing is known."""
    return f"{{{{ value_json.players[{seat}].{what} if value_json.players | length > {seat} else none }}}}"


def _on_off(condition: str) -> str:
    return f"{{{{ 'ON' if {condition} else 'OFF' }}}}"
