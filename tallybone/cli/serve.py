"""Run `tallybone serve`: a table that is always on, with its page."""

from __future__ import annotations

import gc
import os
import sys

import typer

from hardware.libraries import install_command
from tallybone.cli.app import command, commands_of
from tallybone.serve.options import Environment, ServeOptions

commands = commands_of()


@command(commands, "serve", ServeOptions)
def _serve(options: ServeOptions) -> int:
    # Imported modules are never garbage. Scanning them after every 700 allocations took a tenth of the start time.
    gc.set_threshold(50_000)
    if options.set_password:
        if not sys.stdin.isatty():
            raise typer.BadParameter("--set-password asks for the password, which needs a terminal")
        return keep_password(typer.prompt("Owner's password", hide_input=True, confirmation_prompt=True))
    return serve(options)


def keep_password(password: str, world: Environment | None = None) -> int:
    """Store the owner's password of the table. Returns the exit code: 0, or 1 if it cannot be stored."""
    from tallybone.recording.folder import default_folder
    from tallybone.store.house import OWNER_NAME, PasswordError, set_password
    from tallybone.terminal import Output

    world = world or Environment()
    output = Output.of("serve", world.out, world.err)
    path = default_folder(world.environment, world.home).parent / OWNER_NAME
    try:
        set_password(password, path)
    except (PasswordError, OSError) as error:
        return output.complain(error)
    output.say(f"Password saved in {path}.")
    return 0


def serve(options: ServeOptions, world: Environment | None = None) -> int:
    """Serve a table until the program is stopped. The exit code is 0, or 1 if a library or resource is missing."""
    from tallybone.play.display import PlainDisplay
    from tallybone.serve.systemd import notifying
    from tallybone.terminal import Output

    world = world or Environment()
    output = Output.lasting("serve", world.out, world.err)
    try:
        from tallybone.serve.setup import open_table
    except ModuleNotFoundError as error:
        return output.complain(f"a page needs {error.name}, which is not installed: {install_command('web')}")
    try:
        with (
            world.stop() as stop,
            open_table(options, world) as table,
            notifying(world.environment, world.clock, os.getpid()) as notifier,
        ):
            shown = PlainDisplay(output.console)
            shown.note(table.text)
            life = table.life(notifier)

            def is_stopped() -> bool:
                life.turn()  # called once per iteration of the table's loop
                return stop.is_requested

            table.run(shown, is_stopped)
    except OSError as error:
        return output.complain(error)
    return 0
