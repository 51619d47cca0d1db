# Aisle. `make help` lists the verbs; everything works from a fresh clone with Python 3.11+ and make.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest
# The suites wait more than they compute. One server that several workers share would be killed under the others' tests.
TEST_WORKERS ?= 4
SUITE_WORKERS ?= $(if $(COUCH_URL),0,2)
BY_FILE := --dist loadfile --no-loadscope-reorder
POUCHDB := services/storefront/static/installed/pouchdb.min.js
STAMP := $(VENV)/installed-$(shell cksum requirements.lock | cut -d' ' -f1)
UV_COMPILE := $(BIN)/uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-annotate --no-header --quiet

# Each process of pytest rewrites the assertions of all tests before its first one, 14 s of 21, unless it finds them rewritten.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: $(shell awk -F: '/^[a-z][a-z-]*:.*\#\# / { print $$1 }' $(firstword $(MAKEFILE_LIST)))

help: ## list the verbs
	@awk -F':.*## ' '/^[a-z][a-z-]*:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(STAMP) ## make .venv and install what requirements.lock names (and PouchDB for the pages, where npm is)
	@! command -v npm > /dev/null || $(MAKE) --no-print-directory $(POUCHDB) || \
		echo "PouchDB could not be installed: the shop runs, and keeps no data of customers on their devices."

$(STAMP): requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Aisle needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) -V 2>&1). Try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
		{ echo "$(PYTHON) has no venv module. On Debian and Ubuntu: apt install python3-venv"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing $$(grep -c == requirements.lock) packages into $(VENV), once; this takes a minute or two ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m compileall -q services shared deploy
	@rm -f $(VENV)/installed-* && touch $@

run: setup ## run the whole shop on this machine (PORT=9000 moves every port)
	@exec $(BIN)/python -m deploy.local up

seed: setup ## load the sample shop into the shop that runs (PORT says which)
	@$(BIN)/python -m deploy.local seed
	@$(BIN)/python -m deploy.local pictures

test: setup ## every quick suite, against real processes; TEST_WORKERS=1 runs one test at a time
	@$(PYTEST) -n $(TEST_WORKERS) $(BY_FILE)

test-conformance: setup ## minicouch against the recorded behaviour of CouchDB (COUCH_URL: a real one instead)
	@$(PYTEST) -m conformance -n $(SUITE_WORKERS) $(BY_FILE)

test-faults: setup ## processes killed, databases away, Redis emptied
	@$(PYTEST) -m faults -n $(SUITE_WORKERS) $(BY_FILE)

test-load: setup ## large imports and long histories
	@$(PYTEST) -m load -n $(SUITE_WORKERS) $(BY_FILE)

test-sync: setup $(VENV)/sync/installed ## PouchDB in Node against /v1/users/me/sync (needs node and npm)
	@$(PYTEST) -m sync

$(POUCHDB): $(VENV)/sync/installed
	@mkdir -p $(@D) && cp $(VENV)/sync/node_modules/pouchdb/LICENSE $(VENV)/sync/node_modules/pouchdb/dist/pouchdb.min.js $(@D) && touch $@

$(VENV)/sync/installed: services/storefront/browser/package-lock.json
	@mkdir -p $(VENV)/sync && cp services/storefront/browser/package.json services/storefront/browser/package-lock.json $(VENV)/sync
	@cd $(VENV)/sync && npm ci --ignore-scripts --no-audit --no-fund --silent && touch installed

test-browser: setup $(POUCHDB) ## the pages in a real browser
	@$(PYTEST) -m browser -n $(SUITE_WORKERS) $(BY_FILE)

test-deployment: setup ## the commands and environment of compose and Kubernetes as plain processes
	@$(PYTEST) -m deployment -n $(SUITE_WORKERS) $(BY_FILE)

LARGE ?= 1000000
bench: setup ## the shop's requests over 10,000 and LARGE documents, beside bare Flask; memory, cold start, flame graph
	@$(BIN)/python -m tests.bench.shop --large $(LARGE)

lighthouse: setup ## Lighthouse over four pages of the shop that runs here (needs npx and Chrome)
	@$(BIN)/python -m tests.bench.lighthouse

bench-search: setup ## how well search answers 654 judged queries over the real sample (AISLE_DATA), in each dialect
	@$(BIN)/python -m tests.bench.search

bench-minicouch: setup ## minicouch beside the CouchDB that COUCH_URL names: requests a second and their ratio
	@$(BIN)/python -m tests.bench.minicouch

check: setup lint ## lint, formatting, import rules, types, lock files, a wheel for every locked package
	@$(BIN)/mypy
	@$(BIN)/python -m deploy.checks.locks
	@$(BIN)/python -m deploy.checks.wheels

lint: setup ## lint, formatting and import rules alone
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/lint-imports

check-deploy: setup ## image, compose, Kubernetes, gateway, alerts: validated with their own tools and schemas
	@$(BIN)/python -m deploy.checks

pin-images: setup ## the digest beside the tag of every image that is not ours (needs the registries; MIRROR: one instead of Docker Hub)
	@$(BIN)/python -m deploy.pin_images $(if $(MIRROR),--mirror $(MIRROR))

wheels: setup ## build the client library and minicouch as wheels and try them in empty environments
	@$(BIN)/python -m deploy.checks.packages

env: setup ## write .env for docker compose, with fresh secrets
	@$(BIN)/python -m deploy.env compose

backup: setup ## copy all databases into backups/ (of COUCH_URL, else of the shop that runs here)
	@COUCH_URL=$${COUCH_URL:-$$($(BIN)/python -m deploy.local couch-url)} $(BIN)/python -m deploy.backup save backups

restore: setup ## put a copy back onto an empty server: make restore FROM=backups/MOMENT
	@test -n "$(FROM)" || { echo "Which backup? make restore FROM=backups/MOMENT"; exit 1; }
	@COUCH_URL=$${COUCH_URL:-$$($(BIN)/python -m deploy.local couch-url)} $(BIN)/python -m deploy.backup restore "$(FROM)"

lock: setup ## write both lock files again from pyproject.toml
	@$(UV_COMPILE) --extra local --extra dev -o requirements.lock
	@$(UV_COMPILE) -c requirements.lock -o deploy/requirements.lock

format: setup ## put the code into its format, and the tables that follow from code into docs
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix --quiet .
	@$(BIN)/python -m tests.readme

messages: setup ## collect the pages' texts into the catalogues of all languages (services/storefront/translations)
	@$(BIN)/python -m tests.messages

clean: ## forget everything a run left behind (.local, .local-PORT), and caches
	rm -rf .local .local-* .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +
