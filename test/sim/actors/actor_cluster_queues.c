/* An administrator edits Kueue's queues and cohorts. */
#include <stdio.h>

#include "api/kueue/kueue_keys.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "sim/actors/actor_lists.h"
#include "sim/controllers/sim_checks.h"
#include "sim/world/sim_workload.h"

#define KUEUE "/apis/" KUEUE_API_VERSION
#define QUEUES KUEUE "/clusterqueues"
#define COHORTS KUEUE "/cohorts"
#define CHECKS KUEUE "/admissionchecks"

static const char *name_of(const struct jdoc *object)
{
	return jdoc_path_str(object, "metadata.name");
}

static const char *any_word(struct sim_actors *a, const char *const *words, unsigned n)
{
	return words[sim_actors_below(a, n)];
}

static bool set_policies(struct sim_actors *a)
{
	static const char *const within[] = { KUEUE_NEVER, KUEUE_LOWER_PRIORITY,
					      KUEUE_LOWER_OR_NEWER };
	static const char *const reclaim[] = { KUEUE_LOWER_PRIORITY, KUEUE_ANY };
	const struct jdoc *q = sim_actors_any(a, SIM_CLUSTER_QUEUES);
	char threshold[60] = "", body[300];

	if (sim_actors_below(a, 2) == 0) {
		snprintf(threshold, sizeof(threshold), ",\"maxPriorityThreshold\":%d",
			 (int)sim_actors_below(a, 30) - 10);
	}
	snprintf(body, sizeof(body),
		 "{\"spec\":{\"preemption\":{\"withinClusterQueue\":\"%s\","
		 "\"reclaimWithinCohort\":\"%s\",\"borrowWithinCohort\":{\"policy\":"
		 "\"LowerPriority\"%s}}}}",
		 any_word(a, within, ARRAY_LEN(within)), any_word(a, reclaim, ARRAY_LEN(reclaim)),
		 threshold);
	return q != NULL && sim_actors_patch(a, QUEUES, name_of(q), body);
}

static bool set_weight(struct sim_actors *a)
{
	static const char *const weights[] = { "0", "500m", "1", "3" };
	bool cohort = sim_actors_below(a, 3) == 0;
	const struct jdoc *o = sim_actors_any(a, cohort ? SIM_COHORTS : SIM_CLUSTER_QUEUES);
	char body[80];

	snprintf(body, sizeof(body), "{\"spec\":{\"fairSharing\":{\"weight\":\"%s\"}}}",
		 any_word(a, weights, ARRAY_LEN(weights)));
	return o != NULL && sim_actors_patch(a, cohort ? COHORTS : QUEUES, name_of(o), body);
}

static bool set_strategy(struct sim_actors *a)
{
	const struct jdoc *q = sim_actors_any(a, SIM_CLUSTER_QUEUES);
	static const char *const strategies[] = { KUEUE_STRICT_FIFO, KUEUE_BEST_EFFORT_FIFO };
	char body[80];

	snprintf(body, sizeof(body), "{\"spec\":{\"queueingStrategy\":\"%s\"}}",
		 any_word(a, strategies, ARRAY_LEN(strategies)));
	return q != NULL && sim_actors_patch(a, QUEUES, name_of(q), body);
}

/* The namespaces that may use it: all, those of one team, or none. */
static bool set_selector(struct sim_actors *a)
{
	static const char *const teams[] = { "\"eve\"", "\"other\"" };
	const struct jdoc *q = sim_actors_any(a, SIM_CLUSTER_QUEUES);
	bool all = jdoc_path(q, "spec.namespaceSelector.matchLabels.team") != NULL;
	char body[80];

	snprintf(body, sizeof(body),
		 "{\"spec\":{\"namespaceSelector\":{\"matchLabels\":{\"team\":%s}}}}",
		 all ? "null" : any_word(a, teams, ARRAY_LEN(teams)));
	return q != NULL && sim_actors_patch(a, QUEUES, name_of(q), body);
}

static bool set_cohort_quota(struct sim_actors *a)
{
	const struct jdoc *c = sim_actors_any(a, SIM_COHORTS);
	unsigned cpu = sim_actors_below(a, 4);
	char body[400];

	snprintf(body, sizeof(body),
		 "{\"spec\":{\"resourceGroups\":[{\"coveredResources\":[\"cpu\",\"memory\"],"
		 "\"flavors\":[{\"name\":\"spot\",\"resources\":[{\"name\":\"cpu\","
		 "\"nominalQuota\":\"%u\"},{\"name\":\"memory\",\"nominalQuota\":\"%uGi\"}]}]}]}}",
		 cpu, cpu);
	return c != NULL && sim_actors_patch(a, COHORTS, name_of(c), body);
}

static bool set_check(struct sim_actors *a, bool active)
{
	char now[CLOCK_RFC3339_MAX], body[300];

	clock_format_time(clock_wall(&a->world->clock.base), now);
	snprintf(body, sizeof(body),
		 "{\"status\":{\"conditions\":[{\"type\":\"Active\",\"status\":\"%s\",\"reason\":"
		 "\"Active\",\"message\":\"\",\"lastTransitionTime\":\"%s\"}]}}",
		 active ? "True" : "False", now);
	return sim_actors_patch(a, CHECKS, SIM_CHECKS_NAME "/status", body);
}

/* The controller of the check goes away, or comes back. */
static bool switch_check(struct sim_actors *a)
{
	const struct jdoc *check = sim_view_get(a->world->view, SIM_CHECKS, SIM_CHECKS_NAME);

	return check != NULL && set_check(a, !sim_workload_is(check, "Active"));
}

static void open_all(struct sim_actors *a)
{
	(void)set_check(a, true);
	for (size_t i = 0; i < sim_view_count(a->world->view, SIM_CLUSTER_QUEUES); i++) {
		const struct jdoc *q = sim_view_at(a->world->view, SIM_CLUSTER_QUEUES, i);

		if (jdoc_path(q, "spec.namespaceSelector.matchLabels.team") != NULL &&
		    sim_actors_patch(a, QUEUES, name_of(q),
				     "{\"spec\":{\"namespaceSelector\":{\"matchLabels\":{\"team\":"
				     "null}}}}")) {
			i = SIZE_MAX; /* the order has changed */
		}
	}
}

static const struct sim_actors_act acts[] = {
	{ "ClusterQueue's preemption policies edited", set_policies, 4 },
	{ "weight of fair sharing edited", set_weight, 2 },
	{ "queueingStrategy edited", set_strategy, 1 },
	{ "namespaceSelector edited", set_selector, 1 },
	{ "Cohort's quota edited", set_cohort_quota, 1 },
	{ "AdmissionCheck inactive or active", switch_check, 2 },
};

const struct sim_actors_actor actor_cluster_queues = {
	.acts = acts, .n = ARRAY_LEN(acts), .per_mille = 6, .quota = true, .end = open_all
};
