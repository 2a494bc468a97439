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
	v->other_gate = xmalloc_dup_or_null(
		v->of == NULL ? observe_other_gate(w, KUEUE_GATE_MULTIKUEUE)
			      : observe_other_gate_of_variant(w, KUEUE_GATE_MULTIKUEUE));
	v->tried_epoch = VARIANTS_NO_EPOCH;
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

/* One that gives its place to a variant of the replica with this UID. */
static size_t find_foreign(const struct variants *list, const char *uid)
{
	for (size_t i = 0; i < list->n; i++) {
		if (!str_streq(list->v[i]->of, uid)) {
			return i;
		}
	}
	return SIZE_MAX;
}

bool variants_adopt(struct variants *list, struct variant *v, const char *uid, uint64_t *signals)
{
	size_t i = place_of(list, str_of(v->key));
	struct variant *old;

	if (i == SIZE_MAX && list->n >= VARIANTS_MAX) {
		i = uid != NULL && str_streq(v->of, uid) ? find_foreign(list, uid) : SIZE_MAX;
		if (i == SIZE_MAX) {
			variants_free(v);
			return false;
		}
	}
	old = i == SIZE_MAX ? NULL : list->v[i];
	if (old != NULL && str_streq(old->uid, v->uid)) {
		v->tried = old->tried;
		v->tried_epoch = old->tried_epoch;
		v->refused = old->refused;
		v->asked = v->seen.signals ? old->asked : 0;
	}
	if (v->seen.signals && v->asked == 0) {
		v->asked = ++*signals;
	}
	if (old == NULL) {
		vec_push(list, v);
		return true;
	}
	variants_free(old);
	list->v[i] = v;
	return true;
}

void variants_show(struct variants *list, struct str key, uint64_t source)
{
	size_t i = place_of(list, key);

	if (i != SIZE_MAX) {
		list->v[i]->source = source;
	}
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

static bool is_of(const struct variant *v, const struct variant *self)
{
	return self->parent && str_streq(v->of, self->uid);
}

static bool counts_for(const struct variant *v, const struct variant *self)
{
	return v->active && is_of(v, self);
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

/* Without the attempt that goes on: its gate may have to be opened once more. */
static unsigned tried_before(const struct variant *v, int64_t epoch)
{
	return epoch != VARIANTS_NO_EPOCH && v->tried_epoch == epoch ? v->tried - 1 : v->tried;
}

static bool goes_before(const struct variant *a, const struct variant *b, bool closed,
			int64_t epoch)
{
	int x = rank(a, closed), y = rank(b, closed);
	unsigned tried_a = tried_before(a, epoch), tried_b = tried_before(b, epoch);

	if (x != y) {
		return x > y;
	}
	if (a->refused != b->refused) {
		return a->refused < b->refused;
	}
	if (tried_a != tried_b) {
		return tried_a < tried_b;
	}
	return a->asked != b->asked ? a->asked < b->asked : strcmp(a->key, b->key) < 0;
}

struct variant *variants_choose(const struct variants *list, struct variant *self, bool closed,
				int64_t epoch)
{
	struct variant *best = NULL;

	for (size_t i = 0; i < list->n; i++) {
		struct variant *v = list->v[i];

		if (counts_for(v, self) && (best == NULL || goes_before(v, best, closed, epoch))) {
			best = v;
		}
	}
	return best == NULL ? self : best;
}

/* A gate of one that is admitted itself does nothing: an eviction closes it. */
struct variant *variants_stray(const struct variants *list, struct variant *self,
			       const struct variant *counts)
{
	bool runs = self->seen.admitted || counts->seen.admitted;

	for (size_t i = 0; i < list->n; i++) {
		struct variant *v = list->v[i];

		if (is_of(v, self) && v->seen.is_open && !v->seen.admitted &&
		    (v != counts || runs)) {
			return v;
		}
	}
	return self != counts && self->seen.is_open && !self->seen.admitted ? self : NULL;
}

/* Kueue opens its gate of a variant after the signal of that variant, so that each one is held back
 * for a moment. The others are, for minutes, while one has its turn. */
static bool awaits_turn(const struct variant *v)
{
	return v->seen.has_gate && v->seen.other_gate && v->other_gate == NULL &&
	       class_of(v) == REPLICA_HELD_BACK;
}

struct observation variants_observe(const struct variants *list, struct variant *self,
				    const struct variant *counts, bool *ret_unanswered)
{
	struct observation o = counts->seen;

	*ret_unanswered = counts != self && awaits_turn(counts);
	o.stray = variants_stray(list, self, counts) != NULL;
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
