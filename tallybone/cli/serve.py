"""Run `tallybone serve`: a table that is always on, with its page, whether or not a match is played."""

from __future__ import annotations

import gc
import os

import typer

from tallybone.cli.app import command, commands_of
from tallybone.serve.options import Environment, ServeOptions

commands = commands_of()


@command(commands, "serve", ServeOptions)
def _serve(options: ServeOptions) -> int:
    # Imported modules stay. Looking through them for garbage after every 700 objects took a tenth of the start.
    gc.set_threshold(50_000)
    if options.set_password:
        return keep_password(typer.prompt("Owner's password", hide_input=True, confirmation_prompt=True))
    return serve(options)


def keep_password(password: str, world: Environment | None = None) -> int:
    """Keep the owner's password of the table; return the exit code, 0 or 1 if it cannot be kept."""
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
    output.say(f"The password is kept in {path}.")
    return 0


def serve(options: ServeOptions, world: Environment | None = None) -> int:
    """Serve a table until the program is stopped.

    Returns:
        The exit code: 0, 1 if something is missing, 2 if the configuration is wrong.
    """
    from hardware.config.errors import ConfigError
    from tallybone.play.display import PlainDisplay
    from tallybone.serve.systemd import notifying
    from tallybone.terminal import Output

    world = world or Environment()
    output = Output.lasting("serve", world.out, world.err)
    try:
        from tallybone.serve.setup import open_table
    except ModuleNotFoundError as error:
        return output.complain(f"a page needs {error.name}, which is not installed: pip install 'tallybone[web]'")
    try:
        with (
            world.stop() as stop,
            open_table(options, world) as table,
            notifying(world.environment, world.clock, os.getpid()) as notifier,
        ):
            shown = PlainDisplay(output.console)
            shown.note(table.words)
            life = table.life(notifier)

            def is_stopped() -> bool:
                life.turn()  # it is asked each time the table's loop goes round
                return stop.is_requested

            table.run(shown, is_stopped)
    except ConfigError as error:
        output.complain(*error.problems)
        return 2
    except OSError as error:
        return output.complain(error)
    return 0
