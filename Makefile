# Shortcuts for CMake; `cmake --preset release` works as well (CMakePresets.json).
# Every target first installs missing packages (scripts/setup); HEED_SETUP=skip prevents that.
SHELL := /bin/bash
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
CMAKE ?= cmake
.DEFAULT_GOAL := build
.NOTPARALLEL: # one target at a time; each of them uses JOBS cores
.PHONY: help build demo gallery site test test-every-isa wheel manylinux packages fuzz fuzz-coverage reproducible reliability lint lint-changed format bench asan tsan clang coverage arm64 install clean

# Of a copied clone, build/ belongs to the original, which CMake and Ninja would write to.
owner := $(shell owner=$$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' build/CMakeCache.txt 2>/dev/null); \
  if [[ -n $$owner && ! $$owner -ef . ]]; then echo "$$owner"; fi)
ifneq ($(and $(owner),$(filter-out clean format help,$(or $(MAKECMDGOALS),build))),)
$(error build/ belongs to $(owner); 'make clean' removes it here, and the next 'make' builds its own)
endif

# $(call build_tests,PRESET[,OPTIONS]): configures and builds everything; run_tests then runs all tests.
define build_tests
$(CMAKE) --preset $(1) $(2)
@scripts/build-time $(if $(filter release,$(1)),build,build/$(1)) $(JOBS)
$(CMAKE) --build --preset $(1) -j $(JOBS)
endef
define run_tests
$(call build_tests,$(1),$(2))
ctest --preset $(1) -j $(JOBS)
endef
WITH_PYTHON = -D HEED_BUILD_TESTS=ON $$(cat build/python-venv/cmake-options)

help: ## print this list
	@sed -n 's/^\([a-z0-9-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 16

build: build/build.ninja ## build the command, the library and the examples in build/ (default)
	@scripts/build-time build $(JOBS)
	$(CMAKE) --build --preset release -j $(JOBS)

demo: build/build.ninja ## build, translate a sentence, and draw its attention
	@scripts/build-time build $(JOBS) heed_bin
	$(CMAKE) --build --preset release -j $(JOBS) --target heed_bin
	@scripts/demo

gallery: build ## run the programs in examples/ and write their pictures to docs/gallery/
	@scripts/gallery

# make site SITE_MODELS='DIR...' adds models to the bundled ones.
SITE_MODELS ?=
site: ## build Heed for browsers in build/site/, for any web server (docs/browser.md)
	scripts/setup-browser build/browser-root
	$(CMAKE) --preset browser
	$(CMAKE) --build --preset browser -j $(JOBS) --target heed_module
	scripts/make-site build/browser build/site $(SITE_MODELS)

test: setup-build setup-test ## build everything and run all tests, including style checks
	scripts/setup-python build/python-venv
	$(call run_tests,release,$(WITH_PYTHON))

# make test-every-isa ISA=sse4,avx2 runs them under these only.
test-every-isa: setup-build setup-test ## run all tests under each instruction set that the processor has
	scripts/setup-python build/python-venv
	$(call build_tests,release,$(WITH_PYTHON))
	scripts/test-every-isa $(if $(ISA),--isa $(ISA)) -j $(JOBS)

# make wheel PYTHONS='python3.11 python3.12' builds with these; by default, with those that are found.
PYTHONS ?=
wheel: setup-build setup-python ## build wheels of the Python package in build/wheels/
	scripts/make-wheels build/wheels $(PYTHONS)

manylinux: setup-build setup-python ## build wheels for older Linuxes, too, in build/manylinux-wheels/ (the first time half an hour more)
	scripts/make-wheels --manylinux build/manylinux-wheels $(PYTHONS)

packages: build ## make a tarball that runs everywhere, and a .deb, in build/packages/
	scripts/make-packages build/packages

# make fuzz SECONDS_EACH=7200 RECORD=--record runs each fuzzer for two hours, and writes that into docs/reliability.md.
SECONDS_EACH ?= 60
RECORD ?=
fuzz: setup-build setup-clang ## feed mutated files to each reader, with sanitizers
	$(CMAKE) --preset fuzz
	$(CMAKE) --build --preset fuzz -j $(JOBS) --target heed_fuzzers
	scripts/fuzz --jobs $(JOBS) $(RECORD) $(SECONDS_EACH)

fuzz-coverage: setup-build setup-clang ## run each fuzzer, and count the lines of its reader that it comes to
	$(CMAKE) --preset fuzz-coverage
	$(CMAKE) --build --preset fuzz-coverage -j $(JOBS) --target heed_fuzzers
	scripts/fuzz --coverage --jobs $(JOBS) $(RECORD) $(SECONDS_EACH)

reliability: setup-build setup-clang ## run what docs/reliability.md promises, and write its figures (hours)
	$(call build_tests,release,-D HEED_BUILD_TESTS=ON)
	$(CMAKE) --preset fuzz
	$(CMAKE) --build --preset fuzz -j $(JOBS) --target heed_fuzzers
	scripts/reliability

reproducible: setup-build ## build twice in different folders, and compare the bytes (an hour on two processors)
	scripts/check-reproducible

lint: setup-build setup-test setup-lint ## run clang-tidy on all sources (minutes)
	$(CMAKE) --preset release -D HEED_BUILD_TESTS=ON
	scripts/check-format
	scripts/check-style
	scripts/check-includes
	scripts/check-links
	scripts/check-tidy

lint-changed: setup-build setup-test setup-lint ## run clang-tidy on lines that differ from the main branch
	$(CMAKE) --preset release -D HEED_BUILD_TESTS=ON
	scripts/check-format
	scripts/check-style
	scripts/check-includes
	scripts/check-links
	scripts/check-tidy --changed

format: setup-test ## format all sources
	scripts/check-format --fix

# make bench ROWS='attention forward' TURNS=3 THREADS=2 runs the rows whose names match the pattern. ISA=avx2 limits
# Heed and its peers to an older instruction set.
ROWS ?= .
TURNS ?= 5
THREADS ?= 1
ISA ?=
bench: setup-build setup-bench ## compare the speed with PyTorch, CTranslate2, OpenVINO and llama.cpp (bench/README.md)
	$(CMAKE) --preset release -D HEED_BUILD_BENCH=ON
	$(CMAKE) --build --preset release -j $(JOBS) --target heed_bin heed_bench
	bench/setup-peers build/bench/peers
	build/bench/peers/bin/python bench/run.py --rows '$(ROWS)' --turns $(TURNS) --threads $(THREADS) $(if $(ISA),--isa $(ISA))

asan: setup-build setup-test ## run all tests with the address and undefined behaviour sanitizers
	$(call run_tests,asan-ubsan)

tsan: setup-build setup-test ## run all tests with the thread sanitizer
	$(call run_tests,tsan)

clang: setup-build setup-test setup-clang ## run all tests, compiled by Clang
	$(call run_tests,clang)

coverage: setup-build setup-test setup-coverage ## run all tests and report line coverage
	$(call run_tests,coverage)
	mkdir -p build/coverage/report
	gcovr --root . --filter src/ --filter include/ --exclude '.*_test\.cc' --exclude-throw-branches \
	  --print-summary --html-details build/coverage/report/index.html build/coverage

arm64: setup-build setup-test setup-arm64 ## run all tests for 64-bit Arm in an emulator (about an hour)
	scripts/setup-arm64-root build/arm64/root
	$(call run_tests,arm64)

install: build ## install to PREFIX=/usr/local
	$(CMAKE) --install build --prefix "$(PREFIX)"

clean: ## remove build/ and what pip has built
	rm -rf build build-cp3* build-manylinux-*

setup-%:
	@scripts/setup $*

# Tests are not built by default; `make test` turns them on.
build/build.ninja: | setup-build
	$(CMAKE) --preset release -D HEED_BUILD_TESTS=OFF
