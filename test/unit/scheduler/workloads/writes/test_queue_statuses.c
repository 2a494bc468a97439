#include "scheduler/workloads/writes/queue_statuses.h"

#include <stdio.h>
#include <string.h>

#include "api/meta/meta.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "kube/pool.h"
#include "lib/net/fake_transport.h"
#include "lib/unit.h"
#include "lib/workloads/admission_cycle_fixture.h"
#include "scheduler/workloads/model/quota_store.h"

#define API "PATCH /apis/kueue.x-k8s.io/v1beta2/"
#define MANAGER "/status?fieldManager=headgate-quota-status&force=true"
#define TEAM API "clusterqueues/team" MANAGER
#define LOCAL API "namespaces/ns/localqueues/queue-team" MANAGER
#define USED "status.fairSharing.admissionFairSharingStatus."

static const char world[] =
	"cohort all\n"
	"queue team cohort=all\n"
	"quota team default cpu nominal=3\n"
	"quota cohort/all default cpu nominal=4\n"
	"workload ns/one queue=team cpu=4 holds=default reserved=-60s admitted\n"
	"workload ns/two queue=team cpu=1 holds=default reserved=-60s\n"
	"workload ns/three queue=team cpu=1\n";

struct fixture {
	struct admission_cycle_fixture q;
	struct clock_fake clock;
	struct fake_transport *transport;
	struct queue_statuses *status;
	int64_t due;
	bool news;  /* the last run had some */
	bool again; /* the last outcome asked for another run */
};

static void post(void *ctx, struct sched_msg *m)
{
	struct fixture *f = ctx;

	f->again = queue_statuses_done(f->status, m);
	message_free(m);
}

static void begin(struct fixture *f)
{
	struct pool_options base = { .backoff_min_ns = CLOCK_NS_PER_MS,
				     .backoff_max_ns = CLOCK_NS_PER_S,
				     .timeout_ns = CLOCK_NS_PER_S };

	memset(f, 0, sizeof(*f));
	admission_cycle_fixture_init(&f->q, world);
	clock_fake_init(&f->clock, 0);
	f->transport = fake_transport_create(&f->clock);
	base.transport = fake_transport_base(f->transport);
	base.clock = &f->clock.base;
	base.ctx = f;
	f->status = queue_statuses_create(&base, post);
}

static void end(struct fixture *f)
{
	queue_statuses_destroy(f->status);
	fake_transport_destroy(f->transport);
	admission_cycle_fixture_finish(&f->q);
}

static void run(struct fixture *f)
{
	clock_fake_advance(&f->clock, CLOCK_NS_PER_S);
	f->due = queue_statuses_run(
		f->status, f->q.w.f,
		&(struct queue_statuses_time){ f->q.w.now, clock_mono(&f->clock.base) }, &f->news);
	while (pool_step(queue_statuses_pool(f->status))) {
	}
}

static struct jdoc *expect(struct fixture *f, const char *line)
{
	uint64_t id = fake_transport_expect(f->transport, line);
	struct jdoc *d = NULL;

	assert_int_equal(jdoc_parse(fake_transport_body(f->transport, id), &d, NULL), 0);
	fake_transport_answer(f->transport, id, 200, "{\"metadata\":{\"resourceVersion\":\"1\"}}");
	return d;
}

static bool seen_at(struct fixture *f, enum sched_resource r, const char *key,
		    const char *resource_version)
{
	struct str name = str_of(key),
		   space = r == SCHED_LOCAL_QUEUES ? str_next(&name, '/') : name;
	CLEANUP(xmalloc_freep) char *namespace_ = xmalloc_dup_n(space.p, space.len);
	struct api_meta meta = { .name = name.p,
				 .namespace_ = namespace_,
				 .resource_version = resource_version,
				 .generation = 2 };

	return queue_statuses_seen(f->status, r, &meta, NULL);
}

static void seen(struct fixture *f, enum sched_resource r, const char *key)
{
	(void)seen_at(f, r, key, "1");
}

static const char *usage(const struct jdoc *d, const char *list, const char *member)
{
	const struct jdoc *flavor = jdoc_at(jdoc_get(jdoc_get(d, "status"), list), 0);

	return jdoc_path_str(jdoc_at(jdoc_get(flavor, "resources"), 0), member);
}

static int64_t count(const struct jdoc *d, const char *name)
{
	return jdoc_int(jdoc_get(jdoc_get(d, "status"), name), -1);
}

static void a_queue_says_what_it_holds(void **state)
{
	struct fixture f;
	struct jdoc *d;
	const struct jdoc *active;

	(void)state;
	begin(&f);
	seen(&f, SCHED_CLUSTER_QUEUES, "team");
	run(&f);
	d = expect(&f, TEAM);
	assert_int_equal(count(d, "pendingWorkloads"), 1);
	assert_int_equal(count(d, "reservingWorkloads"), 2);
	assert_int_equal(count(d, "admittedWorkloads"), 1);
	assert_string_equal(usage(d, "flavorsReservation", "total"), "5");
	assert_string_equal(usage(d, "flavorsReservation", "borrowed"), "2");
	assert_string_equal(usage(d, "flavorsUsage", "total"), "4");
	assert_string_equal(usage(d, "flavorsUsage", "borrowed"), "1");
	assert_null(jdoc_path(d, "status.fairSharing"));
	active = jdoc_at(jdoc_path(d, "status.conditions"), 0);
	assert_string_equal(jdoc_path_str(active, "status"), "True");
	assert_string_equal(jdoc_path_str(active, "reason"), "Ready");
	assert_int_equal(jdoc_int(jdoc_get(active, "observedGeneration"), 0), 2);
	jdoc_destroy(d);
	end(&f);
}

static void it_is_written_when_it_changed(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	seen(&f, SCHED_CLUSTER_QUEUES, "team");
	run(&f);
	jdoc_destroy(expect(&f, TEAM));
	seen(&f, SCHED_CLUSTER_QUEUES, "team");
	run(&f);
	fake_transport_expect_none(f.transport);
	admission_cycle_fixture_delete(&f.q, "two");
	run(&f);
	jdoc_destroy(expect(&f, TEAM));
	queue_statuses_gone(f.status, SCHED_CLUSTER_QUEUES, STR_LIT("team"));
	admission_cycle_fixture_delete(&f.q, "one");
	run(&f);
	fake_transport_expect_none(f.transport);
	end(&f);
}

static void a_local_queue_has_no_borrowing(void **state)
{
	struct fixture f;
	struct jdoc *d;

	(void)state;
	begin(&f);
	seen(&f, SCHED_LOCAL_QUEUES, "ns/queue-team");
	run(&f);
	d = expect(&f, LOCAL);
	assert_int_equal(count(d, "pendingWorkloads"), 1);
	assert_int_equal(count(d, "reservingWorkloads"), 2);
	assert_string_equal(usage(d, "flavorsUsage", "total"), "4");
	assert_null(usage(d, "flavorsUsage", "borrowed"));
	assert_string_equal(jdoc_path_str(d, "metadata.namespace"), "ns");
	assert_string_equal(jdoc_path_str(d, "metadata.name"), "queue-team");
	jdoc_destroy(d);
	end(&f);
}

static void another_first_resource(struct fixture *f)
{
	quota_world_node(&f->q.w, "team")->groups.v[0].resources[0] =
		quota_resource(f->q.w.q, STR_LIT("gpu"));
}

static void another_last_resource(struct fixture *f)
{
	struct resource_group *g = &quota_world_node(&f->q.w, "team")->groups.v[0];

	g->resources[g->nresources - 1] = quota_resource(f->q.w.q, STR_LIT("gpu"));
}

static void one_resource_less(struct fixture *f)
{
	quota_world_node(&f->q.w, "team")->groups.v[0].nresources--;
}

static void one_flavor_less(struct fixture *f)
{
	quota_world_node(&f->q.w, "team")->groups.v[0].nflavors--;
}

static void flavors_in_another_order(struct fixture *f)
{
	uint32_t *flavors = quota_world_node(&f->q.w, "team")->groups.v[0].flavors;
	uint32_t first = flavors[0];

	flavors[0] = flavors[1];
	flavors[1] = first;
}

static void one_more_pending(struct fixture *f)
{
	admission_cycle_fixture_add(&f->q, "workload ns/four queue=team cpu=1\n");
}

static void one_less_reserving(struct fixture *f)
{
	admission_cycle_fixture_delete(&f->q, "two");
}

static void one_less_admitted(struct fixture *f)
{
	admission_cycle_fixture_delete(&f->q, "one");
}

/* Each is written once: it is in the fingerprint, and the next run finds the same. */
static void all_changes_of_a_local_queue_are_written(void **state)
{
	static void (*const changes[])(struct fixture * f) = {
		another_first_resource, another_last_resource,    one_resource_less,
		one_flavor_less,        flavors_in_another_order, one_more_pending,
		one_less_reserving,     one_less_admitted,
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
		struct fixture f;

		print_message("%zu\n", i);
		begin(&f);
		quota_world_add(&f.q.w, "quota team default memory nominal=1\n"
					"quota team spot cpu nominal=1\n"
					"quota team spot memory nominal=1\n");
		seen(&f, SCHED_LOCAL_QUEUES, "ns/queue-team");
		run(&f);
		jdoc_destroy(expect(&f, LOCAL));
		run(&f);
		fake_transport_expect_none(f.transport);
		changes[i](&f);
		run(&f);
		jdoc_destroy(expect(&f, LOCAL));
		run(&f);
		fake_transport_expect_none(f.transport);
		end(&f);
	}
}

static void expect_reason(struct fixture *f, const char *line, const char *status,
			  const char *reason, const char *at)
{
	struct jdoc *d = expect(f, line);
	const struct jdoc *c = jdoc_at(jdoc_path(d, "status.conditions"), 0);

	assert_string_equal(jdoc_path_str(c, "status"), status);
	assert_string_equal(jdoc_path_str(c, "reason"), reason);
	if (at != NULL) {
		assert_string_equal(jdoc_path_str(c, "lastTransitionTime"), at);
	}
	jdoc_destroy(d);
}

/* Times of transition stay while the status does, over restarts as well. */
static void active_and_why_not(void **state)
{
	const struct api_condition before = { .type = "Active",
					      .status = "True",
					      .last_transition = 60 * CLOCK_NS_PER_S };
	const struct api_meta meta = { .name = "team", .generation = 1 };
	struct quota_node *team;
	struct fixture f;

	(void)state;
	begin(&f);
	team = quota_world_node(&f.q.w, "team");
	(void)queue_statuses_seen(f.status, SCHED_CLUSTER_QUEUES, &meta, &before);
	seen(&f, SCHED_LOCAL_QUEUES, "ns/queue-team");
	run(&f);
	expect_reason(&f, TEAM, "True", "Ready", "1970-01-01T00:01:00Z");
	expect_reason(&f, LOCAL, "True", "Ready", NULL);
	team->queue->stop = QUOTA_HOLD;
	cluster_queue_check(f.q.w.q, team);
	run(&f);
	expect_reason(&f, TEAM, "False", "Stopped", "2023-11-14T22:13:20Z");
	expect_reason(&f, LOCAL, "False", "ClusterQueueIsInactive", NULL);
	quota_local_find(f.q.w.q, STR_LIT("ns/queue-team"))->stop = QUOTA_HOLD;
	run(&f);
	expect_reason(&f, LOCAL, "False", "Stopped", NULL);
	end(&f);
}

static void answer(struct fixture *f, const char *version)
{
	char body[100];

	snprintf(body, sizeof(body), "{\"metadata\":{\"resourceVersion\":\"%s\"}}", version);
	fake_transport_answer(f->transport, fake_transport_expect(f->transport, TEAM), 200, body);
	while (pool_step(queue_statuses_pool(f->status))) {
	}
}

/* After a write of another client our fields are applied once more. If none of them was changed,
 * the object stays as it is, and there is no further write. */
static void fields_that_others_changed_are_corrected(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	assert_false(seen_at(&f, SCHED_CLUSTER_QUEUES, "team", "5"));
	run(&f);
	answer(&f, "6");
	assert_false(f.again);
	/* Our own write, and the version before it. */
	assert_false(seen_at(&f, SCHED_CLUSTER_QUEUES, "team", "5"));
	assert_false(seen_at(&f, SCHED_CLUSTER_QUEUES, "team", "6"));
	run(&f);
	fake_transport_expect_none(f.transport);
	assert_true(seen_at(&f, SCHED_CLUSTER_QUEUES, "team", "7"));
	run(&f);
	/* While our write is in flight, the change may be ours. */
	assert_false(seen_at(&f, SCHED_CLUSTER_QUEUES, "team", "8"));
	answer(&f, "8");
	assert_false(f.again);
	assert_true(seen_at(&f, SCHED_CLUSTER_QUEUES, "team", "9"));
	run(&f);
	assert_false(seen_at(&f, SCHED_CLUSTER_QUEUES, "team", "11"));
	answer(&f, "10");
	assert_true(f.again);
	run(&f);
	answer(&f, "11");
	assert_false(f.again);
	end(&f);
}

static void shares_only_with_fair_sharing(void **state)
{
	struct fixture f;
	struct jdoc *d;

	(void)state;
	begin(&f);
	seen(&f, SCHED_COHORTS, "all");
	run(&f);
	fake_transport_expect_none(f.transport);
	f.q.w.q->options.fair_sharing = true;
	seen(&f, SCHED_CLUSTER_QUEUES, "team");
	run(&f);
	for (size_t i = 0; i < 2; i++) {
		d = expect(&f, i == 0 ? TEAM : API "cohorts/all" MANAGER);
		/* 2 of 7 are borrowed; a root has no share. */
		assert_int_equal(jdoc_int(jdoc_path(d, "status.fairSharing.weightedShare"), -1),
				 i == 0 ? 286 : 0);
		jdoc_destroy(d);
	}
	end(&f);
}

/* Only resources that were sampled and are not zero, rounded to units that fit their size. */
static void consumed_resources_of_a_local_queue(void **state)
{
	struct fixture f;
	struct quota_consumed cpu, memory;
	struct local_queue *l;
	struct jdoc *d;

	(void)state;
	begin(&f);
	l = quota_local_find(f.q.w.q, STR_LIT("ns/queue-team"));
	cpu = (struct quota_consumed){ quota_world_resource(&f.q.w, "cpu"), 1250000001 };
	memory = (struct quota_consumed){ quota_world_resource(&f.q.w, "memory"),
					  (__int128)5000000 * 1000000000 + 1 };
	vec_push(&l->consumed, cpu);
	vec_push(&l->consumed, memory);
	l->sampled_at = 90 * CLOCK_NS_PER_S;
	seen(&f, SCHED_LOCAL_QUEUES, "ns/queue-team");
	run(&f);
	d = expect(&f, LOCAL);
	assert_null(jdoc_path(d, "status.fairSharing"));
	jdoc_destroy(d);
	f.q.w.q->options.admission_fair_sharing = true;
	run(&f);
	d = expect(&f, LOCAL);
	assert_int_equal(jdoc_int(jdoc_path(d, "status.fairSharing.weightedShare"), -1), 0);
	assert_string_equal(jdoc_path_str(d, USED "consumedResources.cpu"), "1250000001n");
	assert_string_equal(jdoc_path_str(d, USED "consumedResources.memory"), "5M");
	assert_string_equal(jdoc_path_str(d, USED "lastUpdate"), "1970-01-01T00:01:30Z");
	jdoc_destroy(d);
	run(&f);
	fake_transport_expect_none(f.transport);
	vec_clear(&l->consumed);
	run(&f);
	d = expect(&f, LOCAL);
	assert_null(jdoc_path(d, "status.fairSharing"));
	jdoc_destroy(d);
	end(&f);
}

/* --- few at a time -----------------------------------------------------------------------------*/

#define MANY 1000

/* "q0" and so on; those with a number below `busy` have a Workload that waits. */
static void add_many(struct fixture *f, size_t busy)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	char name[20];

	for (size_t i = 0; i < MANY; i++) {
		strbuf_printf(&text, "queue q%zu\n", i);
	}
	admission_cycle_fixture_add(&f->q, text.p);
	for (size_t i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "q%zu", i);
		seen(f, SCHED_CLUSTER_QUEUES, name);
	}
	for (size_t i = MANY - busy; i < MANY; i++) {
		strbuf_reset(&text);
		strbuf_printf(&text, "workload ns/first%zu queue=q%zu cpu=1\n", i, i);
		admission_cycle_fixture_add(&f->q, text.p);
	}
}

static void add_workload(struct fixture *f, const char *name, size_t queue)
{
	CLEANUP(xmalloc_freep)
	char *text = xmalloc_printf("workload ns/%s queue=q%zu cpu=1\n", name, queue);

	admission_cycle_fixture_add(&f->q, text);
}

/* Answers what was sent: to which queue goes to ret, in the order in which it was sent. */
static size_t answer_all(struct fixture *f, size_t *ret)
{
	size_t n = 0;

	while (fake_transport_pending(f->transport) > 0) {
		uint64_t id = fake_transport_expect_prefix(f->transport, API "clusterqueues/q");
		const char *url = fake_transport_request(f->transport, id)->url;
		struct str number = str_of(strstr(url, "/q") + 2);
		uint64_t value;

		assert_true(n < MANY);
		assert_true(str_to_u64(str_next(&number, '/'), &value));
		ret[n++] = value;
		fake_transport_answer(f->transport, id, 200,
				      "{\"metadata\":{\"resourceVersion\":\"1\"}}");
	}
	return n;
}

/* Answers until nothing is left; each status is written once. Returns the number of portions. */
static size_t run_all(struct fixture *f, size_t at_most)
{
	CLEANUP(xmalloc_freep) bool *written = xmalloc_zero(MANY, sizeof(*written));
	size_t portions = 0, sum = 0, sent[MANY];

	do {
		size_t n;

		run(f);
		n = answer_all(f, sent);
		assert_true(n <= at_most);
		for (size_t i = 0; i < n; i++) {
			assert_false(written[sent[i]]);
			written[sent[i]] = true;
		}
		sum += n;
		portions++;
	} while (f->due != CLOCK_NEVER);
	assert_int_equal(sum, MANY);
	return portions;
}

static void many_statuses_are_written_in_portions(void **state)
{
	size_t sent[MANY];
	struct fixture f;

	(void)state;
	begin(&f);
	add_many(&f, 3);
	run(&f);
	assert_true(f.news);
	/* While they are in flight no further statuses are handed out. */
	assert_false(queue_statuses_is_idle(f.status));
	assert_int_equal(answer_all(&f, sent), 32);
	assert_true(queue_statuses_is_idle(f.status));
	assert_int_equal(sent[0], MANY - 3);
	assert_int_equal(sent[2], MANY - 1);
	assert_int_equal(sent[3], 0);
	while (f.due != CLOCK_NEVER) {
		run(&f);
		(void)answer_all(&f, sent);
	}
	run(&f);
	assert_false(f.news);
	fake_transport_expect_none(f.transport);
	for (size_t i = 0; i < MANY; i++) {
		CLEANUP(xmalloc_freep) char *name = xmalloc_printf("second%zu", i);

		add_workload(&f, name, i);
	}
	assert_true(run_all(&f, 16) >= MANY / 16);
	end(&f);
}

/* Counts that change all the time: four statuses are sent at once, and all objects take their turn.
 */
static void every_status_takes_its_turn(void **state)
{
	unsigned times[12] = { 0 };
	size_t sent[MANY];
	struct fixture f;

	(void)state;
	begin(&f);
	for (size_t i = 0; i < ARRAY_LEN(times); i++) {
		CLEANUP(xmalloc_freep) char *name = xmalloc_printf("q%zu", i);
		CLEANUP(xmalloc_freep) char *text = xmalloc_printf("queue %s\n", name);

		admission_cycle_fixture_add(&f.q, text);
		seen(&f, SCHED_CLUSTER_QUEUES, name);
	}
	do {
		run(&f);
		(void)answer_all(&f, sent);
	} while (f.due != CLOCK_NEVER);
	for (size_t round = 0; round < 3; round++) {
		for (size_t i = 0; i < ARRAY_LEN(times); i++) {
			CLEANUP(xmalloc_freep)
			char *name = xmalloc_printf("w%zu-%zu", round, i);

			add_workload(&f, name, i);
		}
		run(&f);
		assert_int_equal(answer_all(&f, sent), 4);
		for (size_t i = 0; i < 4; i++) {
			times[sent[i]]++;
		}
	}
	for (size_t i = 0; i < ARRAY_LEN(times); i++) {
		unit_row_number(i);
		assert_int_equal(times[i], 1);
	}
	end(&f);
}

/* A status that changes while it waits is written as it is when it is sent; urgent ones go first,
 * the others keep their turn. */
static void urgent_statuses_go_first(void **state)
{
	size_t sent[MANY], n, before;
	struct fixture f;

	(void)state;
	begin(&f);
	add_many(&f, 0);
	(void)run_all(&f, 32);
	for (size_t i = 0; i < MANY; i++) {
		CLEANUP(xmalloc_freep) char *name = xmalloc_printf("w%zu", i);

		add_workload(&f, name, i);
	}
	run(&f);
	before = answer_all(&f, sent);
	assert_int_equal(sent[0], 0);
	quota_world_node(&f.q.w, "q990")->queue->stop = QUOTA_HOLD;
	cluster_queue_check(f.q.w.q, quota_world_node(&f.q.w, "q990"));
	add_workload(&f, "again", 0);
	run(&f);
	n = answer_all(&f, sent);
	assert_true(f.news);
	assert_int_equal(sent[0], 990);
	assert_int_equal(sent[1], before);
	while (f.due != CLOCK_NEVER) {
		run(&f);
		before = n;
		n = answer_all(&f, sent);
	}
	n = n > 0 ? n : before;
	/* The round ends with the one that changed again behind it. */
	assert_int_equal(sent[n - 1], 0);
	end(&f);
}

/* Counts are written once a second; the time of the next write is reported. */
static void not_too_often(void **state)
{
	struct queue_statuses_time at;
	struct fixture f;

	(void)state;
	begin(&f);
	seen(&f, SCHED_CLUSTER_QUEUES, "team");
	run(&f);
	jdoc_destroy(expect(&f, TEAM));
	at = (struct queue_statuses_time){ f.q.w.now, clock_mono(&f.clock.base) + 1 };
	admission_cycle_fixture_delete(&f.q, "two");
	assert_int_equal(queue_statuses_run(f.status, f.q.w.f, &at, &f.news),
			 at.mono - 1 + CLOCK_NS_PER_S);
	assert_false(pool_step(queue_statuses_pool(f.status)));
	at.mono += CLOCK_NS_PER_S - 1;
	assert_int_equal(queue_statuses_run(f.status, f.q.w.f, &at, &f.news), CLOCK_NEVER);
	assert_true(pool_step(queue_statuses_pool(f.status)));
	jdoc_destroy(expect(&f, TEAM));
	end(&f);
}

/* A retry sends the status of now, not that of the first attempt. */
static void a_retry_computes_the_status_again(void **state)
{
	struct jdoc *d;
	struct fixture f;

	(void)state;
	begin(&f);
	seen(&f, SCHED_CLUSTER_QUEUES, "team");
	run(&f);
	fake_transport_answer(f.transport, fake_transport_expect(f.transport, TEAM), 500, "{}");
	assert_true(queue_statuses_is_idle(f.status));
	admission_cycle_fixture_delete(&f.q, "two");
	run(&f);
	assert_true(f.news);
	d = expect(&f, TEAM);
	assert_int_equal(count(d, "reservingWorkloads"), 1);
	jdoc_destroy(d);
	run(&f);
	fake_transport_expect_none(f.transport);
	end(&f);
}

/* A missing right may be granted later, without any change of the queue: the write is repeated. */
static void a_refused_status_is_sent_again(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	seen(&f, SCHED_CLUSTER_QUEUES, "team");
	run(&f);
	fake_transport_answer(f.transport, fake_transport_expect(f.transport, TEAM), 403, "{}");
	for (int i = 0; i < 5; i++) {
		run(&f);
	}
	jdoc_destroy(expect(&f, TEAM));
	run(&f);
	fake_transport_expect_none(f.transport);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_queue_says_what_it_holds),
		cmocka_unit_test(it_is_written_when_it_changed),
		cmocka_unit_test(a_local_queue_has_no_borrowing),
		cmocka_unit_test(all_changes_of_a_local_queue_are_written),
		cmocka_unit_test(active_and_why_not),
		cmocka_unit_test(fields_that_others_changed_are_corrected),
		cmocka_unit_test(shares_only_with_fair_sharing),
		cmocka_unit_test(consumed_resources_of_a_local_queue),
		cmocka_unit_test(many_statuses_are_written_in_portions),
		cmocka_unit_test(every_status_takes_its_turn),
		cmocka_unit_test(urgent_statuses_go_first),
		cmocka_unit_test(not_too_often),
		cmocka_unit_test(a_retry_computes_the_status_again),
		cmocka_unit_test(a_refused_status_is_sent_again),
	};

	return cmocka_run_group_tests_name("workloads/writes/queue_statuses", tests, NULL, NULL);
}
