# Idiot. `make` alone lists what there is. Needs only Python >= 3.11 and make.

PYTHON ?= python3
VENV ?= .venv
# Any recent torch will do; a pinned one keeps results comparable. Installed first, so that nothing else chooses a build.
TORCH ?= torch==2.13.0
CONFIG ?= configs/quick.yaml
# Workers of pytest: a number, or auto for one on each core, up to four (each of them compiles what it meets first).
WORKERS ?= auto
# Goes to the command behind train, test, test-all and structure: make test ARGS='-k burn'
ARGS ?=

BIN := $(VENV)/bin
PIP := $(BIN)/pip --disable-pip-version-check
# One stamp for each set of extras. Installing one set takes nothing away from another, and a new pyproject.toml
# brings both up to date.
TRAIN_READY := $(VENV)/.ready-train
TEST_READY := $(VENV)/.ready-test
# What make bench-peers measures beside us, in an environment of its own.
PEERS_VENV ?= .venv-peers
PEERS ?= open_spiel 'pettingzoo[classic]' rlcard pgx 'jax[cpu]' sb3-contrib
PEERS_READY := $(PEERS_VENV)/.ready

# Ray's RLlib, in an environment of its own: it pins its Gymnasium.
RAY_VENV ?= .venv-ray
RAY_READY := $(RAY_VENV)/.ready
RAY_TESTS := tests/test_rllib.py tests/test_cluster.py

# Two threads of one matrix product collapse on a busy machine: one, unless the caller says otherwise.
OMP_NUM_THREADS ?= 1
MKL_NUM_THREADS ?= 1
OPENBLAS_NUM_THREADS ?= 1
export OMP_NUM_THREADS MKL_NUM_THREADS OPENBLAS_NUM_THREADS

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help train test test-all test-ray bench bench-peers lint types structure clean

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(VENV)/pyvenv.cfg:
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Python %d.%d is too old: Idiot needs 3.11 or newer; name one, as in make PYTHON=python3.12." % sys.version_info[:2])'
	$(PYTHON) -m venv $(VENV)

$(TRAIN_READY): pyproject.toml | $(VENV)/pyvenv.cfg
	@echo "installing the project and what training needs into $(VENV) ..."
	@$(PIP) install '$(TORCH)'
	@$(PIP) install -qq --editable '.[train]'
	@touch $@

$(TEST_READY): $(TRAIN_READY)
	@echo "installing what the tests need into $(VENV) ..."
	@$(PIP) install -qq --editable '.[train,web,openspiel,torchrl,dev]'
	@touch $@

train: $(TRAIN_READY) ## set up, train the quick model, benchmark it, say how to play against it
	$(BIN)/idiot train --config $(CONFIG) $(ARGS)
	@echo "(the command idiot lives in $(BIN); '$(BIN)/idiot --help' lists what else it does)"

test: $(TEST_READY) ## set up and pass the tests
	$(BIN)/pytest -n $(WORKERS) --maxprocesses 4 $(ARGS)

test-all: $(TEST_READY) ## all tests, the slow ones too
	$(BIN)/pytest -n $(WORKERS) --maxprocesses 4 -m 'slow or not slow' $(ARGS)

$(RAY_READY): pyproject.toml
	$(PYTHON) -m venv $(RAY_VENV)
	$(RAY_VENV)/bin/pip --disable-pip-version-check install -q '$(TORCH)'
	$(RAY_VENV)/bin/pip --disable-pip-version-check install -q --editable '.[ray]' 'pytest>=8' 'hypothesis>=6.100'
	@touch $@

test-ray: $(RAY_READY) ## training and benchmarks on a Ray cluster, in an environment of its own
	$(RAY_VENV)/bin/pytest -m 'slow or not slow' $(RAY_TESTS) $(ARGS)

bench: $(TEST_READY) ## how fast the environment is here, into bench-results/
	$(BIN)/python -m tests.benchmarks.speed $(ARGS)

# One at a time: a peer that cannot be installed here is shown as such and does not keep the others away.
$(PEERS_READY):
	$(PYTHON) -m venv $(PEERS_VENV)
	$(PEERS_VENV)/bin/pip --disable-pip-version-check install -q '$(TORCH)'
	-for peer in $(PEERS); do $(PEERS_VENV)/bin/pip --disable-pip-version-check install -q "$$peer"; done
	@touch $@

bench-peers: $(TEST_READY) $(PEERS_READY) ## the same with OpenSpiel, PettingZoo, RLCard and pgx beside it
	$(BIN)/python -m tests.benchmarks.speed --peers $(PEERS_VENV)/bin/python $(ARGS)

lint: $(TEST_READY) ## ruff: rules and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(TEST_READY) ## mypy, strict on idiot_env and idiot_agents
	$(BIN)/mypy

structure: $(TEST_READY) ## who may import whom
	$(BIN)/pytest -q tests/test_structure.py $(ARGS)

clean: ## remove the virtual environment, caches and build leftovers
	rm -rf $(VENV) $(PEERS_VENV) $(RAY_VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
