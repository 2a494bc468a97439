#!/bin/sh
# run_tests.sh PROGRAM...: runs test programs, a few at a time, in the order given, and counts what passed.
#
# A program that speaks TAP (cmocka does) counts test by test; a script (*.sh) is one test that
# passes by exit code 0 and is skipped by exit code 77. Output appears only for what failed, one line for
# what was skipped, and the slowest programs with their seconds. The last line is "N passed, N failed",
# followed by ", N skipped" when something was; exit 1 when something failed or nothing ran.
#
# JOBS: how many at a time (two more than processors, since those with daemons mostly wait). WRAP: a command put before each program.
# TEST_TIMEOUT: seconds for one program (900). LOG_DIR: where the outputs stay (build/test-logs).
set -u
# shellcheck source=test/lib/count.sh
. "$(dirname "$0")/count.sh"

JOBS=${JOBS:-$(($(nproc) + 2))}
LOG_DIR=${LOG_DIR:-build/test-logs}
export LOG_DIR WRAP="${WRAP:-}" TEST_TIMEOUT="${TEST_TIMEOUT:-900}"

# Where the output of a program goes, without suffix.
log_of() {
	printf '%s/%s' "$LOG_DIR" "$(printf '%s' "$1" | tr -c 'A-Za-z0-9._-' '_')"
}

if [ "${1:-}" = --one ]; then
	log=$(log_of "$2")
	began=$(date +%s%N)
	case $2 in
	/*) program=$2 ;;
	*) program=./$2 ;;
	esac
	# timeout leads a process group of its own: what a test leaves running ends with it.
	# shellcheck disable=SC2086
	CMOCKA_MESSAGE_OUTPUT=TAP timeout -k 5 "$TEST_TIMEOUT" $WRAP "$program" \
		>"$log.log" 2>&1 </dev/null &
	group=$!
	trap 'kill -9 -- "-$group" 2>/dev/null; exit 1' INT TERM HUP
	wait "$group"
	echo $? >"$log.rc"
	echo "$((($(date +%s%N) - began) / 1000000)) $2" >"$log.ms"
	kill -9 -- "-$group" 2>/dev/null
	exit 0
fi

# The output without the tests that passed; of the rows of a table (unit_row), the one before what failed.
failing_rows() {
	awk '
		/^ok / { row = ""; next }
		/^# row / { row = $0; next }
		row != "" { print row; row = "" }
		{ print }' "$1"
}

mkdir -p "$LOG_DIR"
for program; do
	log=$(log_of "$program")
	rm -f "$log.log" "$log.rc" "$log.ms"
done
for program; do
	printf '%s\n' "$program"
done | xargs -r -P "$JOBS" -n 1 "$0" --one

passed=0
failed=0
skipped=0
for program; do
	log=$(log_of "$program")
	rc=$(cat "$log.rc" 2>/dev/null || echo 127)
	bad=$(grep -av '# SKIP' "$log.log" | grep -ac '^not ok ')
	good=$(grep -av '# SKIP' "$log.log" | grep -ac '^ok ')
	skips=$(grep -aEc '^(not )?ok .*# SKIP' "$log.log")
	why=
	if [ "$rc" -eq 124 ] || [ "$rc" -eq 137 ]; then
		why="ended after $TEST_TIMEOUT s"
	elif [ "$rc" -eq "$SKIPPED" ] && [ "$((good + bad + skips))" -eq 0 ]; then
		skips=1
		printf 'skipped %s: %s\n' "$program" "$(tail -n 1 "$log.log")"
	elif [ "$rc" -ne 0 ] && [ "$bad" -eq 0 ]; then
		why="exit code $rc"
	elif [ "$((good + bad + skips))" -eq 0 ]; then
		case $program in
		*.sh) good=1 ;;
		*) why="ran no test" ;;
		esac
	fi
	[ -z "$why" ] || bad=$((bad + 1))
	passed=$((passed + good))
	failed=$((failed + bad))
	skipped=$((skipped + skips))
	sed -nE "s|^(not )?ok [0-9]+ (- )?# SKIP (.*)|skipped $program: \3|p" "$log.log"
	if [ "$bad" -gt 0 ]; then
		printf 'FAILED %s%s\n' "$program" "${why:+ ($why)}"
		failing_rows "$log.log" | head -n 200 | sed 's/^/    /'
	fi
done
[ $# -lt 10 ] || echo "the slowest:"
[ $# -lt 10 ] || for program; do
	cat "$(log_of "$program").ms" 2>/dev/null
done | LC_ALL=C sort -rn | head -n 10 | awk '{ printf "%8.1f s  %s\n", $1 / 1000, $2 }'
count_line "$passed" "$failed" "$skipped" | tee "$LOG_DIR/summary"
[ "$failed" -eq 0 ] && [ "$((passed + skipped))" -gt 0 ]
