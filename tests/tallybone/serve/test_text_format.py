"""What is written for Prometheus, read by its own parser."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from tallybone.play.counts import Times
from tallybone.serve.metrics import Family, MetricKind, Sample, as_text, histogram


def up(part: str, value: int) -> Sample:
    return Sample(value, (("part", part),))


def read_back(*families: Family) -> dict[str, dict[tuple[str, tuple[tuple[str, str], ...]], float]]:
    """What the parser makes of them: by family, each sample by its name and labels."""
    return {
        family.name: {(one.name, tuple(one.labels.items())): one.value for one in family.samples}
        for family in text_string_to_metric_families(as_text(families))
    }


def test_a_counter_and_a_gauge_are_read_as_they_were_meant() -> None:
    found = read_back(
        Family("tallybone_questions_total", MetricKind.COUNTER, "Asked.", (Sample(3),)),
        Family(
            "tallybone_part_up",
            MetricKind.GAUGE,
            "Works.",
            (Sample(1, (("part", "camera"),)), Sample(0, (("part", "heat"),))),
        ),
    )
    assert found == {
        "tallybone_questions": {("tallybone_questions_total", ()): 3.0},
        "tallybone_part_up": {
            ("tallybone_part_up", (("part", "camera"),)): 1.0,
            ("tallybone_part_up", (("part", "heat"),)): 0.0,
        },
    }


def test_a_histogram_adds_up_from_bucket_to_bucket() -> None:
    times = Times()
    for seconds in (0.0005, 0.001, 0.002, 0.2, 9.0):
        times.add(seconds)
    text = as_text(
        [Family("tallybone_stage_seconds", MetricKind.HISTOGRAM, "Long.", histogram(times, ("stage", "read")))]
    )
    assert 'tallybone_stage_seconds_bucket{stage="read",le="0.001"} 2\n' in text
    assert 'tallybone_stage_seconds_bucket{stage="read",le="0.003"} 3\n' in text
    assert 'tallybone_stage_seconds_bucket{stage="read",le="0.3"} 4\n' in text
    assert 'tallybone_stage_seconds_bucket{stage="read",le="+Inf"} 5\n' in text
    assert 'tallybone_stage_seconds_count{stage="read"} 5\n' in text
    (family,) = text_string_to_metric_families(text)
    assert family.type == "histogram"
    assert {one.value for one in family.samples if one.name.endswith("_sum")} == {9.2035}


@given(st.text(), st.text())
def test_no_text_breaks_out_of_its_place(about: str, value: str) -> None:
    family = Family("tallybone_x", MetricKind.GAUGE, about, (Sample(1, (("part", value),)),))
    lines = as_text([family]).split("\n")
    assert len(lines) == 4
    assert lines[2].startswith('tallybone_x{part="')
    assert lines[2].endswith('"} 1')


def test_what_this_table_has_not_is_left_out() -> None:
    assert as_text([Family("tallybone_temperature_celsius", MetricKind.GAUGE, "Heat.", ())]) == ""
