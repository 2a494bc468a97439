#!/bin/sh
# The chart at the embedded API server: helm renders it (helm itself stores releases in protobuf, which
# this server does not speak), kubectl applies it, both daemons run with the arguments that it rendered
# and look after their own certificates, a pod waits for quota, headgatectl drains. Needs helm and
# kubectl; is skipped where there is none.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=test/lib/count.sh
. test/lib/count.sh
bin=$(pwd)/${BUILD:-build}/bin
# On PATH, or the one that the end-to-end scenarios built.
helm=$(command -v helm || printf '%s\n' "${XDG_CACHE_HOME:-$HOME/.cache}"/headgate/e2e-*/helm | tail -n 1)
if [ ! -x "$helm" ] || ! command -v kubectl >/dev/null; then
	echo "helm or kubectl is not installed"
	exit "$SKIPPED"
fi
work=$(mktemp -d)
pids=
failed=0
export KUBECONFIG="$work/kubeconfig" HOME="$work"
ns=headgate-system

finish() {
	for pid in $pids; do
		kill "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
	[ "$failed" -eq 0 ] || tail -n 30 "$work"/*.log
	rm -rf "$work"
	echo "$failed failed"
	[ "$failed" -eq 0 ]
	exit $?
}

check() { # what, expected, found
	if [ "$2" != "$3" ]; then
		echo "FAILED $1: expected \"$2\", found \"$3\""
		failed=$((failed + 1))
	fi
}

# until_is WHAT EXPECTED COMMAND...: asks again until the command prints this.
until_is() {
	what=$1
	expected=$2
	shift 2
	deadline=$(($(date +%s) + 120))
	found=$("$@" 2>&1)
	while [ "$found" != "$expected" ] && [ "$(date +%s)" -lt $deadline ]; do
		sleep 0.1
		found=$("$@" 2>&1)
	done
	check "$what" "$expected" "$found"
	[ "$found" = "$expected" ] || finish
}

run() { # name, program, arguments...
	log=$work/$1.log
	shift
	"$@" >"$log" 2>&1 &
	pids="$! $pids"
}

# Arguments of a Deployment, each in a line.
args_of() {
	kubectl -n $ns get deployment "headgate-$1" \
		-o 'jsonpath={range .spec.template.spec.containers[0].args[*]}{@}{"\n"}{end}'
}

gates() {
	kubectl get pod "$1" -o 'jsonpath={.spec.schedulingGates[*].name}'
}

bundles() { # how many webhooks have one
	kubectl get mutatingwebhookconfigurations,validatingwebhookconfigurations \
		-o 'jsonpath={range .items[*].webhooks[*]}{.clientConfig.caBundle}{"\n"}{end}' |
		grep -c .
}

# apply: applies standard input; tries again, because webhooks can time out on a busy machine.
apply() {
	cat >"$work/apply.yaml"
	for _ in 1 2 3; do
		kubectl apply -f "$work/apply.yaml" >>"$work/apply.log" 2>&1 && return
	done
	return 1
}

run apiserver "$bin/headgate-apiserver" --port 0 --kubeconfig-out "$KUBECONFIG" --finalise-pods 1
until_is 'the server' 'Active' kubectl get namespace default -o 'jsonpath={.status.phase}'
apply <<EOF
apiVersion: v1
kind: Namespace
metadata: {name: $ns}
EOF
# The chart cannot ask the kernel for a port: one that is given neither to outgoing connections nor to
# other tests.
port=$((20000 + $$ % 12000))

render() { # release, values...
	release=$1
	shift
	"$helm" template "$release" charts/headgate -n $ns --no-hooks --dry-run=server "$@" \
		2>"$work/helm.log"
}

crds() { # release: how many CRDs it would install
	render "$1" | grep -c '^kind: CustomResourceDefinition$'
}

# As Volcano would have left them, then as an earlier revision of this release.
kubectl apply -f charts/headgate/files/crds >"$work/crds.log" 2>&1
check 'CRDs of another manager' 0 "$(crds headgate)"
queues=crd/queues.scheduling.volcano.sh
kubectl annotate $queues meta.helm.sh/release-name=headgate \
	meta.helm.sh/release-namespace=$ns >>"$work/crds.log" 2>&1
kubectl label $queues app.kubernetes.io/managed-by=Helm >>"$work/crds.log" 2>&1
check 'CRDs of the same release' 1 "$(crds headgate)"
check 'CRDs of another release' 0 "$(crds other)"
render headgate --set webhook.url=https://127.0.0.1:$port --set webhook.port=$port | apply
check 'apply' 0 $?

args_of webhook >"$work/webhook.args"
args_of scheduler >"$work/scheduler.args"
check '--cert-mode of the Deployment' 1 "$(grep -c '^--cert-mode=secret$' "$work/webhook.args")"
# Outside of a pod, addresses and the mounted file differ.
# shellcheck disable=SC2046
run webhook "$bin/headgate-webhook" $(cat "$work/webhook.args") --listen-address=127.0.0.1 \
	--healthz-address=127.0.0.1:0 --shutdown-delay-duration=0s
# shellcheck disable=SC2046
run scheduler "$bin/headgate-scheduler" $(cat "$work/scheduler.args") \
	--scheduler-conf=charts/headgate/files/scheduler.yaml --listen-address=127.0.0.1:0 \
	--healthz-address=127.0.0.1:0
until_is 'webhooks with a CA' 9 bundles
until_is 'the default queue' default kubectl get queue default -o 'jsonpath={.metadata.name}'

apply <<'EOF'
apiVersion: v1
kind: Node
metadata: {name: node-1}
status:
  allocatable: {cpu: "4", memory: 8Gi, pods: "110"}
  capacity: {cpu: "4", memory: 8Gi, pods: "110"}
  conditions: [{type: Ready, status: "True"}]
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: team-a}
spec: {capability: {cpu: "1", memory: 1Gi}}
EOF
for pod in first second; do
	apply <<EOF
apiVersion: v1
kind: Pod
metadata:
  name: $pod
  annotations:
    scheduling.volcano.sh/queue-allocation-gate: "true"
    scheduling.volcano.sh/queue-name: team-a
spec:
  schedulerName: volcano
  containers: [{name: main, image: pause, resources: {requests: {cpu: "1", memory: 1Gi}}}]
EOF
	until_is "pod $pod" "$pod" kubectl get pod $pod -o 'jsonpath={.metadata.name}'
	[ $pod = second ] || until_is 'node of the first pod' node-1 \
		kubectl get pod first -o 'jsonpath={.spec.nodeName}'
done
check 'gate of the second pod' scheduling.volcano.sh/queue-allocation-gate "$(gates second)"

# The rendered command of the pre-delete hook.
drain=$("$helm" template headgate charts/headgate --show-only templates/drain.yaml 2>/dev/null |
	sed -n 's/^ *args: \[drain, --yes, \(.*\)\]$/drain --yes \1/p')
# shellcheck disable=SC2086
"$bin/headgatectl" $drain >"$work/drain.log" 2>&1
check 'exit code of drain' 0 $?
check 'gate after drain' '' "$(gates second)"
check 'webhooks after drain' 0 "$(bundles)"
finish
