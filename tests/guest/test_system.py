"""The service under a real systemd: upgrade and removal, restart, full disks, clocks that jump, watchdog."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.guest.guest import Guest
from tests.guest.table import INSTALL

pytestmark = [pytest.mark.slow, pytest.mark.guest]

_TABLE = "printf '[camera]\\nurl = \"simulated:seed=3\"\\n' >/etc/tallybone/table.toml; systemctl restart tallybone\n"
_READ_ONLY = """
{
    echo /dev/root / ext4 ro 0 0
    for path in /var/lib/tallybone /var/log; do echo tmpfs $path tmpfs defaults 0 0; done
} >/etc/fstab"""
# Two misc devices of the guest, one of them named as the firmware of a Raspberry Pi. Opened within the unit's sandbox.
_MISC = """
install -d /etc/systemd/system/tallybone.service.d
minor() { awk -v name=$1 '$2 == name { print $1 }' /proc/misc; }
for pair in vcio_gencmd:udmabuf lab_other:autofs; do
    rm -f /dev/${pair%:*}
    mknod -m 660 /dev/${pair%:*} c 10 "$(minor ${pair#*:})"
    chgrp video /dev/${pair%:*}
done
cat >/srv/open <<'END'
for one in vcio_gencmd lab_other; do (exec 3<>/dev/$one) && echo $one; done >/var/lib/tallybone/opened
END
printf '[Service]\\nExecStartPre=-/bin/bash /srv/open\\n' >/etc/systemd/system/tallybone.service.d/misc.conf
systemctl daemon-reload
systemctl restart tallybone
cat /var/lib/tallybone/opened"""
_HEALTH = "for _ in $(seq 120); do curl -s localhost:8080/health && exit; sleep 0.5; done; exit 1"


@pytest.fixture
def guest(boot: Callable[[str], Guest]) -> Guest:
    return boot("system")


def health(guest: Guest) -> dict[str, object]:
    """Return the health of the table, as soon as there is a page."""
    found: dict[str, object] = json.loads(guest.run(_HEALTH, 90))
    return found


def test_the_page_comes_with_the_power(guest: Guest, measured: Callable[[str], None]) -> None:
    assert health(guest)["version"]
    uptime_s = float(guest.run("cat /proc/uptime").split()[0])
    guest.shut_down()
    guest.start()
    assert health(guest)["version"]
    measured(f"page at most {uptime_s:.0f} s after the kernel starts")


def test_only_the_state_need_be_writable(guest: Guest) -> None:
    health(guest)
    guest.run(_READ_ONLY)
    guest.shut_down()
    guest.start("ro")
    assert health(guest)["version"]
    assert guest.run("findmnt -no OPTIONS /").startswith("ro,")


def test_clocks_may_jump(guest: Guest) -> None:
    health(guest)
    before = guest.run("systemctl show -p NRestarts --value tallybone")
    for date in ("2031-01-01", "2001-01-01", "2026-06-01"):
        guest.run(f"date -s {date}; sleep 4")
        health(guest)
    assert guest.run("systemctl show -p NRestarts --value tallybone") == before


def test_the_sandbox_opens_the_firmware_and_no_other_misc_device(guest: Guest) -> None:
    assert guest.run(_MISC, 90).split() == ["vcio_gencmd"]


def test_a_full_disk_is_reported_and_survived(guest: Guest) -> None:
    guest.run(_TABLE, 30)
    health(guest)
    guest.run(
        """
fallocate -l $(($(df --output=avail -B1 / | tail -1) - 200000)) /srv/fill
dd if=/dev/zero of=/srv/rest bs=4k 2>/dev/null || true
sleep 10""",
        60,
    )
    full = health(guest)
    guest.run("rm /srv/fill /srv/rest; sleep 10")
    assert "GB free" in f"{full['reasons']}"
    assert "GB free" not in f"{health(guest)['reasons']}"


def test_a_process_that_hangs_is_restarted_by_the_watchdog(guest: Guest, measured: Callable[[str], None]) -> None:
    health(guest)
    seconds = guest.run(
        """
before=$(cut -d. -f1 /proc/uptime)
kill -STOP "$(systemctl show -p MainPID --value tallybone)"
until [ "$(systemctl show -p NRestarts --value tallybone)" = 1 ]; do sleep 1; done
echo $(($(cut -d. -f1 /proc/uptime) - before))""",
        180,
    )
    assert health(guest)["version"]
    measured(f"a process that hangs is restarted after {seconds.strip()} s")


def test_an_upgrade_keeps_what_is_recorded_and_a_removal_too(guest: Guest) -> None:
    kept = "/var/lib/tallybone/sessions/kept"
    guest.run(f"mkdir -p {Path(kept).parent}; touch {kept}")
    before = guest.run("readlink -f /opt/tallybone/venv")
    guest.run(INSTALL, 300)
    assert health(guest)["version"]
    assert guest.run("readlink -f /opt/tallybone/venv") != before
    guest.run(f"/opt/tallybone/systemd/install.sh --uninstall; test -e {kept}", 60)
    assert guest.run("systemctl is-active tallybone || true").strip() == "inactive"
