#include "scheduler/ctl/manifest/ignored_kinds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/kinds.h"
#include "base/attrs.h"
#include "base/nearest.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/vec.h"
#include "scheduler/base/sched_kinds.h"

struct ignored_kinds {
	const char *const *names;
	size_t n;
	bool *used;
	struct VEC(char *) read; /* "Kind.group" of objects that are not simulated */
};

/* Kinds of Kubernetes that manifests mostly have: to ignore them is no mistake where a folder has
 * none of them. */
static const char *const kubernetes[] = {
	"APIService.apiregistration.k8s.io",
	"ClusterRole.rbac.authorization.k8s.io",
	"ClusterRoleBinding.rbac.authorization.k8s.io",
	"ConfigMap.",
	"ControllerRevision.apps",
	"CronJob.batch",
	"CustomResourceDefinition.apiextensions.k8s.io",
	"DaemonSet.apps",
	"Deployment.apps",
	"EndpointSlice.discovery.k8s.io",
	"Endpoints.",
	"Event.",
	"HorizontalPodAutoscaler.autoscaling",
	"Ingress.networking.k8s.io",
	"IngressClass.networking.k8s.io",
	"Job.batch.volcano.sh",
	"Lease.coordination.k8s.io",
	"MutatingWebhookConfiguration.admissionregistration.k8s.io",
	"NetworkPolicy.networking.k8s.io",
	"PodTemplate.",
	"ReplicaSet.apps",
	"ReplicationController.",
	"ResourceQuota.",
	"Role.rbac.authorization.k8s.io",
	"RoleBinding.rbac.authorization.k8s.io",
	"Secret.",
	"Service.",
	"ServiceAccount.",
	"StatefulSet.apps",
	"ValidatingAdmissionPolicy.admissionregistration.k8s.io",
	"ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io",
	"ValidatingWebhookConfiguration.admissionregistration.k8s.io",
};

struct ignored_kinds *ignored_kinds_create(const char *const *names, size_t n)
{
	struct ignored_kinds *k = xmalloc_zero(1, sizeof(*k));

	k->names = names;
	k->n = n;
	k->used = xmalloc_zero(n + 1, sizeof(k->used[0]));
	return k;
}

void ignored_kinds_destroyp(struct ignored_kinds **pk)
{
	struct ignored_kinds *k = *pk;

	if (k == NULL) {
		return;
	}
	for (size_t i = 0; i < k->read.n; i++) {
		free(k->read.v[i]);
	}
	vec_finish(&k->read);
	free(k->used);
	free(k);
	*pk = NULL;
}

/* full: "Kind.group". The name may leave the group out. */
static bool is_name_of(const char *name, const char *full)
{
	struct str rest = str_of(full), kind = str_next(&rest, '.');

	return str_streq(name, full) || str_eq_c(kind, name);
}

static void remember(struct ignored_kinds *k, const char *full)
{
	for (size_t i = 0; i < k->read.n; i++) {
		if (str_streq(k->read.v[i], full)) {
			return;
		}
	}
	vec_push(&k->read, xmalloc_dup(full));
}

bool ignored_kinds_has(struct ignored_kinds *k, const char *kind, const char *group)
{
	CLEANUP(xmalloc_freep) char *full = xmalloc_printf("%s.%s", kind, group);
	bool has = false;

	if (k == NULL || k->n == 0) {
		return false;
	}
	remember(k, full);
	for (size_t i = 0; i < k->n; i++) {
		if (is_name_of(k->names[i], full)) {
			k->used[i] = true;
			has = true;
		}
	}
	return has;
}

static bool is_row(const char *name, const struct kinds_row *row)
{
	CLEANUP(xmalloc_freep) char *full = xmalloc_printf("%s.%s", row->kind, row->group);

	return is_name_of(name, full);
}

static bool is_known(const char *name)
{
	size_t n;
	const struct kinds_row *rows = kinds_all(&n);

	for (size_t i = 0; i < n; i++) {
		if (is_row(name, &rows[i])) {
			return true;
		}
	}
	for (size_t i = 0; i < ARRAY_LEN(kubernetes); i++) {
		if (is_name_of(name, kubernetes[i])) {
			return true;
		}
	}
	return false;
}

static bool is_simulated(const char *name)
{
	for (int r = 0; r < SCHED_RESOURCE_COUNT_; r++) {
		if ((sched_kinds_get((enum sched_resource)r)->read_order > 0 || r == SCHED_JOBS) &&
		    is_row(name, sched_kinds_names((enum sched_resource)r))) {
			return true;
		}
	}
	return false;
}

/* Candidates have a group where the name has one. One in other letters is the nearest: struct
 * nearest takes it for the name itself. */
static void offer(struct nearest *near, const char *full)
{
	struct str rest = str_of(full), kind = str_next(&rest, '.');
	bool whole = memchr(near->wanted.p, '.', near->wanted.len) != NULL;
	struct str candidate = whole && rest.len > 0 ? str_of(full) : kind;

	if (near->wanted.len > 0 && nearest_distance(near->wanted, candidate) == 0) {
		snprintf(near->name, sizeof(near->name), STR_FMT, STR_ARG(candidate));
		near->distance = 0;
	}
	nearest_offer(near, candidate);
}

static void add_nearest(const struct ignored_kinds *k, const char *name, struct strbuf *text)
{
	struct nearest near;

	nearest_init(&near, str_of(name));
	for (size_t i = 0; i < k->read.n; i++) {
		offer(&near, k->read.v[i]);
	}
	for (size_t i = 0; i < ARRAY_LEN(kubernetes); i++) {
		offer(&near, kubernetes[i]);
	}
	nearest_add_hint(&near, text);
}

size_t ignored_kinds_report(const struct ignored_kinds *k, void (*fn)(void *ctx, const char *text),
			    void *ctx)
{
	size_t reported = 0;

	for (size_t i = 0; i < k->n; i++) {
		CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
		bool simulated = is_simulated(k->names[i]);

		if (k->used[i] || (is_known(k->names[i]) && !simulated)) {
			continue;
		}
		strbuf_printf(&text, "--ignore %s: ", k->names[i]);
		if (simulated) {
			strbuf_add_c(&text, "objects of this kind have a part in scheduling: only "
					    "those of another API group can be left out");
		} else {
			strbuf_add_c(&text, "unknown kind, and no object of it was read");
			add_nearest(k, k->names[i], &text);
		}
		fn(ctx, text.p);
		reported++;
	}
	return reported;
}
