"""Errors in calls and configuration. Mistakes of players are data (`Problem`), not exceptions."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import wraps
from inspect import isfunction, signature, unwrap
from types import UnionType
from typing import Any, NewType, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

P = ParamSpec("P")
R = TypeVar("R")
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
    for name, thing in values.items():
        if name in hints and not has_type(thing, hints[name]):
            expected, found = re.sub(r"[a-z_.]+\.(?=[A-Z])|<class '|'>", "", str(hints[name])), repr(thing)
            raise EngineError(f"{owner}: {name} must be {expected[:_SHOWN]}, but got {found[:_SHOWN]}")


def has_type(thing: object, hint: Any) -> bool:
    """Return True if *thing* has the type *hint*, with its items and fields.

    A list may replace a tuple, and any integer, such as that of numpy, an int. The items of iterators are not checked.

    >>> has_type([1, 2], tuple[int, ...]), has_type("12", Iterable[int]), has_type(None, int | None)
    (True, False, True)
    """
    kind, of = get_origin(hint), get_args(hint)
    if isinstance(hint, NewType):
        return has_type(thing, hint.__supertype__)
    if kind in (Union, UnionType):
        return any(has_type(thing, each) for each in of)
    if kind is tuple and ... not in of:
        return isinstance(thing, tuple | list) and len(thing) == len(of) and all(map(has_type, thing, of))
    if isinstance(kind, type) and issubclass(kind, Mapping):
        return isinstance(thing, Mapping) and all(all(map(has_type, pair, of)) for pair in thing.items())
    if isinstance(kind, type) and issubclass(kind, Iterable):
        is_kind = isinstance(thing, tuple | list) if kind is tuple else isinstance(thing, kind)
        return is_kind and (not isinstance(thing, Collection) or all(has_type(item, of[0]) for item in thing))
    if hint is int or not isinstance(hint, type):
        return hint is not int or hasattr(thing, "__index__")  # True for Any, callables and type variables
    if not isinstance(thing, hint) or not is_dataclass(hint):
        return isinstance(thing, hint)
    hints = get_type_hints(hint)
    return all(has_type(getattr(thing, each.name), hints[each.name]) for each in fields(hint))


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
    """Return *function*, which checks the types of its arguments if it fails, so a correct call takes 0.1 us more."""

    def check(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            given = signature(function).bind(*args, **kwargs).arguments
        except TypeError:
            return  # Python's error names the missing or unknown argument.
        owner = getattr(function, "__qualname__", "")
        require_types(given, get_type_hints(function), owner.removesuffix(".__init__"))

    @wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except EngineError:
            raise
        except (AssertionError, AttributeError, LookupError, TypeError, ValueError) as error:
            failure = error
        check(*args, **kwargs)
        raise failure

    return called
