# Every target sets up what it needs in .venv: a machine with Python 3.11 or newer and make is
# enough, a C++20 compiler makes it fast. `make help` lists the targets.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

VENV := .venv
BIN := $(VENV)/bin
LOG := $(VENV)/setup.log
NATIVE := $(wildcard native/*)
# An editable install knows the packages there were when it was made: a new one installs again.
PACKAGES := $(shell find src -name __init__.py)
# LANEWISE_PURE=1 leaves the compiled kernels out; going from one to the other installs again.
BUILT := $(VENV)/built-$(if $(filter-out 0,$(LANEWISE_PURE)),pure,native).stamp
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input install \
	--root-user-action=ignore -c constraints.txt

# Runs $(2), whose output goes to the log; says $(1) before, and shows the log if it fails.
quietly = echo "setup: $(1)"; $(2) >>$(LOG) 2>&1 || { cat $(LOG) >&2; echo "setup: failed: $(1)" >&2; exit 1; }

.PHONY: help setup demo test lint bench sweep fuzz docs clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-6s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(BUILT) ## create .venv with lanewise (editable) and its tools; quick when done
	@:

demo: setup ## run the beam search example, then the packing example
	@$(BIN)/python -m examples.beam_search
	@$(BIN)/python -m examples.hif4_pack

test: setup ## run the quick test suite (ARGS=... goes to pytest)
	@$(BIN)/python -m pytest -n 2 $(ARGS)

lint: setup ## check style, types and the direction of imports
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

bench: setup ## measure against the budgets (ARGS=... goes to lanewise bench)
	@$(BIN)/lanewise bench $(ARGS)

sweep: setup ## compare every code of the formats (ARGS=... goes to lanewise sweep)
	@$(BIN)/lanewise sweep $(ARGS)

fuzz: setup ## look for disagreements with random words (ARGS=... goes to lanewise fuzz)
	@$(BIN)/lanewise fuzz $(ARGS)

docs: $(VENV)/docs.stamp ## build the site into site/
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "docs: site/index.html"

clean: ## remove .venv and everything that was built
	rm -rf $(VENV) build dist site .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The first Python that is new enough and can make environments; PYTHON=... names another.
$(VENV)/python.stamp:
	@rm -rf $(VENV)
	@for python in $${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do \
		"$$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' \
			>/dev/null 2>&1 || continue; \
		echo "setup: creating $(VENV) with $$("$$python" --version)"; \
		"$$python" -m venv $(VENV); touch $@; exit 0; \
	done; \
	echo "setup: no Python 3.11 or newer with its venv module was found (Debian, Ubuntu: install python3 and python3-venv; or say PYTHON=/path/to/python3)" >&2; \
	exit 1

# The build requirements go into the same environment, so that the constraints hold for them too
# and a rebuild needs nothing from outside.
$(VENV)/tools.stamp: $(VENV)/python.stamp pyproject.toml constraints.txt
	@: >$(LOG)
	@$(call quietly,installing the tools,$(PIP) cmake nanobind ninja scikit-build-core)
	@touch $@

$(BUILT): $(VENV)/tools.stamp CMakeLists.txt $(NATIVE) $(PACKAGES)
	@: >$(LOG)
	@$(call quietly,building and installing lanewise,$(PIP) -v --no-build-isolation -e '.[dev$(,)oracle]')
	@$(BIN)/python -c 'from lanewise.kernels import native_problem; problem = native_problem(); \
		print("setup: done,", "with compiled kernels" if problem is None else \
		f"WITHOUT compiled kernels ({problem}; $(LOG) tells more): same results, slower. " \
		"With a C++20 compiler: make clean setup")'
	@rm -f $(VENV)/built-*.stamp
	@touch $@

$(VENV)/docs.stamp: $(BUILT)
	@: >$(LOG)
	@$(call quietly,installing the documentation tools,$(PIP) 'mkdocs-material' 'mkdocstrings[python]')
	@touch $@

, := ,
