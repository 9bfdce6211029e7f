"""Tests of the table of weights in `tallybone.session` against the code."""

from __future__ import annotations

import re

import pytest

import tallybone.session
from tallybone.session import course, decoder, steps

TABLE = (tallybone.session.__doc__ or "").split("Weights\n===")[1]
WEIGHTS = {
    name: value
    for name, value in (vars(course) | vars(steps) | vars(decoder)).items()
    if re.fullmatch(r"[A-Z_]+", name) and isinstance(value, int | float)
}
# Limits of tables and hands, and of rounding, which no course reaches in play.
OTHERS = {"NEVER", "_MAX_ACTIONS", "_MORE_LOOKS", "_MAX_STRAYS", "_SAME", "_SCORING", "_TILES"}


@pytest.mark.parametrize("name", sorted(set(WEIGHTS) - OTHERS))
def test_a_weight_of_the_decoder_is_in_the_table(name: str) -> None:
    value = WEIGHTS[name]
    shown = f"{abs(value) / 1e9 if name.endswith('_NS') else abs(value):g}"
    lines = [line for line in TABLE.splitlines() if re.search(rf"\b{name}\b", line)]
    assert any(re.search(rf"(?<![\d.]){re.escape(shown)}(?![\d.]*\d)", line) for line in lines), (name, value, lines)


def test_a_weight_in_the_table_is_in_a_module() -> None:
    names = set(re.findall(r"\b_[A-Z_]+[A-Z]\b", TABLE))
    assert len(names) > 40
    modules = ("belief", "course", "steps", "decoder", "questions", "touching")
    known = {name for module in modules for name in vars(__import__(f"tallybone.session.{module}", fromlist=["_"]))}
    assert names - known == set()
