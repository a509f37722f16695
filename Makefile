# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
#
# The front door. Every target does all the set-up it needs.

PREFIX ?= /usr/local
JOBS ?= $(shell nproc)

.PHONY: help demo build-tests test test-all test-cuda test-other sanitize sanitize-threads statistics performance build configure peers peers-llm \
  install dist test-dist clean deps deps-build deps-test format check-format lint

help:
	@echo 'make demo      install what is missing, build, measure a little, show a table'
	@echo 'make test      install, build, run the tests'
	@echo 'make test-all  the same and the slow tests: minutes each'
	@echo 'make sanitize  the unit tests under the address and undefined-behaviour sanitisers'
	@echo 'make sanitize-threads   what runs in threads, under the thread sanitiser'
	@echo 'make test-other     the kernels, built for the other of x86-64 and aarch64 and tested under qemu'
	@echo 'make test-cuda      the device tests on this machine'"'"'s GPU, and under compute-sanitizer'
	@echo 'make statistics     every statistical method on drawn noise: the figures of docs/methods/statistics.md'
	@echo 'make performance    docs/performance.md from the rows in docs/performance'
	@echo 'make build     leaves the programs in build/: build/assay'
	@echo 'make peers     the optional Python environment with the frameworks people use today'
	@echo 'make peers-llm what language models are held to, in the same environment'
	@echo 'make lint      clang-tidy over what changed since LINT_BASE (the last commit), format and all'
	@echo 'make install   installs to PREFIX ($(PREFIX))'
	@echo 'make dist      build/dist/assay-VERSION-linux-ARCH.tar.xz: runs on any Linux with glibc 2.36 or newer'
	@echo 'make test-dist the same, tried in a root with glibc alone'
	@echo 'make clean     removes build/'

PRESET ?= release

deps:
	@scripts/install-packages scripts/packages.txt
deps-build: deps
	@scripts/install-packages scripts/packages-build.txt
deps-test: deps-build
	@scripts/install-packages scripts/packages-test.txt

# The shortest way to a table: what can be left out is built by the other targets.
demo: deps
	@cmake --preset $(PRESET) -DASSAY_TESTS=OFF --log-level=WARNING
	@cmake --build build -j $(JOBS) --target assay assay-worker assay-transport
	@scripts/demo

configure: deps-build
	@cmake --preset $(PRESET) -DASSAY_TESTS=OFF --log-level=NOTICE

build: configure
	@cmake --build build -j $(JOBS) --target programs

build-tests: deps-test
	@cmake --preset $(PRESET) -DASSAY_TESTS=ON --log-level=NOTICE
	@cmake --build build -j $(JOBS)

test: build-tests
	@ctest --test-dir build --output-on-failure -j $(JOBS) -LE slow

test-all: build-tests
	@cmake --build build -j $(JOBS) --target slow_tests
	@ctest --test-dir build --output-on-failure -j $(JOBS)

sanitize: deps-test
	@cmake --preset dev --log-level=WARNING
	@cmake --build build/dev -j $(JOBS)
	@ctest --test-dir build/dev --output-on-failure -j $(JOBS) -L unit

# What has threads of its own: the runner, the engines that are called from several. OpenMP's own threads
# are left out (one each, and no test with a region of its own): GCC's library does not tell the sanitiser how
# it orders them. Of the targets of vector code one: what threads share does not depend on it.
sanitize-threads: deps-test
	@cmake --preset threads --log-level=WARNING
	@cmake --build build/threads -j $(JOBS) --target base_test kernels_test lab_run_test lab_show_site_test \
	  faults_test fault_worker fault_lab semiring_test einsum_test transport_test \
	  compiler_test
	@OMP_NUM_THREADS=1 TSAN_OPTIONS=halt_on_error=1 ctest --test-dir build/threads --output-on-failure -j $(JOBS) \
	  -R '^(base: Process|compiler: Cpu|lab/run: |lab/show/site: |faults: Faults|.*(Threads|Concurrent|AtOnce|Team|Batch|Crew|Progress))' \
	  -E "InsideAnotherRegion|WhateverTheThreads|OfAnyTeam|/(AVX2|SSE4|SCALAR)" -LE slow

statistics: build-tests
	@cmake --build build -j $(JOBS) --target stats_validation
	@build/tests/statistics/stats_validation --update docs/methods/statistics.md

performance: build
	@build/assay bars docs/bars.toml docs/performance --markdown --out docs/performance.md

# Needs nvcc and a GPU, and no packages beside those of `make build`.
test-cuda: configure
	@cmake --build build -j $(JOBS) --target assay-worker-cuda assay-einsum-cuda assay-transport-cuda assay-llm-cuda cuda_tests
	@scripts/test-cuda build

test-other: deps-test
	@JOBS=$(JOBS) scripts/test-other

peers:
	@scripts/install-packages scripts/packages-peers.txt
	@scripts/make-peers .peers
peers-llm:
	@scripts/install-packages scripts/packages-peers.txt
	@scripts/make-peers .peers peers-llm.txt

# An archive that runs where nothing can be installed, and its test in a root with glibc alone.
dist: build
	@scripts/dist build build/dist
test-dist: dist
	@scripts/test-dist build/dist/assay-*.tar.xz

install: build
	@cmake --install build --prefix $(PREFIX)

format:
	@scripts/format
check-format:
	@scripts/format --check

lint: deps-test check-format
	@scripts/install-packages scripts/packages-lint.txt
	@JOBS=$(JOBS) scripts/lint

clean:
	@rm -rf build build-python
