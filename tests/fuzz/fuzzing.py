"""Feeds one parser with bytes that reach ever more of its code: `make fuzz`, or `python -m tests.fuzz.fuzzing mcap -h`.

atheris (libFuzzer) watches which branches are reached. Bytes that break something lie in build/fuzz afterwards.
"""

from __future__ import annotations

import logging
import sys
from argparse import ArgumentParser
from pathlib import Path

import atheris

PACKAGES = ["engine", "vision", "hardware", "calibration", "synthetic", "tallybone", "mcap"]
with atheris.instrument_imports(include=PACKAGES, enable_loader_override=False):
    from tests.fuzz.seeds import seeds
    from tests.fuzz.targets import TARGETS


def main() -> None:
    """Fuzz what is named for so many seconds."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("target", choices=sorted(TARGETS))
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--folder", type=Path, default=Path("build/fuzz"))
    wanted = parser.parse_args()
    logging.disable()  # each input is a first one, and says so
    corpus: Path = wanted.folder / wanted.target
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds()[wanted.target]):
        (corpus / f"seed-{number}").write_bytes(seed)
    options = [
        f"-max_total_time={wanted.seconds}",
        "-timeout=10",  # seconds for one input: a hang
        "-rss_limit_mb=1500",
        "-max_len=65536",
        "-print_final_stats=1",
        f"-artifact_prefix={wanted.folder}/{wanted.target}-",
    ]
    atheris.Setup([sys.argv[0], str(corpus), *options], TARGETS[wanted.target])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
