# make demo: set up and run the main job; make test: set up and run lint, types and the tests that need no minutes;
# make test-slow: the other tests and the core under a sanitizer; make site: the documents.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/pip install --quiet --constraint constraints.txt

DEMO_TRAIN = python -m learn.train encoding=relational domain=cloud_scheduling base=h_ff validation.problems=12 trainer.accelerator=cpu \
  run_dir=outputs/train/cloud_scheduling
DEMO_SOLVE = python -m search.solve problem=cloud_scheduling/cloud_10_len21 agent=hfs heuristic=learned \
  heuristic.model=outputs/train/cloud_scheduling compare=[hfs/h_ff,bfs]

.PHONY: demo test test-slow faults core sanitize addresses races bench gpu wheel site

demo: .venv/installed
	rm -rf outputs/train/cloud_scheduling
	$(BIN)/$(DEMO_TRAIN)
	$(BIN)/$(DEMO_SOLVE)
	@echo "For further commands: source $(BIN)/activate"

test: .venv/installed
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/python -m pytest -m 'not slow' --numprocesses 2 --dist worksteal

test-slow: .venv/installed addresses
	$(BIN)/python -m pytest -m slow --numprocesses 2 --dist worksteal

# Puts in each deliberate fault, one at a time: the fast tests must find all of them.
faults: .venv/installed
	$(BIN)/python -m tests.faults.run

# Rebuilds what changed in the C++ core, reinstalls it in place and renews its type stub.
core: .venv/installed
	$(PIP) --no-build-isolation --no-deps --editable .
	$(BIN)/python -m nanobind.stubgen -q -m epigym._core -o epigym/_core.pyi

# The core built to notice wrong addresses and undefined behaviour, then races, and asked for what it does, with wrong
# arguments too.
sanitize: addresses races

addresses: .venv/installed
	.ci/sanitize $(BIN)/python address,undefined tests/epigym/core/test_arguments.py \
	  tests/epigym/core/test_core_agreement.py tests/epigym/core/test_gine.py -m 'not reference'

races: .venv/installed
	.ci/sanitize $(BIN)/python thread tests/epigym/core/test_threads.py

# Speed is reported, never asserted: see tests/benchmarks.
bench: .venv/installed
	$(BIN)/python -m pytest tests/benchmarks --override-ini addopts= --benchmark-only -s --benchmark-json=outputs/bench.json

# What a GPU gains in training: says so where there is none.
gpu: .venv/installed
	$(BIN)/python -m tests.benchmarks.gpu

# What would be published, in dist/, tried where nothing else is installed.
wheel: .venv/installed
	.ci/wheel $(BIN)/python

# The documents as a site, in outputs/site; whatever is wrong with a link or the navigation fails.
site: .venv/installed
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build

# PyTorch comes first, by itself: other packages would pull another build of it.
.venv/installed: pyproject.toml constraints.txt CMakeLists.txt
	$(PYTHON) -m venv .venv
	$(PIP) torch
	$(PIP) scikit-build-core nanobind cmake ninja
	$(PIP) --no-build-isolation --editable '.[all,dev]'
	touch $@
