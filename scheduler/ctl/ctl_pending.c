#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/kueue/kueue_keys.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "enc/json/jdoc.h"
#include "enc/json/json_out.h"
#include "scheduler/ctl/cli/columns.h"
#include "scheduler/ctl/ctl.h"
#include "scheduler/ctl/explain/live_workloads.h"
#include "scheduler/ctl/list/kueue_kinds.h"
#include "scheduler/ctl/sim/quota_lists.h"
#include "scheduler/ctl/sim/workload_waiting.h"
#include "scheduler/workloads/model/quota_store.h"

#define VISIBILITY "visibility.kueue.x-k8s.io/v1beta2"

/* The Workloads to show: of one ClusterQueue, or of all; in them, only those of one LocalQueue. */
struct selection {
	const struct cluster_args *args;
	const struct live_workloads *source;
	const struct quota_model *q;
	struct columns *table; /* one of the two */
	struct json_out *json;
	bool alone; /* only the Workloads of one namespace are known */
	size_t rows;
};

struct row { /* positions from 0 */
	const struct workload *w;
	const char *queue;
	size_t at, local_at;
};

static void add_row(struct selection *x, const struct row *r)
{
	columns_add(x->table, "%s", r->queue);
	if (x->alone) {
		columns_add(x->table, "-");
	} else {
		columns_add(x->table, "%zu", r->at + 1);
	}
	columns_add(x->table, "%s", r->w->key);
	columns_add(x->table, "%" PRId64, workload_priority(x->q, r->w));
	columns_add(x->table, "%s", r->w->object.local_queue);
	columns_add(x->table, "%zu", r->local_at + 1);
	x->rows++;
}

static void write_meta(const struct selection *x, const struct workload *w)
{
	const struct sim_object *object = sim_input_find(x->source->in, SCHED_WORKLOADS, w->key);
	static const char *const members[] = { "name", "namespace", "creationTimestamp",
					       "ownerReferences" };
	const struct jdoc *meta = object == NULL ? NULL : jdoc_get(object->json, "metadata");

	json_out_key(x->json, "metadata");
	json_out_object(x->json);
	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		const struct jdoc *member = jdoc_get(meta, members[i]);

		if (member != NULL) {
			json_out_key(x->json, members[i]);
			json_out_doc(x->json, member);
		}
	}
	json_out_object_end(x->json);
}

static void write_row(struct selection *x, const struct row *r)
{
	json_out_object(x->json);
	write_meta(x, r->w);
	json_out_kv_int(x->json, "priority", workload_priority(x->q, r->w));
	json_out_kv(x->json, "localQueueName", r->w->object.local_queue);
	if (!x->alone) {
		json_out_kv_int(x->json, "positionInClusterQueue", (int64_t)r->at);
	}
	json_out_kv_int(x->json, "positionInLocalQueue", (int64_t)r->local_at);
	json_out_object_end(x->json);
}

/* The number of earlier Workloads of its LocalQueue; counts this one for the next call. */
static size_t count_local(struct strmap *counts, const struct workload *w)
{
	CLEANUP(xmalloc_freep)
	char *key = xmalloc_printf("%s/%s", w->object.namespace_, w->object.local_queue);
	size_t *n = strmap_get(counts, str_of(key));

	if (n == NULL) {
		n = xmalloc_zero(1, sizeof(*n));
		strmap_set(counts, str_of(key), n);
	}
	return (*n)++;
}

static bool is_of_local(const struct workload *w, const char *local)
{
	CLEANUP(xmalloc_freep)
	char *key = xmalloc_printf("%s/%s", w->object.namespace_, w->object.local_queue);

	return local == NULL || str_streq(key, local);
}

/* Whether a Workload holds quota of a ClusterQueue that is not known. */
static bool holds_elsewhere(const struct selection *x, const struct workload *w)
{
	return x->alone && workload_status_is_true(workload_simulation_status(x->source->world, w),
						   KUEUE_QUOTA_RESERVED);
}

/* A ClusterQueue to show. */
struct place {
	const char *name;
	const struct cluster_queue *queue; /* NULL: not known, as x->alone */
};

/* local: only Workloads of this LocalQueue; NULL: of all. */
static void show_rows(struct selection *x, const struct place *p, const char *local)
{
	struct strmap *counts = strmap_create(free);
	size_t n, shown = 0, skipped = 0;
	const struct workload **v = p->queue == NULL ? quota_lists_local(x->q, local, &n)
						     : quota_lists_pending(x->q, p->queue, &n);

	for (size_t i = 0; i < n && shown < (size_t)x->args->limit; i++) {
		/* The position counts all that wait in the queue, also those that are not shown. */
		struct row r = { v[i], p->name, i, 0 };

		/* Without the ClusterQueue its reservation is not in the model, but in its
		 * status. */
		if (holds_elsewhere(x, v[i])) {
			continue;
		}
		r.local_at = count_local(counts, v[i]);
		if (!is_of_local(v[i], local) || skipped++ < (size_t)x->args->offset) {
			continue;
		}
		shown++;
		if (x->json != NULL) {
			write_row(x, &r);
		} else {
			add_row(x, &r);
		}
	}
	free(v);
	strmap_destroy(counts);
}

/* The pending Workloads that are not tried: those of a queue that stands still, and those that are
 * in none, as those of a stopped LocalQueue. Kueue's API leaves the latter out. */
struct untried {
	struct selection *x;
	const char *queue, *local; /* NULL: of all; a LocalQueue by its key */
	struct columns *table;
	size_t rows;
};

static bool is_selected(const struct untried *u, const struct workload *w, const char *queue)
{
	CLEANUP(xmalloc_freep)
	char *key = xmalloc_printf("%s/%s", w->object.namespace_, w->object.local_queue);
	const struct local_queue *local = quota_local_find(u->x->q, str_of(key));

	if (u->local != NULL) {
		return str_streq(key, u->local);
	}
	return u->queue == NULL || str_streq(queue, u->queue) ||
	       (local != NULL && str_streq(local->queue, u->queue));
}

static void add_untried(void *ctx, const struct workload_waiting *row)
{
	struct untried *u = ctx;
	const struct workload *w = quota_workload_find(u->x->q, str_of(row->workload));
	bool queued = row->queue[0] != '\0';

	if (row->position > 0 || row->inadmissible || !is_selected(u, w, row->queue)) {
		return;
	}
	if (u->x->json == NULL) {
		columns_add(u->table, "%s", row->workload);
		columns_add(u->table, "%s",
			    str_of(w->object.local_queue).len > 0 ? w->object.local_queue : "-");
		columns_add(u->table, "%s", row->reason);
		columns_add(u->table, "%s", row->message);
		u->rows++;
	} else if (!queued) {
		fprintf(stderr, "headgatectl: warning: %s is in no queue: %s\n", row->workload,
			row->message);
	}
}

static void show_untried(struct selection *x, const char *queue, const char *local)
{
	static const char *const heads[] = { "NOT TRIED", "LOCALQUEUE", "REASON", "MESSAGE", NULL };
	struct untried u = { .x = x, .queue = queue, .local = local };
	const struct local_queue *one =
		local == NULL ? NULL : quota_local_find(x->q, str_of(local));

	/* Reasons are those of a ClusterQueue, which is not known then. */
	if (x->alone) {
		if (one != NULL && one->stop != QUOTA_RUN) {
			fprintf(stderr, "headgatectl: warning: LocalQueue %s is stopped\n", local);
		}
		return;
	}
	u.table = columns_create(heads);
	workload_waiting_each(x->source->world, add_untried, &u);
	if (u.rows > 0) {
		printf("%s", x->rows > 0 ? "\n" : "");
		columns_print(u.table, stdout);
	}
	x->rows += u.rows;
	columns_destroyp(&u.table);
}

/* Writes one PendingWorkloadsSummary with name and namespace, which is NULL for a ClusterQueue. */
static void show_queue(struct selection *x, const struct place *p, const char *local)
{
	const char *slash = local == NULL ? NULL : strchr(local, '/');

	if (x->json == NULL) {
		show_rows(x, p, local);
		return;
	}
	json_out_object(x->json);
	json_out_kv(x->json, "apiVersion", VISIBILITY);
	json_out_kv(x->json, "kind", "PendingWorkloadsSummary");
	json_out_key(x->json, "metadata");
	json_out_object(x->json);
	json_out_kv(x->json, "name", slash == NULL ? p->name : slash + 1);
	if (slash != NULL) {
		json_out_key(x->json, "namespace");
		json_out_slice(x->json, (struct str){ local, (size_t)(slash - local) });
	}
	json_out_object_end(x->json);
	json_out_key(x->json, "items");
	json_out_array(x->json);
	show_rows(x, p, local);
	json_out_array_end(x->json);
	json_out_object_end(x->json);
}

static void show_all(struct selection *x)
{
	size_t n;
	const struct quota_node **nodes = quota_lists_nodes(x->q, &n);

	if (x->json != NULL) {
		json_out_object(x->json);
		json_out_kv(x->json, "apiVersion", "v1");
		json_out_kv(x->json, "kind", "List");
		json_out_key(x->json, "items");
		json_out_array(x->json);
	}
	for (size_t i = 0; i < n; i++) {
		if (nodes[i]->is_queue) {
			show_queue(x, &(struct place){ nodes[i]->name, nodes[i]->queue }, NULL);
		}
	}
	if (x->json != NULL) {
		json_out_array_end(x->json);
		json_out_object_end(x->json);
	}
	free(nodes);
}

/* key: of a LocalQueue or a ClusterQueue. */
static int show_named(struct selection *x, const struct kinds_row *kind, const char *key,
		      struct err *err)
{
	const struct local_queue *local =
		kind->namespaced ? quota_local_find(x->q, str_of(key)) : NULL;
	const char *name = kind->namespaced ? (local == NULL ? NULL : local->queue) : key;
	const struct quota_node *queue = quota_queue_find(x->q, str_of(name));

	if (kind->namespaced && local == NULL) {
		return err_set(err, ERR_NOT_FOUND, "LocalQueue %s not found", key);
	}
	if (x->alone || (queue != NULL && queue->exists)) {
		show_queue(x, &(struct place){ name, x->alone ? NULL : queue->queue },
			   kind->namespaced ? key : NULL);
		return 0;
	}
	if (!kind->namespaced) {
		return err_set(err, ERR_NOT_FOUND, "ClusterQueue %s not found", key);
	}
	return err_set(err, ERR_NOT_FOUND,
		       "LocalQueue %s: spec.clusterQueue: there is no ClusterQueue %s", key, name);
}

/* The order within a LocalQueue follows from the Workloads of its namespace. */
static int load(const struct cluster_args *a, const struct kinds_row *kind,
		struct live_workloads *ret, bool *ret_alone, struct err *err)
{
	struct err why = ERR_INIT;
	int r = live_workloads_load(a, ret, &why);

	*ret_alone = r == -ERR_FORBIDDEN && kind != NULL && kind->namespaced;
	if (*ret_alone) {
		CLEANUP(xmalloc_freep) char *key = cluster_args_key(a, a->rest[1]);

		*strchr(key, '/') = '\0';
		return live_workloads_load_namespace(
			a, key, &why, "positions in the ClusterQueue are not known", ret, err);
	}
	return r < 0 ? err_set(err, why.code, "%s", why.text) : 0;
}

static void print(struct selection *x, const char *text, const char *queue, const char *local)
{
	if (x->json != NULL) {
		printf("%s\n", text);
	} else if (x->rows > 0) {
		columns_print(x->table, stdout);
	}
	show_untried(x, queue, local);
	if (x->json == NULL && x->rows == 0) {
		fprintf(stderr, "No pending workloads.\n");
	}
}

static int show(const struct cluster_args *a, const struct kinds_row *kind, struct err *err)
{
	static const char *const heads[] = {
		"CLUSTERQUEUE",           "POSITION", "WORKLOAD", "PRIORITY", "LOCALQUEUE",
		"POSITION IN LOCALQUEUE", NULL
	};
	CLEANUP(live_workloads_finish) struct live_workloads source = { 0 };
	CLEANUP(columns_destroyp) struct columns *table = columns_create(heads);
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	CLEANUP(xmalloc_freep) char *key = NULL; /* of the one queue */
	struct json_out json;
	struct selection x = { .args = a, .source = &source, .table = table };
	int r = load(a, kind, &source, &x.alone, err);

	if (r < 0) {
		return r;
	}
	x.q = forest_model(workload_simulation_forest(source.world));
	if (a->output == VERB_JSON) {
		json_out_init(&json, &text);
		x.json = &json;
	}
	if (kind == NULL) {
		show_all(&x);
		print(&x, text.p, NULL, NULL);
		return 0;
	}
	key = kind->namespaced ? cluster_args_key(a, a->rest[1]) : xmalloc_dup(a->rest[1]);
	r = show_named(&x, kind, key, err);
	if (r == 0) {
		print(&x, text.p, kind->namespaced ? NULL : key, kind->namespaced ? key : NULL);
	}
	return r;
}

static int run_verb(int argc, char **argv)
{
	static const char *const kinds[] = { "ClusterQueue", "LocalQueue", NULL };
	const struct kinds_row *kind = NULL;
	struct cluster_args a;
	struct err err = ERR_INIT;
	int code;

	if (!cluster_args_parse(&ctl_pending_verb, argc, argv, &a, &code)) {
		return code;
	}
	if (a.nrest > 0) {
		kind = kueue_kinds_need("pending-workloads", a.rest[0], kinds);
		if (kind == NULL) {
			return VERB_USAGE;
		}
	}
	if (a.nrest != 0 && a.nrest != 2) {
		fprintf(stderr, "headgatectl: expected: pending-workloads [%s NAME]\n", a.rest[0]);
		return VERB_USAGE;
	}
	return show(&a, kind, &err) < 0 ? cluster_args_fail(&a, &err) : VERB_OK;
}

static const struct flags_row *const tables[] = {
	cluster_args_reach, cluster_args_files,  cluster_args_config, cluster_args_namespace,
	cluster_args_page,  cluster_args_output, flags_help,          NULL,
};

const struct verb ctl_pending_verb = {
	VERB("pending-workloads"),
	.help = "show the pending Workloads of a ClusterQueue or LocalQueue, in order",
	.flags.args = "\nclusterqueue NAME\nlocalqueue NAMESPACE/NAME",
	.flags.doc =
		"Show the pending Workloads of a queue, or of all ClusterQueues, in the order in "
		"which they are tried; then those that are not tried, with the reason: the queue "
		"is stopped or inactive, or they are in no queue.",
	.flags.notes = "-o json prints a PendingWorkloadsSummary of Kueue's visibility API, where "
		       "positions begin at 0; for all queues, a List of them. Kueue removes the "
		       "Workloads of a stopped LocalQueue from its queue, so they are not items: "
		       "standard error names them.",
	.flags.tables = tables,
	.run = run_verb,
};
