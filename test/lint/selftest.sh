#!/bin/sh
# Every lint passes a clean little tree and finds the one fault planted into it.
set -u
LINT=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=test/lib/count.sh
. "$LINT/../lib/count.sh"
TREE=$(mktemp -d)
cd "$TREE" || exit 1
unset BUILD
FAILURES=$(mktemp)
trap 'rm -rf "$TREE" "$FAILURES"' EXIT

# fails TEXT: on file, because expect runs at the end of a pipe, in a shell of its own.
fails() {
	echo "$1" | tee -a "$FAILURES"
}

# The clean tree: one file with header and test, compiled.
plant_clean() {
	rm -rf "${TREE:?}"/* && mkdir -p common/base common/enc common/process scheduler/base test/unit/common/base docs charts/headgate \
		build/obj/common/base
	cat >common/base/thing.h <<'EOF'
/* common/base/thing.h: a thing. */
#ifndef COMMON_BASE_THING_H
#define COMMON_BASE_THING_H

/* The thing of n. */
int thing_of(int n);

#endif
EOF
	cat >common/base/thing.c <<'EOF'
#include "base/thing.h"

int thing_of(int n)
{
	return n;
}
EOF
	: >test/unit/common/base/test_thing.c
	cat >common/process/version.h <<'EOF'
/* common/process/version.h: the version. */
#ifndef COMMON_PROCESS_VERSION_H
#define COMMON_PROCESS_VERSION_H

#define HEADGATE_VERSION "1.2.3"

#endif
EOF
	printf 'version: 1.2.3\nappVersion: "1.2.3"\n' >charts/headgate/Chart.yaml
	printf '# Changelog\n\n## [Unreleased]\n\n## [1.2.3] - 2026-01-01\n' >CHANGELOG.md
	: >README.md
	cp "$LINT/../../.clang-format" .
	"${CC:-gcc}" -Icommon -c common/base/thing.c -o build/obj/common/base/thing.o
}

# expect LINT WHAT < text to append to FILE: the lint passes before and fails after.
expect() {
	plant_clean
	"$LINT/$1.sh" >out 2>&1
	rc=$?
	if [ "$rc" -ne 0 ] && [ "$rc" -ne "$SKIPPED" ]; then
		fails "$1: finds something in a clean tree:" && cat out
	fi
	mkdir -p "$(dirname "$3")"
	cat >>"$3"
	[ "$1" != exports ] || "${CC:-gcc}" -Icommon -c "$3" -o build/obj/common/base/thing.o
	"$LINT/$1.sh" >out 2>&1
	rc=$?
	if [ "$rc" -ne "$SKIPPED" ] && { [ "$rc" -eq 0 ] || ! grep -q "$3" out; }; then
		fails "$1: does not find $2"
	fi
}

# repeat N TEXT
repeat() {
	i=0
	while [ "$i" -lt "$1" ]; do
		echo "$2"
		i=$((i + 1))
	done
}

echo '#include "enc/x.h"' | expect layers 'an unresolved include' common/base/none.c
echo '#include "base/thing.h"' | expect layers 'a folder without a row' common/extra/x.c
printf 'int other(void)\n{\n\treturn 1;\n}\n' | expect exports 'a foreign name' common/base/thing.c
printf '/* x */\n#ifndef WRONG_H\n#define WRONG_H\n#endif\n' |
	expect headers 'a wrong guard' common/base/bad.h
printf '/* x */\n#ifndef COMMON_BASE_BAD_H\n#define COMMON_BASE_BAD_H\nsize_t bad(void);\n#endif\n' |
	expect headers 'a header that needs another' common/base/bad.h
repeat 901 '' | expect sizes 'a long file' common/base/long.c
{ printf 'int f(void)\n{\n' && repeat 61 '	;' && printf '}\n'; } |
	expect sizes 'a long function' common/base/long.c
printf 'int f(int a, int b, int c,\n      int d, int e, int f, int g)\n{\n}\n' |
	expect sizes 'seven parameters' common/base/long.c
printf 'int f(void)\n{\n\tif (1) {\nwhile (1) {\nfor (;;) {\nif (1) {\nif (2) {\n}\n}\n}\n}\n}\n}\n' |
	expect sizes 'deep nesting' common/base/long.c
echo '#include <cJSON.h>' | expect thirdparty 'a library header' common/base/thing.c
echo '#include <strange.h>' | expect thirdparty 'an unknown header' common/base/thing.c
echo '#include <time.h>' | expect thirdparty 'an impure header' scheduler/pods/model/thing.c
echo '#include <time.h>' | expect thirdparty 'an impure header below' webhook/admit/kueue/thing.c
printf 'common/base\tcommon/none\n' | expect rooms 'a rule about a folder that is gone' test/lint/layers.txt
echo scheduler/core | expect rooms 'a pure folder that is gone' test/lint/pure.txt
printf 'void f(void)\n{\n\tstrcpy (a, b);\n}\n' | expect banned 'strcpy' common/base/thing.c
printf 'void f(void)\n{\n\tusleep(1);\n}\n' | expect banned 'a sleeping test' test/unit/common/base/test_thing.c
printf 'void f(void)\n{\n\t(void)poll(NULL, 0, 5);\n}\n' | expect banned 'a pause by poll' test/unit/common/base/test_thing.c
printf 'void f(void)\n{\n\tgmtime_r(a, b);\n}\n' | expect banned 'the calendar' common/base/thing.c
printf '/* %s: later */\n' TODO | expect banned 'unfinished work' common/base/thing.c
printf '\nint thing_other(int n);\n' | expect comments 'a prototype without contract' common/base/thing.h
printf '/* reci%s */\n' eve | expect spelling 'a typo' common/base/thing.c
printf 'int main(void)\n{\n\tint r;\n\n\tr = run();\n\thash_seed(rng_entropy(), rng_entropy());\n}\n' |
	expect seeded 'a program that seeds late' webhook/main/main.c
printf 'int main(void)\n{\n\thash_seed(0, 0);\n}\n' |
	expect seeded 'a program with a known key' webhook/main/main.c
: | expect corpora 'a target without inputs' test/fuzz/fuzz_thing.c
: | expect corpora 'inputs without a target' test/fuzz/corpus/thing/one
# shellcheck disable=SC2016
printf '#!/bin/sh\nrm $1\n' | expect shell 'an unquoted variable' test/bad.sh
printf 'package main\n\nvar  x int\n' | expect go 'bad format' test/e2e/x.go
echo 'm ||| common/base/thing.c ||| return m; ||| return 0;' |
	expect mutants 'a mutant without its line' test/mutants/listed.txt
echo 'int  x ;' | expect format 'bad format' common/base/thing.c
printf '/* %s stands here. */\n' What | expect words 'a comment that opens with What' common/base/thing.c
printf 'void f(struct api_preemption_gate_state *g)\n{\n\tg->position = "x";\n}\n' |
	expect dialects 'a field of a gate' common/base/thing.c
echo 'const char *f = "PreemptionBlocked";' | expect dialects 'a type of the condition' common/base/thing.c
printf 'The queue is %s of it.\n' told | expect words 'a report that is told' docs/page.md
echo 'docker load headgate:1.2.4' | expect version 'an image of another version' docs/page.md
echo 'version: 1.2.4' | expect version 'a chart of another version' charts/headgate/Chart.yaml
: | expect units 'a missing test' common/base/untested.c

# An upward include needs the target to exist.
plant_clean
printf '/* x */\n' >scheduler/base/up.h
printf '#include "scheduler/base/up.h"\n' >>common/base/thing.c
if "$LINT/layers.sh" >/dev/null; then
	fails "layers: does not find an upward include"
fi
[ ! -s "$FAILURES" ]
