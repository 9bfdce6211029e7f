"""From what the configuration says of a part to its driver."""

from __future__ import annotations

from pathlib import Path

from hardware.buttons.gpio import GpioButtons
from hardware.buttons.panel import Buttons
from hardware.clock import Clock
from hardware.config.settings import (
    ButtonsSettings,
    DisplaySettings,
    KnockSettings,
    LedsSettings,
    MicrophoneSettings,
    PiezoPinSettings,
    PiezoSpiSettings,
    RgbSettings,
    SingleSettings,
    StripSettings,
    VirtualSettings,
    WavSettings,
)
from hardware.display.display import ScoreDisplay
from hardware.knock.classifier import Classifier
from hardware.knock.detector import KnockDetector
from hardware.knock.microphone import MicrophoneKnockSensor
from hardware.knock.piezo_pin import PinKnockSensor
from hardware.knock.piezo_spi import SpiKnockSensor
from hardware.knock.sensor import KnockSensor
from hardware.knock.wav_sensor import WavKnockSensor
from hardware.leds.gpio import RgbLeds, SingleLeds
from hardware.leds.lamps import Lamps, LedDriver
from hardware.leds.strip import Strip, open_spi
from hardware.pin_factory import PinLibrary, SharedPins, open_pins
from hardware.virtual.panel import VirtualPanel


class PartOpener:
    """Opens parts; those on pins share one pin factory."""

    def __init__(
        self,
        library: PinLibrary,
        panel: VirtualPanel,
        clock: Clock,
        classifier: Classifier | None = None,
    ) -> None:
        """Drive pins with *library*; virtual parts are those of *panel*; *clock* is monotonic, in nanoseconds.

        What hears sound tells knocks by *classifier*, or the one that is shipped.
        """
        self._classifier = classifier
        self._panel, self._clock = panel, clock
        self._pins = SharedPins(lambda: open_pins(library))

    def leds(self, part: LedsSettings) -> Lamps:
        """Return LEDs.

        Raises:
            LedError: If they cannot be had.
            PinError: If there are no pins.
        """
        return Lamps(self._led_driver(part))

    def buttons(self, part: ButtonsSettings) -> Buttons:
        """Return buttons.

        Raises:
            ButtonError: If they cannot be had.
            PinError: If there are no pins.
        """
        if isinstance(part, VirtualSettings):
            return self._panel.open_buttons()
        return GpioButtons(part.wired, self._pins(), clock=self._clock)

    def knock(self, part: KnockSettings) -> KnockSensor:
        """Return a knock sensor that is started.

        Raises:
            KnockError: If its library is missing.
            PinError: If there are no pins.
        """
        sensor = self._knock_sensor(part)
        sensor.start()
        return sensor

    def display(self, part: DisplaySettings) -> ScoreDisplay:
        """Return a display, plugged in or not.

        Raises:
            DisplayError: If pyserial is missing, or there can be no such port.
        """
        return self._panel.open_display() if isinstance(part, VirtualSettings) else part.open(self._clock)

    def _led_driver(self, part: LedsSettings) -> LedDriver:
        match part:
            case SingleSettings():
                return SingleLeds(part.pins, self._pins())
            case RgbSettings():
                return RgbLeds(tuple((red, green, blue) for red, green, blue in part.pins), self._pins())
            case StripSettings():
                return Strip(part.count, open_spi(part.spi.bus, part.spi.chip), percent=part.percent)
            case _:
                return self._panel.open_leds(part)

    def _knock_sensor(self, part: KnockSettings) -> KnockSensor:
        match part:
            case MicrophoneSettings():
                return MicrophoneKnockSensor(
                    clock=self._clock, device=part.device, detector=KnockDetector(self._classifier)
                )
            case PiezoPinSettings():
                return PinKnockSensor(part.wired, clock=self._clock, pin_factory=self._pins(), seats=part.seats)
            case PiezoSpiSettings(spi=spi):
                return SpiKnockSensor(part.wired, clock=self._clock, bus=spi.bus, chip=spi.chip, seats=part.seats)
            case WavSettings():
                return WavKnockSensor(Path(part.file), clock=self._clock, detector=KnockDetector(self._classifier))
            case VirtualSettings():
                return self._panel.open_knock()
