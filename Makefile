# Headgate: one makefile, no recursion into folders. `make help` lists the targets.
# Variants live in their own build folder: make BUILD=build/asan SAN=address,undefined, or
# BUILD=build/tsan SAN=thread, or BUILD=build/clang CC=clang-14. V=1 shows the commands.

BUILD ?= build
CC := $(if $(filter default,$(origin CC)),gcc,$(CC))
CLANG ?= clang-14
CLANG_FORMAT ?= clang-format-14
CLANG_TIDY ?= clang-tidy-14
SAN ?=
FUZZ ?=
COVERAGE ?=
WERROR ?=
OPT ?= -O2
STRIP ?= strip
# Libraries and headers of another architecture or day (image/sysroot.sh), libcurl and cJSON as archives
# (image/static.sh); a release is built with them.
SYSROOT ?=
STATIC ?=
export STRIP SYSROOT
PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
MANDIR ?= $(PREFIX)/share/man
DESTDIR ?=
FUZZ_SECONDS ?= 5
ARGS ?=
CONFORMANCE ?= ../shared/conformance
V ?=
NPROC := $(shell nproc)

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wformat=2 -Wundef \
	-Wcast-qual -Wwrite-strings -Wswitch-enum -Wpointer-arith $(if $(WERROR),-Werror)
FORTIFY := $(if $(SAN)$(filter -O0,$(OPT)),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
# $(call accepted,flags): those of the flags that the compiler knows on this processor.
accepted = $(foreach f,$(1),$(shell $(CC) -Werror $f -E -x c /dev/null >/dev/null 2>&1 && echo $f))
# Branch targets are marked (x86-64, arm64), large frames touch each page, locals never show what the
# stack held before. Sanitizers do the last two better.
# No path of this folder stands in a binary, so that the same commit gives the same bytes anywhere.
HARDEN := $(if $(COVERAGE),,-ffile-prefix-map=$(CURDIR)=.) -fno-common -fstack-protector-strong -fPIE $(FORTIFY) \
	$(call accepted,-fcf-protection -mbranch-protection=standard \
	$(if $(SAN),,-fstack-clash-protection -ftrivial-auto-var-init=zero))
COVFLAGS := $(if $(COVERAGE),--coverage)
SANFLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer)
# -B goes before the folders of the compiler itself, which a native one would look into first.
SYSFLAGS := $(if $(SYSROOT),--sysroot=$(SYSROOT) -B$(SYSROOT)/usr/lib/$(shell $(CC) -dumpmachine))
INCLUDES := -I. -Icommon -Itest
# Where pkg-config does not know one of the libraries, all are looked for under their usual names. Our
# sources name the headers by their paths below /usr/include, so that only other places matter.
PKG_CONFIG ?= pkg-config
REQUIRED := libmicrohttpd gnutls libcurl libcrypto libcjson yaml-0.1
PKG_CFLAGS := $(filter-out -I/usr/include%,$(shell $(PKG_CONFIG) --cflags $(REQUIRED) cmocka 2>/dev/null))
LIBS := $(or $(strip $(shell $(PKG_CONFIG) --libs $(REQUIRED) 2>/dev/null)),\
	-lmicrohttpd -lgnutls -lcurl -lcrypto -lcjson -lyaml) -lm
CMOCKA := $(or $(strip $(shell $(PKG_CONFIG) --libs cmocka 2>/dev/null)),-lcmocka)
CFLAGS_ALL := -std=gnu17 -D_GNU_SOURCE -g $(OPT) $(WARN) $(HARDEN) $(SANFLAGS) $(COVFLAGS) \
	$(if $(FUZZ),-fsanitize=fuzzer-no-link) -pthread $(SYSFLAGS) $(INCLUDES) $(PKG_CFLAGS) $(CFLAGS)
LDFLAGS_ALL := -pie -Wl,-z,relro,-z,now -pthread $(SANFLAGS) $(COVFLAGS) $(LDFLAGS)

# Decisions are pure: these folders, with those below, are compiled with time, randomness, I/O and threads refused.
PURE := $(shell sed '/^\#/d' test/lint/pure.txt)

# --- sources -------------------------------------------------------------------------------------

# $(call sources,patterns): existing files without those that hold a main().
sources = $(sort $(filter-out %/main.c %_main.c,$(foreach f,$(wildcard $(1)),\
	$(if $(filter test_% bench_% fuzz_%,$(notdir $f)),,$f))))
LIB_SRC := $(call sources,common/*/*.c common/*/*/*.c certs/*.c $(foreach d,scheduler webhook,$d/*/*.c $d/*/*/*.c))
# Fixtures stand beside the tests that use them, or in test/lib when several folders do.
TESTLIB_SRC := $(call sources,$(shell find test/unit -name '*.c') $(addsuffix /*.c,\
	test/lib test/lib/* test/play test/apiserver test/apiserver/* test/sim test/sim/* test/scenario test/admission test/integration test/bench))
DEMO_SRC := $(sort $(wildcard test/demo/*.c))

UNIT_SRC := $(sort $(shell find test/unit -name 'test_*.c'))
SCENARIO_SRC := $(sort $(wildcard test/scenario/test_*.c))
ADMISSION_SRC := $(sort $(wildcard test/admission/test_*.c))
INTEGRATION_SRC := $(sort $(wildcard test/integration/test_*.c))
INTEGRATION_SH := $(sort $(wildcard test/integration/test_*.sh))
CHART_SH := $(sort $(wildcard test/chart/test_*.sh))
DEMO_SH := $(sort $(wildcard test/demo/test_*.sh))
SIM_SRC := $(sort $(wildcard test/sim/*_main.c))
REPLAY_SRC := $(wildcard test/apiserver/conformance/replay_main.c)
BENCH_SRC := $(sort $(wildcard test/bench/bench_*.c))
BENCH_SH := $(sort $(wildcard test/bench/bench_*.sh))
FUZZ_SRC := $(sort $(wildcard test/fuzz/fuzz_*.c))
LINTS := $(sort $(filter-out test/lint/lib.sh,$(wildcard test/lint/*.sh)))
ALL_SRC := $(LIB_SRC) $(TESTLIB_SRC) $(DEMO_SRC) webhook/main/main.c scheduler/app/main.c \
	scheduler/ctl/main.c test/apiserver/main.c
FORMATTED := $(shell find $(wildcard common certs scheduler webhook test) -name '*.[ch]' | sort)

LIB_OBJ := $(LIB_SRC:%.c=$(BUILD)/obj/%.o)
TESTLIB_OBJ := $(TESTLIB_SRC:%.c=$(BUILD)/obj/%.o)
programs = $(patsubst %.c,$(BUILD)/%,$(1))
UNIT_BIN := $(call programs,$(UNIT_SRC))
SCENARIO_BIN := $(call programs,$(SCENARIO_SRC))
ADMISSION_BIN := $(call programs,$(ADMISSION_SRC))
INTEGRATION_BIN := $(call programs,$(INTEGRATION_SRC))
SIM_BIN := $(call programs,$(SIM_SRC))
REPLAY_BIN := $(call programs,$(REPLAY_SRC))
BENCH_BIN := $(call programs,$(BENCH_SRC))
BENCH_PEER := $(call programs,$(wildcard test/bench/*_main.c)) # what scripts compare with
FUZZ_BIN := $(call programs,$(FUZZ_SRC))
DEMO_BIN := $(if $(DEMO_SRC),$(BUILD)/test/demo/demo)
DOCS_BIN := $(BUILD)/test/docs/values_table $(BUILD)/test/docs/metrics_table $(BUILD)/test/docs/flags_table
CHECK_BIN := $(UNIT_BIN) $(SCENARIO_BIN) $(ADMISSION_BIN)
# The longest first, so that the short ones fill the time at the end.
SUITE_BIN := $(SIM_BIN) $(INTEGRATION_BIN) $(REPLAY_BIN) $(CHECK_BIN)
# There is nothing for ThreadSanitizer in tests that start no thread: those that play decisions alone (folders of
# decisions cannot start one: test/lint/pure.h), decoders, and fleets over pipes that are made in one thread.
THREADLESS := $(PURE) common/enc scheduler/multikueue/fleet
ifeq ($(SAN),thread)
SUITE_BIN := $(filter-out $(SCENARIO_BIN) $(ADMISSION_BIN) $(SIM_BIN) %_random %_trace $(THREADLESS:%=$(BUILD)/test/unit/%/%),$(SUITE_BIN))
endif

MAIN_headgate-webhook := webhook/main/main.c
MAIN_headgate-scheduler := scheduler/app/main.c
MAIN_headgatectl := scheduler/ctl/main.c
MAIN_headgate-apiserver := test/apiserver/main.c
BIN := $(foreach p,headgate-webhook headgate-scheduler headgatectl headgate-apiserver,\
	$(if $(wildcard $(MAIN_$p)),$(BUILD)/bin/$p))

# --- how things are made -------------------------------------------------------------------------

quiet = $(if $(V),,@printf '  %-6s %s\n' $(1) '$@' &&)
RUN_TESTS := BUILD=$(BUILD) LOG_DIR=$(BUILD)/test-logs test/lib/run_tests.sh
MAKEFLAGS += --no-print-directory

.PHONY: all lib install uninstall unit scenario admission integration chart sim sim-fresh mutants \
	mutants-listed lint \
	conformance test check suite coverage check-asan check-tsan clang-check fuzz fuzz-bin fuzz-smoke \
	analyze format bench demo docs man e2e bench-e2e bench-quota bench-fleet differential differential-volcano \
	differential-mutants image image-check image-reproduce release clean help FORCE
.DELETE_ON_ERROR:
.SECONDARY:
all: $(BIN) lib ## the programs, into build/bin

help: ## this list
	@./run

lib: $(BUILD)/libheadgate.a ## everything but the main functions, as one archive

# Changes when the compiler, its flags or the list of files change, so that no stale object stays.
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL)' | cmp -s - $@ || \
		echo '$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL)' >$@
$(BUILD)/files: FORCE
	@mkdir -p $(@D)
	@echo '$(LIB_SRC) $(TESTLIB_SRC)' | cmp -s - $@ || echo '$(LIB_SRC) $(TESTLIB_SRC)' >$@

$(BUILD)/libheadgate.a: $(LIB_OBJ) $(BUILD)/files
	@rm -f $@
	$(call quiet,AR) $(AR) rcs $@ $(LIB_OBJ)

$(BUILD)/libtest.a: $(TESTLIB_OBJ) $(BUILD)/files
	@rm -f $@
	$(call quiet,AR) $(AR) rcs $@ $(TESTLIB_OBJ)

pure = $(if $(filter $(PURE:%=%/%),$(1)),-include test/lint/pure.h)
$(BUILD)/obj/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call quiet,CC) $(CC) $(CFLAGS_ALL) $(call pure,$<) -MMD -MP -c $< -o $@

# They have them in them.
$(BUILD)/obj/scheduler/ctl/manifest/crd_schemas.o: $(wildcard $(addprefix charts/headgate/files/crds/,*.yaml quota/*.yaml))
$(BUILD)/obj/scheduler/ctl/multikueue/worker_role.o: charts/headgate/files/multikueue-worker.yaml

$(BUILD)/test/%: $(BUILD)/obj/test/%.o $(BUILD)/libtest.a $(BUILD)/libheadgate.a
	@mkdir -p $(@D)
	$(call quiet,LINK) $(CC) $(CFLAGS_ALL) $< -o $@ $(LDFLAGS_ALL) \
		$(if $(filter fuzz_%,$(notdir $@)),-fsanitize=fuzzer) \
		$(BUILD)/libtest.a $(BUILD)/libheadgate.a $(CMOCKA) -lssl $(LIBS)

ifneq ($(DEMO_SRC),)
$(BUILD)/test/demo/demo: $(DEMO_SRC:%.c=$(BUILD)/obj/%.o) $(BUILD)/libtest.a $(BUILD)/libheadgate.a
	@mkdir -p $(@D)
	$(call quiet,LINK) $(CC) $(CFLAGS_ALL) $^ -o $@ $(LDFLAGS_ALL) $(LIBS)
endif

# Only the embedded API server is made of test code; -lcmocka is not needed by any program.
define program
$(BUILD)/bin/$(1): $(BUILD)/obj/$(MAIN_$(1):.c=.o) $(if $(filter test/%,$(MAIN_$(1))),$(BUILD)/libtest.a) \
		$(BUILD)/libheadgate.a
	@mkdir -p $$(@D)
	$$(call quiet,LINK) $$(CC) $$(CFLAGS_ALL) $$^ -o $$@ $$(LDFLAGS_ALL) $$(LIBS)
endef
$(foreach p,$(notdir $(BIN)),$(eval $(call program,$p)))

# --- elsewhere on this machine ---------------------------------------------------------------------

PROGRAMS := headgate-webhook headgate-scheduler headgatectl
# Where the shells look for completions on their own.
COMPLETION_bash := share/bash-completion/completions/headgatectl
COMPLETION_zsh := share/zsh/site-functions/_headgatectl
COMPLETION_fish := share/fish/vendor_completions.d/headgatectl.fish
SHELLS := bash zsh fish
MAN := man1/headgatectl.1 man8/headgate-scheduler.8 man8/headgate-webhook.8
INSTALLED := $(PROGRAMS:%='$(DESTDIR)$(BINDIR)/%') $(MAN:%='$(DESTDIR)$(MANDIR)/%') \
	$(foreach s,$(SHELLS),'$(DESTDIR)$(PREFIX)/$(COMPLETION_$s)')

install: $(PROGRAMS:%=$(BUILD)/bin/%) $(MAN:%=$(BUILD)/man/%) $(SHELLS:%=$(BUILD)/completion/%) ## programs, manual pages, shell completions into $(DESTDIR)$(PREFIX); PREFIX=/usr/local
	install -d '$(DESTDIR)$(BINDIR)'
	install -m 0755 $(PROGRAMS:%=$(BUILD)/bin/%) '$(DESTDIR)$(BINDIR)'
	$(foreach m,$(MAN),install -D -m 0644 $(BUILD)/man/$m '$(DESTDIR)$(MANDIR)/$m' &&) true
	$(foreach s,$(SHELLS),install -D -m 0644 $(BUILD)/completion/$s '$(DESTDIR)$(PREFIX)/$(COMPLETION_$s)' &&) true

uninstall: ## removes what install puts there
	rm -f $(INSTALLED)

man: $(MAN:%=$(BUILD)/man/%) ## the manual pages, into build/man
# It needs nothing of the tests, so that what is installed does not either.
$(BUILD)/test/docs/flags_table: $(BUILD)/obj/test/docs/flags_table.o $(BUILD)/libheadgate.a
	@mkdir -p $(@D)
	$(call quiet,LINK) $(CC) $(CFLAGS_ALL) $^ -o $@ $(LDFLAGS_ALL) $(LIBS)
$(MAN:%=$(BUILD)/man/%): $(BUILD)/test/docs/flags_table
	@mkdir -p $(@D)
	$(call quiet,MAN) $< man $(basename $(@F)) >$@

$(BUILD)/completion/%: $(BUILD)/bin/headgatectl
	@mkdir -p $(@D)
	$(call quiet,SHELL) $< completion $* >$@

COMPILED := $(ALL_SRC) $(UNIT_SRC) $(SCENARIO_SRC) $(ADMISSION_SRC) $(INTEGRATION_SRC) $(SIM_SRC) $(REPLAY_SRC) \
	$(BENCH_SRC) $(FUZZ_SRC) $(wildcard test/docs/*.c)
comma := ,
compile_commands.json: FORCE ## how each file is compiled, for clangd and editors
	$(file >$@,[)
	$(foreach f,$(COMPILED),$(file >>$@,{"directory": "$(CURDIR)"$(comma) "file": "$f"$(comma) \
		"command": "$(strip $(CC) $(CFLAGS_ALL) $(call pure,$f)) -c $f"}$(if $(filter $f,$(lastword $(COMPILED))),,$(comma))))
	$(file >>$@,])
	@:

# --- tests ---------------------------------------------------------------------------------------

unit: $(UNIT_BIN) ## unit tests
	@$(RUN_TESTS) $(UNIT_BIN)

scenario: $(SCENARIO_BIN) ## objects in, decisions out
	@$(RUN_TESTS) $(SCENARIO_BIN)

admission: $(ADMISSION_BIN) ## admission reviews in, patches out
	@$(RUN_TESTS) $(ADMISSION_BIN)

integration: $(BIN) $(INTEGRATION_BIN) $(DOCS_BIN) ## daemons and embedded API server over sockets
	@$(RUN_TESTS) $(INTEGRATION_BIN) $(INTEGRATION_SH)

chart: $(BIN) $(DOCS_BIN) ## the Helm chart, rendered and run (needs helm and kubectl)
	@$(RUN_TESTS) $(CHART_SH)

sim: $(SIM_BIN) ## the deterministic simulation; ARGS="..." are given to it
	@$(if $(ARGS),$(foreach b,$(SIM_BIN),$b $(ARGS) &&) true,$(RUN_TESTS) $(SIM_BIN))

sim-fresh: $(SIM_BIN) ## random new seeds of the simulation for ARGS minutes (3); reports those that fail
	@BUILD=$(BUILD) test/sim/fresh.sh $(ARGS)

MUTANT_ENV := BUILD='$(BUILD)' CC='$(CC)' CFLAGS='$(CFLAGS_ALL)' LDFLAGS='$(LDFLAGS_ALL)' LIBS='$(LIBS)' CMOCKA='$(CMOCKA)'

mutants: $(BIN) $(SUITE_BIN) $(DOCS_BIN) ## random breakages, one line each, that some test must notice; ARGS="COUNT SEED"
	@$(MUTANT_ENV) TESTS='$(SUITE_BIN)' SCRIPTS='$(INTEGRATION_SH)' DOCS='$(DOCS_BIN)' \
		PROGRAMS='$(foreach p,$(notdir $(BIN)),$p=$(MAIN_$p))' test/mutants/random.sh $(ARGS)

# The tests that the rows of listed.txt name.
LISTED_BIN := $(addprefix $(BUILD)/test/,$(sort $(shell \
	sed -n 's/.* ||| .* ||| .* ||| .* ||| \([^ ]*\).*/\1/p' test/mutants/listed.txt)))

mutants-listed: $(BIN) $(SIM_BIN) $(LISTED_BIN) ## chosen breakages that a test must notice; ARGS=NUMBER: one of them
	@$(MUTANT_ENV) test/mutants/listed.sh $(ARGS)

lint: lib $(BUILD)/libtest.a $(DOCS_BIN) ## the rules of the house over the tree
	@$(RUN_TESTS) $(LINTS)

conformance: $(BUILD)/bin/headgatectl ## recorded scheduling cases of $CONFORMANCE, if they are there
	@BUILD=$(BUILD) CONFORMANCE=$(CONFORMANCE) test/conformance/run.sh $(ARGS)

suite: $(BIN) $(SUITE_BIN) $(DOCS_BIN) ## all tests, no lints
	@$(RUN_TESTS) $(INTEGRATION_SH) test/chart/test_install.sh $(filter-out $(LEAVE_OUT),$(SUITE_BIN))

test: $(BIN) $(SUITE_BIN) $(DEMO_BIN) $(DOCS_BIN) ## all tests and lints
	@$(RUN_TESTS) $(CHART_SH) $(DEMO_SH) $(LINTS) $(INTEGRATION_SH) $(SUITE_BIN)

ifeq ($(WERROR),)
check: ## as -Werror: build, unit, scenario, admission, lints
	@$(MAKE) BUILD=$(BUILD)/check WERROR=1 check
else
check: all $(SUITE_BIN) $(BENCH_BIN) $(DEMO_BIN) $(DOCS_BIN)
	@$(RUN_TESTS) $(CHECK_BIN) test/chart/test_render.sh $(LINTS)
endif

# For slow builds: fewer random fleets, and none of the long traces, which go the same ways.
FLEET_TRACE := %/test_fleet_trace

check-asan: ## the suite under AddressSanitizer and UndefinedBehaviorSanitizer, the simulations by a sample
	@SIM_SAMPLE=20 FLEET_WORLDS=10 UBSAN_OPTIONS=print_stacktrace=1 TEST_TIMEOUT=3600 \
		$(MAKE) BUILD=$(BUILD)/asan OPT=-O1 SAN=address,undefined LEAVE_OUT=$(FLEET_TRACE) suite

# ThreadSanitizer of these compilers cannot place its shadow under full address randomisation.
check-tsan: ## the tests of everything that has threads, under ThreadSanitizer
	@WRAP="$$(setarch -R true 2>/dev/null && echo setarch -R)" TSAN_OPTIONS="halt_on_error=1 suppressions=$(CURDIR)/test/lib/tsan.supp" \
		TEST_TIMEOUT=3600 $(MAKE) BUILD=$(BUILD)/tsan OPT=-O1 SAN=thread suite

# A run starts without the counts of the one before.
ifeq ($(COVERAGE),)
coverage: ## lines and branches that the tests reach, by folder; fails below the floors of test/coverage
	@FLEET_WORLDS=20 TEST_TIMEOUT=3600 $(MAKE) BUILD=$(BUILD)/coverage OPT=-O0 COVERAGE=1 coverage
else
coverage: $(BIN) $(SUITE_BIN)
	@find $(BUILD) -name '*.gcda' -delete
	@$(RUN_TESTS) $(filter-out $(FLEET_TRACE) $(SIM_BIN),$(SUITE_BIN))
	@test/coverage/report.sh $(BUILD)/obj
endif

clang-check: ## everything compiles without a warning with clang
	@$(MAKE) BUILD=$(BUILD)/clang CC=$(CLANG) WERROR=1 all \
		$(patsubst $(BUILD)/%,$(BUILD)/clang/%,$(SUITE_BIN) $(BENCH_BIN) $(DEMO_BIN))

fuzz-bin: $(FUZZ_BIN) ## the fuzz targets alone (CC=clang-14 SAN=address,undefined FUZZ=1)

fuzz-smoke: fuzz ## the same as fuzz
fuzz: ## every fuzz target over its corpus and for FUZZ_SECONDS more
	@$(MAKE) BUILD=$(BUILD)/fuzz CC=$(CLANG) SAN=address,undefined FUZZ=1 fuzz-bin
	@FUZZ_SECONDS=$(FUZZ_SECONDS) LOG_DIR=$(BUILD)/fuzz/test-logs test/lib/run_fuzz.sh \
		$(patsubst $(BUILD)/%,$(BUILD)/fuzz/%,$(FUZZ_BIN))

bench: $(BIN) $(BENCH_BIN) $(BENCH_PEER) ## figures and ratios
	@set -e; for b in $(BENCH_BIN) $(BENCH_SH); do BUILD=$(BUILD) $$b $(ARGS); done

e2e: $(BIN) image $(REPLAY_BIN) $(INTEGRATION_BIN) ## scenarios on real Kubernetes (needs Go 1.26); ARGS="SCENARIO=2" one, ARGS=--serve none
	@BUILD=$(BUILD) test/e2e/run.sh $(ARGS)

bench-e2e: $(BIN) ## beside kube-scheduler on real Kubernetes (needs Go 1.26); BENCH_PODS=200 BENCH_NODES=50 is short
	@BUILD=$(BUILD) test/e2e/bench.sh

bench-quota: $(BIN) ## Kueue's performance runner, beside Kueue on real Kubernetes (needs Go 1.26); BENCH_SHARE=0.05 is short
	@BUILD=$(BUILD) test/e2e/bench.sh quota

bench-fleet: $(BIN) ## the manager of MultiKueue beside Kueue's on real Kubernetes (needs Go 1.26); BENCH_JOBS=50 is short
	@BUILD=$(BUILD) test/e2e/bench.sh fleet

differential: $(BUILD)/bin/headgatectl ## random clusters against Kueue's scheduler (needs Go 1.26); ARGS="N SEED"
	@BUILD=$(BUILD) test/differential/run.sh $(ARGS)

differential-volcano: $(BUILD)/bin/headgatectl ## random clusters against the scheduler of Volcano, sources in VOLCANO_SRC (needs Go 1.26); ARGS="N SEED"
	@BUILD=$(BUILD) VOLCANO_SRC=$(VOLCANO_SRC) test/differential/volcano/run.sh $(ARGS)

differential-mutants: $(BUILD)/bin/headgatectl ## deliberate breakages that this comparison must notice; ARGS="NUMBER": one
	@$(MUTANT_ENV) test/differential/mutants.sh $(ARGS)

demo: $(BIN) $(BUILD)/test/demo/demo ## the whole system on this machine; draws build/demo/timeline.svg; ARGS=fleet: many clusters
	@mkdir -p $(BUILD)/demo
	@BUILD=$(BUILD) $(BUILD)/test/demo/demo --picture $(BUILD)/demo/timeline.svg --kubeconfigs $(BUILD)/demo $(ARGS)

# --- the image ----------------------------------------------------------------------------------

IMAGE := $(BUILD)/headgate-image.tar

CHART_VALUES := charts/headgate/values.schema.json charts/headgate/values.yaml
docs: $(BIN) $(DOCS_BIN) ## writes the pages, and parts of pages, that are made from the code and the chart
	@$(BUILD)/test/docs/values_table $(CHART_VALUES) >$(BUILD)/values.md && mv $(BUILD)/values.md docs/values.md
	@$(BUILD)/test/docs/metrics_table test/docs/metrics.md >$(BUILD)/metrics.md && mv $(BUILD)/metrics.md docs/reference/metrics.md
	@$(BUILD)/test/docs/flags_table markdown >$(BUILD)/flags.md && mv $(BUILD)/flags.md docs/reference/flags.md
	@$(BUILD)/test/docs/flags_table chart >$(BUILD)/flags.yaml && mv $(BUILD)/flags.yaml charts/headgate/files/flags.yaml
	@BUILD=$(BUILD) test/integration/test_docs.sh --write

image: $(PROGRAMS:%=$(BUILD)/bin/%) ## the programs and what they need as an OCI image
	@image/build.sh $(BUILD)/bin $(IMAGE)

image-reproduce: image ## builds a copy of the tree elsewhere and compares the bytes of the image
	@image/reproduce.sh $(IMAGE)

image-check: image $(BUILD)/test/demo/demo ## the demo with both daemons confined to the image
	@image/check.sh $(IMAGE) $(BUILD)

# --- a release -----------------------------------------------------------------------------------

# Each architecture is built against Debian's packages of the day, unpacked beside the build; they are fetched
# again after make clean.
TRIPLET_amd64 := x86_64-linux-gnu
TRIPLET_arm64 := aarch64-linux-gnu
ARCH_BUILDS := $(BUILD)/arch/amd64 $(BUILD)/arch/arm64
release: $(ARCH_BUILDS:%=%/started) $(BUILD)/man/man1/headgatectl.1 ## image index, chart, static headgatectl, SBOM, checksums, into build/release; RELEASE_KEY=FILE signs
	@SYSROOTS=$(BUILD)/sysroot MANUAL=$(BUILD)/man/man1/headgatectl.1 image/release.sh $(BUILD)/release $(ARCH_BUILDS)

$(BUILD)/arch/%/started: FORCE
	@image/tools.sh $* $(TRIPLET_$*)
	@image/sysroot.sh $* $(BUILD)/sysroot/$*
	@image/static.sh $(TRIPLET_$*)-gcc $(BUILD)/sysroot/$* $(BUILD)/static/$*
	@$(MAKE) BUILD=$(BUILD)/arch/$* CC=$(TRIPLET_$*)-gcc AR=$(TRIPLET_$*)-ar STRIP=$(TRIPLET_$*)-strip PKG_CONFIG=false \
		SYSROOT=$(BUILD)/sysroot/$* STATIC=$(BUILD)/static/$* image $(BUILD)/arch/$*/headgatectl
	@image/start.sh $* $(BUILD)/arch/$* && touch $@

# Without anything of the machine that it will run on. getaddrinfo warns that it would load modules for name
# services; files and DNS are in the C library itself.
$(BUILD)/headgatectl: $(BUILD)/obj/$(MAIN_headgatectl:.c=.o) $(BUILD)/libheadgate.a
	$(call quiet,STATIC) $(CC) $(CFLAGS_ALL) $^ -o $@ $(LDFLAGS_ALL) -static-pie -L$(STATIC)/lib \
		-lcurl -lnghttp2 -lssl -lcrypto -lcjson -lyaml -lm 2>$@.log || { cat $@.log; exit 1; }
	@$(STRIP) --strip-all $@

# --- analysis ------------------------------------------------------------------------------------

# ANALYZE_SAMPLE=PERCENT: gcc and clang-tidy look at a part of the files alone; ANALYZE_SEED draws the same part again.
ANALYZED := $(LIB_SRC)
ifneq ($(ANALYZE_SAMPLE),)
ifeq ($(ANALYZE_SEED),)
ANALYZE_SEED := $(shell . test/lib/draw.sh; new_seed)
endif
ANALYZED := $(shell . test/lib/draw.sh; printf '%s\n' $(LIB_SRC) | draw $(ANALYZE_SEED) $(ANALYZE_SAMPLE))
$(info $(ANALYZE_SAMPLE) % of the files, the same again: make analyze ANALYZE_SAMPLE=$(ANALYZE_SAMPLE) ANALYZE_SEED=$(ANALYZE_SEED))
endif
TIDY_OK := $(ANALYZED:%.c=$(BUILD)/tidy/%.ok)
ANALYZER_OK := $(ANALYZED:%.c=$(BUILD)/analyzer/%.ok)

analyze: $(ANALYZER_OK) $(TIDY_OK) $(BUILD)/cppcheck.ok ## gcc -fanalyzer, clang-tidy, cppcheck and go vet
	@echo "the analysers found nothing"
	@$(RUN_TESTS) test/lib/go_vet.sh

# Depending on the object means: again when any header of the file changed. The null checks of gcc 12
# do not connect a count of 0 with its NULL array; those of clang below do.
$(BUILD)/analyzer/%.ok: $(BUILD)/obj/%.o
	@mkdir -p $(@D)
	$(call quiet,GCC-A) $(CC) $(filter-out -fsanitize=%,$(CFLAGS_ALL)) $(call pure,$*.c) -fanalyzer \
		-Wno-analyzer-null-dereference -Wno-analyzer-null-argument \
		-Werror -c $*.c -o /dev/null && touch $@

$(BUILD)/tidy/%.ok: $(BUILD)/obj/%.o .clang-tidy
	@mkdir -p $(@D)
	$(call quiet,TIDY) $(CLANG_TIDY) --quiet --warnings-as-errors='*' $*.c -- -std=gnu17 \
		-D_GNU_SOURCE $(INCLUDES) 2>/dev/null && touch $@

$(BUILD)/cppcheck.ok: $(LIB_OBJ)
	@mkdir -p $(BUILD)/cppcheck
	$(call quiet,CPPCHK) cppcheck -j $(NPROC) --cppcheck-build-dir=$(BUILD)/cppcheck --quiet \
		--std=c11 --enable=warning,performance,portability --inline-suppr \
		--suppress=missingIncludeSystem --suppress=normalCheckLevelMaxBranches \
		--suppressions-list=test/lint/cppcheck.suppress --error-exitcode=1 \
		-D_GNU_SOURCE -D__GNUC__=12 $(INCLUDES) $(LIB_SRC) && touch $@

format: ## apply clang-format 14
	@$(CLANG_FORMAT) -i $(FORMATTED)

clean: ## remove the build folder
	rm -rf $(BUILD)

-include $(COMPILED:%.c=$(BUILD)/obj/%.d)
