#include "lib/quota/quota_world.h"

#include <stdlib.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "enc/quantity.h"
#include "lib/quota/quota_words.h"
#include "lib/quota/quota_workloads.h"
#include "lib/unit.h"

static bool is_cpu(const char *resource)
{
	return str_streq(resource, "cpu");
}

int64_t quota_world_amount(const char *resource, const char *text)
{
	struct err err = ERR_INIT;
	struct quantity amount;

	if (str_streq(text, "unlimited")) {
		return QUOTA_UNLIMITED;
	}
	if (quantity_parse(str_of(text), &amount, &err) < 0) {
		fail_msg("%s: %s", resource, err.text);
	}
	return is_cpu(resource) ? quantity_milli(amount) : quantity_value(amount);
}

/* --- nodes --------------------------------------------------------------------------------------
 */

static struct quota_node *find_node(const struct quota_world *w, const char *name)
{
	struct quota_node *n = NULL;

	if (str_has_prefix(str_of(name), "cohort/")) {
		return quota_cohort_find(w->q, str_of(name + strlen("cohort/")));
	}
	n = quota_queue_find(w->q, str_of(name));
	return n != NULL ? n : quota_cohort_find(w->q, str_of(name));
}

static void add_common(struct quota_world *w, struct quota_words *l, struct quota_node *n,
		       const char *parent_word)
{
	const char *parent = quota_words_get(l, parent_word);
	const char *weight = quota_words_get(l, "weight");

	n->exists = true;
	if (parent != NULL) {
		n->parent = quota_name(w->q, str_of(parent));
	}
	if (weight != NULL && !str_to_double(str_of(weight), &n->weight)) {
		fail_msg("weight: %s", weight);
	}
}

static void add_cohort(struct quota_world *w, struct quota_words *l)
{
	add_common(w, l, quota_cohort_get(w->q, str_of(l->v[1])), "parent");
}

static struct quota_node *make_queue(struct quota_world *w, const char *name)
{
	struct quota_node *n = quota_queue_get(w->q, str_of(name));

	if (!n->exists) {
		n->exists = true;
		n->queue->namespaces.absent = false;
	}
	return n;
}

static void add_checks(struct quota_world *w, struct quota_words *l, struct cluster_queue *queue)
{
	struct str rest = str_of(quota_words_get(l, "checks"));

	for (struct str s = str_next(&rest, ','); s.p != NULL; s = str_next(&rest, ',')) {
		vec_push(&queue->checks, ((struct quota_check){ .name = quota_name(w->q, s) }));
	}
}

static void add_selector(struct quota_world *w, struct quota_words *l, struct namespace_selector *s)
{
	const char *text = quota_words_get(l, "namespaces");
	struct str value = str_of(text), key;
	struct match_expr *e;

	if (text == NULL) {
		return;
	}
	if (str_streq(text, "none")) {
		s->absent = true;
		return;
	}
	key = str_next(&value, ':');
	s->exprs = xmalloc_zero(1, sizeof(*s->exprs));
	s->nexprs = 1;
	e = &s->exprs[0];
	e->key = quota_name(w->q, key);
	e->op = MATCH_IN;
	e->values = xmalloc_zero(1, sizeof(*e->values));
	e->values[0] = quota_name(w->q, value);
	e->nvalues = 1;
}

static void add_queue(struct quota_world *w, struct quota_words *l)
{
	static const char *const strategies[] = { "BestEffortFIFO", "StrictFIFO", NULL };
	static const char *const searches[] = { "MayStopSearch", "TryNextFlavor", NULL };
	static const char *const preferences[] = { "BorrowingOverPreemption",
						   "PreemptionOverBorrowing", NULL };
	static const char *const policies[] = { "Never", "LowerPriority",
						"LowerOrNewerEqualPriority", "Any", NULL };
	static const char *const stops[] = { "None", "Hold", "HoldAndDrain", NULL };
	struct quota_node *n = make_queue(w, l->v[1]);
	struct cluster_queue *queue = n->queue;
	int64_t threshold = 0;

	add_common(w, l, n, "cohort");
	queue->strategy = quota_words_enum(l, "strategy", strategies, queue->strategy);
	queue->when_can_borrow =
		quota_words_enum(l, "whenborrow", searches, queue->when_can_borrow);
	queue->when_can_preempt =
		quota_words_enum(l, "whenpreempt", searches, queue->when_can_preempt);
	queue->preference = quota_words_enum(l, "preference", preferences, queue->preference);
	queue->within_queue = quota_words_enum(l, "within", policies, queue->within_queue);
	queue->reclaim = quota_words_enum(l, "reclaim", policies, queue->reclaim);
	queue->borrow_within = quota_words_enum(l, "borrow", policies, queue->borrow_within);
	queue->stop = quota_words_enum(l, "stop", stops, queue->stop);
	queue->usage_based = quota_words_has(l, "usage-based") || queue->usage_based;
	queue->terminating = quota_words_has(l, "terminating") || queue->terminating;
	if (quota_words_int(l, "threshold", &threshold)) {
		queue->has_threshold = true;
		queue->threshold = (int32_t)threshold;
	}
	add_checks(w, l, queue);
	add_selector(w, l, &queue->namespaces);
}

static void push_id(uint32_t **ids, size_t *n, uint32_t id)
{
	for (size_t i = 0; i < *n; i++) {
		if ((*ids)[i] == id) {
			return;
		}
	}
	*ids = xmalloc_resize(*ids, *n + 1, sizeof(**ids));
	(*ids)[(*n)++] = id;
}

/* One flavor is in one group only; else one resource is. */
static void join_group(struct quota_node *n, uint32_t flavor, uint32_t resource)
{
	struct resource_group *g = NULL;

	for (size_t i = 0; i < n->groups.n; i++) {
		for (size_t k = 0; k < n->groups.v[i].nflavors; k++) {
			g = n->groups.v[i].flavors[k] == flavor ? &n->groups.v[i] : g;
		}
	}
	for (size_t i = 0; g == NULL && i < n->groups.n; i++) {
		for (size_t k = 0; k < n->groups.v[i].nresources; k++) {
			g = n->groups.v[i].resources[k] == resource ? &n->groups.v[i] : g;
		}
	}
	if (g == NULL) {
		vec_push(&n->groups, (struct resource_group){ .resources = NULL });
		g = &n->groups.v[n->groups.n - 1];
	}
	push_id(&g->resources, &g->nresources, resource);
	push_id(&g->flavors, &g->nflavors, flavor);
}

static int64_t cell_amount(struct quota_words *l, const char *word, int64_t absent)
{
	const char *text = quota_words_get(l, word);

	return text == NULL ? absent : quota_world_amount(l->v[3], text);
}

static void add_quota(struct quota_world *w, struct quota_words *l)
{
	struct quota_node *n;
	struct flavor *f;
	struct quota_cell c = { .nominal = 0 };

	n = find_node(w, l->v[1]);
	n = n != NULL ? n : make_queue(w, l->v[1]);
	f = quota_flavor_find(w->q, str_of(l->v[2]));
	if (f == NULL) {
		f = quota_flavor_get(w->q, str_of(l->v[2]));
		f->exists = true;
	}
	c.pair = quota_pair_get(w->q, f->id, quota_resource(w->q, str_of(l->v[3])));
	c.nominal = cell_amount(l, "nominal", 0);
	c.borrowing = cell_amount(l, "borrow", QUOTA_NO_LIMIT);
	c.lending = cell_amount(l, "lend", QUOTA_NO_LIMIT);
	n->exists = true;
	quota_node_set_cell(n, c);
	join_group(n, f->id, w->q->pairs.v[c.pair].resource);
	if (n->is_queue && str_streq(l->v[3], "pods")) {
		n->queue->covers_pods = true;
	}
}

/* --- small objects ------------------------------------------------------------------------------
 */

static void add_flavor(struct quota_world *w, struct quota_words *l)
{
	struct flavor *f = quota_flavor_get(w->q, str_of(l->v[1]));
	const char *topology = quota_words_get(l, "topology");

	quota_flavor_clear(f);
	f->exists = !quota_words_has(l, "missing");
	f->topology = topology == NULL ? NULL : quota_name(w->q, str_of(topology));
	f->labels = xmalloc(l->n * sizeof(*f->labels));
	f->taints = xmalloc(l->n * sizeof(*f->taints));
	f->tolerations = xmalloc(l->n * sizeof(*f->tolerations));
	f->nlabels = quota_words_labels(l, w->q, "label", f->labels);
	f->ntaints = quota_words_taints(l, w->q, f->taints);
	f->ntolerations = quota_words_tolerations(l, w->q, f->tolerations);
}

static void add_namespace(struct quota_world *w, struct quota_words *l)
{
	struct quota_namespace *ns = quota_namespace_get(w->q, str_of(l->v[1]));

	free(ns->labels);
	ns->labels = xmalloc(l->n * sizeof(*ns->labels));
	ns->nlabels = quota_words_labels(l, w->q, "label", ns->labels);
}

static void add_local(struct quota_world *w, struct quota_words *l)
{
	static const char *const stops[] = { "None", "Hold", "HoldAndDrain", NULL };
	struct local_queue *local = quota_local_get(w->q, str_of(l->v[1]));
	const char *queue = quota_words_get(l, "queue");
	double *numbers[] = { &local->weight, &local->usage };
	static const char *const words[] = { "weight", "usage" };

	local->queue = queue == NULL ? local->queue : quota_name(w->q, str_of(queue));
	local->stop = quota_words_enum(l, "stop", stops, local->stop);
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		const char *text = quota_words_get(l, words[i]);

		if (text != NULL && !str_to_double(str_of(text), numbers[i])) {
			fail_msg("%s: %s", words[i], text);
		}
	}
}

static void add_check(struct quota_world *w, struct quota_words *l)
{
	static const char *const kinds[] = { "other", "multikueue", "provisioning", NULL };
	const char *active = quota_words_get(l, "active");

	quota_check_set(w->q, str_of(l->v[1]), active == NULL || str_streq(active, "true"),
			quota_words_enum(l, "kind", kinds, QUOTA_CHECK_OTHER));
}

static void add_topology(struct quota_world *w, struct quota_words *l)
{
	quota_topology_set(w->q, str_of(l->v[1]), true);
}

static void set_option(struct quota_world *w, struct quota_words *l)
{
#define OPTION(member)                                                                             \
	{                                                                                          \
#member, offsetof(struct quota_options, member)                                    \
	}
	static const struct {
		const char *name;
		size_t at;
	} options[] = {
		OPTION(fair_sharing),
		OPTION(lte_final),
		OPTION(lt_initial),
		OPTION(admission_fair_sharing),
		OPTION(ignore_undeclared),
		OPTION(timestamp_creation),
		OPTION(block_admission),
		OPTION(partial_admission),
		OPTION(flavor_fungibility),
		OPTION(priority_sorting),
		OPTION(preempt_within_nominal),
		OPTION(prioritize_non_borrowing),
		OPTION(recompute_on_overlap),
		OPTION(preserve_scan_progress),
		OPTION(prioritize_preemptors),
		OPTION(nominal_first),
		OPTION(equivalence_hashing),
		OPTION(priority_boost),
		OPTION(preemption_gates),
		OPTION(observability),
		OPTION(topology),
		OPTION(reclaimable_pods),
		OPTION(admission_gates),
		OPTION(concurrent_admission),
	};
#undef OPTION
	int64_t heads;

	for (size_t i = 0; i < ARRAY_LEN(options); i++) {
		const char *text = quota_words_get(l, options[i].name);

		if (text != NULL) {
			*(bool *)((char *)&w->q->options + options[i].at) = str_streq(text, "true");
		}
	}
	if (quota_words_int(l, "heads", &heads)) {
		w->q->options.heads = (unsigned)heads;
	}
}

/* --- the text -----------------------------------------------------------------------------------
 */

static void add_line(struct quota_world *w, struct quota_words *l)
{
	static const struct {
		const char *name;
		void (*add)(struct quota_world *w, struct quota_words *l);
		size_t words;
	} kinds[] = {
		{ "option", set_option, 1 },
		{ "flavor", add_flavor, 2 },
		{ "check", add_check, 2 },
		{ "namespace", add_namespace, 2 },
		{ "cohort", add_cohort, 2 },
		{ "queue", add_queue, 2 },
		{ "quota", add_quota, 4 },
		{ "local", add_local, 2 },
		{ "workload", quota_workloads_add, 2 },
		{ "podset", quota_workloads_podset, 2 },
		{ "topology", add_topology, 2 },
	};

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		if (str_streq(l->v[0], kinds[i].name)) {
			if (w->last != NULL && kinds[i].add != quota_workloads_podset) {
				quota_workloads_finish(w);
			}
			quota_words_need(l, kinds[i].words);
			kinds[i].add(w, l);
			quota_words_end(l);
			return;
		}
	}
	fail_msg("unknown kind: %s", l->v[0]);
}

static void find_queues(struct quota_world *w)
{
	for (size_t i = 0; i < w->q->workloads.n; i++) {
		struct workload *wl = w->q->workloads.v[i];
		struct local_queue *local;
		struct quota_node *n;
		char *key;

		if (wl == NULL) {
			continue;
		}
		key = xmalloc_printf("%s/%s", wl->object.namespace_, wl->object.local_queue);
		local = quota_local_find(w->q, str_of(key));
		free(key);
		n = local == NULL ? NULL : quota_queue_find(w->q, str_of(local->queue));
		if (wl->pending.where == QUOTA_NOWHERE) {
			wl->pending.queue = n == NULL ? MODEL_NONE : n->id;
		}
	}
}

void quota_world_add(struct quota_world *w, const char *text)
{
	struct quota_words l;

	while (quota_words_next(&l, &text)) {
		add_line(w, &l);
		quota_words_finish(&l);
	}
	if (w->last != NULL) {
		quota_workloads_finish(w);
	}
	find_queues(w);
	quota_nodes_changed(w->q);
	forest_sync(w->f);
}

void quota_world_init(struct quota_world *w, const char *text)
{
	*w = (struct quota_world){ .now = QUOTA_WORLD_NOW };
	w->q = quota_create();
	w->f = forest_create(w->q);
	quota_world_add(w, text);
}

void quota_world_finish(struct quota_world *w)
{
	forest_destroy(w->f);
	quota_destroy(w->q);
}

struct quota_node *quota_world_node(const struct quota_world *w, const char *name)
{
	struct quota_node *n = find_node(w, name);

	if (n == NULL) {
		fail_msg("no such queue or cohort: %s", name);
	}
	return n;
}

uint32_t quota_world_id(const struct quota_world *w, const char *name)
{
	return quota_world_node(w, name)->id;
}

struct workload *quota_world_workload(const struct quota_world *w, const char *key)
{
	struct workload *wl;
	char *full = xmalloc_printf("%s%s", strchr(key, '/') == NULL ? "ns/" : "", key);

	wl = quota_workload_find(w->q, str_of(full));
	free(full);
	if (wl == NULL) {
		fail_msg("no such workload: %s", key);
	}
	return wl;
}

uint32_t quota_world_flavor(const struct quota_world *w, const char *name)
{
	struct flavor *f = quota_flavor_find(w->q, str_of(name));

	if (f == NULL) {
		fail_msg("no such flavor: %s", name);
	}
	return f->id;
}

uint32_t quota_world_resource(const struct quota_world *w, const char *name)
{
	return quota_resource(w->q, str_of(name));
}

uint32_t quota_world_pair(const struct quota_world *w, const char *flavor, const char *resource)
{
	uint32_t id = quota_pair_find(w->q, quota_world_flavor(w, flavor),
				      quota_world_resource(w, resource));

	if (id == MODEL_NONE) {
		fail_msg("no such pair: %s/%s", flavor, resource);
	}
	return id;
}
