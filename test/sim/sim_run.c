#include "sim/sim_run.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "play/autoscaler.h"
#include "play/kubelet.h"
#include "play/mirror.h"
#include "sim/controllers/sim_budgets.h"
#include "sim/controllers/sim_collector.h"
#include "sim/controllers/sim_volumes.h"
#include "sim/oracles/sim_bindings.h"
#include "sim/oracles/sim_evictions.h"
#include "sim/oracles/sim_judge.h"
#include "sim/oracles/sim_kube_groups.h"
#include "sim/oracles/sim_neighbours.h"
#include "sim/preemption/sim_preempt.h"
#include "sim/users/sim_users.h"
#include "sim/world/sim_pod.h"
#include "sim/world/sim_scheduler.h"
#include "sim/world/sim_transport.h"
#include "sim/world/sim_view.h"

#define MAX_SCHEDULERS 2
#define QUIET_NS (60 * CLOCK_NS_PER_S)
#define SEEN_NS (5 * CLOCK_NS_PER_S) /* until a scheduler that was held up has caught up */
#define SETTLE_NS (INT64_C(3) * 3600 * CLOCK_NS_PER_S) /* longer than pods are put off */
#define SETTLE_STEPS 200000
#define SHORT_NS (20 * CLOCK_NS_PER_S) /* timeouts of reservations */
#define LONG_NS (1800 * CLOCK_NS_PER_S)
#define SLOW_NODES_NS (30 * CLOCK_NS_PER_S)
#define ADVANCE_NS (60 * CLOCK_NS_PER_MS)
#define LEAP_NS (8 * CLOCK_NS_PER_S) /* long enough for requests to time out */
#define REQUEST_PER_MILLE_MAX 120
#define REST_NS (INT64_C(600) * CLOCK_NS_PER_S)
#define REST_STEPS 20000
#define ROUNDS 4 /* of new pods in a contended world, each until the next rest */
#define NODES_IN_THE_END 20
#define CONTENDED_PER_MILLE 20 /* more acts of users in a contended run */

struct sim_run {
	struct sim_world world;
	struct sim_users *users;
	struct sim_actors *actors;
	struct sim_quota *quota; /* NULL: no Jobs */
	bool pods;               /* users make pods, and there is an autoscaler */
	struct sim_oracle *oracle;
	struct sim_evictions *evictions;
	struct sim_preempt preempt;
	uint64_t rests; /* at which a contended world was judged */
	struct sim_transport *cluster;
	struct mirror *mirror;
	struct kubelet *kubelet;
	struct autoscaler *autoscaler;
	struct autoscaler_group groups[2]; /* of it */
	struct sim_scheduler_options options;
	struct sim_scheduler
		*schedulers[MAX_SCHEDULERS]; /* the second one while the first pauses */
	struct sim_choices choices;
	int64_t least_timeout_ns; /* of a reservation, by all configurations so far */
	unsigned user_per_mille;
	int64_t unhealthy_at; /* when the scheduler was last seen held up, while things settle */
	uint64_t restarts;
};

static struct sim_run *present; /* for sim_run_print_present only */

static const struct autoscaler_group groups[] = {
	{ "any", "4", "8Gi", 10, NULL, NULL, 40 },
	{ "special", "4", "8Gi", 10, "pool", "special", 40 },
};

static void on_decided(void *ctx, const struct cluster *c, const struct decisions *d, int64_t now)
{
	struct sim_run *r = ctx;

	sim_oracle_timed_out(r->oracle, c, d, r->least_timeout_ns);
	sim_oracle_decided(r->oracle, c, d);
	sim_evictions_decided(r->evictions, c, d);
	sim_preempt_decided(&r->preempt, c, d, now);
	sim_neighbours_decided(&r->world, c, d);
	sim_kube_groups_decided(&r->world, c, d);
}

static void on_admission(void *ctx, const struct forest *f, const struct admission_decisions *d)
{
	const struct sim_run *r = ctx;

	sim_quota_decided(r->quota, f, d);
}

static struct sim_scheduler *start_scheduler(struct sim_run *r)
{
	r->options.number++;
	sim_evictions_restarted(r->evictions);
	return sim_scheduler_create(&r->world, &r->options);
}

/* Choices that differ from run to run. */
static void choose(struct sim_run *r)
{
	struct sim_world *w = &r->world;

	r->quota = r->world.quota ? sim_quota_create(w) : NULL;
	r->user_per_mille = 8 + (unsigned)sim_world_below(w, 30);
	if (r->quota != NULL && sim_quota_is_contended(w)) {
		r->user_per_mille += CONTENDED_PER_MILLE;
	}
	w->faults.per_mille = (unsigned)sim_world_below(w, REQUEST_PER_MILLE_MAX);
	r->users = sim_users_create(w, sim_world_below(w, 2) == 0);
	r->options = (struct sim_scheduler_options){
		.leader_elect = sim_world_below(w, 3) != 0,
		.gates_admission = true,
		.kueue_conf = r->quota == NULL ? NULL : sim_quota_conf(r->quota),
		.reservation_timeout_ns =
			sim_world_below(w, 3) == 0 && !w->contended ? SHORT_NS : LONG_NS,
		.on_decided = on_decided,
		.on_admission = on_admission,
		.ctx = r,
	};
	r->least_timeout_ns = r->options.reservation_timeout_ns;
	w->leader_elect = r->options.leader_elect;
}

static void start(struct sim_run *r, const struct sim_run_options *opt)
{
	struct autoscaler_options ao = { .groups = r->groups,
					 .ngroups = ARRAY_LEN(groups),
					 .scan_interval_ns = CLOCK_NS_PER_S,
					 .provision_ns = 3 * CLOCK_NS_PER_S };
	struct sim_world *w = &r->world;

	*r = (struct sim_run){ .preempt.world = w };
	memcpy(r->groups, groups, sizeof(groups));
	r->pods = opt->kind == SIM_RUN_PODS || opt->seed % 4 == 0;
	sim_world_init(w, &(struct sim_world_options){ opt->seed, opt->verbose,
						       opt->kind == SIM_RUN_QUOTA, opt->plain });
	r->actors = sim_actors_create(w, opt->plain);
	r->oracle = sim_oracle_create(w);
	r->evictions = sim_evictions_create(w);
	sim_bindings_watch(w);
	choose(r);
	r->cluster = sim_transport_create(w, SIM_CLUSTER);
	r->mirror = mirror_create(sim_transport_base(r->cluster), &w->clock.base, false);
	r->kubelet = kubelet_create(r->mirror,
				    (sim_world_below(w, 2) == 0 ? 100 : 6000) * CLOCK_NS_PER_MS);
	for (size_t i = 0; w->contended && i < ARRAY_LEN(r->groups); i++) {
		r->groups[i].max = 0;
	}
	/* Pods that lack nodes for long have others evicted. */
	if (w->evicts) {
		ao.provision_ns = SLOW_NODES_NS;
	}
	r->autoscaler = r->pods ? autoscaler_create(r->mirror, &ao) : NULL;
	mirror_start(r->mirror);
	if (r->pods) {
		autoscaler_start(r->autoscaler);
		sim_users_begin(r->users);
	}
	if (r->quota != NULL) {
		sim_quota_begin(r->quota);
	}
	r->schedulers[0] = start_scheduler(r);
}

static void finish(struct sim_run *r)
{
	for (unsigned i = 0; i < MAX_SCHEDULERS; i++) {
		sim_scheduler_kill(r->schedulers[i]);
	}
	transport_destroy(sim_transport_base(r->cluster));
	autoscaler_destroy(r->autoscaler);
	kubelet_destroy(r->kubelet);
	mirror_destroy(r->mirror);
	sim_users_destroy(r->users);
	sim_actors_destroy(r->actors);
	sim_quota_destroy(r->quota);
	sim_oracle_destroy(r->oracle);
	sim_evictions_destroy(r->evictions);
	vec_finish(&r->choices.list);
	sim_world_finish(&r->world);
}

static bool is_healthy(struct sim_run *r)
{
	bool healthy = r->schedulers[1] == NULL && sim_scheduler_is_healthy(r->schedulers[0]);

	/* A request that hangs or a stream that was cut holds the leader up. */
	return healthy && r->world.clock.mono_ns - r->world.faults.last_at >= 2 * CLOCK_NS_PER_S;
}

static void advance(struct sim_run *r, int64_t ns)
{
	bool healthy = is_healthy(r);

	assert(ns >= 0); /* events that are due are choices, not times to wait for */
	clock_fake_advance(&r->world.clock, ns);
	/* The scheduler could not use the time of a leap while steps were possible. */
	if (healthy && is_healthy(r) && (r->choices.list.n == 0 || ns < ADVANCE_NS)) {
		r->world.healthy_ns += ns;
	}
	sim_oracle_check(r->oracle);
	if (r->quota != NULL) {
		sim_quota_check(r->quota);
	}
}

static void collect(struct sim_run *r)
{
	vec_clear(&r->choices.list);
	r->choices.weight = 0;
	r->choices.wake_at = CLOCK_NEVER;
	sim_world_offer(&r->world, &r->choices);
	sim_transport_offer(r->cluster, &r->choices);
	if (r->quota != NULL) {
		sim_quota_offer(r->quota, &r->choices);
	}
	for (unsigned i = 0; i < MAX_SCHEDULERS; i++) {
		if (r->schedulers[i] != NULL) {
			sim_scheduler_offer(r->schedulers[i], &r->choices);
		}
	}
}

static void take_choice(struct sim_run *r)
{
	uint64_t at = sim_world_below(&r->world, r->choices.weight);

	for (size_t i = 0; i < r->choices.list.n; i++) {
		const struct sim_choice c = r->choices.list.v[i];

		if (at < c.weight) {
			c.run(c.owner, c.arg);
			return;
		}
		at -= c.weight;
	}
}

/* The process has ended and another one starts. Without a valid lease nothing keeps the old one's
 * requests apart from the new one's: they are dropped. */
static void replace(struct sim_run *r, unsigned i)
{
	if (!r->options.leader_elect || r->world.lease_edited) {
		sim_world_forget_orphans(&r->world);
	}
	r->restarts++;
	r->schedulers[i] = start_scheduler(r);
}

/* Where the Lease is edited, the first process may lead again, and the second one waits. */
static bool is_second_idle(struct sim_run *r)
{
	return !r->world.plain && r->schedulers[1] != NULL &&
	       !sim_scheduler_is_paused(r->schedulers[0]) &&
	       sim_scheduler_is_leading(r->schedulers[0]) &&
	       !sim_scheduler_is_leading(r->schedulers[1]);
}

static void check_rivals(struct sim_run *r)
{
	if (r->schedulers[1] != NULL && sim_scheduler_may_write(r->schedulers[0]) &&
	    sim_scheduler_may_write(r->schedulers[1])) {
		sim_world_fail(&r->world, "two processes may write at the same time");
	}
}

/* Ends the process that was paused: the second one remains. */
static void drop_first(struct sim_run *r)
{
	sim_scheduler_kill(r->schedulers[0]);
	r->schedulers[0] = r->schedulers[1];
	r->schedulers[1] = NULL;
}

/* Kueue's Configuration is read at the start only. */
static void configure(struct sim_run *r, bool broken)
{
	int64_t was = r->options.reservation_timeout_ns;

	sim_world_trace(&r->world, "configuration %s", broken ? "broken" : "changed");
	if (!broken) {
		r->options.reservation_timeout_ns = (was == LONG_NS ? SHORT_NS : LONG_NS);
		r->least_timeout_ns = SHORT_NS;
	}
	for (unsigned i = 0; i < MAX_SCHEDULERS && r->schedulers[i] != NULL; i++) {
		sim_scheduler_reload(r->schedulers[i], broken ? NULL : &r->options);
	}
	if (!broken && r->quota != NULL && r->schedulers[1] == NULL) {
		sim_quota_reconfigure(r->quota);
		r->options.kueue_conf = sim_quota_conf(r->quota);
		sim_scheduler_terminate(r->schedulers[0]);
		replace(r, 0);
	}
}

static void tend_schedulers(struct sim_run *r)
{
	enum sim_configuration changed = r->world.configuration;

	check_rivals(r);
	if (changed != SIM_CONFIGURATION_SAME) {
		r->world.configuration = SIM_CONFIGURATION_SAME;
		configure(r, changed == SIM_CONFIGURATION_BROKEN);
	}
	if (r->world.crash) {
		r->world.crash = false;
		if (r->schedulers[1] != NULL) {
			drop_first(r);
		} else {
			sim_scheduler_kill(r->schedulers[0]);
			replace(r, 0);
		}
	}
	if (r->schedulers[1] != NULL && sim_scheduler_has_lost(r->schedulers[0])) {
		drop_first(r);
	}
	for (unsigned i = 0; i < MAX_SCHEDULERS; i++) {
		if (r->schedulers[i] != NULL && sim_scheduler_has_lost(r->schedulers[i])) {
			sim_scheduler_kill(r->schedulers[i]);
			replace(r, i);
		}
	}
	if (is_second_idle(r)) {
		sim_scheduler_kill(r->schedulers[1]);
		r->schedulers[1] = NULL;
	}
	/* The paused process goes on some time after the other one leads. */
	if (r->schedulers[1] != NULL && sim_scheduler_is_paused(r->schedulers[0]) &&
	    (!r->world.faults.on ||
	     (sim_scheduler_is_leading(r->schedulers[1]) && sim_world_chance(&r->world, 10)))) {
		sim_world_trace(&r->world, "paused scheduler goes on");
		sim_scheduler_pause(r->schedulers[0], false);
		if (!sim_scheduler_is_leading(r->schedulers[1])) { /* the pause was too short */
			sim_scheduler_kill(r->schedulers[1]);
			r->schedulers[1] = NULL;
		}
	}
}

/* Kueue's API defines some delays by times in a Workload's status: these follow the wall clock, so
 * in a world of Workloads its steps are short, and plain runs have none. */
static void set_wall_clock(struct sim_run *r)
{
	static const int64_t seconds[] = { 3600, -36000, 30, -30, 86400, -3600 };
	struct sim_world *w = &r->world;
	int64_t step;

	sim_world_strike(w, SIM_CLOCK_STEP);
	step = r->quota != NULL ? (sim_world_chance(w, 500) ? 30 : -30)
				: seconds[sim_world_below(w, ARRAY_LEN(seconds))];
	w->machine.step_ns += step * CLOCK_NS_PER_S;
	w->machine.slack_ns += (step < 0 ? -step : step) * CLOCK_NS_PER_S;
}

static void disturb_scheduler(struct sim_run *r)
{
	struct sim_world *w = &r->world;

	if ((r->quota == NULL || !w->plain) && sim_world_chance(w, 250)) {
		set_wall_clock(r);
		return;
	}
	if (r->schedulers[1] != NULL) {
		return;
	}
	switch (sim_world_below(w, 3)) {
	case 0:
		sim_world_strike(w, SIM_CRASH_IDLE);
		w->crash = true;
		break;
	case 1:
		sim_world_strike(w, SIM_TERMINATE);
		sim_scheduler_terminate(r->schedulers[0]);
		replace(r, 0);
		break;
	default:
		if (r->options.leader_elect && !w->lease_edited &&
		    sim_scheduler_is_leading(r->schedulers[0])) {
			sim_world_strike(w, SIM_PAUSE);
			sim_scheduler_pause(r->schedulers[0], true);
			r->schedulers[1] = start_scheduler(r);
		}
		break;
	}
}

/* Replaces a pod by another one of its name while a write to it is in flight. */
static void race(struct sim_run *r)
{
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;

	if (sim_scheduler_target(r->schedulers[0], &key)) {
		sim_users_recreate(r->users, key.p);
	}
}

static void user_acts(struct sim_run *r)
{
	if (r->quota != NULL && (!r->pods || sim_world_chance(&r->world, 500))) {
		sim_quota_act(r->quota);
	} else {
		sim_users_act(r->users);
	}
}

static bool step_controllers(struct sim_world *w)
{
	if (sim_collector_step(w)) {
		sim_world_trace(w, "garbage collected");
		return true;
	}
	return (w->budgets && sim_budgets_step(w)) || (w->volumes && sim_volumes_step(w));
}

static void step(struct sim_run *r, bool chaos)
{
	struct sim_world *w = &r->world;

	w->steps++;
	w->second = r->schedulers[1] != NULL;
	collect(r);
	if (chaos && sim_actors_act(r->actors)) {
		tend_schedulers(r);
		return;
	}
	if (chaos && sim_world_chance(w, r->user_per_mille)) {
		user_acts(r);
	} else if (chaos && sim_world_chance(w, 4)) {
		race(r);
	} else if (chaos && sim_world_chance(w, 3)) {
		disturb_scheduler(r);
	} else if (chaos && sim_world_chance(w, 3)) {
		sim_world_strike(w, SIM_COMPACTED);
		apiserver_compact(w->api);
	} else if ((r->choices.list.n == 0 || sim_world_chance(w, w->volumes ? 60 : 10)) &&
		   step_controllers(w)) {
		/* One step of a controller. */
	} else if (r->choices.list.n == 0) {
		int64_t now = w->clock.mono_ns;

		advance(r, r->choices.wake_at == CLOCK_NEVER ? CLOCK_NS_PER_S
							     : r->choices.wake_at - now);
	} else if (sim_world_chance(w, 30)) {
		bool leap = chaos && sim_world_chance(w, 30);

		advance(r, (int64_t)sim_world_below(w, (uint64_t)(leap ? LEAP_NS : ADVANCE_NS)));
	} else {
		take_choice(r);
	}
	tend_schedulers(r);
}

static bool is_settled(struct sim_run *r, int64_t since)
{
	struct sim_world *w = &r->world;
	int64_t changed = sim_oracle_changed_at(r->oracle);

	changed = changed > since ? changed : since;
	if (!is_healthy(r)) {
		r->unhealthy_at = w->clock.mono_ns;
	}
	return r->choices.list.n == 0 && w->clock.mono_ns - changed >= QUIET_NS &&
	       w->clock.mono_ns - r->unhealthy_at >= SEEN_NS &&
	       (w->faults.struck[SIM_STATUS_403] == 0 ||
		w->clock.mono_ns - w->faults.last_at >= SIM_FAULTS_REFUSED_NS) &&
	       !(w->volumes && sim_volumes_must_wait(w)) &&
	       !sim_judge_must_wait(w, sim_scheduler_cluster(r->schedulers[0]),
				    sim_scheduler_now(r->schedulers[0])) &&
	       (r->quota == NULL || sim_quota_is_quiet(r->quota, QUIET_NS));
}

/* Goes on until the world is settled. True: it did, and nothing failed. */
static bool settle(struct sim_run *r)
{
	struct sim_world *w = &r->world;
	int64_t since = w->clock.mono_ns;
	uint64_t last = w->steps + SETTLE_STEPS;

	while (!sim_world_failed(w) && !is_settled(r, since)) {
		if (w->clock.mono_ns - since > SETTLE_NS || w->steps > last) {
			sim_world_fail(w, "the world does not settle: objects still change, or "
					  "requests fail");
		} else {
			step(r, false);
		}
	}
	return !sim_world_failed(w);
}

/* Goes on until nothing is left to do for now. Opted-in pods without a node stay published. */
static bool rest(struct sim_run *r)
{
	struct sim_world *w = &r->world;
	int64_t since = w->clock.mono_ns;
	uint64_t last = w->steps + REST_STEPS;

	while (!sim_world_failed(w) && w->clock.mono_ns - since < REST_NS && w->steps < last) {
		int64_t changed = sim_oracle_changed_at(r->oracle);

		if (!is_healthy(r)) {
			r->unhealthy_at = w->clock.mono_ns;
		}
		if (r->choices.list.n == 0 &&
		    w->clock.mono_ns - (changed > since ? changed : since) >= QUIET_NS &&
		    w->clock.mono_ns - r->unhealthy_at >= SEEN_NS) {
			return true;
		}
		step(r, false);
	}
	return false;
}

/* Pods come while the nodes are full, and are judged at rest; then there are nodes for all. */
static void contend(struct sim_run *r)
{
	for (unsigned i = 0; i <= ROUNDS && !sim_world_failed(&r->world); i++) {
		if (i > 0) {
			sim_world_trace(&r->world, "more pods come");
			sim_users_burst(r->users);
		}
		if (rest(r)) {
			r->rests++;
			sim_preempt_rest_judge(&r->preempt, sim_scheduler_cluster(r->schedulers[0]),
					       sim_scheduler_now(r->schedulers[0]));
		}
	}
	sim_world_trace(&r->world, "more nodes come");
	for (size_t i = 0; i < ARRAY_LEN(r->groups); i++) {
		r->groups[i].max = NODES_IN_THE_END;
	}
	sim_users_burst(r->users); /* a change, at which the autoscaler looks again */
}

static void end(struct sim_run *r)
{
	struct sim_world *w = &r->world;

	w->faults.on = false;
	sim_world_trace(w, "faults stop");
	sim_actors_end(r->actors);
	sim_users_end(r->users);
	if (r->quota != NULL) {
		sim_quota_end(r->quota);
	}
	if (w->contended) {
		contend(r);
	}
	if (!settle(r)) {
		return;
	}
	sim_judge_end(w, r->oracle, sim_scheduler_cluster(r->schedulers[0]));
	sim_evictions_judge(r->evictions);
	sim_kube_groups_judge(w, r->oracle, sim_scheduler_cluster(r->schedulers[0]));
	if (r->quota == NULL || sim_world_failed(w)) {
		return;
	}
	sim_quota_judge(r->quota);
	if (sim_world_failed(w)) {
		return;
	}
	sim_quota_leave(r->quota);
	if (settle(r)) {
		sim_quota_judge_left(r->quota);
	}
}

static void add_stats(const struct sim_run *r, struct sim_run_stats *stats)
{
	const struct sim_world *w = &r->world;

	stats->runs++;
	stats->steps += w->steps;
	stats->restarts += r->restarts;
	stats->virtual_ns += w->clock.mono_ns;
	stats->published_peak += sim_oracle_published_peak(r->oracle);
	stats->evicted += sim_evictions_count(r->evictions);
	stats->rests += r->rests;
	for (unsigned i = 0; i < SIM_PREEMPT_COUNT_; i++) {
		stats->preempt[i] += r->preempt.seen[i];
	}
	stats->neighbours += r->world.neighbours;
	stats->overdue += sim_oracle_deleted(r->oracle);
	for (size_t i = 0; i < sim_view_count(w->view, SIM_PODS); i++) {
		stats->placed += sim_pod_is_placed(sim_view_at(w->view, SIM_PODS, i));
	}
	for (unsigned i = 0; i < SIM_FAULT_COUNT_; i++) {
		stats->struck[i] += w->faults.struck[i];
	}
	sim_actors_add(r->actors, stats->acts);
	if (r->quota != NULL) {
		sim_quota_add_stats(r->quota, &stats->quota);
	}
}

void sim_run_print_present(void)
{
	if (present != NULL) {
		sim_world_print_trace(&present->world);
		printf("# seed %llu: %s\n# replay: build/test/sim/%s --seed %llu -v\n",
		       (unsigned long long)present->world.seed,
		       present->world.failure[0] == '\0' ? "aborted" : present->world.failure,
		       present->quota == NULL ? "sim_main" : "sim_quota_main",
		       (unsigned long long)present->world.seed);
		(void)fflush(stdout);
	}
}

bool sim_run(const struct sim_run_options *opt, struct sim_run_stats *stats)
{
	struct sim_run r;
	bool held;

	present = &r;
	start(&r, opt);
	r.world.faults.on = true;
	while (!sim_world_failed(&r.world) && r.world.steps < opt->steps) {
		step(&r, true);
	}
	if (!sim_world_failed(&r.world)) {
		end(&r);
	}
	held = !sim_world_failed(&r.world);
	if (!held) {
		for (unsigned i = 0; i < MAX_SCHEDULERS && r.schedulers[i] != NULL; i++) {
			sim_scheduler_trace(r.schedulers[i]);
		}
		sim_run_print_present();
	}
	add_stats(&r, stats);
	stats->trace_digest = r.world.trace_digest;
	finish(&r);
	present = NULL;
	return held;
}
