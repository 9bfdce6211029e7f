"""Values as JSON and back: frozen dataclasses, enums, tuples and numbers, by their type hints.

A value of a class that stands alone becomes an object of its fields. Where several classes may stand, as for an event,
the object says which in "is". Fields that have their default are left out, so that files stay short and a
field that comes later is read from older files as its default. docs/dependencies.md says why no library does it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, NewType, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")
_TAG = "is"
TAGS: Mapping[str, str] = {
    "BlockPose": "mark",
    "HouseSettings": "house",
    "KnockCalibration": "knock_kept",
    "LearnedSet": "tile_set",
    "SeenTile": "tile",
}
"""Names in files, and in messages about files, of classes that have another name in the code now."""
FIELDS: Mapping[str, Mapping[str, str]] = {
    "Around": {"came_from_own": "right", "came_from_other": "wrong", "lead_by_side": "led"},
    "Known": {"came_from": "maybe_by"},
    "Waiting": {"came_from": "by"},
    "Yard": {"came_from": "by"},
}
"""Names in files of fields that have another name in the code now."""
GONE: Mapping[str, frozenset[str]] = {
    "Places": frozenset(("laid_unseen", "unchecked")),
    "Unseen": frozenset(("calls",)),
}
"""Fields of older files that the code has no more: what they say is left out."""
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")


class JsonValueError(ValueError):
    """JSON is no such value; the message names the place in it."""


def to_json(value: object, kind: object) -> Any:
    """Return *value*, which has the type *kind*, in a form that `json.dumps` takes.

    >>> from engine import Event, Seat, Knock
    >>> to_json(Knock(Seat(1)), Event)
    {'is': 'knock', 'seat': 1}
    """
    if value is None or (isinstance(value, bool | int | float | str) and not isinstance(value, Enum)):
        return value
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple):
        return [to_json(one, item) for one, item in zip(value, _items(kind, len(value)), strict=True)]
    if not is_dataclass(value):
        raise TypeError(f"expected a value, got {value!r}")
    cls: type = type(value)
    tag = {_TAG: tag_of(cls)} if len(_classes(kind)) > 1 else {}
    said = ((name, one, hint, getattr(value, one.name)) for name, (one, hint) in fields_of(cls).items())
    return tag | {name: to_json(own, hint) for name, one, hint, own in said if not _is_default(one, own)}


def from_json(said: object, kind: type[T] | Any, where: str = "") -> T:
    """Return the value of type *kind* that `to_json` has written as *said*.

    Raises:
        JsonValueError: If it is none; the message names the fault and its place.

    >>> from engine import Event
    >>> from_json({"is": "knock", "seat": 1}, Event)
    Knock(seat=1)
    """
    try:
        return _read(said, kind, where)  # type: ignore[no-any-return]
    except JsonValueError:
        raise
    except ValueError as error:
        raise JsonValueError(f"{where or 'value'}: {error}") from error


def tag_of(cls: type) -> str:
    """Return the name of a class in JSON: from `TAGS`, or else its own.

    >>> from engine import MatchStart
    >>> tag_of(MatchStart)
    'match_start'
    """
    return TAGS.get(cls.__name__) or _HUMP.sub("_", cls.__name__).lower()


def _read(said: object, kind: Any, where: str) -> Any:
    kinds = _flat(kind)
    if said is None and NoneType in kinds:
        return None
    if isinstance(said, Mapping):
        return _read_object(said, kind, where)
    if isinstance(said, list) and any(get_origin(one) is tuple for one in kinds):
        pairs = enumerate(zip(said, _items(kind, len(said), where), strict=True))
        return tuple(_read(one, item, f"{where}[{at}]") for at, (one, item) in pairs)
    for one in kinds:
        if isinstance(one, type) and issubclass(one, Enum) and isinstance(said, str):
            return one(said)
        if one is float and isinstance(said, int | float) and not isinstance(said, bool):
            return float(said)
        if isinstance(one, type) and type(said) is one:
            return said
    raise JsonValueError(f"{where or 'value'}: expected {_words(kinds)}, got {said!r}")


def _read_object(said: Mapping[str, object], kind: Any, where: str) -> Any:
    classes = _classes(kind)
    known = {tag_of(cls): cls for cls in classes}
    cls = known.get(str(said.get(_TAG))) if len(classes) > 1 else next(iter(classes), None)
    if cls is None:
        raise JsonValueError(f"{where or 'value'}: expected {_words(classes)}, got {said.get(_TAG, said)!r}")
    known_fields = fields_of(cls)
    unknown = sorted(set(said) - set(known_fields) - {_TAG} - GONE.get(cls.__name__, frozenset()))
    if unknown:
        raise JsonValueError(f"{where or tag_of(cls)}: {unknown[0]!r} is nothing that a {tag_of(cls)} has")
    lacking = [name for name, (one, _) in known_fields.items() if name not in said and not _has_default(one)]
    if lacking:
        raise JsonValueError(f"{where or tag_of(cls)}: a {tag_of(cls)} needs {lacking[0]!r}")
    given = {
        one.name: _read(said[name], hint, f"{where or tag_of(cls)}.{name}")
        for name, (one, hint) in known_fields.items()
        if name in said
    }
    make: Callable[..., Any] = cls
    try:
        return make(**given)
    except ValueError as error:  # what the value itself refuses
        raise JsonValueError(f"{where or tag_of(cls)}: {error}") from error


@cache
def fields_of(cls: type) -> Mapping[str, tuple[Field[Any], Any]]:
    """Return the fields of a dataclass by their names in JSON, each with its type."""
    hints, names = get_type_hints(cls), FIELDS.get(cls.__name__, {})
    return {names.get(one.name, one.name): (one, hints[one.name]) for one in fields(cls) if one.init}


@cache
def _flat(kind: Any) -> tuple[Any, ...]:
    """Return the types that *kind* stands for, in their order."""
    if isinstance(kind, NewType):
        return _flat(kind.__supertype__)
    if get_origin(kind) in (Union, UnionType):
        return tuple(one for part in get_args(kind) for one in _flat(part))
    return (kind,)


@cache
def _classes(kind: Any) -> tuple[type, ...]:
    return tuple(one for one in _flat(kind) if isinstance(one, type) and is_dataclass(one))


def _items(kind: Any, count: int, where: str = "") -> tuple[Any, ...]:
    """Return the type of each of the *count* items of a tuple."""
    lengths = []
    for one in _flat(kind):
        args = get_args(one)
        if get_origin(one) is not tuple:
            continue
        if args and args[-1] is Ellipsis:
            return (args[0],) * count
        if len(args) == count:
            return args
        lengths.append(str(len(args)))
    raise JsonValueError(f"{where or 'value'}: expected {' or '.join(lengths) or 'no'} items, got {count}")


def _has_default(one: Field[Any]) -> bool:
    return one.default is not MISSING or one.default_factory is not MISSING


def _is_default(one: Field[Any], own: object) -> bool:
    if one.default_factory is not MISSING:
        return bool(own == one.default_factory())
    return one.default is not MISSING and type(own) is type(one.default) and own == one.default


def _words(kinds: tuple[Any, ...]) -> str:
    names = [
        tag_of(one) if isinstance(one, type) and is_dataclass(one) else getattr(one, "__name__", str(one))
        for one in kinds
    ]
    return " or ".join(names) or "nothing"


def rounded(point_px: Iterable[float]) -> list[float]:
    """Return a point of a picture for JSON, in tenths of a pixel."""
    return [round(value, 1) + 0.0 for value in point_px]  # + 0.0: never "-0.0"
