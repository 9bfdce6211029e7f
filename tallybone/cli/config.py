"""Run `config`: print the effective table.toml, or its JSON schema."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer

from tallybone.cli.app import command, commands_of

commands = commands_of()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigOptions:
    """Options of `tallybone config`."""

    config: Annotated[Path | None, typer.Option(metavar="FILE", help="Default: /etc/tallybone/table.toml.")] = None
    changed: Annotated[bool, typer.Option("--changed", help="Print only what differs from the defaults.")] = False
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the JSON schema of the file, for editors and validators.")
    ] = False


@command(commands, "config", ConfigOptions)
def _config(options: ConfigOptions) -> int:
    return print_config(options)


def print_config(options: ConfigOptions, *, out: TextIO | None = None, err: TextIO | None = None) -> int:
    """Print the settings of a table as TOML, or their JSON schema.

    Returns:
        The exit code: 0, or 1 if the file is invalid or cannot be read.
    """
    from hardware.part import schema_of
    from tallybone.play.start import require_valid_camera
    from tallybone.store.table_file import USUAL_PATH, TableFileError, TableSettings, load_settings
    from tallybone.terminal import Output
    from vision import VisionError

    output = Output.of("config", out, err)
    if options.schema:
        output.write(json.dumps(schema_of(TableSettings), indent=1, ensure_ascii=False))
        return 0
    try:
        is_named = options.config is not None or USUAL_PATH.exists()
        settings = load_settings(options.config or USUAL_PATH) if is_named else TableSettings()
        require_valid_camera(settings.camera.source)
    except TableFileError as error:
        return output.complain(*error.problems)
    except (OSError, VisionError) as error:
        return output.complain(error)
    values = settings.model_dump(mode="json", exclude_none=True, exclude_defaults=options.changed)
    output.write("\n".join(toml_lines(values)).lstrip("\n"))
    return 0


def toml_lines(table: Mapping[str, Any], name: str = "") -> Iterator[str]:
    r"""Yield the lines of a table in TOML. *name* is its dotted path, "" for the whole file.

    >>> print("\n".join(toml_lines({"a": 1, "b": {"c": ["d"]}, "e": [{"f": True}]})))
    a = 1
    <BLANKLINE>
    [b]
    c = ["d"]
    <BLANKLINE>
    [[e]]
    f = true
    """
    inner = {
        key: value
        for key, value in table.items()
        if isinstance(value, dict) or (isinstance(value, list) and value and isinstance(value[0], dict))
    }
    for key, value in table.items():
        if key not in inner:
            # JSON strings are valid TOML strings, except for DEL.
            yield f"{key} = {json.dumps(value, ensure_ascii=False)}".replace("\x7f", "\\u007f")
    for key, value in inner.items():
        path = f"{name}.{key}".lstrip(".")
        tables, header = ([value], f"[{path}]") if isinstance(value, dict) else (value, f"[[{path}]]")
        for one in tables:
            yield from ("", header, *toml_lines(one, path))
