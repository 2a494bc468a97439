#!/bin/sh
# Every row of test/mutants/listed.txt, and of a mutants.txt of another test, finds its line exactly once: a mutant that cannot be made is not
# caught either. Those of equivalent.txt find theirs, behind the line before it, at least once.
. "$(dirname "$0")/lib.sh"
LISTED=test/mutants/listed.txt
EQUIVALENT=test/mutants/equivalent.txt

[ -f "$LISTED" ] || exit 0
set -- "$LISTED"
[ ! -f "$EQUIVALENT" ] || set -- "$LISTED" "$EQUIVALENT"
for more in test/*/mutants.txt; do
	[ ! -f "$more" ] || set -- "$@" "$more"
done
awk -F ' [|][|][|] ' -v equivalent="$EQUIVALENT" '
	/^#/ { next }
	{
		several = FILENAME == equivalent
		file = several ? $1 : $2
		found = 0
		before = ""
		while ((getline line < file) > 0) {
			gsub(/^[ \t]+|[ \t]+$/, "", line)
			found += line == $3 && (!several || before == $2)
			before = line
		}
		close(file)
		if (found == 0 || (found > 1 && !several)) {
			printf "%s:%d: %s has this line %d times: %s\n", FILENAME, FNR, file, found, $3
		}
	}' "$@" >"$FOUND"
finish
