# `make demo` and `make test` need nothing before them but Python 3.9 or
# newer, gcc and make; `make help` lists the rest.

VENV ?= .venv
PYTHON ?= python3
BIN = $(VENV)/bin
RUN = $(BIN)/python

.DEFAULT_GOAL := help
.PHONY: help setup demo test lint format check-real bench zoo-table clean distclean

help:  ## show the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 12

setup:  ## make .venv with everything in it (STACK=onedl: the fork)
	@$(PYTHON) scripts/set_up.py --venv $(VENV)

demo: setup  ## draw a small data set, train, test, report (minutes, on a CPU)
	@$(RUN) tools/demo.py --work-dir work_dirs/demo

test: setup  ## run the tests, on every core
	@$(RUN) -m pytest -n auto --maxprocesses 8 --dist loadfile

lint: setup  ## ruff and mypy
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

format: setup  ## rewrite the code in the project's format
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

check-real: setup  ## overfit on the 29 CPPE-5 test photos (CPPE5_TEST_DATA)
	@$(RUN) scripts/check_real.py

bench: setup  ## time the evaluation against other tools
	@$(BIN)/pip install -q -e '.[parity]'
	@$(RUN) benchmarks/evaluation.py

zoo-table: setup  ## write the model zoo's table into its README
	@$(RUN) tools/analysis_tools/zoo_table.py

clean:  ## remove what the demo, tests and builds left
	rm -rf work_dirs/demo build dist *.egg-info .pytest_cache .mypy_cache \
	  .ruff_cache .hypothesis
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +

distclean: clean  ## remove the virtual environment too
	rm -rf $(VENV)
