# Everything runs in a virtual environment of its own; only Python 3.11+, pip and make are needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# A constraints file pins what tests and training were tried with.
INSTALL := $(PIP) --constraint constraints.txt
# Where all of the development environment is pinned by hashes.
IS_PINNED = $(BIN)/python -c 'import sys; sys.exit((sys.platform, *sys.version_info[:2]) != ("linux", 3, 11))'

.DEFAULT_GOAL := help
.PHONY: help solve test client check fuzz controller bench reproduce docs dist format clean

help:  ## Show what there is to make.
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

# torch comes after what it needs, so that nothing else is fetched for it but by its own build.
$(VENV)/.made: pyproject.toml constraints.txt requirements-dev.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing neuralns into $(VENV) ..."
	@if $(IS_PINNED); then \
	  $(PIP) --require-hashes --no-deps --requirement requirements-dev.txt && $(INSTALL) torch && $(PIP) --no-deps --editable .; \
	else $(INSTALL) --editable '.[dev]'; fi
	@touch $@

# Solving needs no torch.
$(VENV)/.made-solve: pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing neuralns into $(VENV) ..."
	@$(INSTALL) --editable '.[plot]'
	@touch $@

$(VENV)/.made-bench: $(VENV)/.made
	@$(INSTALL) --editable '.[dev,bench]'
	@touch $@

$(VENV)/.made-docs: $(VENV)/.made
	@$(INSTALL) --editable '.[dev,docs]'
	@touch $@

solve: $(VENV)/.made-solve  ## Solve a bundled instance for 10 s; routes and a picture go to out/.
	@mkdir -p out
	@$(BIN)/neuralns solve X-n110-k13 --time 10 --output out/X-n110-k13.sol --plot out/X-n110-k13.png

test: $(VENV)/.made  ## Run the tests.
	@$(BIN)/python -m pytest --numprocesses 2 --dist worksteal

# The tool that makes clients wants an older typer, and so an environment of its own.
CLIENT := out/client/bin
client: $(VENV)/.made  ## Make a client of the service from its description, and try it.
	@test -x $(CLIENT)/openapi-python-client || ($(PYTHON) -m venv out/client && $(CLIENT)/python -m pip install --quiet \
	  --disable-pip-version-check 'openapi-python-client>=0.29')
	@PATH="$(CURDIR)/$(CLIENT):$$PATH" $(BIN)/python -m pytest tests/studio/test_client.py

check: $(VENV)/.made  ## Check style and types.
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

SECONDS ?= 180
fuzz: $(VENV)/.made  ## Try random problems, damaged files, killed processes and full disks (SECONDS=3600 for more).
	@PYTHONPATH=tests $(BIN)/python -m fuzz.run --seconds $(SECONDS) $(FUZZ)

# Eleven hours of searches on two cores take half of that; a run that was stopped goes on.
MINUTES ?= 420
LARGE_MINUTES ?= 220
POLICIES := src/neuralns/selection/policies
FIRST_DONE = $(wildcard out/controller.done)
controller: $(VENV)/.made  ## Train the bundled controllers anew, or go on (hours; MINUTES=60 LARGE_MINUTES=60 for less).
	@mkdir -p out
	@$(if $(FIRST_DONE),,$(BIN)/neuralns train --controller --generate vrptw,pdptw,hfvrp,mdvrptw,vrptw,pcvrptw,pdptw --minutes $(MINUTES) --workers 2 \
	  --output out/controller.policy $(if $(wildcard out/controller.runs),--resume,--force))
	@$(if $(FIRST_DONE),,cp out/controller.policy $(POLICIES)/controller.policy)
	@$(if $(FIRST_DONE),,mv out/controller.runs out/controller.done)
	@$(BIN)/neuralns train --controller --generate vrptw,pdptw,hfvrp,mdvrptw,pcvrptw --sizes 400,1000 --time 10 --from controller --seed 8 \
	  --minutes $(LARGE_MINUTES) --workers 2 --output out/controller-large.policy $(if $(wildcard out/controller-large.runs),--resume,--force)
	@cp out/controller-large.policy $(POLICIES)/controller-large.policy
	@rm out/controller.done out/controller-large.runs

bench: $(VENV)/.made-bench  ## Measure speed, next to the package alns, Gymnasium and torch in the same run.
	@$(BIN)/python benchmarks/speed.py
	@$(BIN)/python benchmarks/networks.py

reproduce: $(VENV)/.made  ## Do the paper's experiments again, or go on with them; results and a report go to results/.
	@$(BIN)/neuralns reproduce all

docs: $(VENV)/.made-docs  ## Build the site in site/; notebooks run, a broken link fails.
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	@echo "the site is in site/"

dist: $(VENV)/.made  ## Build wheel and sdist, and try the wheel in an empty environment.
	@rm -rf dist
	@$(BIN)/python -m build --outdir dist . > /dev/null
	@$(PYTHON) -m venv --clear dist/empty
	@dist/empty/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	@cd dist/empty && bin/neuralns solve E-n22-k4 --iterations 20000 --output routes.sol --quiet
	@cd dist/empty && bin/neuralns check E-n22-k4 routes.sol
	@rm -rf dist/empty
	@ls dist

format: $(VENV)/.made  ## Format the sources.
	@$(BIN)/ruff check --fix --quiet .
	@$(BIN)/ruff format .

clean:  ## Remove the environment, caches and outputs.
	rm -rf $(VENV) out site .pytest_cache .mypy_cache .ruff_cache .hypothesis dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
