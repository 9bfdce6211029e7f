"""A table to play at in tests: plays are written as in docs/reference/rules.md 6.2, each on one line."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from engine import (
    BONES,
    Call,
    Count,
    Decline,
    Draw,
    Event,
    Game,
    Hand,
    Irregular,
    Knock,
    Lead,
    LeadRule,
    MatchStart,
    NewHand,
    NodeId,
    OpenEnd,
    Outcome,
    Play,
    Policy,
    Port,
    ProblemKind,
    Reveal,
    RevealPips,
    Rules,
    Scored,
    Seat,
    Spot,
    Stack,
    State,
    Tile,
    Turn,
    apply,
    ends,
    legal_plays,
    legal_stacks,
    turn,
)

MIRROR = {Port.W: Port.E, Port.E: Port.W, Port.N: Port.S, Port.S: Port.N}
SAME = {port: port for port in Port}

# Any tile may lead and nothing is refused silently: for layouts that do not say how the hand began.
OPEN_BONES = replace(BONES, lead_first=LeadRule.LOT_ANY, policy=Policy.STRICT)


def tiles(text: str) -> tuple[Tile, ...]:
    return tuple(Tile.parse(word) for word in text.split())


@dataclass
class Table:
    """A match whose state moves on with each call; the last outcomes are kept."""

    rules: Rules = OPEN_BONES
    players: tuple[str, ...] = ("Brian", "Tom")
    names: dict[Port, Port] = field(default_factory=lambda: SAME)
    state: State = field(default_factory=State)
    outcomes: tuple[Outcome, ...] = ()

    def __post_init__(self) -> None:
        self.feed(MatchStart(self.rules, self.players), NewHand())

    def feed(self, *events: Event) -> Table:
        for event in events:
            self.state, self.outcomes = apply(self.state, event)
        return self

    @property
    def game(self) -> Game:
        assert self.state.game is not None
        return self.state.game

    @property
    def hand(self) -> Hand:
        assert self.game.hand is not None
        return self.game.hand

    @property
    def count(self) -> Count:
        return self.game.count

    @property
    def totals(self) -> tuple[int, ...]:
        return self.game.totals

    @property
    def score(self) -> int:
        """Points of the last event."""
        return sum(outcome.points for outcome in self.outcomes if isinstance(outcome, Scored))

    @property
    def due(self) -> Turn | None:
        """Whose turn it is, and what he has to do."""
        return turn(self.game)

    @property
    def whose(self) -> Seat:
        assert self.hand.turn is not None
        return self.hand.turn

    def end(self, arm: str) -> OpenEnd:
        """The one open end of that arm: W, E, N or S, or 1 to 6 of a starter."""
        (found,) = [end for end in ends(self.state) if end.arm is self.names[Port(arm)]]
        return found

    def node(self, tile: str) -> NodeId:
        (found,) = [node.id for node in self.game.layout.nodes if node.tile == Tile.parse(tile)]
        return found

    def spot(self, at: str) -> Spot | None:
        """Where "start", an arm, or "5-5:N" is."""
        if at == "start":
            return None
        tile, colon, port = at.partition(":")
        return Spot(self.node(tile), self.names[Port(port)]) if colon else self.end(at).spot

    def play_of(self, text: str, seat: int | None = None) -> Play:
        """ "5-4@W" as the player whose turn it is plays it; without @ it is the first tile, its first number west."""
        tile, _, at = text.partition("@")
        spot = self.spot(at or "start")
        who = Seat(seat) if seat is not None else self.hand.turn or Seat(0)
        inner = None
        if spot is None:
            west, east = (int(number) for number in tile.split("-"))
            inner = west if self.names[Port.W] is Port.W else east
        return Play(who, Tile.parse(tile), spot, inner)

    def play(self, *texts: str, seat: int | None = None) -> Table:
        for text in texts:
            self.feed(self.play_of(text, seat))
        return self

    def lead(self, seat: int) -> Table:
        return self.feed(Lead(Seat(seat)))

    def draw(self, number: int = 1, *, seat: int | None = None) -> Table:
        return self.feed(Draw(self.whose if seat is None else Seat(seat), number))

    def knock(self, times: int = 1) -> Table:
        """Knock, and so the next players if it is more than once."""
        for _ in range(times):
            self.feed(Knock(self.whose))
        return self

    def decline(self) -> Table:
        return self.feed(Decline(self.whose))

    def call(self, points: int | None = None, *, seat: int | None = None) -> Table:
        """Call points, if no seat is said then by who laid the last tile."""
        last = (self.whose - 1) % len(self.players) if seat is None else seat
        return self.feed(Call(Seat(last), points))

    def stack(self, tile: str, *, seat: int | None = None) -> Table:
        return self.feed(Stack(self.whose if seat is None else Seat(seat), Tile.parse(tile), self.node(tile)))

    def reveal(self, seat: int, hand: str | int) -> Table:
        """Lay a hand open, its tiles or only their sum."""
        one = Seat(seat)
        return self.feed(RevealPips(one, hand) if isinstance(hand, int) else Reveal(one, tiles(hand)))

    def can_play(self, held: str) -> list[str]:
        """The legal plays of who holds these tiles: "5-2@E"."""
        arms = {end.spot: end.arm for end in ends(self.state)}
        plays = legal_plays(self.state, tiles(held))
        return [str(play.tile) + ("" if play.at is None else f"@{arms[play.at]}") for play in plays]

    def can_stack(self, held: str) -> list[str]:
        return [str(stack.tile) for stack in legal_stacks(self.state, tiles(held))]


def short(rules: Rules = OPEN_BONES, *, hand: int, **options: object) -> Rules:
    """The same game with few tiles to play out."""
    return replace(rules, hand=hand, **options)  # type: ignore[arg-type]  # options are fields of Rules


def out_of(table: Table, kind: type[object]) -> list[object]:
    return [outcome for outcome in table.outcomes if isinstance(outcome, kind)]


def kinds(table: Table) -> list[ProblemKind]:
    return [outcome.problem.kind for outcome in table.outcomes if isinstance(outcome, Irregular)]


def words(table: Table) -> list[str]:
    """What is said to be wrong."""
    return [outcome.problem.words for outcome in table.outcomes if isinstance(outcome, Irregular)]
