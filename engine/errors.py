"""Errors in calls and configuration. Mistakes of players are data (`Problem`), not exceptions."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache, partial, wraps
from inspect import isfunction, signature, unwrap
from itertools import product
from types import UnionType
from typing import Any, NewType, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

P = ParamSpec("P")
R = TypeVar("R")
_WRONG = (AssertionError, AttributeError, LookupError, TypeError, ValueError)  # Errors that a wrong type can cause.
_SHOWN = 80  # Types and values in a message are cut to this many characters.


class EngineError(ValueError):
    """A value or call that is invalid in every game."""


class OptionsError(EngineError):
    """Invalid rules or options.

    Attributes:
        faults: One message for each fault, starting with the key.
    """

    def __init__(self, faults: Iterable[str], about: str = "") -> None:
        self.faults = tuple(faults)
        super().__init__(about + "; ".join(self.faults))


def require_types(values: Mapping[str, object], hints: Mapping[str, Any], owner: str) -> None:
    """Raise EngineError if one of *values* does not have its type in *hints*. The message names *owner*."""
    for is_deep, (name, thing) in product((False, True), values.items()):  # A match has many fields, so they are last.
        if name in hints and not has_type(thing, hints[name], is_deep=is_deep):
            expected, found = re.sub(r"[a-z_.]+\.(?=[A-Z])|<class '|'>", "", str(hints[name])), repr(thing)
            raise EngineError(f"{owner}: {name} must be {expected[:_SHOWN]}, but got {found[:_SHOWN]}")


def has_type(thing: object, hint: Any, *, is_deep: bool = True) -> bool:
    """Return True if *thing* has the type *hint*, with its items and, if *is_deep*, its fields.

    A list may replace a tuple, and any integer, such as that of numpy, an int. The items of iterators are not checked.

    >>> has_type([1, 2], tuple[int, ...]), has_type("12", Iterable[int]), has_type(None, int | None)
    (True, False, True)
    """
    kind, of, fits = get_origin(hint), get_args(hint), partial(has_type, is_deep=is_deep)
    if isinstance(hint, NewType):
        return fits(thing, hint.__supertype__)
    if kind in (Union, UnionType):
        return any(fits(thing, each) for each in of)
    if kind is tuple and ... not in of:
        return isinstance(thing, tuple | list) and len(thing) == len(of) and all(map(fits, thing, of))
    if isinstance(kind, type) and issubclass(kind, Mapping):
        return isinstance(thing, Mapping) and all(all(map(fits, pair, of)) for pair in thing.items())
    if isinstance(kind, type) and issubclass(kind, Iterable):
        is_kind = isinstance(thing, tuple | list) if kind is tuple else isinstance(thing, kind)
        return is_kind and (not isinstance(thing, Collection) or all(fits(item, of[0]) for item in thing))
    if hint is int or not isinstance(hint, type):
        return hint is not int or hasattr(thing, "__index__")  # True for Any, callables and type variables
    if not (is_deep and isinstance(thing, hint) and is_dataclass(hint)):
        return isinstance(thing, hint)
    return all(fits(getattr(thing, name), each) for name, each in _fields_of(hint))


@cache
def _fields_of(kind: Any) -> tuple[tuple[str, Any], ...]:
    """Return the names and types of the fields of a dataclass. Resolving the types takes 20 us."""
    return tuple((each.name, get_type_hints(kind)[each.name]) for each in fields(kind))


def type_checked(public: Any) -> Any:
    """Return a function or class that raises EngineError, and no other error, for an argument of the wrong type.

    The methods of a class are replaced. Anything else is returned as it is.
    """
    if isfunction(unwrap(public)):
        return _checked_function(public)
    if isinstance(public, type) and not issubclass(public, Enum | Exception):
        for name, method in list(vars(public).items()):
            validates = name == "__init__" and hasattr(public, "__post_init__")
            if isinstance(method, classmethod):
                setattr(public, name, classmethod(_checked_function(method.__func__)))
            elif isfunction(method) and (validates or not name.startswith("_")):
                setattr(public, name, _checked_function(method))
    return public


def _checked_function(function: Callable[P, R]) -> Callable[P, R]:
    """Return *function*, which checks the types of its arguments if it fails, so a correct call takes 0.05 us more."""
    # The caller is compiled with the same parameters, because passing on `*args` takes three times as long.
    taken = signature(function).parameters.values()
    names: dict[str, Any] = {"_function": function, "_EngineError": EngineError, "_require": require_types}
    names |= {"_hints": cache(partial(get_type_hints, function)), "_WRONG": _WRONG}
    names |= {f"_{each.name}": each.default for each in taken}
    stars = ["*, " if each.kind is each.KEYWORD_ONLY else "" for each in taken]
    marks = [star if star not in stars[:at] else "" for at, star in enumerate(stars)]
    heads = [each.name if each.default is each.empty else f"{each.name}=_{each.name}" for each in taken]
    passed = [f"{each.name}={each.name}" if star else each.name for each, star in zip(taken, stars, strict=True)]
    owner = function.__qualname__.removesuffix(".__init__")
    lines = [
        f"def {function.__name__}({', '.join(map(''.join, zip(marks, heads, strict=True)))}):",
        f"try: return _function({', '.join(passed)})",
        "except _EngineError: raise",
        "except _WRONG as _error: _failure = _error",
        f"_require({{{', '.join(f'{each.name!r}: {each.name}' for each in taken)}}}, _hints(), {owner!r})",
        "raise _failure",
    ]
    exec("\n    ".join(lines), names)  # Safe: the source contains only names of this package.
    return wraps(function)(names[function.__name__])
