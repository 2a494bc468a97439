#include "api/core/pod_request.h"

#include <stdlib.h>
#include <string.h>

#include "api/core/pod.h"
#include "base/arena.h"
#include "collections/intern.h"
#include "collections/strmap.h"

/* Sums of one resource name while a pod is read. An amount counts only while its flag is set: an
 * absent name differs from an amount of 0. */
struct sum {
	const char *name;
	struct quantity total, sidecars, peak, own;
	bool has_total, has_sidecars, has_peak, has_own;
};

/* Sums in order of first appearance. A few are compared one by one; beyond FEW they are indexed, so
 * that the cost stays linear in the size of the pod. */
struct sums {
	struct sum *v;
	size_t n, cap;
	uint32_t *touched; /* indices with has_own: the names of the container being read */
	size_t ntouched;
	struct intern *index; /* ids are indices in v; NULL: not more than FEW */
	struct arena *arena;
};

#define FEW 16u

static void sums_init(struct sums *s, struct arena *arena)
{
	*s = (struct sums){ .cap = FEW, .arena = arena };
	s->v = arena_alloc(arena, s->cap * sizeof(s->v[0]));
	s->touched = arena_alloc(arena, s->cap * sizeof(s->touched[0]));
}

static void sums_finish(struct sums *s)
{
	intern_destroy(s->index);
	s->index = NULL;
}

static void enlarge(struct sums *s)
{
	struct sum *more = arena_alloc(s->arena, 2 * s->cap * sizeof(s->v[0]));
	uint32_t *touched = arena_alloc(s->arena, 2 * s->cap * sizeof(s->touched[0]));

	memcpy(more, s->v, s->n * sizeof(s->v[0]));
	memcpy(touched, s->touched, s->ntouched * sizeof(s->touched[0]));
	s->v = more;
	s->touched = touched;
	s->cap *= 2;
	if (s->index == NULL) {
		s->index = intern_create();
		for (size_t i = 0; i < s->n; i++) {
			(void)intern_id(s->index, str_of(s->v[i].name));
		}
	}
}

/* Index of the name; adds it when it is new. */
static size_t sums_find(struct sums *s, const char *name)
{
	size_t i = 0;

	if (s->index != NULL) {
		i = intern_id(s->index, str_of(name));
	} else {
		while (i < s->n && strcmp(s->v[i].name, name) != 0) {
			i++;
		}
	}
	if (i < s->n) {
		return i;
	}
	if (s->n == s->cap) {
		enlarge(s);
		(void)intern_id(s->index, str_of(name));
	}
	s->v[s->n++] = (struct sum){ .name = name };
	return s->n - 1;
}

static void add_to(struct quantity *sum, bool *has, struct quantity amount)
{
	*sum = *has ? quantity_add(*sum, amount) : amount;
	*has = true;
}

static void raise_to(struct quantity *most, bool *has, struct quantity amount)
{
	if (!*has || quantity_cmp(*most, amount) < 0) {
		*most = amount;
	}
	*has = true;
}

static void raise_own(struct sums *s, const char *name, struct quantity amount)
{
	size_t i = sums_find(s, name);

	if (!s->v[i].has_own) {
		s->touched[s->ntouched++] = (uint32_t)i;
	}
	raise_to(&s->v[i].own, &s->v[i].has_own, amount);
}

static void raise_all(struct sums *s, const struct field_resources *r)
{
	for (size_t i = 0; i < r->n; i++) {
		raise_own(s, r->v[i].name, r->v[i].amount);
	}
}

/* Container statuses by name: the kubelet does not keep the order of the spec. */
struct statuses {
	const struct api_container_statuses *list;
	struct strmap *index; /* NULL: not more than FEW */
};

static void statuses_init(struct statuses *s, const struct api_container_statuses *list)
{
	*s = (struct statuses){ .list = list };
	if (list->n <= FEW) {
		return;
	}
	s->index = strmap_create(NULL);
	/* From the end, so that of equal names the first one stays, as in find_status without the
	 * index. */
	for (size_t i = list->n; i-- > 0;) {
		strmap_set(s->index, str_of(list->v[i].name), &list->v[i]);
	}
}

static const struct api_container_status *find_status(const struct statuses *s, const char *name)
{
	if (s->index != NULL) {
		return strmap_get(s->index, str_of(name));
	}
	for (size_t i = 0; i < s->list->n; i++) {
		if (str_streq(s->list->v[i].name, name)) {
			return &s->list->v[i];
		}
	}
	return NULL;
}

/* The kubelet's condition for a resize that can never be granted on the node. */
static bool is_resize_infeasible(const struct api_pod *pod)
{
	const struct api_condition *c = meta_condition(&pod->status.conditions, "PodResizePending");

	return c != NULL && str_streq(c->reason, "Infeasible");
}

/* Sets `own` to the request of one container. */
static void read_container(struct sums *s, const struct api_container *c,
			   const struct statuses *statuses, bool infeasible)
{
	const struct api_container_status *status = find_status(statuses, c->name);
	bool has_actual = status != NULL && status->resources != NULL;
	const struct field_resources *limits = &c->resources.limits;

	s->ntouched = 0;
	if (!has_actual || !infeasible) {
		raise_all(s, &c->resources.requests);
		for (size_t i = 0; i < limits->n; i++) {
			if (field_resources_get(&c->resources.requests, limits->v[i].name) ==
			    NULL) {
				raise_own(s, limits->v[i].name, limits->v[i].amount);
			}
		}
	}
	if (has_actual) {
		raise_all(s, &status->resources->requests);
		raise_all(s, &status->allocated);
	}
}

static void count_container(struct sum *s)
{
	add_to(&s->total, &s->has_total, s->own);
}

static void count_sidecar(struct sum *s)
{
	add_to(&s->sidecars, &s->has_sidecars, s->own);
}

/* An init container runs together with the restartable ones before it. Resources that it
 * does not request cannot raise the peak: the sidecars' final sum covers them. */
static void count_init(struct sum *s)
{
	raise_to(&s->peak, &s->has_peak,
		 s->has_sidecars ? quantity_add(s->own, s->sidecars) : s->own);
}

static void count_own(struct sums *s, void (*count)(struct sum *s))
{
	for (size_t i = 0; i < s->ntouched; i++) {
		count(&s->v[s->touched[i]]);
		s->v[s->touched[i]].has_own = false;
	}
}

/* Init containers run one after the other, but the restartable ones keep running: each counts with
 * the restartable ones before it, and the containers with all of them. */
static void read_containers(struct sums *s, const struct api_pod *pod)
{
	bool infeasible = is_resize_infeasible(pod);
	struct statuses statuses;

	statuses_init(&statuses, &pod->status.init_containers);
	for (size_t i = 0; i < pod->spec.init_containers.n; i++) {
		const struct api_container *c = &pod->spec.init_containers.v[i];

		read_container(s, c, &statuses, infeasible);
		count_own(s, str_streq(c->restart_policy, "Always") ? count_sidecar : count_init);
	}
	strmap_destroy(statuses.index);
	statuses_init(&statuses, &pod->status.containers);
	for (size_t i = 0; i < pod->spec.containers.n; i++) {
		read_container(s, &pod->spec.containers.v[i], &statuses, infeasible);
		count_own(s, count_container);
	}
	strmap_destroy(statuses.index);
	for (size_t i = 0; i < s->n; i++) {
		struct sum *one = &s->v[i];

		if (one->has_sidecars) {
			add_to(&one->total, &one->has_total, one->sidecars);
		}
		if (one->has_peak) {
			raise_to(&one->total, &one->has_total, one->peak);
		}
	}
}

static bool is_pod_level(const char *name)
{
	return strcmp(name, "cpu") == 0 || strcmp(name, "memory") == 0 ||
	       strncmp(name, "hugepages-", 10) == 0;
}

/* Pod-level requests replace the sum of the containers; a pod-level limit counts only where neither
 * the pod nor any container requests the resource. */
static void apply_pod_level(const struct api_resources *r, struct sums *s)
{
	for (size_t i = 0; i < r->requests.n; i++) {
		const struct field_resource *request = &r->requests.v[i];
		struct sum *one;

		if (is_pod_level(request->name)) {
			one = &s->v[sums_find(s, request->name)];
			one->total = request->amount;
			one->has_total = true;
		}
	}
	for (size_t i = 0; i < r->limits.n; i++) {
		const struct field_resource *limit = &r->limits.v[i];
		struct sum *one;

		if (!is_pod_level(limit->name)) {
			continue;
		}
		one = &s->v[sums_find(s, limit->name)];
		if (!one->has_total) {
			one->total = limit->amount;
			one->has_total = true;
		}
	}
}

static int by_name(const void *a, const void *b)
{
	const struct field_resource *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static struct field_resources totals(const struct sums *s)
{
	struct field_resource *v = arena_alloc(s->arena, (s->n + 1) * sizeof(*v));
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		if (s->v[i].has_total) {
			v[n++] = (struct field_resource){ s->v[i].name, s->v[i].total };
		}
	}
	qsort(v, n, sizeof(v[0]), by_name);
	return (struct field_resources){ v, n };
}

/* As component-helpers' PodRequests:
 *   1. per container: the request, or the limit in its place, or what a resize has made of it;
 *   2. the sum of the containers with the restartable init containers, or the peak of an init
 *      container where that is more;
 *   3. pod-level amounts in place of the sums;
 *   4. the overhead of the RuntimeClass. */
void pod_request_sum(const struct api_pod *pod, struct arena *arena, struct field_resources *ret)
{
	struct sums s;

	sums_init(&s, arena);
	read_containers(&s, pod);
	if (pod->spec.resources != NULL) {
		apply_pod_level(pod->spec.resources, &s);
	}
	for (size_t i = 0; i < pod->spec.overhead.n; i++) {
		struct sum *one = &s.v[sums_find(&s, pod->spec.overhead.v[i].name)];

		add_to(&one->total, &one->has_total, pod->spec.overhead.v[i].amount);
	}
	*ret = totals(&s);
	sums_finish(&s);
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
