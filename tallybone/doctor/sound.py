"""What a microphone hears in two seconds: whether it hears at all, and not too much."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hardware.knock.detector import KnockDetector
from hardware.knock.heard import KnockHeard, SoundBlock
from hardware.knock.sensor import KnockSensor
from tallybone.finding import Finding, ok, problem, warning

_LISTENS_S, _TICK_S = 2.0, 0.05
# A 16-bit microphone that works is never quieter than its own noise, -80 dB or so of full scale.
_SILENT_DB, _LOUD_DB = -85.0, -20.0
_CLIPPED, _CLIPPED_SHARE = 0.99, 0.001
_LEAST_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Sounds:
    """What a microphone has heard.

    Attributes:
        error: Why it hears nothing; "" where it does.
        share: How much of the time there was sound, 0 to 1.
        level_db: How loud, against the loudest that it can say.
        peak: The loudest sample, 0 to 1.
        clipped: Share of the samples that are as loud as can be.
    """

    error: str = ""
    share: float = 1.0
    level_db: float = -50.0
    peak: float = 0.1
    clipped: float = 0.0


class Ear(KnockDetector):
    """Takes the place of a detector, and keeps what it is given to hear."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks: list[SoundBlock] = []

    def feed(self, block: SoundBlock) -> tuple[KnockHeard, ...]:
        """Keep a block, and hear no knock in it."""
        self.blocks.append(block)
        return ()


def listen_to(sensor: KnockSensor, ear: Ear, wait: Callable[[float], None]) -> Sounds:
    """Listen for two seconds to a sensor that gives its sound to an ear, then close it.

    Raises:
        KnockSensorError: If its library is not installed.
    """
    sensor.start()
    try:
        for _ in range(round(_LISTENS_S / _TICK_S)):
            wait(_TICK_S)
            sensor.read()
        trouble = sensor.state.problem
    finally:
        sensor.close()
    return Sounds(error=trouble) if trouble is not None else sounds_of(ear.blocks)


def sounds_of(blocks: list[SoundBlock]) -> Sounds:
    """Return what blocks of sound are like, against two seconds that there should be."""
    if not blocks:
        return Sounds(error="it is open, but no sound comes")
    samples = np.concatenate([block.samples for block in blocks])
    samples = samples - np.mean(samples)  # I2S microphones stand beside zero
    level = float(np.sqrt(np.mean(np.square(samples, dtype=np.float64))))
    return Sounds(
        share=sum(len(block.samples) / block.rate_hz for block in blocks) / _LISTENS_S,
        level_db=20 * float(np.log10(max(level, 1e-9))),
        peak=float(np.max(np.abs(samples))),
        clipped=float(np.mean(np.abs(samples) >= _CLIPPED)),
    )


def check_sound(sounds: Sounds) -> Finding:
    """Return whether a microphone is good for hearing knocks."""
    part, mixer = "microphone", "alsamixer"
    if sounds.error:
        return problem(part, sounds.error, "What there is:", "arecord -l")
    how = f"{sounds.level_db:.0f} dB, loudest {sounds.peak:.0%}"
    if sounds.level_db < _SILENT_DB:
        words = f"silent ({how})"
        return problem(part, words, "Is it muted? F6 chooses it, F4 shows it, M and the arrow up open it:", mixer)
    if sounds.clipped > _CLIPPED_SHARE:
        return warning(part, f"as loud as can be ({how})", "Turn it down; F6 chooses it, F4 shows it:", mixer)
    if sounds.level_db > _LOUD_DB:
        return warning(part, f"very loud ({how})", "Knocks drown in it: turn it down, or look for a hum.")
    if sounds.share < _LEAST_SHARE:
        words = f"sound is missing: {sounds.share:.0%} of it came"
        return warning(part, words, "The Pi is busy, or the USB hub is weak: plug it into the Pi itself.")
    return ok(part, f"hears ({how}); knock on the table with `tallybone hardware test`")
