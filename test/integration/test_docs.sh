#!/bin/sh
# The commands of docs/quota.md print what the page shows below them. With --write their output is
# put into the page instead. BUILD: the build folder (build).
set -eu
cd "$(dirname "$0")/../.."
page=docs/quota.md
bin=$(cd "${BUILD:-build}/bin" && pwd)
new=$(mktemp)
trap 'rm -f "$new"' EXIT

# In a fenced block, all between a command and the next one, or the end, is its output.
PATH=$bin:$PATH awk '
/^```/ { fenced = !fenced; shown = 0 }
fenced && /^\$ headgatectl / {
	if (shown) {
		print ""
	}
	print
	command = substr($0, 3) " 2>&1"
	while ((command | getline line) > 0) {
		print line
	}
	close(command)
	shown = 1
	commands++
	next
}
!shown { print }
END { exit commands == 0 }' "$page" >"$new" || {
	echo "FAILED: $page shows no command"
	exit 1
}
if [ "${1:-}" = --write ]; then
	cat "$new" >"$page"
elif ! diff -u "$page" "$new"; then
	echo "FAILED: $page does not show what its commands print: test/integration/test_docs.sh --write"
	exit 1
fi
