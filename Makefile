# Everything one does with this repository. Needs Node 20 or newer and npm; the Node that the project runs
# on, and everything else, is installed into node_modules.

.DEFAULT_GOAL := help
.PHONY: help run test test-related test-all test-halted test-skew balance fuzz check-code check fix golden bench bench-operator bench-routes build image clean

# npm writes it at the end of an installation: if it is newer than the lock file, what is installed is what that says.
STAMP := node_modules/.package-lock.json

help: ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 24

run: $(STAMP) ## Run the playground: a gateway, its operator and something to call
	npm start

test: $(STAMP) ## Run the tests that need nothing but Node; JEST_ARGS="test/language" for some
	npm test -- $(JEST_ARGS)

test-related: $(STAMP) ## Run the tests that import what has changed since main; SINCE=commit
	npm test -- --changedSince=$(or $(SINCE),main) $(JEST_ARGS)

test-all: $(STAMP) ## Run every test; builds WAMP routers, Kubernetes and a node for it (Linux, Go, Python, root)
	npm run -s test:all -- $(if $(AFTER),--after $(AFTER)) $(if $(AFTER_FAILED),--after-failed)

test-halted: $(STAMP) ## Run the tests while their processes are stopped at random (Linux); JEST_ARGS for some
	npm run -s test:halted -- $(JEST_ARGS)

test-skew: $(STAMP) ## Upgrade from OLD=commit and back in a whole cluster under traffic (as test-all; ten minutes)
	npm run -s test:skew -- $(OLD)

balance: $(STAMP) ## Measure load balancing with real processes at full length (15 minutes); SCENARIOS="addresses" for some
	npm run -s balance -- $(SCENARIOS)

fuzz: $(STAMP) ## Send hostile input to every reader of it; FUZZ_SECONDS=600, FUZZ_SEED=N, FUZZ_TARGET=NAME for some, FUZZ_CASES=N
	npm run -s fuzz

check-code: $(STAMP) ## Types, lint, format, floors, dead code
	npm run check:code

check: $(STAMP) ## check-code, and coverage
	npm run check

fix: $(STAMP) ## Format everything and mend what lint can mend
	npm run format
	npm run lint -- --fix

golden: $(STAMP) ## Write the generated pages and golden files
	npm run golden

bench: $(STAMP) ## Measure against peers; writes its part of docs/benchmarks.md
	npm run bench

bench-operator: $(STAMP) ## Measure the operator on Kubernetes (LARGE=1: 10,000 documents too); writes its part of docs/benchmarks.md
	npm run bench-operator -- $(if $(LARGE),--large)

bench-routes: $(STAMP) ## Measure how documents come, change and go; writes its part of docs/benchmarks.md
	npm run bench-routes

build: $(STAMP) ## Compile to dist/
	npm run build

image: ## Build the image of both programs: IMAGE=name:tag, SBOM=file for its list of packages
	@.ci/build-image

clean: ## Remove what was built and installed
	rm -rf dist coverage node_modules

$(STAMP): package-lock.json
	npm ci --no-audit --no-fund --loglevel=error
	@touch $@
