#include "scheduler/pods/engine/foreign.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/volcano/keys.h"
#include "base/clock.h"
#include "base/xmalloc.h"
#include "kube/recorder.h"
#include "obs/metric.h"
#include "process/log.h"
#include "scheduler/pods/model/model.h"

#define LOG_INTERVAL_NS (60 * CLOCK_NS_PER_S)

struct foreign {
	struct metric_cell *binds, *podgroups;
	int64_t log_after; /* wall ns */
	pthread_mutex_t lock;
	char *last; /* under lock; NULL: nothing yet */
};

struct foreign *foreign_create(struct metric_registry *r)
{
	struct foreign *f = xmalloc_zero(1, sizeof(*f));

	f->binds = metric_cell(
		metric_register(r, "headgate_foreign_binds_total",
				"Pods with a scheduler name of ours that another scheduler bound",
				METRIC_COUNTER, NULL),
		NULL);
	f->podgroups = metric_cell(metric_register(r, "headgate_foreign_podgroups_total",
						   "PodGroups that another controller made for "
						   "pods with a scheduler name of ours",
						   METRIC_COUNTER, NULL),
				   NULL);
	f->log_after = INT64_MIN;
	pthread_mutex_init(&f->lock, NULL);
	return f;
}

void foreign_destroy(struct foreign *f)
{
	if (f != NULL) {
		pthread_mutex_destroy(&f->lock);
		free(f->last);
		free(f);
	}
}

/* A pod is bound to one node and a PodGroup is made once, so each has one event; but there may be
 * thousands of them, of which the log shows one a minute. */
static void note(struct foreign *f, const char *what, int64_t now)
{
	char when[CLOCK_RFC3339_MAX];
	char *text, *old;

	clock_format_time(now, when);
	text = xmalloc_printf("at %s %s (%.0f foreign binds, %.0f foreign PodGroups in all)", when,
			      what, metric_cell_get(f->binds), metric_cell_get(f->podgroups));
	if (now >= f->log_after) {
		log_warn("another program uses our scheduler name", LOG_STR("last", text));
		f->log_after = now + LOG_INTERVAL_NS;
	}
	/* Health checks of other threads copy the text under the lock; allocating and freeing stay
	 * outside. */
	pthread_mutex_lock(&f->lock);
	old = f->last;
	f->last = text;
	pthread_mutex_unlock(&f->lock);
	free(old);
}

void foreign_bind(struct foreign *f, struct recorder *recorder, const struct task *t,
		  const char *node, int64_t now)
{
	const struct recorder_object about = { "v1", "Pod", t->name, t->uid, t->namespace_ };
	CLEANUP(xmalloc_freep)
	char *what = xmalloc_printf("pod %s/%s was bound to node %s, and not by Headgate",
				    t->namespace_, t->name, node);
	CLEANUP(xmalloc_freep)
	char *message = xmalloc_printf("another scheduler works under the pod's scheduler name: it "
				       "was bound to node %s, and not by Headgate",
				       node);

	metric_cell_add(f->binds, 1);
	recorder_event(recorder, &about, true, "ForeignBind", message);
	note(f, what, now);
}

void foreign_podgroup(struct foreign *f, struct recorder *recorder, const struct podgroup *g,
		      int64_t now)
{
	const struct recorder_object about = { KEYS_VOLCANO_API_VERSION, "PodGroup", g->name,
					       g->uid, g->namespace_ };
	CLEANUP(xmalloc_freep)
	char *what = xmalloc_printf("PodGroup %s/%s was made, and not by Headgate", g->namespace_,
				    g->name);

	metric_cell_add(f->podgroups, 1);
	recorder_event(recorder, &about, true, "ForeignPodGroup",
		       "another PodGroup controller works for pods of our scheduler name: this "
		       "PodGroup was not made by Headgate");
	note(f, what, now);
}

bool foreign_describe(struct foreign *f, char *text, size_t size)
{
	bool any;

	pthread_mutex_lock(&f->lock);
	any = f->last != NULL;
	if (any) {
		snprintf(text, size, "%s", f->last);
	}
	pthread_mutex_unlock(&f->lock);
	return any;
}
