"""Count the halves that the shipped reader misreads on rendered tables with new looks, without knowing the set.

    python -m lab.bench.halves [--tables 2000] [--seed 5150] [--jobs 2]

Use thousands of tables, because a few of them have most of the mistakes.
"""

from __future__ import annotations

from functools import cache, partial

import numpy as np

from lab.bench.material.harness import options_of
from lab.training.pips import Halves, draw_usual, load_networks, misread_figures
from lab.training.tables import concatenated, draw_in_processes
from vision.networks.network import load_pip_classifier


def main() -> None:
    options = options_of(__doc__, tables=2000, seed=5150, jobs=2)
    drawn = draw_in_processes(partial(halves_of_table, options.seed), options.tables, options.jobs, lambda _: None)
    halves = concatenated(list(drawn))
    print(
        f"{(halves.predicted != halves.pips).sum()} of {len(halves.pips)} halves of {options.tables} tables are misread"
    )
    for name, figure in misread_figures(halves).items():
        print(f"{name}: {figure}")


_networks = cache(load_networks)  # once per process


def halves_of_table(seed: int, index: int) -> Halves:
    """Return the halves of a table as read."""
    return draw_usual(np.random.default_rng((seed, index)), _networks(), head=load_pip_classifier())


if __name__ == "__main__":
    main()
