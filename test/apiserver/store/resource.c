#include "apiserver/store/resource.h"

#include <ctype.h>
#include <stdlib.h>

#include "apiserver/store/object.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "collections/vec.h"
#include "enc/json/jdoc.h"
#include "schema/schema.h"

#define NS RESOURCE_NAMESPACED
#define ST RESOURCE_SUB_STATUS
#define SC RESOURCE_SUB_SCALE
#define GEN RESOURCE_GENERATION
#define VIRT RESOURCE_VIRTUAL

static const char *const no_fields[] = { NULL };
static const char *const pod_fields[] = {
	"spec.nodeName",           "status.phase", "spec.schedulerName",       "spec.restartPolicy",
	"spec.serviceAccountName", "status.podIP", "status.nominatedNodeName", NULL
};
static const char *const node_fields[] = { "spec.unschedulable", NULL };
static const char *const namespace_fields[] = { "status.phase", NULL };
static const char *const secret_fields[] = { "type", NULL };
static const char *const event_fields[] = { "involvedObject.kind",
					    "involvedObject.namespace",
					    "involvedObject.name",
					    "involvedObject.uid",
					    "involvedObject.apiVersion",
					    "involvedObject.resourceVersion",
					    "involvedObject.fieldPath",
					    "reason",
					    "reportingComponent",
					    "source",
					    "type",
					    NULL };
static const char *const replica_fields[] = { "status.replicas", NULL };
static const char *const job_fields[] = { "status.successful", NULL };

struct row {
	const char *group, *version, *plural, *singular, *kind, *short_names, *categories;
	unsigned flags;
	const char *const *fields;
};

static const struct row built_in[] = {
	{ "", "v1", "namespaces", "namespace", "Namespace", "ns", "", ST, namespace_fields },
	{ "", "v1", "pods", "pod", "Pod", "po", "all", NS | ST | GEN | RESOURCE_POD, pod_fields },
	{ "", "v1", "nodes", "node", "Node", "no", "", ST, node_fields },
	{ "", "v1", "events", "event", "Event", "ev", "", NS, event_fields },
	{ "", "v1", "serviceaccounts", "serviceaccount", "ServiceAccount", "sa", "", NS, NULL },
	{ "", "v1", "configmaps", "configmap", "ConfigMap", "cm", "", NS, NULL },
	{ "", "v1", "secrets", "secret", "Secret", "", "", NS, secret_fields },
	{ "", "v1", "services", "service", "Service", "svc", "all", NS | ST, NULL },
	{ "", "v1", "endpoints", "endpoints", "Endpoints", "ep", "", NS, NULL },
	{ "", "v1", "persistentvolumes", "persistentvolume", "PersistentVolume", "pv", "", ST,
	  NULL },
	{ "", "v1", "persistentvolumeclaims", "persistentvolumeclaim", "PersistentVolumeClaim",
	  "pvc", "", NS | ST, NULL },
	{ "", "v1", "limitranges", "limitrange", "LimitRange", "limits", "", NS, NULL },
	{ "", "v1", "resourcequotas", "resourcequota", "ResourceQuota", "quota", "", NS | ST,
	  NULL },
	{ "", "v1", "podtemplates", "podtemplate", "PodTemplate", "", "", NS, NULL },
	{ "", "v1", "replicationcontrollers", "replicationcontroller", "ReplicationController",
	  "rc", "all", NS | ST | SC | GEN, replica_fields },
	{ "apps", "v1", "deployments", "deployment", "Deployment", "deploy", "all",
	  NS | ST | SC | GEN, NULL },
	{ "apps", "v1", "replicasets", "replicaset", "ReplicaSet", "rs", "all", NS | ST | SC | GEN,
	  replica_fields },
	{ "apps", "v1", "statefulsets", "statefulset", "StatefulSet", "sts", "all",
	  NS | ST | SC | GEN, NULL },
	{ "apps", "v1", "daemonsets", "daemonset", "DaemonSet", "ds", "all", NS | ST | GEN, NULL },
	{ "apps", "v1", "controllerrevisions", "controllerrevision", "ControllerRevision", "", "",
	  NS, NULL },
	{ "batch", "v1", "jobs", "job", "Job", "", "all", NS | ST | GEN, job_fields },
	{ "batch", "v1", "cronjobs", "cronjob", "CronJob", "cj", "all", NS | ST | GEN, NULL },
	{ "policy", "v1", "poddisruptionbudgets", "poddisruptionbudget", "PodDisruptionBudget",
	  "pdb", "", NS | ST | GEN, NULL },
	{ "scheduling.k8s.io", "v1", "priorityclasses", "priorityclass", "PriorityClass", "pc", "",
	  GEN, NULL },
	{ "coordination.k8s.io", "v1", "leases", "lease", "Lease", "", "", NS, NULL },
	{ "events.k8s.io", "v1", "events", "event", "Event", "ev", "", NS, NULL },
	{ "storage.k8s.io", "v1", "storageclasses", "storageclass", "StorageClass", "sc", "", 0,
	  NULL },
	{ "storage.k8s.io", "v1", "csinodes", "csinode", "CSINode", "", "", 0, NULL },
	{ "storage.k8s.io", "v1", "csidrivers", "csidriver", "CSIDriver", "", "", 0, NULL },
	{ "storage.k8s.io", "v1", "csistoragecapacities", "csistoragecapacity",
	  "CSIStorageCapacity", "", "", NS, NULL },
	{ "storage.k8s.io", "v1", "volumeattachments", "volumeattachment", "VolumeAttachment", "",
	  "", ST, NULL },
	{ "admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations",
	  "mutatingwebhookconfiguration", "MutatingWebhookConfiguration", "", "api-extensions", GEN,
	  NULL },
	{ "admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations",
	  "validatingwebhookconfiguration", "ValidatingWebhookConfiguration", "", "api-extensions",
	  GEN, NULL },
	{ "admissionregistration.k8s.io", "v1", "validatingadmissionpolicies",
	  "validatingadmissionpolicy", "ValidatingAdmissionPolicy", "", "api-extensions", ST | GEN,
	  NULL },
	{ "admissionregistration.k8s.io", "v1", "validatingadmissionpolicybindings",
	  "validatingadmissionpolicybinding", "ValidatingAdmissionPolicyBinding", "",
	  "api-extensions", GEN, NULL },
	{ "apiextensions.k8s.io", "v1", "customresourcedefinitions", "customresourcedefinition",
	  "CustomResourceDefinition", "crd,crds", "api-extensions", ST | GEN, NULL },
	{ "apiregistration.k8s.io", "v1", "apiservices", "apiservice", "APIService", "",
	  "api-extensions", ST, NULL },
	{ "flowcontrol.apiserver.k8s.io", "v1", "flowschemas", "flowschema", "FlowSchema", "", "",
	  ST | GEN, NULL },
	{ "flowcontrol.apiserver.k8s.io", "v1", "prioritylevelconfigurations",
	  "prioritylevelconfiguration", "PriorityLevelConfiguration", "", "", ST | GEN, NULL },
	{ "rbac.authorization.k8s.io", "v1", "roles", "role", "Role", "", "", NS, NULL },
	{ "rbac.authorization.k8s.io", "v1", "rolebindings", "rolebinding", "RoleBinding", "", "",
	  NS, NULL },
	{ "rbac.authorization.k8s.io", "v1", "clusterroles", "clusterrole", "ClusterRole", "", "",
	  0, NULL },
	{ "rbac.authorization.k8s.io", "v1", "clusterrolebindings", "clusterrolebinding",
	  "ClusterRoleBinding", "", "", 0, NULL },
	{ "networking.k8s.io", "v1", "networkpolicies", "networkpolicy", "NetworkPolicy", "netpol",
	  "", NS | GEN, NULL },
	{ "networking.k8s.io", "v1", "ingresses", "ingress", "Ingress", "ing", "", NS | ST | GEN,
	  NULL },
	{ "discovery.k8s.io", "v1", "endpointslices", "endpointslice", "EndpointSlice", "", "", NS,
	  NULL },
	{ "node.k8s.io", "v1", "runtimeclasses", "runtimeclass", "RuntimeClass", "", "", 0, NULL },
	{ "autoscaling", "v2", "horizontalpodautoscalers", "horizontalpodautoscaler",
	  "HorizontalPodAutoscaler", "hpa", "all", NS | ST, NULL },
	{ "authorization.k8s.io", "v1", "selfsubjectaccessreviews", "selfsubjectaccessreview",
	  "SelfSubjectAccessReview", "", "", VIRT, NULL },
	{ "authorization.k8s.io", "v1", "subjectaccessreviews", "subjectaccessreview",
	  "SubjectAccessReview", "", "", VIRT, NULL },
	{ "authorization.k8s.io", "v1", "localsubjectaccessreviews", "localsubjectaccessreview",
	  "LocalSubjectAccessReview", "", "", VIRT | NS, NULL },
	{ "authentication.k8s.io", "v1", "selfsubjectreviews", "selfsubjectreview",
	  "SelfSubjectReview", "", "", VIRT, NULL },
};

static char *join_api_version(const char *group, const char *version)
{
	return group[0] == '\0' ? xmalloc_dup(version) : xmalloc_printf("%s/%s", group, version);
}

static void index_resource(struct resource_table *t, struct resource *r)
{
	CLEANUP(xmalloc_freep)
	char *full = xmalloc_printf("%s/%s/%s", r->group, r->version, r->plural);
	CLEANUP(xmalloc_freep) char *any = xmalloc_printf("%s/%s", r->group, r->plural);

	strmap_set(t->by_path, str_of(full), r);
	strmap_set(t->by_path, str_of(any), r);
}

/* Everything is copied, so that a CRD's resource is freed the same way as a built-in one. */
static struct resource *add(struct resource_table *t, const struct row *row, const char *list_kind)
{
	struct resource *r = xmalloc_zero(1, sizeof(*r));

	r->group = xmalloc_dup(row->group);
	r->version = xmalloc_dup(row->version);
	r->plural = xmalloc_dup(row->plural);
	r->singular = xmalloc_dup(row->singular);
	r->kind = xmalloc_dup(row->kind);
	r->list_kind =
		list_kind != NULL ? xmalloc_dup(list_kind) : xmalloc_printf("%sList", row->kind);
	r->api_version = join_api_version(row->group, row->version);
	r->short_names = xmalloc_dup(row->short_names);
	r->categories = xmalloc_dup(row->categories);
	r->flags = row->flags;
	r->fields = row->fields != NULL ? row->fields : no_fields;
	bucket_init(&r->bucket, t->ring_max);
	vec_push(t, r);
	index_resource(t, r);
	return r;
}

void resource_table_init(struct resource_table *t, size_t ring_max)
{
	memset(t, 0, sizeof(*t));
	t->ring_max = ring_max;
	t->by_path = strmap_create(NULL);
	for (size_t i = 0; i < ARRAY_LEN(built_in); i++) {
		add(t, &built_in[i], NULL);
	}
}

static void free_text(const char **p)
{
	union {
		const char *borrowed;
		char *owned;
	} u = { .borrowed = *p };

	free(u.owned);
	*p = NULL;
}

static void free_texts(struct resource *r)
{
	free_text(&r->group);
	free_text(&r->version);
	free_text(&r->plural);
	free_text(&r->singular);
	free_text(&r->kind);
	free_text(&r->list_kind);
	free_text(&r->api_version);
	free_text(&r->short_names);
	free_text(&r->categories);
}

void resource_table_finish(struct resource_table *t)
{
	for (size_t i = 0; i < t->n; i++) {
		bucket_finish(&t->v[i]->bucket);
		jdoc_destroy(t->v[i]->crd);
		strmap_destroy(t->v[i]->patterns);
		free(t->v[i]->own_fields);
		free_texts(t->v[i]);
		free(t->v[i]);
	}
	free(t->v);
	strmap_destroy(t->by_path);
	memset(t, 0, sizeof(*t));
}

struct resource *resource_find(const struct resource_table *t, struct str group, struct str version,
			       struct str plural)
{
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;
	struct resource *r;

	strbuf_add_str(&key, group);
	strbuf_add_ch(&key, '/');
	if (version.p != NULL) {
		strbuf_add_str(&key, version);
		strbuf_add_ch(&key, '/');
	}
	strbuf_add_str(&key, plural);
	r = strmap_get(t->by_path, strbuf_str(&key));
	return r == NULL || r->removed ? NULL : r;
}

bool resource_has_version(const struct resource_table *t, struct str group, struct str version)
{
	for (size_t i = 0; i < t->n; i++) {
		if (!t->v[i]->removed && str_eq_c(group, t->v[i]->group) &&
		    str_eq_c(version, t->v[i]->version)) {
			return true;
		}
	}
	return false;
}

struct resource *resource_find_kind(const struct resource_table *t, const char *api_version,
				    const char *kind)
{
	for (size_t i = 0; i < t->n; i++) {
		struct resource *r = t->v[i];

		if (!r->removed && str_streq(r->api_version, api_version) &&
		    str_streq(r->kind, kind)) {
			return r;
		}
	}
	return NULL;
}

static const struct jdoc *served_version(const struct jdoc *crd)
{
	const struct jdoc *versions = jdoc_path(crd, "spec.versions");

	for (const struct jdoc *v = jdoc_first(versions); v != NULL; v = jdoc_next(v)) {
		if (jdoc_bool(jdoc_get(v, "storage"), false)) {
			return v;
		}
	}
	return jdoc_first(versions);
}

static char *join_names(const struct jdoc *names)
{
	struct strbuf b = STRBUF_INIT;

	for (const struct jdoc *n = jdoc_first(names); n != NULL; n = jdoc_next(n)) {
		strbuf_printf(&b, "%s%s", b.len > 0 ? "," : "", jdoc_str_or(n, ""));
	}
	return strbuf_steal(&b, NULL);
}

/* Beyond what an object can hold they are not selectable. */
static void set_fields(struct resource *r, const struct jdoc *selectable)
{
	size_t n = 0;

	free(r->own_fields);
	r->own_fields = xmalloc_zero(OBJECT_MAX_FIELDS + 1, sizeof(r->own_fields[0]));
	for (const struct jdoc *f = jdoc_first(selectable); f != NULL && n < OBJECT_MAX_FIELDS;
	     f = jdoc_next(f)) {
		const char *path = jdoc_str_or(jdoc_get(f, "jsonPath"), "");

		r->own_fields[n++] = path[0] == '.' ? path + 1 : path;
	}
	r->fields = r->own_fields;
}

static void set_crd_details(struct resource *r, struct jdoc *crd_take)
{
	const struct jdoc *version = served_version(crd_take);
	const struct jdoc *subs = jdoc_get(version, "subresources");
	const struct jdoc *scale = jdoc_get(subs, "scale");

	jdoc_destroy(r->crd);
	r->crd = crd_take;
	r->is_custom = true;
	r->removed = false;
	r->schema = jdoc_path(version, "schema.openAPIV3Schema");
	strmap_destroy(r->patterns);
	r->patterns = schema_patterns_create();
	r->columns = jdoc_get(version, "additionalPrinterColumns");
	set_fields(r, jdoc_get(version, "selectableFields"));
	r->scale_path = jdoc_path_str(scale, "specReplicasPath");
	r->scale_status_path = jdoc_path_str(scale, "statusReplicasPath");
	r->flags = RESOURCE_GENERATION;
	if (jdoc_is_str(jdoc_path(crd_take, "spec.scope"), "Namespaced")) {
		r->flags |= RESOURCE_NAMESPACED;
	}
	if (jdoc_get(subs, "status") != NULL) {
		r->flags |= RESOURCE_SUB_STATUS;
	}
	if (scale != NULL) {
		r->flags |= RESOURCE_SUB_SCALE;
	}
}

struct resource *resource_add_crd(struct resource_table *t, const struct jdoc *crd)
{
	struct jdoc *copy = jdoc_copy(crd);
	const struct jdoc *names = jdoc_path(copy, "spec.names");
	const char *kind = jdoc_str_or(jdoc_get(names, "kind"), "");
	CLEANUP(xmalloc_freep) char *shorts = join_names(jdoc_get(names, "shortNames"));
	CLEANUP(xmalloc_freep) char *categories = join_names(jdoc_get(names, "categories"));
	CLEANUP(xmalloc_freep) char *lower = xmalloc_dup(kind);
	const struct row row = {
		.group = jdoc_str_or(jdoc_path(copy, "spec.group"), ""),
		.version = jdoc_str_or(jdoc_get(served_version(copy), "name"), ""),
		.plural = jdoc_str_or(jdoc_get(names, "plural"), ""),
		.singular = jdoc_str_or(jdoc_get(names, "singular"), lower),
		.kind = kind,
		.short_names = shorts,
		.categories = categories,
	};
	struct resource *r;
	CLEANUP(xmalloc_freep)
	char *path = xmalloc_printf("%s/%s/%s", row.group, row.version, row.plural);

	for (char *p = lower; *p != '\0'; p++) {
		*p = (char)tolower((unsigned char)*p);
	}
	r = strmap_get(t->by_path, str_of(path));
	if (r == NULL) {
		r = add(t, &row, jdoc_str(jdoc_get(names, "listKind")));
	}
	set_crd_details(r, copy);
	return r;
}

void resource_remove_crd(struct resource_table *t, const struct jdoc *crd)
{
	const char *group = jdoc_str_or(jdoc_path(crd, "spec.group"), "");
	const char *plural = jdoc_str_or(jdoc_path(crd, "spec.names.plural"), "");
	struct resource *r =
		resource_find(t, str_of(group), (struct str){ NULL, 0 }, str_of(plural));

	if (r != NULL && r->is_custom) {
		r->removed = true;
	}
}

bool resource_has_sub(const struct resource *r, struct str sub)
{
	static const char *const pod_subs[] = { "binding", "eviction", "resize",
						"ephemeralcontainers" };

	if (sub.len == 0) {
		return true;
	}
	if (str_eq_c(sub, "status")) {
		return (r->flags & RESOURCE_SUB_STATUS) != 0;
	}
	if (str_eq_c(sub, "scale")) {
		return (r->flags & RESOURCE_SUB_SCALE) != 0;
	}
	if (str_eq_c(sub, "finalize")) {
		return str_streq(r->plural, "namespaces");
	}
	for (size_t i = 0; (r->flags & RESOURCE_POD) != 0 && i < ARRAY_LEN(pod_subs); i++) {
		if (str_eq_c(sub, pod_subs[i])) {
			return true;
		}
	}
	return false;
}
