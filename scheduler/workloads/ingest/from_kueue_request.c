#include <stdlib.h>

#include "api/core/pod.h"
#include "api/core/pod_request.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "collections/intern.h"
#include "scheduler/workloads/ingest/from_kueue_priv.h"

#define NANO INT64_C(1000000000)

struct request {
	struct quota_model *q;
	const struct from_kueue_rules *rules;
	struct arena *arena;
	struct from_kueue_limits container, pod; /* LimitRanges of the namespace */
	struct api_pod adjusted;
	const char *invalid;
};

/* --- adjusting (Kueue: AdjustResources) ---------------------------------------------------------
 */

static struct field_resources first(struct request *r, struct field_resources a,
				    struct field_resources b)
{
	return from_kueue_rules_first(r->arena, a, b);
}

/* Missing requests get the defaults of the LimitRange, else the limits. */
static void adjust_containers(struct request *r, struct api_containers *list)
{
	struct api_container *v = arena_zero(r->arena, list->n, sizeof(*v));

	for (size_t i = 0; i < list->n; i++) {
		struct api_resources *res = &v[i].resources;

		v[i] = list->v[i];
		/* Limits first: a default limit of the LimitRange is the request of a container
		 * that has neither a request nor a default one. */
		res->limits = first(r, res->limits, r->container.default_);
		res->requests = first(r, res->requests, r->container.default_request);
		res->requests = first(r, res->requests, res->limits);
	}
	list->v = v;
}

static void adjust(struct request *r, const struct api_pod_spec *spec)
{
	struct api_pod_spec *copy = &r->adjusted.spec;
	const struct field_resources *overhead =
		from_kueue_rules_overhead(r->rules, spec->runtime_class_name);

	*copy = *spec;
	/* The API server writes the overhead into pods. A pod template has none yet. */
	if (spec->overhead.n == 0 && overhead != NULL) {
		copy->overhead = *overhead;
	}
	adjust_containers(r, &copy->init_containers);
	adjust_containers(r, &copy->containers);
	if (spec->resources != NULL) {
		copy->resources = arena_zero(r->arena, 1, sizeof(*copy->resources));
		*copy->resources = *spec->resources;
		/* Pod-level resources have no defaults in a LimitRange. */
		copy->resources->requests =
			first(r, spec->resources->requests, spec->resources->limits);
	}
}

/* --- requests with which no pod could be created ------------------------------------------------
 */

/* The first resource of which a has more than b; those that only one has do not count. */
static const char *greater(const struct field_resources *a, const struct field_resources *b)
{
	for (size_t i = 0; i < a->n; i++) {
		const struct quantity *other = field_resources_get(b, a->v[i].name);

		if (other != NULL && quantity_cmp(a->v[i].amount, *other) > 0) {
			return a->v[i].name;
		}
	}
	return NULL;
}

/* Keeps the first finding. */
static void find(struct request *r, const char *where, size_t i, const struct field_resources *a,
		 const struct field_resources *b, const char *what)
{
	const char *resource = greater(a, b);

	if (resource != NULL && r->invalid == NULL) {
		r->invalid = where == NULL
				     ? arena_printf(r->arena, "the pod's %s %s", resource, what)
				     : arena_printf(r->arena, "%s[%zu]: %s %s", where, i, resource,
						    what);
	}
}

static void check_containers(struct request *r, const struct api_containers *list,
			     const char *where)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct api_resources *res = &list->v[i].resources;
		struct field_resources least, most;

		find(r, where, i, &res->requests, &res->limits, "request is above its limit");
		if (!r->container.found) {
			continue;
		}
		least = from_kueue_rules_extreme(r->arena, res->requests, res->limits, false);
		most = from_kueue_rules_extreme(r->arena, res->requests, res->limits, true);
		find(r, where, i, &most, &r->container.max, "is above the maximum of a LimitRange");
		find(r, where, i, &r->container.min, &least,
		     "is below the minimum of a LimitRange");
	}
}

static void check(struct request *r, const struct field_resources *total)
{
	const struct api_pod_spec *spec = &r->adjusted.spec;

	check_containers(r, &spec->init_containers, "initContainers");
	check_containers(r, &spec->containers, "containers");
	if (spec->resources != NULL) {
		find(r, NULL, 0, &spec->resources->requests, &spec->resources->limits,
		     "request is above its limit");
	}
	if (r->pod.found) {
		find(r, NULL, 0, total, &r->pod.max, "is above the maximum of a LimitRange");
		find(r, NULL, 0, &r->pod.min, total, "is below the minimum of a LimitRange");
	}
}

/* --- resources that count against quota ---------------------------------------------------------
 */

static bool is_excluded(const struct kueue_conf_resources *conf, const char *name)
{
	for (size_t i = 0; i < conf->nexcluded; i++) {
		if (str_has_prefix(str_of(name), conf->excluded[i])) {
			return true;
		}
	}
	return false;
}

static const struct kueue_conf_resources_transformation *
find_transformation(const struct kueue_conf_resources *conf, const char *name)
{
	for (size_t i = 0; i < conf->ntransformations; i++) {
		if (str_streq(conf->transformations[i].input, name)) {
			return &conf->transformations[i];
		}
	}
	return NULL;
}

static struct quantity times(struct quantity a, int64_t factor)
{
	const __int128 max = (__int128)INT64_MAX * NANO;
	__int128 product;

	if (__builtin_mul_overflow(a.nano, (__int128)factor, &product) || product > max ||
	    product < -max) {
		product = (a.nano < 0) == (factor < 0) ? max : -max;
	}
	return (struct quantity){ .nano = product, .format = a.format };
}

/* Exact sums by name, rounded up only in the end. */
struct counted {
	struct field_resource *v;
	size_t n, cap;
	struct intern *names; /* ids are indices in v; NULL: no name comes twice */
};

static void count(struct request *r, struct counted *c, const char *name, struct quantity amount)
{
	size_t at = c->names == NULL ? c->n : intern_id(c->names, str_of(name));

	if (at < c->n) {
		c->v[at].amount = quantity_add(c->v[at].amount, amount);
		return;
	}
	if (c->n == c->cap) {
		struct field_resource *more = arena_zero(r->arena, 2 * c->cap + 8, sizeof(*more));

		for (size_t i = 0; i < c->n; i++) {
			more[i] = c->v[i];
		}
		c->v = more;
		c->cap = 2 * c->cap + 8;
	}
	c->v[c->n++] = (struct field_resource){ .name = name, .amount = amount };
}

/* The input counts in whole units; of an input that is multiplied and retained, the product is kept
 * (Kueue: applyResourceTransformations). */
static void transform(struct request *r, const struct field_resources *input,
		      const struct kueue_conf_resources_transformation *t, struct field_resource in,
		      struct counted *ret)
{
	const struct quantity *factor =
		t->multiply_by == NULL ||
				is_excluded(from_kueue_rules_resources(r->rules), t->multiply_by)
			? NULL
			: field_resources_get(input, t->multiply_by);

	if (factor != NULL) {
		in.amount = times(in.amount, quantity_value(*factor));
	}
	for (size_t i = 0; i < t->outputs.n; i++) {
		count(r, ret, t->outputs.v[i].name,
		      times(t->outputs.v[i].amount, quantity_value(in.amount)));
	}
	if (!t->replace) {
		count(r, ret, in.name, in.amount);
	}
}

static void count_all(struct request *r, const struct field_resources *total, struct counted *ret)
{
	const struct kueue_conf_resources *conf = from_kueue_rules_resources(r->rules);

	for (size_t i = 0; i < total->n; i++) {
		const struct kueue_conf_resources_transformation *t =
			find_transformation(conf, total->v[i].name);

		if (is_excluded(conf, total->v[i].name)) {
			continue;
		}
		if (t != NULL) {
			transform(r, total, t, total->v[i], ret);
		} else {
			count(r, ret, total->v[i].name, total->v[i].amount);
		}
	}
}

static int by_id(const void *a, const void *b)
{
	const struct quota_amount *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

/* Every name is there once. */
static void store(struct quota_model *q, const struct counted *counted, struct arena *arena,
		  struct podset *p)
{
	p->request.v = arena_zero(arena, counted->n, sizeof(*p->request.v));
	p->request.n = p->request.cap = counted->n;
	for (size_t i = 0; i < counted->n; i++) {
		struct str name = str_of(counted->v[i].name);
		int64_t amount = from_kueue_amount(name, counted->v[i].amount);

		/* The largest number means that there is no limit. */
		amount = amount < 0 ? 0 : amount == QUOTA_UNLIMITED ? amount - 1 : amount;
		p->request.v[i] = (struct quota_amount){ quota_resource(q, name), amount };
	}
	if (counted->n > 1) {
		qsort(p->request.v, counted->n, sizeof(p->request.v[0]), by_id);
	}
}

void from_kueue_request(struct quota_model *q, const struct from_kueue_rules *rules,
			struct str namespace_, const struct api_pod_spec *spec, struct arena *arena,
			struct podset *p)
{
	/* Intermediate lists take more room than the result. */
	CLEANUP(arena_destroyp) struct arena *scratch = arena_create(4096);
	struct request r = { .q = q, .rules = rules, .arena = scratch };
	struct counted counted = { .n = 0 };
	struct field_resources total;

	from_kueue_rules_summary(rules, namespace_, FROM_KUEUE_LIMIT_CONTAINER, scratch,
				 &r.container);
	from_kueue_rules_summary(rules, namespace_, FROM_KUEUE_LIMIT_POD, scratch, &r.pod);
	adjust(&r, spec);
	pod_request_sum(&r.adjusted, scratch, &total);
	check(&r, &total);
	if (from_kueue_rules_resources(rules)->ntransformations > 0) {
		/* Only transformations count a resource under another name, so that one may come
		 * twice. */
		counted.names = intern_create();
	}
	count_all(&r, &total, &counted);
	store(q, &counted, arena, p);
	intern_destroy(counted.names);
	p->invalid = arena_dup(arena, r.invalid);
}
