#include "api/core/pod.h"
#include "api/volcano/keys.h"
#include "api/volcano/scheduling.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "collections/strmap.h"
#include "scheduler/pods/ingest/cache_priv.h"

#define PODGROUP_PREFIX "podgroup-"

static bool reports_foreign(const struct cache *c)
{
	return c->reports_foreign_from != MODEL_TIME_NONE;
}

void cache_foreign_bind(struct cache *c, const struct task *t, const struct api_pod *pod)
{
	const char *node = pod->spec.node_name;

	if (!reports_foreign(c) || c->listener.on_foreign_bind == NULL || node == NULL ||
	    (t->flags & TASK_OURS) == 0) {
		return;
	}
	if (t->status == TASK_BINDING) {
		if (str_streq(c->cluster->nodes.v[t->node]->name, node)) {
			return;
		}
	} else if (t->status != TASK_PENDING) {
		return;
	}
	if (field_map_get(&pod->meta.annotations, KEYS_BOUND_BY) == NULL) {
		c->listener.on_foreign_bind(c->listener.ctx, t, node);
	}
}

/* The name that a PodGroup controller makes up, ours like Volcano's: people do not. */
static bool is_made_up(const struct api_meta *m)
{
	struct str uid = str_of(m->name);

	if (!str_has_prefix(uid, PODGROUP_PREFIX)) {
		return false;
	}
	uid = str_of(m->name + sizeof(PODGROUP_PREFIX) - 1);
	for (size_t i = 0; i < m->owners.n; i++) {
		if (str_eq_c(uid, m->owners.v[i].uid)) {
			return true;
		}
	}
	return false;
}

/* Times of creation are in whole seconds. */
static bool is_since(const struct cache *c, int64_t created)
{
	return created != FIELD_NO_TIME && created > c->reports_foreign_from - CLOCK_NS_PER_S;
}

static void add_key(struct strbuf *out, const struct podgroup *g)
{
	strbuf_printf(out, "%s/%s", g->namespace_, g->name);
}

static bool has_ours(const struct cluster *c, const struct podgroup *g)
{
	for (size_t i = 0; i < g->tasks.n; i++) {
		if ((c->tasks.v[g->tasks.v[i]]->flags & TASK_OURS) != 0) {
			return true;
		}
	}
	return false;
}

static void report_if_ours(struct cache *c, const struct podgroup *g, struct str key)
{
	if (has_ours(c->cluster, g)) {
		strmap_remove(c->strangers, key);
		c->listener.on_foreign_podgroup(c->listener.ctx, g);
	}
}

void cache_foreign_podgroup(struct cache *c, const struct podgroup *g,
			    const struct api_pod_group *group)
{
	const struct api_meta *m = &group->meta;
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;

	if (!reports_foreign(c) || c->listener.on_foreign_podgroup == NULL) {
		return;
	}
	add_key(&key, g);
	strmap_remove(c->strangers, strbuf_str(&key)); /* another one by the same name */
	if (!is_since(c, m->created) || !is_made_up(m) ||
	    field_map_get(&m->annotations, KEYS_MADE_BY) != NULL) {
		return;
	}
	strmap_set(c->strangers, strbuf_str(&key), c);
	report_if_ours(c, g, strbuf_str(&key));
}

void cache_foreign_member(struct cache *c, const struct task *t)
{
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;
	const struct podgroup *g;

	if (t->podgroup == MODEL_NONE || strmap_count(c->strangers) == 0) {
		return;
	}
	g = c->cluster->podgroups.v[t->podgroup];
	add_key(&key, g);
	if (strmap_has(c->strangers, strbuf_str(&key))) {
		report_if_ours(c, g, strbuf_str(&key));
	}
}

void cache_foreign_forget(struct cache *c, struct str key)
{
	strmap_remove(c->strangers, key);
}
