"""A USB or I2S microphone as a knock sensor, through sounddevice (PortAudio)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from hardware.knock.detector import KnockDetector
from hardware.knock.errors import KnockSensorError
from hardware.knock.heard import NS_PER_S, KnockHeard, SoundBlock
from hardware.knock.onsets import RATE_HZ
from hardware.knock.sensor import BackOff, Life, SensorState

_BLOCK = 1_024
# Four seconds of sound wait at most: what nobody takes by then is lost, and counted.
_MOST_WAITING = 64
# A microphone that gives nothing for so long was unplugged: PortAudio does not always say so.
_SILENT_NS = 2 * NS_PER_S


def _sounddevice() -> ModuleType:
    """Return the library, which is in the extra `pi` and needs libportaudio2.

    Raises:
        KnockSensorError: If either is missing.
    """
    try:
        import sounddevice
    except (ImportError, OSError) as error:  # OSError: PortAudio itself is missing
        raise KnockSensorError(
            f"microphone: {error}; it comes with: pip install 'tallybone[pi]', and sudo apt install libportaudio2"
        ) from error
    module: ModuleType = sounddevice
    return module


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
        clock: Callable[[], int],
        device: int | str | None = None,
        detector: KnockDetector | None = None,
        library: Callable[[], Any] = _sounddevice,
    ) -> None:
        self._clock, self._device = clock, device
        self._detector = detector or KnockDetector()
        self._find_library = library
        self._library: Any = None
        self._life = Life("microphone")
        self._back_off = BackOff()
        self._blocks: deque[SoundBlock] = deque()
        self._stream: Any = None
        self._last_ns = 0
        self._lost = 0
        self._problem: str | None = None

    @property
    def state(self) -> SensorState:
        """Whether it hears, and how often sound was lost."""
        return SensorState(self._problem, self._lost)

    def start(self) -> None:
        """Begin to listen."""
        if self._library is None:
            self._library = self._find_library()
        self._life.start()
        self._open()

    def read(self) -> tuple[KnockHeard, ...]:
        """Return what was heard; a microphone that was unplugged is looked for again, now and then."""
        self._life.require_open()
        heard: list[KnockHeard] = []
        while self._blocks:
            heard += self._detector.feed(self._blocks.popleft())
        self._watch()
        return tuple(heard)

    def close(self) -> None:
        """Stop and give the microphone back."""
        if self._life.end():
            self._shut()

    def _watch(self) -> None:
        now_ns = self._clock()
        if self._stream is not None and (not self._stream.active or now_ns - self._last_ns > _SILENT_NS):
            self._fail("the microphone gives no sound any more: is it unplugged?", now_ns)
        if self._stream is None and self._back_off.is_due(now_ns):
            self._open()

    def _open(self) -> None:
        now_ns = self._clock()
        try:
            if self._problem is not None:
                # PortAudio lists the devices once; only a new beginning shows one that was plugged in since.
                self._library._terminate()
                self._library._initialize()
            self._stream = self._library.InputStream(
                samplerate=RATE_HZ,
                blocksize=_BLOCK,
                device=self._device,
                channels=1,
                dtype="float32",
                callback=self._take,
            )
            self._stream.start()
        # ValueError: no device of this name; sounddevice says so only with that.
        except (self._library.PortAudioError, ValueError, OSError) as error:
            self._fail(f"the microphone cannot be opened: {error}", now_ns)
            return
        self._last_ns, self._problem = now_ns, None
        self._back_off.worked()

    def _take(self, samples: Any, frames: int, times: Any, status: Any) -> None:
        """Keep a block; called by PortAudio's own thread, so that it only stores."""
        now_ns = self._clock()
        self._last_ns = now_ns
        if status.input_overflow:
            self._lost += 1
        if len(self._blocks) >= _MOST_WAITING:
            self._lost += 1
            return
        # How long ago the first sample was taken, by PortAudio's own clock; some drivers leave it at 0.
        ago_s = times.currentTime - times.inputBufferAdcTime
        ago_ns = round(ago_s * NS_PER_S) if 0 < ago_s < 1 else frames * NS_PER_S // RATE_HZ
        self._blocks.append(SoundBlock(np.array(samples[:, 0], np.float32), now_ns - ago_ns, RATE_HZ))

    def _fail(self, problem: str, now_ns: int) -> None:
        self._shut()
        self._problem = problem
        self._back_off.failed(now_ns)

    def _shut(self) -> None:
        stream, self._stream = self._stream, None
        if stream is None:
            return
        try:
            stream.close()
        except (self._library.PortAudioError, OSError) as error:  # it is gone already
            self._problem = str(error)
