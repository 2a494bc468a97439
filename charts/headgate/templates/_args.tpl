{{- /* Arguments of the daemons that follow from values. Those of extraArgs come behind them, and are others. */ -}}

{{- /* Called with (list VALUES-OF-COMPONENT FLAG): not empty if extraArgs have the flag. */ -}}
{{- define "headgate.hasArg" -}}
{{- $flag := index . 1 -}}
{{- range (index . 0).extraArgs -}}
{{- if regexMatch (printf "^--%s(=|$)" $flag) . -}}
true
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "headgate.schedulerArgs" -}}
{{- $name := printf "%s-scheduler" (include "headgate.fullname" .) -}}
{{- $v := .Values.scheduler -}}
- --scheduler-conf=/etc/headgate/scheduler.yaml
{{- range include "headgate.schedulerNames" . | fromJsonArray }}
- --scheduler-name={{ . }}
{{- end }}
{{- include "headgate.gateSchedulerArgs" . }}
- --default-queue={{ .Values.defaultQueue }}
- --feature-gates={{ .Values.custom.scheduler_feature_gates | default (include "headgate.featureGates" .) }}
- --gate-sticky={{ .Values.gate.sticky }}
- --schedule-period={{ .Values.custom.scheduler_schedule_period | default $v.schedulePeriod }}
- --reservation-timeout={{ $v.reservationTimeout }}
- --on-reservation-timeout={{ $v.onReservationTimeout }}
- --reservation-attempts={{ $v.reservationAttempts | int }}
- --gate-removal-worker-num={{ $v.gateRemovalWorkers }}
- --kube-api-qps={{ .Values.custom.scheduler_kube_api_qps | default $v.kubeApiQps }}
- --kube-api-burst={{ .Values.custom.scheduler_kube_api_burst | default $v.kubeApiBurst | int }}
- --controllers={{ $v.controllers }}{{ if .Values.quota.enabled }},workload{{ if .Values.quota.preemptionCost }},preemption-cost{{ end }}{{ end }}
{{- if .Values.quota.enabled }}
- --quota-conf=/etc/headgate/quota.yaml
{{- end }}
- --leader-elect=true
- --leader-elect-resource-namespace={{ .Release.Namespace }}
- --leader-elect-resource-name={{ $name }}
- --leader-elect-lease-duration={{ $v.leaderElection.leaseDuration }}
- --leader-elect-renew-deadline={{ $v.leaderElection.renewDeadline }}
- --leader-elect-retry-period={{ $v.leaderElection.retryPeriod }}
- --listen-address=:{{ $v.metricsPort }}
- --healthz-address=:{{ $v.healthPort }}
{{- if .Values.metrics.tokenSecret }}
- --metrics-token-file=/etc/headgate-metrics/token
{{- end }}
{{- if not (include "headgate.hasArg" (list $v "cache-dump-dir")) }}
- --cache-dump-dir=/tmp
{{- end }}
- --logging-format={{ $v.logFormat }}
- -v={{ $v.logLevel }}
{{- end -}}

{{- define "headgate.orchestratorArgs" -}}
{{- $name := printf "%s-orchestrator" (include "headgate.fullname" .) -}}
{{- $v := .Values.orchestrator -}}
- --controllers={{ $v.manager | ternary "multikueue" "orchestrator" }}
- --quota-conf=/etc/headgate/orchestrator.yaml
- --multikueue-namespace={{ $v.namespace | default .Release.Namespace }}
- --leader-elect=true
- --leader-elect-resource-namespace={{ .Release.Namespace }}
- --leader-elect-resource-name={{ $name }}
- --leader-elect-lease-duration={{ $v.leaderElection.leaseDuration }}
- --leader-elect-renew-deadline={{ $v.leaderElection.renewDeadline }}
- --leader-elect-retry-period={{ $v.leaderElection.retryPeriod }}
- --listen-address=:{{ $v.metricsPort }}
- --healthz-address=:{{ $v.healthPort }}
{{- if .Values.metrics.tokenSecret }}
- --metrics-token-file=/etc/headgate-metrics/token
{{- end }}
- --logging-format={{ $v.logFormat }}
- -v={{ $v.logLevel }}
{{- end -}}

{{- define "headgate.webhookArgs" -}}
{{- $name := printf "%s-webhook" (include "headgate.fullname" .) -}}
{{- $v := .Values.webhook -}}
{{- $self := eq $v.certificates.mode "self" -}}
- --port={{ $v.port }}
- --threads={{ $v.threads }}
- --enabled-admission={{ include "headgate.admissions" . }}
{{- range include "headgate.schedulerNames" . | fromJsonArray }}
- --scheduler-name={{ . }}
{{- end }}
{{- include "headgate.gateSchedulerArgs" . }}
- --feature-gates={{ .Values.custom.admission_feature_gates | default (include "headgate.featureGates" .) }}
- --gate-sticky={{ .Values.gate.sticky }}
- --max-queue-depth={{ $v.maxQueueDepth }}
- --enable-queue-allocated-pods-check={{ $v.queueAllocatedPodsCheck }}
- --enable-root-queue-protection={{ $v.rootQueueProtection }}
{{- if .Values.quota.enabled }}
{{- $conf := include "headgate.quotaConfig" . | fromJson }}
- --manage-jobs-without-queue-name={{ $conf.manageJobsWithoutQueueName | default false }}
{{- with ($conf.integrations | default dict).externalFrameworks }}
- --integrations={{ join "," . }}
{{- with $.Values.quota.externalUsers }}
- --integration-users={{ join "," . }}
{{- end }}
{{- end }}
{{- end }}
{{- if $self }}
- --cert-mode=secret
- --cert-secret={{ include "headgate.webhookSecret" . }}
- --cert-lease={{ $name }}
- --cert-registrations=app.kubernetes.io/part-of=headgate,app.kubernetes.io/instance={{ .Release.Name }}
- --cert-ca-duration={{ $v.certificates.caDuration }}
- --cert-leaf-duration={{ $v.certificates.leafDuration }}
- --webhook-namespace={{ .Release.Namespace }}
- --webhook-service-name={{ $name }}
{{- with $v.url }}
- --webhook-url={{ . }}
{{- end }}
{{- else }}
- --tls-cert-file=/etc/headgate/tls/tls.crt
- --tls-private-key-file=/etc/headgate/tls/tls.key
{{- end }}
- --healthz-address=:{{ $v.healthPort }}
{{- if .Values.metrics.tokenSecret }}
- --metrics-token-file=/etc/headgate-metrics/token
{{- end }}
{{- /* Endpoints need a moment to remove this replica. */}}
{{- if not (include "headgate.hasArg" (list $v "shutdown-delay-duration")) }}
- --shutdown-delay-duration=5s
{{- end }}
{{- if not (include "headgate.hasArg" (list $v "graceful-shutdown-time")) }}
- --graceful-shutdown-time=30s
{{- end }}
- --logging-format={{ $v.logFormat }}
- -v={{ $v.logLevel }}
{{- end -}}
