#!/bin/sh
# Each header compiles alone, and its guard is its path. The build shows the first of those that their source
# includes before anything else.
. "$(dirname "$0")/lib.sh"

sources '*.h' >"$FOUND.files"
while read -r h; do
	want=$(echo "$h" | tr 'a-z/.-' 'A-Z___')
	guard=$(sed -n 's/^#ifndef \([A-Za-z0-9_]*\)$/\1/p' "$h" | head -1)
	if [ "$guard" != "$want" ] || ! grep -qx "#define $want" "$h"; then
		echo "$h:1: the include guard must be $want"
	fi
done <"$FOUND.files" >"$FOUND"
# Includes name a header by its path, from common/ or test/ on in those folders.
while read -r h; do
	first=$(sed -n '/^#include/{s/^#include "\(.*\)"$/\1/p;q;}' "${h%.h}.c" 2>/dev/null)
	[ "$first" = "${h#common/}" ] || [ "$first" = "${h#test/}" ] || echo "$h"
done <"$FOUND.files" >"$FOUND.alone"
# shellcheck disable=SC2016
xargs -P "$(nproc)" -I '{}' sh -c '
	out=$('"${CC:-gcc}"' -fsyntax-only -std=gnu17 -D_GNU_SOURCE -Wall -Werror -I. -Icommon \
		-Ischeduler -Iwebhook -Itest -x c - 2>&1 <<EOF
#include "$1"
EOF
	) || printf "%s:1: does not compile alone\n%s\n" "$1" "$out"' sh '{}' \
	<"$FOUND.alone" >>"$FOUND"
rm -f "$FOUND.files" "$FOUND.alone"
finish
