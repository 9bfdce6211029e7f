"""Measure the share of small mistakes in a package that its quick tests notice.

Each mutant changes one place, drawn with a seed: a comparison, `and` or `or`, an operator, a number by one, a
condition, a returned value, a keyword of `replace`, or a whole statement. The quick tests that run this place, found
by coverage, run in a copy of the project, fastest first, until one fails. If the place also runs on import, all quick
tests run. A mutant that exceeds its time or memory is killed too. The results are in docs/experiments/mutants.md.

    python -m lab.bench.mutants --package engine --seed 68 --number 100 --keep DIR
    python -m lab.bench.mutants --package engine --seed 68 --number 100 --keep DIR --only 7 --only 23
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory

import coverage
import pytest
from hypothesis import HealthCheck, settings

from lab.bench.material.rule_mutants import ROOT, Mutant, mutants

QUICK = [
    *("-q", "-x", "-mnot slow", "-pno:cacheprovider", "-pno:xdist", "--tb=line", "--timeout=180"),
    *("--hypothesis-seed=0", "--hypothesis-profile=mutants", "-Wignore::pytest.PytestAssertRewriteWarning"),
]
PACKAGES = ("engine", "tallybone/session", "tallybone/recording")
# Tests of recordings that are not in their own folder, as in `make coverage`.
ELSEWHERE = ("play/test_recorder.py", "web/test_recordings.py", "web/test_taking_back.py")
MAX_S = 1800
MAX_BYTES = 4 << 30  # of memory; an endless loop of additions must not take all of it


@dataclass(eq=False)  # pytest needs a hash
class Chosen:
    """Plugin of pytest that runs chosen tests in order, and keeps their times and the first failure.

    Attributes:
        order: Tests to run, fastest first. None runs all tests.
        known: Tests that existed when coverage was measured. Others run first.
    """

    order: list[str] | None = None
    known: frozenset[str] = frozenset()
    seconds: dict[str, float] = field(default_factory=dict)
    failed: str = ""

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Choose and sort the tests."""
        if self.order is not None:
            place = {name: at for at, name in enumerate(self.order)}
            items[:] = [item for item in items if item.nodeid in place or item.nodeid not in self.known]
            items.sort(key=lambda item: place.get(item.nodeid, -1))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the time, and the name of a failed test."""
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0) + report.duration
        if report.failed:
            self.failed = f"{report.nodeid}: {getattr(report.longrepr, 'reprcrash', None)}".split("\n")[0]


def failure(tree: Path, package: str, plugin: Chosen, *arguments: str) -> str:
    """Run quick tests of a package in a process of their own. Return the first failure, or "" if there is none."""
    context = multiprocessing.get_context("fork")
    receives, sends = context.Pipe(duplex=False)
    process = context.Process(target=_run_tests, args=(tree, package, plugin, arguments, sends))
    process.start()
    sends.close()
    try:
        if not receives.poll(MAX_S):
            os.killpg(process.pid or 0, signal.SIGKILL)
            return f"more than {MAX_S} s"
        code, plugin.failed, plugin.seconds = receives.recv()
        return "" if code in (0, 5) else plugin.failed or f"no test could begin (exit code {code})"
    except EOFError:
        return "pytest died"
    finally:
        process.join()


def _run_tests(tree: Path, package: str, plugin: Chosen, arguments: tuple[str, ...], sends: Connection) -> None:
    """Run quick tests of *tree* with its own modules, and send the exit code, the first failure and the times."""
    os.setsid()
    resource.setrlimit(resource.RLIMIT_AS, (MAX_BYTES, MAX_BYTES))
    os.chdir(tree)
    sys.path[:] = [str(tree), *(path for path in sys.path if Path(path).resolve() != ROOT)]
    sys.modules.pop("lab", None)  # tests use that of *tree*
    sys.stdout = sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115  # until the process ends
    settings.register_profile("mutants", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    others = [f"tests/tallybone/{name}" for name in ELSEWHERE if package == "tallybone/recording"]
    code = pytest.main([*QUICK, *arguments, f"tests/{package}", *others], plugins=[plugin])
    sends.send((int(code), plugin.failed, plugin.seconds))


def traced(tree: Path, package: str, keep: Path) -> tuple[dict[str, float], dict[str, dict[int, list[str]]]]:
    """Return the time of each quick test, and the tests that run each line of each module, from *keep* if it has them.

    A line that runs on import, or for the parameters of tests, has a test with an empty name.
    """
    data, times = keep / "coverage", keep / "seconds.json"
    if not times.is_file():
        os.environ["COVERAGE_FILE"] = str(data)
        plugin = Chosen()
        if reason := failure(tree, package, plugin, f"--cov={package}", "--cov-context=test", "--cov-report="):
            sys.exit(f"the quick tests fail without a mutant: {reason}")
        times.write_text(json.dumps(plugin.seconds))
    measured = coverage.CoverageData(str(data))
    measured.read()
    files = {path.partition(f"/{tree.name}/")[2]: path for path in measured.measured_files()}
    return json.loads(times.read_text()), {file: measured.contexts_by_lineno(path) for file, path in files.items()}


def order(mutant: Mutant, seconds: dict[str, float], tests: dict[str, dict[int, list[str]]]) -> list[str]:
    """Return the tests to run for a mutant: those that run its lines, fastest first, then all others if needed."""
    lines = tests.get(mutant.path, {})
    running = {test.rpartition("|")[0] for line in mutant.lines for test in lines.get(line, ())}
    others = set(seconds) - running if "" in running else set()
    return [test for chosen in (running - {""}, others) for test in sorted(chosen, key=lambda name: seconds[name])]


def main() -> None:
    """Run the tests with each mutant, and print the survivors and the share of the others."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", choices=PACKAGES, default="engine")
    parser.add_argument("--seed", type=int, default=68)
    parser.add_argument("--number", type=int, default=100)
    parser.add_argument("--only", type=int, action="append", help="number of a mutant; may be given several times")
    parser.add_argument("--list", action="store_true", help="print the mutants without running tests")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="folder for the coverage, used again")
    options = parser.parse_args()
    drawn = list(enumerate(mutants(options.package, options.seed, options.number), start=1))
    drawn = [(at, mutant) for at, mutant in drawn if options.only is None or at in options.only]
    if options.list:
        print(*(f"{at}. {mutant}" for at, mutant in drawn), sep="\n")
        return
    with TemporaryDirectory() as scratch:
        tree = Path(scratch) / "tree"
        for name in subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).splitlines():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tree / name)
        keep = (options.keep or Path(scratch)) / options.package
        keep.mkdir(parents=True, exist_ok=True)
        survived, (seconds, tests) = 0, traced(tree, options.package, keep.resolve())
        for at, mutant in drawn:
            begins, file = time.perf_counter(), tree / mutant.path
            original = file.read_text()
            file.write_text(mutant.source)
            os.utime(file, (at, at))  # another time than before, or Python would run the module it compiled then
            reason = failure(tree, options.package, Chosen(order(mutant, seconds, tests), frozenset(seconds)))
            file.write_text(original)
            survived += not reason
            print(f"{at}. {reason or 'SURVIVED'} ({time.perf_counter() - begins:.0f} s)\n{mutant}", flush=True)
    print(f"killed {len(drawn) - survived} of {len(drawn)}")


if __name__ == "__main__":
    main()
