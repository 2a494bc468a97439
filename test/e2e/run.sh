#!/bin/sh
# test/e2e/run.sh [SCENARIO=N|chart|quota|tenant|fleet | --serve]: the end-to-end scenarios on real components; E2E_RUN is a
# regular expression of tests instead, E2E_COUNT how often each is played. E2E_SAMPLE=PERCENT plays a part of what was
# selected, drawn by E2E_SEED, which is another one each time and is printed. E2E_AGAIN=1 plays up to three that failed
# once more, by themselves: one that passes then is reported ("unsteady") and does not fail the run. The last line
# is "N passed, N failed", with ", N skipped" where some were. --serve leaves a cluster with Headgate running and prints its KUBECONFIG.
# Expects the daemons in $BUILD/bin.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=test/lib/count.sh
. "$root/test/lib/count.sh"
# shellcheck source=test/lib/draw.sh
. "$root/test/lib/draw.sh"
case ${BUILD:-build} in
/*) E2E_BUILD=$BUILD ;;
*) E2E_BUILD=$root/${BUILD:-build} ;;
esac
export E2E_BUILD E2E_REPO="$root" E2E_WORK="$E2E_BUILD/e2e"
# Two halves, played at the same time, since a scenario mostly waits. A selection is played by itself.
run="${E2E_RUN:-^Test(Scenario|Chart)}"
beside="^Test(Quota|Tenant|Fleet)"
[ -z "${E2E_RUN:-}" ] && [ $# -eq 0 ] || beside=
serve=
for word; do
	case $word in
	SCENARIO=chart) run=^TestChart ;;
	SCENARIO=quota) run=^TestQuota ;;
	SCENARIO=tenant) run=^TestTenant ;;
	SCENARIO=fleet) run=^TestFleet ;;
	SCENARIO=*) run="^TestScenario${word#SCENARIO=}([^0-9]|\$)" ;;
	--serve) serve=1 ;;
	*)
		echo "usage: ./run e2e [SCENARIO=N|chart|quota|tenant|fleet | --serve]; not understood: $word" >&2
		exit 2
		;;
	esac
done

# again COMMAND...: up to three times, for what has to download something.
again() {
	for pause in 5 30 0; do
		"$@" && return
		[ "$pause" -ne 0 ] || return 1
		echo "e2e: failed, and is tried again: $*" >&2
		sleep "$pause"
	done
}

E2E_COMPONENTS=$(again "$root/test/e2e/build.sh" control-plane kwok helm)
export E2E_COMPONENTS
command -v go >/dev/null || {
	echo "e2e: Go 1.26 is needed to build the scenarios; there is no go on PATH" >&2
	exit 1
}
# Kueue's examples; its module is that of test/differential. Empty: it is not there, and not to be had.
E2E_KUEUE=$(cd "$root/test/differential" && again go mod download sigs.k8s.io/kueue 2>/dev/null &&
	go list -m -f '{{.Dir}}' sigs.k8s.io/kueue) || true
export E2E_KUEUE
mkdir -p "$E2E_WORK"
# Few scenarios need Karpenter. They wait for this file, which holds the exit status of its build. Those of fleets wait
# for the second one, which holds the folder of Kueue's program, or the reason why there is none; those with JobSets and
# LeaderWorkerSets for the third.
export E2E_KARPENTER="$E2E_WORK/karpenter.status" E2E_KUEUE_MANAGER="$E2E_WORK/kueue-manager"
export E2E_CONTROLLERS="$E2E_WORK/controllers"
rm -f "$E2E_KARPENTER" "$E2E_KUEUE_MANAGER" "$E2E_CONTROLLERS"
# built FILE COMMAND...: FILE appears when the command has ended, and has the folder that it printed.
built() {
	file=$1
	shift
	again "$@" >"$file.new" || echo "its build failed, see the output above" >"$file.new"
	mv "$file.new" "$file"
}
{
	again "$root/test/e2e/build.sh" karpenter >/dev/null && built=0 || built=$?
	echo "$built" >"$E2E_KARPENTER.new"
	mv "$E2E_KARPENTER.new" "$E2E_KARPENTER"
	built "$E2E_KUEUE_MANAGER" "$root/test/e2e/kueue/build.sh" manager
	built "$E2E_CONTROLLERS" "$root/test/e2e/controllers/build.sh"
} &
again env CGO_ENABLED=0 GOFLAGS=-trimpath nice go -C "$root/test/e2e" test -c -o "$E2E_WORK/scenarios.test" ./scenarios
# The rules of the oracle and the choice of ports first: without them nothing that follows means anything.
CGO_ENABLED=0 GOFLAGS=-trimpath nice go -C "$root/test/e2e" test ./oracle ./cluster
if [ -n "$serve" ]; then
	exec "$E2E_WORK/scenarios.test" serve
fi
if [ -z "${CLUSTER_AUTOSCALER:-}" ]; then
	echo "without Cluster Autoscaler: CLUSTER_AUTOSCALER names no program; Karpenter is there"
fi

# Alone with its loopback, because Karpenter listens on every address; where that is not allowed,
# in the network that there is.
isolate=
for try in 'unshare --net' 'unshare --map-root-user --net'; do
	if $try true 2>/dev/null; then
		isolate=$try
		export E2E_NETNS=1
		break
	fi
done
[ -n "$isolate" ] || echo "no network namespace of our own: ports of this machine are used"

# drawn REGEX: a regular expression of E2E_SAMPLE percent of the tests that match.
drawn() {
	echo "^($("$E2E_WORK/scenarios.test" -test.list "$1" | draw "$E2E_SEED" "$E2E_SAMPLE" | paste -s -d '|'))\$"
}
if [ -n "${E2E_SAMPLE:-}" ]; then
	E2E_SEED=${E2E_SEED:-$(new_seed)}
	echo "$E2E_SAMPLE % of the scenarios, the same again: E2E_SAMPLE=$E2E_SAMPLE E2E_SEED=$E2E_SEED ./run e2e $*"
	run=$(drawn "$run")
	[ -z "$beside" ] || beside=$(drawn "$beside")
fi

log=$E2E_WORK/log
# play LOG REGEX: the scenarios that match, their output in LOG, what a reader follows on standard output.
play() {
	{
		# shellcheck disable=SC2086
		$isolate "$E2E_WORK/scenarios.test" -test.v -test.timeout "${E2E_TIMEOUT:-4h}" -test.count "${E2E_COUNT:-1}" \
			-test.run "$2" 2>&1 || echo "the scenarios $2 ended with status $?"
	} | tee "$1" | while IFS= read -r line; do
		case $line in
		"=== RUN "*) echo "run     ${line##* }" ;;
		"--- PASS: "*) echo "passed  ${line#*: }" ;;
		"--- FAIL: "*) echo "FAILED  ${line#*: }" ;;
		"--- SKIP: "*) echo "skipped ${line#*: }" ;;
		"=== "* | PASS | FAIL) ;;
		*) printf '%s\n' "$line" ;;
		esac
	done
}
rm -f "$log" "$log.beside"
if [ -n "$beside" ] && [ -n "$isolate" ]; then
	play "$log.beside" "$beside" >"$log.followed" &
	other=$!
	play "$log" "$run"
	wait "$other"
	cat "$log.followed" # after the first half, so that the two do not mix
	rm -f "$log.followed"
else
	play "$log" "$run"
	[ -z "$beside" ] || play "$log.beside" "$beside"
fi
if [ -f "$log.beside" ]; then
	cat "$log.beside" >>"$log"
	rm -f "$log.beside"
fi
passed=$(grep -c '^--- PASS' "$log") || true
failed=$(grep -c '^--- FAIL' "$log") || true
if [ -n "${E2E_AGAIN:-}" ] && [ "$failed" -gt 0 ] && [ "$failed" -le 3 ]; then
	failing=$(sed -n 's/^--- FAIL: \([^ ]*\).*/\1/p' "$log")
	echo "once more, by themselves: $(echo "$failing" | paste -s -d ' ')"
	play "$log.again" "^($(echo "$failing" | paste -s -d '|'))\$"
	for name in $failing; do
		if grep -q "^--- PASS: $name " "$log.again"; then
			echo "unsteady $name: it failed once, and passed when it was played again"
			failed=$((failed - 1))
			passed=$((passed + 1))
		fi
	done
fi
skipped=$(grep -c '^--- SKIP' "$log") || true
if [ "$failed" -eq 0 ] && grep -q '^the scenarios .* ended with status' "$log"; then
	echo "the scenarios ended early; see $log"
	failed=1
fi
if [ "$passed" -eq 0 ] && [ "$failed" -eq 0 ]; then
	echo "no scenario matches $run"
	failed=1
fi
wait # for builds that no scenario that was played may have needed
count_line "$passed" "$failed" "$skipped" | tee "$E2E_WORK/summary"
[ "$failed" -eq 0 ]
