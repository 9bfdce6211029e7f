# Tallybone on a fresh Debian or Raspberry Pi OS (64 bit) needs: python3 (3.11 or later), python3-venv, make.
# Everything is installed into .venv in this folder, from requirements/ with hashes; `make clean` takes it away again.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# -qq: errors only.
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq
# Wheels only: every pinned package has one for x86-64 and aarch64, so nothing is ever compiled on the table's machine.
INSTALL := $(PIP) install --require-hashes --only-binary :all:

# What is compiled is kept, whatever the shell says: to compile all tests anew takes twenty seconds.
unexport PYTHONDONTWRITEBYTECODE

# Tests run on two cores, those of a file one after the other: they share what is rendered for them. The files keep their
# order: xdist would begin those with the fewest tests last, and these take longest.
SPREAD := -n 2 --dist loadfile --no-loadscope-reorder

# The version is in the name of the stamps: another Python means another .venv.
VERSION := $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)
MADE := $(VENV)/.made-$(VERSION)
RUN := $(VENV)/.run-$(VERSION)
LAB := $(VENV)/.lab-$(VERSION)
DEV := $(VENV)/.dev-$(VERSION)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo setup test coverage docs texts fuzz wheel image sbom fast check programs format bench looks hands deb chroot guest arm lock clean

help: ## list what can be made
	@echo "Tallybone: a camera over a domino table keeps the score."
	@echo
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 16

demo: $(LAB) ## set up (about 90 MB the first time), then watch and score a rendered game; under a minute
	@$(BIN)/tallybone demo

setup: $(RUN) ## set up .venv for use: .venv/bin/tallybone --help
	@echo "Ready: $(BIN)/tallybone --help"

test: $(DEV) check coverage ## set up the tools (260 MB the first time), then check and run every test; about 20 minutes
	@echo "Running all other tests, the slow ones too."
	@COUNTED="$(COVERED) $(COVERING)" $(BIN)/python -m pytest $(SPREAD)

# Counting makes Python up to three times as slow, so it counts in quick tests only.
COVERED := engine tallybone/session tallybone/recording
COVERING := $(addprefix tests/,$(COVERED)) tests/tallybone/play/test_recorder.py tests/tallybone/web/test_recordings.py tests/tallybone/web/test_taking_back.py

# The tool itself has a floor only for lines and branches together.
define BRANCHES
import json, sys
totals = json.load(sys.stdin)["totals"]
share = 100 * totals["covered_branches"] / totals["num_branches"]
print(f"{sys.argv[1]}: {share:.1f} % of {totals['num_branches']} branches")
sys.exit(share < 95)
endef
export BRANCHES

coverage: $(DEV) ## run the quick tests of engine, session and recording; each must reach 95 % of its branches
	@$(BIN)/python -m pytest $(SPREAD) -m "not slow" $(addprefix --cov=,$(COVERED)) --cov-branch --cov-report= $(COVERED) $(COVERING)
	@$(BIN)/coverage report --show-missing --skip-covered --precision=1
	@set -e; for package in $(COVERED); do \
	  $(BIN)/coverage json --quiet --include="$$package/*" -o - | $(BIN)/python -c "$$BRANCHES" $$package; \
	done

# Tests skip without these programs and name them. No service starts: not now (RUNLEVEL holds back init scripts,
# SYSTEMD_OFFLINE units), nor at the next boot (disable).
programs: ## install the Debian programs that tests use (as root; up to 300 MB)
	@export PATH="$$PATH:/usr/sbin:/sbin" DEBIAN_FRONTEND=noninteractive DEBCONF_NOWARNINGS=yes RUNLEVEL=1 SYSTEMD_OFFLINE=1; \
	has() { for name; do command -v "$$name" >/dev/null && return; done; false; }; \
	wanted=$$( \
	  has systemd-analyze || echo systemd; \
	  has chromium chromium-browser || echo chromium fonts-liberation; \
	  has firefox-esr firefox || echo firefox-esr; \
	  has ip || echo iproute2; \
	  ldconfig -p 2>/dev/null | grep -q libatomic.so.1 || echo libatomic1; \
	  has mosquitto || echo mosquitto; \
	  has openssl || echo openssl; \
	  has shellcheck || echo shellcheck; \
	  has ssh-keygen || echo openssh-client); \
	missing=$$wanted; \
	if [ -n "$$wanted" ] && [ "$$(id -u)" = 0 ] && has apt-get; then \
	  missing=; \
	  echo "Installing with apt-get, for tests:" $$wanted; \
	  apt-get -qq update; \
	  for package in $$wanted; do \
	    apt-get -qq -y install --no-install-recommends $$package >/dev/null || missing="$$missing $$package"; \
	    [ $$package != mosquitto ] || systemctl --quiet disable mosquitto 2>/dev/null; \
	  done; \
	fi; \
	[ -z "$$missing" ] || echo "Without these, their tests skip. On Debian: sudo apt install" $$missing

fast: $(DEV) check ## check and run the quick tests only; under four minutes
	@$(BIN)/python -m pytest $(SPREAD) -m "not slow"

check: $(DEV) ## format, lint, types, imports, spelling; seconds
	@echo "Checking format, lint, types, imports and spelling."
	@$(BIN)/ruff format --check --quiet . || { echo "Not formatted: run 'make format'."; $(BIN)/ruff format --diff --quiet . ; exit 1; }
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/codespell

format: $(DEV) ## rewrite the sources as `make check` wants them, as far as a tool can
	@$(BIN)/ruff check --fix --quiet . ; $(BIN)/ruff format --quiet .

bench: $(DEV) ## measure speed on this machine, each figure next to a reference in the same run
	@set -e; for file in $(filter-out lab/bench/hands.py lab/bench/gaps.py lab/bench/crash.py lab/bench/damage.py lab/bench/endurance.py lab/bench/scales.py lab/bench/mutants.py,$(wildcard lab/bench/[a-z]*.py)); do echo "== $$file"; $(BIN)/python -m $$(echo $${file%.py} | tr / .); done

docs: $(DEV) ## build the documentation in build/docs, with search; it works offline
	@$(INSTALL) -r requirements/docs.txt
	@$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going -b html docs build/docs
	@echo "Open build/docs/index.html."

texts: $(DEV) ## update the translations in tallybone/texts with the texts of the sources
	@$(BIN)/python -m tests.tallybone.texts.every_text

# Each parser of foreign bytes by itself. What breaks one is in build/fuzz; so is the corpus, with which the next time begins.
FUZZ_SECONDS ?= 600
FUZZED ?= mcap message game_record table_toml calibration picture wav backup action http websocket mqtt results
fuzz: $(DEV) ## feed every parser of foreign bytes with damaged ones (Python 3.11 or 3.12, x86-64): make fuzz FUZZ_SECONDS=600
	@$(INSTALL) -r requirements/fuzz.txt
	@set -e; for target in $(FUZZED); do echo "== $$target"; $(BIN)/python -m tests.fuzz.fuzzing $$target --seconds $(FUZZ_SECONDS) 2>&1 | tail -n 12; done

looks: $(DEV) ## write contact sheets of the page to build/looks, and count faulty texts; half an hour: make looks [LOOKS="--lang fr"]
	@$(BIN)/python -m tests.tallybone.web.looks build/looks $(LOOKS)

hands: $(DEV) ## render sixty hands in motion, follow and judge them; hours. Kept and gone on with: make hands KEEP=DIR
	@$(BIN)/python -m lab.bench.hands --jobs 2 $(if $(KEEP),--keep $(KEEP))

# Both say which machine is meant, since wheels are made for one Python and one processor.
DEB_PYTHON ?= $(VERSION)
DEB_ARCH ?= $(shell dpkg --print-architecture 2>/dev/null)
deb: $(DEV) ## make a Debian package in dist (95 MB, all it needs is in it): make deb [DEB_PYTHON=3.13 DEB_ARCH=arm64]
	@systemd/make_deb.sh dist $(DEB_PYTHON) $(DEB_ARCH)

wheel: $(DEV) ## make the wheels of this version in dist: a table's, for pipx, uv, install.sh and update, and tallybone-lab
	@rm -f dist/tallybone*.whl && $(BIN)/python -m hatchling build -t wheel -d dist
	@cd lab && ../$(BIN)/python -m hatchling build -t wheel -d ../dist

image: wheel ## build the container image tallybone, with podman or docker
	@$$(command -v podman || command -v docker) build --tag tallybone --file Containerfile .

sbom: ## write which packages run at a table to build/sbom.json (CycloneDX), from requirements/table.txt
	@mkdir -p build
	@$(PYTHON) requirements/sbom.py > build/sbom.json

SUITE ?= trixie
chroot: $(DEV) ## install, upgrade, package and remove in a bare system (root, debootstrap; minutes): make chroot SUITE=bookworm
	@mkdir -p build
	@test -d build/$(SUITE) || debootstrap --variant=minbase --include=systemd,udev,python3,python3-venv $(SUITE) build/$(SUITE)
	@TALLYBONE_CHROOT=build/$(SUITE) $(BIN)/python -m pytest -m chroot tests/systemd/test_in_a_chroot.py

GUEST ?= build/guest
guest: $(DEV) ## boot Debian 13 on simulated hardware: play a match, cut the power, unplug parts (root, mmdebstrap; 20 minutes the first time)
	@tests/guest/build.sh $(GUEST)
	@TALLYBONE_GUEST=$(GUEST) $(BIN)/python -m pytest -n 3 --dist worksteal -m guest -p no:cacheprovider --durations=0 tests/guest

ARM ?= build/arm64
arm: $(DEV) ## package, demo and quick tests on Debian 13 for arm64, emulated (root, mmdebstrap, qemu-user; hours)
	@tests/guest/arm.sh $(ARM)
	@TALLYBONE_CHROOT=$(ARM)/root TALLYBONE_ARM64=$(ARM) $(BIN)/python -m pytest -m "chroot or guest" -p no:cacheprovider --timeout=7200 --durations=0 \
	  tests/systemd/test_in_a_chroot.py::test_the_debian_package_installs_and_purges_cleanly tests/guest/test_arm64.py

# Universal: one file for 3.11 and later, x86-64 and aarch64. No host is named in them: pip asks whatever index it has.
# Extras are kept (coverage[toml]==7.17.4), because older versions of pip find no pin for them otherwise.
LOCK := uv pip compile --no-strip-extras --quiet --no-config --universal --python-version 3.11 --generate-hashes --no-header --upgrade
lock: ## pin the newest versions again, with hashes (needs uv)
	@command -v uv >/dev/null || { echo "make lock needs uv: pip install uv"; exit 1; }
	$(LOCK) pyproject.toml requirements/build.in -o requirements/run.txt
	$(LOCK) --extra dev --no-emit-package tallybone -c requirements/run.txt pyproject.toml requirements/build.in -o requirements/dev.txt
	$(LOCK) --extra web --extra mqtt --no-emit-package tallybone -c requirements/dev.txt pyproject.toml requirements/build.in requirements/table.in -o requirements/table.txt
	$(LOCK) --extra fuzz --no-emit-package tallybone -c requirements/dev.txt pyproject.toml requirements/build.in -o requirements/fuzz.txt
	$(LOCK) --extra docs --no-emit-package tallybone -c requirements/dev.txt pyproject.toml requirements/build.in -o requirements/docs.txt
	$(LOCK) --extra finder --no-emit-package tallybone -c requirements/dev.txt lab/pyproject.toml requirements/build.in -o requirements/finder.txt

clean: ## remove .venv and what the tools left
	rm -rf $(VENV) build dist .coverage .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(MADE):
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) was not found. On Debian: sudo apt install python3 python3-venv"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Tallybone needs Python 3.11 or later, but $(PYTHON) is $(VERSION). Name another: make PYTHON=python3.13 ..."; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "Python's venv is missing. On Debian: sudo apt install python3-venv"; exit 1; }
	@echo "Making $(VENV) with Python $(VERSION)."
	@$(PYTHON) -m venv --clear $(VENV)
	@touch $@

# The package itself is installed in place, without dependencies: those are pinned above it.
$(RUN): $(MADE) requirements/run.txt pyproject.toml
	@echo "Installing what Tallybone runs on (requirements/run.txt)."
	@$(INSTALL) -r requirements/run.txt
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

# Demo, simulated cameras, evaluation and training.
$(LAB): $(RUN) lab/pyproject.toml
	@$(PIP) install --no-deps --no-build-isolation --editable lab
	@touch $@

$(DEV): $(LAB) requirements/dev.txt
	@echo "Installing what its tests and checks need (requirements/dev.txt)."
	@$(INSTALL) -r requirements/dev.txt
	@touch $@
