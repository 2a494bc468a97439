# shellcheck shell=sh
# Shared by the lints: `. "$(dirname "$0")/lib.sh"`. They check the tree in the current folder and
# print one line "path:line: what is wrong" per finding; finish() turns findings into the exit code.
# A check for which a program is missing calls skip().
# shellcheck disable=SC2034
LINT=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=test/lib/count.sh
. "$LINT/../lib/count.sh"
FOUND=$(mktemp)
skipped=
trap 'rm -f "$FOUND"' EXIT

# sources PATTERN...: our files with these names, sorted.
sources() {
	for dir in common certs scheduler webhook image test; do
		[ -d "$dir" ] || continue
		for pattern in "$@"; do
			find "$dir" -name "$pattern" -type f
		done
	done | LC_ALL=C sort
}

# Row by row "words... reason"; comments and empty lines dropped.
waivers() {
	[ -f "$1" ] || return 0
	sed -e '/^#/d' -e '/^[[:space:]]*$/d' "$1"
}

# skip REASON: what follows is not checked; the lint counts as skipped unless it finds something.
skip() {
	skipped=${skipped:+$skipped; }$1
}

finish() {
	if [ -s "$FOUND" ]; then
		cat "$FOUND"
		exit 1
	fi
	if [ -n "$skipped" ]; then
		echo "$skipped"
		exit "$SKIPPED"
	fi
	exit 0
}
