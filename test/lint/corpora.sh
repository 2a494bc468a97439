#!/bin/sh
# Each fuzz target begins with at least MIN inputs of its own: from random bytes it would not get far in a run
# of seconds. A corpus without a target is never read.
. "$(dirname "$0")/lib.sh"
MIN=10

sources 'fuzz_*.c' | while read -r c; do
	name=$(basename "$c" .c)
	corpus=test/fuzz/corpus/${name#fuzz_}
	n=$(find "$corpus" -type f 2>/dev/null | wc -l)
	[ "$n" -ge "$MIN" ] || echo "$c:1: $n inputs in $corpus, and not $MIN"
done >"$FOUND"
for input in test/fuzz/corpus/*/*; do
	name=$(basename "$(dirname "$input")")
	[ ! -f "$input" ] || [ -f "test/fuzz/fuzz_$name.c" ] || echo "$input:1: there is no target fuzz_$name"
done >>"$FOUND"
finish
