#include "scheduler/workloads/writes/queue_statuses_body.h"

#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "lib/unit.h"
#include "lib/workloads/admission_cycle_fixture.h"
#include "scheduler/workloads/writes/workload_counts.h"

#define HEAD(kind, metadata)                                                                       \
	"{\"apiVersion\":\"kueue.x-k8s.io/v1beta2\",\"kind\":\"" kind "\",\"metadata\":{" metadata \
	"},\"status\":{"
#define ACTIVE(status, reason, message)                                                            \
	"\"conditions\":[{\"type\":\"Active\",\"status\":\"" status "\",\"observedGeneration\":7," \
	"\"lastTransitionTime\":\"1970-01-01T00:01:00Z\",\"reason\":\"" reason                     \
	"\",\"message\":\"" message "\"}],"
#define COUNTS(pending, reserving, admitted)                                                       \
	"\"pendingWorkloads\":" pending ",\"reservingWorkloads\":" reserving                       \
	",\"admittedWorkloads\":" admitted
#define AMOUNT(list, amounts)                                                                      \
	",\"" list "\":[{\"name\":\"default\",\"resources\":[{\"name\":\"cpu\"," amounts "}]}]"
#define LOCAL(name) HEAD("LocalQueue", "\"namespace\":\"ns\",\"name\":\"" name "\"")
#define NONE                                                                                       \
	AMOUNT("flavorsReservation", "\"total\":\"0\"") AMOUNT("flavorsUsage", "\"total\":\"0\"")
#define NONE_BORROWED                                                                              \
	AMOUNT("flavorsReservation", "\"total\":\"0\",\"borrowed\":\"0\"")                         \
	AMOUNT("flavorsUsage", "\"total\":\"0\",\"borrowed\":\"0\"")

static const char world[] =
	"option fair_sharing=true\n"
	"cohort all\n"
	"queue team cohort=all\n"
	"queue held cohort=all stop=Hold\n"
	"queue lost cohort=all\n"
	"flavor gone missing\n"
	"quota team default cpu nominal=3\n"
	"quota held default cpu nominal=1\n"
	"quota lost gone cpu nominal=1\n"
	"quota cohort/all default cpu nominal=4\n"
	"local ns/team queue=team\n"
	"local ns/stopped queue=team stop=Hold\n"
	"local ns/held queue=held\n"
	"local ns/nowhere queue=absent\n"
	"workload ns/one queue=team local=team cpu=4500m holds=default reserved=-60s admitted\n"
	"workload ns/two queue=team local=team cpu=1 holds=default reserved=-60s\n"
	"workload ns/three queue=team local=team cpu=1\n";

static const struct {
	const char *what; /* with a namespace: a LocalQueue */
	bool active;
	const char *want;
} rows[] = {
	{ "team", true,
	  HEAD("ClusterQueue", "\"name\":\"team\"")
		  ACTIVE("True", "Ready", "Can admit new workloads") COUNTS("1", "2", "1")
			  AMOUNT("flavorsReservation", "\"total\":\"5500m\",\"borrowed\":\"2500m\"")
				  AMOUNT("flavorsUsage", "\"total\":\"4500m\",\"borrowed\":"
							 "\"1500m\"") ",\"fairSharing\":{"
								      "\"weightedShare\":278}}}" },
	{ "held", false,
	  HEAD("ClusterQueue", "\"name\":\"held\"")
		  ACTIVE("False", "Stopped", "Can't admit new workloads") COUNTS("0", "0", "0")
			  NONE_BORROWED ",\"fairSharing\":{\"weightedShare\":0}}}" },
	{ "ns/team", true,
	  LOCAL("team") ACTIVE("True", "Ready", "Can submit new workloads to the ClusterQueue")
		  COUNTS("1", "2", "1") AMOUNT("flavorsReservation", "\"total\":\"5500m\"")
			  AMOUNT("flavorsUsage", "\"total\":\"4500m\"") "}}" },
	{ "ns/stopped", false,
	  LOCAL("stopped") ACTIVE("False", "Stopped", "The LocalQueue is stopped")
		  COUNTS("0", "0", "0") NONE "}}" },
	{ "ns/held", false,
	  LOCAL("held") ACTIVE("False", "ClusterQueueIsInactive",
			       "Can't submit new workloads to the ClusterQueue")
		  COUNTS("0", "0", "0") NONE "}}" },
	{ "ns/nowhere", false,
	  LOCAL("nowhere") ACTIVE("False", "ClusterQueueDoesNotExist",
				  "Can't submit new workloads to the ClusterQueue")
		  COUNTS("0", "0", "0") "}}" },
	{ "cohort/all", false,
	  HEAD("Cohort", "\"name\":\"all\"") "\"fairSharing\":{\"weightedShare\":0}}}" },
};

/* Members come in any order. */
static void assert_same(const char *text, const char *want)
{
	CLEANUP(jdoc_destroyp) struct jdoc *is = NULL, *as = NULL;

	assert_int_equal(jdoc_parse(str_of(text), &is, NULL), 0);
	assert_int_equal(jdoc_parse(str_of(want), &as, NULL), 0);
	if (!jdoc_equal(is, as)) {
		fail_msg("%s\nis not\n%s", text, want);
	}
}

static void as_they_are_applied(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct workload_counts totals = { 0 };
	struct admission_cycle_fixture f;
	struct queue_statuses_body b = { .totals = &totals,
					 .generation = 7,
					 .since = 60 * CLOCK_NS_PER_S };

	(void)state;
	admission_cycle_fixture_init(&f, world);
	workload_counts_sum(&totals, f.w.q);
	b.forest = f.w.f;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct local_queue *l = quota_local_find(f.w.q, str_of(rows[i].what));
		const struct quota_node *n =
			l == NULL ? quota_world_node(&f.w, rows[i].what) : NULL;

		unit_row(rows[i].what);
		strbuf_reset(&text);
		if (l != NULL) {
			queue_statuses_body_local(&b, l, &text);
			assert_int_equal(queue_statuses_body_local_is_active(f.w.q, l),
					 rows[i].active);
		} else if (n->is_queue) {
			queue_statuses_body_queue(&b, n, &text);
			assert_int_equal(queue_statuses_body_is_active(n), rows[i].active);
		} else {
			queue_statuses_body_cohort(&b, n, &text);
		}
		assert_same(text.p, rows[i].want);
	}
	workload_counts_finish(&totals);
	admission_cycle_fixture_finish(&f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_they_are_applied),
	};

	return cmocka_run_group_tests_name("workloads/writes/queue_statuses_body", tests, NULL,
					   NULL);
}
