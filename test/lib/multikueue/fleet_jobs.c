#include "lib/multikueue/fleet_jobs.h"

#include "lib/unit.h"

#include <string.h>

#include "api/kueue/kueue_keys.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "lib/multikueue/fleet_world.h"

#define MANAGER FLEET_WORLD_MANAGER
#define WORKLOADS "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads"
#define JOBS "/apis/batch/v1/namespaces/default/jobs"
#define WHEN "\"lastTransitionTime\":\"2027-01-15T08:00:00Z\""
#define TEMPLATE                                                                                   \
	"\"template\":{\"spec\":{\"restartPolicy\":\"Never\",\"terminationGracePeriodSeconds\":%"  \
	"lld,"                                                                                     \
	"\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"resources\":{\"requests\":{\"cpu\":"    \
	"\"1\""                                                                                    \
	"}}}]}}"

static struct jdoc *get(struct fleet_world *w, int server, const char *collection, const char *name)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;

	strbuf_printf(&path, "%s/%s", collection, name);
	return fleet_world_get(w, server, path.p);
}

static void patch(struct fleet_world *w, int server, const char *collection, const char *name,
		  const char *sub, const char *text)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;
	int status;

	strbuf_printf(&path, "%s/%s%s", collection, name, sub);
	status = fleet_world_patch(w, server, path.p, text);
	if (status != 200) {
		fail_msg("PATCH %s: %d: %s", path.p, status, text);
	}
}

static bool is_true(const struct jdoc *d, const char *type)
{
	for (const struct jdoc *c = jdoc_first(jdoc_path(d, "status.conditions")); c != NULL;
	     c = jdoc_next(c)) {
		if (jdoc_is_str(jdoc_get(c, "type"), type)) {
			return jdoc_is_str(jdoc_get(c, "status"), "True");
		}
	}
	return false;
}

static const struct jdoc *check_of(const struct jdoc *d)
{
	return jdoc_at(jdoc_path(d, "status.admissionChecks"), 0);
}

/* A merge patch of status.conditions with one that is True, for the list is replaced as a whole. */
static void set_condition(struct fleet_world *w, int server, const char *name,
			  const struct jdoc *now, const char *type, const char *reason)
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = jdoc_new_object();
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct jdoc *list = jdoc_ensure_array(jdoc_ensure_object(d, "status"), "conditions"), *c;

	for (const struct jdoc *m = jdoc_first(jdoc_path(now, "status.conditions")); m != NULL;
	     m = jdoc_next(m)) {
		if (!jdoc_is_str(jdoc_get(m, "type"), type)) {
			jdoc_append_take(list, jdoc_copy(m));
		}
	}
	c = jdoc_append_take(list, jdoc_new_object());
	jdoc_set_str(c, "type", type);
	jdoc_set_str(c, "status", "True");
	jdoc_set_str(c, "reason", reason);
	jdoc_set_str(c, "message", "");
	jdoc_set_str(c, "lastTransitionTime", "2027-01-15T08:00:00Z");
	jdoc_format(d, &text);
	patch(w, server, WORKLOADS, name, "/status", text.p);
}

void fleet_jobs_set(struct fleet_world *w, int server, const char *name, const char *condition,
		    const char *reason)
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = get(w, server, WORKLOADS, name);

	set_condition(w, server, name, d, condition, reason);
}

/* --- the manager's cluster ---------------------------------------------------------------------*/

void fleet_jobs_reserve(struct fleet_world *w, const char *name)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	char when[CLOCK_RFC3339_MAX];

	clock_format_time(fleet_world_wall(w), when);
	strbuf_printf(
		&text,
		"{\"status\":{\"conditions\":[{\"type\":\"QuotaReserved\",\"status\":\"True\","
		"\"reason\":\"QuotaReserved\",\"message\":\"\",\"lastTransitionTime\":\"%s\"}]"
		",\"admission\":{\"clusterQueue\":\"cq\",\"podSetAssignments\":[{\"name\":"
		"\"main\",\"count\":1,\"flavors\":{\"cpu\":\"f\"},\"resourceUsage\":{\"cpu\":"
		"\"1\"}}]},\"admissionChecks\":[{\"name\":\"mk\",\"state\":\"Pending\","
		"\"message\":\"\"," WHEN "}]}}",
		when);
	patch(w, MANAGER, WORKLOADS, name, "/status", text.p);
}

void fleet_jobs_submit_as(struct fleet_world *w, const char *name, const struct fleet_job *j)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *job = NULL;

	strbuf_printf(&body,
		      "{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"metadata\":{\"name\":\"%s\","
		      "\"namespace\":\"default\"},\"spec\":{\"suspend\":true,\"parallelism\":%u,"
		      "\"completions\":%u,\"managedBy\":\"kueue.x-k8s.io/multikueue\"," TEMPLATE
		      "}}",
		      name, j->pods, j->pods, (long long)j->grace_s);
	assert_int_equal(fleet_world_create_object(w, MANAGER, JOBS, body.p), 201);
	job = get(w, MANAGER, JOBS, name);
	strbuf_reset(&body);
	strbuf_printf(
		&body,
		"{\"apiVersion\":\"kueue.x-k8s.io/v1beta2\",\"kind\":\"Workload\","
		"\"metadata\":{\"name\":\"%s\",\"namespace\":\"default\",\"ownerReferences\":["
		"{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"name\":\"%s\",\"uid\":\"%s\","
		"\"controller\":true}]},\"spec\":{\"queueName\":\"main\",\"priority\":%d,"
		"\"podSets\":[{\"name\":\"main\",\"count\":%u," TEMPLATE "}]}}",
		name, name, jdoc_path_str(job, "metadata.uid"), j->priority, j->pods,
		(long long)j->grace_s);
	assert_int_equal(fleet_world_create_object(w, MANAGER, WORKLOADS, body.p), 201);
	fleet_jobs_reserve(w, name);
}

void fleet_jobs_submit(struct fleet_world *w, const char *name)
{
	fleet_jobs_submit_as(w, name,
			     &(struct fleet_job){ .priority = 0, .pods = 1, .grace_s = 30 });
}

static void suspend(struct fleet_world *w, int server, const char *name, bool yes)
{
	CLEANUP(jdoc_destroyp) struct jdoc *job = get(w, server, JOBS, name);

	if (job != NULL && jdoc_bool(jdoc_path(job, "spec.suspend"), false) != yes) {
		patch(w, server, JOBS, name, "",
		      yes ? "{\"spec\":{\"suspend\":true}}" : "{\"spec\":{\"suspend\":false}}");
	}
}

void fleet_jobs_release(struct fleet_world *w, const char *name)
{
	patch(w, MANAGER, WORKLOADS, name, "/status",
	      "{\"status\":{\"conditions\":[{\"type\":\"QuotaReserved\",\"status\":\"False\","
	      "\"reason\":\"Pending\",\"message\":\"\"," WHEN "}],\"admission\":null,"
	      "\"clusterName\":null,\"nominatedClusterNames\":null,\"admissionChecks\":[{\"name\":"
	      "\"mk\",\"state\":\"Pending\",\"message\":\"\"," WHEN "}]}}");
}

void fleet_jobs_evict(struct fleet_world *w, const char *name)
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = get(w, MANAGER, WORKLOADS, name);

	if (d != NULL && is_true(d, KUEUE_QUOTA_RESERVED) && !is_true(d, KUEUE_FINISHED)) {
		set_condition(w, MANAGER, name, d, KUEUE_EVICTED, "Preempted");
		suspend(w, MANAGER, name, true);
	}
}

void fleet_jobs_core(struct fleet_world *w, const char *name)
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = get(w, MANAGER, WORKLOADS, name);
	const struct jdoc *state = jdoc_get(check_of(d), "state");

	if (d == NULL || is_true(d, KUEUE_FINISHED)) {
		return;
	}
	if (fleet_jobs_job_is(w, MANAGER, name, "Complete")) {
		set_condition(w, MANAGER, name, d, KUEUE_FINISHED, "Succeeded");
	} else if (!is_true(d, KUEUE_QUOTA_RESERVED)) {
		fleet_jobs_reserve(w, name);
	} else if (is_true(d, KUEUE_EVICTED)) {
		if (fleet_jobs_active(w, MANAGER, name) == 0) {
			fleet_jobs_release(w, name);
		}
	} else if (jdoc_is_str(state, KUEUE_CHECK_RETRY)) {
		fleet_jobs_evict(w, name);
	} else if (jdoc_is_str(state, KUEUE_CHECK_READY)) {
		if (!is_true(d, KUEUE_ADMITTED)) {
			set_condition(w, MANAGER, name, d, KUEUE_ADMITTED, "Admitted");
		}
		suspend(w, MANAGER, name, false);
	}
}

/* --- workers -----------------------------------------------------------------------------------*/

static void set_active(struct fleet_world *w, int server, const char *name, bool active)
{
	patch(w, server, JOBS, name, "/status",
	      active ? "{\"status\":{\"active\":1,\"startTime\":\"2027-01-15T08:00:00Z\"}}"
		     : "{\"status\":{\"active\":0,\"startTime\":null}}");
}

void fleet_jobs_deactivate(struct fleet_world *w, unsigned worker, const char *name)
{
	patch(w, (int)worker, WORKLOADS, name, "", "{\"spec\":{\"active\":false}}");
	fleet_jobs_set(w, (int)worker, name, KUEUE_EVICTED, "Deactivated");
}

void fleet_jobs_work(struct fleet_world *w, unsigned worker, const char *name)
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = get(w, (int)worker, WORKLOADS, name);
	CLEANUP(jdoc_destroyp) struct jdoc *job = get(w, (int)worker, JOBS, name);
	bool suspended = jdoc_bool(jdoc_path(job, "spec.suspend"), false);

	if (d == NULL) {
		return;
	}
	if (is_true(d, KUEUE_DEACTIVATION_TARGET) && !is_true(d, KUEUE_EVICTED)) {
		fleet_jobs_deactivate(w, worker, name);
	} else if (job == NULL || is_true(d, KUEUE_FINISHED)) {
		return;
	} else if (is_true(job, "Complete")) {
		set_condition(w, (int)worker, name, d, KUEUE_FINISHED, "Succeeded");
	} else if (is_true(d, KUEUE_EVICTED) && !suspended) {
		suspend(w, (int)worker, name, true);
		set_active(w, (int)worker, name, false);
	} else if (is_true(d, KUEUE_ADMITTED) && !is_true(d, KUEUE_EVICTED) && suspended) {
		suspend(w, (int)worker, name, false);
		set_active(w, (int)worker, name, true);
	}
}

void fleet_jobs_restore(struct fleet_world *w, unsigned worker, const char *name)
{
	static const char *const kept[] = { "name", "namespace", "labels", "annotations" };
	CLEANUP(jdoc_destroyp) struct jdoc *d = get(w, (int)worker, WORKLOADS, name);
	CLEANUP(jdoc_destroyp) struct jdoc *again = jdoc_new_object();
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT, text = STRBUF_INIT;
	struct jdoc *meta;

	if (d == NULL) {
		return;
	}
	jdoc_set_str(again, "apiVersion", "kueue.x-k8s.io/v1beta2");
	jdoc_set_str(again, "kind", "Workload");
	jdoc_set_take(again, "spec", jdoc_copy(jdoc_get(d, "spec")));
	meta = jdoc_ensure_object(again, "metadata");
	for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
		const struct jdoc *m = jdoc_get(jdoc_get(d, "metadata"), kept[i]);

		if (m != NULL) {
			jdoc_set_take(meta, kept[i], jdoc_copy(m));
		}
	}
	jdoc_format(again, &text);
	strbuf_printf(&path, WORKLOADS "/%s", name);
	assert_int_equal(fleet_world_delete(w, (int)worker, path.p), 200);
	assert_int_equal(fleet_world_create_object(w, (int)worker, WORKLOADS, text.p), 201);
}

void fleet_jobs_finish(struct fleet_world *w, unsigned worker, const char *name)
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = get(w, (int)worker, WORKLOADS, name);

	patch(w, (int)worker, JOBS, name, "/status",
	      "{\"status\":{\"active\":0,\"succeeded\":1,\"completionTime\":"
	      "\"2027-01-15T08:10:00Z\",\"conditions\":[{\"type\":\"SuccessCriteriaMet\","
	      "\"status\":"
	      "\"True\"," WHEN "},{\"type\":\"Complete\",\"status\":\"True\"," WHEN "}]}}");
	if (d != NULL) {
		set_condition(w, (int)worker, name, d, KUEUE_FINISHED, "Succeeded");
	}
}

/* --- reading -----------------------------------------------------------------------------------*/

bool fleet_jobs_exists(struct fleet_world *w, int server, const char *name)
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = get(w, server, JOBS, name);

	return d != NULL;
}

bool fleet_jobs_has_replica(struct fleet_world *w, int server, const char *name)
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = get(w, server, WORKLOADS, name);

	return d != NULL;
}

bool fleet_jobs_is(struct fleet_world *w, int server, const char *name, const char *condition)
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = get(w, server, WORKLOADS, name);

	return is_true(d, condition);
}

bool fleet_jobs_job_is(struct fleet_world *w, int server, const char *name, const char *condition)
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = get(w, server, JOBS, name);

	return is_true(d, condition);
}

bool fleet_jobs_runs(struct fleet_world *w, int server, const char *name)
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = get(w, server, JOBS, name);

	return d != NULL && !jdoc_bool(jdoc_path(d, "spec.suspend"), false) &&
	       !is_true(d, "Complete") && !is_true(d, "Failed");
}

int fleet_jobs_active(struct fleet_world *w, int server, const char *name)
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = get(w, server, JOBS, name);

	return (int)jdoc_int(jdoc_path(d, "status.active"), 0);
}

int fleet_jobs_winner(struct fleet_world *w, const char *name)
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = get(w, MANAGER, WORKLOADS, name);
	const char *cluster = jdoc_path_str(d, "status.clusterName");
	uint64_t number = 0;

	if (cluster == NULL) {
		return -1;
	}
	assert_true(str_to_u64(str_of(cluster + 1), &number));
	return (int)number;
}

bool fleet_jobs_check(struct fleet_world *w, const char *name, const char *state, const char *part)
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = get(w, MANAGER, WORKLOADS, name);
	const struct jdoc *c = check_of(d);

	return jdoc_is_str(jdoc_get(c, "state"), state) &&
	       strstr(jdoc_str_or(jdoc_get(c, "message"), ""), part) != NULL;
}
