#include "scheduler/app/standby.h"

#include "lib/unit.h"

#include <stdio.h>

#include "base/arena.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "scheduler/base/message.h"

static struct sched_msg *message(enum sched_msg_kind kind, enum sched_resource r, const char *key,
				 int64_t version)
{
	struct sched_msg *m = message_new(kind);

	m->resource = r;
	m->key = arena_str(m->arena, str_of(key));
	m->resource_version = version;
	return m;
}

static void take(struct standby *s, enum sched_msg_kind kind, enum sched_resource r,
		 const char *key, int64_t version)
{
	assert_true(standby_take(s, message(kind, r, key, version)));
}

static void write_down(void *ctx, struct sched_msg *m)
{
	struct strbuf *out = ctx;

	strbuf_printf(out, "%d:%d:" STR_FMT ":%lld ", (int)m->resource, (int)m->kind,
		      STR_ARG(m->key), (long long)m->resource_version);
	message_free(m);
}

static struct standby *create(unsigned resources)
{
	struct standby *s = standby_create();

	for (unsigned i = 0; i < resources; i++) {
		standby_add(s, (enum sched_resource)i);
	}
	return s;
}

static void do_not_free(void *p)
{
	fail_msg("%s is freed", (const char *)p);
}

/* Text that was lent for the next step would be kept for as long as the process does not lead. */
static void lent_text_is_not_kept(void **state)
{
	struct standby *s = create(1);
	struct sched_msg *m = message(SCHED_MSG_UPSERT, 0, "ns/a", 1);

	(void)state;
	m->payload = xmalloc_dup("text");
	m->free_payload = do_not_free;
	assert_true(standby_take(s, m));
	assert_null(m->payload);
	standby_destroy(s);
}

static void the_latest_of_each_object_is_handed_over(void **state)
{
	struct standby *s = create(2);
	CLEANUP(strbuf_finish) struct strbuf got = STRBUF_INIT, want = STRBUF_INIT;

	(void)state;
	take(s, SCHED_MSG_UPSERT, 1, "n1", 5);
	take(s, SCHED_MSG_UPSERT, 0, "ns/a", 1);
	take(s, SCHED_MSG_UPSERT, 0, "ns/b", 2);
	take(s, SCHED_MSG_SYNCED, 0, "", 0);
	take(s, SCHED_MSG_UPSERT, 0, "ns/a", 3);
	take(s, SCHED_MSG_BAD_OBJECT, 0, "ns/c", 4);
	take(s, SCHED_MSG_DELETE, 0, "ns/b", 6);
	take(s, SCHED_MSG_DELETE, 0, "ns/never", 7);
	take(s, SCHED_MSG_SYNCED, 1, "", 0);
	standby_hand_over(s, write_down, &got);
	strbuf_printf(&want, "0:%d:ns/a:3 0:%d:ns/c:4 0:%d::0 1:%d:n1:5 1:%d::0 ", SCHED_MSG_UPSERT,
		      SCHED_MSG_BAD_OBJECT, SCHED_MSG_SYNCED, SCHED_MSG_UPSERT, SCHED_MSG_SYNCED);
	assert_string_equal(got.p, want.p);
	strbuf_reset(&got);
	standby_hand_over(s, write_down, &got);
	assert_int_equal(got.len, 0);
	standby_destroy(s);
}

static void it_is_complete_when_all_was_listed_and_refreshed(void **state)
{
	struct standby *s = create(2);

	(void)state;
	assert_false(standby_is_complete(s));
	take(s, SCHED_MSG_SYNCED, 0, "", 0);
	take(s, SCHED_MSG_SYNCED, 1, "", 0);
	assert_false(standby_is_complete(s));
	take(s, SCHED_MSG_REFRESHED, 1, "", 0);
	assert_false(standby_is_complete(s));
	take(s, SCHED_MSG_REFRESHED, 0, "", 0);
	assert_true(standby_is_complete(s));
	standby_destroy(s);
}

static void any_kind_may_be_watched(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf got = STRBUF_INIT;
	struct standby *s = create(1);

	(void)state;
	standby_add(s, SCHED_BUDGETS);
	take(s, SCHED_MSG_SYNCED, 0, "", 0);
	take(s, SCHED_MSG_REFRESHED, 0, "", 0);
	take(s, SCHED_MSG_UPSERT, SCHED_BUDGETS, "ns/b", 1);
	assert_false(standby_is_complete(s));
	take(s, SCHED_MSG_SYNCED, SCHED_BUDGETS, "", 0);
	take(s, SCHED_MSG_REFRESHED, SCHED_BUDGETS, "", 0);
	assert_true(standby_is_complete(s));
	standby_hand_over(s, write_down, &got);
	assert_non_null(strstr(got.p, "ns/b"));
	standby_destroy(s);
}

static void other_messages_go_to_the_engine(void **state)
{
	static const enum sched_msg_kind kinds[] = { SCHED_MSG_REQUEST_DONE, SCHED_MSG_LEASE,
						     SCHED_MSG_CONF, SCHED_MSG_SNAPSHOT,
						     SCHED_MSG_STOP };
	struct standby *s = create(1);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		struct sched_msg *m = message(kinds[i], 0, "", 0);

		unit_row_number(i);
		assert_false(standby_take(s, m));
		message_free(m);
	}
	take(s, SCHED_MSG_UPSERT, 0, "kept/when-it-ends", 1);
	standby_destroy(s);
	standby_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lent_text_is_not_kept),
		cmocka_unit_test(the_latest_of_each_object_is_handed_over),
		cmocka_unit_test(it_is_complete_when_all_was_listed_and_refreshed),
		cmocka_unit_test(any_kind_may_be_watched),
		cmocka_unit_test(other_messages_go_to_the_engine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
