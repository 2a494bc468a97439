/* Random fleets with the manager of MultiKueue over embedded API servers in virtual time: Jobs and
 * groups of pods that are submitted, evicted, deleted, and made again under the same name; workers
 * that admit, evict and finish them; connections that are cut or hang; API servers that refuse; a
 * manager that dies between any two half steps of its requests. After each of them at most one
 * worker runs a Job, but where manager.h says that two may. In the end everything works: all that
 * is left has run to its end, the statuses agree, and nothing is left on any worker. */
#include "lib/unit.h"

#include "api/kueue/kueue_keys.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/rng.h"
#include "base/strbuf.h"
#include "lib/multikueue/fleet_jobs.h"
#include "lib/multikueue/fleet_judge.h"
#include "lib/multikueue/fleet_pods.h"
#include "lib/multikueue/fleet_world.h"
#include "lib/seeds.h"

#define WORLDS 40
#define ROUNDS 50
#define WORKERS_MAX 4
#define LOADS_MAX 3
#define S CLOCK_NS_PER_S
#define MINUTE (60 * S)
#define LOST_AFTER (3 * MINUTE)
#define PATH "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads/"
#define JOBS "/apis/batch/v1/namespaces/default/jobs/"

struct play {
	struct fleet_world *world;
	struct rng rng;
	uint64_t seed;
	unsigned workers, loads;
	bool cut[WORKERS_MAX], hangs[WORKERS_MAX], refuses[WORKERS_MAX];
	int64_t away_at[WORKERS_MAX]; /* since when it is cut or hangs, or the manager is dead */
	/* The worker was out of reach for long with the Job: another one may run it as well. */
	bool doubled[LOADS_MAX][WORKERS_MAX];
	bool gone[LOADS_MAX]; /* deleted by its user */
	bool pods[LOADS_MAX]; /* a group of pods, not a Job */
	struct fleet_judge gates[LOADS_MAX];
	bool alive, calm, gated;
	int64_t dead_at;
	unsigned kills, ran, finished, evicted, opened, closed;
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

/* --- Jobs and groups of pods -------------------------------------------------------------------*/

static void submit(struct play *p, unsigned load)
{
	if (p->pods[load]) {
		fleet_pods_submit(p->world, name_of(load));
	} else {
		fleet_jobs_submit(p->world, name_of(load));
	}
}

/* Any of it may run there. */
static bool runs(struct play *p, unsigned load, int server)
{
	return p->pods[load] ? fleet_pods_running(p->world, server, name_of(load)) > 0
			     : fleet_jobs_runs(p->world, server, name_of(load));
}

static bool exists(struct play *p, unsigned load, int server)
{
	return p->pods[load] ? fleet_pods_exist(p->world, server, name_of(load))
			     : fleet_jobs_exists(p->world, server, name_of(load));
}

/* By the status of the local objects. */
static bool is_active(struct play *p, unsigned load)
{
	int server = FLEET_WORLD_MANAGER;

	return p->pods[load] ? fleet_pods_in(p->world, server, name_of(load), "Running") > 0
			     : fleet_jobs_active(p->world, server, name_of(load)) > 0;
}

static void act(struct play *p, unsigned load, unsigned worker)
{
	if (p->pods[load]) {
		fleet_pods_work(p->world, worker, name_of(load));
	} else {
		fleet_jobs_work(p->world, worker, name_of(load));
	}
}

static void finish(struct play *p, unsigned load, unsigned worker)
{
	if (p->pods[load]) {
		fleet_pods_finish(p->world, worker, name_of(load));
	} else {
		fleet_jobs_finish(p->world, worker, name_of(load));
	}
	p->finished++;
}

static void core(struct play *p, unsigned load)
{
	if (p->pods[load]) {
		fleet_pods_core(p->world, name_of(load));
	} else {
		fleet_jobs_core(p->world, name_of(load));
	}
}

static void evict(struct play *p, unsigned load)
{
	if (p->pods[load]) {
		fleet_pods_evict(p->world, name_of(load));
	} else {
		fleet_jobs_evict(p->world, name_of(load));
	}
}

/* --- promises ----------------------------------------------------------------------------------*/

/* A connection that was lost is tried again after minutes only. */
static bool is_away(struct play *p, unsigned i)
{
	return !p->alive || p->cut[i] || p->hangs[i] || !fleet_world_is_connected(p->world, i);
}

static void note_away(struct play *p)
{
	for (unsigned i = 0; i < p->workers; i++) {
		if (!is_away(p, i)) {
			p->away_at[i] = CLOCK_NEVER;
		} else if (p->away_at[i] == CLOCK_NEVER) {
			p->away_at[i] = fleet_world_time(p->world);
		}
	}
}

static void check_load(struct play *p, unsigned load)
{
	unsigned n = 0;

	for (unsigned i = 0; i < p->workers; i++) {
		bool there = runs(p, load, (int)i);

		p->doubled[load][i] &= there;
		if (there && p->away_at[i] != CLOCK_NEVER) {
			p->doubled[load][i] |=
				fleet_world_time(p->world) - p->away_at[i] >= LOST_AFTER;
		}
		n += there && !p->doubled[load][i];
	}
	p->ran += n;
	CHECK(p, n <= 1, "%s runs on %u workers\n", name_of(load), n);
	CHECK(p, !p->pods[load] || !runs(p, load, FLEET_WORLD_MANAGER),
	      "pods of %s were let go on the manager's cluster\n", name_of(load));
}

static void check_gates(struct play *p, unsigned load)
{
	bool away[WORKERS_MAX];
	const char *broken;

	for (unsigned i = 0; i < p->workers; i++) {
		away[i] = is_away(p, i);
	}
	broken = fleet_judge_check(&p->gates[load], p->world, name_of(load), away, p->workers);
	CHECK(p, broken == NULL, "%s: %s\n", name_of(load), broken);
}

static void check(struct play *p)
{
	note_away(p);
	for (unsigned k = 0; k < p->loads; k++) {
		check_load(p, k);
		if (p->gated && !p->gone[k]) { /* the token goes with its object */
			check_gates(p, k);
		}
	}
}

static void run(struct play *p, unsigned half_steps)
{
	for (unsigned i = 0; i < half_steps && p->alive && fleet_world_step(p->world); i++) {
		check(p);
	}
}

/* --- the world ---------------------------------------------------------------------------------*/

static void evict_gated(struct play *p, unsigned load, unsigned i)
{
	fleet_judge_evicted(&p->gates[load], p->world, name_of(load), i, !is_away(p, i));
	fleet_world_report(p->world, i, name_of(load), FLEET_WORLD_EVICTED);
}

/* It fits on this worker by preemption alone: it asks until its gate is open, then its victims
 * leave, and it is admitted or evicted itself. */
static void preempt(struct play *p, unsigned load, unsigned i)
{
	const char *name = name_of(load);

	if (!fleet_world_is_open(p->world, i, name)) {
		fleet_world_report(p->world, i, name, FLEET_WORLD_GATED);
	} else if (!p->calm && chance(p, 20)) {
		evict_gated(p, load, i);
	} else {
		fleet_world_report(p->world, i, name,
				   chance(p, 50) ? FLEET_WORLD_PREEMPTING : FLEET_WORLD_ADMITTED);
	}
}

static void look(struct play *p, unsigned load, unsigned i)
{
	if (p->gated && chance(p, 90)) {
		preempt(p, load, i);
	} else if (chance(p, p->calm ? 50 : 15)) {
		fleet_world_report(p->world, i, name_of(load), FLEET_WORLD_ADMITTED);
	}
}

/* A worker's scheduler and its job reconciler. An evicted replica is queued again, unless it was
 * deactivated. */
static void work(struct play *p, unsigned load, unsigned i)
{
	const char *name = name_of(load);
	struct fleet_world *w = p->world;

	act(p, load, i);
	if (!fleet_jobs_has_replica(w, (int)i, name)) {
		return;
	}
	if (runs(p, load, (int)i)) {
		if (chance(p, p->calm ? 40 : 5)) {
			finish(p, load, i);
		} else if (!p->calm && chance(p, 5)) {
			fleet_world_report(w, i, name, FLEET_WORLD_EVICTED);
			act(p, load, i);
			p->evicted++;
		}
	} else if (!fleet_jobs_is(w, (int)i, name, KUEUE_ADMITTED) &&
		   !fleet_jobs_is(w, (int)i, name, KUEUE_DEACTIVATION_TARGET) &&
		   !fleet_jobs_is(w, (int)i, name, KUEUE_FINISHED)) {
		look(p, load, i);
	}
}

/* A manager that restarts while a cluster is away does not know of the Job there, if the core has
 * released the quota since. */
static void forget_away(struct play *p)
{
	for (unsigned i = 0; i < p->workers; i++) {
		for (unsigned k = 0; k < p->loads; k++) {
			p->doubled[k][i] |= (p->cut[i] || p->hangs[i]) && runs(p, k, (int)i);
		}
	}
}

static void restart(struct play *p)
{
	forget_away(p);
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

static void remove_load(struct play *p, unsigned load)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;

	p->gone[load] = true;
	if (p->pods[load]) {
		fleet_pods_remove(p->world, name_of(load));
		return;
	}
	strbuf_printf(&path, PATH "%s", name_of(load));
	(void)fleet_world_delete(p->world, FLEET_WORLD_MANAGER, path.p);
	strbuf_reset(&path);
	strbuf_printf(&path, JOBS "%s", name_of(load));
	(void)fleet_world_delete(p->world, FLEET_WORLD_MANAGER, path.p);
}

/* Its user deletes it, and makes another one of the same name, of which the manager may not see
 * that it is another one before it has decided again. */
static void remake_load(struct play *p, unsigned load)
{
	remove_load(p, load);
	run(p, rng_below(&p->rng, 20));
	submit(p, load);
	p->gone[load] = false;
	fleet_judge_token_lost(&p->gates[load]);
}

/* Something on the worker deletes the replica, its Job, or both. */
static void remove_there(struct play *p, unsigned load, unsigned i)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;

	if (chance(p, 30)) {
		fleet_jobs_restore(p->world, i, name_of(load));
		return;
	}
	if (chance(p, 70)) {
		strbuf_printf(&path, PATH "%s", name_of(load));
		(void)fleet_world_delete(p->world, (int)i, path.p);
	}
	if (p->pods[load]) {
		fleet_pods_remove_there(p->world, i, name_of(load));
	} else if (chance(p, 50)) {
		strbuf_reset(&path);
		strbuf_printf(&path, JOBS "%s", name_of(load));
		(void)fleet_world_delete(p->world, (int)i, path.p);
	}
}

/* A worker is cut off, and replicas there are restored from a backup: others of the same names, of
 * which no deletion is seen. */
static void toggle_cut(struct play *p, unsigned i)
{
	p->cut[i] = !p->cut[i];
	fleet_world_cut(p->world, i, p->cut[i]);
	for (unsigned k = 0; k < p->loads && p->cut[i]; k++) {
		if (chance(p, 80)) {
			fleet_jobs_restore(p->world, i, name_of(k));
		}
	}
}

/* The same soon after a gate was opened there, and for a moment; or until a new connection shows
 * the other replica while the token still names the old one. */
static void cut_holder(struct play *p, unsigned load)
{
	for (unsigned i = 0; i < p->workers; i++) {
		if (fleet_judge_counts(&p->gates[load], i) && !p->cut[i]) {
			toggle_cut(p, i);
			run(p, 50);
			if (chance(p, 50)) {
				fleet_world_run(p->world, (8 + rng_below(&p->rng, 10)) * S);
			}
			toggle_cut(p, i);
		}
	}
}

static void disturb(struct play *p)
{
	unsigned i = rng_below(&p->rng, p->workers), load = rng_below(&p->rng, p->loads);

	switch (rng_below(&p->rng, 9)) {
	case 0:
		toggle_cut(p, i);
		break;
	case 1:
		p->hangs[i] = !p->hangs[i];
		fleet_world_hang(p->world, (int)i, p->hangs[i]);
		break;
	case 2:
		restart(p);
		break;
	case 3:
		evict(p, load);
		break;
	case 4:
		if (chance(p, 20)) {
			remove_load(p, load);
		} else if (chance(p, 30) && !p->gone[load]) {
			remake_load(p, load);
		}
		break;
	case 5:
		p->refuses[i] = !p->refuses[i];
		fleet_world_refuse_creates(p->world, i,
					   p->refuses[i] ? (chance(p, 50) ? 403 : 500) : 0);
		break;
	case 6:
		p->refuses[i] = !p->refuses[i];
		fleet_world_refuse(p->world, (int)i, p->refuses[i]);
		break;
	case 7:
		remove_there(p, load, i);
		break;
	default:
		cut_holder(p, load);
		break;
	}
}

static void calm_down(struct play *p)
{
	p->calm = true;
	for (unsigned i = 0; i < p->workers; i++) {
		p->cut[i] = p->hangs[i] = false;
		fleet_world_cut(p->world, i, false);
		fleet_world_hang(p->world, (int)i, false);
		fleet_world_refuse(p->world, (int)i, false);
		fleet_world_refuse_creates(p->world, i, 0);
	}
	if (!p->alive) {
		restart(p);
	}
}

static void play_round(struct play *p)
{
	for (unsigned k = 0; k < p->loads; k++) {
		if (!p->gone[k] && chance(p, 80)) {
			core(p, k);
		}
		for (unsigned i = 0; i < p->workers; i++) {
			if (chance(p, 60)) {
				work(p, k, i);
			}
		}
		check_load(p, k);
	}
	if (!p->calm && chance(p, 50)) {
		disturb(p);
	}
	run(p, p->calm ? 100000 : rng_below(&p->rng, 80));
	fleet_world_run(p->world, (int64_t)(1 + rng_below(&p->rng, p->calm ? 10 : 40)) * S);
	check(p);
}

/* Objects that are being deleted on the workers wait for their finalizers. */
static void let_go(struct play *p)
{
	for (unsigned k = 0; k < p->loads; k++) {
		for (unsigned i = 0; i < p->workers; i++) {
			act(p, k, i);
		}
	}
}

static bool all_ended(const struct play *p)
{
	for (unsigned k = 0; k < p->loads; k++) {
		if (!p->gone[k] &&
		    !fleet_jobs_is(p->world, FLEET_WORLD_MANAGER, name_of(k), KUEUE_FINISHED)) {
			return false;
		}
	}
	return true;
}

static void check_end(struct play *p)
{
	for (unsigned k = 0; k < p->loads; k++) {
		const char *name = name_of(k);

		CHECK(p,
		      p->gone[k] ||
			      fleet_jobs_is(p->world, FLEET_WORLD_MANAGER, name, KUEUE_FINISHED),
		      "%s has not ended\n", name);
		CHECK(p, p->gone[k] || !is_active(p, k), "%s has ended with active pods\n", name);
		for (unsigned i = 0; i < p->workers; i++) {
			CHECK(p,
			      !fleet_jobs_has_replica(p->world, (int)i, name) &&
				      !exists(p, k, (int)i),
			      "something of %s is left on w%u\n", name, i);
		}
	}
}

/* --- a world -----------------------------------------------------------------------------------*/

static void begin(struct play *p, uint64_t seed)
{
	struct orchestrate_options o;
	struct manager_options mo;

	*p = (struct play){ .seed = seed };
	rng_init(&p->rng, seed);
	orchestrate_defaults(&o);
	manager_defaults(&mo);
	mo.worker_lost_ns = LOST_AFTER;
	mo.dispatcher = chance(p, 50) ? MANAGER_ALL_AT_ONCE : MANAGER_INCREMENTAL;
	mo.step_size = 1 + rng_below(&p->rng, 2);
	mo.round_ns = MINUTE;
	mo.gated = p->gated = chance(p, 50);
	p->workers = 1 + rng_below(&p->rng, WORKERS_MAX);
	p->loads = 1 + rng_below(&p->rng, LOADS_MAX);
	p->world = fleet_world_create(p->workers, &o, 1, seed);
	fleet_world_manage(p->world, &mo, MINUTE);
	fleet_world_carry_pods(p->world);
	for (unsigned i = 0; i < WORKERS_MAX; i++) {
		p->away_at[i] = CLOCK_NEVER;
	}
	restart(p);
	for (unsigned k = 0; k < p->loads; k++) {
		p->pods[k] = chance(p, 40);
		submit(p, k);
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
	for (unsigned i = 0; i < 2000 && !all_ended(&p); i++) {
		play_round(&p);
	}
	/* The longest pause of a connection, and a collection of orphans. */
	for (unsigned i = 0; i < 20; i++) {
		let_go(&p);
		fleet_world_run(p.world, 30 * S);
	}
	let_go(&p);
	check_end(&p);
	sum->kills += p.kills;
	sum->ran += p.ran;
	sum->finished += p.finished;
	sum->evicted += p.evicted;
	for (unsigned k = 0; k < p.loads; k++) {
		sum->opened += p.gates[k].opened;
		sum->closed += p.gates[k].evictions;
	}
	fleet_world_destroy(p.world);
}

static void test_random_fleets(void **state UNUSED)
{
	const struct seeds seeds = seeds_of_sampled_run(WORLDS);
	struct play sum = { .kills = 0 };

	for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) {
		play(seed, &sum);
	}
	print_message("%u ended, %u were evicted, the manager died %u times; %u gates were "
		      "opened, %u closed by an eviction\n",
		      sum.finished, sum.evicted, sum.kills, sum.opened, sum.closed);
	if (seeds.usual) {
		assert_true(sum.kills > seeds.last);
		assert_true(sum.finished > seeds.last / 2);
		assert_true(sum.evicted > 0);
		assert_true(sum.opened > 0);
		assert_true(sum.closed > 0);
		assert_true(sum.ran > 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_random_fleets) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
