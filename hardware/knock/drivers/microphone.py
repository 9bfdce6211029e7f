"""A USB or I2S microphone as a knock sensor, through sounddevice (PortAudio)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from functools import partial
from importlib import import_module
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from hardware.clock import Clock
from hardware.config.fields import Lax, NonEmpty
from hardware.config.part import NeededLibrary, PinNames
from hardware.knock.arrivals import Arrivals
from hardware.knock.detector import KnockDetector
from hardware.knock.device import SensorDevice
from hardware.knock.driver import KnockDriver
from hardware.knock.heard import NS_PER_S, ClassifiedSound, SoundBlock
from hardware.knock.onsets import RATE_HZ
from hardware.part_state import PartState
from hardware.pin_factory import OpenPins

_BLOCK = 1_024
# On ALSA PortAudio's buffer is this and one period, a multiple of the block (PaAlsaStreamComponent_FinishConfigure). A
# device's own "high" latency may be less than a block: then a thread that comes late loses one. So 1.09 of 3 s of a
# snd-aloop came, and with this 2.94 s, which lacks the block that was being filled. Blocks do not come later for it.
_LATENCY_S = 0.2
# Four seconds of sound wait at most: what nobody takes by then is lost, and counted.
_MOST_WAITING = 64
# A microphone that gives nothing for so long was unplugged: PortAudio does not always say so.
_SILENT_NS = 2 * NS_PER_S
# One block of 64 ms that is lost in ten seconds costs no knock, most likely; more of them do.
_LOSES_FROM = 0.05
_COMES_WITH = "pip install 'tallybone[pi]', and sudo apt install libportaudio2"
_sounddevice = partial(import_module, "sounddevice")


class MicrophoneKnockSensor:
    """Listens to a microphone; the detector runs where `read` is called.

    Args:
        clock: Tells the time in ns on the clock of the game.
        device: Its number, or a part of its name; None for the system's own choice.
        detector: What listens, by default the shipped one.
        library: What gives the module sounddevice.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        device: int | str | None = None,
        detector: KnockDetector | None = None,
        library: Callable[[], Any] = _sounddevice,
    ) -> None:
        self._clock, self._which = clock, device
        self._detector = detector or KnockDetector()
        self._device = SensorDevice("microphone", clock=clock, library=library, comes_with=_COMES_WITH)
        self._blocks: deque[SoundBlock] = deque()
        self._arrivals = Arrivals(RATE_HZ)
        self._stream: Any = None
        self._last_ns = 0

    @property
    def state(self) -> PartState:
        """Its state, with a warning if so much sound is lost that knocks are missed."""
        missing = self._arrivals.missing
        warning = (
            f"it loses sound, {missing:.0%} in the last ten seconds, and knocks with it: is the computer busy, or the"
            " USB hub weak? Plug the microphone into the computer itself"
        )
        return replace(self._device.state, warning=None if missing < _LOSES_FROM else warning)

    def start(self) -> None:
        """Begin to listen."""
        self._device.start()
        self._open()

    def read(self) -> tuple[ClassifiedSound, ...]:
        """Return what was heard; a microphone that was unplugged is looked for again, now and then."""
        self._device.require_open()
        heard: list[ClassifiedSound] = []
        while self._blocks:
            heard += self._detector.feed(self._blocks.popleft())
        self._watch()
        return tuple(heard)

    def close(self) -> None:
        """Stop and give the microphone back."""
        if self._device.end():
            self._shut()

    def _watch(self) -> None:
        now_ns = self._clock()
        if self._stream is not None and (not self._stream.active or now_ns - self._last_ns > _SILENT_NS):
            self._fail("the microphone gives no sound any more: is it unplugged?")
        if self._stream is None and self._device.is_due():
            self._open()

    def _open(self) -> None:
        library = self._device.library
        self._arrivals = Arrivals(RATE_HZ)
        try:
            if self._device.problem is not None:
                # PortAudio lists the devices once; only a new beginning shows one that was plugged in since.
                library._terminate()
                library._initialize()
            self._stream = library.InputStream(
                samplerate=RATE_HZ,
                blocksize=_BLOCK,
                latency=_LATENCY_S,
                device=self._which,
                channels=1,
                dtype="float32",
                callback=self._take,
            )
            self._stream.start()
        # ValueError: no device of this name; sounddevice says so only with that.
        except (library.PortAudioError, ValueError, OSError) as error:
            self._fail(f"the microphone cannot be opened: {error}")
            return
        self._last_ns = self._clock()
        self._device.worked()

    def _take(self, samples: Any, frames: int, times: Any, status: Any) -> None:
        """Keep a block; called by PortAudio's own thread, so that it only stores."""
        now_ns = self._clock()
        self._last_ns = now_ns
        if status.input_overflow:
            self._device.lost += 1
        if len(self._blocks) >= _MOST_WAITING:
            self._device.lost += 1
            self._arrivals.feed(now_ns, 0)
            return
        self._arrivals.feed(now_ns, frames)
        # How long ago the first sample was taken, by PortAudio's own clock; some drivers leave it at 0.
        ago_s = times.currentTime - times.inputBufferAdcTime
        ago_ns = round(ago_s * NS_PER_S) if 0 < ago_s < 1 else frames * NS_PER_S // RATE_HZ
        self._blocks.append(SoundBlock(np.array(samples[:, 0], np.float32), now_ns - ago_ns, RATE_HZ))

    def _fail(self, problem: str) -> None:
        self._shut()
        self._device.failed(problem)

    def _shut(self) -> None:
        stream, self._stream = self._stream, None
        if stream is None:
            return
        try:
            stream.close()
        except (self._device.library.PortAudioError, OSError) as error:  # it is gone already
            self._device.problem = str(error)


class MicrophoneWire(StrEnum):
    """How a microphone is connected."""

    USB = "usb"
    I2S = "i2s"


_I2S_PINS = ((18, "I2S clock"), (19, "I2S word select"), (20, "I2S data in"), (21, "I2S data out"))


class MicrophoneSettings(KnockDriver):
    """A microphone."""

    driver: Literal["microphone"]
    device: Annotated[
        Annotated[int, Field(ge=0, le=1000)] | NonEmpty | None,
        Field(title="a number of 0 to 1000, or a part of a name", description="which; else the system's own choice"),
    ] = None
    wire: Annotated[MicrophoneWire, Lax, Field(description="how it is connected")] = MicrophoneWire.USB

    libraries = (NeededLibrary("sounddevice", "sounddevice", "the microphone"),)

    @property
    def location(self) -> str:
        """The folder of all sound cards."""
        return "/dev/snd"

    @property
    def bus_uses(self) -> PinNames:
        """The pins of I2S if it is wired to them."""
        return _I2S_PINS if self.wire is MicrophoneWire.I2S else ()

    def open(self, pins: OpenPins, clock: Clock, detector: Callable[[], KnockDetector]) -> MicrophoneKnockSensor:
        """Return the sensor."""
        return MicrophoneKnockSensor(clock=clock, device=self.device, detector=detector())
