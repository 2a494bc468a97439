#include "scheduler/ctl/explain/workload_explain_text.h"

#include <inttypes.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "scheduler/ctl/cli/columns.h"
#include "scheduler/ctl/explain/offer_text.h"
#include "scheduler/workloads/assign/assign_reason.h"
#include "scheduler/workloads/cycle/admission_apply.h"
#include "scheduler/workloads/forest/amount.h"
#include "scheduler/workloads/model/quota_store.h"

static const struct quota_model *model_of(const struct workload_explanation *x)
{
	return forest_model(x->forest);
}

static const char *or_dash(const char *text)
{
	return text == NULL || text[0] == '\0' ? "-" : text;
}

/* --- the head ----------------------------------------------------------------------------------*/

static void print_line(FILE *to, const char *label, const char *text)
{
	fprintf(to, "%-14s%s\n", label, text);
}

static void print_place(FILE *to, const char *label, const char *name, struct quota_place p)
{
	if (p.at == 0) {
		print_line(to, label, name);
	} else {
		fprintf(to, "%-14s%s, number %zu of %zu\n", label, name, p.at, p.of);
	}
}

/* "main x3 of 6: cpu 3 of default, memory 3Gi of default" */
static void describe_given(const struct workload_explanation *x, const struct assignment *a,
			   struct strbuf *out)
{
	char amount[ASSIGN_REASON_AMOUNT_MAX];

	for (size_t i = 0; i < a->npodsets; i++) {
		const struct podset *p = &x->w->object.podsets[i];

		strbuf_printf(out, "%s%s x%d", i == 0 ? "" : "; ", p->name, a->podsets[i].count);
		if (a->podsets[i].count < p->count) {
			strbuf_printf(out, " of %d", p->count);
		}
		for (size_t k = 0; k < a->podsets[i].nflavors; k++) {
			const struct assigned_flavor *f = &a->podsets[i].flavors[k];
			const char *resource = quota_resource_name(model_of(x), f->resource);

			assign_reason_amount(resource,
					     admission_apply_amount(model_of(x), p,
								    a->podsets[i].count,
								    f->resource),
					     amount);
			strbuf_printf(out, "%s %s %s of %s", k == 0 ? ":" : ",", resource, amount,
				      model_of(x)->flavors.v[f->flavor]->name);
		}
	}
}

static void describe_asked(const struct workload_explanation *x, struct strbuf *out)
{
	char amount[ASSIGN_REASON_AMOUNT_MAX];

	for (size_t i = 0; i < x->w->object.npodsets; i++) {
		const struct podset *p = &x->w->object.podsets[i];

		strbuf_printf(out, "%s%s x%d", i == 0 ? "" : "; ", p->name, p->count);
		for (size_t k = 0; k < p->request.n; k++) {
			const char *resource = quota_resource_name(model_of(x), p->request.v[k].id);

			assign_reason_amount(resource,
					     admission_apply_amount(model_of(x), p, p->count,
								    p->request.v[k].id),
					     amount);
			strbuf_printf(out, "%s %s %s", k == 0 ? ":" : ",", resource, amount);
		}
	}
}

/* "cpu 4 of default, memory 1Gi of default" */
static void describe_usage(const struct quota_model *q, const struct workload *w,
			   struct strbuf *out)
{
	char amount[ASSIGN_REASON_AMOUNT_MAX];

	for (size_t i = 0; i < w->holding.usage.n; i++) {
		struct flavor_resource pair = q->pairs.v[w->holding.usage.v[i].id];
		const char *resource = quota_resource_name(q, pair.resource);

		assign_reason_amount(resource, w->holding.usage.v[i].value, amount);
		strbuf_printf(out, "%s%s %s of %s", i == 0 ? "" : ", ", resource, amount,
			      q->flavors.v[pair.flavor]->name);
	}
}

static void print_amounts(const struct workload_explanation *x, FILE *to)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	if (x->holds) {
		describe_usage(model_of(x), x->w, &text);
		print_line(to, "Holds:", or_dash(text.p));
		return;
	}
	describe_asked(x, &text);
	print_line(to, "Requests:", or_dash(text.p));
	if (x->has_turn && (x->entry.status == ENTRY_ASSUMED || x->entry.status == ENTRY_EVICTED)) {
		strbuf_reset(&text);
		describe_given(x, &x->entry.assignment, &text);
		print_line(to, "Would get:", text.p);
	}
}

static void print_head(const struct workload_explanation *x, FILE *to)
{
	print_line(to, "Workload:", x->w->key);
	print_line(to, "Verdict:", x->verdict);
	if (x->reason[0] != '\0') {
		print_line(to, "Reason:", x->reason);
	}
	print_place(to, "LocalQueue:", or_dash(x->local), x->local_place);
	print_place(to, "ClusterQueue:", x->queue == NULL ? "-" : x->queue->name, x->place);
	fprintf(to, "%-14s%" PRId64 "\n", "Priority:", workload_priority(model_of(x), x->w));
	print_amounts(x, to);
	if (x->wanted_by != NULL) {
		fprintf(to, "%-14s%s, which would preempt it in the next cycle\n",
			"Preemptor:", x->wanted_by);
	}
}

/* --- tables ------------------------------------------------------------------------------------*/

static void print_obstacles(const struct workload_explanation *x, FILE *to)
{
	static const char *const heads[] = { "BLOCKED BY", "NAME", "STATE", "MESSAGE", NULL };
	CLEANUP(columns_destroyp) struct columns *table = columns_create(heads);

	for (size_t i = 0; i < x->obstacles.n; i++) {
		const struct quota_obstacle *o = &x->obstacles.v[i];

		columns_add(table, "%s", o->kind);
		columns_add(table, "%s", o->name);
		columns_add(table, "%s", o->state);
		columns_add(table, "%s", or_dash(o->message));
	}
	if (x->obstacles.n > 0) {
		fprintf(to, "\n");
		columns_print(table, to);
	}
}

static void add_amount(const struct workload_explanation *x, const struct request_level *l,
		       int64_t amount, struct columns *table)
{
	char text[ASSIGN_REASON_AMOUNT_MAX];

	assign_reason_amount(
		quota_resource_name(model_of(x), model_of(x)->pairs.v[l->pair].resource), amount,
		text);
	columns_add(table, "%s", text);
}

static void add_limit(const struct workload_explanation *x, const struct request_level *l,
		      int64_t limit, const char *none, struct columns *table)
{
	if (forest_parent(x->forest, l->node) == MODEL_NONE) {
		columns_add(table, "-");
	} else if (limit == QUOTA_NO_LIMIT) {
		columns_add(table, "%s", none);
	} else {
		add_amount(x, l, limit, table);
	}
}

static void add_note(const struct workload_explanation *x, const struct request_level *l,
		     struct columns *table)
{
	const char *resource =
		quota_resource_name(model_of(x), model_of(x)->pairs.v[l->pair].resource);
	char amount[ASSIGN_REASON_AMOUNT_MAX];

	if (!x->holds && l->shortage != NULL) {
		columns_add(table, "<- %s", l->shortage);
	} else if (x->holds && l->node == x->queue->id && l->used > l->quota) {
		assign_reason_amount(resource, amount_short(l->used, l->quota), amount);
		columns_add(table, "<- borrows %s", amount);
	} else {
		columns_add(table, "%s", "");
	}
}

static void add_level(const struct workload_explanation *x, const struct request_level *l,
		      struct columns *table)
{
	const struct quota_node *n = model_of(x)->nodes.v[l->node];
	struct flavor_resource pair = model_of(x)->pairs.v[l->pair];

	columns_add(table, "%s", model_of(x)->flavors.v[pair.flavor]->name);
	columns_add(table, "%s", quota_resource_name(model_of(x), pair.resource));
	columns_add(table, "%s%s", n->is_queue ? "" : "cohort ", n->name);
	add_amount(x, l, l->nominal, table);
	add_limit(x, l, l->lending, "all", table);
	add_limit(x, l, l->borrowing, "any", table);
	add_amount(x, l, l->quota, table);
	add_amount(x, l, l->used, table);
	if (!x->holds || l->node == x->queue->id) {
		add_amount(x, l, l->asked, table);
	} else {
		columns_add(table, "-");
	}
	add_amount(x, l, l->available, table);
	add_note(x, l, table);
}

static void print_levels(const struct workload_explanation *x, FILE *to)
{
	static const char *const waits[] = { "FLAVOR",
					     "RESOURCE",
					     "LEVEL",
					     "NOMINAL",
					     "LENDING LIMIT",
					     "BORROWING LIMIT",
					     "QUOTA",
					     "USED",
					     "REQUESTED",
					     "LEFT",
					     "",
					     NULL };
	static const char *const holds[] = { "FLAVOR",
					     "RESOURCE",
					     "LEVEL",
					     "NOMINAL",
					     "LENDING LIMIT",
					     "BORROWING LIMIT",
					     "QUOTA",
					     "USED",
					     "HOLDS",
					     "LEFT",
					     "",
					     NULL };
	CLEANUP(columns_destroyp)
	struct columns *table = columns_create(x->holds ? holds : waits);

	for (size_t i = 0; i < x->levels.n; i++) {
		add_level(x, &x->levels.v[i], table);
	}
	if (x->levels.n > 0) {
		fprintf(to, "\n");
		columns_print(table, to);
	}
	for (size_t i = 0; i < x->mismatches.n; i++) {
		fprintf(to, "%sFlavor %s: %s\n", i == 0 ? "\n" : "",
			model_of(x)->flavors.v[x->mismatches.v[i].flavor]->name,
			x->mismatches.v[i].why);
	}
}

static void add_target(const struct workload_explanation *x, const struct preemption_target *t,
		       struct columns *table)
{
	static const char *const states[] = { [QUOTA_TARGET_VICTIM] = "victim",
					      [QUOTA_TARGET_POSSIBLE] = "could be",
					      [QUOTA_TARGET_PROTECTED] = "protected" };
	CLEANUP(strbuf_finish) struct strbuf uses = STRBUF_INIT;
	const struct workload *w = t->order.w;
	char since[CLOCK_RFC3339_MAX] = "-";

	describe_usage(model_of(x), w, &uses);
	if (w->flags.reserved_at != MODEL_TIME_NONE) {
		clock_format_time(w->flags.reserved_at, since);
	}
	columns_add(table, "%s", w->key);
	columns_add(table, "%s", model_of(x)->nodes.v[w->holding.node]->name);
	columns_add(table, "%" PRId64, t->order.priority);
	columns_add(table, "%s", since);
	columns_add(table, "%s", or_dash(uses.p));
	columns_add(table, "%s%s", states[t->state], w->flags.evicted ? ", stopping" : "");
	columns_add(table, "%s", t->text);
}

/* Prints the number of rows left out, by the rule that protects them. */
static void print_rest(const struct workload_explanation *x, size_t shown, FILE *to)
{
	static const struct {
		enum passed_over_rule to;
		const char *text;
	} rows[] = {
		/* each row counts the rules after those of the previous row */
		{ PASSED_OVER_NOT, "that could be preempted" },
		{ PASSED_OVER_POLICY, "protected by a policy" },
		{ PASSED_OVER_INACTIVE, "in queues that are not active" },
		{ PASSED_OVER_PRECEDENCE, "that cannot be evicted or have precedence" },
		{ PASSED_OVER_AGE, "protected by priority or age" },
		{ PASSED_OVER_NOMINAL, "in queues or cohorts that do not borrow" },
		{ PASSED_OVER_BORROW_THRESHOLD, "protected from a preemptor that borrows" },
		{ PASSED_OVER_SHARE, "protected by fair sharing" },
	};
	const char *between = ": ";

	fprintf(to, "... and %zu more", x->targets.n - shown);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		size_t n = 0;

		for (size_t k = shown; k < x->targets.n; k++) {
			enum passed_over_rule rule = x->targets.v[k].rule;

			n += rule <= rows[i].to && (i == 0 || rule > rows[i - 1].to);
		}
		if (n > 0) {
			fprintf(to, "%s%zu %s", between, n, rows[i].text);
			between = ", ";
		}
	}
	fprintf(to, "; -o json has all of them\n");
}

static void print_targets(const struct workload_explanation *x, FILE *to)
{
	static const char *const heads[] = { "HOLDER", "CLUSTERQUEUE", "PRIORITY", "SINCE",
					     "HOLDS",  "PREEMPTION",   "WHY",      NULL };
	CLEANUP(columns_destroyp) struct columns *table = columns_create(heads);
	size_t shown = x->targets.n < WORKLOAD_EXPLAIN_TEXT_ROWS ? x->targets.n
								 : WORKLOAD_EXPLAIN_TEXT_ROWS;

	for (size_t i = 0; i < shown; i++) {
		add_target(x, &x->targets.v[i], table);
	}
	if (shown > 0) {
		fprintf(to, "\n");
		columns_print(table, to);
	}
	if (shown < x->targets.n) {
		print_rest(x, shown, to);
	}
}

/* Adds the queues that may preempt it, or those that may not. Returns the number of rows so far. */
static size_t add_threats(const struct workload_explanation *x, bool may, size_t rows,
			  struct columns *table)
{
	for (size_t i = 0; i < x->threats.n && rows < WORKLOAD_EXPLAIN_TEXT_ROWS; i++) {
		const struct quota_threat *t = &x->threats.v[i];

		if (t->may != may) {
			continue;
		}
		columns_add(table, "%s%s", model_of(x)->nodes.v[t->node]->name,
			    t->node == x->w->holding.node ? " (its own queue)" : "");
		columns_add(table, "%s", t->may ? "yes" : "no");
		columns_add(table, "%s", t->text);
		rows++;
	}
	return rows;
}

static void print_threats(const struct workload_explanation *x, FILE *to)
{
	static const char *const heads[] = { "WORKLOADS OF", "CAN PREEMPT IT",
					     "WHICH ONES, OR WHY NOT", NULL };
	CLEANUP(columns_destroyp) struct columns *table = columns_create(heads);

	size_t shown = add_threats(x, true, 0, table);

	shown = add_threats(x, false, shown, table);
	if (shown > 0) {
		fprintf(to, "\n");
		columns_print(table, to);
	}
	if (shown < x->threats.n) {
		fprintf(to, "... and %zu more; -o json has all of them\n", x->threats.n - shown);
	}
}

void workload_explain_text_print(const struct workload_explanation *x, FILE *to)
{
	print_head(x, to);
	print_obstacles(x, to);
	offer_text_print(&x->offer, to);
	print_levels(x, to);
	print_targets(x, to);
	print_threats(x, to);
}
