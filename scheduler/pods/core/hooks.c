#include "scheduler/pods/core/hooks.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "scheduler/pods/conf/conf.h"
#include "scheduler/pods/core/combine.h"
#include "scheduler/pods/core/hooks_fallback.h"
#include "scheduler/pods/core/session_priv.h"

struct hooks {
	struct hook_list all; /* every plugin once, owns the states */
	struct hook_list job_order, queue_order, task_order;
	struct hook_list job_enqueueable, job_enqueued, job_valid, job_ready, job_pipelined;
	struct hook_list overused, queue_accepts, allocatable, quota_limits;
	struct hook_list class_predicate, predicate, node_score;
	struct hook_list on_allocate, on_deallocate;
};

static void list_push(struct hook_list *l, const struct hook *h)
{
	l->v = xmalloc_resize(l->v, l->n + 1, sizeof(l->v[0]));
	l->v[l->n++] = *h;
}

/* One line per extension point: implemented and switched on. */
#define ADD_IF(point, on)                                                                          \
	do {                                                                                       \
		if (hook.ops->point != NULL && (on)) {                                             \
			list_push(&h->point, &hook);                                               \
		}                                                                                  \
	} while (0)

static void compile_plugin(struct hooks *h, struct hook hook, const bool *on)
{
	list_push(&h->all, &hook);
	ADD_IF(job_order, on[CONF_JOB_ORDER]);
	ADD_IF(queue_order, on[CONF_QUEUE_ORDER]);
	ADD_IF(task_order, on[CONF_TASK_ORDER]);
	ADD_IF(job_enqueueable, on[CONF_JOB_ENQUEUED]);
	ADD_IF(job_enqueued, on[CONF_JOB_ENQUEUED]);
	ADD_IF(job_valid, true); /* Volcano has no switch for it */
	ADD_IF(job_ready, on[CONF_JOB_READY]);
	ADD_IF(job_pipelined, on[CONF_JOB_PIPELINED]);
	ADD_IF(overused, on[CONF_OVERUSED]);
	ADD_IF(queue_accepts, on[CONF_ALLOCATABLE]);
	ADD_IF(allocatable, on[CONF_ALLOCATABLE]);
	ADD_IF(quota_limits, on[CONF_ALLOCATABLE]);
	ADD_IF(class_predicate, on[CONF_PREDICATE]);
	ADD_IF(predicate, on[CONF_PREDICATE]);
	ADD_IF(node_score, on[CONF_NODE_ORDER]);
	ADD_IF(on_allocate, true);
	ADD_IF(on_deallocate, true);
}

static int create_plugin(const struct sched_conf *conf, const struct conf_plugin *p,
			 const struct plugin_ops *ops, void **ret_state, struct err *err)
{
	struct plugin_args args = { .n = p->nargs,
				    .hierarchy = p->on[CONF_HIERARCHY],
				    .feature_gates_admission = conf->gates_admission };
	struct plugin_arg *v = xmalloc_zero(p->nargs, sizeof(*v));
	int r = 0;

	for (size_t i = 0; i < p->nargs; i++) {
		v[i] = (struct plugin_arg){ p->args[i].key, p->args[i].value };
	}
	args.v = v;
	*ret_state = NULL;
	if (ops->create != NULL) {
		r = ops->create(&args, ret_state, err);
	}
	free(v);
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
	free(h->job_order.v);
	free(h->queue_order.v);
	free(h->task_order.v);
	free(h->job_enqueueable.v);
	free(h->job_enqueued.v);
	free(h->job_valid.v);
	free(h->job_ready.v);
	free(h->job_pipelined.v);
	free(h->overused.v);
	free(h->queue_accepts.v);
	free(h->allocatable.v);
	free(h->quota_limits.v);
	free(h->class_predicate.v);
	free(h->predicate.v);
	free(h->node_score.v);
	free(h->on_allocate.v);
	free(h->on_deallocate.v);
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
	for (size_t i = 0; i < h->quota_limits.n; i++) {
		const struct hook *q = &h->quota_limits.v[i];

		q->ops->quota_limits(q->state, s, limits);
	}
}

static int ask_queue_order(const struct hook *h, const struct hook_call *c)
{
	return h->ops->queue_order(h->state, c->session, c->queue, c->other_queue);
}

int hooks_queue_order(const struct session *s, const struct queue *a, const struct queue *b)
{
	struct hook_call c = { .session = s, .queue = a, .other_queue = b };
	int r = combine_order(&session_hooks(s)->queue_order, ask_queue_order, &c);

	return r != 0 ? r : hooks_fallback_queue(a, b);
}

static int ask_job_order(const struct hook *h, const struct hook_call *c)
{
	return h->ops->job_order(h->state, c->session, c->podgroup, c->other_podgroup);
}

int hooks_job_preference(const struct session *s, const struct podgroup *a,
			 const struct podgroup *b)
{
	struct hook_call c = { .session = s, .podgroup = a, .other_podgroup = b };

	return combine_order(&session_hooks(s)->job_order, ask_job_order, &c);
}

int hooks_job_order(const struct session *s, const struct podgroup *a, const struct podgroup *b)
{
	int r = hooks_job_preference(s, a, b);

	return r != 0 ? r : hooks_fallback_podgroup(a, b);
}

static int ask_task_order(const struct hook *h, const struct hook_call *c)
{
	return h->ops->task_order(h->state, c->session, c->task, c->other_task);
}

int hooks_task_order(const struct session *s, const struct task *a, const struct task *b)
{
	struct hook_call c = { .session = s, .task = a, .other_task = b };
	int r = combine_order(&session_hooks(s)->task_order, ask_task_order, &c);

	return r != 0 ? r : hooks_fallback_task(a, b);
}

static bool ask_queue_accepts(const struct hook *h, const struct hook_call *c)
{
	return h->ops->queue_accepts(h->state, c->session, c->queue, c->why);
}

bool hooks_queue_accepts(const struct session *s, const struct queue *q, struct reason *why)
{
	struct hook_call c = { .session = s, .queue = q, .why = why };

	return combine_all(&session_hooks(s)->queue_accepts, ask_queue_accepts, &c);
}

static bool ask_allocatable(const struct hook *h, const struct hook_call *c)
{
	return h->ops->allocatable(h->state, c->mutable_session, c->queue, c->task, c->why);
}

bool hooks_allocatable(struct session *s, const struct queue *q, const struct task *t,
		       struct reason *why)
{
	struct hook_call c = {
		.session = s, .mutable_session = s, .queue = q, .task = t, .why = why
	};

	return combine_all(&session_hooks(s)->queue_accepts, ask_queue_accepts, &c) &&
	       combine_all(&session_hooks(s)->allocatable, ask_allocatable, &c);
}

static bool ask_overused(const struct hook *h, const struct hook_call *c)
{
	return h->ops->overused(h->state, c->session, c->queue);
}

bool hooks_overused(const struct session *s, const struct queue *q)
{
	struct hook_call c = { .session = s, .queue = q };

	return combine_any(&session_hooks(s)->overused, ask_overused, &c);
}

static enum vote ask_job_enqueueable(const struct hook *h, const struct hook_call *c)
{
	return h->ops->job_enqueueable(h->state, c->mutable_session, c->podgroup, c->why);
}

bool hooks_job_enqueueable(struct session *s, const struct podgroup *g, struct reason *why)
{
	struct hook_call c = { .session = s, .mutable_session = s, .podgroup = g, .why = why };

	return combine_vote(&session_hooks(s)->job_enqueueable, ask_job_enqueueable, &c);
}

void hooks_job_enqueued(struct session *s, const struct podgroup *g)
{
	const struct hook_list *l = &session_hooks(s)->job_enqueued;

	for (size_t i = 0; i < l->n; i++) {
		l->v[i].ops->job_enqueued(l->v[i].state, s, g);
	}
}

static bool ask_job_valid(const struct hook *h, const struct hook_call *c)
{
	return h->ops->job_valid(h->state, c->mutable_session, c->podgroup, c->why);
}

/* For people: one sentence of the PodGroup's condition. */
static void explain_bar(const struct session *s, const struct podgroup *g, struct reason *why)
{
	const char *bar = s->cluster->queues.v[g->barred_by]->name;

	why->code = "QueueNotAllowed";
	why->detail = arena_printf(s->arena,
				   "namespace %s may not use queue %s: its labels do not match the "
				   "queue's selector of namespaces",
				   g->namespace_, bar);
}

bool hooks_job_valid(struct session *s, const struct podgroup *g, struct reason *why)
{
	struct hook_call c = { .session = s, .mutable_session = s, .podgroup = g, .why = why };

	if (g->barred_by != MODEL_NONE) {
		if (why != NULL) {
			explain_bar(s, g, why);
		}
		return false;
	}
	return combine_all(&session_hooks(s)->job_valid, ask_job_valid, &c);
}

static bool ask_job_ready(const struct hook *h, const struct hook_call *c)
{
	return h->ops->job_ready(h->state, c->session, c->podgroup);
}

bool hooks_job_ready(const struct session *s, const struct podgroup *g)
{
	struct hook_call c = { .session = s, .podgroup = g };

	return combine_all(&session_hooks(s)->job_ready, ask_job_ready, &c);
}

static enum vote ask_job_pipelined(const struct hook *h, const struct hook_call *c)
{
	return h->ops->job_pipelined(h->state, c->session, c->podgroup);
}

bool hooks_job_pipelined(const struct session *s, const struct podgroup *g)
{
	struct hook_call c = { .session = s, .podgroup = g };

	return combine_vote(&session_hooks(s)->job_pipelined, ask_job_pipelined, &c);
}

static bool ask_class_predicate(const struct hook *h, const struct hook_call *c)
{
	return h->ops->class_predicate(h->state, c->session, c->klass, c->node, c->why);
}

bool hooks_class_predicate(const struct session *s, const struct pod_class *k, const struct node *n,
			   struct reason *why)
{
	struct hook_call c = { .session = s, .klass = k, .node = n, .why = why };

	return combine_all(&session_hooks(s)->class_predicate, ask_class_predicate, &c);
}

static bool ask_predicate(const struct hook *h, const struct hook_call *c)
{
	return h->ops->predicate(h->state, c->session, c->task, c->node, c->why);
}

bool hooks_predicate(const struct session *s, const struct task *t, const struct node *n,
		     struct reason *why)
{
	struct hook_call c = { .session = s, .task = t, .node = n, .why = why };

	return combine_all(&session_hooks(s)->predicate, ask_predicate, &c);
}

static double ask_node_score(const struct hook *h, const struct hook_call *c)
{
	return h->ops->node_score(h->state, c->session, c->klass, c->node);
}

double hooks_node_score(const struct session *s, const struct pod_class *k, const struct node *n)
{
	struct hook_call c = { .session = s, .klass = k, .node = n };

	return combine_sum(&session_hooks(s)->node_score, ask_node_score, &c);
}

void hooks_on_allocate(struct session *s, const struct task *t)
{
	const struct hook_list *l = &session_hooks(s)->on_allocate;

	for (size_t i = 0; i < l->n; i++) {
		l->v[i].ops->on_allocate(l->v[i].state, s, t);
	}
}

void hooks_on_deallocate(struct session *s, const struct task *t)
{
	const struct hook_list *l = &session_hooks(s)->on_deallocate;

	for (size_t i = 0; i < l->n; i++) {
		l->v[i].ops->on_deallocate(l->v[i].state, s, t);
	}
}
