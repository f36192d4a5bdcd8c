# Every target sets up what it needs: nothing has to be run first.
# Stamp files remember what is installed, so a second run starts at once.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
RUN    := $(VENV)/.run-stamp
DEV    := $(VENV)/.dev-stamp
ARGS   ?=
JOBS   ?= 3
TYPERS ?= 2

CONFORMANCE := $(VENV)/mcp-conformance
REFERENCE   := $(VENV)/mcp-reference

# The tests start hundreds of processes, and each would compile all that it imports.
unexport PYTHONDONTWRITEBYTECODE

# Every version is pinned with its hash, so pip has nothing to resolve. Compiling what is never imported
# would take a third of the time.
PIP_INSTALL := $(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps --no-compile
COMPILE     := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 \
               --generate-hashes --no-header --no-emit-index-url --no-emit-find-links

.DEFAULT_GOAL := help
.PHONY: help demo chat serve serve-scale chaos test check lint format bench bench-learning bench-service soak-forget soak-snapshot docs setup model servers pins clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: model ## Tell the story: it learns, recalls, changes its mind
	@$(BIN)/commonplace demo $(ARGS)

chat: model ## Chat in the terminal with something that remembers
	@$(BIN)/commonplace chat $(ARGS)

serve: model ## Start the HTTP service on this machine
	@$(BIN)/commonplace serve $(ARGS)

serve-scale: $(DEV) model ## Start PostgreSQL, Redis, a Chroma server, 2 API and 2 learning processes on this machine
	@$(BIN)/python -W "ignore:XDG_RUNTIME_DIR" -m tests.scale

chaos: $(DEV) model ## Kill parts of all that at random under load, and look that nothing is lost (three minutes)
	@$(BIN)/python -W "ignore:XDG_RUNTIME_DIR" -m tests.scale.chaos $(ARGS)

test: $(DEV) model servers ## Run all tests (ARGS="-k recall" for some of them)
	@$(BIN)/python -m pytest --numprocesses $(JOBS) --dist loadfile --no-loadscope-reorder $(ARGS)

check: lint test ## Everything that CI runs: lint, then test

lint: $(DEV) ## Check format, lint rules, types and the direction of imports
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy --num-workers $(TYPERS) src tests bench examples
	$(BIN)/lint-imports

format: $(DEV) ## Rewrite the code in the house format
	@$(BIN)/ruff check --quiet --fix-only .
	@$(BIN)/ruff format .

bench: $(DEV) model ## Measure against raw Chroma and the numpy floor
	@$(BIN)/python -m bench $(ARGS)

bench-learning: $(DEV) model ## Measure learning by rules: precision, recall, and what it adds to the time of add
	@$(BIN)/python -m bench.learning --add $(ARGS)

soak-forget: $(DEV) ## Forget a user with 10,000 messages and Chroma in use, and look for 1,000 words in every file
	@HYPOTHESIS_PROFILE=soak $(BIN)/python -m pytest tests/care/test_no_byte_is_left.py -k ten_thousand --durations=1 -o faulthandler_timeout=0 $(ARGS)

soak-snapshot: $(DEV) ## Snapshot 100,000 memories to S3 while others write, restore them elsewhere, compare the answers
	@HYPOTHESIS_PROFILE=soak $(BIN)/python -m pytest tests/care/test_snapshots_on_s3.py -k same_answers --durations=1 -o faulthandler_timeout=0 $(ARGS)

bench-service: $(DEV) ## Measure the service under load: 50 clients, 100,000 memories, a minute
	@$(BIN)/python -m bench.service $(ARGS)

docs: $(DEV) model ## Run every code block of README and docs, check their links
	@$(BIN)/python -m pytest tests/test_docs.py $(ARGS)

setup: $(DEV) ## Create .venv with all that development needs

model: $(RUN) # a no-op when the model is in the cache already
	@$(BIN)/commonplace model fetch

servers: $(DEV) # what tests against real servers and a browser need, beyond what is installed with pip
	@test -e $(CONFORMANCE)/node_modules || $(BIN)/npm install --silent --no-save --prefix $(CONFORMANCE) \
	    @modelcontextprotocol/conformance@0.1.16 || echo "The MCP conformance suite could not be had: its test is skipped."
	@test -e $(REFERENCE)/node_modules || $(BIN)/npm install --silent --no-save --prefix $(REFERENCE) \
	    @modelcontextprotocol/server-memory@2026.8.31 || echo "The MCP reference memory server could not be had: its test is skipped."
	@missing=$$(for tool in chromium strace; do command -v $$tool >/dev/null || echo $$tool; done); \
	test -z "$$missing" || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && \
	    { apt-get install -qq -y --no-install-recommends $$missing || \
	      { apt-get update -qq && apt-get install -qq -y --no-install-recommends $$missing; }; } >/dev/null; } || \
	    echo "Not here, and could not be installed:" $$missing "- their tests are skipped."

pins: $(BIN)/pip ## Write the requirements again from pyproject.toml (ARGS=--upgrade to move on)
	@$(BIN)/python -m pip install -qq --disable-pip-version-check uv
	$(COMPILE) $(ARGS) pyproject.toml --group build --extra models --extra server --output-file requirements/run.txt
	$(COMPILE) $(ARGS) pyproject.toml --group build --group dev --all-extras \
	    --constraint requirements/run.txt --output-file requirements/dev.txt
	$(COMPILE) pyproject.toml --group build --extra models --extra server --extra postgres --extra redis --extra s3 \
	    --constraint requirements/dev.txt --output-file requirements/service.txt

clean: ## Remove the environment and the caches; memories and the model stay
	rm -rf $(VENV) build dist src/*.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find src tests bench -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	    echo "Commonplace needs Python 3.11 or newer, which $(PYTHON) is not. Name another one: make PYTHON=python3.12 …" >&2; \
	    exit 1; }
	@echo "Creating $(VENV) …"
	@$(PYTHON) -m venv $(VENV)

$(RUN): requirements/run.txt pyproject.toml | $(BIN)/pip
	@echo "Installing what Commonplace needs (a minute or two the first time) …"
	@$(PIP_INSTALL) --require-hashes --requirement requirements/run.txt
	@$(PIP_INSTALL) --no-build-isolation --editable .
	@touch $@

$(DEV): requirements/dev.txt $(RUN)
	@echo "Installing the tools for tests and checks …"
	@$(PIP_INSTALL) --require-hashes --requirement requirements/dev.txt
	@touch $@
