# make demo: set up and run the main job; make test: set up and run lint, types and every test.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/pip install --quiet --constraint constraints.txt

DEMO_TRAIN = python -m learn.train recipe=short encoding=bitmask domain=coin_in_the_box run_dir=outputs/train/coin
DEMO_SOLVE = python -m search.solve problem=coin_in_the_box/pl_7 agent=hfs_star heuristic=gnn compare=bfs

.PHONY: demo test core bench

demo: .venv/installed
	$(BIN)/$(DEMO_TRAIN)
	$(BIN)/$(DEMO_SOLVE)

test: .venv/installed
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/python -m pytest --numprocesses 2

# Rebuilds what changed in the C++ core, reinstalls it in place and renews its type stub.
core: .venv/installed
	$(PIP) --no-build-isolation --no-deps --editable .
	$(BIN)/python -m nanobind.stubgen -q -m epigym._core -o epigym/_core.pyi

# Speed is reported, never asserted: see tests/benchmarks.
bench: .venv/installed
	$(BIN)/python -m pytest tests/benchmarks --override-ini addopts= --benchmark-only -s

# PyTorch comes first, by itself: other packages would pull another build of it.
.venv/installed: pyproject.toml constraints.txt CMakeLists.txt
	$(PYTHON) -m venv .venv
	$(PIP) torch
	$(PIP) scikit-build-core nanobind cmake ninja
	$(PIP) --no-build-isolation --editable '.[dev,export,rl,sweep]'
	touch $@
