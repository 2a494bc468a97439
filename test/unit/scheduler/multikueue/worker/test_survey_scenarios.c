/* A survey of an API server in virtual time that has the objects of a scenario: the victims are
 * those that the scenario itself expects of a cycle. */
#include "scheduler/multikueue/worker/survey.h"

#include <string.h>

#include "lib/unit.h"

#include "apiserver/apiserver.h"
#include "apiserver/manifests.h"
#include "apiserver/mem_transport.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "kube/transport.h"
#include "process/file.h"
#include "scheduler/ctl/sim/sim_files.h"
#include "scheduler/workloads/conf/kueue_conf.h"

#define FOLDER "test/scenario/quota/"

struct worker {
	struct clock_fake clock;
	struct apiserver *server;
	struct mem_transport *m;
	struct kueue_conf *conf;
	struct survey *survey;
	struct survey_answer *answer;
};

static void on_done(void *ctx, struct survey_answer *answer)
{
	struct worker *w = ctx;

	assert_null(w->answer);
	w->answer = answer;
}

static void read_config(struct worker *w, const char *file)
{
	CLEANUP(jdoc_destroyp) struct jdoc *config = NULL;

	if (file != NULL) {
		assert_int_equal(sim_files_read_document(file, &config, NULL), 0);
	}
	assert_int_equal(kueue_conf_read(config, NULL, NULL, &w->conf, NULL), 0);
}

/* The first document is about the scenario. An API server wants messages of conditions. */
static void read_manifests(const char *file, struct strbuf *out)
{
	static const char before[] = "\n    lastTransitionTime";
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	const char *at, *next;

	assert_int_equal(file_read_all(file, 1 << 20, &text, NULL), 0);
	at = strstr(text.p, "\n---\n");
	assert_non_null(at);
	for (at += 5; (next = strstr(at, before)) != NULL; at = next + 1) {
		strbuf_add(out, at, (size_t)(next - at));
		strbuf_add_c(out, "\n    message: \"\"\n");
	}
	strbuf_add_c(out, at);
}

static void load(struct worker *w, const char *file)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	int64_t now = clock_wall(&w->clock.base);
	struct err err = ERR_INIT;

	read_manifests(file, &text);
	if (manifests_load_dir(w->server, "charts/headgate/files/crds/quota", now, &err) < 0 ||
	    apiserver_load(w->server, strbuf_str(&text), now, &err) < 0) {
		fail_msg("%s: %s", file, err.text);
	}
}

static void begin(struct worker *w, const char *file, const char *config)
{
	struct apiserver_options opt = { .seed = 1 };

	*w = (struct worker){ .answer = NULL };
	clock_fake_init(&w->clock, INT64_C(1768471200) * CLOCK_NS_PER_S); /* 10 o'clock */
	opt.now = clock_wall(&w->clock.base);
	w->server = apiserver_create(&opt);
	w->m = mem_transport_create(w->server, &w->clock);
	read_config(w, config);
	load(w, file);
}

static void end(struct worker *w)
{
	survey_destroy(w->survey);
	survey_answer_destroy(w->answer);
	transport_destroy(mem_transport_base(w->m));
	apiserver_destroy(w->server);
	kueue_conf_destroy(w->conf);
}

static void start(struct worker *w, const struct survey_want *wants, size_t n)
{
	const struct survey_options opt = { .transport = mem_transport_base(w->m),
					    .clock = &w->clock.base,
					    .conf = w->conf,
					    .on_done = on_done,
					    .ctx = w };

	w->survey = survey_start(&opt, wants, n);
}

static void test_scenarios(void **state)
{
	static const struct {
		const char *file, *config, *preemptor, *victim;
	} rows[] = {
		{ "preemption_gate.yaml", "config/preemption_gates.yaml", "team/gated",
		  "team/low" },
		{ "priority_boost.yaml", "config/priority_boost.yaml", "team/waiting",
		  "team/plain" },
		{ "preemption_cost.yaml", NULL, "team/high", "team/never-preempted" },
		{ "fair_sharing_preemption.yaml", "config/fair_sharing.yaml", "team/b1",
		  "team/a4" },
		{ "borrow_within_cohort_threshold.yaml", NULL, "team/a1", "team/b-best-effort" },
		{ "reclaim_within_cohort_any.yaml", NULL, "team/a1", "team/b2" },
		{ "overlapping_victims.yaml", NULL, "team/b1", "team/c1" },
		{ "reclaim_within_cohort_never.yaml", NULL, "team/a1", NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
		const struct survey_want want = { .key = rows[i].preemptor };
		const struct price *p;
		struct worker w;

		unit_row(rows[i].file);
		begin(&w, arena_printf(arena, FOLDER "%s", rows[i].file),
		      rows[i].config == NULL ? NULL
					     : arena_printf(arena, FOLDER "%s", rows[i].config));
		start(&w, &want, 1);
		mem_transport_run(w.m, 1000);
		assert_string_equal(w.answer->err.text, "");
		assert_int_equal(w.answer->bad, 0);
		p = &w.answer->prices[0].price;
		if (rows[i].victim == NULL) {
			assert_int_equal(p->verdict, PRICE_CANNOT);
		} else {
			assert_int_equal(p->verdict, PRICE_PREEMPTS);
			assert_int_equal(p->n, 1);
			assert_string_equal(p->victims[0].key, rows[i].victim);
		}
		end(&w);
	}
}

/* From 9 o'clock, when it was admitted, to 10 o'clock, when the gated one came. */
static void test_cost(void **state)
{
	const struct survey_want want = { .key = "team/gated" };
	struct worker w;

	(void)state;
	begin(&w, FOLDER "preemption_gate.yaml", FOLDER "config/preemption_gates.yaml");
	start(&w, &want, 1);
	mem_transport_run(w.m, 1000);
	assert_int_equal(w.answer->prices[0].price.cost, 3600 + 60 + 30);
	end(&w);
}

static void test_a_worker_that_hangs(void **state)
{
	const struct survey_want want = { .key = "team/gated" };
	struct worker w;

	(void)state;
	begin(&w, FOLDER "preemption_gate.yaml", FOLDER "config/preemption_gates.yaml");
	start(&w, &want, 1);
	assert_int_equal(mem_transport_run(w.m, 1), 1); /* no request reaches the server */
	clock_fake_advance(&w.clock, SURVEY_LIMIT_NS);
	for (size_t i = mem_transport_ready(w.m); i > 0; i--) {
		if (mem_transport_peek(w.m, i - 1)->kind == MEM_STEP_TIMEOUT) {
			mem_transport_step(w.m, i - 1);
			break;
		}
	}
	assert_non_null(w.answer);
	assert_int_equal(w.answer->err.code, ERR_TIMEOUT);
	mem_transport_run(w.m, 1000);
	end(&w);
}

/* One connection is cut. */
static void test_a_lost_answer(void **state)
{
	const struct survey_want want = { .key = "team/gated" };
	struct worker w;

	(void)state;
	begin(&w, FOLDER "preemption_gate.yaml", FOLDER "config/preemption_gates.yaml");
	start(&w, &want, 1);
	assert_int_equal(mem_transport_run(w.m, 1), 1);
	assert_true(mem_transport_ready(w.m) > 1);
	mem_transport_lose(w.m, 0);
	mem_transport_run(w.m, 1000);
	assert_int_equal(w.answer->err.code, ERR_IO);
	assert_int_equal(mem_transport_in_flight(w.m), 0);
	end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scenarios),
		cmocka_unit_test(test_cost),
		cmocka_unit_test(test_a_worker_that_hangs),
		cmocka_unit_test(test_a_lost_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
