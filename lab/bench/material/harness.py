"""Command lines and figures that benchmarks share."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


def options_of(
    text: str | None, *paths: str, arguments: Sequence[str] | None = None, **options: Any
) -> argparse.Namespace:
    """Parse the command line of a benchmark.

    Args:
        paths: Names of required paths, or of any number of them with a suffix "...".
        arguments: Words to parse. None for those of this process.
        options: Options by name, each as its default, which gives its type: False for a flag. A type instead of a
            value has no default. A tuple adds a line of help, or None to hide the option.
    """
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in paths:
        parser.add_argument(name.removesuffix("..."), type=Path, nargs="*" if name.endswith("...") else None)
    for name, option in options.items():
        value, line = option if isinstance(option, tuple) else (option, "")
        flag, shown = "--" + name.replace("_", "-"), argparse.SUPPRESS if line is None else line
        if value is False:
            parser.add_argument(flag, action="store_true", help=shown)
            continue
        kind, default = (value, None) if isinstance(value, type) else (type(value), value)
        choices = list(kind) if issubclass(kind, Enum) else None
        parser.add_argument(flag, type=kind, default=default, choices=choices, help=shown)
    return parser.parse_args(arguments)


def median_and_p95(values: Sequence[float] | NDArray[np.float64], unit: str = "ms", digits: int = 0) -> str:
    """Return the median and the 95th percentile of measured values as text."""
    return f"median {np.median(values):.{digits}f} {unit}, 95 % within {np.percentile(values, 95):.{digits}f} {unit}"
