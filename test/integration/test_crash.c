/* Daemons that die at bad moments, and leaders that hand over: the same final state, the oracle
 * held all the way. */
#include "lib/unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "lib/wait.h"
#include "play/scene.h"

#define LEASE "/apis/coordination.k8s.io/v1/namespaces/default/leases/volcano"
#define PLAY_NS (300 * CLOCK_NS_PER_S)
#define LOOK_NS CLOCK_NS_PER_S

static const struct autoscaler_group groups[] = {
	{ "special", "2", "4Gi", 110, "pool", "special", 5 },
	{ "large", "4", "8Gi", 110, "pool", "large", 5 },
	{ "small", "1", "1Gi", 110, "pool", "small", 20 },
};

static const char *const acts[] = { "01-proposal.yaml", "02-gang.yaml", "03-ten.yaml" };
#define PODS (3 + 4 + 10)

struct tally {
	unsigned ungated, published, running, succeeded;
};

static bool count_pod(void *ctx, struct str key UNUSED, const struct jdoc *pod)
{
	struct tally *t = ctx;
	const char *phase = jdoc_path_str(pod, "status.phase");

	t->ungated += !mirror_pod_is_gated(pod);
	t->published += mirror_pod_triggers_scale_up(pod);
	t->running += str_streq(phase, "Running");
	t->succeeded += str_streq(phase, "Succeeded");
	return true;
}

static struct tally count(const struct mirror *m)
{
	struct tally t = { 0 };

	mirror_each(m, MIRROR_PODS, count_pod, &t);
	return t;
}

static bool is_over(void *ctx UNUSED, const struct mirror *m)
{
	return count(m).succeeded == PODS;
}

static bool one_is_ungated(void *ctx UNUSED, const struct mirror *m)
{
	return count(m).ungated >= 1;
}

/* Or were: on a busy machine nodes may come before the moment is seen. */
static bool some_are_published(void *ctx UNUSED, const struct mirror *m)
{
	struct tally t = count(m);

	return t.published + t.running + t.succeeded >= 2;
}

static bool some_have_run(void *ctx UNUSED, const struct mirror *m)
{
	return count(m).succeeded >= 4;
}

static const struct moment {
	const char *name;
	mirror_cond_fn cond;
} moments[] = {
	{ "the first gate is off", one_is_ungated },
	{ "some pods are published", some_are_published },
	{ "some pods have run", some_have_run },
};

static void play(struct scene *s)
{
	struct err err = ERR_INIT;

	for (size_t i = 0; i < ARRAY_LEN(acts); i++) {
		CLEANUP(xmalloc_freep)
		char *path = xmalloc_printf("%s/test/demo/%s", stack_source(), acts[i]);

		if (stack_apply_file(s->stack, path, &err) < 0) {
			scene_fail(s, "%s", err.text);
		}
	}
}

static void start_program(struct scene *s, enum stack_program p)
{
	struct err err = ERR_INIT;

	if (stack_start_program(s->stack, p, &err) < 0) {
		scene_fail(s, "%s", err.text);
	}
}

static const enum stack_program schedulers[] = { STACK_SCHEDULER, STACK_STANDBY };

/* A scheduler that could not renew its lease in time, because the machine stood still, has ended
 * with 1 and is started again, as a Deployment does it. */
static void revive(struct scene *s)
{
	for (size_t i = 0; i < ARRAY_LEN(schedulers); i++) {
		if (stack_exit_code(s->stack, schedulers[i]) == 1) {
			start_program(s, schedulers[i]);
		}
	}
}

static void wait_moment(struct scene *s, const char *what, mirror_cond_fn cond)
{
	int64_t deadline = wait_deadline(PLAY_NS);

	while (!mirror_wait(s->mirror, cond, NULL, LOOK_NS)) {
		if (clock_mono(clock_real()) > deadline) {
			scene_fail(s, "waited in vain until %s", what);
		}
		revive(s);
	}
}

static bool is_first_running(void *ctx UNUSED, const struct mirror *m)
{
	return jdoc_is_str(jdoc_path(mirror_get(m, MIRROR_PODS, "default/pod-1"), "status.phase"),
			   "Running");
}

static bool has_queues(void *ctx UNUSED, const struct mirror *m)
{
	return mirror_get(m, MIRROR_QUEUES, "root") != NULL &&
	       mirror_get(m, MIRROR_QUEUES, "default") != NULL;
}

/* However often it loses its lease before that. */
static void kill_program(struct scene *s, enum stack_program p)
{
	int code = stack_stop_program(s->stack, p, SIGKILL);

	while (code == 1 || (code == -1 && stack_exit_code(s->stack, p) == 1)) {
		revive(s);
		code = stack_stop_program(s->stack, p, SIGKILL);
	}
	assert_int_equal(code, 128 + SIGKILL);
}

/* Those with a short lease may be about to end by themselves. */
static void stop_schedulers(struct scene *s)
{
	for (size_t i = 0; i < ARRAY_LEN(schedulers); i++) {
		int code = stack_stop_program(s->stack, schedulers[i], SIGTERM);

		assert_in_range(code + 1, 0, 2);
	}
}

/* The manifests have quota for one, for the gang, and for three. The two pods without a
 * nodeSelector may occupy the node of others, which is not a matter of quota. */
static void judge(struct scene *s)
{
	wait_moment(s, "all pods have succeeded", is_over);
	scene_judge(s);
	assert_true(history_never_together(s->mirror, "default/pod-2", "default/pod-3"));
	assert_true(history_gang_at_once(s->mirror, "default/train-", 4));
	assert_true(autoscaler_ordered(s->autoscaler) <= 1 + 2 + 3 + 2);
}

/* Of those that do not give it back. */
static const char *const short_lease[] = { "--leader-elect-lease-duration=7s",
					   "--leader-elect-renew-deadline=5s", NULL };

static void begin(struct scene *s, const char *const *args)
{
	const struct scene_options opt = { .groups = groups,
					   .ngroups = ARRAY_LEN(groups),
					   .stack = { .no_scheduler = true,
						      .scheduler_args = args } };

	scene_start(s, &opt);
	start_program(s, STACK_SCHEDULER);
	wait_moment(s, "the scheduler has made its queues", has_queues);
}

static void kill_scheduler(const char *const *args, size_t times)
{
	struct scene s;

	begin(&s, args);
	play(&s);
	for (size_t i = 0; i < times; i++) {
		wait_moment(&s, moments[i].name, moments[i].cond);
		kill_program(&s, STACK_SCHEDULER);
		start_program(&s, STACK_SCHEDULER);
	}
	judge(&s);
	stop_schedulers(&s);
	scene_stop(&s);
}

static void test_scheduler_killed(void **state UNUSED)
{
	kill_scheduler(short_lease, 2);
}

/* Without a lease there is no pause between the two lives. */
static void test_scheduler_killed_without_leader_election(void **state UNUSED)
{
	static const char *const args[] = { "--leader-elect=false", NULL };

	kill_scheduler(args, ARRAY_LEN(moments));
}

static void test_webhook_killed(void **state UNUSED)
{
	const struct scene_pod late = { .name = "late", .queue = "ten", .cpu = "1" };
	struct err err = ERR_INIT;
	struct scene s;

	begin(&s, NULL);
	play(&s);
	scene_wait_for(&s, moments[0].name, moments[0].cond, NULL);
	assert_int_equal(stack_stop_program(s.stack, STACK_WEBHOOK, SIGKILL), 128 + SIGKILL);
	/* No pod can be created without the gate while the webhook is down. */
	assert_true(scene_try_pod(&s, &late, &err) < 0);
	start_program(&s, STACK_WEBHOOK);
	judge(&s);
	scene_stop(&s);
}

static char *lease_holder(struct scene *s)
{
	CLEANUP(jdoc_destroyp) struct jdoc *lease = NULL;

	scene_call(s, "GET", LEASE, NULL, &lease);
	return xmalloc_dup(jdoc_str_or(jdoc_path(lease, "spec.holderIdentity"), ""));
}

static void test_leader_stops_and_standby_takes_over(void **state UNUSED)
{
	CLEANUP(xmalloc_freep) char *first = NULL;
	CLEANUP(xmalloc_freep) char *second = NULL;
	struct scene s;

	begin(&s, NULL);
	start_program(&s, STACK_STANDBY);
	assert_int_equal(scene_http(&s, STACK_STANDBY, "/readyz", NULL), 200);
	/* It lists while the other one leads: pods do not wait for that when it takes over. */
	scene_wait_metric_above(&s, STACK_STANDBY,
				"headgate_reflector_watches_total{resource=\"pods\"}", 0);
	play(&s);
	scene_wait_for(&s, moments[1].name, moments[1].cond, NULL);
	first = lease_holder(&s);
	assert_string_not_equal(first, "");
	assert_int_equal(stack_stop_program(s.stack, STACK_SCHEDULER, SIGTERM), 0);
	/* Released: it is free, or the standby has it already. */
	second = lease_holder(&s);
	assert_string_not_equal(first, second);
	judge(&s);
	scene_stop(&s);
}

static void test_hole_27_leader_killed_and_standby_takes_over(void **state UNUSED)
{
	struct scene s;

	begin(&s, short_lease);
	start_program(&s, STACK_STANDBY);
	play(&s);
	wait_moment(&s, moments[1].name, moments[1].cond);
	kill_program(&s, STACK_SCHEDULER);
	wait_moment(&s, moments[2].name, moments[2].cond);
	revive(&s);
	assert_true(stack_is_running(s.stack, STACK_STANDBY));
	judge(&s);
	stop_schedulers(&s);
	scene_stop(&s);
}

static bool has_ended(void *ctx, const struct mirror *m UNUSED)
{
	const struct scene *s = ctx;

	return !stack_is_running(s->stack, STACK_SCHEDULER);
}

/* Another holder writes itself into the lease. */
static void usurp(struct scene *s)
{
	char now[CLOCK_RFC3339_MAX], body[400];

	clock_format_micro(clock_wall(clock_real()), now);
	snprintf(body, sizeof(body),
		 "{\"spec\":{\"holderIdentity\":\"usurper\",\"leaseDurationSeconds\":1,"
		 "\"renewTime\":\"%s\"}}",
		 now);
	scene_call(s, "PATCH", LEASE, body, NULL);
}

/* The next process waits for the usurper's lease to end, and leads. */
static void lead_anew(struct scene *s)
{
	struct err err = ERR_INIT;

	if (stack_set_scheduler(s->stack, NULL, short_lease, &err) < 0) {
		scene_fail(s, "%s", err.text);
	}
	start_program(s, STACK_SCHEDULER);
	wait_moment(s, "pod-1 runs", is_first_running);
	scene_judge(s);
	stop_schedulers(s);
	scene_stop(s);
}

/* The leader ends with 1 and writes no more. */
static void test_lost_lease_ends_the_leader(void **state UNUSED)
{
	const struct scene_pod p = { .name = "pod-1", .queue = "lost", .cpu = "1" };
	struct scene s;

	begin(&s, NULL);
	scene_add_queue(&s, "lost", NULL, "1", NULL);
	usurp(&s);
	scene_wait_for(&s, "the leader has ended", has_ended, &s);
	assert_int_equal(stack_exit_code(s.stack, STACK_SCHEDULER), 1);
	scene_add_pod(&s, &p);
	scene_wait(&s, "pod-1", SCENE_GATED);
	lead_anew(&s);
}

/* The lease is lost, and free again while the process still awaits a write in flight: it does not
 * begin to lead a second time, and ends with 1. */
static void test_lost_lease_is_not_taken_up_again(void **state UNUSED)
{
	const struct scene_pod p = { .name = "pod-1", .queue = "regained", .cpu = "1" };
	struct scene s;
	int64_t deadline;

	begin(&s, NULL);
	scene_add_queue(&s, "regained", NULL, "1", NULL);
	scene_faults(&s, "- {fault: delay, delayMs: 60000, path: /api/v1/.*/binding, count: 0}\n");
	scene_add_pod(&s, &p);
	deadline = wait_deadline(PLAY_NS);
	while (scene_faults_struck(&s, "delay") == 0) {
		if (!wait_until(deadline)) {
			scene_fail(&s, "no binding is sent");
		}
	}
	usurp(&s);
	scene_wait_for(&s, "the leader has ended", has_ended, &s);
	assert_int_equal(stack_exit_code(s.stack, STACK_SCHEDULER), 1);
	scene_faults(&s, NULL);
	lead_anew(&s);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scheduler_killed),
		cmocka_unit_test(test_scheduler_killed_without_leader_election),
		cmocka_unit_test(test_webhook_killed),
		cmocka_unit_test(test_leader_stops_and_standby_takes_over),
		cmocka_unit_test(test_hole_27_leader_killed_and_standby_takes_over),
		cmocka_unit_test(test_lost_lease_ends_the_leader),
		cmocka_unit_test(test_lost_lease_is_not_taken_up_again),
	};

	cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
