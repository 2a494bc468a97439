#include "scheduler/ctl/explain/pod_explain.h"

#include "api/volcano/keys.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "collections/intern.h"
#include "enc/json/jdoc.h"
#include "scheduler/ctl/cli/nearest.h"
#include "scheduler/ctl/explain/pod_lookup.h"
#include "scheduler/pods/ledger/ledger.h"
#include "scheduler/pods/ledger/totals.h"
#include "scheduler/pods/model/cluster.h"
#include "scheduler/pods/model/pod_class.h"
#include "scheduler/pods/session/fit.h"
#include "scheduler/pods/session/gang.h"
#include "scheduler/pods/session/hooks.h"
#include "scheduler/pods/session/session.h"

static const char *describe_gate(const struct task *t)
{
	bool ours = (t->flags & TASK_OUR_GATE) != 0, foreign = (t->flags & TASK_FOREIGN_GATE) != 0;

	if ((t->flags & TASK_OPTED_IN) == 0) {
		return ours ? "gated by Headgate, but the pod does not opt in: the gate will be "
			      "removed"
			    : "none, the pod did not opt in";
	}
	if (ours) {
		return foreign ? "gated by Headgate and by other controllers; Headgate's gate is "
				 "removed last"
			       : "gated by Headgate";
	}
	return foreign ? "gated by another controller" : "removed";
}

/* The charges of other pods: the pod's own charge counts in neither column. */
static void fill_line(const struct task *t, const struct queue_totals *totals,
		      struct pod_explain_line *l)
{
	int64_t own = res_get(&t->klass->request, l->dim);
	bool waits = ledger_is_unbound(t->charge),
	     placed = t->charge == CHARGE_ASSUMED || t->charge == CHARGE_BOUND;

	l->allocated = res_get(&totals->allocated, l->dim) - (placed ? own : 0);
	l->reserved = res_get(&totals->reserved, l->dim) - (waits ? own : 0);
	l->is_short = l->limit != RES_UNLIMITED && l->allocated + l->reserved + l->need > l->limit;
}

/* The requests that must fit at once: those of the pod, or of all missing members of its gang. */
static void sum_needs(const struct live_cluster *s, struct pod_explanation *x)
{
	const struct task *t = x->task;

	x->needs = t->klass->request;
	x->pods = 1;
	if (t->charge != CHARGE_NONE) {
		return;
	}
	for (size_t i = 0; i < x->podgroup->tasks.n && (int32_t)x->pods < x->missing; i++) {
		const struct task *other =
			live_cluster_cluster(s)->tasks.v[x->podgroup->tasks.v[i]];

		if (other != t && gang_is_candidate(live_cluster_session(s), other)) {
			res_add(&x->needs, &other->klass->request);
			x->pods++;
		}
	}
}

static void add_lines(const struct live_cluster *s, struct pod_explanation *x,
		      const struct queue *from)
{
	const struct cluster *c = live_cluster_cluster(s);
	const struct queue *q;

	QUEUE_FOR_EACH_UP (q, c, from->id) {
		const struct res *limit = session_queue_limit(live_cluster_session(s), q);

		for (unsigned d = 0; d < res_names_count(c->res); d++) {
			struct pod_explain_line l = { .queue = q->name,
						      .resource = res_names_get(c->res, d),
						      .dim = d,
						      .limit = res_get(limit, d),
						      .need = res_get(&x->needs, d) };

			if (res_get(&x->task->klass->request, d) == 0 ||
			    (d == RES_PODS && res_get(limit, d) == RES_UNLIMITED)) {
				continue;
			}
			fill_line(x->task, &live_cluster_totals(s)[q->id], &l);
			vec_push(&x->lines, l);
		}
	}
}

/* A limit below what is needed at once: no pod that ends makes room. */
static const struct pod_explain_line *first_too_low(const struct pod_explanation *x)
{
	for (size_t i = 0; i < x->lines.n; i++) {
		if (x->lines.v[i].limit != RES_UNLIMITED &&
		    x->lines.v[i].need > x->lines.v[i].limit) {
			return &x->lines.v[i];
		}
	}
	return NULL;
}

static const struct pod_explain_line *first_short(const struct pod_explanation *x)
{
	for (size_t i = 0; i < x->lines.n; i++) {
		if (x->lines.v[i].is_short) {
			return &x->lines.v[i];
		}
	}
	return NULL;
}

/* NULL: the queue exists and takes pods. */
static const char *judge_queue(const struct live_cluster *s, const char *name)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	static const char *const states[] = { [QUEUE_OPEN] = "Open",
					      [QUEUE_CLOSED] = "Closed",
					      [QUEUE_CLOSING] = "Closing",
					      [QUEUE_UNKNOWN] = "Unknown" };
	const struct cluster *c = live_cluster_cluster(s);
	struct session *session = live_cluster_session(s);
	const struct queue *q = queue_find(c, str_of(name));
	struct reason why = { 0 };

	if (q == NULL || !q->exists) {
		struct nearest near;

		nearest_init(&near, str_of(name));
		for (size_t i = 0; i < c->queues.n; i++) {
			if (c->queues.v[i] != NULL && c->queues.v[i]->exists) {
				nearest_offer(&near, str_of(c->queues.v[i]->name));
			}
		}
		strbuf_printf(&text, "waits for queue %s, which does not exist", name);
		nearest_add_hint(&near, &text);
		return arena_dup(session_arena(session), text.p);
	}
	if (hooks_queue_accepts(session, q, &why)) {
		return NULL;
	}
	if (q->broken == NULL && q->state != QUEUE_OPEN) {
		return arena_printf(session_arena(session),
				    "queue %s accepts no pods: its state is %s; headgatectl open "
				    "queue %s opens it",
				    name, states[q->state], name);
	}
	return arena_printf(session_arena(session), "queue %s accepts no pods: %s", name,
			    why.code == NULL ? "closed" : why.code);
}

static const char *judge_room(const struct live_cluster *s, const struct pod_explanation *x)
{
	struct arena *a = session_arena(live_cluster_session(s));
	const struct pod_explain_line *low = first_too_low(x),
				      *l = low != NULL ? low : first_short(x);
	const char *by = x->pods > 1 ? " by its gang" : "";
	char left[64], need[64];

	if (l == NULL) {
		return NULL;
	}
	live_cluster_amount(l->dim, l->need, need);
	if (low != NULL) {
		return arena_printf(
			a,
			"can never get quota: %s %s needed%s, and the limit of queue %s "
			"is %s",
			need, l->resource, by, l->queue,
			live_cluster_amount(l->dim, l->limit, left));
	}
	return arena_printf(a, "waits for quota: queue %s has %s %s left, %s needed%s", l->queue,
			    live_cluster_amount(l->dim,
						l->limit > l->allocated + l->reserved
							? l->limit - l->allocated - l->reserved
							: 0,
						left),
			    l->resource, need, by);
}

static const char *judge_quota(const struct live_cluster *s, const struct pod_explanation *x)
{
	struct arena *a = session_arena(live_cluster_session(s));
	const char *room = judge_room(s, x);
	const struct task *t = x->task;

	if (x->podgroup->barred_by != MODEL_NONE) {
		return arena_printf(
			a,
			"cannot get quota: namespace %s may not use queue %s "
			"(annotation " KEYS_NAMESPACE_SELECTOR " of that queue)",
			t->namespace_,
			live_cluster_cluster(s)->queues.v[x->podgroup->barred_by]->name);
	}
	if (x->members == INT32_MAX) { /* from_api_podgroup_keep */
		return "waits for its PodGroup, which cannot be read or requires more members than "
		       "a gang can have";
	}
	if (room != NULL) {
		return room;
	}
	if (x->missing > 0 && x->have < x->members) {
		return arena_printf(a, "waits for its gang: %d of %d members exist", x->have,
				    x->members);
	}
	return (t->flags & TASK_OUR_GATE) != 0
		       ? "there is quota: the gate is removed in the next cycle"
		       : "there is quota: it waits for a node";
}

/* For a pod with a node: the queue that it is charged to, if that is unexpected. */
static const char *judge_placed(const struct live_cluster *s, const struct pod_explanation *x)
{
	struct arena *a = session_arena(live_cluster_session(s));
	const struct queue *q = x->charged;
	const struct pod_explain_line *l = first_short(x);
	const char *beyond = "";

	if (l != NULL) {
		beyond = arena_printf(
			a,
			"; queue %s has more %s charged than its limit, so no other pod "
			"gets quota there",
			l->queue, l->resource);
	}
	if (q != NULL && x->queue != NULL && q != x->queue) {
		return arena_printf(a,
				    "does not wait: it has a node; it is charged to queue "
				    "%s, and not to queue %s of its PodGroup until it fits "
				    "the limit there%s",
				    q->name, x->queue->name, beyond);
	}
	return arena_printf(a, "does not wait: it has a node%s", beyond);
}

static const char *judge(const struct live_cluster *s, const struct pod_explanation *x)
{
	const struct task *t = x->task;
	const char *queue;

	if (t->status != TASK_PENDING) {
		return t->node == MODEL_NONE ? "does not wait: it has finished"
					     : judge_placed(s, x);
	}
	if ((t->flags & TASK_OURS) == 0) {
		return "is not scheduled by Headgate: it names another scheduler";
	}
	if (x->podgroup != NULL && !x->podgroup->exists) {
		return "waits for its PodGroup, which does not exist";
	}
	queue = x->queue_name == NULL ? NULL : judge_queue(s, x->queue_name);
	if (queue != NULL) {
		return queue;
	}
	if (x->podgroup == NULL) {
		return "waits for its PodGroup: the PodGroup controller has not annotated it yet";
	}
	if (t->klass != NULL && t->klass->unsupported != NULL) {
		return t->klass->unsupported;
	}
	if (x->podgroup->unsupported != PODGROUP_SUPPORTED) {
		return cluster_podgroup_unsupported(x->podgroup);
	}
	if ((t->flags & TASK_FOREIGN_GATE) != 0) {
		return "waits for another controller's scheduling gate; quota is reserved only "
		       "after that";
	}
	if (t->charge != CHARGE_NONE) {
		return t->charge == CHARGE_PUBLISHED || t->cond == POD_COND_UNSCHEDULABLE
			       ? "has quota and waits for a node; autoscalers see it"
			       : "has quota and is about to be placed";
	}
	return judge_quota(s, x);
}

static const char *describe_nodes(const struct live_cluster *s, const struct task *t)
{
	struct session *session = live_cluster_session(s);
	const struct node *node = NULL;

	switch (fit_find(session, t, &node)) {
	case FIT_IDLE:
		return arena_printf(session_arena(session), "it fits now, best on %s", node->name);
	case FIT_RELEASING:
		return arena_printf(session_arena(session),
				    "it will fit %s when the terminating pods there are gone",
				    node->name);
	case FIT_NONE:
		break;
	}
	return fit_explain(session, t);
}

/* The name of the queue that its PodGroup names, or will name when it is made. */
static const char *queue_name(const struct cluster *c, const struct pod_explanation *x,
			      const struct jdoc *pod)
{
	if (x->podgroup != NULL) {
		return x->podgroup->queue_name == MODEL_NONE
			       ? NULL
			       : intern_name(c->names, x->podgroup->queue_name);
	}
	return pod == NULL ? NULL : arena_dup(x->arena, pod_lookup_queue(pod));
}

void pod_explain_task(const struct live_cluster *s, const struct task *t, const struct jdoc *pod,
		      struct pod_explanation *x)
{
	const struct cluster *c = live_cluster_cluster(s);
	struct gang_need need;

	*x = (struct pod_explanation){
		.arena = arena_create(0), .namespace_ = t->namespace_, .name = t->name, .task = t
	};
	x->podgroup = t->podgroup == MODEL_NONE ? NULL : c->podgroups.v[t->podgroup];
	x->queue = x->podgroup == NULL || x->podgroup->queue == MODEL_NONE
			   ? NULL
			   : c->queues.v[x->podgroup->queue];
	x->queue_name = queue_name(c, x, pod);
	x->charged = t->charge == CHARGE_NONE ? NULL : c->queues.v[t->charge_queue];
	x->gate = describe_gate(t);
	if (x->queue != NULL && t->klass != NULL && t->status == TASK_PENDING) {
		gang_need(live_cluster_session(s), x->podgroup, GANG_RESERVED, &need);
		x->members = x->podgroup->min_member;
		x->missing = need.missing > 0 ? need.missing : 0;
		x->have = x->members - x->missing;
		sum_needs(s, x);
		add_lines(s, x, x->queue);
	} else if (t->charge == CHARGE_BOUND) {
		x->needs = *pod_class_charge(t->klass);
		add_lines(s, x, x->charged);
		if (first_short(x) == NULL) {
			x->lines.n = 0; /* nothing to explain */
		}
	}
	if (t->status == TASK_PENDING && t->klass != NULL) {
		x->nodes = describe_nodes(s, t);
	}
	x->verdict = judge(s, x);
}

void pod_explain_foreign(const struct jdoc *pod, const char *const *names,
			 struct pod_explanation *x)
{
	CLEANUP(strbuf_finish) struct strbuf gate = STRBUF_INIT, ours = STRBUF_INIT;

	for (size_t i = 0; names[i] != NULL; i++) {
		strbuf_printf(&ours, "%s%s", i == 0 ? "" : " or ", names[i]);
	}
	pod_lookup_describe_gate(pod, &gate);
	*x = (struct pod_explanation){ .arena = arena_create(0),
				       .namespace_ = jdoc_path_str(pod, "metadata.namespace"),
				       .name = jdoc_path_str(pod, "metadata.name"),
				       .scheduler = pod_lookup_scheduler(pod) };
	x->verdict = arena_printf(x->arena,
				  "is not scheduled by Headgate: its spec.schedulerName is %s, and "
				  "Headgate schedules pods that name %s",
				  x->scheduler, ours.p);
	x->gate = arena_dup(x->arena, gate.p);
}

void pod_explain_finish(struct pod_explanation *x)
{
	vec_finish(&x->lines);
	arena_destroy(x->arena);
}
