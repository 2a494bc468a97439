#include "scheduler/multikueue/records/fleet_workload.h"

#include "lib/unit.h"

#include "api/kueue/kueue_workload.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/heap.h"
#include "lib/multikueue/fleet_fixture.h"
#include "scheduler/multikueue/records/fleet_managed.h"
#include "scheduler/orchestrate/replica.h"

#define KEY "ns/w"

static struct sched_msg *local(const char *uid, const char *token, int64_t version)
{
	CLEANUP(strbuf_finish) struct strbuf json = STRBUF_INIT;

	strbuf_printf(&json, "{'metadata':{'name':'w','namespace':'ns','uid':'%s'", uid);
	if (token != NULL) {
		strbuf_printf(&json, ",'annotations':{'" TOKEN_ANNOTATION "':'%s'}", token);
	}
	strbuf_add_c(&json, "}}");
	return fleet_fixture_object(SCHED_WORKLOADS, KEY, version, json.p);
}

/* m NULL: deleted. */
static int set(struct fleet_workload *w, struct sched_msg *m_take, int64_t now)
{
	int r = fleet_workload_set_local(w, m_take, now, NULL);

	message_free(m_take);
	return r;
}

static void observe(struct fleet_workload *w, struct fleet_replica *r, const char *uid,
		    int64_t version, uint64_t source)
{
	CLEANUP(xmalloc_freep)
	char *json = xmalloc_printf("{'metadata':{'name':'w','namespace':'ns','uid':'%s',"
				    "'resourceVersion':'%lld'},'spec':{'queueName':'main'}}",
				    uid, (long long)version);
	struct sched_msg *m = fleet_fixture_object(SCHED_WORKLOADS, KEY, version, json);

	fleet_workload_observe(w, r, m->object, source, 5);
	message_free(m);
}

static void test_new_one(void **state UNUSED)
{
	struct fleet_workload *w = fleet_workload_create(str_of(KEY));

	assert_string_equal(w->key, KEY);
	assert_null(fleet_workload_local(w));
	assert_int_equal(w->token.lost_at, REPLICA_NOT_SEEN);
	assert_int_equal(w->signal_at, REPLICA_NOT_SEEN);
	assert_int_equal(w->wake_at, CLOCK_NEVER);
	assert_false(fleet_workload_is_waiting(w, 10));
	assert_true(fleet_workload_is_gone(w));
	fleet_workload_destroy(w);
	fleet_workload_destroy(NULL);
}

static void test_lost_token_keeps_its_time(void **state UNUSED)
{
	struct fleet_workload *w = fleet_workload_create(str_of(KEY));
	struct err err = ERR_INIT;
	struct sched_msg *m = local("u", "broken", 1);

	assert_int_equal(fleet_workload_set_local(w, m, 10, &err), -ERR_INVALID);
	assert_true(err.text[0] != '\0');
	message_free(m);
	assert_int_equal(w->token.lost_at, 10);
	/* The same text is not read again, nor reported again. */
	assert_int_equal(set(w, local("u", "broken", 2), 20), 0);
	assert_int_equal(w->token.lost_at, 10);
	assert_int_equal(w->local->resource_version, 2);
	assert_int_equal(set(w, local("u", "broken too", 3), 30), -ERR_INVALID);
	assert_int_equal(w->token.lost_at, 30);
	/* Without the annotation there is no token. */
	assert_int_equal(set(w, local("u", NULL, 4), 40), 0);
	assert_int_equal(w->token.lost_at, REPLICA_NOT_SEEN);
	assert_int_equal(set(w, local("u", "broken", 5), 50), -ERR_INVALID);
	assert_int_equal(w->token.lost_at, 50);
	assert_int_equal(set(w, NULL, 60), 0);
	assert_int_equal(w->token.lost_at, REPLICA_NOT_SEEN);
	assert_null(fleet_workload_local(w));
	fleet_workload_destroy(w);
}

static void test_token_is_read(void **state UNUSED)
{
	static const char granted[] =
		"{\\'epoch\\':3,\\'phase\\':\\'Granted\\',\\'holder\\':\\'east\\',\\'uid\\':"
		"\\'x\\',\\'grantedAt\\':\\'2027-01-15T08:00:00.000000Z\\'}";
	struct fleet_workload *w = fleet_workload_create(str_of(KEY));

	assert_int_equal(set(w, local("u", granted, 1), 10), 0);
	assert_int_equal(w->token.epoch, 3);
	assert_int_equal(w->token.phase, TOKEN_GRANTED);
	assert_string_equal(w->token.holder, "east");
	assert_int_equal(set(w, local("u", granted, 2), 10), 0);
	assert_string_equal(w->token.holder, "east");
	assert_int_equal(set(w, NULL, 10), 0);
	assert_int_equal(w->token.phase, TOKEN_FREE);
	assert_int_equal(w->token.epoch, 0);
	fleet_workload_destroy(w);
}

static void send_token(struct fleet_workload *w)
{
	w->token_in_flight = true;
	w->token_written = 100;
	w->token_pause_until = 1000;
}

static void test_another_object_has_no_history(void **state UNUSED)
{
	struct fleet_workload *w = fleet_workload_create(str_of(KEY));

	(void)set(w, local("u", NULL, 1), 10);
	send_token(w);
	(void)set(w, local("u", NULL, 2), 10);
	assert_true(w->token_in_flight);
	assert_int_equal(w->token_written, 100);
	assert_int_equal(w->token_pause_until, 1000);

	(void)set(w, local("v", NULL, 3), 10);
	assert_false(fleet_workload_awaits_token(w));
	assert_int_equal(w->token_pause_until, 0);

	send_token(w);
	(void)set(w, NULL, 10);
	assert_false(fleet_workload_awaits_token(w));
	assert_int_equal(w->token_pause_until, 0);
	assert_int_equal(w->token_written, 0);
	fleet_workload_destroy(w);
}

static void test_waits_for_its_token(void **state UNUSED)
{
	struct fleet_workload *w = fleet_workload_create(str_of(KEY));

	(void)set(w, local("u", NULL, 7), 10);
	assert_false(fleet_workload_awaits_token(w));
	w->token_in_flight = true;
	assert_true(fleet_workload_awaits_token(w));
	assert_true(fleet_workload_is_waiting(w, 10));
	w->token_in_flight = false;
	w->token_written = 8;
	assert_true(fleet_workload_awaits_token(w));
	(void)set(w, local("u", NULL, 8), 10);
	assert_false(fleet_workload_awaits_token(w));
	(void)set(w, local("u", NULL, 9), 10);
	assert_false(fleet_workload_is_waiting(w, 10));
	fleet_workload_destroy(w);
}

/* A write of the manager to the local object is waited for, but not for ever. */
static void test_waits_for_the_manager(void **state UNUSED)
{
	struct fleet_workload *w = fleet_workload_create(str_of(KEY));

	(void)set(w, local("u", NULL, 7), 10);
	w->managed = fleet_managed_create();
	assert_false(fleet_workload_is_waiting(w, 10));
	w->managed->workload_write.in_flight = true;
	assert_true(fleet_workload_is_waiting(w, 10));
	w->managed->workload_write.in_flight = false;
	w->managed->workload_write.written = 8;
	w->managed->workload_write.done_at = 10;
	assert_true(fleet_workload_is_waiting(w, 10));
	assert_false(fleet_workload_is_waiting(w, 10 + FLEET_MANAGED_AWAIT_NS));
	(void)set(w, local("u", NULL, 8), 10);
	assert_false(fleet_workload_is_waiting(w, 10));
	fleet_workload_destroy(w);
}

static void test_waits_for_gates(void **state UNUSED)
{
	struct fleet_workload *w = fleet_workload_create(str_of(KEY));
	struct fleet_replica *east = fleet_workload_replica(w, "east");
	struct fleet_replica *west = fleet_workload_replica(w, "west");

	observe(w, east, "e", 5, 1);
	observe(w, west, "w", 5, 2);
	assert_false(fleet_workload_is_waiting(w, 10));
	west->in_flight = true;
	assert_true(fleet_workload_is_waiting(w, 10));
	west->in_flight = false;
	west->written = 6;
	assert_true(fleet_workload_is_waiting(w, 10));
	assert_false(fleet_workload_awaits_token(w));
	/* One that cannot be reached does not show anything. */
	observe_unreachable(&west->seen);
	assert_false(fleet_workload_is_waiting(w, 10));
	west->in_flight = true;
	assert_false(fleet_workload_is_waiting(w, 10));
	observe_reachable(&west->seen, 10);
	assert_true(fleet_workload_is_waiting(w, 10));
	west->in_flight = false;
	observe(w, west, "w", 6, 2);
	assert_false(fleet_workload_is_waiting(w, 10));
	fleet_workload_destroy(w);
}

/* The replica is gone before the answer to a write comes: nothing shows its effect any more. */
static void test_answer_after_the_replica(void **state UNUSED)
{
	struct fleet_workload *w = fleet_workload_create(str_of(KEY));
	struct fleet_replica *r = fleet_workload_replica(w, "east");

	observe(w, r, "e", 5, 1);
	fleet_workload_observe(w, r, NULL, 1, 5);
	r->written = 9;
	assert_true(r->seen.replica.reachable);
	assert_false(fleet_workload_is_waiting(w, 10));
	fleet_workload_destroy(w);
}

static void test_write_ends_with_its_replica(void **state UNUSED)
{
	static const struct {
		const char *name, *uid; /* NULL: it is gone */
		uint64_t source;
		bool waits;
	} rows[] = {
		{ "the same", "e", 1, true },
		{ "gone", NULL, 1, false },
		{ "another connection", "e", 2, false },
		{ "another replica", "f", 1, false },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fleet_workload *w = fleet_workload_create(str_of(KEY));
		struct fleet_replica *r = fleet_workload_replica(w, "east");

		unit_row(rows[i].name);
		observe(w, r, "e", 5, 1);
		r->in_flight = true;
		r->written = 9;
		if (rows[i].uid == NULL) {
			fleet_workload_observe(w, r, NULL, rows[i].source, 5);
			assert_null(r->queue);
			assert_null(r->target);
		} else {
			observe(w, r, rows[i].uid, 6, rows[i].source);
		}
		assert_int_equal(fleet_workload_is_waiting(w, 10), rows[i].waits);
		assert_int_equal(r->in_flight, rows[i].waits);
		assert_int_equal(r->written, rows[i].waits ? 9 : 0);
		assert_int_equal(r->source, rows[i].source);
		fleet_workload_destroy(w);
	}
}

static void test_replica_as_observed(void **state UNUSED)
{
	struct fleet_workload *w = fleet_workload_create(str_of(KEY));
	struct fleet_replica *r;
	struct sched_msg *bare;

	assert_null(fleet_workload_find(w, "east"));
	r = fleet_workload_replica(w, "east");
	assert_ptr_equal(fleet_workload_replica(w, "east"), r);
	assert_ptr_equal(fleet_workload_find(w, "east"), r);
	assert_false(r->seen.replica.reachable);
	assert_string_equal(r->seen.replica.cluster, "east");

	observe(w, r, "e", 5, 1);
	assert_true(r->seen.replica.reachable);
	assert_string_equal(r->seen.replica.uid, "e");
	assert_string_equal(r->queue, "ns/main");
	assert_string_equal(r->target->version, "5");
	assert_int_equal(r->target->version_n, 5);

	bare = fleet_fixture_object(SCHED_WORKLOADS, KEY, 6, "{'metadata':{'uid':'e'}}");
	fleet_workload_observe(w, r, bare->object, 1, 5);
	assert_null(r->queue);
	assert_string_equal(r->target->version, "");
	message_free(bare);
	fleet_workload_destroy(w);
}

/* evicted: the minute of it; 0: it was not. */
static void observe_variant(struct fleet_workload *w, struct fleet_replica *r, const char *name,
			    unsigned evicted)
{
	CLEANUP(strbuf_finish) struct strbuf json = STRBUF_INIT, key = STRBUF_INIT;
	struct sched_msg *m;

	strbuf_printf(&key, "ns/%s", name);
	strbuf_printf(&json,
		      "{'metadata':{'name':'%s','namespace':'ns','uid':'u-%s','resourceVersion':"
		      "'7','ownerReferences':[{'apiVersion':'kueue.x-k8s.io/v1beta2','kind':"
		      "'Workload','name':'w','uid':'e','controller':true}]},'status':{'conditions':"
		      "[{'type':'Evicted','status':'%s','lastTransitionTime':"
		      "'2026-01-01T00:%02u:00Z'}]}}",
		      name, name, evicted == 0 ? "False" : "True", evicted);
	m = fleet_fixture_object(SCHED_WORKLOADS, key.p, 7, json.p);
	fleet_workload_observe_variant(w, r, m->key, m->object, 1, 5);
	message_free(m);
}

static struct fleet_replica *begin_split(struct fleet_workload *w)
{
	struct fleet_replica *r = fleet_workload_replica(w, "east");
	struct sched_msg *m = fleet_fixture_object(
		SCHED_WORKLOADS, KEY, 5,
		"{'metadata':{'name':'w','namespace':'ns','uid':'e','resourceVersion':'5',"
		"'labels':{'kueue.x-k8s.io/concurrent-admission-parent':'true'}}}");

	fleet_workload_observe(w, r, m->object, 1, 5);
	message_free(m);
	return r;
}

/* The variant that was evicted last is deleted: that is no eviction. */
static void test_evictions_of_variants(void **state UNUSED)
{
	struct fleet_workload *w = fleet_workload_create(str_of(KEY));
	struct fleet_replica *r = begin_split(w);

	observe_variant(w, r, "x", 3);
	observe_variant(w, r, "y", 5);
	observe_granted(&r->seen);
	fleet_workload_observe_variant(w, r, STR_LIT("ns/y"), NULL, 1, 5);
	assert_false(r->seen.replica.evicted);
	observe_variant(w, r, "x", 7);
	assert_true(r->seen.replica.evicted);
	fleet_workload_destroy(w);
}

/* Which one goes first depends on whether the attempt has ended. */
static void test_end_of_an_attempt(void **state UNUSED)
{
	static const char granted[] =
		"{\\'epoch\\':3,\\'phase\\':\\'Granted\\',\\'holder\\':\\'east\\',\\'uid\\':"
		"\\'e\\',\\'grantedAt\\':\\'2027-01-15T08:00:00.000000Z\\'}";
	struct fleet_workload *w = fleet_workload_create(str_of(KEY));
	struct fleet_replica *r = begin_split(w);

	observe_variant(w, r, "x", 0);
	observe_variant(w, r, "y", 0);
	assert_string_equal(r->target->key, "ns/x");
	r->target->tried = 1;
	r->target->tried_epoch = 3;
	assert_int_equal(set(w, local("u", granted, 1), 10), 0);
	assert_string_equal(r->target->key, "ns/x");
	assert_int_equal(set(w, local("u", NULL, 2), 10), 0);
	assert_string_equal(r->target->key, "ns/y");
	fleet_workload_destroy(w);
}

/* In the order of a list, one after the other. */
static void test_evictions_in_a_list(void **state UNUSED)
{
	struct fleet_workload *w = fleet_workload_create(str_of(KEY));
	struct fleet_replica *r = begin_split(w);

	observe_unreachable(&r->seen);
	observe_variant(w, r, "x", 3);
	observe_unreachable(&r->seen);
	observe_variant(w, r, "y", 5);
	observe_unreachable(&r->seen);
	fleet_workload_reach(w, r, 1, 6);
	observe_reachable(&r->seen, 6);
	assert_false(r->seen.replica.evicted);
	fleet_workload_destroy(w);
}

static void test_limit_of_variants(void **state UNUSED)
{
	struct fleet_workload *w = fleet_workload_create(str_of(KEY));
	struct fleet_replica *r = begin_split(w);
	char name[] = "a";

	for (unsigned i = 0; i < 16; i++, name[0]++) {
		observe_variant(w, r, name, 0);
	}
	assert_false(r->is_full);
	assert_int_equal(r->variants.n, 16);
	observe_variant(w, r, name, 1);
	assert_true(r->is_full);
	assert_int_equal(r->variants.n, 16);
	fleet_workload_destroy(w);
}

static void take_unreadable(struct fleet_workload *w, struct fleet_replica *r, const char *key,
			    bool is_variant, uint64_t source)
{
	struct sched_msg *m = message_new(SCHED_MSG_BAD_OBJECT);

	m->key = str_of(key);
	m->source = source;
	fleet_workload_take(w, r, m, is_variant, 6);
	message_free(m);
}

/* One that cannot be read on a new connection counts as it was seen last. */
static void test_unreadable_variant(void **state UNUSED)
{
	struct fleet_workload *w = fleet_workload_create(str_of(KEY));
	struct fleet_replica *r = begin_split(w);

	observe_variant(w, r, "x", 0);
	observe_variant(w, r, "y", 0);
	r->source = 2;
	take_unreadable(w, r, "ns/x", true, 2);
	fleet_workload_reach(w, r, 2, 6);
	assert_int_equal(r->variants.n, 1);
	assert_string_equal(r->variants.v[0]->key, "ns/x");
	take_unreadable(w, r, KEY, false, 3);
	assert_int_equal(r->source, 3);
	assert_false(r->seen.replica.reachable);
	fleet_workload_destroy(w);
}

static void test_clock_set_back(void **state UNUSED)
{
	struct fleet_workload *w = fleet_workload_create(str_of(KEY));
	struct replica *r = &fleet_workload_replica(w, "east")->seen.replica;

	fleet_workload_set_clock_back(w, 5);
	assert_int_equal(w->signal_at, REPLICA_NOT_SEEN);
	assert_int_equal(r->signal_seen, REPLICA_NOT_SEEN);
	assert_int_equal(r->open_seen, REPLICA_NOT_SEEN);
	assert_int_equal(r->ahead_seen, REPLICA_NOT_SEEN);
	w->signal_at = r->signal_seen = 10;
	r->open_seen = 11;
	r->ahead_seen = 3;
	fleet_workload_set_clock_back(w, 5);
	assert_int_equal(w->signal_at, 5);
	assert_int_equal(r->signal_seen, 5);
	assert_int_equal(r->open_seen, 5);
	assert_int_equal(r->ahead_seen, 3);
	fleet_workload_destroy(w);
}

static void test_drop(void **state UNUSED)
{
	struct fleet_workload *w = fleet_workload_create(str_of(KEY));

	for (size_t i = 0; i < 3; i++) {
		static const char *const names[] = { "east", "west", "north" };

		observe(w, fleet_workload_replica(w, names[i]), names[i], 1, 1);
	}
	fleet_workload_drop(w, "east");
	assert_null(fleet_workload_find(w, "east"));
	assert_non_null(fleet_workload_find(w, "west"));
	assert_non_null(fleet_workload_find(w, "north"));
	fleet_workload_drop(w, "east");
	assert_int_equal(w->replicas.n, 2);
	assert_false(fleet_workload_is_gone(w));
	fleet_workload_drop(w, "west");
	fleet_workload_drop(w, "north");
	assert_true(fleet_workload_is_gone(w));
	fleet_workload_destroy(w);
}

static void test_is_gone(void **state UNUSED)
{
	struct fleet_workload *w = fleet_workload_create(str_of(KEY));
	struct fleet_replica *r;

	(void)set(w, local("u", NULL, 1), 1);
	assert_false(fleet_workload_is_gone(w));
	r = fleet_workload_replica(w, "east");
	observe(w, r, "e", 1, 1);
	(void)set(w, NULL, 1);
	assert_false(fleet_workload_is_gone(w));
	/* It may be there still. */
	observe_unreachable(&r->seen);
	assert_false(fleet_workload_is_gone(w));
	fleet_workload_observe(w, r, NULL, 1, 1);
	assert_true(fleet_workload_is_gone(w));
	fleet_workload_destroy(w);
}

static void test_promises(void **state UNUSED)
{
	struct fleet_workload *w = fleet_workload_create(str_of(KEY));

	vec_push(&w->promised, xmalloc_dup("ns/a"));
	vec_push(&w->promised, xmalloc_dup("ns/b"));
	fleet_workload_forget_promises(w);
	assert_int_equal(w->promised.n, 0);
	vec_push(&w->promised, xmalloc_dup("ns/c"));
	fleet_workload_destroy(w);
}

/* By priority, where 0 is the one of a Workload without; then by age; those without a local object
 * last. */
static void test_order(void **state UNUSED)
{
	static const char *const rows[] = { "{'spec':{'priority':7}}", "{}",
					    "{'metadata':{'creationTimestamp':"
					    "'2027-01-01T00:00:00Z'},'spec':{'priority':0}}",
					    "{'spec':{'priority':-1}}", NULL };
	struct fleet_workload *w[ARRAY_LEN(rows)];

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		w[i] = fleet_workload_create(str_of("ns/w"));
		if (rows[i] != NULL) {
			struct sched_msg *m =
				fleet_fixture_object(SCHED_WORKLOADS, "ns/w", 1, rows[i]);

			assert_int_equal(fleet_workload_set_local(w[i], m, 0, NULL), 0);
			message_free(m);
		}
	}
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
			int r = fleet_workload_compare(&w[i], &w[k]);

			assert_int_equal((r > 0) - (r < 0), (i > k) - (i < k));
		}
	}
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		fleet_workload_destroy(w[i]);
	}
}

static void expect_waking(const struct heap *waking, const struct fleet_workload *w, int64_t at)
{
	assert_ptr_equal(heap_peek(waking), w);
	assert_int_equal(w->wake_at, at);
}

static void test_the_earliest_wakes_first(void **state UNUSED)
{
	struct fleet_workload *a = fleet_workload_create(STR_LIT("ns/a"));
	struct fleet_workload *b = fleet_workload_create(STR_LIT("ns/b"));
	struct heap waking;

	fleet_workload_init_waking(&waking);
	fleet_workload_set_wake(a, &waking, CLOCK_NEVER);
	assert_null(heap_peek(&waking));
	fleet_workload_set_wake(b, &waking, 3);
	fleet_workload_set_wake(a, &waking, 5);
	expect_waking(&waking, b, 3);
	fleet_workload_set_wake(b, &waking, 7);
	expect_waking(&waking, a, 5);
	fleet_workload_set_wake(a, &waking, 7); /* by name then */
	expect_waking(&waking, a, 7);
	fleet_workload_set_wake(a, &waking, CLOCK_NEVER);
	expect_waking(&waking, b, 7);
	fleet_workload_set_wake(b, &waking, CLOCK_NEVER);
	assert_null(heap_peek(&waking));
	heap_finish(&waking);
	fleet_workload_destroy(a);
	fleet_workload_destroy(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_new_one),
		cmocka_unit_test(test_lost_token_keeps_its_time),
		cmocka_unit_test(test_token_is_read),
		cmocka_unit_test(test_another_object_has_no_history),
		cmocka_unit_test(test_waits_for_its_token),
		cmocka_unit_test(test_waits_for_the_manager),
		cmocka_unit_test(test_waits_for_gates),
		cmocka_unit_test(test_answer_after_the_replica),
		cmocka_unit_test(test_write_ends_with_its_replica),
		cmocka_unit_test(test_replica_as_observed),
		cmocka_unit_test(test_evictions_of_variants),
		cmocka_unit_test(test_evictions_in_a_list),
		cmocka_unit_test(test_end_of_an_attempt),
		cmocka_unit_test(test_limit_of_variants),
		cmocka_unit_test(test_unreadable_variant),
		cmocka_unit_test(test_clock_set_back),
		cmocka_unit_test(test_drop),
		cmocka_unit_test(test_is_gone),
		cmocka_unit_test(test_promises),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_the_earliest_wakes_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
