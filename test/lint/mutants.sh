#!/bin/sh
# Every row of test/mutants/listed.txt finds its line exactly once: a mutant that cannot be made is not
# caught either. Those of equivalent.txt find theirs at least once.
. "$(dirname "$0")/lib.sh"
LISTED=test/mutants/listed.txt
EQUIVALENT=test/mutants/equivalent.txt

[ -f "$LISTED" ] || exit 0
set -- "$LISTED"
[ ! -f "$EQUIVALENT" ] || set -- "$LISTED" "$EQUIVALENT"
awk -F ' [|][|][|] ' -v equivalent="$EQUIVALENT" '
	/^#/ { next }
	{
		file = FILENAME == equivalent ? $1 : $2
		text = FILENAME == equivalent ? $2 : $3
		found = 0
		while ((getline line < file) > 0) {
			gsub(/^[ \t]+|[ \t]+$/, "", line)
			found += line == text
		}
		close(file)
		if (found == 0 || (found > 1 && FILENAME != equivalent)) {
			printf "%s:%d: %s has this line %d times: %s\n", FILENAME, FNR, file, found, text
		}
	}' "$@" >"$FOUND"
finish
