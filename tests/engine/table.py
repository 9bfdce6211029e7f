"""A table for tests. Plays are written as in docs/reference/rules.md 6.2."""

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

# For layouts without a given lead: any tile may lead, and nothing is refused silently.
OPEN_BONES = replace(BONES, lead_first=LeadRule.LOT_ANY, policy=Policy.STRICT)


def tiles(text: str) -> tuple[Tile, ...]:
    return tuple(Tile.parse(word) for word in text.split())


@dataclass
class Table:
    """A match whose state advances with each call. `outcomes` are those of the last event."""

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
        """Points scored by the last event."""
        return sum(outcome.points for outcome in self.outcomes if isinstance(outcome, Scored))

    @property
    def due(self) -> Turn | None:
        """Current turn, with the required action."""
        return turn(self.game)

    @property
    def to_move(self) -> Seat:
        assert self.hand.turn is not None
        return self.hand.turn

    def end(self, arm: str) -> OpenEnd:
        """Return the open end of an arm: W, E, N, S, or 1 to 6 of a starter."""
        (found,) = [end for end in ends(self.state) if end.arm is self.names[Port(arm)]]
        return found

    def node(self, tile: str) -> NodeId:
        (found,) = [node.id for node in self.game.layout.nodes if node.tile == Tile.parse(tile)]
        return found

    def spot(self, at: str) -> Spot | None:
        """Return the spot of "start", of an arm, or of a port such as "5-5:N"."""
        if at == "start":
            return None
        tile, colon, port = at.partition(":")
        return Spot(self.node(tile), self.names[Port(port)]) if colon else self.end(at).spot

    def play_of(self, text: str, seat: int | None = None) -> Play:
        """Return the play "5-4@W" of the player to move. Without "@" it is the lead, with its first number west."""
        tile, _, at = text.partition("@")
        spot = self.spot(at or "start")
        player = Seat(seat) if seat is not None else self.hand.turn or Seat(0)
        inner = None
        if spot is None:
            west, east = (int(number) for number in tile.split("-"))
            inner = west if self.names[Port.W] is Port.W else east
        return Play(player, Tile.parse(tile), spot, inner)

    def play(self, *texts: str, seat: int | None = None) -> Table:
        for text in texts:
            self.feed(self.play_of(text, seat))
        return self

    def lead(self, seat: int) -> Table:
        return self.feed(Lead(Seat(seat)))

    def draw(self, number: int = 1, *, seat: int | None = None) -> Table:
        return self.feed(Draw(self.to_move if seat is None else Seat(seat), number))

    def knock(self, times: int = 1) -> Table:
        """Knock for the player to move, and for those after them if *times* is above 1."""
        for _ in range(times):
            self.feed(Knock(self.to_move))
        return self

    def decline(self) -> Table:
        return self.feed(Decline(self.to_move))

    def call(self, points: int | None = None, *, seat: int | None = None) -> Table:
        """Call points, by default for the seat that laid the last tile."""
        last = (self.to_move - 1) % len(self.players) if seat is None else seat
        return self.feed(Call(Seat(last), points))

    def stack(self, tile: str, *, seat: int | None = None) -> Table:
        return self.feed(Stack(self.to_move if seat is None else Seat(seat), Tile.parse(tile), self.node(tile)))

    def reveal(self, seat: int, hand: str | int) -> Table:
        """Reveal a hand: its tiles or only their pip total."""
        player = Seat(seat)
        return self.feed(RevealPips(player, hand) if isinstance(hand, int) else Reveal(player, tiles(hand)))

    def can_play(self, held: str) -> list[str]:
        """Return the legal plays of a hand, as "5-2@E"."""
        arms = {end.spot: end.arm for end in ends(self.state)}
        plays = legal_plays(self.state, tiles(held))
        return [str(play.tile) + ("" if play.at is None else f"@{arms[play.at]}") for play in plays]

    def can_stack(self, held: str) -> list[str]:
        return [str(stack.tile) for stack in legal_stacks(self.state, tiles(held))]


def short(rules: Rules = OPEN_BONES, *, hand: int, **options: object) -> Rules:
    """Return *rules* with small hands."""
    return replace(rules, hand=hand, **options)  # type: ignore[arg-type]  # options are fields of Rules


def out_of(table: Table, kind: type[object]) -> list[object]:
    return [outcome for outcome in table.outcomes if isinstance(outcome, kind)]


def kinds(table: Table) -> list[ProblemKind]:
    return [outcome.problem.kind for outcome in table.outcomes if isinstance(outcome, Irregular)]


def text(table: Table) -> list[str]:
    """Return the descriptions of the reported problems."""
    return [outcome.problem.text for outcome in table.outcomes if isinstance(outcome, Irregular)]
