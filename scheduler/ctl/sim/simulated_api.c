#include "scheduler/ctl/sim/simulated_api.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "enc/json/jdoc.h"

struct stored {
	struct jdoc *object;
	struct jdoc *applied; /* by the scheduler; NULL: nothing yet */
};

struct simulated_api {
	struct strmap *objects; /* "namespace/name" -> struct stored */
	int64_t version;
};

/* Members of the status that belong to others than the scheduler: it never applies them, so that
 * none of its writes may remove them. */
static const char *const foreign[] = { "reclaimablePods", "resourceRequests", "preemptionCost" };

static void stored_free(void *value)
{
	struct stored *s = value;

	jdoc_destroy(s->object);
	jdoc_destroy(s->applied);
	free(s);
}

struct simulated_api *simulated_api_create(void)
{
	struct simulated_api *a = xmalloc_zero(1, sizeof(*a));

	a->objects = strmap_create(stored_free);
	return a;
}

void simulated_api_destroy(struct simulated_api *a)
{
	if (a != NULL) {
		strmap_destroy(a->objects);
		free(a);
	}
}

static int64_t next_version(struct simulated_api *a, struct jdoc *object)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, ++a->version);
	jdoc_set_str(jdoc_ensure_object(object, "metadata"), "resourceVersion", text);
	return a->version;
}

static struct jdoc *find_condition(struct jdoc *conditions, const char *type)
{
	size_t n = jdoc_count(conditions);

	for (size_t i = 0; i < n; i++) {
		struct jdoc *c = jdoc_at_mut(conditions, i);

		if (type != NULL && jdoc_is_str(jdoc_get(c, "type"), type)) {
			return c;
		}
	}
	return NULL;
}

/* Conditions are a map by type, in the schema of the CRD: each is replaced as a whole, and
 * others stay. */
static void merge_conditions(struct jdoc *status, const struct jdoc *conditions)
{
	struct jdoc *all = jdoc_ensure_array(status, "conditions");

	for (const struct jdoc *c = jdoc_first(conditions); c != NULL; c = jdoc_next(c)) {
		struct jdoc *old = find_condition(all, jdoc_str(jdoc_get(c, "type")));

		if (old == NULL) {
			jdoc_append_take(all, jdoc_copy(c));
		} else {
			jdoc_replace_take(all, old, jdoc_copy(c));
		}
	}
}

static void merge_status(struct jdoc *object, const struct jdoc *change)
{
	struct jdoc *status = jdoc_ensure_object(object, "status");

	for (const struct jdoc *m = jdoc_first(change); m != NULL; m = jdoc_next(m)) {
		if (str_eq_c(str_of(jdoc_key(m)), "conditions")) {
			merge_conditions(status, m);
		} else {
			jdoc_set_take(status, jdoc_key(m), jdoc_copy(m));
		}
	}
}

int64_t simulated_api_put(struct simulated_api *a, struct str key, const struct jdoc *object)
{
	struct stored *s = strmap_get(a->objects, key);
	struct jdoc *changed = jdoc_copy(object);

	if (s == NULL) {
		s = xmalloc_zero(1, sizeof(*s));
		strmap_set(a->objects, key, s);
	} else {
		/* The manifest replaces the object, but of the status only what it names: the rest
		 * was written by the scheduler meanwhile. */
		const struct jdoc *status = jdoc_get(s->object, "status");

		(void)jdoc_remove(changed, "status");
		if (status != NULL) {
			jdoc_set_take(changed, "status", jdoc_copy(status));
		}
		merge_status(changed, jdoc_get(object, "status"));
		jdoc_destroy(s->object);
	}
	s->object = changed;
	return next_version(a, changed);
}

static bool is_foreign(const char *member)
{
	for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++) {
		if (str_eq_c(str_of(foreign[i]), member)) {
			return true;
		}
	}
	return false;
}

/* Takes off all that belongs to the scheduler, except conditions that it never applied: a
 * server-side apply removes what its manager applied before and does not name any more. */
static void drop_owned(struct jdoc *status, const struct jdoc *applied)
{
	const struct jdoc *conditions = jdoc_path(applied, "status.conditions");

	for (const struct jdoc *m = jdoc_first(status), *next; m != NULL; m = next) {
		/* Before the removal, which frees m. */
		next = jdoc_next(m);
		if (!is_foreign(jdoc_key(m)) && !str_eq_c(str_of(jdoc_key(m)), "conditions")) {
			(void)jdoc_remove(status, jdoc_key(m));
		}
	}
	for (const struct jdoc *c = jdoc_first(conditions); c != NULL; c = jdoc_next(c)) {
		struct jdoc *all = jdoc_get_mut(status, "conditions");
		struct jdoc *old = find_condition(all, jdoc_str(jdoc_get(c, "type")));

		if (old != NULL) {
			jdoc_destroy(jdoc_detach(all, old));
		}
	}
}

int64_t simulated_api_write(struct simulated_api *a, struct str key, const struct jdoc *applied)
{
	struct stored *s = strmap_get(a->objects, key);
	struct jdoc *status;

	if (s == NULL) {
		return 0;
	}
	status = jdoc_ensure_object(s->object, "status");
	drop_owned(status, s->applied);
	merge_status(s->object, jdoc_get(applied, "status"));
	jdoc_destroy(s->applied);
	s->applied = jdoc_copy(applied);
	return next_version(a, s->object);
}

void simulated_api_remove(struct simulated_api *a, struct str key)
{
	(void)strmap_remove(a->objects, key);
}

const struct jdoc *simulated_api_get(const struct simulated_api *a, struct str key)
{
	const struct stored *s = strmap_get(a->objects, key);

	return s == NULL ? NULL : s->object;
}
