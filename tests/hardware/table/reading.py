"""The table [hardware] as values."""

from __future__ import annotations

from collections.abc import Mapping

from hardware.part import OFF, SettingsTable, validated
from hardware.table import HardwareSettings


class HardwareFile(SettingsTable):
    hardware: HardwareSettings


def read_hardware(table: Mapping[str, object]) -> HardwareSettings:
    """Return the parts that a table names.

    Raises:
        ConfigError: With everything that is wrong.
    """
    return validated(HardwareFile, {"hardware": table}).hardware.without(OFF)
