#include "scheduler/workloads/engine/workload_reread.h"

#include <stdlib.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "kube/pool.h"
#include "kube/rest.h"
#include "scheduler/base/message.h"
#include "scheduler/base/message_decode.h"

#define POOL_SLOTS 16

struct workload_reread {
	void (*post)(void *ctx, struct sched_msg *msg);
	void *ctx;
	struct pool *pool;
};

static bool start(void *ctx UNUSED, void *item, unsigned sends UNUSED, struct http_call *call,
		  struct strbuf *scratch)
{
	sched_kinds_key_path(SCHED_WORKLOADS, str_of(item), NULL, scratch);
	/* Without a resourceVersion the answer is the newest there is. */
	call->method = HTTP_GET;
	call->url = scratch->p;
	return true;
}

static enum pool_verdict finish(void *ctx, void *item, const struct http_result *result)
{
	const struct workload_reread *r = ctx;
	struct err err = ERR_INIT;
	int code = rest_result(result, &err);
	struct sched_msg *m;

	if (code == 0) {
		m = message_decode(SCHED_WORKLOADS, str_of(item), result->body,
				   rest_version(result));
		/* The watch may have delivered a deletion, a namesake or a newer version meanwhile:
		 * the cache compares UID and version then. */
		m->reread = true;
		r->post(r->ctx, m);
		return POOL_DONE;
	}
	/* The watch reports a deletion. A Workload that cannot be read stays as it was. */
	return code == -ERR_NOT_FOUND || code == -ERR_FORBIDDEN || code == -ERR_INVALID ||
			       result->error == ERR_CANCELLED
		       ? POOL_DONE
		       : POOL_RETRY;
}

static const struct pool_ops ops = { .start = start, .finish = finish, .free_item = free };

struct workload_reread *workload_reread_create(const struct pool_options *base,
					       void (*post)(void *ctx, struct sched_msg *msg))
{
	struct workload_reread *r = xmalloc_zero(1, sizeof(*r));
	struct pool_options po = *base;

	r->post = post;
	r->ctx = base->ctx;
	po.name = "workload-read";
	po.ops = &ops;
	po.ctx = r;
	po.may_send = NULL; /* reading needs no lease */
	po.slots = POOL_SLOTS;
	r->pool = pool_create(&po);
	return r;
}

void workload_reread_destroy(struct workload_reread *r)
{
	if (r != NULL) {
		pool_destroy(r->pool);
		free(r);
	}
}

struct pool *workload_reread_pool(struct workload_reread *r)
{
	return r->pool;
}

void workload_reread_add(struct workload_reread *r, struct str key)
{
	pool_add(r->pool, key, xmalloc_dup_n(key.p, key.len));
}
