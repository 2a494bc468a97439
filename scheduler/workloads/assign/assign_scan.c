#include "scheduler/workloads/assign/assign_scan.h"

#include <string.h>

#include "base/arena.h"
#include "scheduler/workloads/assign/assign_flavor.h"
#include "scheduler/workloads/assign/assign_match.h"
#include "scheduler/workloads/model/quota_store.h"

/* The outcome of one flavor. */
struct outcome {
	struct assign_fit fit;    /* the worst of its resources */
	enum nofit_reason reason; /* why it cannot be used; NONE otherwise */
};

static const struct quota_model *model_of(const struct assign_scan *s)
{
	return forest_model(s->r->forest);
}

static const struct podset *podset_of(const struct assign_scan *s, size_t i)
{
	return &s->r->w->object.podsets[s->podsets[i]];
}

/* The first flavor to try: the one after the last scan stopped (Kueue: LastTriedFlavorIdx). */
static size_t first_index(const struct assign_scan *s)
{
	const struct workload *w = s->r->w;

	if (s->r->from_start || !model_of(s)->options.flavor_fungibility) {
		return 0;
	}
	for (size_t i = 0; i < w->pending.tried.n; i++) {
		const struct last_assignment *t = &w->pending.tried.v[i];

		/* The first pod set and its first resource stand for all that share the flavor:
		 * their scans stopped at the same one. The ClusterQueue may have fewer flavors by
		 * now: then the scan begins again. */
		if (t->podset == s->podsets[0] && t->resource == s->needs[0].id &&
		    t->flavor + 1 < (int64_t)s->group->nflavors) {
			return (size_t)((int64_t)t->flavor + 1);
		}
	}
	return 0;
}

/* A recomputation keeps to the flavors of the first assignment. Without a flavor for this resource
 * there, any will do. */
static bool is_pinned_elsewhere(const struct assign_scan *s, uint32_t flavor)
{
	const struct assignment *pinned = s->r->pinned;

	if (pinned == NULL || s->podsets[0] >= pinned->npodsets) {
		return false;
	}
	for (size_t i = 0; i < pinned->podsets[s->podsets[0]].nflavors; i++) {
		const struct assigned_flavor *f = &pinned->podsets[s->podsets[0]].flavors[i];

		if (f->resource == s->needs[0].id) {
			return f->flavor != flavor;
		}
	}
	return false;
}

/* A variant of a workload is made for some flavors only (Kueue: concurrent admission). */
static bool is_allowed(const struct workload *w, uint32_t flavor)
{
	for (size_t i = 0; i < w->object.nallowed; i++) {
		if (w->object.allowed[i] == flavor) {
			return true;
		}
	}
	return w->object.allowed == NULL;
}

static const char *effect_name(uint8_t effect)
{
	return effect == TAINT_NO_EXECUTE ? "NoExecute" : "NoSchedule";
}

/* Whether the pods may run on the nodes of the flavor; if not, adds the reason. The next flavor is
 * tried in any case: an object that is missing, or a topology, is a fault of this flavor alone. */
static bool matches(const struct assign_scan *s, const struct flavor *f)
{
	if (!f->exists) {
		assign_reason_add(s->why, "flavor %s does not exist", f->name);
		return false;
	}
	if (model_of(s)->options.topology && f->topology != NULL) {
		assign_reason_add(s->why, "flavor %s has topology %s, which is not supported",
				  f->name, f->topology);
		return false;
	}
	for (size_t i = 0; i < s->npodsets; i++) {
		const struct podset *p = podset_of(s, i);
		const struct taint *t = assign_match_taint(f, p);

		if (p->wants_topology) {
			assign_reason_add(s->why, "flavor %s has no topology, pod set %s wants one",
					  f->name, p->name);
			return false;
		}
		if (t != NULL) {
			assign_reason_add(s->why,
					  "flavor %s has taint %s=%s:%s, which pod set %s does not "
					  "tolerate",
					  f->name, t->key, t->value == NULL ? "" : t->value,
					  effect_name(t->effect), p->name);
			return false;
		}
		if (!assign_match_labels(f, p)) {
			assign_reason_add(s->why,
					  "flavor %s has other labels than the node selector or "
					  "affinity of pod set %s",
					  f->name, p->name);
			return false;
		}
	}
	return true;
}

/* All resources are tried even when one cannot fit, so that the message names all that do not. */
static struct outcome try_flavor(const struct assign_scan *s, const struct flavor *flavor,
				 struct assigned_flavor *out)
{
	const struct quota_model *q = model_of(s);
	enum quota_preference preference = q->nodes.v[s->r->node]->queue->preference;
	struct outcome o = { .fit = { FLAVOR_FIT, 0 }, .reason = QUOTA_REASON_NONE };

	if (!matches(s, flavor)) {
		o.fit.mode = FLAVOR_NO_FIT;
		o.reason = QUOTA_NO_MATCHING_FLAVOR;
		return o;
	}
	for (size_t i = 0; i < s->nneeds; i++) {
		uint32_t resource = s->needs[i].id;
		uint32_t pair = quota_pair_find(q, flavor->id, resource);
		struct assign_need need = {
			.flavor = flavor->id,
			.resource = resource,
			.earlier = pair == MODEL_NONE ? 0 : quota_amounts_get(s->earlier, pair),
			.amount = s->needs[i].value,
		};
		enum nofit_reason reason;
		struct assign_fit fit = assign_flavor_fit(s->r, &need, s->why, &reason);

		o.reason = assign_reason_both(o.reason, reason);
		if (assign_flavor_is_preferred(o.fit, fit, preference)) {
			o.fit = fit;
		}
		out[i] = (struct assigned_flavor){
			.resource = resource,
			.flavor = flavor->id,
			.mode = fit.mode,
			.tried = -1,
			.level = fit.level,
		};
	}
	return o;
}

struct best { /* so far */
	struct assigned_flavor *flavors;
	struct assign_fit fit;
	enum nofit_reason reason;
	size_t last; /* index of the flavor tried last */
};

/* Keeps the flavor when it is better than the best so far; true: the scan stops here. */
static bool keep(const struct assign_scan *s, struct best *best, const struct outcome *o,
		 const struct assigned_flavor *flavors)
{
	const struct quota_model *q = model_of(s);
	const struct cluster_queue *queue = q->nodes.v[s->r->node]->queue;
	bool stop, better;

	if (o->fit.mode == FLAVOR_NO_FIT) {
		best->reason = assign_reason_either(best->reason, o->reason);
		return false;
	}
	if (q->options.flavor_fungibility) {
		stop = !assign_flavor_try_next(queue, o->fit);
		better = assign_flavor_is_preferred(o->fit, best->fit, queue->preference);
	} else {
		/* Kueue without FlavorFungibility: the first fit ends the scan, borrowing or
		 * not. */
		stop = o->fit.mode == FLAVOR_FIT;
		better = o->fit.mode > best->fit.mode;
	}
	if (stop || better) {
		best->fit = o->fit;
		memcpy(best->flavors, flavors, s->nneeds * sizeof(flavors[0]));
	}
	return stop;
}

/* 1. The scan goes on behind the flavor where the last one stopped. Flavors that are not allowed
 *    give no reason, because they were not tried.
 * 2. Each flavor is tried with all resources; the best so far is kept, until one is good enough to
 *    stop (FlavorFungibility).
 * 3. `tried` says where the next scan goes on; after the last flavor it is -1, so that the next one
 *    begins at the first. */
bool assign_scan_flavors(const struct assign_scan *s, struct assigned_flavor *ret_flavors,
			 enum nofit_reason *ret_reason)
{
	const struct quota_model *q = model_of(s);
	size_t size = s->nneeds * sizeof(ret_flavors[0]);
	struct assigned_flavor *current = arena_alloc(s->why->arena, size);
	struct best best = {
		.flavors = arena_alloc(s->why->arena, size),
		.fit = { FLAVOR_NO_FIT, 0 },
	};

	for (size_t i = first_index(s); i < s->group->nflavors; i++) {
		const struct flavor *flavor = q->flavors.v[s->group->flavors[i]];
		struct outcome o;

		best.last = i;
		if (is_pinned_elsewhere(s, flavor->id) || !is_allowed(s->r->w, flavor->id)) {
			continue;
		}
		o = try_flavor(s, flavor, current);
		if (keep(s, &best, &o, current)) {
			break;
		}
	}
	if (best.fit.mode == FLAVOR_NO_FIT) {
		*ret_reason =
			best.reason == QUOTA_REASON_NONE ? QUOTA_NO_MATCHING_FLAVOR : best.reason;
		return false;
	}
	for (size_t i = 0; i < s->nneeds; i++) {
		ret_flavors[i] = best.flavors[i];
		if (q->options.flavor_fungibility && best.last + 1 < s->group->nflavors) {
			ret_flavors[i].tried = (int32_t)best.last;
		}
	}
	return true;
}
