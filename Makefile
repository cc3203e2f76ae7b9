# Idiot. `make` alone lists what there is. Needs only Python >= 3.11 and make.

PYTHON ?= python3
VENV ?= .venv
# Any recent torch will do; a pinned one keeps results comparable. Installed first, so that nothing else chooses a build.
TORCH ?= torch==2.13.0
CONFIG ?= configs/quick.yaml
# Workers of pytest: one for each core.
WORKERS ?= auto
ARGS ?=

BIN := $(VENV)/bin
READY := $(VENV)/.ready

# Two torch threads collapse on a busy machine: one, unless the caller says otherwise.
export OMP_NUM_THREADS ?= 1
export MKL_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1

.DEFAULT_GOAL := help
.PHONY: help train test test-all lint types structure clean

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(VENV)/pyvenv.cfg:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python %d.%d is too old: Idiot needs 3.11 or newer; name one with PYTHON=." % sys.version_info[:2])'
	$(PYTHON) -m venv $(VENV)

$(READY): pyproject.toml | $(VENV)/pyvenv.cfg
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet '$(TORCH)'
	$(BIN)/pip install --quiet --editable '.[train,dev]'
	@touch $@

train: $(READY) ## set up, train the quick model, benchmark it, say how to play against it
	$(BIN)/idiot train --config $(CONFIG) $(ARGS)

test: $(READY) ## set up and pass the tests
	$(BIN)/pytest -n $(WORKERS) $(ARGS)

test-all: $(READY) ## all tests, the slow ones too
	$(BIN)/pytest -n $(WORKERS) -m 'slow or not slow' $(ARGS)

lint: $(READY) ## ruff: rules and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY) ## mypy, strict on idiot_env and agents
	$(BIN)/mypy

structure: $(READY) ## who may import whom
	$(BIN)/pytest -q tests/test_structure.py

clean: ## remove the virtual environment and caches
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache build *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
