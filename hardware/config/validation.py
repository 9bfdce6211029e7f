"""Validate settings with a pydantic model, and report all problems in plain words taken from its JSON schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import ErrorDetails, PydanticCustomError, core_schema


class ConfigError(ValueError):
    """An invalid configuration. The message lists all problems.

    Attributes:
        problems: Messages, each prefixed with its table and key.
    """

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


KeyPath: TypeAlias = tuple[str | int, ...]
"""Keys and indices that lead to a value."""

_AT_KEY, _MESSAGES = "at_key", "messages"
_MAX_SHOWN = 60


class SettingsTable(BaseModel):
    """A table of a settings file."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, validate_default=True, defer_build=True)


T = TypeVar("T", bound=SettingsTable)


class TableSchema(GenerateJsonSchema):
    """Generator of JSON schemas with keys in order, without generated titles, and without null, which TOML lacks."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        """Return False: the key is the title."""
        return False

    def sort(self, value: JsonSchemaValue, parent_key: str | None = None) -> JsonSchemaValue:
        """Return *value* unchanged, to keep the order of declaration."""
        return value

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        """Return the schema without null."""
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        """Return the schema without a default of None."""
        generated = super().default_schema(schema)
        return {key: value for key, value in generated.items() if (key, value) != ("default", None)}


def schema_of(model: type[SettingsTable]) -> JsonSchemaValue:
    """Return the JSON schema of a settings model."""
    return {"$schema": TableSchema.schema_dialect, **model.model_json_schema(schema_generator=TableSchema)}


def fault_at(key: str, text: str) -> PydanticCustomError:
    """Return an error with which a model validator rejects one of its keys."""
    return PydanticCustomError(_AT_KEY, "{text}", {"key": key, "text": text})


def listed_faults(problems: tuple[str, ...]) -> PydanticCustomError:
    """Return an error with which a model validator reports complete messages, which already name table and key."""
    return PydanticCustomError(_MESSAGES, "{problems}", {"problems": problems})


def validated(model: type[T], values: Mapping[str, object]) -> T:
    """Return validated settings.

    Invalid values are removed and the rest is validated again, to find conflicts between the valid values too.

    Raises:
        ConfigError: If there are problems. It lists all of them.
    """
    lines: dict[str, list[str]] = {}
    schema: JsonSchemaValue = {}
    while True:
        try:
            valid = model.model_validate(values)
        except ValidationError as error:
            is_first, schema = not schema, schema or schema_of(model)
            faults = tuple(_Fault.of(schema, details) for details in error.errors(include_url=False))
            for fault in faults:
                # Other faults of a later round are caused by the removed values.
                if is_first or fault.kind in (_AT_KEY, _MESSAGES):
                    fault.report(values, lines)
            rest = _without_faults(values, faults)
            if rest != values:
                values = rest
                continue
        break
    if lines:
        raise ConfigError(tuple(line + _listed(shown, "and") for line, shown in lines.items()))
    return valid


@dataclass(frozen=True, slots=True)
class _Fault:
    """A pydantic error, located in the schema.

    Attributes:
        kind: Type of the error.
        context: Context added by pydantic or a validator.
        path: Path to the value.
        leaf: Schema of the value.
        table: Schema of the table that contains it.
        kinds: Schemas of the drivers that the table accepts, by driver. Empty for a table without drivers.
        driver: Driver of the table, or "".
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
        """Resolve the location of an error, which also contains drivers and the types of unions."""
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
        """Path to the innermost key, without list indices after it."""
        return _key_path(self.path)

    def report(self, values: object, lines: dict[str, list[str]]) -> None:
        """Add a line for this fault to *lines*, or add its value to an existing line with the same message."""
        if self.kind == _MESSAGES:
            lines.update({problem: [] for problem in self.context["problems"]})
            return
        message, shown = self._message(values)
        table = _table_name(self.key_path[:-1], values)
        prefix = f"[{table}] {self.key_path[-1]}" if table else str(self.key_path[-1])
        listed = lines.setdefault(f"{prefix}: {message}", [])
        if shown and shown not in listed:
            listed.append(shown)

    def _message(self, values: object) -> tuple[str, str]:
        """Return the message, and the value to append to it or ""."""
        name = ".".join(step for step in self.path if isinstance(step, str))
        if self.kind == "missing":
            meaning = self.leaf.get("description")
            return f"is required{f': {meaning}' if meaning else ''}", ""
        if self.kind == "union_tag_not_found":
            return f"expected {_expected(self.leaf)}, but it is missing", ""
        if self.kind == "extra_forbidden":
            return self._unknown(), ""
        if self.kind in ("value_error", _AT_KEY):
            return str(self.context.get("text", self.context.get("error"))), ""
        if (isinstance(self.path[-1], int) and _is_table(self.leaf)) or _is_table(self.leaf.get("items", {})):
            return f"expected [[{name}]], with two brackets, for each of them", ""
        if _is_table(self.leaf):
            return f"expected one table [{name}], with one bracket", ""
        value = _value(values, self.path)
        near = get_close_matches(value, map(str, self.leaf.get("enum", ())), 1) if isinstance(value, str) else []
        hint = f"; did you mean {near[0]}?" if near else ""
        return f"expected {_expected(self.leaf)}, but got ", f"{_shown(value)}{hint}"

    def _unknown(self) -> str:
        """Return the message for an unknown key."""
        key = str(self.path[-1])
        keys = sorted({*self.table["properties"], *(key for kind in self.kinds.values() for key in kind["properties"])})
        if key in keys:
            return f"has no meaning with the driver {self.driver}"
        near = get_close_matches(key, keys, 1)
        return f"is not known; did you mean {near[0]}?" if near else f"is not known; expected {_listed(keys)}"


def _without_faults(values: object, faults: tuple[_Fault, ...]) -> Any:
    """Return settings without invalid values. Switch off parts with an invalid driver or a missing required key."""
    rest = values
    for fault in faults:
        path = fault.key_path
        if fault.kind == _MESSAGES:
            continue
        if fault.kinds and (path[-1] == "driver" or not _has(values, path)):
            rest = _with(rest, (*path[:-1], "driver"), "none")
            continue
        while path and not _has(values, path):
            path = _key_path(path[:-1])
        rest = _with(rest, path, None)
    return rest


def _with(node: Any, path: tuple[Any, ...], value: object) -> Any:
    """Return a copy of nested tables with *value* at a path. None removes the key or item."""
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


def _table_name(path: KeyPath, values: object) -> str:
    """Return the name of a table for messages. Tables of a list of several are numbered from 1."""
    name = ""
    for count, step in enumerate(path):
        if isinstance(step, str):
            name += f".{step}" if name else step
        elif len(_value(values, path[:count])) > 1:
            name += f" {step + 1}"
    return name


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
        return _listed([str(value) for value in leaf["enum"]])
    title = leaf.get("title", "")
    if "minimum" in leaf:
        return f"{title} {leaf['minimum']} to {leaf['maximum']}".strip()
    return title or {"boolean": "true or false", "array": "a list"}.get(leaf.get("type", ""), "a text")


def _listed(text: Sequence[str], last: str = "or") -> str:
    return f" {last} ".join(filter(None, (", ".join(text[:-1]), *text[-1:])))


def _shown(value: object) -> str:
    """Return a value in TOML notation, shortened to 60 characters."""
    if isinstance(value, bool):
        text = str(value).lower()
    else:
        text = f'"{value}"' if isinstance(value, str) else str(value)
    return text if len(text) <= _MAX_SHOWN else f"{text[: _MAX_SHOWN - 3]}..."
