"""Convert values to JSON and back by their type hints: frozen dataclasses, enums, tuples and numbers.

A dataclass becomes an object with its fields. If its type hint allows several classes, as for an event, the key "is"
names the class. Fields with their default values are omitted, which keeps files short and allows new fields to be
added. docs/explanation/dependencies.md explains why no library is used.
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
"""Names in files and error messages for classes that were renamed in the code."""
FIELDS: Mapping[str, Mapping[str, str]] = {"Waiting": {"came_from": "by"}}
"""Names in files for fields that were renamed in the code, by class."""
RENAMED: Mapping[str, Mapping[str, str]] = {
    "LearnedSet": {"eye": "reader"},
    "RecordedSet": {"eye": "reader"},
    "TableTiles": {"eye": "reader"},
}
"""Fields in older files that have another name now, by class."""
GONE: Mapping[str, frozenset[str]] = {
    "KnockCalibration": frozenset(("addition", "brighter_db")),
    "Known": frozenset(("is_handled", "is_reread", "maybe_by", "was_at")),
    "Places": frozenset(
        (
            "adoption", "around", "asked", "former", "ignored", "knocked_early", "laid_unseen", "looks", "maybe_passed",
            "pass_chances", "pressed", "unchecked", "undecided", "undone", "unseen", "wants_stack",
        )
    ),
    "Waiting": frozenset(("look",)),
}  # fmt: skip
"""Fields in older files that no longer exist in the code, by class. Such fields are ignored."""
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")


class JsonValueError(ValueError):
    """JSON does not match the expected type. The message gives the place in the JSON."""


def to_json(value: object, kind: object) -> Any:
    """Convert *value* of type *kind* to a form that `json.dumps` accepts.

    >>> from engine import Event, Seat, Knock
    >>> to_json(Knock(Seat(1)), Event)
    {'is': 'knock', 'seat': 1}
    """
    if value is None or (isinstance(value, bool | int | float | str) and not isinstance(value, Enum)):
        return value
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple):
        return [to_json(item, item_kind) for item, item_kind in zip(value, _items(kind, len(value)), strict=True)]
    if not is_dataclass(value):
        raise TypeError(f"expected a value, got {value!r}")
    cls: type = type(value)
    tag = {_TAG: tag_of(cls)} if len(_classes(kind)) > 1 else {}
    values = ((name, each, hint, getattr(value, each.name)) for name, (each, hint) in fields_of(cls).items())
    return tag | {name: to_json(own, hint) for name, each, hint, own in values if not _is_default(each, own)}


def from_json(data: object, kind: type[T] | Any, where: str = "") -> T:
    """Convert JSON *data*, as written by `to_json`, to a value of type *kind*.

    Raises:
        JsonValueError: If *data* does not match *kind*. The message gives the fault and its place.

    >>> from engine import Event
    >>> from_json({"is": "knock", "seat": 1}, Event)
    Knock(seat=1)
    """
    try:
        return _read(data, kind, where)  # type: ignore[no-any-return]
    except JsonValueError:
        raise
    except ValueError as error:
        raise JsonValueError(f"{where or 'value'}: {error}") from error


def tag_of(cls: type) -> str:
    """Return the name of a class in JSON: from `TAGS`, or its own name in snake case.

    >>> from engine import MatchStart
    >>> tag_of(MatchStart)
    'match_start'
    """
    return TAGS.get(cls.__name__) or _HUMP.sub("_", cls.__name__).lower()


def _read(data: object, kind: Any, where: str) -> Any:
    kinds = _flat(kind)
    if data is None and NoneType in kinds:
        return None
    if isinstance(data, Mapping):
        return _read_object(data, kind, where)
    if isinstance(data, list) and any(get_origin(each) is tuple for each in kinds):
        pairs = enumerate(zip(data, _items(kind, len(data), where), strict=True))
        return tuple(_read(item, item_kind, f"{where}[{at}]") for at, (item, item_kind) in pairs)
    for each in kinds:
        if isinstance(each, type) and issubclass(each, Enum) and isinstance(data, str):
            return each(data)
        if each is float and isinstance(data, int | float) and not isinstance(data, bool):
            return float(data)
        if isinstance(each, type) and type(data) is each:
            return data
    raise JsonValueError(f"{where or 'value'}: expected {_text(kinds)}, got {data!r}")


def _read_object(data: Mapping[str, object], kind: Any, where: str) -> Any:
    classes = _classes(kind)
    known = {tag_of(cls): cls for cls in classes}
    cls = known.get(str(data.get(_TAG))) if len(classes) > 1 else next(iter(classes), None)
    if cls is None:
        raise JsonValueError(f"{where or 'value'}: expected {_text(classes)}, got {data.get(_TAG, data)!r}")
    known_fields, renamed = fields_of(cls), RENAMED.get(cls.__name__, {})
    data = {renamed.get(name, name): value for name, value in data.items()}
    unknown = sorted(set(data) - set(known_fields) - {_TAG} - GONE.get(cls.__name__, frozenset()))
    if unknown:
        raise JsonValueError(f"{where or tag_of(cls)}: {unknown[0]!r} is not a field of {tag_of(cls)}")
    lacking = [
        name
        for name, (each, _) in known_fields.items()
        if name not in data and each.default is MISSING and each.default_factory is MISSING
    ]
    if lacking:
        raise JsonValueError(f"{where or tag_of(cls)}: a {tag_of(cls)} needs {lacking[0]!r}")
    given = {
        each.name: _read(data[name], hint, f"{where or tag_of(cls)}.{name}")
        for name, (each, hint) in known_fields.items()
        if name in data
    }
    make: Callable[..., Any] = cls
    try:
        return make(**given)
    except ValueError as error:  # raised by the class for invalid values
        raise JsonValueError(f"{where or tag_of(cls)}: {error}") from error


@cache
def fields_of(cls: type) -> Mapping[str, tuple[Field[Any], Any]]:
    """Return the fields of a dataclass and their types, by their names in JSON."""
    hints, names = get_type_hints(cls), FIELDS.get(cls.__name__, {})
    return {names.get(each.name, each.name): (each, hints[each.name]) for each in fields(cls) if each.init}


@cache
def _flat(kind: Any) -> tuple[Any, ...]:
    """Return the alternatives of a union type, in order."""
    if isinstance(kind, NewType):
        return _flat(kind.__supertype__)
    if get_origin(kind) in (Union, UnionType):
        return tuple(each for part in get_args(kind) for each in _flat(part))
    return (kind,)


@cache
def _classes(kind: Any) -> tuple[type, ...]:
    return tuple(each for each in _flat(kind) if isinstance(each, type) and is_dataclass(each))


def _items(kind: Any, count: int, where: str = "") -> tuple[Any, ...]:
    """Return the types of the *count* items of a tuple."""
    lengths = []
    for each in _flat(kind):
        args = get_args(each)
        if get_origin(each) is not tuple:
            continue
        if args and args[-1] is Ellipsis:
            return (args[0],) * count
        if len(args) == count:
            return args
        lengths.append(str(len(args)))
    raise JsonValueError(f"{where or 'value'}: expected {' or '.join(lengths) or 'no'} items, got {count}")


def _is_default(each: Field[Any], own: object) -> bool:
    if each.default_factory is not MISSING:
        return bool(own == each.default_factory())
    return each.default is not MISSING and type(own) is type(each.default) and own == each.default


def _text(kinds: tuple[Any, ...]) -> str:
    names = [
        tag_of(each) if isinstance(each, type) and is_dataclass(each) else getattr(each, "__name__", str(each))
        for each in kinds
    ]
    return " or ".join(names) or "nothing"


def rounded(point_px: Iterable[float]) -> list[float]:
    """Round an image point to a tenth of a pixel, for JSON."""
    return [round(value, 1) + 0.0 for value in point_px]  # Adding 0.0 turns -0.0 into 0.0.
