"""A bare Debian in a folder, whose commands run in a chroot. With qemu-user, it may be for another processor."""

from __future__ import annotations

import subprocess
from pathlib import Path


class BareSystem:
    """A system in a chroot folder. No command may take longer than *within_s*."""

    def __init__(self, root: Path, within_s: float = 1800) -> None:
        self.root, self._within_s = root, within_s
        self.python = self.output("python3", "-c", "import sys; print('%d.%d' % sys.version_info[:2])").strip()
        self.arch = self.output("dpkg", "--print-architecture").strip()

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        environment = {
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": "/root",
            "LC_ALL": "C.UTF-8",
            # A Raspberry Pi 5's. On the default, OpenBLAS picks armv9sme kernels, which are wrong in qemu 7.2.
            "QEMU_CPU": "cortex-a76",
        }
        # A private mount namespace: systemd's tools and df need /proc, emulated displays need terminals, and the mounts
        # end with the command.
        script = 'mount -t proc proc "$0/proc" && mount -t devpts devpts "$0/dev/pts" && exec chroot "$0" "$@"'
        inside = ["unshare", "--mount", "sh", "-c", script, str(self.root), *command]
        return subprocess.run(inside, capture_output=True, text=True, env=environment, timeout=self._within_s)

    def output(self, *command: str) -> str:
        result = self.run(*command)
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout

    def has(self, name: str) -> bool:
        path = self.root / name
        return path.exists() or path.is_symlink()
