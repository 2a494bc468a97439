#!/bin/sh
# mutants.sh [NUMBER]: each row of mutants.txt makes a mutant of one file; headgatectl with it must
# differ from Kueue on one of CLUSTERS (1000) random clusters, from SEED (1) on. Speaks TAP. Run by
# `make differential-mutants`, which gives CC, CFLAGS, LDFLAGS, LIBS and BUILD.
set -u
BUILD=${BUILD:-build}
CLUSTERS=${CLUSTERS:-1000}
SEED=${SEED:-1}
here=$(dirname "$0")
OUT=$BUILD/differential-mutants

field() {
	grep -v '^#' "$here/mutants.txt" | sed -n "$1p" | awk -F ' [|][|][|] ' -v n="$2" '{ print $n }'
}

# Writes the file of row $1 with its line replaced.
mutate() {
	MUTANT_LINE=$(field "$1" 3) MUTANT_NEW=$(field "$1" 4) awk '
		{
			text = $0
			gsub(/^[ \t]+|[ \t]+$/, "", text)
			print text == ENVIRON["MUTANT_LINE"] ? ENVIRON["MUTANT_NEW"] : $0
		}' "$(field "$1" 2)"
}

# TAP of row number $1.
try() {
	name=$(field "$1" 1)
	base=$OUT/$1
	mutate "$1" >"$base.c"
	# shellcheck disable=SC2086
	if ! $CC $CFLAGS -w -c "$base.c" -o "$base.o" 2>"$base.log" ||
		! $CC $CFLAGS "$BUILD/obj/scheduler/ctl/main.o" "$base.o" -o "$base" $LDFLAGS \
			"$BUILD/libheadgate.a" $LIBS 2>>"$base.log"; then
		echo "not ok $1 - $name # does not build: $base.log"
		return
	fi
	"$program" -headgatectl "$base" -n "$CLUSTERS" -seed "$SEED" -shrink=false -stop 1 >"$base.log" 2>&1
	found=$(sed -n 's/^=== cluster \([0-9]*\):.*/\1/p' "$base.log")
	if [ -n "$found" ]; then
		echo "ok $1 - $name # cluster $found"
	else
		echo "not ok $1 - $name # survived $CLUSTERS clusters"
	fi
}

mkdir -p "$OUT"
program=$("$here/build.sh") || exit 1
rows=$(grep -cv '^#' "$here/mutants.txt")
echo "1..$rows"
failed=0
for i in $(seq "${1:-1}" "${1:-$rows}"); do
	line=$(try "$i")
	echo "$line"
	case $line in not*) failed=1 ;; esac
done
exit $failed
