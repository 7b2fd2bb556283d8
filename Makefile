# SPDX-License-Identifier: GPL-2.0
# The front door. Each target is one call of a script; scripts/ says how.
#
# Outside this checkout everything lies in one directory, KVMU_CACHE.

SCENARIO ?= libquantum

.PHONY: help demo test test-long evaluation evaluation-quick bench perf collector package kernel lab \
	series check clean
# The scripts lock the cache; make's own -j has nothing to run beside them.
.NOTPARALLEL:

help: ## list these targets
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' $(firstword $(MAKEFILE_LIST)) | expand -t 26
	@echo "Variables: BASE=7.3 or 6.12 (the kernel; perf is 7.3's), KDIR=TREE or TARBALL of it,"
	@echo "  KVMU_CACHE=DIR (downloads and builds), JOBS=N, SCENARIO=NAME"

demo: ## everything: build, boot a host with a guest, profile it, show the report; KERNEL_MODE=bpf: on Debian's kernel
	@scripts/demo.sh

test: ## run all tests, or with CHANGED=1 those of what has changed; ends with "N passed, N failed"
	@scripts/test.sh

test-long: ## run the long tests (Documentation/testing.md), or one: make test-long TEST=name
	@scripts/test-long.sh $(TEST)

evaluation: ## run the evaluation and write Documentation/evaluation.md
	@scripts/evaluation.sh

evaluation-quick: ## its short form: accuracy, and the overhead at 1 ms
	@scripts/evaluation.sh --quick

bench: ## time and memory of the report beside those of perf report, many samples
	@scripts/bench.sh

perf: ## build perf with the kvm unified command
	@KVMU_SAY_WHERE=1 scripts/build-perf.sh

collector: ## build perf as one static file to copy into guests, for guest-map
	@PERF_VARIANT=collector KVMU_SAY_WHERE=1 scripts/build-perf.sh

package: ## build Debian packages of it, for Debian 12 and 13, or one: make package RELEASE=trixie
	@scripts/deb.sh $(RELEASE)

kernel: ## build the lab's host kernel with the patches
	@KVMU_SAY_WHERE=1 scripts/build-kernel.sh

lab: ## run one scenario in the lab: make lab SCENARIO=libquantum
	@scripts/lab.sh $(SCENARIO)

series: ## compose the patch series for upstream into build/series
	@scripts/series.sh

check: ## style only: shellcheck, checkpatch, codespell, aspell, what the rooms include
	@scripts/test.sh style

clean: ## remove build/ (the cache stays: ~/.cache/perf-kvm-unified or KVMU_CACHE)
	@scripts/clean.sh
