#!/bin/bash
# Builds a Debian 13 for arm64 in a folder, with the wheels that tests need. Its programs run by qemu-user.
# Needs root, mmdebstrap and qemu-user-static. What is there already is kept; remove the folder to begin anew.
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: $0 FOLDER" >&2; exit 2; }
[ "$(id -u)" = 0 ] || { echo "$0 needs root: sudo make arm" >&2; exit 1; }
command -v mmdebstrap >/dev/null || { echo "$0 needs: apt install mmdebstrap qemu-user-static" >&2; exit 1; }
root=$1/root here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
packages=systemd,udev,make,python3,python3-venv,libatomic1,libportaudio2,openssh-client,openssl
if [ ! -e "$root" ]; then
    export QEMU_CPU=cortex-a76
    mmdebstrap --quiet --variant=minbase --architectures=arm64 --include=$packages trixie "$root.new"
    mv "$root.new" "$root"
fi
"$here/../../systemd/wheels.sh" "$root/wheels" 3.13 arm64 dev.txt
