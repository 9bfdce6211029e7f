"""From what the configuration says of a part to its driver."""

from __future__ import annotations

from hardware.buttons.gpio import GpioButtons
from hardware.buttons.panel import Buttons
from hardware.clock import Clock
from hardware.config.config import (
    ButtonsDriver,
    ButtonsPart,
    DisplayPart,
    KnockDriver,
    KnockPart,
    LedsDriver,
    LedsPart,
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

    def leds(self, part: LedsPart) -> Lamps:
        """Return LEDs.

        Raises:
            LedError: If they cannot be had.
            PinError: If there are no pins.
        """
        return Lamps(self._led_driver(part))

    def buttons(self, part: ButtonsPart) -> Buttons:
        """Return buttons.

        Raises:
            ButtonError: If they cannot be had.
            PinError: If there are no pins.
        """
        if part.driver is ButtonsDriver.VIRTUAL:
            return self._panel.open_buttons()
        return GpioButtons({one.name: one.pin for one in part.pins}, self._pins(), clock=self._clock)

    def knock(self, part: KnockPart) -> KnockSensor:
        """Return a knock sensor that is started.

        Raises:
            KnockError: If its library is missing.
            PinError: If there are no pins.
        """
        sensor = self._knock_sensor(part)
        sensor.start()
        return sensor

    def display(self, part: DisplayPart) -> ScoreDisplay:
        """Return a display, plugged in or not.

        Raises:
            DisplayError: If pyserial is missing, or there can be no such port.
        """
        return self._panel.open_display() if part.options is None else part.options.open(self._clock)

    def _led_driver(self, part: LedsPart) -> LedDriver:
        match part.driver:
            case LedsDriver.SINGLE:
                return SingleLeds(tuple(pin for (pin,) in part.pins), self._pins())
            case LedsDriver.RGB:
                return RgbLeds(tuple((red, green, blue) for red, green, blue in part.pins), self._pins())
            case LedsDriver.STRIP:
                assert part.spi is not None  # what reads the configuration gives every strip one
                return Strip(part.count, open_spi(part.spi.bus, part.spi.chip), percent=part.percent)
            case LedsDriver.VIRTUAL:
                return self._panel.open_leds(part)

    def _knock_sensor(self, part: KnockPart) -> KnockSensor:
        match part.driver:
            case KnockDriver.MICROPHONE:
                return MicrophoneKnockSensor(
                    clock=self._clock, device=part.device, detector=KnockDetector(self._classifier)
                )
            case KnockDriver.PIEZO_PIN:
                return PinKnockSensor(part.pins, clock=self._clock, pin_factory=self._pins(), seats=part.seats)
            case KnockDriver.PIEZO_SPI:
                assert part.spi is not None  # as with a strip
                bus, chip = part.spi.bus, part.spi.chip
                return SpiKnockSensor(part.channels, clock=self._clock, bus=bus, chip=chip, seats=part.seats)
            case KnockDriver.WAV:
                assert part.file is not None  # as with a strip
                return WavKnockSensor(part.file, clock=self._clock, detector=KnockDetector(self._classifier))
            case KnockDriver.VIRTUAL:
                return self._panel.open_knock()
