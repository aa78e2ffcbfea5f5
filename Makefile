# Two commands: `make run` does the main job, `make test` passes the tests. Each makes its own environment in .venv.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
# `make test` plays pydantic_ai, `make prove` proves it and these two, and `make test-adapters` all.
MORE_ADAPTERS := openai_agents strands
CONFORMANCE := .venv/conformance/.ready
QUICK := tests/test_layering.py tests/test_style.py tests/test_yaml_width.py tests/harness/test_docs.py

.PHONY: run test test-adapters prove bench check format conformance docs hearing lock clean

run: $(READY)
	$(BIN)/client_harness run

test: $(READY) .venv/adapters/pydantic_ai/.ready
	$(BIN)/pytest -n 2 --dist worksteal

# Every adapter in its own environment, each of which is built at first use; some need npm.
test-adapters: $(READY)
	$(BIN)/pytest -n 2 --dist loadfile -m "adapter or not adapter" tests/harness/test_adapter_*.py

# Every scenario with its mutants and detours, every fault kind on every tool, and the long tests. Scenarios that were proven before and
# have not changed are not proven again.
prove: $(READY) $(MORE_ADAPTERS:%=.venv/adapters/%/.ready)
	$(BIN)/client_harness check
	$(BIN)/client_harness list faults --matrix
	$(BIN)/pytest -m long -n 2 --dist worksteal

# Everything that is quick: lint, format, types, layout, style, generated pages. All of it runs before it fails.
check: $(READY)
	@failed=0; \
	$(BIN)/ruff check . || failed=1; \
	$(BIN)/ruff format --check . || { failed=1; echo "make format mends this"; }; \
	$(BIN)/ty check || failed=1; \
	$(BIN)/pytest -q $(QUICK) || failed=1; \
	exit $$failed

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY)
	$(BIN)/python -m benchmarks

# The public MCP conformance suite against every service; needs npm, which brings the suite and its own Node.
conformance: $(READY) $(CONFORMANCE)
	$(BIN)/python -m tests.conformance .venv/conformance

# What users hear in agents' texts, learned anew from the open labelled questions: a minute or two.
hearing: $(READY)
	$(BIN)/python -m client_harness.judging.lessons

docs: $(READY)
	$(BIN)/python -m client_harness.docs --write

$(READY): requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("Haywire needs Python 3.11 or later: make PYTHON=python3.12 …" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

.venv/adapters/%/.ready: client_harness/adapters/%/requirements.lock $(READY)
	$(BIN)/python -m client_harness.adapters.install $*
	touch $@

$(CONFORMANCE): tests/conformance/package.json tests/conformance/package-lock.json
	mkdir -p $(@D)
	cp tests/conformance/package.json tests/conformance/package-lock.json $(@D)
	cd $(@D) && npm ci --no-audit --no-fund --loglevel=error
	touch $@

# Needs uv; the lock names no index, so any mirror serves it.
lock:
	uv pip compile pyproject.toml --group dev --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header -o requirements.lock

clean:
	rm -rf .venv .pytest_cache .ruff_cache .hypothesis
