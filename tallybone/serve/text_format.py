r"""Numbers as Prometheus reads them: the text format 0.0.4, written by hand, read by its own parser in the tests."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from tallybone.play.counts import BOUNDS_S, Times

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Kind(StrEnum):
    """What a number does."""

    COUNTER = "counter"
    """It only rises."""
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class Sample:
    """A number.

    Attributes:
        value: It.
        labels: Which one of its family it is, as pairs of name and value.
        ending: What comes after the family's name.
    """

    value: float
    labels: tuple[tuple[str, str], ...] = ()
    ending: str = ""


@dataclass(frozen=True, slots=True)
class Family:
    """Numbers of one name.

    Attributes:
        name: With its unit at the end.
        kind: What they do.
        about: What they say, in one line.
        samples: They; none where this table has no such thing.
    """

    name: str
    kind: Kind
    about: str
    samples: tuple[Sample, ...]


def histogram(times: Times, *labels: tuple[str, str]) -> tuple[Sample, ...]:
    """Return the samples of a histogram in seconds."""
    total, samples = 0, list[Sample]()
    # Taken once: the game goes on meanwhile, and the sum of the parts has to be the whole.
    within = tuple(times.within)
    for bound, count in zip((*BOUNDS_S, float("inf")), within, strict=True):
        total += count
        samples.append(Sample(total, (*labels, ("le", _number(bound))), "_bucket"))
    return (*samples, Sample(times.total_s, labels, "_sum"), Sample(total, labels, "_count"))


def as_text(families: Iterable[Family]) -> str:
    r"""Return the text of families of numbers.

    >>> as_text([Family("tallybone_viewers", Kind.GAUGE, "Who watches.", (Sample(2, (("at", 'the "bar"'),)),))])
    '# HELP tallybone_viewers Who watches.\n# TYPE tallybone_viewers gauge\ntallybone_viewers{at="the \\"bar\\""} 2\n'
    """
    return "".join(_text_of(family) for family in families if family.samples)


def _text_of(family: Family) -> str:
    about = family.about.replace("\\", r"\\").replace("\n", r"\n")
    lines = [f"# HELP {family.name} {about}", f"# TYPE {family.name} {family.kind}"]
    for one in family.samples:
        labels = ",".join(f'{name}="{_escaped(value)}"' for name, value in one.labels)
        lines.append(f"{family.name}{one.ending}{f'{{{labels}}}' if labels else ''} {_number(one.value)}")
    return "\n".join(lines) + "\n"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _number(value: float) -> str:
    return "+Inf" if value == float("inf") else repr(value)
