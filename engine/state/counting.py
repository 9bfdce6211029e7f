"""The count of a layout, with the sum behind it, and the points it is worth. docs/rules.md 2.2."""

from engine.rules.rules import Rules, SpinnerCount
from engine.state.layout import DOUBLE_PORTS, LINE, Layout, NodeId, OpenEnd, Port, Spot, arm_place
from engine.value import value


@value
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


@value
class Count:
    """The sum of the open ends, arm by arm, clockwise from the west; worked out when it is asked for.

    Attributes:
        ends: The open ends of the layout.
        spinner_count: What a capped spinner adds.

    >>> print(Count(()))
    0
    """

    ends: tuple[OpenEnd, ...]
    spinner_count: SpinnerCount = SpinnerCount.UNTIL_CAPPED

    @property
    def total(self) -> int:
        """The count."""
        total = 0
        free: dict[NodeId, int] = {}
        for end in self.ends:
            if not end.ways:
                total += end.number
                continue
            host = end.spot.host
            if host not in free:
                covered = end.ways - len([one for one in self.ends if one.spot.host == host])
                free[host] = end.number * _halves(end.ways, covered, self.spinner_count)
                total += free[host]
        return total

    @property
    def terms(self) -> tuple[Term, ...]:
        """The terms of the sum: one number for each half that counts."""
        terms: list[Term] = []
        doubles: dict[NodeId, list[OpenEnd]] = {}
        for end in self.ends:
            if end.ways:
                doubles.setdefault(end.spot.host, []).append(end)
            else:
                terms.append(Term(end.spot, end.number, end.arm))
        for free in doubles.values():
            terms += _double_terms(free, self.spinner_count)
        return tuple(sorted(terms, key=lambda term: arm_place(term.arm)))

    def __str__(self) -> str:
        """Return the sum as players would say it: ``3 + 2 + 5 + 5 = 15``."""
        terms = self.terms
        if len(terms) < 2:
            return str(self.total)
        return " + ".join(str(term.pips) for term in terms) + f" = {self.total}"


def count(layout: Layout, spinner_count: SpinnerCount) -> Count:
    """Return the count of *layout*."""
    return Count(layout.ends, spinner_count)


def points_for(total: int, rules: Rules) -> int:
    """Return the points of a play that leaves the count *total*; 0 for none."""
    if rules.unit is None or total % rules.unit != 0:
        return 0
    return total // rules.play_divisor


def _halves(ways: int, covered: int, spinner_count: SpinnerCount) -> int:
    """Return the number of halves that count of a double with an open end and *covered* of its *ways*."""
    if covered <= 1 or ways == len(LINE):  # not a spinner: of its two ends one is left
        return 2
    if spinner_count is SpinnerCount.UNTIL_CAPPED or ways != len(DOUBLE_PORTS):
        return 0
    return min(2, ways - covered)


def _double_terms(free: list[OpenEnd], spinner_count: SpinnerCount) -> tuple[Term, ...]:
    """Return the halves that count of a double with the open ends *free*."""
    end, host, pips = free[0], free[0].spot.host, free[0].number
    covered = end.ways - len(free)
    halves = _halves(end.ways, covered, spinner_count)
    if halves == 2 and (covered <= 1 or end.ways == len(LINE)):
        # Both halves lie across the line, and are seen at its end.
        arm = next((one.arm for one in free if one.spot.port in LINE), end.arm)
        return (Term(Spot(host, Port.N), pips, arm), Term(Spot(host, Port.S), pips, arm))
    if halves == 2:
        return (Term(Spot(host, Port.N), pips, Port.N), Term(Spot(host, Port.S), pips, Port.S))
    return tuple(Term(one.spot, pips, one.arm) for one in free[:halves])
