"""The modules of a page in two files, so that a browser asks twice and not sixty times. Pure.

Each module keeps a scope of its own: ``export function make() {}`` of dom.js becomes ``$.dom = (() => { function make()
{} return { make }; })();``, and ``import { make } from "./dom.js";`` of another ``const { make } = $.dom;``. What is
only reached by ``import("./name.js")`` is in the second file. Comments that have lines of their own are left out: they
are a fifth of what would be sent.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

LATER = "later.js"
"""The name of the second file, beside the first."""

_IMPORT = re.compile(r'^import \{ (\w+(?:, \w+)*) \} from "\./(\w+)\.js";$', re.MULTILINE)
_COMMENT = re.compile(r"^[ \t]*(?:/\*\*.*?\*/|//[^\n]*)\n", re.MULTILINE | re.DOTALL)
_IMPORT_LATER = re.compile(r'\bimport\("\./(\w+)\.js"\)')
_EXPORT = re.compile(r"^export ((?:async )?function|class|const) (\w+)", re.MULTILINE)
_OTHER = re.compile(r"^(?:import|export|await|const .* = await)\b.*$", re.MULTILINE)

Read = Callable[[str], str]
"""Returns the source of a module, by its name without `.js`."""


class JoiningError(ValueError):
    """A module does what no other module of the page does, or two of them need each other."""


@dataclass(frozen=True, slots=True)
class Module:
    """A module.

    Attributes:
        name: That of its file, without `.js`.
        needs: The modules that it cannot begin without.
        leads_to: Those that it asks for when they are wanted.
        script: It as a part of a joined file.
    """

    name: str
    needs: tuple[str, ...]
    leads_to: tuple[str, ...]
    script: str


def module_of(name: str, source: str) -> Module:
    r"""Return a module, ready to be joined with others.

    >>> print(module_of("end", 'import { pips } from "./tile.js";\nexport const END = pips(6);').script)
    $.end = (() => {
    const { pips } = $.tile;
    const END = pips(6);
    return { END };
    })();

    Raises:
        JoiningError: If it imports, exports or waits in a way that is not known here.
    """
    source = _COMMENT.sub("", source)
    needs = tuple(found[1] for found in _IMPORT.findall(source))
    leads_to = tuple(_IMPORT_LATER.findall(source))
    exported = ", ".join(found[1] for found in _EXPORT.findall(source))
    body = _EXPORT.sub(r"\1 \2", _IMPORT.sub(r"const { \1 } = $.\2;", source))
    if (other := _OTHER.search(body)) is not None:
        raise JoiningError(f"{name}.js: expected import {{ name }} from, import(), or export of a name: {other[0]}")
    body = _IMPORT_LATER.sub(rf'import("./{LATER}").then(() => $.\1)', body).rstrip()
    returned = f"\nreturn {{ {exported} }};" if exported else ""
    return Module(name, needs, leads_to, f"$.{name} = (() => {{\n{body}{returned}\n}})();")


def begun_with(names: Iterable[str], read: Read, known: Collection[str] = ()) -> tuple[Module, ...]:
    """Return modules and all that they need, each after those that it needs; without those that are *known*.

    Raises:
        JoiningError: If two of them need each other.
    """
    ordered: dict[str, Module] = {}

    def take(name: str, way: tuple[str, ...]) -> None:
        if name in known or name in ordered:
            return
        if name in way:
            raise JoiningError(" needs ".join(f"{one}.js" for one in (*way[way.index(name) :], name)))
        module = module_of(name, read(name))
        for need in module.needs:
            take(need, (*way, name))
        ordered[name] = module

    for name in names:
        take(name, ())
    return tuple(ordered.values())


def asked_for_later(first: Iterable[Module], read: Read, known: Collection[str]) -> tuple[Module, ...]:
    """Return the modules that others lead to, and those that these lead to in turn."""
    found: dict[str, Module] = {}
    wanted = [name for module in first for name in module.leads_to]
    while wanted:
        more = begun_with(wanted, read, (*known, *found))
        found.update((module.name, module) for module in more)
        wanted = [name for module in more for name in module.leads_to]
    return tuple(found.values())


def first_script(modules: Iterable[Module], given: str) -> str:
    """Return the first file; *given* stands before all modules, and can set what they find in `$`."""
    return "\n".join(("const $ = {};", given, *(module.script for module in modules), "export { $ };", ""))


def later_script(modules: Iterable[Module], first: str, given: str) -> str:
    """Return the second file, which finds the modules of the *first*, named so, in `$`."""
    return "\n".join((f'import {{ $ }} from "./{first}";', given, *(module.script for module in modules), ""))
