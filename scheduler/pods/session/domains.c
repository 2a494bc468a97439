#include "scheduler/pods/session/domains.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/xmalloc.h"
#include "collections/bitset.h"
#include "scheduler/pods/model/selectors.h"
#include "scheduler/pods/session/hooks.h"
#include "scheduler/pods/session/session_priv.h"

/* So much memory for tables; then all are dropped, and made again when they are asked for. */
#define BYTES_MAX ((size_t)64 << 20)

enum counted {
	COUNTS_SELECTED, /* pods that the selector selects */
	COUNTS_TOGETHER, /* pods that all terms of affinity of the class select */
	COUNTS_CARRIERS, /* pods with the required anti-affinity */
	COUNTS_WEIGHTS,  /* the weights of preferences that pods have */
};

struct entry {
	struct domain_table table; /* first */
	enum counted what;
	const struct pod_selector *selector; /* under which it is listed */
	const struct pod_class *klass;       /* COUNTS_TOGETHER */
	uint64_t version, counted;           /* of answers; of counts */
	uint64_t listed;                     /* id of the view that has listed it last */
	struct entry *next;                  /* of this selector */
};

struct entry_list { /* grows at powers of two */
	struct entry **v;
	size_t n;
};

struct domain_view {
	const struct pod_class *klass;
	const struct pod_labels *labels; /* of a pod that has it */
	uint64_t id;
	struct entry **own; /* by term of the class; of a spread NULL until it is asked for */
	struct entry_list forbidding, preferring;
	bool scored;                    /* preferences have an effect */
	const struct domain_key **keys; /* of all of these */
	size_t nkeys, keys_cap;
	uint8_t **avoided;        /* by term, then by domain; NULL: none */
	uint64_t version;         /* of avoided */
	struct domain_view *next; /* of this class */
};

struct domains {
	bool used; /* some pod in the cluster has terms */
	struct arena *arena;
	struct entry **by_selector;    /* by selector id; NULL: nothing was made yet */
	struct domain_view **by_class; /* by class id */
	struct domain_key *keys;
	struct domain_names *names;   /* of all labels of nodes; NULL: not listed yet */
	struct domain_key *nowhere;   /* for keys that no node has; NULL: not asked for yet */
	struct domain_view *avoiding; /* NULL: none */
	uint64_t clock;
};

struct domains *domains_create(void)
{
	struct domains *d = xmalloc_zero(1, sizeof(*d));

	d->arena = arena_create(1 << 16);
	return d;
}

void domains_destroy(struct domains *d)
{
	if (d != NULL) {
		arena_destroy(d->arena);
		free(d);
	}
}

static void drop_all(struct domains *d)
{
	arena_reset(d->arena);
	d->by_selector = NULL;
	d->by_class = NULL;
	d->keys = NULL;
	d->names = NULL;
	d->nowhere = NULL;
	d->avoiding = NULL;
}

void domains_open(struct session *s)
{
	drop_all(s->domains);
	s->domains->used = slots_count(&s->cluster->selectors->selectors) > 0;
}

/* --- pods --------------------------------------------------------------------------------------
 */

static enum domain_state state_of(const struct session *s, const struct task *t)
{
	switch (session_task_status(s, t)) {
	case TASK_PIPELINED:
		return DOMAIN_PIPELINED;
	case TASK_RELEASING:
		return session_task_node(s, t) == MODEL_NONE ? DOMAIN_OUT : DOMAIN_RELEASING;
	case TASK_ALLOCATED:
	case TASK_BINDING:
	case TASK_BOUND:
	case TASK_RUNNING:
	case TASK_UNKNOWN:
		return session_task_node(s, t) == MODEL_NONE ? DOMAIN_OUT : DOMAIN_HERE;
	case TASK_PENDING:
	case TASK_SUCCEEDED:
	case TASK_FAILED:
	case TASK_STATUS_COUNT_:
		break;
	}
	return DOMAIN_OUT;
}

static int32_t carried(const struct entry *e, const struct pod_class *k, enum pod_term_kind kind)
{
	int32_t sum = 0;

	for (size_t i = 0; k != NULL && i < k->nterms; i++) {
		const struct pod_term *term = &k->terms[i];

		if (term->kind == kind && term->selector == e->selector &&
		    term->topology_key == e->table.key->name) {
			sum += kind == POD_TERM_PREFERRED ? term->weight : 1;
		}
	}
	return sum;
}

/* By how much the pod counts in the table. */
static int32_t counts(const struct entry *e, const struct task *t)
{
	const struct pod_class *k = e->klass;

	switch (e->what) {
	case COUNTS_SELECTED:
		return selectors_selects(e->selector, t->labels);
	case COUNTS_TOGETHER:
		for (size_t i = 0; i < k->nterms && k->terms[i].kind == POD_TERM_AFFINITY; i++) {
			if (!selectors_selects(k->terms[i].selector, t->labels)) {
				return 0;
			}
		}
		return 1;
	case COUNTS_CARRIERS:
		return carried(e, t->klass, POD_TERM_ANTI_AFFINITY) > 0;
	case COUNTS_WEIGHTS:
		return carried(e, t->klass, POD_TERM_PREFERRED);
	}
	return 0;
}

static void add(struct domains *d, struct entry *e, uint32_t node, enum domain_state state,
		int32_t by)
{
	if (state == DOMAIN_OUT) {
		return;
	}
	e->counted = ++d->clock;
	if (domain_table_add(&e->table, d->arena, node, state, by)) {
		e->version = e->counted;
	}
}

struct move {
	uint32_t from, to; /* nodes */
	enum domain_state was, is;
};

static bool counts_carriers(const struct entry *e)
{
	return e->what == COUNTS_CARRIERS || e->what == COUNTS_WEIGHTS;
}

static void move_in(struct domains *d, uint32_t selector, bool carries, const struct task *t,
		    const struct move *m)
{
	for (struct entry *e = d->by_selector[selector]; e != NULL; e = e->next) {
		int32_t by = counts_carriers(e) == carries ? counts(e, t) : 0;

		if (by != 0) {
			add(d, e, m->from, m->was, -by);
			add(d, e, m->to, m->is, by);
		}
	}
}

static bool is_carried(const struct pod_class *k, size_t i)
{
	return k->terms[i].kind == POD_TERM_ANTI_AFFINITY || k->terms[i].kind == POD_TERM_PREFERRED;
}

/* Two terms of a pod may have one selector. */
static bool is_first(const struct pod_class *k, size_t i)
{
	for (size_t j = 0; j < i; j++) {
		if (is_carried(k, j) && k->terms[j].selector == k->terms[i].selector) {
			return false;
		}
	}
	return is_carried(k, i);
}

void domains_update(struct session *s, const struct task *t)
{
	struct overlay_task *slot;
	struct move m;

	if (!s->domains->used || (t->klass->nterms == 0 &&
				  (t->labels == NULL || idset_is_empty(&t->labels->selectors)))) {
		return;
	}
	slot = session_priv_task(s, t);
	m = (struct move){ slot->counted_node, session_task_node(s, t),
			   (enum domain_state)slot->counted, state_of(s, t) };
	if (m.was == m.is && m.from == m.to) {
		return;
	}
	slot->counted = (uint8_t)m.is;
	slot->counted_node = m.to;
	if (s->domains->by_selector == NULL) {
		return;
	}
	for (struct idset_cursor i = IDSET_FIRST;
	     t->labels != NULL && idset_next(&t->labels->selectors, &i);) {
		move_in(s->domains, i.id, false, t, &m);
	}
	for (size_t i = 0; i < t->klass->nterms; i++) {
		if (is_first(t->klass, i)) {
			move_in(s->domains, t->klass->terms[i].selector->id, true, t, &m);
		}
	}
}

/* --- tables ------------------------------------------------------------------------------------
 */

/* A tenant may invent any number of topology keys. Those that no node has are one: no pod is in any
 * of their domains. */
static const struct domain_key *key_of_nowhere(const struct session *s)
{
	struct domains *d = s->domains;

	if (d->nowhere == NULL) {
		d->nowhere = domain_table_key(d->arena, s->cluster, NULL);
	}
	return d->nowhere;
}

static const struct domain_key *key_of(const struct session *s, const char *name)
{
	struct domains *d = s->domains;
	struct domain_key *k;

	for (k = d->keys; k != NULL; k = k->next) {
		if (k->name == name) {
			return k;
		}
	}
	if (d->names == NULL) {
		d->names = domain_table_names(d->arena, s->cluster);
	}
	if (!domain_table_has_name(d->names, name)) {
		return key_of_nowhere(s);
	}
	k = domain_table_key(d->arena, s->cluster, name);
	k->next = d->keys;
	d->keys = k;
	return k;
}

/* As domains_update has counted it last. */
static void count_task(const struct session *s, struct entry *e, const struct task *t, int32_t by)
{
	const struct overlay_task *slot = &s->overlay->tasks[t->id];

	if (slot->epoch != s->overlay->epoch) {
		add(s->domains, e, t->node, state_of(s, t), by);
	} else {
		add(s->domains, e, slot->counted_node, (enum domain_state)slot->counted, by);
	}
}

/* One of the pods answers for all: they have the same labels, or are of one class. */
static void count_tasks(const struct session *s, struct entry *e, const uint32_t *ids, size_t n)
{
	int32_t by = n == 0 ? 0 : counts(e, session_task(s, ids[0]));

	for (size_t i = 0; by != 0 && i < n; i++) {
		count_task(s, e, session_task(s, ids[i]), by);
	}
}

static void count_selected(const struct session *s, struct entry *e)
{
	const struct selector_index *x = s->cluster->selectors;

	for (struct idset_cursor i = IDSET_FIRST; idset_next(&e->selector->labels, &i);) {
		const struct pod_labels *l = x->labels.v[i.id];

		count_tasks(s, e, l->tasks.v, l->tasks.n);
	}
}

static void count_carriers(const struct session *s, struct entry *e)
{
	for (size_t i = 0; i < e->selector->classes.n; i++) {
		const struct pod_class *k = s->cluster->class_by_id.v[e->selector->classes.v[i]];

		count_tasks(s, e, k->tasks.v, k->tasks.n);
	}
}

static struct entry *new_entry(const struct session *s, const struct pod_term *t,
			       const struct domain_key *key, enum counted what)
{
	struct domains *d = s->domains;
	struct entry *e = arena_zero(d->arena, 1, sizeof(*e));

	e->table.key = key;
	e->what = what;
	e->selector = t->selector;
	e->version = e->counted = ++d->clock;
	e->next = d->by_selector[t->selector->id];
	d->by_selector[t->selector->id] = e;
	return e;
}

/* Counts that are not of one class alone are shared by all views. */
static struct entry *shared_entry(const struct session *s, const struct pod_term *t,
				  enum counted what)
{
	const struct domain_key *key = key_of(s, t->topology_key);
	struct entry *e;

	for (e = s->domains->by_selector[t->selector->id]; e != NULL; e = e->next) {
		if (e->what == what && e->table.eligible == NULL && e->table.key == key) {
			return e;
		}
	}
	e = new_entry(s, t, key, what);
	if (counts_carriers(e)) {
		count_carriers(s, e);
	} else {
		count_selected(s, e);
	}
	return e;
}

/* Listed under the first selector, since it counts no pod that this one does not select. */
static struct entry *together_entry(const struct session *s, const struct pod_class *k, size_t i)
{
	struct pod_term t = k->terms[i];
	struct entry *e;

	t.selector = k->terms[0].selector;
	e = new_entry(s, &t, key_of(s, t.topology_key), COUNTS_TOGETHER);
	e->klass = k;
	count_selected(s, e);
	return e;
}

/* --- views -------------------------------------------------------------------------------------
 */

/* Preferences have no effect where no plugin scores domains. */
static bool bears(const struct session *s, enum pod_term_kind kind)
{
	return !pod_term_is_preference(kind) || hooks_scores_domains(s);
}

static bool has_several_affinities(const struct pod_class *k)
{
	return k->nterms > 1 && k->terms[1].kind == POD_TERM_AFFINITY;
}

/* Counts of own terms depend on nothing of the pod but its class: all views of it share them. */
static void make_own(const struct session *s, struct domain_view *v)
{
	const struct pod_class *k = v->klass;
	const struct domain_view *same = s->domains->by_class[k->id];

	if (same != NULL) {
		v->own = same->own;
		return;
	}
	v->own = arena_zero(s->domains->arena, k->nterms + 1, sizeof(v->own[0]));
	for (size_t i = 0; i < k->nterms; i++) {
		if (k->terms[i].kind == POD_TERM_SPREAD ||
		    k->terms[i].kind == POD_TERM_SPREAD_ANYWAY ||
		    !bears(s, (enum pod_term_kind)k->terms[i].kind)) {
			continue;
		}
		v->own[i] = k->terms[i].kind == POD_TERM_AFFINITY && has_several_affinities(k)
				    ? together_entry(s, k, i)
				    : shared_entry(s, &k->terms[i], COUNTS_SELECTED);
	}
}

/* An entry is for one list of a view, by what it counts. */
static void list_add(struct domains *d, const struct domain_view *v, struct entry_list *l,
		     struct entry *e)
{
	if (e->listed == v->id) {
		return;
	}
	e->listed = v->id;
	if ((l->n & (l->n - 1)) == 0) {
		struct entry **grown = arena_alloc(d->arena, 2 * (l->n + 1) * sizeof(*grown));

		for (size_t i = 0; i < l->n; i++) {
			grown[i] = l->v[i];
		}
		l->v = grown;
	}
	l->v[l->n++] = e;
}

/* Which terms of others a list of a view is of. */
struct carried {
	enum pod_term_kind kind;
	enum counted what;
};

/* Of the terms of the class those with the selector. */
static void list_class(const struct session *s, const struct domain_view *v,
		       const struct pod_class *k, const struct pod_selector *x, struct carried of,
		       struct entry_list *ret)
{
	for (size_t n = 0; n < k->nterms; n++) {
		const struct pod_term *t = &k->terms[n];

		if (t->kind == of.kind && t->selector == x && key_of(s, t->topology_key)->n > 0) {
			list_add(s->domains, v, ret, shared_entry(s, t, of.what));
		}
	}
}

/* The terms of others, of one kind, that select the pod, also where none of their pods has a node
 * yet: this session may place some. */
static void list_carried(const struct session *s, const struct domain_view *v, struct carried of,
			 struct entry_list *ret)
{
	const struct cluster *c = s->cluster;

	for (struct idset_cursor i = IDSET_FIRST;
	     v->labels != NULL && idset_next(&v->labels->selectors, &i);) {
		const struct pod_selector *x = c->selectors->selectors.v[i.id];

		for (size_t j = 0; x->by_kind[of.kind] > 0 && j < x->classes.n; j++) {
			const struct pod_class *k = c->class_by_id.v[x->classes.v[j]];

			list_class(s, v, k, x, of, ret);
		}
	}
}

static void add_key(struct domains *d, struct domain_view *v, const struct domain_key *key)
{
	for (size_t i = 0; i < v->nkeys; i++) {
		if (v->keys[i] == key) {
			return;
		}
	}
	if (v->nkeys == v->keys_cap) {
		const struct domain_key **grown =
			arena_alloc(d->arena, 2 * (v->nkeys + 1) * sizeof(*grown));

		for (size_t i = 0; i < v->nkeys; i++) {
			grown[i] = v->keys[i];
		}
		v->keys = grown;
		v->keys_cap = 2 * (v->nkeys + 1);
	}
	v->keys[v->nkeys++] = key;
}

static void make_keys(const struct session *s, struct domain_view *v)
{
	for (size_t i = 0; i < v->klass->nterms; i++) {
		if (bears(s, (enum pod_term_kind)v->klass->terms[i].kind)) {
			add_key(s->domains, v, key_of(s, v->klass->terms[i].topology_key));
		}
	}
	for (size_t i = 0; i < v->forbidding.n; i++) {
		add_key(s->domains, v, v->forbidding.v[i]->table.key);
	}
	for (size_t i = 0; i < v->preferring.n; i++) {
		add_key(s->domains, v, v->preferring.v[i]->table.key);
	}
}

static bool is_concerned(const struct session *s, const struct task *t)
{
	const struct selector_index *x = s->cluster->selectors;

	if (!s->domains->used) {
		return false;
	}
	for (size_t i = 0; i < t->klass->nterms; i++) {
		if (bears(s, (enum pod_term_kind)t->klass->terms[i].kind)) {
			return true;
		}
	}
	for (struct idset_cursor i = IDSET_FIRST;
	     t->labels != NULL && idset_next(&t->labels->selectors, &i);) {
		const struct pod_selector *by = x->selectors.v[i.id];

		if (by->by_kind[POD_TERM_ANTI_AFFINITY] > 0 ||
		    (by->by_kind[POD_TERM_PREFERRED] > 0 && bears(s, POD_TERM_PREFERRED))) {
			return true;
		}
	}
	return false;
}

static void begin(const struct session *s)
{
	struct domains *d = s->domains;

	if (arena_used(d->arena) > BYTES_MAX) {
		drop_all(d);
	}
	if (d->by_selector == NULL) {
		d->by_selector = arena_zero(d->arena, s->cluster->selectors->selectors.n + 1,
					    sizeof(d->by_selector[0]));
		d->by_class =
			arena_zero(d->arena, s->cluster->class_by_id.n + 1, sizeof(d->by_class[0]));
	}
}

static struct domain_view *find_view(const struct session *s, const struct task *t)
{
	struct domains *d = s->domains;
	struct domain_view *v;

	if (!is_concerned(s, t)) {
		return NULL;
	}
	begin(s);
	for (v = d->by_class[t->klass->id]; v != NULL; v = v->next) {
		if (selectors_are_alike(v->labels, t->labels)) {
			return v;
		}
	}
	v = arena_zero(d->arena, 1, sizeof(*v));
	v->klass = t->klass;
	v->labels = t->labels;
	v->id = ++d->clock;
	make_own(s, v);
	list_carried(s, v, (struct carried){ POD_TERM_ANTI_AFFINITY, COUNTS_CARRIERS },
		     &v->forbidding);
	v->scored = hooks_scores_domains(s);
	if (v->scored) {
		list_carried(s, v, (struct carried){ POD_TERM_PREFERRED, COUNTS_WEIGHTS },
			     &v->preferring);
	}
	make_keys(s, v);
	v->next = d->by_class[t->klass->id];
	d->by_class[t->klass->id] = v;
	return v;
}

const struct domain_view *domains_view(const struct session *s, const struct task *t)
{
	return find_view(s, t);
}

uint64_t domains_view_id(const struct domain_view *v)
{
	return v == NULL ? 0 : v->id;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

uint64_t domains_view_version(const struct domain_view *v)
{
	uint64_t version = v == NULL ? 0 : v->version;

	for (size_t i = 0; v != NULL && i < v->klass->nterms; i++) {
		if (v->own[i] != NULL && !pod_term_is_preference(v->klass->terms[i].kind)) {
			version = later(version, v->own[i]->version);
		}
	}
	for (size_t i = 0; v != NULL && i < v->forbidding.n; i++) {
		version = later(version, v->forbidding.v[i]->version);
	}
	return version;
}

uint64_t domains_view_score_version(const struct domain_view *v)
{
	uint64_t version = 0;

	for (size_t i = 0; v != NULL && v->scored && i < v->klass->nterms; i++) {
		if (!pod_term_is_preference(v->klass->terms[i].kind)) {
			continue;
		}
		/* The table of a spread is made when it is asked for first. */
		version = later(version, v->own[i] == NULL ? v->id : v->own[i]->counted);
	}
	for (size_t i = 0; v != NULL && i < v->preferring.n; i++) {
		version = later(version, v->preferring.v[i]->counted);
	}
	return version;
}

bool domains_view_decides(const struct domain_view *v)
{
	return v != NULL &&
	       (v->forbidding.n > 0 ||
		(v->klass->nterms > 0 && !pod_term_is_preference(v->klass->terms[0].kind)));
}

const struct domain_key *const *domains_keys(const struct domain_view *v, size_t *ret_n)
{
	*ret_n = v->nkeys;
	return v->keys;
}

bool domains_selects_itself(const struct domain_view *v, size_t i)
{
	return selectors_selects(v->klass->terms[i].selector, v->labels);
}

bool domains_selected(const struct domain_view *v, size_t i, const struct node *n,
		      struct domain_count *ret)
{
	return domain_table_get(&v->own[i]->table, n, ret);
}

struct domain_count domains_total(const struct domain_view *v, size_t i)
{
	return v->own[i]->table.total;
}

size_t domains_forbidding(const struct domain_view *v)
{
	return v->forbidding.n;
}

bool domains_forbids(const struct domain_view *v, size_t set, const struct node *n,
		     struct domain_count *ret)
{
	return domain_table_get(&v->forbidding.v[set]->table, n, ret);
}

size_t domains_preferring(const struct domain_view *v)
{
	return v->preferring.n;
}

bool domains_prefers(const struct domain_view *v, size_t set, const struct node *n,
		     struct domain_count *ret)
{
	return domain_table_get(&v->preferring.v[set]->table, n, ret);
}

/* Whether the pod would be the first that its own terms select. */
static bool leads(const struct domain_view *v)
{
	const struct pod_class *k = v->klass;

	for (size_t i = 0; i < k->nterms && k->terms[i].kind == POD_TERM_AFFINITY; i++) {
		struct domain_count total = domains_total(v, i);

		if (!domains_selects_itself(v, i) || total.here + total.pipelined > 0) {
			return false;
		}
	}
	return k->nterms > 0 && k->terms[0].kind == POD_TERM_AFFINITY;
}

static void start_avoiding(struct domains *d, struct domain_view *v)
{
	const struct pod_class *k = v->klass;

	v->avoided = arena_zero(d->arena, k->nterms, sizeof(v->avoided[0]));
	for (size_t i = 0; i < k->nterms && k->terms[i].kind == POD_TERM_AFFINITY; i++) {
		v->avoided[i] =
			arena_zero(d->arena, v->own[i]->table.key->n + 1, sizeof(*v->avoided[i]));
	}
	d->avoiding = v;
}

bool domains_avoid(struct session *s, const struct task *t, const struct node *n)
{
	struct domain_view *v = find_view(s, t);

	if (v == NULL || !leads(v) || (s->domains->avoiding != NULL && s->domains->avoiding != v)) {
		return false;
	}
	if (v->avoided == NULL) {
		start_avoiding(s->domains, v);
	}
	for (size_t i = 0; i < v->klass->nterms && v->avoided[i] != NULL; i++) {
		uint32_t domain = v->own[i]->table.key->of[n->id];

		if (domain != DOMAIN_NONE) {
			v->avoided[i][domain] = 1;
		}
	}
	v->version = ++s->domains->clock;
	return true;
}

void domains_avoid_nothing(struct session *s)
{
	struct domain_view *v = s->domains->avoiding;

	if (v != NULL) {
		v->avoided = NULL;
		v->version = ++s->domains->clock;
		s->domains->avoiding = NULL;
	}
}

bool domains_is_avoided(const struct domain_view *v, size_t i, const struct node *n)
{
	uint32_t domain = v->own[i]->table.key->of[n->id];

	return v->avoided != NULL && domain != DOMAIN_NONE && v->avoided[i][domain] != 0;
}

static struct entry *spread_entry(const struct session *s, const struct pod_class *k, size_t i,
				  domain_eligible_fn eligible)
{
	const struct cluster *c = s->cluster;
	uint64_t *may = arena_zero(s->domains->arena, BITSET_WORDS(c->nodes.n + 1), sizeof(*may));
	const struct domain_key *key = key_of(s, k->terms[i].topology_key);
	struct entry *e = new_entry(s, &k->terms[i], key, COUNTS_SELECTED);

	for (size_t n = 0; n < c->nodes.n; n++) {
		if (c->nodes.v[n] != NULL && c->nodes.v[n]->exists &&
		    eligible(k, i, c->nodes.v[n])) {
			bitset_set(may, n);
		}
	}
	domain_table_limit(&e->table, s->domains->arena, c, may);
	count_selected(s, e);
	return e;
}

const struct domain_table *domains_spread(const struct session *s, const struct domain_view *v,
					  size_t i, domain_eligible_fn eligible)
{
	if (v->own[i] == NULL) {
		v->own[i] = spread_entry(s, v->klass, i, eligible);
	}
	return &v->own[i]->table;
}
