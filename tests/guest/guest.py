"""A Debian guest on a User-Mode Linux kernel: a process that needs no virtualization and boots in seconds."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path

from tests.waiting import until

_BOOT_S = 90.0


@dataclass
class Guest:
    """A guest with a disk of its own, which starts as a copy of the lab's.

    Attributes:
        lab: Folder made by build.sh.
        name: Name of the guest. Its folder in *lab* is removed by `start` with *is_new*.
        source: Folder of Tallybone, seen read-only in the guest as /source.
    """

    lab: Path
    name: str
    source: Path
    _process: subprocess.Popen[bytes] | None = None
    _ids: count[int] = field(default_factory=count)

    @property
    def share(self) -> Path:
        """Folder that the guest sees as /lab."""
        return self.lab / "guests" / self.name / "share"

    @property
    def disk(self) -> Path:
        """File with the differences from the lab's disk."""
        return self.share.parent / "disk"

    @property
    def console(self) -> Path:
        """Output of the kernel and of systemd."""
        return self.share.parent / "console"

    @property
    def is_running(self) -> bool:
        """Whether the guest runs."""
        return self._process is not None and self._process.poll() is None

    def start(self, *options: str, is_new: bool = False) -> float:
        """Boot, and return the seconds until it runs scripts. Without *is_new*, it goes on with the disk as it is.

        Args:
            options: Arguments of the kernel, such as `ro`.
            is_new: Begin with a new disk.
        """
        if is_new:
            shutil.rmtree(self.share.parent, ignore_errors=True)
        for folder in ("cmd", "out"):
            shutil.rmtree(self.share / folder, ignore_errors=True)
            (self.share / folder).mkdir(parents=True)
        arguments = [
            f"umid=tallybone-{os.getpid()}-{self.name}",
            f"ubd0={self.disk},{self.lab / 'base.raw'}",
            *("root=/dev/ubda", "rw", "mem=2G", "con=null", "con0=null,fd:1", "con1=null", "ssl=null"),
            *("systemd.show_status=0", "net.ifnames=0", f"lab={self.share}", f"source={self.source}", *options),
        ]
        # The guest's memory is a file in TMPDIR, which must allow execution: often /dev/shm does not, or is too small.
        # Without the tunable, the kernel of the host kills processes that share memory with one that uses rseq.
        environment = {**os.environ, "TMPDIR": str(self.lab), "GLIBC_TUNABLES": "glibc.pthread.rseq=0"}
        with self.console.open("ab") as console:
            process = self._process = subprocess.Popen(
                [self.lab / "linux", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=console,
                stderr=console,
                env=environment,
                start_new_session=True,
            )
        booted = self.share / "out/booted"
        seconds = until(lambda: booted.exists() or process.poll() is not None, _BOOT_S, seen=self._console)
        assert booted.exists(), f"it does not boot: {self._console()}"
        return seconds

    def run(self, script: str, seconds: float = 60) -> str:
        """Run a bash script in the guest and return its output.

        Raises:
            AssertionError: If its status is not 0, or it takes longer than *seconds*. The message contains its output.
        """
        name = f"{next(self._ids)}"
        self.begin(script, name)
        status, log = (self.share / f"out/{name}.{kind}" for kind in ("status", "log"))
        until(lambda: status.exists() or not self.is_running, seconds, seen=lambda: f"{script}\n{_text(log)}")
        assert status.exists(), f"it died: {self._console()}"
        assert int(status.read_text()) == 0, f"status {status.read_text().strip()} of:\n{script}\n{_text(log)}"
        return _text(log)

    def begin(self, script: str, name: str) -> None:
        """Begin a bash script in the guest, without waiting. Its output goes to out/NAME.log in the shared folder."""
        new = self.share / f"{name}.new"
        new.write_text("set -euo pipefail\n" + script)
        new.rename(self.share / "cmd" / name)

    def shut_down(self) -> None:
        """Power the guest off, and wait for it."""
        self.begin("systemctl poweroff", "poweroff")
        until(lambda: not self.is_running, _BOOT_S, seen=self._console)

    def cut_power(self) -> None:
        """Kill the guest with all its processes, as a power cut would."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):  # it has been shut down
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            # Its other processes hold the lock of the disk until they are gone.
            until(partial(_is_gone, self._process.pid), _BOOT_S)
            self._process = None

    def _console(self) -> str:
        return _text(self.console)[-2000:]


def _is_gone(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False


def _text(path: Path) -> str:
    return path.read_text(errors="replace") if path.exists() else ""
