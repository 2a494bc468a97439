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
#include "enc/json/jdoc.h"
#include "enc/quantity.h"
#include "play/mirror.h"

#define RED "\033[31m"
#define GREEN "\033[32m"
#define YELLOW "\033[33m"
#define BLUE "\033[34m"
#define DIM "\033[2m"
#define BOLD "\033[1m"
#define RESET "\033[0m"

struct timeline {
	struct mirror *mirror;
	bool color;
	int64_t began;
	struct strmap *last;  /* pod key -> what was printed last */
	pthread_mutex_t lock; /* keeps lines whole */
};

static const char *paint(const struct timeline *t, const char *code)
{
	return t->color ? code : "";
}

static double seconds(const struct timeline *t)
{
	return (double)(clock_mono(clock_real()) - t->began) / (double)CLOCK_NS_PER_S;
}

static void print_header(const struct timeline *t)
{
	printf("%s%7s  %-14s %-10s %-22s %-9s %-21s %s%s\n", paint(t, DIM), "TIME", "POD", "PHASE",
	       "PODSCHEDULED", "GATES", "QUEUE ALLOC/RESERVED", "NODES", paint(t, RESET));
}

struct usage {
	const struct timeline *t;
	const char *queue;
	int64_t allocated, reserved; /* milli-CPU */
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

/* Allocated: pods with a node. Reserved: opted-in pods without node and without gate. */
static bool add_usage(void *ctx, struct str key UNUSED, const struct jdoc *pod)
{
	struct usage *u = ctx;
	const char *phase = jdoc_path_str(pod, "status.phase");

	if (!str_streq(queue_of(u->t, pod), u->queue) || str_streq(phase, "Succeeded") ||
	    str_streq(phase, "Failed")) {
		return true;
	}
	if (jdoc_path_str(pod, "spec.nodeName") != NULL) {
		u->allocated += cpu_of(pod);
	} else if (jdoc_get(jdoc_path(pod, "metadata.annotations"), "headgate.io/reserved") !=
		   NULL) {
		u->reserved += cpu_of(pod);
	}
	return true;
}

static void describe_queue(const struct timeline *t, const char *queue, char *out, size_t size)
{
	struct usage u = { .t = t, .queue = queue };

	if (queue == NULL) {
		snprintf(out, size, "-");
		return;
	}
	mirror_each(t->mirror, MIRROR_PODS, add_usage, &u);
	snprintf(out, size, "%s %g/%g cpu", queue, (double)u.allocated / 1000,
		 (double)u.reserved / 1000);
}

static const char *gates_of(const struct jdoc *pod)
{
	size_t n = jdoc_count(jdoc_path(pod, "spec.schedulingGates"));

	return n == 0 ? "none" : n == 1 ? "1 gate" : "several";
}

static void print_pod(struct timeline *t, const char *name, const struct jdoc *pod)
{
	const struct jdoc *condition = mirror_pod_condition(pod, "PodScheduled");
	const char *reason = jdoc_str(jdoc_get(condition, "reason"));
	const char *phase = jdoc_str_or(jdoc_path(pod, "status.phase"), "");
	const char *node = jdoc_path_str(pod, "spec.nodeName");
	const char *state = jdoc_is_str(jdoc_get(condition, "status"), "True") ? "True"
			    : reason == NULL                                   ? "-"
									       : reason;
	const char *color = str_streq(state, "Unschedulable")     ? RED
			    : str_streq(phase, "Running")         ? GREEN
			    : str_streq(state, "SchedulingGated") ? YELLOW
								  : "";
	char queue[64], shown[256];
	const char *before;

	snprintf(shown, sizeof(shown), "%s|%s|%s|%s", phase, state, gates_of(pod),
		 node == NULL ? "" : node);
	before = strmap_get(t->last, str_of(name));
	if (str_streq(before, shown)) {
		return;
	}
	strmap_set(t->last, str_of(name), xmalloc_dup(shown));
	describe_queue(t, queue_of(t, pod), queue, sizeof(queue));
	pthread_mutex_lock(&t->lock);
	printf("%6.2fs  %-14s %-10s %s%-22s%s %-9s %-21s %zu%s%s\n", seconds(t), name, phase,
	       paint(t, color), state, t->color && color[0] != '\0' ? RESET : "", gates_of(pod),
	       queue, mirror_count(t->mirror, MIRROR_NODES), node == NULL ? "" : "  on ",
	       node == NULL ? "" : node);
	fflush(stdout);
	pthread_mutex_unlock(&t->lock);
}

static void on_change(void *ctx, enum mirror_resource r, struct str key, const struct jdoc *old,
		      const struct jdoc *now)
{
	struct timeline *t = ctx;

	if (r == MIRROR_PODS && now != NULL) {
		print_pod(t, jdoc_str_or(jdoc_path(now, "metadata.name"), "?"), now);
	} else if (r == MIRROR_NODES && old == NULL && now != NULL) {
		pthread_mutex_lock(&t->lock);
		printf("%6.2fs  %snode " STR_FMT " is there%s\n", seconds(t), paint(t, BLUE),
		       STR_ARG(key), paint(t, RESET));
		pthread_mutex_unlock(&t->lock);
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

void timeline_heading(struct timeline *t, const char *text)
{
	pthread_mutex_lock(&t->lock);
	printf("\n%s%s%s\n", paint(t, BOLD), text, paint(t, RESET));
	print_header(t);
	fflush(stdout);
	pthread_mutex_unlock(&t->lock);
}

void timeline_ordered(struct timeline *t, const char *node, const char *pod)
{
	pthread_mutex_lock(&t->lock);
	printf("%6.2fs  %sautoscaler buys %s for %s%s\n", seconds(t), paint(t, BLUE), node, pod,
	       paint(t, RESET));
	fflush(stdout);
	pthread_mutex_unlock(&t->lock);
}

void timeline_destroy(struct timeline *t)
{
	if (t != NULL) {
		strmap_destroy(t->last);
		pthread_mutex_destroy(&t->lock);
		free(t);
	}
}
