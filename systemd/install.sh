#!/bin/bash
# Installs Tallybone as a service, brings it up to date, or takes it away again (docs/start/install.md).
# Whatever is done once can be done again; what belongs to people (configuration, recordings) is never written over.
set -euo pipefail

USAGE="usage: sudo ./systemd/install.sh [options]

  (nothing), --upgrade   install, or bring what is installed up to date; both are the same
  --uninstall            take the program away; configuration and recordings stay
  --purge                with --uninstall: take configuration, recordings and calibration away too
  --wheel FILE           install this wheel of Tallybone instead of the folder around this script
  --wheels DIR           take everything from this folder of wheels; no network is needed
  --root DIR             only lay the files into DIR, as it would into /; needs no root, changes nothing else
  --no-start             do not start the service now
  --help                 say this

PYTHON names another Python (3.11 or later) than python3."

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
SOURCE=$(dirname "$HERE")
PYTHON=${PYTHON:-python3}
OPT=/opt/tallybone
STATE=/var/lib/tallybone
CONFIG=/etc/tallybone
SERVICES=(tallybone.service tallybone-prune.timer)
UNITS=(tallybone.service tallybone-prune.service tallybone-prune.timer tallybone-club.target)
# What the old and the new venv take together, with what pip needs between.
NEEDED_MB=900

task=install purge=no wheel="" wheels="" root="" start=yes packaged=no

say() { printf '%s\n' "$*"; }
fail() { printf 'install.sh: %s\n' "$*" >&2; exit 1; }
wrong() { printf 'install.sh: %s\n\n%s\n' "$*" "$USAGE" >&2; exit 2; }

read_options() {
    while [ $# -gt 0 ]; do
        case $1 in
            --upgrade) ;;
            --uninstall) task=uninstall ;;
            --purge) purge=yes ;;
            --wheel | --wheels | --root)
                if [ -z "${2-}" ]; then wrong "$1 needs a name after it"; fi
                case $1 in --wheel) wheel=$2 ;; --wheels) wheels=$2 ;; *) root=$2 ;; esac
                shift ;;
            --no-start) start=no ;;
            # Used by the Debian package: its files are laid and taken away by dpkg.
            --packaged) packaged=yes ;;
            --help | -h) say "$USAGE"; exit 0 ;;
            *) wrong "unknown option $1" ;;
        esac
        shift
    done
    [ "$purge" = no ] || [ "$task" = uninstall ] || wrong "--purge goes with --uninstall"
}

# --- May it be done here? ---------------------------------------------------------------------------------------------

require_machine() {
    [ "$(id -u)" -eq 0 ] || fail "this changes the system: run it as root (sudo $0)"
    command -v systemctl >/dev/null || fail "this system has no systemd; without it run: tallybone serve"
    [ "$packaged" = yes ] || [ "$(dpkg-query -W -f '${Status}' tallybone 2>/dev/null)" != "install ok installed" ] ||
        fail "Tallybone is installed as a Debian package: upgrade that, or first: sudo apt remove tallybone"
}

require_python() {
    command -v "$PYTHON" >/dev/null || fail "$PYTHON was not found: sudo apt install python3 python3-venv"
    "$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
        fail "Tallybone needs Python 3.11 or later, but $PYTHON is $("$PYTHON" -V 2>&1); name another: sudo PYTHON=python3.13 $0"
    "$PYTHON" -c 'import sys; sys.exit(sys.maxsize < 2**32)' ||
        fail "this is a 32-bit system, for which there is no OpenCV: install the 64-bit one"
    "$PYTHON" -c 'import ensurepip, venv' 2>/dev/null || fail "Python's venv is missing: sudo apt install python3-venv"
}

require_source() {
    [ -z "$wheel" ] || [ -f "$wheel" ] || fail "$wheel: there is no such file"
    [ -z "$wheels" ] || [ -d "$wheels" ] || fail "$wheels: there is no such folder"
    [ -n "$wheel" ] || [ -f "$SOURCE/pyproject.toml" ] || fail "$SOURCE is no Tallybone: give --wheel FILE"
}

require_room() {
    local folder=$OPT free_mb
    while [ ! -d "$folder" ]; do folder=$(dirname "$folder"); done
    free_mb=$(df -Pm "$folder" | awk 'NR == 2 { print $4 }')
    [ "$free_mb" -ge "$NEEDED_MB" ] || fail "$folder has $free_mb MB free, but $NEEDED_MB MB are needed"
}

# --- Files ------------------------------------------------------------------------------------------------------------

lay() { # MODE SOURCE TARGET: one file, whole or not at all
    install -D -m "$1" "$2" "$root$3.new"
    mv -f "$root$3.new" "$root$3"
}

lay_once() { # what people write is never written over
    [ -e "$root$3" ] || lay "$@"
}

lay_files() {
    local unit
    for unit in "${UNITS[@]}"; do lay 644 "$HERE/$unit" "/etc/systemd/system/$unit"; done
    lay 644 "$HERE/tallybone.sysusers" /etc/sysusers.d/tallybone.conf
    lay 644 "$HERE/tallybone.tmpfiles" /etc/tmpfiles.d/tallybone.conf
    lay 644 "$HERE/60-tallybone.rules" /etc/udev/rules.d/60-tallybone.rules
    lay_once 644 "$HERE/table.toml" "$CONFIG/table.toml"
    lay_once 644 "$HERE/service.env" "$CONFIG/service.env"
    lay 755 "$HERE/tallybone-table" /usr/local/sbin/tallybone-table
    lay 644 "$SOURCE/requirements/table.txt" "$OPT/requirements/table.txt"
    if [ -f "$SOURCE/docs/start/install.md" ]; then lay 644 "$SOURCE/docs/start/install.md" "$OPT/docs/start/install.md"; fi
    lay 755 "$HERE/install.sh" "$OPT/systemd/install.sh" # so that it can be taken away without the folder it came from
    mkdir -p "$root/usr/local/bin"
    ln -sfn "$OPT/venv/bin/tallybone" "$root/usr/local/bin/tallybone"
}

remove_files() {
    local unit
    for unit in "${UNITS[@]}"; do rm -f "/etc/systemd/system/$unit"; done
    rm -f /etc/sysusers.d/tallybone.conf /etc/tmpfiles.d/tallybone.conf /etc/udev/rules.d/60-tallybone.rules
    rm -f /usr/local/sbin/tallybone-table /usr/local/bin/tallybone
    rm -rf "$OPT"
}

# --- The program ------------------------------------------------------------------------------------------------------

sees_apt() { # Picamera2, lgpio and spidev come from apt, where they are there
    "$PYTHON" - <<'END'
import importlib.util, sys
sys.exit(not any(importlib.util.find_spec(name) for name in ("picamera2", "lgpio", "spidev")))
END
}

make_venv() { # FOLDER: everything by hash, nothing is compiled. Asked for with ||, so errors are passed on by &&
    local options=() from=() pip
    if sees_apt; then options+=(--system-site-packages); fi
    if [ -n "$wheels" ]; then from=(--no-index --find-links "$wheels"); fi
    pip=("$1/bin/python" -m pip --disable-pip-version-check --no-cache-dir -qq install)
    "$PYTHON" -m venv "${options[@]}" "$1" &&
        "${pip[@]}" "${from[@]}" --require-hashes --only-binary :all: -r "$SOURCE/requirements/table.txt" &&
        "${pip[@]}" "${from[@]}" --no-deps --no-build-isolation "${wheel:-$SOURCE}" &&
        "$1/bin/tallybone" --version >/dev/null
}

switch_to() { # FOLDER: at one moment, so that a power cut leaves the old or the new one
    ln -sfn "$1" "$OPT/venv.new"
    mv -fT "$OPT/venv.new" "$OPT/venv"
}

remove_other_venvs() {
    local folder
    for folder in "$OPT"/venvs/*; do
        [ "$folder" = "$(readlink -f "$OPT/venv")" ] || rm -rf "$folder"
    done
}

install_program() {
    local folder before
    before=$(readlink -f "$OPT/venv" || true)
    remove_other_venvs # of an install that was cut off
    folder=$OPT/venvs/$(date +%Y%m%d-%H%M%S)-$$
    say "Installing Tallybone into $folder; this takes minutes on a Raspberry Pi."
    mkdir -p "$OPT/venvs"
    make_venv "$folder" || { rm -rf "$folder"; fail "it could not be installed; what was there before is unchanged"; }
    switch_to "$folder"
    sync -f "$OPT"
    start_services || take_back "$before" "$folder"
    # What runs on may still need the old one, until it is started anew.
    if [ "$start" = yes ]; then remove_other_venvs; fi
}

take_back() { # BEFORE NEW: a version that does not start is not kept, where there was one that did
    if [ ! -d "$1" ] || [ "$1" = "$2" ]; then fail "it is installed, but did not start: journalctl -u tallybone"; fi
    switch_to "$1"
    systemctl restart tallybone.service || true
    rm -rf "$2"
    fail "the new version did not start, so the old one runs again: journalctl -u tallybone"
}

# --- Services ---------------------------------------------------------------------------------------------------------

has_systemd() { [ -d /run/systemd/system ]; }

make_user() {
    systemd-sysusers tallybone.conf
    systemd-tmpfiles --create tallybone.conf
}

start_services() { # asked for with ||, so what may not fail is the last
    systemctl --quiet enable "${SERVICES[@]}" || return 1
    if ! has_systemd; then say "systemd does not run here; the service starts when it does."; return 0; fi
    systemctl daemon-reload || return 1
    # Devices that are plugged in already get their names and groups; a system without udev has none to give.
    udevadm control --reload || true
    udevadm trigger --subsystem-match=tty --subsystem-match=gpio --subsystem-match=spidev --subsystem-match=media || true
    if [ "$start" = no ]; then return 0; fi
    systemctl start tallybone-prune.timer || return 1
    # Returns when the table is ready: page served, camera heard of.
    systemctl restart tallybone.service
}

stop_services() {
    if has_systemd; then systemctl stop "${SERVICES[@]}" tallybone-club.target 2>/dev/null || true; fi
    systemctl --quiet disable "${SERVICES[@]}" tallybone-club.target 2>/dev/null || true
}

# --- What is asked for ------------------------------------------------------------------------------------------------

do_install() {
    require_source
    if [ -n "$root" ]; then
        lay_files
        say "Laid into $root. Not done: user, $OPT/venv, services."
        return
    fi
    require_machine
    require_python
    require_room
    if [ "$packaged" = no ]; then lay_files; fi
    make_user
    install_program
    say "Tallybone is installed: $("$OPT/venv/bin/tallybone" --version)."
    say "Configuration: $CONFIG/table.toml. Recordings: $STATE. How it is: systemctl status tallybone"
    if ! sees_apt && grep -qs "Raspberry Pi" /proc/device-tree/model; then
        say "For camera and pins: sudo apt install python3-picamera2 python3-lgpio python3-spidev libportaudio2"
        say "Then run this again. Debian itself has neither python3-picamera2 nor python3-lgpio: docs/start/install.md says what works there."
    fi
}

do_uninstall() {
    [ -z "$root" ] || wrong "--uninstall goes without --root"
    require_machine
    stop_services
    if [ "$packaged" = yes ]; then rm -rf "$OPT/venv" "$OPT/venvs"; else remove_files; fi
    if has_systemd; then systemctl daemon-reload; fi
    if [ "$purge" = no ]; then say "Tallybone is removed. $CONFIG and $STATE are as they were; --purge removes them."; return; fi
    rm -rf "$CONFIG" "$STATE"
    if id tallybone >/dev/null 2>&1; then userdel tallybone; fi
    say "Tallybone is removed, with its configuration and everything it has kept."
}

read_options "$@"
"do_$task"
