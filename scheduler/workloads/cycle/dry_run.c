#include "scheduler/workloads/cycle/dry_run.h"

#include "base/arena.h"
#include "scheduler/workloads/assign/assign_match.h"
#include "scheduler/workloads/cycle/admission_apply.h"
#include "scheduler/workloads/cycle/nomination.h"
#include "scheduler/workloads/cycle/process_entry.h"
#include "scheduler/workloads/forest/amount.h"
#include "scheduler/workloads/model/quota_store.h"

/* 1. The scan over flavors begins anew: a position that is left from a real cycle would hide the
 *    flavors before it.
 * 2. Nomination and decision are the daemon's own. The Workload is alone in its cycle, so
 *    nothing that others would take is missing.
 * 3. All usage that the decision has added or taken away is undone, and so is the scan. */
void dry_run_workload(const struct dry_run *t, struct workload *w, uint32_t node, struct entry *ret)
{
	struct nominate_context c = { .forest = t->forest,
				      .arena = t->arena,
				      .now = t->now,
				      .gone = t->gone,
				      .ngone = t->ngone };
	struct admission_decisions decisions = { NULL, 0, 0 };
	struct process p = { .forest = t->forest };
	size_t mark = forest_mark(t->forest);

	*ret = (struct entry){ .w = w, .node = node };
	vec_clear(&w->pending.tried);
	nomination(&c, ret);
	if (ret->status == ENTRY_NOMINATED) {
		process_entry_begin(&p, t->forest, t->arena, NULL, t->now, &decisions);
		process_entry_decide(&p, ret);
		process_entry_end(&p);
		process_entry_finish(&p);
	}
	vec_finish(&decisions);
	forest_undo(t->forest, mark);
	vec_clear(&w->pending.tried);
}

static const char *mismatch(const struct flavor *f, const struct podset *p, struct arena *arena)
{
	const struct taint *taint;

	if (!f->exists) {
		return "there is no such ResourceFlavor";
	}
	taint = assign_match_taint(f, p);
	if (taint != NULL) {
		return arena_printf(arena, "its pods do not tolerate the taint %s", taint->key);
	}
	return assign_match_labels(f, p)
		       ? NULL
		       : "its pods have a node selector or affinity for other labels";
}

int64_t dry_run_asked(const struct quota_model *q, const struct workload *w, uint32_t flavor,
		      uint32_t resource, struct arena *arena, const char **ret_why)
{
	const char *why = NULL;
	int64_t sum = 0;
	bool any = false;

	for (size_t i = 0; i < w->object.npodsets; i++) {
		const struct podset *p = &w->object.podsets[i];
		int64_t amount = admission_apply_amount(q, p, p->count, resource);

		/* A pod set that does not request the resource says nothing about the flavor. */
		if (amount == 0) {
			continue;
		}
		why = mismatch(q->flavors.v[flavor], p, arena);
		if (why == NULL) {
			sum = amount_add(sum, amount);
			any = true;
		}
	}
	*ret_why = any ? NULL : why;
	return sum;
}
