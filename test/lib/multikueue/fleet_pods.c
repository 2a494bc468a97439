#include "lib/multikueue/fleet_pods.h"

#include "lib/unit.h"

#include <string.h>

#include "api/kueue/kueue_keys.h"
#include "base/attrs.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "lib/multikueue/fleet_jobs.h"
#include "lib/multikueue/fleet_world.h"

#define MANAGER FLEET_WORLD_MANAGER
#define WORKLOADS "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads"
#define PODS "/api/v1/namespaces/default/pods"
#define SPEC                                                                                       \
	"\"spec\":{\"restartPolicy\":\"Never\",\"schedulingGates\":[{\"name\":"                    \
	"\"kueue.x-k8s.io/admission\"}],\"containers\":[{\"name\":\"c\",\"image\":\"i\","          \
	"\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]}"
#define FINALIZER "kueue.x-k8s.io/managed"

static struct jdoc *pod_of(struct fleet_world *w, int server, const char *name, unsigned i)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;

	strbuf_printf(&path, PODS "/%s-%u", name, i);
	return fleet_world_get(w, server, path.p);
}

static struct jdoc *workload_of(struct fleet_world *w, int server, const char *name)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;

	strbuf_printf(&path, WORKLOADS "/%s", name);
	return fleet_world_get(w, server, path.p);
}

static void patch(struct fleet_world *w, int server, const char *name, unsigned i, const char *sub,
		  const char *text)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;
	int status;

	strbuf_printf(&path, PODS "/%s-%u%s", name, i, sub);
	status = fleet_world_patch(w, server, path.p, text);
	if (status != 200) {
		fail_msg("PATCH %s: %d: %s", path.p, status, text);
	}
}

static void delete_pod(struct fleet_world *w, int server, const char *name, unsigned i)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;

	strbuf_printf(&path, PODS "/%s-%u", name, i);
	(void)fleet_world_delete(w, server, path.p);
}

static bool is_in(const struct jdoc *pod, const char *phase)
{
	return jdoc_is_str(jdoc_path(pod, "status.phase"), phase);
}

static bool is_gated(const struct jdoc *pod)
{
	return jdoc_count(jdoc_path(pod, "spec.schedulingGates")) > 0;
}

static bool is_deleted(const struct jdoc *pod)
{
	return jdoc_path(pod, "metadata.deletionTimestamp") != NULL;
}

static bool has_ended(const struct jdoc *pod)
{
	return is_in(pod, "Succeeded") || is_in(pod, "Failed");
}

/* --- the manager's cluster ---------------------------------------------------------------------*/

void fleet_pods_submit(struct fleet_world *w, const char *name)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT, owners = STRBUF_INIT;

	for (unsigned i = 0; i < FLEET_PODS_SIZE; i++) {
		CLEANUP(jdoc_destroyp) struct jdoc *pod = NULL;

		strbuf_reset(&body);
		strbuf_printf(&body,
			      "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":"
			      "\"%s-%u\",\"namespace\":\"default\",\"labels\":{\"" KUEUE_MANAGED
			      "\":\"true\",\"" KUEUE_POD_GROUP_NAME "\":\"%s\"}}," SPEC "}",
			      name, i, name);
		assert_int_equal(fleet_world_create_object(w, MANAGER, PODS, body.p), 201);
		pod = pod_of(w, MANAGER, name, i);
		strbuf_printf(&owners,
			      "%s{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"%s-%u\","
			      "\"uid\":\"%s\"}",
			      i == 0 ? "" : ",", name, i, jdoc_path_str(pod, "metadata.uid"));
	}
	strbuf_reset(&body);
	strbuf_printf(&body,
		      "{\"apiVersion\":\"kueue.x-k8s.io/v1beta2\",\"kind\":\"Workload\","
		      "\"metadata\":{\"name\":\"%s\",\"namespace\":\"default\",\"annotations\":{"
		      "\"" KUEUE_IS_GROUP_WORKLOAD
		      "\":\"true\"},\"ownerReferences\":[%s]},\"spec\":{"
		      "\"queueName\":\"main\",\"priority\":0,\"podSets\":[{\"name\":\"main\","
		      "\"count\":%u,\"template\":{" SPEC "}}]}}",
		      name, owners.p, FLEET_PODS_SIZE);
	assert_int_equal(fleet_world_create_object(w, MANAGER, WORKLOADS, body.p), 201);
	fleet_jobs_reserve(w, name);
}

void fleet_pods_evict(struct fleet_world *w, const char *name)
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = workload_of(w, MANAGER, name);

	if (d != NULL && fleet_jobs_is(w, MANAGER, name, KUEUE_QUOTA_RESERVED) &&
	    !fleet_jobs_is(w, MANAGER, name, KUEUE_FINISHED)) {
		fleet_jobs_set(w, MANAGER, name, KUEUE_EVICTED, "Preempted");
	}
}

void fleet_pods_core(struct fleet_world *w, const char *name)
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = workload_of(w, MANAGER, name);

	if (d == NULL || fleet_jobs_is(w, MANAGER, name, KUEUE_FINISHED)) {
		return;
	}
	if (fleet_pods_have_succeeded(w, MANAGER, name)) {
		fleet_jobs_set(w, MANAGER, name, KUEUE_FINISHED, "Succeeded");
	} else if (!fleet_jobs_is(w, MANAGER, name, KUEUE_QUOTA_RESERVED)) {
		fleet_jobs_reserve(w, name);
	} else if (fleet_jobs_is(w, MANAGER, name, KUEUE_EVICTED)) {
		if (fleet_pods_in(w, MANAGER, name, "Running") == 0) {
			fleet_jobs_release(w, name);
		}
	} else if (fleet_jobs_check(w, name, KUEUE_CHECK_RETRY, "")) {
		fleet_pods_evict(w, name);
	} else if (fleet_jobs_check(w, name, KUEUE_CHECK_READY, "") &&
		   !fleet_jobs_is(w, MANAGER, name, KUEUE_ADMITTED)) {
		fleet_jobs_set(w, MANAGER, name, KUEUE_ADMITTED, "Admitted");
	}
}

void fleet_pods_remove(struct fleet_world *w, const char *name)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;

	strbuf_printf(&path, WORKLOADS "/%s", name);
	(void)fleet_world_delete(w, MANAGER, path.p);
	for (unsigned i = 0; i < FLEET_PODS_SIZE; i++) {
		delete_pod(w, MANAGER, name, i);
	}
}

/* --- workers -----------------------------------------------------------------------------------*/

/* The pod of an admitted replica, or of another one, which has to stop. */
static void work_on(struct fleet_world *w, int server, const char *name, unsigned i, bool admitted)
{
	CLEANUP(jdoc_destroyp) struct jdoc *pod = pod_of(w, server, name, i);

	if (pod == NULL) {
		return;
	}
	if (is_deleted(pod)) {
		if (is_in(pod, "Running")) {
			patch(w, server, name, i, "/status", "{\"status\":{\"phase\":\"Failed\"}}");
		}
		patch(w, server, name, i, "", "{\"metadata\":{\"finalizers\":null}}");
	} else if (jdoc_count(jdoc_path(pod, "metadata.finalizers")) == 0) {
		patch(w, server, name, i, "",
		      "{\"metadata\":{\"finalizers\":[\"" FINALIZER "\"]}}");
	} else if (admitted && is_gated(pod)) {
		patch(w, server, name, i, "", "{\"spec\":{\"schedulingGates\":[]}}");
		patch(w, server, name, i, "/status", "{\"status\":{\"phase\":\"Running\"}}");
	} else if (!admitted && !is_gated(pod) && !has_ended(pod)) {
		patch(w, server, name, i, "/status",
		      "{\"status\":{\"conditions\":[{\"type\":\"TerminationTarget\",\"status\":"
		      "\"True\"}]}}");
		delete_pod(w, server, name, i);
	}
}

void fleet_pods_work(struct fleet_world *w, unsigned worker, const char *name)
{
	int server = (int)worker;
	CLEANUP(jdoc_destroyp) struct jdoc *d = workload_of(w, server, name);
	bool evicted = fleet_jobs_is(w, server, name, KUEUE_EVICTED);
	bool admitted = d != NULL && !evicted && fleet_jobs_is(w, server, name, KUEUE_ADMITTED);

	if (d != NULL && !evicted && fleet_jobs_is(w, server, name, KUEUE_DEACTIVATION_TARGET)) {
		fleet_jobs_deactivate(w, worker, name);
		admitted = false;
	}
	for (unsigned i = 0; i < FLEET_PODS_SIZE; i++) {
		work_on(w, server, name, i, admitted);
	}
	if (d != NULL && fleet_pods_have_succeeded(w, server, name) &&
	    !fleet_jobs_is(w, server, name, KUEUE_FINISHED)) {
		fleet_jobs_set(w, server, name, KUEUE_FINISHED, "Succeeded");
	}
}

void fleet_pods_finish(struct fleet_world *w, unsigned worker, const char *name)
{
	for (unsigned i = 0; i < FLEET_PODS_SIZE; i++) {
		CLEANUP(jdoc_destroyp) struct jdoc *pod = pod_of(w, (int)worker, name, i);

		if (pod != NULL && is_in(pod, "Running") && !is_deleted(pod)) {
			patch(w, (int)worker, name, i, "/status",
			      "{\"status\":{\"phase\":\"Succeeded\"}}");
		}
	}
}

void fleet_pods_remove_there(struct fleet_world *w, unsigned worker, const char *name)
{
	delete_pod(w, (int)worker, name, 0);
}

/* --- reading -----------------------------------------------------------------------------------*/

bool fleet_pods_exist(struct fleet_world *w, int server, const char *name)
{
	for (unsigned i = 0; i < FLEET_PODS_SIZE; i++) {
		CLEANUP(jdoc_destroyp) struct jdoc *pod = pod_of(w, server, name, i);

		if (pod != NULL) {
			return true;
		}
	}
	return false;
}

unsigned fleet_pods_running(struct fleet_world *w, int server, const char *name)
{
	unsigned n = 0;

	for (unsigned i = 0; i < FLEET_PODS_SIZE; i++) {
		CLEANUP(jdoc_destroyp) struct jdoc *pod = pod_of(w, server, name, i);

		n += pod != NULL && !is_gated(pod) && !has_ended(pod);
	}
	return n;
}

unsigned fleet_pods_in(struct fleet_world *w, int server, const char *name, const char *phase)
{
	unsigned n = 0;

	for (unsigned i = 0; i < FLEET_PODS_SIZE; i++) {
		CLEANUP(jdoc_destroyp) struct jdoc *pod = pod_of(w, server, name, i);

		n += is_in(pod, phase);
	}
	return n;
}

bool fleet_pods_have_succeeded(struct fleet_world *w, int server, const char *name)
{
	return fleet_pods_in(w, server, name, "Succeeded") == FLEET_PODS_SIZE;
}
