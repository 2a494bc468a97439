#include "scheduler/multikueue/worker/custom_watch.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "kube/reflector/reflector.h"
#include "lib/net/fake_transport.h"
#include "scheduler/base/message.h"

#define S CLOCK_NS_PER_S
#define ASK "GET /apis/example.com/v1"
#define LIST "GET /apis/example.com/v1/fooz?limit=500&labelSelector=a%3Db"
#define EMPTY "{\"metadata\":{\"resourceVersion\":\"5\"},\"items\":[]}"
#define RESOURCES(rows)                                                                            \
	"{\"kind\":\"APIResourceList\",\"groupVersion\":\"example.com/v1\",\"resources\":[" rows   \
	"]}"
#define ROW(name, kind, namespaced)                                                                \
	"{\"name\":\"" name "\",\"kind\":\"" kind "\",\"namespaced\":" namespaced "}"
#define FOUND                                                                                      \
	RESOURCES(ROW("bars", "Bar", "true") "," ROW("fooz/status", "Foo",                         \
						     "true") "," ROW("fooz", "Foo", "true"))

static const struct custom_kind kinds[] = {
	{ "Foo.v1.example.com", "Foo", "v1", "example.com", "example.com/v1" },
};

struct world {
	struct clock_fake clock;
	struct fake_transport *transport;
	struct custom_watch *w;
	struct strbuf log;
	bool full;
};

static void post(void *ctx, struct sched_msg *m)
{
	static const char *const names[SCHED_MSG_KIND_COUNT_] = {
		[SCHED_MSG_UPSERT] = "U",    [SCHED_MSG_DELETE] = "D",   [SCHED_MSG_SYNCED] = "S",
		[SCHED_MSG_REFRESHED] = "F", [SCHED_MSG_RESOURCE] = "R", [SCHED_MSG_WATCH] = "W",
		[SCHED_MSG_BAD_OBJECT] = "B"
	};
	struct world *w = ctx;

	assert_int_equal(m->resource, SCHED_CUSTOM);
	strbuf_printf(&w->log, "%s " STR_FMT, names[m->kind], STR_ARG(m->key));
	if (m->kind == SCHED_MSG_RESOURCE) {
		strbuf_printf(&w->log, " %s", m->plural != NULL ? m->plural : m->text);
	} else if (m->kind == SCHED_MSG_WATCH) {
		strbuf_printf(&w->log, " %u %s", m->reason, m->text);
	} else if (m->json.p != NULL && m->json.len < 200) {
		strbuf_printf(&w->log, " " STR_FMT, STR_ARG(m->json));
	} else if (m->json.p != NULL) {
		strbuf_add_c(&w->log, " long");
	}
	strbuf_add_ch(&w->log, ';');
	message_free(m);
}

static bool has_room(void *ctx)
{
	const struct world *w = ctx;

	return !w->full;
}

static void begin_with(struct world *w, bool whole, size_t max)
{
	*w = (struct world){ .log = STRBUF_INIT };
	clock_fake_init(&w->clock, 0);
	w->transport = fake_transport_create(&w->clock);
	w->w = custom_watch_create(
		&(struct custom_watch_options){ .kinds = { kinds, ARRAY_LEN(kinds) },
						.transport = fake_transport_base(w->transport),
						.clock = &w->clock.base,
						.label_selector = "a=b",
						.whole = whole,
						.max_objects = max,
						.seed = 1,
						.post = post,
						.has_room = has_room,
						.ctx = w });
	custom_watch_start(w->w);
	fake_transport_run(w->transport);
}

static void begin(struct world *w)
{
	begin_with(w, false, 0);
}

static void end(struct world *w)
{
	fake_transport_destroy(w->transport);
	custom_watch_destroy(w->w);
	strbuf_finish(&w->log);
}

static void answer(struct world *w, const char *line, int status, const char *body)
{
	fake_transport_answer(w->transport, fake_transport_expect(w->transport, line), status,
			      body);
	fake_transport_run(w->transport);
}

static void expect_log(struct world *w, const char *want)
{
	assert_string_equal(w->log.len == 0 ? "" : w->log.p, want);
	strbuf_reset(&w->log);
}

static void begin_watching(struct world *w, bool whole, size_t max)
{
	begin_with(w, whole, max);
	answer(w, ASK, 200, FOUND);
	expect_log(w, "R Foo.v1.example.com fooz;");
}

static void test_found(void **state UNUSED)
{
	struct world w;

	begin_watching(&w, false, 0);
	answer(&w, LIST, 200,
	       "{\"metadata\":{\"resourceVersion\":\"5\"},\"items\":[{\"metadata\":{\"namespace\":"
	       "\"n\",\"name\":\"a\",\"resourceVersion\":\"1\"},\"spec\":{\"x\":1},\"status\":{"
	       "\"y\":2}}]}");
	expect_log(&w, "U Foo.v1.example.com/n/a {\"metadata\":{\"resourceVersion\":\"1\"},"
		       "\"status\":{\"y\":2}};S Foo.v1.example.com;");
	custom_watch_refresh(w.w);
	answer(&w, LIST, 200, EMPTY);
	expect_log(&w, "D Foo.v1.example.com/n/a;F Foo.v1.example.com;");
	end(&w);
}

/* Asked for before the answer. */
static void test_refreshed_early(void **state UNUSED)
{
	struct world w;

	begin(&w);
	custom_watch_refresh(w.w);
	answer(&w, ASK, 200, FOUND);
	answer(&w, LIST, 200, EMPTY);
	expect_log(&w, "R Foo.v1.example.com fooz;S Foo.v1.example.com;F Foo.v1.example.com;");
	end(&w);
}

static void test_missing(void **state UNUSED)
{
	static const struct {
		int status;
		const char *body, *want;
	} rows[] = {
		{ 404, "{}", "is not served" },
		{ 200, RESOURCES(""), "is not served" },
		{ 200, "{}", "is not served" },
		{ 200, "[1]", "is not served" },
		{ 200, "{\"resources\":{\"name\":1}}", "is not served" },
		{ 200, RESOURCES(ROW("fooz/status", "Foo", "true")), "is not served" },
		{ 200, RESOURCES(ROW("", "Foo", "true")), "is not served" },
		{ 200, RESOURCES(ROW("fooz", "Fooz", "true")), "is not served" },
		{ 200, RESOURCES(ROW("fooz", "Foo", "false")), "is not namespaced" },
		{ 200, RESOURCES(ROW("fooz", "Foo", "true")), "has no subresource status" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf want = STRBUF_INIT;
		struct world w;

		unit_row_number(i);
		begin(&w);
		custom_watch_refresh(w.w);
		answer(&w, ASK, rows[i].status, rows[i].body);
		strbuf_printf(&want,
			      "R Foo.v1.example.com %s;S Foo.v1.example.com;F Foo.v1.example.com;",
			      rows[i].want);
		expect_log(&w, want.p);
		custom_watch_refresh(w.w);
		expect_log(&w, "F Foo.v1.example.com;");
		fake_transport_advance(w.transport, CUSTOM_WATCH_RETRY_NS - S);
		fake_transport_expect_none(w.transport);
		fake_transport_advance(w.transport, S);
		answer(&w, ASK, 200, FOUND); /* by now it is */
		answer(&w, LIST, 200, EMPTY);
		expect_log(&w, "R Foo.v1.example.com fooz;S Foo.v1.example.com;");
		end(&w);
	}
}

static void test_failures(void **state UNUSED)
{
	struct world w;

	begin(&w);
	answer(&w, ASK, 403, "{\"kind\":\"Status\",\"message\":\"no\",\"code\":403}");
	assert_non_null(w.log.p);
	assert_true(str_has_prefix(strbuf_str(&w.log), "W Foo.v1.example.com 5 "));
	strbuf_reset(&w.log);
	fake_transport_advance(w.transport, 2 * S);
	answer(&w, ASK, 503, "{}");
	assert_true(str_has_prefix(strbuf_str(&w.log), "W Foo.v1.example.com 1 "));
	strbuf_reset(&w.log);
	fake_transport_advance(w.transport, 4 * S);
	answer(&w, ASK, 200, "<html>");
	assert_true(str_has_prefix(strbuf_str(&w.log), "W Foo.v1.example.com 7 "));
	strbuf_reset(&w.log);
	fake_transport_advance(w.transport, 8 * S);
	answer(&w, ASK, 200, FOUND);
	expect_log(&w, "W Foo.v1.example.com 0 ;R Foo.v1.example.com fooz;");
	end(&w);
}

/* A list that may not be read. */
static void test_refused(void **state UNUSED)
{
	struct world w;

	begin_watching(&w, false, 0);
	answer(&w, LIST, 403, "{\"kind\":\"Status\",\"message\":\"no\",\"code\":403}");
	assert_true(str_has_prefix(strbuf_str(&w.log), "W Foo.v1.example.com 5 "));
	end(&w);
}

#define ITEM(name, members)                                                                        \
	"{\"metadata\":{\"namespace\":\"n\",\"name\":\"" name                                      \
	"\",\"resourceVersion\":\"1\"}" members "}"
#define ITEMS(items) "{\"metadata\":{\"resourceVersion\":\"5\"},\"items\":[" items "]}"

#define FOUND_AS(name) RESOURCES(ROW(name "/status", "Foo", "true") "," ROW(name, "Foo", "true"))
#define LIST_AS(name) "GET /apis/example.com/v1/" name "?limit=500&labelSelector=a%3Db"

/* Its definition was deleted while it was watched. */
static void lose(struct world *w)
{
	uint64_t watch;

	begin_watching(w, false, 0);
	answer(w, LIST, 200, ITEMS(ITEM("a", "")));
	expect_log(w, "U Foo.v1.example.com/n/a {\"metadata\":{\"resourceVersion\":\"1\"}};"
		      "S Foo.v1.example.com;");
	watch = fake_transport_expect_prefix(w->transport, "GET /apis/example.com/v1/fooz?watch");
	fake_transport_answer(w->transport, watch, 404, "{}");
	fake_transport_advance(w->transport, S);
	answer(w, LIST, 404, "{}");
	expect_log(w, "D Foo.v1.example.com/n/a;");
}

/* The definition is there again, under another plural. */
static void test_served_under_another_name(void **state UNUSED)
{
	struct world w;

	lose(&w);
	answer(&w, ASK, 200, FOUND_AS("foos"));
	answer(&w, LIST_AS("foos"), 200, EMPTY);
	expect_log(&w, "R Foo.v1.example.com foos;S Foo.v1.example.com;");
	fake_transport_expect_prefix(w.transport, "GET /apis/example.com/v1/foos?watch");
	fake_transport_expect_none(w.transport);
	custom_watch_refresh(w.w);
	answer(&w, LIST_AS("foos"), 200, EMPTY);
	expect_log(&w, "F Foo.v1.example.com;");
	end(&w);
}

/* The same plural: the list is tried again at its own pace. */
static void test_served_as_before(void **state UNUSED)
{
	struct world w;

	lose(&w);
	answer(&w, ASK, 200, FOUND);
	fake_transport_expect_none(w.transport);
	fake_transport_advance(w.transport, 40 * S);
	answer(&w, LIST, 404, "{}");
	answer(&w, ASK, 200, FOUND);
	fake_transport_advance(w.transport, 40 * S);
	answer(&w, LIST, 200, EMPTY);
	expect_log(&w, "");
	end(&w);
}

/* Not served any more: it is asked for each minute, and a refresh is answered at once. */
static void test_not_served_any_more(void **state UNUSED)
{
	struct world w;

	lose(&w);
	answer(&w, ASK, 404, "{}");
	expect_log(&w, "R Foo.v1.example.com is not served;S Foo.v1.example.com;");
	custom_watch_refresh(w.w);
	expect_log(&w, "F Foo.v1.example.com;");
	fake_transport_advance(w.transport, CUSTOM_WATCH_RETRY_NS);
	answer(&w, ASK, 200, FOUND_AS("foos"));
	answer(&w, LIST_AS("foos"), 200, EMPTY);
	expect_log(&w, "R Foo.v1.example.com foos;S Foo.v1.example.com;");
	end(&w);
}

/* The question fails meanwhile: it is repeated, with one question at a time. */
static void test_lost_and_discovery_fails(void **state UNUSED)
{
	struct world w;
	uint64_t question;

	lose(&w);
	question = fake_transport_expect(w.transport, ASK);
	fake_transport_advance(w.transport, 40 * S);
	answer(&w, LIST, 404, "{}");
	fake_transport_expect_none(w.transport);
	fake_transport_answer(w.transport, question, 503, "{}");
	assert_true(str_has_prefix(strbuf_str(&w.log), "W Foo.v1.example.com 1 "));
	strbuf_reset(&w.log);
	fake_transport_advance(w.transport, 2 * S);
	answer(&w, ASK, 200, FOUND_AS("foos"));
	expect_log(&w, "W Foo.v1.example.com 0 ;R Foo.v1.example.com foos;");
	end(&w);
}

/* The list is there again before the answer, which is of before. */
static void test_found_before_the_answer(void **state UNUSED)
{
	struct world w;
	uint64_t question;

	lose(&w);
	question = fake_transport_expect(w.transport, ASK);
	fake_transport_advance(w.transport, 40 * S);
	answer(&w, LIST, 200, ITEMS(ITEM("a", "")));
	fake_transport_answer(w.transport, question, 404, "{}");
	fake_transport_run(w.transport);
	expect_log(&w, "U Foo.v1.example.com/n/a {\"metadata\":{\"resourceVersion\":\"1\"}};");
	end(&w);
}

/* A refresh of the list under the old name ends with the one under the new name. */
static void test_refreshed_while_lost(void **state UNUSED)
{
	struct world w;
	uint64_t question;

	lose(&w);
	question = fake_transport_expect(w.transport, ASK);
	custom_watch_refresh(w.w);
	fake_transport_expect(w.transport, LIST);
	fake_transport_answer(w.transport, question, 200, FOUND_AS("foos"));
	fake_transport_run(w.transport);
	answer(&w, LIST_AS("foos"), 200, EMPTY);
	expect_log(&w, "R Foo.v1.example.com foos;S Foo.v1.example.com;F Foo.v1.example.com;");
	end(&w);
}

/* Of local objects, the whole text of those that are managed. */
static void test_whole(void **state UNUSED)
{
	struct world w;

	begin_watching(&w, true, 0);
	answer(&w, LIST, 200,
	       ITEMS(ITEM("a", ",\"spec\":{\"managedBy\":\"kueue.x-k8s.io/multikueue\"}") "," ITEM(
		       "b", "") "," ITEM("c", ",\"spec\":[1]")));
	expect_log(&w, "U Foo.v1.example.com/n/a {\"metadata\":{\"namespace\":\"n\",\"name\":\"a\","
		       "\"resourceVersion\":\"1\"},\"spec\":{\"managedBy\":"
		       "\"kueue.x-k8s.io/multikueue\"}};U Foo.v1.example.com/n/b;"
		       "U Foo.v1.example.com/n/c;S Foo.v1.example.com;");
	end(&w);
}

/* At the limit and one beyond. */
static void test_large(void **state UNUSED)
{
	for (unsigned beyond = 0; beyond <= 1; beyond++) {
		CLEANUP(strbuf_finish) struct strbuf item = STRBUF_INIT, body = STRBUF_INIT;
		struct world w;

		strbuf_add_c(&item, "{\"metadata\":{\"namespace\":\"n\",\"name\":\"a\","
				    "\"resourceVersion\":\"1\"},\"status\":{\"y\":\"");
		while (item.len < CUSTOM_WATCH_MAX_BYTES - 3 + beyond) {
			strbuf_add_ch(&item, 'x');
		}
		strbuf_add_c(&item, "\"}}");
		strbuf_printf(&body, ITEMS("%s"), item.p);
		begin_watching(&w, false, 0);
		answer(&w, LIST, 200, body.p);
		expect_log(&w, beyond ? "U Foo.v1.example.com/n/a;S Foo.v1.example.com;"
				      : "U Foo.v1.example.com/n/a long;S Foo.v1.example.com;");
		end(&w);
	}
}

/* At the limit and one beyond. */
static void test_many(void **state UNUSED)
{
	struct world w;

	begin_watching(&w, true, 2);
	answer(&w, LIST, 200, ITEMS(ITEM("a", "") "," ITEM("b", "")));
	expect_log(&w, "U Foo.v1.example.com/n/a;U Foo.v1.example.com/n/b;S Foo.v1.example.com;");
	end(&w);
	begin_watching(&w, true, 2);
	answer(&w, LIST, 200, ITEMS(ITEM("a", "") "," ITEM("b", "") "," ITEM("c", "")));
	expect_log(&w, "U Foo.v1.example.com/n/a;U Foo.v1.example.com/n/b;"
		       "W Foo.v1.example.com 5 there are more objects than are allowed;");
	end(&w);
}

static void test_no_room(void **state UNUSED)
{
	struct world w;

	begin_watching(&w, true, 0);
	w.full = true;
	answer(&w, LIST, 200, ITEMS(ITEM("a", "") "," ITEM("b", "")));
	expect_log(&w, "W Foo.v1.example.com 5 objects come faster than they can be handled;");
	end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_found),
		cmocka_unit_test(test_refreshed_early),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_no_room),
		cmocka_unit_test(test_served_under_another_name),
		cmocka_unit_test(test_served_as_before),
		cmocka_unit_test(test_not_served_any_more),
		cmocka_unit_test(test_lost_and_discovery_fails),
		cmocka_unit_test(test_found_before_the_answer),
		cmocka_unit_test(test_refreshed_while_lost),
	};

	return cmocka_run_group_tests_name("worker/custom_watch", tests, NULL, NULL);
}
