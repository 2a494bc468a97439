{{- define "headgate.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "headgate.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- $name := include "headgate.name" . -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* headgatectl drain finds the registrations by part-of. */ -}}
{{- define "headgate.labels" -}}
app.kubernetes.io/part-of: headgate
app.kubernetes.io/name: {{ include "headgate.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name (.Chart.Version | replace "+" "_") }}
{{- end -}}

{{- /* Called with (list ROOT COMPONENT). */ -}}
{{- define "headgate.selector" -}}
app.kubernetes.io/name: {{ include "headgate.name" (index . 0) }}
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{- define "headgate.image" -}}
{{- with .Values.image -}}
{{- with .registry }}{{ . }}/{{ end }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ with .digest }}@{{ . }}{{ end }}
{{- end -}}
{{- end -}}

{{- define "headgate.schedulerNames" -}}
{{- if .Values.custom.scheduler_name -}}
{{- splitList "," .Values.custom.scheduler_name | toJson -}}
{{- else -}}
{{- .Values.schedulerNames | toJson -}}
{{- end -}}
{{- end -}}

{{- /* Of the pods that are gated: ours, and those that another scheduler places. */ -}}
{{- define "headgate.gatedSchedulers" -}}
{{- concat (include "headgate.schedulerNames" . | fromJsonArray) .Values.gate.schedulers | uniq | toJson -}}
{{- end -}}

{{- define "headgate.gateSchedulerArgs" -}}
{{- range .Values.gate.schedulers | default (list "") }}
- --gate-schedulers={{ . }}
{{- end }}
{{- end -}}

{{- define "headgate.featureGates" -}}
SchedulingGatesQueueAdmission={{ .Values.featureGates.SchedulingGatesQueueAdmission }}
{{- end -}}

{{- /* Kueue's Configuration as an object. */ -}}
{{- define "headgate.quotaConfig" -}}
{{- $conf := .Values.quota.config | default "{}" | fromYaml -}}
{{- with $conf.Error -}}
{{- fail (printf "quota.config: %s" .) -}}
{{- end -}}
{{- toJson $conf -}}
{{- end -}}

{{- /* The integrations in it that Headgate has: batch/job, pod. */ -}}
{{- define "headgate.integrations" -}}
{{- $conf := include "headgate.quotaConfig" . | fromJson -}}
{{- ($conf.integrations | default dict).frameworks | default (list "batch/job") | toJson -}}
{{- end -}}

{{- /* How long a Job stays after its Workload was deactivated; empty: forever. */ -}}
{{- define "headgate.afterDeactivated" -}}
{{- $conf := include "headgate.quotaConfig" . | fromJson -}}
{{- (($conf.objectRetentionPolicies | default dict).workloads | default dict).afterDeactivatedByKueue | default "" -}}
{{- end -}}

{{- define "headgate.admissions" -}}
{{- if .Values.custom.enabled_admissions -}}
{{- .Values.custom.enabled_admissions -}}
{{- else -}}
{{- join "," .Values.webhook.enabledAdmissions -}}
{{- end -}}
{{- if .Values.quota.enabled -}}
{{- $pods := has "pod" (include "headgate.integrations" . | fromJsonArray) -}}
{{- $jobs := has "batch/job" (include "headgate.integrations" . | fromJsonArray) -}}
{{- range regexFindAll "@/[a-z0-9-]+" (.Files.Get "files/webhooks-quota.yaml") -1 | uniq -}}
{{- if and (or $pods (not (hasSuffix "-pod" .))) (or $jobs (not (hasSuffix "-job" .))) -}}
,{{ trimPrefix "@" . }}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "headgate.webhookSecret" -}}
{{- .Values.webhook.certificates.secretName | default (printf "%s-webhook-tls" (include "headgate.fullname" .)) -}}
{{- end -}}

{{- define "headgate.podSecurityContext" -}}
{{- toYaml .Values.podSecurityContext }}
{{- end -}}

{{- define "headgate.securityContext" -}}
{{- toYaml .Values.securityContext }}
{{- end -}}

{{- /* On which nodes pods run. Called with the values of a component. */ -}}
{{- define "headgate.nodes" -}}
{{- with .priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations: {{- toYaml . | nindent 0 }}
{{- end }}
{{- end -}}

{{- /* Pods of hooks run on the nodes of the scheduler, or on those of the webhook where there is no scheduler. */ -}}
{{- define "headgate.hookNodes" -}}
{{- include "headgate.nodes" (ternary .Values.scheduler .Values.webhook .Values.scheduler.enabled) -}}
{{- end -}}

{{- /* The part of the pod spec that both Deployments share. Called with (list ROOT COMPONENT VALUES). */ -}}
{{- define "headgate.placement" -}}
{{- $root := index . 0 -}}
{{- $v := index . 2 -}}
{{- with $root.Values.image.pullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 0 }}
{{- end }}
{{- with include "headgate.nodes" $v }}
{{- . }}
{{- end }}
{{- if $v.hostNetwork }}
hostNetwork: true
{{- end }}
{{- with $v.dnsPolicy | default (ternary "ClusterFirstWithHostNet" "" $v.hostNetwork) }}
dnsPolicy: {{ . }}
{{- end }}
{{- with $v.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
topologySpreadConstraints:
{{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
- maxSkew: 1
  topologyKey: {{ . }}
  whenUnsatisfiable: ScheduleAnyway
  labelSelector:
    matchLabels: {{- include "headgate.selector" (list $root (index $ 1)) | nindent 6 }}
  matchLabelKeys: [pod-template-hash]
{{- end }}
securityContext: {{- include "headgate.podSecurityContext" $root | nindent 2 }}
{{- end -}}

{{- define "headgate.probes" -}}
{{- range $name := list "startup" "liveness" "readiness" }}
{{ $name }}Probe:
  httpGet: {path: {{ eq $name "readiness" | ternary "/readyz" "/livez" }}, port: health}
  {{- with get $.Values.probes $name }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
{{- end -}}

{{- /* The part of the spec of a Service that is up to the values. Called with the values of a component. */ -}}
{{- define "headgate.service" -}}
type: {{ .service.type }}
{{- with .service.ipFamilyPolicy }}
ipFamilyPolicy: {{ . }}
{{- end }}
{{- with .service.ipFamilies }}
ipFamilies: {{- toYaml . | nindent 0 }}
{{- end }}
{{- end -}}

{{- define "headgate.schedulerConfig" -}}
{{ .Values.custom.scheduler_config_override | default .Values.scheduler.config | default (.Files.Get "files/scheduler.yaml") }}
{{- end -}}

{{- /* "true" if the scheduler's configuration has the plugin pdb, in block or flow style; else "". */ -}}
{{- define "headgate.readsBudgets" -}}
{{- if regexMatch `(?m)^[^#\n]*name:\s*["']?pdb["']?\s*([,}#]|$)` (include "headgate.schedulerConfig" .) }}true{{ end }}
{{- end -}}
