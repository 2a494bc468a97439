#include "lib/multikueue/fleet_fixture.h"

#include "lib/unit.h"

#include <string.h>

#include "apiserver/apiserver.h"
#include "apiserver/manifests.h"
#include "apiserver/mem_transport.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/base64.h"
#include "kube/transport.h"
#include "obs/metric.h"
#include "scheduler/base/message_decode.h"

#define CRDS "charts/headgate/files/crds/quota"
#define MAX_STEPS 100000

struct sched_msg *fleet_fixture_object(enum sched_resource r, const char *key, int64_t version,
				       const char *json)
{
	CLEANUP(xmalloc_freep) char *text = xmalloc_dup(json);
	struct sched_msg *m;

	for (char *p = text; *p != '\0'; p++) {
		*p = *p == '\'' ? '"' : *p;
	}
	m = message_decode(r, str_of(key), str_of(text), version);
	if (m->kind != SCHED_MSG_UPSERT) {
		fail_msg("%s: %s", json, m->text);
	}
	return m;
}

struct sched_msg *fleet_fixture_deleted(enum sched_resource r, const char *key)
{
	struct sched_msg *m = message_new(SCHED_MSG_DELETE);

	m->resource = r;
	m->key = str_of(key);
	return m;
}

/* --- transports --------------------------------------------------------------------------------*/

static struct fleet_fixture *of_transports; /* in which transports end */
static const struct transport_ops *mem_ops;

static void on_destroy(struct transport *t)
{
	struct fleet_fixture *f = of_transports;

	for (size_t i = 0; i < f->transports.n; i++) {
		if (mem_transport_base(f->transports.v[i]) == t) {
			vec_swap_remove(&f->transports, i);
			break;
		}
	}
	mem_ops->destroy(t);
}

static int connect_to(void *ctx, const char *cluster UNUSED, const struct kubeconfig *cfg UNUSED,
		      struct transport **ret, struct err *err)
{
	static struct transport_ops ops;
	struct fleet_fixture *f = ctx;
	struct mem_transport *m;

	f->connects++;
	if (f->cannot_connect) {
		return err_set(err, ERR_INTERNAL, "no thread");
	}
	m = mem_transport_create(f->api, &f->clock);
	mem_ops = mem_transport_base(m)->ops;
	ops = *mem_ops;
	ops.destroy = on_destroy;
	*ret = mem_transport_base(m);
	(*ret)->ops = &ops;
	vec_push(&f->transports, m);
	return 0;
}

static uint64_t next_source(void *ctx)
{
	return ++((struct fleet_fixture *)ctx)->sources;
}

void fleet_fixture_post(void *ctx, struct sched_msg *m)
{
	struct fleet_fixture *f = ctx;

	if (m->kind == SCHED_MSG_SURVEY) {
		vec_push(&f->surveys, m);
	} else {
		vec_push(&f->queue, m);
	}
}

/* --- the clusters ------------------------------------------------------------------------------*/

void fleet_fixture_begin(struct fleet_fixture *f)
{
	const struct apiserver_options ao = { .seed = 1, .now = FLEET_FIXTURE_WALL };

	*f = (struct fleet_fixture){ .connects = 0 };
	of_transports = f;
	clock_fake_init(&f->clock, FLEET_FIXTURE_WALL);
	clock_fake_advance(&f->clock, CLOCK_NS_PER_S);
	folder_make(&f->root);
	f->counters = metric_registry_create();
	f->api = apiserver_create(&ao);
	assert_int_equal(manifests_load_dir(f->api, CRDS, FLEET_FIXTURE_WALL, NULL), 0);
	f->link = (struct link_options){ .origin = "multikueue",
					 .clock = &f->clock.base,
					 .counters = f->counters,
					 .request_timeout_ns = 10 * CLOCK_NS_PER_S,
					 .manual = true,
					 .connect = connect_to,
					 .next_source = next_source,
					 .post = fleet_fixture_post,
					 .ctx = f };
	f->clusters = fleet_clusters_create(&f->link, FLEET_FIXTURE_SYSTEM, f->root.path);
}

void fleet_fixture_end(struct fleet_fixture *f)
{
	fleet_clusters_destroy(f->clusters);
	folder_remove(&f->root);
	assert_int_equal(f->transports.n, 0);
	for (size_t i = 0; i < f->queue.n; i++) {
		message_free(f->queue.v[i]);
	}
	for (size_t i = 0; i < f->surveys.n; i++) {
		message_free(f->surveys.v[i]);
	}
	vec_finish(&f->queue);
	vec_finish(&f->surveys);
	vec_finish(&f->transports);
	apiserver_destroy(f->api);
	metric_registry_destroy(f->counters);
}

void fleet_fixture_handle(struct fleet_fixture *f, struct sched_msg *m)
{
	fleet_clusters_handle(f->clusters, m);
	message_free(m);
}

void fleet_fixture_secret(struct fleet_fixture *f, const char *name, const char *text)
{
	CLEANUP(strbuf_finish) struct strbuf json = STRBUF_INIT, data = STRBUF_INIT;
	CLEANUP(xmalloc_freep) char *key = xmalloc_printf(FLEET_FIXTURE_SYSTEM "/%s", name);

	base64_encode(str_of(text == NULL ? FLEET_FIXTURE_CONFIG : text), &data);
	strbuf_printf(&json, "{'data':{'kubeconfig':'%s'}}", data.p);
	fleet_fixture_handle(f, fleet_fixture_object(SCHED_SECRETS, key, 1, json.p));
}

struct fleet_cluster *fleet_fixture_cluster(struct fleet_fixture *f, const char *name)
{
	CLEANUP(xmalloc_freep)
	char *json = xmalloc_printf("{'spec':{'clusterSource':{'kubeConfig':{'location':'%s',"
				    "'locationType':'Secret'}}}}",
				    name);

	fleet_fixture_secret(f, name, NULL);
	fleet_fixture_handle(f, fleet_fixture_object(SCHED_MULTIKUEUE_CLUSTERS, name, 1, json));
	return fleet_clusters_find(f->clusters, str_of(name));
}

static void take(struct fleet_fixture *f, struct sched_msg *m)
{
	struct fleet_cluster *k = fleet_clusters_of(f->clusters, m->source);

	if (k != NULL && link_handle(k->link, m) && m->resource == SCHED_LOCAL_QUEUES &&
	    (m->kind == SCHED_MSG_UPSERT || m->kind == SCHED_MSG_DELETE)) {
		fleet_clusters_queue(k, m);
	}
	message_free(m);
}

void fleet_fixture_settle(struct fleet_fixture *f)
{
	bool did = true;

	for (size_t steps = 0; did; steps++) {
		assert_true(steps < MAX_STEPS);
		did = f->queue.n > 0;
		for (size_t i = 0; i < f->queue.n; i++) {
			take(f, f->queue.v[i]);
		}
		vec_clear(&f->queue);
		(void)fleet_clusters_step(f->clusters);
		for (size_t i = 0; i < f->transports.n; i++) {
			did |= mem_transport_run(f->transports.v[i], 1) > 0;
		}
	}
	for (size_t i = 0; i < fleet_clusters_count(f->clusters); i++) {
		struct fleet_cluster *k = fleet_clusters_at(f->clusters, i);

		k->source = !k->is_gone && link_is_up(k->link) ? link_source(k->link) : 0;
	}
}

void fleet_fixture_connect(struct fleet_fixture *f)
{
	fleet_clusters_secrets_listed(f->clusters);
	fleet_fixture_settle(f);
}

void fleet_fixture_load(struct fleet_fixture *f, const char *manifest)
{
	struct err err = ERR_INIT;

	if (apiserver_load(f->api, str_of(manifest), clock_wall(&f->clock.base), &err) < 0) {
		fail_msg("%s", err.text);
	}
}
