#include "scheduler/ctl/explain/live_cluster.h"

#include <stdio.h>
#include <stdlib.h>

#include "api/kinds.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "kube/rest.h"
#include "kube/transport.h"
#include "obs/metric.h"
#include "process/file.h"
#include "scheduler/base/message.h"
#include "scheduler/base/message_decode.h"
#include "scheduler/pods/conf/conf.h"
#include "scheduler/pods/cycle/known_names.h"
#include "scheduler/pods/cycle/shortage.h"
#include "scheduler/pods/dump/dump.h"
#include "scheduler/pods/ingest/cache.h"
#include "scheduler/pods/ledger/totals.h"
#include "scheduler/pods/session/hooks.h"
#include "scheduler/pods/session/session.h"

#define CALL_NS (30 * CLOCK_NS_PER_S)

struct live_cluster {
	struct sched_conf *conf;
	struct hooks *hooks;
	struct session *session;
	struct metric_registry *counters;
	struct cache *cache;    /* of a live cluster */
	struct cluster *loaded; /* of a dump */
	struct queue_totals *totals;
};

struct listing {
	struct live_cluster *s;
	enum sched_resource resource;
	int64_t now;
};

static void apply(struct live_cluster *s, struct sched_msg *m, int64_t now)
{
	cache_apply(s->cache, m, (struct cache_time){ now, now });
	message_free(m);
}

static void on_item(void *ctx, struct str object, const struct cut_meta *meta)
{
	struct listing *l = ctx;

	apply(l->s, message_decode_item(l->resource, object, meta), l->now);
}

/* The daemon leaves such an object out as well; the warning says why it is missing. */
static void on_bad_object(void *ctx UNUSED, enum sched_resource r, struct str key, const char *text)
{
	fprintf(stderr, "headgatectl: warning: %s " STR_FMT ": %s\n", sched_kinds_label(r),
		STR_ARG(key), text);
}

/* Whether the cluster serves the kind's version of its group. That is open to all users, while a
 * list of what does not exist is forbidden to many. */
static bool is_served(struct transport *t, enum sched_resource r)
{
	const struct kinds_row *k = sched_kinds_names(r);
	CLEANUP(xmalloc_freep) char *path = xmalloc_printf("/apis/%s/%s", k->group, k->version);

	return rest_call(t, HTTP_GET, path, NULL, str_of(NULL), CALL_NS, NULL, NULL) !=
	       -ERR_NOT_FOUND;
}

static int list_kind(struct transport *t, struct listing *l, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;
	int r;

	sched_kinds_path(l->resource, NULL, NULL, NULL, &path);
	/* Object by object: no tree of all pods of a large cluster is built. */
	r = rest_list_cut(t, path.p, CALL_NS, on_item, l, err);
	if (sched_kinds_get(l->resource)->needed) {
		return r;
	}
	if (r == -ERR_FORBIDDEN && sched_kinds_may_be_forbidden(l->resource)) {
		fprintf(stderr, "headgatectl: warning: %s do not count: %s\n",
			sched_kinds_label(l->resource), err->text);
		return 0;
	}
	return r == -ERR_NOT_FOUND || (r == -ERR_FORBIDDEN && !is_served(t, l->resource)) ? 0 : r;
}

static int load_live(struct live_cluster *s, const struct cluster_args *f, struct err *err)
{
	struct cache_options co = { .scheduler_names = f->scheduler_names.v,
				    .gate_schedulers = f->gate_schedulers.v,
				    .default_queue = "default",
				    .implies_podgroups = true,
				    .found_age_max_ns = INT64_MAX, /* as old as the pod says */
				    .listener = { .on_bad_object = on_bad_object } };
	struct listing l = { .s = s,
			     .resource = SCHED_RESOURCE_COUNT_,
			     .now = clock_wall(clock_real()) };
	struct transport *t = NULL;
	int r = cluster_args_connect(f, &t, err);

	if (r < 0) {
		return r;
	}
	s->counters = metric_registry_create();
	co.counters = s->counters;
	co.reads_budgets = hooks_needs_budgets(s->hooks);
	s->cache = cache_create(&co);
	while (r == 0 && sched_kinds_next(SCHED_WING_PODS, &l.resource)) {
		struct sched_msg *synced;

		if (l.resource == SCHED_BUDGETS && !co.reads_budgets) {
			continue;
		}
		r = list_kind(t, &l, err);
		synced = message_new(SCHED_MSG_SYNCED);
		synced->resource = l.resource;
		apply(s, synced, l.now);
	}
	transport_destroy(t);
	if (r == 0) {
		cache_rebuild_ledger(s->cache, l.now);
	}
	return r;
}

static int load_dump(struct live_cluster *s, const char *path, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	int r = file_read_all(path, JDOC_MAX_BYTES, &text, err);

	if (r == 0) {
		r = dump_load(strbuf_str(&text), &s->loaded, err);
	}
	return r < 0 ? err_wrap(err, "%s", path) : 0;
}

static void warn_conf(void *ctx UNUSED, const char *text)
{
	fprintf(stderr, "headgatectl: warning: %s\n", text);
}

static int load_conf(struct live_cluster *s, const char *path, struct err *err)
{
	struct known_names names;
	struct conf_options co = { .warn = warn_conf };
	int r;

	known_names_init(&names,
			 &(struct known_names_source){ plugin_registry, plugin_registry_count,
						       action_registry, action_registry_count });
	co.known = known_names_conf(&names);
	r = path == NULL ? conf_parse(str_of(conf_default_text()), "built-in configuration", &co,
				      &s->conf, err)
			 : conf_load_file(path, &co, &s->conf, err);
	known_names_finish(&names);
	return r < 0 ? r
		     : hooks_create(s->conf, plugin_registry, plugin_registry_count, &s->hooks,
				    err);
}

/* 1. The configuration first: its mistakes cost no request.
 * 2. The cluster, kind by kind in the order of references, each ended by SYNCED, as a daemon
 *    reads it at its start; then the ledger, which needs pods, nodes and queues.
 * 3. A session on it, in which nothing is decided: limits and fits are asked of the daemon's own
 *    plugins. */
int live_cluster_load(const struct cluster_args *f, struct live_cluster **ret, struct err *err)
{
	struct live_cluster *s = xmalloc_zero(1, sizeof(*s));
	int r = load_conf(s, f->conf, err);

	if (r == 0) {
		r = f->dump != NULL ? load_dump(s, f->dump, err) : load_live(s, f, err);
	}
	if (r < 0) {
		live_cluster_destroy(s);
		return r;
	}
	/* Summed up once: verbs ask for the totals of every queue. */
	s->totals = xmalloc_zero(live_cluster_cluster(s)->queues.n + 1, sizeof(*s->totals));
	totals_compute(live_cluster_cluster(s), s->totals);
	s->session = session_create(s->conf, s->hooks);
	session_open(s->session, live_cluster_cluster(s), clock_wall(clock_real()));
	*ret = s;
	return 0;
}

void live_cluster_destroy(struct live_cluster *s)
{
	if (s == NULL) {
		return;
	}
	if (s->session != NULL) {
		/* The session refers to plugins and cluster, so it goes before them. */
		session_close(s->session);
		session_destroy(s->session);
	}
	if (s->hooks != NULL) {
		hooks_destroy(s->hooks);
	}
	if (s->cache != NULL) {
		cache_destroy(s->cache);
	}
	if (s->loaded != NULL) {
		cluster_destroy(s->loaded);
	}
	if (s->counters != NULL) {
		metric_registry_destroy(s->counters);
	}
	conf_destroy(s->conf);
	free(s->totals);
	free(s);
}

void live_cluster_destroyp(struct live_cluster **ps)
{
	live_cluster_destroy(*ps);
	*ps = NULL;
}

const struct cluster *live_cluster_cluster(const struct live_cluster *s)
{
	return s->loaded != NULL ? s->loaded : cache_cluster(s->cache);
}

struct session *live_cluster_session(const struct live_cluster *s)
{
	return s->session;
}

const struct queue_totals *live_cluster_totals(const struct live_cluster *s)
{
	return s->totals;
}

const char *live_cluster_amount(unsigned dim, long long amount, char *buf)
{
	if (amount == RES_UNLIMITED) {
		return "unlimited";
	}
	return shortage_amount(dim, amount, buf);
}
