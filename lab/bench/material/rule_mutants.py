"""Mutants of a package: copies of a module with one small mistake, drawn with a seed."""

from __future__ import annotations

import ast
import copy
import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]

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
