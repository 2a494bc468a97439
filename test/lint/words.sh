#!/bin/sh
# Prose in comments, strings and pages uses the words of the house: no comment opens with What or Who, reports
# are reported and not told, objects are things and not persons. words.waiver has, for each folder, how many
# places do otherwise; it may only shrink. --write brings it up to date, unless there are more than before.
. "$(dirname "$0")/lib.sh"
waiver=test/lint/words.waiver

{
	sources '*.c' '*.h' '*.sh' '*.awk'
	for place in charts docs README.md CONTRIBUTING.md Makefile run .ci/run; do
		[ ! -e "$place" ] || find "$place" -type f ! -name '*.json'
	done
} | grep -v '^test/lint/words' | xargs awk -f "$LINT/words.awk" >"$FOUND.all"
cut -d ' ' -f 1 "$FOUND.all" | LC_ALL=C sort | uniq -c | awk '{ print $2, $1 }' >"$FOUND.counts"
waivers $waiver >"$FOUND.waived"
trap 'rm -f "$FOUND" "$FOUND".*' EXIT

if [ "${1:-}" = --write ]; then
	before=$(awk '{ n += $2 } END { print n + 0 }' "$FOUND.waived")
	now=$(awk '{ n += $2 } END { print n + 0 }' "$FOUND.counts")
	if [ "$before" -gt 0 ] && [ "$now" -gt "$before" ]; then
		echo "$waiver:1: $now places, $before before: the list only shrinks"
		exit 1
	fi
	{
		echo "# folder, and in how many places its prose is not in the words of the house; written by words.sh --write"
		cat "$FOUND.counts"
	} >$waiver
	exit 0
fi
# shellcheck disable=SC2016
awk -v waiver=$waiver '
	FILENAME ~ /waived$/ { allowed[$1] = $2; next }
	FILENAME ~ /counts$/ { count[$1] = $2; next }
	count[$1] > allowed[$1] + 0 {
		place = $0
		sub(/^[^ ]* /, "", place)
		print place " (" $1 " has " count[$1] " such places and may have " allowed[$1] + 0 ")"
	}
	END {
		for (folder in allowed)
			if (count[folder] + 0 < allowed[folder])
				print waiver ":1: " folder " has " count[folder] + 0 " places only: run test/lint/words.sh --write"
	}' "$FOUND.waived" "$FOUND.counts" "$FOUND.all" >"$FOUND"
finish
