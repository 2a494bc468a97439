/* Jobs of a kind of the configuration, which a CustomResourceDefinition defines, carried by the
 * manager of MultiKueue over embedded API servers in virtual time. */
#include "scheduler/multikueue/fleet/fleet_manager.h"

#include "lib/unit.h"

#include <string.h>

#include "api/kueue/kueue_keys.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "lib/multikueue/fleet_jobs.h"
#include "lib/multikueue/fleet_world.h"

#define S CLOCK_NS_PER_S
#define MINUTE (60 * S)
#define MANAGER FLEET_WORLD_MANAGER
#define WORKLOADS "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads"
#define CRDS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define FOOS "/apis/example.com/v1/namespaces/default/fooz" /* not the plural one would guess */
#define NAME "Foo.v1.example.com"

static const struct custom_kind kinds[] = {
	{ NAME, "Foo", "v1", "example.com", "example.com/v1" },
	{ "Bar.v1.example.com", "Bar", "v1", "example.com", "example.com/v1" },
};
static const struct custom_kinds both = { kinds, ARRAY_LEN(kinds) };

static void define_with(struct fleet_world *w, int server, const char *plural, const char *kind,
			const char *scope, bool status)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;

	strbuf_printf(&body,
		      "{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":"
		      "\"CustomResourceDefinition\",\"metadata\":{\"name\":\"%s.example.com\"},"
		      "\"spec\":{\"group\":\"example.com\",\"scope\":\"%s\",\"names\":{\"plural\":"
		      "\"%s\",\"singular\":\"%s\",\"kind\":\"%s\",\"listKind\":\"%sList\"},"
		      "\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":true,\"schema\":{"
		      "\"openAPIV3Schema\":{\"type\":\"object\",\"properties\":{\"spec\":{\"type\":"
		      "\"object\",\"x-kubernetes-preserve-unknown-fields\":true},\"status\":{"
		      "\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true}}}}%s}]}}",
		      plural, scope, plural, plural, kind, kind,
		      status ? ",\"subresources\":{\"status\":{}}" : "");
	assert_int_equal(fleet_world_create_object(w, server, CRDS, body.p), 201);
}

static void define(struct fleet_world *w, int server)
{
	define_with(w, server, "fooz", "Foo", "Namespaced", true);
}

/* On the manager's cluster and, if `workers`, on the workers the kind is defined. */
static struct fleet_world *begin_with(unsigned workers, unsigned defined, bool gc)
{
	struct orchestrate_options o;
	struct manager_options mo;
	struct fleet_world *w;

	orchestrate_defaults(&o);
	manager_defaults(&mo);
	w = fleet_world_create(workers, &o, 1, 1);
	fleet_world_manage(w, &mo, gc ? MINUTE : 0);
	fleet_world_carry(w, both);
	define(w, MANAGER);
	for (unsigned i = 0; i < defined; i++) {
		define(w, (int)i);
	}
	fleet_world_start(w);
	fleet_world_run(w, 2 * S);
	return w;
}

static struct fleet_world *begin(unsigned workers)
{
	return begin_with(workers, workers, true);
}

static void submit_workload(struct fleet_world *w, const char *kind, const char *uid)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;

	strbuf_printf(
		&body,
		"{\"apiVersion\":\"kueue.x-k8s.io/v1beta2\",\"kind\":\"Workload\","
		"\"metadata\":{\"name\":\"wl\",\"namespace\":\"default\",\"ownerReferences\":["
		"{\"apiVersion\":\"example.com/v1\",\"kind\":\"%s\",\"name\":\"f\",\"uid\":"
		"\"%s\",\"controller\":true}]},\"spec\":{\"queueName\":\"main\",\"podSets\":[{"
		"\"name\":\"main\",\"count\":1,\"template\":{\"spec\":{\"containers\":[{"
		"\"name\":\"c\",\"image\":\"i\"}]}}}]}}",
		kind, uid);
	assert_int_equal(fleet_world_create_object(w, MANAGER, WORKLOADS, body.p), 201);
	fleet_jobs_reserve(w, "wl");
}

#define FOO(members)                                                                               \
	"{\"apiVersion\":\"example.com/v1\",\"kind\":\"Foo\",\"metadata\":{\"name\":\"f\","        \
	"\"namespace\":\"default\",\"labels\":{\"team\":\"a\"},\"annotations\":{\"note\":\"n\"},"  \
	"\"finalizers\":[\"example.com/here\"]}" members "}"
#define MANAGED                                                                                    \
	"\"managedBy\":\"kueue.x-k8s.io/multikueue\",\"suspend\":false,\"deep\":{\"list\":[1,2]}"

static void submit_as(struct fleet_world *w, const char *object)
{
	CLEANUP(jdoc_destroyp) struct jdoc *local = NULL;

	assert_int_equal(fleet_world_create_object(w, MANAGER, FOOS, object), 201);
	local = fleet_world_get(w, MANAGER, FOOS "/f");
	submit_workload(w, "Foo", jdoc_path_str(local, "metadata.uid"));
	fleet_world_run(w, S);
}

static void submit(struct fleet_world *w)
{
	submit_as(w, FOO(",\"spec\":{" MANAGED "}"));
}

static bool exists(struct fleet_world *w, int server)
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = fleet_world_get(w, server, FOOS "/f");

	return d != NULL;
}

static void set_status(struct fleet_world *w, int server, const char *status)
{
	CLEANUP(strbuf_finish) struct strbuf patch = STRBUF_INIT;

	strbuf_printf(&patch, "{\"status\":%s}", status);
	assert_int_equal(fleet_world_patch(w, server, FOOS "/f/status", patch.p), 200);
}

/* want: JSON, with its members in any order; "": the member is not there. */
static void expect_member(struct fleet_world *w, int server, const char *path, const char *want)
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = fleet_world_get(w, server, FOOS "/f");
	CLEANUP(jdoc_destroyp) struct jdoc *wanted = NULL;
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	const struct jdoc *member = jdoc_path(d, path);

	if (want[0] != '\0') {
		assert_int_equal(jdoc_parse(str_of(want), &wanted, NULL), 0);
	}
	if (member != NULL) {
		jdoc_format(member, &text);
	}
	if (member == NULL || wanted == NULL || !jdoc_equal(member, wanted)) {
		assert_string_equal(text.len == 0 ? "" : text.p, want);
	}
}

static void run_on(struct fleet_world *w, unsigned worker)
{
	fleet_world_report(w, worker, "wl", FLEET_WORLD_ADMITTED);
	fleet_world_run(w, S);
	assert_int_equal(fleet_jobs_winner(w, "wl"), worker);
	assert_true(exists(w, (int)worker));
}

static void test_life(void **state UNUSED)
{
	struct fleet_world *w = begin(2);

	submit(w);
	assert_true(fleet_jobs_has_replica(w, 0, "wl"));
	assert_true(fleet_jobs_has_replica(w, 1, "wl"));
	assert_false(exists(w, 0));
	run_on(w, 1);
	assert_false(exists(w, 0));
	assert_false(fleet_jobs_has_replica(w, 0, "wl"));
	expect_member(w, 1, "spec", "{\"suspend\":true,\"deep\":{\"list\":[1,2]}}");
	expect_member(w, 1, "metadata.finalizers", "");
	expect_member(w, 1, "metadata.labels",
		      "{\"team\":\"a\",\"kueue.x-k8s.io/multikueue-origin\":\"multikueue\","
		      "\"kueue.x-k8s.io/prebuilt-workload-name\":\"wl\"}");

	set_status(w, 1, "{\"state\":\"Running\",\"pods\":[{\"n\":1}],\"old\":{\"a\":1}}");
	fleet_world_run(w, S);
	expect_member(w, MANAGER, "status",
		      "{\"state\":\"Running\",\"pods\":[{\"n\":1}],\"old\":{\"a\":1}}");
	set_status(w, 1, "{\"state\":\"Done\",\"old\":null}");
	fleet_world_run(w, S);
	expect_member(w, MANAGER, "status", "{\"state\":\"Done\",\"pods\":[{\"n\":1}]}");
	assert_false(fleet_jobs_is(w, MANAGER, "wl", KUEUE_FINISHED)); /* only its Workload says */

	fleet_jobs_set(w, 1, "wl", KUEUE_FINISHED, "Succeeded");
	fleet_world_run(w, 3 * S);
	assert_true(fleet_jobs_is(w, MANAGER, "wl", KUEUE_FINISHED));
	assert_false(exists(w, 1));
	assert_false(fleet_jobs_has_replica(w, 1, "wl"));
	expect_member(w, MANAGER, "status", "{\"state\":\"Done\",\"pods\":[{\"n\":1}]}");
	fleet_world_destroy(w);
}

/* The end of the Workload is seen before the last status of the object. */
static void test_last_status(void **state UNUSED)
{
	for (unsigned seed = 0; seed < 30; seed++) {
		struct fleet_world *w = begin(1);

		submit(w);
		run_on(w, 0);
		set_status(w, 0, "{\"state\":\"Running\"}");
		for (unsigned i = 0; i < seed && fleet_world_step(w); i++) {
		}
		set_status(w, 0, "{\"state\":\"Done\"}");
		fleet_jobs_set(w, 0, "wl", KUEUE_FINISHED, "Succeeded");
		fleet_world_run(w, 5 * S);
		assert_true(fleet_jobs_is(w, MANAGER, "wl", KUEUE_FINISHED));
		expect_member(w, MANAGER, "status.state", "\"Done\"");
		assert_false(exists(w, 0));
		fleet_world_destroy(w);
	}
}

static void test_killed_anywhere(void **state UNUSED)
{
	for (unsigned steps = 0; steps < 40; steps++) {
		struct fleet_world *w = begin(2);

		submit(w);
		fleet_world_kill(w, false);
		fleet_world_start(w);
		for (unsigned i = 0; i < steps && fleet_world_step(w); i++) {
		}
		fleet_world_kill(w, steps % 2 == 0);
		fleet_world_start(w);
		fleet_world_run(w, 3 * S);
		fleet_world_report(w, 1, "wl", FLEET_WORLD_ADMITTED);
		for (unsigned i = 0; i < steps && fleet_world_step(w); i++) {
		}
		fleet_world_kill(w, steps % 2 == 1);
		fleet_world_start(w);
		fleet_world_run(w, 3 * S);
		assert_true(exists(w, 1));
		assert_false(exists(w, 0));
		set_status(w, 1, "{\"state\":\"Done\"}");
		fleet_jobs_set(w, 1, "wl", KUEUE_FINISHED, "Succeeded");
		for (unsigned i = 0; i < steps && fleet_world_step(w); i++) {
		}
		fleet_world_kill(w, steps % 2 == 0);
		fleet_world_start(w);
		fleet_world_run(w, 5 * S);
		assert_true(fleet_jobs_is(w, MANAGER, "wl", KUEUE_FINISHED));
		expect_member(w, MANAGER, "status.state", "\"Done\"");
		assert_false(exists(w, 1));
		fleet_world_destroy(w);
	}
}

static void test_not_managed(void **state UNUSED)
{
	static const char *const rows[] = {
		FOO(""),
		FOO(",\"spec\":{}"),
		FOO(",\"spec\":{\"managedBy\":\"x\"}"),
		FOO(",\"spec\":{\"managedBy\":[1]}"),
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fleet_world *w = begin(1);

		unit_row(rows[i]);
		submit_as(w, rows[i]);
		assert_true(fleet_jobs_check(w, "wl", "Rejected",
					     "Expecting .spec.managedBy to be "
					     "\"kueue.x-k8s.io/multikueue\" not \""));
		assert_false(fleet_jobs_has_replica(w, 0, "wl"));
		fleet_world_destroy(w);
	}
}

/* At the limit and one beyond; what the API server adds to the text counts as well. */
static void test_too_large(void **state UNUSED)
{
	struct fleet_world *w = begin(1);
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;

	strbuf_add_c(&body, "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Foo\",\"metadata\":{"
			    "\"name\":\"f\",\"namespace\":\"default\"},\"spec\":{" MANAGED
			    ",\"large\":\"");
	for (unsigned i = 0; i < 512u << 10; i++) {
		strbuf_add_ch(&body, 'x');
	}
	strbuf_add_c(&body, "\"}}");
	submit_as(w, body.p);
	assert_true(fleet_jobs_check(w, "wl", "Rejected", "too large"));
	assert_false(fleet_jobs_has_replica(w, 0, "wl"));
	fleet_world_destroy(w);
}

/* How many events of this reason the Workload has, with the last message. */
static unsigned count_events(struct fleet_world *w, const char *reason, const char *message)
{
	CLEANUP(jdoc_destroyp)
	struct jdoc *d = fleet_world_get(w, MANAGER, "/api/v1/namespaces/default/events");
	unsigned n = 0;

	for (const struct jdoc *e = jdoc_first(jdoc_get(d, "items")); e != NULL; e = jdoc_next(e)) {
		if (jdoc_is_str(jdoc_get(e, "reason"), reason) &&
		    jdoc_is_str(jdoc_path(e, "involvedObject.name"), "wl")) {
			assert_string_equal(jdoc_str_or(jdoc_get(e, "message"), ""), message);
			n += (unsigned)jdoc_int(jdoc_get(e, "count"), 1);
		}
	}
	return n;
}

static void set_large_status(struct fleet_world *w, const char *state)
{
	CLEANUP(strbuf_finish) struct strbuf status = STRBUF_INIT;

	strbuf_printf(&status, "{\"state\":\"%s\",\"large\":\"", state);
	for (unsigned i = 0; i < 512u << 10; i++) {
		strbuf_add_ch(&status, 'x');
	}
	strbuf_add_c(&status, "\"}");
	set_status(w, 0, status.p);
	fleet_world_run(w, S);
}

#define LARGE                                                                                      \
	"The status of Foo f is not copied: the object is larger than 512 KiB on worker cluster "  \
	"\"w0\""

/* A status that is too large is not copied, and holds nothing back; that is reported once, until
 * the object is smaller again. */
static void test_large_status(void **state UNUSED)
{
	struct fleet_world *w = begin(1);

	submit(w);
	run_on(w, 0);
	set_status(w, 0, "{\"state\":\"Running\"}");
	fleet_world_run(w, S);
	assert_int_equal(count_events(w, "StatusTooLarge", LARGE), 0);
	set_large_status(w, "More");
	set_large_status(w, "Most");
	expect_member(w, MANAGER, "status.state", "\"Running\"");
	assert_int_equal(count_events(w, "StatusTooLarge", LARGE), 1);
	set_status(w, 0, "{\"state\":\"Less\",\"large\":null}");
	fleet_world_run(w, 2 * MINUTE); /* an event is not counted more often */
	expect_member(w, MANAGER, "status.state", "\"Less\"");
	set_large_status(w, "Done");
	fleet_jobs_set(w, 0, "wl", KUEUE_FINISHED, "Succeeded");
	fleet_world_run(w, MINUTE);
	expect_member(w, MANAGER, "status.state", "\"Less\"");
	assert_int_equal(count_events(w, "StatusTooLarge", LARGE), 2);
	assert_true(fleet_jobs_is(w, MANAGER, "wl", KUEUE_FINISHED));
	fleet_world_destroy(w);
}

/* The object grows here while it runs there: it goes on, and its end is seen. */
static void test_grown_here(void **state UNUSED)
{
	struct fleet_world *w = begin(1);
	CLEANUP(strbuf_finish) struct strbuf patch = STRBUF_INIT;

	submit(w);
	run_on(w, 0);
	strbuf_add_c(&patch, "{\"spec\":{\"large\":\"");
	for (unsigned i = 0; i < 512u << 10; i++) {
		strbuf_add_ch(&patch, 'x');
	}
	strbuf_add_c(&patch, "\"}}");
	assert_int_equal(fleet_world_patch(w, MANAGER, FOOS "/f", patch.p), 200);
	fleet_world_run(w, S);
	assert_true(fleet_jobs_check(w, "wl", "Ready", ""));
	set_status(w, 0, "{\"state\":\"Done\"}");
	fleet_world_run(w, MINUTE);
	assert_int_equal(count_events(w, "StatusTooLarge",
				      "The status of Foo f is not copied: the object is larger "
				      "than 512 KiB on the manager cluster"),
			 1);
	fleet_jobs_set(w, 0, "wl", KUEUE_FINISHED, "Succeeded");
	fleet_world_run(w, MINUTE);
	expect_member(w, MANAGER, "status", "");
	assert_true(fleet_jobs_is(w, MANAGER, "wl", KUEUE_FINISHED));
	fleet_world_destroy(w);
}

/* A worker without the kind is left out; when it gets it, it is offered the Workload. Jobs of other
 * kinds go on there. */
static void test_not_served_there(void **state UNUSED)
{
	struct fleet_world *w = begin_with(2, 1, true);

	submit(w);
	fleet_jobs_submit(w, "job");
	fleet_world_run(w, S);
	assert_true(fleet_jobs_has_replica(w, 0, "wl"));
	assert_false(fleet_jobs_has_replica(w, 1, "wl"));
	assert_true(fleet_jobs_has_replica(w, 1, "job"));
	define(w, 1);
	fleet_world_run(w, 70 * S);
	assert_true(fleet_jobs_has_replica(w, 1, "wl"));
	run_on(w, 1);
	fleet_world_destroy(w);
}

static void test_served_nowhere(void **state UNUSED)
{
	struct fleet_world *w = begin_with(1, 0, true);

	submit(w);
	assert_true(fleet_jobs_check(w, "wl", "Pending",
				     "Worker cluster \"w0\": " NAME " is not served"));
	define_with(w, 0, "fooz", "Foo", "Cluster", true);
	fleet_world_run(w, 70 * S);
	assert_true(fleet_jobs_check(w, "wl", "Pending", NAME " is not namespaced"));
	assert_int_equal(fleet_world_delete(w, 0, CRDS "/fooz.example.com"), 200);
	define_with(w, 0, "fooz", "Foo", "Namespaced", false);
	fleet_world_run(w, 70 * S);
	assert_true(fleet_jobs_check(w, "wl", "Pending", NAME " has no subresource status"));
	assert_int_equal(fleet_world_delete(w, 0, CRDS "/fooz.example.com"), 200);
	define(w, 0);
	fleet_world_run(w, 70 * S);
	run_on(w, 0);
	fleet_world_destroy(w);
}

static void test_not_served_here(void **state UNUSED)
{
	struct fleet_world *w = begin(1);

	submit_workload(w, "Bar", "u");
	fleet_world_run(w, S);
	assert_true(fleet_jobs_check(w, "wl", "Pending", "Bar.v1.example.com is not served"));
	assert_false(fleet_jobs_has_replica(w, 0, "wl"));
	fleet_world_destroy(w);
}

/* The definition goes, and with it all objects, while one of them runs there. */
static void test_definition_removed(void **state UNUSED)
{
	struct fleet_world *w = begin(2);

	submit(w);
	run_on(w, 0);
	assert_int_equal(fleet_world_delete(w, 0, CRDS "/fooz.example.com"), 200);
	fleet_world_run(w, 10 * S);
	fleet_jobs_submit(w, "job");
	fleet_world_run(w, S);
	assert_true(fleet_jobs_has_replica(w, 0, "job"));
	define(w, 0);
	fleet_world_run(w, 6 * MINUTE);
	assert_true(exists(w, 0));
	fleet_world_destroy(w);
}

/* It is there again under another plural, which is found without another connection. */
static void test_definition_renamed(void **state UNUSED)
{
	struct fleet_world *w = begin(2);
	CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;

	submit(w);
	run_on(w, 0);
	assert_int_equal(fleet_world_delete(w, 0, CRDS "/fooz.example.com"), 200);
	define_with(w, 0, "foos", "Foo", "Namespaced", true);
	fleet_world_cut(w, 0, true); /* its watches end */
	fleet_world_run(w, S);
	fleet_world_cut(w, 0, false);
	fleet_world_run(w, 3 * MINUTE);
	d = fleet_world_get(w, 0, "/apis/example.com/v1/namespaces/default/foos/f");
	assert_non_null(d);
	assert_int_equal(fleet_jobs_winner(w, "wl"), 0);
	fleet_world_destroy(w);
}

#define FORBIDDEN "[{fault: status, code: 403, count: 0, path: '/apis/example.com/v1/fooz'}]"

static bool cluster_says(struct fleet_world *w, const char *name, const char *part)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;
	const struct jdoc *c;

	strbuf_printf(&path, "/apis/kueue.x-k8s.io/v1beta2/multikueueclusters/%s", name);
	d = fleet_world_get(w, MANAGER, path.p);
	c = jdoc_at(jdoc_path(d, "status.conditions"), 0);
	return jdoc_is_str(jdoc_get(c, "status"), "True") &&
	       strstr(jdoc_str_or(jdoc_get(c, "message"), ""), part) != NULL;
}

/* The right is missing on one worker, which goes on with other jobs, and is granted. */
static void test_forbidden_there(void **state UNUSED)
{
	struct fleet_world *w = begin(2);

	fleet_world_kill(w, false);
	fleet_world_faults(w, 1, FORBIDDEN);
	fleet_world_start(w);
	fleet_world_run(w, 5 * S);
	submit(w);
	fleet_jobs_submit(w, "job");
	fleet_world_run(w, S);
	assert_true(fleet_jobs_has_replica(w, 0, "wl"));
	assert_false(fleet_jobs_has_replica(w, 1, "wl"));
	assert_true(fleet_jobs_has_replica(w, 1, "job"));
	assert_true(cluster_says(w, "w1", NAME " cannot be read: "));
	fleet_world_faults(w, 1, "[]");
	fleet_world_run(w, MINUTE);
	assert_true(fleet_jobs_has_replica(w, 1, "wl"));
	assert_false(cluster_says(w, "w1", NAME));
	fleet_world_destroy(w);
}

/* It is withdrawn while the job runs there: to this Workload the cluster is as one that is lost. */
static void test_forbidden_later(void **state UNUSED)
{
	struct fleet_world *w = begin(2);

	submit(w);
	run_on(w, 0);
	fleet_world_faults(w, 0, FORBIDDEN);
	fleet_world_cut(w, 0, true); /* its watches end */
	fleet_world_run(w, 2 * MINUTE);
	fleet_world_cut(w, 0, false);
	fleet_world_run(w, 6 * MINUTE);
	fleet_jobs_submit(w, "job");
	fleet_world_run(w, S);
	assert_true(fleet_jobs_has_replica(w, 0, "job"));
	assert_true(fleet_jobs_check(w, "wl", "Ready", ""));
	assert_true(exists(w, 0));
	fleet_world_run(w, 20 * MINUTE);
	assert_true(fleet_jobs_check(w, "wl", "Retry", "Admitting remote lost"));
	fleet_world_destroy(w);
}

/* On the manager's cluster: Jobs go on. */
static void test_forbidden_here(void **state UNUSED)
{
	struct fleet_world *w = begin(1);

	fleet_world_kill(w, false);
	fleet_world_faults(w, MANAGER, FORBIDDEN);
	fleet_world_start(w);
	fleet_world_run(w, 5 * S);
	submit_workload(w, "Foo", "u");
	fleet_jobs_submit(w, "job");
	fleet_world_run(w, S);
	assert_true(fleet_jobs_has_replica(w, 0, "job"));
	assert_false(fleet_jobs_has_replica(w, 0, "wl"));
	assert_true(fleet_jobs_check(w, "wl", "Pending", NAME " cannot be read: "));
	fleet_world_destroy(w);
}

static void test_other_kind(void **state UNUSED)
{
	struct fleet_world *w = begin(1);

	submit_workload(w, "Baz", "u");
	fleet_world_run(w, S);
	assert_true(fleet_jobs_check(w, "wl", "Rejected",
				     "No multikueue adapter found for owner kind "
				     "\"example.com/v1, Kind=Baz\""));
	fleet_world_destroy(w);
}

static void test_foreign(void **state UNUSED)
{
	struct fleet_world *w = begin(2);
	CLEANUP(jdoc_destroyp) struct jdoc *before = NULL, *after = NULL;

	assert_int_equal(fleet_world_create_object(w, 0, FOOS, FOO(",\"spec\":{\"x\":1}")), 201);
	before = fleet_world_get(w, 0, FOOS "/f");
	submit(w);
	fleet_world_report(w, 0, "wl", FLEET_WORLD_ADMITTED);
	fleet_world_run(w, S);
	assert_true(fleet_jobs_check(w, "wl", "Retry",
				     "The Foo of this name on worker cluster \"w0\" is not of"));
	after = fleet_world_get(w, 0, FOOS "/f");
	assert_true(jdoc_equal(before, after));
	fleet_world_destroy(w);
}

static void test_deleted_locally(void **state UNUSED)
{
	struct fleet_world *w = begin(1);

	submit(w);
	run_on(w, 0);
	assert_int_equal(fleet_world_delete(w, MANAGER, WORKLOADS "/wl"), 200);
	fleet_world_run(w, 2 * S);
	assert_false(exists(w, 0));
	assert_false(fleet_jobs_has_replica(w, 0, "wl"));
	fleet_world_destroy(w);
}

/* Orphans: the Workload goes while no manager is there. */
static void test_orphans(void **state UNUSED)
{
	struct fleet_world *w = begin(1);

	submit(w);
	run_on(w, 0);
	fleet_world_kill(w, false);
	assert_int_equal(fleet_world_delete(w, MANAGER, WORKLOADS "/wl"), 200);
	fleet_world_start(w);
	fleet_world_run(w, 10 * S);
	assert_true(exists(w, 0));
	fleet_world_run(w, 2 * MINUTE);
	assert_false(exists(w, 0));
	assert_false(fleet_jobs_has_replica(w, 0, "wl"));
	fleet_world_destroy(w);
}

static void test_evicted_here(void **state UNUSED)
{
	struct fleet_world *w = begin(2);

	submit(w);
	run_on(w, 0);
	fleet_jobs_set(w, MANAGER, "wl", KUEUE_EVICTED, "Preempted");
	fleet_world_run(w, S);
	assert_true(fleet_jobs_is(w, 0, "wl", KUEUE_DEACTIVATION_TARGET));
	fleet_jobs_release(w, "wl");
	fleet_world_run(w, 2 * S);
	assert_false(exists(w, 0));
	assert_false(fleet_jobs_has_replica(w, 0, "wl"));
	fleet_jobs_reserve(w, "wl");
	fleet_world_run(w, S);
	run_on(w, 1);
	fleet_world_destroy(w);
}

static void test_out_of_sync(void **state UNUSED)
{
	struct fleet_world *w = begin(1);

	submit(w);
	run_on(w, 0);
	fleet_jobs_set(w, 0, "wl", KUEUE_FINISHED, KUEUE_REASON_OUT_OF_SYNC);
	fleet_world_run(w, S);
	assert_true(fleet_jobs_check(w, "wl", "Retry", "is out of sync with its user job"));
	fleet_world_destroy(w);
}

static void test_lost_for_good(void **state UNUSED)
{
	struct fleet_world *w = begin(2);

	submit(w);
	run_on(w, 0);
	fleet_world_cut(w, 0, true);
	fleet_world_run(w, 20 * MINUTE);
	assert_true(fleet_jobs_check(w, "wl", "Retry", "Admitting remote lost"));
	fleet_jobs_release(w, "wl");
	fleet_jobs_reserve(w, "wl");
	fleet_world_run(w, S);
	run_on(w, 1);
	fleet_world_cut(w, 0, false);
	fleet_world_run(w, 6 * MINUTE);
	assert_false(exists(w, 0));
	assert_true(exists(w, 1));
	fleet_world_destroy(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_life),
		cmocka_unit_test(test_last_status),
		cmocka_unit_test(test_killed_anywhere),
		cmocka_unit_test(test_not_managed),
		cmocka_unit_test(test_too_large),
		cmocka_unit_test(test_large_status),
		cmocka_unit_test(test_grown_here),
		cmocka_unit_test(test_not_served_there),
		cmocka_unit_test(test_served_nowhere),
		cmocka_unit_test(test_not_served_here),
		cmocka_unit_test(test_definition_removed),
		cmocka_unit_test(test_definition_renamed),
		cmocka_unit_test(test_forbidden_there),
		cmocka_unit_test(test_forbidden_later),
		cmocka_unit_test(test_forbidden_here),
		cmocka_unit_test(test_other_kind),
		cmocka_unit_test(test_foreign),
		cmocka_unit_test(test_deleted_locally),
		cmocka_unit_test(test_orphans),
		cmocka_unit_test(test_evicted_here),
		cmocka_unit_test(test_out_of_sync),
		cmocka_unit_test(test_lost_for_good),
	};

	return cmocka_run_group_tests_name("fleet/manager_custom", tests, NULL, NULL);
}
