#!/bin/sh
# Every row of test/sim/mutants.txt finds its line exactly once: a mutant that cannot be made is not
# caught either.
. "$(dirname "$0")/lib.sh"
ROWS=test/sim/mutants.txt

[ -f "$ROWS" ] || exit 0
awk -F ' [|][|][|] ' -v rows="$ROWS" '
	/^#/ { next }
	{
		found = 0
		while ((getline line < $2) > 0) {
			gsub(/^[ \t]+|[ \t]+$/, "", line)
			found += line == $3
		}
		close($2)
		if (found != 1) {
			printf "%s:%d: %s has this line %d times: %s\n", rows, FNR, $2, found, $3
		}
	}' "$ROWS" >"$FOUND"
finish
