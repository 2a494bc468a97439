#include "scheduler/multikueue/variants.h"

#include <stdlib.h>
#include <string.h>

#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "base/clock.h"
#include "base/xmalloc.h"

const char *variants_parent(const struct api_workload *w)
{
	const struct api_owner *owner = meta_controller(&w->meta);

	return owner != NULL && str_streq(owner->kind, "Workload") &&
			       str_streq(owner->api_version, KUEUE_API_VERSION)
		       ? owner->name
		       : NULL;
}

struct variant *variants_read(struct str key, const struct api_workload *w, uint64_t source)
{
	struct variant *v = xmalloc_zero(1, sizeof(*v));
	const struct api_meta *meta = &w->meta;

	v->key = xmalloc_dup_n(key.p, key.len);
	v->uid = xmalloc_dup(meta->uid == NULL ? "" : meta->uid);
	v->of = variants_parent(w) == NULL ? NULL : xmalloc_dup_or_null(meta_controller(meta)->uid);
	v->version = xmalloc_dup(meta->resource_version == NULL ? "" : meta->resource_version);
	v->version_n = meta_version(meta);
	v->other_gate = xmalloc_dup_or_null(observe_other_gate(w, KUEUE_GATE_MULTIKUEUE));
	v->source = source;
	v->parent = str_streq(field_map_get(&meta->labels, KUEUE_VARIANTS_PARENT), "true");
	v->active = kueue_workload_is_active(w);
	observe_read(w, KUEUE_GATE_MULTIKUEUE, &v->seen);
	return v;
}

void variants_free(struct variant *v)
{
	if (v != NULL) {
		free(v->key);
		free(v->uid);
		free(v->of);
		free(v->version);
		free(v->other_gate);
		free(v);
	}
}

static size_t place_of(const struct variants *list, struct str key)
{
	for (size_t i = 0; i < list->n; i++) {
		if (str_eq_c(key, list->v[i]->key)) {
			return i;
		}
	}
	return SIZE_MAX;
}

void variants_adopt(struct variants *list, struct variant *v, uint64_t *signals)
{
	size_t i = place_of(list, str_of(v->key));
	struct variant *old = i == SIZE_MAX ? NULL : list->v[i];

	if (old != NULL && str_streq(old->uid, v->uid)) {
		v->tried = old->tried;
		v->asked = v->seen.signals ? old->asked : 0;
	}
	if (v->seen.signals && v->asked == 0) {
		v->asked = ++*signals;
	}
	if (old == NULL) {
		vec_push(list, v);
		return;
	}
	variants_free(old);
	list->v[i] = v;
}

void variants_remove(struct variants *list, struct str key)
{
	size_t i = place_of(list, key);

	if (i != SIZE_MAX) {
		variants_free(list->v[i]);
		vec_swap_remove(list, i);
	}
}

void variants_keep(struct variants *list, uint64_t source)
{
	size_t n = 0;

	for (size_t i = 0; i < list->n; i++) {
		if (list->v[i]->source == source) {
			list->v[n++] = list->v[i];
		} else {
			variants_free(list->v[i]);
		}
	}
	list->n = n;
}

void variants_finish(struct variants *list)
{
	variants_keep(list, UINT64_MAX);
	vec_finish(list);
}

/* --- the one that counts -----------------------------------------------------------------------*/

static bool counts_for(const struct variant *v, const struct variant *self)
{
	return v->active && str_streq(v->of, self->uid);
}

static enum replica_class class_of(const struct variant *v)
{
	const struct observation *o = &v->seen;
	const struct replica r = { .uid = v->uid,
				   .reachable = true,
				   .has_gate = o->has_gate,
				   .other_gate = o->other_gate,
				   .signals = o->signals,
				   .reserved = o->reserved,
				   .admitted = o->admitted,
				   .answer = o->answer };

	return replica_class(&r);
}

/* The higher, the further it has come. One with an open gate comes before those that ask for
 * theirs, so that a second one is not opened beside it. */
static int rank(const struct variant *v, bool closed)
{
	static const int ranks[REPLICA_CLASS_COUNT_] = {
		[REPLICA_CANNOT] = 0,    [REPLICA_HELD_BACK] = 1,   [REPLICA_UNEVALUATED] = 2,
		[REPLICA_CANDIDATE] = 3, [REPLICA_PREEMPTING] = 5,  [REPLICA_RESERVED] = 6,
		[REPLICA_ADMITTED] = 7,  [REPLICA_UNREACHABLE] = 0,
	};
	int by_class = ranks[class_of(v)];

	if (closed && v->seen.has_gate && !v->seen.is_open) {
		return 8;
	}
	return v->seen.is_open && by_class < 4 ? 4 : by_class;
}

static bool goes_before(const struct variant *a, const struct variant *b, bool closed)
{
	int x = rank(a, closed), y = rank(b, closed);

	if (x != y) {
		return x > y;
	}
	if (a->tried != b->tried) {
		return a->tried < b->tried;
	}
	return a->asked != b->asked ? a->asked < b->asked : strcmp(a->key, b->key) < 0;
}

struct variant *variants_choose(const struct variants *list, struct variant *self, bool closed)
{
	struct variant *best = NULL;

	for (size_t i = 0; self->parent && i < list->n; i++) {
		struct variant *v = list->v[i];

		if (counts_for(v, self) && (best == NULL || goes_before(v, best, closed))) {
			best = v;
		}
	}
	return best == NULL ? self : best;
}

struct observation variants_observe(const struct variants *list, const struct variant *self,
				    const struct variant *counts, bool *ret_unanswered)
{
	struct observation o = counts->seen;

	*ret_unanswered = false;
	if (counts == self) {
		return o;
	}
	o.reserved |= self->seen.reserved;
	o.admitted |= self->seen.admitted;
	o.evicted_at = self->seen.evicted_at;
	for (size_t i = 0; i < list->n; i++) {
		const struct variant *v = list->v[i];

		if (counts_for(v, self)) {
			o.evicted_at = clock_later(o.evicted_at, v->seen.evicted_at);
			*ret_unanswered |= class_of(v) == REPLICA_UNEVALUATED;
		}
	}
	return o;
}
