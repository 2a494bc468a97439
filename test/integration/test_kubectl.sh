#!/bin/sh
# The embedded API server as kubectl sees it. BUILD: the build folder (build). KUBECTL: the program
# (kubectl). Without kubectl this is skipped.
set -u
# shellcheck source=test/lib/count.sh
. test/lib/count.sh
BUILD=${BUILD:-build}
KUBECTL=${KUBECTL:-kubectl}
if ! command -v "$KUBECTL" >/dev/null 2>&1; then
	echo "no kubectl on this machine"
	exit "$SKIPPED"
fi

work=$(mktemp -d)
server=
finish() {
	[ -z "$server" ] || kill "$server" 2>/dev/null
	[ -z "$server" ] || wait "$server"
	rm -rf "$work"
}
trap finish EXIT
failed=0

mkfifo "$work/url"
"$BUILD/bin/headgate-apiserver" --port 0 --seed 1 --finalise-pods 1 \
	--kubeconfig-out "$work/kubeconfig" --crds charts/headgate/files/crds >"$work/url" &
server=$!
read -r url <"$work/url" || {
	echo "the server did not start"
	exit 1
}
echo "server at $url"
export KUBECONFIG="$work/kubeconfig" HOME="$work"

# check TEXT COMMAND...: the command succeeds and its output holds TEXT.
check() {
	want=$1
	shift
	if ! out=$("$@" 2>&1) || ! printf '%s' "$out" | grep -qF -e "$want"; then
		echo "FAILED: $*: no \"$want\" in: $out"
		failed=$((failed + 1))
	fi
}

# refuse TEXT COMMAND...: the command fails and says TEXT.
refuse() {
	want=$1
	shift
	if out=$("$@" 2>&1) || ! printf '%s' "$out" | grep -qF -e "$want"; then
		echo "FAILED: $*: not refused with \"$want\": $out"
		failed=$((failed + 1))
	fi
}

cat >"$work/pod.yaml" <<'Y'
apiVersion: v1
kind: Pod
metadata:
  name: p1
  labels: {app: a}
spec:
  schedulerName: volcano
  schedulingGates:
  - name: example.com/gate
  containers:
  - name: c
    image: image
    resources: {requests: {cpu: "1", memory: 1Gi}}
Y
cat >"$work/queue.yaml" <<'Y'
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata:
  name: q1
spec:
  capability: {cpu: 1, memory: 1Gi}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata:
  name: pg1
spec:
  minMember: 2
Y

check queues "$KUBECTL" api-resources
check Active "$KUBECTL" get namespaces
check 'pod/p1 created' "$KUBECTL" apply -f "$work/pod.yaml"
check 'pod/p1 unchanged' "$KUBECTL" apply -f "$work/pod.yaml"
sed -i 's/app: a/app: b/' "$work/pod.yaml"
check 'pod/p1 configured' "$KUBECTL" apply -f "$work/pod.yaml"
check SchedulingGated "$KUBECTL" get pods
check 'cpu: "1"' "$KUBECTL" get pod p1 -o yaml
check 'QoS Class:' "$KUBECTL" describe pod p1
check p1 "$KUBECTL" get pods -l app=b --field-selector status.phase=Pending -o name
check 'pod/p1 labeled' "$KUBECTL" label pod p1 x=y
check 'serverside-applied' "$KUBECTL" apply --server-side --force-conflicts -f "$work/pod.yaml"
refuse 'only deletion is allowed' "$KUBECTL" patch pod p1 \
	-p '{"spec":{"schedulingGates":[{"name":"example.com/other"}]}}'
check 'pod/p1 patched' "$KUBECTL" patch pod p1 --type json \
	-p '[{"op":"remove","path":"/spec/schedulingGates"}]'
refuse 'may not change fields' "$KUBECTL" patch pod p1 -p '{"spec":{"schedulerName":"other"}}'
check 'queue.scheduling.volcano.sh/q1 created' "$KUBECTL" create -f "$work/queue.yaml"
refuse 'already exists' "$KUBECTL" create -f "$work/queue.yaml"
check 'podgroup.scheduling.volcano.sh/pg1 serverside-applied' \
	"$KUBECTL" apply --server-side -f "$work/queue.yaml"
check q1 "$KUBECTL" get queues
check pg1 "$KUBECTL" get pg
check 'weight: 1' "$KUBECTL" get q q1 -o yaml
refuse 'greater than or equal to 1' "$KUBECTL" patch q q1 --type merge -p '{"spec":{"weight":0}}'
# Before 1.27 explain reads definitions of OpenAPI version 2, which are not served.
if "$KUBECTL" version --client -o json | grep -qE '"minor": "(2[7-9]|[3-9][0-9])'; then
	check capability "$KUBECTL" explain queue.spec
fi
refuse 'pods "none" not found' "$KUBECTL" get pod none
refuse 'have a resource type' "$KUBECTL" get nothing
# From 1.32 on in protobuf.
check 'namespace/ns1 created' "$KUBECTL" create namespace ns1
check 'job.batch/job1 created' "$KUBECTL" create job job1 --image image
check 'a: b' "$KUBECTL" create configmap cm1 --from-literal a=b -o yaml
check 'created (server dry run)' "$KUBECTL" run other --image image --dry-run=server
refuse 'not found' "$KUBECTL" get pod other

"$KUBECTL" get pods --watch -o name >"$work/watched" 2>&1 &
watcher=$!
check 'pod "p1" deleted' "$KUBECTL" delete pod p1
kill "$watcher"
wait "$watcher" 2>/dev/null
check deleted "$KUBECTL" delete -f "$work/queue.yaml"
refuse 'not found' "$KUBECTL" get q q1

kill "$server"
wait "$server"
code=$?
server=
if [ "$code" -ne 0 ]; then
	echo "FAILED: the server ended with $code"
	failed=$((failed + 1))
fi
echo "$failed failed"
[ "$failed" -eq 0 ]
