#include "play/fleet_scene.h"

#include <stdio.h>
#include <string.h>

#include "api/kueue/kueue_keys.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "enc/base64.h"
#include "enc/json/jdoc.h"
#include "play/stack.h"
#include "process/file.h"

#define KUEUE "/apis/kueue.x-k8s.io/v1beta2/"
#define WORKLOADS KUEUE "namespaces/default/workloads"
#define MAX_KUBECONFIG 65536

static const char worker_objects[] =
	"{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: default}}\n"
	"---\n"
	"{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: cq},"
	" spec: {namespaceSelector: {}, preemption: {withinClusterQueue: LowerPriority},"
	" resourceGroups: [{coveredResources: [cpu], flavors: [{name: default,"
	" resources: [{name: cpu, nominalQuota: 4}]}]}]}}\n"
	"---\n"
	"{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: main,"
	" namespace: default}, spec: {clusterQueue: cq}}\n";

static const char manager_objects[] =
	"{apiVersion: kueue.x-k8s.io/v1beta2, kind: AdmissionCheck, metadata: {name: mk}, spec:"
	" {controllerName: kueue.x-k8s.io/multikueue, parameters: {apiGroup: kueue.x-k8s.io,"
	" kind: MultiKueueConfig, name: all}}}\n"
	"---\n"
	"{apiVersion: kueue.x-k8s.io/v1beta2, kind: MultiKueueConfig, metadata: {name: all}, spec:"
	" {clusters: [w0, w1, w2]}}\n";

/* --- clusters ----------------------------------------------------------------------------------*/

static int add_cluster(struct fleet_scene *s, unsigned i, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf config = STRBUF_INIT, yaml = STRBUF_INIT;
	int r = file_read_all(stack_kubeconfig(s->workers[i]), MAX_KUBECONFIG, &config, err);

	if (r < 0) {
		return r;
	}
	strbuf_printf(
		&yaml,
		"{apiVersion: kueue.x-k8s.io/v1beta2, kind: MultiKueueCluster, metadata:"
		" {name: w%u}, spec: {clusterSource: {kubeConfig: {location: w%u,"
		" locationType: Secret}}}}\n"
		"---\n"
		"{apiVersion: v1, kind: Secret, metadata: {name: w%u, namespace: default}, data:"
		" {kubeconfig: ",
		i, i, i);
	base64_encode(strbuf_str(&config), &yaml);
	strbuf_add_c(&yaml, "}}\n");
	return stack_apply(s->manager, strbuf_str(&yaml), err);
}

static int start_worker(struct fleet_scene *s, unsigned i, struct err *err)
{
	static const char conf[] = "featureGates: {MultiKueueOrchestratedPreemption: true}\n";
	const struct stack_options so = { .no_webhook = true, .quota = true, .quota_conf = conf };
	int r = stack_start(&so, &s->workers[i], err);

	return r < 0 ? r : stack_apply(s->workers[i], str_of(worker_objects), err);
}

int fleet_scene_start(struct fleet_scene *s, bool manages, const char *const *args, struct err *err)
{
	struct stack_options so = { .no_webhook = true,
				    .no_scheduler = true,
				    .quota = true,
				    .orchestrator = !manages,
				    .multikueue = manages,
				    .scheduler_args = args };
	int r;

	*s = (struct fleet_scene){ .manager = NULL };
	r = stack_start(&so, &s->manager, err);
	r = r < 0 ? r : stack_apply(s->manager, str_of(manager_objects), err);
	for (unsigned i = 0; r == 0 && i < FLEET_SCENE_WORKERS; i++) {
		r = start_worker(s, i, err);
		r = r < 0 ? r : add_cluster(s, i, err);
	}
	return r < 0 ? r : stack_start_program(s->manager, STACK_SCHEDULER, err);
}

void fleet_scene_stop(struct fleet_scene *s, bool keep_logs)
{
	if (s->manager != NULL) {
		stack_stop(s->manager, keep_logs);
	}
	for (unsigned i = 0; i < FLEET_SCENE_WORKERS; i++) {
		if (s->workers[i] != NULL) {
			stack_stop(s->workers[i], keep_logs);
		}
	}
}

/* --- objects -----------------------------------------------------------------------------------*/

#define TEMPLATE                                                                                   \
	"podSets: [{name: main, count: 1, template: {spec: {restartPolicy: Never, containers:"     \
	" [{name: c, image: i, resources: {requests: {cpu: '%d'}}}]}}}]"

int fleet_scene_fill(struct fleet_scene *s, unsigned worker, const char *name, int cpu,
		     int priority, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf yaml = STRBUF_INIT;

	strbuf_printf(&yaml,
		      "{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: %s,"
		      " namespace: default}, spec: {queueName: main, priority: %d, " TEMPLATE "}}",
		      name, priority, cpu);
	return stack_apply(s->workers[worker], strbuf_str(&yaml), err);
}

static int patch_status(struct fleet_scene *s, const char *name, const char *status,
			struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;

	strbuf_printf(&path, WORKLOADS "/%s/status", name);
	return stack_call(s->manager, "PATCH", path.p, str_of(status), NULL, err);
}

/* As the manager's own scheduler would: quota is reserved there, and the check is pending. */
static int reserve_locally(struct fleet_scene *s, const char *name, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf status = STRBUF_INIT;
	char when[CLOCK_RFC3339_MAX];

	clock_format_time(clock_wall(clock_real()), when);
	strbuf_printf(
		&status,
		"{\"status\":{\"conditions\":[{\"type\":\"QuotaReserved\",\"status\":\"True\","
		"\"reason\":\"QuotaReserved\",\"message\":\"\",\"lastTransitionTime\":\"%s\"}],"
		"\"admission\":{\"clusterQueue\":\"cq\",\"podSetAssignments\":[{\"name\":\"main\","
		"\"count\":1,\"flavors\":{\"cpu\":\"default\"},\"resourceUsage\":{\"cpu\":\"4\"}}]}"
		","
		"\"admissionChecks\":[{\"name\":\"mk\",\"state\":\"Pending\",\"message\":\"\","
		"\"lastTransitionTime\":\"%s\"}],\"nominatedClusterNames\":[\"w0\",\"w1\",\"w2\"]}"
		"}",
		when, when);
	return patch_status(s, name, status.p, err);
}

int fleet_scene_submit(struct fleet_scene *s, const char *name, int priority, bool gated,
		       struct err *err)
{
	struct fleet_scene_load *load = &s->loads[s->n++];
	CLEANUP(strbuf_finish) struct strbuf yaml = STRBUF_INIT;
	int r;

	snprintf(load->name, sizeof(load->name), "%s", name);
	load->winner = -1;
	strbuf_printf(&yaml,
		      "{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: %s,"
		      " namespace: default}, spec: {queueName: main, priority: %d, " TEMPLATE "}}",
		      name, priority, 4);
	r = stack_apply(s->manager, strbuf_str(&yaml), err);
	r = r < 0 ? r : reserve_locally(s, name, err);
	strbuf_reset(&yaml);
	strbuf_printf(
		&yaml,
		"{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: %s,"
		" namespace: default, labels: {kueue.x-k8s.io/multikueue-origin: multikueue}},"
		" spec: {queueName: main, priority: %d, %s" TEMPLATE "}}",
		name, priority,
		gated ? "preemptionGates: [{name: " KUEUE_GATE_MULTIKUEUE "}], " : "", 4);
	for (unsigned i = 0; r == 0 && i < FLEET_SCENE_WORKERS; i++) {
		r = stack_apply(s->workers[i], strbuf_str(&yaml), err);
	}
	return r;
}

int fleet_scene_get(struct fleet_scene *s, int worker, const char *name, struct jdoc **ret,
		    struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;
	struct stack *of = worker < 0 ? s->manager : s->workers[worker];
	int r;

	strbuf_printf(&path, WORKLOADS "/%s", name);
	*ret = NULL;
	r = stack_call(of, "GET", path.p, (struct str){ NULL, 0 }, ret, err);
	return r == -ERR_NOT_FOUND ? 0 : r;
}

static size_t preemptions_of(const struct jdoc *w)
{
	size_t n = 0;

	for (const struct jdoc *e = jdoc_first(jdoc_path(w, "status.schedulingStats.evictions"));
	     e != NULL; e = jdoc_next(e)) {
		n += jdoc_is_str(jdoc_get(e, "reason"), KUEUE_PREEMPTED)
			     ? (size_t)jdoc_int(jdoc_get(e, "count"), 0)
			     : 0;
	}
	return n;
}

int fleet_scene_count_victims(struct fleet_scene *s, unsigned worker, size_t *ret, struct err *err)
{
	CLEANUP(jdoc_destroyp) struct jdoc *list = NULL;
	int r = stack_call(s->workers[worker], "GET", WORKLOADS, (struct str){ NULL, 0 }, &list,
			   err);

	*ret = 0;
	for (const struct jdoc *w = jdoc_first(jdoc_get(list, "items")); w != NULL;
	     w = jdoc_next(w)) {
		*ret += preemptions_of(w);
	}
	return r;
}

static int delete_one(struct stack *of, const char *name, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;
	int r;

	strbuf_printf(&path, WORKLOADS "/%s", name);
	r = stack_call(of, "DELETE", path.p, (struct str){ NULL, 0 }, NULL, err);
	return r == -ERR_NOT_FOUND ? 0 : r;
}

int fleet_scene_delete(struct fleet_scene *s, const char *name, struct err *err)
{
	int r = delete_one(s->manager, name, err);

	for (unsigned i = 0; r == 0 && i < FLEET_SCENE_WORKERS; i++) {
		r = delete_one(s->workers[i], name, err);
	}
	for (size_t k = 0; k < s->n; k++) {
		if (strcmp(s->loads[k].name, name) == 0) {
			s->loads[k] = s->loads[--s->n];
		}
	}
	return r;
}

bool fleet_scene_is_true(const struct jdoc *workload, const char *type)
{
	for (const struct jdoc *c = jdoc_first(jdoc_path(workload, "status.conditions")); c != NULL;
	     c = jdoc_next(c)) {
		if (jdoc_is_str(jdoc_get(c, "type"), type)) {
			return jdoc_is_str(jdoc_get(c, "status"), "True");
		}
	}
	return false;
}

/* --- the manager of MultiKueue -----------------------------------------------------------------*/

static int remove_replicas(struct fleet_scene *s, const struct fleet_scene_load *load,
			   struct err *err)
{
	int r = 0;

	for (int i = 0; r == 0 && i < FLEET_SCENE_WORKERS; i++) {
		r = i == load->winner ? 0 : delete_one(s->workers[i], load->name, err);
	}
	return r;
}

static int choose(struct fleet_scene *s, struct fleet_scene_load *load, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf status = STRBUF_INIT;
	char when[CLOCK_RFC3339_MAX];
	int r;

	clock_format_time(clock_wall(clock_real()), when);
	strbuf_printf(&status,
		      "{\"status\":{\"admissionChecks\":[{\"name\":\"mk\",\"state\":\"Ready\","
		      "\"message\":\"The workload was admitted on \\\"w%d\\\"\","
		      "\"lastTransitionTime\":\"%s\"}],\"clusterName\":\"w%d\","
		      "\"nominatedClusterNames\":null}}",
		      load->winner, when, load->winner);
	r = patch_status(s, load->name, status.p, err);
	return r < 0 ? r : remove_replicas(s, load, err);
}

int fleet_scene_manage(struct fleet_scene *s, struct err *err)
{
	for (size_t k = 0; k < s->n; k++) {
		struct fleet_scene_load *load = &s->loads[k];

		for (int i = 0; load->winner < 0 && i < FLEET_SCENE_WORKERS; i++) {
			CLEANUP(jdoc_destroyp) struct jdoc *replica = NULL;

			if (!stack_is_running(s->workers[i], STACK_APISERVER)) {
				continue;
			}
			if (fleet_scene_get(s, i, load->name, &replica, err) < 0) {
				return -err->code;
			}
			load->winner = fleet_scene_is_true(replica, KUEUE_ADMITTED) ? i : -1;
			if (load->winner >= 0 && choose(s, load, err) < 0) {
				return -err->code;
			}
		}
	}
	return 0;
}

int fleet_scene_winner(const struct fleet_scene *s, const char *name)
{
	for (size_t k = 0; k < s->n; k++) {
		if (strcmp(s->loads[k].name, name) == 0) {
			return s->loads[k].winner;
		}
	}
	return -1;
}
