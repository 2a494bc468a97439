/* Scenarios of the Workload engine: manifests in, decisions out. Every
 * test/scenario/quota/NAME.yaml is one test, and an input of `headgatectl simulate` as well, which
 * ignores its first document:
 *
 *   kind: Scenario
 *   about: the rule, in one sentence
 *   config: a file with Kueue's configuration, in the same folder (absent: defaults)
 *   now: the time (absent: the youngest one)
 *   victimsStop: true: after each step victims stop and wait again
 *   steps: each deletes `delete` (KIND/NAMESPACE/NAME or KIND/NAME) and runs a cycle.
 *     expect: all its decisions in order, as text_of below writes them
 *     queues: {ClusterQueue: "heap | inadmissible"}, all of those with a Workload that waits
 *     shares: {"ClusterQueue/NAME": weighted share}
 *     statuses: {NAMESPACE/NAME: "Type=Status/Reason, ..."} */
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "enc/yaml.h"
#include "lib/unit.h"
#include "process/file.h"
#include "scenario/each_file.h"
#include "scheduler/ctl/sim/quota_lists.h"
#include "scheduler/ctl/sim/workload_simulation.h"
#include "scheduler/workloads/forest/share.h"
#include "scheduler/workloads/model/quota_store.h"

#define FOLDER "test/scenario/quota"

static void describe_flavors(const struct workload_step *s, struct strbuf *out)
{
	for (size_t i = 0; i < s->npodsets; i++) {
		const struct workload_step_podset *p = &s->podsets[i];

		strbuf_printf(out, "%s%s x%d", i == 0 ? "" : "; ", p->name, p->count);
		for (size_t k = 0; k < p->n; k++) {
			strbuf_printf(out, " %s=%s", p->v[k].resource, p->v[k].flavor);
		}
	}
}

/* "Admit W to QUEUE (main x1 cpu=default)", "Preempt V for W (REASON)", "Wait W (REASON, heap)" */
static void text_of(const struct workload_step *s, struct strbuf *out)
{
	switch (s->kind) {
	case QUOTA_DECIDE_ADMIT:
		strbuf_printf(out, "Admit %s to %s (", s->workload, s->queue);
		describe_flavors(s, out);
		strbuf_printf(out, "%s)", s->borrowing > 0 ? ", borrows" : "");
		break;
	case QUOTA_DECIDE_PREEMPT:
		strbuf_printf(out, "Preempt %s for %s (%s%s)", s->workload, s->by, s->reason,
			      s->ongoing ? ", ongoing" : "");
		break;
	case QUOTA_DECIDE_PENDING:
		strbuf_printf(out, "Wait %s (%s, %s)", s->workload, s->reason,
			      s->in_heap ? "heap" : "inadmissible");
		break;
	}
}

static void compare(const char *what, const char *want, const char *got)
{
	if (strcmp(want, got) != 0) {
		fail_msg("%s:\n  expected: %s\n  got:      %s", what, want, got);
	}
}

static void check_decisions(const struct workload_simulation *s, const struct jdoc *expect)
{
	CLEANUP(strbuf_finish) struct strbuf want = STRBUF_INIT;
	CLEANUP(strbuf_finish) struct strbuf got = STRBUF_INIT;
	size_t n;
	const struct workload_step *steps = workload_simulation_steps(s, &n);

	assert_int_equal(jdoc_kind(expect), JDOC_ARRAY);
	for (const struct jdoc *e = jdoc_first(expect); e != NULL; e = jdoc_next(e)) {
		strbuf_printf(&want, "\n    %s", jdoc_str_or(e, "?"));
	}
	for (size_t i = 0; i < n; i++) {
		if (steps[i].cycle == workload_simulation_cycles(s)) {
			strbuf_add_c(&got, "\n    ");
			text_of(&steps[i], &got);
		}
	}
	compare("decisions", want.p, got.p);
}

static void list(const struct quota_model *q, const struct cluster_queue *queue, bool heap,
		 struct strbuf *out)
{
	size_t n;
	const struct workload **v = quota_lists_waiting(q, queue, heap, &n);

	for (size_t i = 0; i < n; i++) {
		strbuf_printf(out, "%s%s", i == 0 ? "" : " ", v[i]->key);
	}
	free(v);
}

static void check_queues(const struct workload_simulation *s, const struct jdoc *expect)
{
	const struct quota_model *q = forest_model(workload_simulation_forest(s));
	size_t n;
	const struct quota_node **nodes = quota_lists_nodes(q, &n);

	for (size_t i = 0; i < n && expect != NULL; i++) {
		CLEANUP(strbuf_finish) struct strbuf got = STRBUF_INIT;

		if (!nodes[i]->is_queue) {
			continue;
		}
		list(q, nodes[i]->queue, true, &got);
		strbuf_add_c(&got, " | ");
		list(q, nodes[i]->queue, false, &got);
		compare(nodes[i]->name, jdoc_str_or(jdoc_get(expect, nodes[i]->name), " | "),
			got.p);
	}
	free(nodes);
}

static void check_shares(const struct workload_simulation *s, const struct jdoc *expect)
{
	const struct forest *f = workload_simulation_forest(s);

	for (const struct jdoc *e = jdoc_first(expect); e != NULL; e = jdoc_next(e)) {
		struct str name = str_of(jdoc_key(e)), kind = str_next(&name, '/');
		const struct quota_node *n = str_eq_c(kind, "ClusterQueue")
						     ? quota_queue_find(forest_model(f), name)
						     : quota_cohort_find(forest_model(f), name);

		assert_non_null(n);
		assert_int_equal(share_status(share_of(f, n->id, NULL)), jdoc_int(e, -1));
	}
}

static void check_statuses(const struct workload_simulation *s, const struct jdoc *expect)
{
	const struct quota_model *q = forest_model(workload_simulation_forest(s));

	for (const struct jdoc *e = jdoc_first(expect); e != NULL; e = jdoc_next(e)) {
		const struct workload *w = quota_workload_find(q, str_of(jdoc_key(e)));
		CLEANUP(strbuf_finish) struct strbuf got = STRBUF_INIT;
		const struct workload_status *status;

		assert_non_null(w);
		status = workload_simulation_status(s, w);
		for (size_t i = 0; i < status->conditions.n; i++) {
			strbuf_printf(&got, "%s%s=%s/%s", i == 0 ? "" : ", ",
				      status->conditions.v[i].type, status->conditions.v[i].status,
				      status->conditions.v[i].reason);
		}
		compare(jdoc_key(e), jdoc_str_or(e, "?"), got.p);
	}
}

static void delete_objects(struct workload_simulation *s, const struct jdoc *keys)
{
	for (const struct jdoc *k = jdoc_first(keys); k != NULL; k = jdoc_next(k)) {
		struct str key = str_of(jdoc_str(k)), kind = str_next(&key, '/');
		CLEANUP(xmalloc_freep) char *name = xmalloc_dup_n(kind.p, kind.len);
		enum sched_resource which;

		assert_true(sim_input_kind(name, &which));
		assert_true(workload_simulation_delete(s, which, key));
	}
}

static void run_steps(struct workload_simulation *s, const struct jdoc *head)
{
	const struct jdoc *steps = jdoc_get(head, "steps");
	bool stop = jdoc_bool(jdoc_get(head, "victimsStop"), false);

	assert_non_null(jdoc_first(steps));
	for (const struct jdoc *step = jdoc_first(steps); step != NULL; step = jdoc_next(step)) {
		print_message("step %u\n", workload_simulation_cycles(s) + 1);
		delete_objects(s, jdoc_get(step, "delete"));
		(void)workload_simulation_run_cycle(s);
		check_decisions(s, jdoc_get(step, "expect"));
		check_queues(s, jdoc_get(step, "queues"));
		check_shares(s, jdoc_get(step, "shares"));
		check_statuses(s, jdoc_get(step, "statuses"));
		if (stop) {
			(void)workload_simulation_stop_victims(s);
		}
	}
}

static int64_t now_of(const struct jdoc *head, const struct sim_input *in)
{
	const char *text = jdoc_str(jdoc_get(head, "now"));
	int64_t now = sim_input_youngest(in);

	if (text != NULL) {
		assert_int_equal(clock_parse_time(str_of(text), &now), 0);
	}
	return now;
}

static void fail_on(const char *path, const struct err *err)
{
	fail_msg("%s: %s", path, err->text);
}

/* NULL: the defaults. */
static struct jdoc *read_config(const struct jdoc *head)
{
	const char *name = jdoc_str(jdoc_get(head, "config"));
	CLEANUP(xmalloc_freep)
	char *path = xmalloc_printf("%s/%s", FOLDER, name == NULL ? "" : name);
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct jdoc *config = NULL;
	struct err err = ERR_INIT;

	assert_true(name != NULL || jdoc_get(head, "config") == NULL);
	if (name != NULL && (file_read_all(path, YAML_MAX_BYTES, &text, &err) < 0 ||
			     yaml_parse(strbuf_str(&text), &config, &err) < 0)) {
		fail_on(path, &err);
	}
	return config;
}

static void run_file(void **state)
{
	CLEANUP(xmalloc_freep) char *path = xmalloc_printf("%s/%s", FOLDER, (char *)*state);
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *documents = NULL;
	CLEANUP(jdoc_destroyp) struct jdoc *config = NULL;
	CLEANUP(sim_input_destroyp) struct sim_input *in = sim_input_create(NULL, NULL);
	CLEANUP(workload_simulation_destroyp) struct workload_simulation *s = NULL;
	struct workload_simulation_options opt = { .config = NULL };
	const struct jdoc *head;
	struct err err = ERR_INIT;

	if (file_read_all(path, YAML_MAX_BYTES, &text, &err) < 0 ||
	    yaml_parse_all(strbuf_str(&text), &documents, &err) < 0 ||
	    sim_input_add(in, path, strbuf_str(&text), &err) < 0) {
		fail_on(path, &err);
	}
	head = jdoc_first(documents);
	assert_true(jdoc_is_str(jdoc_get(head, "kind"), "Scenario"));
	assert_non_null(jdoc_str(jdoc_get(head, "about")));
	opt.config = config = read_config(head);
	opt.config_path = "config";
	opt.now = now_of(head, in);
	if (workload_simulation_create(in, &opt, &s, &err) < 0) {
		fail_on(path, &err);
	}
	run_steps(s, head);
}

int main(void)
{
	return each_file_run("quota_scenario", FOLDER, run_file);
}
