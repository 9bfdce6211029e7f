"""Commands that render tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tallybone.choices import DemoRules, Difficulty
from tallybone.cli.app import app


@app.command("demo")
def _demo(
    *,
    rules: Annotated[DemoRules, typer.Option("--rules", help="Which game is played.")] = DemoRules.BONES,
    seed: Annotated[int, typer.Option(help="Picks the game, the tiles, the table and the light.", min=0)] = 1,
    hands: Annotated[int, typer.Option(help="How many hands to play at most.", min=1)] = 1,
    plays: Annotated[int | None, typer.Option(help="Stop after so many plays.", min=1)] = None,
    speed: Annotated[float, typer.Option(help="Pace: 2 is twice as fast.", min=0.1)] = 1.0,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", file_okay=False, help="Write the pictures here, as seen and with what was read."),
    ] = None,
) -> None:
    """Watch a rendered game being seen and scored; a hand of bones takes under a minute, larger sets take longer."""
    from engine import profile
    from tallybone.cli.demo import Wishes, show_demo

    wishes = Wishes(rules=profile(rules.value), seed=seed, hands=hands, plays=plays, speed=speed, out=out)
    raise typer.Exit(show_demo(wishes))


@app.command("simulate")
def _simulate(
    *,
    out: Annotated[
        Path, typer.Option(metavar="FILE.mcap", dir_okay=False, help="Where the recording goes; it must not exist.")
    ],
    rules: Annotated[DemoRules, typer.Option("--rules", help="Which game is played.")] = DemoRules.BONES,
    options: Annotated[
        str, typer.Option(metavar="KEY=VALUE ...", help="What is agreed otherwise, such as 'set=9 target=200'.")
    ] = "",
    players: Annotated[int, typer.Option(help="How many play.", min=1)] = 2,
    seed: Annotated[int, typer.Option(help="Picks the game, the people, the table and the light.", min=0)] = 1,
    hands: Annotated[int | None, typer.Option(help="How many hands at most; else all of them.", min=1)] = None,
    looks: Annotated[str, typer.Option(metavar="NAME", help="Tiles and table; the seed picks them.")] = "seed",
    difficulty: Annotated[Difficulty, typer.Option(help="Noise, light, pace, and what disturbs.")] = Difficulty.NORMAL,
    fps: Annotated[int, typer.Option(help="Pictures in a second.", min=2, max=60)] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as one line of JSON.")] = False,
) -> None:
    """Record a match at a rendered table: hands, sounds, buttons, and the truth of it; about a minute a hand."""
    from engine import EngineError
    from tallybone.cli.simulate_command import simulate, wishes_of

    try:
        wishes = wishes_of(
            rules.value,
            players=players,
            seed=seed,
            options=options,
            hands=hands,
            look=looks,
            difficulty=difficulty,
            fps=fps,
        )
    except EngineError as error:
        raise typer.BadParameter(str(error)) from None
    raise typer.Exit(simulate(out, wishes, as_json=as_json))
