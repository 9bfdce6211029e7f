"""The count of a layout, with the sum behind it, and the points it is worth. RULES.md 2.2."""

from dataclasses import dataclass

from engine.layout import ALL_PORTS, LINE, Layout, Node, Port, Spot
from engine.rules import Rules, SpinnerCount


@dataclass(frozen=True, slots=True)
class Term:
    """One number of the sum.

    Attributes:
        spot: The half that shows it: W or E of a single; N or S of a double, whose halves lie across the line.
        pips: What it adds.
        arm: Arm on which players see it.
    """

    spot: Spot
    pips: int
    arm: Port


@dataclass(frozen=True, slots=True)
class Count:
    """The sum of the open ends, arm by arm, clockwise from the west.

    >>> print(Count(()))
    0
    """

    terms: tuple[Term, ...]

    @property
    def total(self) -> int:
        """The count."""
        return sum(term.pips for term in self.terms)

    def __str__(self) -> str:
        """Return the sum as players would say it: ``3 + 2 + 5 + 5 = 15``."""
        if len(self.terms) < 2:
            return str(self.total)
        return " + ".join(str(term.pips) for term in self.terms) + f" = {self.total}"


def count(layout: Layout, spinner_count: SpinnerCount) -> Count:
    """Return the count of *layout* and what it is made of."""
    terms = [
        term
        for node in layout.nodes
        if not node.is_closed
        for term in (_double_terms(node, spinner_count) if node.tile.is_double else _single_terms(node))
    ]
    return Count(tuple(sorted(terms, key=lambda term: ALL_PORTS.index(term.arm))))


def points_for(total: int, rules: Rules) -> int:
    """Return what a play that leaves the count *total* scores; 0 for nothing."""
    if rules.unit is None or total % rules.unit != 0:
        return 0
    return total // rules.play_divisor


def _single_terms(node: Node) -> tuple[Term, ...]:
    """Return every uncovered half of a single: both of a lone first tile, else the outer one."""
    return tuple(
        Term(Spot(node.id, port), node.number_at(port), node.arm_at(port)) for port in LINE if port not in node.covered
    )


def _double_terms(node: Node, spinner_count: SpinnerCount) -> tuple[Term, ...]:
    """Return the halves that count of a double that is not closed, by how many ports are covered, whichever."""
    covered = len(node.covered)
    pips = node.tile.high
    if covered <= 1:
        free = Port.W if Port.W not in node.covered else Port.E
        arm = node.arm_at(free)
        return tuple(Term(Spot(node.id, half), pips, arm) for half in (Port.N, Port.S))
    if spinner_count is SpinnerCount.UNTIL_CAPPED:
        return ()
    if covered == 2:
        return tuple(Term(Spot(node.id, half), pips, half) for half in (Port.N, Port.S))
    return tuple(Term(Spot(node.id, port), pips, node.arm_at(port)) for port in ALL_PORTS if port not in node.covered)
