#include "sim/controllers/sim_budgets.h"

#include "apiserver/store/selector.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "sim/world/sim_pod.h"
#include "sim/world/sim_view.h"
#include "sim/world/sim_workload.h"

struct tally {
	int64_t expected, healthy, desired, allowed;
};

bool sim_budgets_covers(const struct jdoc *budget, const struct jdoc *pod)
{
	const struct jdoc *selector = jdoc_path(budget, "spec.selector");

	return selector != NULL && sim_workload_are_neighbours(budget, pod) &&
	       selector_label_object_matches(selector, jdoc_path(pod, "metadata.labels"));
}

/* A number, or a part of n in percent, rounded up. */
static int64_t scaled(const struct jdoc *value, int64_t n)
{
	struct str text = str_of(jdoc_str(value));
	int64_t percent = 0;

	if (text.p == NULL) {
		return jdoc_int(value, 0);
	}
	text.len -= text.len > 0;
	(void)str_to_i64(text, &percent);
	return (n * percent + 99) / 100;
}

static bool is_leaving(const struct jdoc *pod)
{
	return jdoc_path(pod, "metadata.deletionTimestamp") != NULL;
}

static bool is_granted(const struct jdoc *budget, const struct jdoc *pod)
{
	return jdoc_get(jdoc_path(budget, "status.disruptedPods"),
			jdoc_path_str(pod, "metadata.name")) != NULL;
}

static void count(const struct sim_world *w, const struct jdoc *budget, struct tally *t)
{
	const struct jdoc *max = jdoc_path(budget, "spec.maxUnavailable");

	*t = (struct tally){ 0 };
	for (size_t i = 0; i < sim_view_count(w->view, SIM_PODS); i++) {
		const struct jdoc *pod = sim_view_at(w->view, SIM_PODS, i);

		if (!sim_budgets_covers(budget, pod) || sim_pod_is_finished(pod)) {
			continue;
		}
		t->expected++;
		t->healthy += jdoc_is_str(jdoc_path(pod, "status.phase"), "Running") &&
			      !is_leaving(pod) && !is_granted(budget, pod);
	}
	t->desired = max != NULL ? t->expected - scaled(max, t->expected)
				 : scaled(jdoc_path(budget, "spec.minAvailable"), t->expected);
	t->desired = t->desired < 0 ? 0 : t->desired;
	t->allowed = t->expected == 0 || t->healthy <= t->desired ? 0 : t->healthy - t->desired;
}

/* Those that are granted an eviction and are gone, or on their way, need no more mention. */
static bool put_granted(const struct sim_world *w, const struct jdoc *budget, struct strbuf *out)
{
	const struct jdoc *granted = jdoc_path(budget, "status.disruptedPods");
	bool any = false;

	for (const struct jdoc *g = jdoc_first(granted); g != NULL; g = jdoc_next(g)) {
		CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;
		const struct jdoc *pod;

		strbuf_printf(&key, "%s/%s", jdoc_path_str(budget, "metadata.namespace"),
			      jdoc_key(g));
		pod = sim_view_get(w->view, SIM_PODS, key.p);
		if (pod == NULL || is_leaving(pod)) {
			strbuf_printf(out, "%s\"%s\":null", any ? "," : "", jdoc_key(g));
			any = true;
		}
	}
	return any;
}

static bool is_current(const struct jdoc *budget, const struct tally *t)
{
	const struct jdoc *s = jdoc_get(budget, "status");

	return jdoc_int(jdoc_get(s, "observedGeneration"), -1) ==
		       jdoc_int(jdoc_path(budget, "metadata.generation"), 0) &&
	       jdoc_int(jdoc_get(s, "disruptionsAllowed"), -1) == t->allowed &&
	       jdoc_int(jdoc_get(s, "currentHealthy"), -1) == t->healthy &&
	       jdoc_int(jdoc_get(s, "desiredHealthy"), -1) == t->desired;
}

static bool reconcile(struct sim_world *w, const struct jdoc *budget)
{
	CLEANUP(strbuf_finish)
	struct strbuf url = STRBUF_INIT, body = STRBUF_INIT, granted = STRBUF_INIT;
	struct tally t;

	count(w, budget, &t);
	if (!put_granted(w, budget, &granted) && is_current(budget, &t)) {
		return false;
	}
	strbuf_printf(&url, "/apis/policy/v1/namespaces/%s/poddisruptionbudgets/%s/status",
		      jdoc_path_str(budget, "metadata.namespace"),
		      jdoc_path_str(budget, "metadata.name"));
	strbuf_printf(
		&body,
		"{\"metadata\":{\"resourceVersion\":\"%s\"},\"status\":{"
		"\"observedGeneration\":%lld,\"expectedPods\":%lld,\"currentHealthy\":%lld,"
		"\"desiredHealthy\":%lld,\"disruptionsAllowed\":%lld,\"disruptedPods\":{%s}}}",
		jdoc_path_str(budget, "metadata.resourceVersion"),
		(long long)jdoc_int(jdoc_path(budget, "metadata.generation"), 0),
		(long long)t.expected, (long long)t.healthy, (long long)t.desired,
		(long long)t.allowed, granted.p == NULL ? "" : granted.p);
	sim_world_call(w, HTTP_PATCH, url.p, "application/merge-patch+json", strbuf_str(&body));
	return true;
}

bool sim_budgets_step(struct sim_world *w)
{
	if (w->budgets_at == sim_view_changes(w->view)) {
		return false;
	}
	for (size_t i = 0; i < sim_view_count(w->view, SIM_BUDGETS); i++) {
		if (reconcile(w, sim_view_at(w->view, SIM_BUDGETS, i))) {
			return true;
		}
	}
	w->budgets_at = sim_view_changes(w->view);
	return false;
}
