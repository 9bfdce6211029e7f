"""The program: the command line, the web page, and what combines reader, rules and devices; and a library of it.

The public names are described in docs/reference/library.md. Each is imported when it is first used, so
`import tallybone` takes a millisecond.
"""

__all__ = ["ALLFIVES", "BONES", "Layout", "LegalMove", "SeatView", "State", "Table", "Tile", "__version__"]
__all__ += ["best_plays", "describe", "layout_svg", "layout_text", "profile", "read", "replay_recording"]
__all__ += ["with_options"]

TYPE_CHECKING = False  # Type checkers take it for true. Importing it from `typing` takes ten times as long.
if TYPE_CHECKING:
    from engine import (
        ALLFIVES,
        BONES,
        Layout,
        LegalMove,
        SeatView,
        State,
        Table,
        Tile,
        best_plays,
        describe,
        profile,
        with_options,
    )
    from tallybone.recording.own_tiles import read
    from tallybone.replay.command import replay_recording
    from tallybone.show.layout import layout_svg, layout_text

    __version__: str
else:
    _HOMES = {
        "layout_svg": "tallybone.show.layout",
        "layout_text": "tallybone.show.layout",
        "read": "tallybone.recording.own_tiles",
        "replay_recording": "tallybone.replay.command",
    }

    def __getattr__(name):  # noqa: ANN001, ANN202 - type checkers read the imports above instead
        """Import a public name."""
        from importlib import import_module

        if name not in __all__:
            raise AttributeError(f"module 'tallybone' has no attribute {name!r}")
        if name == "__version__":
            return import_module("importlib.metadata").version("tallybone")
        return getattr(import_module(_HOMES.get(name, "engine")), name)
