#include "scheduler/pods/dump/dump_fields.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/err.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "enc/json/json_out.h"
#include "scheduler/pods/model/model.h"
#include "scheduler/pods/values/pod_term.h"

#define EXACT_MAX (INT64_C(1) << 53)
#define ROW(type, member, name, kind_, def_, max_)                                                 \
	{                                                                                          \
		.key = (name), .offset = offsetof(struct type, member), .kind = (kind_),           \
		.def = (def_), .max = (max_)                                                       \
	}
#define END                                                                                        \
	{                                                                                          \
		.key = NULL                                                                        \
	}

const struct dump_field dump_fields_cluster[] = {
	ROW(cluster, root_queue, "root", DUMP_U32, MODEL_NONE, UINT32_MAX),
	ROW(cluster, default_queue, "defaultQueue", DUMP_U32, MODEL_NONE, UINT32_MAX),
	ROW(cluster, queues_gen, "queuesGen", DUMP_U64, 0, 0),
	ROW(cluster, nodes_gen, "nodesGen", DUMP_U64, 0, 0),
	ROW(cluster, demand_gen, "demandGen", DUMP_U64, 0, 0),
	END,
};

const struct dump_field dump_fields_pod_term[] = {
	ROW(pod_term, kind, "kind", DUMP_U8, POD_TERM_AFFINITY, POD_TERM_KIND_COUNT_ - 1),
	ROW(pod_term, selects, "selects", DUMP_BOOL, 1, 0),
	ROW(pod_term, selects_namespaces, "selectsNamespaces", DUMP_BOOL, 0, 0),
	ROW(pod_term, max_skew, "maxSkew", DUMP_I32, 0, 0),
	ROW(pod_term, min_domains, "minDomains", DUMP_I32, 0, 0),
	ROW(pod_term, ignores_affinity, "ignoresAffinity", DUMP_BOOL, 0, 0),
	ROW(pod_term, honors_taints, "honorsTaints", DUMP_BOOL, 0, 0),
	ROW(pod_term, weight, "weight", DUMP_I32, 0, 0),
	END,
};

const struct dump_field dump_fields_task[] = {
	ROW(task, role, "role", DUMP_U32, MODEL_NONE, UINT32_MAX),
	ROW(task, priority, "priority", DUMP_I32, 1, 0),
	ROW(task, granted_priority, "grantedPriority", DUMP_I32, INT32_MAX, 0),
	ROW(task, deletion_cost, "deletionCost", DUMP_I32, 0, 0),
	ROW(task, flags, "flags", DUMP_U32, 0, UINT32_MAX),
	ROW(task, gate_row, "gateRow", DUMP_U8, 0, UINT8_MAX),
	ROW(task, status, "status", DUMP_U8, TASK_PENDING, TASK_STATUS_COUNT_ - 1),
	ROW(task, cond, "cond", DUMP_U8, POD_COND_NONE, POD_COND_COUNT_ - 1),
	ROW(task, charge, "charge", DUMP_U8, CHARGE_NONE, CHARGE_STATE_COUNT_ - 1),
	ROW(task, charge_queue, "chargeQueue", DUMP_U32, MODEL_NONE, UINT32_MAX),
	ROW(task, refused_queue, "refusedQueue", DUMP_U32, MODEL_NONE, UINT32_MAX),
	ROW(task, reserved, "reserved", DUMP_U32, MODEL_NONE, UINT32_MAX),
	ROW(task, write_failures, "unboundFailures", DUMP_U32, 0, UINT32_MAX),
	ROW(task, attempts, "attempts", DUMP_U32, 0, UINT32_MAX),
	ROW(task, created, "created", DUMP_I64, MODEL_TIME_NONE, 0),
	ROW(task, published_at, "publishedAt", DUMP_I64, MODEL_TIME_NONE, 0),
	ROW(task, retry_at, "retryAt", DUMP_I64, MODEL_TIME_NONE, 0),
	ROW(task, resource_version, "rv", DUMP_I64, 0, 0),
	ROW(task, written, "written", DUMP_I64, 0, 0),
	ROW(task, cond_message, "condMessage", DUMP_U64, 0, 0),
	ROW(task, victims, "victims", DUMP_U32, 0, UINT32_MAX),
	ROW(task, in_vain, "inVain", DUMP_U32, 0, UINT32_MAX),
	ROW(task, preempt_at, "preemptAt", DUMP_I64, MODEL_TIME_NONE, 0),
	ROW(task, ends_by, "endsBy", DUMP_I64, MODEL_TIME_NONE, 0),
	ROW(task, cools_until, "coolsUntil", DUMP_I64, MODEL_TIME_NONE, 0),
	ROW(task, bind_by, "bindBy", DUMP_I64, MODEL_TIME_NONE, 0),
	ROW(task, budget, "budget", DUMP_U32, MODEL_NONE, UINT32_MAX),
	END,
};

const struct dump_field dump_fields_podgroup[] = {
	ROW(podgroup, queue_name, "queueName", DUMP_U32, MODEL_NONE, UINT32_MAX),
	ROW(podgroup, priority_class, "priorityClass", DUMP_U32, MODEL_NONE, UINT32_MAX),
	ROW(podgroup, barred_by, "barredBy", DUMP_U32, MODEL_NONE, UINT32_MAX),
	ROW(podgroup, exists, "hasGroup", DUMP_BOOL, 1, 0),
	ROW(podgroup, kind, "kind", DUMP_U8, PODGROUP_VOLCANO, PODGROUP_KIND_COUNT_ - 1),
	ROW(podgroup, part_queue, "partQueue", DUMP_U32, MODEL_NONE, UINT32_MAX),
	ROW(podgroup, unsupported, "unsupported", DUMP_U8, PODGROUP_SUPPORTED,
	    PODGROUP_UNSUPPORTED_COUNT_ - 1),
	ROW(podgroup, phase, "phase", DUMP_U8, PODGROUP_PENDING, PODGROUP_PHASE_COUNT_ - 1),
	ROW(podgroup, min_member, "minMember", DUMP_I32, 0, 0),
	ROW(podgroup, priority, "priority", DUMP_I32, 0, 0),
	ROW(podgroup, has_min_resources, "hasMinResources", DUMP_BOOL, 0, 0),
	ROW(podgroup, created, "created", DUMP_I64, MODEL_TIME_NONE, 0),
	ROW(podgroup, resource_version, "rv", DUMP_I64, 0, 0),
	ROW(podgroup, status_running, "running", DUMP_I32, 0, 0),
	ROW(podgroup, status_succeeded, "succeeded", DUMP_I32, 0, 0),
	ROW(podgroup, status_failed, "failed", DUMP_I32, 0, 0),
	ROW(podgroup, status_hash, "statusHash", DUMP_U64, 0, 0),
	/* Dumps of earlier releases do not say it: all are looked at then. */
	ROW(podgroup, changed, "changed", DUMP_BOOL, 1, 0),
	END,
};

const struct dump_field dump_fields_queue[] = {
	ROW(queue, exists, "exists", DUMP_BOOL, 1, 0),
	ROW(queue, state, "state", DUMP_U8, QUEUE_OPEN, QUEUE_UNKNOWN),
	ROW(queue, reclaimable, "reclaimable", DUMP_BOOL, 1, 0),
	ROW(queue, weight, "weight", DUMP_I32, 1, 0),
	ROW(queue, priority, "priority", DUMP_I32, 0, 0),
	ROW(queue, created, "created", DUMP_I64, MODEL_TIME_NONE, 0),
	ROW(queue, podgroups_gen, "jobsGen", DUMP_U64, 0, 0),
	ROW(queue, room_gen, "roomGen", DUMP_U64, 0, 0),
	ROW(queue, scan.podgroups_gen, "scanJobsGen", DUMP_U64, 0, 0),
	ROW(queue, scan.chain_gen, "scanChainGen", DUMP_U64, 0, 0),
	ROW(queue, scan.queues_gen, "scanQueuesGen", DUMP_U64, 0, 0),
	ROW(queue, scan.nodes_gen, "scanNodesGen", DUMP_U64, 0, 0),
	ROW(queue, scan.demand_gen, "scanDemandGen", DUMP_U64, 0, 0),
	ROW(queue, scan.done, "scanDone", DUMP_BOOL, 0, 0),
	ROW(queue, scan.waits_nodes, "scanWaitsNodes", DUMP_BOOL, 0, 0),
	ROW(queue, scan.waits_podgroups, "scanWaitsJobs", DUMP_BOOL, 0, 0),
	ROW(queue, scan.holds, "scanHolds", DUMP_BOOL, 0, 0),
	ROW(queue, scan.timer_at, "scanTimerAt", DUMP_I64, INT64_MAX, 0),
	ROW(queue, resource_version, "rv", DUMP_I64, 0, 0),
	END,
};

const struct dump_field dump_fields_node[] = {
	ROW(node, exists, "exists", DUMP_BOOL, 1, 0),
	ROW(node, unschedulable, "unschedulable", DUMP_BOOL, 0, 0),
	ROW(node, spec_gen, "specGen", DUMP_U64, 0, 0),
	END,
};

const struct dump_field dump_fields_budget[] = {
	ROW(budget, allowed, "allowed", DUMP_U32, 0, INT32_MAX),
	ROW(budget, granted, "granted", DUMP_U32, 0, UINT32_MAX),
	ROW(budget, unready_go, "unreadyGo", DUMP_BOOL, 0, 0),
	END,
};

static int64_t load(const struct dump_field *f, const void *obj)
{
	const void *p = (const char *)obj + f->offset;

	switch (f->kind) {
	case DUMP_BOOL:
		return *(const bool *)p;
	case DUMP_U8:
		return *(const uint8_t *)p;
	case DUMP_U32:
		return *(const uint32_t *)p;
	case DUMP_I32:
		return *(const int32_t *)p;
	case DUMP_I64:
		return *(const int64_t *)p;
	case DUMP_U64:
		/* As a signed number: all 64 bits come back. */
		return (int64_t) * (const uint64_t *)p;
	}
	return 0;
}

static void store(const struct dump_field *f, void *obj, int64_t v)
{
	void *p = (char *)obj + f->offset;

	switch (f->kind) {
	case DUMP_BOOL:
		*(bool *)p = v != 0;
		break;
	case DUMP_U8:
		*(uint8_t *)p = (uint8_t)v;
		break;
	case DUMP_U32:
		*(uint32_t *)p = (uint32_t)v;
		break;
	case DUMP_I32:
		*(int32_t *)p = (int32_t)v;
		break;
	case DUMP_I64:
		*(int64_t *)p = v;
		break;
	case DUMP_U64:
		*(uint64_t *)p = (uint64_t)v;
		break;
	}
}

void dump_fields_write_int(struct json_out *o, int64_t n)
{
	char digits[24];

	if (n >= -EXACT_MAX && n <= EXACT_MAX) {
		json_out_int(o, n);
		return;
	}
	snprintf(digits, sizeof(digits), "%" PRId64, n);
	json_out_str(o, digits);
}

int dump_fields_read_int(const struct jdoc *d, int64_t min, int64_t max, int64_t *ret,
			 struct err *err)
{
	int64_t n = 0;

	if (jdoc_kind(d) == JDOC_STRING) {
		if (!str_to_i64(str_of(jdoc_str(d)), &n)) {
			return err_set(err, ERR_INVALID, "not a whole number");
		}
	} else {
		/* For what is no whole number jdoc_int returns the default: two defaults show that.
		 */
		n = jdoc_int(d, INT64_MIN);
		if (jdoc_kind(d) != JDOC_NUMBER || n != jdoc_int(d, INT64_MAX)) {
			return err_set(err, ERR_INVALID, "not a whole number");
		}
	}
	if (n < min || n > max) {
		return err_set(err, ERR_INVALID, "out of range");
	}
	*ret = n;
	return 0;
}

void dump_fields_write(const struct dump_field *fields, const void *obj, struct json_out *o)
{
	for (const struct dump_field *f = fields; f->key != NULL; f++) {
		int64_t v = load(f, obj);

		if (v == f->def) {
			continue;
		}
		json_out_key(o, f->key);
		if (f->kind == DUMP_BOOL) {
			json_out_bool(o, v != 0);
		} else {
			dump_fields_write_int(o, v);
		}
	}
}

static int read_field(const struct dump_field *f, const struct jdoc *d, int64_t *v, struct err *err)
{
	switch (f->kind) {
	case DUMP_BOOL:
		if (jdoc_kind(d) != JDOC_BOOL) {
			return err_set(err, ERR_INVALID, "not true or false");
		}
		*v = jdoc_bool(d, false);
		return 0;
	case DUMP_U8:
	case DUMP_U32:
		return dump_fields_read_int(d, 0, f->max, v, err);
	case DUMP_I32:
		return dump_fields_read_int(d, INT32_MIN, INT32_MAX, v, err);
	case DUMP_I64:
	case DUMP_U64:
		return dump_fields_read_int(d, INT64_MIN, INT64_MAX, v, err);
	}
	return err_set(err, ERR_INTERNAL, "unknown kind of member");
}

int dump_fields_read(const struct dump_field *fields, const struct jdoc *d, void *obj,
		     struct err *err)
{
	for (const struct dump_field *f = fields; f->key != NULL; f++) {
		const struct jdoc *member = jdoc_get(d, f->key);
		int64_t v = f->def;

		if (member != NULL && read_field(f, member, &v, err) < 0) {
			return err_wrap(err, "%s", f->key);
		}
		store(f, obj, v);
	}
	return 0;
}

void dump_fields_write_res(struct json_out *o, const char *key, const struct res_names *names,
			   const struct res *r, int64_t def)
{
	bool open = false;

	for (unsigned i = 0; i < res_names_count(names); i++) {
		if (res_get(r, i) == def) {
			continue;
		}
		if (!open) {
			json_out_key(o, key);
			json_out_object(o);
			open = true;
		}
		json_out_key(o, res_names_get(names, i));
		dump_fields_write_int(o, res_get(r, i));
	}
	if (open) {
		json_out_object_end(o);
	}
}

static int read_amounts(const struct jdoc *amounts, const char *key, const struct res_names *names,
			struct res_edit *edit, struct err *err)
{
	for (const struct jdoc *a = jdoc_first(amounts); a != NULL; a = jdoc_next(a)) {
		int dim = res_names_find(names, str_of(jdoc_key(a)));
		int64_t amount = 0;

		if (dim < 0) {
			return err_set(err, ERR_INVALID, "%s.%s: unknown resource", key,
				       jdoc_key(a));
		}
		if (dump_fields_read_int(a, 0, INT64_MAX, &amount, err) < 0) {
			return err_wrap(err, "%s.%s", key, jdoc_key(a));
		}
		res_edit_set(edit, (unsigned)dim, amount);
	}
	return 0;
}

int dump_fields_read_res(const struct jdoc *d, const char *key, struct res_names *names,
			 int64_t def, struct res *ret, struct err *err)
{
	const struct jdoc *amounts = jdoc_get(d, key);
	struct res r;
	struct res_edit edit = res_edit_begin(names, &r);
	int rc;

	if (amounts != NULL && jdoc_kind(amounts) != JDOC_OBJECT) {
		return err_set(err, ERR_INVALID, "%s: not an object", key);
	}
	res_fill(&r, def);
	rc = read_amounts(amounts, key, names, &edit, err);
	res_edit_end(&edit);
	if (rc == 0) {
		*ret = r;
	}
	return rc;
}

void dump_fields_write_unoffered(struct json_out *o, const char *key, const struct unoffered *u)
{
	if (u->n == 0) {
		return;
	}
	json_out_key(o, key);
	json_out_object(o);
	for (size_t i = 0; i < u->n; i++) {
		json_out_key(o, u->v[i].name);
		dump_fields_write_int(o, u->v[i].amount);
	}
	json_out_object_end(o);
}

int dump_fields_read_unoffered(const struct jdoc *d, const char *key, struct unoffered *ret,
			       struct err *err)
{
	const struct jdoc *amounts = jdoc_get(d, key);
	CLEANUP(unoffered_finish)
	struct unoffered u = { .v = xmalloc_zero(jdoc_count(amounts) + 1, sizeof(*u.v)) };

	if (amounts != NULL && jdoc_kind(amounts) != JDOC_OBJECT) {
		return err_set(err, ERR_INVALID, "%s: not an object", key);
	}
	for (const struct jdoc *a = jdoc_first(amounts); a != NULL; a = jdoc_next(a)) {
		struct unoffered_amount *one = &u.v[u.n++];

		one->name = jdoc_key(a);
		if (dump_fields_read_int(a, 1, INT64_MAX, &one->amount, err) < 0) {
			return err_wrap(err, "%s.%s", key, jdoc_key(a));
		}
	}
	*ret = unoffered_copy(&u);
	return 0;
}
