#!/bin/bash
# Makes a Debian package of Tallybone: make deb [DEB_PYTHON=3.13 DEB_ARCH=arm64].
# Everything it needs is in it, so that it can be installed from a USB stick; the venv is made when it is installed,
# because a venv holds paths and belongs to the Python of the machine.
set -euo pipefail

[ $# -eq 3 ] || { echo "usage: $0 DIR PYTHON-VERSION amd64|arm64" >&2; exit 2; }
out=$1 python=$2 arch=$3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source=$(dirname "$here")
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$source/pyproject.toml")
minor=${python#3.}
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
chmod 755 "$tree"

lay() { install -D -m "$1" "$2" "$tree$3"; }
for unit in "$here"/*.service "$here"/*.timer "$here"/*.target; do lay 644 "$unit" "/usr/lib/systemd/system/${unit##*/}"; done
lay 644 "$here/tallybone.sysusers" /usr/lib/sysusers.d/tallybone.conf
lay 644 "$here/tallybone.tmpfiles" /usr/lib/tmpfiles.d/tallybone.conf
lay 644 "$here/60-tallybone.rules" /usr/lib/udev/rules.d/60-tallybone.rules
lay 644 "$here/table.toml" /etc/tallybone/table.toml
lay 644 "$here/service.env" /etc/tallybone/service.env
lay 755 "$here/tallybone-table" /usr/sbin/tallybone-table
lay 755 "$here/install.sh" /opt/tallybone/systemd/install.sh
lay 644 "$source/requirements/table.txt" /opt/tallybone/requirements/table.txt
lay 644 "$source/docs/start/install.md" /opt/tallybone/docs/start/install.md
mkdir -p "$tree/usr/bin" "$tree/usr/share/doc/tallybone" "$tree/DEBIAN"
ln -s /opt/tallybone/venv/bin/tallybone "$tree/usr/bin/tallybone"
"$here/wheels.sh" "$tree/opt/tallybone/wheels" "$python" "$arch"
# What others wrote is passed on with their licences and notices.
notices=("$source/requirements/notices.py" "$source/LICENSE" "$tree/opt/tallybone/wheels")
"${PYTHON:-$source/.venv/bin/python}" "${notices[@]}" >"$tree/usr/share/doc/tallybone/copyright"
chmod 644 "$tree/usr/share/doc/tallybone/copyright"

printf '/etc/tallybone/%s\n' table.toml service.env >"$tree/DEBIAN/conffiles"
for script in preinst postinst prerm postrm; do install -m 755 "$here/deb/$script" "$tree/DEBIAN/$script"; done
cat >"$tree/DEBIAN/control" <<END
Package: tallybone
Version: $version~py3$minor
Architecture: $arch
Maintainer: Tallybone contributors <maintainers@tallybone.invalid>
Installed-Size: $(du -sk "$tree" | cut -f1)
Depends: python3 (>= $python), python3 (<< 3.$((minor + 1))), python3-venv, systemd
Recommends: libportaudio2, python3-lgpio, python3-picamera2, python3-spidev
Section: games
Priority: optional
Description: camera over a domino table keeps the score
 Tallybone finds the tiles in the picture, reads their pips, follows the layout
 and applies the rules. It runs as a service with a page for phones and a
 television, LEDs, buttons, score displays and a sensor for knocks.
END
mkdir -p "$out"
# Wheels are compressed already.
dpkg-deb --root-owner-group -Znone --build "$tree" "$out" >/dev/null
echo "$out/tallybone_$version~py3${minor}_$arch.deb"
