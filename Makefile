# Every target is one command; bookbuild does the work, and tools and evidence do what only maintainers need.
PYTHON ?= python3
PROFILE ?= paper
DEVICE ?= auto
PORT ?= 8000

ifeq ($(OS),Windows_NT)
$(error The book runs on Linux and macOS; on Windows run it in the Windows Subsystem for Linux)
endif

BIN := .venv/bin
STAMP := .venv/.installed
CHECKS := .venv/.checks
BOOKBUILD := $(BIN)/python -P -m bookbuild  # no file beside this one is taken for a module

PROSE := README.md CONTRIBUTING.md CHANGELOG.md SECURITY.md book data/claims.yml src bookbuild tools evidence
SCIENCE := tests/emergence tests/chapters  # whose tests execute sources in their own process

options := PYTHON PROFILE DEVICE SEED JOBS RESULTS FROM SET MINUTES DRAW COMMIT TIMEOUT CHAPTER PORT THREADS TORCH_INDEX SCHEDULER EXTRAS RUNS WHAT
space := $() $()
given := $(foreach setting,$(subst \$(space),_,$(MAKEOVERRIDES)),$(firstword $(subst =, ,$(setting))))
unknown := $(filter-out $(options),$(given))
ifneq ($(unknown),)
$(error there is no option $(firstword $(unknown)); the options are $(options))
endif
taken := $(foreach option,$(options),$(if $(filter environment%,$(origin $(option))),$(option)='$($(option))'))
ifneq ($(strip $(taken)),)
ifeq ($(MAKELEVEL),0)
$(info taken from the environment: $(strip $(taken)))
endif
endif
# a quote in a value is written as the shell reads it between quotes
$(foreach option,$(options),$(eval override $(option) := $$(subst ','\'',$$($(option)))))

export SCHEDULER  # for the sweeps of chapters
# this checkout's own sources, and nothing of a user's own Python
export PYTHONPATH := $(CURDIR)/src:$(CURDIR)/bookbuild/src
unexport PYTHONHOME PYTHONSTARTUP PYTHONWARNINGS PYTHONOPTIMIZE PYTHONSAFEPATH PYTHONINSPECT PIP_USER PIP_TARGET PIP_PREFIX

run_options := --profile '$(PROFILE)' --device '$(DEVICE)' \
	$(if $(SEED),--seed '$(SEED)') $(if $(JOBS),--jobs '$(JOBS)') $(if $(TIMEOUT),--timeout '$(TIMEOUT)')

help:  ## list the targets and their options
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo
	@echo 'Options: PROFILE=paper|smoke  DEVICE=auto|cpu|cuda  SEED=n  JOBS=n'
	@echo '         TIMEOUT=seconds for a cell  SCHEDULER=tcp://host:port of a Dask cluster for long runs'
	@echo '         RUNS=k_hop  CHAPTER=paper/05_emergence for make chapter  COMMIT=HEAD  MINUTES=n  THREADS=n, for make record'
	@echo '         PYTHON=interpreter  TORCH_INDEX=url  EXTRAS=language, for make env'

ifneq ($(filter-out language,$(EXTRAS)),)
$(error there is no extra $(filter-out language,$(EXTRAS)); the one extra is language)
endif

# a .venv whose interpreter has gone, or has become another, is made anew
broken := $(shell test ! -d $(BIN) || $(BIN)/python -c 'import click' 2> /dev/null || echo --clear)
ifneq ($(broken),)
.PHONY: $(STAMP)
endif

env: $(STAMP) $(EXTRAS:%=.venv/.%)  ## create .venv with the locked packages; tests add theirs

$(STAMP): requirements.lock requirements.hashes pyproject.toml bookbuild/pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else \
		"Python 3.11 or newer is needed, and $(PYTHON) is %s: name another with PYTHON=." % sys.version.split()[0])'
	@test ! -L .venv || { echo '.venv is a link to another environment, which make env would change: remove it, rm .venv, and try again.' >&2; exit 2; }
	@$(if $(broken),echo '.venv does not work any more and is made anew.')
	$(PYTHON) -m venv $(broken) .venv
	@# every file checked but PyTorch's, which is another in every index
	@# compiled when it is first imported: half of it never is
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile \
		--require-hashes -r requirements.hashes
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile \
		$(if $(TORCH_INDEX),--extra-index-url '$(TORCH_INDEX)') -r requirements.lock
	@# the path from there to here, which a checkout keeps that is moved or copied
	@$(BIN)/python -c 'import pathlib, sysconfig; pathlib.Path(sysconfig.get_path("purelib"), "book.pth").write_text("../../../../src\n../../../../bookbuild/src\n")'
	@touch $@

$(CHECKS): $(STAMP) requirements-test.lock requirements-test.hashes
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps \
		--require-hashes -r requirements-test.hashes
	@touch $@

# without dependencies, which the lock names
.venv/.language: $(STAMP) requirements-language.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps \
		-r requirements-language.lock
	@touch $@

reproduce: env  ## execute what has changed, build the site and judge the claims; RESULTS= uses published results, FROM=scratch uses none
	@$(BOOKBUILD) build $(run_options) $(if $(RESULTS),--results '$(RESULTS)') \
		$(if $(FROM),--from '$(FROM)')

verify: env  ## recompute published results and say what comes out the same: RESULTS=file|folder|url, the chapters of CHAPTER=, or what MINUTES=5 allow
	@$(BOOKBUILD) verify --device '$(DEVICE)' --results '$(RESULTS)' $(if $(CHAPTER),--chapter '$(CHAPTER)') \
		$(if $(MINUTES),--minutes '$(MINUTES)') $(if $(JOBS),--jobs '$(JOBS)')

serve: env  ## show the built site on 127.0.0.1: PORT=8000
	@$(BOOKBUILD) serve --profile '$(PROFILE)' --port '$(PORT)'

chapter: env  ## execute one chapter and print its checks, claims and verdicts: CHAPTER=paper/05_emergence SET="n_pairs=20 mask=causal" FROM=scratch
	@$(BOOKBUILD) chapter $(run_options) $(if $(FROM),--from '$(FROM)') $(if $(SET),--set '$(SET)') '$(CHAPTER)'

lab: .venv/.lab  ## open the chapters in JupyterLab: there, Open With and Notebook
	@$(BIN)/python -m jupyterlab --port '$(PORT)' book

.venv/.lab: $(STAMP) requirements-lab.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -r requirements-lab.lock
	@touch $@

test: test-$(or $(WHAT),quick)  ## check style, test the science and the builder, and look at every page of the smoke site; WHAT=all runs the slow tests too, WHAT=edit only tests of the science that an edit reaches, WHAT=site the tests in Chromium; SEED= draws others

all_tests := $(if $(SEED),SEED='$(SEED)') $(BIN)/python -m pytest \
	--numprocesses $(or $(JOBS),logical) --maxprocesses 4

test-quick: lint
	@$(all_tests) -m 'not slow'

test-all: lint
	@$(all_tests)

# testmon tells which tests an edit reaches; their files run whole, for what a fixture of a module
# executes is known of its first test alone
test-edit: $(CHECKS)
	@mkdir -p _build
	@TESTMON_DATAFILE=_build/testmon $(BIN)/python -m pytest $(SCIENCE) --testmon --testmon-nocollect \
		--collect-only | sed -n 's/^\(tests.*\.py\)::.*/\1/p' | sort -u > _build/reached
	@test -s _build/reached || echo 'No test of the science reaches what was edited.'
	@test ! -s _build/reached || TESTMON_DATAFILE=_build/testmon \
		$(BIN)/python -m pytest --testmon --testmon-noselect $$(cat _build/reached)

test-site: $(CHECKS)
	@$(BIN)/python -m pytest tests/site

lint: $(CHECKS)  ## check style, format, types, the order of imports, the words of what people read, and what the sources of the book say of one another
	@$(BIN)/ruff check --quiet
	@$(BIN)/ruff format --check --quiet
	@$(BIN)/python -c 'from importlinter.cli import lint_imports_command as lint; lint()' --no-logo
	@$(BIN)/python -m mypy
	@$(BIN)/python -m codespell_lib $(PROSE)
	@$(BOOKBUILD) check

release: release-$(or $(WHAT),all)  ## write everything that a release contains to _build/release; WHAT=results writes one part, WHAT=checkpoints the trained networks of Figures 2 to 5, WHAT=paper prints the paper on part II by LaTeX, WHAT=pages publishes the site of a fork; RESULTS= as for reproduce

release-all: env
	@$(BOOKBUILD) release $(run_options) $(if $(RESULTS),--results '$(RESULTS)')

release-checkpoints: env
	@$(BIN)/python -m tools.checkpoints '$(PROFILE)'

release-results: env
	@$(BOOKBUILD) archive $(run_options) $(if $(RESULTS),--results '$(RESULTS)')

release-paper: env
	@$(BIN)/python -m tools.paper '$(PROFILE)'

release-pages:
	@gh api --silent --method PUT 'repos/{owner}/{repo}/actions/permissions' --field enabled=true --raw-field allowed_actions=all
	@gh api --silent --method POST 'repos/{owner}/{repo}/pages' --raw-field build_type=workflow
	@gh workflow run publish.yml

record: record-$(or $(WHAT),evidence)  ## execute chapters under variations and record what they measure, the cheapest first: COMMIT=HEAD begins a record, MINUTES=n, 0 only tells the cost; WHAT=again repeats a part, WHAT=runs|cold-build|benchmark|proofs|coqchk writes another record

record-evidence: env
	@$(BIN)/python -m evidence record $(if $(JOBS),--jobs '$(JOBS)') $(if $(MINUTES),--minutes '$(MINUTES)') \
		$(if $(COMMIT),--commit '$(COMMIT)')

record-again: env
	@$(BIN)/python -m evidence again $(if $(JOBS),--jobs '$(JOBS)') $(if $(MINUTES),--minutes '$(MINUTES)') \
		$(if $(DRAW),--draw '$(DRAW)')

record-runs: env
	@$(BOOKBUILD) runs --device '$(DEVICE)' $(if $(JOBS),--jobs '$(JOBS)') $(if $(MINUTES),--minutes '$(MINUTES)') \
		'$(RUNS)'

record-cold-build: env
	@$(BIN)/python -m tools.cold_build cold-build $(run_options)

record-benchmark: env
	@# as for chapters: glibc is to keep freed arrays, and to ask for huge pages
	@MALLOC_TRIM_THRESHOLD_=8589934592 MALLOC_MMAP_THRESHOLD_=33554432 \
		GLIBC_TUNABLES=glibc.malloc.hugetlb=1 $(BIN)/python -m tools.benchmark $(if $(THREADS),--threads '$(THREADS)')

record-proofs:
	@$(PYTHON) -c 'from chapters.beyond.machine_checked import main; main()'

record-coqchk:
	@$(PYTHON) -c 'from chapters.beyond.machine_checked import check; check()'

drill: drill-$(or $(WHAT),none)  ## for maintainers: break or imitate something on purpose, WHAT=faults|emulation|signs|vulnerabilities

drill-faults: $(CHECKS)
	FAULTS=10 SEED=$(or $(SEED),$(shell date +%s)) $(BIN)/python -m pytest tests/tools/test_faults.py

drill-emulation: $(CHECKS)
	@EVERY_CHAPTER=1 $(BIN)/python -m pytest tests/tools/test_emulation.py

drill-signs: $(CHECKS)
	@$(BIN)/python -m tools.planted_signs

# each list alone: not every one has checksums
drill-vulnerabilities: env
	@for lock in requirements*.lock requirements*.hashes; do \
		$(BIN)/python -m pip_audit --disable-pip --no-deps --progress-spinner off -r $$lock || failed=1; \
	done; exit $$failed

clean: clean-$(or $(WHAT),all)  ## remove everything that was built, except .venv

clean-all:
	rm -rf _build

reproduce-% test-% release-% record-% drill-% clean-%:
	@echo 'make $(MAKECMDGOALS) has no WHAT=$(WHAT): run make help to see the choices.' >&2; exit 2

TARGETS := $(shell sed -n 's/^\([a-z-]*\):.*/\1/p' $(firstword $(MAKEFILE_LIST)))
.PHONY: $(TARGETS)
