"""Build the command line from a table of commands and frozen dataclasses of options.

To keep help fast, a command's module is imported only when the command is called: `tallybone --help` imports
none, and the help of a command only its own module. Slow imports (numpy, OpenCV, rich, the page) stay inside
the functions of these modules.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import MISSING, fields
from difflib import get_close_matches
from importlib import import_module
from textwrap import fill
from typing import Annotated, Any, NamedTuple, TypeVar, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from tallybone.laboratory import COMMANDS as LABORATORY_COMMANDS
from tallybone.laboratory import LabMissingError, from_lab

Options = TypeVar("Options")
"""A frozen dataclass whose fields are annotated with `typer.Option` or `typer.Argument`."""


class CommandEntry(NamedTuple):
    """A command: the *module* of this package that implements it, or None for one of the laboratory, and its *help*."""

    module: str | None
    help: str


COMMAND_GROUPS = {
    "Keep the score": {
        "play": CommandEntry(
            "play", "Keep the score of a live game. Shows a scoreboard and records the match; press ? for the keys."
        ),
        "serve": CommandEntry("serve", "Run a table that is always on. Matches start, end and resume from its page."),
        "hub": CommandEntry(
            "hub", "Serve one page for all tables of a club or tournament. Shows scores, tables and standings."
        ),
        "demo": CommandEntry(
            None, "Watch Tallybone score a rendered game. A hand of bones takes under a minute, larger sets longer."
        ),
    },
    "Set up a table": {
        "cameras": CommandEntry("devices", "List the available cameras. Prints the `--camera` value of each."),
        "calibrate": CommandEntry("calibrate", "Calibrate the lens and the table, and learn your tiles."),
        "hardware": CommandEntry("devices", "Test LEDs, buttons, knock sensor and displays."),
        "emulate-display": CommandEntry(None, "Emulate a serial score display in the terminal."),
        "doctor": CommandEntry("devices", "Check the camera, parts and services, and suggest fixes."),
        "config": CommandEntry(
            "config", "Print the effective table.toml. Includes all defaults; can also print its JSON schema."
        ),
    },
    "Photographs and sounds": {
        "read": CommandEntry("photographs", "Read the tiles in photographs: pips, positions and joins."),
        "listen": CommandEntry("devices", "Find every knock in a sound file, with its time."),
    },
    "Recordings": {
        "sessions": CommandEntry("recordings", "List recordings with date, players, result and size."),
        "replay": CommandEntry(
            "recordings", "Replay a recording, video or folder of pictures. Prints every change and the score."
        ),
    },
    "Rules and written games": {
        "rules": CommandEntry("games", "List the games and their options, or one game's rules."),
        "score": CommandEntry(
            "games", "Score a written game. Prints counts, points and mistakes (docs/reference/game_record.md)."
        ),
    },
    "Maintenance": {
        "backup": CommandEntry(
            "keeping", "Save recordings, calibration and settings to one file. Also saves the configuration."
        ),
        "restore": CommandEntry("keeping", "Restore a backup. The files that it replaces are kept beside it."),
        "version": CommandEntry("app", "Show the version."),
    },
    "Development": {
        "simulate": CommandEntry(
            None,
            "Record a rendered match. Includes hands, sounds, buttons and the ground truth; about a minute a hand.",
        ),
        "evaluate": CommandEntry(
            None,
            "Measure accuracy. Compares readings with labelled photographs, or scores with simulated matches.",
        ),
        "shadow": CommandEntry(None, "Compare recordings with a written score sheet."),
        "train": CommandEntry(None, "Train a shipped model again. Uses rendered tables or modelled sound."),
    },
}
"""All commands, by the groups of the help."""
COMMANDS = {name: entry for group in COMMAND_GROUPS.values() for name, entry in group.items()}
_START = """\
  tallybone demo    Watch a rendered game being scored; it needs no camera.
  tallybone serve   Run a table and its page; no camera: --camera simulated.

All commands:
{}

`tallybone --help` describes them, `tallybone COMMAND --help` their options."""
_UsageError: Any = typer.BadParameter.__bases__[0]  # not exported by all versions of typer


class Commands(TyperGroup):
    """Command group that imports each command of `COMMANDS` on first use."""

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run the command line, then exit. Invalid usage is reported in one sentence, with exit code 2."""
        try:
            sys.exit(super().main(*args, **{**extra, "standalone_mode": False}))
        except typer.Abort:
            sys.exit(1)
        except _UsageError as error:
            typer.echo(_usage_fault(error), err=True)
            sys.exit(2)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the options before the command. Without any arguments, print how to start."""
        if not args and not ctx.resilient_parsing:
            names = fill(", ".join(COMMANDS), 80, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
            typer.echo(_START.format(names))
            ctx.exit()
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command. A wrong name is refused, with the most similar one."""
        if near := args[0] not in COMMANDS and get_close_matches(args[0], COMMANDS, 1):
            ctx.fail(f"No such command {args[0]!r}. Did you mean {near[0]!r}?")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command. Messages about invalid values are reworded and quote the value."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = _value_fault(error)
            raise

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import the module of a command and return the command, or None if there is no such command."""
        if cmd_name not in COMMANDS:
            return None
        if (module := COMMANDS[cmd_name].module) is not None:
            commands = import_module(f"tallybone.cli.{module}").commands
        else:
            try:
                commands = from_lab(LABORATORY_COMMANDS, cmd_name, wanted=f"the command {cmd_name}")
            except LabMissingError as error:
                typer.echo(f"tallybone: {error}", err=True)
                raise typer.Exit(1) from error
        return get_group(commands).commands[cmd_name]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands by group from the table, without importing them."""
        width = max(map(len, COMMANDS))
        for title, group in COMMAND_GROUPS.items():
            stubs = ((name, TyperCommand(name, help=entry.help)) for name, entry in group.items())
            rows = [(name.ljust(width), stub.get_short_help_str(formatter.width - 6 - width)) for name, stub in stubs]
            with formatter.section(title):
                formatter.write_dl(rows)


def _usage_fault(error: Any) -> str:
    """Return the sentence for invalid usage, which names the command, or the help of a group without a command."""
    if "\n" in error.format_message():
        return str(error.format_message())
    message = error.format_message().removeprefix("Invalid value: ").rstrip(".").replace(". Did you", "; did you")
    path = "tallybone" if error.ctx is None else error.ctx.command_path
    hint = "" if message.endswith("?") else f"; see `{path} --help`"
    return f"{path}: {message[0].lower()}{message[1:]}{hint}"


def _value_fault(error: typer.BadParameter) -> str:
    """Return the message for an invalid value. Messages of pydantic are reworded and quote the value."""
    faults = getattr(error.__cause__, "errors", None)
    if faults is None:
        return error.message
    fault = faults()[0]
    message = fault["msg"].removeprefix("Value error, ").partition(", unable")[0].rstrip(".")
    message = message.replace("Input should be a valid integer", "expected a whole number")
    message = message.replace("Input should be a valid", "expected a").replace("Input should be", "expected a number")
    return message if repr(fault["input"]) in message else f"{message}, got {fault['input']!r}"


def commands_of(about: str = "", *, cls: type[TyperGroup] = TyperGroup, has_completion: bool = False) -> typer.Typer:
    """Return an empty command group: for a module, or for the subcommands of a command described by *about*."""
    return typer.Typer(
        cls=cls,
        help=about,
        no_args_is_help=True,
        add_completion=has_completion,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,  # rich boxes would double the time of help (0.2 s more on a laptop)
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def command(
    group: typer.Typer, name: str, options: type[Options], *, cls: type[TyperCommand] = TyperCommand
) -> Callable[[Callable[[Options], int]], Callable[[Options], int]]:
    """Register a function as the command *name*. It receives an instance of *options* and returns the exit code.

    The help text comes from the function's docstring, or else from `COMMANDS`.
    """

    def register(run: Callable[[Options], int]) -> Callable[[Options], int]:
        def called(**message: Any) -> None:
            raise typer.Exit(run(options(**message)))

        hints = get_type_hints(options, include_extras=True)
        parameters = [
            inspect.Parameter(
                field.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=inspect.Parameter.empty if field.default is MISSING else field.default,
                annotation=hints[field.name],
            )
            for field in fields(options)  # type: ignore[arg-type]  # a TypeVar cannot be bound to dataclasses
        ]
        # Typer reads the parameters from both.
        vars(called)["__signature__"], called.__annotations__ = inspect.Signature(parameters), hints
        group.command(name, cls=cls, help=run.__doc__ or COMMANDS[name].help)(called)
        return run

    return register


class OptionalPort(TyperCommand):
    """A command whose `--serve` has an optional value, which typer does not support."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments. `--serve` without a value selects the default port."""
        return super().parse_args(ctx, with_port(args))


def with_port(args: Sequence[str]) -> list[str]:
    """Return the arguments with an empty value added to each `--serve` that has no value.

    >>> with_port(["--serve", "--json"]), with_port(["--serve", "80"]), with_port(["--serve"])
    (['--serve=', '--json'], ['--serve', '80'], ['--serve='])
    >>> with_port([])
    []
    """
    following = (*args[1:], "-")[: len(args)]
    is_bare = (one == "--serve" and after.startswith("-") for one, after in zip(args, following, strict=True))
    return ["--serve=" if bare else one for one, bare in zip(args, is_bare, strict=True)]


app = commands_of("A camera over a domino table keeps the score.", cls=Commands, has_completion=True)
commands = commands_of()


def _version_asked(asked: bool) -> None:  # noqa: FBT001 - signature required by typer
    if asked:
        _version()
        raise typer.Exit


@app.callback()
def _common(
    context: typer.Context,
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_version_asked, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Process the options before the command."""
    if context.invoked_subcommand != "train":
        # The classifier is small: a second numpy thread gains nothing. On a busy machine it waits for a core and makes
        # reading ten times slower. numpy reads this variable once, on import.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


@commands.command("version", help=COMMANDS["version"].help)
def _version() -> None:
    from tallybone.clock import software

    typer.echo(software())
