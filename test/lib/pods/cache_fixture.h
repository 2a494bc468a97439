/* test/lib/pods/cache_fixture.h: a cache that is fed with JSON, as the reflectors feed it.
 * Everything is in namespace "ns"; every object gets the next resourceVersion. After each message
 * the accounts of cluster and ledger are verified. Owner: the test. */
#ifndef TEST_LIB_PODS_CACHE_FIXTURE_H
#define TEST_LIB_PODS_CACHE_FIXTURE_H

#include "base/attrs.h"
#include "scheduler/base/message.h"
#include "scheduler/pods/ingest/cache.h"
#include "scheduler/pods/model/cluster.h"

struct cache_fixture {
	struct cache *cache;
	struct cluster *c;
	int64_t version; /* of the last object */
	int64_t now;
	int64_t step; /* the wall clock was set forward by so much */
	int status;   /* of answers that are reported, for the test to set */
	unsigned bad; /* objects refused */
	char bad_text[256];
	unsigned gone;                             /* pods reported as gone */
	unsigned foreign_binds, foreign_podgroups; /* reported */
	bool charged_to_workload;                  /* pods of ours are charged to no Queue */
};

/* Members that are NULL or 0 are left out of the object. */
struct cache_fixture_pod {
	const char *name;
	const char *uid; /* "uid-NAME" */
	const char *group, *node, *phase;
	const char *scheduler; /* "volcano" */
	const char *cpu;       /* "1" */
	const char *reason;    /* of PodScheduled=False */
	const char *reserved;  /* queue in the annotation of a reservation */
	bool bound_by_us;      /* the annotation of our binds */
	bool opted_in, gated, foreign_gate, deleted;
	int64_t version; /* the next one */
};

struct cache_time cache_fixture_time(const struct cache_fixture *f);
struct cache_fixture *
cache_fixture_create(void); /* synced, with queues "default" and "q" (4 cpu) */
/* Likewise, and PodDisruptionBudgets are read. */
struct cache_fixture *cache_fixture_create_with_budgets(void);
void cache_fixture_destroy(struct cache_fixture *f);
/* The same for cmocka. */
int cache_fixture_setup(void **state);
int cache_fixture_teardown(void **state);
#define CACHE_FIXTURE_TEST(name)                                                                   \
	cmocka_unit_test_setup_teardown(name, cache_fixture_setup, cache_fixture_teardown)

/* Pods of group "g": "p" runs on node "n", "r" has opted in and is on none. */
extern const struct cache_fixture_pod cache_fixture_running, cache_fixture_pending;
/* Applies one object; fails the test when it is not decoded (use _raw for those). */
void cache_fixture_json(struct cache_fixture *f, enum sched_resource r, const char *fmt, ...)
	PRINTF_LIKE(3, 4);
void cache_fixture_raw(struct cache_fixture *f, enum sched_resource r, const char *key,
		       const char *json);
void cache_fixture_delete(struct cache_fixture *f, enum sched_resource r, const char *key);
/* The task as it is then; NULL when the cache does not keep such a pod. */
struct task *cache_fixture_pod(struct cache_fixture *f, const struct cache_fixture_pod *p);
struct podgroup *cache_fixture_group(struct cache_fixture *f, const char *name, const char *queue,
				     int min_member);
struct queue *cache_fixture_queue(struct cache_fixture *f, const char *name, const char *parent,
				  const char *cpu);
struct node *cache_fixture_node(struct cache_fixture *f, const char *name, const char *cpu);
/* The outcome of a write. uid NULL: of any pod with this key. */
void cache_fixture_done(struct cache_fixture *f, enum sched_request r, const char *key,
			const char *uid, enum sched_outcome outcome);
struct task *cache_fixture_task(const struct cache_fixture *f, const char *name); /* NULL */
/* The charges of a queue, milli cpu. */
int64_t cache_fixture_charged(const struct cache_fixture *f, const char *queue);
void cache_fixture_check(struct cache_fixture *f);

#endif
