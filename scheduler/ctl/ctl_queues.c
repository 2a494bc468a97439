#include <stdio.h>
#include <stdlib.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "enc/json/json_out.h"
#include "scheduler/ctl/cli/cluster_args.h"
#include "scheduler/ctl/cli/columns.h"
#include "scheduler/ctl/ctl.h"
#include "scheduler/ctl/explain/live_cluster.h"
#include "scheduler/ctl/list/unplaced_pods.h"
#include "scheduler/pods/ledger/totals.h"
#include "scheduler/pods/session/session.h"

static const char *const state_names[] = { "Open", "Closed", "Closing", "Unknown" };

/* "cpu 3, memory 3Gi": the resources with a limit, a usage or a reservation in the queue. */
static void describe(const struct live_cluster *s, const struct queue *q, const struct res *amount,
		     struct strbuf *out)
{
	const struct cluster *c = live_cluster_cluster(s);
	const struct queue_totals *t = &live_cluster_totals(s)[q->id];
	char buf[64];

	strbuf_reset(out);
	for (unsigned d = 0; d < res_names_count(c->res); d++) {
		bool used = res_get(&q->capability, d) != RES_UNLIMITED ||
			    res_get(&t->allocated, d) > 0 || res_get(&t->reserved, d) > 0;

		if (!used || (d == RES_PODS && res_get(&q->capability, d) == RES_UNLIMITED) ||
		    res_get(amount, d) == RES_UNLIMITED) {
			continue;
		}
		strbuf_printf(out, "%s%s %s", out->len > 0 ? ", " : "", res_names_get(c->res, d),
			      live_cluster_amount(d, res_get(amount, d), buf));
	}
	if (out->len == 0) {
		strbuf_add_ch(out, '-');
	}
}

static void add_row(const struct live_cluster *s, const struct queue *q, unsigned indent,
		    struct columns *table)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	const struct queue_totals *t = &live_cluster_totals(s)[q->id];

	columns_add(table, "%*s%s", (int)indent * 2, "", q->name);
	columns_add(table, "%s", q->broken != NULL ? q->broken : state_names[q->state]);
	describe(s, q, session_queue_limit(live_cluster_session(s), q), &text);
	columns_add(table, "%s", text.p);
	describe(s, q, &t->allocated, &text);
	columns_add(table, "%s", text.p);
	describe(s, q, &t->reserved, &text);
	columns_add(table, "%s", text.p);
	columns_add(table, "%u", t->published_pods);
	columns_add(table, "%u", t->gated + t->patching);
}

static void write_amount(const struct live_cluster *s, struct json_out *o, const char *key,
			 const struct res *amount)
{
	const struct cluster *c = live_cluster_cluster(s);
	char buf[64];

	json_out_key(o, key);
	json_out_object(o);
	for (unsigned d = 0; d < res_names_count(c->res); d++) {
		if (res_get(amount, d) != RES_UNLIMITED && res_get(amount, d) != 0) {
			json_out_kv(o, res_names_get(c->res, d),
				    live_cluster_amount(d, res_get(amount, d), buf));
		}
	}
	json_out_object_end(o);
}

/* One of table and json. */
struct output {
	struct columns *table;
	struct json_out *json;
	const struct unplaced_pods *unplaced;
};

static void write_row(const struct live_cluster *s, const struct queue *q, const struct output *w)
{
	const struct queue_totals *t = &live_cluster_totals(s)[q->id];
	struct json_out *o = w->json;

	json_out_object(o);
	json_out_kv(o, "name", q->name);
	if (q->parent != MODEL_NONE) {
		json_out_kv(o, "parent", live_cluster_cluster(s)->queues.v[q->parent]->name);
	}
	json_out_kv(o, "state", state_names[q->state]);
	if (q->broken != NULL) {
		json_out_kv(o, "broken", q->broken);
	}
	write_amount(s, o, "capability", &q->capability);
	write_amount(s, o, "limit", session_queue_limit(live_cluster_session(s), q));
	write_amount(s, o, "allocated", &t->allocated);
	write_amount(s, o, "reserved", &t->reserved);
	write_amount(s, o, "published", &t->published);
	json_out_kv_int(o, "publishedPods", t->published_pods);
	json_out_kv_int(o, "gatedPods", (int64_t)t->gated + t->patching);
	json_out_kv_int(o, "withdrawnPods", t->withdrawn);
	unplaced_pods_write(w->unplaced, q, o);
	json_out_object_end(o);
}

/* Depth first, children by name; then the queues outside the tree (below a missing queue, or on a
 * cycle). */
static void walk(const struct live_cluster *s, const struct queue *q, unsigned depth,
		 const struct output *w)
{
	const struct cluster *c = live_cluster_cluster(s);

	if (q->exists && w->table != NULL) {
		add_row(s, q, depth, w->table);
	} else if (q->exists) {
		write_row(s, q, w);
	}
	for (size_t i = 0; i < q->children.n; i++) {
		walk(s, c->queues.v[q->children.v[i]], depth + 1, w);
	}
}

static void walk_all(const struct live_cluster *s, const struct output *w)
{
	const struct cluster *c = live_cluster_cluster(s);

	for (size_t i = 0; i < c->queues.n; i++) {
		if (c->queues.v[i] != NULL && c->queues.v[i]->parent == MODEL_NONE) {
			walk(s, c->queues.v[i], 0, w);
		}
	}
}

static void print_json(const struct live_cluster *s, const struct unplaced_pods *unplaced)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct json_out o;

	json_out_init(&o, &text);
	json_out_object(&o);
	json_out_key(&o, "queues");
	json_out_array(&o);
	walk_all(s, &(struct output){ .json = &o, .unplaced = unplaced });
	json_out_array_end(&o);
	json_out_object_end(&o);
	printf("%s\n", text.p);
}

static void print_table(const struct live_cluster *s, const struct unplaced_pods *unplaced)
{
	static const char *const heads[] = { "QUEUE",    "STATE",     "LIMIT", "ALLOCATED",
					     "RESERVED", "PUBLISHED", "GATED", NULL };
	CLEANUP(columns_destroyp) struct columns *table = columns_create(heads);

	walk_all(s, &(struct output){ .table = table });
	columns_print(table, stdout);
	unplaced_pods_print(unplaced, stdout);
}

static int run_verb(int argc, char **argv)
{
	CLEANUP(live_cluster_destroyp) struct live_cluster *s = NULL;
	struct unplaced_pods *unplaced;
	struct cluster_args f;
	struct err err = ERR_INIT;
	int code;

	if (!cluster_args_parse(&ctl_queues_verb, argc, argv, &f, &code)) {
		return code;
	}
	if (live_cluster_load(&f, &s, &err) < 0) {
		return verb_fail(&err);
	}
	unplaced = unplaced_pods_create(s);
	if (f.output == VERB_JSON) {
		print_json(s, unplaced);
	} else {
		print_table(s, unplaced);
	}
	unplaced_pods_destroyp(&unplaced);
	return VERB_OK;
}

static const struct flags_row *const tables[] = {
	cluster_args_reach, cluster_args_dump, cluster_args_output, flags_help, NULL,
};

const struct verb ctl_queues_verb = {
	VERB("queues"),
	.help = "show the tree of Queues with allocated, reserved and published amounts",
	.flags.doc =
		"Show the tree of Queues: limit, allocated, reserved, published and gated pods of "
		"each queue and of all queues below it. Then the pods that other schedulers have "
		"not placed, with the quota that they hold: a queue that is full may wait for "
		"these.",
	.flags.tables = tables,
	.run = run_verb,
};
