#!/bin/sh
# The first steps that the pages show work as pasted: each page gets a demo of its own (demo --serve), its blocks of
# commands are run in order, and a command behind "$ " has to print what the page shows, in time. Without kubectl this
# is skipped.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=test/lib/count.sh
. test/lib/count.sh
BUILD=$(cd "${BUILD:-build}" && pwd)
if ! command -v kubectl >/dev/null 2>&1; then
	echo "no kubectl on this machine"
	exit "$SKIPPED"
fi
work=$(mktemp -d)
demo=
finish() {
	if [ -n "$demo" ]; then
		kill "$demo" 2>/dev/null
		wait "$demo"
	fi
	rm -rf "$work"
}
trap finish EXIT
export HOME="$work" PATH="$BUILD/bin:$PATH"
failed=0

complain() {
	echo "FAILED $*"
	failed=$((failed + 1))
}

# begin: a demo that is up, with its kubeconfig in KUBECONFIG.
begin() {
	"$BUILD/test/demo/demo" --serve >"$work/out" 2>&1 &
	demo=$!
	until grep -q '^Timeline' "$work/out"; do
		kill -0 "$demo" 2>/dev/null || return 1
	done
	KUBECONFIG=$(sed -n 's/.*export KUBECONFIG=//p' "$work/out")
	export KUBECONFIG
}

end() {
	kill "$demo" 2>/dev/null
	wait "$demo"
	demo=
}

# without_chance COMMAND: which of the pods of a Job, all as old, get quota first is left open, and so are ages.
without_chance() {
	sed -E 's/ +([0-9]+m)?[0-9]+s$//; s/ +AGE$//; s/sleepers-[0-9]/sleepers-N/' |
		case $1 in "kubectl get pods"*) sort ;; *) cat ;; esac
}

# gated: the last pod of the Job that waits.
gated() {
	kubectl get pods -n team-a 2>/dev/null | awk '/SchedulingGated/ { name = $1 } END { print name }'
}

# shows COMMAND FILE: the command prints what FILE holds, at once or after a while.
shows() {
	tries=0
	without_chance "$1" <"$2" >"$work/want"
	while [ $tries -lt 60 ]; do
		sh -c "$(echo "$1" | sed "s/sleepers-3/$(gated)/")" 2>&1 | without_chance "$1" >"$work/got"
		if cmp -s "$work/want" "$work/got"; then
			return
		fi
		tries=$((tries + 1))
	done
	complain "$page: \$ $1"
	diff -u "$work/want" "$work/got"
}

# play FILE: one block of the page. Without "$ " all of it is one script.
play() {
	if ! grep -q '^\$ ' "$1"; then
		sh "$1" >"$work/log" 2>&1 || {
			complain "$page: $(head -1 "$1")"
			cat "$work/log"
		}
		return
	fi
	rm -f "$work"/shown.*
	awk -v to="$work/shown." '
		/^\$ / { n++; held = ""; print substr($0, 3) >(to n ".command"); printf "" >(to n ".text"); next }
		{ if ($0 == "") { held = held "\n"; next } printf "%s", held >(to n ".text"); held = ""; print >(to n ".text") }
		' "$1"
	for command in "$work"/shown.*.command; do
		shows "$(sed 's|build/bin/||' "$command")" "${command%.command}.text"
	done
}

# The end-to-end suite plays one example too, on a real API server, and finds it by its heading.
grep -q '^## A Job in a LocalQueue$' docs/examples.md || complain "docs/examples.md: no heading 'A Job in a LocalQueue'"

for page in docs/getting-started.md docs/examples.md; do
	rm -f "$work"/block.*
	awk -v to="$work/block." '
		/^```/ { fenced = !fenced; if (fenced) { n++ } next }
		fenced { print >(sprintf("%s%03d", to, n)) }' $page
	begin || {
		complain "$page: the demo did not start"
		break
	}
	for block in "$work"/block.*; do
		if grep -qE '^(\$ )?(build/bin/headgatectl|headgatectl|kubectl) ' "$block"; then
			play "$block"
		fi
	done
	end
done
[ "$failed" -eq 0 ]
