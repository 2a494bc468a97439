#include <stdlib.h>

#include "api/volcano/scheduling.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/intern.h"
#include "collections/strmap.h"
#include "scheduler/pods/ingest/from_api.h"
#include "scheduler/pods/values/pod_class.h"

struct group_roles VEC(struct podgroup_role_min);

struct group {
	struct group_roles roles;
	struct res min_resources;
	struct unoffered unoffered; /* names point into the object */
	uint32_t priority_class;
	struct str queue;
};

static void group_finish(struct group *g)
{
	vec_finish(&g->roles);
	unoffered_finish(&g->unoffered);
}

static enum podgroup_phase phase_of(const char *text)
{
	static const char *const names[] = {
		[PODGROUP_PENDING] = "Pending",     [PODGROUP_INQUEUE] = "Inqueue",
		[PODGROUP_RUNNING] = "Running",     [PODGROUP_UNKNOWN] = "Unknown",
		[PODGROUP_COMPLETED] = "Completed",
	};

	for (uint8_t i = 0; text != NULL && i < ARRAY_LEN(names); i++) {
		if (str_streq(text, names[i])) {
			return (enum podgroup_phase)i;
		}
	}
	return PODGROUP_PENDING;
}

static int by_role(const void *a, const void *b)
{
	const struct podgroup_role_min *x = a, *y = b;

	return x->role < y->role ? -1 : x->role > y->role;
}

static int read_name(struct cluster *c, const char *text, uint32_t *ret, struct err *err)
{
	const char *interned;

	if (from_api_text(c, text, &interned, err) < 0) {
		return -ERR_INVALID;
	}
	*ret = intern_find(c->names, str_of(interned));
	return 0;
}

static int read_roles(struct cluster *c, const struct field_int_map *map, struct group_roles *roles,
		      struct err *err)
{
	for (size_t i = 0; i < map->n; i++) {
		struct podgroup_role_min r = { .min = map->v[i].value };

		if (r.min < 0) {
			return err_set(err, ERR_INVALID, "spec.minTaskMember.%s: negative",
				       map->v[i].key);
		}
		if (r.min == 0) {
			continue; /* asks for nothing */
		}
		/* Pods without a role have, as in Volcano, the empty one. */
		if (map->v[i].key[0] == '\0') {
			r.role = MODEL_NONE;
		} else if (read_name(c, map->v[i].key, &r.role, err) < 0) {
			return -ERR_INVALID;
		}
		vec_push(roles, r);
	}
	if (roles->n > 1) {
		qsort(roles->v, roles->n, sizeof(roles->v[0]), by_role);
	}
	return 0;
}

/* Keys in the style of a ResourceQuota ("count/pods", "requests.cpu") repeat what cpu, memory and
 * pods say. */
static bool is_quota_key(const char *name)
{
	struct str s = str_of(name);

	return str_has_prefix(s, "count/") || str_has_prefix(s, "requests.") ||
	       str_has_prefix(s, "limits.");
}

static int read_min_resources(const struct cluster *c, const struct field_resources *r,
			      struct group *g, struct err *err)
{
	CLEANUP(xmalloc_freep)
	struct field_resource *v = xmalloc_zero(r->n + 1, sizeof(*v));
	struct field_resources counted = { v, 0 };

	g->unoffered.v = xmalloc_zero(r->n + 1, sizeof(*g->unoffered.v));
	for (size_t i = 0; i < r->n; i++) {
		if (!is_quota_key(r->v[i].name)) {
			v[counted.n++] = r->v[i];
		}
	}
	/* In one go: each call makes a vector of all resources. */
	return from_api_requested(c, &counted, RES_UNLIMITED - 1, &g->min_resources, &g->unoffered,
				  err) < 0
		       ? err_wrap(err, "spec.minResources")
		       : 0;
}

static int read_group(struct cluster *c, const struct api_pod_group *group,
		      struct str default_queue, struct group *g, struct err *err)
{
	const struct api_pod_group_spec *spec = &group->spec;

	if (group->meta.name == NULL || group->meta.namespace_ == NULL) {
		return err_set(err, ERR_INVALID, "metadata.name: missing");
	}
	if (spec->min_member < 0) {
		return err_set(err, ERR_INVALID, "spec.minMember: negative");
	}
	g->queue = spec->queue == NULL ? default_queue : str_of(spec->queue);
	g->priority_class = MODEL_NONE;
	if (spec->priority_class_name != NULL &&
	    read_name(c, spec->priority_class_name, &g->priority_class, err) < 0) {
		return err_wrap(err, "spec.priorityClassName");
	}
	/* cluster_podgroup_get and cluster_podgroup_set_queue intern them, which must not fail. */
	if (read_name(c, group->meta.namespace_, &(uint32_t){ 0 }, err) < 0 ||
	    (g->queue.len > 0 && intern_id(c->names, g->queue) == INTERN_NONE)) {
		return err_set(err, ERR_INVALID, "too many different names in the cluster");
	}
	if (read_roles(c, &spec->min_task_member, &g->roles, err) < 0) {
		return -ERR_INVALID;
	}
	return read_min_resources(c, &spec->min_resources, g, err);
}

/* Soft topologies are preferences; the CRD makes hard of an absent mode. */
static enum podgroup_unsupported find_unsupported(const struct api_pod_group_spec *spec)
{
	if (spec->network_topology != NULL && !str_streq(spec->network_topology->mode, "soft")) {
		return PODGROUP_HARD_TOPOLOGY;
	}
	return spec->sub_group_policy.n > 0 ? PODGROUP_SUB_GROUPS : PODGROUP_SUPPORTED;
}

static int32_t class_value(const struct cluster *c, uint32_t name, int32_t def)
{
	const struct priority_class *p = NULL;

	if (name != MODEL_NONE) {
		p = strmap_get(c->priority_classes, intern_str(c->names, name));
	}
	return p == NULL ? def : p->value;
}

static bool find_default(struct str key, void *value, void *ctx)
{
	const struct priority_class *p = value;
	int32_t *def = ctx;

	(void)key;
	/* Should two claim to be the default, the higher one holds, in whatever order they came. */
	if (p->global_default && (*def == INT32_MIN || p->value > *def)) {
		*def = p->value;
	}
	return true;
}

static int32_t default_value(const struct cluster *c)
{
	int32_t def = INT32_MIN;

	strmap_each(c->priority_classes, find_default, &def);
	return def == INT32_MIN ? 0 : def;
}

static bool asks_for_the_same(const struct podgroup *podgroup, const struct api_pod_group *group,
			      const struct group *g)
{
	return podgroup->exists && podgroup->min_member == group->spec.min_member &&
	       podgroup->has_min_resources == (group->spec.min_resources.v != NULL) &&
	       res_eq(&podgroup->min_resources, &g->min_resources);
}

static bool has_same_roles(const struct podgroup *podgroup, const struct group *g)
{
	if (podgroup->role_min.n != g->roles.n) {
		return false;
	}
	for (size_t i = 0; i < g->roles.n; i++) {
		if (podgroup->role_min.v[i].role != g->roles.v[i].role ||
		    podgroup->role_min.v[i].min != g->roles.v[i].min) {
			return false;
		}
	}
	return true;
}

/* But for the queue, which cluster_podgroup_set_queue compares. */
static bool has_same_spec(const struct podgroup *podgroup, const struct api_pod_group *group,
			  const struct group *g)
{
	return asks_for_the_same(podgroup, group, g) && has_same_roles(podgroup, g) &&
	       unoffered_eq(&podgroup->min_unoffered, &g->unoffered) &&
	       podgroup->priority_class == g->priority_class &&
	       podgroup->unsupported == (uint8_t)find_unsupported(&group->spec);
}

/* Everything is read before anything changes: a PodGroup that is refused stays as it was. */
int from_api_podgroup(struct cluster *c, const struct api_pod_group *group,
		      struct str default_queue, struct err *err)
{
	CLEANUP(group_finish) struct group g = { .priority_class = MODEL_NONE };
	struct podgroup *podgroup;

	if (read_group(c, group, default_queue, &g, err) < 0) {
		return -ERR_INVALID;
	}
	podgroup =
		cluster_podgroup_get(c, str_of(group->meta.namespace_), str_of(group->meta.name));
	c->demand_gen += !asks_for_the_same(podgroup, group, &g);
	if (!has_same_spec(podgroup, group, &g)) {
		cluster_podgroup_try_again(c, podgroup);
	}
	podgroup->exists = true;
	podgroup->min_member = group->spec.min_member;
	podgroup->has_min_resources = group->spec.min_resources.v != NULL;
	podgroup->min_resources = g.min_resources;
	unoffered_finish(&podgroup->min_unoffered);
	podgroup->min_unoffered = unoffered_copy(&g.unoffered);
	podgroup->priority_class = g.priority_class;
	podgroup->priority = class_value(c, g.priority_class, default_value(c));
	podgroup->unsupported = (uint8_t)find_unsupported(&group->spec);
	podgroup->status_running = group->status.running;
	podgroup->status_succeeded = group->status.succeeded;
	podgroup->status_failed = group->status.failed;
	podgroup->created = group->meta.created;
	podgroup->resource_version = meta_version(&group->meta);
	free(podgroup->uid);
	podgroup->uid = group->meta.uid == NULL ? NULL : xmalloc_dup(group->meta.uid);
	vec_clear(&podgroup->role_min);
	for (size_t i = 0; i < g.roles.n; i++) {
		vec_push(&podgroup->role_min, g.roles.v[i]);
	}
	cluster_podgroup_set_queue(c, podgroup, g.queue);
	cluster_podgroup_set_phase(c, podgroup, phase_of(group->status.phase));
	return 0;
}

/* The request of minMember pods like this one; as large as it can be where the product is beyond.
 */
static void multiply(struct cluster *c, struct res *r, int32_t times)
{
	struct res_edit edit = res_edit_begin(c->res, r);

	for (unsigned d = 0; d < res_width(r) && d < res_names_count(c->res); d++) {
		int64_t total;

		if (__builtin_mul_overflow(res_get(r, d), (int64_t)times, &total)) {
			total = RES_UNLIMITED - 1;
		}
		res_edit_set(&edit, d, total);
	}
	res_edit_end(&edit);
}

/* The minimum of a pod that is ours to place, with minMember of its kind, as the PodGroup that
 * Volcano's controller would make for it. */
static void ask_as_volcano(struct cluster *c, const struct from_api_pod *p, const struct task *t,
			   struct podgroup *g)
{
	struct res min = t->klass->request;

	multiply(c, &min, p->min_member);
	if (!res_eq(&g->min_resources, &min)) {
		c->demand_gen++;
		cluster_podgroup_try_again(c, g);
	}
	g->min_member = p->min_member;
	g->has_min_resources = res_mask(&min) != 0;
	g->min_resources = min;
}

/* Another scheduler's pod asks for quota alone. One of ours is enqueued first. */
struct podgroup *from_api_podgroup_alone(struct cluster *c, const struct from_api_pod *p,
					 const struct task *t)
{
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;
	const struct podgroup *known;
	enum podgroup_phase phase;
	struct podgroup *g;

	cluster_podgroup_key(
		&(struct podgroup_key){ p->namespace_, p->name, .kind = PODGROUP_ALONE }, &key);
	known = cluster_podgroup_find(c, strbuf_str(&key));
	phase = known == NULL ? PODGROUP_PENDING : (enum podgroup_phase)known->phase;
	g = cluster_podgroup_get_alone(c, p->namespace_, p->name);
	g->created = p->created;
	g->priority = p->class_priority;
	if ((p->flags & TASK_GATE_ONLY) == 0) {
		g->phase = (uint8_t)phase;
		ask_as_volcano(c, p, t, g);
	}
	cluster_podgroup_set_queue(c, g, p->queue);
	cluster_podgroup_changed(c, g);
	return g;
}

int from_api_podgroup_keep(struct cluster *c, const struct api_pod_group *group,
			   struct str default_queue, struct err *err)
{
	struct api_pod_group rest = { .meta = group->meta, .status = group->status };

	rest.spec.queue = group->spec.queue;
	/* No number of members is enough: none is started. */
	rest.spec.min_member = INT32_MAX;
	return from_api_podgroup(c, &rest, default_queue, err);
}

void from_api_podgroup_priorities(struct cluster *c)
{
	int32_t def = default_value(c);

	for (size_t i = 0; i < c->podgroups.n; i++) {
		struct podgroup *g = c->podgroups.v[i];
		int32_t priority;

		/* The priority of one that is alone is that of its pod; Kubernetes resolves
		 * that of its own. */
		if (g == NULL || !g->exists || g->kind != PODGROUP_VOLCANO) {
			continue;
		}
		priority = class_value(c, g->priority_class, def);
		if (priority != g->priority) {
			g->priority = priority;
			cluster_podgroup_changed(c, g);
		}
	}
}
