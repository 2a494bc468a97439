#!/bin/sh
# run_fuzz.sh PROGRAM...: runs each libFuzzer program over test/fuzz/corpus/<name> and then for
# FUZZ_SECONDS (5) on its own inputs; <name> is the program's without "fuzz_". Inputs that broke a
# program stay in LOG_DIR. The last line is "N passed, N failed".
set -u
# shellcheck source=test/lib/count.sh
. "$(dirname "$0")/count.sh"
FUZZ_SECONDS=${FUZZ_SECONDS:-5}
LOG_DIR=${LOG_DIR:-build/fuzz/test-logs}
passed=0
failed=0

mkdir -p "$LOG_DIR"
for program; do
	name=$(basename "$program" | sed 's/^fuzz_//')
	seeds=test/fuzz/corpus/$name
	found=$(dirname "$program")/corpus/$name
	dict=
	[ ! -f "test/fuzz/$name.dict" ] || dict=-dict=test/fuzz/$name.dict
	mkdir -p "$found"
	[ -d "$seeds" ] || seeds=
	# shellcheck disable=SC2086
	if "./$program" -max_total_time="$FUZZ_SECONDS" -timeout=100 -rss_limit_mb=1024 -max_len=65536 \
		-artifact_prefix="$LOG_DIR/$name-" $dict "$found" $seeds >"$LOG_DIR/$name.log" 2>&1 </dev/null; then
		passed=$((passed + 1))
		printf '  ok     %s: %s\n' "$name" "$(grep -o 'Done .*' "$LOG_DIR/$name.log" | tail -n 1)"
	else
		failed=$((failed + 1))
		printf 'FAILED %s\n' "$name"
		# The lines about new coverage are many, and the failure stands below them. The input is needed
		# where the files of the run are gone.
		grep -v '^#[0-9]*[[:space:]]*[A-Z]\|NEW_FUNC' "$LOG_DIR/$name.log" | tail -n 50 | sed 's/^/    /'
		for input in "$LOG_DIR/$name"-crash-* "$LOG_DIR/$name"-timeout-* "$LOG_DIR/$name"-oom-*; do
			[ ! -f "$input" ] || printf '    input, gzip and base64: %s\n' "$(gzip -9 <"$input" | base64 -w 0)"
		done
	fi
done
count_line "$passed" "$failed" 0 | tee "$LOG_DIR/summary"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
