#!/bin/sh
# clang-format 14 decides. `make format` applies it.
. "$(dirname "$0")/lib.sh"
CLANG_FORMAT=${CLANG_FORMAT:-clang-format-14}

sources '*.c' '*.h' | xargs -P "$(nproc)" -n 20 "$CLANG_FORMAT" --dry-run -Werror 2>&1 |
	grep -E ': (error|warning):|not found|No such file' |
	sed 's/ \[-Wclang-format-violations\]//' | awk -F: '!seen[$1]++' >"$FOUND"
finish
