/* An API server that fails for a while in every scripted way: the final state is the same each
 * time, without a breach of the oracle. */
#include "lib/unit.h"

#include <signal.h>
#include <stdio.h>

#include "base/attrs.h"
#include "base/xmalloc.h"
#include "play/scene.h"

#define PODS "/api/v1/namespaces/default/pods/f"
#define WORKERS 4

/* A script of faults, and when it is given to the API server. */
struct trouble {
	const char *kind; /* a fault of this kind must have struck */
	const char *script;
	bool late;    /* only when the pods are there: it would hit the test, too */
	bool restart; /* watches are as they were opened: the scheduler opens new ones */
};

#define WATCHES(fault, rest)                                                                       \
	"[{fault: " fault ", method: WATCH, path: '/api/v1/pods', " rest "}, {fault: " fault       \
	", method: WATCH, path: '/apis/scheduling.*', " rest "}]"

static const struct trouble gate_500 = { "status",
					 "[{fault: status, code: 500, method: PATCH, path: '" PODS
					 "[0-9]$', count: 6}]",
					 false, false };
static const struct trouble gate_dropped_before = {
	"drop-before", "[{fault: drop-before, method: PATCH, path: '" PODS "[0-9]$', count: 6}]",
	false, false
};
static const struct trouble gate_dropped_after = {
	"drop-after", "[{fault: drop-after, method: PATCH, path: '" PODS "[0-9]$', count: 6}]",
	false, false
};
static const struct trouble gate_500_after = {
	"status-after",
	"[{fault: status-after, code: 504, method: PATCH, path: '" PODS "[0-9]$', count: 6}]",
	false, false
};
static const struct trouble bind_500 = { "status",
					 "[{fault: status, code: 500, method: POST, path: '" PODS
					 ".*binding', count: 4}]",
					 false, false };
static const struct trouble bind_dropped_before = {
	"drop-before", "[{fault: drop-before, method: POST, path: '" PODS ".*binding', count: 4}]",
	false, false
};
static const struct trouble bind_dropped_after = { "drop-after",
						   "[{fault: drop-after, method: POST, path: '" PODS
						   ".*binding', count: 4}]",
						   false, false };
static const struct trouble status_dropped = { "drop-after",
					       "[{fault: drop-after, method: PATCH, path: '" PODS
					       "s/status', count: 3}]",
					       false, false };
static const struct trouble status_500 = { "status",
					   "[{fault: status, code: 500, method: PATCH, path: '" PODS
					   "s/status', count: 3}]",
					   false, false };
static const struct trouble too_many = {
	"status",
	"[{fault: status, code: 429, retryAfter: 1, method: PATCH, path: '" PODS
	"[0-9]$', count: 3},"
	" {fault: status, code: 429, retryAfter: 1, method: POST, path: '" PODS
	".*binding', count: 2}]",
	false, false
};
static const struct trouble all_500 = {
	"status", "[{fault: status, code: 500, path: '/api(/v1|s/scheduling)', count: 40}]", true,
	false
};
static const struct trouble all_dropped = {
	"drop-before", "[{fault: drop-before, path: '/api(/v1|s/scheduling)', count: 40}]", true,
	false
};
static const struct trouble every_third_dropped = {
	"drop-after", "[{fault: drop-after, path: '/api(/v1|s/scheduling)', every: 3, count: 30}]",
	true, false
};
static const struct trouble watch_truncated = { "watch-truncate",
						WATCHES("watch-truncate", "frame: 2, count: 4"),
						false, true };
static const struct trouble watch_closed = { "watch-close",
					     WATCHES("watch-close", "frame: 1, count: 6"), false,
					     true };
static const struct trouble watch_duplicated = { "watch-duplicate",
						 WATCHES("watch-duplicate", "frame: 2, count: 4"),
						 false, true };
static const struct trouble watch_late = { "watch-late",
					   WATCHES("watch-late", "delayMs: 300, count: 2"), false,
					   true };
static const struct trouble watch_gone = { "watch-gone",
					   WATCHES("watch-gone", "frame: 2, count: 4"), false,
					   true };
static const struct trouble compacted = {
	"compact",
	"[{fault: watch-close, method: WATCH, path: '/api', frame: 2, count: 8, every: 2},"
	" {fault: compact, method: WATCH, path: '/api(/v1|s/scheduling)', count: 6}]",
	false, true
};

static struct scene scene;

static int begin(void **state UNUSED)
{
	const struct scene_options opt = { 0 };

	scene_start(&scene, &opt);
	scene_add_queue(&scene, "faulty", NULL, "2", NULL);
	scene_add_queue(&scene, "stuck", NULL, "1", NULL);
	return 0;
}

static int end(void **state UNUSED)
{
	scene_stop(&scene);
	return 0;
}

static int after_each(void **state UNUSED)
{
	scene_clear(&scene);
	return 0;
}

static void create(struct scene *s)
{
	char name[16];
	struct scene_pod p = { .name = "fs", .queue = "stuck", .cpu = "1", .pool = "none" };

	scene_add_pod(s, &p);
	p = (struct scene_pod){ .name = name, .queue = "faulty", .cpu = "1", .runs_for = "50ms" };
	for (unsigned i = 0; i < WORKERS; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		scene_add_pod(s, &p);
	}
}

static void test_trouble(void **state)
{
	const struct trouble *t = *state;
	struct scene *s = &scene;
	char name[16];

	if (!t->late) {
		scene_faults(s, t->script);
	}
	if (t->restart) {
		scene_restart_scheduler(s, NULL, NULL);
	}
	if (t->late && !stack_is_external()) {
		/* Else it might have done all its work before the faults are there. */
		assert_true(stack_signal(s->stack, STACK_SCHEDULER, SIGSTOP));
	}
	create(s);
	if (t->late) {
		scene_faults(s, t->script);
		assert_true(stack_signal(s->stack, STACK_SCHEDULER, SIGCONT));
	}
	for (unsigned i = 0; i < WORKERS; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		scene_wait(s, name, SCENE_SUCCEEDED);
	}
	scene_wait(s, "fs", SCENE_PUBLISHED);
	assert_true(scene_faults_struck(s, t->kind) > 0);
}

#define TROUBLE(what)                                                                              \
	{                                                                                          \
		.name = "test_" #what, .test_func = test_trouble, .teardown_func = after_each,     \
		.initial_state = (void *)(uintptr_t) & (what)                                      \
	}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TROUBLE(gate_500),
		TROUBLE(gate_dropped_before),
		TROUBLE(gate_dropped_after),
		TROUBLE(gate_500_after),
		TROUBLE(bind_500),
		TROUBLE(bind_dropped_before),
		TROUBLE(bind_dropped_after),
		TROUBLE(status_500),
		TROUBLE(status_dropped),
		TROUBLE(too_many),
		TROUBLE(all_500),
		TROUBLE(all_dropped),
		TROUBLE(every_third_dropped),
		TROUBLE(watch_truncated),
		TROUBLE(watch_closed),
		TROUBLE(watch_duplicated),
		TROUBLE(watch_late),
		TROUBLE(watch_gone),
		TROUBLE(compacted),
	};

	cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
	return cmocka_run_group_tests(tests, begin, end);
}
