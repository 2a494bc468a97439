#include "sim/users/sim_quota_users.h"

#include <stdio.h>
#include <stdlib.h>

#include "api/kueue/kueue_keys.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "sim/controllers/sim_checks.h"
#include "sim/users/sim_quota_manifest.h"
#include "sim/users/sim_quota_random.h"
#include "sim/world/sim_view.h"
#include "sim/world/sim_workload.h"

#define KUEUE "/apis/" KUEUE_API_VERSION
#define QUEUES KUEUE "/clusterqueues"
#define COHORTS KUEUE "/cohorts"
#define FLAVORS KUEUE "/resourceflavors"
#define CLASSES KUEUE "/workloadpriorityclasses"
#define CHECKS KUEUE "/admissionchecks"
#define LOCALS KUEUE "/namespaces/default/localqueues"
#define WORKLOADS KUEUE "/namespaces/default/workloads"
#define JOBS "/apis/batch/v1/namespaces/default/jobs"
#define JSON "application/json"
#define MERGE "application/merge-patch+json"
#define NQUEUES 5

/* Indexed by whether the run is contended. */
static const struct {
	size_t most_jobs;
	unsigned first_jobs, most_cpu; /* most_cpu: up to which quota is raised */
} limits[] = { { 14, 5, 8 }, { 24, 12, 2 } };

struct sim_quota_users {
	struct sim_world *world;
	struct sim_quota_users_options opt;
	unsigned next; /* number of the next thing */
	struct sim_quota_manifest_queue queues[NQUEUES];
};

static const struct {
	const char *name, *cohort;
} queues[NQUEUES] = {
	{ "a", "left" }, { "b", "left" }, { "c", "right" }, { "d", "all" }, { "solo", NULL },
};

static unsigned below(struct sim_quota_users *u, unsigned n)
{
	return (unsigned)sim_world_below(u->world, n);
}

static bool one_in(struct sim_quota_users *u, unsigned n)
{
	return below(u, n) == 0;
}

static int send(struct sim_quota_users *u, enum http_method method, const char *url,
		const char *type, const char *body)
{
	return sim_world_call(u->world, method, url, type, str_of(body));
}

/* PATCH of a merge, of the object url/name. */
static void patch(struct sim_quota_users *u, const char *url, const char *name, const char *body)
{
	CLEANUP(xmalloc_freep) char *at = xmalloc_printf("%s/%s", url, name);

	send(u, HTTP_PATCH, at, MERGE, body);
}

static int erase(struct sim_quota_users *u, const char *url, const char *name)
{
	CLEANUP(xmalloc_freep) char *at = xmalloc_printf("%s/%s", url, name);

	return send(u, HTTP_DELETE, at, NULL, NULL);
}

struct sim_quota_users *sim_quota_users_create(struct sim_world *w,
					       const struct sim_quota_users_options *opt)
{
	struct sim_quota_users *u = xmalloc_zero(1, sizeof(*u));

	u->world = w;
	u->opt = *opt;
	return u;
}

void sim_quota_users_destroy(struct sim_quota_users *u)
{
	free(u);
}

/* --- the first objects -------------------------------------------------------------------------*/

static void choose_queue(struct sim_quota_users *u, unsigned i)
{
	u->queues[i] = (struct sim_quota_manifest_queue){ .name = queues[i].name,
							  .cohort = queues[i].cohort };
	sim_quota_random_queue(u->world, u->opt.contended, &u->queues[i]);
}

static void create_queue(struct sim_quota_users *u, unsigned i)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;

	sim_quota_manifest_queue(&u->queues[i], &body);
	send(u, HTTP_POST, QUEUES, JSON, body.p);
}

static void create_local(struct sim_quota_users *u, unsigned i)
{
	char body[240];

	snprintf(body, sizeof(body),
		 "{\"apiVersion\":\"" KUEUE_API_VERSION
		 "\",\"kind\":\"LocalQueue\",\"metadata\":{\"name\":\"lq-%s\",\"namespace\":"
		 "\"default\"},\"spec\":{\"clusterQueue\":\"%s\"}}",
		 queues[i].name, queues[i].name);
	send(u, HTTP_POST, LOCALS, JSON, body);
}

static void create_check(struct sim_quota_users *u)
{
	char now[CLOCK_RFC3339_MAX], body[300];

	send(u, HTTP_POST, CHECKS, JSON,
	     "{\"apiVersion\":\"" KUEUE_API_VERSION
	     "\",\"kind\":\"AdmissionCheck\",\"metadata\":{\"name\":\"" SIM_CHECKS_NAME
	     "\"},\"spec\":{\"controllerName\":\"sim.example.com/check\"}}");
	clock_format_time(clock_wall(&u->world->clock.base), now);
	snprintf(body, sizeof(body),
		 "{\"status\":{\"conditions\":[{\"type\":\"Active\",\"status\":\"True\",\"reason\":"
		 "\"Active\",\"message\":\"\",\"lastTransitionTime\":\"%s\"}]}}",
		 now);
	patch(u, CHECKS, SIM_CHECKS_NAME "/status", body);
}

static void create_flavors(struct sim_quota_users *u)
{
	char body[240];

	for (unsigned i = 0; i < SIM_TREE_FLAVORS; i++) {
		snprintf(body, sizeof(body),
			 "{\"apiVersion\":\"" KUEUE_API_VERSION
			 "\",\"kind\":\"ResourceFlavor\",\"metadata\":{\"name\":\"%s\"},"
			 "\"spec\":{\"nodeLabels\":{\"type\":\"%s\"}}}",
			 sim_tree_flavors[i], sim_tree_flavors[i]);
		send(u, HTTP_POST, FLAVORS, JSON, body);
	}
}

static void create_cohorts(struct sim_quota_users *u)
{
	/* "right" is never an object: it exists because a queue names it. */
	static const char root[] =
		"{\"apiVersion\":\"" KUEUE_API_VERSION
		"\",\"kind\":\"Cohort\",\"metadata\":{\"name\":\"all\"},\"spec\":{"
		"\"resourceGroups\":[{\"coveredResources\":[\"cpu\",\"memory\"],\"flavors\":[{"
		"\"name\":\"spot\",\"resources\":[{\"name\":\"cpu\",\"nominalQuota\":\"1\"},{"
		"\"name\":\"memory\",\"nominalQuota\":\"1Gi\"}]}]}]}}";
	static const char left[] =
		"{\"apiVersion\":\"" KUEUE_API_VERSION
		"\",\"kind\":\"Cohort\",\"metadata\":{\"name\":\"left\"},\"spec\":{"
		"\"parentName\":\"all\"}}";

	send(u, HTTP_POST, COHORTS, JSON, root);
	send(u, HTTP_POST, COHORTS, JSON, left);
}

static void create_classes(struct sim_quota_users *u)
{
	char body[200];

	for (size_t i = 0; i < SIM_QUOTA_CLASSES; i++) {
		snprintf(body, sizeof(body),
			 "{\"apiVersion\":\"" KUEUE_API_VERSION
			 "\",\"kind\":\"WorkloadPriorityClass\",\"metadata\":{\"name\":\"%s\"},"
			 "\"value\":%d}",
			 sim_quota_random_classes[i].name, sim_quota_random_classes[i].value);
		send(u, HTTP_POST, CLASSES, JSON, body);
	}
}

/* --- Jobs --------------------------------------------------------------------------------------*/

static struct sim_quota_manifest_job any_job(struct sim_quota_users *u)
{
	struct sim_quota_manifest_job j = sim_quota_random_job(u->world, u->opt.contended);

	if (u->opt.scheduler != NULL && one_in(u, 2)) {
		j.scheduler = u->opt.scheduler;
	}
	snprintf(j.name, sizeof(j.name), "j%u", u->next++);
	return j;
}

static void post_job(struct sim_quota_users *u, const struct sim_quota_manifest_job *j)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;

	sim_quota_manifest_job(j, &body);
	send(u, HTTP_POST, JOBS, JSON, body.p);
}

static void create_job(struct sim_quota_users *u)
{
	struct sim_quota_manifest_job j = any_job(u);

	post_job(u, &j);
}

static const struct jdoc *any_of(struct sim_quota_users *u, enum sim_resource r)
{
	size_t n = sim_view_count(u->world->view, r);

	return n == 0 ? NULL : sim_view_at(u->world->view, r, below(u, (unsigned)n));
}

static const char *name_of(const struct jdoc *object)
{
	return jdoc_path_str(object, "metadata.name");
}

static void delete_job(struct sim_quota_users *u)
{
	const struct jdoc *job = any_of(u, SIM_JOBS);

	if (job != NULL) {
		erase(u, JOBS, name_of(job));
	}
}

static void delete_finished_job(struct sim_quota_users *u)
{
	for (size_t i = 0; i < sim_view_count(u->world->view, SIM_JOBS); i++) {
		const struct jdoc *job = sim_view_at(u->world->view, SIM_JOBS, i);

		if (sim_workload_job_is_finished(job)) {
			erase(u, JOBS, name_of(job));
			return;
		}
	}
}

/* A user tries again: deletes a Job and creates another one with its name. */
static void recreate_job(struct sim_quota_users *u)
{
	const struct jdoc *job = any_of(u, SIM_JOBS);
	struct sim_quota_manifest_job j = any_job(u);

	if (job != NULL) {
		snprintf(j.name, sizeof(j.name), "%s", name_of(job));
		if (erase(u, JOBS, j.name) < 300) {
			post_job(u, &j);
		}
	}
}

static void suspend_job(struct sim_quota_users *u)
{
	const struct jdoc *job = any_of(u, SIM_JOBS);

	if (job != NULL && !sim_workload_job_is_finished(job)) {
		patch(u, JOBS, name_of(job), "{\"spec\":{\"suspend\":true}}");
	}
}

/* A user unsuspends a Job without waiting for quota. */
static void start_job(struct sim_quota_users *u)
{
	const struct jdoc *job = any_of(u, SIM_JOBS);

	if (job != NULL && !sim_workload_job_is_finished(job)) {
		patch(u, JOBS, name_of(job), "{\"spec\":{\"suspend\":false}}");
	}
}

static void change_job(struct sim_quota_users *u)
{
	const struct jdoc *job = any_of(u, SIM_JOBS);
	char body[200];

	if (job == NULL || !sim_workload_job_is_suspended(job)) {
		return;
	}
	if (one_in(u, 2)) {
		snprintf(body, sizeof(body), "{\"spec\":{\"parallelism\":%u}}", 1 + below(u, 4));
	} else {
		snprintf(body, sizeof(body),
			 "{\"metadata\":{\"labels\":{\"" KUEUE_QUEUE_NAME "\":\"%s\"}}}",
			 sim_quota_random_local_queue(u->world));
	}
	patch(u, JOBS, name_of(job), body);
}

/* --- Workloads ---------------------------------------------------------------------------------*/

static void delete_workload(struct sim_quota_users *u)
{
	const struct jdoc *w = any_of(u, SIM_WORKLOADS);

	if (w != NULL) {
		erase(u, WORKLOADS, name_of(w));
	}
}

static void switch_workload(struct sim_quota_users *u)
{
	const struct jdoc *w = any_of(u, SIM_WORKLOADS);

	if (w != NULL) {
		patch(u, WORKLOADS, name_of(w),
		      sim_workload_is_active(w) ? "{\"spec\":{\"active\":false}}"
						: "{\"spec\":{\"active\":true}}");
	}
}

static void touch_workload(struct sim_quota_users *u)
{
	const struct jdoc *w = any_of(u, SIM_WORKLOADS);
	char body[80];

	if (w != NULL) {
		snprintf(body, sizeof(body), "{\"metadata\":{\"labels\":{\"touched\":\"%u\"}}}",
			 u->next++);
		patch(u, WORKLOADS, name_of(w), body);
	}
}

/* --- queues ------------------------------------------------------------------------------------*/

static void write_groups(struct sim_quota_users *u, unsigned i)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;

	strbuf_add_c(&body, "{\"spec\":{\"resourceGroups\":");
	sim_quota_manifest_groups(&u->queues[i], &body);
	strbuf_add_c(&body, "}}");
	patch(u, QUEUES, queues[i].name, body.p);
}

static void resize_queue(struct sim_quota_users *u)
{
	unsigned i = below(u, NQUEUES), f = below(u, SIM_TREE_FLAVORS);
	struct sim_quota_manifest_queue *q = &u->queues[i];

	if (u->opt.reductions && one_in(u, 2)) {
		q->cpu[f] -= q->cpu[f] > 0 ? 1 : 0;
	} else if (u->opt.reductions && one_in(u, 3)) {
		q->borrow = one_in(u, 2) ? (int)below(u, 4) : -1;
		q->lend = one_in(u, 2) ? (int)below(u, 4) : -1;
	} else {
		q->cpu[f] += q->cpu[f] < limits[u->opt.contended].most_cpu ? 1 : 0;
	}
	write_groups(u, i);
}

/* The queue of a Workload that holds quota; NULL: there is none. */
static const char *used_queue(struct sim_quota_users *u)
{
	const struct jdoc *w = any_of(u, SIM_WORKLOADS);
	size_t n = sim_view_count(u->world->view, SIM_WORKLOADS);

	for (size_t i = 0; i < n && !sim_workload_holds(w); i++) {
		w = sim_view_at(u->world->view, SIM_WORKLOADS, i);
	}
	return n > 0 && sim_workload_holds(w) ? sim_workload_queue(w) : NULL;
}

/* Sets stopPolicy of a queue. While no Workload holds quota it only resumes queues: too many may be
 * stopped already. */
static void stop_queue(struct sim_quota_users *u)
{
	static const char *const policies[] = { KUEUE_STOP_NONE, KUEUE_STOP_HOLD,
						KUEUE_STOP_HOLD_AND_DRAIN,
						KUEUE_STOP_HOLD_AND_DRAIN };
	const char *used = used_queue(u), *any = queues[below(u, NQUEUES)].name;
	const char *queue = used != NULL && !one_in(u, 4) ? used : any;
	const char *policy =
		used == NULL ? KUEUE_STOP_NONE : policies[below(u, ARRAY_LEN(policies))];
	char body[80], local[80];

	snprintf(body, sizeof(body), "{\"spec\":{\"stopPolicy\":\"%s\"}}", policy);
	snprintf(local, sizeof(local), "lq-%s", queue);
	if (!one_in(u, 3)) {
		patch(u, QUEUES, queue, body);
	} else {
		patch(u, LOCALS, local, body);
	}
}

static void move_queue(struct sim_quota_users *u)
{
	static const char *const cohorts[] = { "left", "right", "all" };
	unsigned i = below(u, NQUEUES - 1);
	char body[80];

	if (u->opt.reductions) {
		u->queues[i].cohort = cohorts[below(u, ARRAY_LEN(cohorts))];
		snprintf(body, sizeof(body), "{\"spec\":{\"cohortName\":\"%s\"}}",
			 u->queues[i].cohort);
		patch(u, QUEUES, queues[i].name, body);
	}
}

static void remove_queue(struct sim_quota_users *u)
{
	unsigned i = below(u, NQUEUES);

	if (!u->opt.reductions) {
		return;
	}
	if (one_in(u, 2)) {
		erase(u, QUEUES, queues[i].name);
	} else {
		erase(u, LOCALS, sim_quota_random_local_queue(u->world));
	}
}

/* Creates the queues that were deleted. */
static void restore_queues(struct sim_quota_users *u)
{
	for (unsigned i = 0; i < NQUEUES; i++) {
		CLEANUP(xmalloc_freep)
		char *local = xmalloc_printf("default/lq-%s", queues[i].name);

		if (sim_view_get(u->world->view, SIM_CLUSTER_QUEUES, queues[i].name) == NULL) {
			create_queue(u, i);
		}
		if (sim_view_get(u->world->view, SIM_LOCAL_QUEUES, local) == NULL) {
			create_local(u, i);
		}
	}
}

static void check_queue(struct sim_quota_users *u)
{
	unsigned i = below(u, NQUEUES);

	u->queues[i].checked = !u->queues[i].checked;
	patch(u, QUEUES, queues[i].name,
	      u->queues[i].checked
		      ? "{\"spec\":{\"admissionChecksStrategy\":{\"admissionChecks\":[{"
			"\"name\":\"" SIM_CHECKS_NAME "\"}]}}}"
		      : "{\"spec\":{\"admissionChecksStrategy\":null}}");
}

static void change_class(struct sim_quota_users *u)
{
	char body[40];

	snprintf(body, sizeof(body), "{\"value\":%u}", below(u, 30));
	patch(u, CLASSES, sim_quota_random_classes[below(u, SIM_QUOTA_CLASSES)].name, body);
}

/* --- all ---------------------------------------------------------------------------------------*/

void sim_quota_users_begin(struct sim_quota_users *u)
{
	create_flavors(u);
	create_check(u);
	create_classes(u);
	create_cohorts(u);
	for (unsigned i = 0; i < NQUEUES; i++) {
		choose_queue(u, i);
		create_queue(u, i);
		create_local(u, i);
	}
	for (unsigned i = 0; i < limits[u->opt.contended].first_jobs; i++) {
		create_job(u);
	}
}

void sim_quota_users_act(struct sim_quota_users *u)
{
	static const struct {
		void (*act)(struct sim_quota_users *u);
		unsigned weight[2]; /* ordinary, contended */
		bool adds;
	} acts[] = {
		{ create_job, { 24, 60 }, true },     { delete_job, { 3, 6 }, false },
		{ recreate_job, { 1, 2 }, true },     { delete_finished_job, { 12, 12 }, false },
		{ suspend_job, { 1, 1 }, false },     { start_job, { 1, 1 }, false },
		{ change_job, { 2, 2 }, false },      { delete_workload, { 1, 1 }, false },
		{ switch_workload, { 2, 2 }, false }, { touch_workload, { 1, 1 }, false },
		{ resize_queue, { 4, 4 }, false },    { stop_queue, { 9, 2 }, false },
		{ move_queue, { 1, 2 }, false },      { remove_queue, { 1, 1 }, false },
		{ restore_queues, { 2, 3 }, false },  { check_queue, { 1, 1 }, false },
		{ change_class, { 1, 2 }, false },
	};
	bool full = sim_view_count(u->world->view, SIM_JOBS) >= limits[u->opt.contended].most_jobs;
	unsigned weights[ARRAY_LEN(acts)];
	size_t at;

	for (size_t i = 0; i < ARRAY_LEN(acts); i++) {
		weights[i] = acts[i].weight[u->opt.contended];
	}
	at = sim_world_weighted(u->world, weights, ARRAY_LEN(acts));
	if (!full || !acts[at].adds) {
		acts[at].act(u);
	}
}

void sim_quota_users_end(struct sim_quota_users *u)
{
	static const char run[] = "{\"spec\":{\"stopPolicy\":\"None\"}}";

	restore_queues(u);
	for (unsigned i = 0; i < NQUEUES; i++) {
		CLEANUP(xmalloc_freep) char *local = xmalloc_printf("lq-%s", queues[i].name);

		patch(u, QUEUES, queues[i].name, run);
		patch(u, LOCALS, local, run);
	}
	for (size_t i = 0; i < sim_view_count(u->world->view, SIM_WORKLOADS); i++) {
		const struct jdoc *w = sim_view_at(u->world->view, SIM_WORKLOADS, i);

		if (!sim_workload_is_active(w) && one_in(u, 2)) {
			patch(u, WORKLOADS, name_of(w), "{\"spec\":{\"active\":true}}");
		}
	}
}

static void delete_all(struct sim_quota_users *u, enum sim_resource r, const char *url)
{
	size_t n = sim_view_count(u->world->view, r);
	struct VEC(char *) names = VEC_INIT;

	for (size_t i = 0; i < n; i++) {
		vec_push(&names, xmalloc_dup(name_of(sim_view_at(u->world->view, r, i))));
	}
	for (size_t i = 0; i < n; i++) {
		erase(u, url, names.v[i]);
		free(names.v[i]);
	}
	vec_finish(&names);
}

void sim_quota_users_leave(struct sim_quota_users *u)
{
	/* Objects in use first: they stay until they are not used any more. */
	delete_all(u, SIM_FLAVORS, FLAVORS);
	delete_all(u, SIM_CLUSTER_QUEUES, QUEUES);
	delete_all(u, SIM_JOBS, JOBS);
	delete_all(u, SIM_LOCAL_QUEUES, LOCALS);
	delete_all(u, SIM_COHORTS, COHORTS);
	delete_all(u, SIM_CHECKS, CHECKS);
	delete_all(u, SIM_CLASSES, CLASSES);
}
