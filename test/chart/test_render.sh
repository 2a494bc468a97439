#!/bin/sh
# The chart: plain files pass yamllint; helm lints and renders it for a matrix of values, wrong values
# are refused by name, and the embedded API server takes what was rendered.
. "$(dirname "$0")/../lint/lib.sh"
chart=charts/headgate
server=${BUILD:-build}/bin/headgate-apiserver
# On PATH, or the one that the end-to-end scenarios built.
helm=$(command -v helm || printf '%s\n' "${XDG_CACHE_HOME:-$HOME/.cache}"/headgate/e2e-*/helm | tail -n 1)

if command -v yamllint >/dev/null; then
	rules='document-start: disable, line-length: {max: 150}, comments-indentation: disable'
	rules="$rules, indentation: {indent-sequences: whatever}, braces: {max-spaces-inside: 1}"
	find $chart -name '*.yaml' ! -path '*/templates/*' -type f \
		-exec yamllint -f parsable -d "{extends: default, rules: {$rules}}" {} + >>"$FOUND"
else
	skip "yamllint is not installed: plain files not looked at"
fi
# Every value is in the schema; the page of values is what the schema and the defaults give.
sed -n 's/^ *\([a-zA-Z]*\):.*/\1/p' $chart/values.yaml | sort -u | grep -vx -e requests -e limits |
	while read -r key; do
		grep -q "\"$key\": {" $chart/values.schema.json ||
			echo "$chart/values.schema.json:1: lacks $key"
	done >>"$FOUND"
"${BUILD:-build}/test/docs/values_table" $chart/values.schema.json $chart/values.yaml 2>>"$FOUND" |
	cmp -s - docs/values.md || echo "docs/values.md:1: not what \`make docs\` writes" >>"$FOUND"
if [ ! -x "$helm" ]; then
	skip "helm is not installed: templates not rendered"
	finish
fi

work=$(mktemp -d)
trap 'rm -rf "$work" "$FOUND"' EXIT
mkfifo "$work/url"

# render NAME ARGS...: into $work/NAME.yaml.
render() {
	name=$1
	shift
	"$helm" template headgate $chart --namespace default "$@" >"$work/$name.yaml" 2>"$work/err" ||
		echo "$chart:1: does not render with $*: $(tr '\n' ' ' <"$work/err")" >>"$FOUND"
}

# has NAME TEXT, lacks NAME TEXT: a line of what was rendered.
has() {
	grep -qF -- "$2" "$work/$1.yaml" || echo "$chart:1: case $1 lacks: $2" >>"$FOUND"
}
lacks() {
	! grep -qF -- "$2" "$work/$1.yaml" || echo "$chart:1: case $1 has: $2" >>"$FOUND"
}

# count NAME N TEXT: so many lines of what was rendered.
count() {
	n=$(grep -cF -- "$3" "$work/$1.yaml")
	[ "$n" -eq "$2" ] || echo "$chart:1: case $1 has $n times, not $2: $3" >>"$FOUND"
}

# refused NAME ARGS...: fails, and the message names NAME.
refused() {
	name=$1
	shift
	if "$helm" template headgate $chart "$@" >/dev/null 2>"$work/err"; then
		echo "$chart/values.schema.json:1: not refused: $*" >>"$FOUND"
	elif ! grep -qF "$name" "$work/err"; then
		echo "$chart/values.schema.json:1: refused without its name: $*" >>"$FOUND"
	fi
}

# loads NAME: the embedded API server takes it; kinds that need other CRDs are left out.
loads() {
	[ -x "$server" ] || return 0
	awk -v RS='\n---\n' 'NF && !/kind: (ServiceMonitor|Certificate|Issuer)\n/ { print "---"; print }' \
		"$work/$1.yaml" >"$work/load.yaml"
	"$server" --port 0 --load "$work/load.yaml" >"$work/url" 2>"$work/err" &
	pid=$!
	# Waits for the line that says where it serves; a server that refuses ends without one.
	read -r _ <"$work/url" ||
		echo "$chart:1: the API server refuses case $1: $(tr '\n' ' ' <"$work/err")" >>"$FOUND"
	kill $pid 2>/dev/null
	wait $pid
}

"$helm" lint --strict --quiet $chart >"$work/lint" 2>&1 || sed "s|^|$chart:1: |" "$work/lint" >>"$FOUND"

render default
has default 'name: headgate-scheduler'
has default 'kind: CustomResourceDefinition'
has default 'helm.sh/hook: pre-delete'
# The drain's account and rights are there with its Job only.
"$helm" template headgate $chart --no-hooks >"$work/unhooked.yaml" 2>/dev/null
lacks unhooked 'headgate-drain'
sed -n 's/^- //; s/^name: .*\.volcano\.sh$/&/p' $chart/files/webhooks.yaml >"$work/webhooks"
while read -r webhook; do
	has default "$webhook"
done <"$work/webhooks"
has default '--cert-mode=secret'
has default 'path: /pods/mutate/labelled-alias'
lacks default '@WEBHOOK_URL@'
lacks default 'kind: ServiceMonitor'
loads default

lacks default 'apiGroups: [kueue.x-k8s.io]'
lacks default clusterqueue

lacks default workload-selected

render evict --set-json 'scheduler.config="actions: \"allocate, preempt\""'
count default 2 'verbs: [delete]'
count evict 3 'verbs: [delete]'
lacks evict poddisruptionbudgets
render pdb --set-json 'scheduler.config="{actions: \"preempt\", tiers: [{plugins: [{name: pdb}]}]}"'
has pdb 'resources: [poddisruptionbudgets]'
has pdb 'resources: [pods/eviction]'
has pdb 'headgate.io/reads: PodDisruptionBudgets'
count pdb 2 'verbs: [delete]'
loads pdb
lacks default poddisruptionbudgets

render quota --set quota.enabled=true --set quota.jobNamespaceLabels.team=a \
	--set-json 'quota.preemptionGateSelector={"matchLabels":{"replica":"yes"}}' \
	--set webhook.failurePolicy.jobs=Ignore \
	--set quota.config='integrations: {frameworks: [batch/job\, pod]}'
for crd in "$chart"/files/crds/quota/*.yaml; do
	has quota "$(grep -m 1 '^  name: ' "$crd")"
done
sed -n 's/^- \(name: .*\.kb\.io\)$/\1/p' $chart/files/webhooks-quota.yaml >"$work/webhooks"
while read -r webhook; do
	has quota "$webhook"
done <"$work/webhooks"
has quota 'replica: "yes"'
has quota 'name: headgate-quota-validate'
has quota ',/mutate-batch-v1-job,/mutate--v1-pod,/validate-kueue-x-k8s-io-v1beta2-clusterqueue,'
has quota '--manage-jobs-without-queue-name=false'
has quota 'namespace: default'
has quota 'resources: [pods/finalizers]'
lacks quota '--integration'
has quota 'system:serviceaccount:default:headgate-scheduler'
has quota 'team: a'
has quota 'failurePolicy: Ignore'
has quota '- headgate-quota-mutate'
has quota 'path: /validate-kueue-x-k8s-io-v1beta2-workload'
loads quota

# Kinds that Kueue integrates and we do not: the chart's list is that of the scheduler, without our own.
sed -n 's/^\t{ "\([a-z0-9./-]*\)",\( { ".*\)*$/\1/p' scheduler/workloads/conf/kueue_conf_owners.c | grep -vx -e batch/job -e pod >"$work/ours"
sed -n 's/^- {*framework: \([^,]*\).*/\1/p' $chart/files/unsupported-kinds.yaml | cmp -s - "$work/ours" ||
	echo "$chart/files/unsupported-kinds.yaml:1: not the kinds of scheduler/workloads/conf/kueue_conf_owners.c" >>"$FOUND"
has quota 'name: headgate-unsupported-kinds'
has quota 'resources: [rayclusters]'
has quota 'validationActions: [Warn]'
has quota 'name: its-pods-name-none'
render deny --set quota.enabled=true --set quota.unsupportedKinds=deny
has deny 'validationActions: [Deny]'
has deny 'path: /mutate--v1-pod'
render ignore --set quota.enabled=true --set quota.unsupportedKinds=ignore
lacks ignore unsupported-kinds
lacks default unsupported-kinds
has default 'name: by-our-scheduler'
has default 'name: by-our-webhook'
has default 'name: not-by-our-scheduler'
has default 'name: headgate-batch-admin-role'
has default 'rbac.authorization.k8s.io/aggregate-to-edit: "true"'
lacks default localqueue-viewer
lacks default 'kind: NetworkPolicy'
has default 'runAsUser: 65532'
has default 'name: headgate-scheduler-claims'
has default 'name: headgate-scheduler-volumes'
has default 'name: headgate-scheduler-status'
has quota 'name: headgate-localqueue-viewer-role'
render open --set podSecurityContext.runAsUser=null --set userRoles.prefix=kueue \
	--set networkPolicy.enabled=true --set networkPolicy.metricsFrom[0].podSelector.matchLabels.a=b \
	--set admissionPolicies.scheduler=false --set admissionPolicies.webhook=false \
	--set admissionPolicies.marks=false
lacks open 'runAsUser'
lacks open ValidatingAdmissionPolicy
has open 'name: kueue-batch-user-role'
has open 'port: https, protocol: TCP'
has open 'port: health, protocol: TCP'
loads open

# Which Jobs and pods queue is said in one place.
cat >"$work/conf.yaml" <<'END'
quota:
  enabled: true
  config: |
    namespace: other
    manageJobsWithoutQueueName: true
    managedJobsNamespaceSelector:
      matchLabels: {team: b}
      matchExpressions: [{key: tier, operator: Exists}]
    integrations: {frameworks: [batch/job, kubeflow.org/mpijob], externalFrameworks: [Foo.v1.x.org, Bar.v1.y.org]}
    objectRetentionPolicies: {workloads: {afterDeactivatedByKueue: 1h}}
  externalUsers: ["system:serviceaccount:x:foo", bar]
END
render managed -f "$work/conf.yaml"
has managed '--manage-jobs-without-queue-name=true'
has managed '--integrations=Foo.v1.x.org,Bar.v1.y.org'
has managed '--integration-users=system:serviceaccount:x:foo,bar'
has managed '--quota-conf=/etc/headgate/quota.yaml'
has managed 'team: b'
has managed 'key: tier'
lacks managed 'managed-namespace'
lacks managed '-v1-pod'
lacks managed 'its-pods-name-none'
lacks managed 'pods/finalizers'
has managed 'verbs: [list, watch, patch, delete]'
lacks quota 'verbs: [list, watch, patch, delete]'
loads managed
# No controller queues for the frameworks of Kueue that Headgate has not, whatever the Configuration says.
render kinds -f "$work/conf.yaml" --show-only templates/unsupported-kinds.yaml
has kinds 'resources: [mpijobs]'
has kinds 'resources: [pods]'
has kinds 'name: is-no-pod-of-a-job'
lacks kinds 'resources: [jobs]'
render kinds --set quota.enabled=true --show-only templates/unsupported-kinds.yaml \
	--set quota.config='integrations: {frameworks: [pod]\, externalFrameworks: [MPIJob.v2beta1.kubeflow.org]}'
has kinds 'resources: [jobs]'
has kinds 'resources: [tfjobs]'
lacks kinds 'resources: [mpijobs]'
lacks kinds 'resources: [pods]'
# The API server refuses a policy without rules.
all=$(sed -n 's/.*group: \([^,]*\), kind: \([^,]*\),.*/\2.v1.\1/p' $chart/files/unsupported-kinds.yaml | paste -sd ,)
echo "quota: {enabled: true, config: \"integrations: {frameworks: [batch/job, pod], externalFrameworks: [$all]}\"}" >"$work/values.yaml"
render external -f "$work/values.yaml"
lacks external unsupported-kinds
loads external

# The account of a manager: the rights of the file, and no others.
lacks default headgate-multikueue
for level in orchestrator manager manager-pods; do
	render worker-$level --set multikueue.worker.enabled=true --set multikueue.worker.for=$level \
		--show-only templates/multikueue-worker.yaml
	count worker-$level 5 'name: headgate-multikueue'
	has worker-$level '- workloads.kueue.x-k8s.io'
	has worker-$level '- workloads/status'
	lacks worker-$level '- secrets'
	lacks worker-$level '*'
	loads worker-$level
done
count worker-orchestrator 7 'apiGroups:'
count worker-manager 10 'apiGroups:'
lacks worker-orchestrator '- create'
lacks worker-orchestrator '- delete'
lacks worker-orchestrator '- jobs'
lacks worker-manager '- pods'
has worker-manager-pods '- jobs'
has worker-manager-pods '- pods'
has worker-manager '- jobs'
lacks worker-manager '- foos'
for level in orchestrator manager; do
	render further-$level --set multikueue.worker.enabled=true --set multikueue.worker.for=$level \
		--set 'multikueue.worker.externalResources={foos.example.com}' \
		--show-only templates/multikueue-worker.yaml
done
has further-manager 'apiGroups: [example.com]'
has further-manager 'resources: [foos]'
lacks further-orchestrator 'foos'

render url --set webhook.url=https://127.0.0.1:9443/ --set schedulerNames='{volcano,batch}' \
	--set webhook.failurePolicy.pods=Ignore
has url 'url: https://127.0.0.1:9443/pods/mutate'
has url '--webhook-url=https://127.0.0.1:9443/'
has url 'in ["volcano","batch","default-scheduler"]'
has url '--scheduler-name=batch'
has url '--gate-schedulers=default-scheduler'
has url 'failurePolicy: Ignore'
lacks url 'service:'
loads url

render certmanager --set webhook.certificates.mode=certManager \
	--set metrics.serviceMonitor.enabled=true --set webhook.url=https://10.0.0.1:8443
has certmanager '- "10.0.0.1"'
has certmanager 'cert-manager.io/inject-ca-from: default/headgate-webhook'
has certmanager 'kind: Issuer'
has certmanager '--tls-cert-file=/etc/headgate/tls/tls.crt'
has certmanager 'kind: ServiceMonitor'
lacks certmanager '--cert-mode'
lacks certmanager 'secrets'
lacks certmanager 'by-our-webhook'
loads certmanager

render metrics --set metrics.tokenSecret=scrape --set metrics.serviceMonitor.enabled=true
for text in '--metrics-token-file=/etc/headgate-metrics/token' 'secretName: scrape' \
	'{name: metrics-token, mountPath: /etc/headgate-metrics, readOnly: true}' \
	'credentials: {name: scrape, key: token}'; do
	[ "$(grep -cF -- "$text" "$work/metrics.yaml")" -eq 2 ] ||
		echo "$chart:1: case metrics: not once for each daemon: $text" >>"$FOUND"
done
lacks default metrics-token
loads metrics

render secret --set webhook.certificates.mode=secret --set webhook.certificates.secretName=mine \
	--set webhook.certificates.caBundle=PEM
has secret 'secretName: mine'
has secret 'caBundle: UEVN'
loads secret

render gateless --set-json 'gate.schedulers=[]'
lacks gateless 'default-scheduler'
render theirs --set 'gate.schedulers={a,volcano}'
has theirs 'in ["volcano","a"]'
count theirs 2 '--gate-schedulers=a'
lacks theirs 'default-scheduler'

render volcano --set custom.scheduler_name=vol --set custom.enabled_admissions=/queues/validate \
	--set custom.scheduler_feature_gates=SchedulingGatesQueueAdmission=false \
	--set custom.admission_feature_gates=SchedulingGatesQueueAdmission=false \
	--set-string custom.scheduler_config_override='actions: "allocate"' \
	--set custom.webhooks_namespace_selector_expressions[0].key=team \
	--set custom.webhooks_namespace_selector_expressions[0].operator=Exists
has volcano '--scheduler-name=vol'
has volcano '--enabled-admission=/queues/validate'
has volcano '--feature-gates=SchedulingGatesQueueAdmission=false'
has volcano 'actions: "allocate"'
has volcano 'name: validatequeue.volcano.sh'
lacks volcano 'kind: MutatingWebhookConfiguration'
loads volcano

render few --set webhook.enabled=false --set drainOnDelete=false --set crds.install=never \
	--set flowControl.enabled=false --set scheduler.replicas=1
lacks few 'WebhookConfiguration'
lacks few 'CustomResourceDefinition'
lacks few 'kind: Job'
lacks few 'FlowSchema'
lacks few 'PodDisruptionBudget'
loads few

render names --set fullnameOverride=hg --set image.registry=registry.example.com \
	--set image.tag=v9 --set image.pullSecrets[0].name=pull
has names 'image: registry.example.com/headgate:v9'
has names 'name: hg-pods-mutate'
has names '- name: pull'
loads names

render placed --set scheduler.tolerations[0].key=batch --set scheduler.nodeSelector.pool=system \
	--set webhook.hostNetwork=true --set scheduler.dnsPolicy=Default --set scheduler.metricsPort=9090 \
	--set scheduler.extraEnv[0].name=HTTPS_PROXY --set scheduler.extraEnv[0].value=http://proxy \
	--set webhook.service.type=NodePort --set webhook.service.annotations.a=b \
	--set scheduler.service.ipFamilyPolicy=PreferDualStack --set scheduler.service.ipFamilies='{IPv6,IPv4}' \
	--set probes.startup.failureThreshold=120 --set securityContext.readOnlyRootFilesystem=false \
	--set "image.digest=sha256:$(printf '%064d' 0)"
# The scheduler and the pods of both hooks.
count placed 3 'pool: system'
count placed 3 '- key: batch'
count placed 4 'readOnlyRootFilesystem: false'
count placed 4 'image: headgate:0.1.0@sha256:0000'
count placed 2 'failureThreshold: 120'
count placed 1 'hostNetwork: true'
has placed 'dnsPolicy: ClusterFirstWithHostNet'
has placed 'dnsPolicy: Default'
has placed '--listen-address=:9090'
has placed '{name: metrics, containerPort: 9090}'
has placed 'name: HTTPS_PROXY'
has placed 'type: NodePort'
has placed 'ipFamilyPolicy: PreferDualStack'
loads placed
render alone --set scheduler.enabled=false --set webhook.nodeSelector.pool=edge
count alone 2 'pool: edge'

render orchestrator --set orchestrator.enabled=true --set scheduler.enabled=false --set webhook.enabled=false
has orchestrator '--controllers=orchestrator'
has orchestrator '--multikueue-namespace=kueue-system'
has orchestrator '--leader-elect-resource-name=headgate-orchestrator'
has orchestrator 'orchestrator.yaml: |'
has orchestrator 'name: headgate-orchestrator-kubeconfigs'
has orchestrator 'kind: PodDisruptionBudget'
lacks orchestrator 'name: headgate-scheduler'
lacks orchestrator 'resourceNames: [kube-system]'
render multikueue --set orchestrator.enabled=true --set orchestrator.manager=true
has multikueue '--controllers=multikueue'
has multikueue '--leader-elect-resource-name=headgate-orchestrator'
has multikueue 'resources: [jobs/status]'
has multikueue 'resourceNames: [kube-system]'
lacks multikueue 'mountPath: /etc/multikueue/kubeconfigs'
for framework in batch/job pod; do
	render "carries-${framework##*/}" --set orchestrator.enabled=true --set orchestrator.manager=true \
		--set "orchestrator.config=integrations: {frameworks: [$framework]}" \
		--show-only templates/orchestrator-rbac.yaml
done
lacks carries-job 'resources: [pods'
has carries-pod 'resources: [pods]'
has carries-pod 'resources: [pods/status]'
render carries-foo --set orchestrator.enabled=true --set orchestrator.manager=true \
	--set 'orchestrator.config=multiKueue: {externalFrameworks: [{name: Foo.v1.example.com}]}' \
	--set 'orchestrator.externalResources={foos.example.com}' \
	--show-only templates/orchestrator-rbac.yaml
has carries-foo 'apiGroups: [example.com]'
has carries-foo 'resources: [foos]'
has carries-foo 'resources: [foos/status]'
render files --set orchestrator.enabled=true --set orchestrator.namespace= --set orchestrator.kubeconfigs=workers
has files 'mountPath: /etc/multikueue/kubeconfigs'
has files 'secretName: workers'
loads files
render released --set orchestrator.enabled=true --set orchestrator.namespace=
has released '--multikueue-namespace=default'
loads released

# notes NAME ARGS...: what helm prints after the installation.
notes() {
	name=$1
	shift
	KUBECONFIG=/dev/null "$helm" install headgate $chart --dry-run=client "$@" 2>"$work/err" |
		sed '1,/^NOTES:/d' >"$work/$name.yaml"
}
notes unpublished
has unpublished 'from the image headgate:0.1.0.'
has unpublished 'the pods stay in ImagePullBackOff'
has unpublished 'helm test headgate'
notes published --set image.registry=r.example.com
has published 'from the image r.example.com/headgate:0.1.0.'
lacks published ImagePullBackOff

refused webhookx --set webhookx=1
refused replicas --set scheduler.replicas=two
refused failurePolicy --set webhook.failurePolicy.pods=Maybe
refused mode --set webhook.certificates.mode=magic
refused reservationTimeout --set scheduler.reservationTimeout=soon
refused timeoutSeconds --set webhook.timeoutSeconds=31
refused enabled --set quota.enabled=maybe
refused unsupportedKinds --set quota.unsupportedKinds=maybe
refused install --set crds.install=perhaps
refused orchestrator.config --set orchestrator.config='multiKueue: {bogus: 1}'
refused orchestrator.config --set orchestrator.config='multiKueue: {workerLostTimeout: soon}'
refused orchestrator.config --set orchestrator.config='multiKueue: {orchestratedPreemption: {order: Random}}'
refused orchestrator.config --set orchestrator.config='multiKueue: {externalFrameworks: [{name: Foo.v1}]}'
refused orchestrator.config --set orchestrator.config='multiKueue: {externalFrameworks: [Foo.v1.example.com]}'
refused externalResources --set 'orchestrator.externalResources={foos}'
refused externalResources --set 'multikueue.worker.externalResources={*.example.com}'
refused orchestrator.leaderElection --set orchestrator.leaderElection.leaseDuration=1s
refused orchestrator.metricsPort --set orchestrator.metricsPort=11251
refused orchestrator.extraArgs --set 'orchestrator.extraArgs={--controllers=workload}'
refused for --set multikueue.worker.for=tenant
refused enabledAdmissions --set webhook.enabledAdmissions=null --set 'webhook.enabledAdmissions={}'
refused scheduler_names --set custom.scheduler_names=x
finish
