{{- /* Conditions between values, and inside of texts, which the schema cannot express. The daemons would not start with
values that are refused here. */ -}}

{{- /* Milliseconds of a duration such as 1h30m. */ -}}
{{- define "headgate.milliseconds" -}}
{{- $units := dict "ns" 0.000001 "us" 0.001 "ms" 1.0 "s" 1000.0 "m" 60000.0 "h" 3600000.0 -}}
{{- $sum := 0.0 -}}
{{- range regexFindAll "[0-9.]+(ns|us|ms|s|m|h)" . -1 -}}
{{- $unit := regexFind "[a-z]+$" . -}}
{{- $sum = addf $sum (mulf (trimSuffix $unit . | float64) (get $units $unit)) -}}
{{- end -}}
{{- $sum -}}
{{- end -}}

{{- /* Called with (list NAME DURATION LEAST MOST). */ -}}
{{- define "headgate.checkDuration" -}}
{{- $ms := include "headgate.milliseconds" (index . 1) | float64 -}}
{{- if or (lt $ms (include "headgate.milliseconds" (index . 2) | float64)) (gt $ms (include "headgate.milliseconds" (index . 3) | float64)) -}}
{{- fail (printf "%s: %s is not between %s and %s" (index . 0) (index . 1) (index . 2) (index . 3)) -}}
{{- end -}}
{{- end -}}

{{- /* Called with (list NAME LEADER-ELECTION). */ -}}
{{- define "headgate.checkLeaderElection" -}}
{{- $name := index . 0 -}}
{{- $v := index . 1 -}}
{{- include "headgate.checkDuration" (list (printf "%s.leaseDuration" $name) $v.leaseDuration "0s" "876000h") -}}
{{- $lease := include "headgate.milliseconds" $v.leaseDuration | float64 -}}
{{- $renew := include "headgate.milliseconds" $v.renewDeadline | float64 -}}
{{- $retry := include "headgate.milliseconds" $v.retryPeriod | float64 -}}
{{- if or (ge $retry $renew) (ge $renew $lease) -}}
{{- fail (printf "%s: retryPeriod %s < renewDeadline %s < leaseDuration %s does not hold" $name $v.retryPeriod $v.renewDeadline $v.leaseDuration) -}}
{{- end -}}
{{- if lt (subf $lease $renew) 1000.0 -}}
{{- fail (printf "%s: renewDeadline %s must be 1 s or more below leaseDuration %s" $name $v.renewDeadline $v.leaseDuration) -}}
{{- end -}}
{{- end -}}

{{- define "headgate.checkPorts" -}}
{{- range $component := list "scheduler" "orchestrator" -}}
{{- $v := index $.Values $component -}}
{{- if eq (int $v.metricsPort) (int $v.healthPort) -}}
{{- fail (printf "%s.metricsPort and %s.healthPort must differ" $component $component) -}}
{{- end -}}
{{- end -}}
{{- if eq (int .Values.webhook.port) (int .Values.webhook.healthPort) -}}
{{- fail "webhook.port and webhook.healthPort must differ" -}}
{{- end -}}
{{- end -}}

{{- /* Called with (list WHERE TIER KNOWN). */ -}}
{{- define "headgate.checkTier" -}}
{{- $where := index . 0 -}}
{{- $tier := index . 1 -}}
{{- if not (kindIs "map" $tier) -}}
{{- fail (printf "%s: each tier needs a list of plugins" $where) -}}
{{- end -}}
{{- $seen := dict -}}
{{- range $tier.plugins -}}
{{- if or (not (kindIs "map" .)) (not (kindIs "string" .name)) -}}
{{- fail (printf "%s: each plugin needs a name" $where) -}}
{{- end -}}
{{- if not (has .name (index $ 2).plugins) -}}
{{- fail (printf "%s: unknown plugin %q" $where .name) -}}
{{- end -}}
{{- $plugin := .name -}}
{{- range $key, $value := . -}}
{{- if and (hasPrefix "enable" $key) (not (kindIs "bool" $value)) (not (kindIs "invalid" $value)) -}}
{{- fail (printf "%s: %s.%s must be true or false" $where $plugin $key) -}}
{{- end -}}
{{- end -}}
{{- $_ := set $seen .name (.enableHierarchy | default false) -}}
{{- end -}}
{{- if and (hasKey $seen "proportion") $seen.drf -}}
{{- fail (printf "%s: proportion and drf with enableHierarchy exclude each other" $where) -}}
{{- end -}}
{{- end -}}

{{- /* Volcano's configuration. Called with (list WHERE TEXT KNOWN). */ -}}
{{- define "headgate.checkSchedulerConfig" -}}
{{- $where := index . 0 -}}
{{- $known := index . 2 -}}
{{- $conf := fromYaml (index . 1) -}}
{{- with $conf.Error -}}
{{- fail (printf "%s: %s" $where .) -}}
{{- end -}}
{{- if not (kindIs "string" $conf.actions) -}}
{{- fail (printf "%s: actions must be a text such as \"enqueue, allocate, backfill\"" $where) -}}
{{- end -}}
{{- range splitList "," $conf.actions -}}
{{- if not (has (trim .) $known.actions) -}}
{{- fail (printf "%s: unknown action %q" $where (trim .)) -}}
{{- end -}}
{{- end -}}
{{- if not (or (kindIs "slice" $conf.tiers) (kindIs "invalid" $conf.tiers)) -}}
{{- fail (printf "%s: tiers must be a list" $where) -}}
{{- end -}}
{{- range $conf.tiers -}}
{{- include "headgate.checkTier" (list $where . $known) -}}
{{- end -}}
{{- end -}}

{{- /* The fields of an object are those of a tree of patterns. Called with (list PATH OBJECT TREE). */ -}}
{{- define "headgate.checkFields" -}}
{{- $tree := index . 2 -}}
{{- if not (kindIs "map" (index . 1)) -}}
{{- fail (printf "%s: must be an object" (index . 0)) -}}
{{- end -}}
{{- range $key, $value := index . 1 -}}
{{- $path := printf "%s.%s" (index $ 0) $key -}}
{{- if not (hasKey $tree $key) -}}
{{- fail (printf "%s: unknown field" $path) -}}
{{- end -}}
{{- $allowed := get $tree $key -}}
{{- if kindIs "invalid" $value -}}
{{- /* As if it were not written. */ -}}
{{- else if kindIs "map" $allowed -}}
{{- include "headgate.checkFields" (list $path $value $allowed) -}}
{{- else if kindIs "slice" $allowed -}}
{{- if not (kindIs "slice" $value) -}}
{{- fail (printf "%s: must be a list" $path) -}}
{{- end -}}
{{- range $i, $item := $value -}}
{{- include "headgate.checkFields" (list (printf "%s[%d]" $path $i) $item (first $allowed)) -}}
{{- end -}}
{{- else if kindIs "string" $allowed -}}
{{- if not (regexMatch $allowed (toString $value)) -}}
{{- fail (printf "%s: %q does not match %s" $path (toString $value) $allowed) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* Kueue's Configuration. Called with (list ROOT KNOWN). */ -}}
{{- define "headgate.checkQuotaConfig" -}}
{{- $known := index . 1 -}}
{{- $conf := include "headgate.quotaConfig" (index . 0) | fromJson -}}
{{- include "headgate.checkFields" (list "quota.config" $conf $known.configuration) -}}
{{- $integrations := $conf.integrations | default dict -}}
{{- range $integrations.frameworks -}}
{{- if not (has . $known.frameworks) -}}
{{- fail (printf "quota.config.integrations.frameworks: no such integration: %q" (toString .)) -}}
{{- end -}}
{{- end -}}
{{- range $integrations.externalFrameworks -}}
{{- if not (regexMatch "^[^.]+[.][^.]+[.].+$" (toString .)) -}}
{{- fail (printf "quota.config.integrations.externalFrameworks: %q is not Kind.version.group" (toString .)) -}}
{{- end -}}
{{- end -}}
{{- range $gate, $on := $conf.featureGates -}}
{{- if not (or (kindIs "bool" $on) (kindIs "invalid" $on)) -}}
{{- fail (printf "quota.config.featureGates.%s: must be true or false" $gate) -}}
{{- end -}}
{{- if eq (toString $on) "true" -}}
{{- range ternary (list "TopologyAwareScheduling") list (hasPrefix "TAS" $gate) | concat (get $known.gateNeeds $gate | default list) -}}
{{- if eq (get $conf.featureGates . | toString) "false" -}}
{{- fail (printf "quota.config.featureGates.%s: requires %s to be enabled" $gate .) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* A value against the type and the bounds of its flag. Called with (list WHERE VALUE ROW). */ -}}
{{- define "headgate.checkFlagValue" -}}
{{- $where := index . 0 -}}
{{- $value := index . 1 -}}
{{- $row := index . 2 -}}
{{- $pattern := get (dict "bool" "^(1|t|T|true|True|TRUE|0|f|F|false|False|FALSE)$" "int" "^[+-]?[0-9]{1,18}$" "double" "^[+-]?[0-9]+([.][0-9]*)?([eE][+-]?[0-9]+)?$" "duration" "^(0|([0-9]+([.][0-9]+)?(ns|us|ms|s|m|h))+)$") $row.type | default "" -}}
{{- if not (regexMatch $pattern $value) -}}
{{- fail (printf "%s: %q is no %s" $where $value $row.type) -}}
{{- end -}}
{{- if has $row.type (list "int" "double") -}}
{{- if or (lt (float64 $value) (float64 $row.min)) (and (hasKey $row "max") (gt (float64 $value) (float64 ($row.max | default 0)))) -}}
{{- fail (printf "%s: %s is out of bounds: %v or more%s" $where $value $row.min (hasKey $row "max" | ternary (printf ", %v at most" $row.max) "")) -}}
{{- end -}}
{{- else if eq $row.type "duration" -}}
{{- include "headgate.checkDuration" (list $where $value $row.min $row.max) -}}
{{- else if eq $row.type "choice" -}}
{{- if not (has $value $row.names) -}}
{{- fail (printf "%s: %q is none of %s" $where $value (join ", " $row.names)) -}}
{{- end -}}
{{- else if eq $row.type "set" -}}
{{- range splitList "," $value -}}
{{- if not (has (trimPrefix "-" .) $row.names) -}}
{{- fail (printf "%s: %q is none of %s" $where . (join ", " $row.names)) -}}
{{- end -}}
{{- end -}}
{{- else if eq $row.type "only" -}}
{{- if ne $value $row.value -}}
{{- fail (printf "%s: only %q is supported" $where $row.value) -}}
{{- end -}}
{{- else if lt (len $value) (int ($row.min | default 0)) -}}
{{- fail (printf "%s: must not be empty" $where) -}}
{{- end -}}
{{- end -}}

{{- /* Called with (list WHERE EXTRA-ARGS ARGS-OF-THE-CHART FLAGS). */ -}}
{{- define "headgate.checkExtraArgs" -}}
{{- $where := index . 0 -}}
{{- $set := dict -}}
{{- range regexFindAll "(?m)^- --?[a-z-]+" (index . 2) -1 -}}
{{- $_ := set $set (trimPrefix "- " . | trimPrefix "-" | trimPrefix "-") "is set by the chart, from other values" -}}
{{- end -}}
{{- range index . 1 -}}
{{- $flag := regexFind "^--?[a-z-]+" . | trimPrefix "-" | trimPrefix "-" -}}
{{- with get $set $flag -}}
{{- fail (printf "%s: --%s %s" $where $flag .) -}}
{{- end -}}
{{- $row := get (index $ 3) $flag | default (dict "type" "any") -}}
{{- if ne $row.type "list" -}}
{{- $_ := set $set $flag "is given twice" -}}
{{- end -}}
{{- $value := contains "=" . | ternary (regexReplaceAll "^[^=]*=" . "") "true" -}}
{{- include "headgate.checkFlagValue" (list (printf "%s: --%s" $where $flag) $value $row) -}}
{{- end -}}
{{- end -}}

{{- define "headgate.checks" -}}
{{- $known := .Files.Get "files/known-names.yaml" | fromYaml -}}
{{- $s := .Values.scheduler -}}
{{- range $name, $value := dict "scheduler.schedulePeriod" $s.schedulePeriod "scheduler.reservationTimeout" $s.reservationTimeout "custom.scheduler_schedule_period" (.Values.custom.scheduler_schedule_period | default "0") -}}
{{- include "headgate.checkDuration" (list $name $value "0s" "876000h") -}}
{{- end -}}
{{- include "headgate.checkLeaderElection" (list "scheduler.leaderElection" $s.leaderElection) -}}
{{- include "headgate.checkLeaderElection" (list "orchestrator.leaderElection" .Values.orchestrator.leaderElection) -}}
{{- range list "caDuration" "leafDuration" -}}
{{- include "headgate.checkDuration" (list (printf "webhook.certificates.%s" .) (get $.Values.webhook.certificates .) "10s" "876000h") -}}
{{- end -}}
{{- include "headgate.checkPorts" . -}}
{{- $flags := .Files.Get "files/flags.yaml" | fromYaml -}}
{{- include "headgate.checkExtraArgs" (list "scheduler.extraArgs" $s.extraArgs (include "headgate.schedulerArgs" .) $flags.scheduler) -}}
{{- include "headgate.checkExtraArgs" (list "orchestrator.extraArgs" .Values.orchestrator.extraArgs (include "headgate.orchestratorArgs" .) $flags.scheduler) -}}
{{- /* Where the webhook makes its certificates, it takes none. */ -}}
{{- $taken := ternary "\n- --tls-cert-file\n- --tls-private-key-file" "" (eq .Values.webhook.certificates.mode "self") -}}
{{- include "headgate.checkExtraArgs" (list "webhook.extraArgs" .Values.webhook.extraArgs (print (include "headgate.webhookArgs" .) $taken) $flags.webhook) -}}
{{- range $name, $text := dict "scheduler.config" $s.config "custom.scheduler_config_override" .Values.custom.scheduler_config_override -}}
{{- with $text -}}
{{- include "headgate.checkSchedulerConfig" (list $name . $known) -}}
{{- end -}}
{{- end -}}
{{- if .Values.quota.enabled -}}
{{- include "headgate.checkQuotaConfig" (list . $known) -}}
{{- end -}}
{{- $conf := .Values.orchestrator.config | default "{}" | fromYaml -}}
{{- with $conf.Error -}}
{{- fail (printf "orchestrator.config: %s" .) -}}
{{- end -}}
{{- include "headgate.checkFields" (list "orchestrator.config" $conf $known.configuration) -}}
{{- end -}}
