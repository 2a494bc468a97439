#include "lib/multikueue/fleet_trace.h"

#include "lib/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/kueue/kueue_keys.h"
#include "api/kueue/preemption_gate.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "lib/multikueue/fleet_world.h"

#define S CLOCK_NS_PER_S
#define WORKLOADS "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads"
#define CLUSTER_QUEUE "/apis/kueue.x-k8s.io/v1beta2/clusterqueues/cq"
#define AGE_S 600      /* of what runs when the trace begins */
#define LONGEST_S 7200 /* a trace that lasts longer has failed */
#define EVICTIONS_MAX 4096
#define NOT_YET INT64_MIN
#define WIDE 8

/* A Job, or its replica, on one worker. */
enum seat_state {
	SEAT_NONE,
	SEAT_PENDING,
	SEAT_PREEMPTING,
	SEAT_ADMITTED, /* and has no pods yet */
	SEAT_RUNNING,
	SEAT_LEAVING, /* evicted; its pods end */
	SEAT_EVICTED, /* they have ended; MultiKueue removes it */
};

struct seat {
	enum seat_state state;
	char uid[48];
	bool gated;                  /* its spec has a gate, and it is not open */
	enum fleet_world_state told; /* in its status */
	bool has_told;               /* false: nothing */
	int64_t admitted_at, until;  /* until: evicted pods are there */
};

struct load {
	char name[16];
	const struct fleet_trace_job *job;
	bool submitted, ended;
	int64_t submitted_at, ran_at; /* of its first pod, or NOT_YET */
	struct seat seat[FLEET_TRACE_WORKERS];
};

struct eviction {
	size_t by;
	unsigned worker;
};

struct play {
	const struct fleet_trace *t;
	struct fleet_world *world;
	struct load *loads;
	int64_t begun;
	struct eviction
		evictions[EVICTIONS_MAX]; /* of which it is not known yet whether they help */
	size_t n;
	struct fleet_trace_result *result;
};

static int64_t now_s(const struct play *p)
{
	return (fleet_world_time(p->world) - p->begun) / S;
}

static int64_t pods_of(const struct load *l)
{
	return l->job->job.pods;
}

/* --- statuses ----------------------------------------------------------------------------------*/

static void patch_status(struct play *p, unsigned i, const struct load *l, const char *text)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;

	strbuf_printf(&path, WORKLOADS "/%s/status", l->name);
	if (fleet_world_patch(p->world, (int)i, path.p, text) != 200) {
		fail_msg("%s on w%u: %s", l->name, i, text);
	}
}

static void report(struct play *p, unsigned i, struct load *l, enum fleet_world_state state)
{
	struct seat *s = &l->seat[i];

	if (!s->has_told || s->told != state) {
		fleet_world_report(p->world, i, l->name, state);
	}
	s->told = state;
	s->has_told = true;
}

static void admit(struct play *p, unsigned i, struct load *l)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	report(p, i, l, FLEET_WORLD_ADMITTED);
	strbuf_printf(&text,
		      "{\"status\":{\"admission\":{\"clusterQueue\":\"cq\",\"podSetAssignments\":[{"
		      "\"name\":\"main\",\"count\":%u,\"flavors\":{\"cpu\":\"f\"},"
		      "\"resourceUsage\":{\"cpu\":\"%u\"}}]}}}",
		      l->job->job.pods, l->job->job.pods);
	patch_status(p, i, l, text.p);
	l->seat[i].state = SEAT_ADMITTED;
	l->seat[i].admitted_at = now_s(p);
}

static void begin_local(struct play *p, struct load *l)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	const struct fleet_job *j = &l->job->job;

	strbuf_printf(&body,
		      "{\"apiVersion\":\"kueue.x-k8s.io/v1beta2\",\"kind\":\"Workload\","
		      "\"metadata\":{\"name\":\"%s\",\"namespace\":\"default\"},\"spec\":{"
		      "\"queueName\":\"main\",\"priority\":%d,\"podSets\":[{\"name\":\"main\","
		      "\"count\":%u,\"template\":{\"spec\":{\"terminationGracePeriodSeconds\":%lld,"
		      "\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"resources\":{\"requests\":"
		      "{\"cpu\":\"1\"}}}]}}}]}}",
		      l->name, j->priority, j->pods, (long long)j->grace_s);
	assert_int_equal(fleet_world_create_object(p->world, l->job->on, WORKLOADS, body.p), 201);
	l->seat[l->job->on].state = SEAT_PENDING;
}

/* --- what ran, and for what it was stopped -----------------------------------------------------*/

static void note_start(struct play *p, unsigned i, struct load *l)
{
	size_t by = (size_t)(l - p->loads), kept = 0;
	unsigned elsewhere = 0;

	if (l->ran_at == NOT_YET) {
		l->ran_at = now_s(p);
	}
	for (size_t k = 0; k < p->n; k++) {
		if (p->evictions[k].by != by) {
			p->evictions[kept++] = p->evictions[k];
			continue;
		}
		p->result->in_vain += p->evictions[k].worker != i;
	}
	p->n = kept;
	for (unsigned k = 0; k < p->t->workers; k++) {
		elsewhere += k != i &&
			     (l->seat[k].state == SEAT_RUNNING || l->seat[k].state == SEAT_LEAVING);
	}
	p->result->twice += elsewhere > 0;
}

static void evict(struct play *p, unsigned i, struct load *victim, const struct load *by)
{
	struct seat *s = &victim->seat[i];

	report(p, i, victim, FLEET_WORLD_EVICTED);
	p->result->victims++;
	if (s->state == SEAT_RUNNING) {
		p->result->lost_pod_s += pods_of(victim) * (now_s(p) - s->admitted_at);
	}
	s->until = now_s(p) + (s->state == SEAT_RUNNING ? victim->job->job.grace_s : 0);
	s->state = SEAT_LEAVING;
	assert_true(p->n < EVICTIONS_MAX);
	p->evictions[p->n++] = (struct eviction){ (size_t)(by - p->loads), i };
}

/* --- a worker ----------------------------------------------------------------------------------*/

/* Reads what MultiKueue has made of the replica. */
static void read_replica(struct play *p, unsigned i, struct load *l)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;
	struct seat *s = &l->seat[i];
	const char *uid;

	strbuf_printf(&path, WORKLOADS "/%s", l->name);
	d = fleet_world_get(p->world, (int)i, path.p);
	uid = jdoc_path_str(d, "metadata.uid");
	if (uid == NULL) {
		*s = (struct seat){ .state = SEAT_NONE };
		return;
	}
	if (s->state == SEAT_NONE || strcmp(uid, s->uid) != 0) {
		*s = (struct seat){ .state = SEAT_PENDING };
		snprintf(s->uid, sizeof(s->uid), "%s", uid);
	}
	s->gated = jdoc_at(jdoc_path(d, "spec.preemptionGates"), 0) != NULL &&
		   !jdoc_is_str(
			   jdoc_get(jdoc_at(jdoc_path(d, "status.preemptionGates"), 0), "position"),
			   PREEMPTION_GATE_OPEN);
}

static void end_on(struct play *p, unsigned i, const struct load *l)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;

	if (l->job->on < 0) {
		fleet_jobs_finish(p->world, i, l->name);
		return;
	}
	strbuf_printf(&path, WORKLOADS "/%s", l->name);
	assert_int_equal(fleet_world_delete(p->world, (int)i, path.p), 200);
}

/* Pods that start, that end, and that were asked to. */
static void move_pods(struct play *p, unsigned i, struct load *l)
{
	struct seat *s = &l->seat[i];
	bool local = l->job->on >= 0;

	if (s->state == SEAT_ADMITTED && (local || fleet_jobs_exists(p->world, (int)i, l->name))) {
		note_start(p, i, l);
		s->state = SEAT_RUNNING;
		s->admitted_at = now_s(p);
		if (!local) {
			fleet_jobs_work(p->world, i, l->name);
		}
	} else if (s->state == SEAT_RUNNING && l->job->runs_s > 0 &&
		   now_s(p) - s->admitted_at >= l->job->runs_s) {
		end_on(p, i, l);
		l->ended = true;
		s->state = SEAT_NONE;
	} else if (s->state == SEAT_LEAVING && now_s(p) >= s->until) {
		patch_status(p, i, l, "{\"status\":{\"admission\":null}}");
		if (!local) {
			fleet_jobs_work(p->world, i, l->name);
		}
		s->state = local ? SEAT_PENDING : SEAT_EVICTED;
	}
}

static bool holds_room(const struct seat *s)
{
	return s->state == SEAT_ADMITTED || s->state == SEAT_RUNNING || s->state == SEAT_LEAVING;
}

/* Kueue's order of victims: lower priorities first, then those admitted last. */
static bool is_better_victim(const struct load *a, const struct load *b, unsigned i)
{
	if (a->job->job.priority != b->job->job.priority) {
		return a->job->job.priority < b->job->job.priority;
	}
	if (a->seat[i].admitted_at != b->seat[i].admitted_at) {
		return a->seat[i].admitted_at > b->seat[i].admitted_at;
	}
	return a < b;
}

/* The victims that make room for l where `free` pods fit already, none more than needed. Returns
 * how many; 0: preemption would not help. */
static size_t find_victims(struct play *p, unsigned i, const struct load *l, int64_t free,
			   struct load **out)
{
	size_t n = 0, kept = 0;

	for (size_t k = 0; k < p->t->n; k++) {
		struct load *v = &p->loads[k];

		if ((v->seat[i].state == SEAT_RUNNING || v->seat[i].state == SEAT_ADMITTED) &&
		    v->job->job.priority < l->job->job.priority) {
			size_t at = n++;

			for (; at > 0 && is_better_victim(v, out[at - 1], i); at--) {
				out[at] = out[at - 1];
			}
			out[at] = v;
		}
	}
	for (size_t k = 0; k < n && free < pods_of(l); k++) {
		free += pods_of(out[k]);
		kept = k + 1;
	}
	if (free < pods_of(l)) {
		return 0;
	}
	for (size_t k = kept; k > 0; k--) { /* those without which it fits as well */
		if (free - pods_of(out[k - 1]) >= pods_of(l)) {
			free -= pods_of(out[k - 1]);
			memmove(&out[k - 1], &out[k], (kept - k) * sizeof(out[0]));
			kept--;
		}
	}
	return kept;
}

/* Decides about one that waits. Returns the room that is left for those behind it. */
static int64_t decide(struct play *p, unsigned i, struct load *l, int64_t free)
{
	struct load *victims[FLEET_TRACE_JOBS];
	struct seat *s = &l->seat[i];
	size_t n;

	if (pods_of(l) <= free) {
		admit(p, i, l);
		return free - pods_of(l);
	}
	if (s->state == SEAT_PREEMPTING) {
		return free - pods_of(l); /* its victims leave; the room is kept for it */
	}
	n = find_victims(p, i, l, free, victims);
	if (n == 0) {
		report(p, i, l, FLEET_WORLD_NO_FIT);
		return free;
	}
	if (s->gated) {
		report(p, i, l, FLEET_WORLD_GATED);
		return free;
	}
	for (size_t k = 0; k < n; k++) {
		evict(p, i, victims[k], l);
	}
	s->state = SEAT_PREEMPTING;
	report(p, i, l, FLEET_WORLD_PREEMPTING);
	return free - pods_of(l);
}

/* By priority, then in the order of submission. */
static struct load *next_pending(struct play *p, unsigned i, const struct load *after)
{
	struct load *best = NULL;

	for (size_t k = 0; k < p->t->n; k++) {
		struct load *l = &p->loads[k];
		int priority = l->job->job.priority;

		if (l->seat[i].state != SEAT_PENDING && l->seat[i].state != SEAT_PREEMPTING) {
			continue;
		}
		if (after != NULL && (priority > after->job->job.priority ||
				      (priority == after->job->job.priority && l <= after))) {
			continue;
		}
		if (best == NULL || priority > best->job->job.priority) {
			best = l;
		}
	}
	return best;
}

static void cycle(struct play *p, unsigned i)
{
	int64_t free = p->t->cpus[i];

	for (size_t k = 0; k < p->t->n; k++) {
		free -= holds_room(&p->loads[k].seat[i]) ? pods_of(&p->loads[k]) : 0;
	}
	for (struct load *l = next_pending(p, i, NULL); l != NULL; l = next_pending(p, i, l)) {
		free = decide(p, i, l, free);
	}
}

static void work(struct play *p, unsigned i)
{
	for (size_t k = 0; k < p->t->n; k++) {
		struct load *l = &p->loads[k];

		if (!l->submitted || l->ended || (l->job->on >= 0 && l->job->on != (int)i)) {
			continue;
		}
		if (l->job->on < 0 && l->seat[i].state != SEAT_RUNNING &&
		    l->seat[i].state != SEAT_LEAVING) {
			read_replica(p, i, l);
		}
		move_pods(p, i, l);
	}
	if (now_s(p) % p->t->looks_s[i] == 0) {
		cycle(p, i);
	}
}

/* --- a trace -----------------------------------------------------------------------------------*/

static void submit_due(struct play *p)
{
	for (size_t k = 0; k < p->t->n; k++) {
		struct load *l = &p->loads[k];

		if (l->submitted || l->job->at_s > now_s(p)) {
			continue;
		}
		l->submitted = true;
		l->submitted_at = now_s(p);
		if (l->job->on >= 0) {
			begin_local(p, l);
		} else {
			fleet_jobs_submit_as(p->world, l->name, &l->job->job);
		}
	}
}

static bool is_done(const struct play *p)
{
	for (size_t k = 0; k < p->t->n; k++) {
		if (p->t->jobs[k].on < 0 && !p->loads[k].ended) {
			return false;
		}
	}
	return true;
}

static void begin(struct play *p, enum fleet_trace_rule rule)
{
	struct orchestrate_options o;
	struct manager_options mo;

	orchestrate_defaults(&o);
	manager_defaults(&mo);
	mo.gated = rule != FLEET_TRACE_NO_GATES;
	o.mode = rule == FLEET_TRACE_COMPAT  ? ORCHESTRATE_COMPAT
		 : rule == FLEET_TRACE_ORDER ? ORCHESTRATE_ORDER
					     : ORCHESTRATE_COST;
	if (rule == FLEET_TRACE_COMPAT) {
		o.window_ns = 0;
	}
	p->world = fleet_world_create(p->t->workers, &o, rule == FLEET_TRACE_WIDE ? WIDE : 1, 1);
	fleet_world_manage(p->world, &mo, 60 * S);
	for (unsigned i = 0; i < p->t->workers; i++) {
		CLEANUP(strbuf_finish) struct strbuf quota = STRBUF_INIT;

		strbuf_printf(&quota,
			      "{\"spec\":{\"resourceGroups\":[{\"coveredResources\":[\"cpu\"],"
			      "\"flavors\":[{\"name\":\"f\",\"resources\":[{\"name\":\"cpu\","
			      "\"nominalQuota\":\"%u\"}]}]}]}}",
			      p->t->cpus[i]);
		assert_int_equal(fleet_world_patch(p->world, (int)i, CLUSTER_QUEUE, quota.p), 200);
	}
	fleet_world_start(p->world);
	p->loads = xmalloc_zero(p->t->n, sizeof(*p->loads));
	for (size_t k = 0; k < p->t->n; k++) {
		p->loads[k].job = &p->t->jobs[k];
		p->loads[k].ran_at = NOT_YET;
		snprintf(p->loads[k].name, sizeof(p->loads[k].name), "j%u", (unsigned)k);
	}
	p->begun = fleet_world_time(p->world) + AGE_S * S;
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static void sum_up(struct play *p)
{
	int64_t waits[FLEET_TRACE_JOBS];
	size_t n = 0;

	for (size_t k = 0; k < p->t->n; k++) {
		const struct load *l = &p->loads[k];

		if (l->job->on < 0) {
			p->result->managed++;
			p->result->ran += l->ended;
			waits[n++] = l->ran_at == NOT_YET ? LONGEST_S : l->ran_at - l->submitted_at;
		}
	}
	p->result->in_vain += (unsigned)p->n; /* for Jobs that never ran */
	qsort(waits, n, sizeof(waits[0]), compare);
	p->result->p50_s = waits[(n - 1) / 2];
	p->result->p99_s = waits[(n * 99 + 99) / 100 - 1];
}

static void second(struct play *p)
{
	if (p->t->cut >= 0 && now_s(p) == p->t->cut_at_s) {
		fleet_world_cut(p->world, (unsigned)p->t->cut, true);
	}
	if (p->t->cut >= 0 && now_s(p) == p->t->cut_until_s) {
		fleet_world_cut(p->world, (unsigned)p->t->cut, false);
	}
	submit_due(p);
	for (size_t k = 0; k < p->t->n; k++) {
		const struct load *l = &p->loads[k];

		if (l->job->on < 0 && l->submitted && !l->ended) {
			fleet_jobs_core(p->world, l->name);
		}
	}
	for (unsigned i = 0; i < p->t->workers; i++) {
		work(p, i);
	}
	fleet_world_run(p->world, S);
}

void fleet_trace_play(const struct fleet_trace *t, enum fleet_trace_rule rule,
		      struct fleet_trace_result *ret)
{
	struct play p = { .t = t, .result = ret };

	*ret = (struct fleet_trace_result){ .managed = 0 };
	begin(&p, rule);
	while (!is_done(&p) && now_s(&p) < LONGEST_S) {
		second(&p);
	}
	sum_up(&p);
	fleet_world_destroy(p.world);
	free(p.loads);
}

const char *fleet_trace_rule_name(enum fleet_trace_rule rule)
{
	static const char *const names[FLEET_TRACE_RULE_COUNT_] = {
		[FLEET_TRACE_NO_GATES] = "no gates", [FLEET_TRACE_COMPAT] = "FirstSignal",
		[FLEET_TRACE_ORDER] = "ConfigOrder", [FLEET_TRACE_COST] = "Cost",
		[FLEET_TRACE_WIDE] = "Cost, 8 each",
	};

	return names[rule];
}
