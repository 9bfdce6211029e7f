"""Open parts from their settings."""

from __future__ import annotations

from hardware.buttons.panel import Buttons
from hardware.clock import Clock
from hardware.display.display import ScoreDisplay
from hardware.knock.classifier import Classifier
from hardware.knock.detector import KnockDetector
from hardware.knock.sensor import KnockSensor
from hardware.leds.driver import LedsDriver
from hardware.leds.lamps import Lamps
from hardware.libraries.pin_factory import PinLibrary, SharedPins, open_pins
from hardware.table.settings import ButtonsSettings, DisplaySettings, KnockSettings
from hardware.virtual.drivers import VirtualLedsSettings, VirtualSettings
from hardware.virtual.panel import VirtualPanel


class PartOpener:
    """Opens parts. Parts on pins share a pin factory. Exceptions of drivers propagate."""

    def __init__(
        self,
        library: PinLibrary,
        panel: VirtualPanel,
        clock: Clock,
        classifier: Classifier | None = None,
    ) -> None:
        """Create an opener.

        Args:
            library: Library that drives the pins.
            panel: Panel to which virtual parts are added.
            clock: Monotonic clock in nanoseconds.
            classifier: Classifier for sensors that record sound, by default the shipped one.
        """
        self._classifier = classifier
        self._detectors: list[KnockDetector] = []
        self._panel, self._clock = panel, clock
        self._pins = SharedPins(lambda: open_pins(library))

    def leds(self, part: LedsDriver) -> Lamps:
        """Open LEDs."""
        if isinstance(part, VirtualLedsSettings):
            return Lamps(self._panel.open_leds(part))
        return Lamps(part.open(self._pins))

    def buttons(self, part: ButtonsSettings) -> Buttons:
        """Open buttons."""
        if isinstance(part, VirtualSettings):
            return self._panel.open_buttons()
        return part.open(self._pins, self._clock)

    def knock(self, part: KnockSettings) -> KnockSensor:
        """Open and start a knock sensor."""
        if isinstance(part, VirtualSettings):
            sensor: KnockSensor = self._panel.open_knock()
        else:
            sensor = part.open(self._pins, self._clock, self._new_detector)
        sensor.start()
        return sensor

    def use(self, classifier: Classifier) -> None:
        """Use another classifier for sensors that record sound: those open now, and those opened later. Thread-safe."""
        self._classifier = classifier
        for detector in tuple(self._detectors):
            detector.use(classifier)

    def _new_detector(self) -> KnockDetector:
        """Return a detector. A table has one sensor, so an earlier detector is no longer used."""
        detector = KnockDetector(self._classifier)
        self._detectors = [detector]
        if self._classifier is not None:  # It may have changed meanwhile.
            detector.use(self._classifier)
        return detector

    def display(self, part: DisplaySettings) -> ScoreDisplay:
        """Open a display, even if it is unplugged."""
        return self._panel.open_display() if isinstance(part, VirtualSettings) else part.open(self._clock)
