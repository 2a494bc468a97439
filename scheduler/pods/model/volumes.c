#include "scheduler/pods/model/volumes.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/intern.h"
#include "collections/strmap.h"
#include "scheduler/pods/model/cluster.h"
#include "scheduler/pods/model/storage_capacity.h"
#include "scheduler/pods/model/volume_limits.h"
#include "scheduler/pods/model/volume_match.h"

static void free_volume(struct volume *v)
{
	free(v->name);
	free(v->uid);
	free(v->ref_uid);
	match_terms_free(v->affinity, v->naffinity);
	match_terms_free(v->zones, v->nzones);
	vec_finish(&v->labels);
	vec_finish(&v->claims);
	free(v);
}

static void free_class(void *value)
{
	struct storage_class *k = value;

	free(k->name);
	match_terms_free(k->topologies, k->ntopologies);
	vec_finish(&k->unclaimed);
	vec_finish(&k->unbound);
	vec_finish(&k->capacities);
	free(k);
}

static void free_claim(struct claim *cl)
{
	free(cl->key);
	free(cl->uid);
	free(cl->owner);
	free(cl->selected);
	match_terms_free(cl->selector, cl->selector != NULL);
	vec_finish(&cl->refs);
	vec_finish(&cl->users);
	free(cl);
}

void volumes_begin(struct cluster *c)
{
	c->claim_by_key = strmap_create(NULL);
	c->volume_by_name = strmap_create(NULL);
	c->storage_class_by_name = strmap_create(free_class);
}

void volumes_finish(struct cluster *c)
{
	for (size_t i = 0; i < c->claims.n; i++) {
		if (c->claims.v[i] != NULL) {
			free_claim(c->claims.v[i]);
		}
	}
	for (size_t i = 0; i < c->volumes.n; i++) {
		if (c->volumes.v[i] != NULL) {
			free_volume(c->volumes.v[i]);
		}
	}
	slots_finish(&c->claims);
	slots_finish(&c->volumes);
	strmap_destroy(c->claim_by_key);
	strmap_destroy(c->volume_by_name);
	strmap_destroy(c->storage_class_by_name);
}

/* --- names that others refer to ----------------------------------------------------------------
 */

struct volume *volumes_find_volume(const struct cluster *c, struct str name)
{
	return strmap_get(c->volume_by_name, name);
}

static struct volume *get_volume(struct cluster *c, struct str name)
{
	struct volume *v = volumes_find_volume(c, name);

	if (v == NULL) {
		v = xmalloc_zero(1, sizeof(*v));
		v->name = xmalloc_dup_n(name.p, name.len);
		v->id = slots_add(&c->volumes, v);
		strmap_set(c->volume_by_name, name, v);
	}
	return v;
}

static void prune_volume(struct cluster *c, struct volume *v)
{
	if (v != NULL && !v->exists && v->claims.n == 0) {
		(void)strmap_remove(c->volume_by_name, str_of(v->name));
		slots_remove(&c->volumes, v->id);
		free_volume(v);
	}
}

static struct storage_class *get_class(struct cluster *c, struct str name)
{
	struct storage_class *k = strmap_get(c->storage_class_by_name, name);

	if (k == NULL) {
		k = xmalloc_zero(1, sizeof(*k));
		k->name = xmalloc_dup_n(name.p, name.len);
		strmap_set(c->storage_class_by_name, name, k);
	}
	return k;
}

static void prune_class(struct cluster *c, struct storage_class *k)
{
	if (k != NULL && !k->exists && k->uses == 0) {
		(void)strmap_remove(c->storage_class_by_name, str_of(k->name));
	}
}

struct storage_class *volumes_hold_class(struct cluster *c, struct str name)
{
	struct storage_class *k = get_class(c, name);

	k->uses++;
	return k;
}

void volumes_release_class(struct cluster *c, struct storage_class *k)
{
	k->uses--;
	prune_class(c, k);
}

static struct claim *get_claim(struct cluster *c, struct str key)
{
	struct claim *cl = volumes_find_claim(c, key);

	if (cl == NULL) {
		cl = xmalloc_zero(1, sizeof(*cl));
		cl->key = xmalloc_dup_n(key.p, key.len);
		cl->node = cl->unbound_pos = MODEL_NONE;
		cl->id = slots_add(&c->claims, cl);
		strmap_set(c->claim_by_key, key, cl);
	}
	return cl;
}

static void drop_id(struct claim *cl, struct volume *v)
{
	for (size_t i = 0; i < v->claims.n; i++) {
		if (v->claims.v[i] == cl->id) {
			vec_swap_remove(&v->claims, i);
			return;
		}
	}
}

/* The other way round than drop_id: of the volumes that refer to the claim. */
static void drop_ref(struct claim *cl, const struct volume *v)
{
	for (size_t i = 0; i < cl->refs.n; i++) {
		if (cl->refs.v[i] == v->id) {
			vec_swap_remove(&cl->refs, i);
			return;
		}
	}
}

static void set_class(struct cluster *c, struct storage_class **at, struct storage_class *k)
{
	struct storage_class *old = *at;

	if (k == old) {
		return;
	}
	*at = k;
	if (k != NULL) {
		k->uses++;
	}
	if (old != NULL) {
		volumes_release_class(c, old);
	}
}

static void leave_unbound(struct cluster *c, struct claim *cl)
{
	struct storage_class *k = cl->klass;

	if (cl->unbound_pos == MODEL_NONE) {
		return;
	}
	vec_swap_remove(&k->unbound, cl->unbound_pos);
	if (cl->unbound_pos < k->unbound.n) {
		c->claims.v[k->unbound.v[cl->unbound_pos]]->unbound_pos = cl->unbound_pos;
	}
	cl->unbound_pos = MODEL_NONE;
}

static void enter_unbound(struct claim *cl)
{
	if (cl->exists && !cl->bound && cl->klass != NULL) {
		cl->unbound_pos = (uint32_t)cl->klass->unbound.n;
		vec_push(&cl->klass->unbound, cl->id);
	}
}

static void set_names(struct cluster *c, struct claim *cl, struct volume *v,
		      struct storage_class *k)
{
	struct volume *old = cl->volume;

	if (v != old) {
		cl->volume = v;
		if (v != NULL) {
			vec_push(&v->claims, cl->id);
		}
		if (old != NULL) {
			drop_id(cl, old);
			prune_volume(c, old);
		}
	}
	leave_unbound(c, cl);
	set_class(c, &cl->klass, k);
	enter_unbound(cl);
}

static void prune_claim(struct cluster *c, struct claim *cl)
{
	if (cl->exists || cl->uses > 0 || cl->refs.n > 0) {
		return;
	}
	assert(cl->users.n == 0);
	(void)strmap_remove(c->claim_by_key, str_of(cl->key));
	slots_remove(&c->claims, cl->id);
	free_claim(cl);
}

struct claim *volumes_find_claim(const struct cluster *c, struct str key)
{
	return strmap_get(c->claim_by_key, key);
}

const char *volumes_claim_name(const struct claim *cl)
{
	return strchr(cl->key, '/') + 1;
}

/* --- objects -----------------------------------------------------------------------------------
 */

/* The pods that wait, and use the claim, are looked at again: with their gangs also those that
 * waited for nodes of another shape, since it may have been the claim for which they found none. */
static void wake(struct cluster *c, const struct claim *cl)
{
	for (size_t i = 0; i < cl->users.n; i++) {
		struct task *t = c->tasks.v[cl->users.v[i]];

		if (t->status != TASK_PENDING && t->status != TASK_BINDING) {
			continue;
		}
		if (t->retry_at == MODEL_TIME_NEVER) {
			cluster_podgroup_try_again(c, c->podgroups.v[t->podgroup]);
		}
		cluster_task_changed(c, t);
	}
}

static bool same_text(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool set_text(char **at, const char *text)
{
	if (same_text(*at, text)) {
		return false;
	}
	free(*at);
	*at = text == NULL ? NULL : xmalloc_dup(text);
	return true;
}

/* True: it was another value. */
static bool set_flag(bool *at, bool value)
{
	bool changed = *at != value;

	*at = value;
	return changed;
}

static bool same_form(const struct volume_form *a, const struct volume_form *b)
{
	return a->bytes == b->bytes && a->access == b->access && a->block == b->block &&
	       a->attributes == b->attributes;
}

static bool same_expr(const struct match_expr *a, const struct match_expr *b)
{
	if (a->key != b->key || a->op != b->op || a->nvalues != b->nvalues) {
		return false;
	}
	for (size_t i = 0; i < a->nvalues; i++) {
		if (a->values[i] != b->values[i]) {
			return false;
		}
	}
	return true;
}

bool volumes_same_selector(const struct match_term *a, const struct match_term *b)
{
	if (a == NULL || b == NULL || a->nexprs != b->nexprs) {
		return a == b;
	}
	for (size_t i = 0; i < a->nexprs; i++) {
		if (!same_expr(&a->exprs[i], &b->exprs[i])) {
			return false;
		}
	}
	return true;
}

/* For which volume it asks. */
static bool set_wish(struct claim *cl, const struct volumes_claim_spec *spec)
{
	bool changed = !same_form(&cl->form, &spec->form);

	cl->form = spec->form;
	if (!volumes_same_selector(cl->selector, spec->selector)) {
		match_terms_free(cl->selector, cl->selector != NULL);
		cl->selector = match_terms_copy(spec->selector, spec->selector != NULL);
		changed = true;
	}
	return changed;
}

/* Claims that are bound do not depend on their class. */
void volumes_wake_class(struct cluster *c, const struct storage_class *k)
{
	for (size_t i = 0; i < k->unbound.n; i++) {
		wake(c, c->claims.v[k->unbound.v[i]]);
	}
}

/* It is reserved no more, or its claimRef says so by now. Others can have it if it is free. */
static void release(struct cluster *c, struct volume *v)
{
	if (v->taker != NULL) {
		v->taker->taken = NULL;
		v->taker = NULL;
	}
	v->written = 0;
	if (!v->writing && volume_match_is_unclaimed(v)) {
		volumes_wake_class(c, v->klass);
	}
}

bool volumes_set_claim(struct cluster *c, const struct volumes_claim_spec *spec)
{
	struct claim *cl = get_claim(c, spec->key);
	struct volume *v = spec->volume.p == NULL ? NULL : get_volume(c, spec->volume);
	struct storage_class *k = spec->klass.p == NULL ? NULL : get_class(c, spec->klass);
	bool changed = v != cl->volume || k != cl->klass;

	changed |= set_flag(&cl->exists, true);
	changed |= set_flag(&cl->bound, spec->bound);
	changed |= set_flag(&cl->lost, spec->lost);
	changed |= set_flag(&cl->deleting, spec->deleting);
	changed |= set_wish(cl, spec);
	if (set_text(&cl->uid, spec->uid) || cl->bound) {
		changed |= cl->taken != NULL;
		if (cl->taken != NULL) {
			release(c, cl->taken);
		}
	}
	changed |= set_text(&cl->owner, spec->owner);
	changed |= set_text(&cl->selected, spec->selected);
	/* The answer to a write of ours may come after what it has made. */
	changed |= cl->written > cl->resource_version && cl->written <= spec->resource_version;
	cl->resource_version = spec->resource_version;
	set_names(c, cl, v, k);
	if (changed) {
		wake(c, cl);
	}
	return changed;
}

bool volumes_remove_claim(struct cluster *c, struct str key)
{
	struct claim *cl = volumes_find_claim(c, key);

	if (cl == NULL || !cl->exists) {
		return false;
	}
	cl->exists = cl->bound = cl->lost = cl->deleting = false;
	set_names(c, cl, NULL, NULL);
	if (cl->taken != NULL) {
		release(c, cl->taken);
	}
	(void)set_wish(cl, &(struct volumes_claim_spec){ .uid = NULL });
	(void)set_text(&cl->uid, NULL);
	(void)set_text(&cl->owner, NULL);
	(void)set_text(&cl->selected, NULL);
	cl->written = 0;
	wake(c, cl);
	prune_claim(c, cl);
	return true;
}

static void wake_volume(struct cluster *c, const struct volume *v)
{
	for (size_t i = 0; i < v->claims.n; i++) {
		wake(c, c->claims.v[v->claims.v[i]]);
	}
	if (v->ref != NULL) {
		wake(c, v->ref);
	}
	if (v->taker != NULL) {
		wake(c, v->taker);
	}
}

static void clear_volume(struct cluster *c, struct volume *v)
{
	struct claim *ref = v->ref;

	volume_match_leave(v);
	match_terms_free(v->affinity, v->naffinity);
	match_terms_free(v->zones, v->nzones);
	v->affinity = v->zones = NULL;
	v->naffinity = v->nzones = 0;
	v->exists = v->restricted = v->available = v->deleting = false;
	v->driver = v->host = NULL;
	v->form = (struct volume_form){ .bytes = 0 };
	vec_clear(&v->labels);
	if (ref != NULL) {
		drop_ref(ref, v);
		v->ref = NULL;
		prune_claim(c, ref);
	}
}

/* The host to which its affinity binds a volume, in the form that provisioners of local volumes
 * write. */
static const char *find_host(const struct volume *v)
{
	const struct match_expr *e = v->naffinity == 1 ? v->affinity[0].exprs : NULL;

	if (e == NULL || v->affinity[0].nexprs != 1 || e->op != MATCH_IN || e->nvalues != 1 ||
	    !(e->on_field || strcmp(e->key, VOLUME_MATCH_HOST_LABEL) == 0)) {
		return NULL;
	}
	return e->values[0];
}

static void fill_volume(struct volume *v, const struct volumes_volume_spec *spec)
{
	v->exists = true;
	v->restricted = spec->restricted;
	v->affinity = match_terms_copy(spec->affinity, spec->naffinity);
	v->naffinity = spec->naffinity;
	v->zones = match_terms_copy(spec->zones, spec->nzones);
	v->nzones = spec->nzones;
	v->driver = spec->driver;
	v->host = find_host(v);
	v->form = spec->form;
	v->available = spec->available;
	v->deleting = spec->deleting;
	for (size_t i = 0; i < spec->nlabels; i++) {
		vec_push(&v->labels, spec->labels[i]);
	}
	v->resource_version = spec->resource_version;
}

void volumes_set_volume(struct cluster *c, const struct volumes_volume_spec *spec)
{
	struct volume *v = get_volume(c, spec->name);

	if (v->ref != NULL) {
		wake(c, v->ref);
	}
	clear_volume(c, v);
	fill_volume(v, spec);
	set_class(c, &v->klass, spec->klass.p == NULL ? NULL : get_class(c, spec->klass));
	(void)set_text(&v->ref_uid, spec->ref_uid);
	if (spec->ref.p != NULL) {
		v->ref = get_claim(c, spec->ref);
		vec_push(&v->ref->refs, v->id);
	}
	wake_volume(c, v);
	/* Another object of the name, or it shows by now what was written. */
	if (set_text(&v->uid, spec->uid) || (v->written > 0 && v->written <= v->resource_version)) {
		release(c, v);
	}
	if (volume_match_enter(v)) {
		volumes_wake_class(c, v->klass);
	}
}

bool volumes_remove_volume(struct cluster *c, struct str name)
{
	struct volume *v = volumes_find_volume(c, name);

	if (v == NULL || !v->exists) {
		return false;
	}
	wake_volume(c, v);
	clear_volume(c, v);
	release(c, v);
	set_class(c, &v->klass, NULL);
	prune_volume(c, v);
	return true;
}

static void clear_class(struct storage_class *k)
{
	match_terms_free(k->topologies, k->ntopologies);
	k->topologies = NULL;
	k->ntopologies = 0;
	k->waits = k->restricted = k->tracked = false;
	k->provisioner = NULL;
}

void volumes_set_class(struct cluster *c, const struct volumes_class_spec *spec)
{
	struct storage_class *k = get_class(c, spec->name);

	clear_class(k);
	k->exists = true;
	k->waits = spec->waits;
	k->restricted = spec->restricted;
	k->provisioner = spec->provisioner;
	k->tracked = storage_capacity_is_tracked(c, spec->provisioner);
	k->topologies = match_terms_copy(spec->topologies, spec->ntopologies);
	k->ntopologies = spec->ntopologies;
	volumes_wake_class(c, k);
}

bool volumes_remove_class(struct cluster *c, struct str name)
{
	struct storage_class *k = strmap_get(c->storage_class_by_name, name);

	if (k == NULL || !k->exists) {
		return false;
	}
	clear_class(k);
	k->exists = false;
	volumes_wake_class(c, k);
	prune_class(c, k);
	return true;
}

static bool same_limits(const struct node *n, const struct volume_limit *limits, size_t count)
{
	if (n->limits.n != count) {
		return false;
	}
	for (size_t i = 0; i < count; i++) {
		if (n->limits.v[i].driver != limits[i].driver ||
		    n->limits.v[i].count != limits[i].count) {
			return false;
		}
	}
	return true;
}

void volumes_set_limits(struct cluster *c, struct str node, struct volume_limit *limits, size_t n)
{
	struct node *at = n > 0 ? cluster_node_get(c, node) : cluster_node_find(c, node);

	volume_limits_sort(limits, n);
	if (at == NULL || same_limits(at, limits, n)) {
		return;
	}
	vec_finish(&at->limits);
	for (size_t i = 0; i < n; i++) {
		vec_push(&at->limits, limits[i]);
	}
	c->nodes_gen++;
	c->node_objects_gen++;
	cluster_node_prune(c, at);
}

/* --- which nodes a volume allows ---------------------------------------------------------------
 */

bool volumes_fits_node(const struct volume *v, const struct node *n)
{
	if (!v->exists || !v->restricted) {
		return v->exists;
	}
	for (size_t i = 0; i < v->naffinity; i++) {
		if (cluster_node_matches(n, &v->affinity[i])) {
			return true;
		}
	}
	return false;
}

bool volumes_provides(const struct storage_class *k, const struct node *n)
{
	for (size_t i = 0; i < k->ntopologies; i++) {
		if (cluster_node_matches(n, &k->topologies[i])) {
			return true;
		}
	}
	return !k->restricted;
}

bool volumes_may_select(const struct claim *cl, const struct node *n)
{
	return cl->selected == NULL || strcmp(cl->selected, n->name) == 0;
}

/* Labels of zones and regions, the present one of a pair first. */
static const char *const zone_labels[][2] = {
	{ "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone" },
	{ "topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region" },
};

/* By text: the name may not be the one that is interned. NULL: the node has no such label. */
static const char *label_of(const struct node *n, const char *key)
{
	for (size_t i = 0; i < n->labels.n; i++) {
		if (strcmp(n->labels.v[i].key, key) == 0) {
			return n->labels.v[i].value;
		}
	}
	return NULL;
}

static bool has_zone(const struct node *n)
{
	for (size_t i = 0; i < 2; i++) {
		if (label_of(n, zone_labels[i][0]) != NULL ||
		    label_of(n, zone_labels[i][1]) != NULL) {
			return true;
		}
	}
	return false;
}

/* As in Kubernetes, a volume with a beta label also fits a node that has the present one alone. */
static const char *zone_of(const struct node *n, const char *key)
{
	const char *value = label_of(n, key);

	for (size_t i = 0; i < 2 && value == NULL; i++) {
		if (strcmp(key, zone_labels[i][1]) == 0) {
			value = label_of(n, zone_labels[i][0]);
		}
	}
	return value;
}

/* A node that says nothing about zones is in all of them: clusters of one zone have no labels. */
bool volumes_fits_zone(const struct volume *v, const struct node *n)
{
	if (v->nzones == 0 || !has_zone(n)) {
		return true;
	}
	for (size_t i = 0; i < v->zones->nexprs; i++) {
		const struct match_expr *e = &v->zones->exprs[i];

		if (!match_expr_holds(e, zone_of(n, e->key))) {
			return false;
		}
	}
	return true;
}

/* --- pods --------------------------------------------------------------------------------------
 */

void volumes_enter_class(struct cluster *c, struct pod_class *k)
{
	for (size_t i = 0; i < k->nclaims; i++) {
		CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;
		struct claim *cl;

		strbuf_printf(&key, "%s/%s", k->claims_in, k->claims[i].name);
		cl = get_claim(c, strbuf_str(&key));
		cl->uses++;
		k->claims[i].id = cl->id;
	}
}

void volumes_leave_class(struct cluster *c, const struct pod_class *k)
{
	for (size_t i = 0; i < k->nclaims; i++) {
		struct claim *cl = c->claims.v[k->claims[i].id];

		cl->uses--;
		prune_claim(c, cl);
	}
}

bool volumes_are_bound(const struct cluster *c, const struct task *t)
{
	for (size_t i = 0; t->klass != NULL && i < t->klass->nclaims; i++) {
		if (!c->claims.v[t->klass->claims[i].id]->bound) {
			return false;
		}
	}
	return true;
}

static void hold(const struct task *t, struct claim *cl)
{
	cl->binders++;
	cl->node = t->node;
}

static void let_go(struct claim *cl)
{
	if (--cl->binders == 0) {
		cl->node = MODEL_NONE;
	}
}

void volumes_select(struct cluster *c, const struct task *t)
{
	const struct node *n = c->nodes.v[t->node];

	for (size_t i = 0; i < t->klass->nclaims; i++) {
		struct claim *cl = c->claims.v[t->klass->claims[i].id];

		cl->writing |= !cl->bound && volume_match_reserved(c, cl) == NULL &&
			       cl->klass != NULL && cl->klass->provisioner != NULL &&
			       !same_text(cl->selected, n->name);
	}
}

void volumes_wait(struct cluster *c, struct task *t, int64_t by)
{
	bool waits = by != MODEL_TIME_NONE, waited = t->bind_by != MODEL_TIME_NONE;

	t->bind_by = by;
	if (waits && !waited) {
		assert(t->status == TASK_BINDING);
		t->binding_pos = (uint32_t)c->binding.n;
		vec_push(&c->binding, t->id);
		for (size_t i = 0; i < t->klass->nclaims; i++) {
			hold(t, c->claims.v[t->klass->claims[i].id]);
		}
	} else if (waited && !waits) {
		vec_swap_remove(&c->binding, t->binding_pos);
		if (t->binding_pos < c->binding.n) {
			c->tasks.v[c->binding.v[t->binding_pos]]->binding_pos = t->binding_pos;
		}
		for (size_t i = 0; i < t->klass->nclaims; i++) {
			let_go(c->claims.v[t->klass->claims[i].id]);
		}
	}
}

void volumes_provision(struct cluster *c, const struct task *t)
{
	for (size_t i = 0; i < t->klass->nclaims; i++) {
		struct claim *cl = c->claims.v[t->klass->claims[i].id];

		if (!cl->bound && volume_match_reserved(c, cl) == NULL &&
		    set_text(&cl->selected, c->nodes.v[t->node]->name)) {
			wake(c, cl);
		}
	}
}

void volumes_written(struct claim *cl, bool done, int64_t version)
{
	cl->writing = false;
	if (done && version > cl->written) {
		cl->written = version;
	}
}

void volumes_take(struct claim *cl, struct volume *v)
{
	assert(cl->taken == NULL && v->taker == NULL && !v->writing);
	cl->taken = v;
	v->taker = cl;
	v->writing = true;
	v->written = 0;
}

void volumes_claimed(struct cluster *c, struct volume *v, bool done, int64_t version)
{
	v->writing = false;
	if (done && version > v->resource_version) {
		v->written = version;
	} else {
		release(c, v);
	}
}

void volumes_enter_task(struct cluster *c, const struct task *t)
{
	for (size_t i = 0; t->klass != NULL && i < t->klass->nclaims; i++) {
		struct claim *cl = c->claims.v[t->klass->claims[i].id];

		vec_push(&cl->users, t->id);
		if (t->bind_by != MODEL_TIME_NONE) {
			hold(t, cl);
		}
	}
}

void volumes_leave_task(struct cluster *c, const struct task *t)
{
	for (size_t i = 0; t->klass != NULL && i < t->klass->nclaims; i++) {
		struct claim *cl = c->claims.v[t->klass->claims[i].id];
		size_t at = 0;

		while (cl->users.v[at] != t->id) {
			at++;
		}
		vec_swap_remove(&cl->users, at);
		if (t->bind_by != MODEL_TIME_NONE) {
			let_go(cl);
		}
	}
}

struct marking {
	struct intern *names;
	void (*mark)(struct intern *names, const struct match_term *terms, size_t n);
};

static void mark_volume(const struct marking *m, const struct volume *v)
{
	m->mark(m->names, v->affinity, v->naffinity);
	m->mark(m->names, v->zones, v->nzones);
	intern_mark_name(m->names, v->driver);
	intern_mark_name(m->names, v->form.attributes);
	for (size_t i = 0; i < v->labels.n; i++) {
		intern_mark_name(m->names, v->labels.v[i].key);
		intern_mark_name(m->names, v->labels.v[i].value);
	}
}

static bool mark_class(struct str key, void *value, void *ctx)
{
	const struct marking *m = ctx;
	const struct storage_class *k = value;

	(void)key;
	m->mark(m->names, k->topologies, k->ntopologies);
	intern_mark_name(m->names, k->provisioner);
	for (size_t i = 0; i < k->capacities.n; i++) {
		m->mark(m->names, k->capacities.v[i]->nodes, k->capacities.v[i]->nodes != NULL);
	}
	return true;
}

void volumes_mark_terms(const struct cluster *c,
			void (*mark)(struct intern *names, const struct match_term *terms,
				     size_t n))
{
	struct marking m = { c->names, mark };

	for (size_t i = 0; i < c->volumes.n; i++) {
		if (c->volumes.v[i] != NULL) {
			mark_volume(&m, c->volumes.v[i]);
		}
	}
	for (size_t i = 0; i < c->claims.n; i++) {
		if (c->claims.v[i] != NULL) {
			m.mark(c->names, c->claims.v[i]->selector,
			       c->claims.v[i]->selector != NULL);
			intern_mark_name(c->names, c->claims.v[i]->form.attributes);
		}
	}
	strmap_each(c->storage_class_by_name, mark_class, &m);
}
