#include "scheduler/ctl/manifest/unknown_fields.h"

#include <stdbool.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/nearest.h"
#include "base/str.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "schema/schema.h"

/* Members of an object, or of the items of a list: "name", or "name:Type" where the type is
 * described as well. "*": a schema knows the others, and these are those below which it does not
 * look. */
static const struct {
	const char *name, *members;
} types[] = {
	{ "Pod", "metadata:ObjectMeta spec:PodSpec status:PodStatus" },
	{ "PodTemplateSpec", "metadata:ObjectMeta spec:PodSpec" },
	{ "PodSpec",
	  "volumes initContainers:Container containers:Container ephemeralContainers restartPolicy "
	  "terminationGracePeriodSeconds activeDeadlineSeconds dnsPolicy nodeSelector "
	  "serviceAccountName serviceAccount automountServiceAccountToken nodeName hostNetwork "
	  "hostPID hostIPC shareProcessNamespace securityContext imagePullSecrets hostname "
	  "subdomain "
	  "affinity:Affinity schedulerName tolerations:Toleration hostAliases priorityClassName "
	  "priority dnsConfig readinessGates runtimeClassName enableServiceLinks preemptionPolicy "
	  "overhead topologySpreadConstraints:TopologySpreadConstraint setHostnameAsFQDN os "
	  "hostUsers "
	  "schedulingGates:SchedulingGate resourceClaims resources:ResourceRequirements "
	  "hostnameOverride workloadRef schedulingGroup evictionResponders" },
	{ "Container",
	  "name image command args workingDir ports envFrom env resources:ResourceRequirements "
	  "resizePolicy restartPolicy restartPolicyRules volumeMounts volumeDevices livenessProbe "
	  "readinessProbe startupProbe lifecycle terminationMessagePath terminationMessagePolicy "
	  "imagePullPolicy securityContext stdin stdinOnce tty" },
	{ "ResourceRequirements", "limits requests claims" },
	{ "Toleration", "key operator value effect tolerationSeconds" },
	{ "SchedulingGate", "name" },
	{ "Affinity",
	  "nodeAffinity:NodeAffinity podAffinity:PodAffinity podAntiAffinity:PodAffinity" },
	{ "NodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution:NodeSelector "
			  "preferredDuringSchedulingIgnoredDuringExecution:"
			  "PreferredSchedulingTerm" },
	{ "PreferredSchedulingTerm", "weight preference:NodeSelectorTerm" },
	{ "PodAffinity", "requiredDuringSchedulingIgnoredDuringExecution:PodAffinityTerm "
			 "preferredDuringSchedulingIgnoredDuringExecution:"
			 "WeightedPodAffinityTerm" },
	{ "WeightedPodAffinityTerm", "weight podAffinityTerm:PodAffinityTerm" },
	{ "PodAffinityTerm", "labelSelector:LabelSelector namespaces topologyKey "
			     "namespaceSelector:LabelSelector matchLabelKeys mismatchLabelKeys" },
	{ "LabelSelector", "matchLabels matchExpressions:Requirement" },
	{ "NodeSelector", "nodeSelectorTerms:NodeSelectorTerm" },
	{ "NodeSelectorTerm", "matchExpressions:Requirement matchFields:Requirement" },
	{ "Requirement", "key operator values" },
	{ "TopologySpreadConstraint", "maxSkew topologyKey whenUnsatisfiable "
				      "labelSelector:LabelSelector minDomains nodeAffinityPolicy "
				      "nodeTaintsPolicy matchLabelKeys" },
	{ "PodStatus",
	  "observedGeneration phase conditions message reason nominatedNodeName hostIP hostIPs "
	  "podIP "
	  "podIPs startTime initContainerStatuses containerStatuses qosClass "
	  "ephemeralContainerStatuses resize resourceClaimStatuses extendedResourceClaimStatus "
	  "allocatedResources resources volumeHealth nodeAllocatableResourceClaimStatuses" },
	{ "Node", "metadata:ObjectMeta spec:NodeSpec status:NodeStatus" },
	{ "NodeSpec", "podCIDR podCIDRs providerID unschedulable taints:Taint configSource "
		      "externalID podPreemptionPolicy" },
	{ "Taint", "key value effect timeAdded" },
	{ "NodeStatus",
	  "capacity allocatable phase conditions addresses daemonEndpoints nodeInfo images "
	  "volumesInUse volumesAttached config runtimeHandlers features declaredFeatures" },
	{ "Namespace", "metadata:ObjectMeta spec:NamespaceSpec status:NamespaceStatus" },
	{ "NamespaceSpec", "finalizers" },
	{ "NamespaceStatus", "phase conditions" },
	{ "PriorityClass", "metadata:ObjectMeta value globalDefault description preemptionPolicy" },
	{ "LimitRange", "metadata:ObjectMeta spec:LimitRangeSpec" },
	{ "LimitRangeSpec", "limits:LimitRangeItem" },
	{ "LimitRangeItem", "type max min default defaultRequest maxLimitRequestRatio" },
	{ "RuntimeClass", "metadata:ObjectMeta handler overhead:Overhead scheduling:Scheduling" },
	{ "Overhead", "podFixed" },
	{ "Scheduling", "nodeSelector tolerations:Toleration" },
	{ "Job", "metadata:ObjectMeta spec:JobSpec status" },
	{ "JobSpec",
	  "parallelism completions activeDeadlineSeconds podFailurePolicy successPolicy "
	  "backoffLimit "
	  "backoffLimitPerIndex maxFailedIndexes selector manualSelector template:PodTemplateSpec "
	  "ttlSecondsAfterFinished completionMode suspend podReplacementPolicy managedBy "
	  "scheduling" },
	{ "Deployment", "metadata:ObjectMeta spec:DeploymentSpec status" },
	{ "DeploymentSpec", "replicas selector:LabelSelector template:PodTemplateSpec strategy "
			    "minReadySeconds revisionHistoryLimit paused progressDeadlineSeconds" },
	{ "ReplicaSet", "metadata:ObjectMeta spec:ReplicaSetSpec status" },
	{ "ReplicaSetSpec",
	  "replicas selector:LabelSelector template:PodTemplateSpec minReadySeconds" },
	{ "StatefulSet", "metadata:ObjectMeta spec:StatefulSetSpec status" },
	{ "StatefulSetSpec",
	  "replicas selector:LabelSelector template:PodTemplateSpec serviceName minReadySeconds "
	  "volumeClaimTemplates:PersistentVolumeClaim podManagementPolicy updateStrategy "
	  "revisionHistoryLimit persistentVolumeClaimRetentionPolicy ordinals" },
	{ "PersistentVolumeClaim", "metadata:ObjectMeta spec:PersistentVolumeClaimSpec status" },
	{ "PersistentVolumeClaimSpec",
	  "accessModes selector:LabelSelector resources:ResourceRequirements volumeName "
	  "storageClassName volumeMode dataSource dataSourceRef volumeAttributesClassName" },
	{ "PersistentVolume", "metadata:ObjectMeta spec:PersistentVolumeSpec status" },
	{ "PersistentVolumeSpec",
	  "capacity accessModes claimRef persistentVolumeReclaimPolicy storageClassName "
	  "mountOptions volumeMode nodeAffinity:VolumeNodeAffinity volumeAttributesClassName "
	  "awsElasticBlockStore azureDisk azureFile cephfs cinder csi fc flexVolume flocker "
	  "gcePersistentDisk glusterfs hostPath iscsi local nfs photonPersistentDisk "
	  "portworxVolume quobyte rbd scaleIO storageos vsphereVolume" },
	{ "VolumeNodeAffinity", "required:NodeSelector" },
	{ "StorageClass",
	  "metadata:ObjectMeta provisioner parameters reclaimPolicy mountOptions "
	  "allowVolumeExpansion volumeBindingMode allowedTopologies:TopologySelectorTerm" },
	{ "TopologySelectorTerm", "matchLabelExpressions:TopologySelectorRequirement" },
	{ "TopologySelectorRequirement", "key values" },
	{ "CSINode", "metadata:ObjectMeta spec:CSINodeSpec" },
	{ "CSINodeSpec", "drivers:CSINodeDriver" },
	{ "CSINodeDriver", "name nodeID topologyKeys allocatable:VolumeNodeResources" },
	{ "VolumeNodeResources", "count" },
	{ "CSIDriver", "metadata:ObjectMeta spec:CSIDriverSpec" },
	{ "CSIDriverSpec",
	  "attachRequired podInfoOnMount volumeLifecycleModes storageCapacity fsGroupPolicy "
	  "tokenRequests requiresRepublish seLinuxMount nodeAllocatableUpdatePeriodSeconds "
	  "serviceAccountTokenInSecrets preventPodSchedulingIfMissing" },
	{ "CSIStorageCapacity", "metadata:ObjectMeta nodeTopology:LabelSelector storageClassName "
				"capacity maximumVolumeSize" },
	{ "PodDisruptionBudget", "metadata:ObjectMeta spec:PodDisruptionBudgetSpec status" },
	{ "PodDisruptionBudgetSpec",
	  "minAvailable maxUnavailable selector:LabelSelector unhealthyPodEvictionPolicy" },
	{ "Workload", "* metadata:ObjectMeta spec:WorkloadSpec" },
	{ "WorkloadSpec", "* podSets:PodSet" },
	{ "PodSet", "* template:PodTemplateSpec" },
	{ "Topology", "metadata:ObjectMeta spec:TopologySpec" },
	{ "TopologySpec", "levels:TopologyLevel" },
	{ "TopologyLevel", "nodeLabel" },
	{ "ObjectMeta",
	  "name generateName namespace selfLink uid resourceVersion generation creationTimestamp "
	  "deletionTimestamp deletionGracePeriodSeconds labels annotations "
	  "ownerReferences:OwnerReference finalizers managedFields" },
	{ "OwnerReference", "apiVersion kind name uid controller blockOwnerDeletion" },
};

/* --- the nearest name --------------------------------------------------------------------------*/

struct field_guess {
	const char *wanted;
	struct str name;
	size_t distance;
};

static void consider(struct field_guess *n, struct str name)
{
	size_t d = nearest_distance(str_of(n->wanted), name);

	if (d < n->distance) {
		n->name = name;
		n->distance = d;
	}
}

/* A name counts as near if fewer than half of its characters, and at most 3, are otherwise; a
 * v1beta1 name that became longer (cohort, cohortName) as well. */
static char *near_name(const struct field_guess *n)
{
	bool begins = n->name.len > 0 && str_has_prefix(n->name, n->wanted);

	return n->name.len > 0 && (begins || (n->distance <= 3 && n->distance * 2 < n->name.len))
		       ? xmalloc_dup_n(n->name.p, n->name.len)
		       : NULL;
}

static struct field_guess start_guess(const char *wanted)
{
	return (struct field_guess){ .wanted = wanted, .distance = SIZE_MAX };
}

/* --- a schema ----------------------------------------------------------------------------------*/

/* The schema of the object that has the member at the end of the path. */
static const struct jdoc *parent_schema(const struct jdoc *schema, struct str path)
{
	struct str name = str_next(&path, '.');

	while (path.p != NULL && schema != NULL) {
		const char *bracket = memchr(name.p, '[', name.len);
		CLEANUP(xmalloc_freep)
		char *member = xmalloc_dup_n(name.p, bracket == NULL ? name.len
								     : (size_t)(bracket - name.p));

		schema = schema_member(schema, member);
		/* One step into `items` for each index of a list in a list. */
		for (; bracket != NULL;
		     bracket =
			     memchr(bracket + 1, '[', (size_t)(name.p + name.len - bracket - 1))) {
			schema = jdoc_get(schema, "items");
		}
		name = str_next(&path, '.');
	}
	return schema;
}

void unknown_fields_of_schema(const struct jdoc *schema, const struct jdoc *object,
			      unknown_fields_fn fn, void *ctx)
{
	CLEANUP(jdoc_destroyp) struct jdoc *paths = jdoc_new_array();

	schema_unknown(schema, object, paths);
	for (const struct jdoc *p = jdoc_first(paths); p != NULL; p = jdoc_next(p)) {
		const char *path = jdoc_str_or(p, ""), *dot = strrchr(path, '.');
		struct field_guess n = start_guess(dot == NULL ? path : dot + 1);
		const struct jdoc *known =
			jdoc_get(parent_schema(schema, str_of(path)), "properties");
		CLEANUP(xmalloc_freep) char *near = NULL;

		for (const struct jdoc *k = jdoc_first(known); k != NULL; k = jdoc_next(k)) {
			consider(&n, str_of(jdoc_key(k)));
		}
		near = near_name(&n);
		fn(ctx, path, near);
	}
}

/* --- a core kind -------------------------------------------------------------------------------*/

struct walk {
	unknown_fields_fn fn;
	void *ctx;
};

#define ANY_OBJECT "* metadata:ObjectMeta"

/* NULL: the type is not described. */
static const char *members_of(struct str type)
{
	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		if (str_eq_c(type, types[i].name)) {
			return types[i].members;
		}
	}
	return NULL;
}

/* False: there is no such member; *ret_type is empty if its type is not described. */
static bool find_member(const char *members, const char *name, struct str *ret_type,
			struct field_guess *near)
{
	struct str rest = str_of(members);

	while (rest.p != NULL) {
		struct str word = str_next(&rest, ' '), known = str_next(&word, ':');

		if (str_eq_c(known, name)) {
			*ret_type = word.p == NULL ? STR_LIT("") : word;
			return true;
		}
		consider(near, known);
	}
	*ret_type = STR_LIT("");
	return members[0] == '*';
}

static void walk_object(const struct walk *w, struct str type, const struct jdoc *d,
			const char *path);

/* Recursion ends with the types: none contains itself. */
static void walk_value(const struct walk *w, struct str type, const struct jdoc *d,
		       const char *path)
{
	size_t i = 0;

	if (jdoc_kind(d) == JDOC_OBJECT) {
		walk_object(w, type, d, path);
	}
	for (const struct jdoc *c = jdoc_kind(d) == JDOC_ARRAY ? jdoc_first(d) : NULL; c != NULL;
	     c = jdoc_next(c), i++) {
		CLEANUP(xmalloc_freep) char *at = xmalloc_printf("%s[%zu]", path, i);

		if (jdoc_kind(c) == JDOC_OBJECT) {
			walk_object(w, type, c, at);
		}
	}
}

static void walk_object(const struct walk *w, struct str type, const struct jdoc *d,
			const char *path)
{
	bool root = path[0] == '\0';
	const char *known = members_of(type), *members = known == NULL && root ? ANY_OBJECT : known;

	for (const struct jdoc *c = jdoc_first(d); c != NULL && members != NULL; c = jdoc_next(c)) {
		const char *name = jdoc_key(c);
		CLEANUP(xmalloc_freep)
		char *at = xmalloc_printf("%s%s%s", path, root ? "" : ".", name);
		CLEANUP(xmalloc_freep) char *near_text = NULL;
		struct field_guess near = start_guess(name);
		struct str inner;

		/* Every kind has these two, and no table lists them. */
		if (root && (str_streq(name, "apiVersion") || str_streq(name, "kind"))) {
			continue;
		}
		if (find_member(members, name, &inner, &near)) {
			walk_value(w, inner, c, at);
		} else {
			near_text = near_name(&near);
			w->fn(w->ctx, at, near_text);
		}
	}
}

void unknown_fields_of_kind(const char *kind, const struct jdoc *object, unknown_fields_fn fn,
			    void *ctx)
{
	const struct walk w = { fn, ctx };

	walk_object(&w, str_of(kind), object, "");
}
