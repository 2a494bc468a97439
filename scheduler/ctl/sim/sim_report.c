#include "scheduler/ctl/sim/sim_report.h"

#include <stdlib.h>
#include <string.h>

#include "api/kinds.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/intern.h"
#include "enc/json/json_out.h"
#include "scheduler/ctl/cli/columns.h"
#include "scheduler/ctl/sim/simulation.h"
#include "scheduler/ctl/sim/workload_report.h"
#include "scheduler/ctl/sim/workload_table.h"
#include "scheduler/ctl/sim/workload_waiting.h"
#include "scheduler/pods/model/cluster.h"

static const char *const step_names[] = {
	[SIM_UNGATE] = "Ungate",     [SIM_BIND] = "Bind",       [SIM_EVICT] = "Evict",
	[SIM_PIPELINE] = "Pipeline", [SIM_PUBLISH] = "Publish", [SIM_WITHDRAW] = "Withdraw",
	[SIM_EVENT] = "Event",
};

static const char *const status_names[TASK_STATUS_COUNT_] = {
	"Pending", "Allocated", "Pipelined", "Binding", "Bound",
	"Running", "Releasing", "Succeeded", "Failed",  "Unknown",
};

static const char *const phase_names[PODGROUP_PHASE_COUNT_] = { "Pending", "Inqueue", "Running",
								"Unknown", "Completed" };

static int by_podgroup_name(const void *a, const void *b)
{
	const struct podgroup *const *x = a, *const *y = b;
	int r = strcmp((*x)->namespace_, (*y)->namespace_);

	if (r == 0) {
		r = strcmp((*x)->name, (*y)->name);
	}
	return r != 0 ? r : (*x)->id < (*y)->id ? -1 : 1;
}

/* A pod that another scheduler places is no group. */
static bool is_shown(const struct cluster *c, const struct podgroup *g)
{
	return g->kind != PODGROUP_KUBE &&
	       (g->kind != PODGROUP_ALONE ||
		(c->tasks.v[g->tasks.v[0]]->flags & TASK_GATE_ONLY) == 0);
}

/* PodGroups by name, those of Kubernetes by their parts; the caller frees. */
static const struct podgroup **sorted_podgroups(const struct cluster *c, size_t *ret_n)
{
	const struct podgroup **v = xmalloc_zero(c->podgroups.n + 1, sizeof(*v));
	size_t n = 0;

	for (size_t i = 0; i < c->podgroups.n; i++) {
		const struct podgroup *g = c->podgroups.v[i];

		if (g != NULL && g->exists && is_shown(c, g)) {
			v[n++] = g;
		}
	}
	qsort(v, n, sizeof(v[0]), by_podgroup_name);
	*ret_n = n;
	return v;
}

static int by_task_name(const void *a, const void *b)
{
	const struct task *const *x = a, *const *y = b;
	int r = strcmp((*x)->namespace_, (*y)->namespace_);

	return r != 0 ? r : strcmp((*x)->name, (*y)->name);
}

static void count_tasks(const struct simulation *s, const struct podgroup *g,
			unsigned counts[TASK_STATUS_COUNT_])
{
	const struct cluster *c = simulation_cluster(s);

	memset(counts, 0, TASK_STATUS_COUNT_ * sizeof(counts[0]));
	for (size_t i = 0; i < g->tasks.n; i++) {
		counts[simulation_task_status(s, c->tasks.v[g->tasks.v[i]])]++;
	}
}

static void write_optional(struct json_out *o, const char *key, const char *value)
{
	if (value != NULL) {
		json_out_kv(o, key, value);
	}
}

/* Changes of pod conditions for autoscalers are not in this section, and events have a section of
 * their own. */
static bool is_decision(const struct sim_step *step)
{
	return step->kind != SIM_PUBLISH && step->kind != SIM_WITHDRAW && step->kind != SIM_EVENT;
}

static void write_pod_decisions(const struct simulation *s, unsigned cycle, struct json_out *o)
{
	size_t n;
	const struct sim_step *steps = simulation_steps(s, &n);

	for (size_t i = 0; i < n; i++) {
		if (steps[i].cycle != cycle || !is_decision(&steps[i])) {
			continue;
		}
		json_out_object(o);
		json_out_kv(o, "kind", step_names[steps[i].kind]);
		json_out_kv_int(o, "cycle", steps[i].cycle);
		json_out_kv(o, "pod", steps[i].object);
		write_optional(o, "node", steps[i].node);
		write_optional(o, "podGroup", steps[i].group);
		write_optional(o, "gate", steps[i].gate);
		if (steps[i].kind == SIM_EVICT) {
			write_optional(o, "message", steps[i].message);
		}
		json_out_object_end(o);
	}
}

/* In each cycle the Workload engine decides first. */
static void write_decisions(const struct sim_report_parts *p, struct json_out *o)
{
	json_out_key(o, "decisions");
	json_out_array(o);
	for (unsigned cycle = 1; cycle <= simulation_cycles(p->pods); cycle++) {
		if (p->quota != NULL) {
			workload_report_decisions(p->quota, cycle, o);
		}
		write_pod_decisions(p->pods, cycle, o);
	}
	json_out_array_end(o);
}

static const char *queue_name(const struct cluster *c, const struct podgroup *g)
{
	return g->queue_name == MODEL_NONE ? "-" : intern_str(c->names, g->queue_name).p;
}

static void write_podgroup(const struct simulation *s, const struct podgroup *g, struct json_out *o)
{
	CLEANUP(xmalloc_freep) char *key = xmalloc_printf("%s/%s", g->namespace_, g->name);
	unsigned counts[TASK_STATUS_COUNT_];

	count_tasks(s, g, counts);
	json_out_object(o);
	json_out_kv(o, "name", key);
	if (g->queue_name != MODEL_NONE) {
		json_out_kv(o, "queue", queue_name(simulation_cluster(s), g));
	}
	json_out_kv(o, "phase", phase_names[g->phase]);
	json_out_key(o, "tasks");
	json_out_object(o);
	for (int i = 0; i < TASK_STATUS_COUNT_; i++) {
		if (counts[i] > 0) {
			json_out_kv_int(o, status_names[i], counts[i]);
		}
	}
	json_out_object_end(o);
	json_out_object_end(o);
}

static void write_podgroups(const struct simulation *s, struct json_out *o)
{
	size_t n;
	const struct podgroup **podgroups = sorted_podgroups(simulation_cluster(s), &n);

	json_out_key(o, "podGroups");
	json_out_array(o);
	for (size_t i = 0; i < n; i++) {
		write_podgroup(s, podgroups[i], o);
	}
	json_out_array_end(o);
	free(podgroups);
}

static void write_pod_events(const struct simulation *s, unsigned cycle, struct json_out *o)
{
	size_t n;
	const struct sim_step *steps = simulation_steps(s, &n);

	for (size_t i = 0; i < n; i++) {
		if (steps[i].cycle != cycle || steps[i].kind != SIM_EVENT) {
			continue;
		}
		json_out_object(o);
		json_out_kv(o, "type", steps[i].warning ? "Warning" : "Normal");
		json_out_kv(o, "object", steps[i].object);
		write_optional(o, "reason", steps[i].reason);
		write_optional(o, "message", steps[i].message);
		json_out_object_end(o);
	}
}

static void write_events(const struct sim_report_parts *p, struct json_out *o)
{
	json_out_key(o, "events");
	json_out_array(o);
	for (unsigned cycle = 1; cycle <= simulation_cycles(p->pods); cycle++) {
		if (p->quota != NULL) {
			workload_report_events(p->quota, cycle, o);
		}
		write_pod_events(p->pods, cycle, o);
	}
	json_out_array_end(o);
}

/* Writes a section of the Workload engine; empty if it did not run. */
static void write_quota(const struct sim_report_parts *p, const char *key, bool array,
			void (*write)(const struct workload_simulation *, struct json_out *),
			struct json_out *o)
{
	json_out_key(o, key);
	if (p->quota != NULL) {
		write(p->quota, o);
	} else if (array) {
		json_out_array(o);
		json_out_array_end(o);
	} else {
		json_out_object(o);
		json_out_object_end(o);
	}
}

/* A pod that still has our gate although it is charged was ungated in the last cycle, and the
 * patch is acknowledged only before the next one. */
static const char *state_of(const struct simulation *s, const struct task *t)
{
	if (simulation_task_status(s, t) == TASK_PIPELINED) {
		return "waits for terminating pods on its node";
	}
	if ((t->flags & TASK_OUR_GATE) != 0) {
		return t->charge == CHARGE_NONE && (t->flags & TASK_UNGATING) == 0 ? "gated"
										   : "ungated";
	}
	if ((t->flags & TASK_FOREIGN_GATE) != 0) {
		return "gated by another controller";
	}
	if ((t->flags & TASK_GATE_ONLY) != 0) {
		return "ungated"; /* its own scheduler places it */
	}
	return t->cond == POD_COND_UNSCHEDULABLE ? "published" : "pending";
}

/* The pods that wait, by name; the caller frees. */
static const struct task **waiting_pods(const struct simulation *s, size_t *ret_n)
{
	const struct cluster *c = simulation_cluster(s);
	const struct task **v = xmalloc_zero(c->tasks.n + 1, sizeof(*v));
	size_t n = 0;

	for (size_t i = 0; i < c->tasks.n; i++) {
		const struct task *t = c->tasks.v[i];

		if (t != NULL && (t->flags & TASK_OURS) != 0 && t->status == TASK_PENDING) {
			v[n++] = t;
		}
	}
	qsort(v, n, sizeof(v[0]), by_task_name);
	*ret_n = n;
	return v;
}

static void write_waiting_pod(const struct simulation *s, const struct task *t, struct json_out *o)
{
	const struct cluster *c = simulation_cluster(s);
	CLEANUP(xmalloc_freep) char *key = xmalloc_printf("%s/%s", t->namespace_, t->name);

	json_out_object(o);
	json_out_kv(o, "pod", key);
	if (t->podgroup != MODEL_NONE && c->podgroups.v[t->podgroup]->queue_name != MODEL_NONE) {
		json_out_kv(o, "queue", queue_name(c, c->podgroups.v[t->podgroup]));
	}
	json_out_kv(o, "state", state_of(s, t));
	write_optional(o, "reason", simulation_why(s, t));
	json_out_object_end(o);
}

/* The conditions that autoscalers act on. */
static void write_published(const struct simulation *s, struct json_out *o)
{
	size_t n;
	const struct sim_step *steps = simulation_steps(s, &n);

	json_out_key(o, "published");
	json_out_array(o);
	for (size_t i = 0; i < n; i++) {
		if (steps[i].kind != SIM_PUBLISH && steps[i].kind != SIM_WITHDRAW) {
			continue;
		}
		json_out_object(o);
		json_out_kv(o, "kind", step_names[steps[i].kind]);
		json_out_kv_int(o, "cycle", steps[i].cycle);
		json_out_kv(o, "pod", steps[i].object);
		write_optional(o, "message", steps[i].message);
		json_out_object_end(o);
	}
	json_out_array_end(o);
}

static void write_waiting_pods(const struct simulation *s, struct json_out *o)
{
	size_t n;
	const struct task **v = waiting_pods(s, &n);

	json_out_key(o, "waitingPods");
	json_out_array(o);
	for (size_t i = 0; i < n; i++) {
		write_waiting_pod(s, v[i], o);
	}
	json_out_array_end(o);
	free(v);
}

static void write_objects(const char *key, const struct sim_report_other *v, size_t n,
			  struct json_out *o)
{
	json_out_key(o, key);
	json_out_array(o);
	for (size_t i = 0; i < n; i++) {
		json_out_object(o);
		json_out_kv(o, "kind", sched_kinds_names(v[i].kind)->kind);
		json_out_kv(o, "name", v[i].key);
		json_out_kv(o, "reason", v[i].reason);
		json_out_object_end(o);
	}
	json_out_array_end(o);
}

static void write_input(const struct sim_report_input *in, struct json_out *o)
{
	json_out_key(o, "read");
	json_out_object(o);
	for (int i = 0; i < SCHED_RESOURCE_COUNT_; i++) {
		if (in->counts[i] > 0) {
			json_out_kv_int(o, sched_kinds_names((enum sched_resource)i)->kind,
					(int64_t)in->counts[i]);
		}
	}
	json_out_object_end(o);
	write_objects("withoutWorkload", in->without, in->nwithout, o);
	write_objects("others", in->others, in->nothers, o);
	json_out_key(o, "warnings");
	json_out_array(o);
	for (size_t i = 0; i < in->nwarnings; i++) {
		json_out_str(o, in->warnings[i]);
	}
	json_out_array_end(o);
}

void sim_report_json(const struct sim_report_parts *parts, const struct sim_report_show *show,
		     struct strbuf *out)
{
	struct json_out o;

	json_out_init(&o, out);
	json_out_object(&o);
	json_out_kv_int(&o, "cycles", simulation_cycles(parts->pods));
	write_decisions(parts, &o);
	write_quota(parts, "queues", false, workload_report_queues, &o);
	write_quota(parts, "waiting", true, workload_report_waiting, &o);
	write_podgroups(parts->pods, &o);
	write_waiting_pods(parts->pods, &o);
	write_published(parts->pods, &o);
	if (parts->input != NULL) {
		write_input(parts->input, &o);
	}
	if (show->shares) {
		write_quota(parts, "shares", false, workload_report_shares, &o);
	}
	if (show->capacity) {
		write_quota(parts, "capacity", false, workload_report_capacity, &o);
	}
	if (show->workloads) {
		write_quota(parts, "workloads", true, workload_report_workloads, &o);
	}
	if (show->events) {
		write_events(parts, &o);
	}
	json_out_object_end(&o);
	json_out_end(&o);
}

static const char *or_dash(const char *text)
{
	return text == NULL || text[0] == '\0' ? "-" : text;
}

static const char *step_detail(const struct sim_step *step)
{
	switch (step->kind) {
	case SIM_UNGATE:
		return step->gate;
	case SIM_BIND:
	case SIM_PIPELINE:
		return step->node;
	case SIM_EVICT:
	case SIM_PUBLISH:
	case SIM_WITHDRAW:
	case SIM_EVENT:
		break;
	}
	return step->message;
}

static void print_steps(const struct simulation *s, bool events, FILE *to)
{
	const char *const heads[] = { "CYCLE", events ? "EVENT" : "DECISION",
				      events ? "OBJECT" : "POD", "DETAIL", NULL };
	CLEANUP(columns_destroyp) struct columns *table = columns_create(heads);
	size_t n, rows = 0;
	const struct sim_step *steps = simulation_steps(s, &n);

	for (size_t i = 0; i < n; i++) {
		const struct sim_step *step = &steps[i];

		if ((step->kind == SIM_EVENT) != events) {
			continue;
		}
		rows++;
		columns_add(table, "%u", step->cycle);
		columns_add(table, "%s", events ? or_dash(step->reason) : step_names[step->kind]);
		columns_add(table, "%s", step->object);
		columns_add(table, "%s", or_dash(step_detail(step)));
	}
	if (rows > 0) {
		fprintf(to, "\n");
		columns_print(table, to);
	}
}

static void print_podgroups(const struct simulation *s, FILE *to)
{
	static const char *const heads[] = { "POD GROUP", "QUEUE", "PHASE", "PODS", NULL };
	CLEANUP(columns_destroyp) struct columns *table = columns_create(heads);
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	const struct cluster *c = simulation_cluster(s);
	unsigned counts[TASK_STATUS_COUNT_];
	size_t n;
	const struct podgroup **podgroups = sorted_podgroups(c, &n);

	for (size_t i = 0; i < n; i++) {
		count_tasks(s, podgroups[i], counts);
		strbuf_reset(&text);
		for (int k = 0; k < TASK_STATUS_COUNT_; k++) {
			if (counts[k] > 0) {
				strbuf_printf(&text, "%s%u %s", text.len > 0 ? ", " : "", counts[k],
					      status_names[k]);
			}
		}
		columns_add(table, "%s/%s", podgroups[i]->namespace_, podgroups[i]->name);
		columns_add(table, "%s", queue_name(c, podgroups[i]));
		columns_add(table, "%s", phase_names[podgroups[i]->phase]);
		columns_add(table, "%s", text.len > 0 ? text.p : "-");
	}
	if (n > 0) {
		fprintf(to, "\n");
		columns_print(table, to);
	}
	free(podgroups);
}

static void print_waiting(const struct simulation *s, FILE *to)
{
	static const char *const heads[] = { "WAITING POD", "QUEUE", "STATE", "WHY", NULL };
	CLEANUP(columns_destroyp) struct columns *table = columns_create(heads);
	const struct cluster *c = simulation_cluster(s);
	size_t n;
	const struct task **v = waiting_pods(s, &n);

	for (size_t i = 0; i < n; i++) {
		columns_add(table, "%s/%s", v[i]->namespace_, v[i]->name);
		columns_add(table, "%s",
			    v[i]->podgroup == MODEL_NONE
				    ? "-"
				    : queue_name(c, c->podgroups.v[v[i]->podgroup]));
		columns_add(table, "%s", state_of(s, v[i]));
		columns_add(table, "%s", or_dash(simulation_why(s, v[i])));
	}
	if (n > 0) {
		fprintf(to, "\n");
		columns_print(table, to);
	}
	free(v);
}

static void print_objects(const char *head, const struct sim_report_other *v, size_t n, FILE *to)
{
	const char *const heads[] = { head, "WHY", NULL };
	CLEANUP(columns_destroyp) struct columns *table = columns_create(heads);

	for (size_t i = 0; i < n; i++) {
		columns_add(table, "%s %s", sched_kinds_names(v[i].kind)->kind, v[i].key);
		columns_add(table, "%s", v[i].reason);
	}
	if (n > 0) {
		fprintf(to, "\n");
		columns_print(table, to);
	}
}

/* Of a run in which nothing happens. */
static void print_read(const struct sim_report_parts *parts, FILE *to)
{
	const struct sim_report_input *in = parts->input;
	size_t nsteps, nworkload_steps = 0;
	bool any = false;

	(void)simulation_steps(parts->pods, &nsteps);
	if (parts->quota != NULL) {
		(void)workload_simulation_steps(parts->quota, &nworkload_steps);
	}
	if (nsteps + nworkload_steps > 0 || sim_report_has_waiting(parts)) {
		return;
	}
	fprintf(to, "Nothing waits, and nothing was decided. Read:");
	for (int i = 0; i < SCHED_RESOURCE_COUNT_; i++) {
		if (in->counts[i] > 0) {
			fprintf(to, "%s %zu %s", any ? "," : "", in->counts[i],
				sched_kinds_names((enum sched_resource)i)->kind);
			any = true;
		}
	}
	fprintf(to, "%s\n", any ? "" : " no object");
}

static void print_quota(const struct workload_simulation *q, const struct sim_report_show *show,
			FILE *to)
{
	workload_table_decisions(q, to);
	workload_table_waiting(q, to);
	if (show->shares) {
		workload_table_shares(q, to);
	}
	if (show->capacity) {
		workload_table_capacity(q, to);
	}
	if (show->workloads) {
		workload_table_workloads(q, to);
	}
	if (show->events) {
		workload_table_events(q, to);
	}
}

void sim_report_table(const struct sim_report_parts *parts, const struct sim_report_show *show,
		      FILE *to)
{
	const struct simulation *s = parts->pods;

	fprintf(to, "%u cycle%s\n", simulation_cycles(s), simulation_cycles(s) == 1 ? "" : "s");
	if (parts->input != NULL) {
		print_read(parts, to);
	}
	if (parts->quota != NULL) {
		print_quota(parts->quota, show, to);
	}
	print_steps(s, false, to);
	print_podgroups(s, to);
	print_waiting(s, to);
	if (parts->input != NULL) {
		print_objects("WITHOUT A WORKLOAD", parts->input->without, parts->input->nwithout,
			      to);
		print_objects("NOT SCHEDULED HERE", parts->input->others, parts->input->nothers,
			      to);
	}
	if (show->events) {
		print_steps(s, true, to);
	}
}

static void note_waiting(void *ctx, const struct workload_waiting *w UNUSED)
{
	*(bool *)ctx = true;
}

bool sim_report_has_waiting(const struct sim_report_parts *parts)
{
	bool any = false;
	size_t n;
	const struct task **v = waiting_pods(parts->pods, &n);

	free(v);
	if (parts->quota != NULL) {
		workload_waiting_each(parts->quota, note_waiting, &any);
	}
	return any || n > 0 || (parts->input != NULL && parts->input->nwithout > 0);
}

bool sim_report_has_preempted(const struct sim_report_parts *parts)
{
	size_t n, nworkloads = 0;
	const struct sim_step *steps = simulation_steps(parts->pods, &n);
	const struct workload_step *workloads = NULL;
	bool any = false;

	if (parts->quota != NULL) {
		workloads = workload_simulation_steps(parts->quota, &nworkloads);
	}
	for (size_t i = 0; i < n; i++) {
		any |= steps[i].kind == SIM_EVICT;
	}
	for (size_t i = 0; i < nworkloads; i++) {
		any |= workloads[i].kind == QUOTA_DECIDE_PREEMPT;
	}
	return any;
}
