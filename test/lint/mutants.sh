#!/bin/sh
# Every row of a mutants.txt finds its line exactly once: a mutant that cannot be made is not caught
# either.
. "$(dirname "$0")/lib.sh"

awk -F ' [|][|][|] ' '
	/^#/ { next }
	{
		found = 0
		while ((getline line < $2) > 0) {
			gsub(/^[ \t]+|[ \t]+$/, "", line)
			found += line == $3
		}
		close($2)
		if (found != 1) {
			printf "%s:%d: %s has this line %d times: %s\n", FILENAME, FNR, $2, found, $3
		}
	}' test/*/mutants.txt >"$FOUND"
finish
