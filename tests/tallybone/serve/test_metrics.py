"""Tests of metrics and health for monitoring, with the official parser of the Prometheus text format."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import httpx
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families
from websockets.sync.client import connect

from tallybone.doctor.machine import Machine
from tallybone.finding import absent, ok, problem, warning
from tallybone.play.counts import Counts, PipelineStage
from tallybone.serve.health import Health
from tallybone.serve.metrics import Observed, prometheus_text, verdict_of
from tests.tallybone.serve.served import Plugs, Served, at_served_table
from tests.tallybone.web.true_table import PIN
from tests.waiting import until

WARM = Machine("Raspberry Pi 5", "Debian", 64, (3, 11), 4096, 61.5, 0x50005, is_clock_set=True)
HEALTH = Health(
    "0.1.0",
    0.25,
    (
        ok("camera", "usb:0"),
        absent("LEDs", ""),
        ok("display", "works"),
        problem("display", "no port"),
        warning("heat", ""),
    ),
)
SEEN = Observed(Counts(), HEALTH, WARM, 7 * 10**9, 3, is_played=True)


def text_of(seen: Observed) -> str:
    return prometheus_text(seen).decode()


def samples(text: str) -> dict[str, float]:
    """Return each value by its name and the values of its labels."""
    return {
        " ".join((sample.name, *sample.labels.values())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_a_kind_of_part_is_up_if_all_its_parts_are() -> None:
    found = samples(text_of(SEEN))
    up = {name.split()[1]: value for name, value in found.items() if name.startswith("tallybone_part_up")}
    assert up == {"camera": 1.0, "display": 0.0, "heat": 1.0}


def test_heat_power_and_space_are_reported_if_known() -> None:
    found = samples(text_of(SEEN))
    assert found["tallybone_temperature_celsius"] == 61.5
    assert found["tallybone_recordings_free_bytes"] == 7e9
    assert (found["tallybone_power_limited undervoltage"], found["tallybone_power_limited throttled"]) == (1.0, 1.0)
    assert found["tallybone_power_limited frequency_capped"] == 0.0
    assert found["tallybone_power_limited_since_start undervoltage"] == 1.0
    families = {family.name: family for family in text_string_to_metric_families(text_of(SEEN))}
    assert (families["tallybone_questions"].type, found["tallybone_questions_total"]) == ("counter", 0.0)
    silent = replace(SEEN, machine=replace(WARM, temperature_c=None, throttled=None))
    assert not [name for name in samples(text_of(silent)) if "temperature_c" in name or "power" in name]


def test_pictures_that_were_not_read_count_as_dropped() -> None:
    found = samples(text_of(replace(SEEN, counts=Counts(pictures_taken=9, pictures_seen=7))))
    assert (found["tallybone_frames_taken_total"], found["tallybone_frames_dropped_total"]) == (9.0, 2.0)


def test_only_problems_make_a_table_unhealthy() -> None:
    assert verdict_of(HEALTH).reasons == ("display: no port",)
    assert verdict_of(replace(HEALTH, findings=HEALTH.findings[:2])).ok


def test_histogram_buckets_are_cumulative() -> None:
    counts = Counts()
    for seconds in (0.0005, 0.001, 0.002, 0.2, 9.0):
        counts.times[PipelineStage.READ].add(seconds)
    text = text_of(replace(SEEN, counts=counts))
    for bound, count in (("0.001", 2), ("0.003", 3), ("0.3", 4), ("+Inf", 5)):
        assert f'tallybone_stage_seconds_bucket{{le="{bound}",stage="read"}} {count}.0\n' in text
    assert 'tallybone_stage_seconds_count{stage="read"} 5.0\n' in text
    family = next(family for family in text_string_to_metric_families(text) if family.name == "tallybone_stage_seconds")
    assert family.type == "histogram"
    assert 9.2035 in {sample.value for sample in family.samples if sample.name.endswith("_sum")}


@settings(deadline=None)
@given(st.text())
def test_label_values_are_escaped(part: str) -> None:
    found = {
        family.name: family.samples
        for family in text_string_to_metric_families(
            text_of(replace(SEEN, health=replace(SEEN.health, findings=(ok(part, ""),))))
        )
    }
    assert [sample.value for sample in found["tallybone_part_up"]] == [1]


def fetched(table: Served, path: str) -> httpx.Response:
    return httpx.get(table.url + path, timeout=20)


def test_a_match_is_counted_in_every_stage(table: Served) -> None:
    with table.client() as client:
        match = {"game": "block", "players": ["Wilhelmina", "Ben"]}
        assert client.post("/match", json=match).status_code == 204

        def is_counted() -> bool:
            table.plugs.show()
            return samples(fetched(table, "/metrics").text)["tallybone_stage_seconds_count read"] > 0

        until(is_counted)
    answer = fetched(table, "/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    found = samples(answer.text)
    assert found["tallybone_frames_taken_total"] >= found["tallybone_frames_seen_total"] > 0
    assert found["tallybone_stage_seconds_count page"] > 0
    assert found["tallybone_match_played"] == 1.0
    assert found["process_resident_memory_bytes"] > 10**7


def test_metrics_and_health_contain_neither_names_nor_the_pin(table: Served) -> None:
    with table.client() as client:
        assert client.post("/match", json={"game": "block", "players": ["Wilhelmina", "Ben"]}).status_code == 204
        until(lambda: samples(fetched(table, "/metrics").text)["tallybone_match_played"] == 1.0)
    for path in ("/metrics", "/health"):
        text = fetched(table, path).text
        assert "Wilhelmina" not in text
        assert PIN not in text.replace(f":{table.url.rpartition(':')[2]}", "")


def test_a_table_without_a_camera_is_unhealthy_with_status_503(tmp_path: Path) -> None:
    with at_served_table(tmp_path, plugs=Plugs(None)) as table:
        until(lambda: fetched(table, "/health").status_code == 503)
        health = fetched(table, "/health").json()
        assert not health["ok"]
        assert any("camera" in reason and "plugged in" in reason for reason in health["reasons"])
        assert httpx.head(f"{table.url}/health", timeout=20).status_code == 503
        assert samples(fetched(table, "/metrics").text)["tallybone_part_up camera"] == 0.0


def test_the_speed_of_the_machine_is_among_the_findings(table: Served) -> None:
    found = fetched(table, "/api/v1/health").json()["findings"]
    assert [finding["text"] for finding in found if finding["part"] == "speed"] == ["measured during a match"]


def test_viewers_are_counted_while_connected(table: Served) -> None:

    def viewers() -> float:
        return samples(fetched(table, "/metrics").text)["tallybone_viewers"]

    with connect(table.url.replace("http", "ws") + "/api/v1/live"):
        until(lambda: viewers() == 1.0)
    until(lambda: viewers() == 0.0)
