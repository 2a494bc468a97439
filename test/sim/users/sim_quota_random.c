#include "sim/users/sim_quota_random.h"

#include "api/kueue/kueue_keys.h"
#include "base/attrs.h"
#include "base/str.h"

const struct sim_quota_class sim_quota_random_classes[SIM_QUOTA_CLASSES] = {
	{ "low", -10 },
	{ "high", 10 },
	{ "higher", 20 },
};

static unsigned below(struct sim_world *w, unsigned n)
{
	return (unsigned)sim_world_below(w, n);
}

static bool one_in(struct sim_world *w, unsigned n)
{
	return below(w, n) == 0;
}

const char *sim_quota_random_local_queue(struct sim_world *w)
{
	static const char *const names[] = { "lq-a", "lq-b", "lq-c", "lq-d", "lq-solo" };

	return names[below(w, ARRAY_LEN(names))];
}

static const char *any_class(unsigned at)
{
	return at < SIM_QUOTA_CLASSES ? sim_quota_random_classes[at].name : NULL;
}

/* --- queues ------------------------------------------------------------------------------------*/

static void contended_queue(struct sim_world *w, struct sim_quota_manifest_queue *q)
{
	static const char *const within[] = { KUEUE_LOWER_PRIORITY, KUEUE_LOWER_OR_NEWER,
					      KUEUE_LOWER_OR_NEWER };
	static const char *const reclaim[] = { KUEUE_LOWER_PRIORITY, KUEUE_ANY, KUEUE_ANY };

	*q = (struct sim_quota_manifest_queue){
		.name = q->name,
		.cohort = q->cohort,
		.nflavors = one_in(w, 4) ? SIM_TREE_FLAVORS : 1,
		.borrow = one_in(w, 8) ? (int)below(w, 3) : -1,
		.lend = one_in(w, 8) ? (int)below(w, 3) : -1,
		.within = within[below(w, ARRAY_LEN(within))],
		.reclaim = reclaim[below(w, ARRAY_LEN(reclaim))],
		.borrow_within = one_in(w, 2) ? KUEUE_LOWER_PRIORITY : NULL,
		.when_borrow = one_in(w, 3) ? KUEUE_TRY_NEXT_FLAVOR : NULL,
		.when_preempt = one_in(w, 3) ? KUEUE_MAY_STOP_SEARCH : NULL,
		.strict = one_in(w, 4),
		.checked = one_in(w, 10),
	};
	for (unsigned f = 0; f < SIM_TREE_FLAVORS; f++) {
		q->cpu[f] = 1 + below(w, 2);
	}
}

static void ordinary_queue(struct sim_world *w, struct sim_quota_manifest_queue *q)
{
	static const char *const within[] = { KUEUE_NEVER, KUEUE_LOWER_PRIORITY,
					      KUEUE_LOWER_OR_NEWER };
	static const char *const reclaim[] = { KUEUE_NEVER, KUEUE_LOWER_PRIORITY, KUEUE_ANY };

	*q = (struct sim_quota_manifest_queue){
		.name = q->name,
		.cohort = q->cohort,
		.nflavors = 1 + below(w, SIM_TREE_FLAVORS),
		.borrow = one_in(w, 3) ? (int)below(w, 4) : -1,
		.lend = one_in(w, 3) ? (int)below(w, 4) : -1,
		.within = within[below(w, 3)],
		.reclaim = reclaim[below(w, 3)],
		.when_borrow = one_in(w, 3) ? KUEUE_TRY_NEXT_FLAVOR : NULL,
		.when_preempt = one_in(w, 3) ? KUEUE_MAY_STOP_SEARCH : NULL,
		.strict = one_in(w, 3),
		.checked = one_in(w, 3),
	};
	if (!str_streq(q->reclaim, KUEUE_NEVER) && one_in(w, 2)) {
		q->borrow_within = KUEUE_LOWER_PRIORITY;
	}
	for (unsigned f = 0; f < SIM_TREE_FLAVORS; f++) {
		q->cpu[f] = 1 + below(w, 4);
	}
}

void sim_quota_random_queue(struct sim_world *w, bool contended, struct sim_quota_manifest_queue *q)
{
	if (contended) {
		contended_queue(w, q);
	} else {
		ordinary_queue(w, q);
	}
}

/* --- Jobs --------------------------------------------------------------------------------------*/

/* Few sizes, so that Workloads of a queue are often equal, and run long. */
static struct sim_quota_manifest_job contended_job(struct sim_world *w)
{
	static const char *const runs_for[] = { NULL, "5s", "40s", "40s" };
	unsigned pods = 1 + below(w, 2);

	return (struct sim_quota_manifest_job){
		.queue = sim_quota_random_local_queue(w),
		.class_ = any_class(below(w, SIM_QUOTA_CLASSES + 1)),
		.runs_for = runs_for[below(w, ARRAY_LEN(runs_for))],
		.flavor = one_in(w, 12) ? sim_tree_flavors[below(w, SIM_TREE_FLAVORS)] : NULL,
		.milli_cpu = 500u << below(w, 2),
		.mib = one_in(w, 6) ? 512 : 0,
		.parallelism = pods,
		.completions = pods,
		.min_parallelism = pods > 1 && one_in(w, 6) ? 1 : 0,
	};
}

static struct sim_quota_manifest_job ordinary_job(struct sim_world *w)
{
	static const char *const runs_for[] = { NULL, "400ms", "5s", "40s" };
	unsigned pods = 1 + below(w, 4), class_ = below(w, 5);
	struct sim_quota_manifest_job j = {
		.queue = sim_quota_random_local_queue(w),
		.class_ = any_class(class_),
		.runs_for = runs_for[below(w, ARRAY_LEN(runs_for))],
		.flavor = one_in(w, 6) ? sim_tree_flavors[below(w, SIM_TREE_FLAVORS)] : NULL,
		.milli_cpu = 500u << below(w, 3),
		.mib = one_in(w, 2) ? 256u << below(w, 3) : 0,
		.parallelism = pods,
		.completions = one_in(w, 3) ? pods + below(w, 4) : pods,
		.max_seconds = one_in(w, 10) ? 10 : 0,
		.fails = one_in(w, 15),
	};

	if (pods > 1 && one_in(w, 3)) {
		j.min_parallelism = 1 + below(w, pods - 1);
	}
	return j;
}

struct sim_quota_manifest_job sim_quota_random_job(struct sim_world *w, bool contended)
{
	return contended ? contended_job(w) : ordinary_job(w);
}
