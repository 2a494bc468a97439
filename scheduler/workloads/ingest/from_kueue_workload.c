
#include "api/kueue/kueue.h"
#include "api/kueue/kueue_cost.h"
#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "base/arena.h"
#include "base/err.h"
#include "scheduler/base/match_from_api.h"
#include "scheduler/workloads/ingest/from_kueue_priv.h"
#include "scheduler/workloads/status/workload_status.h"
#include "scheduler/workloads/status/workload_status_flags.h"

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

static int read_placement(struct quota_model *q, const struct api_pod_spec *spec,
			  struct arena *arena, struct podset *p, struct err *err)
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

static int read_counts(const struct quota_model *q, const struct api_workload *aw,
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
	/* Kueue: reclaimablePods have ended, and need no quota any more. */
	p->count = reclaimable >= p->spec_count ? 0
		   : reclaimable > 0            ? p->spec_count - reclaimable
						: p->spec_count;
	return 0;
}

static int read_podset(struct quota_model *q, const struct from_kueue_rules *rules,
		       const struct api_workload *aw, size_t i, struct workload *w, struct err *err)
{
	const struct api_pod_set *a = &aw->spec.pod_sets.v[i];
	struct podset *p = &w->object.podsets[i];
	const struct api_pod_spec *spec = &a->template_.spec;
	const struct api_topology_request *t = a->topology_request;

	p->name = quota_text(q, str_of(a->name == NULL ? "main" : a->name));
	if (read_counts(q, aw, a, p, err) < 0) {
		return -ERR_INVALID;
	}
	if (read_placement(q, spec, w->object.arena, p, err) < 0) {
		return err_path(err, "template.spec.");
	}
	p->group = t == NULL || t->group_name == NULL ? NULL : quota_text(q, str_of(t->group_name));
	p->wants_topology = q->options.topology && wants_topology(t);
	from_kueue_request(q, rules, str_of(w->object.namespace_), spec, w->object.arena, p);
	if (spec->claims.n > 0) {
		w->object.unsupported = CLAIMS;
	}
	p->shape = podset_shape(p);
	return 0;
}

/* The flavors that the annotation allows, separated by commas. A Workload that another Workload
 * controls is one of several variants, and this engine cannot choose between variants. */
static void read_variant(struct quota_model *q, const struct api_meta *meta, struct workload *w)
{
	struct str rest = str_of(field_map_get(&meta->annotations, KUEUE_ALLOWED_FLAVORS));
	const struct api_owner *owner = meta_controller(meta);
	uint32_t *allowed;

	if (owner != NULL && str_streq(owner->kind, "Workload")) {
		w->object.unsupported = VARIANTS;
	}
	if (rest.p == NULL) {
		return;
	}
	allowed = arena_zero(w->object.arena, rest.len + 1, sizeof(*allowed));
	for (struct str s = str_next(&rest, ','); s.p != NULL; s = str_next(&rest, ',')) {
		allowed[w->object.nallowed++] = quota_flavor_get(q, str_trim(s))->id;
	}
	w->object.allowed = allowed;
}

static void read_finalizers(const struct api_meta *meta, struct workload_object *o)
{
	size_t n = 0;

	for (size_t i = 0; i < meta->finalizers.n; i++) {
		if (str_streq(meta->finalizers.v[i], KUEUE_FINALIZER)) {
			o->has_finalizer = true;
			continue;
		}
		if (o->finalizers == NULL) {
			o->finalizers = arena_zero(o->arena, meta->finalizers.n + 1,
						   sizeof(*o->finalizers));
		}
		o->finalizers[n++] = arena_dup(o->arena, meta->finalizers.v[i]);
	}
}

static void read_meta(struct quota_model *q, const struct api_meta *meta, struct workload *w)
{
	const char *boost = field_map_get(&meta->annotations, KUEUE_PRIORITY_BOOST);
	int64_t number;

	w->object.namespace_ = quota_text(q, str_of(meta->namespace_));
	w->object.uid = meta->uid == NULL ? "" : arena_dup(w->object.arena, meta->uid);
	w->object.job_uid = arena_dup(w->object.arena, field_map_get(&meta->labels, KUEUE_JOB_UID));
	w->object.generation = meta->generation;
	w->object.created = meta->created;
	w->object.deleting = meta->deleted != FIELD_NO_TIME;
	w->object.gated_by = arena_dup(w->object.arena,
				       field_map_get(&meta->annotations, KUEUE_ADMISSION_GATED_BY));
	w->object.admission_gated = q->options.admission_gates && w->object.gated_by != NULL &&
				    w->object.gated_by[0] != '\0';
	w->object.has_owner = meta->owners.n > 0;
	read_finalizers(meta, &w->object);
	/* One that cannot be read is none (Kueue: effective priority). */
	if (boost != NULL && str_to_i64(str_of(boost), &number) && number >= INT32_MIN &&
	    number <= INT32_MAX) {
		w->object.boost = number;
	}
	if (field_map_get(&meta->annotations, SLICE_REPLACEMENT_FOR) != NULL) {
		w->object.unsupported = SLICES;
	}
	if (q->options.concurrent_admission) {
		read_variant(q, meta, w);
	}
}

static void read_gates(const struct api_workload *aw, struct workload *w)
{
	size_t n = aw->spec.preemption_gates.n;

	if (n > 0) {
		w->object.gates = arena_zero(w->object.arena, n + 1, sizeof(*w->object.gates));
	}
	for (size_t i = 0; i < n; i++) {
		w->object.gates[i] =
			arena_dup(w->object.arena, aw->spec.preemption_gates.v[i].name);
	}
}

/* The status, with the parts that no decision changes. */
static void read_status(const struct api_workload *aw, const struct workload_status *status,
			struct workload *w)
{
	read_gates(aw, w);
	workload_status_flags(status, w);
	w->object.preemptions = kueue_cost_preemptions(&aw->status);
	if (aw->status.preemption_cost != NULL) {
		w->object.cost = aw->status.preemption_cost->nano;
		w->object.has_cost = true;
	}
}

static int read_spec(struct quota_model *q, const struct from_kueue_rules *rules,
		     const struct api_workload *aw, struct workload *w, struct err *err)
{
	if (from_kueue_check_names(q, aw->meta.name, err) < 0) {
		return -ERR_INVALID;
	}
	read_meta(q, &aw->meta, w);
	w->object.local_queue =
		aw->spec.queue_name == NULL ? NULL : quota_text(q, str_of(aw->spec.queue_name));
	w->object.priority_class =
		aw->spec.priority_class_ref == NULL
			? NULL
			: quota_text(q, str_of(aw->spec.priority_class_ref->name));
	w->object.priority = aw->spec.priority == FIELD_NO_I32 ? 0 : aw->spec.priority;
	w->object.active = kueue_workload_is_active(aw);
	w->object.max_execution =
		aw->spec.max_execution_time == FIELD_NO_I32 ? 0 : aw->spec.max_execution_time;
	if (w->flags.finished) {
		return 0; /* the requests of a finished one are not used */
	}
	w->object.npodsets = aw->spec.pod_sets.n;
	w->object.podsets =
		arena_zero(w->object.arena, w->object.npodsets, sizeof(*w->object.podsets));
	for (size_t i = 0; i < w->object.npodsets; i++) {
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
	for (uint32_t i = 0; i < w->object.npodsets; i++) {
		if (str_streq(w->object.podsets[i].name, name)) {
			return i;
		}
	}
	return MODEL_NONE;
}

/* Reclaimable pods need no quota any more: the usage of one pod, times the pods that are left. The
 * amount is a multiple of the count, which the webhook sees to, so the division leaves nothing. */
static int64_t scale(int64_t amount, int32_t assigned, int32_t left)
{
	return left < assigned ? amount / assigned * left : amount;
}

static void read_assignment(struct quota_model *q, const struct api_pod_set_assignment *a,
			    struct workload *w)
{
	uint32_t at = find_podset(w, a->name == NULL ? "main" : a->name);
	const struct podset *p = at == MODEL_NONE ? NULL : &w->object.podsets[at];
	int32_t count = a->count != FIELD_NO_I32 ? a->count : p == NULL ? 0 : p->spec_count;
	/* A pod set that the spec does not have holds what the status says all the same. */
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
		quota_amounts_add(&w->holding.usage, quota_pair_get(q, as.flavor, as.resource),
				  as.amount);
		if (p != NULL) {
			vec_push(&w->holding.assigned, as);
		}
	}
}

/* A finished or deactivated Workload holds nothing, whatever its status says; an evicted one holds
 * quota until its admission is removed. */
static void read_admission(struct quota_model *q, const struct api_workload *aw,
			   struct from_kueue_workload *r)
{
	const struct api_workload_admission *a = aw->status.admission;

	if (a == NULL || a->cluster_queue == NULL || r->w.flags.finished || !r->w.object.active ||
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
		.w = { .object.arena = arena_create(bytes) },
	};
}

int from_kueue_workload_read(struct quota_model *q, const struct from_kueue_rules *rules,
			     const struct api_workload *aw, const struct workload_status *status,
			     struct from_kueue_workload *ret, struct err *err)
{
	bool finished = workload_status_is_true(status, KUEUE_FINISHED);
	struct from_kueue_workload r = empty(finished ? SMALL : USUAL);

	/* Before the spec: whether it has finished decides how much of that is read. */
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

/* Charges the part of the assignment that is readable. */
static void keep_assignment(struct quota_model *q, const struct api_pod_set_assignment *a,
			    struct workload *w)
{
	struct api_pod_set_assignment one = *a;

	w->object.usage_unknown |= !is_known(a);
	for (size_t i = 0; i < a->usage.n; i++) {
		one.usage = (struct field_resources){ &a->usage.v[i], 1 };
		/* Each resource by itself: one that cannot be read must not hide the others. */
		if (is_known(&one)) {
			read_assignment(q, &one, w);
		}
	}
}

int from_kueue_workload_keep(struct quota_model *q, const struct api_workload *aw,
			     const struct workload_status *status, struct from_kueue_workload *ret)
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
	r.w.object.active = true;
	r.w.object.unreadable = true;
	/* Nothing is written about it, so it cannot be evicted. */
	r.w.object.unwritable = true;
	r.queue = quota_name(q, str_of(a->cluster_queue));
	for (size_t i = 0; i < a->assignments.n; i++) {
		keep_assignment(q, &a->assignments.v[i], &r.w);
	}
	r.w.object.usage_unknown |= a->assignments.n == 0;
	*ret = r;
	return 0;
}

void from_kueue_workload_finish(struct from_kueue_workload *r)
{
	arena_destroy(r->w.object.arena);
	r->w.object.arena = NULL;
	quota_amounts_finish(&r->w.holding.usage);
	vec_finish(&r->w.holding.assigned);
}

/* --- into the model -----------------------------------------------------------------------------
 */

bool from_kueue_workload_holds(const struct quota_model *q, const struct from_kueue_workload *r,
			       const struct workload *w)
{
	const struct quota_amounts *a = &r->w.holding.usage, *b = &w->holding.usage;

	if (r->queue == NULL || w->holding.node == MODEL_NONE) {
		return r->queue == NULL && w->holding.node == MODEL_NONE;
	}
	if (!str_streq(q->nodes.v[w->holding.node]->name, r->queue) || a->n != b->n) {
		return false;
	}
	for (size_t i = 0; i < a->n; i++) {
		if (a->v[i].id != b->v[i].id || a->v[i].value != b->v[i].value) {
			return false;
		}
	}
	return true;
}

/* Kueue: an inadmissible Workload is tried again after these changes only. Others, such as its own
 * new condition, would bring it back after each attempt. */
static bool has_changed(const struct workload *a, const struct workload *b)
{
	if (a->object.generation != b->object.generation ||
	    a->object.priority != b->object.priority || a->object.boost != b->object.boost ||
	    a->flags.evicted != b->flags.evicted ||
	    a->flags.requeued_false != b->flags.requeued_false ||
	    a->flags.preemption_gated != b->flags.preemption_gated ||
	    a->object.npodsets != b->object.npodsets) {
		return true;
	}
	for (size_t i = 0; i < a->object.npodsets; i++) {
		if (a->object.podsets[i].shape != b->object.podsets[i].shape) {
			return true;
		}
	}
	return false;
}

bool from_kueue_workload_apply(struct from_kueue_workload *r, struct workload *w)
{
	bool changed = has_changed(&r->w, w);
	struct from_kueue_workload old = { .w = { .object = w->object } };

	w->object = r->w.object;
	w->flags = r->w.flags;
	/* While it holds quota, `holding` is what is charged. The caller has released it if the
	 * update says something else. */
	if (w->holding.node == MODEL_NONE) {
		old.w.holding = w->holding;
		w->holding.usage = r->w.holding.usage;
		w->holding.assigned = r->w.holding.assigned;
	} else {
		old.w.holding = r->w.holding;
	}
	from_kueue_workload_finish(&old);
	*r = (struct from_kueue_workload){ .queue = r->queue };
	return changed;
}
