#include "scheduler/pods/session/domain_table.h"

#include <string.h>

#include "base/arena.h"
#include "collections/bitset.h"
#include "scheduler/pods/model/model.h"

/* Open addressing by pointer, since texts are interned: the slot of the text, or the free one where
 * it belongs. */
static size_t find_slot(const char *const *slots, size_t mask, const char *text)
{
	size_t at = ((uintptr_t)text >> 4) * 0x9e3779b97f4a7c15u >> 20;

	for (at &= mask; slots[at] != NULL && slots[at] != text;) {
		at = (at + 1) & mask;
	}
	return at;
}

struct domain_names {
	const char **slots;
	size_t mask, n;
};

static void add_name(struct domain_names *names, struct arena *a, const char *name)
{
	size_t at = find_slot(names->slots, names->mask, name);
	struct domain_names more = { .mask = 2 * names->mask + 1 };

	if (names->slots[at] != NULL) {
		return;
	}
	names->slots[at] = name;
	if (2 * ++names->n <= names->mask) {
		return;
	}
	more.n = names->n;
	more.slots = arena_zero(a, more.mask + 1, sizeof(*more.slots));
	for (size_t i = 0; i <= names->mask; i++) {
		if (names->slots[i] != NULL) {
			more.slots[find_slot(more.slots, more.mask, names->slots[i])] =
				names->slots[i];
		}
	}
	*names = more;
}

struct domain_names *domain_table_names(struct arena *a, const struct cluster *c)
{
	struct domain_names *names = arena_zero(a, 1, sizeof(*names));

	names->mask = 63;
	names->slots = arena_zero(a, names->mask + 1, sizeof(*names->slots));
	for (size_t i = 0; i < c->nodes.n; i++) {
		const struct node *n = c->nodes.v[i];

		for (size_t k = 0; n != NULL && n->exists && k < n->labels.n; k++) {
			add_name(names, a, n->labels.v[k].key);
		}
	}
	return names;
}

bool domain_table_has_name(const struct domain_names *names, const char *name)
{
	return names->slots[find_slot(names->slots, names->mask, name)] != NULL;
}

/* Values of labels to domains. */
struct values {
	const char **value;
	uint32_t *domain;
	size_t mask;
};

static uint32_t *slot_of(struct values *v, const char *value)
{
	size_t at = find_slot(v->value, v->mask, value);

	v->value[at] = value;
	return &v->domain[at];
}

/* Domains are numbered by their first node, so that the numbers do not depend on addresses. */
struct domain_key *domain_table_key(struct arena *a, const struct cluster *c, const char *name)
{
	struct domain_key *k = arena_zero(a, 1, sizeof(*k));
	struct values v = { .mask = 15 };

	while (v.mask < 2 * c->nodes.n) {
		v.mask = 2 * v.mask + 1;
	}
	v.value = arena_zero(a, v.mask + 1, sizeof(*v.value));
	v.domain = arena_alloc(a, (v.mask + 1) * sizeof(*v.domain));
	memset(v.domain, 0xff, (v.mask + 1) * sizeof(*v.domain));
	k->name = name;
	k->of = arena_alloc(a, (c->nodes.n + 1) * sizeof(*k->of));
	k->nodes = arena_zero(a, c->nodes.n + 1, sizeof(*k->nodes));
	for (size_t i = 0; i < c->nodes.n; i++) {
		const struct node *n = c->nodes.v[i];
		const char *value = n == NULL || !n->exists || name == NULL
					    ? NULL
					    : match_label(n->labels.v, n->labels.n, name);
		uint32_t *domain;

		k->of[i] = DOMAIN_NONE;
		if (value == NULL) {
			continue;
		}
		domain = slot_of(&v, value);
		if (*domain == DOMAIN_NONE) {
			*domain = k->n++;
		}
		k->of[i] = *domain;
		k->nodes[*domain]++;
	}
	return k;
}

void domain_table_limit(struct domain_table *t, struct arena *a, const struct cluster *c,
			const uint64_t *eligible)
{
	t->eligible = eligible;
	t->has_eligible = arena_zero(a, t->key->n + 1, sizeof(*t->has_eligible));
	for (size_t i = 0; i < c->nodes.n; i++) {
		uint32_t d = t->key->of[i];

		if (d != DOMAIN_NONE && bitset_has(eligible, i) && t->has_eligible[d] == 0) {
			t->has_eligible[d] = 1;
			t->domains++;
		}
	}
}

static uint32_t find_least(const struct domain_table *t, bool later)
{
	uint32_t least = UINT32_MAX;

	for (size_t i = 0; i < t->key->n && least > 0; i++) {
		uint32_t n = domain_count_spread(&t->counts[i], later);

		if (t->has_eligible[i] != 0 && n < least) {
			least = n;
		}
	}
	return least;
}

/* O(domains) when the domain that had the fewest got one more. True: *least has changed. */
static bool follow_least(const struct domain_table *t, uint32_t before, uint32_t now, bool later,
			 uint32_t *least)
{
	uint32_t was = *least;

	if (now < was) {
		*least = now;
	} else if (now != before && before == was) {
		*least = find_least(t, later);
	}
	return *least != was;
}

static bool spread_changed(struct domain_table *t, uint32_t domain, const struct domain_count *was)
{
	const struct domain_count *is = &t->counts[domain];
	bool changed = follow_least(t, domain_count_spread(was, false),
				    domain_count_spread(is, false), false, &t->least);

	changed |= follow_least(t, domain_count_spread(was, true), domain_count_spread(is, true),
				true, &t->least_later);
	return changed || (t->key->nodes[domain] > 1 &&
			   domain_count_spread(was, true) != domain_count_spread(is, true));
}

static void add(struct domain_count *c, enum domain_state state, uint32_t by)
{
	c->here += state == DOMAIN_PIPELINED ? 0 : by;
	c->releasing += state == DOMAIN_RELEASING ? by : 0;
	c->pipelined += state == DOMAIN_PIPELINED ? by : 0;
}

/* Rules of affinity ask whether there is any. */
static bool differ(const struct domain_count *a, const struct domain_count *b)
{
	return (a->here == 0) != (b->here == 0) || (a->pipelined == 0) != (b->pipelined == 0);
}

bool domain_table_add(struct domain_table *t, struct arena *a, uint32_t node,
		      enum domain_state state, int32_t by)
{
	uint32_t domain = t->key->of[node];
	struct domain_count was, total = t->total;

	if (state == DOMAIN_OUT || domain == DOMAIN_NONE ||
	    (t->eligible != NULL && !bitset_has(t->eligible, node))) {
		return false;
	}
	/* Most tables of a cluster in which terms select nothing stay so small. */
	if (t->counts == NULL) {
		t->counts = arena_zero(a, t->key->n + 1, sizeof(*t->counts));
	}
	was = t->counts[domain];
	add(&t->counts[domain], state, (uint32_t)by);
	add(&t->total, state, (uint32_t)by);
	if (t->eligible != NULL) {
		return spread_changed(t, domain, &was);
	}
	return differ(&total, &t->total) ||
	       (t->key->nodes[domain] > 1 && differ(&was, &t->counts[domain]));
}

bool domain_table_get(const struct domain_table *t, const struct node *n, struct domain_count *ret)
{
	uint32_t domain = t->key->of[n->id];

	if (domain == DOMAIN_NONE) {
		return false;
	}
	*ret = (struct domain_count){ .here = 0 };
	if (t->counts != NULL) {
		*ret = t->counts[domain];
	}
	return true;
}
