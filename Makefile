# Needs Python 3.11 or newer with venv, make, and a package index. A C compiler is used if there is one.
#
#   make demo    a look in about half a minute: sets up .venv, stores a build's log, finds the error in its middle
#   make demo-server   the same store on a PostgreSQL server, from many processes; under 30 seconds once .venv has the test tools
#   make test    sets up the test tools, runs the quick tests with few examples of each property; no server, hardly a program
#   make check   lint, types, docs, then all tests with few examples and few kills, a short fixed part of each campaign; what CI runs
#   make torture all tests, with many new examples and kills, then a part of each campaign: SEED=N as before
#   make agents  real agents from the npm registry, against models on loopback: 400 MB and some minutes; skips what is missing
#   make adapters  the adapters of agent frameworks against the packages from the index, each alone and then all together: ADAPTERS="langchain strands"
#   make datasette the plugin for Datasette against 0.65 and the newest alpha of 1.0, and DuckDB, each in an environment of its own
#   make campaign  failing system calls, kills, damage: NAME=NAME SEED=N ROUNDS=N, FIRST=N to go on where one has ended, STORY=write
#   make fuzz    the campaign against the native scanner: SEED=N EXECUTIONS=N, and FIRST=N likewise
#   make fuzz-parts  formats, cleaning, cutters, cursors, messages, arguments: NAME="cleaning urls" SECONDS=N SEED=N CORPUS=FOLDER
#   make mutants are the tests good enough: places of the store are made wrong one by one, ROUNDS=N SEED=N FIRST=N ONLY="format read"
#   make fairness  many write and read one session at once: the share of each; NAME="processes readers" SECONDS=N SERVER=1
#   make soak    a million calls, 20,000 sessions, 50 GiB, a server for a day: PART=stream SCALE=0.1 SECONDS=N SEED=N FOLDER=FOLDER
#   make audit   advisories about what is installed with us; needs the advisory service
#
# Stamps in $(VENV) make a second call quick. Another interpreter: make PYTHON=python3.13 check

PYTHON ?= python3
VENV ?= .venv
# Processes that run tests: two more than processors, since some tests wait.
JOBS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 2)
# How many times the usual number of examples `make test` and `make check` try a property with.
QUICK ?= 0.2
# Of torture: how many times the usual number of examples, how many kills, and what both are drawn with.
FACTOR ?= 5
ROUNDS ?= 50
# Of campaigns: how many texts the scanner's compares, for how many seconds each of the others is played, and with which
# round they begin.
EXECUTIONS ?= 1000000
SECONDS_EACH ?= 600
FIRST ?= 0
SEED ?= $(or $(SPILLSTORE_TEST_SEED),$(shell od -An -N3 -tu4 /dev/urandom | tr -d ' '))

# Of the wheels: the platforms of hatch_build.py, unless some are named.
TARGETS ?= $(shell $(BIN)/python -c 'import hatch_build; print(*hatch_build.TARGETS)')

# The quick tests of what calls native functions: they run without them, too. What cuts code and JSON calls none.
CALLERS := tests/store/redaction tests/store/search tests/store/format tests/store/test_text_scan.py tests/tools/preview \
  --ignore=tests/tools/preview/test_units.py --ignore=tests/tools/preview/test_json_cuts.py

# Of the adapters: the extras that are tried each in an environment of its own, and those that are tried in one.
ADAPTERS ?= agent-framework claude-agent-sdk deepagents google-adk haystack langchain mini-swe-agent openai-agents pydantic-ai strands
ADAPTERS_TOGETHER ?= agent-framework,claude-agent-sdk,deepagents,google-adk,haystack,langchain,mini-swe-agent,openai-agents,pydantic-ai,strands

BIN := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest -n $(JOBS) --dist worksteal
BUILT := hatch_build.py $(wildcard store/spillstore/_native/*.[ch])
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check install

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo demo-server test check beside without-native tests agents adapters datasette torture campaign fuzz fuzz-parts mutants fairness soak audit lint types docs cast screenshots bench bench-quick bench-growth bench-peers bench-corpus wheels sdist release-check clean
# Tests start hundreds of processes: each would compile all that it imports.
unexport PYTHONDONTWRITEBYTECODE

help:
	@sed -n 's/^#   //p' Makefile
	@echo "make docs    the manual, in docs/_build/html"
	@echo "make cast    the recording that the README shows, docs/cast.svg"
	@echo "make screenshots  the pictures of the viewer in a browser, docs/viewing-in-the-browser; needs Chromium"
	@echo "make bench   all benchmarks, then docs/performance.md and the figures of the README; 40 minutes on an idle machine"
	@echo "make bench-quick   what the README shows, with small sizes, in three minutes; its page is in benchmarks/.data/quick"
	@echo "make bench-growth  growth alone: 100,000 artifacts, 20,000 sessions, 10 GiB; ten minutes, 5 GB of disk"
	@echo "make bench-peers   the stores of agents that the benchmarks compare with, in benchmarks/.data"
	@echo "make bench-corpus  the tools and outputs that previews are measured with, in benchmarks/.data; twenty minutes"
	@echo "make wheels  a wheel for each platform, in dist: built here, by a compiler from the package index"
	@echo "make sdist   the source distribution, in dist"
	@echo "make release-check  all of a release but its upload: build, metadata, contents, first use, bill of materials, manifests"
	@echo "make clean   removes .venv and everything that was built"

demo: $(VENV)/.installed
	@$(BIN)/python -m spillstore_tools.cli.demo

# With the server of the tests, which ends with it.
demo-server: $(VENV)/.installed-test
	@$(BIN)/python examples/server/demo.py $(URL)

test: $(VENV)/.installed-test
	SPILLSTORE_TEST_FACTOR=$(QUICK) $(PYTEST) -m "not slow and not fault and not long"

# All tests, each once, with the same examples every time, and few kills; what is slow is tried in a folder. One run: each
# collects ten thousand tests in each of its processes.
tests: $(VENV)/.installed-test
	SPILLSTORE_TEST_FACTOR=$(QUICK) SPILLSTORE_TEST_ROUNDS=3 $(PYTEST) -m "not repeat"

# What runs where no compiler was, once more: that the answers are the same takes no other process and fewer examples.
without-native: $(VENV)/.installed-test
	SPILLSTORE_NATIVE=0 SPILLSTORE_TEST_FACTOR=0.1 $(PYTEST) -q -m "not slow and not fault and not long" $(CALLERS)

# Side by side, since each is one process; what one says is shown when it has ended, in this order.
beside: $(VENV)/.installed-dev
	@trap 'kill $$types $$docs' INT TERM; \
	$(MAKE) --no-print-directory types > $(VENV)/types.txt 2>&1 & types=$$!; \
	$(MAKE) --no-print-directory docs > $(VENV)/docs.txt 2>&1 & docs=$$!; \
	$(MAKE) --no-print-directory lint; failed=$$?; \
	wait $$types || failed=1; cat $(VENV)/types.txt; \
	wait $$docs || failed=1; cat $(VENV)/docs.txt; \
	exit $$failed

# The tests come last, so that their summary is the last thing to read.
check: beside without-native tests

# NOTE=1 keeps what the models saw in benchmarks/seen.json.
agents: $(VENV)/.installed-test
	SPILLSTORE_TEST_NOTE=$(NOTE) $(BIN)/python -m pytest -m agents tests/agents

# An environment each, since frameworks do not agree about what they need; each lies in $(VENV)/adapters.
adapters: $(addprefix adapters-,$(ADAPTERS)) adapters-together

adapters-%: $(VENV)/adapters/%/.installed
	$(VENV)/adapters/$*/bin/python -m pytest -q -p no:asyncio -m adapters tests/adapters
	@[ $* != strands ] || $(VENV)/adapters/$*/bin/python tests/adapters/strands_suite.py --keep $(VENV)/adapters/$*

.SECONDARY:
$(VENV)/adapters/%/.installed: pyproject.toml $(BUILT)
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip --quiet --disable-pip-version-check install --editable '.[$(if $(filter together,$*),$(ADAPTERS_TOGETHER),$*)]' \
	  hypothesis pytest pytest-xdist $(if $(filter strands,$*),moto pytest-asyncio) $(if $(filter pydantic-ai,$*),pydantic-ai-harness)
	@touch $@

# What others read sessions with.
DATASETTES := datasette-0.65 datasette-1.0 duckdb
datasette-0.65_NEEDS := 'datasette>=0.65.5,<1' --editable plugins/datasette-spillstore
datasette-1.0_NEEDS := --pre 'datasette>=1.0a41' --editable plugins/datasette-spillstore
duckdb_NEEDS := duckdb numpy pyarrow

datasette: $(DATASETTES:%=$(VENV)/%/.installed)
	$(VENV)/datasette-0.65/bin/python -m pytest -q -n 2 plugins/datasette-spillstore
	$(VENV)/datasette-1.0/bin/python -m pytest -q -n 2 plugins/datasette-spillstore
	$(VENV)/duckdb/bin/python -m pytest -q tests/docs/test_duckdb.py

$(DATASETTES:%=$(VENV)/%/.installed): $(VENV)/%/.installed: pyproject.toml plugins/datasette-spillstore/pyproject.toml $(BUILT)
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip --quiet --disable-pip-version-check install --editable . hypothesis pytest pytest-xdist $($*_NEEDS)
	@touch $@

torture: $(VENV)/.installed-test
	@$(MAKE) --no-print-directory $(VENV)/.installed-wheels || echo "No compiler for other platforms: their tests are skipped."
	@seed=$(SEED); echo "make torture SEED=$$seed FACTOR=$(FACTOR) ROUNDS=$(ROUNDS)"; \
	SPILLSTORE_TEST_SEED=$$seed SPILLSTORE_TEST_FACTOR=$(FACTOR) SPILLSTORE_TEST_ROUNDS=$(ROUNDS) \
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal && \
	$(BIN)/python tests/torture --seed $$seed --seconds $(SECONDS_EACH) && \
	$(BIN)/python tests/torture/scan_fuzz.py --seed $$seed --executions $(EXECUTIONS)

# All of them without a name; a whole one without ROUNDS.
campaign: $(VENV)/.installed-test
	$(BIN)/python tests/torture $(NAME) --seed $(SEED) --first $(FIRST) $(if $(filter command line environment,$(origin ROUNDS)),--rounds $(ROUNDS)) $(if $(STORY),--story $(STORY))

fuzz: $(VENV)/.installed-test
	$(BIN)/python tests/torture/scan_fuzz.py --seed $(SEED) --first $(FIRST) --executions $(EXECUTIONS)

fuzz-parts: $(VENV)/.installed-fuzz
	$(BIN)/python tests/torture/fuzz_parts.py $(NAME) --seed $(SEED) --seconds $(or $(SECONDS),60) $(if $(CORPUS),--corpus $(CORPUS))

# MAP=FILE keeps which tests come by which lines; noting that takes as long as the quick tests of the store, one after the other.
mutants: $(VENV)/.installed-fuzz
	$(BIN)/python tests/torture/mutate.py --seed $(SEED) --first $(FIRST) $(if $(filter command line environment,$(origin ROUNDS)),--rounds $(ROUNDS)) \
	  $(if $(ONLY),--only $(ONLY)) $(if $(MAP),--map $(MAP)) $(if $(SECONDS),--seconds $(SECONDS))

soak: $(VENV)/.installed-test
	$(BIN)/python tests/torture/soak.py $(PART) --seed $(SEED) --scale $(or $(SCALE),1) $(if $(SECONDS),--seconds $(SECONDS)) $(if $(FOLDER),--folder $(FOLDER))

fairness: $(VENV)/.installed-test
	$(BIN)/python tests/torture/fairness.py $(NAME) --seconds $(or $(SECONDS),20) $(if $(SERVER),--server)

# Of what users get and nothing else; what the service does not know is an error, too.
audit: $(VENV)/.installed-audit
	$(VENV)/audited/bin/python -m pip freeze --exclude-editable > $(VENV)/audited/requirements.txt
	$(BIN)/python -m pip_audit --strict --no-deps --disable-pip -r $(VENV)/audited/requirements.txt

lint: $(VENV)/.installed-dev
	$(BIN)/python -m ruff check
	$(BIN)/python -m ruff format --check

types: $(VENV)/.installed-dev
	$(BIN)/python -m mypy

docs: $(VENV)/.installed-dev
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html

# The recording of the README.
cast: $(VENV)/.installed
	$(BIN)/python docs/cast.py

screenshots: $(VENV)/.installed-test
	$(BIN)/python docs/screenshots.py

bench: $(VENV)/.installed-bench
	$(BIN)/python -m benchmarks $(BENCH)
	$(BIN)/python -m benchmarks.pages

# What benchmarks/pages.py shows in the README.
bench-quick: $(VENV)/.installed-bench
	$(BIN)/python -m benchmarks --quick defaults peers growth
	$(BIN)/python -m benchmarks.pages --results benchmarks/.data/quick --into benchmarks/.data/quick

bench-growth: BENCH = growth
bench-growth: bench

bench-peers: $(VENV)/.installed-bench
	$(BIN)/python -m venv benchmarks/.data/agents
	benchmarks/.data/agents/bin/python -m pip --quiet --disable-pip-version-check install -r benchmarks/agents.txt
	npm install --prefix benchmarks/.data/context-mode context-mode@1.0.131 && npm rebuild --prefix benchmarks/.data/context-mode better-sqlite3 \
	  || echo "context-mode needs npm and, where it has no prebuilt SQLite, a C++ compiler: it is not compared."

bench-corpus: $(VENV)/.installed-bench
	$(BIN)/python -m benchmarks.corpus tools
	$(BIN)/python -m benchmarks.corpus make

wheels: $(VENV)/.installed-wheels
	@for target in $(TARGETS); do echo "$$target ..." && SPILLSTORE_TARGET=$$target \
	  $(BIN)/python -m pip --quiet --disable-pip-version-check wheel --no-deps --no-build-isolation --wheel-dir dist . || exit 1; done
	@ls dist/*.whl

sdist: $(VENV)/.installed-release
	@$(BIN)/python -m build --sdist --outdir dist .

# All of a release but its upload, of what is committed; DIST=FOLDER checks files that are there.
release-check: $(VENV)/.installed-release
	@$(BIN)/python .ci/release.py $(if $(DIST),--dist $(DIST)) $(if $(TAG),--tag $(TAG))

clean:
	rm -rf $(VENV) build dist docs/_build .demo .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage htmlcov
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.made:
	@command -v $(PYTHON) >/dev/null || { \
	  echo "There is no $(PYTHON) here. Install Python 3.11 or newer, or name one: make PYTHON=python3.13"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Spillstore needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) -V 2>&1)." \
	  "Name a newer one: make PYTHON=python3.13"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "$(PYTHON) has no venv module. On Debian and Ubuntu: apt-get install python3-venv"; exit 1; }
	@echo "Making a virtual environment in $(VENV) (a few seconds) ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@touch $@

# Editable, so that only a change of the dependencies or of what is compiled calls for another installation. Modules are compiled when they are
# first imported, which most of them never are.
$(VENV)/.installed: $(VENV)/.made pyproject.toml $(BUILT)
	@echo "Installing Spillstore and what it needs into $(VENV) (ten to twenty seconds) ..."
	@$(PIP) --no-compile --editable .
	@touch $@

# Dependency groups are known to pip from 25.1 on; Python 3.11 to 3.13 may bring an older one.
$(VENV)/.groups: $(VENV)/.made
	@$(PIP) 'pip>=25.1'
	@touch $@

$(VENV)/.installed-test: $(VENV)/.groups pyproject.toml $(BUILT)
	@echo "Installing the test tools into $(VENV) (under a minute) ..."
	@$(PIP) --editable '.[all]' --group test
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-dev: $(VENV)/.groups pyproject.toml $(BUILT)
	@echo "Installing the development tools into $(VENV) (about a minute) ..."
	@$(PIP) --editable '.[all]' --group dev
	@touch $@ $(VENV)/.installed $(VENV)/.installed-test

$(VENV)/.installed-bench: $(VENV)/.installed-dev
	@echo "Installing what the benchmarks compare with into $(VENV) ..."
	@$(PIP) --group bench
	@touch $@

$(VENV)/.installed-wheels: $(VENV)/.groups pyproject.toml $(BUILT)
	@echo "Installing a compiler for other platforms into $(VENV) (400 MB) ..."
	@$(PIP) --editable . --group wheels
	@touch $@

$(VENV)/.installed-fuzz: $(VENV)/.installed-test
	@echo "Installing a fuzzer into $(VENV) ..."
	@$(PIP) --group fuzz
	@touch $@

$(VENV)/.installed-audit: $(VENV)/.groups pyproject.toml $(BUILT)
	@echo "Installing an auditor into $(VENV), and what users get into $(VENV)/audited ..."
	@$(PIP) --group audit
	@$(PYTHON) -m venv $(VENV)/audited
	@$(VENV)/audited/bin/python -m pip --quiet --disable-pip-version-check install --editable '.[all]'
	@touch $@

$(VENV)/.installed-release: $(VENV)/.installed-test
	@echo "Installing what checks a release into $(VENV) ..."
	@$(PIP) --group release
	@touch $@
