#include "scheduler/ctl/sim/workload_table.h"

#include <inttypes.h>
#include <stdlib.h>

#include "api/kueue/kueue_keys.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "scheduler/ctl/cli/columns.h"
#include "scheduler/ctl/sim/quota_lists.h"
#include "scheduler/ctl/sim/workload_waiting.h"
#include "scheduler/workloads/assign/assign_reason.h"
#include "scheduler/workloads/forest/amount.h"
#include "scheduler/workloads/forest/share.h"
#include "scheduler/workloads/model/quota_store.h"

static const struct quota_model *model_of(const struct workload_simulation *s)
{
	return forest_model(workload_simulation_forest(s));
}

static const char *or_dash(const char *text)
{
	return text == NULL || text[0] == '\0' ? "-" : text;
}

/* The quantity, or words about an amount that is counted as none. */
static const char *amount_text(const char *resource, int64_t amount,
			       char out[WORKLOAD_STEP_AMOUNT_MAX])
{
	_Static_assert(WORKLOAD_STEP_AMOUNT_MAX >= ASSIGN_REASON_AMOUNT_MAX, "room for the words");
	if (amount >= AMOUNT_REQUEST_MAX) {
		assign_reason_amount(resource, amount, out);
		return out;
	}
	return workload_step_amount(resource, amount, out);
}

static void print(struct columns *table, size_t rows, FILE *to)
{
	if (rows > 0) {
		fprintf(to, "\n");
		columns_print(table, to);
	}
}

/* "main x3 of 5: cpu 6 of default, memory 1Gi of default" */
static void describe_podset(const struct workload_step_podset *p, const struct workload *w,
			    struct strbuf *out)
{
	char amount[WORKLOAD_STEP_AMOUNT_MAX];
	int32_t all = quota_lists_pod_count(w, p->name);

	strbuf_printf(out, "%s x%d", p->name, p->count);
	if (all > p->count) {
		strbuf_printf(out, " of %d", all);
	}
	for (size_t i = 0; i < p->n; i++) {
		strbuf_printf(out, "%s %s %s of %s", i == 0 ? ":" : ",", p->v[i].resource,
			      amount_text(p->v[i].resource, p->v[i].amount, amount),
			      p->v[i].flavor);
	}
}

static void describe_assignment(const struct workload_simulation *s,
				const struct workload_step *step, struct strbuf *out)
{
	const struct workload *w = quota_workload_find(model_of(s), str_of(step->workload));

	for (size_t i = 0; i < step->npodsets; i++) {
		strbuf_add_c(out, i == 0 ? "" : "; ");
		describe_podset(&step->podsets[i], w, out);
	}
	if (step->borrowing > 0) {
		strbuf_add_c(out, " (borrows)");
	}
	if (workload_simulation_waits_for_checks(s, w)) {
		strbuf_add_c(out, "; starts after its admission checks");
	}
}

static void print_admitted(const struct workload_simulation *s, FILE *to)
{
	static const char *const heads[] = { "CYCLE", "ADMITTED", "CLUSTERQUEUE", "ASSIGNMENT",
					     NULL };
	CLEANUP(columns_destroyp) struct columns *table = columns_create(heads);
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	size_t n, rows = 0;
	const struct workload_step *steps = workload_simulation_steps(s, &n);

	for (size_t i = 0; i < n; i++) {
		if (steps[i].kind != QUOTA_DECIDE_ADMIT) {
			continue;
		}
		strbuf_reset(&text);
		describe_assignment(s, &steps[i], &text);
		columns_add(table, "%u", steps[i].cycle);
		columns_add(table, "%s", steps[i].workload);
		columns_add(table, "%s", steps[i].queue);
		columns_add(table, "%s", text.p);
		rows++;
	}
	print(table, rows, to);
}

/* A preemptor that waits names its victims in each cycle: people read each pair once, while the
 * JSON form has all of them. */
static bool is_repeated(const struct workload_step *step, struct strmap *seen)
{
	CLEANUP(xmalloc_freep) char *both = xmalloc_printf("%s %s", step->workload, step->by);
	bool repeated = step->ongoing && strmap_has(seen, str_of(both));

	strmap_set(seen, str_of(both), seen);
	return repeated;
}

static void print_preempted(const struct workload_simulation *s, FILE *to)
{
	static const char *const heads[] = { "CYCLE",     "PREEMPTED", "CLUSTERQUEUE",
					     "PREEMPTOR", "REASON",    NULL };
	CLEANUP(columns_destroyp) struct columns *table = columns_create(heads);
	struct strmap *seen = strmap_create(NULL);
	size_t n, rows = 0;
	const struct workload_step *steps = workload_simulation_steps(s, &n);

	for (size_t i = 0; i < n; i++) {
		if (steps[i].kind != QUOTA_DECIDE_PREEMPT || is_repeated(&steps[i], seen)) {
			continue;
		}
		columns_add(table, "%u", steps[i].cycle);
		columns_add(table, "%s", steps[i].workload);
		columns_add(table, "%s", steps[i].queue);
		columns_add(table, "%s", steps[i].by);
		columns_add(table, "%s%s", steps[i].reason,
			    steps[i].ongoing ? " (already being evicted)" : "");
		rows++;
	}
	strmap_destroy(seen);
	print(table, rows, to);
}

void workload_table_decisions(const struct workload_simulation *s, FILE *to)
{
	print_admitted(s, to);
	print_preempted(s, to);
}

struct waiting_rows {
	struct columns *table;
	size_t rows;
};

static void add_waiting(void *ctx, const struct workload_waiting *w)
{
	struct waiting_rows *to = ctx;

	columns_add(to->table, "%s", w->workload);
	columns_add(to->table, "%s", or_dash(w->queue));
	if (w->position > 0) {
		columns_add(to->table, "%zu", w->position);
	} else {
		columns_add(to->table, "%s", w->inadmissible ? "inadmissible" : "-");
	}
	columns_add(to->table, "%s", or_dash(w->reason));
	columns_add(to->table, "%s", or_dash(w->message));
	to->rows++;
}

void workload_table_waiting(const struct workload_simulation *s, FILE *to)
{
	static const char *const heads[] = { "WAITING", "CLUSTERQUEUE", "POSITION",
					     "REASON",  "MESSAGE",      NULL };
	CLEANUP(columns_destroyp) struct columns *table = columns_create(heads);
	struct waiting_rows rows = { table, 0 };

	workload_waiting_each(s, add_waiting, &rows);
	print(table, rows.rows, to);
}

void workload_table_shares(const struct workload_simulation *s, FILE *to)
{
	static const char *const heads[] = { "KIND", "NAME", "SHARE", "RESOURCE", NULL };
	CLEANUP(columns_destroyp) struct columns *table = columns_create(heads);
	const struct forest *f = workload_simulation_forest(s);
	size_t n;
	const struct quota_node **nodes = quota_lists_nodes(model_of(s), &n);

	for (size_t i = 0; i < n; i++) {
		struct share share = { .resource = MODEL_NONE };

		if (forest_is_placed(f, nodes[i]->id)) {
			share = share_of(f, nodes[i]->id, NULL);
		}
		columns_add(table, "%s", nodes[i]->is_queue ? "ClusterQueue" : "Cohort");
		columns_add(table, "%s", nodes[i]->name);
		if (share_is_infinite(share)) {
			columns_add(table, "%s", "infinite");
		} else {
			columns_add(table, "%" PRId64, share_status(share));
		}
		columns_add(table, "%s",
			    share.resource == MODEL_NONE
				    ? "-"
				    : quota_resource_name(model_of(s), share.resource));
	}
	print(table, n, to);
	free(nodes);
}

static void add_cell(const struct forest *f, const struct quota_node *node, uint32_t pair,
		     struct columns *table)
{
	const struct quota_model *q = forest_model(f);
	const char *resource = quota_resource_name(q, q->pairs.v[pair].resource);
	int64_t available = forest_available(f, node->id, pair);
	const int64_t amounts[] = { amount_short(forest_usage(f, node->id, pair), 0),
				    available > 0 ? available : 0,
				    forest_potential(f, node->id, pair) };

	columns_add(table, "%s", node->name);
	columns_add(table, "%s", q->flavors.v[q->pairs.v[pair].flavor]->name);
	columns_add(table, "%s", resource);
	for (size_t i = 0; i < ARRAY_LEN(amounts); i++) {
		char text[WORKLOAD_STEP_AMOUNT_MAX];

		columns_add(table, "%s", amount_text(resource, amounts[i], text));
	}
}

void workload_table_capacity(const struct workload_simulation *s, FILE *to)
{
	static const char *const heads[] = { "CLUSTERQUEUE", "FLAVOR",  "RESOURCE", "USED",
					     "AVAILABLE",    "AT MOST", NULL };
	CLEANUP(columns_destroyp) struct columns *table = columns_create(heads);
	const struct forest *f = workload_simulation_forest(s);
	size_t n, rows = 0;
	const struct quota_node **nodes = quota_lists_nodes(model_of(s), &n);

	for (size_t i = 0; i < n; i++) {
		if (!nodes[i]->is_queue || !forest_is_placed(f, nodes[i]->id)) {
			continue;
		}
		for (size_t k = 0; k < nodes[i]->cells.n; k++) {
			add_cell(f, nodes[i], nodes[i]->cells.v[k].pair, table);
			rows++;
		}
	}
	print(table, rows, to);
	free(nodes);
}

void workload_table_workloads(const struct workload_simulation *s, FILE *to)
{
	static const char *const heads[] = { "WORKLOAD", "CONDITION", "STATUS",
					     "REASON",   "MESSAGE",   NULL };
	CLEANUP(columns_destroyp) struct columns *table = columns_create(heads);
	size_t n, rows = 0;
	const struct workload **v = quota_lists_workloads(model_of(s), &n);

	for (size_t i = 0; i < n; i++) {
		const struct workload_status *status = workload_simulation_status(s, v[i]);

		for (size_t k = 0; k < status->conditions.n; k++) {
			columns_add(table, "%s", v[i]->key);
			columns_add(table, "%s", status->conditions.v[k].type);
			columns_add(table, "%s", status->conditions.v[k].status);
			columns_add(table, "%s", or_dash(status->conditions.v[k].reason));
			columns_add(table, "%s", or_dash(status->conditions.v[k].message));
			rows++;
		}
	}
	print(table, rows, to);
	free(v);
}

void workload_table_events(const struct workload_simulation *s, FILE *to)
{
	static const char *const heads[] = { "CYCLE", "EVENT", "WORKLOAD", "MESSAGE", NULL };
	CLEANUP(columns_destroyp) struct columns *table = columns_create(heads);
	size_t n;
	const struct workload_simulation_event *events = workload_simulation_events(s, &n);

	for (size_t i = 0; i < n; i++) {
		columns_add(table, "%u", events[i].cycle);
		columns_add(table, "%s", events[i].reason);
		columns_add(table, "%s", events[i].workload);
		columns_add(table, "%s", events[i].message);
	}
	print(table, n, to);
}
