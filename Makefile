# Each target is a script in tools/, which says more. PG_MAJOR=16, or PG_CONFIG=/path/to/pg_config,
# chooses the Postgres; it is 15 unless said.

.PHONY: help demo test test-all soak psql install bench lint docs-test clean

help: ## list the targets (the default)
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 12

demo: ## see what the extension does, on a private Postgres
	@tools/demo

test: ## run all tests, or those in T, e.g. T="rust regress/encode"
	@tools/test $(T)

test-all: ## run all tests with each Postgres of pgrx.toml that is installed
	@tools/test-all

soak: ## run the sweeps of all functions for SECONDS=600, with the calls of SEED=… if given
	@tools/soak "$(SECONDS)" $(SEED)

psql: ## try it out: psql on a private Postgres that keeps its data
	@tools/psql

install: ## install into the Postgres of PG_CONFIG
	@tools/install

bench: ## run the benchmarks
	@tools/bench

lint: ## check formatting and warnings
	@tools/lint

docs-test: ## run the SQL in README.md and docs/
	@tools/docs-test

clean: ## remove what was built and the data of make psql
	@tools/clean
