/* The requests that a Job costs at each API server of a fleet, from its creation to its end: the
 * manager's cluster has two processes, as the chart installs them, the core and the manager of
 * MultiKueue; each worker has a core. docs/benchmarks.md, "A manager with three workers". */
#include "scheduler/multikueue/fleet/fleet_manager.h"

#include "lib/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/vec.h"
#include "enc/json/jdoc.h"
#include "lib/multikueue/fleet_jobs.h"
#include "lib/multikueue/fleet_pipe.h"
#include "lib/multikueue/fleet_world.h"
#include "lib/seeds.h"

#define S CLOCK_NS_PER_S
#define MINUTE (60 * S)
#define MANAGER FLEET_WORLD_MANAGER
#define KUEUE "/apis/kueue.x-k8s.io/v1beta2/"
#define JOBS "/apis/batch/v1/namespaces/default/jobs"
#define WORKERS 3
#define SEEDS 20

struct scene {
	struct fleet_world *w;
	struct VEC(char *) lines; /* of each request */
};

/* The part of a path below the namespace without the name: "workloads/status". */
static void add_kind(struct str path, struct strbuf *out)
{
	strbuf_add_str(out, str_next(&path, '/'));
	(void)str_next(&path, '/');
	if (path.p != NULL) {
		strbuf_printf(out, "/" STR_FMT, STR_ARG(path));
	}
}

/* "manager core PATCH workloads/status as kueue-admission: 409". Requests about objects without a
 * namespace are of no Job. */
static void note(void *ctx, const struct fleet_pipe_request *r)
{
	static const char below[] = "/namespaces/default/";
	struct scene *s = ctx;
	CLEANUP(strbuf_finish) struct strbuf line = STRBUF_INIT, as = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *body = NULL;
	const char *query = strchr(r->url, '?'), *at = strstr(r->url, below);
	size_t len = query == NULL ? strlen(r->url) : (size_t)(query - r->url);

	if (at == NULL || strstr(at, "localqueues") != NULL) {
		return;
	}
	at += strlen(below);
	if (r->server == MANAGER) {
		strbuf_add_c(&line, "manager ");
	} else {
		strbuf_printf(&line, "w%d ", r->server);
	}
	strbuf_printf(&line, "%s %s ", r->process, http_method_name(r->method));
	add_kind((struct str){ at, len - (size_t)(at - r->url) }, &line);
	(void)jdoc_parse(r->body, &body, NULL);
	if (strstr(line.p, " events") != NULL) {
		strbuf_printf(&line, " %s of %s", jdoc_str_or(jdoc_get(body, "reason"), "?"),
			      jdoc_str_or(jdoc_path(body, "involvedObject.kind"), "?"));
	} else if (query != NULL && http_query_get(str_of(query + 1), "fieldManager", &as)) {
		strbuf_printf(&line, " as %s", as.p);
	}
	if (r->status / 100 != 2) {
		strbuf_printf(&line, ": %d", r->status);
	}
	vec_push(&s->lines, strbuf_steal(&line, NULL));
}

static void must_create(struct scene *s, int server, const char *collection, const char *json)
{
	CLEANUP(xmalloc_freep) char *text = xmalloc_dup(json);

	for (char *p = text; *p != '\0'; p++) {
		*p = *p == '\'' ? '"' : *p;
	}
	assert_int_equal(fleet_world_create_object(s->w, server, collection, text), 201);
}

static void begin(struct scene *s, uint64_t seed, bool gated)
{
	static const char gates[] =
		"{\"featureGates\":{\"MultiKueueOrchestratedPreemption\":true}}";
	struct orchestrate_options o;
	struct manager_options mo;

	*s = (struct scene){ 0 };
	orchestrate_defaults(&o);
	manager_defaults(&mo);
	mo.gated = gated;
	s->w = fleet_world_create(WORKERS, &o, 1, seed);
	fleet_world_manage(s->w, &mo, MINUTE);
	must_create(s, MANAGER, KUEUE "resourceflavors",
		    "{'apiVersion':'kueue.x-k8s.io/v1beta2','kind':'ResourceFlavor','metadata':{"
		    "'name':'f'}}");
	must_create(s, MANAGER, KUEUE "clusterqueues",
		    "{'apiVersion':'kueue.x-k8s.io/v1beta2','kind':'ClusterQueue','metadata':{"
		    "'name':'cq'},'spec':{'namespaceSelector':{},'admissionChecksStrategy':{"
		    "'admissionChecks':[{'name':'mk'}]},'resourceGroups':[{'coveredResources':["
		    "'cpu'],'flavors':[{'name':'f','resources':[{'name':'cpu','nominalQuota':"
		    "'9'}]}]}]}}");
	must_create(s, MANAGER, KUEUE "namespaces/default/localqueues",
		    "{'apiVersion':'kueue.x-k8s.io/v1beta2','kind':'LocalQueue','metadata':{"
		    "'name':'main','namespace':'default'},'spec':{'clusterQueue':'cq'}}");
	for (int i = MANAGER; i < WORKERS; i++) {
		must_create(s, i, KUEUE "workloadpriorityclasses",
			    "{'apiVersion':'kueue.x-k8s.io/v1beta2','kind':'WorkloadPriorityClass',"
			    "'metadata':{'name':'high'},'value':9}");
	}
	fleet_world_start_core(s->w, MANAGER, NULL);
	for (int i = 0; i < WORKERS; i++) {
		fleet_world_start_core(s->w, i, gated ? gates : NULL);
	}
	fleet_world_start(s->w);
	fleet_world_run(s->w, MINUTE);
	fleet_world_log(s->w, &(struct fleet_pipe_log){ note, s });
}

static void submit(struct scene *s)
{
	must_create(s, MANAGER, JOBS,
		    "{'apiVersion':'batch/v1','kind':'Job','metadata':{'name':'a','namespace':"
		    "'default','labels':{'kueue.x-k8s.io/queue-name':'main',"
		    "'kueue.x-k8s.io/priority-class':'high'}},'spec':{'suspend':"
		    "true,'parallelism':1,'completions':1,'managedBy':"
		    "'kueue.x-k8s.io/multikueue','template':{'spec':{'restartPolicy':'Never',"
		    "'containers':[{'name':'c','image':'i','resources':{'requests':{'cpu':'1'}}}]}}"
		    "}}");
}

/* The only one that has the Job; -1: none. */
static int find_job(struct scene *s)
{
	int found = -1;

	for (int i = 0; i < WORKERS; i++) {
		if (fleet_jobs_exists(s->w, i, "a")) {
			assert_int_equal(found, -1);
			found = i;
		}
	}
	return found;
}

static void patch_job(struct scene *s, int server, const char *status)
{
	assert_int_equal(fleet_world_patch(s->w, server, JOBS "/a/status", status), 200);
}

/* Returns the worker on which it runs. */
static int run_job(struct scene *s)
{
	int on = find_job(s);

	assert_true(on >= 0 && fleet_jobs_runs(s->w, on, "a"));
	patch_job(s, on,
		  "{\"status\":{\"active\":1,\"ready\":0,\"startTime\":\"2027-01-15T08:01:00Z\"}}");
	fleet_world_run(s->w, S);
	patch_job(s, on, "{\"status\":{\"ready\":1}}");
	fleet_world_run(s->w, S);
	assert_int_equal(fleet_jobs_active(s->w, MANAGER, "a"), 1);
	return on;
}

static void finish_job(struct scene *s, int on)
{
	patch_job(s, on,
		  "{\"status\":{\"active\":0,\"ready\":0,\"succeeded\":1,\"completionTime\":"
		  "\"2027-01-15T08:10:00Z\",\"conditions\":[{\"type\":\"SuccessCriteriaMet\","
		  "\"status\":\"True\",\"lastTransitionTime\":\"2027-01-15T08:10:00Z\"},{\"type\":"
		  "\"Complete\",\"status\":\"True\",\"lastTransitionTime\":"
		  "\"2027-01-15T08:10:00Z\"}]}}");
	fleet_world_run(s->w, 10 * S);
	assert_true(fleet_jobs_job_is(s->w, MANAGER, "a", "Complete"));
	assert_int_equal(find_job(s), -1);
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A row for each line of the server: how often it was asked for, and what. */
static void make_table(struct scene *s, const char *server, struct strbuf *out)
{
	size_t times = 0;

	qsort(s->lines.v, s->lines.n, sizeof(s->lines.v[0]), compare);
	for (size_t i = 0; i < s->lines.n; i++) {
		const char *line = s->lines.v[i];

		if (!str_has_prefix(str_of(line), server)) {
			continue;
		}
		times++;
		if (i + 1 == s->lines.n || strcmp(line, s->lines.v[i + 1]) != 0) {
			strbuf_printf(out, "%zu %s\n", times, line + strlen(server));
			times = 0;
		}
	}
}

/* How many requests have this in their lines: those of a kind at a server. */
static size_t count(const struct scene *s, const char *server, const char *what)
{
	size_t n = 0;

	for (size_t i = 0; i < s->lines.n; i++) {
		n += str_has_prefix(str_of(s->lines.v[i]), server) &&
		     strstr(s->lines.v[i], what) != NULL;
	}
	return n;
}

static void end(struct scene *s)
{
	fleet_world_destroy(s->w);
	for (size_t i = 0; i < s->lines.n; i++) {
		free(s->lines.v[i]);
	}
	vec_finish(&s->lines);
}

#define CORE                                                                                       \
	"1 core PATCH jobs\n"                                                                      \
	"2 core PATCH workloads/status as headgate-job\n"                                          \
	"2 core PATCH workloads/status as kueue-admission\n"                                       \
	"1 core POST events Admitted of Workload\n"                                                \
	"1 core POST events CreatedWorkload of Job\n"                                              \
	"1 core POST events FinishedWorkload of Job\n"                                             \
	"1 core POST events QuotaReserved of Workload\n"                                           \
	"1 core POST events Started of Job\n"                                                      \
	"1 core POST workloads\n"
#define MANAGES                                                                                    \
	"2 fleet PATCH workloads/status as kueue-admission\n"                                      \
	"1 fleet POST events MultiKueue of Workload\n"
#define MIRRORS "3 fleet PATCH jobs/status as kueue.x-k8s.io/multikueue\n"
#define TOKEN "2 fleet PATCH workloads as headgate-orchestrator\n"
#define TOKEN_EVENTS                                                                               \
	"1 fleet POST events PreemptionGrantEnded of Workload\n"                                   \
	"1 fleet POST events PreemptionGranted of Workload\n"

static const struct row {
	const char *about;
	bool gated, full;
	const char *table; /* at the manager's API server */
	size_t worker;     /* requests of the manager at the worker that runs the Job */
} rows[] = {
	{ "room on each worker", false, false, CORE MIRRORS MANAGES, 4 },
	{ "with gates", true, false, CORE MIRRORS MANAGES, 4 },
	{ "it preempts on one worker", true, true, CORE MIRRORS TOKEN MANAGES TOKEN_EVENTS, 5 },
};

static int play(struct scene *s, const struct row *row, uint64_t seed)
{
	int on;

	begin(s, seed, row->gated);
	for (unsigned i = 0; i < WORKERS && row->full; i++) {
		fleet_world_fill(s->w, i, "full", "1");
	}
	submit(s);
	fleet_world_run(s->w, 20 * S);
	on = run_job(s);
	finish_job(s, on);
	return on;
}

/* In the order of events in which nothing is written by two processes in the same moment. */
static void test_requests_of_a_job(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf t = STRBUF_INIT;
		struct scene s;
		char worker[16];

		unit_row(rows[i].about);
		snprintf(worker, sizeof(worker), "w%d fleet ", play(&s, &rows[i], 4));
		make_table(&s, "manager ", &t);
		assert_string_equal(t.p, rows[i].table);
		assert_int_equal(count(&s, worker, ""), rows[i].worker);
		end(&s);
	}
}

/* In any order of events few writes are refused since the other process wrote first, and none goes
 * on being refused. */
static void test_requests_in_any_order(void **state UNUSED)
{
	const struct seeds seeds = seeds_of_sampled_run(SEEDS);
	size_t refused = 0, lives = 0;

	for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) {
		for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
			struct scene s;
			size_t n;

			unit_row(rows[i].about);
			(void)play(&s, &rows[i], seed);
			n = count(&s, "manager ", ": ");
			assert_true(n <= 1);
			/* All of the Job's: the manager writes no status while the core resumes it.
			 */
			assert_int_equal(count(&s, "manager ", " jobs"), 4);
			assert_int_equal(count(&s, "manager core PATCH jobs", ": "), 0);
			refused += n;
			lives++;
			assert_int_equal(count(&s, "manager ", " POST events"),
					 rows[i].full ? 8 : 6);
			end(&s);
		}
	}
	print_message("%zu refused in %zu lives\n", refused, lives);
	if (seeds.usual) {
		assert_true(refused * ARRAY_LEN(rows) <= lives);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_requests_of_a_job),
		cmocka_unit_test(test_requests_in_any_order),
	};

	return cmocka_run_group_tests_name("fleet/requests", tests, NULL, NULL);
}
