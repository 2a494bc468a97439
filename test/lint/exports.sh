#!/bin/sh
# foo.o defines only foo and foo_*. Looks at the objects in $BUILD/obj; exports.waiver lists
# "source symbol reason" for what cannot follow the rule; a symbol may end in *.
. "$(dirname "$0")/lib.sh"
BUILD=${BUILD:-build}

waivers "test/lint/exports.waiver" >"$FOUND.waived"
find "$BUILD/obj" -name '*.o' 2>/dev/null | LC_ALL=C sort >"$FOUND.objects"
if [ ! -s "$FOUND.objects" ]; then
	echo "$BUILD/obj: no objects: build first" >"$FOUND"
	rm -f "$FOUND.waived" "$FOUND.objects"
	finish
fi
xargs nm -A -g --defined-only <"$FOUND.objects" | awk -v build="$BUILD/obj/" -v waived="$FOUND.waived" '
	BEGIN {
		while ((getline line < waived) > 0) {
			split(line, w, /[ \t]+/)
			waiver[w[1] " " w[2]] = 1
			if (sub(/\*$/, "", w[2]))
				prefix[w[1]] = w[2]
		}
	}
	{
		# "build/obj/common/base/err.o:0000000000000000 T err_set"
		split($1, at, ":")
		source = substr(at[1], length(build) + 1)
		sub(/\.o$/, ".c", source)
		stem = source
		sub(/.*\//, "", stem)
		sub(/\.c$/, "", stem)
		symbol = $NF
		if (symbol == "main" && (stem == "main" || source ~ /^test\//))
			next
		if (symbol == "LLVMFuzzerTestOneInput" && source ~ /^test\/fuzz\//)
			next
		if (symbol == stem || index(symbol, stem "_") == 1)
			next
		if (symbol ~ /^(__asan|__ubsan|__odr_asan|__tsan|__emutls|__x86|__start_|__stop_|DW\.ref)/)
			next
		if ((source " " symbol) in waiver)
			next
		if (source in prefix && index(symbol, prefix[source]) == 1)
			next
		print source " " symbol
	}' | while read -r source symbol; do
	# Objects of files that are gone do not count.
	[ -f "$source" ] && echo "$source: exports $symbol"
done >"$FOUND"
rm -f "$FOUND.waived" "$FOUND.objects"
finish
