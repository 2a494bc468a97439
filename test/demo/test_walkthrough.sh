#!/bin/sh
# docs/multikueue-walkthrough.md works as pasted, from the queues on, on what `./run demo fleet --serve` serves: one
# worker evicts one Job, where least work is lost. In the commands for kind, which is not here, headgatectl knows the
# flags and helm, where there is one, takes the values.
set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=test/lib/count.sh
. test/lib/count.sh
page=docs/multikueue-walkthrough.md
bin=$(cd "${BUILD:-build}/bin" && pwd)
demo=$(cd "${BUILD:-build}/test/demo" && pwd)/demo
helm=$(command -v helm || printf '%s\n' "${XDG_CACHE_HOME:-$HOME/.cache}"/headgate/e2e-*/helm | tail -n 1)
work=$(mktemp -d)
served=
trap '[ -z "$served" ] || { kill "$served" && wait "$served"; } || true; rm -rf "$work"' EXIT

# blocks FROM TO: the lines in fences between two headings.
blocks() {
	awk -v from="## $1" -v to="## $2" '
	/^## / { on = $0 == from ? 1 : $0 == to ? 0 : on }
	/^```/ { fenced = !fenced; next }
	on && fenced { print }' $page
}

blocks 'Clusters of kind' 'The queues' >"$work/kind"
"$bin/headgatectl" multikueue --help >"$work/help"
grep -A 3 'headgatectl multikueue' "$work/kind" | sed '/|$/q' | grep -oE -e '--[a-z-]+' | while read -r flag; do
	grep -qe "$flag" "$work/help" || {
		echo "FAILED: $page: headgatectl multikueue has no flag $flag"
		exit 1
	}
done
(cd "$work" && sed -n "/^cat >/,/^EOF/p" kind | sh)
if [ -x "$helm" ]; then
	for values in manager worker; do
		"$helm" template headgate charts/headgate --namespace headgate-system \
			--values "$work/$values-values.yaml" >/dev/null
	done
fi

if ! command -v kubectl >/dev/null; then
	echo "kubectl is not installed"
	exit "$SKIPPED"
fi
"$demo" fleet --serve --kubeconfigs "$work" >"$work/log" 2>&1 &
served=$!
i=0
until [ -e "$work/worker3.yaml" ]; do
	i=$((i + 1))
	if [ $i -ge 1200 ] || ! kill -0 "$served" 2>/dev/null; then
		cat "$work/log"
		echo "FAILED: the clusters are not there"
		exit 1
	fi
	sleep 0.1
done
blocks 'The queues' '' >"$work/pasted"
[ "$(wc -l <"$work/pasted")" -gt 100 ]
# Before the last commands, which undo it: who has been evicted.
cat >"$work/look" <<'EOF'
for name in worker1 worker2; do
	kubectl --kubeconfig $name.yaml get workloads \
		-o jsonpath="{range .items[*]}$name {.metadata.ownerReferences[0].name} {.status.schedulingStats.evictions[*].reason}{'\n'}{end}"
done >evicted
EOF
sed "/delete job urgent/{
r $work/look
N
}" "$work/pasted" >"$work/commands"
(cd "$work" && PATH=$bin:$PATH sh -eu commands >out 2>&1) || {
	cat "$work/out" "$work/log"
	echo "FAILED: $page does not work as pasted"
	exit 1
}
if [ "$(grep -c Preempted "$work/evicted")" -ne 1 ] || ! grep -q '^worker2 render-[12] Preempted$' "$work/evicted" ||
	! grep -q 'worker cluster worker2 may preempt' "$work/out"; then
	cat "$work/out" "$work/evicted"
	echo "FAILED: not one Job of worker2 was evicted"
	exit 1
fi
