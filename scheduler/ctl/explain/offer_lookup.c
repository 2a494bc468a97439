#include "scheduler/ctl/explain/offer_lookup.h"

#include <stdlib.h>
#include <string.h>

#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "api/kueue/multikueue.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/vec.h"
#include "enc/decode.h"
#include "enc/json/jdoc.h"
#include "kube/rest.h"
#include "kube/transport.h"
#include "scheduler/ctl/cli/cluster_args.h"
#include "scheduler/ctl/explain/live_workloads.h"
#include "scheduler/ctl/multikueue/waiting_queues.h"
#include "scheduler/ctl/multikueue/worker_access.h"
#include "scheduler/ctl/multikueue/worker_cost.h"
#include "scheduler/ctl/multikueue/worker_parallel.h"
#include "scheduler/multikueue/observe.h"
#include "scheduler/multikueue/variants.h"
#include "scheduler/orchestrate/orchestrate.h"
#include "scheduler/orchestrate/orchestrate_conf.h"
#include "scheduler/workloads/conf/kueue_conf.h"

#define CALL_NS (30 * CLOCK_NS_PER_S)
#define WORKER_CALL_NS (10 * CLOCK_NS_PER_S)
#define MAX_PARTS 500 /* Workloads of the manager in one namespace of a worker */

/* One worker that is asked, on its thread. */
struct asked {
	struct worker_access access;
	struct observed observed;
	struct arena *arena;
	const char *message; /* of the worker, or of the error */
	const char *other_gate;
	bool has_cost;
	struct worker_cost cost;
};

struct asking {
	const char *key; /* of the Workload */
	const struct kueue_conf *conf;
	int64_t call_ns, now;
	struct asked *v;
};

/* --- the local Workload ------------------------------------------------------------------------*/

/* The check of MultiKueue that the Workload waits for; NULL: it waits for none. Where the check
 * itself could not be read, the token says that it is one of MultiKueue. */
static const char *find_check(const struct live_workloads *s, const struct api_workload *w,
			      bool has_token, const struct jdoc **ret_object)
{
	for (size_t i = 0; i < w->status.admission_checks.n; i++) {
		const struct api_check_state *c = &w->status.admission_checks.v[i];
		const struct sim_object *o =
			c->name == NULL ? NULL
					: sim_input_find(s->in, SCHED_ADMISSION_CHECKS, c->name);

		if (str_streq(c->state, KUEUE_CHECK_READY) ||
		    str_streq(c->state, KUEUE_CHECK_REJECTED)) {
			continue;
		}
		if (o == NULL ? has_token
			      : str_streq(jdoc_path_str(o->json, "spec.controllerName"),
					  WAITING_QUEUES_CONTROLLER)) {
			*ret_object = o == NULL ? NULL : o->json;
			return c->name;
		}
	}
	return NULL;
}

static void add_workers(struct offer *o, const struct field_strs *names)
{
	for (size_t i = 0; i < names->n; i++) {
		const struct offer_worker w = { .cluster = arena_dup(o->arena, names->v[i]) };

		vec_push(&o->workers, w);
	}
}

static int read_config(struct transport *manager, struct offer *o, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *doc = NULL;
	struct api_multikueue_config config;
	int r;

	sched_kinds_path(SCHED_MULTIKUEUE_CONFIGS, NULL, o->config, NULL, &path);
	r = rest_call(manager, HTTP_GET, path.p, NULL, (struct str){ NULL, 0 }, CALL_NS, &doc, err);
	if (r == 0) {
		r = decode_jdoc(&multikueue_config_fields, doc, &config, o->arena, err);
	}
	if (r == 0) {
		add_workers(o, &config.spec.clusters);
	}
	return r < 0 ? err_wrap(err, "MultiKueueConfig %s", o->config) : 0;
}

/* --- the workers -------------------------------------------------------------------------------*/

static int read_replica(const struct asking *asking, struct asked *a, struct transport *t,
			struct api_workload *w, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *doc = NULL;
	int r;

	sched_kinds_key_path(SCHED_WORKLOADS, str_of(asking->key), NULL, &path);
	r = rest_call(t, HTTP_GET, path.p, NULL, (struct str){ NULL, 0 }, asking->call_ns, &doc,
		      err);
	return r < 0 ? r : decode_jdoc(&kueue_workload_fields, doc, w, a->arena, err);
}

/* The variants of the replica, and the objects of which they were read. */
struct parts {
	struct variants list;
	struct VEC(const struct api_workload *) read;
};

/* Items that cannot be decoded are skipped: no decision depends on what is shown here. */
static void add_parts(const struct asking *asking, struct asked *a, const struct jdoc *items,
		      const char *uid, struct parts *out)
{
	const char *name = strchr(asking->key, '/') + 1;
	uint64_t signals = 0;

	for (const struct jdoc *i = jdoc_first(items); i != NULL; i = jdoc_next(i)) {
		struct api_workload *w = arena_zero(a->arena, 1, sizeof(*w));

		if (decode_jdoc(&kueue_workload_fields, i, w, a->arena, NULL) == 0 &&
		    w->meta.name != NULL && str_streq(variants_parent(w), name)) {
			(void)variants_adopt(&out->list, variants_read(str_of(w->meta.name), w, 0),
					     uid, &signals);
			vec_push(&out->read, w);
		}
	}
}

/* Without its variants nothing is known of a replica that was split into some. */
static int read_parts(const struct asking *asking, struct asked *a, struct transport *t,
		      const struct api_workload *w, struct parts *out, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *list = NULL;
	int r;

	sched_kinds_path(SCHED_WORKLOADS, w->meta.namespace_, NULL, NULL, &path);
	strbuf_printf(&path, "?limit=%d&labelSelector=" KUEUE_MULTIKUEUE_ORIGIN, MAX_PARTS);
	r = rest_call(t, HTTP_GET, path.p, NULL, (struct str){ NULL, 0 }, asking->call_ns, &list,
		      err);
	if (r < 0) {
		return err_wrap(err, "variants");
	}
	add_parts(asking, a, jdoc_get(list, "items"), w->meta.uid, out);
	return 0;
}

/* *ret_counts: the Workload that counts for the replica (variants.h), which may be itself. */
static int observe_parts(const struct asking *asking, struct asked *a, struct transport *t,
			 const struct api_workload *w, const struct api_workload **ret_counts,
			 struct err *err)
{
	struct variant *self = variants_read(str_of(w->meta.name), w, 0), *counts;
	struct parts parts = { VEC_INIT, VEC_INIT };
	struct observation seen;
	uint64_t signals = 0;
	int r = self->parent ? read_parts(asking, a, t, w, &parts, err) : 0;

	*ret_counts = w;
	counts = variants_choose(&parts.list, self, false, VARIANTS_NO_EPOCH);
	for (size_t i = 0; counts != self && i < parts.read.n; i++) {
		if (str_streq(parts.read.v[i]->meta.name, counts->key)) {
			*ret_counts = parts.read.v[i];
		}
	}
	seen = variants_observe(&parts.list, self, counts, &a->observed.replica.unanswered);
	observe_replica(&a->observed, w->meta.uid, &seen, asking->now, &signals);
	variants_free(self);
	variants_finish(&parts.list);
	vec_finish(&parts.read);
	return r;
}

/* Preemption there is still a question. */
static void read_cost(const struct asking *asking, struct asked *a, struct transport *t)
{
	const struct worker_cost_request request = {
		.worker = t, .conf = asking->conf, .key = asking->key, .limit_ns = asking->call_ns
	};

	if (a->observed.replica.uid != NULL && !a->observed.replica.reserved &&
	    !a->observed.replica.admitted) {
		worker_cost_read(&request, a->arena, &a->cost);
		a->has_cost = true;
	}
}

static void ask(void *ctx, size_t i)
{
	struct asking *asking = ctx;
	struct asked *a = &asking->v[i];
	const struct api_condition *c;
	struct err err = ERR_INIT;
	const struct api_workload *counts;
	struct api_workload w;
	struct transport *t = NULL;
	uint64_t signals = 0;
	int r;

	if (a->access.state != WORKER_ACCESS_READ) {
		return;
	}
	a->arena = arena_create(0);
	r = worker_access_connect(&a->access, &t, &err);
	r = r < 0 ? r : read_replica(asking, a, t, &w, &err);
	r = r < 0 ? r : observe_parts(asking, a, t, &w, &counts, &err);
	if (r < 0 && r != -ERR_NOT_FOUND) {
		observe_unreachable(&a->observed);
		a->message = arena_dup(a->arena, err.text);
		transport_destroy(t);
		return;
	}
	if (r < 0) {
		observe_replica(&a->observed, NULL, NULL, asking->now, &signals);
		transport_destroy(t);
		return;
	}
	c = meta_condition(&counts->status.conditions, KUEUE_QUOTA_RESERVED);
	a->message = c == NULL ? NULL : c->message;
	a->other_gate = observe_other_gate(counts, KUEUE_GATE_MULTIKUEUE);
	read_cost(asking, a, t);
	transport_destroy(t);
}

static const struct worker_cost *copy_cost(struct arena *arena, const struct asked *a)
{
	struct worker_cost *copy;

	if (!a->has_cost) {
		return NULL;
	}
	copy = arena_zero(arena, 1, sizeof(*copy));
	*copy = a->cost;
	copy->why = arena_dup(arena, a->cost.why);
	return copy;
}

/* Copies the answers, so that nothing of the threads has to be kept. */
static void take_answers(struct offer *o, const struct asked *v)
{
	for (size_t i = 0; i < o->workers.n; i++) {
		struct offer_worker *w = &o->workers.v[i];
		struct replica *copy;

		if (v[i].access.state != WORKER_ACCESS_READ) {
			w->message = arena_dup(o->arena, v[i].access.why.text);
			continue;
		}
		copy = arena_zero(o->arena, 1, sizeof(*copy));
		*copy = v[i].observed.replica;
		copy->cluster = w->cluster;
		copy->uid = arena_dup(o->arena, copy->uid);
		w->replica = copy;
		w->message = arena_dup(o->arena, v[i].message);
		w->other_gate = arena_dup(o->arena, v[i].other_gate);
		w->cost = copy_cost(o->arena, &v[i]);
	}
}

static void ask_workers(const struct cluster_args *a, const struct live_workloads *s,
			const char *key, struct transport *manager, struct offer *o)
{
	struct asking asking = { .key = key,
				 .conf = workload_simulation_conf(s->world),
				 .call_ns = WORKER_CALL_NS,
				 .now = s->now };

	if (a->has_timeout && a->timeout > 0) {
		asking.call_ns = a->timeout;
	}
	asking.v = xmalloc_zero(o->workers.n + 1, sizeof(*asking.v));
	for (size_t i = 0; i < o->workers.n; i++) {
		observe_init(&asking.v[i].observed, o->workers.v[i].cluster);
		worker_access_read(manager, a->secrets_namespace, o->workers.v[i].cluster,
				   &asking.v[i].access);
	}
	worker_parallel_run(o->workers.n, ask, &asking);
	take_answers(o, asking.v);
	for (size_t i = 0; i < o->workers.n; i++) {
		worker_access_finish(&asking.v[i].access);
		arena_destroy(asking.v[i].arena);
	}
	free(asking.v);
}

/* Without the config it is not known which clusters there are: those of the status remain. */
static void fall_back(struct offer *o, const struct api_workload *w, const char *why)
{
	size_t before = o->workers.n;

	o->unlisted = why;
	add_workers(o, &w->status.nominated_clusters);
	for (size_t i = before; i < o->workers.n; i++) {
		o->workers.v[i].message = why;
	}
}

static void look(const struct cluster_args *a, const struct live_workloads *s, const char *key,
		 const struct api_workload *w, struct offer *o)
{
	struct transport *manager = NULL;
	struct err err = ERR_INIT;
	int r;

	if (a->files.n > 0) {
		fall_back(o, w, "the objects are from manifests");
		return;
	}
	if (o->config == NULL) {
		fall_back(o, w, "its MultiKueueConfig is not known");
		return;
	}
	r = cluster_args_connect(a, &manager, &err);
	if (r == 0) {
		r = read_config(manager, o, &err);
	}
	if (r == 0) {
		ask_workers(a, s, key, manager, o);
	} else {
		fall_back(o, w, arena_dup(o->arena, err.text));
	}
	transport_destroy(manager);
}

void offer_lookup(const struct cluster_args *a, const struct live_workloads *s, const char *key,
		  struct offer *ret)
{
	const struct sim_object *object = sim_input_find(s->in, SCHED_WORKLOADS, key);
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	const struct jdoc *check = NULL;
	struct orchestrate_options opt;
	const char *name, *token;
	struct api_workload w;

	*ret = (struct offer){ .arena = NULL };
	if (object == NULL ||
	    decode_jdoc(&kueue_workload_fields, object->json, &w, arena, NULL) < 0 ||
	    kueue_workload_stage(&w) == KUEUE_WORKLOAD_FINISHED) {
		return;
	}
	token = field_map_get(&w.meta.annotations, TOKEN_ANNOTATION);
	name = find_check(s, &w, token != NULL, &check);
	if (name == NULL) {
		return;
	}
	ret->arena = arena_create(0);
	ret->check = arena_dup(ret->arena, name);
	ret->config = arena_dup(ret->arena, jdoc_path_str(check, "spec.parameters.name"));
	look(a, s, key, &w, ret);
	orchestrate_conf_options(&workload_simulation_conf(s->world)->multikueue, &opt);
	offer_explain(ret, str_of(token == NULL ? NULL : arena_dup(ret->arena, token)), &opt,
		      s->now);
}
