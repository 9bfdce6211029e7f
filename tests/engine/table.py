"""A table for tests. Plays are written as in docs/reference/rules.md 6.2."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import engine

MIRROR = {
    engine.Port.W: engine.Port.E,
    engine.Port.E: engine.Port.W,
    engine.Port.N: engine.Port.S,
    engine.Port.S: engine.Port.N,
}
SAME = {port: port for port in engine.Port}

# For layouts without a given lead: any tile may lead, and nothing is refused silently.
OPEN_BONES = replace(engine.BONES, lead_first=engine.LeadRule.LOT_ANY, policy=engine.Policy.STRICT)


def tiles(text: str) -> tuple[engine.Tile, ...]:
    return tuple(engine.Tile.parse(word) for word in text.split())


@dataclass
class Table:
    """A match whose state advances with each call. `outcomes` are those of the last event."""

    rules: engine.Rules = OPEN_BONES
    players: tuple[str, ...] = ("Brian", "Tom")
    names: dict[engine.Port, engine.Port] = field(default_factory=lambda: SAME)
    state: engine.State = field(default_factory=engine.State)
    outcomes: tuple[engine.Outcome, ...] = ()

    def __post_init__(self) -> None:
        self.feed(engine.MatchStart(self.rules, self.players), engine.NewHand())

    def feed(self, *events: engine.Event) -> Table:
        for event in events:
            self.state, self.outcomes = engine.apply(self.state, event)
        return self

    @property
    def game(self) -> engine.Game:
        assert self.state.game is not None
        return self.state.game

    @property
    def hand(self) -> engine.Hand:
        assert self.game.hand is not None
        return self.game.hand

    @property
    def count(self) -> engine.Count:
        return self.game.count

    @property
    def totals(self) -> tuple[int, ...]:
        return self.game.totals

    @property
    def score(self) -> int:
        """Points scored by the last event."""
        return sum(outcome.points for outcome in self.outcomes if isinstance(outcome, engine.Scored))

    @property
    def due(self) -> engine.Turn | None:
        """Current turn, with the required action."""
        return engine.turn(self.game)

    @property
    def to_move(self) -> engine.Seat:
        assert self.hand.turn is not None
        return self.hand.turn

    def end(self, arm: str) -> engine.OpenEnd:
        """Return the open end of an arm: W, E, N, S, or 1 to 6 of a starter."""
        (found,) = [end for end in engine.ends(self.state) if end.arm is self.names[engine.Port(arm)]]
        return found

    def node(self, tile: str) -> engine.NodeId:
        (found,) = [node.id for node in self.game.layout.nodes if node.tile == engine.Tile.parse(tile)]
        return found

    def spot(self, at: str) -> engine.Spot | None:
        """Return the spot of "start", of an arm, or of a port such as "5-5:N"."""
        if at == "start":
            return None
        tile, colon, port = at.partition(":")
        return engine.Spot(self.node(tile), self.names[engine.Port(port)]) if colon else self.end(at).spot

    def play_of(self, text: str, seat: int | None = None) -> engine.Play:
        """Return the play "5-4@W" of the player to move. Without "@" it is the lead, with its first number west."""
        tile, _, at = text.partition("@")
        spot = self.spot(at or "start")
        player = engine.Seat(seat) if seat is not None else self.hand.turn or engine.Seat(0)
        inner = None
        if spot is None:
            west, east = (int(number) for number in tile.split("-"))
            inner = west if self.names[engine.Port.W] is engine.Port.W else east
        return engine.Play(player, engine.Tile.parse(tile), spot, inner)

    def play(self, *texts: str, seat: int | None = None) -> Table:
        for text in texts:
            self.feed(self.play_of(text, seat))
        return self

    def lead(self, seat: int) -> Table:
        return self.feed(engine.Lead(engine.Seat(seat)))

    def draw(self, number: int = 1, *, seat: int | None = None) -> Table:
        return self.feed(engine.Draw(self.to_move if seat is None else engine.Seat(seat), number))

    def knock(self, times: int = 1) -> Table:
        """Knock for the player to move, and for those after them if *times* is above 1."""
        for _ in range(times):
            self.feed(engine.Knock(self.to_move))
        return self

    def decline(self) -> Table:
        return self.feed(engine.Decline(self.to_move))

    def call(self, points: int | None = None, *, seat: int | None = None) -> Table:
        """Call points, by default for the seat that laid the last tile."""
        last = (self.to_move - 1) % len(self.players) if seat is None else seat
        return self.feed(engine.Call(engine.Seat(last), points))

    def stack(self, tile: str, *, seat: int | None = None) -> Table:
        return self.feed(
            engine.Stack(self.to_move if seat is None else engine.Seat(seat), engine.Tile.parse(tile), self.node(tile))
        )

    def reveal(self, seat: int, hand: str | int) -> Table:
        """Reveal a hand: its tiles or only their pip total."""
        player = engine.Seat(seat)
        return self.feed(
            engine.RevealPips(player, hand) if isinstance(hand, int) else engine.Reveal(player, tiles(hand))
        )

    def can_play(self, held: str) -> list[str]:
        """Return the legal plays of a hand, as "5-2@E"."""
        arms = {end.spot: end.arm for end in engine.ends(self.state)}
        plays = engine.legal_plays(self.state, tiles(held))
        return [str(play.tile) + ("" if play.at is None else f"@{arms[play.at]}") for play in plays]

    def can_stack(self, held: str) -> list[str]:
        return [str(stack.tile) for stack in engine.legal_stacks(self.state, tiles(held))]


def short(rules: engine.Rules = OPEN_BONES, *, hand: int, **options: object) -> engine.Rules:
    """Return *rules* with small hands."""
    return replace(rules, hand=hand, **options)  # type: ignore[arg-type]  # options are fields of Rules


def out_of(table: Table, kind: type[object]) -> list[object]:
    return [outcome for outcome in table.outcomes if isinstance(outcome, kind)]


def kinds(table: Table) -> list[engine.ProblemKind]:
    return [outcome.problem.kind for outcome in table.outcomes if isinstance(outcome, engine.Irregular)]


def text(table: Table) -> list[str]:
    """Return the descriptions of the reported problems."""
    return [outcome.problem.text for outcome in table.outcomes if isinstance(outcome, engine.Irregular)]


def won(table: Table) -> engine.Seat | None:
    """Return the winner of the hand that is over."""
    (winner,) = [outcome.result.winner for outcome in table.outcomes if isinstance(outcome, engine.HandOver)]
    return winner
