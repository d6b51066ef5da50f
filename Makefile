# Everything runs in a virtual environment of its own; only Python 3.11+, pip and make are needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# A constraints file keeps heavy optional packages at builds that a small machine can hold.
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.DEFAULT_GOAL := help
.PHONY: help solve test check bench format clean

help:  ## Show what there is to make.
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

$(VENV)/.made: pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing neuralns into $(VENV) ..."
	@$(INSTALL) --editable '.[dev]'
	@touch $@

$(VENV)/.made-bench: $(VENV)/.made
	@$(INSTALL) --editable '.[dev,bench]'
	@touch $@

solve: $(VENV)/.made  ## Solve a bundled instance for 10 s; routes and a picture go to out/.
	@mkdir -p out
	@$(BIN)/neuralns solve X-n110-k13 --time 10 --output out/X-n110-k13.sol --plot out/X-n110-k13.png

test: $(VENV)/.made  ## Run the tests.
	@$(BIN)/python -m pytest --numprocesses 2

check: $(VENV)/.made  ## Check style and types.
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

bench: $(VENV)/.made-bench  ## Measure speed, next to the package alns, Gymnasium and torch in the same run.
	@$(BIN)/python benchmarks/speed.py
	@$(BIN)/python benchmarks/networks.py

format: $(VENV)/.made  ## Format the sources.
	@$(BIN)/ruff check --fix --quiet .
	@$(BIN)/ruff format .

clean:  ## Remove the environment, caches and outputs.
	rm -rf $(VENV) out .pytest_cache .mypy_cache .ruff_cache .hypothesis dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
