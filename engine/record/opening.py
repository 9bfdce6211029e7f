"""Interpret the tags and deals of a record, and write the tags of a match."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from engine.errors import EngineError
from engine.game.seating import name_problems
from engine.record import values as dgr
from engine.record.values import SEATS, UNPRINTABLE, VERSION, Place, Record, RecordError, RecordHand, Tag
from engine.rules.options import changed_options, option_named, parse_options, value_text, with_options
from engine.rules.profiles import PROFILES, profile
from engine.rules.rules import Policy, Rules, deal_problems
from engine.state.events import MatchStart, NewHand, Seat

_HAND_KEYS = ("deal", "yard", "lead")
_SEAT_NAME = re.compile(r"(?<!\S)([A-P]):")
_SEAT_ALONE = re.compile(r"(?<!\S)([A-P])(?!\S)")
_NUMBERS = re.compile(r"[0-9]{1,6}(?:,[0-9]{1,6})*")
_UNWRITABLE = re.compile(rf"[{UNPRINTABLE}]")
_SET = re.compile(r"(?:([0-9])\s*x?\s+)?(\S.*)")


@dataclass(frozen=True, slots=True)
class Opening:
    """Rules and players of a record.

    Attributes:
        rules: Rules, with the options of the record.
        letters: Letters of the seats, clockwise.
        players: Names of the players. The letter of the seat for a player without a name.
    """

    rules: Rules
    letters: str
    players: tuple[str, ...]

    def seat(self, letter: str, place: Place) -> Seat:
        """Return the seat of *letter*, or raise RecordError at *place* if it has no player."""
        if letter not in self.letters:
            seats = ", ".join(self.letters)
            raise RecordError(place, f'expected one of the seats {seats}, found "{letter}"')
        return Seat(self.letters.index(letter))


def opening_of(record: Record, *, strict: bool) -> Opening:
    """Return the rules and players of a record. If *strict*, its illegal moves are to be rejected.

    Raises:
        RecordError: If a tag is missing or invalid. The error gives its place.
    """
    rules = _rules(record)
    with _in_tag(record, "Seats"):
        letters, players = _seats(record, rules)
        for problem in (*deal_problems(rules, len(players)), *name_problems(players)):
            raise EngineError(problem)
    return Opening(replace(rules, policy=Policy.STRICT) if strict else rules, letters, players)


def deal_of(opening: Opening, hand: RecordHand) -> NewHand:
    """Return the deal of a hand, or raise RecordError if the keys in its first line are invalid."""
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


def tags_of(start: MatchStart) -> tuple[Tag, ...]:
    """Return the tags of a match."""
    tags = [Tag("DGR", VERSION), Tag("Rules", start.rules.name)]
    options = changed_options(start.rules)
    if options:
        tags.append(Tag("Options", " ".join(f"{key}={value}" for key, value in options.items())))
    seats = (f"{letter}:{_seat_name(player)}" for letter, player in zip(SEATS, start.players, strict=False))
    return (*tags, Tag("Seats", " ".join(seats)))


def _seat_name(player: str) -> str:
    """Return the name of a player without characters that the tag Seats cannot hold."""
    return _SEAT_NAME.sub(r"\1.", " ".join(_UNWRITABLE.sub(" ", dgr.BIDI_MARKS.sub("", player)).split()))


@contextmanager
def _in_tag(record: Record, name: str) -> Iterator[None]:
    """Raise errors as those of the tag *name*, at its place. If the tag is missing, use the place of the tag DGR."""
    try:
        yield
    except EngineError as wrong:
        places = {tag.name: tag.place for tag in record.tags}
        raise RecordError(places.get(name, places["DGR"]), str(wrong)) from None


def _rules(record: Record) -> Rules:
    """Return the rules from the tags Rules, Options and Set. The set has to agree with the options."""
    name, set_text = record.tag("Rules"), record.tag("Set")
    with _in_tag(record, "Rules"):
        if name is None:
            known = ", ".join(rules.name for rules in PROFILES)
            raise EngineError(f'expected a tag such as [Rules "bones"]; the games are {known}')
        rules = profile(name)
    with _in_tag(record, "Options"):
        options = parse_options(record.tag("Options") or "")
        rules = with_options(rules, options)
    if set_text is None:
        return rules
    with _in_tag(record, "Set"):
        found = _SET.fullmatch(set_text.strip())
        if found is None:
            raise EngineError(f"expected a set such as double-six, found {_quoted(set_text)}")
        copies = {} if found[1] is None else {"copies": found[1]}
        chosen = with_options(rules, {"set": re.sub(r"\s+", "-", found[2]), **copies})
        if "set" in options and (chosen.max_pips, chosen.copies) != (rules.max_pips, rules.copies):
            expected = value_text(rules, option_named("set"))
            raise EngineError(f"expected the set of the options, which is {expected}, found {_quoted(set_text)}")
    return chosen


def _seats(record: Record, rules: Rules) -> tuple[str, tuple[str, ...]]:
    """Return the letters of the seats and the names of the players, clockwise."""
    text = record.tag("Seats")
    if text is None:
        letters = SEATS[: max([rules.seats_min, *_seats_used(record)])]
        return letters, tuple(letters)
    found = list((_SEAT_NAME if _SEAT_NAME.search(text) else _SEAT_ALONE).finditer(text))
    if not found or text[: found[0].start()].strip():
        raise EngineError(f'expected seats such as "A:Brian B:Tom" or "A B C D", found {_quoted(text)}')
    letters = "".join(seat[1] for seat in found)
    ends = [*(seat.start() for seat in found[1:]), len(text)]
    names = [text[seat.end() : end].strip() for seat, end in zip(found, ends, strict=True)]
    if len(set(letters)) != len(letters):
        raise EngineError(f"expected each seat once, found {_quoted(text)}")
    return letters, tuple(name or letter for name, letter in zip(names, letters, strict=True))


def _seats_used(record: Record) -> Iterator[int]:
    """Yield the minimum number of seats that each deal, lead and move implies."""
    for hand in record.hands:
        yield len((hand.key("deal") or "").split(","))
        lead = hand.key("lead")
        if lead is not None and len(lead) == 1:
            yield SEATS.find(lead) + 1
        for turn in hand.turns:
            yield SEATS.index(turn.seat) + 1
            yield from (SEATS.index(move.seat) + 1 for move in turn.moves if isinstance(move, dgr.TakenMove))


def _numbers(hand: RecordHand, key: str, most: int) -> tuple[int, ...] | None:
    """Return the numbers of a key, each from 0 to *most*. None if the key is missing."""
    text = hand.key(key)
    if text is None:
        return None
    numbers = tuple(int(number) for number in text.split(",")) if _NUMBERS.fullmatch(text) else (-1,)
    if not all(0 <= number <= most for number in numbers):
        raise RecordError(hand.place, f"{key}: expected a number from 0 to {most}, found {_quoted(text)}")
    return numbers


def _quoted(text: str) -> str:
    """Return *text* in quotes, shortened to 40 characters."""
    return f'"{text}"' if len(text) <= 40 else f'"{text[:40]}…"'
