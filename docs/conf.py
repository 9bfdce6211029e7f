"""Settings of Sphinx for `make docs`."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from typer.main import get_command
from typer.testing import CliRunner

from tallybone.cli.app import COMMAND_GROUPS, app

project = "Tallybone"
extensions = ["myst_parser"]
exclude_patterns = ["drawings"]
html_theme = "furo"
html_title = "Tallybone"
html_copy_source = False
html_show_copyright = False
# Links to headings work as on code hosts.
myst_heading_anchors = 4
nitpicky = True


class CommandHelp(Directive):  # type: ignore[misc]  # docutils is not installed in dev
    """`commands`: a section per group of commands, with the help of each command and subcommand."""

    def run(self) -> list[nodes.Node]:
        """Return the sections."""
        sections = []
        for title, group in COMMAND_GROUPS.items():
            section = nodes.section(ids=[nodes.make_id(title)])
            section += nodes.title(text=title)
            for name in group:
                section += [self._help_of(sentence) for sentence in _with_subcommands(name)]
            sections.append(section)
        return sections

    def _help_of(self, sentence: list[str]) -> nodes.section:
        section = nodes.section(ids=[nodes.make_id("-".join(sentence))])
        section += nodes.title("", "", nodes.literal(text=" ".join(("tallybone", *sentence))))
        text = CliRunner().invoke(app, [*sentence, "--help"], prog_name="tallybone", terminal_width=100).output
        section += nodes.literal_block(text=text, language="text")
        return section


def _with_subcommands(name: str) -> list[list[str]]:
    command: Any = get_command(app).get_command(None, name)  # type: ignore[attr-defined]
    return [[name], *([name, each] for each in getattr(command, "commands", ()))]


def setup(sphinx: Any) -> None:
    """Register the directive."""
    sphinx.add_directive("commands", CommandHelp)
