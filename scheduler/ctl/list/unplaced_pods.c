#include "scheduler/ctl/list/unplaced_pods.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/bitset.h"
#include "collections/vec.h"
#include "enc/json/json_out.h"
#include "scheduler/ctl/cli/columns.h"
#include "scheduler/ctl/explain/live_cluster.h"
#include "scheduler/pods/cycle/overdue.h"
#include "scheduler/pods/model/cluster.h"

struct unplaced_pods {
	const struct cluster *cluster;
	const uint64_t *beyond;                /* of overdue_find_beyond */
	struct VEC(const struct task *) tasks; /* by queue and name */
};

enum reason { BEYOND_QUOTA, TIMED_OUT, UNSCHEDULABLE, NOT_TRIED };

static const struct {
	const char *name, *text;
} reasons[] = {
	[BEYOND_QUOTA] = { "BeyondQuota", "beyond the limit of its queue, or of one above" },
	[TIMED_OUT] = { "ReservationTimedOut", "its scheduler has not placed it in time" },
	[UNSCHEDULABLE] = { "Unschedulable", "its scheduler finds no node" },
	[NOT_TRIED] = { "NotTried", "its scheduler has not tried it yet" },
};

/* A live cluster does not say since when a pod has had no gate: only a dump knows which have timed
 * out. */
static enum reason reason_of(const struct unplaced_pods *p, const struct task *t)
{
	if (p->beyond != NULL && bitset_has(p->beyond, t->id)) {
		return BEYOND_QUOTA;
	}
	if ((t->flags & TASK_OVERDUE) != 0) {
		return TIMED_OUT;
	}
	return t->cond == POD_COND_UNSCHEDULABLE ? UNSCHEDULABLE : NOT_TRIED;
}

static int by_queue_and_name(const void *a, const void *b, void *ctx)
{
	const struct task *const *x = a, *const *y = b;
	const struct cluster *c = ctx;
	int r = strcmp(c->queues.v[(*x)->charge_queue]->name,
		       c->queues.v[(*y)->charge_queue]->name);

	if (r == 0) {
		r = strcmp((*x)->namespace_, (*y)->namespace_);
	}
	return r != 0 ? r : strcmp((*x)->name, (*y)->name);
}

struct unplaced_pods *unplaced_pods_create(const struct live_cluster *s)
{
	const struct cluster *c = live_cluster_cluster(s);
	struct unplaced_pods *p = xmalloc_zero(1, sizeof(*p));

	p->cluster = c;
	p->beyond = overdue_find_beyond(live_cluster_session(s));
	for (size_t i = 0; i < c->tasks.n; i++) {
		const struct task *t = c->tasks.v[i];

		if (t != NULL && overdue_is_let_go(live_cluster_session(s), t)) {
			vec_push(&p->tasks, t);
		}
	}
	if (p->tasks.n > 1) {
		qsort_r(p->tasks.v, p->tasks.n, sizeof(p->tasks.v[0]), by_queue_and_name,
			(void *)(uintptr_t)c);
	}
	return p;
}

void unplaced_pods_destroyp(struct unplaced_pods **pp)
{
	vec_finish(&(*pp)->tasks);
	free(*pp);
	*pp = NULL;
}

static void describe_charge(const struct cluster *c, const struct task *t, struct strbuf *out)
{
	const struct res *charge = pod_class_charge(t->klass);
	char buf[64];

	strbuf_reset(out);
	for (unsigned d = 0; d < res_names_count(c->res); d++) {
		if (d != RES_PODS && res_get(charge, d) > 0) {
			strbuf_printf(out, "%s%s %s", out->len > 0 ? ", " : "",
				      res_names_get(c->res, d),
				      live_cluster_amount(d, res_get(charge, d), buf));
		}
	}
	if (out->len == 0) {
		strbuf_add_ch(out, '-');
	}
}

void unplaced_pods_print(const struct unplaced_pods *p, FILE *to)
{
	static const char *const heads[] = { "POD", "QUEUE", "HOLDS", "REASON", NULL };
	CLEANUP(columns_destroyp) struct columns *table = columns_create(heads);
	CLEANUP(strbuf_finish) struct strbuf holds = STRBUF_INIT;

	for (size_t i = 0; i < p->tasks.n; i++) {
		const struct task *t = p->tasks.v[i];

		columns_add(table, "%s/%s", t->namespace_, t->name);
		columns_add(table, "%s", p->cluster->queues.v[t->charge_queue]->name);
		describe_charge(p->cluster, t, &holds);
		columns_add(table, "%s", holds.p);
		columns_add(table, "%s", reasons[reason_of(p, t)].text);
	}
	if (p->tasks.n > 0) {
		fprintf(to, "\n");
		columns_print(table, to);
	}
}

void unplaced_pods_write(const struct unplaced_pods *p, const struct queue *q, struct json_out *o)
{
	json_out_key(o, "unplacedPods");
	json_out_array(o);
	for (size_t i = 0; i < p->tasks.n; i++) {
		const struct task *t = p->tasks.v[i];

		if (t->charge_queue != q->id) {
			continue;
		}
		json_out_object(o);
		json_out_kv(o, "namespace", t->namespace_);
		json_out_kv(o, "name", t->name);
		json_out_kv(o, "reason", reasons[reason_of(p, t)].name);
		json_out_object_end(o);
	}
	json_out_array_end(o);
}
