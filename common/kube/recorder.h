/* common/kube/recorder.h: events.k8s.io-style v1 Events about objects: the same (object, reason,
 * message) is aggregated by PATCHing its count, repeated at most once per object and minute with
 * growing intervals. Fire and forget through a pool of its own; under pressure the oldest waiting
 * events are dropped and counted. recorder_event: any thread. */
#ifndef COMMON_KUBE_RECORDER_H
#define COMMON_KUBE_RECORDER_H

#include <stdbool.h>

struct pool_options;
struct recorder;

struct recorder_object {
	const char *api_version, *kind, *namespace_, *name,
		*uid; /* namespace_ NULL: cluster-scoped, event goes to "default" */
};

/* base: transport, clock, limiter, workers (0: manual), seed; the rest is the recorder's. */
struct recorder *recorder_create(const struct pool_options *base, const char *component,
				 const char *instance);
void recorder_event(struct recorder *r, const struct recorder_object *about, bool warning,
		    const char *reason, const char *message);
struct pool *recorder_pool(struct recorder *r); /* for stepping in manual mode */
void recorder_destroy(struct recorder *r);

#endif
