#!/bin/sh
# The last line of a run: passed, failed and skipped of TAP programs and scripts are summed, a
# program that breaks is a failure, and the line is read back where the steps of a run are summed.
. "$(dirname "$0")/lib.sh"
# shellcheck source=test/lib/count.sh
. "$LINT/../lib/count.sh"
runner=$(cd "$LINT/../lib" && pwd)/run_tests.sh
work=$(mktemp -d)
trap 'rm -rf "$work" "$FOUND"' EXIT
cd "$work" || exit 1

# program NAME LINE...: a script of these lines.
program() {
	name=$1
	shift
	{
		echo '#!/bin/sh'
		printf '%s\n' "$@"
	} >"$name"
	chmod +x "$name"
}

# expect RC LINE PROGRAM...: the runner's exit code and last line.
expect() {
	rc=$1
	line=$2
	shift 2
	LOG_DIR=$work/logs JOBS=2 "$runner" "$@" >out 2>&1
	got=$?
	[ "$got" -eq "$rc" ] || echo "test/lib/run_tests.sh:1: $*: exit code $got, not $rc" >>"$FOUND"
	[ "$(tail -n 1 out)" = "$line" ] ||
		echo "test/lib/run_tests.sh:1: $*: $(tail -n 1 out), not $line" >>"$FOUND"
}

# says TEXT: the output has this line.
says() {
	grep -qxF "$1" out || echo "test/lib/run_tests.sh:1: lacks: $1" >>"$FOUND"
}

# lacks TEXT: the output has no such line.
lacks() {
	! grep -qxF "$1" out || echo "test/lib/run_tests.sh:1: has: $1" >>"$FOUND"
}

program good.sh ':'
program bad.sh 'exit 3'
program absent.sh 'echo no tool' 'exit 77'
program tap 'echo ok 1 - a' 'echo ok 2 - b' 'echo "ok 3 # SKIP c"'
program tap_bad 'echo ok 1 - a' 'echo not ok 2 - b' 'exit 1'
program tap_ends 'echo ok 1 - a' 'exit 77'
program silent ':'
program binary 'printf "\\000\\nok 1 - a\\nok 2 - b\\n"'
program rows 'echo "# row a"' 'echo ok 1 - t' 'echo "# row b"' 'echo "# row c"' 'echo not ok 2 - u' 'exit 1'

expect 0 '1 passed, 0 failed' good.sh
expect 0 '0 passed, 0 failed, 1 skipped' absent.sh
says 'skipped absent.sh: no tool'
expect 0 '3 passed, 0 failed, 2 skipped' good.sh absent.sh tap
says 'skipped tap: c'
expect 1 '1 passed, 2 failed' good.sh bad.sh silent
expect 1 '2 passed, 1 failed' good.sh tap_bad
expect 1 '1 passed, 1 failed' tap_ends
expect 0 '2 passed, 0 failed' binary
expect 1 '1 passed, 1 failed' rows
says '    # row c'
lacks '    # row b'
expect 1 '0 passed, 1 failed' not_there
expect 1 '0 passed, 0 failed'

printf '%s\n' '1 passed, 2 failed' '3 passed, 0 failed, 4 skipped' '5 passed, 6 failed, 7' >log
[ "$(count_of log)" = '3 0 4' ] || echo "test/lib/count.sh:1: count_of gives $(count_of log)" >>"$FOUND"
finish
