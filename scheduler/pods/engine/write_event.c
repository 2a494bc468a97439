#include "scheduler/pods/engine/write_event.h"

#include <string.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "base/xmalloc.h"
#include "kube/recorder.h"
#include "scheduler/base/message.h"
#include "scheduler/pods/model/cluster.h"

/* Events about writes that ended. */
static const struct write_event {
	enum sched_request request;
	enum sched_outcome outcome;
	bool warning;
	const char *reason;
} write_events[] = {
	{ SCHED_REQ_BIND, SCHED_DONE, false, "Scheduled" },
	{ SCHED_REQ_BIND, SCHED_REJECTED, true, "FailedBinding" },
	{ SCHED_REQ_UNGATE, SCHED_REJECTED, true, "FailedGateRemoval" },
	{ SCHED_REQ_POD_STATUS, SCHED_REJECTED, true, "FailedStatusUpdate" },
	{ SCHED_REQ_EVICT, SCHED_DONE, false, "Evict" },
	{ SCHED_REQ_EVICT, SCHED_REJECTED, true, "FailedEviction" },
};

/* The victim, by what was asked for: one without a node is gone at once, and may be seen to be so
 * before the answer comes. */
static void record_eviction(struct recorder *r, const struct sched_msg *m,
			    const struct write_event *row)
{
	struct recorder_object about = { .api_version = "v1", .kind = "Pod", .uid = m->uid };
	CLEANUP(xmalloc_freep) char *key = xmalloc_printf("%.*s", (int)m->key.len, m->key.p);
	char *slash = strchr(key, '/');

	if (slash == NULL || m->uid == NULL) {
		return;
	}
	*slash = '\0';
	about.namespace_ = key;
	about.name = slash + 1;
	recorder_event(r, &about, row->warning, row->reason, m->text);
}

static void record(struct recorder *r, const struct cluster *c, const struct sched_msg *m,
		   const struct write_event *row)
{
	const struct task *t = cluster_task_find(c, m->key);
	struct recorder_object about = { .api_version = "v1", .kind = "Pod" };
	const char *text = m->text;

	if (row->request == SCHED_REQ_EVICT && row->outcome == SCHED_DONE) {
		record_eviction(r, m, row);
		return;
	}
	/* The answer may be about an earlier pod of the same name. */
	if (t == NULL || !str_streq(t->uid, m->uid)) {
		return;
	}
	about.name = t->name;
	about.uid = t->uid;
	about.namespace_ = t->namespace_;
	if (row->request == SCHED_REQ_BIND && row->outcome == SCHED_DONE && t->node != MODEL_NONE) {
		text = arena_printf(m->arena, "Successfully assigned %s/%s to %s", t->namespace_,
				    t->name, c->nodes.v[t->node]->name);
	}
	recorder_event(r, &about, row->warning, row->reason, text);
}

void write_event_record(struct recorder *r, const struct cluster *c, const struct sched_msg *m)
{
	for (size_t i = 0; i < ARRAY_LEN(write_events); i++) {
		if (write_events[i].request == m->request &&
		    write_events[i].outcome == m->outcome) {
			record(r, c, m, &write_events[i]);
		}
	}
}
