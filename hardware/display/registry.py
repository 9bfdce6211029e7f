"""Find the drivers of score displays: those of this package, and those of other distributions."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import entry_points
from pkgutil import iter_modules
from typing import get_args

from hardware.display import drivers
from hardware.display.driver import DisplayDriver, DisplayEmulation

GROUP = "tallybone.displays"
"""The group of entry points; each names a subclass of `DisplayDriver`."""

log = logging.getLogger(__name__)


def display_drivers() -> tuple[type[DisplayDriver], ...]:
    """Return all drivers; without those of other distributions that cannot be used, which are logged."""
    found = {name: driver for driver in _own() for name in _names(driver)}
    for point in entry_points(group=GROUP):
        try:
            driver = point.load()
        except (ImportError, AttributeError) as error:
            log.warning("display driver %s cannot be loaded: %s", point.value, error)
            continue
        if not (isinstance(driver, type) and issubclass(driver, DisplayDriver)) or found.keys() & _names(driver):
            log.warning("display driver %s is no DisplayDriver, or its name is taken", point.value)
            continue
        found |= dict.fromkeys(_names(driver), driver)
    return tuple(dict.fromkeys(found.values()))


def emulations() -> dict[str, DisplayEmulation]:
    """Return the displays that can be emulated, by name."""
    return {one.name: one for driver in display_drivers() for one in driver.emulations}


def _own() -> Iterator[type[DisplayDriver]]:
    for module in iter_modules(drivers.__path__):
        yield import_module(f"{drivers.__name__}.{module.name}").DRIVER


def _names(driver: type[DisplayDriver]) -> tuple[str, ...]:
    return get_args(driver.model_fields["driver"].annotation)
