#include "scheduler/multikueue/worker/custom_lists.h"

#include "lib/unit.h"

#include <string.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "kube/reflector/reflector.h"
#include "scheduler/base/message.h"

static const struct custom_kind kinds[] = {
	{ "Foo.v1.example.com", "Foo", "v1", "example.com", "example.com/v1" },
	{ "Bar.v1.example.com", "Bar", "v1", "example.com", "example.com/v1" },
};
#define FOO (&kinds[0])
#define BAR (&kinds[1])

static void begin(struct custom_lists *l)
{
	custom_lists_init(l, (struct custom_kinds){ kinds, ARRAY_LEN(kinds) });
}

/* plural and reason: of RESOURCE and WATCH. */
static void give(struct custom_lists *l, enum sched_msg_kind kind, const char *key,
		 const char *plural, unsigned reason, const char *text)
{
	struct sched_msg *m = message_new(kind);

	m->resource = SCHED_CUSTOM;
	m->key = str_of(key);
	if (kind == SCHED_MSG_RESOURCE) {
		m->plural = plural;
	} else {
		m->reason = reason;
	}
	m->text = text;
	custom_lists_handle(l, m, 7);
	message_free(m);
}

static void expect_problems(const struct custom_lists *l, const char *want)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	custom_lists_add_problems(l, &text);
	assert_string_equal(text.len == 0 ? "" : text.p, want);
}

static bool is_complete(const struct custom_lists *l, const struct custom_kind *k, int64_t want)
{
	int64_t since = -1;
	bool complete = custom_lists_is_complete(l, k, 99, &since);

	assert_int_equal(since, want);
	return complete;
}

static void test_found(void **state UNUSED)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;
	const struct str key = STR_LIT("Foo.v1.example.com/ns/a");
	struct custom_lists l;

	begin(&l);
	assert_false(custom_lists_are_settled(&l));
	assert_false(is_complete(&l, FOO, 99));
	assert_false(custom_lists_key_path(&l, key, NULL, &path));
	give(&l, SCHED_MSG_RESOURCE, "Foo.v1.example.com", "fooz", 0, "");
	assert_false(is_complete(&l, FOO, 99));
	assert_false(custom_lists_are_settled(&l));
	give(&l, SCHED_MSG_SYNCED, "Foo.v1.example.com", NULL, 0, NULL);
	assert_true(is_complete(&l, FOO, -1));
	assert_false(custom_lists_are_settled(&l)); /* the other kind */
	assert_true(custom_lists_key_path(&l, key, "status", &path));
	assert_string_equal(path.p, "/apis/example.com/v1/namespaces/ns/fooz/a/status");
	strbuf_reset(&path);
	assert_true(custom_lists_collection(&l, key, &path));
	assert_string_equal(path.p, "/apis/example.com/v1/namespaces/ns/fooz");
	assert_false(custom_lists_is_fresh(&l, FOO));
	give(&l, SCHED_MSG_REFRESHED, "Foo.v1.example.com", NULL, 0, NULL);
	assert_true(custom_lists_is_fresh(&l, FOO));
	assert_false(custom_lists_is_fresh(&l, BAR));
	expect_problems(&l, "");
	custom_lists_reset(&l);
	assert_false(is_complete(&l, FOO, 99));
	custom_lists_finish(&l);
}

/* It is certain that there are no objects. */
static void test_missing(void **state UNUSED)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;
	struct custom_lists l;

	begin(&l);
	give(&l, SCHED_MSG_RESOURCE, "Foo.v1.example.com", NULL, 0, "is not served");
	assert_true(is_complete(&l, FOO, -1));
	assert_false(custom_lists_key_path(&l, STR_LIT("Foo.v1.example.com/ns/a"), NULL, &path));
	give(&l, SCHED_MSG_RESOURCE, "Bar.v1.example.com", NULL, 0, "is not namespaced");
	assert_true(custom_lists_are_settled(&l));
	expect_problems(&l,
			"Foo.v1.example.com is not served; Bar.v1.example.com is not namespaced");
	give(&l, SCHED_MSG_RESOURCE, "Foo.v1.example.com", "fooz", 0, "");
	assert_false(is_complete(&l, FOO, 99)); /* its list follows */
	expect_problems(&l, "Bar.v1.example.com is not namespaced");
	custom_lists_finish(&l);
}

static void test_fails(void **state UNUSED)
{
	CLEANUP(strbuf_finish) struct strbuf long_text = STRBUF_INIT, problem = STRBUF_INIT;
	struct custom_lists l;

	begin(&l);
	give(&l, SCHED_MSG_WATCH, "Foo.v1.example.com", NULL, REFLECTOR_REASON_REFUSED, "no");
	give(&l, SCHED_MSG_WATCH, "Bar.v1.example.com", NULL, REFLECTOR_REASON_SERVER, "later");
	assert_true(custom_lists_are_settled(&l));
	assert_false(is_complete(&l, FOO, 7));
	expect_problems(&l, "Foo.v1.example.com cannot be read: no; Bar.v1.example.com cannot be "
			    "read: later");
	give(&l, SCHED_MSG_WATCH, "Foo.v1.example.com", NULL, REFLECTOR_REASON_NONE, "");
	give(&l, SCHED_MSG_SYNCED, "Foo.v1.example.com", NULL, 0, NULL);
	assert_true(is_complete(&l, FOO, -1));
	assert_false(custom_lists_problem(&l, FOO, &problem));
	for (unsigned i = 0; i < CUSTOM_LISTS_MAX_TEXT; i++) {
		strbuf_add_ch(&long_text, 'x');
	}
	give(&l, SCHED_MSG_WATCH, "Foo.v1.example.com", NULL, REFLECTOR_REASON_SERVER, long_text.p);
	assert_true(custom_lists_problem(&l, FOO, &problem));
	assert_int_equal(problem.len,
			 strlen("Foo.v1.example.com cannot be read: ") + CUSTOM_LISTS_MAX_TEXT - 1);
	custom_lists_finish(&l);
}

/* Messages about objects, and about kinds that are not configured. */
static void test_others(void **state UNUSED)
{
	struct custom_lists l;

	begin(&l);
	give(&l, SCHED_MSG_UPSERT, "Foo.v1.example.com/ns/a", NULL, 0, NULL);
	give(&l, SCHED_MSG_SYNCED, "Foo.v2.example.com", NULL, 0, NULL);
	assert_false(is_complete(&l, FOO, 99));
	custom_lists_finish(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_found),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_fails),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests_name("worker/custom_lists", tests, NULL, NULL);
}
