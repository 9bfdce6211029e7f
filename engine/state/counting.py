"""Count of a layout: the sum of its open ends and the points it scores. See docs/reference/rules.md 2.2."""

from engine.rules.rules import Rules, SpinnerCount
from engine.state.layout import ARM_PLACES, DOUBLE_PORTS, LINE, Layout, NodeId, OpenEnd, Port, Spot
from engine.value import value


@value
class Term:
    """A term of the count.

    Attributes:
        spot: Half that counts: W or E of a single, N or S of a double, whose halves lie across the line.
        pips: Number that it adds.
        arm: Arm on which the half is displayed.
    """

    spot: Spot
    pips: int
    arm: Port


@value
class Count:
    """Sum of the open ends by arm, clockwise from the west. Computed on access.

    Attributes:
        ends: Open ends of the layout.
        spinner_count: Rule for the value of a capped spinner.

    >>> print(Count(()))
    0
    """

    ends: tuple[OpenEnd, ...]
    spinner_count: SpinnerCount = SpinnerCount.UNTIL_CAPPED

    @property
    def total(self) -> int:
        """Total of the open ends."""
        total = 0
        doubles: dict[NodeId, list[OpenEnd]] = {}
        for end in self.ends:
            if end.ways:
                doubles.setdefault(end.spot.host, []).append(end)
            else:
                total += end.number
        for free in doubles.values():
            total += free[0].number * _halves(free, self.spinner_count)
        return total

    @property
    def terms(self) -> tuple[Term, ...]:
        """Terms of the sum, one for each half that counts, in arm order."""
        terms = [Term(end.spot, end.number, end.arm) for end in self.ends if not end.ways]
        for double in dict.fromkeys(end.spot.host for end in self.ends if end.ways):
            terms += _double_terms([end for end in self.ends if end.spot.host == double], self.spinner_count)
        return tuple(sorted(terms, key=lambda term: ARM_PLACES[term.arm]))

    def __str__(self) -> str:
        """Return the sum as text, such as ``3 + 2 + 5 + 5 = 15``."""
        terms = self.terms
        return " + ".join(str(term.pips) for term in terms) + f" = {self.total}" if len(terms) > 1 else str(self.total)


def count(layout: Layout, spinner_count: SpinnerCount) -> Count:
    """Return the count of *layout*."""
    return Count(layout.ends, spinner_count)


def points_for(total: int, rules: Rules) -> int:
    """Return the points for a play after which the count is *total*. 0 if it does not score."""
    if rules.unit is None or total % rules.unit != 0:
        return 0
    return total // rules.play_divisor


def _halves(free: list[OpenEnd], spinner_count: SpinnerCount) -> int:
    """Return the number of halves of a double that count, if its open ends are *free*."""
    ways, covered = free[0].ways, free[0].ways - len(free)
    if covered <= 1 or ways == len(LINE):  # a double that is no spinner has one of its two ends left
        return 2
    if spinner_count is SpinnerCount.UNTIL_CAPPED or ways != len(DOUBLE_PORTS):
        return 0
    return min(2, len(free))


def _double_terms(free: list[OpenEnd], spinner_count: SpinnerCount) -> tuple[Term, ...]:
    """Return the terms of a double whose open ends are *free*."""
    end, host, pips, halves = free[0], free[0].spot.host, free[0].number, _halves(free, spinner_count)
    if halves < 2:
        return tuple(Term(each.spot, pips, each.arm) for each in free[:halves])
    north, south = Port.N, Port.S
    if end.ways - len(free) <= 1 or end.ways == len(LINE):
        # Both halves lie across the line, so both are displayed at its end.
        north = south = next((each.arm for each in free if each.spot.port in LINE), end.arm)
    return (Term(Spot(host, Port.N), pips, north), Term(Spot(host, Port.S), pips, south))
