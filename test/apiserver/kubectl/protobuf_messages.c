/* Messages of k8s.io/api 1.36, without status: field numbers and Go types are those of its
 * types.go. */
#include "apiserver/kubectl/protobuf.h"

#include <stdlib.h>

#include "base/attrs.h"

/* In the order of their names. */
static const struct protobuf_message messages[] = {
	{ "Affinity", "nodeAffinity! 1 NodeAffinity, podAffinity! 2 PodAffinity, "
		      "podAntiAffinity! 3 PodAntiAffinity" },
	{ "AggregationRule", "clusterRoleSelectors 1 *LabelSelector" },
	{ "AppArmorProfile", "type 1 s, localhostProfile! 2 s" },
	{ "CSIVolumeSource", "driver 1 s, readOnly! 2 b, fsType! 3 s, volumeAttributes 4 %s, "
			     "nodePublishSecretRef! 5 LocalObjectReference" },
	{ "Capabilities", "add 1 *s, drop 2 *s" },
	{ "ClientIPConfig", "timeoutSeconds! 1 i" },
	{ "ClusterRole", "metadata 1 ObjectMeta, rules 2 *PolicyRule, "
			 "aggregationRule! 3 AggregationRule" },
	{ "ClusterRoleBinding", "metadata 1 ObjectMeta, subjects 2 *Subject, roleRef 3 RoleRef" },
	{ "ClusterTrustBundleProjection",
	  "name! 1 s, signerName! 2 s, labelSelector! 3 LabelSelector, "
	  "optional! 5 b, path 4 s" },
	{ "ConfigMap", "metadata 1 ObjectMeta, immutable! 4 b, data 2 %s, binaryData 3 %B" },
	{ "ConfigMapEnvSource", "^ 1 LocalObjectReference, optional! 2 b" },
	{ "ConfigMapKeySelector", "^ 1 LocalObjectReference, key 2 s, optional! 3 b" },
	{ "ConfigMapProjection", "^ 1 LocalObjectReference, items 2 *KeyToPath, optional! 4 b" },
	{ "ConfigMapVolumeSource",
	  "^ 1 LocalObjectReference, items 2 *KeyToPath, defaultMode! 3 i, "
	  "optional! 4 b" },
	{ "Container", "name 1 s, image 2 s, command 3 *s, args 4 *s, workingDir 5 s, "
		       "ports 6 *ContainerPort, envFrom 19 *EnvFromSource, env 7 *EnvVar, "
		       "resources 8 ResourceRequirements, resizePolicy 23 *ContainerResizePolicy, "
		       "restartPolicy! 24 s, restartPolicyRules 25 *ContainerRestartRule, "
		       "volumeMounts 9 *VolumeMount, volumeDevices 21 *VolumeDevice, "
		       "livenessProbe! 10 Probe, readinessProbe! 11 Probe, "
		       "startupProbe! 22 Probe, lifecycle! 12 Lifecycle, "
		       "terminationMessagePath 13 s, terminationMessagePolicy 20 s, "
		       "imagePullPolicy 14 s, securityContext! 15 SecurityContext, stdin 16 b, "
		       "stdinOnce 17 b, tty 18 b" },
	{ "ContainerPort", "name 1 s, hostPort 2 i, containerPort 3 i, protocol 4 s, hostIP 5 s" },
	{ "ContainerResizePolicy", "resourceName 1 s, restartPolicy 2 s" },
	{ "ContainerRestartRule", "action 1 s, exitCodes! 2 ContainerRestartRuleOnExitCodes" },
	{ "ContainerRestartRuleOnExitCodes", "operator 1 s, values 2 *i" },
	{ "CronJob", "metadata 1 ObjectMeta, spec 2 CronJobSpec" },
	{ "CronJobSpec", "schedule 1 s, timeZone! 8 s, startingDeadlineSeconds! 2 i, "
			 "concurrencyPolicy 3 s, suspend! 4 b, jobTemplate 5 JobTemplateSpec, "
			 "successfulJobsHistoryLimit! 6 i, failedJobsHistoryLimit! 7 i" },
	{ "DeleteOptions", "gracePeriodSeconds! 1 i, preconditions! 2 Preconditions, "
			   "orphanDependents! 3 b, propagationPolicy! 4 s, dryRun 5 *s, "
			   "ignoreStoreReadErrorWithClusterBreakingPotential! 6 b" },
	{ "Deployment", "metadata 1 ObjectMeta, spec 2 DeploymentSpec" },
	{ "DeploymentSpec", "replicas! 1 i, selector! 2 LabelSelector, template 3 PodTemplateSpec, "
			    "strategy 4 DeploymentStrategy, minReadySeconds 5 i, "
			    "revisionHistoryLimit! 6 i, paused 7 b, progressDeadlineSeconds! 9 i" },
	{ "DeploymentStrategy", "type 1 s, rollingUpdate! 2 RollingUpdateDeployment" },
	{ "DownwardAPIProjection", "items 1 *DownwardAPIVolumeFile" },
	{ "DownwardAPIVolumeFile", "path 1 s, fieldRef! 2 ObjectFieldSelector, "
				   "resourceFieldRef! 3 ResourceFieldSelector, mode! 4 i" },
	{ "DownwardAPIVolumeSource", "items 1 *DownwardAPIVolumeFile, defaultMode! 2 i" },
	{ "EmptyDirVolumeSource", "medium 1 s, sizeLimit! 2 Q" },
	{ "EnvFromSource", "prefix 1 s, configMapRef! 2 ConfigMapEnvSource, "
			   "secretRef! 3 SecretEnvSource" },
	{ "EnvVar", "name 1 s, value 2 s, valueFrom! 3 EnvVarSource" },
	{ "EnvVarSource", "fieldRef! 1 ObjectFieldSelector, "
			  "resourceFieldRef! 2 ResourceFieldSelector, "
			  "configMapKeyRef! 3 ConfigMapKeySelector, "
			  "secretKeyRef! 4 SecretKeySelector, fileKeyRef! 5 FileKeySelector" },
	{ "EphemeralContainer", "^ 1 EphemeralContainerCommon, targetContainerName 2 s" },
	{ "EphemeralContainerCommon",
	  "name 1 s, image 2 s, command 3 *s, args 4 *s, workingDir 5 s, "
	  "ports 6 *ContainerPort, envFrom 19 *EnvFromSource, env 7 *EnvVar, "
	  "resources 8 ResourceRequirements, resizePolicy 23 *ContainerResizePolicy, "
	  "restartPolicy! 24 s, restartPolicyRules 25 *ContainerRestartRule, "
	  "volumeMounts 9 *VolumeMount, volumeDevices 21 *VolumeDevice, "
	  "livenessProbe! 10 Probe, readinessProbe! 11 Probe, "
	  "startupProbe! 22 Probe, lifecycle! 12 Lifecycle, "
	  "terminationMessagePath 13 s, terminationMessagePolicy 20 s, "
	  "imagePullPolicy 14 s, securityContext! 15 SecurityContext, stdin 16 b, "
	  "stdinOnce 17 b, tty 18 b" },
	{ "Eviction", "metadata 1 ObjectMeta, deleteOptions! 2 DeleteOptions" },
	{ "ExecAction", "command 1 *s" },
	{ "FieldSelectorAttributes", "rawSelector 1 s, requirements 2 *FieldSelectorRequirement" },
	{ "FieldSelectorRequirement", "key 1 s, operator 2 s, values 3 *s" },
	{ "FileKeySelector", "volumeName 1 s, path 2 s, key 3 s, optional! 4 b" },
	{ "GRPCAction", "port 1 i, service! 2 s" },
	{ "HTTPGetAction", "path 1 s, port 2 O, host 3 s, scheme 4 s, httpHeaders 5 *HTTPHeader" },
	{ "HTTPHeader", "name 1 s, value 2 s" },
	{ "HTTPIngressPath", "path 1 s, pathType! 3 s, backend 2 IngressBackend" },
	{ "HTTPIngressRuleValue", "paths 1 *HTTPIngressPath" },
	{ "HostAlias", "ip 1 s, hostnames 2 *s" },
	{ "HostPathVolumeSource", "path 1 s, type! 2 s" },
	{ "Ingress", "metadata 1 ObjectMeta, spec 2 IngressSpec" },
	{ "IngressBackend",
	  "service! 4 IngressServiceBackend, resource! 3 TypedLocalObjectReference" },
	{ "IngressRule", "host 1 s, ^ 2 IngressRuleValue" },
	{ "IngressRuleValue", "http! 1 HTTPIngressRuleValue" },
	{ "IngressServiceBackend", "name 1 s, port 2 ServiceBackendPort" },
	{ "IngressSpec", "ingressClassName! 4 s, defaultBackend! 1 IngressBackend, "
			 "tls 2 *IngressTLS, rules 3 *IngressRule" },
	{ "IngressTLS", "hosts 1 *s, secretName 2 s" },
	{ "Job", "metadata 1 ObjectMeta, spec 2 JobSpec" },
	{ "JobSpec", "parallelism! 1 i, completions! 2 i, activeDeadlineSeconds! 3 i, "
		     "podFailurePolicy! 11 PodFailurePolicy, successPolicy! 16 SuccessPolicy, "
		     "backoffLimit! 7 i, backoffLimitPerIndex! 12 i, maxFailedIndexes! 13 i, "
		     "selector! 4 LabelSelector, manualSelector! 5 b, "
		     "template 6 PodTemplateSpec, ttlSecondsAfterFinished! 8 i, "
		     "completionMode! 9 s, suspend! 10 b, podReplacementPolicy! 14 s, "
		     "managedBy! 15 s" },
	{ "JobTemplateSpec", "metadata 1 ObjectMeta, spec 2 JobSpec" },
	{ "KeyToPath", "key 1 s, path 2 s, mode! 3 i" },
	{ "LabelSelector", "matchLabels 1 %s, matchExpressions 2 *LabelSelectorRequirement" },
	{ "LabelSelectorAttributes", "rawSelector 1 s, requirements 2 *LabelSelectorRequirement" },
	{ "LabelSelectorRequirement", "key 1 s, operator 2 s, values 3 *s" },
	{ "Lifecycle", "postStart! 1 LifecycleHandler, preStop! 2 LifecycleHandler, "
		       "stopSignal! 3 s" },
	{ "LifecycleHandler", "exec! 1 ExecAction, httpGet! 2 HTTPGetAction, "
			      "tcpSocket! 3 TCPSocketAction, sleep! 4 SleepAction" },
	{ "LocalObjectReference", "name 1 s" },
	{ "NFSVolumeSource", "server 1 s, path 2 s, readOnly 3 b" },
	{ "Namespace", "metadata 1 ObjectMeta, spec 2 NamespaceSpec" },
	{ "NamespaceSpec", "finalizers 1 *s" },
	{ "NodeAffinity",
	  "requiredDuringSchedulingIgnoredDuringExecution! 1 NodeSelector, "
	  "preferredDuringSchedulingIgnoredDuringExecution 2 *PreferredSchedulingTerm" },
	{ "NodeSelector", "nodeSelectorTerms 1 *NodeSelectorTerm" },
	{ "NodeSelectorRequirement", "key 1 s, operator 2 s, values 3 *s" },
	{ "NodeSelectorTerm", "matchExpressions 1 *NodeSelectorRequirement, "
			      "matchFields 2 *NodeSelectorRequirement" },
	{ "NonResourceAttributes", "path 1 s, verb 2 s" },
	{ "ObjectFieldSelector", "apiVersion 1 s, fieldPath 2 s" },
	{ "ObjectMeta", "name 1 s, generateName 2 s, namespace 3 s, selfLink 4 s, uid 5 s, "
			"resourceVersion 6 s, generation 7 i, creationTimestamp 8 T, "
			"deletionTimestamp! 9 T, deletionGracePeriodSeconds! 10 i, labels 11 %s, "
			"annotations 12 %s, ownerReferences 13 *OwnerReference, finalizers 14 *s" },
	{ "ObjectReference", "kind 1 s, namespace 2 s, name 3 s, uid 4 s, apiVersion 5 s, "
			     "resourceVersion 6 s, fieldPath 7 s" },
	{ "OwnerReference", "apiVersion 5 s, kind 1 s, name 3 s, uid 4 s, controller! 6 b, "
			    "blockOwnerDeletion! 7 b" },
	{ "PersistentVolumeClaimVolumeSource", "claimName 1 s, readOnly 2 b" },
	{ "Pod", "metadata 1 ObjectMeta, spec 2 PodSpec" },
	{ "PodAffinity",
	  "requiredDuringSchedulingIgnoredDuringExecution 1 *PodAffinityTerm, "
	  "preferredDuringSchedulingIgnoredDuringExecution 2 *WeightedPodAffinityTerm" },
	{ "PodAffinityTerm", "labelSelector! 1 LabelSelector, namespaces 2 *s, topologyKey 3 s, "
			     "namespaceSelector! 4 LabelSelector, matchLabelKeys 5 *s, "
			     "mismatchLabelKeys 6 *s" },
	{ "PodAntiAffinity",
	  "requiredDuringSchedulingIgnoredDuringExecution 1 *PodAffinityTerm, "
	  "preferredDuringSchedulingIgnoredDuringExecution 2 *WeightedPodAffinityTerm" },
	{ "PodCertificateProjection",
	  "signerName 1 s, keyType 2 s, maxExpirationSeconds! 3 i, "
	  "credentialBundlePath 4 s, keyPath 5 s, certificateChainPath 6 s, "
	  "userAnnotations 7 %s" },
	{ "PodDNSConfig", "nameservers 1 *s, searches 2 *s, options 3 *PodDNSConfigOption" },
	{ "PodDNSConfigOption", "name 1 s, value! 2 s" },
	{ "PodDisruptionBudget", "metadata 1 ObjectMeta, spec 2 PodDisruptionBudgetSpec" },
	{ "PodDisruptionBudgetSpec",
	  "minAvailable! 1 O, selector! 2 LabelSelector, maxUnavailable! 3 O, "
	  "unhealthyPodEvictionPolicy! 4 s" },
	{ "PodFailurePolicy", "rules 1 *PodFailurePolicyRule" },
	{ "PodFailurePolicyOnExitCodesRequirement",
	  "containerName! 1 s, operator 2 s, values 3 *i" },
	{ "PodFailurePolicyOnPodConditionsPattern", "type 1 s" },
	{ "PodFailurePolicyRule",
	  "action 1 s, onExitCodes! 2 PodFailurePolicyOnExitCodesRequirement, "
	  "onPodConditions 3 *PodFailurePolicyOnPodConditionsPattern" },
	{ "PodOS", "name 1 s" },
	{ "PodReadinessGate", "conditionType 1 s" },
	{ "PodResourceClaim", "name 1 s, resourceClaimName! 3 s, resourceClaimTemplateName! 4 s" },
	{ "PodSchedulingGate", "name 1 s" },
	{ "PodSchedulingGroup", "podGroupName! 1 s" },
	{ "PodSecurityContext", "seLinuxOptions! 1 SELinuxOptions, "
				"windowsOptions! 8 WindowsSecurityContextOptions, runAsUser! 2 i, "
				"runAsGroup! 6 i, runAsNonRoot! 3 b, supplementalGroups 4 *i, "
				"supplementalGroupsPolicy! 12 s, fsGroup! 5 i, sysctls 7 *Sysctl, "
				"fsGroupChangePolicy! 9 s, seccompProfile! 10 SeccompProfile, "
				"appArmorProfile! 11 AppArmorProfile, seLinuxChangePolicy! 13 s" },
	{ "PodSpec", "volumes 1 *Volume, initContainers 20 *Container, containers 2 *Container, "
		     "ephemeralContainers 34 *EphemeralContainer, restartPolicy 3 s, "
		     "terminationGracePeriodSeconds! 4 i, activeDeadlineSeconds! 5 i, "
		     "dnsPolicy 6 s, nodeSelector 7 %s, serviceAccountName 8 s, "
		     "serviceAccount 9 s, automountServiceAccountToken! 21 b, nodeName 10 s, "
		     "hostNetwork 11 b, hostPID 12 b, hostIPC 13 b, "
		     "shareProcessNamespace! 27 b, securityContext! 14 PodSecurityContext, "
		     "imagePullSecrets 15 *LocalObjectReference, hostname 16 s, subdomain 17 s, "
		     "affinity! 18 Affinity, schedulerName 19 s, tolerations 22 *Toleration, "
		     "hostAliases 23 *HostAlias, priorityClassName 24 s, priority! 25 i, "
		     "dnsConfig! 26 PodDNSConfig, readinessGates 28 *PodReadinessGate, "
		     "runtimeClassName! 29 s, enableServiceLinks! 30 b, preemptionPolicy! 31 s, "
		     "overhead 32 %Q, topologySpreadConstraints 33 *TopologySpreadConstraint, "
		     "setHostnameAsFQDN! 35 b, os! 36 PodOS, hostUsers! 37 b, "
		     "schedulingGates 38 *PodSchedulingGate, "
		     "resourceClaims 39 *PodResourceClaim, resources! 40 ResourceRequirements, "
		     "hostnameOverride! 41 s, schedulingGroup! 43 PodSchedulingGroup" },
	{ "PodTemplateSpec", "metadata 1 ObjectMeta, spec 2 PodSpec" },
	{ "PolicyRule", "verbs 1 *s, apiGroups 2 *s, resources 3 *s, resourceNames 4 *s, "
			"nonResourceURLs 5 *s" },
	{ "Preconditions", "uid! 1 s, resourceVersion! 2 s" },
	{ "PreferredSchedulingTerm", "weight 1 i, preference 2 NodeSelectorTerm" },
	{ "PriorityClass", "metadata 1 ObjectMeta, value 2 i, globalDefault 3 b, description 4 s, "
			   "preemptionPolicy! 5 s" },
	{ "Probe", "^ 1 ProbeHandler, initialDelaySeconds 2 i, timeoutSeconds 3 i, "
		   "periodSeconds 4 i, successThreshold 5 i, failureThreshold 6 i, "
		   "terminationGracePeriodSeconds! 7 i" },
	{ "ProbeHandler", "exec! 1 ExecAction, httpGet! 2 HTTPGetAction, "
			  "tcpSocket! 3 TCPSocketAction, grpc! 4 GRPCAction" },
	{ "ProjectedVolumeSource", "sources 1 *VolumeProjection, defaultMode! 2 i" },
	{ "ResourceAttributes",
	  "namespace 1 s, verb 2 s, group 3 s, version 4 s, resource 5 s, "
	  "subresource 6 s, name 7 s, fieldSelector! 8 FieldSelectorAttributes, "
	  "labelSelector! 9 LabelSelectorAttributes" },
	{ "ResourceClaim", "name 1 s, request 2 s" },
	{ "ResourceFieldSelector", "containerName 1 s, resource 2 s, divisor 3 Q" },
	{ "ResourceQuota", "metadata 1 ObjectMeta, spec 2 ResourceQuotaSpec" },
	{ "ResourceQuotaSpec", "hard 1 %Q, scopes 2 *s, scopeSelector! 3 ScopeSelector" },
	{ "ResourceRequirements", "limits 1 %Q, requests 2 %Q, claims 3 *ResourceClaim" },
	{ "Role", "metadata 1 ObjectMeta, rules 2 *PolicyRule" },
	{ "RoleBinding", "metadata 1 ObjectMeta, subjects 2 *Subject, roleRef 3 RoleRef" },
	{ "RoleRef", "apiGroup 1 s, kind 2 s, name 3 s" },
	{ "RollingUpdateDeployment", "maxUnavailable! 1 O, maxSurge! 2 O" },
	{ "SELinuxOptions", "user 1 s, role 2 s, type 3 s, level 4 s" },
	{ "ScopeSelector", "matchExpressions 1 *ScopedResourceSelectorRequirement" },
	{ "ScopedResourceSelectorRequirement", "scopeName 1 s, operator 2 s, values 3 *s" },
	{ "SeccompProfile", "type 1 s, localhostProfile! 2 s" },
	{ "Secret", "metadata 1 ObjectMeta, immutable! 5 b, data 2 %B, stringData 4 %s, "
		    "type 3 s" },
	{ "SecretEnvSource", "^ 1 LocalObjectReference, optional! 2 b" },
	{ "SecretKeySelector", "^ 1 LocalObjectReference, key 2 s, optional! 3 b" },
	{ "SecretProjection", "^ 1 LocalObjectReference, items 2 *KeyToPath, optional! 4 b" },
	{ "SecretVolumeSource",
	  "secretName 1 s, items 2 *KeyToPath, defaultMode! 3 i, optional! 4 b" },
	{ "SecurityContext",
	  "capabilities! 1 Capabilities, privileged! 2 b, "
	  "seLinuxOptions! 3 SELinuxOptions, "
	  "windowsOptions! 10 WindowsSecurityContextOptions, runAsUser! 4 i, "
	  "runAsGroup! 8 i, runAsNonRoot! 5 b, readOnlyRootFilesystem! 6 b, "
	  "allowPrivilegeEscalation! 7 b, procMount! 9 s, "
	  "seccompProfile! 11 SeccompProfile, appArmorProfile! 12 AppArmorProfile" },
	{ "SelfSubjectAccessReview", "metadata 1 ObjectMeta, spec 2 SelfSubjectAccessReviewSpec" },
	{ "SelfSubjectAccessReviewSpec", "resourceAttributes! 1 ResourceAttributes, "
					 "nonResourceAttributes! 2 NonResourceAttributes" },
	{ "SelfSubjectReview", "metadata 1 ObjectMeta" },
	{ "Service", "metadata 1 ObjectMeta, spec 2 ServiceSpec" },
	{ "ServiceAccount", "metadata 1 ObjectMeta, secrets 2 *ObjectReference, "
			    "imagePullSecrets 3 *LocalObjectReference, "
			    "automountServiceAccountToken! 4 b" },
	{ "ServiceAccountTokenProjection", "audience 1 s, expirationSeconds! 2 i, path 3 s" },
	{ "ServiceBackendPort", "name 1 s, number 2 i" },
	{ "ServicePort", "name 1 s, protocol 2 s, appProtocol! 6 s, port 3 i, targetPort 4 O, "
			 "nodePort 5 i" },
	{ "ServiceSpec", "ports 1 *ServicePort, selector 2 %s, clusterIP 3 s, clusterIPs 18 *s, "
			 "type 4 s, externalIPs 5 *s, sessionAffinity 7 s, loadBalancerIP 8 s, "
			 "loadBalancerSourceRanges 9 *s, externalName 10 s, "
			 "externalTrafficPolicy 11 s, healthCheckNodePort 12 i, "
			 "publishNotReadyAddresses 13 b, "
			 "sessionAffinityConfig! 14 SessionAffinityConfig, ipFamilies 19 *s, "
			 "ipFamilyPolicy! 17 s, allocateLoadBalancerNodePorts! 20 b, "
			 "loadBalancerClass! 21 s, internalTrafficPolicy! 22 s, "
			 "trafficDistribution! 23 s" },
	{ "SessionAffinityConfig", "clientIP! 1 ClientIPConfig" },
	{ "SleepAction", "seconds 1 i" },
	{ "Subject", "kind 1 s, apiGroup 2 s, name 3 s, namespace 4 s" },
	{ "SuccessPolicy", "rules 1 *SuccessPolicyRule" },
	{ "SuccessPolicyRule", "succeededIndexes! 1 s, succeededCount! 2 i" },
	{ "Sysctl", "name 1 s, value 2 s" },
	{ "TCPSocketAction", "port 1 O, host 2 s" },
	{ "Toleration", "key 1 s, operator 2 s, value 3 s, effect 4 s, tolerationSeconds! 5 i" },
	{ "TopologySpreadConstraint",
	  "maxSkew 1 i, topologyKey 2 s, whenUnsatisfiable 3 s, "
	  "labelSelector! 4 LabelSelector, minDomains! 5 i, nodeAffinityPolicy! 6 s, "
	  "nodeTaintsPolicy! 7 s, matchLabelKeys 8 *s" },
	{ "TypedLocalObjectReference", "apiGroup! 1 s, kind 2 s, name 3 s" },
	{ "Volume", "name 1 s, ^ 2 VolumeSource" },
	{ "VolumeDevice", "name 1 s, devicePath 2 s" },
	{ "VolumeMount", "name 1 s, readOnly 2 b, recursiveReadOnly! 7 s, mountPath 3 s, "
			 "subPath 4 s, mountPropagation! 5 s, subPathExpr 6 s" },
	{ "VolumeProjection", "secret! 1 SecretProjection, downwardAPI! 2 DownwardAPIProjection, "
			      "configMap! 3 ConfigMapProjection, "
			      "serviceAccountToken! 4 ServiceAccountTokenProjection, "
			      "clusterTrustBundle! 5 ClusterTrustBundleProjection, "
			      "podCertificate! 6 PodCertificateProjection" },
	{ "VolumeSource",
	  "hostPath! 1 HostPathVolumeSource, emptyDir! 2 EmptyDirVolumeSource, "
	  "secret! 6 SecretVolumeSource, nfs! 7 NFSVolumeSource, "
	  "persistentVolumeClaim! 10 PersistentVolumeClaimVolumeSource, "
	  "downwardAPI! 16 DownwardAPIVolumeSource, "
	  "configMap! 19 ConfigMapVolumeSource, projected! 26 ProjectedVolumeSource, "
	  "csi! 28 CSIVolumeSource" },
	{ "WeightedPodAffinityTerm", "weight 1 i, podAffinityTerm 2 PodAffinityTerm" },
	{ "WindowsSecurityContextOptions",
	  "gmsaCredentialSpecName! 1 s, gmsaCredentialSpec! 2 s, runAsUserName! 3 s, "
	  "hostProcess! 4 b" },
};

const struct protobuf_message *protobuf_messages_at(size_t i)
{
	return i < ARRAY_LEN(messages) ? &messages[i] : NULL;
}

static int cmp_name(const void *key, const void *row)
{
	return str_cmp(*(const struct str *)key,
		       str_of(((const struct protobuf_message *)row)->name));
}

const struct protobuf_message *protobuf_messages_find(struct str name)
{
	return bsearch(&name, messages, ARRAY_LEN(messages), sizeof(messages[0]), cmp_name);
}
