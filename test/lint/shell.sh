#!/bin/sh
# Every shell script passes shellcheck (where that is installed).
. "$(dirname "$0")/lib.sh"

if ! command -v shellcheck >/dev/null; then
	skip "shellcheck is not installed"
	finish
fi
{
	sources '*.sh'
	for script in run .ci/run; do
		[ -f "$script" ] && echo "$script"
	done
} | xargs shellcheck -x -e SC1091 -f gcc >"$FOUND"
finish
