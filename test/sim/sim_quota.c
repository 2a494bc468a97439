#include "sim/sim_quota.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "scheduler/workloads/conf/kueue_conf.h"
#include "scheduler/workloads/cycle/admission_cycle.h"
#include "sim/controllers/sim_checks.h"
#include "sim/controllers/sim_jobs.h"
#include "sim/oracles/sim_quota_judge.h"
#include "sim/users/sim_quota_random.h"
#include "sim/users/sim_quota_users.h"
#include "sim/world/sim_webhook.h"

#define COSTS_ONE_IN 12 /* of what users do */
#define GROUPS_ONE_IN 3

struct sim_quota {
	struct sim_world *world;
	bool fair_sharing, waits_for_pods;
	struct VEC(struct kueue_conf *) confs; /* the last one is used */
	struct sim_quota_users *users;
	struct sim_groups *groups; /* NULL: the pod integration is off */
	struct sim_jobs *jobs;
	struct sim_checks *checks;
	struct sim_costs *costs;
	struct sim_quota_oracle *oracle;
	struct sim_victims *victims;
};

static bool has_groups(const struct sim_world *w)
{
	return w->seed % 3 == 0;
}

bool sim_quota_is_contended(const struct sim_world *w)
{
	return !w->plain && w->seed % 2 == 1;
}

bool sim_quota_copies_note(const struct sim_world *w)
{
	return !w->plain && w->seed % 5 < 2;
}

static void read_conf(struct sim_quota *q)
{
	CLEANUP(jdoc_destroyp) struct jdoc *doc = NULL;
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct kueue_conf *conf = NULL;
	struct err err = ERR_INIT;

	strbuf_add_c(&text, "{\"apiVersion\":\"config.kueue.x-k8s.io/v1beta2\","
			    "\"kind\":\"Configuration\"");
	if (q->fair_sharing) {
		strbuf_add_c(&text, ",\"fairSharing\":{}");
	}
	if (q->waits_for_pods) {
		strbuf_add_c(&text,
			     ",\"waitForPodsReady\":{\"timeout\":\"3s\",\"requeuingStrategy\":{"
			     "\"backoffBaseSeconds\":1,\"backoffLimitCount\":2}}");
	}
	if (has_groups(q->world)) {
		strbuf_add_c(&text, ",\"integrations\":{\"frameworks\":[\"batch/job\",\"pod\"]}");
	}
	if (sim_quota_copies_note(q->world)) {
		strbuf_add_c(&text,
			     ",\"featureGates\":{\"CustomMetricLabels\":true},\"metrics\":{"
			     "\"customLabels\":[{\"name\":\"note\",\"sourceKind\":\"Workload\","
			     "\"sourceAnnotationKey\":\"" SIM_QUOTA_NOTE
			     "\",\"trackedValues\":[\"a\"]}]}");
	}
	strbuf_add_c(&text, "}");
	if (jdoc_parse(strbuf_str(&text), &doc, &err) < 0 ||
	    kueue_conf_read(doc, NULL, NULL, &conf, &err) < 0) {
		sim_world_fail(q->world, "configuration: %s", err.text);
		return;
	}
	vec_push(&q->confs, conf);
}

static void choose_conf(struct sim_quota *q)
{
	bool contended = sim_quota_is_contended(q->world);

	q->fair_sharing = sim_world_below(q->world, 3) == 0;
	/* An eviction by time makes room: there would be less preemption. */
	q->waits_for_pods = sim_world_below(q->world, 3) == 0 && !contended;
	read_conf(q);
}

void sim_quota_reconfigure(struct sim_quota *q)
{
	q->fair_sharing = !q->fair_sharing;
	read_conf(q);
}

struct sim_quota *sim_quota_create(struct sim_world *w)
{
	struct sim_quota *q = xmalloc_zero(1, sizeof(*q));
	struct sim_quota_users_options uo = { .reductions = sim_world_below(w, 2) == 0,
					      .contended = sim_quota_is_contended(w) };

	q->world = w;
	choose_conf(q);
	q->users = sim_quota_users_create(w, &uo);
	q->oracle = sim_quota_oracle_create(w);
	q->groups = has_groups(w) ? sim_groups_create(w) : NULL;
	q->jobs = sim_jobs_create(w);
	q->checks = sim_checks_create(w);
	q->costs = sim_costs_create(w);
	q->victims = sim_victims_create(w);
	return q;
}

void sim_quota_destroy(struct sim_quota *q)
{
	if (q == NULL) {
		return;
	}
	sim_quota_users_destroy(q->users);
	sim_groups_destroy(q->groups);
	sim_jobs_destroy(q->jobs);
	sim_checks_destroy(q->checks);
	sim_costs_destroy(q->costs);
	sim_quota_oracle_destroy(q->oracle);
	sim_victims_destroy(q->victims);
	for (size_t i = 0; i < q->confs.n; i++) {
		kueue_conf_destroy(q->confs.v[i]);
	}
	vec_finish(&q->confs);
	free(q);
}

const struct kueue_conf *sim_quota_conf(const struct sim_quota *q)
{
	return q->confs.n == 0 ? NULL : q->confs.v[q->confs.n - 1];
}

void sim_quota_begin(struct sim_quota *q)
{
	sim_quota_users_begin(q->users);
}

void sim_quota_act(struct sim_quota *q)
{
	if (sim_world_below(q->world, COSTS_ONE_IN) == 0) {
		sim_costs_act(q->costs);
	} else if (q->groups != NULL && sim_world_below(q->world, GROUPS_ONE_IN) == 0) {
		sim_groups_act(q->groups, sim_quota_random_local_queue(q->world));
	} else {
		sim_quota_users_act(q->users);
	}
}

void sim_quota_offer(struct sim_quota *q, struct sim_choices *out)
{
	int64_t back_at = sim_webhook_back_at(q->world->webhook);

	/* The controllers of the cluster do not repeat writes that fail: they wait until the
	 * webhook is back. */
	if (back_at > q->world->clock.mono_ns) {
		sim_world_wake(out, back_at);
		return;
	}
	sim_jobs_offer(q->jobs, out);
	if (q->groups != NULL) {
		sim_groups_offer(q->groups, out);
	}
	sim_checks_offer(q->checks, out);
}

void sim_quota_end(struct sim_quota *q)
{
	sim_checks_calm(q->checks);
	sim_quota_users_end(q->users);
	if (q->groups != NULL) {
		sim_groups_end(q->groups);
	}
}

void sim_quota_decided(struct sim_quota *q, const struct forest *f,
		       const struct admission_decisions *d)
{
	const struct quota_model *model = forest_model(f);

	for (size_t i = 0; i < d->n; i++) {
		if (d->v[i].kind == QUOTA_DECIDE_PREEMPT) {
			sim_quota_oracle_preempted(q->oracle,
						   model->workloads.v[d->v[i].workload]->key,
						   model->workloads.v[d->v[i].by]->object.uid);
		}
	}
	sim_victims_decided(q->victims, f, d);
}

void sim_quota_check(struct sim_quota *q)
{
	sim_quota_oracle_check(q->oracle);
	if (q->groups != NULL) {
		sim_groups_check(q->groups);
	}
}

bool sim_quota_is_quiet(const struct sim_quota *q, int64_t ns)
{
	int64_t changed = sim_quota_oracle_changed_at(q->oracle);
	int64_t last = changed > q->world->wrote_at ? changed : q->world->wrote_at;

	return q->world->clock.mono_ns - last >= ns && !sim_quota_judge_must_wait(q->world);
}

void sim_quota_judge(struct sim_quota *q)
{
	sim_quota_judge_end(q->world);
	sim_costs_judge(q->costs);
	if (q->groups != NULL) {
		sim_groups_judge(q->groups);
	}
}

void sim_quota_leave(struct sim_quota *q)
{
	sim_world_trace(q->world, "all is deleted");
	if (q->groups != NULL) {
		sim_groups_leave(q->groups);
	}
	sim_quota_users_leave(q->users);
}

void sim_quota_judge_left(struct sim_quota *q)
{
	sim_quota_judge_empty(q->world);
	if (q->groups != NULL) {
		sim_groups_judge_left(q->groups);
	}
}

void sim_quota_add_stats(const struct sim_quota *q, struct sim_quota_stats *stats)
{
	for (unsigned i = 0; i < SIM_QUOTA_EVENT_COUNT_; i++) {
		stats->seen[i] += sim_quota_oracle_count(q->oracle, (enum sim_quota_event)i);
	}
	for (unsigned i = 0; i < SIM_CHECKS_COUNT_; i++) {
		stats->answers[i] += sim_checks_given(q->checks, (enum sim_checks_answer)i);
	}
	for (unsigned i = 0; q->groups != NULL && i < SIM_GROUPS_COUNT_; i++) {
		stats->groups[i] += sim_groups_count(q->groups, (enum sim_groups_event)i);
	}
	for (unsigned i = 0; i < SIM_COSTS_COUNT_; i++) {
		stats->costs[i] += sim_costs_count(q->costs, (enum sim_costs_event)i);
	}
	for (unsigned i = 0; i < SIM_VICTIMS_COUNT_; i++) {
		stats->victims[i] += sim_victims_count(q->victims, (enum sim_victims_event)i);
	}
}

static const char *const answers[SIM_CHECKS_COUNT_] = { "Ready", "Retry", "Rejected" };

void sim_quota_print_stats(const struct sim_quota_stats *stats)
{
	for (unsigned i = 0; i < SIM_QUOTA_EVENT_COUNT_; i++) {
		printf("# %s: %llu\n", sim_quota_oracle_event_name((enum sim_quota_event)i),
		       (unsigned long long)stats->seen[i]);
	}
	for (unsigned i = 0; i < SIM_CHECKS_COUNT_; i++) {
		printf("# check answers %s: %llu\n", answers[i],
		       (unsigned long long)stats->answers[i]);
	}
	for (unsigned i = 0; i < SIM_GROUPS_COUNT_; i++) {
		printf("# %s: %llu\n", sim_groups_event_name((enum sim_groups_event)i),
		       (unsigned long long)stats->groups[i]);
	}
	for (unsigned i = 0; i < SIM_COSTS_COUNT_; i++) {
		printf("# %s: %llu\n", sim_costs_event_name((enum sim_costs_event)i),
		       (unsigned long long)stats->costs[i]);
	}
	for (unsigned i = 0; i < SIM_VICTIMS_COUNT_; i++) {
		printf("# %s: %llu\n", sim_victims_event_name((enum sim_victims_event)i),
		       (unsigned long long)stats->victims[i]);
	}
}

bool sim_quota_all_seen(const struct sim_quota_stats *stats)
{
	bool all = true;

	for (unsigned i = 0; i < SIM_QUOTA_EVENT_COUNT_; i++) {
		all &= stats->seen[i] > 0;
	}
	for (unsigned i = 0; i < SIM_CHECKS_COUNT_; i++) {
		all &= stats->answers[i] > 0;
	}
	for (unsigned i = 0; i < SIM_GROUPS_COUNT_; i++) {
		all &= stats->groups[i] > 0;
	}
	for (unsigned i = 0; i < SIM_COSTS_COUNT_; i++) {
		all &= stats->costs[i] > 0;
	}
	for (unsigned i = 0; i < SIM_VICTIMS_COUNT_; i++) {
		all &= stats->victims[i] > 0;
	}
	return all;
}
