#!/bin/sh
# The demos, as a stranger sees them: every promise holds, no line is wider than a terminal of 80 columns, and the
# picture is drawn.
set -u
cd "$(dirname "$0")/../.." || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

complain() {
	echo "FAILED $*"
	failed=$((failed + 1))
}

"${BUILD:-build}/test/demo/demo" --picture "$work/timeline.svg" >"$work/out" 2>&1 ||
	complain "exit code $?"
awk 'length($0) > 80 { print "wider than 80 columns: " $0; n++ } END { exit n > 0 }' "$work/out" ||
	complain "lines do not fit"
# How many things are on one line depends on how busy the machine is.
for text in 'every promise held' 'quota, gates? ' 'waits? behind' 'bought by the autoscaler' \
	'job-long is preempted and stops' '(is|are) complete' \
	'web-[0-5] needs? '; do
	grep -qE "$text" "$work/out" || complain "not in the story: $text"
done
"${BUILD:-build}/test/demo/demo" fleet >"$work/fleet" 2>&1 || {
	cat "$work/fleet"
	complain "many clusters"
}
# All but the tables of headgatectl.
awk '/^\$ headgatectl/ { table = 1 }
	/^  *[0-9.]* s  / { table = 0 }
	!table && length($0) > 80 { print "wider than 80 columns: " $0; n++ }
	END { exit n > 0 }' "$work/fleet" || complain "lines do not fit"
for text in 'worker3 admits hello' 'worker3 +Preempting .* its victims are on their way out' \
	'worker3 +Unreachable .* has the token' 'without gates +3 +7$' 'with gates +1 +1$' \
	'with gates, cut off +1 +1$'; do
	grep -qE "$text" "$work/fleet" || complain "not in the story of many clusters: $text"
done
for text in 'Three Jobs, quota for 4 CPU' 'ten-9' 'job-high-1' 'web-5'; do
	grep -qF "$text" "$work/timeline.svg" || complain "not in the picture: $text"
done
[ $failed -eq 0 ] || cat "$work/out"
exit $failed
