#include "scheduler/pods/model/storage_capacity.h"

#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "scheduler/pods/model/cluster.h"
#include "scheduler/pods/model/volumes.h"

static void free_capacity(void *value)
{
	struct storage_capacity *p = value;

	free(p->key);
	match_terms_free(p->nodes, p->nodes != NULL);
	free(p);
}

void storage_capacity_begin(struct cluster *c)
{
	c->capacity_by_key = strmap_create(free_capacity);
	c->capacity_drivers = strmap_create(NULL);
}

void storage_capacity_finish(struct cluster *c)
{
	strmap_destroy(c->capacity_by_key);
	strmap_destroy(c->capacity_drivers);
}

struct storage_capacity *storage_capacity_find(const struct cluster *c, struct str key)
{
	return strmap_get(c->capacity_by_key, key);
}

/* --- the list of a class -----------------------------------------------------------------------
 */

/* The label value that every node of the capacity has; NULL: the requirements name no single one.
 * Most drivers have a capacity for each node: of thousands, only those that require a label value
 * of the node are looked at. */
static const char *value_of(const struct match_term *nodes)
{
	for (size_t i = 0; nodes != NULL && i < nodes->nexprs; i++) {
		if (nodes->exprs[i].op == MATCH_IN && nodes->exprs[i].nvalues == 1) {
			return nodes->exprs[i].values[0];
		}
	}
	return NULL;
}

/* Index of the first one with this value. Values are interned, and compared by their addresses:
 * which of several has room makes no difference. */
static size_t position(const struct storage_class *k, const char *value)
{
	size_t low = 0, high = k->capacities.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if ((uintptr_t)k->capacities.v[mid]->value < (uintptr_t)value) {
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	return low;
}

static void enter(struct storage_class *k, struct storage_capacity *p)
{
	size_t at = position(k, p->value);

	vec_push(&k->capacities, p);
	memmove(&k->capacities.v[at + 1], &k->capacities.v[at],
		(k->capacities.n - at - 1) * sizeof(k->capacities.v[0]));
	k->capacities.v[at] = p;
}

static void leave(struct storage_class *k, const struct storage_capacity *p)
{
	size_t at = position(k, p->value);

	while (k->capacities.v[at] != p) {
		at++;
	}
	k->capacities.n--;
	memmove(&k->capacities.v[at], &k->capacities.v[at + 1],
		(k->capacities.n - at) * sizeof(k->capacities.v[0]));
}

/* --- objects -----------------------------------------------------------------------------------
 */

static void clear(struct cluster *c, struct storage_capacity *p)
{
	if (p->klass != NULL) {
		leave(p->klass, p);
		volumes_release_class(c, p->klass);
	}
	match_terms_free(p->nodes, p->nodes != NULL);
	p->klass = NULL;
	p->nodes = NULL;
	p->value = NULL;
}

bool storage_capacity_set(struct cluster *c, const struct storage_capacity_spec *spec)
{
	struct storage_capacity *p = storage_capacity_find(c, spec->key);
	bool same, more;

	if (p == NULL) {
		p = xmalloc_zero(1, sizeof(*p));
		p->key = xmalloc_dup_n(spec->key.p, spec->key.len);
		strmap_set(c->capacity_by_key, spec->key, p);
	}
	same = p->klass != NULL && str_eq_c(spec->klass, p->klass->name) &&
	       volumes_same_selector(p->nodes, spec->nodes);
	more = !same || spec->bytes > p->bytes;
	p->bytes = spec->bytes;
	if (!same) {
		struct storage_class *k = volumes_hold_class(c, spec->klass);

		clear(c, p);
		p->klass = k;
		p->nodes = match_terms_copy(spec->nodes, spec->nodes != NULL);
		p->value = value_of(p->nodes);
		enter(k, p);
	}
	/* Of a driver that does not count its storage no pod waits for it. */
	more &= p->klass->tracked;
	if (more) {
		volumes_wake_class(c, p->klass);
	}
	return more;
}

bool storage_capacity_remove(struct cluster *c, struct str key)
{
	struct storage_capacity *p = storage_capacity_find(c, key);

	if (p == NULL) {
		return false;
	}
	clear(c, p);
	(void)strmap_remove(c->capacity_by_key, key);
	return true;
}

struct driver_change {
	struct cluster *c;
	struct str name;
	bool tracks;
};

static bool change_class(struct str key, void *value, void *ctx)
{
	const struct driver_change *change = ctx;
	struct storage_class *k = value;

	(void)key;
	if (k->provisioner != NULL && str_eq_c(change->name, k->provisioner)) {
		k->tracked = change->tracks;
		volumes_wake_class(change->c, k);
	}
	return true;
}

bool storage_capacity_set_driver(struct cluster *c, struct str name, bool tracks)
{
	struct driver_change change = { c, name, tracks };

	if (storage_capacity_has_driver(c, name) == tracks) {
		return false;
	}
	if (tracks) {
		strmap_set(c->capacity_drivers, name, c);
	} else {
		(void)strmap_remove(c->capacity_drivers, name);
	}
	strmap_each(c->storage_class_by_name, change_class, &change);
	return true;
}

bool storage_capacity_has_driver(const struct cluster *c, struct str name)
{
	return strmap_has(c->capacity_drivers, name);
}

bool storage_capacity_is_tracked(const struct cluster *c, const char *provisioner)
{
	return provisioner != NULL && storage_capacity_has_driver(c, str_of(provisioner));
}

/* --- room --------------------------------------------------------------------------------------
 */

/* Requirements of none select every node. */
static bool has_room(const struct storage_capacity *p, const struct claim *cl, const struct node *n)
{
	return p->bytes >= cl->form.bytes && p->nodes != NULL &&
	       (p->nodes->nexprs == 0 || cluster_node_matches(n, p->nodes));
}

/* Of the capacities that require this value. */
static bool any_has_room(const struct claim *cl, const struct node *n, const char *value)
{
	const struct storage_class *k = cl->klass;

	for (size_t i = position(k, value); i < k->capacities.n; i++) {
		if (k->capacities.v[i]->value != value) {
			return false;
		}
		if (has_room(k->capacities.v[i], cl, n)) {
			return true;
		}
	}
	return false;
}

bool storage_capacity_suffices(const struct claim *cl, const struct node *n)
{
	if (cl->klass == NULL || !cl->klass->tracked || cl->form.bytes <= 0 ||
	    any_has_room(cl, n, NULL)) {
		return true;
	}
	for (size_t i = 0; i < n->labels.n; i++) {
		if (any_has_room(cl, n, n->labels.v[i].value)) {
			return true;
		}
	}
	return false;
}
