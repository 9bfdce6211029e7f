"""Play the sounds of a match to the microphone, in time with the pictures of camera.py.

    sound.py FOLDER

While the match is held, the room of its first second is heard: a table would take silence for a muted microphone.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from pathlib import Path

from tests.guest.inside.camera import seconds_of_match

_BYTES_PER_SAMPLE, _CHUNKS_PER_S, _DRIFT_S = 4, 10, 1.0


def main(folder: Path) -> None:
    """Play until this process is killed."""
    rate_hz = json.loads((folder / "match.json").read_text())["rate_hz"]
    samples = (folder / "match.raw").read_bytes()
    second, chunk = rate_hz * _BYTES_PER_SAMPLE, rate_hz * _BYTES_PER_SAMPLE // _CHUNKS_PER_S
    command = f"aplay -q -D hw:Loopback,1,0 -t raw -f FLOAT_LE -c 1 -r {rate_hz} --buffer-time=400000"
    at, player = 0, None
    while True:
        if player is None or player.poll() is not None:  # it ends if nobody takes its sound for some seconds
            player = subprocess.Popen(command.split(), stdin=subprocess.PIPE)
        assert player.stdin is not None
        if (folder / "held").exists() or at + chunk > len(samples):
            at = at % second
        elif abs(at / second - (now_s := seconds_of_match(folder))) > _DRIFT_S:
            at = int(now_s * _CHUNKS_PER_S) * chunk
        with contextlib.suppress(BrokenPipeError):
            player.stdin.write(samples[at : at + chunk].ljust(chunk, b"\0"))
            player.stdin.flush()
        at += chunk


if __name__ == "__main__":
    main(Path(sys.argv[1]))
