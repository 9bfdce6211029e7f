"""How a game record begins: its tags as rules and players, and the first line of a hand as what was dealt."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from engine.errors import EngineError
from engine.events import MatchStart, NewHand, Seat
from engine.options import option_named, parse_options, value_text, with_options
from engine.profiles import PROFILES, profile
from engine.record import NOWHERE, SEATS, Place, Record, RecordError, RecordHand, TakenMove
from engine.rules import Policy, Rules, deal_problems

_HAND_KEYS = ("deal", "yard", "lead")
_SEAT_NAME = re.compile(r"(?<!\S)([A-P]):\s*")
_SEAT_ALONE = re.compile(r"(?<!\S)([A-P])(?!\S)")
_NUMBERS = re.compile(r"[0-9]{1,6}(?:,[0-9]{1,6})*")
_SET = re.compile(r"(?:([0-9])\s*x?\s+)?(\S.*)")


@dataclass(frozen=True, slots=True)
class Opening:
    """What the tags of a record say.

    Attributes:
        rules: The game, with its options.
        letters: The letters of the seats, clockwise.
        players: Their names; the letter where there is no name.
    """

    rules: Rules
    letters: str
    players: tuple[str, ...]

    @property
    def start(self) -> MatchStart:
        """The match as an event."""
        return MatchStart(self.rules, self.players)

    def seat(self, letter: str, place: Place) -> Seat:
        """Return the seat with that letter.

        Raises:
            RecordError: If nobody sits there.
        """
        if letter not in self.letters:
            seats = ", ".join(self.letters)
            raise RecordError(place, f'expected one of the seats {seats}, found "{letter}"')
        return Seat(self.letters.index(letter))


def opening_of(record: Record, *, strict: bool) -> Opening:
    """Return the game and the players of a record.

    Raises:
        RecordError: If the tags name no game that can be played so; it says where.
    """
    rules = _rules(record)
    if strict:
        rules = replace(rules, policy=Policy.STRICT)
    letters, players = _seats(record, rules)
    for problem in deal_problems(rules, len(players)):
        raise RecordError(_place_of(record, "Seats"), problem)
    return Opening(rules, letters, players)


def deal_of(opening: Opening, hand: RecordHand) -> NewHand:
    """Return what was dealt for a hand.

    Raises:
        RecordError: If its first line says what no hand can begin with.
    """
    unknown = [name for name, _ in hand.keys if name not in _HAND_KEYS]
    if unknown:
        raise RecordError(hand.place, f'expected the keys deal, yard and lead, found "{unknown[0]}"')
    tiles, seats = opening.rules.tiles, len(opening.players)
    dealt = _numbers(hand, "deal", tiles)
    if dealt is not None and len(dealt) == 1:
        dealt *= seats
    if dealt is not None and len(dealt) != seats:
        raise RecordError(hand.place, f"deal: expected 1 or {seats} numbers for {seats} players, found {len(dealt)}")
    if dealt is not None and sum(dealt) > tiles:
        raise RecordError(hand.place, f"deal: expected at most the {tiles} tiles of the game, found {sum(dealt)}")
    yard = _numbers(hand, "yard", tiles)
    if yard is not None and len(yard) != 1:
        raise RecordError(hand.place, f"yard: expected one number, found {len(yard)}")
    return NewHand(dealt, None if yard is None else yard[0])


def lead_of(opening: Opening, hand: RecordHand) -> Seat | None:
    """Return who leads a hand, None if that is not written.

    Raises:
        RecordError: If nobody sits there.
    """
    letter = hand.key("lead")
    return None if letter is None else opening.seat(letter, hand.place)


def _place_of(record: Record, name: str) -> Place:
    """Return where a tag stands; where the record begins if there is none."""
    places = {tag.name: tag.place for tag in record.tags}
    return places.get(name, places.get("DGR", NOWHERE))


def _rules(record: Record) -> Rules:
    """Return the game that the tags Rules, Options and Set describe."""
    name = record.tag("Rules")
    known = ", ".join(rules.name for rules in PROFILES)
    if name is None:
        raise RecordError(_place_of(record, "DGR"), f'expected a tag such as [Rules "bones"]; the games are {known}')
    if name.strip() not in [rules.name for rules in PROFILES]:
        raise RecordError(_place_of(record, "Rules"), f"expected one of the games {known}; found {_quoted(name)}")
    rules = profile(name.strip())
    try:
        options = parse_options(record.tag("Options") or "")
        rules = with_options(rules, options)
    except EngineError as refused:
        raise RecordError(_place_of(record, "Options"), str(refused)) from None
    return _with_set(record, rules, is_chosen="set" in options)


def _with_set(record: Record, rules: Rules, *, is_chosen: bool) -> Rules:
    """Return *rules* with the tiles that the tag Set names; it has to agree with options that name them too."""
    text = record.tag("Set")
    if text is None:
        return rules
    place = _place_of(record, "Set")
    found = _SET.fullmatch(text.strip())
    if found is None:
        raise RecordError(place, f"expected a set such as double-six, found {_quoted(text)}")
    wanted = {"set": re.sub(r"\s+", "-", found[2])}
    if found[1] is not None:
        wanted["copies"] = found[1]
    try:
        chosen = with_options(rules, wanted)
    except EngineError as refused:
        raise RecordError(place, str(refused)) from None
    if is_chosen and (chosen.max_pips, chosen.copies) != (rules.max_pips, rules.copies):
        said = value_text(rules, option_named("set"))
        raise RecordError(place, f"expected the set of the options, which is {said}, found {_quoted(text)}")
    return chosen


def _seats(record: Record, rules: Rules) -> tuple[str, tuple[str, ...]]:
    """Return the letters of the seats and the names of the players, clockwise."""
    text = record.tag("Seats")
    if text is None:
        letters = SEATS[: max([rules.seats_min, *_seats_used(record)])]
        return letters, tuple(letters)
    place = _place_of(record, "Seats")
    found = list((_SEAT_NAME if _SEAT_NAME.search(text) else _SEAT_ALONE).finditer(text))
    if not found or text[: found[0].start()].strip():
        raise RecordError(place, f'expected seats such as "A:Brian B:Tom" or "A B C D", found {_quoted(text)}')
    letters = "".join(seat[1] for seat in found)
    ends = [*(seat.start() for seat in found[1:]), len(text)]
    names = [text[seat.end() : end].strip() for seat, end in zip(found, ends, strict=True)]
    if len(set(letters)) != len(letters):
        raise RecordError(place, f"expected each seat once, found {_quoted(text)}")
    return letters, tuple(name or letter for name, letter in zip(names, letters, strict=True))


def _seats_used(record: Record) -> Iterator[int]:
    """Yield for everything that names seats how many there must be."""
    for hand in record.hands:
        yield len((hand.key("deal") or "").split(","))
        lead = hand.key("lead")
        if lead is not None and len(lead) == 1:
            yield SEATS.find(lead) + 1
        for turn in hand.turns:
            yield SEATS.index(turn.seat) + 1
            yield from (SEATS.index(move.seat) + 1 for move in turn.moves if isinstance(move, TakenMove))


def _numbers(hand: RecordHand, key: str, most: int) -> tuple[int, ...] | None:
    """Return the numbers of a key, each at most *most*; None if it is not given."""
    text = hand.key(key)
    if text is None:
        return None
    numbers = tuple(int(number) for number in text.split(",")) if _NUMBERS.fullmatch(text) else (-1,)
    if not all(0 <= number <= most for number in numbers):
        raise RecordError(hand.place, f"{key}: expected a number from 0 to {most}, found {_quoted(text)}")
    return numbers


def _quoted(text: str) -> str:
    """Return the beginning of *text* in quotes."""
    return f'"{text}"' if len(text) <= 40 else f'"{text[:40]}…"'
