"""A table in a guest: parts plugged in, and players that play a match at it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from tests.guest.guest import Guest

PARTS = ". /source/tests/lab/inside/parts.sh\n"
_PYTHON = "/opt/tallybone/venv/bin/python"

INSTALL = """
rm -rf /srv/systemd /srv/requirements
cp -r /source/systemd /source/requirements /srv/
/srv/systemd/install.sh --wheels /lab/wheels --wheel /lab/wheels/tallybone-*.whl
"""
_CALIBRATE = """
install -D -o tallybone -g tallybone /lab/match/table.json /var/lib/tallybone/calibration/table.json
chown -R tallybone: /var/lib/tallybone
cp /source/tests/lab/inside/table.toml /etc/tallybone/
"""
_PLUG = """
be_a_pi; pins_plug; display_plug; camera_plug
write_display; show_match; play_match
systemctl restart tallybone
"""


def set_table(guest: Guest, match: Path) -> Path:
    """Plug all parts into a guest and start Tallybone. Return the folder in which the match and its course are."""
    folder = guest.share / "match"
    shutil.copytree(match, folder, copy_function=os.link)
    (folder / "held").write_text("0")
    guest.run(PARTS + _CALIBRATE + _PLUG, 60)
    return folder


def players(*seconds: float) -> str:
    """Return the command that plays the match, from a time on and to a time. By default, all of it."""
    return inside("players.py", *seconds)


def inside(script: str, *numbers: float) -> str:
    """Return the command that runs a script of the folder `inside` on the match, with the pins plugged in."""
    last = " ".join(f"{number:.2f}" for number in numbers)
    return f"{PARTS}pins_plug; PYTHONPATH=/source {_PYTHON} /source/tests/lab/inside/{script} /lab/match {last}"
