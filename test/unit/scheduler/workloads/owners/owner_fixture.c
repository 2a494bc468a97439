#include "unit/scheduler/workloads/owners/owner_fixture.h"

#include "lib/unit.h"

#include <stdio.h>
#include <string.h>

#include "api/kueue/kueue_workload.h"
#include "apiserver/mem_transport.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "enc/json/jdoc.h"
#include "enc/yaml.h"
#include "kube/recorder.h"
#include "scheduler/base/message_decode.h"

#define FLAVORS "/apis/kueue.x-k8s.io/v1beta2/resourceflavors"

/* --- as a reflector ----------------------------------------------------------------------------
 */

struct look {
	struct owner_fixture *f;
	enum sched_resource r;
	bool changed;
};

void owner_fixture_see(struct owner_fixture *f, enum sched_resource r, struct str key,
		       struct str text)
{
	struct sched_msg *m = message_decode(r, key, text, 0);
	const struct api_workload *w = m->object;

	assert_int_equal(m->kind, SCHED_MSG_UPSERT);
	if (r == SCHED_WORKLOADS) {
		snprintf(f->workload, sizeof(f->workload), "%s", w->meta.name);
		owner_controller_workload(f->o, m);
	} else {
		owner_controller_object(f->o, m);
	}
	message_free(m);
}

static void see(void *ctx, struct str text)
{
	struct look *look = ctx;
	struct owner_fixture *f = look->f;
	CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;
	const char *version, *namespace_;
	char key[100];
	size_t i = 0;

	assert_int_equal(jdoc_parse(text, &d, NULL), 0);
	version = jdoc_path_str(d, "metadata.resourceVersion");
	namespace_ = jdoc_str_or(jdoc_path(d, "metadata.namespace"), "");
	snprintf(key, sizeof(key), "%s%s%s", namespace_, namespace_[0] == '\0' ? "" : "/",
		 jdoc_path_str(d, "metadata.name"));
	while (i < f->n && !(f->seen[i].r == look->r && str_streq(f->seen[i].key, key))) {
		i++;
	}
	assert_true(i < OWNER_FIXTURE_SEEN_MAX);
	if (i == f->n) {
		f->seen[f->n++] = (struct owner_fixture_seen){ .r = look->r };
		snprintf(f->seen[i].key, sizeof(f->seen[i].key), "%s", key);
	}
	f->seen[i].present = true;
	if (!str_streq(f->seen[i].version, version)) {
		snprintf(f->seen[i].version, sizeof(f->seen[i].version), "%s", version);
		look->changed = true;
		owner_fixture_see(f, look->r, str_of(key), text);
	}
}

static void report_gone(struct owner_fixture *f, const struct owner_fixture_seen *s)
{
	struct sched_msg *m = message_new(SCHED_MSG_DELETE);

	m->resource = s->r;
	m->key = str_of(s->key);
	owner_controller_object(f->o, m);
	message_free(m);
}

static bool forget_gone(struct owner_fixture *f)
{
	bool changed = false;

	for (size_t i = 0; i < f->n; i++) {
		struct owner_fixture_seen *s = &f->seen[i];

		if (s->present || s->version[0] == '\0') {
			continue;
		}
		s->version[0] = '\0';
		changed = true;
		if (s->r == SCHED_WORKLOADS) {
			owner_controller_workload_gone(f->o, str_of(s->key));
		} else {
			report_gone(f, s);
		}
	}
	return changed;
}

static bool look_around(struct owner_fixture *f)
{
	struct look look = { f, SCHED_FLAVORS, false };

	for (size_t i = 0; i < f->n; i++) {
		f->seen[i].present = false;
	}
	apiserver_each(f->api.server, "kueue.x-k8s.io", "resourceflavors", see, &look);
	look.r = SCHED_NAMESPACES;
	apiserver_each(f->api.server, "", "namespaces", see, &look);
	look.r = SCHED_PODS;
	apiserver_each(f->api.server, "", "pods", see, &look);
	look.r = SCHED_JOBS;
	apiserver_each(f->api.server, "batch", "jobs", see, &look);
	look.r = SCHED_WORKLOADS;
	apiserver_each(f->api.server, "kueue.x-k8s.io", "workloads", see, &look);
	return forget_gone(f) || look.changed;
}

static struct owner_fixture_seen *find_workload(struct owner_fixture *f, struct str key)
{
	for (size_t i = 0; i < f->n; i++) {
		if (f->seen[i].r == SCHED_WORKLOADS && str_eq_c(key, f->seen[i].key) &&
		    f->seen[i].version[0] != '\0') {
			return &f->seen[i];
		}
	}
	return NULL;
}

static bool knows(void *ctx, struct str key)
{
	return find_workload(ctx, key) != NULL;
}

/* It is new with the next look. */
static void read_again(void *ctx, struct str key)
{
	snprintf(find_workload(ctx, key)->version, sizeof("0"), "0");
}

/* Sends and answers until nothing waits any more; answers may get lost. */
static bool exchange(struct owner_fixture *f)
{
	bool did = false;

	while (pool_step(owner_controller_pool(f->o)) || pool_step(recorder_pool(f->recorder)) ||
	       mem_transport_ready(f->net) > 0) {
		did = true;
		if (mem_transport_ready(f->net) == 0) {
			continue;
		}
		if (f->losses > 0 && mem_transport_peek(f->net, 0)->kind == MEM_STEP_RESPONSE) {
			f->losses--;
			mem_transport_lose(f->net, 0);
		} else {
			mem_transport_step(f->net, 0);
		}
	}
	return did;
}

void owner_fixture_look(struct owner_fixture *f)
{
	(void)look_around(f);
}

/* Runs controller and writes until neither has work; retries become due. */
void owner_fixture_settle(struct owner_fixture *f)
{
	unsigned quiet = 0;

	for (unsigned i = 0; quiet < 3; i++) {
		bool did = look_around(f);

		did |= exchange(f);
		quiet = did ? 0 : quiet + 1;
		clock_fake_advance(&f->clock, CLOCK_NS_PER_S);
		f->api.now = clock_wall(&f->clock.base);
		assert_true(i < 100);
	}
}

/* --- as other controllers ----------------------------------------------------------------------
 */

static void on_activity(void *ctx, struct str key)
{
	struct owner_fixture *f = ctx;

	assert_true(str_has_prefix(key, "default/"));
	f->notified++;
}

static void on_created(void *ctx, const char *kind, const struct api_workload *w, int64_t ns)
{
	struct owner_fixture *f = ctx;

	strbuf_printf(&f->measured, "created %s %s %d\n", kind, w->spec.queue_name,
		      (int)(ns / CLOCK_NS_PER_S));
}

static void on_ungated(void *ctx, const struct api_workload *w, bool group, int64_t ns)
{
	struct owner_fixture *f = ctx;

	int64_t since = clock_wall(&f->clock.base) - ns - APISERVER_FIXTURE_NOW;

	strbuf_printf(&f->measured, "ungated %s %s %d\n", w->status.admission->cluster_queue,
		      group ? "group" : "pod", (int)(since / CLOCK_NS_PER_S));
}

void owner_fixture_begin(struct owner_fixture *f, const char *conf)
{
	struct pool_options base = { .backoff_min_ns = CLOCK_NS_PER_MS,
				     .backoff_max_ns = CLOCK_NS_PER_S,
				     .timeout_ns = 60 * CLOCK_NS_PER_S };
	struct owner_controller_options opt = { .base = &base,
						.which = &f->which,
						.wait_pods_ready = true,
						.knows = knows,
						.read = read_again,
						.on_created = on_created,
						.on_ungated = on_ungated,
						.ctx = f };

	CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;

	memset(f, 0, sizeof(*f));
	strbuf_init(&f->measured);
	f->arena = arena_create(0);
	assert_int_equal(yaml_parse(str_of(conf), &d, NULL), 0);
	assert_int_equal(kueue_conf_owners_read(d, f->arena, &f->which, NULL), 0);
	apiserver_fixture_start(&f->api, NULL, NULL);
	apiserver_fixture_load(&f->api, "charts/headgate/files/crds/quota/workloads.yaml");
	apiserver_fixture_load(&f->api, "charts/headgate/files/crds/quota/resourceflavors.yaml");
	clock_fake_init(&f->clock, APISERVER_FIXTURE_NOW);
	f->net = mem_transport_create(f->api.server, &f->clock);
	base.transport = mem_transport_base(f->net);
	base.clock = &f->clock.base;
	f->recorder = recorder_create(&base, "headgate", "here");
	opt.recorder = f->recorder;
	f->o = owner_controller_create(&opt);
	owner_controller_watch(f->o, on_activity, f);
	assert_int_equal(
		apiserver_fixture_do(&f->api, HTTP_POST, FLAVORS, APISERVER_FIXTURE_YAML,
				     "{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor,"
				     " metadata: {name: spot}, spec: {nodeLabels: {type: spot},"
				     " tolerations: [{key: spot, operator: Exists}]}}"),
		201);
}

void owner_fixture_end(struct owner_fixture *f)
{
	owner_controller_destroy(f->o);
	recorder_destroy(f->recorder);
	transport_destroy(mem_transport_base(f->net));
	apiserver_fixture_stop(&f->api);
	arena_destroy(f->arena);
	strbuf_finish(&f->measured);
}

void owner_fixture_call(struct owner_fixture *f, enum http_method method, const char *url,
			const char *type, const char *body)
{
	int status = apiserver_fixture_do(&f->api, method, url, type, body);

	if (status / 100 != 2) {
		print_message("%s: %d %s\n", url, status, f->api.resp.body.p);
	}
	assert_int_equal(status / 100, 2);
}

void owner_fixture_get_workload(struct owner_fixture *f)
{
	char url[400];

	snprintf(url, sizeof(url), OWNER_FIXTURE_WORKLOADS "/%s", f->workload);
	owner_fixture_call(f, HTTP_GET, url, NULL, NULL);
}

/* The text at a path of the latest answer, as JSON if it is no string; "" when absent. */
void owner_fixture_expect(struct owner_fixture *f, const char *path, const char *want)
{
	CLEANUP(strbuf_finish) struct strbuf b = STRBUF_INIT;
	const struct jdoc *at = jdoc_path(f->api.doc, path);

	if (jdoc_str(at) != NULL) {
		strbuf_add_c(&b, jdoc_str(at));
	} else if (at != NULL) {
		jdoc_format(at, &b);
	}
	assert_string_equal(b.p, want);
}

void owner_fixture_expect_condition(struct owner_fixture *f, const char *type, const char *status,
				    const char *reason)
{
	const struct jdoc *list = jdoc_path(f->api.doc, "status.conditions");

	for (const struct jdoc *c = jdoc_first(list); c != NULL; c = jdoc_next(c)) {
		if (jdoc_is_str(jdoc_get(c, "type"), type)) {
			assert_string_equal(jdoc_path_str(c, "status"), status);
			assert_string_equal(jdoc_path_str(c, "reason"), reason);
			return;
		}
	}
	fail_msg("no condition %s", type);
}

bool owner_fixture_has_event(struct owner_fixture *f, const char *reason)
{
	owner_fixture_call(f, HTTP_GET, "/api/v1/namespaces/default/events", NULL, NULL);
	for (const struct jdoc *e = jdoc_first(jdoc_get(f->api.doc, "items")); e != NULL;
	     e = jdoc_next(e)) {
		if (jdoc_is_str(jdoc_get(e, "reason"), reason)) {
			return true;
		}
	}
	return false;
}

enum owner_controller_activity owner_fixture_activity(struct owner_fixture *f)
{
	char key[400];

	snprintf(key, sizeof(key), "default/%s", f->workload);
	return owner_controller_activity(f->o, str_of(key));
}

void owner_fixture_workload_status(struct owner_fixture *f, const char *conditions,
				   const char *podsets)
{
	struct str rest = str_of(podsets);
	CLEANUP(strbuf_finish) struct strbuf url = STRBUF_INIT;
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	const char *separator = "";

	strbuf_printf(&url,
		      OWNER_FIXTURE_WORKLOADS "/%s/status?fieldManager=kueue-admission&force=true",
		      f->workload);
	strbuf_printf(
		&body,
		"{\"apiVersion\":\"kueue.x-k8s.io/v1beta2\",\"kind\":\"Workload\",\"metadata\":{"
		"\"name\":\"%s\",\"namespace\":\"default\"},\"status\":{",
		f->workload);
	if (podsets != NULL) {
		strbuf_add_c(&body,
			     "\"admission\":{\"clusterQueue\":\"cq\",\"podSetAssignments\":[");
	}
	while (rest.len > 0) {
		struct str count = str_next(&rest, ' '), name = str_next(&count, ':');

		strbuf_printf(&body,
			      "%s{\"name\":\"" STR_FMT "\",\"flavors\":{\"cpu\":\"spot\"},"
			      "\"resourceUsage\":{\"cpu\":\"" STR_FMT "\"},\"count\":" STR_FMT "}",
			      separator, STR_ARG(name), STR_ARG(count), STR_ARG(count));
		separator = ",";
	}
	strbuf_printf(&body, "%s\"conditions\":[%s]}}", podsets == NULL ? "" : "]},", conditions);
	owner_fixture_call(f, HTTP_PATCH, url.p, APISERVER_FIXTURE_APPLY, body.p);
}

void owner_fixture_admit(struct owner_fixture *f, const char *podsets)
{
	owner_fixture_workload_status(
		f,
		OWNER_FIXTURE_CONDITION("True", "QuotaReserved",
					"QuotaReserved") "," OWNER_FIXTURE_CONDITION("True",
										     "Admitted",
										     "Admitted"),
		podsets);
}

void owner_fixture_evict(struct owner_fixture *f, const char *podsets)
{
	owner_fixture_workload_status(
		f,
		OWNER_FIXTURE_CONDITION("True", "QuotaReserved", "QuotaReserved") "," OWNER_FIXTURE_CONDITION(
			"True", "Admitted",
			"Admitted") "," OWNER_FIXTURE_CONDITION("True", "Evicted", "Preempted"),
		podsets);
}
