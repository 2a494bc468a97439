#include "scheduler/workloads/engine/pending_events.h"

#include <stdlib.h>

#include "api/kueue/kueue_keys.h"
#include "base/attrs.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "collections/vec.h"
#include "kube/recorder.h"

struct event {
	char *about, *uid;
	char *reason, *message;
	bool warning;
};

struct events { /* of one write */
	struct VEC(struct event) list;
};

struct pending_events {
	struct recorder *recorder;
	struct strmap *writes; /* "namespace/name" -> struct events */
};

static void events_free(void *value)
{
	struct events *all = value;

	for (size_t i = 0; i < all->list.n; i++) {
		free(all->list.v[i].about);
		free(all->list.v[i].uid);
		free(all->list.v[i].reason);
		free(all->list.v[i].message);
	}
	vec_finish(&all->list);
	free(all);
}

struct pending_events *pending_events_create(struct recorder *recorder)
{
	struct pending_events *p = xmalloc_zero(1, sizeof(*p));

	p->recorder = recorder;
	p->writes = strmap_create(events_free);
	return p;
}

void pending_events_destroy(struct pending_events *p)
{
	if (p != NULL) {
		strmap_destroy(p->writes);
		free(p);
	}
}

/* Events go with the write of the Workload that was changed, also those about another one:
 * PreemptedWorkload is about the preemptor and goes with the write of its victim. All is copied,
 * since the other one may be gone before the answer comes. */
void pending_events_add(struct pending_events *p, const struct quota_model *q,
			const struct workload *written, const struct workload_status_events *events)
{
	struct events *all = strmap_get(p->writes, str_of(written->key));

	if (all == NULL && events->n > 0) {
		all = xmalloc_zero(1, sizeof(*all));
		strmap_set(p->writes, str_of(written->key), all);
	}
	for (size_t i = 0; i < events->n; i++) {
		const struct workload_status_event *one = &events->v[i];
		const struct workload *about = q->workloads.v[one->workload];
		struct event e = { .about = xmalloc_dup(about->key),
				   .uid = xmalloc_dup(about->object.uid),
				   .reason = xmalloc_dup(one->reason),
				   .message = xmalloc_dup(one->message),
				   .warning = one->warning };

		vec_push(&all->list, e);
	}
}

/* key: of the Workload that it is about. */
static void record(const struct pending_events *p, const char *key, const char *uid, bool warning,
		   const char *reason, const char *message)
{
	struct str name = str_of(key), space = str_next(&name, '/');
	CLEANUP(xmalloc_freep) char *namespace_ = xmalloc_dup_n(space.p, space.len);
	struct recorder_object about = { .api_version = KUEUE_API_VERSION,
					 .kind = "Workload",
					 .name = name.p,
					 .uid = uid,
					 .namespace_ = namespace_ };

	recorder_event(p->recorder, &about, warning, reason, message);
}

void pending_events_settle(struct pending_events *p, struct str written, bool ok)
{
	const struct events *all = strmap_get(p->writes, written);

	for (size_t i = 0; ok && all != NULL && i < all->list.n; i++) {
		const struct event *e = &all->list.v[i];

		record(p, e->about, e->uid, e->warning, e->reason, e->message);
	}
	/* A decision that was not written did not happen: the next one brings events of its own. */
	(void)strmap_remove(p->writes, written);
}

void pending_events_refused(struct pending_events *p, const struct workload *w, const char *why)
{
	record(p, w->key, w->object.uid, true, "WorkloadWriteRefused", why);
}
