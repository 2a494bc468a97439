#include "demo/fleet_act.h"

#include <signal.h>
#include <stdio.h>

#include "api/kueue/kueue_keys.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "enc/json/jdoc.h"
#include "lib/wait.h"
#include "play/fleet_scene.h"
#include "play/stack.h"

#define WAIT_NS (120 * CLOCK_NS_PER_S)

struct telling {
	struct fleet_scene fleet;
	int64_t began;
};

static void tell(const struct telling *t, const char *text)
{
	printf("  %5.1f s  %s\n",
	       (double)(clock_mono(clock_real()) - t->began) / (double)CLOCK_NS_PER_S, text);
	fflush(stdout);
}

/* The work of the clusters: so many Workloads of so many CPU, 4 CPU in all. */
static const struct filling {
	unsigned worker;
	int cpu, many;
} fillings[] = { { 0, 1, 4 }, { 1, 4, 1 }, { 2, 2, 2 } };

static int fill(struct telling *t, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < ARRAY_LEN(fillings); i++) {
		for (int k = 0; r == 0 && k < fillings[i].many; k++) {
			char name[32];

			snprintf(name, sizeof(name), "low-%d", k);
			r = fleet_scene_fill(&t->fleet, fillings[i].worker, name, fillings[i].cpu,
					     0, err);
		}
	}
	return r;
}

/* All of them have quota. */
static int count_running(struct telling *t, int *ret, struct err *err)
{
	*ret = 0;
	for (size_t i = 0; i < ARRAY_LEN(fillings); i++) {
		for (int k = 0; k < fillings[i].many; k++) {
			CLEANUP(jdoc_destroyp) struct jdoc *w = NULL;
			char name[32];

			snprintf(name, sizeof(name), "low-%d", k);
			if (fleet_scene_get(&t->fleet, (int)fillings[i].worker, name, &w, err) <
			    0) {
				return -err->code;
			}
			*ret += fleet_scene_is_true(w, KUEUE_ADMITTED);
		}
	}
	return 0;
}

static int wait_full(struct telling *t, struct err *err)
{
	int64_t deadline = wait_deadline(WAIT_NS);
	int running = 0;

	do {
		if (count_running(t, &running, err) < 0) {
			return -err->code;
		}
		if (running == 7) {
			return 0;
		}
	} while (wait_until(deadline));
	return err_set(err, ERR_TIMEOUT, "the worker clusters did not fill: %d of 7", running);
}

static int sum_victims(struct telling *t, size_t *ret, struct err *err)
{
	size_t n;
	int r = 0;

	*ret = 0;
	for (unsigned i = 0; r == 0 && i < FLEET_SCENE_WORKERS; i++) {
		r = fleet_scene_count_victims(&t->fleet, i, &n, err);
		*ret += n;
	}
	return r;
}

static int wait_victims(struct telling *t, size_t wanted, struct err *err)
{
	int64_t deadline = wait_deadline(WAIT_NS);
	size_t n = 0;

	do {
		if (sum_victims(t, &n, err) < 0) {
			return -err->code;
		}
		if (n >= wanted) {
			return 0;
		}
	} while (wait_until(deadline));
	return err_set(err, ERR_TIMEOUT, "%zu Workloads were preempted, not %zu", n, wanted);
}

static int wait_winner(struct telling *t, const char *name, struct err *err)
{
	int64_t deadline = wait_deadline(WAIT_NS);
	char text[80];

	do {
		if (fleet_scene_manage(&t->fleet, err) < 0) {
			return -err->code;
		}
		if (fleet_scene_winner(&t->fleet, name) >= 0) {
			snprintf(text, sizeof(text), "w%d runs %s",
				 fleet_scene_winner(&t->fleet, name), name);
			tell(t, text);
			return 0;
		}
	} while (wait_until(deadline));
	return err_set(err, ERR_TIMEOUT, "%s runs nowhere", name);
}

/* It is over: the clusters are filled again. */
static int finish(struct telling *t, const char *name, size_t before, size_t *ret, struct err *err)
{
	char text[80];
	int r = sum_victims(t, ret, err);

	*ret -= before;
	snprintf(text, sizeof(text), "evicted for it: %zu", *ret);
	tell(t, text);
	r = r < 0 ? r : fleet_scene_delete(&t->fleet, name, err);
	return r < 0 ? r : wait_full(t, err);
}

static int play_without(struct telling *t, struct fleet_act *ret, struct err *err)
{
	int r = fleet_scene_submit(&t->fleet, "urgent-1", 10, false, err);

	tell(t, "urgent-1, of 4 CPU, is offered to w0, w1 and w2, without gates");
	/* The manager looks when all of them have preempted: without gates none waits for it. */
	r = r < 0 ? r : wait_victims(t, 7, err);
	r = r < 0 ? r : wait_winner(t, "urgent-1", err);
	return r < 0 ? r : finish(t, "urgent-1", 0, &ret->without_gates, err);
}

static int play_with(struct telling *t, struct fleet_act *ret, struct err *err)
{
	size_t before = ret->without_gates;
	int r = fleet_scene_submit(&t->fleet, "urgent-2", 10, true, err);

	tell(t, "urgent-2 is offered to all three, with closed preemption gates");
	r = r < 0 ? r : wait_winner(t, "urgent-2", err);
	return r < 0 ? r : finish(t, "urgent-2", before, &ret->with_gates, err);
}

static int play_crash(struct telling *t, struct fleet_act *ret, struct err *err)
{
	size_t before = ret->without_gates + ret->with_gates;
	int r = fleet_scene_submit(&t->fleet, "urgent-3", 10, true, err);

	tell(t, "urgent-3 is offered in the same way");
	r = r < 0 ? r : wait_victims(t, before + 1, err);
	if (r == 0) {
		(void)stack_stop_program(t->fleet.manager, STACK_SCHEDULER, SIGKILL);
		tell(t, "the orchestrator is killed while a gate is open, and starts again");
		r = stack_start_program(t->fleet.manager, STACK_SCHEDULER, err);
	}
	r = r < 0 ? r : wait_winner(t, "urgent-3", err);
	return r < 0 ? r : finish(t, "urgent-3", before, &ret->after_crash, err);
}

int fleet_act_play(struct fleet_act *ret, struct err *err)
{
	static const char *const args[] = { "--leader-elect=false", NULL };
	struct telling t = { .began = clock_mono(clock_real()) };
	int r;

	*ret = (struct fleet_act){ 0 };
	printf("\n7. One urgent Workload, three full clusters\n"
	       "   A manager and three worker clusters. w0 runs four Workloads, w1 one and w2\n"
	       "   two. Only preemption makes room for an urgent one.\n\n");
	fflush(stdout);
	r = fleet_scene_start(&t.fleet, false, args, err);
	r = r < 0 ? r : fill(&t, err);
	r = r < 0 ? r : wait_full(&t, err);
	r = r < 0 ? r : play_without(&t, ret, err);
	r = r < 0 ? r : play_with(&t, ret, err);
	r = r < 0 ? r : play_crash(&t, ret, err);
	fleet_scene_stop(&t.fleet, r < 0 || ret->with_gates != 1 || ret->after_crash != 1);
	return r;
}
