# Everything a person types here. `make demo` and `make test` set up what they need by themselves.

.PHONY: demo test check soak bench format

demo: ## One episode of the bundled scout, scored, recorded, with a video; ARGS="--seed 3"
	@bash scripts/setup.sh
	@.venv/bin/oresight demo $(ARGS)

test: check ## The checks and the whole suite but its long versions
	.venv/bin/python -m pytest -n 2 -m "not soak"

check: ## Lint, format and types
	@bash scripts/setup.sh dev
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy

soak: ## The long versions: minutes to an hour
	@bash scripts/setup.sh dev
	.venv/bin/python -m pytest -n 2 -m soak

bench: ## All benchmarks beside the peers: docs/benchmarks.md; some ten minutes on a machine that does nothing else
	@bash scripts/setup.sh dev
	.venv/bin/python -m benchmarks.run --out docs

format: ## Puts every file into shape
	@bash scripts/setup.sh dev
	.venv/bin/ruff check --fix .
	.venv/bin/ruff format .
