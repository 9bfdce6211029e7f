"""Tests of the Prometheus text format with its official parser."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from tallybone.doctor.machine import Machine
from tallybone.finding import ok
from tallybone.play.counts import Counts, PipelineStage
from tallybone.serve.health import Health
from tallybone.serve.metrics import Observed, prometheus_text

HEALTH = Health("0.1.0", None, (ok("camera", "usb:0"),))
BARE = Machine("", "", 64, (3, 11), None, None, None, is_clock_set=None)
SEEN = Observed(Counts(questions=3), HEALTH, BARE, None, 2, is_played=False)


def text_of(seen: Observed) -> str:
    return prometheus_text(seen).decode()


def test_counters_and_gauges_are_parsed_correctly() -> None:
    found = {family.name: family for family in text_string_to_metric_families(text_of(SEEN))}
    assert found["tallybone_questions"].type == "counter"
    assert [(sample.name, sample.value) for sample in found["tallybone_questions"].samples] == [
        ("tallybone_questions_total", 3)
    ]
    assert [(sample.labels, sample.value) for sample in found["tallybone_part_up"].samples] == [({"part": "camera"}, 1)]


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


@given(st.text())
def test_label_values_are_escaped(part: str) -> None:
    found = {
        family.name: family.samples
        for family in text_string_to_metric_families(
            text_of(replace(SEEN, health=replace(SEEN.health, findings=(ok(part, ""),))))
        )
    }
    assert [sample.value for sample in found["tallybone_part_up"]] == [1]


def test_missing_values_are_omitted() -> None:
    assert "temperature" not in text_of(SEEN)
