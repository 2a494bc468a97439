/* test/lib/multikueue/fleet_fixture.h: objects and worker clusters for tests of
 * the parts of the fleet: in virtual time, each cluster an embedded API server. One thread. */
#ifndef TEST_LIB_MULTIKUEUE_FLEET_FIXTURE_H
#define TEST_LIB_MULTIKUEUE_FLEET_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/str.h"
#include "collections/vec.h"
#include "lib/folder.h"
#include "scheduler/base/message.h"
#include "scheduler/multikueue/records/fleet_clusters.h"
#include "scheduler/multikueue/worker/link.h"

#define FLEET_FIXTURE_WALL (INT64_C(1800000000) * CLOCK_NS_PER_S)
#define FLEET_FIXTURE_SYSTEM "kueue-system" /* namespace of the Secrets */
/* A kubeconfig that is not refused, as YAML. */
#define FLEET_FIXTURE_CONFIG                                                                       \
	"{current-context: c, contexts: [{name: c, context: {cluster: c}}], "                      \
	"clusters: [{name: c, cluster: {server: 'https://worker.example'}}]}"

struct apiserver;
struct mem_transport;
struct metric_registry;

/* An UPSERT. json: with strings in single quotes. The caller frees it. */
struct sched_msg *fleet_fixture_object(enum sched_resource r, const char *key, int64_t version,
				       const char *json);
struct sched_msg *fleet_fixture_deleted(enum sched_resource r, const char *key);

struct fleet_fixture {
	struct clock_fake clock;
	struct folder root; /* of files with kubeconfigs */
	struct metric_registry *counters;
	struct apiserver *api; /* that each connection leads to */
	struct link_options link;
	struct fleet_clusters *clusters;
	struct VEC(struct mem_transport *) transports; /* that exist */
	struct VEC(struct sched_msg *) queue;
	struct VEC(struct sched_msg *) surveys; /* SURVEY messages that were posted */
	uint64_t sources;
	unsigned connects;   /* transports that were asked for */
	bool cannot_connect; /* they are refused */
};

void fleet_fixture_begin(struct fleet_fixture *f);
void fleet_fixture_end(struct fleet_fixture *f);
/* Gives the message to the clusters and frees it. */
void fleet_fixture_handle(struct fleet_fixture *f, struct sched_msg *m_take);
/* A MultiKueueCluster with the Secret of its name; connected by fleet_fixture_connect. */
struct fleet_cluster *fleet_fixture_cluster(struct fleet_fixture *f, const char *name);
/* The Secret of this name. text: of the kubeconfig; NULL: FLEET_FIXTURE_CONFIG. */
void fleet_fixture_secret(struct fleet_fixture *f, const char *name, const char *text);
/* All Secrets are listed, and connections come up. */
void fleet_fixture_connect(struct fleet_fixture *f);
/* Everything that is possible without time passing. */
void fleet_fixture_settle(struct fleet_fixture *f);
/* As in the fleet thread: SURVEYs are kept; the rest is given to the links, and freed. */
void fleet_fixture_post(void *ctx, struct sched_msg *m);
/* YAML, into the API server. */
void fleet_fixture_load(struct fleet_fixture *f, const char *manifest);

#endif
