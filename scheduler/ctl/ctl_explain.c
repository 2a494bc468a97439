#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/kueue/kueue_keys.h"
#include "api/volcano/keys.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "enc/json/json_out.h"
#include "scheduler/ctl/cli/cluster_args.h"
#include "scheduler/ctl/cli/columns.h"
#include "scheduler/ctl/ctl.h"
#include "scheduler/ctl/explain/live_cluster.h"
#include "scheduler/ctl/explain/recorded_status.h"
#include "scheduler/ctl/explain/workload_explain_json.h"
#include "scheduler/ctl/explain/workload_explain_text.h"
#include "scheduler/ctl/list/kueue_kinds.h"
#include "scheduler/ctl/list/workload_owner.h"
#include "scheduler/pods/ledger/ledger.h"
#include "scheduler/pods/ledger/totals.h"
#include "scheduler/pods/model/pod_class.h"
#include "scheduler/pods/session/fit.h"
#include "scheduler/pods/session/gang.h"
#include "scheduler/pods/session/hooks.h"
#include "scheduler/pods/session/session.h"

/* One resource of one queue, from the pod's queue up to the root. */
struct line {
	const char *queue, *resource;
	unsigned dim;
	int64_t limit, allocated, reserved, need;
	bool is_short;
};

struct explanation {
	const struct task *task;
	const struct podgroup *podgroup; /* NULL: none yet */
	const struct queue *queue;       /* named by its PodGroup; NULL: none */
	const struct queue *charged;     /* NULL: none */
	const char *verdict;             /* one sentence */
	const char *gate;
	const char *nodes;
	struct VEC(struct line) lines;
	int32_t members, have, missing; /* of the gang */
	struct res needs;               /* of `pods` pods */
	unsigned pods;
};

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
static void fill_line(const struct task *t, const struct queue_totals *totals, struct line *l)
{
	int64_t own = res_get(&t->klass->request, l->dim);
	bool waits = ledger_is_unbound(t->charge),
	     placed = t->charge == CHARGE_ASSUMED || t->charge == CHARGE_BOUND;

	l->allocated = res_get(&totals->allocated, l->dim) - (placed ? own : 0);
	l->reserved = res_get(&totals->reserved, l->dim) - (waits ? own : 0);
	l->is_short = l->limit != RES_UNLIMITED && l->allocated + l->reserved + l->need > l->limit;
}

/* The requests that must fit at once: those of the pod, or of all missing members of its gang. */
static void sum_needs(const struct live_cluster *s, struct explanation *x)
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

static void add_lines(const struct live_cluster *s, struct explanation *x, const struct queue *from)
{
	const struct cluster *c = live_cluster_cluster(s);
	const struct queue *q;

	QUEUE_FOR_EACH_UP (q, c, from->id) {
		const struct res *limit = session_queue_limit(live_cluster_session(s), q);

		for (unsigned d = 0; d < res_names_count(c->res); d++) {
			struct line l = { .queue = q->name,
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

static const struct line *first_short(const struct explanation *x)
{
	for (size_t i = 0; i < x->lines.n; i++) {
		if (x->lines.v[i].is_short) {
			return &x->lines.v[i];
		}
	}
	return NULL;
}

static const char *judge_quota(const struct live_cluster *s, const struct explanation *x)
{
	struct arena *a = session_arena(live_cluster_session(s));
	const struct line *l = first_short(x);
	const struct task *t = x->task;
	struct reason why = { 0 };

	if (!hooks_queue_accepts(live_cluster_session(s), x->queue, &why)) {
		return arena_printf(a, "queue %s accepts no pods: %s", x->queue->name,
				    why.code == NULL ? "closed" : why.code);
	}
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
	if (l != NULL) {
		char left[64], need[64];

		return arena_printf(
			a, "waits for quota: queue %s has %s %s left, %s needed%s", l->queue,
			live_cluster_amount(l->dim,
					    l->limit > l->allocated + l->reserved
						    ? l->limit - l->allocated - l->reserved
						    : 0,
					    left),
			l->resource, live_cluster_amount(l->dim, l->need, need),
			x->pods > 1 ? " by its gang" : "");
	}
	if (x->missing > 0 && x->have < x->members) {
		return arena_printf(a, "waits for its gang: %d of %d members exist", x->have,
				    x->members);
	}
	return "there is quota: the gate is removed in the next cycle";
}

/* For a pod with a node: the queue that it is charged to, if that is unexpected. */
static const char *judge_placed(const struct live_cluster *s, const struct explanation *x)
{
	struct arena *a = session_arena(live_cluster_session(s));
	const struct queue *q = x->charged;
	const struct line *l = first_short(x);
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

static const char *judge(const struct live_cluster *s, const struct explanation *x)
{
	const struct task *t = x->task;

	if (t->status != TASK_PENDING) {
		return t->node == MODEL_NONE ? "does not wait: it has finished"
					     : judge_placed(s, x);
	}
	if ((t->flags & TASK_OURS) == 0) {
		return "is not scheduled by Headgate: it names another scheduler";
	}
	if (x->podgroup == NULL) {
		return "waits for its PodGroup: the PodGroup controller has not annotated it yet";
	}
	if (!x->podgroup->exists) {
		return "waits for its PodGroup, which does not exist";
	}
	if (x->queue == NULL || !x->queue->exists) {
		return "waits for its queue, which does not exist";
	}
	if (t->klass != NULL && t->klass->unsupported != NULL) {
		return t->klass->unsupported;
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

static void explain(const struct live_cluster *s, const struct task *t, struct explanation *x)
{
	const struct cluster *c = live_cluster_cluster(s);
	struct gang_need need;

	x->task = t;
	x->podgroup = t->podgroup == MODEL_NONE ? NULL : c->podgroups.v[t->podgroup];
	x->queue = x->podgroup == NULL || x->podgroup->queue == MODEL_NONE
			   ? NULL
			   : c->queues.v[x->podgroup->queue];
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

static void print_table(const struct explanation *x)
{
	static const char *const heads[] = { "QUEUE",    "RESOURCE", "LIMIT", "ALLOCATED",
					     "RESERVED", "NEEDS",    "",      NULL };
	CLEANUP(columns_destroyp) struct columns *table = columns_create(heads);
	char buf[64];

	printf("Pod:       %s/%s\n", x->task->namespace_, x->task->name);
	printf("Verdict:   %s\n", x->verdict);
	printf("Gate:      %s\n", x->gate);
	printf("PodGroup:  %s\n", x->podgroup == NULL ? "<none>" : x->podgroup->name);
	if (x->members > 1) {
		printf("Gang:      %d of %d members have quota\n", x->have, x->members);
	}
	printf("Queue:     %s\n", x->queue == NULL ? "<none>" : x->queue->name);
	printf("Charge:    %s\n", ledger_state_name(x->task->charge));
	if (x->charged != NULL && x->charged != x->queue) {
		printf("Charged:   %s\n", x->charged->name);
	}
	if (x->nodes != NULL) {
		printf("Nodes:     %s\n", x->nodes);
	}
	if (x->lines.n == 0) {
		return;
	}
	printf("\n");
	for (size_t i = 0; i < x->lines.n; i++) {
		const struct line *l = &x->lines.v[i];

		columns_add(table, "%s", l->queue);
		columns_add(table, "%s", l->resource);
		columns_add(table, "%s", live_cluster_amount(l->dim, l->limit, buf));
		columns_add(table, "%s", live_cluster_amount(l->dim, l->allocated, buf));
		columns_add(table, "%s", live_cluster_amount(l->dim, l->reserved, buf));
		columns_add(table, "%s", live_cluster_amount(l->dim, l->need, buf));
		columns_add(table, "%s", l->is_short ? "<- short" : "");
	}
	columns_print(table, stdout);
}

static void write_line(struct json_out *o, const struct line *l)
{
	char buf[64];

	json_out_object(o);
	json_out_kv(o, "queue", l->queue);
	json_out_kv(o, "resource", l->resource);
	if (l->limit != RES_UNLIMITED) {
		json_out_kv(o, "limit", live_cluster_amount(l->dim, l->limit, buf));
	}
	json_out_kv(o, "allocated", live_cluster_amount(l->dim, l->allocated, buf));
	json_out_kv(o, "reserved", live_cluster_amount(l->dim, l->reserved, buf));
	json_out_kv(o, "needs", live_cluster_amount(l->dim, l->need, buf));
	json_out_kv_bool(o, "short", l->is_short);
	json_out_object_end(o);
}

static void print_json(const struct explanation *x)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct json_out o;

	json_out_init(&o, &text);
	json_out_object(&o);
	json_out_kv(&o, "namespace", x->task->namespace_);
	json_out_kv(&o, "name", x->task->name);
	json_out_kv(&o, "verdict", x->verdict);
	json_out_kv(&o, "gate", x->gate);
	json_out_kv(&o, "podGroup", x->podgroup == NULL ? NULL : x->podgroup->name);
	json_out_kv(&o, "queue", x->queue == NULL ? NULL : x->queue->name);
	json_out_kv(&o, "charge", ledger_state_name(x->task->charge));
	json_out_kv(&o, "chargedQueue", x->charged == NULL ? NULL : x->charged->name);
	json_out_kv_int(&o, "minMember", x->members);
	json_out_kv_int(&o, "membersWithQuota", x->have);
	json_out_kv(&o, "nodes", x->nodes);
	json_out_key(&o, "quota");
	json_out_array(&o);
	for (size_t i = 0; i < x->lines.n; i++) {
		write_line(&o, &x->lines.v[i]);
	}
	json_out_array_end(&o);
	json_out_object_end(&o);
	printf("%s\n", text.p);
}

static int find_pod(const struct live_cluster *s, const struct cluster_args *f,
		    const struct task **ret, struct err *err)
{
	CLEANUP(xmalloc_freep) char *key = cluster_args_key(f, f->rest[1]);

	*ret = cluster_task_find(live_cluster_cluster(s), str_of(key));
	return *ret == NULL ? err_set(err, ERR_NOT_FOUND, "pod %s not found", key) : 0;
}

static int explain_pod(const struct cluster_args *f, struct err *err)
{
	CLEANUP(live_cluster_destroyp) struct live_cluster *s = NULL;
	struct explanation x = { .lines = VEC_INIT };
	const struct task *t = NULL;
	int r = live_cluster_load(f, &s, err);

	if (r == -ERR_FORBIDDEN) {
		return recorded_status_pod(f, err);
	}
	if (r == 0) {
		r = find_pod(s, f, &t, err);
	}
	if (r < 0) {
		return r;
	}
	assert(t != NULL); /* find_pod has found it */
	explain(s, t, &x);
	if (f->output == VERB_JSON) {
		print_json(&x);
	} else {
		print_table(&x);
	}
	vec_finish(&x.lines);
	return 0;
}

static int explain_recorded(const struct cluster_args *f, const char *key, struct err *err);

/* The key of the Workload named, or of the Workload of the job named; NULL: that job has none. */
static const char *find_workload(const struct cluster_args *f, const struct live_workloads *s,
				 const char *key)
{
	const char *name = strchr(key, '/') + 1;
	struct str space = { key, (size_t)(name - 1 - key) };
	const struct kinds_row *kind = kueue_kinds_find(f->rest[0]);
	size_t n;
	struct sim_object *const *v = sim_input_objects(s->in, &n);

	if (kind != NULL && str_streq(kind->kind, "Workload")) {
		return key;
	}
	for (size_t i = 0; i < n; i++) {
		if (v[i]->kind == SCHED_WORKLOADS &&
		    str_eq_c(space, jdoc_path_str(v[i]->json, "metadata.namespace")) &&
		    workload_owner_is(v[i]->json, f->rest[0], name)) {
			return v[i]->key;
		}
	}
	return NULL;
}

static int explain_workload(const struct cluster_args *f, struct err *err)
{
	CLEANUP(live_workloads_finish) struct live_workloads source = { 0 };
	CLEANUP(workload_explain_finish) struct workload_explanation x = { 0 };
	CLEANUP(xmalloc_freep) char *key = cluster_args_key(f, f->rest[1]);
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	const char *workload = NULL;
	int r = live_workloads_load(f, &source, err);

	if (r == -ERR_FORBIDDEN) {
		return explain_recorded(f, key, err);
	}
	if (r == 0) {
		workload = find_workload(f, &source, key);
		r = workload == NULL ? err_set(err, ERR_NOT_FOUND,
					       "%s %s has no Workload; it gets one if it has the "
					       "label " KUEUE_QUEUE_NAME,
					       f->rest[0], key)
				     : workload_explain_workload(&source, workload, &x, err);
	}
	if (r < 0) {
		return r;
	}
	if (f->output == VERB_JSON) {
		workload_explain_json_write(&x, &text);
		printf("%s\n", text.p);
	} else {
		workload_explain_text_print(&x, stdout);
	}
	return 0;
}

/* For a user who may read the namespace alone: what the scheduler has written. */
static int explain_recorded(const struct cluster_args *f, const char *key, struct err *err)
{
	CLEANUP(live_workloads_finish) struct live_workloads source = { 0 };
	CLEANUP(xmalloc_freep)
	char *space = xmalloc_dup_n(key, (size_t)(strchr(key, '/') - key));
	const struct err why = *err;
	const char *workload = NULL;
	int r = live_workloads_load_namespace(f, space, &why, RECORDED_STATUS_LACKS, &source, err);

	if (r == 0) {
		workload = find_workload(f, &source, key);
		r = workload == NULL || sim_input_find(source.in, SCHED_WORKLOADS, workload) == NULL
			    ? err_set(err, ERR_NOT_FOUND, "%s %s: no Workload found", f->rest[0],
				      key)
			    : 0;
	}
	if (r == 0) {
		recorded_status_workload(f, &source, workload);
	}
	return r;
}

static bool is_pod(const char *kind)
{
	return str_streq(kind, "pod") || str_streq(kind, "pods") || str_streq(kind, "po");
}

/* A Workload, or the kind of its owner: a Job, or KIND.GROUP. */
static bool is_workload(const char *kind)
{
	const struct kinds_row *row = kueue_kinds_find(kind);

	if (row != NULL) {
		return str_streq(row->kind, "Workload");
	}
	row = kinds_by_alias(str_of(kind));
	return row != NULL ? str_streq(row->kind, "Job") : strchr(kind, '.') != NULL;
}

static int run_verb(int argc, char **argv)
{
	struct cluster_args f;
	struct err err = ERR_INIT;
	int code;

	if (!cluster_args_parse(&ctl_explain_verb, argc, argv, &f, &code)) {
		return code;
	}
	if (f.nrest == 2 && is_pod(f.rest[0]) && f.files.n == 0) {
		return explain_pod(&f, &err) < 0 ? verb_fail(&err) : VERB_OK;
	}
	if (f.nrest == 2 && is_workload(f.rest[0]) && f.dump == NULL) {
		return explain_workload(&f, &err) < 0 ? verb_fail(&err) : VERB_OK;
	}
	fprintf(stderr, "headgatectl: expected: explain pod NAMESPACE/NAME [--dump FILE], or "
			"explain workload|job NAMESPACE/NAME [-f FILE]\n");
	return VERB_USAGE;
}

static const struct flags_row *const tables[] = {
	cluster_args_reach,     cluster_args_dump,   cluster_args_files, cluster_args_config,
	cluster_args_namespace, cluster_args_output, flags_help,         NULL,
};

const struct verb ctl_explain_verb = {
	VERB("explain"),
	.help = "explain why a pod or a Workload waits, with the amounts",
	.flags.args = "pod NAMESPACE/NAME\nworkload NAMESPACE/NAME\njob NAMESPACE/NAME",
	.flags.doc = "Explain why a pod waits: its gate, the amounts of its queue and of all "
		     "queues above, "
		     "the reasons why nodes do not fit. Or why a Workload waits: its position, the "
		     "amounts "
		     "along its cohorts, the Workloads that it would preempt and what protects the "
		     "others; or, if it holds quota, which Workloads could preempt it. A Job, or "
		     "KIND.GROUP of another job, selects its Workload.",
	.flags.notes =
		"--dump and --scheduler-conf are for pods; -f, --config and --now for Workloads.",
	.flags.tables = tables,
	.run = run_verb,
};
