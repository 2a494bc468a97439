#include "scheduler/pods/predicates/predicates_volumes.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/xmalloc.h"
#include "scheduler/pods/model/volume_limits.h"
#include "scheduler/pods/model/volumes.h"
#include "scheduler/pods/session/session.h"
#include "scheduler/pods/session/volume_plan.h"
#include "scheduler/pods/values/pod_class.h"

static bool refuse(struct reason *why, const char *code)
{
	if (why != NULL) {
		*why = (struct reason){ .code = code, .unresolvable = true };
	}
	return false;
}

/* It holds for every node. */
static bool refuse_all(struct reason *why, const char *code)
{
	if (why != NULL) {
		*why = (struct reason){ .code = code, .unresolvable = true, .everywhere = true };
	}
	return false;
}

/* Texts are made only where they are asked for. */
#define REFUSE_ALL(s, why, ...)                                                                    \
	refuse_all((why), (why) == NULL ? NULL : arena_printf(session_arena(s), __VA_ARGS__))

static bool refuse_missing(const struct session *s, const struct pod_claim *of, struct reason *why)
{
	/* Normal for a moment after the pod was created. */
	if (of->owner != NULL) {
		return REFUSE_ALL(s, why,
				  "waiting for ephemeral volume controller to create the "
				  "persistentvolumeclaim \"%s\"",
				  of->name);
	}
	return REFUSE_ALL(s, why, "persistentvolumeclaim \"%s\" not found", of->name);
}

/* Whether a pod may use the claim at all, whatever the node. */
static bool is_usable(const struct session *s, const struct pod_claim *of, const struct claim *cl,
		      struct reason *why)
{
	if (!cl->exists) {
		return refuse_missing(s, of, why);
	}
	if (cl->lost) {
		return REFUSE_ALL(s, why,
				  "persistentvolumeclaim \"%s\" bound to non-existent "
				  "persistentvolume \"%s\"",
				  of->name, cl->volume == NULL ? "" : cl->volume->name);
	}
	if (cl->deleting) {
		return REFUSE_ALL(s, why, "persistentvolumeclaim \"%s\" is being deleted",
				  of->name);
	}
	if (of->owner != NULL && (cl->owner == NULL || strcmp(of->owner, cl->owner) != 0)) {
		return REFUSE_ALL(s, why, "PVC %s was not created for this pod (pod is not owner)",
				  cl->key);
	}
	return cl->bound || (cl->klass != NULL && cl->klass->waits && cl->volume == NULL) ||
	       refuse_all(why, "pod has unbound immediate PersistentVolumeClaims");
}

static bool is_reachable(const struct claim *cl, const struct node *n, struct reason *why)
{
	if (!cl->volume->exists) {
		return refuse(why, "node(s) unavailable due to one or more pvc(s) bound to "
				   "non-existent pv(s)");
	}
	if (!volumes_fits_node(cl->volume, n)) {
		return refuse(why, "node(s) didn't match PersistentVolume's node affinity");
	}
	return volumes_fits_zone(cl->volume, n) ||
	       refuse(why, "node(s) had no available volume zone");
}

bool predicates_volumes_class(const struct session *s, const struct pod_class *k,
			      const struct node *n, struct reason *why)
{
	const struct cluster *c = session_cluster(s);

	for (size_t i = 0; i < k->nclaims; i++) {
		const struct claim *cl = c->claims.v[k->claims[i].id];

		if (!is_usable(s, &k->claims[i], cl, why)) {
			return false;
		}
	}
	for (size_t i = 0; i < k->nclaims; i++) {
		const struct claim *cl = c->claims.v[k->claims[i].id];

		if (cl->bound && !is_reachable(cl, n, why)) {
			return false;
		}
	}
	return true;
}

/* A claim is counted once for each node, however many pods there use it. */
struct volume_marks {
	uint32_t *v; /* by claim id */
	size_t n;
	uint32_t mark; /* the current one */
};

struct volume_marks *predicates_volumes_marks_create(void)
{
	return xmalloc_zero(1, sizeof(struct volume_marks));
}

void predicates_volumes_marks_destroy(struct volume_marks *m)
{
	if (m != NULL) {
		free(m->v);
		free(m);
	}
}

static void begin_marks(struct volume_marks *m, size_t claims)
{
	if (claims > m->n || m->mark == UINT32_MAX) {
		free(m->v);
		m->n = claims + claims / 2 + 16;
		m->v = xmalloc_zero(m->n, sizeof(*m->v));
		m->mark = 0;
	}
	m->mark++;
}

static const char *driver_of(const struct claim *cl)
{
	if (cl->bound) {
		return cl->volume->driver;
	}
	return cl->klass == NULL ? NULL : cl->klass->provisioner;
}

/* So many claims of the class are not marked yet and of the driver; they are marked. */
static uint32_t count_claims(struct volume_marks *m, const struct cluster *c,
			     const struct pod_class *k, const char *driver)
{
	uint32_t count = 0;

	for (size_t i = 0; k != NULL && i < k->nclaims; i++) {
		uint32_t id = k->claims[i].id;

		if (m->v[id] != m->mark && driver_of(c->claims.v[id]) == driver) {
			m->v[id] = m->mark;
			count++;
		}
	}
	return count;
}

static uint32_t count_attached(struct volume_marks *m, const struct session *s,
			       const struct node *n, const char *driver, bool later)
{
	const struct cluster *c = session_cluster(s);
	const struct task *t;
	uint32_t count = 0;

	begin_marks(m, c->claims.n);
	for (size_t i = 0; i < n->tasks.n; i++) {
		t = session_task(s, n->tasks.v[i]);
		if (!later || session_task_status(s, t) != TASK_RELEASING) {
			count += count_claims(m, c, t->klass, driver);
		}
	}
	for (size_t i = 0; (t = session_node_added(s, n, i)) != NULL; i++) {
		count += count_claims(m, c, t->klass, driver);
	}
	return count;
}

/* Whether a claim of the class before this one is of the same driver. */
static bool is_repeated(const struct cluster *c, const struct pod_class *k, size_t i)
{
	const char *driver = driver_of(c->claims.v[k->claims[i].id]);

	for (size_t j = 0; j < i; j++) {
		if (driver_of(c->claims.v[k->claims[j].id]) == driver) {
			return true;
		}
	}
	return false;
}

/* Driver by driver of the pod, which has few claims: a node may name any number of drivers. */
static bool fits_limits(struct volume_marks *m, const struct session *s, const struct task *t,
			const struct node *n, bool later)
{
	const struct cluster *c = session_cluster(s);

	for (size_t i = 0; i < t->klass->nclaims; i++) {
		const char *driver = driver_of(c->claims.v[t->klass->claims[i].id]);
		const struct volume_limit *limit = volume_limits_find(n, driver);
		uint32_t attached, more;

		if (limit == NULL || is_repeated(c, t->klass, i)) {
			continue;
		}
		attached = count_attached(m, s, n, driver, later);
		more = count_claims(m, c, t->klass, driver);
		if (more > 0 && (uint64_t)attached + more > limit->count) {
			return false;
		}
	}
	return true;
}

static bool fits_users(const struct session *s, const struct claim *cl, struct reason *why)
{
	if ((cl->form.access & VOLUME_ONCE_POD) != 0 && session_claim_placed(s, cl) > 0) {
		return refuse(why,
			      "node has pod using PersistentVolumeClaim with the same name and "
			      "ReadWriteOncePod access mode");
	}
	return true;
}

/* Volumes do not come free by evictions on the node. */
static bool finds_volumes(const struct session *s, const struct pod_class *k, const struct node *n,
			  struct reason *why)
{
	struct volume_plan plan;

	return volume_plan_make(s, k, n, &plan) ||
	       refuse(why, plan.lacks_storage
				   ? "node(s) did not have enough free storage"
				   : "node(s) didn't find available persistent volumes to bind");
}

bool predicates_volumes_task(struct volume_marks *m, const struct session *s, const struct task *t,
			     const struct node *n, bool later, struct reason *why)
{
	const struct cluster *c = session_cluster(s);

	/* Asked for each node: most pods have none. */
	if (t->klass->nclaims == 0) {
		return true;
	}
	for (size_t i = 0; i < t->klass->nclaims; i++) {
		if (!fits_users(s, c->claims.v[t->klass->claims[i].id], why)) {
			return false;
		}
	}
	if (!finds_volumes(s, t->klass, n, why)) {
		return false;
	}
	if (!fits_limits(m, s, t, n, later)) {
		if (why != NULL) {
			*why = (struct reason){ .code = "node(s) exceed max volume count" };
		}
		return false;
	}
	return true;
}
