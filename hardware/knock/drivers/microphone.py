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

from hardware.knock.detector import KnockDetector
from hardware.knock.drivers import KnockDriver
from hardware.knock.sensor import NS_PER_S, RATE_HZ, ClassifiedSound, SensorDevice, SoundBlock
from hardware.knock.signal_quality import FAULT_ADVICE, SignalFault, SignalMonitor
from hardware.libraries import OpenPins, install_command
from hardware.part import Clock, Lax, NeededLibrary, NonEmpty, PartState, PinNames

_WINDOW_NS = 10 * NS_PER_S
# Minimum time over which losses are measured. Blocks arrive up to 0.2 s late (the latency of the microphone), an error
# of 4 % over this time.
_MIN_NS = 5 * NS_PER_S


class Arrivals:
    """Compares samples with the clock over the last ten seconds. One thread feeds it, and any may read `missing`."""

    def __init__(self, rate_hz: int) -> None:
        """Expect *rate_hz* samples per second."""
        self.missing = 0.0
        """Share of the audio of the last ten seconds that was lost, from 0 to 1. 0 for the first five seconds."""
        self._rate_hz = rate_hz
        self._blocks: deque[tuple[int, int]] = deque()
        self._count = 0

    def feed(self, t_ns: int, count: int) -> None:
        """Record that *count* samples arrived at *t_ns*. 0 for a block that was dropped."""
        self._blocks.append((t_ns, count))
        self._count += count
        while t_ns - self._blocks[0][0] > _WINDOW_NS:
            self._count -= self._blocks.popleft()[1]
        first_ns, first_count = self._blocks[0]
        elapsed_ns = t_ns - first_ns
        if elapsed_ns < _MIN_NS:
            return
        # The first block arrived at the start of this time, so its samples are older.
        share = (self._count - first_count) * NS_PER_S / (self._rate_hz * elapsed_ns)
        self.missing = min(1.0, max(0.0, 1.0 - share))


_BLOCK = 1_024
# On ALSA, the buffer of PortAudio holds this time and one period, and a thread that is late for longer loses sound.
# With 0.2 s, a busy machine lost 7 % of the sound of snd-aloop, and none with 0.5 s. A longer buffer delays nothing.
_LATENCY_S = 1.0
# Maximum number of queued blocks, 4 s of audio. Later blocks are dropped and counted.
_MAX_WAITING = 64
# Time without a block after which the microphone counts as unplugged. PortAudio does not always report it.
_SILENT_NS = 2 * NS_PER_S
# Share of lost audio that triggers a warning. A single lost block of 64 ms in ten seconds is tolerable.
_LOSES_FROM = 0.05
# The signal is judged over 30 s, once per second. Three events are needed, because single slams may clip.
_JUDGED_S = 30.0
_JUDGED_NS = NS_PER_S
_MIN_EVENTS = 3
# Faults worth a warning during a game. A microphone counts as muted after ten seconds, to allow for a slow start.
_WARNED = (SignalFault.MUTED, SignalFault.GATED, SignalFault.CLIPPED)
_MIN_JUDGED_S = 10.0
_sounddevice = partial(import_module, "sounddevice")


class MicrophoneKnockSensor(SensorDevice):
    """Detects knocks with a microphone. The detector runs in the thread that calls `read`.

    Args:
        clock: Clock of the game, in nanoseconds.
        device: Number of the device, or part of its name. None for the system's default.
        detector: Knock detector, by default with the shipped classifier.
        library: Returns the module sounddevice.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        device: int | str | None = None,
        detector: KnockDetector | None = None,
        library: Callable[[], Any] = _sounddevice,
    ) -> None:
        needed = f"{install_command('pi')}, and sudo apt install libportaudio2"
        super().__init__("microphone", clock=clock, library=library, comes_with=needed)
        self._device_name, self._detector = device, detector or KnockDetector()
        self._blocks: deque[SoundBlock] = deque()
        self._arrivals = Arrivals(RATE_HZ)
        self._monitor = SignalMonitor(_JUDGED_S)
        self._fault: SignalFault | None = None
        self._stream: Any = None
        self._last_ns = self._judged_ns = 0

    @property
    def state(self) -> PartState:
        """State of the microphone, with a warning if 5 % of the audio is lost, or if it clips, is gated or muted."""
        missing = self._arrivals.missing
        if missing >= _LOSES_FROM:
            warning: str | None = (
                f"sound is lost, {missing:.0%} in the last ten seconds, and knocks with it: the computer is busy or the"
                " USB hub is weak; plug the microphone directly into the computer"
            )
        else:
            warning = None if self._fault is None else FAULT_ADVICE[self._fault]
        return replace(super().state, warning=warning)

    def start(self) -> None:
        """Start listening."""
        super().start()
        self._open()

    def read(self) -> tuple[ClassifiedSound, ...]:
        """Return the sounds since the last call. Reopens a microphone that was unplugged, with increasing delays."""
        self.require_open()
        sounds: list[ClassifiedSound] = []
        # Only those that are there now: on a busy machine, the next one may arrive before this one is done.
        for _ in range(len(self._blocks)):
            block = self._blocks.popleft()
            self._monitor.feed(block)
            sounds += self._detector.feed(block)
        now_ns = self._clock()
        if now_ns - self._judged_ns >= _JUDGED_NS:
            self._judged_ns = now_ns
            quality = self._monitor.measure()
            is_long = quality is not None and quality.duration_s >= _MIN_JUDGED_S
            faults = quality.faults(min_events=_MIN_EVENTS) if quality is not None and is_long else ()
            self._fault = next((fault for fault in faults if fault in _WARNED), None)
        if self._stream is not None and (not self._stream.active or now_ns - self._last_ns > _SILENT_NS):
            self._fail("the microphone sends no sound: check that it is plugged in")
        if self._stream is None and self.is_due():
            self._open()
        return tuple(sounds)

    def close(self) -> None:
        """Stop and release the microphone."""
        if self.end():
            self._shut()

    def _open(self) -> None:
        library = self.library
        self._arrivals, self._monitor, self._fault = Arrivals(RATE_HZ), SignalMonitor(_JUDGED_S), None
        try:
            if self.problem is not None:
                # PortAudio lists devices only when it is initialised, so a new device requires a restart.
                library._terminate()
                library._initialize()
            self._stream = library.InputStream(
                samplerate=RATE_HZ,
                blocksize=_BLOCK,
                latency=_LATENCY_S,
                device=self._device_name,
                channels=1,
                dtype="float32",
                callback=self._queue_block,
            )
            self._stream.start()
        # sounddevice raises ValueError if no device has this name.
        except (library.PortAudioError, ValueError, OSError) as error:
            self._fail(f"the microphone cannot be opened: {error}")
            return
        self._last_ns = self._clock()
        self.worked()

    def _queue_block(self, samples: Any, frames: int, times: Any, status: Any) -> None:
        """Queue a block. Does nothing else, because it runs in PortAudio's thread."""
        now_ns = self._clock()
        self._last_ns = now_ns
        if status.input_overflow:
            self.lost += 1
        if len(self._blocks) >= _MAX_WAITING:
            self.lost += 1
            self._arrivals.feed(now_ns, 0)
            return
        self._arrivals.feed(now_ns, frames)
        # Age of the first sample on PortAudio's clock. Some drivers report 0.
        ago_s = times.currentTime - times.inputBufferAdcTime
        ago_ns = round(ago_s * NS_PER_S) if 0 < ago_s < 1 else frames * NS_PER_S // RATE_HZ
        self._blocks.append(SoundBlock(np.array(samples[:, 0], np.float32), now_ns - ago_ns, RATE_HZ))

    def _fail(self, problem: str) -> None:
        self._shut()
        self.failed(problem)

    def _shut(self) -> None:
        stream, self._stream = self._stream, None
        if stream is None:
            return
        try:
            stream.close()
        except (self.library.PortAudioError, OSError) as error:  # the device may be unplugged
            self.problem = str(error)


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
        Field(title="a number of 0 to 1000, or a part of a name", description="device; default: the system's choice"),
    ] = None
    wire: Annotated[MicrophoneWire, Lax, Field(description="how it is connected")] = MicrophoneWire.USB

    libraries = (NeededLibrary("sounddevice", "sounddevice", "the microphone"),)

    @property
    def location(self) -> str:
        """Directory of the sound devices."""
        return "/dev/snd"

    @property
    def bus_uses(self) -> PinNames:
        """The I2S pins, if the microphone is wired to them."""
        return _I2S_PINS if self.wire is MicrophoneWire.I2S else ()

    def open(self, pins: OpenPins, clock: Clock, detector: Callable[[], KnockDetector]) -> MicrophoneKnockSensor:
        """Return the sensor, not yet started."""
        return MicrophoneKnockSensor(clock=clock, device=self.device, detector=detector())
