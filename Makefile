# Headgate: one makefile, no recursion. `make help` lists the targets.
# Variants: make BUILD=build/asan SAN=address,undefined, make BUILD=build/tsan SAN=thread, CC=clang-14.

BUILD ?= build
CC := $(if $(filter default,$(origin CC)),gcc,$(CC))
SAN ?=
WERROR ?=
OPT ?= -O2

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wformat=2 -Wundef \
	-Wcast-qual -Wwrite-strings -Wswitch-enum -Wpointer-arith $(if $(WERROR),-Werror)
HARDEN := -fno-common -fstack-protector-strong -fPIE $(if $(SAN),,-D_FORTIFY_SOURCE=2)
SANFLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer)
CFLAGS_ALL := -std=gnu17 -D_GNU_SOURCE -g $(OPT) $(WARN) $(HARDEN) $(SANFLAGS) -pthread \
	-I. -Icommon -Ischeduler -Iwebhook -Itest $(CFLAGS)
LDFLAGS_ALL := -pie -Wl,-z,relro,-z,now -pthread $(SANFLAGS) $(LDFLAGS)
LIBS := -lmicrohttpd -lgnutls -lcurl -lssl -lcrypto -lcjson -lyaml -lm

# Decisions are pure: these folders are compiled with time, randomness, I/O and threads poisoned.
PURE := scheduler/model scheduler/tree scheduler/core scheduler/actions scheduler/plugins webhook/admit

LIB_SRC := $(sort $(filter-out %/main.c,$(wildcard common/*/*.c certs/*.c scheduler/*/*.c webhook/*/*.c)))
TESTLIB_SRC := $(sort $(filter-out %/main.c,$(wildcard test/lib/*.c test/apiserver/*.c test/sim/*.c test/scenario/*.c)))
LIB_OBJ := $(LIB_SRC:%.c=$(BUILD)/obj/%.o)
TESTLIB_OBJ := $(TESTLIB_SRC:%.c=$(BUILD)/obj/%.o)
UNIT_SRC := $(sort $(wildcard test/unit/*/test_*.c))
UNIT_BIN := $(UNIT_SRC:%.c=$(BUILD)/%)

.PHONY: all lib unit clean help
all: lib

help: ## list the targets
	@grep -hE '^[a-z][a-z-]*:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | sort | column -t -s '	'

lib: $(BUILD)/libheadgate.a

$(BUILD)/libheadgate.a: $(LIB_OBJ)
	@rm -f $@
	ar rcs $@ $^

$(BUILD)/libtest.a: $(TESTLIB_OBJ)
	@rm -f $@
	ar rcs $@ $^

$(BUILD)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(if $(filter $(PURE),$(patsubst %/,%,$(dir $<))),-include test/lint/pure.h) -MMD -MP -c $< -o $@

$(BUILD)/test/unit/%: test/unit/%.c $(BUILD)/libheadgate.a $(BUILD)/libtest.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -MMD -MP $< -o $@ $(LDFLAGS_ALL) $(BUILD)/libtest.a $(BUILD)/libheadgate.a -lcmocka $(LIBS)

unit: $(UNIT_BIN) ## build and run the unit tests
	@set -e; for t in $(UNIT_BIN); do echo "== $$t"; $$t; done

clean: ## remove the build folder
	rm -rf $(BUILD)

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
