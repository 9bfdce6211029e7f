"""From what the configuration says of a part to its driver."""

from __future__ import annotations

from hardware.buttons.panel import Buttons
from hardware.clock import Clock
from hardware.display.display import ScoreDisplay
from hardware.knock.classifier import Classifier
from hardware.knock.detector import KnockDetector
from hardware.knock.sensor import KnockSensor
from hardware.leds.driver import LedsDriver
from hardware.leds.lamps import Lamps
from hardware.pin_factory import PinLibrary, SharedPins, open_pins
from hardware.table.settings import ButtonsSettings, DisplaySettings, KnockSettings
from hardware.virtual.drivers import VirtualLedsSettings, VirtualSettings
from hardware.virtual.panel import VirtualPanel


class PartOpener:
    """Opens parts; those on pins share one pin factory. What `open` of a driver raises is passed on."""

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

    def leds(self, part: LedsDriver) -> Lamps:
        """Return LEDs."""
        if isinstance(part, VirtualLedsSettings):
            return Lamps(self._panel.open_leds(part))
        return Lamps(part.open(self._pins))

    def buttons(self, part: ButtonsSettings) -> Buttons:
        """Return buttons."""
        if isinstance(part, VirtualSettings):
            return self._panel.open_buttons()
        return part.open(self._pins, self._clock)

    def knock(self, part: KnockSettings) -> KnockSensor:
        """Return a knock sensor that is started."""
        if isinstance(part, VirtualSettings):
            sensor: KnockSensor = self._panel.open_knock()
        else:
            sensor = part.open(self._pins, self._clock, lambda: KnockDetector(self._classifier))
        sensor.start()
        return sensor

    def display(self, part: DisplaySettings) -> ScoreDisplay:
        """Return a display, plugged in or not."""
        return self._panel.open_display() if isinstance(part, VirtualSettings) else part.open(self._clock)
