/* bench_fleet: the orchestrator of preemption with 20 worker clusters, over embedded API servers in
 * virtual time: the memory of Workloads with a replica on each, and the CPU time of its own code
 * for 100 of them that ask to preempt on all clusters at once, from the first message to the last
 * open gate; `bench_fleet N` does that with N Workloads alone. Then the manager of MultiKueue: its
 * CPU time for a Job, and requests; `bench_fleet jobs N` does that with N Jobs alone. The time that
 * HTTP and TLS would take is in neither (bench_writes). Last, its memory for Jobs that are offered
 * to 20 workers; `bench_fleet held N`. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "bench/growth.h"
#include "lib/multikueue/fleet_jobs.h"
#include "lib/multikueue/fleet_world.h"
#include "obs/exposition.h"
#include "process/log.h"

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
	spent = fleet_world_take_spent(w).deciding;
	growth_add(decisions, workloads, spent);
	printf("%u workers, %u Workloads: %.1f MiB, %.0f bytes for each replica; %d ask at once: "
	       "%.1f ms of CPU, %u gates open\n",
	       WORKERS, workloads, used / 1048576, used / workloads / WORKERS, ASKING, spent,
	       count_open(w));
	fleet_world_destroy(w);
}

/* --- the manager -------------------------------------------------------------------------------*/

#define MANAGED_WORKERS 3
#define MANAGED 1000

static double sum_of(struct fleet_world *w, const char *request)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT, wanted = STRBUF_INIT;
	double sum = 0;

	strbuf_printf(&wanted, "\nheadgate_requests_total{request=\"%s\"", request);
	exposition_render(fleet_world_metrics(w), &text);
	for (const char *at = strstr(text.p, wanted.p); at != NULL; at = strstr(at + 1, wanted.p)) {
		const char *value = strchr(at, '}');

		sum += value == NULL ? 0 : strtod(value + 1, NULL);
	}
	return sum;
}

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static unsigned count_running(struct fleet_world *w, unsigned jobs)
{
	unsigned n = 0;

	for (unsigned i = 0; i < jobs; i++) {
		char name[32];

		name_of(i, name);
		n += fleet_jobs_winner(w, name) == 0 && fleet_jobs_exists(w, 0, name);
	}
	return n;
}

/* The busiest worker has all Jobs; a replica on another one is a creation and a deletion. */
static void print_requests(struct fleet_world *w, unsigned jobs)
{
	printf("requests for each Job: %.1f to the manager's API server, %.1f to the busiest "
	       "worker\n",
	       (sum_of(w, "dispatch") + sum_of(w, "job_status")) / jobs,
	       (sum_of(w, "replica") + sum_of(w, "replica_job")) / jobs -
		       2.0 * (MANAGED_WORKERS - 1));
}

/* Jobs that are sent to all workers, admitted on one and created there, over embedded API servers.
 * The time of the whole has the servers in it. */
static void bench_manager(unsigned jobs)
{
	struct orchestrate_options o;
	struct manager_options mo;
	struct fleet_world_spent s;
	struct fleet_world *w;
	double ms = 0, begun;
	unsigned won;

	orchestrate_defaults(&o);
	manager_defaults(&mo);
	w = fleet_world_create(MANAGED_WORKERS, &o, 1, 1);
	fleet_world_manage(w, &mo, 0);
	fleet_world_start(w);
	fleet_world_run(w, 3 * CLOCK_NS_PER_S);
	(void)fleet_world_take_spent(w);
	for (unsigned i = 0; i < jobs; i++) {
		char name[32];

		name_of(i, name);
		fleet_jobs_submit(w, name);
	}
	begun = cpu_ms();
	fleet_world_run(w, 3 * CLOCK_NS_PER_S);
	ms += cpu_ms() - begun;
	for (unsigned i = 0; i < jobs; i++) {
		char name[32];

		name_of(i, name);
		fleet_world_report(w, 0, name, FLEET_WORLD_ADMITTED);
	}
	begun = cpu_ms();
	fleet_world_run(w, 3 * CLOCK_NS_PER_S);
	ms += cpu_ms() - begun;
	s = fleet_world_take_spent(w);
	won = count_running(w, jobs);
	printf("manager, %u workers, %u Jobs: %u run; CPU of the manager for each: %.0f us "
	       "(decisions "
	       "%.0f, answers and watches %.0f, writes %.0f), %.0f/s; with the API servers %.0f "
	       "us, %.0f/s\n",
	       MANAGED_WORKERS, jobs, won, (s.deciding + s.client + s.writes) * 1e3 / won,
	       s.deciding * 1e3 / won, s.client * 1e3 / won, s.writes * 1e3 / won,
	       won * 1e3 / (s.deciding + s.client + s.writes), ms * 1e3 / won, won / ms * 1e3);
	print_requests(w, jobs);
	fleet_world_destroy(w);
}

/* Jobs of which each worker has a replica: what a manager holds that has just read them all, so
 * that the memory of the servers does not count. */
static void bench_held(unsigned jobs)
{
	struct orchestrate_options o;
	struct manager_options mo;
	struct fleet_world *w;
	size_t before, used;

	orchestrate_defaults(&o);
	manager_defaults(&mo);
	w = fleet_world_create(WORKERS, &o, 1, 1);
	fleet_world_manage(w, &mo, 0);
	fleet_world_start(w);
	fleet_world_run(w, 3 * CLOCK_NS_PER_S);
	for (unsigned i = 0; i < jobs; i++) {
		char name[32];

		name_of(i, name);
		fleet_jobs_submit(w, name);
		fleet_world_run(w, CLOCK_NS_PER_MS);
	}
	fleet_world_run(w, 3 * CLOCK_NS_PER_S);
	fleet_world_kill(w, false);
	before = mallinfo2().uordblks;
	fleet_world_start(w);
	fleet_world_run(w, 3 * CLOCK_NS_PER_S);
	used = mallinfo2().uordblks - before;
	printf("manager, %u workers, %u Jobs that wait: %.1f MiB, %.0f bytes for each replica\n",
	       WORKERS, jobs, (double)used / 1048576, (double)used / jobs / WORKERS);
	fleet_world_destroy(w);
}

int main(int argc, char **argv)
{
	static const unsigned sizes[] = { 250, 500, 1000 };
	struct growth decisions = { 0 };
	bool jobs = argc > 2 && strcmp(argv[1], "jobs") == 0;
	bool held = argc > 2 && strcmp(argv[1], "held") == 0;
	uint64_t only;

	log_set_level(LOG_ERROR);
	if (argc > 1) { /* 10000 take some minutes, most of which are the API servers' */
		if (!str_to_u64(str_of(argv[argc - 1]), &only) || only < ASKING) {
			fprintf(stderr, "%s: not a number of at least %d\n", argv[argc - 1],
				ASKING);
			return 2;
		}
		if (jobs) {
			bench_manager((unsigned)only);
		} else if (held) {
			bench_held((unsigned)only);
		} else {
			bench((unsigned)only, &decisions);
		}
		return 0;
	}
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		bench(sizes[i], &decisions);
	}
	bench_manager(MANAGED);
	bench_held(sizes[0]);
	printf("exponent of the decisions: %.2f\n", growth_exponent(&decisions));
	return 0;
}
