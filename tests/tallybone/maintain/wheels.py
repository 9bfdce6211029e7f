"""Small fake Tallybone wheels for tests of updates."""

from __future__ import annotations

import base64
import hashlib
import zipfile
from pathlib import Path

READY = """
import os, socket, sys

def main():
    if "--version" in sys.argv:
        return print("tallybone VERSION")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as telling:
        telling.sendto(b"READY=1\\nSTATUS=there", os.environ["NOTIFY_SOCKET"])
    sys.stdin.read() if sys.stdin.isatty() else __import__("threading").Event().wait(60)
"""
BREAKS = 'def main():\n    raise SystemExit("tallybone serve: the heart is missing")\n'


def make_wheel(folder: Path, version: str, code: str = READY, name: str = "tallybone", pins: str | None = "") -> Path:
    """Write a wheel whose command runs *code*. *pins* are its requirements, None for a wheel without any."""
    info = f"{name}-{version}.dist-info"
    files = {
        "tallybone/__init__.py": "",
        "tallybone/cli.py": code.replace("VERSION", version),
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": "[console_scripts]\ntallybone = tallybone.cli:main\n",
    }
    if pins is not None:
        files[f"{info}/extra_metadata/requirements.txt"] = pins
    record = "".join(f"{path},{_digest(text)},{len(text)}\n" for path, text in files.items())
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n"
    path = folder / f"tallybone-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for inside, text in files.items():
            archive.writestr(inside, text)
    return path


def _digest(text: str) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")
