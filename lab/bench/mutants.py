"""Measure the share of small mistakes in a package that its quick tests notice.

Each mutant changes one place, drawn with a seed: a comparison, `and` or `or`, an operator, a number by one, a
condition, a returned value, a keyword of `replace`, or a whole statement. The quick tests that run this place, found
by coverage, run in a copy of the project, fastest first, until one fails. If the place also runs on import, all quick
tests run. A mutant that exceeds its time or memory is killed too. The results are in docs/experiments/mutants.md.

    python -m lab.bench.mutants --package engine --seed 68 --number 100 --keep DIR
    python -m lab.bench.mutants --package engine --seed 68 --number 100 --keep DIR --only 7,23 [--list]
"""

from __future__ import annotations

import ast
import copy
import json
import multiprocessing
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory

import coverage
import pytest
from hypothesis import HealthCheck, settings

from lab.bench.material.harness import options_of

ROOT = Path(__file__).resolve().parents[2]
QUICK = [
    *("-q", "-x", "-mnot slow", "-pno:cacheprovider", "-pno:xdist", "--tb=line", "--timeout=180"),
    *("--hypothesis-seed=0", "--hypothesis-profile=mutants", "-Wignore::pytest.PytestAssertRewriteWarning"),
]
# Tests of recordings that are not in their own folder, as in `make coverage`.
ELSEWHERE = ("play/test_recorder.py", "web/test_recordings.py", "web/test_taking_back.py")
MAX_S = 1800
MAX_BYTES = 4 << 30  # of memory; an endless loop of additions must not take all of it
_COMPARED: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_CALCULATED: dict[type[ast.operator], type[ast.operator]] = (
    {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mult, ast.Div: ast.Mult}
    | {ast.Mod: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitOr}
    | {ast.LShift: ast.RShift, ast.RShift: ast.LShift}
)
_SWAPPED = {"min": "max", "max": "min", "any": "all", "all": "any"}
_UNTOUCHED = (ast.JoinedStr, ast.Import, ast.ImportFrom, ast.arg, ast.Assert)


@dataclass(frozen=True, slots=True)
class Mutant:
    """A changed place.

    Attributes:
        path: The module, from the root of the project.
        lines: Lines of the statement, up to the last one that is changed.
        old: The changed lines before, as one.
        new: The changed lines after, as one.
    """

    path: str
    line: int
    lines: range
    old: str
    new: str
    source: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}\n    - {self.old}\n    + {self.new}"


def places(tree: ast.AST, statement: ast.stmt | None = None) -> Iterator[tuple[ast.AST, ast.stmt]]:
    """Yield the nodes that may be changed, each with its statement: no annotations, decorators, texts or assertions."""
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns", "decorator_list", "bases"):
            continue
        for node in value if isinstance(value, list) else [value]:
            if not isinstance(node, ast.AST) or isinstance(node, _UNTOUCHED) or _is_for_types(node):
                continue
            within = node if isinstance(node, ast.stmt) else statement
            if within is not None and hasattr(node, "lineno"):
                yield node, within
            yield from places(node, within)


def _is_for_types(node: ast.AST) -> bool:
    """Return True for a union of types, a type variable, `__all__`, and imports for types."""
    if isinstance(node, ast.Assign | ast.If):
        return ast.unparse(node).startswith(("__all__", "if TYPE_CHECKING"))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return ast.unparse(node.right).rpartition(".")[2][0].isupper()
    return isinstance(node, ast.Call) and ast.unparse(node.func) in ("TypeVar", "NewType", "assert_never")


def changes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield all changed forms of one node."""
    changed = partial(_with, node)
    match node:
        case ast.Compare(ops=[op]):
            yield from (changed(ops=[other()]) for other in _COMPARED[type(op)])
        case ast.BoolOp(op=op, values=values):
            yield changed(op=ast.Or() if isinstance(op, ast.And) else ast.And())
            yield from (changed(values=values[:at] + values[at + 1 :]) for at in range(len(values)))
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield operand
        case ast.BinOp(op=op) if type(op) in _CALCULATED:
            yield changed(op=_CALCULATED[type(op)]())
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(number)):
            yield from (ast.Constant(number + 1), ast.Constant(number - 1))
        case ast.Return(value=ast.expr() as value) if ast.unparse(value) not in ("None", "False"):
            yield ast.Return(ast.Constant(None))
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            yield changed(test=ast.UnaryOp(ast.Not(), test))
        case ast.AugAssign(op=op, target=target, value=value):
            yield ast.Pass()
            yield ast.AugAssign(target, _CALCULATED[type(op)](), value)
        case ast.Expr(value=ast.Call() | ast.Yield() | ast.YieldFrom() as value) if not _is_for_types(value):
            yield ast.Pass()
        case ast.Raise() | ast.Continue() | ast.Break() | ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield ast.Pass()
        case ast.Slice(lower=lower, upper=upper):
            yield from (changed(lower=shifted) for shifted in _shifted(lower))
            yield from (changed(upper=shifted) for shifted in _shifted(upper))
        case ast.Call(func=ast.Name(id="replace"), keywords=keywords):
            yield from (changed(keywords=keywords[:at] + keywords[at + 1 :]) for at in range(len(keywords)))
        case ast.Name(id=name) if name in _SWAPPED:
            yield ast.Name(_SWAPPED[name])


def _shifted(bound: ast.expr | None) -> list[ast.expr]:
    """Return *bound* of a slice, one more and one less."""
    return [] if bound is None else [ast.BinOp(bound, op, ast.Constant(1)) for op in (ast.Add(), ast.Sub())]


def _with(node: ast.AST, **fields: object) -> ast.AST:
    """Return a copy of *node* with other *fields*."""
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def mutants(package: str, seed: int, number: int) -> list[Mutant]:
    """Return *number* mutants of *package*. Every place is equally likely, and then each of its changes."""
    rng = random.Random(seed)
    found: list[tuple[Path, ast.AST, ast.stmt, list[ast.AST]]] = []
    for path in sorted((ROOT / package).rglob("*.py")):
        listed = ((node, statement, list(changes(node))) for node, statement in places(ast.parse(path.read_text())))
        found += [(path, node, statement, changed) for node, statement, changed in listed if changed]
    drawn = rng.sample(found, number)
    return [_mutant(path, node, statement, rng.choice(changed)) for path, node, statement, changed in drawn]


def _mutant(path: Path, node: ast.AST, statement: ast.stmt, changed: ast.AST) -> Mutant:
    """Return the mutant of one place. All other text stays as it is."""
    if isinstance(node, ast.If | ast.While | ast.IfExp) and isinstance(changed, ast.If | ast.While | ast.IfExp):
        node, changed = node.test, changed.test
    assert isinstance(node, ast.expr | ast.stmt | ast.pattern)
    last = node.end_lineno or node.lineno
    source = path.read_bytes()
    starts = [0, *accumulate(len(text) for text in source.splitlines(keepends=True))]
    begins, ends = starts[node.lineno - 1] + node.col_offset, starts[last - 1] + (node.end_col_offset or 0)
    text = ast.unparse(changed)
    if isinstance(changed, ast.UnaryOp | ast.BinOp | ast.BoolOp | ast.Compare):
        text = f"({text})"
    first, after = starts[node.lineno - 1], starts[last]
    before = source[first:after].decode()
    line = source[first:begins].decode() + text + source[ends:after].decode()
    new = source[:first].decode() + line + source[after:].decode()
    ast.parse(new)  # raises SyntaxError
    lines = range(min(statement.lineno, node.lineno), last + 1)
    name = path.relative_to(ROOT).as_posix()
    return Mutant(name, node.lineno, lines, " ".join(before.split()), " ".join(line.split()), new)


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
    options = options_of(__doc__, package="engine", seed=68, number=100, only="", list=False, keep=Path)
    drawn = list(enumerate(mutants(options.package, options.seed, options.number), start=1))
    drawn = [(at, mutant) for at, mutant in drawn if not options.only or str(at) in options.only.split(",")]
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
