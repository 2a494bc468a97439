#include "sim/controllers/sim_checks.h"

#include <stdlib.h>

#include "api/kueue/kueue_keys.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "sim/world/sim_view.h"
#include "sim/world/sim_workload.h"

#define WORKLOADS "/apis/" KUEUE_API_VERSION "/namespaces/default/workloads"
#define CHECKS "/apis/" KUEUE_API_VERSION "/admissionchecks"

struct sim_checks {
	struct sim_world *world;
	struct VEC(char *) todo; /* names of Workloads that wait for an answer */
	bool calm;
	uint64_t given[SIM_CHECKS_COUNT_];
};

static const struct jdoc *check_of(const struct jdoc *w)
{
	const struct jdoc *k = jdoc_first(jdoc_path(w, "status.admissionChecks"));

	while (k != NULL && !jdoc_is_str(jdoc_get(k, "name"), SIM_CHECKS_NAME)) {
		k = jdoc_next(k);
	}
	return k;
}

static bool waits(const struct jdoc *w)
{
	return sim_workload_is(w, KUEUE_QUOTA_RESERVED) && !sim_workload_is(w, KUEUE_EVICTED) &&
	       !sim_workload_is(w, KUEUE_FINISHED) &&
	       jdoc_is_str(jdoc_get(check_of(w), "state"), KUEUE_CHECK_PENDING);
}

static void on_change(void *ctx, const struct sim_change *change)
{
	struct sim_checks *c = ctx;
	const char *name = jdoc_path_str(change->now, "metadata.name");

	if (change->resource != SIM_WORKLOADS || !waits(change->now)) {
		return;
	}
	for (size_t i = 0; i < c->todo.n; i++) {
		if (str_streq(c->todo.v[i], name)) {
			return;
		}
	}
	vec_push(&c->todo, xmalloc_dup(name));
}

struct sim_checks *sim_checks_create(struct sim_world *w)
{
	struct sim_checks *c = xmalloc_zero(1, sizeof(*c));

	c->world = w;
	sim_view_listen(w->view, on_change, c);
	return c;
}

void sim_checks_destroy(struct sim_checks *c)
{
	for (size_t i = 0; i < c->todo.n; i++) {
		free(c->todo.v[i]);
	}
	vec_finish(&c->todo);
	free(c);
}

static enum sim_checks_answer choose(struct sim_checks *c)
{
	uint64_t n = c->calm ? 0 : sim_world_below(c->world, 10);

	return n < 5 ? SIM_CHECKS_READY : n < 7 ? SIM_CHECKS_RETRY : SIM_CHECKS_REJECTED;
}

/* As controllers of checks do: they apply their own entry of the list. */
static void answer(struct sim_checks *c, const char *name, const char *podset)
{
	static const char *const states[SIM_CHECKS_COUNT_] = { KUEUE_CHECK_READY, KUEUE_CHECK_RETRY,
							       KUEUE_CHECK_REJECTED };
	CLEANUP(xmalloc_freep)
	char *url = xmalloc_printf(WORKLOADS "/%s/status?fieldManager=sim-check&force=true", name);
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	enum sim_checks_answer a = choose(c);
	char now[CLOCK_RFC3339_MAX];

	clock_format_time(clock_wall(&c->world->clock.base), now);
	strbuf_printf(&body,
		      "{\"apiVersion\":\"" KUEUE_API_VERSION
		      "\",\"kind\":\"Workload\",\"metadata\":{\"name\":\"%s\"},\"status\":"
		      "{\"admissionChecks\":[{\"name\":\"" SIM_CHECKS_NAME "\",\"state\":\"%s\","
		      "\"lastTransitionTime\":\"%s\",\"message\":\"simulated\"%s",
		      name, states[a], now,
		      a == SIM_CHECKS_RETRY ? ",\"requeueAfterSeconds\":3" : "");
	if (a == SIM_CHECKS_READY) {
		strbuf_printf(&body,
			      ",\"podSetUpdates\":[{\"name\":\"%s\",\"labels\":{\"checked\":"
			      "\"yes\"}}]",
			      podset);
	}
	strbuf_add_c(&body, "}]}}");
	if (sim_world_act(c->world, &(struct sim_call){ SIM_CLUSTER, HTTP_PATCH, url,
							"application/apply-patch+yaml", body.p }) <
	    300) {
		c->given[a]++;
	}
}

static void step(void *owner, void *arg UNUSED)
{
	struct sim_checks *c = owner;
	size_t at = sim_world_below(c->world, c->todo.n);
	CLEANUP(xmalloc_freep) char *name = c->todo.v[at];
	CLEANUP(xmalloc_freep) char *key = xmalloc_printf("default/%s", name);
	const struct jdoc *w = sim_view_get(c->world->view, SIM_WORKLOADS, key);
	const struct jdoc *podset = jdoc_at(jdoc_path(w, "spec.podSets"), 0);

	c->todo.v[at] = c->todo.v[c->todo.n - 1];
	c->todo.n--;
	if (waits(w)) {
		answer(c, name, jdoc_str_or(jdoc_get(podset, "name"), ""));
	}
}

void sim_checks_offer(struct sim_checks *c, struct sim_choices *out)
{
	if (c->todo.n > 0) {
		sim_world_choice(out, &(struct sim_choice){ step, c, NULL, 3 });
	}
}

void sim_checks_calm(struct sim_checks *c)
{
	c->calm = true;
}

uint64_t sim_checks_given(const struct sim_checks *c, enum sim_checks_answer a)
{
	return c->given[a];
}
