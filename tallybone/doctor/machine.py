"""The computer beside the table: which one it is, its memory, heat, power and clock."""

from __future__ import annotations

from dataclasses import dataclass

from engine.phrases import phrase
from tallybone.finding import Finding, absent, ok, problem, warning

_OLDEST_PYTHON = (3, 11)
_BITS = 64
# Following a game takes 280 MB (docs/reading.md), system and camera half as much again.
_LEAST_MEMORY_MB, _GOOD_MEMORY_MB = 400, 900
_HOT_C, _WARM_C = 80.0, 70.0
# What a Pi says of its power: bits 0 to 3 hold now, the same 16 higher have held since it was started.
_LOW_VOLTAGE, _CAPPED, _SLOWED, _SOFT_LIMIT = 0x1, 0x2, 0x4, 0x8
_SINCE_START = 16
_MEMORY, _HEAT, _POWER, _CLOCK = phrase("memory"), phrase("heat"), phrase("power"), phrase("clock")
_SUPPLY = phrase("Use the supply that is made for this Pi (4: 5 V 3 A, 5: 5 V 5 A), with its own cable.")


@dataclass(frozen=True, slots=True)
class Machine:
    """What was found out about the computer; None where it does not say.

    Attributes:
        model: As a Raspberry Pi calls itself; "" for any other computer.
        system: The operating system.
        bits: Of the programs it runs, 32 or 64.
        python: The version that runs this.
        memory_mb: All of it.
        temperature_c: Of the processor.
        throttled: The bits of `vcgencmd get_throttled`.
        is_clock_set: Whether the network has set the clock.
    """

    model: str
    system: str
    bits: int
    python: tuple[int, int]
    memory_mb: int | None
    temperature_c: float | None
    throttled: int | None
    is_clock_set: bool | None

    @property
    def is_pi(self) -> bool:
        """Whether this is a Raspberry Pi."""
        return self.model.startswith("Raspberry Pi")


def check_machine(machine: Machine) -> tuple[Finding, ...]:
    """Return how the computer is."""
    return (
        check_system(machine),
        check_memory(machine.memory_mb),
        check_temperature(machine.temperature_c),
        check_power(machine.throttled),
        check_clock(is_set=machine.is_clock_set),
    )


def check_system(machine: Machine) -> Finding:
    """Return whether Tallybone runs on this system."""
    version = ".".join(str(part) for part in machine.python)
    words = f"{machine.model or 'no Raspberry Pi'}, {machine.system}, {machine.bits} bit, Python {version}"
    if machine.bits != _BITS:
        return problem(
            "machine",
            words,
            "There is no OpenCV for a 32-bit system. Write the 64-bit Raspberry Pi OS to the card, with Imager.",
        )
    if machine.python < _OLDEST_PYTHON:
        return problem("machine", words, "Tallybone needs Python 3.11: take Raspberry Pi OS 12 (bookworm) or later.")
    return ok("machine", words)


def check_memory(memory_mb: int | None) -> Finding:
    """Return whether there is memory enough."""
    if memory_mb is None:
        return absent(_MEMORY, phrase("this system does not say how much memory it has"))
    words = phrase("{memory} GB", memory=f"{memory_mb / 1024:.1f}")
    if memory_mb < _LEAST_MEMORY_MB:
        return problem(_MEMORY, words, phrase("Too little to read pictures. Take a Pi with 1 GB or more."))
    if memory_mb < _GOOD_MEMORY_MB:
        return warning(
            _MEMORY,
            words,
            phrase("Just enough. Run no desktop beside Tallybone:"),
            "sudo raspi-config nonint do_boot_behaviour B1",
        )
    return ok(_MEMORY, words)


def check_temperature(temperature_c: float | None) -> Finding:
    """Return whether the processor is cool enough."""
    if temperature_c is None:
        return absent(_HEAT, phrase("this computer does not say how warm it is"))
    words = phrase("{temperature} degrees", temperature=f"{temperature_c:.0f}")
    if temperature_c >= _HOT_C:
        return problem(
            _HEAT, words, phrase("So hot the Pi slows down. It needs a heat sink or a fan, and air around it.")
        )
    if temperature_c >= _WARM_C:
        return warning(_HEAT, words, phrase("It slows down at 80. A heat sink helps; a closed case does not."))
    return ok(_HEAT, words)


def check_power(throttled: int | None) -> Finding:
    """Return whether the supply gives enough, now and since the start."""
    if throttled is None:
        return absent(_POWER, phrase("only a Raspberry Pi says whether its supply is strong enough"))
    before = throttled >> _SINCE_START
    if throttled & _LOW_VOLTAGE:
        return problem(_POWER, phrase("the voltage is too low just now: cameras and displays drop out"), _SUPPLY)
    if before & _LOW_VOLTAGE:
        return warning(_POWER, phrase("the voltage was too low since the Pi was started"), _SUPPLY)
    hot = phrase("Let air at it.")
    if throttled & (_CAPPED | _SLOWED | _SOFT_LIMIT):
        return warning(_POWER, phrase("the Pi runs slower than it can just now, because it is hot"), hot)
    if before & (_CAPPED | _SLOWED | _SOFT_LIMIT):
        return warning(_POWER, phrase("the Pi was slowed down by heat since it was started"), hot)
    return ok(_POWER, phrase("strong enough since the Pi was started"))


def check_clock(*, is_set: bool | None) -> Finding:
    """Return whether the clock can be believed; a game does not need it, for it counts from its start."""
    if is_set is None:
        return absent(_CLOCK, phrase("this system does not say whether its clock was set"))
    if not is_set:
        return warning(
            _CLOCK,
            phrase("not set by the network: recordings may bear a wrong date"),
            phrase("The game does not mind. With a network at hand:"),
            "sudo timedatectl set-ntp true",
        )
    return ok(_CLOCK, phrase("set by the network"))
