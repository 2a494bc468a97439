#include "api/kueue_defaults.h"

#include "api/kueue.h"
#include "api/kueue_keys.h"
#include "api/kueue_workload.h"

static const struct quantity one = { 1000000000, QUANTITY_DECIMAL_SI };

static void text(const char **at, const char *value)
{
	if (*at == NULL || (*at)[0] == '\0') {
		*at = value;
	}
}

static void weight(struct api_fair_sharing *f)
{
	if (f->weight == NULL) {
		f->weight = &one;
	}
}

static void fungibility(const char **at, const char *value)
{
	text(at, value);
	if (str_streq(*at, "Borrow") || str_streq(*at, "Preempt")) {
		*at = KUEUE_MAY_STOP_SEARCH;
	}
}

void kueue_defaults_cluster_queue(struct api_cluster_queue *cq)
{
	struct api_cluster_queue_spec *s = &cq->spec;

	text(&s->queueing_strategy, KUEUE_BEST_EFFORT_FIFO);
	fungibility(&s->flavor_fungibility.when_can_borrow, KUEUE_MAY_STOP_SEARCH);
	fungibility(&s->flavor_fungibility.when_can_preempt, KUEUE_TRY_NEXT_FLAVOR);
	text(&s->preemption.reclaim_within_cohort, KUEUE_NEVER);
	text(&s->preemption.borrow_within_cohort.policy, KUEUE_NEVER);
	text(&s->preemption.within_cluster_queue, KUEUE_NEVER);
	text(&s->stop_policy, KUEUE_STOP_NONE);
	weight(&s->fair_sharing);
}

void kueue_defaults_cohort(struct api_cohort *cohort)
{
	weight(&cohort->spec.fair_sharing);
}

void kueue_defaults_local_queue(struct api_local_queue *lq)
{
	text(&lq->spec.stop_policy, KUEUE_STOP_NONE);
	weight(&lq->spec.fair_sharing);
}

static int32_t count_of(const struct api_workload *w, const char *pod_set)
{
	for (size_t i = 0; i < w->spec.pod_sets.n; i++) {
		if (str_streq(w->spec.pod_sets.v[i].name, pod_set)) {
			return w->spec.pod_sets.v[i].count;
		}
	}
	return 0;
}

static void assignments(struct api_workload *w)
{
	for (size_t i = 0; i < w->status.admission->assignments.n; i++) {
		struct api_pod_set_assignment *a = &w->status.admission->assignments.v[i];

		text(&a->name, "main");
		if (a->count == FIELD_NO_I32) {
			a->count = count_of(w, a->name);
		}
	}
}

void kueue_defaults_workload(struct api_workload *w)
{
	if (w->spec.active == FIELD_TRI_ABSENT) {
		w->spec.active = 1;
	}
	if (w->spec.priority == FIELD_NO_I32) {
		w->spec.priority = 0;
	}
	for (size_t i = 0; i < w->spec.pod_sets.n; i++) {
		text(&w->spec.pod_sets.v[i].name, "main");
		if (w->spec.pod_sets.v[i].count == FIELD_NO_I32) {
			w->spec.pod_sets.v[i].count = 1;
		}
	}
	if (w->status.admission != NULL) {
		assignments(w);
	}
}
