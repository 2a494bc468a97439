/* bench_fleet: the orchestrator of preemption with 20 worker clusters, over embedded API servers in
 * virtual time: the memory of Workloads with a replica on each, and the CPU time of its own code
 * for 100 of them that ask to preempt on all clusters at once, from the first message to the last
 * open gate. */
#include <malloc.h>
#include <stdio.h>

#include "lib/unit.h"

#include "base/clock.h"
#include "bench/growth.h"
#include "lib/multikueue/fleet_world.h"

#define WORKERS 20
#define ASKING 100

static void name_of(unsigned i, char out[32])
{
	snprintf(out, 32, "w%u", i);
}

static void ask(struct fleet_world *w)
{
	for (unsigned i = 0; i < ASKING; i++) {
		char name[32];

		name_of(i, name);
		for (unsigned k = 0; k < WORKERS; k++) {
			fleet_world_report(w, k, name, FLEET_WORLD_GATED);
		}
	}
}

static unsigned count_open(struct fleet_world *w)
{
	unsigned open = 0;

	for (unsigned i = 0; i < ASKING; i++) {
		char name[32];

		name_of(i, name);
		open += fleet_world_open(w, name) >= 0;
	}
	return open;
}

static void bench(unsigned workloads, struct growth *decisions)
{
	struct orchestrate_options o;
	struct fleet_world *w;
	size_t before;
	double used, spent;

	orchestrate_defaults(&o);
	o.mode = ORCHESTRATE_ORDER;
	w = fleet_world_create(WORKERS, &o, ASKING, 1);
	for (unsigned i = 0; i < workloads; i++) {
		char name[32];

		name_of(i, name);
		fleet_world_offer(w, name, 0);
	}
	before = mallinfo2().uordblks;
	fleet_world_start(w);
	fleet_world_run(w, 5 * CLOCK_NS_PER_S);
	used = (double)(mallinfo2().uordblks - before);
	ask(w);
	(void)fleet_world_take_spent(w);
	fleet_world_run(w, CLOCK_NS_PER_S);
	spent = fleet_world_take_spent(w);
	growth_add(decisions, workloads, spent);
	printf("%u workers, %u Workloads: %.1f MiB, %.0f bytes for each replica; %d ask at once: "
	       "%.1f ms of CPU, %u gates open\n",
	       WORKERS, workloads, used / 1048576, used / workloads / WORKERS, ASKING, spent,
	       count_open(w));
	fleet_world_destroy(w);
}

int main(void)
{
	static const unsigned sizes[] = { 250, 500, 1000 };
	struct growth decisions = { 0 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		bench(sizes[i], &decisions);
	}
	printf("exponent of the decisions: %.2f\n", growth_exponent(&decisions));
	return 0;
}
