#!/bin/bash
# Fills a folder with all that the service needs, Tallybone itself too, for a machine that has no network.
# Other requirements than the service's, in a file of requirements/, may be named last.
set -euo pipefail

[ $# -eq 3 ] || [ $# -eq 4 ] || { echo "usage: $0 DIR PYTHON-VERSION amd64|arm64 [FILE], such as: $0 wheels 3.13 arm64" >&2; exit 2; }
folder=$1 version=$2 pins=${4:-table.txt}
case $3 in
    amd64) machine=x86_64 ;;
    arm64) machine=aarch64 ;;
    *) echo "$0: expected amd64 or arm64, got $3" >&2; exit 2 ;;
esac
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
PYTHON=${PYTHON:-$source/.venv/bin/python}

# pip decides by the Python that runs it which lines of a requirement file hold; here those of the other machine do.
lines_for_machine() {
    "$PYTHON" - "$source/requirements/$pins" "$version" "$machine" <<'END'
import re, sys
from packaging.markers import Marker
path, version, machine = sys.argv[1:]
about = {"python_version": version, "python_full_version": f"{version}.0", "platform_machine": machine,
         "sys_platform": "linux", "implementation_name": "cpython", "platform_python_implementation": "CPython"}
for pin in re.split(r"\n(?=\w)", open(path).read().strip()):
    first, _, rest = pin.partition("\n")
    name, _, marker = first.rstrip("\\ ").partition(" ; ")
    if not marker or Marker(marker).evaluate(about):
        print(f"{name} \\\n{rest}")
END
}

platforms=(--platform "manylinux2014_$machine")
for minor in 24 26 27 28 31 34; do platforms+=(--platform "manylinux_2_${minor}_$machine"); done
mkdir -p "$folder"
rm -f "$folder"/*.whl
wanted=$(mktemp)
trap 'rm -f "$wanted"' EXIT
lines_for_machine >"$wanted"
"$PYTHON" -m pip --disable-pip-version-check -qq download --require-hashes --only-binary :all: --no-deps \
    --python-version "$version" --implementation cp --abi "cp${version/./}" --abi abi3 --abi none "${platforms[@]}" \
    -d "$folder" -r "$wanted"
folder=$(cd "$folder" && pwd)
(cd "$source" && "$PYTHON" -m hatchling build -t wheel -d "$folder" >/dev/null 2>&1)
