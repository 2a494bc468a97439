#include "scheduler/ctl/explain/pod_explain_text.h"

#include <stdio.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "enc/json/json_out.h"
#include "scheduler/ctl/cli/columns.h"
#include "scheduler/ctl/explain/pod_explain.h"
#include "scheduler/pods/ledger/ledger.h"

/* NULL: none; a record that stands for one is no object. */
static const char *podgroup_name(const struct pod_explanation *x)
{
	return x->podgroup == NULL || x->podgroup->kind == PODGROUP_ALONE ? NULL
									  : x->podgroup->name;
}

void pod_explain_text_print(const struct pod_explanation *x, FILE *to)
{
	static const char *const heads[] = { "QUEUE",    "RESOURCE", "LIMIT", "ALLOCATED",
					     "RESERVED", "NEEDS",    "",      NULL };
	CLEANUP(columns_destroyp) struct columns *table = columns_create(heads);
	char buf[64];

	fprintf(to, "Pod:       %s/%s\n", x->namespace_, x->name);
	fprintf(to, "Verdict:   %s\n", x->verdict);
	fprintf(to, "Reason:    %s\n", x->reason);
	fprintf(to, "Gate:      %s\n", x->gate);
	if (x->task == NULL) {
		fprintf(to, "Scheduler: %s\n", x->scheduler);
		return;
	}
	fprintf(to, "PodGroup:  %s\n", podgroup_name(x) == NULL ? "<none>" : podgroup_name(x));
	if (x->members > 1) {
		fprintf(to, "Gang:      %d of %d members have quota\n", x->have, x->members);
	}
	fprintf(to, "Queue:     %s\n", x->queue_name == NULL ? "<none>" : x->queue_name);
	fprintf(to, "Charge:    %s\n", ledger_state_name(x->task->charge));
	if (x->charged != NULL && x->charged != x->queue) {
		fprintf(to, "Charged:   %s\n", x->charged->name);
	}
	if (x->nodes != NULL) {
		fprintf(to, "Nodes:     %s\n", x->nodes);
	}
	if (x->lines.n == 0) {
		return;
	}
	fprintf(to, "\n");
	for (size_t i = 0; i < x->lines.n; i++) {
		const struct pod_explain_line *l = &x->lines.v[i];

		columns_add(table, "%s", l->queue);
		columns_add(table, "%s", l->resource);
		columns_add(table, "%s", live_cluster_amount(l->dim, l->limit, buf));
		columns_add(table, "%s", live_cluster_amount(l->dim, l->allocated, buf));
		columns_add(table, "%s", live_cluster_amount(l->dim, l->reserved, buf));
		columns_add(table, "%s", live_cluster_amount(l->dim, l->need, buf));
		columns_add(table, "%s", l->is_short ? "<- short" : "");
	}
	columns_print(table, to);
}

static void write_line(struct json_out *o, const struct pod_explain_line *l)
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

void pod_explain_text_print_json(const struct pod_explanation *x, FILE *to)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct json_out o;

	json_out_init(&o, &text);
	json_out_object(&o);
	json_out_kv(&o, "namespace", x->namespace_);
	json_out_kv(&o, "name", x->name);
	json_out_kv(&o, "verdict", x->verdict);
	json_out_kv(&o, "reason", x->reason);
	json_out_kv(&o, "gate", x->gate);
	json_out_kv(&o, "gateReason", x->gate_reason);
	json_out_kv(&o, "schedulerName", x->scheduler);
	json_out_kv(&o, "podGroup", podgroup_name(x));
	json_out_kv(&o, "queue", x->queue_name);
	json_out_kv(&o, "charge", x->task == NULL ? NULL : ledger_state_name(x->task->charge));
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
	fprintf(to, "%s\n", text.p);
}
