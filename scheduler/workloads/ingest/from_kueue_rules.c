#include <stdlib.h>

#include "api/core/limit_range.h"
#include "api/core/runtime_class.h"
#include "api/kueue/kueue.h"
#include "base/arena.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "scheduler/workloads/ingest/from_kueue_priv.h"

struct range { /* a LimitRange */
	char *name;
	struct arena *arena; /* of items */
	struct api_limit_range_item *items;
	size_t n;
};
struct ranges { /* of one namespace, sorted by name: the first default wins */
	struct VEC(struct range) v;
};
struct runtime {
	struct arena *arena;
	struct field_resources overhead;
};

struct from_kueue_rules {
	const struct kueue_conf_resources *resources;
	struct strmap *ranges, *runtimes;
};

static void free_range(struct range *r)
{
	arena_destroy(r->arena);
	free(r->name);
}

static void free_ranges(void *value)
{
	struct ranges *list = value;

	for (size_t i = 0; i < list->v.n; i++) {
		free_range(&list->v.v[i]);
	}
	vec_finish(&list->v);
	free(list);
}

static void free_runtime(void *value)
{
	struct runtime *r = value;

	arena_destroy(r->arena);
	free(r);
}

struct from_kueue_rules *from_kueue_rules_create(const struct kueue_conf_resources *resources)
{
	static const struct kueue_conf_resources none;
	struct from_kueue_rules *r = xmalloc_zero(1, sizeof(*r));

	r->resources = resources == NULL ? &none : resources;
	r->ranges = strmap_create(free_ranges);
	r->runtimes = strmap_create(free_runtime);
	return r;
}

void from_kueue_rules_destroy(struct from_kueue_rules *r)
{
	if (r != NULL) {
		strmap_destroy(r->ranges);
		strmap_destroy(r->runtimes);
		free(r);
	}
}

const struct kueue_conf_resources *from_kueue_rules_resources(const struct from_kueue_rules *r)
{
	return r->resources;
}

static struct field_resources copy_list(struct arena *arena, struct field_resources list)
{
	struct field_resource *v = arena_zero(arena, list.n, sizeof(*v));

	for (size_t i = 0; i < list.n; i++) {
		v[i].name = arena_dup(arena, list.v[i].name);
		v[i].amount = list.v[i].amount;
	}
	return (struct field_resources){ .v = v, .n = list.n };
}

/* --- LimitRanges --------------------------------------------------------------------------------
 */

static struct ranges *ranges_of(struct from_kueue_rules *r, struct str namespace_)
{
	struct ranges *list = strmap_get(r->ranges, namespace_);

	if (list == NULL) {
		list = xmalloc_zero(1, sizeof(*list));
		strmap_set(r->ranges, namespace_, list);
	}
	return list;
}

/* The index of the name, or the one where it belongs. */
static size_t find_range(const struct ranges *list, struct str name, bool *ret_there)
{
	size_t i = 0;
	int order = 1;

	while (i < list->v.n && (order = str_cmp(str_of(list->v.v[i].name), name)) < 0) {
		i++;
	}
	*ret_there = i < list->v.n && order == 0;
	return i;
}

void from_kueue_rules_limits(struct from_kueue_rules *r, const struct api_limit_range *lr)
{
	struct ranges *list =
		ranges_of(r, str_of(lr->meta.namespace_ == NULL ? "" : lr->meta.namespace_));
	struct str name = str_of(lr->meta.name == NULL ? "" : lr->meta.name);
	bool there;
	size_t at = find_range(list, name, &there);
	struct range *range;

	if (there) {
		free_range(&list->v.v[at]);
	} else {
		vec_push(&list->v, (struct range){ .n = 0 });
		memmove(&list->v.v[at + 1], &list->v.v[at],
			(list->v.n - 1 - at) * sizeof(list->v.v[0]));
	}
	range = &list->v.v[at];
	range->name = xmalloc_dup_n(name.p, name.len);
	range->arena = arena_create(1024);
	range->n = lr->spec.limits.n;
	range->items = arena_zero(range->arena, range->n, sizeof(*range->items));
	for (size_t i = 0; i < range->n; i++) {
		const struct api_limit_range_item *a = &lr->spec.limits.v[i];

		range->items[i] = (struct api_limit_range_item){
			.type = arena_dup(range->arena, a->type),
			.max = copy_list(range->arena, a->max),
			.min = copy_list(range->arena, a->min),
			.default_ = copy_list(range->arena, a->default_),
			.default_request = copy_list(range->arena, a->default_request),
		};
	}
}

void from_kueue_rules_no_limits(struct from_kueue_rules *r, struct str key)
{
	struct str name = key, namespace_ = str_next(&name, '/');
	struct ranges *list = strmap_get(r->ranges, namespace_);
	bool there = false;
	size_t at = list == NULL ? 0 : find_range(list, name, &there);

	if (there) {
		free_range(&list->v.v[at]);
		list->v.n--;
		memmove(&list->v.v[at], &list->v.v[at + 1],
			(list->v.n - at) * sizeof(list->v.v[0]));
	}
	/* Namespaces come and go: without LimitRanges nothing is kept of one. */
	if (list != NULL && list->v.n == 0) {
		strmap_remove(r->ranges, namespace_);
	}
}

enum pick { FIRST, SMALLEST, LARGEST };

/* Both are sorted by name, as decoded. */
static struct field_resources merge(struct arena *arena, struct field_resources a,
				    struct field_resources b, enum pick pick)
{
	struct field_resource *v = arena_zero(arena, a.n + b.n, sizeof(*v));
	size_t n = 0, i = 0, k = 0;

	while (i < a.n || k < b.n) {
		int order = i == a.n ? 1 : k == b.n ? -1 : strcmp(a.v[i].name, b.v[k].name);
		int larger = 0;

		if (order == 0) {
			larger = quantity_cmp(b.v[k].amount, a.v[i].amount);
		}
		v[n] = order <= 0 ? a.v[i] : b.v[k];
		if ((pick == SMALLEST && larger < 0) || (pick == LARGEST && larger > 0)) {
			v[n] = b.v[k];
		}
		n++;
		i += order <= 0;
		k += order >= 0;
	}
	return (struct field_resources){ .v = v, .n = n };
}

struct field_resources from_kueue_rules_first(struct arena *arena, struct field_resources a,
					      struct field_resources b)
{
	return merge(arena, a, b, FIRST);
}

struct field_resources from_kueue_rules_extreme(struct arena *arena, struct field_resources a,
						struct field_resources b, bool largest)
{
	return merge(arena, a, b, largest ? LARGEST : SMALLEST);
}

/* A pod must satisfy every LimitRange of its namespace: of several maxima the lowest counts, of
 * minima the highest. Of defaults Kueue takes the first, so they come in the order of their
 * names. */
void from_kueue_rules_summary(const struct from_kueue_rules *r, struct str namespace_,
			      enum from_kueue_limit_type type, struct arena *arena,
			      struct from_kueue_limits *ret)
{
	static const char *const types[] = {
		[FROM_KUEUE_LIMIT_CONTAINER] = "Container",
		[FROM_KUEUE_LIMIT_POD] = "Pod",
	};
	const struct ranges *list = strmap_get(r->ranges, namespace_);

	*ret = (struct from_kueue_limits){ .found = false };
	for (size_t i = 0; list != NULL && i < list->v.n; i++) {
		for (size_t k = 0; k < list->v.v[i].n; k++) {
			const struct api_limit_range_item *a = &list->v.v[i].items[k];

			if (!str_streq(a->type, types[type])) {
				continue;
			}
			ret->found = true;
			ret->max = from_kueue_rules_extreme(arena, ret->max, a->max, false);
			ret->min = from_kueue_rules_extreme(arena, ret->min, a->min, true);
			ret->default_ = from_kueue_rules_first(arena, ret->default_, a->default_);
			ret->default_request = from_kueue_rules_first(arena, ret->default_request,
								      a->default_request);
		}
	}
}

/* --- RuntimeClasses -----------------------------------------------------------------------------
 */

void from_kueue_rules_runtime(struct from_kueue_rules *r, const struct api_runtime_class *rc)
{
	struct runtime *runtime = xmalloc_zero(1, sizeof(*runtime));

	runtime->arena = arena_create(512);
	if (rc->overhead != NULL) {
		runtime->overhead = copy_list(runtime->arena, rc->overhead->pod_fixed);
	}
	strmap_set(r->runtimes, str_of(rc->meta.name == NULL ? "" : rc->meta.name), runtime);
}

void from_kueue_rules_no_runtime(struct from_kueue_rules *r, struct str name)
{
	strmap_remove(r->runtimes, name);
}

/* A RuntimeClass that is not there adds nothing; when it comes, Workloads that wait are read again
 * (want_reread). */
const struct field_resources *from_kueue_rules_overhead(const struct from_kueue_rules *r,
							const char *runtime_class)
{
	const struct runtime *runtime =
		runtime_class == NULL ? NULL : strmap_get(r->runtimes, str_of(runtime_class));

	return runtime == NULL ? NULL : &runtime->overhead;
}
