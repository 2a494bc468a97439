#!/bin/sh
# Functions with a better replacement in common/base, sleeping tests, and unfinished work.
. "$(dirname "$0")/lib.sh"

sources '*.c' '*.h' | xargs awk -f "$LINT/strip.awk" -f "$LINT/banned.awk" >"$FOUND"
finish
