#include "lib/multikueue/fleet_shapes.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/rng.h"
#include "lib/multikueue/fleet_trace.h"

#define HIGH 100
#define HIGH_RUNS_S 120
#define GRACE_S 5

static void add(struct fleet_trace *t, int on, int64_t at_s, const struct fleet_job *j,
		int64_t runs_s)
{
	assert_true(t->n < FLEET_TRACE_JOBS);
	t->jobs[t->n++] =
		(struct fleet_trace_job){ .at_s = at_s, .on = on, .job = *j, .runs_s = runs_s };
}

static void add_worker(struct fleet_trace *t, unsigned cpus, int64_t looks_s)
{
	assert_true(t->workers < FLEET_TRACE_WORKERS);
	t->cpus[t->workers] = cpus;
	t->looks_s[t->workers++] = looks_s;
}

/* Work of this worker's own users that fills it, begun one after the other until age_s before the
 * trace. */
static void fill(struct fleet_trace *t, unsigned on, const struct fleet_job *j, int64_t age_s)
{
	for (unsigned used = 0; used + j->pods <= t->cpus[on]; used += j->pods) {
		add(t, (int)on, -age_s - (int64_t)(t->cpus[on] - used), j, 0);
	}
}

static void submit(struct fleet_trace *t, unsigned jobs, unsigned pods, int64_t every_s)
{
	for (unsigned k = 0; k < jobs; k++) {
		add(t, -1, 5 + k * every_s,
		    &(struct fleet_job){ .priority = HIGH, .pods = pods, .grace_s = GRACE_S },
		    HIGH_RUNS_S);
	}
}

#define LOW(many, grace) (&(struct fleet_job){ .priority = 0, .pods = (many), .grace_s = (grace) })

static void alike(struct fleet_trace *t)
{
	for (unsigned i = 0; i < 3; i++) {
		add_worker(t, 8, 1);
		fill(t, i, LOW(1, GRACE_S), 60);
	}
	submit(t, 10, 2, 30);
}

static void unequal(struct fleet_trace *t)
{
	add_worker(t, 8, 1);
	add_worker(t, 8, 1);
	add_worker(t, 8, 1);
	fill(t, 0, LOW(8, GRACE_S), 500); /* a gang that has run for long */
	fill(t, 1, LOW(4, GRACE_S), 200);
	fill(t, 2, LOW(1, GRACE_S), 20); /* single pods that have just begun */
	submit(t, 10, 1, 30);
}

static void room(struct fleet_trace *t)
{
	add_worker(t, 8, 1);
	add_worker(t, 8, 1);
	add_worker(t, 8, 4);
	for (unsigned i = 0; i < 2; i++) {
		fill(t, i, LOW(2, GRACE_S), 100);
	}
	submit(t, 8, 1, 40);
}

static void slow_victims(struct fleet_trace *t)
{
	add_worker(t, 8, 1);
	add_worker(t, 8, 1);
	add_worker(t, 8, 1);
	fill(t, 0, LOW(1, 240), 60);
	fill(t, 1, LOW(1, 60), 60);
	fill(t, 2, LOW(1, GRACE_S), 60);
	submit(t, 10, 1, 30);
}

static void burst(struct fleet_trace *t)
{
	for (unsigned i = 0; i < 3; i++) {
		add_worker(t, 12, 1);
		fill(t, i, LOW(1, GRACE_S), 60 + 30 * i);
	}
	submit(t, 30, 1, 0);
}

static void cut_off(struct fleet_trace *t)
{
	for (unsigned i = 0; i < 3; i++) {
		add_worker(t, 8, 1);
		fill(t, i, LOW(2, 20), 60);
	}
	submit(t, 10, 1, 20);
	t->cut = 0;
	t->cut_at_s = 10;
	t->cut_until_s = 100;
}

/* All work is the manager's, so that victims are sent out again, and may preempt themselves. */
static void chain(struct fleet_trace *t)
{
	struct rng rng;

	rng_init(&rng, 1);
	for (unsigned i = 0; i < 3; i++) {
		add_worker(t, 6, 1 + i);
	}
	for (unsigned k = 0; k < 36; k++) {
		int priority = (int)(k / 12) * 10;

		add(t, -1, k < 12 ? -300 + (int64_t)k * 5 : 5 + (int64_t)(k - 12) * 15,
		    &(struct fleet_job){ .priority = priority,
					 .pods = 1 + rng_below(&rng, 3),
					 .grace_s = 1 + rng_below(&rng, 20) },
		    60 + rng_below(&rng, 240));
	}
}

static const struct {
	const char *name, *says;
	void (*make)(struct fleet_trace *t);
} shapes[] = {
	{ "alike", "3 full workers with single pods of the same age; 10 Jobs of 2 pods, 30 s apart",
	  alike },
	{ "unequal",
	  "a gang of 8 pods that ran long, gangs of 4, single young pods; 10 Jobs of 1 pod, 30 s "
	  "apart",
	  unequal },
	{ "room",
	  "two full workers, and one with room that looks at its queue every 4 s; 8 Jobs of 1 pod, "
	  "40 s apart",
	  room },
	{ "slow victims", "grace periods of 240 s, 60 s and 5 s; 10 Jobs of 1 pod, 30 s apart",
	  slow_victims },
	{ "burst", "3 full workers with single pods; 30 Jobs of 1 pod at once", burst },
	{ "cut off",
	  "3 full workers; the first one is cut off for 90 s; 10 Jobs of 1 pod, 20 s apart",
	  cut_off },
	{ "chain", "3 workers; 36 Jobs of three priorities, which preempt each other", chain },
};

bool fleet_shapes_get(size_t number, struct fleet_trace *ret)
{
	if (number >= ARRAY_LEN(shapes)) {
		return false;
	}
	*ret = (struct fleet_trace){ .name = shapes[number].name,
				     .says = shapes[number].says,
				     .cut = -1 };
	shapes[number].make(ret);
	return true;
}
