#include "sim/users/sim_groups.h"

#include <stdio.h>
#include <stdlib.h>

#include "api/kueue/kueue_keys.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "enc/json/jdoc.h"
#include "sim/oracles/sim_quota_oracle.h"
#include "sim/world/sim_pod.h"
#include "sim/world/sim_view.h"
#include "sim/world/sim_workload.h"

#define PODS "/api/v1/namespaces/default/pods"
#define WORKLOADS "/apis/" KUEUE_API_VERSION "/namespaces/default/workloads"
#define JSON "application/json"
#define MAX_PODS 16

struct sim_groups {
	struct sim_world *world;
	unsigned next;             /* number of the next group or pod */
	struct strmap *unadmitted; /* UID of a pod that runs without quota -> healthy ns, + 1 */
	struct strmap *forced;     /* UIDs of pods that lost their gate to a user */
	struct strmap *taken;      /* UID of a Workload that a user's write of its status made
				      unadmitted -> healthy ns, + 1 */
	uint64_t admitted_at;      /* changes of the view after which no pod did, + 1 */
	uint64_t bound_at;         /* the same: there was none to bind */
	uint64_t seen[SIM_GROUPS_COUNT_];
};

static const char *const names[SIM_GROUPS_COUNT_] = {
	[SIM_GROUPS_UNGATED] = "pods ungated",
	[SIM_GROUPS_STOPPED] = "pods stopped",
	[SIM_GROUPS_RELEASED] = "pods released",
};

const char *sim_groups_event_name(enum sim_groups_event e)
{
	return names[e];
}

uint64_t sim_groups_count(const struct sim_groups *g, enum sim_groups_event e)
{
	return g->seen[e];
}

/* --- pods and their groups ---------------------------------------------------------------------*/

static const char *label(const struct jdoc *pod, const char *key)
{
	return jdoc_str(jdoc_get(jdoc_path(pod, "metadata.labels"), key));
}

static const char *name_of(const struct jdoc *object)
{
	return jdoc_str_or(jdoc_path(object, "metadata.name"), "");
}

static bool is_queued(const struct jdoc *pod)
{
	return label(pod, KUEUE_QUEUE_NAME) != NULL;
}

static bool is_live(const struct jdoc *pod)
{
	return !sim_pod_is_finished(pod) && !sim_workload_is_deleting(pod);
}

static int64_t total(const struct jdoc *pod)
{
	const char *count =
		jdoc_str(jdoc_get(jdoc_path(pod, "metadata.annotations"), KUEUE_POD_GROUP_COUNT));
	int64_t n;

	return str_to_i64(str_of(count), &n) ? n : 1;
}

/* Both are the same pod, or of one group. */
static bool are_together(const struct jdoc *a, const struct jdoc *b)
{
	const char *x = label(a, KUEUE_POD_GROUP_NAME), *y = label(b, KUEUE_POD_GROUP_NAME);

	return a == b || (x != NULL && y != NULL && str_streq(x, y));
}

/* How many pods of its group are live or have succeeded. */
static int64_t present(const struct sim_groups *g, const struct jdoc *of)
{
	int64_t n = 0;

	for (size_t i = 0; i < sim_view_count(g->world->view, SIM_PODS); i++) {
		const struct jdoc *pod = sim_view_at(g->world->view, SIM_PODS, i);

		n += is_queued(pod) && are_together(pod, of) &&
		     (is_live(pod) || jdoc_is_str(jdoc_path(pod, "status.phase"), "Succeeded"));
	}
	return n;
}

static bool stands_for(const struct jdoc *w, const struct jdoc *pod)
{
	const char *group = label(pod, KUEUE_POD_GROUP_NAME);

	return group != NULL ? str_streq(name_of(w), group)
			     : str_streq(sim_workload_owner(w), sim_pod_uid(pod));
}

static const struct jdoc *workload_of(const struct sim_groups *g, const struct jdoc *pod)
{
	for (size_t i = 0; i < sim_view_count(g->world->view, SIM_WORKLOADS); i++) {
		const struct jdoc *w = sim_view_at(g->world->view, SIM_WORKLOADS, i);

		if (stands_for(w, pod)) {
			return w;
		}
	}
	return NULL;
}

/* The Workload has released its quota: none of its pods may run. */
static void check_released(const struct sim_groups *g, const struct jdoc *w)
{
	for (size_t i = 0; i < sim_view_count(g->world->view, SIM_PODS); i++) {
		const struct jdoc *pod = sim_view_at(g->world->view, SIM_PODS, i);

		if (is_queued(pod) && stands_for(w, pod) && is_live(pod) &&
		    !sim_pod_has_gate(pod, KUEUE_GATE_ADMISSION) &&
		    !strmap_has(g->forced, str_of(sim_pod_uid(pod)))) {
			sim_world_fail(g->world, "%s: its quota is released while pod %s may run",
				       name_of(w), name_of(pod));
		}
	}
}

static void on_workload(const struct sim_groups *g, const struct sim_change *change)
{
	const struct jdoc *old = change->old, *now = change->now;

	if (old != NULL && change->actor == SIM_SCHEDULER && sim_workload_is_of_pods(old) &&
	    sim_workload_holds(old) &&
	    (now == NULL || !sim_workload_is(now, KUEUE_QUOTA_RESERVED))) {
		check_released(g, old);
	}
	if (change->actor != SIM_SCHEDULER && sim_workload_is(old, KUEUE_ADMITTED) &&
	    !sim_workload_is(now, KUEUE_ADMITTED)) {
		strmap_set(g->taken, str_of(sim_workload_uid(old)),
			   (void *)(uintptr_t)(g->world->healthy_ns + 1));
	}
}

/* A write to a pod cannot depend on the status of its Workload: one that was sent, or waits to be,
 * may arrive after a user has taken the admission away. */
static bool was_admitted(const struct sim_groups *g, const struct jdoc *w)
{
	uintptr_t since = (uintptr_t)strmap_get(g->taken, str_of(sim_workload_uid(w)));

	return sim_workload_is(w, KUEUE_ADMITTED) ||
	       (since != 0 && g->world->healthy_ns + 1 - (int64_t)since <= SIM_QUOTA_GRACE_NS);
}

static bool loses_gate(const struct jdoc *old, const struct jdoc *now)
{
	return sim_pod_has_gate(old, KUEUE_GATE_ADMISSION) &&
	       !sim_pod_has_gate(now, KUEUE_GATE_ADMISSION);
}

static void on_change(void *ctx, const struct sim_change *change)
{
	struct sim_groups *g = ctx;
	const struct jdoc *old = change->old, *now = change->now;

	if (change->resource == SIM_WORKLOADS) {
		on_workload(g, change);
	}
	if (change->resource != SIM_PODS || old == NULL || !is_queued(old)) {
		return;
	}
	if (change->actor != SIM_SCHEDULER) {
		if (now != NULL && loses_gate(old, now)) {
			strmap_set(g->forced, str_of(sim_pod_uid(now)), g);
		}
		return;
	}
	if (now == NULL || (sim_workload_has_finalizer(old, KUEUE_POD_FINALIZER) &&
			    !sim_workload_has_finalizer(now, KUEUE_POD_FINALIZER))) {
		g->seen[SIM_GROUPS_RELEASED]++;
	}
	if (now == NULL) {
		return;
	}
	g->seen[SIM_GROUPS_STOPPED] +=
		!sim_workload_is_deleting(old) && sim_workload_is_deleting(now);
	if (loses_gate(old, now)) {
		g->seen[SIM_GROUPS_UNGATED]++;
		if (!was_admitted(g, workload_of(g, now))) {
			sim_world_fail(g->world, "%s: ungated without an admitted Workload",
				       change->key);
		}
	}
}

struct sim_groups *sim_groups_create(struct sim_world *w)
{
	struct sim_groups *g = xmalloc_zero(1, sizeof(*g));

	g->world = w;
	g->unadmitted = strmap_create(NULL);
	g->forced = strmap_create(NULL);
	g->taken = strmap_create(NULL);
	sim_view_listen(w->view, on_change, g);
	return g;
}

void sim_groups_destroy(struct sim_groups *g)
{
	if (g != NULL) {
		strmap_destroy(g->unadmitted);
		strmap_destroy(g->forced);
		strmap_destroy(g->taken);
		free(g);
	}
}

/* --- users -------------------------------------------------------------------------------------*/

static unsigned below(struct sim_groups *g, unsigned n)
{
	return (unsigned)sim_world_below(g->world, n);
}

/* group: NULL, or its name; then of so many pods. */
static void create_pod(struct sim_groups *g, const char *lq, const char *group, unsigned pods,
		       unsigned milli_cpu)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	static const char *const runs_for[] = { "400ms", "5s", "40s" };

	strbuf_printf(&body,
		      "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"q%u\","
		      "\"namespace\":\"default\",\"labels\":{\"" KUEUE_QUEUE_NAME "\":\"%s\"",
		      g->next++, lq);
	if (group != NULL) {
		strbuf_printf(&body, ",\"" KUEUE_POD_GROUP_NAME "\":\"%s\"", group);
	}
	strbuf_printf(&body, "},\"annotations\":{\"demo.headgate.io/runs-for\":\"%s\"",
		      runs_for[below(g, ARRAY_LEN(runs_for))]);
	if (group != NULL) {
		strbuf_printf(&body, ",\"" KUEUE_POD_GROUP_COUNT "\":\"%u\"", pods);
	}
	strbuf_printf(&body,
		      "}},\"spec\":{\"restartPolicy\":\"Never\",\"containers\":[{\"name\":\"main\","
		      "\"image\":\"registry.example.com/pause\",\"resources\":{\"requests\":{"
		      "\"cpu\":\"%um\"}}}]}}",
		      milli_cpu);
	(void)sim_world_call(g->world, HTTP_POST, PODS, JSON, strbuf_str(&body));
}

static void create(struct sim_groups *g, const char *lq)
{
	unsigned pods = 1 + below(g, 4), milli_cpu = 500u << below(g, 2);
	char group[24];

	if (pods == 1) {
		create_pod(g, lq, NULL, 1, milli_cpu);
		return;
	}
	snprintf(group, sizeof(group), "group%u", g->next++);
	for (unsigned i = 0; i < pods; i++) {
		create_pod(g, lq, group, pods, milli_cpu);
	}
}

static const struct jdoc *any_pod(struct sim_groups *g)
{
	size_t n = 0;

	for (size_t i = 0; i < sim_view_count(g->world->view, SIM_PODS); i++) {
		n += is_queued(sim_view_at(g->world->view, SIM_PODS, i));
	}
	n = n == 0 ? 0 : 1 + below(g, (unsigned)n);
	for (size_t i = 0; n > 0; i++) {
		const struct jdoc *pod = sim_view_at(g->world->view, SIM_PODS, i);

		n -= is_queued(pod);
		if (n == 0) {
			return pod;
		}
	}
	return NULL;
}

static void erase(struct sim_groups *g, const struct jdoc *pod)
{
	CLEANUP(xmalloc_freep) char *url = xmalloc_printf(PODS "/%s", name_of(pod));

	(void)sim_world_call(g->world, HTTP_DELETE, url, NULL, str_of(NULL));
}

/* Deletes pods or Workloads; of: those of its group, NULL: all. Names are collected first, since
 * deletions change the view. */
static void erase_all(struct sim_groups *g, enum sim_resource r, const char *path,
		      const struct jdoc *of)
{
	struct VEC(char *) urls = VEC_INIT;

	for (size_t i = 0; i < sim_view_count(g->world->view, r); i++) {
		const struct jdoc *one = sim_view_at(g->world->view, r, i);
		bool is = r == SIM_PODS ? is_queued(one) && (of == NULL || are_together(one, of))
					: sim_workload_is_of_pods(one);

		if (is) {
			vec_push(&urls, xmalloc_printf("%s/%s", path, name_of(one)));
		}
	}
	for (size_t i = 0; i < urls.n; i++) {
		(void)sim_world_call(g->world, HTTP_DELETE, urls.v[i], NULL, str_of(NULL));
		free(urls.v[i]);
	}
	vec_finish(&urls);
}

/* Replaces pods that were stopped by pods of other names, as the controller of a group does. */
static void replace(struct sim_groups *g, const struct jdoc *of)
{
	CLEANUP(jdoc_destroyp) struct jdoc *pod = jdoc_copy(of);
	const char *group = label(pod, KUEUE_POD_GROUP_NAME);

	for (int64_t n = present(g, of); group != NULL && n < total(pod); n++) {
		create_pod(g, label(pod, KUEUE_QUEUE_NAME), group, (unsigned)total(pod),
			   (unsigned)sim_pod_milli_cpu(pod));
	}
}

void sim_groups_act(struct sim_groups *g, const char *lq)
{
	const struct jdoc *pod = any_pod(g);
	unsigned what = below(g, 8);

	if (what < 3 || pod == NULL) {
		if (sim_view_count(g->world->view, SIM_PODS) < MAX_PODS) {
			create(g, lq);
		}
	} else if (what < 5) {
		replace(g, pod);
	} else if (what < 7) {
		erase(g, pod);
	} else {
		erase_all(g, SIM_PODS, PODS, pod);
	}
}

/* --- the scheduler of these pods ---------------------------------------------------------------*/

static bool is_to_bind(const struct jdoc *pod)
{
	return !sim_pod_is_placed(pod) && jdoc_count(jdoc_path(pod, "spec.schedulingGates")) == 0 &&
	       is_queued(pod) && is_live(pod);
}

static void bind(void *owner, void *arg UNUSED)
{
	struct sim_groups *g = owner;

	for (size_t i = 0; i < sim_view_count(g->world->view, SIM_PODS); i++) {
		const struct jdoc *pod = sim_view_at(g->world->view, SIM_PODS, i);
		CLEANUP(xmalloc_freep) char *url = NULL;

		if (is_to_bind(pod)) {
			url = xmalloc_printf(PODS "/%s/binding", name_of(pod));
			(void)sim_world_act(
				g->world,
				&(struct sim_call){
					SIM_CLUSTER, HTTP_POST, url, JSON,
					"{\"apiVersion\":\"v1\",\"kind\":\"Binding\",\"target\":{"
					"\"kind\":\"Node\",\"name\":\"elsewhere\"}}" });
			return;
		}
	}
}

void sim_groups_offer(struct sim_groups *g, struct sim_choices *out)
{
	uint64_t changes = sim_view_changes(g->world->view);

	if (g->bound_at == changes + 1) {
		return;
	}
	for (size_t i = 0; i < sim_view_count(g->world->view, SIM_PODS); i++) {
		if (is_to_bind(sim_view_at(g->world->view, SIM_PODS, i))) {
			sim_world_choice(out, &(struct sim_choice){ bind, g, NULL, 3 });
			return;
		}
	}
	g->bound_at = changes + 1;
}

/* --- checks ------------------------------------------------------------------------------------*/

/* The pod may run, but has no admitted Workload. */
static bool runs_unadmitted(const struct sim_groups *g, const struct jdoc *pod)
{
	return is_queued(pod) && is_live(pod) && !sim_pod_has_gate(pod, KUEUE_GATE_ADMISSION) &&
	       !sim_workload_is(workload_of(g, pod), KUEUE_ADMITTED);
}

void sim_groups_check(struct sim_groups *g)
{
	int64_t now = g->world->healthy_ns;
	bool all_admitted = true;

	if (g->admitted_at == sim_view_changes(g->world->view) + 1) {
		return;
	}
	for (size_t i = 0; i < sim_view_count(g->world->view, SIM_PODS); i++) {
		const struct jdoc *pod = sim_view_at(g->world->view, SIM_PODS, i);
		struct str uid = str_of(sim_pod_uid(pod));
		uintptr_t since = (uintptr_t)strmap_get(g->unadmitted, uid);

		if (!runs_unadmitted(g, pod)) {
			(void)strmap_remove(g->unadmitted, uid);
			continue;
		}
		all_admitted = false;
		if (since == 0) {
			strmap_set(g->unadmitted, uid, (void *)(uintptr_t)(now + 1));
		} else if (now - (int64_t)(since - 1) > SIM_QUOTA_GRACE_NS) {
			sim_world_fail(g->world, "pod %s may run without an admitted Workload",
				       name_of(pod));
		}
	}
	g->admitted_at = all_admitted ? sim_view_changes(g->world->view) + 1 : 0;
}

void sim_groups_end(struct sim_groups *g)
{
	size_t n = sim_view_count(g->world->view, SIM_PODS);
	struct VEC(struct jdoc *) pods = VEC_INIT;

	for (size_t i = 0; i < n; i++) {
		const struct jdoc *pod = sim_view_at(g->world->view, SIM_PODS, i);

		if (is_queued(pod)) {
			vec_push(&pods, jdoc_copy(pod));
		}
	}
	for (size_t i = 0; i < pods.n; i++) {
		if (present(g, pods.v[i]) >= total(pods.v[i])) {
			continue;
		}
		if (below(g, 2) == 0) {
			replace(g, pods.v[i]);
		} else {
			erase_all(g, SIM_PODS, PODS, pods.v[i]);
		}
	}
	for (size_t i = 0; i < pods.n; i++) {
		jdoc_destroy(pods.v[i]);
	}
	vec_finish(&pods);
}

void sim_groups_leave(struct sim_groups *g)
{
	/* Workloads first: as in Kueue, finalizers keep deleted pods of a group until there are
	 * replacements. */
	erase_all(g, SIM_WORKLOADS, WORKLOADS, NULL);
	erase_all(g, SIM_PODS, PODS, NULL);
}

/* Not when it is finished: a replacement that comes after the end of its group stays gated. */
static bool runs(const struct jdoc *w)
{
	return sim_workload_is(w, KUEUE_ADMITTED) && !sim_workload_is(w, KUEUE_FINISHED);
}

static void judge_pod(const struct sim_groups *g, const struct jdoc *pod)
{
	const struct jdoc *w = workload_of(g, pod);
	bool gated = sim_pod_has_gate(pod, KUEUE_GATE_ADMISSION);

	/* As in Kueue, deleted pods of a group stay until the group has finished. */
	if (sim_workload_is_deleting(pod) && (w == NULL || sim_workload_is(w, KUEUE_FINISHED))) {
		sim_world_fail(g->world, "end: pod %s is still being deleted", name_of(pod));
	} else if (is_live(pod) && present(g, pod) == total(pod)) {
		if (w == NULL) {
			sim_world_fail(g->world, "end: pod %s has no Workload", name_of(pod));
		} else if (gated ? runs(w) : !sim_workload_is(w, KUEUE_ADMITTED)) {
			sim_world_fail(g->world, "end: pod %s is %s, but its Workload is %s",
				       name_of(pod), gated ? "gated" : "ungated",
				       gated ? "admitted" : "not admitted");
		}
	}
}

void sim_groups_judge(const struct sim_groups *g)
{
	for (size_t i = 0; i < sim_view_count(g->world->view, SIM_PODS); i++) {
		const struct jdoc *pod = sim_view_at(g->world->view, SIM_PODS, i);

		if (is_queued(pod)) {
			judge_pod(g, pod);
		}
	}
}

void sim_groups_judge_left(const struct sim_groups *g)
{
	for (size_t i = 0; i < sim_view_count(g->world->view, SIM_PODS); i++) {
		const struct jdoc *pod = sim_view_at(g->world->view, SIM_PODS, i);

		if (is_queued(pod)) {
			sim_world_fail(g->world, "end: pod %s cannot be deleted", name_of(pod));
		}
	}
}
