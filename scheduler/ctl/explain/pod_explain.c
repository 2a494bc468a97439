#include "scheduler/ctl/explain/pod_explain.h"

#include "api/core/kube_pod_group.h"
#include "api/volcano/keys.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/nearest.h"
#include "base/strbuf.h"
#include "collections/intern.h"
#include "enc/json/jdoc.h"
#include "scheduler/ctl/explain/pod_lookup.h"
#include "scheduler/pods/ledger/ledger.h"
#include "scheduler/pods/ledger/totals.h"
#include "scheduler/pods/model/budgets.h"
#include "scheduler/pods/model/cluster.h"
#include "scheduler/pods/search/fit.h"
#include "scheduler/pods/session/gang.h"
#include "scheduler/pods/session/hooks.h"
#include "scheduler/pods/session/session.h"
#include "scheduler/pods/values/pod_class.h"

enum pod_gate {
	POD_GATE_NONE,
	POD_GATE_LEFT_OVER,
	POD_GATE_OURS,
	POD_GATE_BOTH,
	POD_GATE_FOREIGN,
	POD_GATE_REMOVED,
	POD_GATE_LOST,
	POD_GATE_ELSEWHERE,
};

static const struct {
	const char *reason, *text;
} gates[] = {
	[POD_GATE_NONE] = { "NotOptedIn", "none, the pod did not opt in" },
	[POD_GATE_LEFT_OVER] = { "GatedWithoutOptIn", "gated by Headgate, but the pod does not opt "
						      "in: the gate will be removed" },
	[POD_GATE_OURS] = { "Gated", "gated by Headgate" },
	[POD_GATE_BOTH] = { "GatedByOthersToo", "gated by Headgate and by other controllers; "
						"Headgate's gate is removed last" },
	[POD_GATE_FOREIGN] = { "GatedByOthers", "gated by another controller" },
	[POD_GATE_REMOVED] = { "Removed", "removed" },
	[POD_GATE_LOST] = { "RemovedByOthers", "none, and Headgate did not remove it" },
	[POD_GATE_ELSEWHERE] = { "RemovedElsewhere", "removed by another installation of Headgate, "
						     "or by a leader before this one" },
};

static enum pod_gate gate_of(const struct task *t)
{
	bool ours = (t->flags & TASK_OUR_GATE) != 0, foreign = (t->flags & TASK_FOREIGN_GATE) != 0;

	if ((t->flags & TASK_OPTED_IN) == 0) {
		return ours ? POD_GATE_LEFT_OVER : POD_GATE_NONE;
	}
	if (ours) {
		return foreign ? POD_GATE_BOTH : POD_GATE_OURS;
	}
	if (foreign) {
		return POD_GATE_FOREIGN;
	}
	if ((t->flags & TASK_UNGATED_ELSEWHERE) != 0) {
		return POD_GATE_ELSEWHERE;
	}
	/* No quota is reserved for a pod without requests. */
	return ledger_is_granted(t) || t->klass == NULL || t->klass->best_effort ? POD_GATE_REMOVED
										 : POD_GATE_LOST;
}

/* --- the verdict -------------------------------------------------------------------------------*/

static void set(struct pod_explanation *x, const char *reason, const char *verdict)
{
	x->reason = reason;
	x->verdict = verdict;
}

/* The charges of other pods: the pod's own charge counts in neither column, since the question
 * is whether it has room beside them. */
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
	/* A pod that is charged needs room for itself alone. */
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

			/* Resources that the pod does not request cannot keep it waiting;
			 * neither can the number of pods where no queue limits it. */
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

static void judge_absent_queue(const struct live_cluster *s, struct pod_explanation *x)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	const struct cluster *c = live_cluster_cluster(s);
	struct nearest near;

	nearest_init(&near, str_of(x->queue_name));
	for (size_t i = 0; i < c->queues.n; i++) {
		if (c->queues.v[i] != NULL && c->queues.v[i]->exists) {
			nearest_offer(&near, str_of(c->queues.v[i]->name));
		}
	}
	strbuf_printf(&text, "waits for queue %s, which does not exist", x->queue_name);
	nearest_add_hint(&near, &text);
	set(x, "QueueNotFound", arena_dup(x->arena, text.p));
}

/* False: the queue exists and takes pods. */
static bool judge_queue(const struct live_cluster *s, struct pod_explanation *x)
{
	static const char *const states[] = { [QUEUE_OPEN] = "Open",
					      [QUEUE_CLOSED] = "Closed",
					      [QUEUE_CLOSING] = "Closing",
					      [QUEUE_UNKNOWN] = "Unknown" };
	const char *name = x->queue_name;
	const struct queue *q = queue_find(live_cluster_cluster(s), str_of(name));
	struct reason why = { 0 };

	if (q == NULL || !q->exists) {
		judge_absent_queue(s, x);
		return true;
	}
	/* The plugins decide, as in a cycle, and not the state that the queue shows. */
	if (hooks_queue_accepts(live_cluster_session(s), q, &why)) {
		return false;
	}
	if (q->broken == NULL && q->state != QUEUE_OPEN) {
		set(x, "QueueNotOpen",
		    arena_printf(x->arena,
				 "queue %s accepts no pods: its state is %s; headgatectl open "
				 "queue %s opens it",
				 name, states[q->state], name));
	} else {
		set(x, "QueueUnusable",
		    arena_printf(x->arena, "queue %s accepts no pods: it %s", name,
				 why.code == NULL ? "cannot be used" : why.code));
	}
	return true;
}

/* False: there is room. */
static bool judge_room(struct pod_explanation *x)
{
	/* A limit that is too low for the whole gang comes first: waiting does not help. */
	const struct pod_explain_line *low = first_too_low(x),
				      *l = low != NULL ? low : first_short(x);
	const char *by = x->pods > 1 ? " by its gang" : "";
	char left[64], need[64];

	if (l == NULL) {
		return false;
	}
	live_cluster_amount(l->dim, l->need, need);
	if (low != NULL) {
		set(x, "ExceedsQueueLimit",
		    arena_printf(x->arena,
				 "can never get quota: %s %s needed%s, and the limit of queue %s "
				 "is %s",
				 need, l->resource, by, l->queue,
				 live_cluster_amount(l->dim, l->limit, left)));
		return true;
	}
	set(x, "WaitingForQuota",
	    arena_printf(x->arena, "waits for quota: queue %s has %s %s left, %s needed%s",
			 l->queue,
			 live_cluster_amount(l->dim,
					     l->limit > l->allocated + l->reserved
						     ? l->limit - l->allocated - l->reserved
						     : 0,
					     left),
			 l->resource, need, by));
	return true;
}

static void judge_quota(const struct live_cluster *s, struct pod_explanation *x)
{
	const struct task *t = x->task;

	if (x->podgroup->barred_by != MODEL_NONE) {
		set(x, "NamespaceNotSelected",
		    arena_printf(x->arena,
				 "cannot get quota: namespace %s may not use queue %s "
				 "(annotation " KEYS_NAMESPACE_SELECTOR " of that queue)",
				 t->namespace_,
				 live_cluster_cluster(s)->queues.v[x->podgroup->barred_by]->name));
	} else if (x->members == INT32_MAX) { /* from_api_podgroup_keep */
		set(x, "PodGroupUnreadable",
		    "waits for its PodGroup, which cannot be read or requires more members than "
		    "a gang can have");
	} else if (judge_room(x)) {
		/* Before the members that do not exist yet: a gang without room waits for quota,
		 * however many of it there are. */
		return;
	} else if (x->have + (int32_t)x->pods < x->members) {
		set(x, "WaitingForGang",
		    arena_printf(x->arena, "waits for its gang: %d of %d members exist",
				 x->have + (int32_t)x->pods, x->members));
	} else if ((t->flags & (TASK_OUR_GATE | TASK_GATE_ONLY)) == TASK_GATE_ONLY) {
		if (gate_of(t) == POD_GATE_REMOVED) {
			set(x, "NoQuotaNeeded",
			    "requests nothing, so it needs no quota: its own scheduler places it");
			return;
		}
		set(x, "UngatedByOthers",
		    "has no gate, and Headgate did not remove it: its scheduler may start it, and "
		    "there is quota for it");
	} else if ((t->flags & TASK_OUR_GATE) != 0) {
		set(x, "QuotaAvailable", "there is quota: the gate is removed in the next cycle");
	} else {
		set(x, "WaitingForNode", "there is quota: it waits for a node");
	}
}

/* As far as the configuration goes by budgets. */
static const char *describe_budget(const struct live_cluster *s, const struct pod_explanation *x)
{
	const struct budget *b = budgets_of(live_cluster_cluster(s), x->task);

	if (x->task->budget == MODEL_NONE) {
		return "";
	}
	if (b == NULL) {
		return "; it is not evicted: several PodDisruptionBudgets cover it";
	}
	return arena_printf(x->arena, "; PodDisruptionBudget %s allows %lld eviction%s now", b->key,
			    (long long)b->allowed, b->allowed == 1 ? "" : "s");
}

/* For a pod with a node: the queue that it is charged to, if that is unexpected. */
static void judge_placed(const struct live_cluster *s, struct pod_explanation *x)
{
	const struct queue *q = x->charged;
	const struct pod_explain_line *l = first_short(x);
	const char *beyond = "", *reason = "HasNode";

	if (l != NULL) {
		reason = "QueueOverLimit";
		beyond = arena_printf(
			x->arena,
			"; queue %s has more %s charged than its limit, so no other pod "
			"gets quota there",
			l->queue, l->resource);
	}
	if (q != NULL && x->queue != NULL && q != x->queue) {
		set(x, l != NULL ? reason : "ChargedToOtherQueue",
		    arena_printf(x->arena,
				 "does not wait: it has a node; it is charged to queue "
				 "%s, and not to queue %s of its %s until it fits "
				 "the limit there%s",
				 q->name, x->queue->name,
				 x->podgroup->kind == PODGROUP_VOLCANO ? "PodGroup" : "annotation",
				 beyond));
		return;
	}
	set(x, reason,
	    arena_printf(x->arena, "does not wait: it has a node%s%s", beyond,
			 describe_budget(s, x)));
}

/* A pod of ours that waits; its queue can be used, and it has a PodGroup. */
static void judge_waiting(const struct live_cluster *s, struct pod_explanation *x)
{
	const struct task *t = x->task;

	if (t->klass != NULL && t->klass->unsupported != NULL) {
		set(x, "PodNotSupported", t->klass->unsupported);
	} else if (x->podgroup->unsupported != PODGROUP_SUPPORTED) {
		set(x, "PodGroupNotSupported", cluster_podgroup_unsupported(x->podgroup));
	} else if ((t->flags & TASK_FOREIGN_GATE) != 0) {
		set(x, "WaitingForOtherGate",
		    "waits for another controller's scheduling gate; quota is reserved only "
		    "after that");
	} else if (t->charge == CHARGE_NONE) {
		judge_quota(s, x);
	} else if ((t->flags & TASK_GATE_ONLY) != 0) {
		set(x, "QuotaReserved",
		    t->cond == POD_COND_UNSCHEDULABLE
			    ? "has quota, and its own scheduler finds no node for it; autoscalers "
			      "see it"
			    : "has quota, and its own scheduler places it");
	} else if (t->charge == CHARGE_PUBLISHED || t->cond == POD_COND_UNSCHEDULABLE) {
		set(x, "Published", "has quota and waits for a node; autoscalers see it");
	} else {
		set(x, "QuotaReserved", "has quota and is about to be placed");
	}
}

/* The first answer counts, from what ends the question to what can change by itself:
 * 1. Has the pod ended, or does it have a node?
 * 2. Is it ours?
 * 3. Are its PodGroup and its queue there, and is the queue open?
 * 4. Is it supported, are the gates of others gone, is there room? */
static void judge(const struct live_cluster *s, struct pod_explanation *x)
{
	const struct task *t = x->task;

	if (t->status != TASK_PENDING && t->node == MODEL_NONE) {
		set(x, "Finished", "does not wait: it has finished");
	} else if (t->status != TASK_PENDING) {
		judge_placed(s, x);
	} else if ((t->flags & TASK_OURS) == 0) {
		set(x, "OtherScheduler",
		    "is not scheduled by Headgate: it names another scheduler");
	} else if (x->podgroup != NULL && !x->podgroup->exists) {
		set(x, "PodGroupNotFound",
		    x->podgroup->kind == PODGROUP_PART
			    ? "waits for its PodGroup of " KUBE_POD_GROUP_API_VERSION
			      ", which does not exist"
			    : "waits for its PodGroup, which does not exist");
	} else if (x->queue_name != NULL && judge_queue(s, x)) {
		return;
	} else if (x->podgroup == NULL) {
		set(x, "WaitingForPodGroup",
		    "waits for its PodGroup: the PodGroup controller has not annotated it yet");
	} else {
		judge_waiting(s, x);
	}
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
	x->gate = gates[gate_of(t)].text;
	x->gate_reason = gates[gate_of(t)].reason;
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
	/* Where another scheduler may place it is not known here. */
	if (t->status == TASK_PENDING && t->klass != NULL && (t->flags & TASK_GATE_ONLY) == 0) {
		x->nodes = describe_nodes(s, t);
	}
	judge(s, x);
}

static void add_names(struct strbuf *to, const char *before, const char *const *names)
{
	for (size_t i = 0; names[i] != NULL; i++) {
		strbuf_printf(to, "%s%s", i == 0 ? before : " or ", names[i]);
	}
}

void pod_explain_foreign(const struct jdoc *pod, const char *const *names, const char *const *gated,
			 struct pod_explanation *x)
{
	CLEANUP(strbuf_finish) struct strbuf gate = STRBUF_INIT, ours = STRBUF_INIT;

	add_names(&ours, "Headgate schedules pods that name ", names);
	add_names(&ours, ", and gates those that name ", gated);
	pod_lookup_describe_gate(pod, &gate);
	*x = (struct pod_explanation){ .arena = arena_create(0),
				       .namespace_ = jdoc_path_str(pod, "metadata.namespace"),
				       .name = jdoc_path_str(pod, "metadata.name"),
				       .scheduler = pod_lookup_scheduler(pod) };
	set(x, "OtherScheduler",
	    arena_printf(x->arena,
			 "is not scheduled by Headgate: its spec.schedulerName is %s, and %s",
			 x->scheduler, ours.p));
	x->gate = arena_dup(x->arena, gate.p);
}

void pod_explain_finish(struct pod_explanation *x)
{
	vec_finish(&x->lines);
	arena_destroy(x->arena);
}
