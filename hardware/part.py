"""Base of all parts: clock, colour, state, settings with their validation, the registry of drivers, and pins."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import entry_points
from inspect import isabstract
from pkgutil import iter_modules
from typing import Annotated, Any, ClassVar, Generic, Literal, Self, TypeAlias, TypeGuard, TypeVar, Union, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    PlainSerializer,
    PlainValidator,
    Strict,
    ValidationError,
    WithJsonSchema,
    create_model,
)
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import ErrorDetails, PydanticCustomError, core_schema

Clock: TypeAlias = Callable[[], int]
"""Returns a monotonic time in nanoseconds."""


@dataclass(frozen=True, slots=True)
class Rgb:
    """An RGB colour with components from 0 to 255."""

    red: int
    green: int
    blue: int

    def __post_init__(self) -> None:
        if not all(0 <= shade <= 255 for shade in (self.red, self.green, self.blue)):
            raise ValueError(f"a colour has parts of 0 to 255, but got {self.red}, {self.green}, {self.blue}")


@dataclass(frozen=True, slots=True)
class PartState:
    """State of a part.

    Attributes:
        problem: Message explaining why the part does not work and how to fix it, or None.
        warning: Message explaining why the part works worse than it should, or None.
        is_opening: Whether the part has neither opened nor failed yet.
        lost: Number of inputs dropped because they were not read in time.
    """

    problem: str | None = None
    warning: str | None = None
    is_opening: bool = False
    lost: int = 0

    @property
    def works(self) -> bool:
        """True if the part is open and has no problem."""
        return self.problem is None and not self.is_opening

    @property
    def trouble(self) -> str | None:
        """The problem, or the warning if there is no problem, or None."""
        return self.warning if self.problem is None else self.problem


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

_AT_KEY = "at_key"
_MESSAGES = "messages"
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
    """A pydantic error, with the schemas of its value, of the table that contains it, and of the table's drivers."""

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
        # The name of a table for messages. Tables of a list of several are numbered from 1.
        path = self.key_path[:-1]
        table = ""
        for count, step in enumerate(path):
            if isinstance(step, str):
                table += f".{step}" if table else step
            elif len(_value(values, path[:count])) > 1:
                table += f" {step + 1}"
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
            of_kinds = {key for kind in self.kinds.values() for key in kind["properties"]}
            key, keys = str(self.path[-1]), sorted({*self.table["properties"], *of_kinds})
            if key in keys:
                return f"has no meaning with the driver {self.driver}", ""
            near = get_close_matches(key, keys, 1)
            return f"is not known; {f'did you mean {near[0]}?' if near else f'expected {_listed(keys)}'}", ""
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


Lax = Strict(strict=False)
"""Allows conversion from the TOML type, for values that TOML can only express as a list or string."""
NonEmpty = Annotated[str, Field(min_length=1)]
Percent = Annotated[int, Field(ge=0, le=100)]
SeatIndex = Annotated[int, Field(ge=0, le=15, description="seat, from 0")]
# Pins 0 and 1 are reserved for the ID EEPROM of HAT boards.
Pin = Annotated[int, Field(ge=2, le=27, title="BCM pins")]
Pins = Annotated[tuple[Pin, ...], Lax, Field(title="a list of pins")]

_SPI_PORTS = ("0.0", "0.1", "1.0", "1.1", "1.2")
# The same on Raspberry Pi 4, 5 and Zero 2 W. The kernel claims both chip selects of bus 0 when SPI is enabled.
_SPI_PINS = {
    0: ((10, "MOSI"), (9, "MISO"), (11, "SCLK"), (8, "CE0"), (7, "CE1")),
    1: ((20, "MOSI"), (19, "MISO"), (21, "SCLK")),
}
_SPI1_CHIPS = (18, 17, 16)


@dataclass(frozen=True, slots=True)
class SpiPort:
    """An SPI port of a Raspberry Pi. Bus 0 and chip 1 are /dev/spidev0.1."""

    bus: int = 0
    chip: int = 0

    @classmethod
    def parse(cls, text: str) -> SpiPort:
        """Parse the text form that `str` returns.

        Raises:
            ValueError: If a Raspberry Pi has no such port.

        >>> SpiPort.parse("0.1")
        SpiPort(bus=0, chip=1)
        """
        if text not in _SPI_PORTS:
            raise ValueError(f"expected 0.0, 0.1, 1.0, 1.1 or 1.2, but got {text}")
        return cls(int(text[0]), int(text[2]))

    def __str__(self) -> str:
        return f"{self.bus}.{self.chip}"

    @property
    def pin_uses(self) -> tuple[tuple[int, str], ...]:
        """The pins (BCM) of the port, each with its function."""
        chips = () if self.bus == 0 else ((_SPI1_CHIPS[self.chip], f"CE{self.chip}"),)
        return tuple((pin, f"SPI bus {self.bus} {name}") for pin, name in (*_SPI_PINS[self.bus], *chips))


SpiChip = Annotated[
    SpiPort,
    PlainValidator(lambda value: SpiPort.parse(str(value))),
    PlainSerializer(str),
    WithJsonSchema({"type": "string", "enum": list(_SPI_PORTS), "description": "bus and chip select"}),
]


PinNames: TypeAlias = Sequence[tuple[int, str]]
"""Pins (BCM), each with its function, such as `(5, "LED 1")`."""


log = logging.getLogger(__name__)
OFF = "none"
"""Driver name of a part that is switched off."""


@dataclass(frozen=True, slots=True)
class NeededLibrary:
    """A library that a part requires.

    Attributes:
        why: Parts that need it, in words.
        apt: Package of Raspberry Pi OS that provides it. "" if the one of pip works.
        probe: Attribute that a working module has. "" to skip this check.
        oldest: First version that works.
    """

    module: str
    package: str
    why: str
    apt: str = ""
    probe: str = ""
    oldest: tuple[int, int] = (0, 0)


class PartSettings(SettingsTable):
    """Settings of a part. A part with the driver `OFF` is switched off."""

    driver: str
    _name: str = ""

    libraries: ClassVar[tuple[NeededLibrary, ...]] = ()
    """Libraries that `tallybone doctor` checks, in addition to those for pins and SPI."""

    @property
    def name(self) -> str:
        """Table in the file, with a number if there are several, such as `hardware.leds 2`."""
        return self._name

    def named(self, name: str) -> Self:
        """Return a copy with another name."""
        part = self.model_copy()
        part._name = name
        return part

    @property
    def pin_uses(self) -> PinNames:
        """The pins wired to the part."""
        return ()

    @property
    def bus_uses(self) -> PinNames:
        """The pins of the part's SPI, I2S or UART bus."""
        return () if self.spi_port is None else self.spi_port.pin_uses

    @property
    def spi_port(self) -> SpiPort | None:
        """The SPI port wired to the part, or None."""
        return None

    @property
    def location(self) -> str:
        """The device file or URL of the part. "" if it has none."""
        return "" if self.spi_port is None else f"/dev/spidev{self.spi_port}"

    def doubt(self, wait: Callable[[float], object]) -> str:
        """Return a message for `tallybone doctor` if the connected part seems to be of another kind, or "".

        *wait* is a sleep function that takes seconds.
        """
        return ""


D = TypeVar("D", bound=PartSettings)


@dataclass(frozen=True, slots=True)
class Registry(Generic[D]):
    """Drivers of one kind of part, built in or provided by other distributions.

    A driver is a subclass of *base* with its names as `driver: Literal[...]` and an annotated field for each option.
    """

    group: str
    base: type[D]
    package: str

    def drivers(self) -> tuple[type[D], ...]:
        """Return all drivers. External drivers that cannot be used are logged and left out."""
        modules = [f"{self.package}.{module.name}" for module in iter_modules(import_module(self.package).__path__)]
        members = [(name, member) for name in modules for member in vars(import_module(name)).values()]
        built_in = [member for name, member in members if self._is_driver(member) and member.__module__ == name]
        drivers = {name: driver for driver in built_in for name in _names(driver)}
        kind = self.group.rpartition(".")[2].removesuffix("s")
        for point in entry_points(group=self.group):
            try:
                driver = point.load()
            except (ImportError, AttributeError) as error:
                log.warning("%s driver %s cannot be loaded: %s", kind, point.value, error)
                continue
            if not self._is_driver(driver) or drivers.keys() & _names(driver):
                base = self.base.__name__
                log.warning("%s driver %s is not a %s, or its name is taken", kind, point.value, base)
                continue
            drivers |= dict.fromkeys(_names(driver), driver)
        return tuple(dict.fromkeys(drivers.values()))

    def _is_driver(self, member: object) -> TypeGuard[type[D]]:
        return isinstance(member, type) and issubclass(member, self.base) and not isabstract(member)


def _names(driver: type[PartSettings]) -> tuple[str, ...]:
    return get_args(driver.model_fields["driver"].annotation)


class ByDriver:
    """Annotation of a part whose model is selected by `driver`. The driver "none" accepts the keys of all models."""

    def __init__(self, off: str, registry: Registry[Any], virtual: type[PartSettings]) -> None:
        """Select among the drivers of *registry* and *virtual*. *off* is the schema title of a part without driver."""
        self._off, self._registry, self._virtual = off, registry, virtual

    def __get_pydantic_core_schema__(self, source: object, build: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        kinds = (*self._registry.drivers(), self._virtual)
        keys = {key: (Any, Field(None, exclude=True)) for kind in kinds for key in kind.model_fields}
        fields: dict[str, Any] = {**keys, "driver": (Literal["none"], ...)}
        off = create_model(self._off, __base__=PartSettings, __doc__="Switched off; other keys are ignored.", **fields)
        return build.generate_schema(Annotated[Union[(*kinds, off)], Field(discriminator="driver")])


@dataclass(frozen=True, slots=True)
class PinUse:
    """A use of a pin.

    Attributes:
        pin: BCM number.
        part: Name of the part, such as `hardware.leds 2`.
        what: Function of the pin.
    """

    pin: int
    part: str
    what: str


def pins_used(parts: Sequence[PartSettings]) -> tuple[PinUse, ...]:
    """Return every use of a pin, including SPI, I2S and UART buses. A conflicting pin occurs several times."""
    wired = ((pin, part.name, what) for part in parts for pin, what in part.pin_uses)
    buses = ((pin, part.name, what) for part in parts for pin, what in part.bus_uses)
    return tuple(PinUse(*use) for use in (*wired, *buses))


def conflicts(parts: Sequence[PartSettings]) -> tuple[str, ...]:
    """Return a message for each pin or bus that two parts claim. The message names both parts."""
    messages: list[str] = []
    first: dict[int, PinUse] = {}
    shared = set[str]()
    for use in pins_used(parts):
        before = first.setdefault(use.pin, use)
        if before is use:
            continue
        if before.what.startswith("SPI bus") and use.what.startswith("SPI bus"):
            shared.add(use.what[: len("SPI bus 0")])
            continue
        messages.append(f"[{use.part}] pin {use.pin} ({use.what}) is taken by [{before.part}] ({before.what})")
    # LED strips have no chip select, so they would show data sent to others.
    for bus in sorted(shared):
        names = [part.name for part in parts if part.spi_port is not None and bus == f"SPI bus {part.spi_port.bus}"]
        messages.append(f"[{names[-1]}] spi: {bus} is taken by [{names[0]}]: a strip shares it with nothing")
    return tuple(messages)


def same_ports(parts: Sequence[PartSettings]) -> Iterator[str]:
    """Yield a message for each part that uses the device file or URL of an earlier one."""
    first: dict[str, str] = {}
    for part in parts:
        if part.location and first.setdefault(part.location, part.name) != part.name:
            yield f"[{part.name}] url: {part.location} is taken by [{first[part.location]}]"
