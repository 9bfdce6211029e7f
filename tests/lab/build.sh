#!/bin/bash
# Builds the lab in a folder: a Debian 13 disk and a kernel that runs as a process, with Linux' test drivers as parts.
# Needs root and mmdebstrap. What is there already is kept; remove the folder to begin anew.
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: $0 FOLDER" >&2; exit 2; }
[ "$(id -u)" = 0 ] || { echo "$0 needs root: sudo make lab" >&2; exit 1; }
command -v mmdebstrap mkfs.ext4 >/dev/null || { echo "$0 needs: apt install mmdebstrap e2fsprogs" >&2; exit 1; }
mkdir -p "$1"
lab=$(cd "$1" && pwd) here=$(cd "$(dirname "$0")" && pwd)

say() { printf '%4s s  %s\n' "$SECONDS" "$*"; }

# debian FOLDER PACKAGES: a Debian 13 in a folder
debian() {
    [ -e "$1" ] || { mmdebstrap --quiet --variant=minbase --include="$2" trixie "$1.new" && mv "$1.new" "$1"; }
}

build_kernel() {
    debian "$lab/builder" build-essential,linux-source,bc,bison,flex,libelf-dev,xz-utils
    say "building the kernel"
    cp "$here/lab_spi.c" "$here/kernel.config" "$lab/builder/srv/"
    chroot "$lab/builder" bash -euo pipefail <<'G'
cd /usr/src
tree=$(basename linux-source-*.tar.xz .tar.xz)
[ -d "$tree" ] || tar xf "$tree.tar.xz"
# The package of v4l2loopback needs dkms; its source is enough.
apt-get -qq update
(cd /tmp && apt-get -qq download v4l2loopback-dkms && dpkg-deb -x v4l2loopback-dkms_*.deb v4l2loopback)
cd "$tree"
cp /tmp/v4l2loopback/usr/src/v4l2loopback-*/*.[ch] drivers/media/test-drivers/
cp /srv/lab_spi.c drivers/spi/
grep -q lab_spi drivers/spi/Makefile || echo 'obj-y += lab_spi.o' >>drivers/spi/Makefile
grep -q v4l2loopback drivers/media/test-drivers/Makefile || echo 'obj-y += v4l2loopback.o' >>drivers/media/test-drivers/Makefile
make -s ARCH=um x86_64_defconfig
cat /srv/kernel.config >>.config
{ make -s ARCH=um olddefconfig && make -s -j"$(nproc)" ARCH=um linux; } 2>/srv/warnings || { tail -20 /srv/warnings; exit 1; }
# A wanted option that another one keeps away is left out without a word.
grep -oE '^CONFIG_[A-Z0-9_]+=y' /srv/kernel.config | while read -r option; do
    grep -qx "$option" .config || { echo "the kernel has no $option" >&2; exit 1; }
done
strip -g -o /srv/linux linux
G
    mv "$lab/builder/srv/linux" "$lab/linux"
}

build_disk() {
    say "building the disk"
    local system=systemd,systemd-sysv,udev,dbus,kmod,iproute2,procps,curl,sudo,e2fsprogs
    debian "$lab/root" "$system,python3,python3-venv,python3-spidev,python3-pytest,libportaudio2,alsa-utils,v4l-utils,v4l2loopback-utils,python3-libcamera,libcamera-ipa"
    local root=$lab/root
    echo lab >"$root/etc/hostname"
    printf '127.0.0.1 localhost lab\n' >"$root/etc/hosts"
    printf '/dev/root / ext4 defaults,noatime 0 0\n' >"$root/etc/fstab"
    mkdir -p "$root/var/log/journal" "$root/etc/systemd/journald.conf.d"
    printf '[Journal]\nStorage=persistent\nSyncIntervalSec=5s\n' >"$root/etc/systemd/journald.conf.d/lab.conf"
    install -m 755 "$here/agent" "$root/usr/local/sbin/lab-agent"
    install -m 644 "$here/agent.service" "$root/etc/systemd/system/lab-agent.service"
    chroot "$root" systemctl -q enable lab-agent
    chroot "$root" systemctl -q mask systemd-networkd-wait-online apt-daily.timer apt-daily-upgrade.timer getty@tty1
    : >"$root/etc/machine-id"
    rm -f "$lab/base.raw"
    mkfs.ext4 -q -F -L lab -d "$root" "$lab/base.raw" 5G
}

[ -e "$lab/linux" ] || build_kernel
[ -e "$lab/base.raw" ] || build_disk
say "packing Tallybone"
"$here/../../systemd/wheels.sh" "$lab/wheels" 3.13 amd64
say "the lab is in $lab"
