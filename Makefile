# What one types. Underneath is CMake: `cmake --preset release` works as well (CMakePresets.json).
# Every target first installs what it needs and the system lacks (scripts/setup); HEED_SETUP=skip prevents that.
SHELL := /bin/bash
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
CMAKE ?= cmake
.DEFAULT_GOAL := build
.NOTPARALLEL: # the targets; each of them uses JOBS cores
.PHONY: help build demo gallery test lint lint-changed format bench asan tsan clang coverage arm64 install clean

# $(call run_tests,PRESET[,OPTIONS]): configures, builds everything, and runs all tests.
define run_tests
$(CMAKE) --preset $(1) $(2)
@scripts/build-time $(if $(filter release,$(1)),build,build/$(1)) $(JOBS)
$(CMAKE) --build --preset $(1) -j $(JOBS)
ctest --preset $(1) -j $(JOBS)
endef

help: ## print this list
	@sed -n 's/^\([a-z0-9-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 16

build: build/build.ninja ## build the command, the library and the examples, into build/ (what plain `make` does)
	@scripts/build-time build $(JOBS)
	$(CMAKE) --build --preset release -j $(JOBS)

demo: build/build.ninja ## build, translate, and draw the attention of a sentence
	@scripts/build-time build $(JOBS) heed_bin
	$(CMAKE) --build --preset release -j $(JOBS) --target heed_bin
	@scripts/demo

gallery: build ## run the programs of examples/, and write docs/gallery/ with their pictures
	@scripts/gallery

test: setup-build setup-test ## build everything and run all tests, the checks of style among them
	$(call run_tests,release,-D HEED_BUILD_TESTS=ON)

lint: setup-build setup-test setup-lint ## look for bugs and bad style in all sources (minutes)
	$(CMAKE) --preset release -D HEED_BUILD_TESTS=ON
	scripts/check-format
	scripts/check-style
	scripts/check-tidy

lint-changed: setup-build setup-test setup-lint ## the same for what differs from the main branch
	$(CMAKE) --preset release -D HEED_BUILD_TESTS=ON
	scripts/check-format
	scripts/check-style
	scripts/check-tidy --changed

format: setup-test ## format all sources
	scripts/check-format --fix

# make bench ROWS='attention forward' TURNS=3 THREADS=2: the rows in whose names the pattern is found. ISA=avx2 keeps
# Heed and its peers to the instructions of an older processor.
ROWS ?= .
TURNS ?= 5
THREADS ?= 1
ISA ?=
bench: setup-build setup-bench ## measure speed beside that of PyTorch and CTranslate2 (bench/README.md)
	$(CMAKE) --preset release -D HEED_BUILD_BENCH=ON
	$(CMAKE) --build --preset release -j $(JOBS) --target heed_bin heed_bench
	bench/setup-peers build/bench/peers
	build/bench/peers/bin/python bench/run.py --rows '$(ROWS)' --turns $(TURNS) --threads $(THREADS) $(if $(ISA),--isa $(ISA))

asan: setup-build setup-test ## run all tests with the address and undefined behaviour sanitizers
	$(call run_tests,asan-ubsan)

tsan: setup-build setup-test ## run all tests with the thread sanitizer
	$(call run_tests,tsan)

clang: setup-build setup-test setup-clang ## run all tests as built by Clang
	$(call run_tests,clang)

coverage: setup-build setup-test setup-coverage ## run all tests and report which lines they reach
	$(call run_tests,coverage)
	mkdir -p build/coverage/report
	gcovr --root . --filter src/ --filter include/ --exclude '.*_test\.cc' --exclude-throw-branches \
	  --print-summary --html-details build/coverage/report/index.html build/coverage

arm64: setup-build setup-test setup-arm64 ## run all tests as built for 64-bit Arm, in an emulator (an hour or so)
	scripts/setup-arm64-root build/arm64/root
	$(call run_tests,arm64)

install: build ## install to PREFIX=/usr/local
	$(CMAKE) --install build --prefix $(PREFIX)

clean: ## remove build/
	rm -rf build

setup-%:
	@scripts/setup $*

# Whoever only builds needs nothing of the tests; `make test` turns them on.
build/build.ninja: | setup-build
	$(CMAKE) --preset release -D HEED_BUILD_TESTS=OFF
