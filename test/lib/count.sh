# shellcheck shell=sh
# Shared by everything that counts tests: `. test/lib/count.sh`. A script that cannot run here for want of
# a program says so on its last line of output and exits with SKIPPED, as automake's and meson's tests do.
# shellcheck disable=SC2034
SKIPPED=77

# count_line PASSED FAILED SKIPPED: the last line of a run.
count_line() {
	printf '%s passed, %s failed' "$1" "$2"
	[ "$3" -eq 0 ] || printf ', %s skipped' "$3"
	echo
}

# count_of LOG: "PASSED FAILED SKIPPED" of the last line in LOG that has the form of count_line, or nothing.
count_of() {
	sed -n 's/^\([0-9]\{1,\}\) passed, \([0-9]\{1,\}\) failed$/\1 \2 0/p
		s/^\([0-9]\{1,\}\) passed, \([0-9]\{1,\}\) failed, \([0-9]\{1,\}\) skipped$/\1 \2 \3/p' "$1" | tail -n 1
}
