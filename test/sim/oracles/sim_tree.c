#include "sim/oracles/sim_tree.h"

#include <stdio.h>
#include <string.h>

#include "base/attrs.h"
#include "base/str.h"
#include "enc/json/jdoc.h"
#include "enc/quantity.h"
#include "sim/world/sim_view.h"
#include "sim/world/sim_workload.h"

const char *const sim_tree_flavors[SIM_TREE_FLAVORS] = { "spot", "on-demand" };
const char *const sim_tree_resources[SIM_TREE_RESOURCES] = { "cpu", "memory" };

static int64_t at_least_zero(int64_t n)
{
	return n > 0 ? n : 0;
}

static int index_of(const char *const *names, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (str_streq(names[i], name)) {
			return (int)i;
		}
	}
	return -1;
}

static int pair_of(const char *flavor, const char *resource)
{
	int f = index_of(sim_tree_flavors, SIM_TREE_FLAVORS, flavor);
	int r = index_of(sim_tree_resources, SIM_TREE_RESOURCES, resource);

	return f < 0 || r < 0 ? -1 : f * SIM_TREE_RESOURCES + r;
}

int64_t sim_tree_amount(const char *resource, const char *quantity)
{
	struct quantity q;

	if (quantity == NULL || quantity_parse(str_of(quantity), &q, NULL) < 0) {
		return 0;
	}
	return str_streq(resource, "cpu") ? quantity_milli(q) : quantity_value(q);
}

/* --- reading -----------------------------------------------------------------------------------*/

static int find(const struct sim_tree *t, const char *name, bool is_queue)
{
	for (int i = 0; i < t->n; i++) {
		if (t->v[i].is_queue == is_queue && str_streq(t->v[i].name, name)) {
			return i;
		}
	}
	return -1;
}

int sim_tree_find(const struct sim_tree *t, const char *queue)
{
	return find(t, queue, true);
}

static int get(struct sim_tree *t, const char *name, bool is_queue)
{
	int at = find(t, name, is_queue);

	if (at < 0 && t->n < SIM_TREE_NODES) {
		at = t->n++;
		t->v[at] = (struct sim_tree_node){ .is_queue = is_queue, .parent = -1 };
		snprintf(t->v[at].name, sizeof(t->v[at].name), "%s", name);
		for (size_t p = 0; p < SIM_TREE_PAIRS; p++) {
			t->v[at].borrow[p] = t->v[at].lend[p] = -1;
		}
	}
	return at;
}

static int64_t limit(const struct jdoc *quota, const char *resource, const char *key)
{
	const char *text = jdoc_str(jdoc_get(quota, key));

	return text == NULL ? -1 : sim_tree_amount(resource, text);
}

static void read_flavor(struct sim_tree_node *n, const struct jdoc *flavor)
{
	for (const struct jdoc *q = jdoc_first(jdoc_get(flavor, "resources")); q != NULL;
	     q = jdoc_next(q)) {
		const char *resource = jdoc_str_or(jdoc_get(q, "name"), "");
		int p = pair_of(jdoc_str_or(jdoc_get(flavor, "name"), ""), resource);

		if (p < 0) {
			continue;
		}
		n->has[p] = true;
		n->nominal[p] = at_least_zero(limit(q, resource, "nominalQuota"));
		n->borrow[p] = limit(q, resource, "borrowingLimit");
		n->lend[p] = limit(q, resource, "lendingLimit");
	}
}

static void read_node(struct sim_tree *t, const struct jdoc *object, bool is_queue,
		      const char *parent)
{
	int at = get(t, jdoc_str_or(jdoc_path(object, "metadata.name"), ""), is_queue);
	int above = parent == NULL || parent[0] == '\0' ? -1 : get(t, parent, false);

	if (at < 0) {
		return;
	}
	t->v[at].exists = true;
	t->v[at].parent = above;
	for (const struct jdoc *g = jdoc_first(jdoc_path(object, "spec.resourceGroups")); g != NULL;
	     g = jdoc_next(g)) {
		for (const struct jdoc *f = jdoc_first(jdoc_get(g, "flavors")); f != NULL;
		     f = jdoc_next(f)) {
			read_flavor(&t->v[at], f);
		}
	}
}

void sim_tree_read(struct sim_tree *t, const struct sim_view *view)
{
	*t = (struct sim_tree){ .n = 0 };
	for (size_t i = 0; i < sim_view_count(view, SIM_COHORTS); i++) {
		const struct jdoc *cohort = sim_view_at(view, SIM_COHORTS, i);

		read_node(t, cohort, false, jdoc_path_str(cohort, "spec.parentName"));
	}
	for (size_t i = 0; i < sim_view_count(view, SIM_CLUSTER_QUEUES); i++) {
		const struct jdoc *queue = sim_view_at(view, SIM_CLUSTER_QUEUES, i);

		read_node(t, queue, true, jdoc_path_str(queue, "spec.cohortName"));
	}
}

static const char *parent_name(const struct sim_tree *t, int node)
{
	return t->v[node].parent < 0 ? "" : t->v[t->v[node].parent].name;
}

bool sim_tree_same(const struct sim_tree *a, const struct sim_tree *b)
{
	for (int i = 0; i < a->n; i++) {
		const struct sim_tree_node *x = &a->v[i], *y;
		int at = find(b, x->name, x->is_queue);

		if (at < 0 || !str_streq(parent_name(a, i), parent_name(b, at))) {
			return false;
		}
		y = &b->v[at];
		if (memcmp(x->nominal, y->nominal, sizeof(x->nominal)) != 0 ||
		    memcmp(x->borrow, y->borrow, sizeof(x->borrow)) != 0 ||
		    memcmp(x->lend, y->lend, sizeof(x->lend)) != 0) {
			return false;
		}
	}
	return a->n == b->n;
}

static int64_t pods_left(const struct jdoc *w, const char *podset)
{
	int64_t left = INT64_MAX;

	for (const struct jdoc *p = jdoc_first(jdoc_path(w, "spec.podSets")); p != NULL;
	     p = jdoc_next(p)) {
		if (jdoc_is_str(jdoc_get(p, "name"), podset)) {
			left = jdoc_int(jdoc_get(p, "count"), 1);
		}
	}
	for (const struct jdoc *r = jdoc_first(jdoc_path(w, "status.reclaimablePods")); r != NULL;
	     r = jdoc_next(r)) {
		if (jdoc_is_str(jdoc_get(r, "name"), podset)) {
			left -= jdoc_int(jdoc_get(r, "count"), 0);
		}
	}
	return at_least_zero(left);
}

void sim_tree_usage_of(const struct jdoc *w, struct sim_tree_amounts *ret)
{
	const struct jdoc *list = jdoc_path(w, "status.admission.podSetAssignments");

	*ret = (struct sim_tree_amounts){ { 0 } };
	for (const struct jdoc *a = jdoc_first(list); a != NULL; a = jdoc_next(a)) {
		int64_t count = jdoc_int(jdoc_get(a, "count"), 1);
		int64_t left = pods_left(w, jdoc_str_or(jdoc_get(a, "name"), ""));
		const struct jdoc *usage = jdoc_get(a, "resourceUsage");

		for (const struct jdoc *u = jdoc_first(usage); u != NULL; u = jdoc_next(u)) {
			const char *flavor =
				jdoc_str_or(jdoc_get(jdoc_get(a, "flavors"), jdoc_key(u)), "");
			int p = pair_of(flavor, jdoc_key(u));
			int64_t amount = sim_tree_amount(jdoc_key(u), jdoc_str_or(u, "0"));

			if (p >= 0) {
				ret->v[p] += left < count ? amount / count * left : amount;
			}
		}
	}
}

void sim_tree_add(struct sim_tree *t, int node, const struct sim_tree_amounts *a, int sign)
{
	for (size_t p = 0; p < SIM_TREE_PAIRS; p++) {
		t->v[node].used[p] += sign * a->v[p];
	}
}

void sim_tree_charge(struct sim_tree *t, const struct sim_view *view)
{
	for (size_t i = 0; i < sim_view_count(view, SIM_WORKLOADS); i++) {
		const struct jdoc *w = sim_view_at(view, SIM_WORKLOADS, i);
		int at = sim_workload_holds(w) ? sim_tree_find(t, sim_workload_queue(w)) : -1;
		struct sim_tree_amounts usage;

		if (at >= 0) {
			sim_tree_usage_of(w, &usage);
			sim_tree_add(t, at, &usage, 1);
		}
	}
}

/* --- arithmetic --------------------------------------------------------------------------------*/

int sim_tree_root(const struct sim_tree *t, int node)
{
	while (t->v[node].parent >= 0) {
		node = t->v[node].parent;
	}
	return node;
}

/* The quota of all below, together. */
static int64_t subtree(const struct sim_tree *t, int node, size_t p);

/* Quota that is not lent. */
static int64_t kept(const struct sim_tree *t, int node, size_t p)
{
	const struct sim_tree_node *n = &t->v[node];

	return n->lend[p] < 0 ? 0 : at_least_zero(subtree(t, node, p) - n->lend[p]);
}

static int64_t subtree(const struct sim_tree *t, int node, size_t p)
{
	int64_t sum = t->v[node].nominal[p];

	for (int i = 0; i < t->n; i++) {
		if (t->v[i].parent == node) {
			sum += subtree(t, i, p) - kept(t, i, p);
		}
	}
	return sum;
}

static int64_t used(const struct sim_tree *t, int node, size_t p)
{
	int64_t sum = t->v[node].used[p];

	for (int i = 0; i < t->n; i++) {
		if (t->v[i].parent == node) {
			sum += at_least_zero(used(t, i, p) - kept(t, i, p));
		}
	}
	return sum;
}

bool sim_tree_is_within(const struct sim_tree *t, int node, size_t p, bool strict)
{
	for (int i = node; i >= 0; i = t->v[i].parent) {
		int64_t use = used(t, i, p), own = subtree(t, i, p);

		if (t->v[i].parent < 0) {
			return use <= own;
		}
		if (t->v[i].borrow[p] >= 0 && use > own + t->v[i].borrow[p]) {
			return false;
		}
		if (!strict && use <= kept(t, i, p)) {
			return true; /* the usage is within the quota that is not lent: others do
					not see it */
		}
	}
	return true;
}

bool sim_tree_is_borrowing(const struct sim_tree *t, int node, size_t p)
{
	return used(t, node, p) > t->v[node].nominal[p];
}
