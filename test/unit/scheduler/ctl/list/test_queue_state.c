/* Together with the scheduler it is in test/integration/test_ctl.c. */
#include "scheduler/ctl/list/queue_state.h"

#include "lib/unit.h"

#include <string.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "lib/folder.h"
#include "scheduler/ctl/cli/verb.h"
#include "scheduler/ctl/ctl.h"
#include "unit/scheduler/ctl/live_fixture.h"

static void test_exit_codes(void **state)
{
	static const struct {
		const char *line;
		int code;
	} rows[] = {
		{ "close", VERB_USAGE },
		{ "close --help", VERB_OK },
		{ "close queue", VERB_USAGE },
		{ "close queue a b", VERB_USAGE },
		{ "close queue ns/a", VERB_USAGE },
		{ "close localqueue a", VERB_USAGE },
		{ "close queue.kueue.x-k8s.io a", VERB_USAGE },
		{ "close cow a", VERB_USAGE },
		{ "close queue root", VERB_USAGE },
		{ "close queue a --dry-run=maybe", VERB_USAGE },
		{ "open", VERB_USAGE },
		{ "open --help", VERB_OK },
		{ "open queue", VERB_USAGE },
		{ "close queue a --kubeconfig=@missing", VERB_FAILED },
		{ "open queues.scheduling.volcano.sh a --kubeconfig=@missing", VERB_FAILED },
		{ "open q root --kubeconfig=@missing", VERB_FAILED },
	};
	struct folder folder;

	(void)state;
	folder_make(&folder);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf line = STRBUF_INIT, out = STRBUF_INIT;

		unit_row(rows[i].line);
		strbuf_printf(&line, "headgatectl %s", rows[i].line);
		assert_int_equal(folder_run(&folder, ctl_run, line.p, &out), rows[i].code);
	}
	folder_remove(&folder);
}

#define QUEUE(name, meta, spec, status)                                                            \
	"{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: " name meta     \
	"}, spec: {" spec "}, status: {" status "}}"
#define ALLOCATED ", allocated: {cpu: '3'}"
#define MARKED ", annotations: {volcano.sh/closed-by-parent: 'true', other: kept}"

/* No status is written yet. */
#define NEW_QUEUE                                                                                  \
	"{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: q" MARKED "}}"

static struct live_fixture f;

static int begin(void **state UNUSED)
{
	live_fixture_start(&f);
	return 0;
}

static int end(void **state UNUSED)
{
	live_fixture_stop(&f);
	return 0;
}

static struct jdoc *queue_now(void)
{
	return live_fixture_get(&f, "scheduling.volcano.sh", "queues", NULL, "q");
}

static void the_state_is_written_for_the_scheduler(void **state UNUSED)
{
	static const struct {
		const char *queue, *parent; /* states */
		const char *line, *says;
		const char *then; /* the state afterwards */
		int code;
	} rows[] = {
		{ "Open", "Open", "close queue q", "/q closed\n", "Closing", VERB_OK },
		{ "Open", "Closed", "close queue q", "/q closed\n", "Closing", VERB_OK },
		{ "Open", "Open", "close queue q --dry-run=client", "/q closed (dry run)\n", "Open",
		  VERB_OK },
		{ "Open", "Open", "close queue q --dry-run=server", "/q closed (server dry run)\n",
		  "Open", VERB_OK },
		{ "Closing", "Open", "close queue q", "/q is closed already\n", "Closing",
		  VERB_OK },
		{ "Closed", "Open", "close queue q", "/q is closed already\n", "Closed", VERB_OK },
		{ "Open", "Open", "open queue q", "/q is open already\n", "Open", VERB_OK },
		{ "Closed", "Open", "open queue q", "/q opened\n", "Open", VERB_OK },
		{ "Closing", "Open", "open queue q", "/q opened\n", "Open", VERB_OK },
		{ "Closed", "Open", "open queue q --dry-run=client", "/q opened (dry run)\n",
		  "Closed", VERB_OK },
		{ "Closed", "Closed", "open queue q",
		  "queue q: its parent, queue up, is Closed: open that one first", "Closed",
		  VERB_FAILED },
		{ "Closed", "Closing", "open queue q --dry-run=client",
		  "its parent, queue up, is Closing", "Closed", VERB_FAILED },
		{ "Closed", NULL, "open queue q", "queue q: spec.parent: ", "Closed", VERB_FAILED },
		{ "Closed", NULL, "close queue q", "/q is closed already\n", "Closed", VERB_OK },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf yaml = STRBUF_INIT;
		CLEANUP(jdoc_destroyp) struct jdoc *now = NULL;

		unit_row(rows[i].line);
		strbuf_printf(&yaml, QUEUE("up", "", "", "state: %s, allocated: {}") "\n---\n",
			      rows[i].parent == NULL ? "Open" : rows[i].parent);
		strbuf_printf(&yaml, QUEUE("q", "", "parent: %s", "state: %s" ALLOCATED),
			      rows[i].parent == NULL ? "gone" : "up", rows[i].queue);
		live_fixture_load(&f, yaml.p);
		assert_int_equal(live_fixture_run(&f, rows[i].line), rows[i].code);
		assert_non_null(strstr(f.out.p, rows[i].says));
		now = queue_now();
		assert_string_equal(jdoc_path_str(now, "status.state"), rows[i].then);
		assert_string_equal(jdoc_path_str(now, "status.allocated.cpu"), "3");
	}
}

/* Whatever the parent is called, there is one to look at; the root queue is always open. */
static void queues_below_the_root_need_no_parent(void **state UNUSED)
{
	static const char *const queues[] = {
		QUEUE("q", "", "", "state: Closed" ALLOCATED),
		QUEUE("q", "", "parent: ''", "state: Closed" ALLOCATED),
		QUEUE("q", "", "parent: root", "state: Closed" ALLOCATED),
	};

	for (size_t i = 0; i < ARRAY_LEN(queues); i++) {
		unit_row(queues[i]);
		live_fixture_load(&f, queues[i]);
		assert_int_equal(live_fixture_run(&f, "open queue q"), VERB_OK);
	}
}

static void the_mark_of_the_parent_goes_and_what_is_missing_comes(void **state UNUSED)
{
	static const struct {
		const char *queue, *line;
		bool marked;
	} rows[] = {
		{ QUEUE("q", MARKED, "", "state: Closed" ALLOCATED), "close queue q", false },
		{ QUEUE("q", MARKED, "", "state: Open" ALLOCATED), "open queue q", false },
		{ QUEUE("q", MARKED, "", "state: Closed" ALLOCATED), "open queue q", false },
		{ NEW_QUEUE, "close queue q", false },
		{ QUEUE("q", MARKED, "", "state: Open" ALLOCATED), "close queue q --dry-run=client",
		  true },
		{ QUEUE("q", MARKED, "", "state: Open" ALLOCATED), "close queue q --dry-run=server",
		  true },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(jdoc_destroyp) struct jdoc *now = NULL;
		const struct jdoc *annotations;

		unit_row(rows[i].line);
		live_fixture_load(&f, rows[i].queue);
		assert_int_equal(live_fixture_run(&f, rows[i].line), VERB_OK);
		now = queue_now();
		annotations = jdoc_path(now, "metadata.annotations");
		assert_int_equal(jdoc_get(annotations, "volcano.sh/closed-by-parent") != NULL,
				 rows[i].marked);
		assert_string_equal(jdoc_str(jdoc_get(annotations, "other")), "kept");
		assert_non_null(jdoc_path(now, "status.allocated"));
	}
}

/* The queue is read again, at most ten times; any other failure ends it. */
static void a_conflict_is_tried_again(void **state UNUSED)
{
	static const struct {
		const char *fault;
		int code;
		const char *then;
	} rows[] = {
		{ "[{fault: status, code: 409, method: PATCH, count: 9}]", VERB_OK, "Closing" },
		{ "[{fault: status, code: 409, method: PATCH, count: 10}]", VERB_FAILED, "Open" },
		{ "[{fault: status, code: 403, method: PATCH, count: 1}]", VERB_FAILED, "Open" },
		{ "[{fault: status, code: 403, method: GET, count: 1}]", VERB_FAILED, "Open" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(jdoc_destroyp) struct jdoc *now = NULL;

		unit_row(rows[i].fault);
		live_fixture_load(&f, QUEUE("q", "", "", "state: Open" ALLOCATED));
		live_fixture_fault(&f, rows[i].fault);
		assert_int_equal(live_fixture_run(&f, "close queue q"), rows[i].code);
		live_fixture_fault(&f, "[]");
		now = queue_now();
		assert_string_equal(jdoc_path_str(now, "status.state"), rows[i].then);
	}
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exit_codes),
		TEST(the_state_is_written_for_the_scheduler),
		TEST(queues_below_the_root_need_no_parent),
		TEST(the_mark_of_the_parent_goes_and_what_is_missing_comes),
		TEST(a_conflict_is_tried_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
