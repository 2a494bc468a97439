/* Jobs that belong to another Job or to a pod: which object queues for them, and which Jobs to plan
 * again when one of their owners has changed. */
#include <stdlib.h>

#include "api/core/batch.h"
#include "api/core/pod.h"
#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "scheduler/workloads/conf/kueue_conf_owners.h"
#include "scheduler/workloads/controller/owner_controller_priv.h"
#include "scheduler/workloads/owners/job_plan.h"

struct below { /* keys of the Jobs that name an object as their controller */
	struct VEC(char *) keys;
};

void owner_controller_nest_free(void *value)
{
	struct below *b = value;

	for (size_t i = 0; i < b->keys.n; i++) {
		free(b->keys.v[i]);
	}
	vec_finish(&b->keys);
	free(b);
}

static bool is_kind(const struct api_owner *ref, const char *group, const char *kind)
{
	struct str rest = str_of(ref->api_version), its = str_next(&rest, '/');

	/* "v1" is of the core group. */
	return str_streq(ref->kind, kind) && str_eq_c(rest.p == NULL ? STR_LIT("") : its, group);
}

/* OWNERS_JOB or OWNERS_POD; NULL: an object of this kind is not known here. */
static const char *known_kind(const struct api_owner *ref)
{
	if (is_kind(ref, "batch", "Job")) {
		return OWNERS_JOB;
	}
	return is_kind(ref, "", "Pod") ? OWNERS_POD : NULL;
}

/* Sets `above` to the key of the object that the Job names as its controller; of a pod it has the
 * pod's own name, not its group's. */
static bool find_above(const struct api_meta *m, struct strbuf *above)
{
	const struct api_owner *ref = meta_controller(m);
	const char *kind = ref == NULL ? NULL : known_kind(ref);

	if (kind == NULL) {
		return false;
	}
	owner_controller_plan_owner(above, kind, m->namespace_, ref->name);
	return true;
}

/* --- which Jobs to plan again ------------------------------------------------------------------
 */

void owner_controller_nest_link(struct owner_controller *o, const struct owner *e, struct str key)
{
	CLEANUP(strbuf_finish) struct strbuf above = STRBUF_INIT;
	struct below *b;

	if (e->job == NULL || !find_above(&e->job->meta, &above)) {
		return;
	}
	b = strmap_get(o->below, strbuf_str(&above));
	if (b == NULL) {
		b = xmalloc_zero(1, sizeof(*b));
		strmap_set(o->below, strbuf_str(&above), b);
	}
	vec_push(&b->keys, xmalloc_dup_n(key.p, key.len));
}

void owner_controller_nest_unlink(struct owner_controller *o, const struct owner *e, struct str key)
{
	CLEANUP(strbuf_finish) struct strbuf above = STRBUF_INIT;
	struct below *b;

	if (e->job == NULL || !find_above(&e->job->meta, &above)) {
		return;
	}
	b = strmap_get(o->below, strbuf_str(&above));
	for (size_t i = 0; b != NULL && i < b->keys.n; i++) {
		if (str_eq_c(key, b->keys.v[i])) {
			free(b->keys.v[i]);
			vec_swap_remove(&b->keys, i);
			break;
		}
	}
	if (b != NULL && b->keys.n == 0) {
		(void)strmap_remove(o->below, strbuf_str(&above));
	}
}

static void each_below(struct owner_controller *o, struct str above, unsigned depth,
		       owners_nest_fn fn)
{
	const struct below *b = strmap_get(o->below, above);

	for (size_t i = 0; b != NULL && i < b->keys.n; i++) {
		fn(o, str_of(b->keys.v[i]), depth + 1);
	}
}

void owner_controller_nest_each(struct owner_controller *o, const struct owner *e, struct str key,
				unsigned depth, owners_nest_fn fn)
{
	CLEANUP(strbuf_finish) struct strbuf pod = STRBUF_INIT;

	if (strmap_count(o->below) == 0 || depth > JOB_PLAN_MAX_DEPTH) {
		return;
	}
	if (e->is_job) {
		each_below(o, key, depth, fn);
	}
	for (size_t i = 0; i < e->pods.n; i++) {
		const struct api_meta *m = &e->pods.v[i]->pod->meta;

		each_below(o, owner_controller_plan_owner(&pod, OWNERS_POD, m->namespace_, m->name),
			   depth, fn);
	}
}

/* --- which object queues for a Job -------------------------------------------------------------
 */

struct above {
	const struct api_meta *meta; /* NULL: not there */
	const struct owner *owner;
};

static struct above get_above(const struct owner_controller *o, const struct api_meta *m)
{
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;
	const struct api_owner *ref = meta_controller(m);
	const struct pod_entry *pe;
	struct above a = { 0 };

	if (is_kind(ref, "", "Pod")) {
		pe = strmap_get(o->pods,
				owner_controller_plan_name(&key, m->namespace_, ref->name));
		a.meta = pe == NULL ? NULL : &pe->pod->meta;
		a.owner = pe == NULL ? NULL : strmap_get(o->owners, str_of(pe->owner));
	} else {
		a.owner = strmap_get(
			o->owners,
			owner_controller_plan_owner(&key, OWNERS_JOB, m->namespace_, ref->name));
		a.meta = a.owner == NULL || a.owner->job == NULL ? NULL : &a.owner->job->meta;
	}
	return a;
}

static bool is_foreign(const struct owner_controller *o, const struct api_owner *ref)
{
	for (size_t i = 0; i < o->opt.which->nothers; i++) {
		const struct kueue_conf_owners_kind *k = &o->opt.which->others[i];

		if (is_kind(ref, k->group, k->kind)) {
			return true;
		}
	}
	return false;
}

/* By the youngest Workload of it that has not finished. */
static bool is_admitted(const struct owner *e)
{
	const struct api_workload *last = NULL;

	for (size_t i = 0; i < e->workloads.n; i++) {
		const struct api_workload *w = e->workloads.v[i]->w;

		if (!kueue_workload_is_true(w, KUEUE_FINISHED) &&
		    (!e->is_job || owner_plan_is_owned_by(w, &e->job->meta)) &&
		    (last == NULL || w->meta.created > last->meta.created)) {
			last = w;
		}
	}
	return last != NULL && owner_plan_is_admitted(last);
}

/* The place of a Job that names an owner which is not there (yet), or is the Job itself. Any user
 * may write such an owner reference, so a Job that queues does not run with it. */
static enum job_plan_place place_without(const struct owner_controller *o, const struct owner *e)
{
	return owner_plan_is_managed(&o->env, &e->job->meta) ? JOB_PLAN_HELD : JOB_PLAN_ELSEWHERE;
}

/* Kueue: walks from controller to controller; the topmost of them that queues, queues for all below
 * it. Jobs of an object of an external framework are left alone. */
enum job_plan_place owner_controller_nest_place(const struct owner_controller *o,
						const struct owner *e)
{
	const struct api_meta *m = &e->job->meta;
	const struct owner *top = NULL;

	for (unsigned depth = 1;; depth++) {
		const struct api_owner *ref = meta_controller(m);
		struct above a;

		/* Of a Job that queues the webhook has checked that the owner is not forged. */
		if (ref != NULL && owner_plan_is_managed(&o->env, m) && is_foreign(o, ref)) {
			return JOB_PLAN_ELSEWHERE;
		}
		if (ref == NULL || known_kind(ref) == NULL) {
			break;
		}
		a = get_above(o, m);
		if (a.meta == NULL && is_kind(ref, "", "Pod")) {
			break; /* one that does not queue by itself */
		}
		if (a.meta == NULL || str_streq(a.meta->uid, e->job->meta.uid)) {
			return place_without(o, e);
		}
		if (!str_streq(a.meta->uid, ref->uid)) {
			break;
		}
		if (depth > JOB_PLAN_MAX_DEPTH) {
			return JOB_PLAN_TOO_DEEP;
		}
		top = owner_plan_is_managed(&o->env, a.meta) ? a.owner : top;
		m = a.meta;
	}
	if (top == NULL) {
		return JOB_PLAN_OWN;
	}
	return is_admitted(top) ? JOB_PLAN_NESTED : JOB_PLAN_HELD;
}
