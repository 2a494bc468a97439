#include "scheduler/pods/engine/orphans.h"

#include <stdlib.h>

#include "api/core/kube_pod_group.h"
#include "base/str.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "collections/vec.h"
#include "kube/recorder.h"
#include "scheduler/pods/model/cluster.h"

struct waiting {
	char *key, *uid;
	int64_t due;
};

struct orphans {
	struct strmap *known;               /* UID -> one of the two below */
	struct VEC(struct waiting) waiting; /* in the order of their times */
	size_t next;                        /* of waiting: those before are done with */
};

/* Their addresses are the values of the map: nothing is allocated for them. */
static char is_waiting, is_reported;

struct orphans *orphans_create(void)
{
	struct orphans *o = xmalloc_zero(1, sizeof(*o));

	o->known = strmap_create(NULL);
	return o;
}

static void free_waiting(struct waiting *w)
{
	free(w->key);
	free(w->uid);
}

void orphans_destroy(struct orphans *o)
{
	if (o == NULL) {
		return;
	}
	for (size_t i = o->next; i < o->waiting.n; i++) {
		free_waiting(&o->waiting.v[i]);
	}
	vec_finish(&o->waiting);
	strmap_destroy(o->known);
	free(o);
}

/* A pod that names no PodGroup gets one from the PodGroup controller, or is adopted: it is no
 * orphan. */
static bool waits_for_group(const struct task *t)
{
	return (t->flags & TASK_OURS) != 0 && t->status == TASK_PENDING &&
	       t->podgroup != MODEL_NONE;
}

/* All wait equally long, and now never decreases: appending keeps the list in the order of the
 * times. */
static void add(struct orphans *o, const struct task *t, int64_t now)
{
	struct waiting w = { .key = xmalloc_printf("%s/%s", t->namespace_, t->name),
			     .uid = xmalloc_dup(t->uid),
			     .due = now + ORPHANS_GRACE_NS };

	strmap_set(o->known, str_of(t->uid), &is_waiting);
	vec_push(&o->waiting, w);
}

void orphans_pod_upserted(struct orphans *o, const struct cluster *c, const struct task *t,
			  int64_t now)
{
	bool orphan = waits_for_group(t) && !c->podgroups.v[t->podgroup]->exists;

	if (!orphan) {
		orphans_pod_deleted(o, t);
	} else if (!strmap_has(o->known, str_of(t->uid))) {
		add(o, t, now);
	}
}

void orphans_pod_deleted(struct orphans *o, const struct task *t)
{
	/* Every pod that is upserted or deleted comes here, and orphans are rare. */
	if (strmap_count(o->known) > 0) {
		(void)strmap_remove(o->known, str_of(t->uid));
	}
}

void orphans_podgroup_deleted(struct orphans *o, const struct cluster *c, const struct podgroup *g,
			      int64_t now)
{
	for (size_t i = 0; i < g->tasks.n; i++) {
		const struct task *t = c->tasks.v[g->tasks.v[i]];

		if (waits_for_group(t)) {
			add(o, t, now);
		}
	}
}

static void report(struct orphans *o, const struct cluster *c, struct recorder *recorder,
		   const struct waiting *w)
{
	const struct task *t = cluster_task_find(c, str_of(w->key));
	struct recorder_object about = { .api_version = "v1", .kind = "Pod" };
	CLEANUP(xmalloc_freep) char *message = NULL;
	const struct podgroup *g;

	/* A pod that found its PodGroup is removed from the map alone, so its entry in the list may
	 * be void. If it has become an orphan again, there is a later entry, and this one may
	 * report it early. */
	if (strmap_get(o->known, str_of(w->uid)) != &is_waiting) {
		return;
	}
	/* That a PodGroup appears is not reported to this file: it is noticed here. */
	if (t == NULL || !str_streq(t->uid, w->uid) || !waits_for_group(t) ||
	    c->podgroups.v[t->podgroup]->exists) {
		(void)strmap_remove(o->known, str_of(w->uid));
		return;
	}
	/* It stays in the map, so that further updates of the pod do not report it again. */
	strmap_set(o->known, str_of(w->uid), &is_reported);
	about.name = t->name;
	about.uid = t->uid;
	about.namespace_ = t->namespace_;
	g = c->podgroups.v[t->podgroup];
	message = xmalloc_printf("the pod waits for PodGroup %s%s, which does not exist", g->name,
				 g->kind == PODGROUP_PART ? " of " KUBE_POD_GROUP_API_VERSION : "");
	recorder_event(recorder, &about, true, "PodGroupMissing", message);
}

void orphans_record_due(struct orphans *o, const struct cluster *c, struct recorder *recorder,
			int64_t now)
{
	while (o->next < o->waiting.n && o->waiting.v[o->next].due <= now) {
		report(o, c, recorder, &o->waiting.v[o->next]);
		free_waiting(&o->waiting.v[o->next]);
		o->next++;
	}
	/* Entries are taken from the front by counting; the memory is used again when all are done.
	 */
	if (o->next == o->waiting.n) {
		vec_clear(&o->waiting);
		o->next = 0;
	}
}
