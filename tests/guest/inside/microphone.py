"""Listen to numbered samples as a table does. Print as JSON: the samples that were played, and those that arrived.

microphone.py SECONDS
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time

import numpy as np

from hardware.knock.detector import KnockDetector
from hardware.knock.drivers.microphone import MicrophoneKnockSensor
from hardware.knock.sensor import RATE_HZ, ClassifiedSound, SoundBlock

_PERIOD_S = 0.02
# A float32 represents this many numbers exactly. The first ones are skipped: they are hardly louder than silence.
_NUMBERS, _FIRST = 1 << 24, 1000


class Counter(KnockDetector):
    """A detector that also keeps the numbers that it hears."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[np.ndarray] = []

    def feed(self, block: SoundBlock) -> tuple[ClassifiedSound, ...]:
        """Keep the numbers of a block."""
        self.heard.append(np.rint(np.asarray(block.samples, np.float64) * _NUMBERS).astype(np.int64))
        return super().feed(block)


def main(seconds: float) -> None:
    """Listen and print."""
    numbers = np.arange(_FIRST, _FIRST + round(seconds * RATE_HZ))
    counter = Counter()
    microphone = MicrophoneKnockSensor(clock=time.monotonic_ns, device="Loopback: PCM (hw:0,0)", detector=counter)
    microphone.start()
    command = f"aplay -q -D hw:Loopback,1,0 -t raw -f FLOAT_LE -c 1 -r {RATE_HZ}"
    player = subprocess.Popen(command.split(), stdin=subprocess.PIPE)
    sound = (numbers / _NUMBERS).astype("<f4").tobytes()
    writer = threading.Thread(target=player.communicate, args=(sound,))
    writer.start()
    while writer.is_alive():
        microphone.read()
        threading.Event().wait(_PERIOD_S)
    microphone.close()
    heard = np.concatenate(counter.heard)
    heard = np.unique(heard[heard >= _FIRST])
    json.dump([int(heard[-1] - heard[0] + 1), len(heard)], sys.stdout)


if __name__ == "__main__":
    main(float(sys.argv[1]))
