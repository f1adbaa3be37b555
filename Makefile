PYTHON ?= python3
VENV := .venv
DATA ?= $(if $(filter football,$(MAKECMDGOALS)),results.csv.gz,jester-data-1.csv.gz)
BIN := $(VENV)/bin
PINS := --quiet --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --python-version 3.11

# bytecode is kept, also where the environment would rather not: tests start a hundred processes, each of which would compile the package anew
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help env spark demo broker live dashboards test all check types soak format table picture figure jester raw football bench lock clean

help: ## what can be made
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 10

env: $(VENV)/ready ## the environment, in .venv, as requirements.lock pins it

$(VENV)/ready: requirements.lock pyproject.toml
	@echo "making the environment in $(VENV), about a minute ..."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --config-settings editable_mode=compat --editable .
	touch $@

spark: env ## Spark in the environment too, as deploy/spark.lock pins it: half a gigabyte, for the tests of stream_rank.spark; Java 17 is needed
	$(BIN)/python -m pip install --quiet --require-hashes --requirement deploy/spark.lock

demo: env ## replay a file of ratings and look at the report, in a minute
	$(BIN)/python -m simulators demo

test: env ## all tests but the longest; what needs a tool that is not here is skipped with a reason
	$(BIN)/python -m pytest --numprocesses auto --dist loadgroup --quick

check: env ## all tests, also kills, ill-treated brokers and other processors; and style, types and imports
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(MAKE) --jobs 2 types all

all: env
	$(BIN)/python -m pytest --numprocesses auto --dist loadgroup

types: env
	$(BIN)/mypy
	$(BIN)/lint-imports

soak: env ## the long proofs, in full: memory guards, half a million fuzzed events and 40,000 forged snapshots, 2.3 million waiting ids, 200 kills of a replay and 50 of a daemon, 200,000 events checked one by one through whatever befalls daemons, 100,000 with faults, 10 GB, 10 million events, brokers that are away, alerts in real time; other machines; a million events on Spark through kills; an hour and a half
	SOAK=1 $(BIN)/python -m pytest --numprocesses auto tests/engine/test_guards.py tests/codec/test_schema.py tests/codec/test_fields.py tests/codec/test_admission.py tests/codec/test_expiry.py tests/checkpoint tests/cli/test_kill.py tests/cli/test_memory.py tests/daemon/test_exactly_once.py tests/daemon/test_checked.py tests/daemon/test_memory.py tests/daemon/test_away.py tests/daemon/test_load.py tests/live/test_alerts.py tests/live/test_breaks.py tests/spark/test_by_partition.py
	$(BIN)/python -m tests.machines cpython
	$(BIN)/python -m tests.machines aarch64

broker: env ## a real Kafka on 127.0.0.1:9092, until Ctrl-C; Java and Maven are needed
	$(BIN)/python -m simulators broker

live: env ## all of it on this machine: Kafka, a daemon, a producer, Prometheus, and Grafana if it is on the PATH; until Ctrl-C
	$(BIN)/python -m simulators live

dashboards: env ## write Grafana's JSON and the links in Prometheus's rules anew; RUNBOOK=https://... is where alerts lead
	$(BIN)/python -m dashboards $(if $(RUNBOOK),--runbook $(RUNBOOK))

format: env ## let ruff lay the code out
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

table: env ## table 1 of the OAP paper, beside the paper's figures
	$(BIN)/python -m simulators oap-table-1

picture: env ## the README's picture
	$(BIN)/python -m simulators learning-curves --out dashboards/learning-curves.svg

figure: env ## on-line and batch MPRank side by side: the magnitude-preserving paper's figure 1
	$(BIN)/python -m simulators mprank-figure-1 --out dashboards/mprank-figure-1.svg

jester: env ## Jester's rows of that paper's tables; DATA=jester-data-1.csv.gz, which is not ours to give
	$(BIN)/python -m simulators jester --data $(DATA)

raw: env ## raw data sets by one command each, beside Vowpal Wabbit; DATA=the folder of the data sets, which are not here
	$(BIN)/python -m simulators raw --data $(DATA)

football: env ## international football, beside Elo, Glicko-2 and Weng-Lin; DATA=results.csv.gz, which is not here
	$(BIN)/python -m simulators football --data $(DATA)

bench: env ## speed, as ratios against peers and the machine's limit, into the README; ONLY=engine, raw, preferences, daemon or spark (which needs make spark) for one table
	$(BIN)/python -m tests.benchmarks --keep $(if $(ONLY),--only $(ONLY))

lock: env ## pin all dependencies anew, and those of the image alone to the same versions; KEEP=1 pins only what is new
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile $(if $(KEEP),,--upgrade) $(PINS) --extra dev --extra bench --output-file requirements.lock pyproject.toml
	$(BIN)/uv pip compile $(PINS) --extra spark --constraint requirements.lock --output-file deploy/spark.lock pyproject.toml
	$(BIN)/uv pip compile $(PINS) --extra avro --extra fast --extra s3 --constraint requirements.lock --output-file deploy/requirements.lock pyproject.toml

clean: ## remove what was made
	rm -rf $(VENV) build out *.egg-info .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
