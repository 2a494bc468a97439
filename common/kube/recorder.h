/* common/kube/recorder.h: v1 Events about objects. The same (object, reason, message) is aggregated
 * by PATCHing its count, at most once a minute with intervals that grow to 16 minutes. Sent through
 * a pool of its own without reporting the result; under pressure the oldest waiting events are
 * dropped and counted. recorder_event: any thread. */
#ifndef COMMON_KUBE_RECORDER_H
#define COMMON_KUBE_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#define RECORDER_MAX_WAITING 1000 /* events that wait to be sent */
#define RECORDER_MAX_HINTS 100    /* with so many waiting there is no room for hints */
#define RECORDER_HINTS_PER_S 10   /* for long; RECORDER_MAX_HINTS at once */
#define RECORDER_MAX_KNOWN 4096   /* events remembered for aggregation */
#define RECORDER_MAX_MESSAGE 1024 /* bytes, cut beyond */

struct pool_options;
struct recorder;

struct recorder_object {
	const char *api_version, *kind, *name, *uid;
	const char *namespace_; /* NULL: cluster-scoped, the event goes to "default" */
};

/* base: transport, clock, limiter, workers (0: manual), seed; the rest is the recorder's. */
struct recorder *recorder_create(const struct pool_options *base, const char *component,
				 const char *instance);
void recorder_event(struct recorder *r, const struct recorder_object *about, bool warning,
		    const char *reason, const char *message);
/* A Normal event that thousands of objects may get at once. Since each is a write that competes
 * with writes of pods, it is dropped, and counted, when RECORDER_MAX_HINTS events wait already or
 * the rate is exceeded. */
void recorder_hint(struct recorder *r, const struct recorder_object *about, const char *reason,
		   const char *message);
struct pool *recorder_pool(struct recorder *r);      /* for stepping in manual mode */
uint64_t recorder_dropped(const struct recorder *r); /* events dropped unsent; any thread */
/* Stops sending. Call it before the transport is destroyed, not on its thread. NULL is fine. */
void recorder_destroy(struct recorder *r);

#endif
