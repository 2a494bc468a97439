#include "scenario/world_write.h"

#include <string.h>

#include "api/volcano/gate.h"
#include "base/clock.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "enc/json/jdoc.h"
#include "lib/unit.h"
#include "scheduler/pods/model/volumes.h"
#include "scheduler/pods/session/decision.h"
#include "scheduler/pods/values/pod_class.h"

static struct jdoc *pod_of(struct world *w, const struct decision *d)
{
	const struct task *t = w->f.cluster->tasks.v[d->task];
	CLEANUP(xmalloc_freep) char *key = xmalloc_printf("Pod %s/%s", t->namespace_, t->name);
	struct jdoc *pod = strmap_get(w->objects, str_of(key));

	assert_non_null(pod);
	return pod;
}

static void annotate(struct jdoc *pod, const char *key, const char *value)
{
	jdoc_set_str(jdoc_ensure_object(jdoc_get_mut(pod, "metadata"), "annotations"), key, value);
}

static void remove_gate(struct jdoc *pod, const struct decision *d, const struct cluster *c)
{
	struct jdoc *spec = jdoc_get_mut(pod, "spec");
	struct jdoc *gates = jdoc_get_mut(spec, "schedulingGates");

	for (size_t i = jdoc_count(gates); i > 0; i--) {
		const char *name = jdoc_str(jdoc_get(jdoc_at(gates, i - 1), "name"));

		if (gate_by_name(name) != NULL) {
			jdoc_remove_at(gates, i - 1);
		}
	}
	if (!d->uncharged) {
		annotate(pod, "headgate.io/reserved", c->queues.v[d->queue]->name);
	}
}

static void set_condition(struct world *w, struct jdoc *pod, const char *reason,
			  const char *message)
{
	struct jdoc *status = jdoc_get_mut(pod, "status"), *c;
	char time[CLOCK_RFC3339_MAX];

	clock_format_time(w->f.now - CYCLE_FIXTURE_S, time);
	jdoc_remove(status, "conditions");
	c = jdoc_append_take(jdoc_ensure_array(status, "conditions"), jdoc_new_object());
	jdoc_set_str(c, "type", "PodScheduled");
	jdoc_set_str(c, "status", "False");
	jdoc_set_str(c, "reason", reason);
	jdoc_set_str(c, "message", message);
	jdoc_set_str(c, "lastTransitionTime", time);
}

static void nominate(struct jdoc *pod, const char *node)
{
	struct jdoc *status = jdoc_get_mut(pod, "status");

	if (node == NULL) {
		jdoc_remove(status, "nominatedNodeName");
	} else {
		jdoc_set_str(status, "nominatedNodeName", node);
	}
}

/* The test deletes the pod in a later step. */
static void terminate(const struct world *w, struct jdoc *pod)
{
	char time[CLOCK_RFC3339_MAX];

	clock_format_time(w->f.now, time);
	jdoc_set_str(jdoc_get_mut(pod, "metadata"), "deletionTimestamp", time);
}

static void set_phase(struct world *w, const struct decision *d)
{
	static const char *const phases[] = { "Pending", "Inqueue", "Running", "Unknown",
					      "Completed" };
	const struct podgroup *g = w->f.cluster->podgroups.v[d->podgroup];
	CLEANUP(xmalloc_freep) char *key = xmalloc_printf("PodGroup %s/%s", g->namespace_, g->name);
	struct jdoc *status;

	if (g->kind == PODGROUP_ALONE) {
		return; /* there is no object */
	}
	status = jdoc_ensure_object(strmap_get(w->objects, str_of(key)), "status");
	jdoc_set_str(status, "phase", phases[d->phase]);
	jdoc_set_int(status, "running", g->status_running);
	jdoc_set_int(status, "succeeded", g->status_succeeded);
	jdoc_set_int(status, "failed", g->status_failed);
}

static void add_event(struct world *w, const struct decision *d)
{
	const struct cluster *c = w->f.cluster;

	strbuf_printf(&w->events, "%s%s %s", w->events.len == 0 ? "" : "; ", d->reason,
		      d->task != MODEL_NONE       ? c->tasks.v[d->task]->name
		      : d->podgroup != MODEL_NONE ? c->podgroups.v[d->podgroup]->name
						  : "-");
}

/* The claims get their node, and the scheduler sees it. */
static void select_node(struct world *w, const struct decision *d)
{
	const struct cluster *c = w->f.cluster;
	const struct task *t = c->tasks.v[d->task];

	for (size_t i = 0; i < t->klass->nclaims; i++) {
		struct claim *cl = c->claims.v[t->klass->claims[i].id];
		CLEANUP(xmalloc_freep)
		char *key = xmalloc_printf("PersistentVolumeClaim %s", cl->key);
		struct jdoc *object = strmap_get(w->objects, str_of(key));

		if (cl->writing) {
			annotate(object, "volume.kubernetes.io/selected-node",
				 c->nodes.v[d->node]->name);
			volumes_written(cl, true, 0);
			world_see(w, object);
		}
	}
}

/* The volume is reserved, and the scheduler sees it. */
static void reserve_volume(struct world *w, const struct decision *d)
{
	struct volume *v = w->f.cluster->volumes.v[d->volume];
	const struct claim *cl = w->f.cluster->claims.v[d->claim];
	CLEANUP(xmalloc_freep) char *key = xmalloc_printf("PersistentVolume %s", v->name);
	struct jdoc *object = strmap_get(w->objects, str_of(key));
	struct jdoc *ref = jdoc_ensure_object(jdoc_get_mut(object, "spec"), "claimRef");
	CLEANUP(xmalloc_freep)
	char *space = xmalloc_dup_n(cl->key, strcspn(cl->key, "/"));

	annotate(object, "pv.kubernetes.io/bound-by-controller", "yes");
	jdoc_set_str(ref, "namespace", space);
	jdoc_set_str(ref, "name", volumes_claim_name(cl));
	if (cl->uid != NULL) {
		jdoc_set_str(ref, "uid", cl->uid);
	}
	volumes_claimed(w->f.cluster, v, true, 0);
	world_see(w, object);
}

static void place(struct jdoc *pod, const char *node)
{
	annotate(pod, "headgate.io/bound-by", "headgate-scheduler");
	jdoc_set_str(jdoc_get_mut(pod, "spec"), "nodeName", node);
	jdoc_set_str(jdoc_get_mut(pod, "status"), "phase", "Running");
	jdoc_remove(jdoc_get_mut(pod, "status"), "conditions");
}

static void write_one(struct world *w, const struct decision *d)
{
	const struct cluster *c = w->f.cluster;
	struct jdoc *pod = NULL;

	switch (d->kind) {
	case DECISION_UNGATE:
		pod = pod_of(w, d);
		remove_gate(pod, d, c);
		break;
	case DECISION_PUBLISH:
	case DECISION_WITHDRAW:
	case DECISION_CONDITION:
		pod = pod_of(w, d);
		set_condition(w, pod, d->reason, d->message);
		nominate(pod, d->node == MODEL_NONE ? NULL : c->nodes.v[d->node]->name);
		break;
	case DECISION_EVICT:
		pod = pod_of(w, d);
		terminate(w, pod);
		break;
	case DECISION_TAKE_VOLUME:
		reserve_volume(w, d);
		break;
	case DECISION_BIND:
		if (c->tasks.v[d->task]->bind_by != MODEL_TIME_NONE) {
			select_node(w, d);
			break;
		}
		pod = pod_of(w, d);
		place(pod, c->nodes.v[d->node]->name);
		break;
	case DECISION_FINISH_BIND:
		pod = pod_of(w, d);
		place(pod, c->nodes.v[d->node]->name);
		break;
	case DECISION_PODGROUP_PHASE:
		set_phase(w, d);
		break;
	case DECISION_EVENT:
		add_event(w, d);
		break;
	case DECISION_GIVE_BACK:
	case DECISION_RESERVE:
	case DECISION_REVOKE:
	case DECISION_MOVE:
	case DECISION_STAY:
	case DECISION_AWAIT:
	case DECISION_OVERDUE:
	case DECISION_STUCK:
	case DECISION_AWAIT_QUOTA:
	case DECISION_PODGROUP_CONDITION:
	case DECISION_QUEUE_SCANNED:
	case DECISION_KIND_COUNT_:
		break;
	}
	if (pod != NULL) {
		world_rewatch(w, pod);
	}
}

void world_write_decisions(struct world *w, const struct decisions *d)
{
	strbuf_reset(&w->events);
	strbuf_add_c(&w->events, "");
	for (size_t i = 0; i < d->n; i++) {
		write_one(w, &d->v[i]);
	}
}
