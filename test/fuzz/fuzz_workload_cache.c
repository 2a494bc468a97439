/* The Workload cache gets objects of the quota kinds as watches deliver them, in any order and of
 * any content, with cycles and outcomes of writes between them. After each line: the lists of
 * waiting Workloads and the sums of quota and usage agree with the Workloads, every object that was
 * accepted is in the model, and a Workload holds the quota that its status says. A line is a letter
 * for the kind, and the object or the key of one that is deleted; or one of the commands of `step`.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/kinds.h"
#include "api/kueue/kueue_keys.h"
#include "api/meta/meta.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "collections/strmap.h"
#include "enc/field.h"
#include "enc/json/cut.h"
#include "kube/reflector/reflector.h"
#include "lib/quota/quota_invariants.h"
#include "lib/quota/quota_naive.h"
#include "lib/workloads/workload_cache_fixture.h"
#include "scheduler/base/message_decode.h"
#include "scheduler/workloads/conf/kueue_conf.h"
#include "scheduler/workloads/model/quota_store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define LINES_MAX 60
#define SUMS_MAX (INT64_C(1) << 40) /* beyond, the forest saturates and quota_naive does not */

struct play {
	struct workload_cache_fixture f;
	struct strmap *kept[SCHED_RESOURCE_COUNT_]; /* accepted, by key */
	bool refused;                               /* the object of this line */
};

static void on_bad(void *ctx, enum sched_resource r UNUSED, struct str key UNUSED,
		   const char *text UNUSED)
{
	((struct play *)ctx)->refused = true;
}

/* --- what must hold ----------------------------------------------------------------------------*/

static bool exists(const struct quota_model *q, enum sched_resource r, struct str key)
{
	const struct quota_node *n;
	const struct flavor *f;

	switch ((int)r) {
	case SCHED_CLUSTER_QUEUES:
		n = quota_queue_find(q, key);
		return n != NULL && n->exists;
	case SCHED_COHORTS:
		n = quota_cohort_find(q, key);
		return n != NULL && n->exists;
	case SCHED_FLAVORS:
		f = quota_flavor_find(q, key);
		return f != NULL && f->exists;
	case SCHED_LOCAL_QUEUES:
		return quota_local_find(q, key) != NULL;
	case SCHED_WORKLOADS:
		return quota_workload_find(q, key) != NULL;
	case SCHED_ADMISSION_CHECKS:
		return quota_check_find(q, key) != NULL;
	case SCHED_NAMESPACES:
		return quota_namespace_find(q, key) != NULL;
	default:
		return true;
	}
}

/* An object that was accepted. */
struct kept {
	const struct quota_model *q;
	enum sched_resource r;
};

static bool check_object(struct str key, void *value UNUSED, void *ctx)
{
	const struct kept *k = ctx;

	assert(exists(k->q, k->r, key));
	return true;
}

static void check_objects(const struct play *p)
{
	for (int r = 0; r < SCHED_RESOURCE_COUNT_; r++) {
		struct kept k = { workload_cache_model(p->f.cache), (enum sched_resource)r };

		strmap_each(p->kept[r], check_object, &k);
	}
}

/* A Workload with a status that says that it holds quota of a ClusterQueue does hold it, if the
 * ClusterQueue exists. Not the reverse: what a write may have given it, or a status that cannot be
 * read any more, is kept. */
static void check_holding(const struct play *p)
{
	const struct quota_model *q = workload_cache_model(p->f.cache);

	for (size_t i = 0; i < q->workloads.n; i++) {
		const struct workload *w = q->workloads.v[i];
		const struct workload_status *s =
			w == NULL ? NULL : workload_cache_status(p->f.cache, w);
		const struct quota_node *n =
			s == NULL || !s->has_admission || s->queue == NULL ||
					!workload_status_is_true(s, KUEUE_QUOTA_RESERVED) ||
					workload_status_is_true(s, KUEUE_FINISHED)
				? NULL
				: quota_queue_find(q, str_of(s->queue));

		assert(w == NULL || w->holding.node != MODEL_NONE || n == NULL || !n->exists ||
		       !w->object.active);
	}
}

static bool is_moderate(const struct quota_model *q)
{
	if (q->nodes.n > QUOTA_NAIVE_MAX) {
		return false;
	}
	for (size_t i = 0; i < q->workloads.n; i++) {
		const struct workload *w = q->workloads.v[i];

		for (size_t k = 0; w != NULL && k < w->holding.usage.n; k++) {
			if (w->holding.usage.v[k].value > SUMS_MAX) {
				return false;
			}
		}
	}
	for (uint32_t pair = 0; pair < q->pairs.n; pair++) {
		for (size_t i = 0; i < q->nodes.n; i++) {
			const struct quota_cell *c =
				q->nodes.v[i] == NULL ? NULL : quota_node_cell(q->nodes.v[i], pair);

			if (c != NULL && c->nominal > SUMS_MAX) {
				return false;
			}
		}
	}
	return true;
}

static void check(const struct play *p)
{
	CLEANUP(strbuf_finish) struct strbuf problems = STRBUF_INIT;

	if (workload_cache_is_synced(p->f.cache)) {
		if (is_moderate(workload_cache_model(p->f.cache))) {
			quota_invariants_check_forest(workload_cache_forest(p->f.cache), &problems);
		}
		check_objects(p);
		check_holding(p);
	}
	if (problems.len > 0) {
		fprintf(stderr, "%s", problems.p);
		abort();
	}
}

/* --- lines -------------------------------------------------------------------------------------*/

static enum sched_resource kind_of(char letter)
{
	static const struct {
		char letter;
		enum sched_resource kind;
	} kinds[] = {
		{ 'N', SCHED_NAMESPACES },
		{ 'F', SCHED_FLAVORS },
		{ 'Q', SCHED_CLUSTER_QUEUES },
		{ 'C', SCHED_COHORTS },
		{ 'L', SCHED_LOCAL_QUEUES },
		{ 'W', SCHED_WORKLOADS },
		{ 'P', SCHED_WORKLOAD_PRIORITY_CLASSES },
		{ 'K', SCHED_ADMISSION_CHECKS },
		{ 'R', SCHED_LIMIT_RANGES },
		{ 'U', SCHED_RUNTIME_CLASSES },
		{ 'T', SCHED_TOPOLOGIES },
	};

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		if (kinds[i].letter == letter) {
			return kinds[i].kind;
		}
	}
	return SCHED_RESOURCE_COUNT_;
}

static const struct api_meta *meta_of(const struct sched_msg *m)
{
	const struct field_table *t = sched_kinds_get(m->resource)->fields;
	size_t i = 0;

	while (strcmp(t->rows[i].name, "metadata") != 0) {
		i++;
	}
	return (const struct api_meta *)(const void *)((const char *)m->object + t->rows[i].offset);
}

/* The key as a reflector makes it of the text. */
static void make_key(struct str object, struct strbuf *out)
{
	struct cut_meta meta = { 0 };

	(void)cut_meta(object, &meta);
	if (meta.namespace_.len > 0) {
		strbuf_add_str(out, meta.namespace_);
		strbuf_add_ch(out, '/');
	}
	strbuf_add_str(out, meta.name);
}

/* API servers send no object without a name, nor with two, nor with a namespace where none belongs.
 */
static bool could_be_served(const struct sched_msg *m)
{
	const struct api_meta *meta = m->object == NULL ? NULL : meta_of(m);
	bool namespaced = sched_kinds_names(m->resource)->namespaced;
	struct str rest = m->key, first;

	if (meta == NULL || meta->name == NULL || meta->name[0] == '\0') {
		return false;
	}
	first = str_next(&rest, '/');
	return namespaced ? meta->namespace_ != NULL && str_eq_c(first, meta->namespace_) &&
				    str_eq_c(rest, meta->name)
			  : rest.p == NULL && str_eq_c(first, meta->name);
}

static void deliver(struct play *p, enum sched_resource r, struct str text)
{
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;
	struct reflector_event e = { .kind = REFLECTOR_DELETE,
				     .key = text,
				     .resource_version = ++p->f.version };
	struct sched_msg *m;

	if (str_has_prefix(text, "{")) {
		make_key(text, &key);
		e.kind = REFLECTOR_UPSERT;
		e.key = strbuf_str(&key);
		e.object = text;
	}
	p->refused = false;
	m = message_decode_event(r, &e);
	if (e.kind == REFLECTOR_UPSERT && !could_be_served(m)) {
		message_free(m);
		return;
	}
	workload_cache_apply(p->f.cache, m, p->f.now);
	/* One that was refused may have taken the place of another one of the same name. */
	if (e.kind == REFLECTOR_UPSERT && m->kind == SCHED_MSG_UPSERT && !p->refused) {
		strmap_set(p->kept[r], e.key, p);
	} else {
		(void)strmap_remove(p->kept[r], e.key);
	}
	message_free(m);
}

static void answer_write(struct play *p, enum sched_outcome outcome)
{
	struct workload_cache_write w;
	struct sched_msg *m;

	if (!workload_cache_next_write(p->f.cache, &w)) {
		return;
	}
	m = message_new(SCHED_MSG_REQUEST_DONE);
	m->request = SCHED_REQ_WORKLOAD;
	m->resource = SCHED_WORKLOADS;
	m->key = arena_str(m->arena, str_of(w.workload->key));
	m->uid = arena_dup(m->arena, w.workload->object.uid);
	m->version = w.version;
	m->outcome = outcome;
	m->resource_version = ++p->f.version;
	m->status = 422;
	m->text = "no";
	workload_cache_apply(p->f.cache, m, p->f.now);
	message_free(m);
}

static void step(struct play *p, struct str line)
{
	const struct str rest = { line.p + 1, line.len - 1 };
	enum sched_resource r = kind_of(line.p[0]);

	if (r != SCHED_RESOURCE_COUNT_) {
		deliver(p, r, rest);
	} else if (line.p[0] == 's') {
		workload_cache_fixture_sync_all(&p->f);
	} else if (line.p[0] == 'c' && workload_cache_is_synced(p->f.cache)) {
		workload_cache_fixture_cycle(&p->f);
	} else if (line.p[0] == 'd') {
		answer_write(p, SCHED_DONE);
	} else if (line.p[0] == 'r') {
		answer_write(p, SCHED_REJECTED);
	} else if (line.p[0] == 'o') {
		answer_write(p, SCHED_STALE);
	}
	workload_cache_fixture_later(&p->f, 1);
	check(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct play p = { .f = { .now = INT64_C(1700000000) * CLOCK_NS_PER_S } };
	const struct workload_cache_listener l = { .on_bad_object = on_bad, .ctx = &p };
	struct str rest = { (const char *)data, size };

	assert(kueue_conf_read(NULL, NULL, NULL, &p.f.conf, NULL) == 0);
	p.f.cache = workload_cache_create(p.f.conf, &l);
	p.f.cycle = admission_cycle_create(workload_cache_forest(p.f.cache));
	for (int r = 0; r < SCHED_RESOURCE_COUNT_; r++) {
		p.kept[r] = strmap_create(NULL);
	}
	for (int i = 0; i < LINES_MAX && rest.p != NULL; i++) {
		struct str line = str_next(&rest, '\n');

		if (line.len > 0) {
			step(&p, line);
		}
	}
	for (int r = 0; r < SCHED_RESOURCE_COUNT_; r++) {
		strmap_destroy(p.kept[r]);
	}
	workload_cache_fixture_finish(&p.f);
	return 0;
}
