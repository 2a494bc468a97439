/* Runs the cases of test/admission/cases/<name>.yaml through the router, as the API server would:
 *
 *   - name: what it shows
 *     path: /pods/mutate
 *     options: {feature: false}           # see bench_open
 *     queues: [Queue, ...]                # the cluster as the webhook sees it
 *     namespaces: [Namespace, ...]
 *     localQueues: [LocalQueue, ...]      # those called "default" matter
 *     priorityClasses: [WorkloadPriorityClass, ...]
 *     operation: CREATE                   # default
 *     user: system:admin                  # that sends the request; default: empty
 *     object: {...}                       # of the review; also oldObject, subResource, objectName
 *     unread: true                        # the handler leaves such a request alone without reading
 * it want: allowed: true                     # default object: {...}                     # after
 * the patch; absent: no patch expected warnings: [...]                   # exactly these code: 422
 * # of a denial message: "..."
 *
 * Whenever a patch is wanted the patched object is sent once more and must come back unchanged. */
#include "lib/unit.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/admission.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "enc/json/patch_apply.h"
#include "enc/yaml.h"
#include "kube/reflector/reflector.h"
#include "obs/metric.h"
#include "process/file.h"
#include "webhook/server/lister.h"
#include "webhook/server/router.h"

#define CASES_MAX_BYTES ((size_t)1 << 20)

struct bench {
	struct metric_registry *registry;
	struct lister *lister;
	struct router *router;
	struct arena *arena;
	const char *schedulers[2];
	const char *gate_scheduler;
};

static void feed(const struct jdoc *list, reflector_fn fn, struct lister *l)
{
	for (const struct jdoc *c = jdoc_first(list); c != NULL; c = jdoc_next(c)) {
		CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT, key = STRBUF_INIT;
		const char *ns = jdoc_path_str(c, "metadata.namespace");
		struct reflector_event event = { .kind = REFLECTOR_UPSERT };

		jdoc_format(c, &text);
		strbuf_printf(&key, "%s%s%s", ns != NULL ? ns : "", ns != NULL ? "/" : "",
			      jdoc_path_str(c, "metadata.name"));
		event.key = strbuf_str(&key);
		event.object = strbuf_str(&text);
		fn(l, &event);
	}
}

/* Paths of the quota kinds are served when they are asked for. */
static const char *quota_path(const char *path)
{
	return strncmp(path, "/mutate-", 8) == 0 || strncmp(path, "/validate-", 10) == 0 ? path
											 : NULL;
}

static void bench_open(struct bench *b, const struct jdoc *c)
{
	const struct jdoc *o = jdoc_get(c, "options");
	struct router_options opt = { 0 };

	b->registry = metric_registry_create();
	b->lister = lister_create(b->registry);
	b->arena = arena_create(0);
	b->schedulers[0] = "volcano";
	b->schedulers[1] = "second";
	opt.admit.scheduler_names = b->schedulers;
	opt.admit.scheduler_count = 2;
	b->gate_scheduler = "default-scheduler";
	opt.admit.gate_schedulers = &b->gate_scheduler;
	opt.admit.gate_scheduler_count = jdoc_bool(jdoc_get(o, "gateSchedulers"), true) ? 1 : 0;
	opt.admit.gate_feature = jdoc_bool(jdoc_get(o, "feature"), true);
	opt.admit.gate_sticky = jdoc_bool(jdoc_get(o, "sticky"), true);
	opt.admit.max_queue_depth = (unsigned)jdoc_int(jdoc_get(o, "maxQueueDepth"), 5);
	opt.admit.queue_allocated_pods_check = jdoc_bool(jdoc_get(o, "podsCheck"), false);
	opt.admit.root_queue_protection = jdoc_bool(jdoc_get(o, "rootProtection"), true);
	opt.admit.manage_jobs_without_queue = jdoc_bool(jdoc_get(o, "manageJobs"), false);
	opt.admit.integrations = jdoc_str(jdoc_get(o, "integrations"));
	opt.admit.integration_users = jdoc_str(jdoc_get(o, "integrationUsers"));
	opt.lister = b->lister;
	opt.registry = b->registry;
	opt.enabled = quota_path(jdoc_str_or(jdoc_get(c, "path"), ""));
	assert_int_equal(router_create(&opt, &b->router, NULL), 0);
	feed(jdoc_get(c, "queues"), lister_on_queue, b->lister);
	feed(jdoc_get(c, "namespaces"), lister_on_namespace, b->lister);
	feed(jdoc_get(c, "localQueues"), lister_on_default_queue, b->lister);
	feed(jdoc_get(c, "priorityClasses"), lister_on_default_class, b->lister);
}

static void bench_close(struct bench *b)
{
	router_destroy(b->router);
	lister_destroy(b->lister);
	metric_registry_destroy(b->registry);
	arena_destroy(b->arena);
}

static struct str text_of(struct bench *b, const struct jdoc *d)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	if (d == NULL) {
		return (struct str){ 0 };
	}
	jdoc_format(d, &text);
	return arena_str(b->arena, strbuf_str(&text));
}

static void ask(struct bench *b, const struct jdoc *c, const struct jdoc *object,
		struct api_admission_response *ret)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	struct api_admission_request review = {
		.uid = "705ab4f5-6393-11e8-b7cc-42010a800002",
		.operation = jdoc_str_or(jdoc_get(c, "operation"), "CREATE"),
		.sub_resource = jdoc_str(jdoc_get(c, "subResource")),
		.name = jdoc_str(jdoc_get(c, "objectName")),
		.namespace_ = jdoc_str_or(jdoc_get(c, "namespace"), "ns"),
		.user = { jdoc_str(jdoc_get(c, "user")) },
	};
	struct http_request req = { .method = HTTP_POST,
				    .content_type = STR_LIT("application/json") };
	struct http_response answer = { 0 };
	struct err err = ERR_INIT;

	review.object = text_of(b, object);
	review.old_object = text_of(b, jdoc_get(c, "oldObject"));
	admission_format_request(&review, &body);
	req.path = str_of(jdoc_str_or(jdoc_get(c, "path"), ""));
	req.body = strbuf_str(&body);
	router_handle(b->router, &req, b->arena, &answer);
	if (answer.status != 200) {
		fail_msg("status %d: " STR_FMT, answer.status, STR_ARG(answer.body));
	}
	if (admission_parse_response(answer.body, b->arena, ret, &err) < 0) {
		fail_msg("%s in " STR_FMT, err.text, STR_ARG(answer.body));
	}
	assert_string_equal(ret->uid, review.uid);
}

static void check_same(struct bench *b, const struct jdoc *got, const struct jdoc *want)
{
	if (!jdoc_equal(got, want)) {
		fail_msg("got  " STR_FMT "\nwant " STR_FMT, STR_ARG(text_of(b, got)),
			 STR_ARG(text_of(b, want)));
	}
}

static void check_warnings(const struct api_admission_response *r, const struct jdoc *want)
{
	assert_int_equal(r->warnings.n, jdoc_count(want));
	for (size_t i = 0; i < r->warnings.n; i++) {
		assert_string_equal(r->warnings.v[i], jdoc_str(jdoc_at(want, i)));
	}
}

static void check_patch(struct bench *b, const struct jdoc *c, const struct jdoc *want,
			const struct api_admission_response *r)
{
	CLEANUP(jdoc_destroyp) struct jdoc *object = NULL;
	CLEANUP(jdoc_destroyp) struct jdoc *patch = NULL;
	struct api_admission_response again;
	struct err err = ERR_INIT;

	if (want == NULL) {
		assert_true(r->patch.len == 0);
		return;
	}
	if (r->patch.len == 0) {
		fail_msg("no patch");
	}
	object = jdoc_copy(jdoc_get(c, "object"));
	if (jdoc_parse(r->patch, &patch, &err) < 0 || patch_apply_json(&object, patch, &err) < 0) {
		fail_msg("patch " STR_FMT ": %s", STR_ARG(r->patch), err.text);
	}
	check_same(b, object, want);
	ask(b, c, object, &again);
	assert_true(again.allowed);
	assert_true(again.patch.len == 0);
}

/* The same object with metadata of the wrong type is refused, whatever becomes of it otherwise: an
 * object that cannot be read must not get past its gates and checks. */
static void check_unreadable(struct bench *b, const struct jdoc *c)
{
	CLEANUP(jdoc_destroyp) struct jdoc *object = NULL;
	const char *operation = jdoc_str_or(jdoc_get(c, "operation"), "CREATE");
	struct api_admission_response r;

	if (jdoc_get(c, "object") == NULL || str_streq(operation, "DELETE") ||
	    jdoc_bool(jdoc_get(c, "unread"), false)) {
		return;
	}
	object = jdoc_copy(jdoc_get(c, "object"));
	jdoc_set_take(object, "metadata", jdoc_new_array());
	ask(b, c, object, &r);
	assert_false(r.allowed);
	assert_int_equal(r.code, 400);
	assert_true(r.patch.len == 0);
}

static void run_case(void **state)
{
	const struct jdoc *c = *state;
	const struct jdoc *want = jdoc_get(c, "want");
	bool allowed = jdoc_bool(jdoc_get(want, "allowed"), true);
	struct api_admission_response r;
	struct bench b;

	bench_open(&b, c);
	ask(&b, c, jdoc_get(c, "object"), &r);
	if (r.allowed != allowed) {
		fail_msg("allowed %d: %s", r.allowed, r.message != NULL ? r.message : "");
	}
	if (!allowed) {
		assert_string_equal(r.message, jdoc_str_or(jdoc_get(want, "message"), ""));
		assert_int_equal(r.code, jdoc_int(jdoc_get(want, "code"), 422));
	}
	check_warnings(&r, jdoc_get(want, "warnings"));
	check_patch(&b, c, jdoc_get(want, "object"), &r);
	check_unreadable(&b, c);
	bench_close(&b);
}

/* The documents of a file live until the program ends: cmocka keeps pointers into them. */
static int run_file(const char *path)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *list = NULL;
	struct err err = ERR_INIT;
	struct CMUnitTest *tests;
	size_t n = 0;
	int failed;

	if (file_read_all(path, CASES_MAX_BYTES, &text, &err) < 0 ||
	    yaml_parse(strbuf_str(&text), &list, &err) < 0) {
		fprintf(stderr, "%s: %s\n", path, err.text);
		return 1;
	}
	tests = xmalloc_zero(jdoc_count(list), sizeof(*tests));
	for (const struct jdoc *c = jdoc_first(list); c != NULL; c = jdoc_next(c)) {
		tests[n++] = (struct CMUnitTest){
			.name = jdoc_str_or(jdoc_get(c, "name"), path),
			.test_func = run_case,
			.initial_state = (void *)(uintptr_t)c,
		};
	}
	failed = _cmocka_run_group_tests(path, tests, n, NULL, NULL);
	free(tests);
	return failed;
}

int main(void)
{
	glob_t files = { 0 };
	int failed = 0;

	if (glob("test/admission/cases/*.yaml", 0, NULL, &files) != 0) {
		fprintf(stderr, "no cases: run from the top of the tree\n");
		return 1;
	}
	for (size_t i = 0; i < files.gl_pathc; i++) {
		failed += run_file(files.gl_pathv[i]);
	}
	globfree(&files);
	return failed != 0;
}
