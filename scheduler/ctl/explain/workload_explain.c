#include "scheduler/ctl/explain/workload_explain.h"

#include <stdlib.h>

#include "api/kueue/kueue_keys.h"
#include "api/kueue/preemption_gate.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/nearest.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "scheduler/ctl/sim/quota_lists.h"
#include "scheduler/ctl/sim/waiting_reason.h"
#include "scheduler/workloads/cycle/dry_run.h"
#include "scheduler/workloads/cycle/nofit_reason.h"
#include "scheduler/workloads/model/quota_store.h"
#include "scheduler/workloads/pending/pending.h"
#include "scheduler/workloads/status/workload_status.h"

static const struct quota_model *model_of(const struct workload_explanation *x)
{
	return forest_model(x->forest);
}

static const char *time_text(const struct workload_explanation *x, int64_t at)
{
	char text[CLOCK_RFC3339_MAX];

	clock_format_time(at, text);
	return arena_dup(x->arena, text);
}

/* --- its queues -------------------------------------------------------------------------------*/

static void find_queues(struct workload_explanation *x)
{
	const struct local_queue *local = NULL;

	if (x->w->object.local_queue != NULL && x->w->object.local_queue[0] != '\0') {
		x->local = arena_printf(x->arena, "%s/%s", x->w->object.namespace_,
					x->w->object.local_queue);
		local = quota_local_find(model_of(x), str_of(x->local));
	}
	if (x->w->holding.node != MODEL_NONE) {
		x->queue = model_of(x)->nodes.v[x->w->holding.node];
	} else if (local != NULL) {
		x->queue = quota_queue_find(model_of(x), str_of(local->queue));
	}
	/* It is only referred to, by a LocalQueue or by Workloads that it admitted. */
	if (x->queue != NULL && !x->queue->exists) {
		x->queue = NULL;
	}
}

static void find_place(struct workload_explanation *x)
{
	size_t n;
	const struct workload **v;

	if (x->w->pending.where == QUOTA_NOWHERE || x->queue == NULL) {
		return;
	}
	/* Inadmissible ones count as well, as in the positions of Kueue's visibility API. */
	v = quota_lists_pending(model_of(x), x->queue->queue, &n);
	x->place.of = n;
	for (size_t i = 0; i < n; i++) {
		bool same = str_streq(v[i]->object.namespace_, x->w->object.namespace_) &&
			    str_streq(v[i]->object.local_queue, x->w->object.local_queue);

		x->local_place.of += same;
		if (v[i] == x->w) {
			x->place.at = i + 1;
			x->local_place.at = x->local_place.of;
		}
	}
	free(v);
}

/* --- obstacles ---------------------------------------------------------------------------------*/

static void add_obstacle(struct workload_explanation *x, struct quota_obstacle o)
{
	vec_push(&x->obstacles, o);
}

static void find_gates(struct workload_explanation *x, const struct jdoc *object)
{
	const char *by = jdoc_str(
		jdoc_get(jdoc_path(object, "metadata.annotations"), KUEUE_ADMISSION_GATED_BY));
	struct quota_obstacle o = { .kind = "AdmissionGate", .state = PREEMPTION_GATE_CLOSED };

	if (by != NULL && by[0] != '\0') {
		o.name = arena_dup(x->arena, by);
		o.message = model_of(x)->options.admission_gates
				    ? "it is not queued while it has this annotation"
				    : "no effect: its feature gate is off";
		add_obstacle(x, o);
	}
	o.kind = "PreemptionGate";
	for (const struct jdoc *g = jdoc_first(jdoc_path(object, "spec.preemptionGates"));
	     g != NULL; g = jdoc_next(g)) {
		bool open = false;

		o.name = arena_dup(x->arena, jdoc_str_or(jdoc_get(g, "name"), ""));
		for (size_t i = 0; i < x->status->gates.n; i++) {
			open |= x->status->gates.v[i].open &&
				str_streq(x->status->gates.v[i].name, o.name);
		}
		o.state = open ? PREEMPTION_GATE_OPEN : PREEMPTION_GATE_CLOSED;
		o.message = !model_of(x)->options.preemption_gates
				    ? "no effect: its feature gate is off"
			    : open ? ""
				   : "it can be admitted when it fits, but cannot preempt";
		add_obstacle(x, o);
	}
}

static void find_checks(struct workload_explanation *x)
{
	for (size_t i = 0; i < x->status->checks.n; i++) {
		const struct workload_status_check *c = &x->status->checks.v[i];
		struct quota_obstacle o = { "AdmissionCheck", c->name,
					    workload_status_check_name(c->state), c->message };

		add_obstacle(x, o);
	}
}

/* --- the arithmetic ----------------------------------------------------------------------------*/

static void add_mismatch(struct workload_explanation *x, uint32_t flavor, const char *why)
{
	struct quota_mismatch m = { flavor, why };

	for (size_t i = 0; i < x->mismatches.n; i++) {
		if (x->mismatches.v[i].flavor == flavor) {
			return;
		}
	}
	vec_push(&x->mismatches, m);
}

static void add_pair(struct workload_explanation *x, uint32_t flavor, uint32_t resource)
{
	uint32_t pair = quota_pair_find(model_of(x), flavor, resource);
	struct quota_amount asked = { .id = pair };
	const char *why = NULL;

	if (pair == MODEL_NONE) {
		return;
	}
	if (x->holds) {
		asked.value = quota_amounts_get(&x->w->holding.usage, pair);
		if (asked.value == 0) {
			return;
		}
	} else {
		asked.value = quota_amounts_get(&x->entry.assignment.usage, pair);
		/* The assignment has nothing for this flavor: the amount is what its pods would
		 * request there. */
		if (asked.value == 0) {
			asked.value =
				dry_run_asked(model_of(x), x->w, flavor, resource, x->arena, &why);
		}
		if (why != NULL) {
			add_mismatch(x, flavor, why);
		}
	}
	if (asked.value > 0) {
		request_levels_add(x->forest, x->queue->id, asked, x->arena, &x->levels);
	}
}

/* For the flavors in order of preference: all resources that it requests. */
static void find_levels(struct workload_explanation *x)
{
	for (size_t g = 0; g < x->queue->groups.n; g++) {
		const struct resource_group *group = &x->queue->groups.v[g];

		for (size_t f = 0; f < group->nflavors; f++) {
			for (size_t r = 0; r < group->nresources; r++) {
				add_pair(x, group->flavors[f], group->resources[r]);
			}
		}
	}
}

/* --- preemption --------------------------------------------------------------------------------*/

/* For the pairs that are short: those of the flavors that it would get, or of all flavors when it
 * would get none. */
static void find_targets(struct workload_explanation *x, const struct dry_run *t)
{
	const struct assignment *a = &x->entry.assignment;
	struct quota_amounts need = { 0 };
	struct VEC(uint32_t) pairs = VEC_INIT;
	struct victims_request r = {
		.forest = t->forest, .w = x->w, .node = x->queue->id, .now = t->now
	};

	for (size_t i = 0; i < x->levels.n; i++) {
		const struct request_level *l = &x->levels.v[i];

		if (l->node != x->queue->id ||
		    (a->usage.n > 0 && quota_amounts_get(&a->usage, l->pair) == 0)) {
			continue;
		}
		quota_amounts_add(&need, l->pair, l->asked);
		if (l->asked > l->available) {
			vec_push(&pairs, l->pair);
		}
	}
	r.need = &need;
	r.pairs = pairs.v;
	r.npairs = pairs.n;
	if (pairs.n > 0) {
		preemption_targets_find(&r, &x->entry.victims, x->arena, &x->targets);
	}
	quota_amounts_finish(&need);
	vec_finish(&pairs);
}

/* --- the verdict -------------------------------------------------------------------------------*/

static void set_verdict(struct workload_explanation *x, const char *reason, const char *verdict)
{
	x->reason = reason;
	x->verdict = verdict;
}

static void set_reason(struct workload_explanation *x, const char *reason, const struct strbuf *why)
{
	set_verdict(x, arena_dup(x->arena, reason), arena_dup(x->arena, why->p));
}

static const char *checks_not_ready(const struct workload_explanation *x)
{
	const char *names = NULL;

	for (size_t i = 0; i < x->status->checks.n; i++) {
		const struct workload_status_check *c = &x->status->checks.v[i];

		if (c->state != QUOTA_CHECK_READY) {
			names = arena_printf(x->arena, "%s%s%s", names == NULL ? "" : names,
					     names == NULL ? "" : ", ", c->name);
		}
	}
	return names;
}

static void decide_holder(struct workload_explanation *x)
{
	const struct condition *c = workload_status_condition(x->status, KUEUE_EVICTED);
	const char *checks = checks_not_ready(x);

	if (x->w->flags.evicted && c != NULL) {
		set_verdict(x, KUEUE_EVICTED,
			    arena_printf(x->arena,
					 "was evicted at %s (%s) and keeps its quota until its "
					 "pods are gone",
					 time_text(x, c->at), c->reason));
		return;
	}
	c = workload_status_condition(x->status, KUEUE_ADMITTED);
	if (x->w->flags.admitted && c != NULL) {
		set_verdict(
			x, KUEUE_ADMITTED,
			arena_printf(x->arena, "has been admitted since %s", time_text(x, c->at)));
	} else {
		set_verdict(x, KUEUE_QUOTA_RESERVED,
			    arena_printf(x->arena, "has had its quota since %s and waits for %s",
					 time_text(x, x->w->flags.reserved_at == MODEL_TIME_NONE
							      ? 0
							      : x->w->flags.reserved_at),
					 checks == NULL ? "its admission" : checks));
	}
}

static const char *in_queue(const struct workload_explanation *x)
{
	size_t before = x->place.at > 0 ? x->place.at - 1 : 0;

	/* One that can never be admitted does not wait for the others. */
	if (before == 0 || x->entry.reason == QUOTA_EXCEEDS_MAX_QUOTA ||
	    x->entry.reason == QUOTA_NO_MATCHING_FLAVOR) {
		return "";
	}
	return arena_printf(
		x->arena, "; %zu of its queue %s before it%s", before, before == 1 ? "goes" : "go",
		x->queue->queue->strategy == QUOTA_STRICT_FIFO ? ", and StrictFIFO keeps that order"
							       : "");
}

/* Victims that are not evicted already. */
static size_t count_new_victims(const struct workload_explanation *x)
{
	size_t n = 0;

	for (size_t i = 0; i < x->entry.victims.n; i++) {
		n += !model_of(x)->workloads.v[x->entry.victims.v[i].workload]->flags.evicted;
	}
	return n;
}

/* The verdict without the details. */
static const char *headline(const struct workload_explanation *x)
{
	size_t victims = count_new_victims(x);

	switch (x->entry.status) {
	case ENTRY_ASSUMED:
		return x->entry.assignment.is_partial ? "there is quota for some of its pods"
						      : "there is quota for it";
	case ENTRY_EVICTED:
		return victims == 0 ? "waits for workloads that are being preempted"
				    : arena_printf(x->arena, "would preempt %zu workload%s",
						   victims, victims == 1 ? "" : "s");
	case ENTRY_GATED:
		return "waits for quota, or for its preemption gates";
	case ENTRY_NOT_NOMINATED:
	case ENTRY_NOMINATED:
	case ENTRY_SKIPPED:
		break;
	}
	switch ((int)x->entry.reason) {
	case QUOTA_WAITING_FOR_QUOTA:
		return "waits for quota";
	case QUOTA_EXCEEDS_MAX_QUOTA:
		return "requests more than the quota can ever be";
	case QUOTA_NO_MATCHING_FLAVOR:
		return "no flavor matches its pods";
	case QUOTA_WAITING_FOR_PODS_READY:
		return "waits until the pods of all admitted workloads are ready";
	default:
		return "cannot be admitted";
	}
}

/* The result of a cycle for it, without the other entries of that cycle. */
static void decide_dry_run(struct workload_explanation *x)
{
	const struct entry *e = &x->entry;
	const char *details = e->has_assignment ? e->assignment.message : e->message;

	set_verdict(x, nofit_reason_name(e->reason),
		    arena_printf(x->arena, "%s%s%s%s", headline(x), in_queue(x),
				 details == NULL ? "" : ": ", details == NULL ? "" : details));
}

/* The reasons that keep it out of all cycles come before the result of a cycle that it would not
 * be part of. */
static void decide_waiting(struct workload_explanation *x, int64_t now)
{
	CLEANUP(strbuf_finish) struct strbuf why = STRBUF_INIT;
	const char *reason = waiting_reason_outside(model_of(x), x->w, &why);

	if (reason == NULL && x->queue != NULL) {
		reason = waiting_reason_inactive(x->forest, x->queue, &why);
	}
	if (reason != NULL) {
		x->has_turn = false;
		set_reason(x, reason, &why);
	} else if (!pending_backoff_is_over(x->w, now)) {
		set_verdict(x, KUEUE_REQUEUED,
			    arena_printf(x->arena, "waits for its backoff until %s",
					 time_text(x, x->w->flags.requeue_at)));
	} else {
		decide_dry_run(x);
	}
}

/* Its status says that it holds quota, and the model has no ClusterQueue in which it could. */
static bool is_lost(const struct workload_explanation *x)
{
	return x->w->holding.node == MODEL_NONE && x->status->has_admission &&
	       workload_status_is_true(x->status, KUEUE_QUOTA_RESERVED);
}

static void decide(struct workload_explanation *x, int64_t now)
{
	const struct condition *c = workload_status_condition(x->status, KUEUE_FINISHED);

	if (x->w->flags.finished && c != NULL) {
		set_verdict(x, KUEUE_FINISHED,
			    arena_printf(x->arena, "finished at %s: %s", time_text(x, c->at),
					 c->message));
	} else if (x->holds) {
		decide_holder(x);
	} else if (is_lost(x)) {
		set_verdict(x, nofit_reason_name(QUOTA_MISCONFIGURED),
			    arena_printf(x->arena,
					 "was admitted by ClusterQueue %s, which does not exist",
					 x->status->queue));
	} else {
		decide_waiting(x, now);
	}
}

/* --- all of it ---------------------------------------------------------------------------------*/

/* 1. Its place in the queue, as it stands.
 * 2. A cycle for it alone gives the flavors that it would get, or the reason why it gets none.
 * 3. The amounts, for each flavor that its pods may use.
 * 4. The workloads that it would preempt, or could, for the amounts that are short.
 * The verdict is found afterwards (decide): it may be that no cycle would look at it. */
static void explain_waiting(struct workload_explanation *x, struct live_workloads *s,
			    struct workload *w)
{
	struct dry_run t = { .forest = workload_simulation_forest_to_try(s->world),
			     .now = s->now,
			     .arena = x->arena };

	find_place(x);
	if (x->w->flags.finished || x->queue == NULL ||
	    !forest_is_placed(x->forest, x->queue->id)) {
		return;
	}
	dry_run_workload(&t, w, x->queue->id, &x->entry);
	x->has_turn = true;
	find_levels(x);
	find_targets(x, &t);
	/* The search has found victims, and the gate keeps it from preempting them. */
	for (size_t i = 0; i < x->targets.n && x->entry.status == ENTRY_GATED; i++) {
		struct preemption_target *target = &x->targets.v[i];

		if (target->state == QUOTA_TARGET_VICTIM) {
			target->text = arena_printf(x->arena, "%s, when its preemption gates open",
						    target->text);
		}
	}
}

static void find_wanted_by(struct workload_explanation *x, struct live_workloads *s)
{
	const struct workload_step *steps;
	size_t n;

	(void)workload_simulation_run_cycle(s->world);
	steps = workload_simulation_steps(s->world, &n);
	for (size_t i = 0; i < n; i++) {
		if (steps[i].kind == QUOTA_DECIDE_PREEMPT && !steps[i].ongoing &&
		    str_streq(steps[i].workload, x->w->key)) {
			x->wanted_by = steps[i].by;
		}
	}
}

/* The cycle of find_wanted_by comes last: it changes the simulation, which all else describes as
 * it stands. */
static void explain_holder(struct workload_explanation *x, struct live_workloads *s)
{
	if (x->queue != NULL && forest_is_placed(x->forest, x->queue->id)) {
		find_levels(x);
		preemption_threats_find(x->forest, x->w, x->arena, &x->threats);
	}
	decide(x, s->now);
	find_wanted_by(x, s);
}

static int not_found(struct live_workloads *s, const char *key, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct nearest near;
	size_t n;
	struct sim_object *const *v = sim_input_objects(s->in, &n);

	nearest_init(&near, str_of(key));
	for (size_t i = 0; i < n; i++) {
		if (v[i]->kind == SCHED_WORKLOADS) {
			nearest_offer(&near, str_of(v[i]->key));
		}
	}
	strbuf_printf(&text, "workload %s not found", key);
	nearest_add_hint(&near, &text);
	return err_set(err, ERR_NOT_FOUND, "%s", text.p);
}

int workload_explain_workload(struct live_workloads *s, const char *key,
			      struct workload_explanation *ret, struct err *err)
{
	struct forest *forest = workload_simulation_forest_to_try(s->world);
	struct workload *w = quota_workload_find(forest_model(forest), str_of(key));
	const struct sim_object *object = sim_input_find(s->in, SCHED_WORKLOADS, key);
	struct workload_explanation *x = ret;

	if (w == NULL || object == NULL) {
		return not_found(s, key, err);
	}
	*x = (struct workload_explanation){ .forest = forest, .w = w, .arena = arena_create(0) };
	x->status = workload_simulation_status(s->world, w);
	x->holds = w->holding.node != MODEL_NONE;
	find_queues(x);
	find_gates(x, object->json);
	find_checks(x);
	if (x->holds) {
		explain_holder(x, s);
	} else {
		explain_waiting(x, s, w);
		decide(x, s->now);
	}
	return 0;
}

void workload_explain_finish(struct workload_explanation *x)
{
	vec_finish(&x->obstacles);
	vec_finish(&x->mismatches);
	vec_finish(&x->levels);
	vec_finish(&x->targets);
	vec_finish(&x->threats);
	offer_explain_finish(&x->offer);
	arena_destroy(x->arena);
}
