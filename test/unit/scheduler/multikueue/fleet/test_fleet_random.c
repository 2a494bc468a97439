/* Random fleets over embedded API servers in virtual time: workers that signal, preempt, evict,
 * forget and revert; connections that are cut or hang; API servers that refuse its writes; an
 * orchestrator that dies between any two half steps of its requests. After each of them the
 * promises of orchestrate.h are checked against what the API servers have. In the end everything
 * works, and every Workload has to run. */
#include "lib/unit.h"

#include <stdio.h>
#include <string.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/rng.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "lib/multikueue/fleet_dialect.h"
#include "lib/multikueue/fleet_judge.h"
#include "lib/multikueue/fleet_world.h"
#include "lib/seeds.h"
#include "scheduler/orchestrate/token.h"

#define WORLDS 60
#define ROUNDS 60
#define WORKERS_MAX 4
#define LOADS_MAX 3
#define S CLOCK_NS_PER_S
#define PATH "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads/"

/* A replica as its worker has it. */
struct replica_state {
	bool exists, reserved, admitted, preempting;
	int64_t freed_at;
};

struct play {
	struct fleet_world *world;
	struct rng rng;
	uint64_t seed;
	unsigned workers, loads, max_open;
	bool cut[WORKERS_MAX], hangs[WORKERS_MAX], refuses[WORKERS_MAX + 1]; /* last: the manager */
	bool has_victims[WORKERS_MAX], has_room[WORKERS_MAX];
	struct replica_state at[LOADS_MAX][WORKERS_MAX];
	struct fleet_judge gates[LOADS_MAX];
	bool runs[LOADS_MAX]; /* the manager of MultiKueue has chosen a cluster */
	bool alive, calm;
	unsigned opened, evictions, kills;
};

#define CHECK(p, cond, ...)                                                                        \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			print_message("seed %llu: ", (unsigned long long)(p)->seed);               \
			print_message(__VA_ARGS__);                                                \
			fail();                                                                    \
		}                                                                                  \
	} while (false)

static bool chance(struct play *p, unsigned percent)
{
	return rng_below(&p->rng, 100) < percent;
}

static const char *name_of(unsigned load)
{
	static const char *const names[] = { "a", "b", "c" };

	return names[load];
}

/* --- promises ----------------------------------------------------------------------------------*/

static bool is_away(struct play *p, unsigned i)
{
	return p->cut[i] || p->hangs[i];
}

static void check_load(struct play *p, unsigned load)
{
	bool away[WORKERS_MAX];
	const char *broken;

	for (unsigned i = 0; i < p->workers; i++) {
		away[i] = is_away(p, i);
	}
	broken = fleet_judge_check(&p->gates[load], p->world, name_of(load), away, p->workers);
	CHECK(p, broken == NULL, "%s: %s\n", name_of(load), broken);
}

/* All replicas of a worker are of one ClusterQueue. */
static void check_queue(struct play *p, unsigned i)
{
	unsigned open = 0;

	for (unsigned k = 0; k < p->loads; k++) {
		open += fleet_judge_counts(&p->gates[k], i);
	}
	CHECK(p, open <= p->max_open, "%u gates are open on w%u\n", open, i);
}

static void check(struct play *p)
{
	for (unsigned k = 0; k < p->loads; k++) {
		check_load(p, k);
	}
	for (unsigned i = 0; i < p->workers; i++) {
		check_queue(p, i);
	}
}

static void run(struct play *p, unsigned half_steps)
{
	for (unsigned i = 0; i < half_steps && p->alive && fleet_world_step(p->world); i++) {
		check(p);
	}
}

/* --- workers -----------------------------------------------------------------------------------*/

static void report(struct play *p, unsigned load, unsigned i, enum fleet_world_state state)
{
	fleet_world_report(p->world, i, name_of(load), state);
}

static void evict(struct play *p, unsigned load, unsigned i)
{
	struct replica_state *r = &p->at[load][i];

	r->reserved = r->admitted = r->preempting = false;
	fleet_judge_evicted(&p->gates[load], p->world, name_of(load), i,
			    p->alive && !is_away(p, i) && fleet_world_is_connected(p->world, i));
	report(p, load, i, FLEET_WORLD_EVICTED);
}

/* One cycle of the worker's scheduler looks at the replica. */
static void look(struct play *p, unsigned load, unsigned i)
{
	struct replica_state *r = &p->at[load][i];
	int64_t now = fleet_world_time(p->world);

	if (!r->exists || r->admitted) {
		return;
	}
	if (r->reserved) {
		r->admitted = true;
		report(p, load, i, FLEET_WORLD_ADMITTED);
	} else if (p->has_room[i] || (r->preempting && now >= r->freed_at)) {
		p->has_room[i] = r->preempting = false;
		r->reserved = true;
		report(p, load, i, FLEET_WORLD_RESERVED);
	} else if (r->preempting) {
		report(p, load, i, FLEET_WORLD_PREEMPTING);
	} else if (!p->has_victims[i]) {
		report(p, load, i, FLEET_WORLD_NO_FIT);
	} else if (!fleet_world_is_open(p->world, i, name_of(load))) {
		report(p, load, i, FLEET_WORLD_GATED);
	} else {
		r->preempting = true;
		r->freed_at = now + (p->calm ? 30 : (int64_t)rng_below(&p->rng, 900)) * S;
		report(p, load, i, FLEET_WORLD_PREEMPTING);
	}
}

/* Kueue's manager: the first that is admitted runs, the other replicas go. */
static void choose_winner(struct play *p, unsigned load)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;

	for (unsigned i = 0; i < p->workers && !p->runs[load]; i++) {
		if (!p->at[load][i].admitted || p->cut[i]) {
			continue;
		}
		p->runs[load] = true;
		strbuf_printf(&path, PATH "%s/status", name_of(load));
		(void)fleet_world_patch(
			p->world, FLEET_WORLD_MANAGER, path.p,
			"{\"status\":{\"admissionChecks\":[{\"name\":\"mk\",\"state\":\"Ready\","
			"\"message\":\"\",\"lastTransitionTime\":\"2027-01-15T08:00:00Z\"}],"
			"\"nominatedClusterNames\":null}}");
		for (unsigned k = 0; k < p->workers; k++) {
			strbuf_reset(&path);
			strbuf_printf(&path, PATH "%s", name_of(load));
			if (k != i && p->at[load][k].exists) {
				(void)fleet_world_delete(p->world, (int)k, path.p);
				p->at[load][k] = (struct replica_state){ .exists = false };
			}
		}
	}
}

/* --- trouble -----------------------------------------------------------------------------------*/

/* A worker's scheduler writes the list of gates as it was when it began (spec of Kueue: an apply
 * without a version). */
static void revert(struct play *p, unsigned load, unsigned i)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;

	strbuf_printf(&path, PATH "%s/status", name_of(load));
	if (p->at[load][i].exists) {
		(void)fleet_world_patch(p->world, (int)i, path.p,
					"{\"status\":{\"preemptionGates\":[{\"name\":"
					"\"kueue.x-k8s.io/multikueue\",\"position\":\"Closed\","
					"\"lastTransitionTime\":\"2027-01-15T08:00:00Z\"}]}}");
	}
}

/* A hand takes the token away, or writes what cannot be read. */
static void spoil_token(struct play *p, unsigned load)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;

	strbuf_printf(&path, PATH "%s", name_of(load));
	(void)fleet_world_patch(p->world, FLEET_WORLD_MANAGER, path.p,
				chance(p, 50)
					? "{\"metadata\":{\"annotations\":null}}"
					: "{\"metadata\":{\"annotations\":{\"" TOKEN_ANNOTATION
					  "\":\"{\\\"phase\\\":\\\"x\\\"}\"}}}");
	fleet_judge_token_lost(&p->gates[load]);
}

static void restart(struct play *p)
{
	if (p->alive) {
		fleet_world_kill(p->world, chance(p, 50));
		p->kills++;
		for (unsigned k = 0; k < p->loads; k++) {
			fleet_judge_restarted(&p->gates[k]);
		}
	} else {
		fleet_world_start(p->world);
	}
	p->alive = !p->alive;
}

static void refuse(struct play *p, unsigned i, bool refuses)
{
	p->refuses[i] = refuses;
	fleet_world_refuse(p->world, i == p->workers ? FLEET_WORLD_MANAGER : (int)i, refuses);
}

/* Something on the worker deletes it. */
static void remove_replica(struct play *p, unsigned load, unsigned i)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;

	strbuf_printf(&path, PATH "%s", name_of(load));
	if (p->at[load][i].exists && !p->runs[load]) {
		(void)fleet_world_delete(p->world, (int)i, path.p);
		p->at[load][i] = (struct replica_state){ .exists = false };
	}
}

/* The manager of MultiKueue makes it again, at any time; in the end only where it has no other, so
 * that one that is missing is of account. */
static void restore_replicas(struct play *p, unsigned load)
{
	unsigned n = 0;

	for (unsigned i = 0; i < p->workers; i++) {
		n += p->at[load][i].exists;
	}
	for (unsigned i = 0; i < p->workers && !p->runs[load]; i++) {
		if (!p->at[load][i].exists && (p->calm ? n == 0 : chance(p, 10))) {
			fleet_world_offer_to(p->world, i, name_of(load), 0);
			p->at[load][i].exists = true;
			n++;
		}
	}
}

static void disturb(struct play *p)
{
	unsigned i = rng_below(&p->rng, p->workers), load = rng_below(&p->rng, p->loads);

	switch (rng_below(&p->rng, 12)) {
	case 0:
		p->cut[i] = !p->cut[i];
		fleet_world_cut(p->world, i, p->cut[i]);
		break;
	case 1:
		p->hangs[i] = !p->hangs[i];
		fleet_world_hang(p->world, (int)i, p->hangs[i]);
		break;
	case 2:
		restart(p);
		break;
	case 3:
		revert(p, load, i);
		break;
	case 4:
		if (p->at[load][i].exists && !p->runs[load]) {
			evict(p, load, i);
		}
		break;
	case 5:
		p->has_room[i] = chance(p, 20);
		break;
	case 6:
		p->has_victims[i] = !p->has_victims[i];
		break;
	case 7:
		fleet_world_set_clock(p->world, ((int64_t)rng_below(&p->rng, 7201) - 3600) * S);
		break;
	case 8:
		i = rng_below(&p->rng, p->workers + 1);
		refuse(p, i, !p->refuses[i]);
		break;
	case 9:
		remove_replica(p, load, i);
		break;
	case 10:
		spoil_token(p, load);
		break;
	default:
		break;
	}
}

static void calm_down(struct play *p)
{
	p->calm = true;
	for (unsigned i = 0; i <= p->workers; i++) {
		refuse(p, i, false);
	}
	for (unsigned i = 0; i < p->workers; i++) {
		p->cut[i] = p->hangs[i] = false;
		fleet_world_cut(p->world, i, false);
		fleet_world_hang(p->world, (int)i, false);
		p->has_victims[i] = true;
	}
	if (!p->alive) {
		restart(p);
	}
}

/* --- a world -----------------------------------------------------------------------------------*/

static void play_round(struct play *p)
{
	for (unsigned k = 0; k < p->loads; k++) {
		for (unsigned i = 0; i < p->workers; i++) {
			if (p->calm || chance(p, 60)) {
				look(p, k, i);
			}
		}
		choose_winner(p, k);
		restore_replicas(p, k);
		check_load(p, k);
	}
	if (!p->calm && chance(p, 50)) {
		disturb(p);
	}
	run(p, p->calm ? 100000 : rng_below(&p->rng, 80));
	/* When nothing fails, every worker reacts in less than the time for it (20 s). */
	fleet_world_run(p->world, (int64_t)(1 + rng_below(&p->rng, p->calm ? 10 : 40)) * S);
	check(p);
}

static bool all_run(const struct play *p)
{
	for (unsigned k = 0; k < p->loads; k++) {
		if (!p->runs[k]) {
			return false;
		}
	}
	return true;
}

static void begin(struct play *p, uint64_t seed)
{
	struct orchestrate_options o;

	*p = (struct play){ .seed = seed };
	rng_init(&p->rng, seed);
	orchestrate_defaults(&o);
	o.mode = (enum orchestrate_mode)rng_below(&p->rng, 3);
	o.window_ns = (int64_t)rng_below(&p->rng, 3) * 10 * S;
	p->workers = 1 + rng_below(&p->rng, WORKERS_MAX);
	p->loads = 1 + rng_below(&p->rng, LOADS_MAX);
	p->max_open = 1 + rng_below(&p->rng, 2);
	fleet_dialect_set((enum preemption_gate_dialect)(seed % PREEMPTION_GATE_DIALECT_COUNT_));
	p->world = fleet_world_create(p->workers, &o, p->max_open, seed);
	for (unsigned i = 0; i < p->workers; i++) {
		p->has_victims[i] = chance(p, 80);
	}
	restart(p);
	for (unsigned k = 0; k < p->loads; k++) {
		fleet_world_offer(p->world, name_of(k), (int)rng_below(&p->rng, 3));
		for (unsigned i = 0; i < p->workers; i++) {
			p->at[k][i].exists = true;
		}
	}
}

static void play(uint64_t seed, struct play *sum)
{
	struct play p;

	begin(&p, seed);
	for (unsigned i = 0; i < ROUNDS; i++) {
		play_round(&p);
	}
	calm_down(&p);
	for (unsigned i = 0; i < 2000 && !all_run(&p); i++) {
		play_round(&p);
	}
	for (unsigned k = 0; k < p.loads; k++) {
		CHECK(&p, p.runs[k], "%s does not run\n", name_of(k));
	}
	fleet_world_run(p.world, 600 * S); /* the longest pause of a connection is 320 s */
	for (unsigned k = 0; k < p.loads; k++) {
		CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

		fleet_world_token(p.world, name_of(k), &text);
		CHECK(&p,
		      text.len == 0 || (strstr(text.p, "\"phase\":\"Granted\"") == NULL &&
					strstr(text.p, "\"phase\":\"Revoking\"") == NULL),
		      "%s runs, and its token is held: %s\n", name_of(k), text.p);
	}
	for (unsigned k = 0; k < p.loads; k++) {
		sum->opened += p.gates[k].opened;
		sum->evictions += p.gates[k].evictions;
	}
	sum->kills += p.kills;
	fleet_world_destroy(p.world);
}

static void test_random_fleets(void **state UNUSED)
{
	const struct seeds seeds = seeds_of_sampled_run(WORLDS);
	struct play sum = { .opened = 0 };

	for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) {
		play(seed, &sum);
	}
	print_message("%u gates opened, %u evictions during a grant, the orchestrator died %u "
		      "times\n",
		      sum.opened, sum.evictions, sum.kills);
	if (seeds.usual) {
		assert_true(sum.opened > seeds.last);
		assert_true(sum.evictions > 0);
		assert_true(sum.kills > seeds.last);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_random_fleets) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
