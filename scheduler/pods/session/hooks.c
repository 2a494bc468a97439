#include "scheduler/pods/session/hooks.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "scheduler/pods/conf/conf.h"
#include "scheduler/pods/model/cluster.h"
#include "scheduler/pods/session/combine.h"
#include "scheduler/pods/session/hooks_fallback.h"
#include "scheduler/pods/session/session_priv.h"
#include "scheduler/pods/values/pod_class.h"

/* Every extension point, and what switches it on. */
#define POINTS(POINT)                                                                              \
	POINT(job_order, on[CONF_JOB_ORDER])                                                       \
	POINT(queue_order, on[CONF_QUEUE_ORDER])                                                   \
	POINT(task_order, on[CONF_TASK_ORDER])                                                     \
	POINT(job_enqueueable, on[CONF_JOB_ENQUEUED])                                              \
	POINT(job_enqueued, on[CONF_JOB_ENQUEUED])                                                 \
	POINT(job_valid, true) /* Volcano has no switch for it */                                  \
	POINT(job_ready, on[CONF_JOB_READY])                                                       \
	POINT(job_pipelined, on[CONF_JOB_PIPELINED])                                               \
	POINT(overused, on[CONF_OVERUSED])                                                         \
	POINT(queue_accepts, on[CONF_ALLOCATABLE])                                                 \
	POINT(allocatable, on[CONF_ALLOCATABLE])                                                   \
	POINT(quota_limits, on[CONF_ALLOCATABLE])                                                  \
	POINT(class_predicate, on[CONF_PREDICATE])                                                 \
	POINT(predicate, on[CONF_PREDICATE])                                                       \
	POINT(predicate_later, on[CONF_PREDICATE])                                                 \
	POINT(domain_predicate, on[CONF_PREDICATE])                                                \
	POINT(job_starving, on[CONF_JOB_STARVING])                                                 \
	POINT(preemptable, on[CONF_PREEMPTABLE])                                                   \
	POINT(reclaimable, on[CONF_RECLAIMABLE] && reclaims(hook.ops, on))                         \
	POINT(queue_gives, on[CONF_RECLAIMABLE])                                                   \
	POINT(preemptive, on[CONF_PREEMPTIVE])                                                     \
	POINT(node_score, on[CONF_NODE_ORDER])                                                     \
	POINT(node_score_key, on[CONF_NODE_ORDER])                                                 \
	POINT(domain_scores, on[CONF_NODE_ORDER])                                                  \
	POINT(on_allocate, true)                                                                   \
	POINT(on_deallocate, true)

#define LIST(point, on) struct hook_list point;
#define ADD_IF(point, on)                                                                          \
	if (hook.ops->point != NULL && (on)) {                                                     \
		list_push(&h->point, &hook);                                                       \
	}
#define FREE(point, on) free(h->point.v);

struct hooks {
	struct hook_list all; /* every plugin once, owns the states */
	/* preemptable and reclaimable, without plugins that keep gangs. */
	struct hook_list gang_preemptable, gang_reclaimable;
	POINTS(LIST)
};

static void list_push(struct hook_list *l, const struct hook *h)
{
	l->v = xmalloc_resize(l->v, l->n + 1, sizeof(l->v[0]));
	l->v[l->n++] = *h;
}

static bool reclaims(const struct plugin_ops *ops, const bool *on)
{
	return on[CONF_HIERARCHY] || !ops->reclaims_by_hierarchy;
}

static void compile_plugin(struct hooks *h, struct hook hook, const bool *on)
{
	list_push(&h->all, &hook);
	POINTS(ADD_IF)
	if (hook.ops->keeps_gangs) {
		return;
	}
	if (hook.ops->preemptable != NULL && on[CONF_PREEMPTABLE]) {
		list_push(&h->gang_preemptable, &hook);
	}
	if (hook.ops->reclaimable != NULL && on[CONF_RECLAIMABLE] && reclaims(hook.ops, on)) {
		list_push(&h->gang_reclaimable, &hook);
	}
}

static int create_plugin(const struct sched_conf *conf, const struct conf_plugin *p,
			 const struct plugin_ops *ops, void **ret_state, struct err *err)
{
	const struct plugin_args args = { .v = p->args,
					  .n = p->nargs,
					  .hierarchy = p->on[CONF_HIERARCHY],
					  .feature_gates_admission = conf->gates_admission };
	int r = 0;

	*ret_state = NULL;
	if (ops->create != NULL) {
		r = ops->create(&args, ret_state, err);
	}
	return r < 0 ? err_wrap(err, "plugin %s", p->name) : 0;
}

static const struct plugin_ops *find_ops(const struct plugin_row *rows, size_t nrows,
					 const char *name)
{
	for (size_t i = 0; i < nrows; i++) {
		if (str_streq(rows[i].name, name)) {
			return rows[i].ops;
		}
	}
	return NULL;
}

int hooks_create(const struct sched_conf *conf, const struct plugin_row *rows, size_t nrows,
		 struct hooks **ret, struct err *err)
{
	struct hooks *h = xmalloc_zero(1, sizeof(*h));

	for (size_t i = 0; i < conf->nplugins; i++) {
		const struct conf_plugin *p = &conf->plugins[i];
		struct hook hook = { .ops = find_ops(rows, nrows, p->name), .tier = p->tier };
		int r;

		/* One of Volcano's that has no implementation: conf_parse has warned about it, or
		 * refused the file. */
		if (hook.ops == NULL) {
			continue;
		}
		r = create_plugin(conf, p, hook.ops, &hook.state, err);
		if (r < 0) {
			hooks_destroy(h);
			return r;
		}
		compile_plugin(h, hook, p->on);
	}
	*ret = h;
	return 0;
}

void hooks_destroy(struct hooks *h)
{
	if (h == NULL) {
		return;
	}
	for (size_t i = 0; i < h->all.n; i++) {
		if (h->all.v[i].ops->destroy != NULL) {
			h->all.v[i].ops->destroy(h->all.v[i].state);
		}
	}
	free(h->all.v);
	free(h->gang_preemptable.v);
	free(h->gang_reclaimable.v);
	POINTS(FREE)
	free(h);
}

void hooks_open(const struct hooks *h, struct session *s)
{
	for (size_t i = 0; i < h->all.n; i++) {
		if (h->all.v[i].ops->open != NULL) {
			h->all.v[i].ops->open(h->all.v[i].state, s);
		}
	}
}

void hooks_close(const struct hooks *h, struct session *s)
{
	for (size_t i = h->all.n; i-- > 0;) {
		if (h->all.v[i].ops->close != NULL) {
			h->all.v[i].ops->close(h->all.v[i].state, s);
		}
	}
}

bool hooks_needs_budgets(const struct hooks *h)
{
	for (size_t i = 0; i < h->all.n; i++) {
		if (h->all.v[i].ops->needs_budgets) {
			return true;
		}
	}
	return false;
}

bool hooks_has_quota_plugin(const struct hooks *h)
{
	return h->quota_limits.n > 0;
}

void hooks_quota_limits(const struct hooks *h, struct session *s, struct res *limits)
{
	size_t n = session_cluster(s)->queues.n;

	for (size_t i = 0; i < n; i++) {
		res_fill(&limits[i], RES_UNLIMITED);
	}
	/* Each quota plugin lowers what the ones before it have left. */
	COMBINE_EACH(&h->quota_limits, quota_limits, s, limits);
}

int hooks_queue_order(const struct session *s, const struct queue *a, const struct queue *b)
{
	int r = COMBINE_ORDER(&session_hooks(s)->queue_order, queue_order, s, a, b);

	return r != 0 ? r : hooks_fallback_queue(session_cluster(s), a, b);
}

int hooks_job_preference(const struct session *s, const struct podgroup *a,
			 const struct podgroup *b)
{
	return COMBINE_ORDER(&session_hooks(s)->job_order, job_order, s, a, b);
}

int hooks_job_order(const struct session *s, const struct podgroup *a, const struct podgroup *b)
{
	int r = hooks_job_preference(s, a, b);

	return r != 0 ? r : hooks_fallback_podgroup(a, b);
}

int hooks_task_order(const struct session *s, const struct task *a, const struct task *b)
{
	int r = COMBINE_ORDER(&session_hooks(s)->task_order, task_order, s, a, b);

	return r != 0 ? r : hooks_fallback_task(a, b);
}

bool hooks_queue_accepts(const struct session *s, const struct queue *q, struct reason *why)
{
	return COMBINE_ALL(&session_hooks(s)->queue_accepts, queue_accepts, s, q, why);
}

bool hooks_allocatable(struct session *s, const struct queue *q, const struct task *t,
		       struct reason *why)
{
	if (!hooks_queue_accepts(s, q, why)) {
		if (why != NULL) {
			why->code = arena_printf(s->arena, "queue %s %s", q->name, why->code);
		}
		return false;
	}
	return COMBINE_ALL(&session_hooks(s)->allocatable, allocatable, s, q, t, why);
}

bool hooks_overused(const struct session *s, const struct queue *q)
{
	return COMBINE_ANY(&session_hooks(s)->overused, overused, s, q);
}

bool hooks_job_enqueueable(struct session *s, const struct podgroup *g, struct reason *why)
{
	return COMBINE_VOTE(&session_hooks(s)->job_enqueueable, job_enqueueable, s, g, why);
}

void hooks_job_enqueued(struct session *s, const struct podgroup *g)
{
	COMBINE_EACH(&session_hooks(s)->job_enqueued, job_enqueued, s, g);
}

/* One sentence of the PodGroup's condition. */
static void explain_bar(const struct session *s, const struct podgroup *g, struct reason *why)
{
	const char *bar = s->cluster->queues.v[g->barred_by]->name;

	why->code = "QueueNotAllowed";
	why->detail = arena_printf(s->arena,
				   "namespace %s may not use queue %s: its labels do not match the "
				   "queue's namespace selector",
				   g->namespace_, bar);
}

/* Access and unsupported fields come before the plugins: they hold whatever plugins are configured.
 */
bool hooks_job_valid(struct session *s, const struct podgroup *g, struct reason *why)
{
	if (g->barred_by != MODEL_NONE) {
		if (why != NULL) {
			explain_bar(s, g, why);
		}
		return false;
	}
	if (g->unsupported != PODGROUP_SUPPORTED) {
		if (why != NULL) {
			why->code = g->unsupported == PODGROUP_HARD_TOPOLOGY
					    ? "UnsupportedNetworkTopology"
					    : "UnsupportedSubGroupPolicy";
			why->detail = cluster_podgroup_unsupported(g);
		}
		return false;
	}
	return COMBINE_ALL(&session_hooks(s)->job_valid, job_valid, s, g, why);
}

bool hooks_job_ready(const struct session *s, const struct podgroup *g)
{
	return COMBINE_ALL(&session_hooks(s)->job_ready, job_ready, s, g);
}

bool hooks_job_pipelined(const struct session *s, const struct podgroup *g)
{
	return COMBINE_VOTE(&session_hooks(s)->job_pipelined, job_pipelined, s, g);
}

/* Claims are looked at by the plugin predicates alone: without it, a pod with claims would be put
 * where its volumes are not. */
bool hooks_class_predicate(const struct session *s, const struct pod_class *k, const struct node *n,
			   struct reason *why)
{
	if (k->nclaims > 0 && session_hooks(s)->class_predicate.n == 0) {
		if (why != NULL) {
			*why = (struct reason){ .code = "PersistentVolumeClaims need the plugin "
							"predicates",
						.unresolvable = true,
						.everywhere = true };
		}
		return false;
	}
	return COMBINE_ALL(&session_hooks(s)->class_predicate, class_predicate, s, k, n, why);
}

bool hooks_node_predicate(const struct session *s, const struct task *t, const struct node *n,
			  struct reason *why)
{
	return COMBINE_ALL(&session_hooks(s)->predicate, predicate, s, t, n, why);
}

bool hooks_domain_predicate(const struct session *s, const struct task *t, const struct node *n,
			    bool later, struct reason *why)
{
	return COMBINE_ALL(&session_hooks(s)->domain_predicate, domain_predicate, s, t, n, later,
			   why);
}

bool hooks_predicate(const struct session *s, const struct task *t, const struct node *n,
		     struct reason *why)
{
	return hooks_node_predicate(s, t, n, why) && hooks_domain_predicate(s, t, n, false, why);
}

bool hooks_predicate_later(const struct session *s, const struct task *t, const struct node *n)
{
	return COMBINE_ALL(&session_hooks(s)->predicate_later, predicate_later, s, t, n) &&
	       hooks_domain_predicate(s, t, n, true, NULL);
}

bool hooks_job_starving(const struct session *s, const struct podgroup *g)
{
	return COMBINE_FIRST_TIER(&session_hooks(s)->job_starving, job_starving, s, g);
}

bool hooks_preemptable(struct session *s, const struct task *t, const struct task *victim)
{
	const struct hook_list *list = &session_hooks(s)->preemptable;

	return list->n > 0 && COMBINE_ALL(list, preemptable, s, t, victim);
}

bool hooks_reclaimable(struct session *s, const struct task *t, const struct task *victim)
{
	const struct hook_list *list = &session_hooks(s)->reclaimable;

	return list->n > 0 && COMBINE_ALL(list, reclaimable, s, t, victim);
}

bool hooks_gang_preemptable(struct session *s, const struct task *t, const struct task *victim)
{
	const struct hooks *h = session_hooks(s);

	return h->preemptable.n > 0 && COMBINE_ALL(&h->gang_preemptable, preemptable, s, t, victim);
}

bool hooks_gang_reclaimable(struct session *s, const struct task *t, const struct task *victim)
{
	const struct hooks *h = session_hooks(s);

	return h->reclaimable.n > 0 && COMBINE_ALL(&h->gang_reclaimable, reclaimable, s, t, victim);
}

bool hooks_queue_gives(const struct session *s, const struct queue *q)
{
	return COMBINE_ALL(&session_hooks(s)->queue_gives, queue_gives, s, q);
}

bool hooks_preemptive(struct session *s, const struct queue *q, const struct task *t)
{
	return COMBINE_ALL(&session_hooks(s)->preemptive, preemptive, s, q, t);
}

double hooks_node_score(const struct session *s, const struct pod_class *k, const struct node *n)
{
	return COMBINE_SUM(&session_hooks(s)->node_score, node_score, s, k, n);
}

void hooks_node_score_key(const struct session *s, const struct pod_class *k, struct strbuf *out)
{
	COMBINE_EACH(&session_hooks(s)->node_score_key, node_score_key, s, k, out);
}

bool hooks_scores_domains(const struct session *s)
{
	return session_hooks(s)->domain_scores.n > 0;
}

void hooks_domain_scores(const struct session *s, const struct task *t,
			 const struct node *const *nodes, size_t n, double *scores)
{
	for (size_t i = 0; i < n; i++) {
		scores[i] = 0;
	}
	COMBINE_EACH(&session_hooks(s)->domain_scores, domain_scores, s, t, nodes, n, scores);
}

void hooks_on_allocate(struct session *s, const struct task *t)
{
	COMBINE_EACH(&session_hooks(s)->on_allocate, on_allocate, s, t);
}

void hooks_on_deallocate(struct session *s, const struct task *t)
{
	COMBINE_EACH(&session_hooks(s)->on_deallocate, on_deallocate, s, t);
}
