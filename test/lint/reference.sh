#!/bin/sh
# Pages that are made from tables are what the tables say, and their sources of manual pages format
# without a complaint.
. "$(dirname "$0")/lib.sh"
table=${BUILD:-build}/test/docs/flags_table

if [ ! -x "$table" ]; then
	echo "$table: build first" >"$FOUND"
	finish
fi
"$table" markdown 2>>"$FOUND" | cmp -s - docs/reference/flags.md ||
	echo "docs/reference/flags.md:1: not what \`make docs\` writes" >>"$FOUND"
if command -v groff >/dev/null; then
	for program in headgatectl headgate-scheduler headgate-webhook; do
		"$table" man $program | groff -man -Tutf8 -wall -z 2>&1 | sed "s|^|$program: |" >>"$FOUND"
	done
fi
finish
