#include "scheduler/ctl/sim/workload_load.h"

#include <stdlib.h>

#include "api/kueue.h"
#include "api/kueue_workload.h"
#include "api/limit_range.h"
#include "api/namespace.h"
#include "api/runtime_class.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/decode.h"
#include "enc/jdoc.h"
#include "scheduler/workloads/conf/kueue_conf.h"
#include "scheduler/workloads/ingest/from_kueue.h"
#include "scheduler/workloads/ingest/workload_cache_status.h"
#include "scheduler/workloads/pending/usage.h"

/* One object while it is read. */
struct reading {
	const struct workload_load *l;
	const struct sim_object *object;
	struct arena *arena;
};

/* What cannot be used of a decoded object is told with its name by those who find it. */
static int decode(const struct reading *r, const struct field_table *table, void *ret,
		  struct err *err)
{
	if (decode_jdoc(table, r->object->json, ret, r->arena, err) < 0) {
		return err_wrap(err, "%s %s", sim_input_kind_name(r->object->kind), r->object->key);
	}
	return 0;
}

static int load_namespace(const struct reading *r, struct err *err)
{
	struct api_namespace o;
	int code = decode(r, &namespace_fields, &o, err);

	return code < 0 ? code : from_kueue_namespace(r->l->q, &o, err);
}

static int load_limits(const struct reading *r, struct err *err)
{
	struct api_limit_range o;
	int code = decode(r, &limit_range_fields, &o, err);

	if (code == 0) {
		from_kueue_rules_limits(r->l->rules, &o);
	}
	return code;
}

static int load_runtime(const struct reading *r, struct err *err)
{
	struct api_runtime_class o;
	int code = decode(r, &runtime_class_fields, &o, err);

	if (code == 0) {
		from_kueue_rules_runtime(r->l->rules, &o);
	}
	return code;
}

/* Only that it is one: Workloads hold the priority that their class had. */
static int load_priority(const struct reading *r, struct err *err)
{
	struct api_workload_priority_class o;

	return decode(r, &kueue_workload_priority_class_fields, &o, err);
}

static int load_topology(const struct reading *r, struct err *err)
{
	struct api_topology o;
	int code = decode(r, &kueue_topology_fields, &o, err);

	if (code == 0) {
		from_kueue_topology(r->l->q, &o);
	}
	return code;
}

static int load_flavor(const struct reading *r, struct err *err)
{
	struct api_resource_flavor o;
	int code = decode(r, &kueue_resource_flavor_fields, &o, err);

	return code < 0 ? code : from_kueue_flavor(r->l->q, &o, err);
}

static int load_check(const struct reading *r, struct err *err)
{
	struct api_admission_check o;
	int code = decode(r, &kueue_admission_check_fields, &o, err);

	if (code == 0) {
		from_kueue_check(r->l->q, &o);
	}
	return code;
}

static int load_cohort(const struct reading *r, struct err *err)
{
	struct api_cohort o;
	int code = decode(r, &kueue_cohort_fields, &o, err);

	return code < 0 ? code : from_kueue_cohort(r->l->q, &o, err);
}

static int load_queue(const struct reading *r, struct err *err)
{
	struct api_cluster_queue o;
	int code = decode(r, &kueue_cluster_queue_fields, &o, err);

	return code < 0 ? code : from_kueue_queue(r->l->q, &o, err);
}

static int load_local(const struct reading *r, struct err *err)
{
	const struct kueue_conf *conf = r->l->conf;
	struct api_local_queue o;
	CLEANUP(xmalloc_freep) char *key = NULL;
	struct local_queue *local;
	int code = decode(r, &kueue_local_queue_fields, &o, err);

	if (code == 0) {
		code = from_kueue_local(r->l->q, &o, err);
	}
	if (code < 0 || !conf->options.admission_fair_sharing) {
		return code;
	}
	key = xmalloc_printf("%s/%s", o.meta.namespace_, o.meta.name);
	local = quota_local_find(r->l->q, str_of(key));
	from_kueue_local_usage(r->l->q, local, &o);
	usage_weigh(r->l->q, local);
	return 0;
}

int workload_load_object(const struct workload_load *l, const struct sim_object *o, struct err *err)
{
	static int (*const loaders[SCHED_RESOURCE_COUNT_])(const struct reading *, struct err *) = {
		[SCHED_NAMESPACES] = load_namespace,
		[SCHED_LIMIT_RANGES] = load_limits,
		[SCHED_RUNTIME_CLASSES] = load_runtime,
		[SCHED_TOPOLOGIES] = load_topology,
		[SCHED_FLAVORS] = load_flavor,
		[SCHED_ADMISSION_CHECKS] = load_check,
		[SCHED_COHORTS] = load_cohort,
		[SCHED_CLUSTER_QUEUES] = load_queue,
		[SCHED_LOCAL_QUEUES] = load_local,
		[SCHED_WORKLOAD_PRIORITY_CLASSES] = load_priority,
	};
	CLEANUP(arena_destroyp) struct arena *arena = NULL;
	struct reading r = { .l = l, .object = o };

	if (loaders[o->kind] == NULL) {
		return 0;
	}
	arena = arena_create(0);
	r.arena = arena;
	return loaders[o->kind](&r, err);
}

/* --- Workloads ---------------------------------------------------------------------------------*/

static const char *format_admission(const struct sim_object *o, struct arena *arena)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	const struct jdoc *admission = jdoc_path(o->json, "status.admission");

	if (jdoc_kind(admission) != JDOC_OBJECT) {
		return NULL;
	}
	jdoc_format(admission, &text);
	return arena_dup(arena, text.p);
}

static int read_workload(const struct workload_load *l, const struct sim_object *o,
			 struct workload_load_status *s, struct from_kueue_workload *ret,
			 struct err *err)
{
	const struct reading r = { l, o, s->arena };
	struct api_workload w;
	int code = decode(&r, &kueue_workload_fields, &w, err);

	if (code == 0) {
		code = from_kueue_workload_read(l->q, l->rules, &w, ret, err);
	}
	if (code < 0) {
		return code;
	}
	workload_cache_status_read(l->q, &w, &s->conditions);
	s->admission = format_admission(o, s->arena);
	s->queue = arena_dup(s->arena, ret->queue);
	return 0;
}

static void status_destroyp(struct workload_load_status **ps)
{
	workload_load_status_destroy(*ps);
}

int workload_load_workload(const struct workload_load *l, const struct sim_object *o,
			   struct workload **ret, struct workload_load_status **ret_status,
			   struct err *err)
{
	CLEANUP(status_destroyp) struct workload_load_status *s = xmalloc_zero(1, sizeof(*s));
	struct from_kueue_workload read = { 0 };
	struct workload *w;
	int code;

	s->arena = arena_create(0);
	s->conditions.arena = s->arena;
	code = read_workload(l, o, s, &read, err);
	if (code < 0) {
		return code;
	}
	w = quota_workload_add(l->q, str_of(o->key));
	(void)from_kueue_workload_apply(&read, w);
	from_kueue_workload_finish(&read);
	*ret = w;
	*ret_status = take_ptr(&s);
	return 0;
}

int workload_load_workload_keep(const struct workload_load *l, const struct sim_object *o,
				struct workload **ret, struct workload_load_status **ret_status)
{
	CLEANUP(status_destroyp) struct workload_load_status *s = xmalloc_zero(1, sizeof(*s));
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct from_kueue_workload read = { 0 };
	struct api_workload w;

	s->arena = arena_create(0);
	s->conditions.arena = s->arena;
	jdoc_format(o->json, &text);
	(void)decode_partial(&kueue_workload_fields, strbuf_str(&text), &w, s->arena, NULL);
	if (from_kueue_workload_keep(l->q, &w, &read) < 0) {
		return -ERR_NOT_FOUND;
	}
	workload_cache_status_read(l->q, &w, &s->conditions);
	s->admission = format_admission(o, s->arena);
	s->queue = arena_dup(s->arena, read.queue);
	*ret = quota_workload_add(l->q, str_of(o->key));
	(void)from_kueue_workload_apply(&read, *ret);
	from_kueue_workload_finish(&read);
	*ret_status = take_ptr(&s);
	return 0;
}

void workload_load_status_destroy(struct workload_load_status *s)
{
	if (s != NULL) {
		conditions_finish(&s->conditions);
		arena_destroy(s->arena);
		free(s);
	}
}
