#include "demo/timeline.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "collections/vec.h"
#include "enc/json/jdoc.h"
#include "enc/quantity.h"
#include "kube/transport.h"
#include "play/mirror.h"

#define RED "\033[31m"
#define GREEN "\033[32m"
#define YELLOW "\033[33m"
#define BLUE "\033[34m"
#define DIM "\033[2m"
#define BOLD "\033[1m"
#define RESET "\033[0m"

#define MOMENT_NS (100 * CLOCK_NS_PER_MS)
#define GAP_NS (30 * CLOCK_NS_PER_MS) /* a longer pause ends the moment */
#define WIDTH 80
#define USAGE_WIDTH 20 /* the last column */

enum event {
	CREATED,
	GATED,
	QUOTA,
	PUBLISHED,
	WITHDRAWN,
	RUNS,
	DONE,
	FAILED,
	JOB_WAITS,
	JOB_ADMITTED,
	JOB_PREEMPTED,
	JOB_DONE,
	ORDERED,
	NODE,
	EVENT_COUNT_
};

static const struct {
	const char *one, *several, *color;
} texts[EVENT_COUNT_] = {
	[CREATED] = { "is created, no gate", "are created, no gate", "" },
	[GATED] = { "waits behind its gate", "wait behind their gates", YELLOW },
	[QUOTA] = { "has quota, gate is off", "have quota, gates are off", "" },
	[PUBLISHED] = { "needs a node", "need nodes", RED },
	[WITHDRAWN] = { "waits, hidden again", "wait, hidden again", YELLOW },
	[RUNS] = { "runs", "run", GREEN },
	[DONE] = { "is done", "are done", DIM },
	[FAILED] = { "has failed", "have failed", RED },
	[JOB_WAITS] = { "waits for quota, suspended", "wait for quota, suspended", YELLOW },
	[JOB_ADMITTED] = { "is admitted and starts", "are admitted and start", "" },
	[JOB_PREEMPTED] = { "is preempted and stops", "are preempted and stop", RED },
	[JOB_DONE] = { "is complete", "are complete", DIM },
	[ORDERED] = { "is bought by the autoscaler", "are bought by the autoscaler", BLUE },
	[NODE] = { "is ready", "are ready", BLUE },
};

/* An event of several objects within a moment. */
struct group {
	struct VEC(char *) names;
	char usage[64];   /* of the queue of the last one; may be empty */
	unsigned order;   /* of its first event in the moment */
	int64_t at, last; /* of the first event and the last one */
};

struct timeline {
	struct mirror *mirror;
	bool color;
	int64_t began;
	struct strmap *last;  /* object -> name of its last event, of texts[].one */
	pthread_mutex_t lock; /* guards what follows, and keeps lines whole */
	struct group groups[EVENT_COUNT_];
	unsigned norders;
	bool flush_is_due;
};

/* --- lines ------------------------------------------------------------------------------------ */

static const char *paint(const struct timeline *t, const char *code)
{
	return t->color ? code : "";
}

/* In the order of their numbers: "ten-9" before "ten-10". */
static int by_name(const void *a, const void *b)
{
	const char *x = *(char *const *)a, *y = *(char *const *)b;
	size_t n = strlen(x), m = strlen(y);

	return n == m ? strcmp(x, y) : n < m ? -1 : 1;
}

/* The number after the last dash; len is what comes before it. */
static bool number_of(const char *name, size_t *ret_len, uint64_t *ret)
{
	const char *dash = strrchr(name, '-');

	*ret_len = dash == NULL ? 0 : (size_t)(dash - name);
	return dash != NULL && str_to_u64(str_of(dash + 1), ret);
}

/* Names of one stem with all the numbers from the first to the last, sorted. */
static bool is_range(const struct group *g)
{
	const char *first = g->names.v[0], *last = g->names.v[g->names.n - 1];
	uint64_t from, to;
	size_t len, len_of_last;

	return g->names.n > 2 && number_of(first, &len, &from) &&
	       number_of(last, &len_of_last, &to) && len == len_of_last &&
	       strncmp(first, last, len) == 0 && to - from + 1 == g->names.n;
}

/* "a to c", or "a, b and 3 more": so many names as fit in width. */
static void join(const struct group *g, size_t width, struct strbuf *out)
{
	qsort(g->names.v, g->names.n, sizeof(g->names.v[0]), by_name);
	if (is_range(g)) {
		strbuf_printf(out, "%s to %s", g->names.v[0], g->names.v[g->names.n - 1]);
		return;
	}
	for (size_t shown = g->names.n; shown > 0; shown--) {
		strbuf_reset(out);
		for (size_t i = 0; i < shown; i++) {
			strbuf_printf(out, "%s%s", i == 0 ? "" : ", ", g->names.v[i]);
		}
		if (shown < g->names.n) {
			strbuf_printf(out, " and %zu more", g->names.n - shown);
		}
		if (out->len <= width) {
			return;
		}
	}
}

static void print_group(const struct timeline *t, enum event e)
{
	const struct group *g = &t->groups[e];
	const char *verb = g->names.n == 1 ? texts[e].one : texts[e].several;
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	size_t most = WIDTH - sizeof("  0.00s  ") - USAGE_WIDTH;

	join(g, most - 1 - strlen(verb), &text);
	strbuf_printf(&text, " %s", verb);
	printf("%6.2fs  %s%-*s%s%s%s%s\n", (double)(g->at - t->began) / (double)CLOCK_NS_PER_S,
	       paint(t, texts[e].color), g->usage[0] == '\0' ? 0 : (int)most, text.p,
	       paint(t, texts[e].color[0] ? RESET : ""), paint(t, DIM), g->usage,
	       paint(t, g->usage[0] == '\0' ? "" : RESET));
}

static void flush_locked(struct timeline *t)
{
	for (unsigned order = 0; order < t->norders; order++) {
		for (unsigned e = 0; e < EVENT_COUNT_; e++) {
			struct group *g = &t->groups[e];

			if (g->names.n == 0 || g->order != order) {
				continue;
			}
			print_group(t, (enum event)e);
			for (size_t i = 0; i < g->names.n; i++) {
				free(g->names.v[i]);
			}
			vec_finish(&g->names);
			*g = (struct group){ .usage = "" };
		}
	}
	t->norders = 0;
	fflush(stdout);
}

void timeline_flush(struct timeline *t)
{
	pthread_mutex_lock(&t->lock);
	flush_locked(t);
	pthread_mutex_unlock(&t->lock);
}

static void on_moment_over(void *ctx)
{
	struct timeline *t = ctx;

	pthread_mutex_lock(&t->lock);
	t->flush_is_due = false;
	flush_locked(t);
	pthread_mutex_unlock(&t->lock);
}

static void add(struct timeline *t, enum event e, const char *name, const char *usage)
{
	struct group *g = &t->groups[e];
	int64_t now;

	pthread_mutex_lock(&t->lock);
	now = clock_mono(clock_real());
	if (g->names.n > 0 && now - g->last > GAP_NS) {
		flush_locked(t);
	}
	if (g->names.n == 0) {
		g->order = t->norders++;
		g->at = now;
	}
	g->last = now;
	vec_push(&g->names, xmalloc_dup(name));
	snprintf(g->usage, sizeof(g->usage), "%s", usage);
	if (!t->flush_is_due) {
		t->flush_is_due = true;
		transport_call(mirror_transport(t->mirror), MOMENT_NS, on_moment_over, t);
	}
	pthread_mutex_unlock(&t->lock);
}

/* False: this was the last event of the object already. */
static bool is_new(struct timeline *t, const char *object, enum event e)
{
	if (str_streq(strmap_get(t->last, str_of(object)), texts[e].one)) {
		return false;
	}
	strmap_set(t->last, str_of(object), xmalloc_dup(texts[e].one));
	return true;
}

/* --- queues ----------------------------------------------------------------------------------- */

static bool is_of_job(const struct jdoc *pod)
{
	const struct jdoc *owner = jdoc_at(jdoc_path(pod, "metadata.ownerReferences"), 0);

	return jdoc_is_str(jdoc_get(owner, "kind"), "Job");
}

struct usage {
	const struct timeline *t;
	const char *queue;
	int64_t cpu; /* milli-CPU */
};

static int64_t cpu_of(const struct jdoc *pod)
{
	int64_t sum = 0;

	for (const struct jdoc *c = jdoc_first(jdoc_path(pod, "spec.containers")); c != NULL;
	     c = jdoc_next(c)) {
		const char *text = jdoc_path_str(c, "resources.requests.cpu");
		struct quantity q;

		if (text != NULL && quantity_parse(str_of(text), &q, NULL) == 0) {
			sum += quantity_milli(q);
		}
	}
	return sum;
}

static const char *queue_of(const struct timeline *t, const struct jdoc *pod)
{
	const struct jdoc *annotations = jdoc_path(pod, "metadata.annotations");
	const char *queue = jdoc_str(jdoc_get(annotations, "scheduling.volcano.sh/queue-name"));
	const char *group = jdoc_str(jdoc_get(annotations, "scheduling.k8s.io/group-name"));
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;

	if (queue == NULL && group != NULL) {
		strbuf_printf(&key, "%s/%s", jdoc_str_or(jdoc_path(pod, "metadata.namespace"), ""),
			      group);
		queue = jdoc_path_str(mirror_get(t->mirror, MIRROR_PODGROUPS, key.p), "spec.queue");
	}
	return queue;
}

/* Pods with a node, and opted-in pods without node and without gate, use the quota of their queue.
 */
static bool add_usage(void *ctx, struct str key UNUSED, const struct jdoc *pod)
{
	struct usage *u = ctx;
	const char *phase = jdoc_path_str(pod, "status.phase");
	const struct jdoc *annotations = jdoc_path(pod, "metadata.annotations");

	if (str_streq(queue_of(u->t, pod), u->queue) && !str_streq(phase, "Succeeded") &&
	    !str_streq(phase, "Failed") &&
	    (jdoc_path_str(pod, "spec.nodeName") != NULL ||
	     jdoc_get(annotations, "headgate.io/reserved") != NULL)) {
		u->cpu += cpu_of(pod);
	}
	return true;
}

/* "team-a 2/3 CPU"; empty for pods without a queue, and for those of Jobs, which have other queues.
 */
static void describe_queue(const struct timeline *t, const struct jdoc *pod, char *out, size_t size)
{
	struct usage u = { .t = t, .queue = is_of_job(pod) ? NULL : queue_of(t, pod) };
	const char *limit;

	out[0] = '\0';
	if (u.queue != NULL) {
		mirror_each(t->mirror, MIRROR_PODS, add_usage, &u);
		limit = jdoc_path_str(mirror_get(t->mirror, MIRROR_QUEUES, u.queue),
				      "spec.capability.cpu");
		snprintf(out, size, "%s %g/%s CPU", u.queue, (double)u.cpu / 1000,
			 limit == NULL ? "-" : limit);
	}
}

/* --- events ----------------------------------------------------------------------------------- */

/* False: nothing to report. before is the text of the last event, NULL at first. */
static bool classify_pod(const struct jdoc *pod, const char *before, enum event *ret)
{
	const char *phase = jdoc_str_or(jdoc_path(pod, "status.phase"), "");
	const struct jdoc *annotations = jdoc_path(pod, "metadata.annotations");

	if (str_streq(phase, "Succeeded")) {
		*ret = DONE;
	} else if (str_streq(phase, "Failed")) {
		*ret = FAILED;
	} else if (str_streq(phase, "Running")) {
		*ret = RUNS;
	} else if (jdoc_path_str(pod, "spec.nodeName") != NULL) {
		return false; /* runs in a moment */
	} else if (mirror_pod_is_gated(pod)) {
		*ret = GATED;
	} else if (mirror_pod_triggers_scale_up(pod)) {
		*ret = PUBLISHED;
	} else if (str_streq(before, texts[PUBLISHED].one)) {
		*ret = WITHDRAWN;
	} else if (jdoc_get(annotations, "headgate.io/reserved") != NULL) {
		*ret = QUOTA;
	} else {
		*ret = CREATED;
		return before == NULL && !is_of_job(pod);
	}
	return true;
}

/* A pod of a suspended Job fails because it is deleted; the Job has been reported then. */
static void on_pod(struct timeline *t, const char *object, const struct jdoc *pod)
{
	enum event e;
	char usage[64];

	if (classify_pod(pod, strmap_get(t->last, str_of(object)), &e) &&
	    !(e == FAILED && jdoc_path(pod, "metadata.deletionTimestamp") != NULL) &&
	    is_new(t, object, e)) {
		describe_queue(t, pod, usage, sizeof(usage));
		add(t, e, jdoc_str_or(jdoc_path(pod, "metadata.name"), "?"), usage);
	}
}

static bool has_condition(const struct jdoc *object, const char *type, const char *reason)
{
	for (const struct jdoc *c = jdoc_first(jdoc_path(object, "status.conditions")); c != NULL;
	     c = jdoc_next(c)) {
		if (jdoc_is_str(jdoc_get(c, "type"), type) &&
		    (reason == NULL || jdoc_is_str(jdoc_get(c, "reason"), reason))) {
			return jdoc_is_str(jdoc_get(c, "status"), "True");
		}
	}
	return false;
}

static void on_job(struct timeline *t, const char *object, const struct jdoc *job)
{
	const char *name = jdoc_str_or(jdoc_path(job, "metadata.name"), "?");
	bool suspended = jdoc_bool(jdoc_path(job, "spec.suspend"), false);
	enum event e = has_condition(job, "Complete", NULL) ? JOB_DONE
		       : suspended                          ? JOB_WAITS
							    : JOB_ADMITTED;

	/* One that was preempted waits, too. */
	if (!(e == JOB_WAITS &&
	      str_streq(strmap_get(t->last, str_of(object)), texts[JOB_PREEMPTED].one)) &&
	    is_new(t, object, e)) {
		add(t, e, name, "");
	}
}

static void on_workload(struct timeline *t, const struct jdoc *old, const struct jdoc *workload)
{
	const struct jdoc *owner = jdoc_at(jdoc_path(workload, "metadata.ownerReferences"), 0);
	const char *job = jdoc_str(jdoc_get(owner, "name"));
	CLEANUP(strbuf_finish) struct strbuf object = STRBUF_INIT;

	if (job != NULL && has_condition(workload, "Evicted", "Preempted") &&
	    !has_condition(old, "Evicted", "Preempted")) {
		strbuf_printf(&object, "job %s/%s",
			      jdoc_str_or(jdoc_path(workload, "metadata.namespace"), ""), job);
		if (is_new(t, object.p, JOB_PREEMPTED)) {
			add(t, JOB_PREEMPTED, job, "");
		}
	}
}

static void on_change(void *ctx, enum mirror_resource r, struct str key, const struct jdoc *old,
		      const struct jdoc *now)
{
	struct timeline *t = ctx;
	CLEANUP(strbuf_finish) struct strbuf object = STRBUF_INIT;

	strbuf_printf(&object, "%s " STR_FMT, r == MIRROR_JOBS ? "job" : "pod", STR_ARG(key));
	if (now == NULL) {
		if (r == MIRROR_PODS || r == MIRROR_JOBS) {
			free(strmap_take(t->last, strbuf_str(&object)));
		}
	} else if (r == MIRROR_PODS) {
		on_pod(t, object.p, now);
	} else if (r == MIRROR_JOBS) {
		on_job(t, object.p, now);
	} else if (r == MIRROR_WORKLOADS) {
		on_workload(t, old, now);
	} else if (r == MIRROR_NODES && old == NULL) {
		add(t, NODE, jdoc_str_or(jdoc_path(now, "metadata.name"), "?"), "");
	}
}

struct timeline *timeline_create(struct mirror *m, bool color)
{
	struct timeline *t = xmalloc_zero(1, sizeof(*t));

	t->mirror = m;
	t->color = color;
	t->began = clock_mono(clock_real());
	t->last = strmap_create(free);
	pthread_mutex_init(&t->lock, NULL);
	mirror_listen(m, on_change, t);
	return t;
}

void timeline_heading(struct timeline *t, const char *title, const char *explanation)
{
	pthread_mutex_lock(&t->lock);
	flush_locked(t);
	printf("\n%s%s%s\n%s\n", paint(t, BOLD), title, paint(t, RESET), explanation);
	fflush(stdout);
	pthread_mutex_unlock(&t->lock);
}

void timeline_ordered(struct timeline *t, const char *node)
{
	add(t, ORDERED, node, "");
}

void timeline_destroy(struct timeline *t)
{
	if (t != NULL) {
		flush_locked(t);
		strmap_destroy(t->last);
		pthread_mutex_destroy(&t->lock);
		free(t);
	}
}
