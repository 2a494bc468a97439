#include "lib/quota/quota_workloads.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "base/xmalloc.h"
#include "enc/quantity.h"
#include "lib/unit.h"

static int64_t seconds(const struct quota_world *w, const char *text)
{
	struct str s = str_of(text);
	double value = 0;

	if (str_has_suffix(s, "s")) {
		s.len--;
	}
	if (!str_to_double(s, &value)) {
		fail_msg("not a time: %s", text);
	}
	return w->now + (int64_t)(value * 1e9);
}

/* Words that were not read otherwise are amounts. */
static void add_podset(struct quota_world *w, struct quota_words *l, struct workload *wl,
		       const char *name)
{
	struct podset *p;
	struct podset *list = arena_zero(wl->object.arena, wl->object.npodsets + 1, sizeof(*list));
	const char *group = quota_words_get(l, "group");
	int64_t number;

	for (size_t i = 0; i < wl->object.npodsets; i++) {
		list[i] = wl->object.podsets[i];
	}
	wl->object.podsets = list;
	p = &list[wl->object.npodsets++];
	p->name = quota_name(w->q, str_of(name));
	p->group = group == NULL ? NULL : quota_name(w->q, str_of(group));
	p->count = p->spec_count = 1;
	if (quota_words_int(l, "pods", &number)) {
		p->count = p->spec_count = (int32_t)number;
	}
	if (quota_words_int(l, "min", &number)) {
		p->min_count = (int32_t)number;
	}
	p->wants_topology = quota_words_has(l, "topology");
	p->invalid = quota_words_has(l, "invalid") ? "invalid" : NULL;
	p->selector = arena_zero(wl->object.arena, l->n, sizeof(*p->selector));
	p->nselector = quota_words_labels(l, w->q, "selector", p->selector);
	p->tolerations = arena_zero(wl->object.arena, l->n, sizeof(*p->tolerations));
	p->ntolerations = quota_words_tolerations(l, w->q, p->tolerations);
	quota_words_affinity(l, w->q, wl->object.arena, p);
	p->request.v = arena_zero(wl->object.arena, l->n, sizeof(*p->request.v));
	p->request.cap = l->n;
	for (size_t i = 0; i < l->n; i++) {
		const char *eq = strchr(l->v[i], '=');

		if (!l->used[i] && eq != NULL) {
			char *resource = xmalloc_dup_n(l->v[i], (size_t)(eq - l->v[i]));

			quota_amounts_add(&p->request, quota_resource(w->q, str_of(resource)),
					  quota_world_amount(resource, eq + 1));
			free(resource);
			l->used[i] = true;
		}
	}
	p->shape = podset_shape(p);
}

static void set_times(struct quota_world *w, struct quota_words *l, struct workload *wl)
{
	static const char *const words[] = { "created", "reserved", "evicted", "preempted",
					     "requeue" };
	int64_t *times[] = { &wl->object.created, &wl->flags.reserved_at, &wl->flags.evicted_at,
			     &wl->flags.preempted_at, &wl->flags.requeue_at };

	wl->object.created = w->now;
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		const char *text = quota_words_get(l, words[i]);

		if (text != NULL) {
			*times[i] = seconds(w, text);
		}
	}
	wl->flags.evicted = wl->flags.evicted_at != MODEL_TIME_NONE;
}

void quota_workloads_gate(struct workload *w)
{
	w->object.gates = arena_zero(w->object.arena, 2, sizeof(*w->object.gates));
	w->object.gates[0] = "g";
}

static void set_flags(struct quota_words *l, struct workload *wl)
{
	static const char *const words[] = { "admission-gated", "preemption-gated", "finished",
					     "requeued-false",  "on-hold",          "check-blocks",
					     "reclaimed",       "admitted",         "pods-ready" };
	bool *flags[] = { &wl->object.admission_gated,
			  &wl->flags.preemption_gated,
			  &wl->flags.finished,
			  &wl->flags.requeued_false,
			  &wl->flags.on_hold,
			  &wl->flags.check_blocks,
			  &wl->flags.reclaimed_while_borrowing,
			  &wl->flags.admitted,
			  &wl->flags.pods_ready };
	const char *by = quota_words_get(l, "evicted-by");

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		*flags[i] = quota_words_has(l, words[i]);
	}
	if (wl->flags.preemption_gated) {
		quota_workloads_gate(wl);
	}
	wl->flags.evicted_by_check = str_streq(by, "check");
	wl->flags.evicted_by_timeout = str_streq(by, "timeout");
	wl->object.active = !str_streq(quota_words_get(l, "active"), "false");
}

static void set_allowed(struct quota_world *w, struct quota_words *l, struct workload *wl)
{
	struct str rest = str_of(quota_words_get(l, "allowed")), s;
	uint32_t *allowed;

	if (rest.p == NULL) {
		return;
	}
	allowed = arena_zero(wl->object.arena, rest.len + 1, sizeof(*allowed));
	for (s = str_next(&rest, ','); s.p != NULL; s = str_next(&rest, ',')) {
		allowed[wl->object.nallowed++] = quota_flavor_get(w->q, s)->id;
	}
	wl->object.allowed = allowed;
}

static void set_numbers(struct quota_words *l, struct workload *wl)
{
	const char *cost = quota_words_get(l, "cost");
	struct quantity amount;
	int64_t number;

	wl->object.generation = 1;
	(void)quota_words_int(l, "generation", &wl->object.generation);
	(void)quota_words_int(l, "boost", &wl->object.boost);
	if (quota_words_int(l, "prio", &number)) {
		wl->object.priority = (int32_t)number;
	}
	if (cost != NULL) {
		if (quantity_parse(str_of(cost), &amount, NULL) < 0) {
			fail_msg("cost: %s", cost);
		}
		wl->object.cost = amount.nano;
		wl->object.has_cost = true;
	}
}

static void set_queue(struct quota_world *w, struct quota_words *l, struct workload *wl)
{
	const char *queue = quota_words_get(l, "queue"), *local = quota_words_get(l, "local");
	char *key;

	if (local == NULL && queue == NULL) {
		wl->object.local_queue = "";
		return;
	}
	if (local == NULL) {
		local = arena_printf(wl->object.arena, "queue-%s", queue);
	}
	wl->object.local_queue = quota_name(w->q, str_of(local));
	key = xmalloc_printf("%s/%s", wl->object.namespace_, local);
	if (queue != NULL) {
		quota_local_get(w->q, str_of(key))->queue = quota_name(w->q, str_of(queue));
	}
	free(key);
}

static char *dup(const char *text)
{
	return text == NULL ? NULL : xmalloc_dup(text);
}

void quota_workloads_add(struct quota_world *w, struct quota_words *l)
{
	struct str name = str_of(l->v[1]), ns = STR_LIT("ns");
	struct workload *wl;
	const char *uid = quota_words_get(l, "uid");
	char *key;

	if (memchr(name.p, '/', name.len) != NULL) {
		ns = str_next(&name, '/');
	}
	key = xmalloc_printf(STR_FMT "/" STR_FMT, STR_ARG(ns), STR_ARG(name));
	wl = quota_workload_add(w->q, str_of(key));
	free(key);
	wl->object.namespace_ = quota_name(w->q, ns);
	(void)quota_namespace_get(w->q, ns);
	wl->object.uid = uid != NULL ? arena_dup(wl->object.arena, uid)
				     : arena_dup_n(wl->object.arena, name.p, name.len);
	set_queue(w, l, wl);
	set_times(w, l, wl);
	set_flags(l, wl);
	set_numbers(l, wl);
	set_allowed(w, l, wl);
	w->last = wl;
	w->holds = dup(quota_words_get(l, "holds"));
	w->at = dup(quota_words_get(l, "at"));
	add_podset(w, l, wl, "main");
}

void quota_workloads_podset(struct quota_world *w, struct quota_words *l)
{
	if (w->last == NULL) {
		fail_msg("a podset without a workload");
	}
	add_podset(w, l, w->last, l->v[1]);
}

/* "f" or "cpu:f,memory:g" */
static struct str flavor_of(const char *holds, const char *resource)
{
	struct str rest = str_of(holds), s, key;

	if (strchr(holds, ':') == NULL) {
		return rest;
	}
	for (s = str_next(&rest, ','); s.p != NULL; s = str_next(&rest, ',')) {
		key = str_next(&s, ':');
		if (str_eq_c(key, resource)) {
			return s;
		}
	}
	fail_msg("holds=%s: no flavor for %s", holds, resource);
	return rest;
}

static void assign(struct quota_world *w, struct workload *wl, uint32_t podset, uint32_t resource,
		   int64_t amount)
{
	struct quota_assigned a = { .podset = podset, .resource = resource, .amount = amount };
	const char *name = quota_resource_name(w->q, resource);

	a.flavor = quota_flavor_get(w->q, flavor_of(w->holds, name))->id;
	vec_push(&wl->holding.assigned, a);
	quota_amounts_add(&wl->holding.usage, quota_pair_get(w->q, a.flavor, resource), amount);
}

void quota_workloads_finish(struct quota_world *w)
{
	struct workload *wl = w->last;
	struct quota_node *n;
	char *key;

	if (w->holds != NULL) {
		key = xmalloc_printf("%s/%s", wl->object.namespace_, wl->object.local_queue);
		n = quota_world_node(w, w->at != NULL ? w->at
						      : quota_local_find(w->q, str_of(key))->queue);
		free(key);
		for (uint32_t i = 0; i < wl->object.npodsets; i++) {
			const struct podset *p = &wl->object.podsets[i];

			for (size_t k = 0; k < p->request.n; k++) {
				assign(w, wl, i, p->request.v[k].id,
				       p->request.v[k].value * p->count);
			}
			if (n->queue->covers_pods) {
				assign(w, wl, i, quota_resource(w->q, STR_LIT("pods")), p->count);
			}
		}
		quota_nodes_changed(w->q);
		forest_hold(w->f, wl, n->id);
	}
	free(w->holds);
	free(w->at);
	w->holds = w->at = NULL;
	w->last = NULL;
}
