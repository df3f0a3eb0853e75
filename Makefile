# Targets are one line each; longer logic is in scripts/.
PYTHON ?= python3
BIN := .venv/bin
NPM := $(BIN)/python scripts/node.py

.DEFAULT_GOAL := help
.PHONY: help install run recall runtimes dev tools test test-full test-python test-web check fix types docs bench soak wheel lock clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: ## Set up this checkout (only what is missing)
	@$(PYTHON) scripts/install.py

run: install ## Start Forge (options: ARGS="--port 9000")
	@$(BIN)/forge serve $(ARGS)

recall: ## Install the packages for memory search by meaning (100 MB)
	@$(PYTHON) scripts/install.py --recall

runtimes: install ## Build the runtimes of skills, if their sources changed

dev: ## Set up for development: linters, test tools, a browser
	@$(PYTHON) scripts/install.py --dev

tools:
	@$(PYTHON) scripts/install.py --tools

test: dev test-python test-web ## Run the Python and web tests; only a sample of the longest ones

test-full: dev ## Run all tests, including the longest
	@$(BIN)/python scripts/test.py --full $(ARGS)
	$(NPM) test

test-python: dev
	@$(BIN)/python scripts/test.py $(ARGS)

test-web: dev
	$(NPM) test

check: tools ## Run all static checks: format, lint, types, architecture, dead code
	@$(BIN)/python scripts/check.py

fix: tools ## Format, and apply automatic fixes of the linters
	$(BIN)/ruff format
	$(BIN)/ruff check --fix
	$(NPM) exec -- biome check --write .

types: tools ## Regenerate the web's API types from the server
	@$(BIN)/python scripts/api_types.py

docs: tools ## Regenerate the reference pages from the code
	@$(BIN)/python scripts/reference.py

bench: dev ## Run the benchmarks (ARGS="runs events" for some of them)
	$(BIN)/python -m benchmarks $(ARGS)

soak: dev ## Keep a server busy for half an hour and report growth (ARGS="--minutes 5" for less)
	$(BIN)/python -m benchmarks.soak $(ARGS)

wheel: install ## Build the wheel, including the web app, into dist/
	$(BIN)/uv build --wheel --no-build-isolation --python $(BIN)/python --out-dir dist

lock: tools ## Resolve the locks again (ARGS=--upgrade for newer versions)
	@$(BIN)/python scripts/lock.py $(ARGS)

clean: ## Remove everything that was built or installed here
	rm -rf .venv web/node_modules runtimes/node_modules src/forge/web src/forge/skills/wasm/built dist build \
		.ruff_cache .pytest_cache .hypothesis .schemathesis .import_linter_cache .grimp_cache web/openapi.json
