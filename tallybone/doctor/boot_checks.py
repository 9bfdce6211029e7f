"""Whether config.txt switches on what the parts need, and nothing that is in their way."""

from __future__ import annotations

from collections.abc import Iterator

from hardware.config.config import DisplayPart, HardwareConfig, KnockDriver, LedsDriver, SpiPort, Wire
from hardware.config.pins import PinUse, pins_used
from tallybone.doctor.boot import Board, Boot
from tallybone.finding import Finding, ok, problem, warning

_SERIAL_PINS = ("/dev/serial0", "/dev/ttyS0", "/dev/ttyAMA0")
_CONSOLES = ("serial0", "ttyS0", "ttyAMA0")
_CORE_HZ = {Board.PI4: "500", Board.PI3: "250", Board.ZERO2: "250"}
_SPI1_CHIPS = 3
_AUTO_CAMERA = "camera_auto_detect"


def check_boot(boot: Boot, hardware: HardwareConfig, camera: str) -> tuple[Finding, ...]:
    """Return how a Raspberry Pi is set up for its parts; nothing where no part needs anything."""
    return (
        *_check_spi(boot, hardware),
        *_check_core_clock(boot, hardware),
        *_check_i2s(boot, hardware),
        *(finding for display in hardware.displays for finding in _check_serial(boot, display)),
        *_check_camera(boot, camera),
        *_check_pins(boot, hardware),
    )


def _add(boot: Boot, *settings: str) -> tuple[str, ...]:
    """Return the commands that add lines to config.txt, where they count for this board, and restart."""
    lines = ("[all]", *settings) if boot.ends_elsewhere else settings
    path = boot.path or "/boot/firmware/config.txt"
    return (*(f"echo '{line}' | sudo tee -a {path}" for line in lines), "sudo reboot")


def spi_ports(hardware: HardwareConfig) -> tuple[SpiPort, ...]:
    """Return each SPI that a part is wired to, once."""
    ports = [leds.spi for leds in hardware.leds if leds.driver is LedsDriver.STRIP]
    if hardware.knock is not None and hardware.knock.driver is KnockDriver.PIEZO_SPI:
        ports.append(hardware.knock.spi)
    return tuple(dict.fromkeys(port for port in ports if port is not None))


def _check_spi(boot: Boot, hardware: HardwareConfig) -> Iterator[Finding]:
    for port in spi_ports(hardware):
        if port.bus == 0:
            is_on, setting = boot.is_on("spi"), "dtparam=spi=on"
        else:
            overlays = [boot.overlay(f"spi1-{chips}cs") for chips in range(port.chip + 1, _SPI1_CHIPS + 1)]
            is_on, setting = any(overlays), f"dtoverlay=spi1-{port.chip + 1}cs"
        part = f"SPI {port.bus}"
        if is_on:
            yield ok(part, "switched on")
        else:
            yield problem(part, "switched off", "Switch it on and restart:", *_add(boot, setting))


def _check_core_clock(boot: Boot, hardware: HardwareConfig) -> Iterator[Finding]:
    """Yield whether the clock of SPI stands still under a strip, which reads bits by their length."""
    hz = _CORE_HZ.get(boot.board)
    if hz is None or not any(leds.driver is LedsDriver.STRIP for leds in hardware.leds):
        return
    wanted = ("core_freq", "core_freq_min") if boot.board is Board.PI4 else ("core_freq",)
    missing = [f"{key}={hz}" for key in wanted if boot.value(key) != hz]
    if missing:
        words = "the clock of SPI changes with the load of the Pi: strips flicker"
        yield warning("strip", words, "Hold it and restart:", *_add(boot, *missing))
    else:
        yield ok("strip", "the clock of SPI is held")


def _check_i2s(boot: Boot, hardware: HardwareConfig) -> Iterator[Finding]:
    if hardware.knock is None or hardware.knock.wire is not Wire.I2S:
        return
    overlays = ("googlevoicehat-soundcard", "i2s-mems", "adau7002", "i2s-mic", "rpi-i2s", "simple-audio-card")
    if any(boot.overlay(name) for name in overlays):
        yield ok("I2S", "a microphone is switched on")
    else:
        setting = "dtoverlay=googlevoicehat-soundcard"
        yield problem(
            "I2S",
            "no microphone is switched on for these pins",
            "For an INMP441, SPH0645 or ICS-43434; then restart:",
            *_add(boot, setting),
        )


def _check_serial(boot: Boot, display: DisplayPart) -> Iterator[Finding]:
    if display.url not in _SERIAL_PINS:
        return
    if boot.board is Board.PI5:
        is_on, setting = boot.is_on("uart0"), "dtparam=uart0=on"
    else:
        is_on, setting = boot.value("enable_uart") == "1", "enable_uart=1"
    if not is_on:
        yield problem("serial", "switched off", "Switch it on and restart:", *_add(boot, setting))
    elif any(f"console={name}" in boot.kernel_line for name in _CONSOLES):
        yield problem(
            "serial",
            "the system prints its messages to the display",
            "Take the console from these pins and restart:",
            "sudo raspi-config nonint do_serial_cons 1",
            "sudo reboot",
        )
    elif boot.board is Board.PI5 and display.url == "/dev/serial0":
        words = "on a Pi 5 /dev/serial0 may be the plug between the HDMI sockets, not the pins"
        yield warning("serial", words, 'Write url = "/dev/ttyAMA0" in table.toml.')
    else:
        yield ok("serial", "switched on, and free")


def _check_camera(boot: Boot, camera: str) -> Iterator[Finding]:
    if boot.value("start_x") == "1" and camera.startswith("pi:"):
        yield problem(
            "camera",
            "start_x=1 is the old camera system, with which nothing else sees the camera",
            "Take it out and restart:",
            f"sudo sed -i '/^start_x=1/d' {boot.path}",
            "sudo reboot",
        )
    if camera.startswith("pi:") and boot.value(_AUTO_CAMERA) == "0" and not any(map(boot.overlay, ("imx", "ov"))):
        yield problem(
            "camera",
            "the Pi is told not to look for cameras",
            "Let it look, and restart:",
            *_add(boot, f"{_AUTO_CAMERA}=1"),
        )


def _check_pins(boot: Boot, hardware: HardwareConfig) -> Iterator[Finding]:
    """Yield which pins of LEDs, buttons and sensors the system uses for something else."""
    taken = taken_pins(boot)
    for use in pins_used(hardware):
        if use.pin in taken and not _is_bus(use):
            words = f"GPIO {use.pin} is for the {use.what}, but {taken[use.pin]} in config.txt takes it"
            yield problem("pins", words, f"Take that line out of {boot.path} and restart, or use another pin.")


def _is_bus(use: PinUse) -> bool:
    return use.what.startswith(("SPI", "I2S", "UART"))


def taken_pins(boot: Boot) -> dict[int, str]:
    """Return the pins (BCM) that config.txt gives away, and by which line."""
    taken: dict[int, str] = {}
    params = {"spi": (7, 8, 9, 10, 11), "i2c_arm": (2, 3), "i2s": (18, 19, 20, 21), "uart0": (14, 15)}
    overlays = {"w1-gpio": 4, "gpio-fan": 12, "gpio-ir": 18, "gpio-shutdown": 3, "gpio-poweroff": 26}
    for name, pins in params.items():
        if boot.is_on(name):
            taken |= dict.fromkeys(pins, f"dtparam={name}=on")
    if boot.value("enable_uart") == "1":
        taken |= dict.fromkeys((14, 15), "enable_uart=1")
    for name, usual in overlays.items():
        said = boot.overlay(name)
        if said is not None:
            given = dict(one.partition("=")[::2] for one in said.split(",")[1:])
            pin = given.get("gpiopin") or given.get("gpio_pin") or str(usual)
            taken |= {int(pin): f"dtoverlay={said}"} if pin.isdecimal() else {}
    if boot.overlay("googlevoicehat"):
        taken |= dict.fromkeys((18, 19, 20, 21), "dtoverlay=googlevoicehat-soundcard")
    return taken
