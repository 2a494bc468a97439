#include "scheduler/ctl/multikueue/waiting_queues.h"

#include <stdlib.h>
#include <string.h>

#include "api/kueue/kueue.h"
#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "api/kueue/multikueue.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "enc/decode.h"
#include "kube/rest.h"
#include "kube/transport.h"
#include "scheduler/base/sched_kinds.h"

#define CALL_NS (30 * CLOCK_NS_PER_S)

struct config {
	struct field_strs clusters;
	struct strmap *queues; /* of Workloads that wait for it */
};

struct waiting_queues {
	struct arena *arena;
	struct strmap *checks;  /* name of an AdmissionCheck -> name of its MultiKueueConfig */
	struct strmap *configs; /* name -> struct config */
};

static void free_config(void *value)
{
	struct config *c = value;

	strmap_destroy(c->queues);
	free(c);
}

static void on_check(void *ctx, struct str object, const struct cut_meta *meta)
{
	struct waiting_queues *w = ctx;
	struct api_admission_check c;

	(void)decode_partial(&kueue_admission_check_fields, object, &c, w->arena, NULL);
	if (str_streq(c.spec.controller_name, WAITING_QUEUES_CONTROLLER) &&
	    c.spec.parameters != NULL && c.spec.parameters->name != NULL) {
		strmap_set(w->checks, meta->name, arena_dup(w->arena, c.spec.parameters->name));
	}
}

static void on_config(void *ctx, struct str object, const struct cut_meta *meta)
{
	struct waiting_queues *w = ctx;
	struct config *added = xmalloc_zero(1, sizeof(*added));
	struct api_multikueue_config c;

	(void)decode_partial(&multikueue_config_fields, object, &c, w->arena, NULL);
	added->clusters = c.spec.clusters;
	added->queues = strmap_create(NULL);
	strmap_set(w->configs, meta->name, added);
}

static void add_queue(struct waiting_queues *w, const char *check, const char *key)
{
	const char *name = strmap_get(w->checks, str_of(check));
	struct config *config = name == NULL ? NULL : strmap_get(w->configs, str_of(name));

	if (config != NULL) {
		strmap_set(config->queues, str_of(key), w);
	}
}

static void on_workload(void *ctx, struct str object, const struct cut_meta *meta)
{
	struct waiting_queues *w = ctx;
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	CLEANUP(xmalloc_freep) char *key = NULL;
	struct api_workload o;

	(void)decode_partial(&kueue_workload_fields, object, &o, arena, NULL);
	if (o.spec.queue_name == NULL || kueue_workload_stage(&o) == KUEUE_WORKLOAD_FINISHED) {
		return;
	}
	key = xmalloc_printf(STR_FMT "/%s", STR_ARG(meta->namespace_), o.spec.queue_name);
	for (size_t i = 0; i < o.status.admission_checks.n; i++) {
		const struct api_check_state *c = &o.status.admission_checks.v[i];

		if (c->name != NULL && str_streq(c->state, KUEUE_CHECK_PENDING)) {
			add_queue(w, c->name, key);
		}
	}
}

static int list(struct transport *t, enum sched_resource kind, list_page_fn each,
		struct waiting_queues *w, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;

	sched_kinds_path(kind, NULL, NULL, NULL, &path);
	return rest_list_cut(t, path.p, CALL_NS, each, w, err);
}

int waiting_queues_read(struct transport *manager, struct waiting_queues **ret, struct err *err)
{
	struct waiting_queues *w = xmalloc_zero(1, sizeof(*w));
	int r;

	w->arena = arena_create(0);
	w->checks = strmap_create(NULL);
	w->configs = strmap_create(free_config);
	r = list(manager, SCHED_ADMISSION_CHECKS, on_check, w, err);
	if (r == 0) {
		r = list(manager, SCHED_MULTIKUEUE_CONFIGS, on_config, w, err);
	}
	if (r == 0) {
		r = list(manager, SCHED_WORKLOADS, on_workload, w, err);
	}
	if (r < 0) {
		waiting_queues_destroy(w);
		return r;
	}
	*ret = w;
	return 0;
}

void waiting_queues_destroy(struct waiting_queues *w)
{
	if (w != NULL) {
		strmap_destroy(w->checks);
		strmap_destroy(w->configs);
		arena_destroy(w->arena);
		free(w);
	}
}

struct collecting {
	const char *cluster;
	struct strmap *seen;
	const struct strmap *queues; /* of the config that is looked at */
	struct waiting_queues_keys *ret;
};

static bool add_key(struct str key, void *value UNUSED, void *ctx)
{
	struct collecting *c = ctx;

	if (!strmap_has(c->seen, key)) {
		strmap_set(c->seen, key, c);
		vec_push(c->ret, strmap_key(c->queues, key));
	}
	return true;
}

static bool add_config(struct str name UNUSED, void *value, void *ctx)
{
	const struct config *config = value;
	struct collecting *c = ctx;

	for (size_t i = 0; i < config->clusters.n; i++) {
		if (str_streq(config->clusters.v[i], c->cluster)) {
			c->queues = config->queues;
			strmap_each(config->queues, add_key, c);
			break;
		}
	}
	return true;
}

static int cmp_key(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void waiting_queues_of(const struct waiting_queues *w, const char *cluster,
		       struct waiting_queues_keys *ret)
{
	struct collecting c = { .cluster = cluster, .seen = strmap_create(NULL), .ret = ret };

	strmap_each(w->configs, add_config, &c);
	strmap_destroy(c.seen);
	if (ret->n > 0) {
		qsort(ret->v, ret->n, sizeof(ret->v[0]), cmp_key);
	}
}
