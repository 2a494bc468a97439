/* Random worlds: a manager with its core, and workers that admit, run, evict, finish, forget and
 * deactivate; connections that break; writes that are lost, or arrive without an answer; managers
 * that restart; objects of others with the same name. After each action, what manager.h promises is
 * checked against the truth on the clusters. In the end everything works again, and the Job has to
 * run on one cluster, to finish, and to leave nothing behind. */
#include "scheduler/multikueue/manager/manager.h"

#include "lib/unit.h"

#include <stdio.h>
#include <string.h>

#include "api/core/batch.h"
#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/rng.h"
#include "enc/decode.h"
#include "lib/seeds.h"
#include "scheduler/multikueue/manager/carried.h"
#include "unit/scheduler/multikueue/manager/manager_fixture.h"

#define WORLDS 2000
#define STEPS 60
#define WORKERS_MAX 5
#define S CLOCK_NS_PER_S
#define START (INT64_C(1800000000) * S)
#define LOST_AFTER (300 * S)
#define NEVER INT64_MAX

/* The objects on one cluster. */
struct there {
	bool replica, admitted, evicted, finished, inactive, to_deactivate, other_spec, deleting;
	bool job, suspended, done;
	int32_t active, priority;
	uint32_t class; /* of the Job */
};

/* The same as the API shows it. */
struct shown {
	struct api_workload replica;
	struct api_condition conditions[5];
	struct api_pod_set podset;
	struct api_job job;
	struct carried_object object;
	struct api_condition done;
	struct field_pair label;
};

struct worker {
	char name[24];
	struct there now, seen; /* the truth, and as the manager saw it last */
	struct shown shown;
	bool foreign_replica, foreign_job, has_room, refuses, configured;
	bool connected, known; /* this manager has been connected to it */
	bool replica_taken, job_taken, job_sent;
	bool down_long; /* was out of reach for LOST_AFTER since its Job began */
	bool doubled;   /* and its Job was then created on another cluster */
	int64_t down_at;
};

/* The local Workload and its Job, of which the core and users write a part. */
struct local {
	bool exists, quota, evicted, finished, nominated[WORKERS_MAX];
	const char *state; /* of the check */
	char message[256];
	size_t cluster; /* NONE: not recorded */
	int32_t retries, active, priority;
	bool suspended, done, says_suspended; /* the condition of the Job */
	int64_t quota_at;
};
#define NONE SIZE_MAX

struct world {
	struct rng rng;
	uint64_t seed, hash;
	struct manager_options opt;
	struct worker v[WORKERS_MAX];
	size_t n;
	struct local local;
	struct api_workload workload;
	struct api_condition conditions[3], job_conditions[2];
	struct api_check_state check;
	struct api_owner owner;
	struct api_pod_set podset;
	const char *names[WORKERS_MAX];
	struct api_job job;
	struct field_pair job_label;
	struct arena *arena;
	int64_t now, began, round_at, wake_at;
	bool calm;
	bool disturbed; /* a write failed in the last calls, or the manager restarted */
	unsigned acts[MANAGER_ACT_COUNT_];
};

static bool chance(struct world *w, unsigned percent)
{
	return rng_below(&w->rng, 100) < percent;
}

static bool fails(struct world *w, unsigned percent)
{
	return !w->calm && chance(w, percent);
}

#define CHECK(w, cond, ...)                                                                        \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			print_message("seed %u: ", (unsigned)(w)->seed);                           \
			print_message(__VA_ARGS__);                                                \
			fail();                                                                    \
		}                                                                                  \
	} while (false)

/* --- objects -----------------------------------------------------------------------------------*/

static struct api_condition condition(const char *type, const char *reason)
{
	return (struct api_condition){ .type = type,
				       .status = "True",
				       .reason = reason,
				       .message = "m",
				       .last_transition = START };
}

static struct field_pair label_of(uint32_t class)
{
	static const char *const names[] = { "a", "b", "c", "d" };

	return (struct field_pair){ KUEUE_PRIORITY_CLASS, names[class % ARRAY_LEN(names)] };
}

static void show(struct shown *s, const struct there *t)
{
	size_t n = 0;

	if (t->admitted) {
		s->conditions[n++] = condition(KUEUE_QUOTA_RESERVED, "QuotaReserved");
		s->conditions[n++] = condition(KUEUE_ADMITTED, "Admitted");
	}
	if (t->evicted) {
		s->conditions[n++] = condition(KUEUE_EVICTED, "Preempted");
	}
	if (t->finished) {
		s->conditions[n++] = condition(KUEUE_FINISHED, "Succeeded");
	}
	if (t->to_deactivate) {
		s->conditions[n++] = condition(KUEUE_DEACTIVATION_TARGET, "m");
	}
	s->replica.status.conditions.v = s->conditions;
	s->replica.status.conditions.n = n;
	s->replica.spec.active = !t->inactive;
	s->replica.spec.priority = t->priority;
	s->replica.meta.deleted = t->deleting ? START : FIELD_NO_TIME;
	s->podset.name = t->other_spec ? "other" : "main";
	s->replica.spec.pod_sets.v = &s->podset;
	s->replica.spec.pod_sets.n = 1;
	s->job.spec.suspend = t->suspended;
	s->job.status.active = t->active;
	s->label = label_of(t->class);
	s->job.meta.labels = (struct field_map){ &s->label, 1 };
	s->done = condition("Complete", "Done");
	s->job.status.conditions.v = &s->done;
	s->job.status.conditions.n = t->done;
}

static void show_local(struct world *w)
{
	const struct local *l = &w->local;
	struct api_workload_status *s = &w->workload.status;
	size_t n = 0, names = 0;

	if (l->quota) {
		w->conditions[n] = condition(KUEUE_QUOTA_RESERVED, "QuotaReserved");
		w->conditions[n++].last_transition = l->quota_at;
	}
	if (l->evicted) {
		w->conditions[n++] = condition(KUEUE_EVICTED, "Preempted");
	}
	if (l->finished) {
		w->conditions[n++] = condition(KUEUE_FINISHED, "Succeeded");
	}
	s->conditions.v = w->conditions;
	s->conditions.n = n;
	w->check.state = l->state;
	w->check.retry_count = l->retries;
	w->check.message = l->message;
	w->workload.spec.priority = l->priority;
	s->admission_checks.v = &w->check;
	s->admission_checks.n = 1;
	for (size_t i = 0; i < w->n; i++) {
		if (l->nominated[i]) {
			w->names[names++] = w->v[i].name;
		}
	}
	s->nominated_clusters = (struct field_strs){ names == 0 ? NULL : w->names, names };
	s->cluster_name = l->cluster == NONE ? NULL : w->v[l->cluster].name;
	w->job.spec.suspend = l->suspended;
	w->job.status.active = l->active;
	w->job_label = label_of((uint32_t)l->priority);
	w->job.meta.labels = (struct field_map){ &w->job_label, 1 };
	n = 0;
	if (l->done) {
		w->job_conditions[n++] = condition("Complete", "Done");
	} else if (l->says_suspended) {
		w->job_conditions[n++] = condition("Suspended", "MultiKueueAdapter");
	}
	w->job.status.conditions.v = w->job_conditions;
	w->job.status.conditions.n = n;
}

static void look(struct worker *v)
{
	if (v->connected) {
		v->seen = v->now;
		v->known = true;
		v->job_sent = false;
		v->replica_taken &= v->foreign_replica;
		v->job_taken &= v->foreign_job;
	}
}

static struct manager_cluster cluster_of(struct worker *v)
{
	bool has_job = v->known && v->seen.job;

	show(&v->shown, &v->seen);
	v->shown.object = (struct carried_object){ .object = has_job ? &v->shown.job : NULL,
						   .meta = has_job ? &v->shown.job.meta : NULL,
						   .taken = v->job_taken,
						   .sent = v->job_sent };
	return (struct manager_cluster){
		.name = v->name,
		.configured = v->configured,
		.link = v->connected ? MANAGER_UP
			: v->known   ? MANAGER_LOST
				     : MANAGER_NEVER,
		.lost_at = v->known ? v->down_at : MANAGER_NOT_KNOWN,
		.replica = v->known && v->seen.replica ? &v->shown.replica : NULL,
		.replica_taken = v->replica_taken,
		.jobs = &v->shown.object,
		.njobs = 1,
	};
}

/* --- the core of the manager -------------------------------------------------------------------*/

static void evict_local(struct world *w)
{
	struct local *l = &w->local;

	l->evicted = true;
	l->retries += str_streq(l->state, KUEUE_CHECK_RETRY);
	l->state = KUEUE_CHECK_PENDING;
	l->cluster = NONE;
	memset(l->nominated, 0, sizeof(l->nominated));
	w->round_at = MANAGER_NOT_KNOWN;
}

static void live_core(struct world *w)
{
	struct local *l = &w->local;

	if (!l->exists || l->finished) {
		return;
	}
	if (l->done) {
		l->finished = true;
	} else if (str_streq(l->state, KUEUE_CHECK_RETRY)) {
		evict_local(w);
	} else if (l->quota && l->evicted && !l->suspended) {
		l->suspended = true;
	} else if (l->quota && l->evicted && l->active == 0) {
		l->quota = false;
	} else if (!l->quota && (w->calm || chance(w, 60))) {
		l->quota = true;
		l->quota_at = w->now;
		l->evicted = false;
	} else if (l->quota && !l->evicted && str_streq(l->state, KUEUE_CHECK_READY)) {
		l->suspended = false;
	}
}

/* --- workers -----------------------------------------------------------------------------------*/

static void stop_job(struct there *t)
{
	t->suspended = true;
	t->active = 0;
}

static void live_worker(struct world *w, struct worker *v)
{
	struct there *t = &v->now;

	if (!v->connected && w->now - v->down_at >= LOST_AFTER) {
		v->down_long = true;
	}
	if (!t->replica || t->finished) {
		return;
	}
	if (t->to_deactivate) { /* its core deactivates it, and the eviction follows */
		t->inactive = t->evicted = true;
		t->admitted = t->to_deactivate = false;
		stop_job(t);
	} else if (!t->admitted && !t->inactive && v->has_room && (w->calm || chance(w, 30))) {
		t->admitted = true;
		t->evicted = false;
	} else if (t->admitted && t->job && !t->done && t->suspended) {
		t->suspended = false;
		t->active = 1;
	} else if (t->admitted && t->job && t->active > 0 && chance(w, w->calm ? 30 : 5)) {
		t->done = t->finished = true;
		t->active = 0;
	}
}

/* Users and administrators of a worker, and its network. */
static void disturb(struct world *w, struct worker *v)
{
	struct there *t = &v->now;

	switch (rng_below(&w->rng, 9)) {
	case 0:
		v->connected = !v->connected;
		v->down_at = w->now;
		break;
	case 1:
		v->has_room = chance(w, 50);
		break;
	case 2:
		v->refuses = chance(w, 40);
		break;
	case 3: /* preempted there */
		if (t->replica && t->admitted && !t->finished) {
			t->admitted = false;
			t->evicted = true;
			stop_job(t);
		}
		break;
	case 4:
		t->replica = false;
		t->admitted = t->evicted = t->finished = false;
		break;
	case 5:
		if (!t->done) { /* an end that is lost has unit tests of its own */
			t->job = false;
			t->active = 0;
		}
		break;
	case 6:
		t->other_spec = t->replica && chance(w, 50);
		break;
	case 7:
		v->foreign_replica = !t->replica && chance(w, 30);
		v->foreign_job = !t->job && chance(w, 30);
		break;
	default:
		v->configured = chance(w, 90);
		break;
	}
}

/* --- promises ----------------------------------------------------------------------------------*/

/* Another cluster may run it only if this one was out of reach for the whole timeout, or had it to
 * delete the Job, or the manager restarted and does not know about it. */
static bool may_be_doubled(const struct world *w, const struct worker *v)
{
	return v->down_long || (!v->connected && !v->known) ||
	       w->now - w->local.quota_at >= LOST_AFTER;
}

static void check_create_job(struct world *w, size_t to)
{
	const struct local *l = &w->local;

	CHECK(w, l->cluster == to && str_streq(l->state, KUEUE_CHECK_READY) && !l->evicted,
	      "the Job is created on %s, which is not recorded\n", w->v[to].name);
	for (size_t i = 0; i < w->n; i++) {
		struct worker *v = &w->v[i];

		if (i != to && v->now.job && !v->now.done) {
			CHECK(w, may_be_doubled(w, v),
			      "the Job is created on %s while it is on %s\n", w->v[to].name,
			      v->name);
			v->doubled = true;
		}
	}
}

/* At any time. */
static void check_running(struct world *w)
{
	unsigned n = 0;

	for (size_t i = 0; i < w->n; i++) {
		const struct there *t = &w->v[i].now;

		n += t->job && !t->suspended && !t->done && !w->v[i].doubled;
	}
	CHECK(w, n <= 1, "the Job runs on %u clusters\n", n);
}

static void check_action(struct world *w, const struct manager_action *a)
{
	const struct worker *v = a->cluster == NONE ? NULL : &w->v[a->cluster];
	const struct local *l = &w->local;

	switch (a->act) {
	case MANAGER_CREATE_REPLICA:
		CHECK(w, l->exists && l->quota && !l->evicted && l->cluster == NONE,
		      "a replica for a Workload that does not want one\n");
		CHECK(w, l->nominated[a->cluster] && v->configured,
		      "a replica on %s, which is not nominated\n", v->name);
		CHECK(w, !v->replica_taken && !v->job_taken && !v->seen.replica && !v->seen.job,
		      "%s has the name already\n", v->name);
		break;
	case MANAGER_CREATE_JOB:
		check_create_job(w, a->cluster);
		CHECK(w, !v->job_taken && !v->seen.job, "%s has a Job already\n", v->name);
		break;
	case MANAGER_DELETE_REPLICA:
		CHECK(w, v->seen.replica || v->seen.job, "nothing to delete on %s\n", v->name);
		CHECK(w,
		      !(l->quota && !l->evicted && !l->finished && l->exists &&
			l->cluster == a->cluster && v->seen.replica && v->seen.admitted &&
			!v->seen.other_spec && !v->seen.finished && v->configured),
		      "the running replica on %s is deleted\n", v->name);
		break;
	case MANAGER_SET_CLUSTER:
		CHECK(w,
		      l->cluster == a->cluster || (l->cluster == NONE && l->nominated[a->cluster]),
		      "the API server refuses %s\n", v->name);
		CHECK(w, v->seen.admitted && !v->seen.evicted && !v->seen.other_spec,
		      "%s cannot win\n", v->name);
		break;
	case MANAGER_SYNC_JOB:
	case MANAGER_UPDATE_JOB:
	case MANAGER_EVICT_REPLICA:
		CHECK(w, v->seen.job, "the Job of %s is read, and there is none\n", v->name);
		break;
	case MANAGER_UPDATE_REPLICA:
		CHECK(w, v->seen.replica && !v->seen.job, "%s is that of a Job\n", v->name);
		break;
	case MANAGER_FINISH:
		CHECK(w, !l->done && !v->seen.job, "the core finishes it by its Job\n");
		break;
	case MANAGER_END_JOB:
	case MANAGER_DELETE_JOB: /* a Job shows its end, and stays */
		CHECK(w, false, "the Job of %s is written to\n", v->name);
		break;
	case MANAGER_RESET_JOB:
	case MANAGER_NOMINATE:
	case MANAGER_SET_CHECK:
	case MANAGER_ACT_COUNT_:
		break;
	}
	CHECK(w, v == NULL || v->connected, "%s cannot be reached\n", v->name);
}

static void check_offer(struct world *w, const struct worker *v, bool nominated)
{
	bool taken = v->replica_taken || v->job_taken;

	CHECK(w, !v->now.replica || nominated, "%s has a replica and is not nominated\n", v->name);
	CHECK(w, v->now.replica || !nominated || !v->configured || taken,
	      "%s is nominated and has no replica\n", v->name);
}

/* After the manager has done all that it wanted to. */
static void check_rest(struct world *w)
{
	const struct local *l = &w->local;

	for (size_t i = 0; i < w->n; i++) {
		const struct worker *v = &w->v[i];
		bool any = v->now.replica || v->now.job;

		if (!v->connected) {
			continue;
		}
		if (!l->exists || l->finished || !l->quota) {
			CHECK(w, !any, "%s has something of a Workload without quota\n", v->name);
		} else if (l->evicted || str_streq(l->state, KUEUE_CHECK_RETRY)) {
			continue;
		} else if (l->cluster != NONE) {
			CHECK(w, !any || i == l->cluster, "%s has something beside the winner\n",
			      v->name);
		} else if (!l->done) {
			check_offer(w, v, l->nominated[i]);
		}
	}
}

/* --- actions -----------------------------------------------------------------------------------*/

static void create_replica(struct world *w, struct worker *v)
{
	if (v->foreign_replica) {
		v->replica_taken = true;
	} else if (!v->now.replica) {
		bool job = v->now.job;

		v->now = (struct there){ .replica = true,
					 .job = job,
					 .suspended = true,
					 .priority = w->local.priority };
	}
}

static void create_job(struct world *w, struct worker *v)
{
	if (v->foreign_job) {
		v->job_taken = true;
	} else if (!v->now.job) {
		v->now.job = v->now.suspended = true;
		v->now.class = (uint32_t)w->local.priority;
		v->now.done = false;
		v->down_long = v->doubled = false;
	}
}

static void set_cluster(struct world *w, size_t i)
{
	w->local.cluster = i;
	w->local.state = KUEUE_CHECK_READY;
	memset(w->local.nominated, 0, sizeof(w->local.nominated));
}

static void nominate(struct world *w, const struct field_strs *names)
{
	for (size_t i = 0; i < w->n; i++) {
		w->local.nominated[i] = false;
		for (size_t k = 0; k < names->n; k++) {
			w->local.nominated[i] |= strcmp(names->v[k], w->v[i].name) == 0;
		}
	}
	w->round_at = w->now;
}

/* As carried_kind.due says. */
static void sync_job(struct world *w, const struct there *t)
{
	w->local.says_suspended = w->local.suspended && !t->suspended && !t->done;
	if (!w->local.says_suspended) {
		w->local.active = t->active;
		w->local.done = t->done;
	}
}

static void apply(struct world *w, const struct manager_action *a)
{
	struct worker *v = a->cluster == NONE ? NULL : &w->v[a->cluster];

	switch (a->act) {
	case MANAGER_CREATE_REPLICA:
		create_replica(w, v);
		break;
	case MANAGER_CREATE_JOB:
		create_job(w, v);
		break;
	case MANAGER_DELETE_REPLICA:
		v->now = (struct there){ .suspended = true };
		break;
	case MANAGER_EVICT_REPLICA:
		v->now.to_deactivate = v->now.replica;
		break;
	case MANAGER_SYNC_JOB:
		sync_job(w, &v->seen);
		break;
	case MANAGER_RESET_JOB:
		w->local.active = 0;
		break;
	case MANAGER_NOMINATE:
		nominate(w, &a->names);
		break;
	case MANAGER_SET_CLUSTER:
		set_cluster(w, a->cluster);
		break;
	case MANAGER_SET_CHECK:
		w->local.state = a->state;
		snprintf(w->local.message, sizeof(w->local.message), "%s", a->message);
		break;
	case MANAGER_FINISH:
		w->local.finished = true;
		break;
	case MANAGER_UPDATE_JOB:
		v->now.class = (uint32_t)w->local.priority;
		break;
	case MANAGER_UPDATE_REPLICA:
		v->now.priority = w->local.priority;
		break;
	case MANAGER_END_JOB:
	case MANAGER_DELETE_JOB:
	case MANAGER_ACT_COUNT_:
		break;
	}
}

/* A write may be lost, or be done without an answer while the connection breaks. */
static void carry_out(struct world *w, const struct manager_action *a)
{
	struct worker *v = a->cluster == NONE ? NULL : &w->v[a->cluster];
	bool remote = v != NULL && a->act <= MANAGER_UPDATE_JOB;

	w->acts[a->act]++;
	if (fails(w, 20) || (remote && (v->refuses || !v->connected))) {
		w->disturbed = true;
		return;
	}
	apply(w, a);
	if (remote && fails(w, 5)) {
		v->connected = false;
		v->down_at = w->now;
		w->disturbed = true;
		v->job_sent |= a->act == MANAGER_CREATE_JOB;
	}
}

/* --- the manager -------------------------------------------------------------------------------*/

static void restart(struct world *w)
{
	w->began = w->now;
	w->round_at = MANAGER_NOT_KNOWN;
	w->disturbed = true;
	for (size_t i = 0; i < w->n; i++) {
		w->v[i].known = w->v[i].replica_taken = w->v[i].job_taken = w->v[i].job_sent =
			false;
		look(&w->v[i]);
	}
}

/* One call; false: there is nothing to do. */
static bool call(struct world *w)
{
	struct manager_cluster clusters[WORKERS_MAX];
	const struct carried_object job = { .object = &w->job, .meta = &w->job.meta };
	struct manager_view view = { .opt = &w->opt,
				     .local = w->local.exists ? &w->workload : NULL,
				     .kind = carried_row(CARRIED_JOBS),
				     .jobs = &job,
				     .njobs = w->local.exists,
				     .check = "mk",
				     .has_config = true,
				     .clusters = clusters,
				     .n = w->n,
				     .began = w->began,
				     .round_at = w->round_at,
				     .now = w->now };
	struct manager_step step;

	show_local(w);
	for (size_t i = 0; i < w->n; i++) {
		look(&w->v[i]);
		clusters[i] = cluster_of(&w->v[i]);
	}
	manager_fixture_compare(&w->workload, clusters, w->n);
	arena_reset(w->arena);
	manager_next(&view, w->arena, &step);
	w->wake_at = step.at == CLOCK_NEVER ? NEVER : step.at;
	for (size_t i = 0; i < step.n; i++) {
		check_action(w, &step.v[i]);
	}
	for (size_t i = 0; i < step.n; i++) {
		carry_out(w, &step.v[i]);
	}
	return step.n > 0;
}

static void manage(struct world *w)
{
	w->disturbed = false;
	for (int i = 0; call(w); i++) {
		if (i >= 12) {
			CHECK(w, w->disturbed, "the manager does not come to rest\n");
			return;
		}
		if (fails(w, 3)) {
			restart(w);
		}
	}
	check_rest(w);
}

/* The manager is called after each change. True: there was one. */
static bool has_changed(struct world *w)
{
	uint64_t hash = str_hash((struct str){ (const char *)&w->local, sizeof(w->local) });

	for (size_t i = 0; i < w->n; i++) {
		const struct worker *v = &w->v[i];
		const bool flags[] = { v->connected,     v->known,     v->configured,
				       v->replica_taken, v->job_taken, v->job_sent };
		const struct str part = { (const char *)&v->now, sizeof(v->now) };

		hash = hash * 31 + str_hash((struct str){ (const char *)flags, sizeof(flags) });
		hash = hash * 31 + str_hash(part);
	}
	if (hash == w->hash) {
		return false;
	}
	w->hash = hash;
	return true;
}

static void manage_when_due(struct world *w)
{
	for (size_t i = 0; i < w->n; i++) {
		look(&w->v[i]);
	}
	if (has_changed(w) || w->disturbed || w->wake_at <= w->now) {
		manage(w);
		(void)has_changed(w);
	}
}

/* --- a run -------------------------------------------------------------------------------------*/

static void make_objects(struct world *w)
{
	decode_init(&kueue_workload_fields, &w->workload);
	decode_init(&batch_job_fields, &w->job);
	w->owner = (struct api_owner){
		.api_version = "batch/v1", .kind = "Job", .name = "job", .uid = "j", .controller = 1
	};
	w->workload.meta.owners.v = &w->owner;
	w->workload.meta.owners.n = 1;
	decode_init(&kueue_workload_pod_set_fields, &w->podset);
	w->podset.name = "main";
	w->workload.spec.pod_sets.v = &w->podset;
	w->workload.spec.pod_sets.n = 1;
	w->job.meta.uid = "j";
	w->job.spec.managed_by = KUEUE_MULTIKUEUE_CONTROLLER;
	w->check = (struct api_check_state){ .name = "mk", .requeue_after = FIELD_NO_I32 };
	for (size_t i = 0; i < w->n; i++) {
		struct shown *s = &w->v[i].shown;

		s->replica = w->workload;
		s->replica.meta.owners.n = 0;
		s->podset = w->podset;
		s->job = w->job;
	}
}

static void begin(struct world *w, uint64_t seed, struct arena *arena)
{
	*w = (struct world){ .seed = seed, .now = START, .began = START, .arena = arena };
	rng_init(&w->rng, seed);
	manager_defaults(&w->opt);
	w->opt.worker_lost_ns = LOST_AFTER;
	w->opt.dispatcher = (enum manager_dispatcher)rng_below(&w->rng, 3);
	w->opt.step_size = 1 + rng_below(&w->rng, 3);
	w->opt.gated = chance(w, 50);
	w->round_at = MANAGER_NOT_KNOWN;
	w->wake_at = NEVER;
	w->local = (struct local){
		.exists = true, .state = KUEUE_CHECK_PENDING, .cluster = NONE, .suspended = true
	};
	w->n = 1 + rng_below(&w->rng, WORKERS_MAX);
	for (size_t i = 0; i < w->n; i++) {
		struct worker *v = &w->v[i];

		snprintf(v->name, sizeof(v->name), "w%zu", i);
		v->configured = true;
		v->connected = chance(w, 90);
		v->down_at = START;
		v->has_room = chance(w, 50);
		v->foreign_replica = chance(w, 10);
		v->foreign_job = chance(w, 10);
		v->now.suspended = true;
	}
	make_objects(w);
}

static void pass_time(struct world *w)
{
	int64_t next = w->now + S + (int64_t)rng_below(&w->rng, 60) * S;

	next = w->wake_at < next ? w->wake_at : next;
	w->now = next > w->now ? next : w->now + S;
	live_core(w);
	for (size_t i = 0; i < w->n; i++) {
		live_worker(w, &w->v[i]);
	}
	check_running(w);
}

/* The external dispatcher, as far as the webhook of Workloads lets it. */
static void dispatch(struct world *w)
{
	struct local *l = &w->local;

	if (w->opt.dispatcher != MANAGER_EXTERNAL || !l->quota || l->evicted || l->finished ||
	    l->cluster != NONE || !chance(w, 20)) {
		return;
	}
	for (size_t i = 0; i < w->n; i++) {
		l->nominated[i] = w->calm || chance(w, 50);
	}
}

/* Users of the manager. */
static void disturb_local(struct world *w)
{
	if (chance(w, 8) && w->local.quota && !w->local.finished) {
		evict_local(w); /* preempted */
	}
	if (chance(w, 3)) {
		w->local.priority++;
	}
	if (chance(w, 2)) {
		restart(w);
	}
}

/* Everything is mended; one cluster alone has room. */
static void calm_down(struct world *w)
{
	size_t able = rng_below(&w->rng, w->n);

	w->calm = true;
	for (size_t i = 0; i < w->n; i++) {
		struct worker *v = &w->v[i];

		v->connected = v->configured = true;
		v->refuses = v->foreign_replica = v->foreign_job = false;
		v->replica_taken = v->job_taken = false;
		v->has_room = i == able;
	}
}

/* Nothing of the Workload is left anywhere. */
static void check_end(struct world *w)
{
	for (size_t i = 0; i < w->n; i++) {
		CHECK(w, !w->v[i].now.replica && !w->v[i].now.job, "%s has something left\n",
		      w->v[i].name);
	}
	CHECK(w, !call(w), "there is something to do at the end\n");
}

static void play(struct world *w, uint64_t seed, struct arena *arena)
{
	int64_t until;

	begin(w, seed, arena);
	for (int i = 0; i < STEPS; i++) {
		if (chance(w, 25)) {
			disturb(w, &w->v[rng_below(&w->rng, w->n)]);
		}
		disturb_local(w);
		dispatch(w);
		manage_when_due(w);
		pass_time(w);
	}
	calm_down(w);
	if (chance(w, 20)) {
		w->local.exists = false;
	}
	until = w->now + 24 * 3600 * S;
	while (w->local.exists && !w->local.finished) {
		CHECK(w, w->now < until, "it never runs to its end\n");
		dispatch(w);
		manage_when_due(w);
		pass_time(w);
	}
	manage_when_due(w);
	check_end(w);
}

static void promises_hold(void **state UNUSED)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	unsigned acts[MANAGER_ACT_COUNT_] = { 0 };
	struct seeds seeds = seeds_of_run(WORLDS);
	static struct world w;

	for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) {
		play(&w, seed, arena);
		for (size_t i = 0; i < ARRAY_LEN(acts); i++) {
			acts[i] += w.acts[i];
		}
	}
	for (size_t i = 0; i < ARRAY_LEN(acts); i++) {
		print_message("  %s: %u\n", manager_act_name((enum manager_act)i), acts[i]);
		assert_true(acts[i] > 0 || !seeds.usual || i == MANAGER_DELETE_JOB ||
			    i == MANAGER_FINISH || i == MANAGER_END_JOB);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(promises_hold) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
