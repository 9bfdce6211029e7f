"""Validate settings against a pydantic model: all problems at once, in plain words, from the model's JSON schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import ErrorDetails, PydanticCustomError, core_schema

from hardware.config.errors import ConfigError

KeyPath: TypeAlias = tuple[str | int, ...]
"""The keys and indices that lead to a value."""

_AT_KEY, _WORDED = "at_key", "worded"
_MOST_SHOWN = 60


class SettingsTable(BaseModel):
    """A table of a settings file."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, validate_default=True, defer_build=True)


T = TypeVar("T", bound=SettingsTable)


class TableSchema(GenerateJsonSchema):
    """The JSON schema of settings: keys in order, without generated titles, and without null, which TOML lacks."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        """Return false: the key is the title."""
        return False

    def sort(self, value: JsonSchemaValue, parent_key: str | None = None) -> JsonSchemaValue:
        """Keep the order of the declarations."""
        return value

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        """Return the schema of a value that is there."""
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        """Leave out a default of None."""
        made = super().default_schema(schema)
        return {key: value for key, value in made.items() if (key, value) != ("default", None)}


def schema_of(model: type[SettingsTable]) -> JsonSchemaValue:
    """Return the JSON schema of settings."""
    return {"$schema": TableSchema.schema_dialect, **model.model_json_schema(schema_generator=TableSchema)}


def fault_at(key: str, words: str) -> PydanticCustomError:
    """Return the error of a model validator about one of its keys."""
    return PydanticCustomError(_AT_KEY, "{words}", {"key": key, "words": words})


def worded(problems: tuple[str, ...]) -> PydanticCustomError:
    """Return the error of a model validator whose problems already name their places."""
    return PydanticCustomError(_WORDED, "{problems}", {"problems": problems})


def validated(model: type[T], said: Mapping[str, object]) -> T:
    """Return settings.

    Invalid values are left out and the rest validated again, to find conflicts between the valid ones too.

    Raises:
        ConfigError: With every problem.
    """
    lines: dict[str, list[str]] = {}
    schema: JsonSchemaValue = {}
    while True:
        try:
            valid = model.model_validate(said)
        except ValidationError as error:
            is_first, schema = not schema, schema or schema_of(model)
            faults = tuple(_Fault.of(schema, one) for one in error.errors(include_url=False))
            for fault in faults:
                # What is missing in a later round is what was left out.
                if is_first or fault.kind in (_AT_KEY, _WORDED):
                    fault.report(said, lines)
            rest = _rest(said, faults)
            if rest != said:
                said = rest
                continue
        break
    if lines:
        raise ConfigError(tuple(line + _listed(found, "and") for line, found in lines.items()))
    return valid


@dataclass(frozen=True, slots=True)
class _Fault:
    """An error of pydantic, found in the schema.

    Attributes:
        kind: Its type.
        context: What pydantic or a validator adds.
        path: To the value.
        leaf: The schema of the value.
        table: The schema of the table that it is in.
        kinds: The schemas of all drivers that the table may have.
        driver: The one that it has.
    """

    kind: str
    context: Mapping[str, Any]
    path: KeyPath
    leaf: JsonSchemaValue
    table: JsonSchemaValue
    kinds: Mapping[str, JsonSchemaValue]
    driver: str

    @classmethod
    def of(cls, root: JsonSchemaValue, error: ErrorDetails) -> _Fault:
        """Follow the location of an error, which also names drivers and the types of a union."""
        context = error.get("ctx", {})
        node = table = root
        kinds: dict[str, JsonSchemaValue] = {}
        path, driver = list[str | int](), ""
        for step in (*error["loc"], *((context["key"],) if error["type"] == _AT_KEY else ())):
            if "discriminator" in node:
                kinds, driver = _kinds(root, node), str(step)
                node = kinds[driver]
            elif "properties" in node:
                path.append(step)
                table, node = node, _resolved(root, node["properties"].get(step, {}))
            elif isinstance(step, int) and "items" in node:
                path.append(step)
                node = _resolved(root, node["items"])
        if error["type"].startswith("union_tag"):
            kinds = _kinds(root, node)
            path.append("driver")
            node = {"enum": list(kinds)}
        return cls(error["type"], context, tuple(path), node, table, kinds, driver)

    @property
    def key_path(self) -> KeyPath:
        """The path to the innermost key: without the indices of its list."""
        return _key_path(self.path)

    def report(self, said: object, lines: dict[str, list[str]]) -> None:
        """Add a line about it to *lines*, or what was found to a line that expects the same."""
        if self.kind == _WORDED:
            lines.update({problem: [] for problem in self.context["problems"]})
            return
        words, found = self._words(said)
        where = _where(self.key_path[:-1], said)
        prefix = f"[{where}] {self.key_path[-1]}" if where else str(self.key_path[-1])
        shown = lines.setdefault(f"{prefix}: {words}", [])
        if found and found not in shown:
            shown.append(found)

    def _words(self, said: object) -> tuple[str, str]:
        """Return the words, and what was found if they ask for it."""
        name = ".".join(one for one in self.path if isinstance(one, str))
        if self.kind == "missing":
            meaning = self.leaf.get("description")
            return f"has to be said{f': {meaning}' if meaning else ''}", ""
        if self.kind == "union_tag_not_found":
            return f"expected {_expected(self.leaf)}, but nothing is said", ""
        if self.kind == "extra_forbidden":
            return self._unknown(), ""
        if self.kind in ("value_error", _AT_KEY):
            return str(self.context.get("words", self.context.get("error"))), ""
        if (isinstance(self.path[-1], int) and _is_table(self.leaf)) or _is_table(self.leaf.get("items", {})):
            return f"expected [[{name}]], with two brackets, for each of them", ""
        if _is_table(self.leaf):
            return f"expected one table [{name}], with one bracket", ""
        value = _value(said, self.path)
        near = get_close_matches(value, self.leaf.get("enum", ()), 1) if isinstance(value, str) else []
        hint = f"; did you mean {near[0]}?" if near else ""
        return f"expected {_expected(self.leaf)}, but got ", f"{_shown(value)}{hint}"

    def _unknown(self) -> str:
        """Return what is wrong with a key that the table does not have."""
        key = str(self.path[-1])
        keys = sorted({*self.table["properties"], *(one for kind in self.kinds.values() for one in kind["properties"])})
        if key in keys:
            return f"has no meaning with the driver {self.driver}"
        near = get_close_matches(key, keys, 1)
        return f"is not known; did you mean {near[0]}?" if near else f"is not known; expected {_listed(keys)}"


def _rest(said: object, faults: tuple[_Fault, ...]) -> Any:
    """Return settings without what is wrong; a part without a key that it needs is switched off."""
    rest = said
    for fault in faults:
        path = fault.key_path
        if fault.kind == _WORDED:
            continue
        if fault.kinds and (path[-1] == "driver" or not _has(said, path)):
            rest = _with(rest, (*path[:-1], "driver"), "none")
            continue
        while path and not _has(said, path):
            path = _key_path(path[:-1])
        rest = _with(rest, path, None)
    return rest


def _with(node: Any, path: tuple[Any, ...], value: object) -> Any:
    """Return a copy of nested tables with another value at a path; without it if the value is None."""
    if not path or not (_has(node, path[:1]) or (len(path) == 1 and value is not None)):
        return node
    copied = dict(node) if isinstance(node, Mapping) else list(node)
    if len(path) > 1:
        copied[path[0]] = _with(node[path[0]], path[1:], value)
    elif value is None:
        del copied[path[0]]
    else:
        copied[path[0]] = value
    return copied


def _key_path(path: KeyPath) -> KeyPath:
    while path and isinstance(path[-1], int):
        path = path[:-1]
    return path


def _value(node: Any, path: KeyPath) -> Any:
    for step in path:
        node = node[step]
    return node


def _has(node: Any, path: KeyPath) -> bool:
    try:
        _value(node, path)
    except (LookupError, TypeError):
        return False
    return True


def _where(path: KeyPath, said: object) -> str:
    """Return a table as people know it: one of several has a number, from 1."""
    words = ""
    for count, step in enumerate(path):
        if isinstance(step, str):
            words += f".{step}" if words else step
        elif len(_value(said, path[:count])) > 1:
            words += f" {step + 1}"
    return words


def _resolved(root: JsonSchemaValue, node: JsonSchemaValue) -> JsonSchemaValue:
    if "$ref" not in node:
        return node
    return {**root["$defs"][node["$ref"].rpartition("/")[2]], **node}


def _kinds(root: JsonSchemaValue, node: JsonSchemaValue) -> dict[str, JsonSchemaValue]:
    return {name: _resolved(root, {"$ref": ref}) for name, ref in node["discriminator"]["mapping"].items()}


def _is_table(leaf: JsonSchemaValue) -> bool:
    return bool({"properties", "discriminator", "$ref"} & leaf.keys()) and "enum" not in leaf


def _expected(leaf: JsonSchemaValue) -> str:
    if "enum" in leaf:
        return _listed(leaf["enum"])
    title = leaf.get("title", "")
    if "minimum" in leaf:
        return f"{title} {leaf['minimum']} to {leaf['maximum']}".strip()
    return title or {"boolean": "true or false", "array": "a list"}.get(leaf.get("type", ""), "a text")


def _listed(words: Sequence[str], last: str = "or") -> str:
    return f" {last} ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def _shown(said: object) -> str:
    """Return a value as people wrote it, not too long."""
    if isinstance(said, bool):
        text = str(said).lower()
    else:
        text = f'"{said}"' if isinstance(said, str) else str(said)
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 3]}..."
