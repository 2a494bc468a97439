#include "schema/pod_amounts.h"

#include "base/attrs.h"
#include "base/str.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "enc/quantity.h"
#include "schema/causes.h"

static const char *const lists[] = { "initContainers", "containers" };

/* The other names are extended resources, of which only whole numbers exist. */
static bool is_native(const char *name)
{
	return strchr(name, '/') == NULL || strstr(name, "kubernetes.io/") != NULL;
}

static bool is_huge_page(const char *name)
{
	return str_has_prefix(str_of(name), "hugepages-");
}

/* Of these a container may ask for less than its limit. */
static bool may_overcommit(const char *name)
{
	return is_native(name) && !is_huge_page(name);
}

static bool is_of_containers(const char *name)
{
	return str_streq(name, "cpu") || str_streq(name, "memory") ||
	       str_streq(name, "ephemeral-storage") || is_huge_page(name);
}

static struct quantity amount(const struct jdoc *d)
{
	struct quantity q = { 0 };

	(void)quantity_parse(str_of(jdoc_str_or(d, "0")), &q, NULL);
	return q;
}

static void refuse(struct jdoc *causes, const char *at, const struct jdoc *d, const char *why)
{
	causes_add_value(causes, at, d, why);
}

static void check_name(const char *name, const char *at, struct jdoc *causes)
{
	CLEANUP(jdoc_destroyp) struct jdoc *value = jdoc_new_str(name);

	if (strchr(name, '/') == NULL && !is_of_containers(name)) {
		refuse(causes, at, value, "must be a standard resource type or fully qualified");
		refuse(causes, at, value, "must be a standard resource for containers");
	}
}

static void check_list(const struct jdoc *resources, const char *base, const char *what,
		       struct jdoc *causes)
{
	const struct jdoc *list = jdoc_get(resources, what);

	for (const struct jdoc *d = jdoc_first(list); d != NULL; d = jdoc_next(d)) {
		CLEANUP(xmalloc_freep)
		char *at = xmalloc_printf("%s.%s[%s]", base, what, jdoc_key(d));

		check_name(jdoc_key(d), at, causes);
		if (amount(d).nano < 0) {
			refuse(causes, at, d, "must be greater than or equal to 0");
		}
		if (!is_native(jdoc_key(d)) && quantity_milli(amount(d)) % 1000 != 0) {
			refuse(causes, at, d, "must be an integer");
		}
	}
}

/* A request above its limit is refused. Extended resources and huge pages cannot be overcommitted,
 * so they need a limit that equals the request. */
static void compare(const struct jdoc *request, const struct jdoc *limits, const char *base,
		    struct jdoc *causes)
{
	CLEANUP(xmalloc_freep) char *at = xmalloc_printf("%s.requests", base);
	CLEANUP(xmalloc_freep) char *at_limits = xmalloc_printf("%s.limits", base);
	CLEANUP(xmalloc_freep) char *why = NULL;
	const char *name = jdoc_key(request);
	const struct jdoc *limit = jdoc_get(limits, name);
	int order = limit == NULL ? 0 : quantity_cmp(amount(request), amount(limit));

	if (limit == NULL && !may_overcommit(name)) {
		causes_add(causes, "FieldValueRequired", at_limits,
			   "Required value: Limit must be set for non overcommitable resources");
	} else if (order != 0 && !may_overcommit(name)) {
		why = xmalloc_printf("must be equal to %s limit of %s", name,
				     jdoc_str_or(limit, ""));
		refuse(causes, at, request, why);
	} else if (order > 0) {
		why = xmalloc_printf("must be less than or equal to %s limit of %s", name,
				     jdoc_str_or(limit, ""));
		refuse(causes, at, request, why);
	}
}

void pod_amounts_check(const struct jdoc *pod, struct jdoc *causes)
{
	for (size_t k = 0; k < ARRAY_LEN(lists); k++) {
		const struct jdoc *list = jdoc_get(jdoc_get(pod, "spec"), lists[k]);
		size_t i = 0;

		for (const struct jdoc *c = jdoc_first(list); c != NULL; c = jdoc_next(c), i++) {
			const struct jdoc *res = jdoc_get(c, "resources");
			const struct jdoc *requests = jdoc_get(res, "requests");
			CLEANUP(xmalloc_freep)
			char *base = xmalloc_printf("spec.%s[%zu].resources", lists[k], i);

			check_list(res, base, "limits", causes);
			check_list(res, base, "requests", causes);
			for (const struct jdoc *r = jdoc_first(requests); r != NULL;
			     r = jdoc_next(r)) {
				compare(r, jdoc_get(res, "limits"), base, causes);
			}
		}
	}
}

static void check_kept(const struct jdoc *now, const struct jdoc *before, const char *what,
		       const char *at, struct jdoc *causes)
{
	for (const struct jdoc *b = jdoc_first(jdoc_get(before, what)); b != NULL;
	     b = jdoc_next(b)) {
		if (jdoc_get(jdoc_get(now, what), jdoc_key(b)) == NULL) {
			causes_add(causes, "FieldValueForbidden", at,
				   "Forbidden: resource %s cannot be removed", what);
			return;
		}
	}
}

void pod_amounts_check_resize(const struct jdoc *pod, const struct jdoc *old, struct jdoc *causes)
{
	const char *class = pod_amounts_class(old);
	CLEANUP(jdoc_destroyp) struct jdoc *value = jdoc_new_str(class);

	if (!str_streq(class, pod_amounts_class(pod))) {
		refuse(causes, "spec", value,
		       "Pod QOS Class may not change as a result of resizing");
	}
	for (size_t k = 0; k < ARRAY_LEN(lists); k++) {
		const struct jdoc *before = jdoc_first(jdoc_get(jdoc_get(old, "spec"), lists[k]));
		const struct jdoc *now = jdoc_first(jdoc_get(jdoc_get(pod, "spec"), lists[k]));

		for (size_t i = 0; before != NULL && now != NULL; i++) {
			CLEANUP(xmalloc_freep)
			char *requests =
				xmalloc_printf("spec.%s[%zu].resources.requests", lists[k], i);
			CLEANUP(xmalloc_freep)
			char *limits = xmalloc_printf("spec.%s[%zu].resources.limits", lists[k], i);

			check_kept(jdoc_get(now, "resources"), jdoc_get(before, "resources"),
				   "requests", requests, causes);
			check_kept(jdoc_get(now, "resources"), jdoc_get(before, "resources"),
				   "limits", limits, causes);
			before = jdoc_next(before);
			now = jdoc_next(now);
		}
	}
}

static bool is_guaranteed(const struct jdoc *resources)
{
	static const char *const names[] = { "cpu", "memory" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const struct jdoc *limit = jdoc_get(jdoc_get(resources, "limits"), names[i]);

		if (limit == NULL ||
		    !jdoc_equal(limit, jdoc_get(jdoc_get(resources, "requests"), names[i]))) {
			return false;
		}
	}
	return true;
}

static bool asks(const struct jdoc *resources)
{
	const struct jdoc *requests = jdoc_get(resources, "requests");
	const struct jdoc *limits = jdoc_get(resources, "limits");

	return jdoc_get(requests, "cpu") != NULL || jdoc_get(requests, "memory") != NULL ||
	       jdoc_get(limits, "cpu") != NULL || jdoc_get(limits, "memory") != NULL;
}

/* As Kubernetes' ComputePodQOS, by cpu and memory alone: BestEffort without any amount, Guaranteed
 * if each container has limits equal to its requests, else Burstable. */
const char *pod_amounts_class(const struct jdoc *pod)
{
	const struct jdoc *whole = jdoc_path(pod, "spec.resources");
	bool any = false, guaranteed = true;

	if (asks(whole)) { /* amounts of the pod as a whole decide alone */
		return is_guaranteed(whole) ? "Guaranteed" : "Burstable";
	}
	for (size_t k = 0; k < ARRAY_LEN(lists); k++) {
		const struct jdoc *list = jdoc_get(jdoc_get(pod, "spec"), lists[k]);

		for (const struct jdoc *c = jdoc_first(list); c != NULL; c = jdoc_next(c)) {
			any = any || asks(jdoc_get(c, "resources"));
			guaranteed = guaranteed && is_guaranteed(jdoc_get(c, "resources"));
		}
	}
	return !any ? "BestEffort" : guaranteed ? "Guaranteed" : "Burstable";
}
