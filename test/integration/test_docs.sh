#!/bin/sh
# What pages say of the code is so: docs/quota.md shows what its commands print and the events that there
# are, docs/threat-model.md names tests that there are. With --write the commands' output is put into the page
# instead. BUILD: the build folder (build).
set -eu
cd "$(dirname "$0")/../.."
page=docs/quota.md
bin=$(cd "${BUILD:-build}/bin" && pwd)
new=$(mktemp)
trap 'rm -f "$new"' EXIT

# In a fenced block, all between a command and the next one, or the end, is its output.
PATH=$bin:$PATH awk '
/^```/ { fenced = !fenced; shown = 0 }
fenced && /^\$ headgatectl / {
	if (shown) {
		print ""
	}
	print
	command = substr($0, 3) " 2>&1"
	while ((command | getline line) > 0) {
		print line
	}
	close(command)
	shown = 1
	commands++
	next
}
!shown { print }
END { exit commands == 0 }' "$page" >"$new" || {
	echo "FAILED: $page shows no command"
	exit 1
}

# Events: each of the page's tables is one that the code tells, and the other way round. Names that
# are put together (EvictedDueTo...) are only looked for by their beginning.
told=$(cat scheduler/workloads/status/*.c scheduler/workloads/engine/*.c scheduler/workloads/owners/*.c \
	scheduler/workloads/writes/preemption_cost.c | tr '\n\t' '  ' |
	grep -oE '(tell|recorder_event|plan_pod_delete)\([^;]*;' | grep -oE '"[A-Z][A-Za-z]+"' |
	tr -d '"' | grep -vxE 'Job|Pod|Workload' | sort -u)
shown=$(awk '/^## /{ on = $0 == "## Events" } on && /^\| `/' $page | cut -d'|' -f2 |
	tr '\140' '\n' | grep -xE '[A-Z][A-Za-z]+' | sort -u)
for event in $told; do
	echo "$shown" | grep -qx "$event" || {
		echo "FAILED: $page does not show the event $event"
		exit 1
	}
done
for event in $shown; do
	case $event in EvictedDueTo*) event=EvictedDueTo ;; esac
	grep -rqE "\"$event(%s|[A-Za-z]*)\"" scheduler/workloads || {
		echo "FAILED: $page shows an event that nobody tells: $event"
		exit 1
	}
done

# The threat model names tests, files of tests, scenarios and fuzz targets that there are.
model=docs/threat-model.md
for name in $(tr '\140' ' ' <$model | grep -oE ' (test_[a-z0-9_]+|Test[A-Za-z0-9]+|fuzz_[a-z0-9_]+|[a-z0-9_]+[.]yaml) ' |
	tr -d ' ' | sort -u); do
	case $name in
	*.yaml) found=$(find test/scenario test/admission -name "$name") ;;
	Test*) found=$(grep -rl "^func $name(" test/e2e) || true ;;
	*) found=$(find test -name "$name.c" -o -name "$name.sh" -o -name "$name.txt"
		grep -rlE "^(static void )?$name\(" test/unit test/integration) || true ;;
	esac
	[ -n "$found" ] || {
		echo "FAILED: $model names a test that is not there: $name"
		exit 1
	}
done
if [ "${1:-}" = --write ]; then
	cat "$new" >"$page"
elif ! diff -u "$page" "$new"; then
	echo "FAILED: $page does not show what its commands print: test/integration/test_docs.sh --write"
	exit 1
fi
