"""Tests of joining the page's modules into two files: contents, order and errors."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tallybone.hub.hall import OWN_STATIC
from tallybone.texts import LANGUAGES, catalogue
from tallybone.web.access.files import (
    JoiningError,
    Pages,
    asked_for_later,
    begun_with,
    first_script,
    later_script,
    module_of,
)
from tallybone.web.live.app import STATIC

SOURCES = {
    "main": 'import { add } from "./sum.js";\nconst found = import("./far.js");\nconsole.log(add(1, 2));\n'
    "found.then(({ far }) => far(3)).then(console.log);\n",
    "sum": "// Adds.\n\n/**\n * Return a sum.\n */\nexport function add(one, other) {\n"
    '  return one + other; // "no" * 2\n}\n',
    "far": 'import { add } from "./sum.js";\nimport { TEN } from "./ten.js";\n'
    "const near = 4;\n\nexport async function far(steps) {\n  return add(await TEN, steps) + near;\n}\n",
    "ten": "export const TEN = Promise.resolve(10);\n",
}


def read(name: str) -> str:
    return SOURCES[name]


def static(name: str) -> str:
    return next(path for folder in STATIC if (path := folder / f"{name}.js").is_file()).read_text()


def names_of(modules: object) -> list[str]:
    return [module.name for module in modules]  # type: ignore[attr-defined]  # any iterable of modules


def test_modules_follow_their_imports_and_dynamic_imports_are_deferred() -> None:
    first = begun_with(("main",), read)
    assert names_of(first) == ["sum", "main"]
    assert names_of(asked_for_later(first, read, names_of(first))) == ["ten", "far"]


def test_the_joined_scripts_behave_like_their_modules(node: str, tmp_path: Path) -> None:
    first = begun_with(("main",), read)
    later = asked_for_later(first, read, names_of(first))
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "page.js").write_text(first_script(first, "$.texts = {};"))
    (tmp_path / "later.js").write_text(later_script(later, "page.js", ""))
    joined = subprocess.run([node, "page.js"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert (joined.stdout, joined.stderr) == ("3\n17\n", "")


def test_comments_are_removed() -> None:
    assert "Adds" not in module_of("sum", SOURCES["sum"]).script
    assert "Return" not in module_of("sum", SOURCES["sum"]).script
    assert '// "no" * 2' in module_of("sum", SOURCES["sum"]).script


@pytest.mark.parametrize(
    "source",
    [
        'import make from "./dom.js";',
        'import * as dom from "./dom.js";',
        'import { make as made } from "./dom.js";',
        "export default 3;",
        "export let changing = 3;",
        'export { make } from "./dom.js";',
        "const texts = await fetch(1);",
    ],
)
def test_rejects_unsupported_syntax(source: str) -> None:
    with pytest.raises(JoiningError, match=r"new\.js"):
        module_of("new", f"{source}\n")


def test_rejects_circular_imports() -> None:
    ring = {"one": 'import { a } from "./two.js";\n', "two": 'import { b } from "./one.js";\n'}
    with pytest.raises(JoiningError, match=r"one\.js needs two\.js needs one\.js"):
        begun_with(("one",), ring.__getitem__)


def test_rarely_used_modules_are_not_in_the_first_script() -> None:
    first = begun_with(("main",), static, {"texts"})
    later = asked_for_later(first, static, {"texts", *names_of(first)})
    assert {"scores", "felt", "controls", "login"} <= {*names_of(first)}
    assert {"calibrate", "zones", "replay", "statistics", "match_form"} <= {*names_of(later)}
    # hand.js belongs to the exported file of a shared hand.
    assert {*names_of(first), *names_of(later), "hand"} == {
        path.stem for folder in STATIC for path in folder.glob("*.js")
    }


def test_no_template_literal_spans_lines() -> None:
    """Removing comments would damage a line of a template literal that looks like a comment."""
    for path in (path for folder in (*STATIC, OWN_STATIC) for path in folder.glob("*.js")):
        for line in path.read_text().splitlines():
            assert line.count("`") % 2 == 0, f"{path.name}: {line}"


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_text_is_in_one_of_the_two_files(language: str) -> None:
    files = Pages(STATIC).page(language).files
    first, later = (
        next(file.body.decode() for name, file in files.items() if name.endswith(end))
        for end in ("/page.js", "/later.js")
    )
    for english in catalogue(language):
        entry = f"{json.dumps(english, ensure_ascii=False)}:"
        assert (entry in first) != (entry in later), english
    assert len(first) < 100_000
