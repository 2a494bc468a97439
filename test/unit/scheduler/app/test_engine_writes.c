/* The writes that a pod costs: the table in docs/gate.md, "What a pod writes". */
#include "unit/scheduler/app/engine_fixture.h"

#include "lib/unit.h"

#include <string.h>

#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "kube/recorder.h"
#include "lib/net/fake_transport.h"
#include "scheduler/pods/conf/conf.h"

#define GATE "scheduling.volcano.sh/queue-allocation-gate"

/* The pod as the API server has it. */
struct pod_now {
	const char *scheduler;
	const char *group; /* in the annotation; NULL: none */
	bool opted_in, owned, gated, reserved, bound;
};

struct scene {
	struct engine_fixture f;
	struct pod_now pod;
	struct strbuf podgroup; /* as the API server has it, but for its status */
	struct strbuf writes;   /* one after the other */
};

static void see_pod(struct scene *s)
{
	const struct pod_now *p = &s->pod;
	CLEANUP(strbuf_finish) struct strbuf json = STRBUF_INIT;

	strbuf_printf(&json, "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"p\",\"uid\":"
			     "\"u1\",\"annotations\":{\"a\":\"b\"");
	if (p->opted_in) {
		strbuf_printf(&json, ",\"" GATE "\":\"true\"");
	}
	if (p->reserved) {
		strbuf_printf(&json, ",\"headgate.io/reserved\":\"default\"");
	}
	if (p->group != NULL) {
		strbuf_printf(&json, ",\"scheduling.k8s.io/group-name\":\"%s\"", p->group);
	}
	strbuf_printf(&json, "}%s},\"spec\":{\"schedulerName\":\"%s\"%s%s,",
		      p->owned ? ",\"ownerReferences\":[{\"apiVersion\":\"batch/v1\",\"kind\":"
				 "\"Job\",\"name\":\"j\",\"uid\":\"j1\",\"controller\":true}]"
			       : "",
		      p->scheduler,
		      p->gated ? ",\"schedulingGates\":[{\"name\":\"" GATE "\"}]" : "",
		      p->bound ? ",\"nodeName\":\"n\"" : "");
	strbuf_printf(&json,
		      "\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":"
		      "\"1\"}}}]},\"status\":{\"phase\":\"%s\"}}",
		      p->bound ? "Running" : "Pending");
	engine_fixture_see(&s->f, SCHED_PODS, "ns/p", json.p);
}

static void see_podgroup(struct scene *s, const char *name)
{
	CLEANUP(xmalloc_freep) char *key = xmalloc_printf("ns/%s", name);

	strbuf_reset(&s->podgroup);
	strbuf_printf(&s->podgroup,
		      "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"%s\",\"uid\":\"g1\","
		      "\"resourceVersion\":\"1\",\"annotations\":{\"headgate.io/made-by\":"
		      "\"headgate-scheduler\"},\"ownerReferences\":[{\"apiVersion\":\"v1\",%s,"
		      "\"controller\":true}]},\"spec\":{\"minMember\":1,\"queue\":\"default\"},"
		      "\"status\":{\"phase\":\"Pending\"}}",
		      name,
		      s->pod.owned ? "\"kind\":\"Job\",\"name\":\"j\",\"uid\":\"j1\""
				   : "\"kind\":\"Pod\",\"name\":\"p\",\"uid\":\"u1\"");
	engine_fixture_see(&s->f, SCHED_PODGROUPS, key, s->podgroup.p);
}

#define CONF(actions, plugin)                                                                      \
	"actions: " actions "\ntiers:\n- plugins: [{name: priority}, {name: predicates}, "         \
	"{name: capacity, enableHierarchy: true}, {name: gang, enablePreemptable: false}" plugin   \
	"]\n"
#define POD(name, more, spec, status)                                                              \
	"{\"metadata\":{\"namespace\":\"ns\",\"name\":\"" name "\",\"uid\":\"" name "\"" more      \
	"},\"spec\":{\"schedulerName\":\"volcano\",\"containers\":[{\"name\":\"c\",\"resources\":" \
	"{"                                                                                        \
	"\"requests\":{\"cpu\":\"1\"}}}]" spec "},\"status\":{\"phase\":\"" status "\"}}"
#define CLAIM(annotation, spec, phase)                                                             \
	"{\"metadata\":{\"namespace\":\"ns\",\"name\":\"c\",\"uid\":\"c\",\"resourceVersion\":"    \
	"\"1\","                                                                                   \
	"\"annotations\":{" annotation                                                             \
	"}},\"spec\":{\"storageClassName\":\"fast\",\"accessModes\":["                             \
	"\"ReadWriteOnce\"],\"resources\":{\"requests\":{\"storage\":\"1\"}}" spec                 \
	"},\"status\":{"                                                                           \
	"\"phase\":\"" phase "\"}}"
#define COMPLETED "\"pv.kubernetes.io/bind-completed\":\"yes\""
#define ON_NODE "\"volume.kubernetes.io/selected-node\":\"n\""
#define USES_CLAIM ",\"volumes\":[{\"name\":\"v\",\"persistentVolumeClaim\":{\"claimName\":\"c\"}}]"
#define VOLUME(ref)                                                                                \
	"{\"metadata\":{\"name\":\"v\",\"uid\":\"v\",\"resourceVersion\":\"1\"},\"spec\":{"        \
	"\"capacity\":{\"storage\":\"1\"},\"accessModes\":[\"ReadWriteOnce\"],"                    \
	"\"storageClassName\":"                                                                    \
	"\"fast\"" ref "},\"status\":{\"phase\":\"Available\"}}"
#define RESERVED ",\"claimRef\":{\"namespace\":\"ns\",\"name\":\"c\",\"uid\":\"c\"}"
#define PREEMPTED_AND_PREEMPTOR                                                                    \
	{                                                                                          \
		{ SCHED_PODS, "ns/v",                                                              \
		  POD("v", "", ",\"nodeName\":\"n\",\"priority\":0", "Running") },                 \
		{                                                                                  \
			SCHED_PODS, "ns/p", POD("p", "", ",\"priority\":9", "Pending")             \
		}                                                                                  \
	}
#define CLASS                                                                                      \
	"{\"metadata\":{\"name\":\"fast\"},\"provisioner\":\"example.com/disk\","                  \
	"\"volumeBindingMode\":\"WaitForFirstConsumer\"}"

/* The watch shows the change that the write makes. */
static void take_effect(struct scene *s, const char *line, const struct jdoc *body)
{
	const char *made = s->pod.owned ? "podgroup-j1" : "podgroup-u1";

	if (str_streq(line, "PATCH persistentvolumeclaims/c")) {
		engine_fixture_see(&s->f, SCHED_CLAIMS, "ns/c", CLAIM(ON_NODE, "", "Pending"));
	} else if (str_streq(line, "PATCH persistentvolumes/v")) {
		engine_fixture_see(&s->f, SCHED_VOLUMES, "v", VOLUME(RESERVED));
	} else if (s->pod.scheduler == NULL) {
		return; /* it is not this one */
	} else if (str_streq(line, "POST podgroups")) {
		assert_string_equal(jdoc_path_str(body, "metadata.name"), made);
		see_podgroup(s, made);
	} else if (str_streq(line, "POST pods/p/binding")) {
		s->pod.bound = true;
		see_pod(s);
	} else if (str_streq(line, "PATCH pods/p")) {
		if (jdoc_path(body, "spec.schedulingGates") != NULL) {
			s->pod.gated = false;
			s->pod.reserved = true;
		} else {
			s->pod.group = made;
		}
		see_pod(s);
	}
}

/* The path below the namespace, or that of an object without one. */
static const char *short_path(const char *url)
{
	static const char *const roots[] = { "/namespaces/ns/", "/api/v1/" };

	for (size_t i = 0; i < ARRAY_LEN(roots); i++) {
		const char *at = strstr(url, roots[i]);

		if (at != NULL) {
			return at + strlen(roots[i]);
		}
	}
	fail_msg("%s", url);
	return NULL;
}

/* Writes are noted as method and path, with the reason of an event and a nominated node. */
static void answer_all(struct scene *s)
{
	while (fake_transport_pending(s->f.transport) > 0) {
		uint64_t id = fake_transport_expect_prefix(s->f.transport, "");
		const struct http_call *call = fake_transport_request(s->f.transport, id);
		const char *path = short_path(call->url);
		CLEANUP(jdoc_destroyp) struct jdoc *body = NULL;
		CLEANUP(xmalloc_freep) char *line = NULL;
		const char *reason;
		bool read;

		line = xmalloc_printf("%s %s", http_method_name(call->method), path);
		(void)jdoc_parse(fake_transport_body(s->f.transport, id), &body, NULL);
		reason = jdoc_path_str(body, "reason");
		if (reason == NULL) {
			reason = jdoc_path_str(body, "status.nominatedNodeName");
		}
		read = call->method == HTTP_GET;
		if (!read) {
			strbuf_printf(&s->writes, "%s%s%s%s", s->writes.len == 0 ? "" : "; ", line,
				      reason == NULL ? "" : " ", reason == NULL ? "" : reason);
		}
		fake_transport_answer(s->f.transport, id, 200,
				      read && strstr(path, "podgroups") != NULL ? s->podgroup.p
										: "{}");
		take_effect(s, line, body);
	}
}

/* Time passes: ten seconds, so that what is written later is written too. */
static void go_on(struct scene *s, unsigned seconds)
{
	for (unsigned i = 0; i < 100 * seconds; i++) {
		engine_fixture_step(&s->f);
		answer_all(s);
		engine_fixture_take_outcomes(&s->f);
	}
}

static void show_queue_and_node(struct scene *s, const char *queue_cpu, bool has_node)
{
	CLEANUP(xmalloc_freep)
	char *queue =
		xmalloc_printf("{\"metadata\":{\"name\":\"default\",\"uid\":\"q1\"},\"spec\":{"
			       "\"capability\":{\"cpu\":\"%s\"}},\"status\":{\"state\":\"Open\"}}",
			       queue_cpu);

	engine_fixture_see(&s->f, SCHED_QUEUES, "default", queue);
	if (has_node) {
		engine_fixture_see(&s->f, SCHED_NODES, "n",
				   "{\"metadata\":{\"name\":\"n\"},\"status\":{\"allocatable\":{"
				   "\"cpu\":\"1\",\"pods\":\"9\"},\"conditions\":[{\"type\":"
				   "\"Ready\",\"status\":\"True\"}]}}");
	}
	engine_fixture_sync_all(&s->f);
	engine_fixture_lead(&s->f, 0);
}

static void begin(struct scene *s, const char *queue_cpu, bool has_node, bool podgroup_per_pod)
{
	*s = (struct scene){ .podgroup = STRBUF_INIT, .writes = STRBUF_INIT };
	engine_fixture_begin_with(&s->f, false, podgroup_per_pod);
	show_queue_and_node(s, queue_cpu, has_node);
}

static void begin_by(struct scene *s, struct sched_conf *conf)
{
	*s = (struct scene){ .podgroup = STRBUF_INIT, .writes = STRBUF_INIT };
	engine_fixture_begin_by(&s->f, conf);
	engine_fixture_synced(&s->f, SCHED_BUDGETS);
	show_queue_and_node(s, "1k", true);
}

static void end(struct scene *s)
{
	engine_fixture_end(&s->f);
	strbuf_finish(&s->podgroup);
	strbuf_finish(&s->writes);
}

static const struct row {
	const char *about;
	struct pod_now pod;
	bool waits_for_quota, waits_for_node, podgroup_per_pod;
	const char *writes;
} rows[] = {
	{ .about = "plain",
	  .pod = { .scheduler = "volcano" },
	  .writes = "POST pods/p/binding; POST events Scheduled" },
	{ .about = "plain, of an owner",
	  .pod = { .scheduler = "volcano", .owned = true },
	  .writes =
		  "POST podgroups; PATCH pods/p; POST pods/p/binding; PATCH podgroups/podgroup-j1; "
		  "POST events Scheduled; POST events Scheduled; PATCH podgroups/podgroup-j1" },
	{ .about = "plain, in a PodGroup",
	  .pod = { .scheduler = "volcano", .group = "g" },
	  .writes = "POST pods/p/binding; POST events Scheduled; POST events Scheduled; PATCH "
		    "podgroups/g" },
	{ .about = "plain, with --podgroup-per-pod",
	  .pod = { .scheduler = "volcano" },
	  .podgroup_per_pod = true,
	  .writes = "POST podgroups; POST pods/p/binding; POST events Scheduled; POST events "
		    "Scheduled; PATCH podgroups/podgroup-u1" },
	{ .about = "gated",
	  .pod = { .scheduler = "volcano", .opted_in = true },
	  .writes = "PATCH pods/p; POST events QuotaReserved; POST pods/p/binding; POST events "
		    "Scheduled" },
	{ .about = "gated, of an owner",
	  .pod = { .scheduler = "volcano", .opted_in = true, .owned = true },
	  .writes = "POST podgroups; PATCH pods/p; PATCH pods/p; PATCH podgroups/podgroup-j1; POST "
		    "events QuotaReserved; POST pods/p/binding; POST events Scheduled; POST events "
		    "Scheduled; PATCH podgroups/podgroup-j1" },
	{ .about = "gated, in a PodGroup",
	  .pod = { .scheduler = "volcano", .opted_in = true, .group = "g" },
	  .writes = "PATCH pods/p; POST events QuotaReserved; POST pods/p/binding; POST events "
		    "Scheduled; POST events Scheduled; PATCH podgroups/g" },
	{ .about = "gated, with --podgroup-per-pod",
	  .pod = { .scheduler = "volcano", .opted_in = true },
	  .podgroup_per_pod = true,
	  .writes = "POST podgroups; PATCH pods/p; PATCH pods/p; PATCH podgroups/podgroup-u1; POST "
		    "events QuotaReserved; POST pods/p/binding; POST events Scheduled; POST events "
		    "Scheduled; PATCH podgroups/podgroup-u1" },
	{ .about = "of another scheduler",
	  .pod = { .scheduler = "default-scheduler", .opted_in = true },
	  .writes = "PATCH pods/p; POST events QuotaReserved" },
	{ .about = "of another scheduler, of an owner",
	  .pod = { .scheduler = "default-scheduler", .opted_in = true, .owned = true },
	  .writes = "PATCH pods/p; POST events QuotaReserved" },
	{ .about = "of another scheduler, in a PodGroup",
	  .pod = { .scheduler = "default-scheduler", .opted_in = true, .group = "g" },
	  .writes = "PATCH pods/p; POST events QuotaReserved; PATCH podgroups/g" },
	{ .about = "plain, waits for quota",
	  .pod = { .scheduler = "volcano" },
	  .waits_for_quota = true,
	  .writes = "PATCH pods/p/status; POST events FailedScheduling" },
	{ .about = "plain, waits for a node",
	  .pod = { .scheduler = "volcano" },
	  .waits_for_node = true,
	  .writes = "PATCH pods/p/status; POST events FailedScheduling" },
	{ .about = "gated, waits for quota",
	  .pod = { .scheduler = "volcano", .opted_in = true },
	  .waits_for_quota = true,
	  .writes = "POST events WaitingForQuota" },
	{ .about = "gated, waits for a node",
	  .pod = { .scheduler = "volcano", .opted_in = true },
	  .waits_for_node = true,
	  .writes = "PATCH pods/p; POST events QuotaReserved; PATCH pods/p/status; POST events "
		    "FailedScheduling" },
	{ .about = "of another scheduler, waits for quota",
	  .pod = { .scheduler = "default-scheduler", .opted_in = true },
	  .waits_for_quota = true,
	  .writes = "POST events WaitingForQuota" },
};

static void test_writes_of_a_pod(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct row *r = &rows[i];
		struct scene s;

		unit_row(r->about);
		begin(&s, r->waits_for_quota ? "0" : "1", !r->waits_for_node, r->podgroup_per_pod);
		s.pod = r->pod;
		if (r->pod.group != NULL) {
			see_podgroup(&s, r->pod.group);
		}
		s.pod.gated = s.pod.opted_in;
		see_pod(&s);
		go_on(&s, 10);
		assert_string_equal(s.writes.p, r->writes);
		end(&s);
	}
}

/* All of them get quota at once. */
static void test_events_about_quota_keep_to_their_rate(void **state)
{
	enum { PODS = RECORDER_MAX_HINTS + 50 };
	struct scene s;
	size_t n = 0;

	(void)state;
	begin(&s, "1k", false, false);
	for (int i = 0; i < PODS; i++) {
		CLEANUP(xmalloc_freep) char *key = xmalloc_printf("ns/p%d", i);
		CLEANUP(xmalloc_freep)
		char *json = xmalloc_printf(
			"{\"metadata\":{\"namespace\":\"ns\",\"name\":\"p%d\",\"uid\":\"u%d\","
			"\"annotations\":{\"" GATE "\":\"true\"}},\"spec\":{\"schedulerName\":"
			"\"volcano\",\"schedulingGates\":[{\"name\":\"" GATE "\"}],"
			"\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":"
			"\"1\"}}}]},\"status\":{\"phase\":\"Pending\"}}",
			i, i);

		engine_fixture_see(&s.f, SCHED_PODS, key, json);
	}
	engine_fixture_step(&s.f);
	while (fake_transport_pending(s.f.transport) > 0) {
		answer_all(&s);
		engine_fixture_take_outcomes(&s.f);
		engine_fixture_step_pools(&s.f);
	}
	for (const char *at = s.writes.p; (at = strstr(at, "QuotaReserved")) != NULL; at++) {
		n++;
	}
	assert_int_equal(n, RECORDER_MAX_HINTS);
	end(&s);
}

struct seen {
	enum sched_resource resource;
	const char *key, *json; /* json NULL: it is deleted */
};

static void see(struct scene *s, const struct seen *o)
{
	struct sched_msg *gone;

	if (o->json != NULL) {
		engine_fixture_see(&s->f, o->resource, o->key, o->json);
		return;
	}
	gone = message_new(SCHED_MSG_DELETE);
	gone->resource = o->resource;
	gone->key = str_of(o->key);
	engine_handle(s->f.engine, gone);
}

/* Objects that are seen, what is written then, further objects, and what is written for those. */
static const struct play {
	const char *about, *conf;
	struct seen first[4];
	const char *first_writes;
	struct seen then[2];
	const char *then_writes;
} plays[] = {
	{ .about = "with a claim for which a volume is made",
	  .conf = CONF("allocate", ""),
	  .first = { { SCHED_STORAGE_CLASSES, "fast", CLASS },
		     { SCHED_CLAIMS, "ns/c", CLAIM("", "", "Pending") },
		     { SCHED_PODS, "ns/p", POD("p", "", USES_CLAIM, "Pending") } },
	  .first_writes = "PATCH persistentvolumeclaims/c",
	  .then = { { SCHED_VOLUMES, "v", VOLUME(RESERVED) },
		    { SCHED_CLAIMS, "ns/c", CLAIM(COMPLETED, ",\"volumeName\":\"v\"", "Bound") } },
	  .then_writes = "POST pods/p/binding; POST events Scheduled" },
	{ .about = "with a claim that loses its node",
	  .conf = CONF("allocate", ""),
	  .first = { { SCHED_STORAGE_CLASSES, "fast", CLASS },
		     { SCHED_CLAIMS, "ns/c", CLAIM("", "", "Pending") },
		     { SCHED_PODS, "ns/p", POD("p", "", USES_CLAIM, "Pending") } },
	  .first_writes = "PATCH persistentvolumeclaims/c",
	  .then = { { SCHED_CLAIMS, "ns/c", CLAIM("", "", "Pending") } },
	  .then_writes = "POST events VolumesNotBound" },
	{ .about = "with a claim for a volume that is there",
	  .conf = CONF("allocate", ""),
	  .first = { { SCHED_STORAGE_CLASSES, "fast", CLASS },
		     { SCHED_VOLUMES, "v", VOLUME("") },
		     { SCHED_CLAIMS, "ns/c", CLAIM("", "", "Pending") },
		     { SCHED_PODS, "ns/p", POD("p", "", USES_CLAIM, "Pending") } },
	  .first_writes = "PATCH persistentvolumes/v",
	  .then = { { SCHED_VOLUMES, "v", VOLUME(RESERVED) },
		    { SCHED_CLAIMS, "ns/c", CLAIM(COMPLETED, ",\"volumeName\":\"v\"", "Bound") } },
	  .then_writes = "POST pods/p/binding; POST events Scheduled" },
	{ .about = "that another pod is evicted for",
	  .conf = CONF("allocate, preempt", ""),
	  .first = PREEMPTED_AND_PREEMPTOR,
	  .first_writes = "PATCH pods/v/status; PATCH pods/p/status n; POST events Preempted; POST "
			  "events FailedScheduling; DELETE pods/v; POST events Evict",
	  .then = { { SCHED_PODS, "ns/v", NULL } },
	  .then_writes = "POST pods/p/binding; POST events Scheduled" },
	{ .about = "that another pod is evicted for, with pdb",
	  .conf = CONF("allocate, preempt", ", {name: pdb}"),
	  .first = PREEMPTED_AND_PREEMPTOR,
	  .first_writes = "POST pods/v/eviction; PATCH pods/p/status n; POST events Preempted; "
			  "POST events FailedScheduling; POST events Evict",
	  .then = { { SCHED_PODS, "ns/v", NULL } },
	  .then_writes = "POST pods/p/binding; POST events Scheduled" },
	{ .about = "that another pod was evicted for in vain",
	  .conf = CONF("allocate, preempt", ""),
	  .first = PREEMPTED_AND_PREEMPTOR,
	  .first_writes = "PATCH pods/v/status; PATCH pods/p/status n; POST events Preempted; POST "
			  "events FailedScheduling; DELETE pods/v; POST events Evict",
	  .then = { { SCHED_NODES, "n", NULL } },
	  .then_writes =
		  "PATCH pods/p/status; POST events EvictedInVain; POST events FailedScheduling" },
};

static void expect_writes(struct scene *s, const struct seen *seen, size_t n, const char *writes)
{
	for (size_t i = 0; i < n && seen[i].key != NULL; i++) {
		see(s, &seen[i]);
	}
	go_on(s, 1);
	assert_string_equal(s->writes.len == 0 ? "" : s->writes.p, writes);
	strbuf_reset(&s->writes);
}

static void test_writes_of_claims_and_evictions(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(plays); i++) {
		const struct play *p = &plays[i];
		struct scene s;

		unit_row(p->about);
		begin_by(&s, engine_fixture_parse(p->conf));
		expect_writes(&s, p->first, ARRAY_LEN(p->first), p->first_writes);
		expect_writes(&s, p->then, ARRAY_LEN(p->then), p->then_writes);
		end(&s);
	}
}

/* A pod that another scheduler does not place in time, with --on-reservation-timeout=delete. */
static void test_writes_of_a_pod_that_is_late(void **state)
{
	static const struct {
		bool owned;
		const char *writes;
	} cases[] = {
		{ true, "PATCH pods/p; POST events QuotaReserved; DELETE pods/p; POST events "
			"ReservationTimedOut; POST events Evict" },
		{ false,
		  "PATCH pods/p; POST events QuotaReserved; POST events ReservationTimedOut" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct sched_conf *conf = engine_fixture_parse(CONF("allocate", ""));
		struct scene s;

		unit_row_number(i);
		conf->overdue_deletes = true;
		conf->reservation_timeout_ns = 5 * CLOCK_NS_PER_S;
		begin_by(&s, conf);
		s.pod = (struct pod_now){ .scheduler = "default-scheduler",
					  .opted_in = true,
					  .gated = true,
					  .owned = cases[i].owned };
		see_pod(&s);
		go_on(&s, 10);
		assert_string_equal(s.writes.p, cases[i].writes);
		end(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_writes_of_a_pod),
		cmocka_unit_test(test_writes_of_claims_and_evictions),
		cmocka_unit_test(test_writes_of_a_pod_that_is_late),
		cmocka_unit_test(test_events_about_quota_keep_to_their_rate),
	};

	return cmocka_run_group_tests_name("app/engine: writes", tests, NULL, NULL);
}
