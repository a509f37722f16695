# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
#
# The front door. Every target does all the set-up it needs.

PREFIX ?= /usr/local
JOBS ?= $(shell nproc)

.PHONY: help demo test test-aarch64 sanitize statistics build configure peers install clean deps format lint

help:
	@echo 'make demo      install what is missing, build, measure a little, show a table'
	@echo 'make test      install, build, run every test'
	@echo 'make sanitize  the unit tests under the address and undefined-behaviour sanitisers'
	@echo 'make test-aarch64   the kernels, built for aarch64 and tested under qemu'
	@echo 'make statistics     every statistical method on drawn noise: the figures of docs/methods/statistics.md'
	@echo 'make build     leaves the program at build/assay'
	@echo 'make peers     the optional Python environment with the frameworks people use today'
	@echo 'make install   installs to PREFIX ($(PREFIX))'
	@echo 'make clean     removes build/'

deps:
	@scripts/install-packages scripts/packages.txt

configure: deps
	@cmake --preset release --log-level=WARNING

build: configure
	@cmake --build build -j $(JOBS) --target assay assay-serve assay-transport assay-worker

demo: configure
	@cmake --build build -j $(JOBS) --target assay assay-worker
	@scripts/demo

test: build
	@scripts/install-packages scripts/packages-test.txt
	@cmake --build build -j $(JOBS)
	@ctest --test-dir build --output-on-failure -j $(JOBS) -LE slow

sanitize: deps
	@cmake --preset dev --log-level=WARNING
	@cmake --build build/dev -j $(JOBS)
	@ctest --test-dir build/dev --output-on-failure -j $(JOBS) -L unit

statistics: configure
	@cmake --build build -j $(JOBS) --target stats_validation
	@build/src/lab/stats/validation/stats_validation --update docs/methods/statistics.md

test-aarch64: deps
	@scripts/install-packages scripts/packages-cross.txt
	@JOBS=$(JOBS) scripts/test-aarch64

peers:
	@scripts/install-packages scripts/packages-peers.txt
	@scripts/make-peers .peers

install: build
	@cmake --install build --prefix $(PREFIX)

format:
	@git ls-files '*.h' '*.cc' '*.js' | xargs clang-format -i

lint: build
	@scripts/install-packages scripts/packages-lint.txt
	@JOBS=$(JOBS) scripts/lint

clean:
	@rm -rf build
