
#include "api/kueue_cost.h"
#include "api/kueue_keys.h"
#include "api/kueue_workload.h"
#include "base/arena.h"
#include "base/err.h"
#include "scheduler/base/match_from_api.h"
#include "scheduler/workloads/ingest/from_kueue_priv.h"
#include "scheduler/workloads/status/conditions.h"
#include "scheduler/workloads/status/conditions_flags.h"

#define CLAIMS "resource claims of pods are not supported yet"
#define SLICES "elastic jobs (slices of a workload) are not supported yet"
#define VARIANTS "variants for concurrent admission are not supported yet"
#define SMALL 48  /* bytes for a UID */
#define USUAL 256 /* a UID and one pod set without selectors */
#define SLICE_REPLACEMENT_FOR "kueue.x-k8s.io/workload-slice-replacement-for"

/* --- spec ---------------------------------------------------------------------------------------
 */

/* A group alone changes nothing about topology: its pod sets share flavors. */
static bool wants_topology(const struct api_topology_request *t)
{
	return t != NULL && (t->required != NULL || t->preferred != NULL ||
			     t->unconstrained == true || t->slice_required != NULL ||
			     t->slice_size != FIELD_NO_I32 || t->slice_constraints.n > 0);
}

static int read_placement(struct quota *q, const struct api_pod_spec *spec, struct arena *arena,
			  struct podset *p, struct err *err)
{
	const struct api_affinity *a = spec->affinity;
	struct match_from_api_tolerations tolerations;

	if (match_from_api_selector(q->names, &spec->node_selector, arena, &p->selector,
				    &p->nselector, err) < 0) {
		return err_wrap(err, "nodeSelector");
	}
	if (match_from_api_tolerations(q->names, spec->tolerations.v, spec->tolerations.n, arena,
				       &tolerations, err) < 0) {
		return -ERR_INVALID;
	}
	p->tolerations = tolerations.v;
	p->ntolerations = tolerations.n;
	p->has_required = a != NULL && a->node != NULL && a->node->required != NULL;
	if (p->has_required && match_from_api_labels_only(q->names, a->node->required, arena,
							  &p->required, &p->nrequired, err) < 0) {
		return err_path(err, "affinity.nodeAffinity"
				     ".requiredDuringSchedulingIgnoredDuringExecution.");
	}
	return 0;
}

static int read_counts(const struct quota *q, const struct api_workload *aw,
		       const struct api_pod_set *a, struct podset *p, struct err *err)
{
	int32_t reclaimable =
		q->options.reclaimable_pods ? kueue_workload_reclaimable(aw, p->name) : 0;

	p->spec_count = a->count == FIELD_NO_I32 ? 1 : a->count;
	p->min_count = a->min_count == FIELD_NO_I32 ? 0 : a->min_count;
	if (p->spec_count < 0) {
		return err_set(err, ERR_INVALID, "count: negative");
	}
	if (p->min_count < 0) {
		return err_set(err, ERR_INVALID, "minCount: negative");
	}
	p->count = reclaimable >= p->spec_count ? 0
		   : reclaimable > 0            ? p->spec_count - reclaimable
						: p->spec_count;
	return 0;
}

static int read_podset(struct quota *q, const struct from_kueue_rules *rules,
		       const struct api_workload *aw, size_t i, struct workload *w, struct err *err)
{
	const struct api_pod_set *a = &aw->spec.pod_sets.v[i];
	struct podset *p = &w->podsets[i];
	const struct api_pod_spec *spec = &a->template_.spec;
	const struct api_topology_request *t = a->topology_request;

	p->name = quota_text(q, str_of(a->name == NULL ? "main" : a->name));
	if (read_counts(q, aw, a, p, err) < 0) {
		return -ERR_INVALID;
	}
	if (read_placement(q, spec, w->arena, p, err) < 0) {
		return err_path(err, "template.spec.");
	}
	p->group = t == NULL || t->group_name == NULL ? NULL : quota_text(q, str_of(t->group_name));
	p->wants_topology = q->options.topology && wants_topology(t);
	from_kueue_request(q, rules, str_of(w->namespace_), spec, w->arena, p);
	if (spec->claims.n > 0) {
		w->unsupported = true;
		w->unsupported_what = CLAIMS;
	}
	p->shape = podset_shape(p);
	return 0;
}

/* Flavors that the workload is made for, a comma between them. One that a Workload controls has
 * siblings, and which of them goes first is not ours to say. */
static void read_variant(struct quota *q, const struct api_meta *meta, struct workload *w)
{
	struct str rest = str_of(field_map_get(&meta->annotations, KUEUE_ALLOWED_FLAVORS));
	const struct api_owner *owner = meta_controller(meta);
	uint32_t *allowed;

	if (owner != NULL && str_streq(owner->kind, "Workload")) {
		w->unsupported = true;
		w->unsupported_what = VARIANTS;
	}
	if (rest.p == NULL) {
		return;
	}
	allowed = arena_zero(w->arena, rest.len + 1, sizeof(*allowed));
	for (struct str s = str_next(&rest, ','); s.p != NULL; s = str_next(&rest, ',')) {
		allowed[w->nallowed++] = quota_flavor_get(q, str_trim(s))->id;
	}
	w->allowed = allowed;
}

static void read_meta(struct quota *q, const struct api_meta *meta, struct workload *w)
{
	const char *gated = field_map_get(&meta->annotations, KUEUE_ADMISSION_GATED_BY);
	const char *boost = field_map_get(&meta->annotations, KUEUE_PRIORITY_BOOST);
	int64_t number;

	w->namespace_ = quota_text(q, str_of(meta->namespace_));
	w->uid = meta->uid == NULL ? "" : arena_dup(w->arena, meta->uid);
	w->job_uid = arena_dup(w->arena, field_map_get(&meta->labels, KUEUE_JOB_UID));
	w->generation = meta->generation;
	w->created = meta->created;
	w->deleting = meta->deleted != FIELD_NO_TIME;
	w->admission_gated = q->options.admission_gates && gated != NULL && gated[0] != '\0';
	/* One that cannot be read is none (Kueue: effective priority). */
	if (boost != NULL && str_to_i64(str_of(boost), &number) && number >= INT32_MIN &&
	    number <= INT32_MAX) {
		w->boost = number;
	}
	if (field_map_get(&meta->annotations, SLICE_REPLACEMENT_FOR) != NULL) {
		w->unsupported = true;
		w->unsupported_what = SLICES;
	}
	if (q->options.concurrent_admission) {
		read_variant(q, meta, w);
	}
}

static void read_gates(const struct api_workload *aw, struct workload *w)
{
	size_t n = aw->spec.preemption_gates.n;

	if (n > 0) {
		w->gates = arena_zero(w->arena, n, sizeof(*w->gates));
	}
	for (size_t i = 0; i < n; i++) {
		w->gates[w->ngates++] = arena_dup(w->arena, aw->spec.preemption_gates.v[i].name);
	}
}

/* The status, with what of it is nothing that decisions are about. */
static void read_status(const struct api_workload *aw, const struct conditions *status,
			struct workload *w)
{
	read_gates(aw, w);
	conditions_flags(status, w);
	w->preemptions = kueue_cost_preemptions(&aw->status);
	if (aw->status.preemption_cost != NULL) {
		w->cost = aw->status.preemption_cost->nano;
		w->has_cost = true;
	}
}

static int read_spec(struct quota *q, const struct from_kueue_rules *rules,
		     const struct api_workload *aw, struct workload *w, struct err *err)
{
	if (from_kueue_check_names(q, aw->meta.name, err) < 0) {
		return -ERR_INVALID;
	}
	read_meta(q, &aw->meta, w);
	w->local_queue =
		aw->spec.queue_name == NULL ? NULL : quota_text(q, str_of(aw->spec.queue_name));
	w->priority_class = aw->spec.priority_class_ref == NULL
				    ? NULL
				    : quota_text(q, str_of(aw->spec.priority_class_ref->name));
	w->priority = aw->spec.priority == FIELD_NO_I32 ? 0 : aw->spec.priority;
	w->active = kueue_workload_is_active(aw);
	if (w->finished) {
		return 0; /* nobody asks what it asked for */
	}
	w->npodsets = aw->spec.pod_sets.n;
	w->podsets = arena_zero(w->arena, w->npodsets, sizeof(*w->podsets));
	for (size_t i = 0; i < w->npodsets; i++) {
		if (read_podset(q, rules, aw, i, w, err) < 0) {
			return err_path(err, "spec.podSets[%zu].", i);
		}
	}
	return 0;
}

/* --- what it holds ------------------------------------------------------------------------------
 */

static uint32_t find_podset(const struct workload *w, const char *name)
{
	for (uint32_t i = 0; i < w->npodsets; i++) {
		if (str_streq(w->podsets[i].name, name)) {
			return i;
		}
	}
	return MODEL_NONE;
}

/* Pods that ended and will not come back need nothing any more: usage per pod, times those that are
 * left. */
static int64_t scale(int64_t amount, int32_t assigned, int32_t left)
{
	return left < assigned ? amount / assigned * left : amount;
}

static void read_assignment(struct quota *q, const struct api_pod_set_assignment *a,
			    struct workload *w)
{
	uint32_t at = find_podset(w, a->name == NULL ? "main" : a->name);
	const struct podset *p = at == MODEL_NONE ? NULL : &w->podsets[at];
	int32_t count = a->count != FIELD_NO_I32 ? a->count : p == NULL ? 0 : p->spec_count;
	int32_t left = p == NULL ? count : p->count;

	for (size_t i = 0; i < a->usage.n; i++) {
		const char *flavor = field_map_get(&a->flavors, a->usage.v[i].name);
		struct str name = str_of(a->usage.v[i].name);
		struct quota_assigned as = { .podset = at };

		if (flavor == NULL) {
			continue;
		}
		as.resource = quota_resource(q, name);
		as.flavor = quota_flavor_get(q, str_of(flavor))->id;
		as.amount = from_kueue_amount(name, a->usage.v[i].amount);
		as.amount = as.amount < 0 ? 0 : scale(as.amount, count, left);
		quota_amounts_add(&w->usage, quota_pair_get(q, as.flavor, as.resource), as.amount);
		if (p != NULL) {
			vec_push(&w->assigned, as);
		}
	}
}

/* Finished and deactivated ones hold nothing, whatever stands in the status; one that is evicted
 * does, until its admission is gone. */
static void read_admission(struct quota *q, const struct api_workload *aw,
			   struct from_kueue_workload *r)
{
	const struct api_workload_admission *a = aw->status.admission;

	if (a == NULL || a->cluster_queue == NULL || r->w.finished || !r->w.active ||
	    !kueue_workload_is_reserving(aw)) {
		return;
	}
	r->queue = quota_name(q, str_of(a->cluster_queue));
	for (size_t i = 0; i < a->assignments.n; i++) {
		read_assignment(q, &a->assignments.v[i], &r->w);
	}
}

static struct from_kueue_workload empty(size_t bytes)
{
	return (struct from_kueue_workload){
		.w = { .arena = arena_create(bytes) },
	};
}

int from_kueue_workload_read(struct quota *q, const struct from_kueue_rules *rules,
			     const struct api_workload *aw, const struct conditions *status,
			     struct from_kueue_workload *ret, struct err *err)
{
	bool finished = conditions_is_true(status, CONDITIONS_FINISHED);
	struct from_kueue_workload r = empty(finished ? SMALL : USUAL);

	read_status(aw, status, &r.w);
	if (read_spec(q, rules, aw, &r.w, err) < 0) {
		from_kueue_workload_finish(&r);
		return err_wrap(err, "Workload %s/%s",
				aw->meta.namespace_ == NULL ? "" : aw->meta.namespace_,
				aw->meta.name == NULL ? "" : aw->meta.name);
	}
	read_admission(q, aw, &r);
	*ret = r;
	return 0;
}

/* decode_partial leaves the largest amount where none could be read. */
static bool is_known(const struct api_pod_set_assignment *a)
{
	for (size_t i = 0; i < a->usage.n; i++) {
		struct quantity amount = a->usage.v[i].amount;

		if (amount.nano < 0 || quantity_value(amount) == INT64_MAX ||
		    field_map_get(&a->flavors, a->usage.v[i].name) == NULL) {
			return false;
		}
	}
	return a->usage.n > 0;
}

/* Its part that is known is charged. */
static void keep_assignment(struct quota *q, const struct api_pod_set_assignment *a,
			    struct workload *w)
{
	struct api_pod_set_assignment one = *a;

	w->usage_unknown |= !is_known(a);
	for (size_t i = 0; i < a->usage.n; i++) {
		one.usage = (struct field_resources){ &a->usage.v[i], 1 };
		if (is_known(&one)) {
			read_assignment(q, &one, w);
		}
	}
}

int from_kueue_workload_keep(struct quota *q, const struct api_workload *aw,
			     const struct conditions *status, struct from_kueue_workload *ret)
{
	const struct api_workload_admission *a = aw->status.admission;
	struct from_kueue_workload r;

	if (a == NULL || a->cluster_queue == NULL || !kueue_workload_is_reserving(aw) ||
	    kueue_workload_stage(aw) == KUEUE_WORKLOAD_FINISHED || !kueue_workload_is_active(aw) ||
	    from_kueue_check_names(q, aw->meta.name, NULL) < 0) {
		return -ERR_NOT_FOUND;
	}
	r = empty(SMALL);
	read_status(aw, status, &r.w);
	read_meta(q, &aw->meta, &r.w);
	r.w.active = true;
	r.w.unreadable = true;
	r.w.unwritable = true;
	r.queue = quota_name(q, str_of(a->cluster_queue));
	for (size_t i = 0; i < a->assignments.n; i++) {
		keep_assignment(q, &a->assignments.v[i], &r.w);
	}
	r.w.usage_unknown |= a->assignments.n == 0;
	*ret = r;
	return 0;
}

void from_kueue_workload_finish(struct from_kueue_workload *r)
{
	arena_destroy(r->w.arena);
	r->w.arena = NULL;
	quota_amounts_finish(&r->w.usage);
	vec_finish(&r->w.assigned);
}

/* --- into the world -----------------------------------------------------------------------------
 */

bool from_kueue_workload_holds(const struct quota *q, const struct from_kueue_workload *r,
			       const struct workload *w)
{
	const struct quota_amounts *a = &r->w.usage, *b = &w->usage;

	if (r->queue == NULL || w->holds == MODEL_NONE) {
		return r->queue == NULL && w->holds == MODEL_NONE;
	}
	if (!str_streq(q->nodes.v[w->holds]->name, r->queue) || a->n != b->n) {
		return false;
	}
	for (size_t i = 0; i < a->n; i++) {
		if (a->v[i].id != b->v[i].id || a->v[i].value != b->v[i].value) {
			return false;
		}
	}
	return true;
}

static bool has_changed(const struct workload *a, const struct workload *b)
{
	if (a->generation != b->generation || a->priority != b->priority || a->boost != b->boost ||
	    a->evicted != b->evicted || a->requeued_false != b->requeued_false ||
	    a->preemption_gated != b->preemption_gated || a->npodsets != b->npodsets) {
		return true;
	}
	for (size_t i = 0; i < a->npodsets; i++) {
		if (a->podsets[i].shape != b->podsets[i].shape) {
			return true;
		}
	}
	return false;
}

/* What does not come from the object stays as w has it: identity, holding, and all from `queue` on,
 * which is the pending side. */
static void keep_state(struct workload *fresh, const struct workload *w)
{
	const size_t pending = offsetof(struct workload, queue);

	memcpy((char *)fresh + pending, (const char *)w + pending, sizeof(*w) - pending);
	fresh->id = w->id;
	fresh->key = w->key;
	fresh->hash = w->hash;
	fresh->holds = w->holds;
	fresh->holds_pos = w->holds_pos;
}

bool from_kueue_workload_apply(struct from_kueue_workload *r, struct workload *w)
{
	bool changed = has_changed(&r->w, w);
	struct workload old = *w;

	keep_state(&r->w, w);
	*w = r->w;
	if (old.holds != MODEL_NONE) {
		w->usage = old.usage;
		w->assigned.v = old.assigned.v;
		w->assigned.n = old.assigned.n;
		w->assigned.cap = old.assigned.cap;
		old.usage = r->w.usage;
		old.assigned.v = r->w.assigned.v;
	}
	arena_destroy(old.arena);
	quota_amounts_finish(&old.usage);
	vec_finish(&old.assigned);
	*r = (struct from_kueue_workload){ .queue = r->queue };
	return changed;
}
