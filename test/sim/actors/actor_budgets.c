/* Users who keep their pods from being evicted: with PodDisruptionBudgets of all sorts, cooldown
 * times, and finalizers that never go. */
#include <stdio.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "sim/actors/actor_lists.h"
#include "sim/world/sim_pod.h"

#define PODS "/api/v1/namespaces/default/pods"
#define BUDGETS "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
#define FINALIZER "example.com/held"

static const char *name_of(const struct jdoc *object)
{
	return jdoc_path_str(object, "metadata.name");
}

static void put_spec(struct sim_actors *a, struct strbuf *out)
{
	static const char *const amounts[] = {
		"\"minAvailable\":1",          "\"minAvailable\":\"50%\"",
		"\"minAvailable\":2147483647", "\"maxUnavailable\":1",
		"\"maxUnavailable\":0",        "\"maxUnavailable\":\"30%\"",
		"\"minAvailable\":\"0%\"",
	};
	static const char *const selectors[] = {
		"",
		",\"selector\":{}",
		",\"selector\":{\"matchLabels\":{\"guard\":\"a\"}}",
		",\"selector\":{\"matchExpressions\":[{\"key\":\"guard\",\"operator\":\"Exists\"}]"
		"}",
		",\"selector\":{\"matchLabels\":{\"guard\":\"b\"}}",
	};

	strbuf_printf(out, "\"spec\":{%s%s}", amounts[sim_actors_below(a, ARRAY_LEN(amounts))],
		      selectors[sim_actors_below(a, ARRAY_LEN(selectors))]);
}

static bool create_budget(struct sim_actors *a)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;

	if (sim_view_count(a->world->view, SIM_BUDGETS) > 3) {
		return false;
	}
	strbuf_printf(&body, "{\"metadata\":{\"name\":\"budget%u\"},", a->next++);
	put_spec(a, &body);
	strbuf_add_c(&body, "}");
	return sim_actors_send(a, HTTP_POST, BUDGETS, "application/json", body.p) < 300;
}

static bool edit_budget(struct sim_actors *a)
{
	const struct jdoc *budget = sim_actors_any(a, SIM_BUDGETS);
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;

	if (budget == NULL) {
		return false;
	}
	strbuf_add_c(&body, "{");
	put_spec(a, &body);
	strbuf_add_c(&body, "}");
	return sim_actors_patch(a, BUDGETS, name_of(budget), body.p);
}

static bool delete_budget(struct sim_actors *a)
{
	const struct jdoc *budget = sim_actors_any(a, SIM_BUDGETS);

	return budget != NULL && sim_actors_delete(a, BUDGETS, name_of(budget));
}

static bool label_pod(struct sim_actors *a)
{
	static const char *const values[] = { "\"a\"", "\"b\"", "null" };
	const struct jdoc *pod = sim_actors_any(a, SIM_PODS);
	char body[100];

	snprintf(body, sizeof(body), "{\"metadata\":{\"labels\":{\"guard\":%s}}}",
		 values[sim_actors_below(a, ARRAY_LEN(values))]);
	return pod != NULL && sim_actors_patch(a, PODS, name_of(pod), body);
}

static bool cool_pod(struct sim_actors *a)
{
	static const char *const values[] = { "20s", "-5s", "soon", "2000000h", "0" };
	const struct jdoc *pod = sim_actors_any(a, SIM_PODS);
	char body[120];

	snprintf(body, sizeof(body),
		 "{\"metadata\":{\"annotations\":{\"volcano.sh/cooldown-time\":\"%s\"}}}",
		 values[sim_actors_below(a, ARRAY_LEN(values))]);
	return pod != NULL && sim_actors_patch(a, PODS, name_of(pod), body);
}

static bool hold_pod(struct sim_actors *a)
{
	const struct jdoc *pod = sim_actors_any(a, SIM_PODS);

	return pod != NULL && jdoc_path(pod, "metadata.deletionTimestamp") == NULL &&
	       jdoc_path(pod, "metadata.finalizers") == NULL &&
	       sim_actors_patch(a, PODS, name_of(pod),
				"{\"metadata\":{\"finalizers\":[\"" FINALIZER "\"]}}");
}

/* Pods that never end would keep those waiting that were to take their room. */
static void let_go(struct sim_actors *a)
{
	for (size_t i = 0; i < sim_view_count(a->world->view, SIM_PODS); i++) {
		const struct jdoc *pod = sim_view_at(a->world->view, SIM_PODS, i);

		if (jdoc_is_str(jdoc_first(jdoc_path(pod, "metadata.finalizers")), FINALIZER) &&
		    sim_actors_patch(a, PODS, name_of(pod),
				     "{\"metadata\":{\"finalizers\":null}}")) {
			i = SIZE_MAX; /* the order has changed */
		}
	}
}

static const struct sim_actors_act acts[] = {
	{ "PodDisruptionBudget created", create_budget, 4 },
	{ "PodDisruptionBudget edited", edit_budget, 3 },
	{ "PodDisruptionBudget deleted", delete_budget, 2 },
	{ "pod labelled for a budget", label_pod, 6 },
	{ "cooldown time of a pod edited", cool_pod, 2 },
	{ "pod held by a finalizer", hold_pod, 2 },
};

const struct sim_actors_actor actor_budgets = {
	.acts = acts, .n = ARRAY_LEN(acts), .per_mille = 12, .pods = true, .end = let_go
};
