"""`value`: a frozen dataclass that is made six times as fast as the standard library makes one.

A play makes some twenty values. A frozen dataclass sets each field by a call of `object.__setattr__`: 4.0 us for eight
fields against 0.5 us for one that is not frozen. So a value is built as its plain twin, which has the same slots, and
becomes what it is by a change of its class; from then on it is frozen like any other. Like the standard library's own
dataclasses and named tuples, its constructor is compiled from text.
"""

from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")


def changed(old: T, **changes: Any) -> T:
    """Return *old* with *changes*, like `dataclasses.replace`, but eight times as fast where only a few fields change.

    Raises:
        AttributeError: If a change is of no field.
    """
    made: T = old._changed(changes)  # type: ignore[attr-defined]  # every value has it
    return made


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def value(cls: type[T]) -> type[T]:
    """Return *cls* as a frozen dataclass with slots.

    >>> @value
    ... class Point:
    ...     column: int
    ...     row: int = 0
    >>> Point(3) == Point(3, row=0), Point(3)
    (True, Point(column=3, row=0))
    """
    frozen: Any = dataclass(frozen=True, slots=True, init=False)(cls)
    given = tuple(one for one in fields(frozen) if one.init)
    frozen.__new__, frozen._changed = _makers(frozen, given)
    frozen.__init__ = object.__init__
    frozen.__getnewargs__ = lambda self: tuple(getattr(self, one.name) for one in given)  # for copy and pickle
    return frozen  # type: ignore[no-any-return]  # slots make another class of it


def _makers(frozen: Any, given: tuple[Field[Any], ...]) -> tuple[Any, Any]:
    """Return the `__new__` of *frozen*, which takes the fields *given*, and its `_changed`."""
    plain = type(frozen.__name__, (), {"__slots__": tuple(one.name for one in fields(frozen))})
    names: dict[str, Any] = {"_new": object.__new__, "_plain": plain, "_frozen": frozen}
    names |= {f"_default_{one.name}": one.default for one in given}
    parameters = (one.name + ("" if one.default is MISSING else f"=_default_{one.name}") for one in given)
    lines = [
        f"def __new__(_cls, {', '.join(parameters)}):",
        "_self = _new(_plain)",
        *(f"_self.{one.name} = {one.name}" for one in given),
    ]
    check = ("_self.__post_init__()",) if hasattr(frozen, "__post_init__") else ()
    finish = ("_self.__class__ = _frozen", *check, "return _self")
    exec("\n    ".join((*lines, *finish)), names)  # the names of fields, written in this package
    copy = [
        "def _changed(_old, _changes):",
        "_self = _new(_plain)",
        *(f"_self.{one.name} = _old.{one.name}" for one in given),
        "for _name, _value in _changes.items(): setattr(_self, _name, _value)",
    ]
    exec("\n    ".join((*copy, *finish)), names)
    return names["__new__"], names["_changed"]
