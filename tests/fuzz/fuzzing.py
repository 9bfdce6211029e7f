"""Fuzz a parser, guided by coverage: `make fuzz`, or `python -m tests.fuzz.fuzzing mcap -h`.

atheris (libFuzzer) measures which branches are reached. Failing inputs are written to build/fuzz.
"""

from __future__ import annotations

import logging
import sys
from argparse import ArgumentParser
from pathlib import Path

import atheris

PACKAGES = ["engine", "vision", "hardware", "calibration", "tallybone", "mcap"]
with atheris.instrument_imports(include=PACKAGES, enable_loader_override=False):
    from tests.fuzz.seeds import seeds
    from tests.fuzz.targets import TARGETS


def main() -> None:
    """Fuzz the target given on the command line."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("target", choices=sorted(TARGETS))
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--folder", type=Path, default=Path("build/fuzz"))
    arguments = parser.parse_args()
    logging.disable()  # each input is logged as new otherwise
    corpus: Path = arguments.folder / arguments.target
    corpus.mkdir(parents=True, exist_ok=True)
    for index, seed in enumerate(seeds()[arguments.target]):
        (corpus / f"seed-{index}").write_bytes(seed)
    options = [
        f"-max_total_time={arguments.seconds}",
        "-timeout=10",  # seconds for an input, to detect hangs
        "-rss_limit_mb=1500",
        "-max_len=65536",
        "-print_final_stats=1",
        f"-artifact_prefix={arguments.folder}/{arguments.target}-",
    ]
    atheris.Setup([sys.argv[0], str(corpus), *options], TARGETS[arguments.target])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
