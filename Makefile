# Every target is one thought; what takes more than a line to say is in scripts/.
PYTHON ?= python3
BIN := .venv/bin
NPM := $(BIN)/python scripts/node.py

.DEFAULT_GOAL := help
.PHONY: help install run recall runtimes dev tools test test-full test-python test-web check fix types docs bench soak wheel lock clean

help: ## List what there is to make
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: ## Set up this checkout (does only what is not done yet)
	@$(PYTHON) scripts/install.py

run: install ## Start Forge (ARGS="--port 9000" to say more)
	@$(BIN)/forge serve $(ARGS)

recall: ## Add what bots need to find memories by meaning (a download of 100 MB)
	@$(PYTHON) scripts/install.py --recall

runtimes: install ## Build the runtimes of skills, if what they are made from has changed

dev: ## Set up for development: checkers, test tools, a browser
	@$(PYTHON) scripts/install.py --dev

tools:
	@$(PYTHON) scripts/install.py --tools

test: dev test-python test-web ## Run the tests, Python and web, with a sample of the longest ones

test-full: dev ## Run all tests, the longest ones included
	@$(BIN)/python scripts/test.py --full $(ARGS)
	$(NPM) test

test-python: dev
	@$(BIN)/python scripts/test.py $(ARGS)

test-web: dev
	$(NPM) test

check: tools ## Run all checkers at once: format, lint, types, architecture, dead code
	@$(BIN)/python scripts/check.py

fix: tools ## Format, and repair what the linters can
	$(BIN)/ruff format
	$(BIN)/ruff check --fix
	$(NPM) exec -- biome check --write .

types: tools ## Regenerate the web's API types from the server
	@$(BIN)/python scripts/api_types.py

docs: tools ## Rewrite the reference pages from the code
	@$(BIN)/python scripts/reference.py

bench: dev ## Measure (ARGS="..." to choose)
	$(BIN)/python -m benchmarks $(ARGS)

soak: dev ## Keep a server busy for half an hour and say what grew (ARGS="--minutes 5" for less)
	$(BIN)/python -m benchmarks.soak $(ARGS)

wheel: install ## Build the wheel, web app included, into dist/
	$(BIN)/uv build --wheel --no-build-isolation --python $(BIN)/python --out-dir dist

lock: tools ## Resolve the locks again (ARGS=--upgrade for newer versions)
	@$(BIN)/python scripts/lock.py $(ARGS)

clean: ## Remove everything that was made here
	rm -rf .venv web/node_modules runtimes/node_modules src/forge/web src/forge/skills/wasm/built dist build \
		.ruff_cache .pytest_cache .hypothesis .schemathesis .import_linter_cache .grimp_cache web/openapi.json
