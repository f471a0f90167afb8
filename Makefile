# Everything a newcomer needs: `make run` shows the benchmarks on recorded replies, `make test` runs tests and linters.
# Both make .venv first. PYTHON chooses the interpreter (3.11 or newer).
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet install -c constraints.txt

.PHONY: run test conformance live soak fuzz lint neo4j clean

# The tests start hundreds of processes: without its cache, each would compile the package again.
unexport PYTHONDONTWRITEBYTECODE

run: .venv/run.stamp neo4j
	$(BIN)/python -m pytest benchmarks/ -n auto -q --no-header --tb=no -r "" --llmeval-gate benchmarks/gates.yaml

test: lint neo4j
	$(BIN)/python -m pytest tests/ -n auto --dist worksteal

# EED against all pairs of the reference material, of which `make test` takes a part. Three minutes on two processors.
conformance: .venv/test.stamp
	LLMEVAL_ALL_PAIRS=1 $(BIN)/python -m pytest tests/scoring/eed/test_eed_conformance.py -n 0

# All three benchmarks on a real model behind a real server: llama.cpp's, with 270 million weights.
# Poor scores are fine; the exit code says whether the machinery worked (performance/live_model.py).
live: .venv/run.stamp neo4j
	@if $(MAKE) --no-print-directory .venv/live.stamp; then exec $(BIN)/python performance/live_model.py; \
	else echo "skipped: llama.cpp's server and its model (dependency group live) cannot be installed here"; fi

# An hour of faults over 20,000 samples: nothing lost, nothing paid twice (docs/soak.md). Linux.
MINUTES ?= 60
SAMPLES ?= 20000
SEED ?= 1
soak: .venv/run.stamp neo4j
	$(BIN)/python performance/soak.py --minutes $(MINUTES) --samples $(SAMPLES) --seed $(SEED)

# Searches for inputs that break a promise of a reader of hostile texts; all of them, or TARGET.
TARGET ?=
SECONDS ?= 10
fuzz: .venv/test.stamp
	$(BIN)/python tests/fuzz/fuzzing.py $(TARGET) --seconds $(SECONDS)

# The Neo4j of the Cypher tasks. Where it cannot be fetched, another database answers, and a line says so.
neo4j: .venv/run.stamp
	@$(BIN)/llmeval graph install || true

lint: .venv/test.stamp
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports
	$(BIN)/mypy

.venv/run.stamp: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed; name one: make PYTHON=python3.12"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(PIP) -e '.[graph,vision]'
	@touch $@

.venv/test.stamp: .venv/run.stamp
	$(PIP) --upgrade 'pip>=25.1' # the first that knows dependency groups
	$(PIP) -e '.[all,scale]' --group dev
	$(PIP) --only-binary atheris --group fuzz || echo "no fuzzing here: atheris has no wheel for this platform"
	@touch $@

.venv/live.stamp: .venv/run.stamp
	$(PIP) --upgrade 'pip>=25.1' # as above
	$(PIP) --group live
	@touch $@

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis
