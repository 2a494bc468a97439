/* Random worlds of the Workload engine and random events between cycles, from bytes: workloads come
 * and go, quota and cohorts are configured otherwise, workloads are evicted. The invariants hold
 * after each cycle, and equal bytes give equal decisions. */
#include <stdio.h>
#include <stdlib.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/xmalloc.h"
#include "lib/quota/quota_invariants.h"
#include "lib/quota/quota_random.h"
#include "scheduler/workloads/pending/pending.h"

#define STEPS_MAX 60
#define WORKLOADS_MAX 48

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct play {
	struct admission_cycle_fixture f;
	struct quota_random r;
	struct quota_random_shape shape;
	struct strbuf text, problems; /* the events; the violations */
};

static void run(struct play *p)
{
	CLEANUP(quota_invariants_excess_finish) struct quota_excess before;

	quota_invariants_excess(&p->f, &before);
	strbuf_printf(&p->text, "# %s\n", admission_cycle_fixture_run(&p->f));
	quota_invariants_check_run(&p->f, &before, &p->problems);
	p->f.w.now += CLOCK_NS_PER_S;
}

/* Capacity may be free anywhere, as after a change of what is configured. */
static void flush(struct play *p)
{
	for (uint32_t i = 0; i < p->f.w.q->nodes.n; i++) {
		if (p->f.w.q->nodes.v[i] != NULL) {
			pending_flush(p->f.w.q, p->f.w.f, i, p->f.w.now);
		}
	}
}

/* One more workload, or something is configured otherwise. */
static void add_text(struct play *p, bool is_edit)
{
	CLEANUP(strbuf_finish) struct strbuf more = STRBUF_INIT;

	if (is_edit) {
		quota_random_edit(&p->r, &more, p->shape);
	} else {
		quota_random_workload(&p->r, &more, p->shape.workloads++, p->shape.queues);
	}
	strbuf_printf(&p->text, "%s", more.p);
	admission_cycle_fixture_add(&p->f, more.p);
	flush(p);
}

static void delete (struct play *p, const struct workload *w)
{
	char *key = xmalloc_dup(w->key);

	strbuf_printf(&p->text, "# delete %s\n", key);
	admission_cycle_fixture_delete(&p->f, key);
	free(key);
}

static void touch_workload(struct play *p, bool evict)
{
	struct quota_model *q = p->f.w.q;
	struct workload *w = q->workloads.v[quota_random_below(&p->r, (unsigned)q->workloads.n)];

	if (w == NULL) {
		return;
	}
	if (!evict) {
		delete (p, w);
	} else if (w->holding.node != MODEL_NONE && !w->flags.evicted) {
		strbuf_printf(&p->text, "# evict %s\n", w->key);
		w->flags.evicted = true;
		w->flags.evicted_at = p->f.w.now;
	}
}

static void step(struct play *p)
{
	switch (quota_random_below(&p->r, 8)) {
	case 0:
		if (p->shape.workloads < WORKLOADS_MAX) {
			add_text(p, false);
		}
		break;
	case 1:
		touch_workload(p, false);
		break;
	case 2:
		add_text(p, true);
		break;
	case 3:
		touch_workload(p, true);
		break;
	case 4:
	case 5:
		strbuf_printf(&p->text, "# victims stop\n");
		admission_cycle_fixture_stop(&p->f, quota_random_below(&p->r, 2) == 1);
		break;
	default:
		run(p);
		break;
	}
	quota_invariants_check(&p->f, &p->problems);
}

/* All that happened goes to ret. */
static void play(const uint8_t *data, size_t size, struct strbuf *ret)
{
	struct play p = { .text = STRBUF_INIT, .problems = STRBUF_INIT };

	quota_random_bytes(&p.r, data, size);
	p.shape = quota_random_world(&p.r, &p.text);
	admission_cycle_fixture_init(&p.f, p.text.p);
	for (int i = 0; i < STEPS_MAX && p.r.n > 0 && p.problems.len == 0; i++) {
		step(&p);
	}
	if (p.problems.len > 0) {
		fprintf(stderr, "%s%s", p.text.p, p.problems.p);
		abort();
	}
	admission_cycle_fixture_finish(&p.f);
	strbuf_printf(ret, "%s", p.text.p);
	strbuf_finish(&p.text);
	strbuf_finish(&p.problems);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(strbuf_finish) struct strbuf first = STRBUF_INIT, second = STRBUF_INIT;

	play(data, size, &first);
	play(data, size, &second);
	if (!str_streq(first.p, second.p)) {
		fprintf(stderr, "%s--- and then:\n%s", first.p, second.p);
		abort();
	}
	return 0;
}
