#include "scheduler/base/gate_fields.h"

#include <stdlib.h>

#include "api/kueue/kueue_keys.h"
#include "api/kueue/preemption_gate.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "kube/pool.h"
#include "kube/rest.h"
#include "process/log.h"
#include "scheduler/base/message.h"

#define NAME "workloads." KUEUE_GROUP

struct gate_fields {
	void (*post)(void *ctx, struct sched_msg *msg);
	void *ctx;
	const char *cluster;
	struct pool *pool;
	bool asked;
};

static bool start(void *ctx UNUSED, void *item, unsigned sends UNUSED, struct http_call *call,
		  struct strbuf *scratch)
{
	rest_path(scratch, "apiextensions.k8s.io", "v1", NULL, "customresourcedefinitions", item,
		  NULL);
	call->method = HTTP_GET;
	call->url = scratch->p;
	return true;
}

static enum pool_verdict finish(void *ctx, void *item UNUSED, const struct http_result *result)
{
	const struct gate_fields *g = ctx;
	CLEANUP(jdoc_destroyp) struct jdoc *crd = NULL;
	struct err err = ERR_INIT;
	int code = rest_result(result, &err);
	struct sched_msg *m;

	if (result->error == ERR_CANCELLED) {
		return POOL_DONE;
	}
	/* A missing definition or right does not come by itself: it is reported as not known, and
	 * the next Workload with gates asks again. */
	if (code < 0 && code != -ERR_NOT_FOUND && code != -ERR_FORBIDDEN) {
		return POOL_RETRY;
	}
	/* A message without fields is an answer, too: without it, nothing would ask again. */
	m = message_new(SCHED_MSG_GATE_FIELDS);
	if (code < 0 || jdoc_parse(result->body, &crd, &err) < 0) {
		log_warn("fields of preemption gates not known",
			 LOG_STR("cluster", g->cluster == NULL ? "" : g->cluster),
			 LOG_STR("definition", NAME), LOG_STR("error", err.text));
	} else {
		m->gate_fields = preemption_gate_fields_of(crd);
		m->known = true;
	}
	g->post(g->ctx, m);
	return POOL_DONE;
}

static const struct pool_ops ops = { .start = start, .finish = finish, .free_item = free };

struct gate_fields *gate_fields_create(const struct pool_options *base, const char *cluster,
				       void (*post)(void *ctx, struct sched_msg *msg))
{
	struct gate_fields *g = xmalloc_zero(1, sizeof(*g));
	struct pool_options po = *base;

	g->post = post;
	g->ctx = base->ctx;
	g->cluster = cluster;
	po.name = "gate-fields";
	po.ops = &ops;
	po.ctx = g;
	po.may_send = NULL; /* reading needs no lease */
	/* There is one object to be read. */
	po.slots = 1;
	g->pool = pool_create(&po);
	return g;
}

void gate_fields_destroy(struct gate_fields *g)
{
	if (g != NULL) {
		pool_destroy(g->pool);
		free(g);
	}
}

struct pool *gate_fields_pool(struct gate_fields *g)
{
	return g->pool;
}

void gate_fields_unknown(struct gate_fields *g)
{
	g->asked = false;
}

/* A known answer is kept until the process ends: a definition that is changed later is not read
 * again. */
void gate_fields_ask(struct gate_fields *g)
{
	if (!g->asked) {
		g->asked = true;
		pool_add(g->pool, STR_LIT(NAME), xmalloc_dup(NAME));
	}
}
