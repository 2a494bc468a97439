#!/bin/sh
# Each exported prototype has a contract: a comment directly above, on its line, or one for the
# block of prototypes that it belongs to (a block ends at an empty line). Each header says at its
# top what it is.
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2016
sources '*.h' | xargs awk '
	function end_block(    i) {
		if (!commented)
			for (i = 1; i <= n; i++)
				print waiting[i] ": prototype without a contract comment"
		n = commented = 0
	}
	FNR == 1 {
		if (file != "")
			end_block()
		file = FILENAME
		in_struct = in_define = 0
		in_top = !/\*\//
		if ($0 !~ /^\/\*/)
			print FILENAME ":1: the first line must be a comment that says what the header is"
		next
	}
	in_top { in_top = !/\*\//; next }
	/^$/ { end_block(); next }
	in_define { in_define = /\\$/; next }
	/^#define/ { in_define = /\\$/; next }
	/\/\*|^ \*/ { commented = 1 }
	/^(struct|enum|union|static)[^()]*\{$/ || /^\{$/ { in_struct = 1; next }
	/^\}/ { in_struct = 0; next }
	in_struct || /^(static|typedef|#|\/\*| \*|[ \t])/ { next }
	/^[A-Za-z_].*[( ][*A-Za-z_]+.*\(/ { waiting[++n] = FILENAME ":" FNR }
	END { end_block() }' >"$FOUND"
finish
