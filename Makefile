# Every target sets itself up; a machine with Python 3.11 or newer is all that they need.
.POSIX:

PYTHON =
EXTRAS = dev
BIN = .venv/bin
READY = .venv/.ready

help:
	@echo 'make demo    ingest the sample archive and answer questions with citations'
	@echo 'make test    check style and types, run the tests'
	@echo 'make lint    check style and types only'
	@echo 'make neo4j   run the tests that need a Neo4j server: they start two (Java, Maven)'
	@echo 'make full    make test, neo4j and faults with all that they try; two hours'
	@echo 'make coverage  run the tests and say which lines and branches they leave out'
	@echo 'make faults  kill it, fill its disk, damage its files; an hour'
	@echo 'make mutate  change core modules place by place: their tests must notice; 20 minutes'
	@echo 'make bench   run the benchmarks'
	@echo 'make grammar DATA=FOLDER  parts of the rules that change no match in its documents'
	@echo 'make clean   remove what these targets made, the environment included'

demo: $(READY)
	@sh scripts/demo.sh

# What each pattern of the rules is worth on the documents of a folder.
DATA =
grammar: $(READY)
	$(BIN)/python benchmarks/grammar.py $(DATA)

# `make -j2 test` checks style and types beside the tests.
test: lint tests

tests: $(READY)
	$(BIN)/python -m pytest -q -n 2

ALSO =
neo4j: $(READY)
	KGRAG_TEST_NEO4J=1 $(BIN)/python -m pytest -q -n 2 --dist loadfile --no-loadscope-reorder \
		-m "neo4j $(ALSO)"

lint: $(READY)
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy kgrag scripts tests

# Fails below 95 % of lines and branches. Left out is what only a server, torch or another
# framework runs; with those here, `make coverage OMIT=` counts it.
OMIT = kgrag/store/neo4j/*,kgrag/embedding/transformers_*,kgrag/integrations/*
coverage: $(READY)
	$(BIN)/python -m coverage erase
	$(BIN)/python -m coverage run -m pytest -q -n 2
	$(BIN)/python -m coverage combine -q
	$(BIN)/python -m coverage report --omit='$(OMIT)'

# What tests try a share of by default, they try whole.
full: $(READY)
	KGRAG_TEST_FULL=1 $(MAKE) test neo4j faults

# One line of counts for each kind of fault; every count but that of runs must be 0.
faults: $(READY)
	$(BIN)/python -m tests.faults

# N mutants of each module by chance, the same for the same SEED.
N = 20
SEED = 1
mutate: $(READY)
	$(BIN)/python scripts/mutate.py --n $(N) --seed $(SEED)

bench: $(READY)
	$(BIN)/python benchmarks/run.py

# The stamp is written last, so an interrupted set-up starts again.
$(READY): pyproject.toml constraints.txt scripts/setup.sh
	@PYTHON='$(PYTHON)' EXTRAS='$(EXTRAS)' sh scripts/setup.sh .venv
	@touch $(READY)

clean:
	rm -rf .venv demo build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage*
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.PHONY: help demo test tests lint neo4j full coverage faults mutate bench grammar clean
