# Everything a contributor types. Each target prepares .venv by itself; the second call starts at once.
.DEFAULT_GOAL := help
.PHONY: help demo test lint types api bench clean

BIN := .venv/bin

help:
	@echo "make demo    watch an agent solve a task, from an empty checkout"
	@echo "make test    lint, types and tests: what a change must pass"
	@echo "make lint    ruff: rules and format"
	@echo "make types   mypy --strict over the package as it is installed"
	@echo "make api     rewrite docs/api.md from the docstrings"
	@echo "make bench   measure speed and weight, beside other systems where they are installed"
	@echo "make clean   remove .venv and everything that was built"

demo:
	@scripts/bootstrap.sh demo
	@$(BIN)/agent-envs demo

test: lint types
	$(BIN)/pytest -n 2 --dist worksteal

lint:
	@scripts/bootstrap.sh test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types:
	@scripts/bootstrap.sh test
	@scripts/typecheck.sh

api:
	@scripts/bootstrap.sh test
	@$(BIN)/python scripts/api_index.py

bench:
	@scripts/bootstrap.sh test
	@missed=0; for script in contract python_sandbox swe web; do \
	$(BIN)/python benchmarks/$$script.py $(ARGS) || missed=1; done; exit $$missed

clean:
	rm -rf .venv build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
