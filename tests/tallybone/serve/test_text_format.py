"""The numbers for Prometheus, read by its own parser."""

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


def test_a_counter_and_a_gauge_are_read_as_they_were_meant() -> None:
    found = {family.name: family for family in text_string_to_metric_families(text_of(SEEN))}
    assert found["tallybone_questions"].type == "counter"
    assert [(one.name, one.value) for one in found["tallybone_questions"].samples] == [("tallybone_questions_total", 3)]
    assert [(one.labels, one.value) for one in found["tallybone_part_up"].samples] == [({"part": "camera"}, 1)]


def test_a_histogram_adds_up_from_bucket_to_bucket() -> None:
    counts = Counts()
    for seconds in (0.0005, 0.001, 0.002, 0.2, 9.0):
        counts.times[PipelineStage.READ].add(seconds)
    text = text_of(replace(SEEN, counts=counts))
    for bound, count in (("0.001", 2), ("0.003", 3), ("0.3", 4), ("+Inf", 5)):
        assert f'tallybone_stage_seconds_bucket{{le="{bound}",stage="read"}} {count}.0\n' in text
    assert 'tallybone_stage_seconds_count{stage="read"} 5.0\n' in text
    family = next(one for one in text_string_to_metric_families(text) if one.name == "tallybone_stage_seconds")
    assert family.type == "histogram"
    assert 9.2035 in {one.value for one in family.samples if one.name.endswith("_sum")}


@given(st.text())
def test_no_text_breaks_out_of_its_place(part: str) -> None:
    found = {
        one.name: one.samples
        for one in text_string_to_metric_families(
            text_of(replace(SEEN, health=replace(SEEN.health, findings=(ok(part, ""),))))
        )
    }
    assert [one.value for one in found["tallybone_part_up"]] == [1]


def test_what_this_table_has_not_is_left_out() -> None:
    assert "temperature" not in text_of(SEEN)
