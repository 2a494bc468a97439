#!/bin/sh
# Every dir/foo.c has test/unit/dir/test_foo.c. units.waiver: "path reason"; a row that is not
# needed any more is a finding.
. "$(dirname "$0")/lib.sh"

waivers "test/lint/units.waiver" >"$FOUND.waived"
sources '*.c' | grep -v -e '^test/' -e '/main\.c$' | while read -r c; do
	test="test/unit/$(dirname "$c")/test_$(basename "$c")"
	waived=$(awk -v c="$c" '$1 == c { print NF }' "$FOUND.waived")
	if [ -f "$test" ]; then
		[ -z "$waived" ] || echo "test/lint/units.waiver:1: not needed any more: $c"
	elif [ -z "$waived" ]; then
		echo "$c:1: has no $test"
	elif [ "$waived" -lt 2 ]; then
		echo "test/lint/units.waiver:1: $c: a reason is missing"
	fi
done >"$FOUND"
awk '{ print $1 }' "$FOUND.waived" | while read -r c; do
	[ -f "$c" ] || echo "test/lint/units.waiver:1: no such file: $c"
done >>"$FOUND"
rm -f "$FOUND.waived"
finish
