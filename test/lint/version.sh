#!/bin/sh
# There is one version, that of common/process/version.h: the chart and its application have it, the newest
# numbered entry of the changelog is its, and no page names another image.
. "$(dirname "$0")/lib.sh"
chart=charts/headgate/Chart.yaml

version=$(sed -n 's/^#define HEADGATE_VERSION "\(.*\)"/\1/p' common/process/version.h)
[ -n "$version" ] || echo "common/process/version.h:1: defines no HEADGATE_VERSION" >>"$FOUND"

# is_it FILE LINE WORD...: each word is the version.
is_it() {
	place=$1
	shift
	for word; do
		[ "$word" = "$version" ] || echo "$place: $word, but common/process/version.h has $version" >>"$FOUND"
	done
}

for key in version appVersion; do
	grep -q "^$key: " "$chart" || echo "$chart:1: lacks $key" >>"$FOUND"
	grep -n "^$key: " "$chart" | tr -d '"' | while IFS=': ' read -r line _ word; do
		is_it "$chart:$line" "$word"
	done
done
newest=$(grep -nE '^## \[[0-9]' CHANGELOG.md | head -n 1) || echo "CHANGELOG.md:1: has no version" >>"$FOUND"
is_it "CHANGELOG.md:${newest%%:*}" "$(printf '%s' "$newest" | sed 's/.*\[\(.*\)\].*/\1/')"
grep -nroE '\bheadgate[:-][0-9]+\.[0-9]+\.[0-9]+' README.md docs charts | while IFS=: read -r file line image; do
	is_it "$file:$line" "${image#headgate?}"
done
finish
