#include "api/core/pod.h"
#include "api/volcano/keys.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "scheduler/pods/ingest/cache_priv.h"
#include "scheduler/pods/ingest/from_api.h"
#include "scheduler/pods/ledger/attempts.h"
#include "scheduler/pods/ledger/ledger.h"
#include "scheduler/pods/model/budgets.h"
#include "scheduler/pods/values/pod_class.h"

static void drop(struct cache *c, struct task *t)
{
	if (c->listener.on_pod_gone != NULL) {
		c->listener.on_pod_gone(c->listener.ctx, t);
	}
	cache_charge_release(c, t);
	cluster_task_remove(c->cluster, t);
	c->dirty = true;
}

/* A pod of another scheduler matters while it occupies a node. */
static bool is_wanted(const struct from_api_pod *p)
{
	if ((p->flags & TASK_OURS) != 0) {
		return true;
	}
	return p->node.p != NULL && p->status != TASK_SUCCEEDED && p->status != TASK_FAILED;
}

/* A decision that the pod does not show yet outlives updates that were sent before it. */
static bool keeps_status(const struct task *t, const struct from_api_pod *p)
{
	if (p->status == TASK_SUCCEEDED || p->status == TASK_FAILED ||
	    p->deleted != MODEL_TIME_NONE) {
		return false;
	}
	if (t->status == TASK_BINDING) {
		return p->node.p == NULL;
	}
	/* Kubernetes never reverts a deletion: this status is our eviction, still in flight. */
	return t->status == TASK_RELEASING && t->node != MODEL_NONE;
}

static void set_status(struct cache *c, struct task *t, const struct from_api_pod *p)
{
	enum task_status status = from_api_pod_status(p, t);
	struct node *n = NULL;

	if (p->node.p != NULL && p->status != TASK_SUCCEEDED && p->status != TASK_FAILED) {
		n = cluster_node_get(c->cluster, p->node);
	}
	/* The ledger compares with the status so far. */
	ledger_set_releasing(c->cluster, t, status == TASK_RELEASING);
	cluster_task_set_status(c->cluster, t, status, n);
}

static void apply(struct cache *c, struct task *t, const struct from_api_pod *p)
{
	bool keep = keeps_status(t, p);
	bool known = t->klass != NULL;
	struct res old;

	/* The write that failed for good may succeed on the changed pod. */
	if (p->resource_version != t->resource_version && p->resource_version != t->written) {
		t->flags &= ~(uint32_t)TASK_PARKED;
	}
	/* A pod that is new here has no class yet. */
	if (known) {
		old = *pod_class_charge(t->klass);
	}
	from_api_pod_apply(c->cluster, p, t);
	if (known) {
		ledger_resize(c->cluster, t, &old);
	}
	/* The patch that takes our gate off was acknowledged: an update that still shows the gate
	 * was sent before. */
	if (t->charge != CHARGE_NONE && t->charge != CHARGE_PATCHING &&
	    t->charge != CHARGE_AWAITING_VICTIMS) {
		t->flags &= ~(uint32_t)TASK_OUR_GATE;
	}
	if ((t->flags & TASK_OUR_GATE) == 0) {
		t->flags &= ~(uint32_t)TASK_UNGATING;
	}
	if (!keep) {
		set_status(c, t, p);
	}
	cache_charge_reconcile(c, t);
}

static struct task *find(const struct cache *c, const struct from_api_pod *p)
{
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;

	strbuf_add_str(&key, p->namespace_);
	strbuf_add_ch(&key, '/');
	strbuf_add_str(&key, p->name);
	return cluster_task_find(c->cluster, strbuf_str(&key));
}

/* When a publication that is found on a pod began, by the clock of this process. Neither a step of
 * the wall clock nor another machine's can make a reservation older than half its time-out. */
static int64_t found_since(const struct cache *c, int64_t published, struct cache_time time)
{
	int64_t age;

	if (published == MODEL_TIME_NONE) {
		return MODEL_TIME_NONE;
	}
	if (published >= time.wall || __builtin_sub_overflow(time.wall, published, &age)) {
		age = published >= time.wall ? 0 : c->found_age_max_ns;
	}
	return time.now - (age < c->found_age_max_ns ? age : c->found_age_max_ns);
}

/* A pod of another scheduler counts from when it is first seen without a gate. */
static int64_t since(const struct cache *c, const struct from_api_pod *p, struct cache_time time)
{
	int64_t found = found_since(c, p->published_at, time);

	return found == MODEL_TIME_NONE && (p->flags & TASK_GATE_ONLY) != 0 ? time.now : found;
}

/* An earlier process ended the reservation, and the pod waited for the next one. A wait without end
 * (MODEL_TIME_NEVER) ends with the process: the pod waits no longer than after an ordinary attempt.
 */
static int64_t found_wait(const struct cache *c, const struct from_api_pod *p,
			  struct cache_time time)
{
	int64_t wait = attempts_pause(c->attempt_least_ns, c->attempt_held_ns, p->attempts), age;

	if (p->attempts == 0 || p->cond != POD_COND_NOT_READY ||
	    p->attempts_at == MODEL_TIME_NONE) {
		return MODEL_TIME_NONE;
	}
	if (p->attempts_at >= time.wall ||
	    __builtin_sub_overflow(time.wall, p->attempts_at, &age)) {
		age = p->attempts_at >= time.wall ? 0 : wait;
	}
	return age < wait ? time.now + wait - age : MODEL_TIME_NONE;
}

static void set_times(const struct cache *c, struct from_api_pod *p, struct cache_time time)
{
	/* Autoscalers ignore a pod that is nominated. */
	if (p->nominated.p != NULL && (p->flags & TASK_GATE_ONLY) == 0) {
		p->published_at = MODEL_TIME_NONE;
	} else {
		p->published_at = since(c, p, time);
	}
	from_api_pod_times(p, time.now, time.wall);
}

static struct from_api_schedulers schedulers(const struct cache *c)
{
	return (struct from_api_schedulers){ .ours = (const char *const *)c->scheduler_names,
					     .gated = (const char *const *)c->gate_schedulers };
}

static bool is_charged_to_workload(const struct cache *c, const struct api_pod *pod,
				   const struct from_api_pod *p)
{
	return (p->flags & TASK_OURS) != 0 && c->listener.is_charged_to_workload != NULL &&
	       c->listener.is_charged_to_workload(c->listener.ctx, pod);
}

/* For the Eviction API a pod without the condition is not ready. */
static bool is_unready(const struct api_pod *pod)
{
	return !meta_condition_is_true(&pod->status.conditions, "Ready");
}

/* t: known under that name, or NULL. Returns the task as it is then; NULL: it is not wanted, or the
 * update is older than what is known. */
static struct task *take(struct cache *c, const struct api_pod *pod, const struct from_api_pod *p,
			 struct task *t, bool wanted)
{
	bool is_new, was_unready;

	if (t != NULL && p->resource_version != 0 &&
	    (p->resource_version < t->resource_version || p->resource_version < t->written)) {
		return NULL;
	}
	if (t != NULL && (!str_eq_c(p->uid, t->uid) || !wanted)) {
		drop(c, t);
		t = NULL;
	}
	if (!wanted) {
		return NULL;
	}
	is_new = t == NULL;
	if (is_new) {
		t = cluster_task_add(c->cluster, p->namespace_, p->name, p->uid);
		cluster_task_set_retry(c->cluster, t, p->retry_at);
	} else {
		/* Before the update is applied: it compares with the state in which the pod was
		 * known. */
		cache_foreign_bind(c, t, pod);
	}
	was_unready = (t->flags & TASK_UNREADY) != 0;
	apply(c, t, p);
	t->flags &= ~(uint32_t)TASK_UNREADY;
	budgets_set_labels(c->cluster, t, (t->flags & TASK_OURS) != 0 ? &pod->meta.labels : NULL);
	budgets_set_unready(c->cluster, t, was_unready, is_unready(pod));
	/* An earlier process evicted pods for it. */
	if (is_new && (t->flags & TASK_OURS) != 0 && t->status == TASK_PENDING &&
	    t->nominated != MODEL_NONE) {
		cluster_task_set_awaits(c->cluster, t, c->cluster->nodes.v[t->nominated]);
	}
	cache_foreign_member(c, t);
	c->dirty = true;
	if (c->listener.on_pod != NULL) {
		c->listener.on_pod(c->listener.ctx, t, pod);
	}
	return t;
}

int cache_pod_upsert(struct cache *c, const struct sched_msg *m, struct cache_time time,
		     struct err *err)
{
	const struct api_pod *pod = m->object;
	const struct from_api_schedulers names = schedulers(c);
	struct from_api_pod p;
	struct task *known;

	if (from_api_pod_read(c->cluster, pod, &names, c->scratch, &p, err) < 0) {
		return -ERR_INVALID;
	}
	set_times(c, &p, time);
	p.retry_at = found_wait(c, &p, time);
	known = find(c, &p);
	if (p.bad_cooldown && known == NULL && (p.flags & TASK_OURS) != 0) {
		cache_report_bad(c, SCHED_PODS, m->key,
				 "metadata.annotations[" KEYS_COOLDOWN
				 "], or its label: not a duration, so it protects the pod for no "
				 "time");
	}
	p.klass->charged_to_workload = is_charged_to_workload(c, pod, &p);
	(void)take(c, pod, &p, known, is_wanted(&p));
	return 0;
}

/* Whether the pod holds anything that no other pod must get. */
static bool holds(const struct from_api_pod *p)
{
	return p->node.p != NULL || p->reserved.p != NULL || (p->flags & TASK_OUR_GATE) != 0;
}

void cache_pod_keep(struct cache *c, const struct sched_msg *m, struct cache_time time)
{
	const struct api_pod *pod = m->object;
	const struct from_api_schedulers names = schedulers(c);
	struct from_api_pod p;
	struct task *t, *same;

	if (from_api_pod_plain(c->cluster, pod, &names, &p, NULL) < 0) {
		return;
	}
	t = find(c, &p);
	same = t != NULL && (p.uid.p == NULL || str_eq_c(p.uid, t->uid)) ? t : NULL;
	(void)from_api_pod_keep(c->cluster, pod, &names, same, c->scratch, &p);
	set_times(c, &p, time);
	p.klass->charged_to_workload =
		is_charged_to_workload(c, pod, &p) ||
		(same != NULL && same->klass != NULL && same->klass->charged_to_workload);
	t = take(c, pod, &p, t, is_wanted(&p) && (same != NULL || holds(&p)));
	if (t != NULL) {
		/* No decision is made for it until an update of it can be read. */
		t->flags |= TASK_PARKED;
	}
}

void cache_pod_remove(struct cache *c, const struct sched_msg *m)
{
	struct task *t = cluster_task_find(c->cluster, m->key);

	if (t != NULL) {
		drop(c, t);
	}
}

void cache_pod_here(struct cache *c, struct str key)
{
	struct task *t = cluster_task_find(c->cluster, key);
	struct pod_class *k;
	struct res old;

	if (t == NULL || t->klass == NULL || !t->klass->charged_to_workload) {
		return;
	}
	old = *pod_class_charge(t->klass);
	/* Classes are immutable and shared: the pod gets another one. */
	k = pod_class_copy(t->klass, "");
	k->charged_to_workload = false;
	cluster_task_set_class(c->cluster, t, cluster_class_intern(c->cluster, k));
	pod_class_destroy(k);
	ledger_recharge(c->cluster, t, &old);
	cache_charge_reconcile(c, t);
	cluster_task_changed(c->cluster, t);
	c->dirty = true;
}
