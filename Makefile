# Two commands need nothing but Python 3.11: `make demo` and `make test`. The rest helps while changing the code.

SHELL := /bin/sh
# Without byte code on disk every start compiles the tree, and every test run rewrites its libraries, anew.
unexport PYTHONDONTWRITEBYTECODE
.DEFAULT_GOAL := help
.PHONY: help setup demo run test test-all lint fmt types arch vendor docs lock guards faults soak bench-base bench-core bench-smoke dump

PYTHON_FOUND = $$(PYTHON="$(PYTHON)" tools/find_python.sh)
VENV := .venv/bin
# Three on two cores: many tests wait for real processes.
JOBS ?= 3
PYTEST := $(VENV)/python -m pytest
RUN := $(VENV)/python manage.py up $(if $(PORT),--port $(PORT)) $(if $(DATA),--data $(DATA)) $(if $(WITH),--with $(WITH))

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

.PHONY: setup-web
setup-web:
	@python=$(PYTHON_FOUND) && "$$python" tools/setup.py web

.PHONY: setup-demo
setup-demo:
	@python=$(PYTHON_FOUND) && "$$python" tools/setup.py demo

setup: ## Install all that demo, test and lint need
	@python=$(PYTHON_FOUND) && "$$python" tools/setup.py test

demo: setup-demo ## Run the console with a demo site and twelve simulated arms; print its address and accounts (PORT=, DATA=, WITH=)
	@$(RUN) --demo

run: setup-web ## Run the console without demo data (PORT=, DATA=, WITH=)
	@$(RUN)

test: setup ## Every test but guards and the minutes-long faults, in under ten minutes
	@$(PYTEST) -n $(JOBS) --dist worksteal -m "not faults and not guards" $(ARGS)

test-all: setup ## Every test, guards and faults included
	@$(PYTEST) -n $(JOBS) --dist worksteal -m "not faults and not guards" $(ARGS)
	@$(PYTEST) -n $(JOBS) --dist worksteal -m guards $(ARGS)
	@$(MAKE) faults ARGS="$(ARGS)"

guards: setup ## Each guard switched off once: its attack test must fail there
	@$(PYTEST) -n $(JOBS) --dist worksteal -m guards $(ARGS)

faults: setup ## Kills, floods and slow clients that take minutes: two files at a time, then what has to have the machine for itself
	@$(PYTEST) -n 2 --dist loadfile -m "faults and not alone" tests/faults/test_sockets.py tests $(ARGS); first=$$?; \
	$(PYTEST) -m "faults and alone" $(ARGS) && exit $$first

soak: setup ## Twenty minutes of steady load, watching memory, connections and file handles
	@$(VENV)/python -m tests.bench.soak $(ARGS)

bench-base: setup ## Latency, connections and memory of the base (SMOKE=1 for seconds)
	@$(VENV)/python -m tests.bench.base $(if $(SMOKE),--smoke) $(ARGS)

bench-core: setup ## Gateway, floor, journal, demo and memory of the live floor (SMOKE=1 for seconds, ARGS="--only gateway")
	@$(VENV)/python -m tests.bench.core $(if $(SMOKE),--smoke) $(ARGS)

lint: setup ## Style, types, imports, templates, migrations, production settings, spelling
	@$(VENV)/python tools/lint.py

fmt: setup ## Rewrite Python and what ruff can mend by itself
	@$(VENV)/ruff check --fix --quiet . ; $(VENV)/ruff format --quiet .

types: setup ## mypy alone
	@$(VENV)/mypy

arch: setup ## Import contracts and the architecture tests alone
	@$(VENV)/lint-imports --no-cache
	@$(PYTEST) -q tests/architecture $(ARGS)

vendor: setup ## Fetch the front-end packages again
	@rm -rf static/vendor && $(VENV)/python tools/vendor_assets.py

docs: setup ## Write the generated tables of the documentation again
	@$(VENV)/python tools/write_docs.py

lock: setup ## Resolve requirements/*.in into locks, and package-lock.json
	@$(VENV)/python tools/write_locks.py

dump: setup ## Dump a seeded database of this version into tests/upgrade/
	@$(VENV)/python tools/dump_seed.py
