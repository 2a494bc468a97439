/* test/unit/scheduler/app/engine_fixture.h: the engine with its pools stepped by the test, at a
 * transport that the test answers, in the time of a fake clock. Owner: the test. */
#ifndef TEST_UNIT_SCHEDULER_APP_ENGINE_FIXTURE_H
#define TEST_UNIT_SCHEDULER_APP_ENGINE_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "scheduler/app/engine.h"
#include "scheduler/base/message.h"

#define ENGINE_FIXTURE_WALL (1700000000 * CLOCK_NS_PER_S)

struct fake_transport;
struct metric_registry;
struct sched_conf;

struct engine_fixture {
	struct clock_fake clock;
	struct fake_transport *transport;
	struct metric_registry *counters;
	struct engine *engine;
	struct sched_msg *done[16]; /* outcomes that the engine has not taken yet */
	size_t ndone;
};

/* The built-in configuration, schedulers "volcano" (ours) and "default-scheduler" (gated for).
 * queues: with the controller of Queues. */
void engine_fixture_begin_with(struct engine_fixture *f, bool queues, bool podgroup_per_pod);
void engine_fixture_begin(struct engine_fixture *f); /* neither */
/* The same by another configuration, which passes to the engine. */
void engine_fixture_begin_by(struct engine_fixture *f, struct sched_conf *conf);
void engine_fixture_end(struct engine_fixture *f);
/* For engine_fixture_begin_by or a message SCHED_MSG_CONF; gates are on. */
struct sched_conf *engine_fixture_parse(const char *text);
/* The watch shows this object. */
void engine_fixture_see(struct engine_fixture *f, enum sched_resource r, const char *key,
			const char *json);
void engine_fixture_synced(struct engine_fixture *f,
			   enum sched_resource r); /* a list is complete */
/* All lists but those for a plugin alone. */
void engine_fixture_sync_all(struct engine_fixture *f);
void engine_fixture_lead(struct engine_fixture *f, int64_t not_before);
/* Sends what the pools hold. */
void engine_fixture_step_pools(struct engine_fixture *f);
/* Ten milliseconds, one step of the engine, and its pools. */
void engine_fixture_step(struct engine_fixture *f);
void engine_fixture_take_outcomes(struct engine_fixture *f);

#endif
