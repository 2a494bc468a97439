#include "webhook/server/review.h"

#include "lib/unit.h"

#include "base/arena.h"
#include "base/err.h"
#include "kube/reflector/reflector.h"
#include "obs/metric.h"
#include "webhook/admit/volcano/pod_mutate.h"
#include "webhook/admit/volcano/podgroup_validate.h"
#include "webhook/admit/volcano/queue_validate.h"
#include "webhook/server/lister.h"

#define REVIEW(object)                                                                             \
	"{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\",\"request\":{"       \
	"\"uid\":\"u\",\"operation\":\"CREATE\",\"namespace\":\"ns\",\"object\":" object "}}"
#define POD(annotations)                                                                           \
	REVIEW("{\"metadata\":{\"annotations\":{" annotations "}},\"spec\":{\"schedulerName\":"    \
	       "\"volcano\"}}")
#define OPT_IN "\"scheduling.volcano.sh/queue-allocation-gate\":\"true\""
#define IN(queue) "\"scheduling.volcano.sh/queue-name\":\"" queue "\""
#define PODGROUP(queue) REVIEW("{\"metadata\":{\"name\":\"g\"},\"spec\":{\"queue\":\"" queue "\"}}")
#define QUEUE(parent) REVIEW("{\"metadata\":{\"name\":\"q\"},\"spec\":{\"parent\":\"" parent "\"}}")

/* The queues that are known: "open" and "closed". */
static void see_queue(struct lister *l, const char *name, const char *object)
{
	const struct reflector_event event = { .kind = REFLECTOR_UPSERT,
					       .key = str_of(name),
					       .object = str_of(object) };

	lister_on_queue(l, &event);
}

/* A queue that is missing or not open may only be late in the watch; the caller looks it up. */
static void which_queue_is_looked_up(void **state)
{
	static const struct {
		admit_fn fn;
		const char *review;
		const char *queue; /* NULL: none */
		bool allowed, gated;
	} rows[] = {
		{ pod_mutate, POD(OPT_IN "," IN("open")), NULL, true, true },
		{ pod_mutate, POD(OPT_IN "," IN("closed")), "closed", true, true },
		{ pod_mutate, POD(OPT_IN "," IN("new")), "new", true, true },
		{ pod_mutate, POD(OPT_IN), "default", true, true },
		{ pod_mutate, POD(IN("new")), NULL, true, false },
		{ podgroup_validate, PODGROUP("open"), NULL, true, false },
		{ podgroup_validate, PODGROUP("closed"), "closed", false, false },
		{ podgroup_validate, PODGROUP("new"), "new", false, false },
		{ queue_validate, QUEUE("open"), NULL, true, false },
		{ queue_validate, QUEUE("new"), "new", false, false },
	};
	static const char *const names[] = { "volcano" };
	const struct admit_options options = { .scheduler_names = names,
					       .scheduler_count = 1,
					       .gate_feature = true,
					       .max_queue_depth = 5 };
	struct metric_registry *registry = metric_registry_create();
	struct lister *lister = lister_create(registry);
	const struct admit_view *view;

	(void)state;
	see_queue(lister, "open",
		  "{\"metadata\":{\"name\":\"open\"},\"status\":{\"state\":\"Open\"}}");
	see_queue(lister, "closed",
		  "{\"metadata\":{\"name\":\"closed\"},\"status\":{\"state\":\"Closed\"}}");
	view = lister_view(lister);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct arena *arena CLEANUP(arena_destroyp) = arena_create(0);
		struct admit_request q = { .options = &options, .view = view, .arena = arena };
		struct review_outcome ret = { 0 };

		unit_row(rows[i].review);
		assert_int_equal(review_run(rows[i].fn, &q, str_of(rows[i].review), &ret, NULL), 0);
		assert_int_equal(ret.allowed, rows[i].allowed);
		assert_int_equal(ret.gated, rows[i].gated);
		if (rows[i].queue == NULL) {
			assert_null(ret.unconfirmed_queue);
		} else {
			assert_string_equal(ret.unconfirmed_queue, rows[i].queue);
		}
	}
	lister_release(view);
	lister_destroy(lister);
	metric_registry_destroy(registry);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(which_queue_is_looked_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
