#!/bin/bash
# Builds the lab in a folder: a Debian 13 disk and a kernel that runs as a process, with Linux' test drivers as parts.
# Needs root and mmdebstrap. What is there already is kept; remove the folder to begin anew.
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: $0 FOLDER" >&2; exit 2; }
[ "$(id -u)" = 0 ] || { echo "$0 needs root: sudo make guest" >&2; exit 1; }
command -v mmdebstrap mkfs.ext4 >/dev/null || { echo "$0 needs: apt install mmdebstrap e2fsprogs" >&2; exit 1; }
mkdir -p "$1"
lab=$(cd "$1" && pwd) here=$(cd "$(dirname "$0")" && pwd)

say() { printf '%4s s  %s\n' "$SECONDS" "$*"; }

# debian FOLDER PACKAGES: a Debian 13 in a folder
debian() {
    [ -e "$1" ] || { mmdebstrap --quiet --variant=minbase --include="$2" trixie "$1.new" && mv "$1.new" "$1"; }
}

build_kernel() {
    debian "$lab/builder" build-essential,python3-dev,python3-pip,linux-source,bc,bison,flex,libelf-dev,xz-utils
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
# picamera2's default format, which libcamera's pipeline offers but the driver rejects.
sed -i '/define VIMC_DEBAYER_SOURCE_MBUS_FMT/s/RGB888_1X24/BGR888_1X24/' drivers/media/test-drivers/vimc/vimc-debayer.c
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

# Debian has neither picamera2 nor all it needs. Its patch is for the simulated cameras.
build_picamera2() {
    say "packing picamera2"
    local parts=$lab/builder/srv/picamera2 pip=("${PYTHON:-$here/../../.venv/bin/python}" -m pip --disable-pip-version-check -qq)
    local for_guest=(--only-binary :all: --python-version 3.13 --implementation cp --abi cp313 --abi abi3 --abi none)
    for_guest+=(--platform manylinux2014_x86_64 --platform manylinux_2_27_x86_64 --platform manylinux_2_28_x86_64)
    rm -rf "$parts" "$lab/picamera2" && mkdir -p "$parts/tools"
    "${pip[@]}" download --no-deps "${for_guest[@]}" -d "$parts" picamera2==0.3.38 attrs av jsonschema \
        jsonschema-specifications libarchive-c openexr piexif pillow referencing rpds-py simplejpeg tqdm videodev2
    "${pip[@]}" download --no-deps --no-binary pidng -d "$parts/tools" pidng==4.0.9 setuptools
    cp "$here/picamera2.patch" "$parts"
    chroot "$lab/builder" bash -euo pipefail <<'G'
cd /srv/picamera2
pip -qq wheel --no-index --find-links tools --no-deps -w . pidng
pip -qq install --root-user-action ignore --no-index --no-deps --target all ./*.whl
apt-get -qq update
(cd /tmp && apt-get -qq download python3-prctl && dpkg-deb -x python3-prctl_*.deb prctl)
cp -r /tmp/prctl/usr/lib/python3/dist-packages/* all/
patch -s -d all -p1 <picamera2.patch
G
    mv "$parts/all" "$lab/picamera2"
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
    # Processes keep the memory that they have: on this kernel, page faults make a table be read five times more slowly.
    mkdir -p "$root/etc/systemd/system.conf.d"
    printf '[Manager]\nDefaultEnvironment=MALLOC_MMAP_THRESHOLD_=33554432 MALLOC_TRIM_THRESHOLD_=1000000000\n' \
        >"$root/etc/systemd/system.conf.d/lab.conf"
    install -m 755 "$here/agent" "$root/usr/local/sbin/lab-agent"
    install -m 644 "$here/agent.service" "$root/etc/systemd/system/lab-agent.service"
    chroot "$root" systemctl -q enable lab-agent
    chroot "$root" systemctl -q mask systemd-networkd-wait-online apt-daily.timer apt-daily-upgrade.timer getty@tty1
    : >"$root/etc/machine-id"
    rm -f "$lab/base.raw"
    mkfs.ext4 -q -F -L lab -d "$root" "$lab/base.raw" 5G
}

# Each page of a guest's process may be a mapping on the host: by default, the host ends a table of over 256 MB.
[ "$(sysctl -n vm.max_map_count)" -ge 1048576 ] || sysctl -q vm.max_map_count=1048576
[ -e "$lab/linux" ] || build_kernel
[ -e "$lab/base.raw" ] || build_disk
[ -e "$lab/picamera2" ] || build_picamera2
say "packing Tallybone"
"$here/../../systemd/wheels.sh" "$lab/wheels" 3.13 amd64
say "the lab is in $lab"
