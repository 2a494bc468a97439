#include "api/pod_request.h"

#include <string.h>

#include "api/pod.h"
#include "base/arena.h"

/* Amounts by resource name, sorted by name, growing in an arena. */
struct sums {
	struct field_resource *v;
	size_t n, cap;
	struct arena *arena;
};

static void sums_init(struct sums *s, struct arena *arena)
{
	s->cap = 8;
	s->n = 0;
	s->arena = arena;
	s->v = arena_alloc(arena, s->cap * sizeof(s->v[0]));
}

/* The entry of name, inserted with amount 0 when it is not there yet. */
static struct quantity *sums_at(struct sums *s, const char *name, bool *ret_new)
{
	struct field_resource *more;
	size_t i = 0;

	while (i < s->n && strcmp(s->v[i].name, name) < 0) {
		i++;
	}
	*ret_new = i == s->n || strcmp(s->v[i].name, name) != 0;
	if (!*ret_new) {
		return &s->v[i].amount;
	}
	if (s->n == s->cap) {
		s->cap *= 2;
		more = arena_alloc(s->arena, s->cap * sizeof(s->v[0]));
		memcpy(more, s->v, s->n * sizeof(s->v[0]));
		s->v = more;
	}
	memmove(&s->v[i + 1], &s->v[i], (s->n - i) * sizeof(s->v[0]));
	s->v[i] = (struct field_resource){ name, { 0, QUANTITY_DECIMAL_SI } };
	s->n++;
	return &s->v[i].amount;
}

static void add_one(struct sums *s, const char *name, struct quantity amount)
{
	bool fresh;
	struct quantity *q = sums_at(s, name, &fresh);

	*q = fresh ? amount : quantity_add(*q, amount);
}

static void max_one(struct sums *s, const char *name, struct quantity amount)
{
	bool fresh;
	struct quantity *q = sums_at(s, name, &fresh);

	if (fresh || quantity_cmp(*q, amount) < 0) {
		*q = amount;
	}
}

static void max_all(struct sums *s, const struct field_resources *r)
{
	for (size_t i = 0; i < r->n; i++) {
		max_one(s, r->v[i].name, r->v[i].amount);
	}
}

static struct field_resources as_list(const struct sums *s)
{
	return (struct field_resources){ s->v, s->n };
}

static void add_all(struct sums *s, const struct field_resources *r)
{
	for (size_t i = 0; i < r->n; i++) {
		add_one(s, r->v[i].name, r->v[i].amount);
	}
}

static const struct api_container_status *find_status(const struct api_container_statuses *statuses,
						      const char *name)
{
	for (size_t i = 0; i < statuses->n; i++) {
		if (str_streq(statuses->v[i].name, name)) {
			return &statuses->v[i];
		}
	}
	return NULL;
}

/* The kubelet says so when a resize can never be granted on the node. */
static bool is_resize_infeasible(const struct api_pod *pod)
{
	const struct api_condition *c = meta_condition(&pod->status.conditions, "PodResizePending");

	return c != NULL && str_streq(c->reason, "Infeasible");
}

static void container_request(const struct api_pod *pod, const struct api_container *c,
			      const struct api_container_statuses *statuses, struct sums *ret)
{
	const struct api_container_status *status = find_status(statuses, c->name);
	bool resizing = status != NULL && status->resources != NULL;
	const struct field_resources *limits = &c->resources.limits;

	if (!resizing || !is_resize_infeasible(pod)) {
		max_all(ret, &c->resources.requests);
		for (size_t i = 0; i < limits->n; i++) {
			if (field_resources_get(&c->resources.requests, limits->v[i].name) ==
			    NULL) {
				max_one(ret, limits->v[i].name, limits->v[i].amount);
			}
		}
	}
	if (resizing) {
		max_all(ret, &status->resources->requests);
		max_all(ret, &status->allocated);
	}
}

/* Init containers run one after the other, but the restartable ones keep running: each counts with
 * the restartable ones before it, and the containers with all of them. */
static void container_sums(const struct api_pod *pod, struct arena *arena, struct sums *ret)
{
	struct sums sidecars, peak;

	sums_init(&sidecars, arena);
	sums_init(&peak, arena);
	for (size_t i = 0; i < pod->spec.init_containers.n; i++) {
		const struct api_container *c = &pod->spec.init_containers.v[i];
		struct field_resources list;
		struct sums own;

		sums_init(&own, arena);
		container_request(pod, c, &pod->status.init_containers, &own);
		list = as_list(&own);
		if (str_streq(c->restart_policy, "Always")) {
			add_all(&sidecars, &list);
			list = as_list(&sidecars);
		} else {
			list = as_list(&sidecars);
			add_all(&own, &list);
			list = as_list(&own);
		}
		max_all(&peak, &list);
	}
	for (size_t i = 0; i < pod->spec.containers.n; i++) {
		struct field_resources list;
		struct sums own;

		sums_init(&own, arena);
		container_request(pod, &pod->spec.containers.v[i], &pod->status.containers, &own);
		list = as_list(&own);
		add_all(ret, &list);
	}
	add_all(ret, &(struct field_resources){ sidecars.v, sidecars.n });
	max_all(ret, &(struct field_resources){ peak.v, peak.n });
}

static bool is_pod_level(const char *name)
{
	return strcmp(name, "cpu") == 0 || strcmp(name, "memory") == 0 ||
	       strncmp(name, "hugepages-", 10) == 0;
}

/* What the pod asks for as a whole replaces the sum; its limit only fills in where nothing else
 * says anything. */
static void apply_pod_level(const struct api_resources *r, struct sums *s)
{
	bool fresh;

	for (size_t i = 0; i < r->requests.n; i++) {
		if (is_pod_level(r->requests.v[i].name)) {
			*sums_at(s, r->requests.v[i].name, &fresh) = r->requests.v[i].amount;
		}
	}
	for (size_t i = 0; i < r->limits.n; i++) {
		const struct field_resource *limit = &r->limits.v[i];
		struct quantity *q;

		if (!is_pod_level(limit->name)) {
			continue;
		}
		q = sums_at(s, limit->name, &fresh);
		if (fresh) {
			*q = limit->amount;
		}
	}
}

void pod_request_sum(const struct api_pod *pod, struct arena *arena, struct field_resources *ret)
{
	struct sums s;

	sums_init(&s, arena);
	container_sums(pod, arena, &s);
	if (pod->spec.resources != NULL) {
		apply_pod_level(pod->spec.resources, &s);
	}
	add_all(&s, &pod->spec.overhead);
	*ret = as_list(&s);
}

static bool limits_cpu(const struct api_containers *list)
{
	for (size_t i = 0; i < list->n; i++) {
		if (field_resources_get(&list->v[i].resources.limits, "cpu") != NULL) {
			return true;
		}
	}
	return false;
}

bool pod_request_limits_cpu(const struct api_pod *pod)
{
	return limits_cpu(&pod->spec.containers) || limits_cpu(&pod->spec.init_containers) ||
	       (pod->spec.resources != NULL &&
		field_resources_get(&pod->spec.resources->limits, "cpu") != NULL);
}
