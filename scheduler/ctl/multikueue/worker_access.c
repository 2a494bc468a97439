#include "scheduler/ctl/multikueue/worker_access.h"

#include <stdlib.h>

#include "api/core/secret.h"
#include "api/kueue/multikueue.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/base64.h"
#include "enc/decode.h"
#include "enc/json/jdoc.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "kube/rest.h"
#include "kube/transport.h"
#include "process/version.h"
#include "scheduler/base/sched_kinds.h"
#include "scheduler/ctl/multikueue/worker_account.h"
#include "scheduler/multikueue/worker_config.h"

#define CALL_NS (30 * CLOCK_NS_PER_S)
#define CONNECT_NS (5 * CLOCK_NS_PER_S)

struct reading {
	struct transport *manager;
	const char *namespace_;
	struct arena *arena;
	struct worker_access *access;
};

static int refuse(struct worker_access *a, enum worker_access_state state)
{
	a->state = state;
	return -1;
}

/* An object of the manager, which errors call `shown`. */
static int get(struct reading *r, const char *shown, const char *path, struct jdoc **ret)
{
	struct worker_access *a = r->access;
	int code = rest_call(r->manager, HTTP_GET, path, NULL, (struct str){ NULL, 0 }, CALL_NS,
			     ret, &a->why);

	switch (code) {
	case 0:
		return 0;
	case -ERR_NOT_FOUND:
		(void)err_set(&a->why, ERR_NOT_FOUND, "%s does not exist", shown);
		return refuse(a, WORKER_ACCESS_BAD);
	case -ERR_FORBIDDEN:
		(void)err_set(&a->why, ERR_FORBIDDEN, "no right to read %s", shown);
		break;
	default:
		(void)err_wrap(&a->why, "%s", shown);
	}
	return refuse(a, WORKER_ACCESS_UNREADABLE);
}

/* The name of the Secret. */
static int read_cluster(struct reading *r, const char **ret_secret)
{
	CLEANUP(jdoc_destroyp) struct jdoc *doc = NULL;
	struct worker_access *a = r->access;
	const struct api_multikueue_kube_config *source;
	const char *shown = arena_printf(r->arena, "MultiKueueCluster %s", a->cluster);
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;
	struct api_multikueue_cluster cluster;

	sched_kinds_path(SCHED_MULTIKUEUE_CLUSTERS, NULL, a->cluster, NULL, &path);
	if (get(r, shown, path.p, &doc) < 0) {
		return -1;
	}
	if (decode_jdoc(&multikueue_cluster_fields, doc, &cluster, r->arena, &a->why) < 0) {
		(void)err_wrap(&a->why, "%s", shown);
		return refuse(a, WORKER_ACCESS_BAD);
	}
	source = cluster.spec.kube_config;
	if (source != NULL && source->location != NULL &&
	    (source->location_type == NULL ||
	     str_streq(source->location_type, MULTIKUEUE_LOCATION_SECRET))) {
		*ret_secret = source->location;
		return 0;
	}
	if (source == NULL && cluster.spec.cluster_profile == NULL) {
		(void)err_set(&a->why, ERR_INVALID, "%s: spec.clusterSource: names nothing", shown);
		return refuse(a, WORKER_ACCESS_BAD);
	}
	(void)err_set(&a->why, ERR_INVALID,
		      "its kubeconfig is not in a Secret: it can only be read where the manager "
		      "runs");
	return refuse(a, WORKER_ACCESS_UNREADABLE);
}

static int read_secret(struct reading *r, const char *name, struct strbuf *text)
{
	CLEANUP(jdoc_destroyp) struct jdoc *doc = NULL;
	struct worker_access *a = r->access;
	struct api_secret secret;
	const char *data = NULL;
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;

	sched_kinds_path(SCHED_SECRETS, r->namespace_, name, NULL, &path);
	a->source = xmalloc_printf("Secret %s/%s", r->namespace_, name);
	if (get(r, a->source, path.p, &doc) < 0) {
		return -1;
	}
	if (decode_jdoc(&secret_fields, doc, &secret, r->arena, &a->why) == 0) {
		data = field_map_get(&secret.data, WORKER_ACCOUNT_SECRET_KEY);
		if (data == NULL) {
			(void)err_set(&a->why, ERR_INVALID,
				      "data." WORKER_ACCOUNT_SECRET_KEY ": is missing");
		}
	}
	if (data == NULL || base64_decode(str_of(data), text, &a->why) < 0) {
		(void)err_wrap(&a->why, "%s", a->source);
		return refuse(a, WORKER_ACCESS_BAD);
	}
	return 0;
}

void worker_access_read(struct transport *manager, const char *namespace_, const char *cluster,
			struct worker_access *ret)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	CLEANUP(strbuf_wipe) struct strbuf text = STRBUF_INIT;
	struct reading r = { manager, namespace_, arena, ret };
	const char *secret = NULL, *reason = NULL;

	*ret = (struct worker_access){ .cluster = cluster, .why = ERR_INIT };
	if (read_cluster(&r, &secret) < 0 || read_secret(&r, secret, &text) < 0) {
		return;
	}
	if (worker_config_parse(strbuf_str(&text), &ret->config, &reason, &ret->why) < 0) {
		(void)err_wrap(&ret->why, "%s: %s", ret->source, reason);
		(void)refuse(ret, WORKER_ACCESS_BAD);
	}
}

void worker_access_finish(struct worker_access *a)
{
	free(a->source);
	kubeconfig_destroy(a->config);
	a->source = NULL;
	a->config = NULL;
}

int worker_access_connect(const struct worker_access *a, struct transport **ret, struct err *err)
{
	const struct http_loop_options opt = { .user_agent = "headgatectl/" HEADGATE_VERSION,
					       .connect_ns = CONNECT_NS };

	return transport_http_open(a->config, &opt, ret, err);
}
