# `make demo` and `make test` work in a fresh clone with nothing but git, make and Python 3.11 or newer.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

# Compiled code is kept, whatever the environment says: else each process of the tests compiles everything again.
export PYTHONDONTWRITEBYTECODE :=

# The first of these that is Python 3.11 or newer, looked for once, where it is needed; `make PYTHON=/some/python ...`
# overrides it.
PYTHONS := python3 python3.13 python3.12 python3.11 python
ifeq ($(origin PYTHON),undefined)
PYTHON = $(eval PYTHON := $(firstword $(foreach p,$(PYTHONS),$(shell $(p) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $(p)))))$(PYTHON)
endif
BIN := .venv/bin
CODE := logic semantics checker proofs warpbound tests
# A file's tests go to one worker, which finds what they share once; the dearest files come first (tests/conftest.py).
PYTEST := $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder
PIP := PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1 $(BIN)/python -m pip install -qq

.PHONY: help demo test quick slow lint proofs coq suite hardware run-time pages first timing compiled mutants mutants-rules mutants-code hostile million power oracles written bench growth limits venv newest lock clean

help:
	@echo 'make demo    bounds of addSub3, printed and explained'
	@echo 'make test    style, types, import rules, tests'
	@echo 'make quick   the tests that are not slow, more than half (about a minute on two cores)'
	@echo 'make bench   benchmarks (whole processes, against the clock)'
	@echo 'make growth  docs/benchmarks.md: how the search grows with the program (a minute)'
	@echo 'make limits  docs/limits.md: what each limit of a search buys (minutes; MORE=1: ten times each, too)'
	@echo 'make coq     proofs/coq: the rules and proofs of certificates, in Coq (two minutes; needs Coq and OCaml)'
	@echo 'make slow    tests/slow.txt, dear.txt, costly.txt: all tests, and which of them are slow'
	@echo 'make lint    style, types and import rules alone'
	@echo 'make proofs  the certificates under proofs/ and docs/proofs.md, made anew'
	@echo 'make suite   docs/suite.md: our bounds beside published ones and the dearest runs'
	@echo 'make hardware docs/hardware.md, run anew (minutes)'
	@echo 'make run-time docs/run-time.md and its plots: predicted run times (a minute)'
	@echo 'make compiled  docs/compiled.md: what nvcc makes of the kernels, beside their bounds (wants nvcc)'
	@echo 'make pages   docs/img: what reports look like, drawn by chromium (a minute)'
	@echo 'make first   what a stranger meets who opens a page, by chromium (a minute; AXE=axe.min.js: accessibility, too)'
	@echo 'make timing  docs/timing.md: cycles on mini-SIMT, and bounds on them (two minutes)'
	@echo 'make mutants every mutant of every certificate, tried by both checkers (half an hour)'
	@echo 'make mutants-rules every mutant of every sound rule, on trial (ten minutes)'
	@echo 'make mutants-code random mutants of core modules, tried by the tests (hours)'
	@echo 'make hostile 2,000 hostile certificates, judged within limits of time and memory (hours; goes on where it stopped)'
	@echo 'make million docs/trials.md: a million cases of the sound rules (hours; goes on where it stopped)'
	@echo 'make power   docs/power.md: rules that are wrong on purpose, and when trials find them (half an hour)'
	@echo 'make oracles run, against Oclgrind on random kernels (a minute; KERNELS=1000 FIRST=0 BOUNDS=20 JOBS=1 LOG=FILE)'
	@echo 'make written random C++ with classes and lambdas, as g++ runs it and as we read it (minutes; PROGRAMS=1000 FIRST=0)'
	@echo 'make venv    only set up .venv'
	@echo 'make newest  a short set of tests with the newest versions of all dependencies, in .venv-newest'
	@echo 'make lock    pin the newest dependencies in requirements.lock (needs uv)'
	@echo 'make clean   remove .venv and every cache'

demo: venv
	$(BIN)/warpbound bound proofs/addSub3/kernel.cu --metric all --block 32 --at w=32,h=64 --explain

test: lint
	$(PYTEST)

quick: venv
	$(PYTEST) -q -m 'not bench and not slow'

slow: venv
	$(PYTEST) --write-slow

lint: venv
	$(BIN)/ruff check --quiet
	$(BIN)/ruff format --quiet --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/python -m tests.lint.commits

# `make mutants CLUSTER=tcp://HOST:PORT`, and so mutants-rules and million: the workers of a Dask scheduler do it.
JOINED = $(if $(CLUSTER),--cluster $(CLUSTER))

# These write their page under docs/ (mutants-code prints what survives); `make mutants KERNELS='addSub3 synBrdis' EVERY=10` tries a tenth of theirs.
proofs: venv
	$(BIN)/python -m proofs.make

coq:
	@for program in coqc coqchk ocamlopt; do command -v $$program >/dev/null || { \
	    echo "error: $$program is not here; on Debian and Ubuntu: apt install coq ocaml" >&2; exit 1; }; done
	@$(MAKE) --no-print-directory -C proofs/coq PYTHON="$(PYTHON)"

suite: venv
	$(BIN)/warpbound suite --format markdown -o docs/suite.md

hardware: venv
	$(BIN)/python -m proofs.hardware

run-time: venv
	$(BIN)/python -m proofs.run_time

pages: venv
	$(BIN)/python -m proofs.pages

# axe-core is not fetched: `npm pack axe-core`, unpacked, has package/axe.min.js.
first: venv
	$(BIN)/python -m tests.bench.page $(if $(AXE),--axe $(AXE))

timing: venv
	$(BIN)/python -m proofs.timing

compiled: venv
	$(BIN)/python -m proofs.compiled

mutants: venv
	$(BIN)/python -m tests.mutants.certificates $(KERNELS) $(if $(EVERY),--every $(EVERY)) $(JOINED) --page docs/mutants-certificates.md

mutants-rules: venv
	$(BIN)/warpbound trial sound --mutants $(JOINED) --page docs/mutants-rules.md

mutants-code: venv
	$(BIN)/python -m tests.mutants.code --places $(or $(PLACES),40) --seed $(or $(SEED),0) --jobs 2

hostile: venv
	$(BIN)/python -m tests.mutants.hostile --log .hostile.jsonl

million: venv
	$(BIN)/python -m tests.bench.million $(JOINED)

power: venv
	$(BIN)/python -m tests.bench.power

# Says what is missing, a line each; compiles what counts inside Oclgrind, and goes on where FIRST says.
oracles: venv
	$(BIN)/python -m tests.oracles.compare --kernels $(or $(KERNELS),200) --first $(or $(FIRST),0) --every $(or $(BOUNDS),0) --jobs $(or $(JOBS),1) $(if $(LOG),--log $(LOG))

written: venv
	$(BIN)/python -m tests.oracles.written --programs $(or $(PROGRAMS),200) --first $(or $(FIRST),0) --refusals

bench: venv
	$(BIN)/python -m pytest -m bench tests/bench

growth: venv
	$(BIN)/python -m tests.bench.growth

limits: venv
	$(BIN)/python -m tests.bench.limits $(if $(MORE),--more)

venv: .venv/.installed

# Two steps, so that a change of pyproject.toml does not fetch everything again.
# A link is another tree's: to clear it would empty that.
.venv/.locked: requirements.lock
	@if [ -L .venv ]; then \
	    echo "error: .venv is a link to $$(readlink .venv), and older than requirements.lock; set it up there, or remove the link." >&2; exit 1; fi
	@if [ -z "$(PYTHON)" ]; then \
	    echo "error: warpbound needs Python 3.11 or newer; tried: $(PYTHONS). Install one, or say make PYTHON=/path/to/python." >&2; exit 1; fi
	@if ! "$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then \
	    echo "error: warpbound needs Python 3.11 or newer, and $(PYTHON) is not." >&2; exit 1; fi
	@if ! "$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null; then \
	    echo "error: $(PYTHON) cannot make virtual environments; on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; fi
	@echo "setting up .venv with $$("$(PYTHON)" --version) (may take a minute)"
	@"$(PYTHON)" -m venv --clear .venv
	@$(PIP) --require-hashes --only-binary :all: -r requirements.lock
	@touch $@

.venv/.installed: .venv/.locked pyproject.toml
	@$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

# Made anew each time, and no lock: what a person gets who installs the tool today. A test of each dependency.
NEWEST := .venv-newest
NEWEST_TESTS := $(addprefix tests/checker/,cli/test_process.py cli/test_formats.py cli/test_main.py oracles/test_lp.py oracles/test_smt.py \
    oracles/test_second.py notation/test_expressions.py report/test_page.py report/test_terminal.py testbed/test_cluster.py) \
    tests/semantics/test_vectorised.py tests/paper/test_table1.py tests/paper/test_fig7.py
newest:
	@"$(PYTHON)" -m venv --clear $(NEWEST)
	@$(PIP:$(BIN)%=$(NEWEST)/bin%) --upgrade pip
	@$(PIP:$(BIN)%=$(NEWEST)/bin%) --upgrade --editable '.[dev]'
	@$(NEWEST)/bin/python -m pip --disable-pip-version-check list
	$(NEWEST)/bin/python -m pytest -q -n 2 $(NEWEST_TESTS)

lock:
	uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 --upgrade --generate-hashes \
	    --no-emit-index-url --custom-compile-command 'make lock' --quiet --output-file requirements.lock

clean:
	rm -rf .venv $(NEWEST) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .benchmarks
	find $(CODE) -name __pycache__ -type d -exec rm -rf {} +
