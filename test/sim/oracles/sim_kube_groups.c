#include "sim/oracles/sim_kube_groups.h"

#include <stdlib.h>

#include "api/volcano/keys.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "scheduler/pods/model/cluster.h"
#include "scheduler/pods/session/decision.h"
#include "sim/oracles/sim_oracle.h"
#include "sim/world/sim_pod.h"
#include "sim/world/sim_view.h"

#define MAX_MEMBERS 64

/* ---- decisions ---- */

static bool is_ungated_now(const struct decisions *d, const struct task *t)
{
	for (size_t i = 0; i < d->n; i++) {
		if (d->v[i].kind == DECISION_UNGATE && d->v[i].task == t->id) {
			return true;
		}
	}
	return false;
}

/* Members that have their quota, or had it, or go without, with those that get it now. */
static int32_t count_granted(const struct cluster *c, const struct podgroup *g,
			     const struct decisions *d)
{
	int32_t n = 0;

	for (size_t i = 0; i < g->tasks.n; i++) {
		const struct task *t = c->tasks.v[g->tasks.v[i]];

		n += t->charge != CHARGE_NONE || (t->flags & TASK_OUR_GATE) == 0 ||
		     (t->flags & TASK_UNGATING) != 0 || is_ungated_now(d, t);
	}
	return n;
}

/* By the object, if the scheduler has seen its last version; else what the scheduler has seen. */
static int32_t minimum_of(const struct sim_world *w, const struct cluster *c,
			  const struct podgroup *part)
{
	const struct podgroup_key key = { .namespace_ = str_of(part->namespace_),
					  .name = str_of(part->name),
					  .kind = PODGROUP_KUBE };
	CLEANUP(strbuf_finish) struct strbuf in_model = STRBUF_INIT;
	CLEANUP(xmalloc_freep)
	char *in_view = xmalloc_printf("%s/%s", part->namespace_, part->name);
	const struct jdoc *object = sim_view_get(w->view, SIM_KUBE_PODGROUPS, in_view);
	const struct podgroup *g;
	int64_t version;

	cluster_podgroup_key(&key, &in_model);
	g = cluster_podgroup_find(c, strbuf_str(&in_model));
	if (g == NULL ||
	    !str_to_i64(str_of(jdoc_path_str(object, "metadata.resourceVersion")), &version) ||
	    version != g->resource_version) {
		return part->min_member;
	}
	return (int32_t)jdoc_int(jdoc_path(object, "spec.schedulingPolicy.gang.minCount"), 0);
}

void sim_kube_groups_decided(struct sim_world *w, const struct cluster *c,
			     const struct decisions *d)
{
	for (size_t i = 0; i < d->n; i++) {
		const struct decision *e = &d->v[i];
		const struct task *t = e->kind == DECISION_UNGATE ? c->tasks.v[e->task] : NULL;
		const struct podgroup *g =
			t == NULL || t->podgroup == MODEL_NONE ? NULL : c->podgroups.v[t->podgroup];

		if (g == NULL || g->kind != PODGROUP_PART || e->uncharged) {
			continue;
		}
		if (!g->exists) {
			sim_world_fail(w,
				       "decisions: %s is ungated, but its PodGroup %s is missing",
				       t->name, g->name);
		} else if (count_granted(c, g, d) < minimum_of(w, c, g)) {
			sim_world_fail(w,
				       "decisions: %s is ungated with %d of the %d that its "
				       "PodGroup %s needs",
				       t->name, count_granted(c, g, d), minimum_of(w, c, g),
				       g->name);
		}
	}
}

/* ---- the end ---- */

struct judge {
	struct sim_world *world;
	struct sim_oracle *oracle;
	const struct cluster *cluster;
};

static const char *group_of(const struct jdoc *pod)
{
	return jdoc_path_str(pod, "spec.schedulingGroup.podGroupName");
}

static const char *queue_of(const struct jdoc *pod)
{
	const char *queue =
		jdoc_str(jdoc_get(jdoc_path(pod, "metadata.annotations"), KEYS_QUEUE_NAME));

	return queue == NULL || queue[0] == '\0' ? "default" : queue;
}

static bool names_podgroup(const struct jdoc *pod)
{
	return jdoc_get(jdoc_path(pod, "metadata.annotations"), KEYS_GROUP_NAME) != NULL;
}

static bool is_waiting(const struct jdoc *pod)
{
	return sim_pod_has_our_gate(pod) && !sim_pod_has_foreign_gate(pod) &&
	       jdoc_path(pod, "metadata.deletionTimestamp") == NULL;
}

/* One with children takes none. */
static bool takes_pods(const struct cluster *c, const char *name)
{
	const struct queue *queue = queue_find(c, str_of(name)), *q;

	if (queue == NULL || queue->children.n > 0) {
		return false;
	}
	QUEUE_FOR_EACH_UP (q, c, queue->id) {
		if (!q->exists || q->broken != NULL || q->state != QUEUE_OPEN) {
			return false;
		}
	}
	return true;
}

static int64_t size_of(const struct judge *j, const char *key)
{
	return sim_pod_milli_cpu(sim_view_get(j->world->view, SIM_PODS, key));
}

/* A client took its gate: it has no quota, and may get some as a member or by its Binding. */
static bool is_without_quota(const struct judge *j, const struct jdoc *pod)
{
	CLEANUP(xmalloc_freep)
	char *key = xmalloc_printf("default/%s", jdoc_path_str(pod, "metadata.name"));
	const struct task *t = cluster_task_find(j->cluster, str_of(key));

	return t != NULL && t->charge == CHARGE_NONE;
}

/* The pods of a gang that name one queue. */
struct part {
	char *waiting[MAX_MEMBERS]; /* keys */
	size_t nwaiting;
	size_t held;     /* without gate, not finished */
	bool uncharged;  /* one of these has no quota */
	size_t finished; /* successfully or not: whether these count is left open here */
};

static void collect(const struct judge *j, const struct jdoc *of, struct part *ret)
{
	*ret = (struct part){ .held = 0 };
	for (size_t i = 0; i < sim_view_count(j->world->view, SIM_PODS); i++) {
		const struct jdoc *pod = sim_view_at(j->world->view, SIM_PODS, i);

		if (!sim_pod_is_theirs(pod) || names_podgroup(pod) ||
		    !str_streq(group_of(pod), group_of(of)) ||
		    !str_streq(queue_of(pod), queue_of(of))) {
			continue;
		}
		if (sim_pod_is_finished(pod)) {
			ret->finished++;
		} else if (!sim_pod_has_our_gate(pod)) {
			ret->held++;
			ret->uncharged |= is_without_quota(j, pod);
		} else if (is_waiting(pod) && ret->nwaiting < MAX_MEMBERS) {
			ret->waiting[ret->nwaiting++] =
				xmalloc_printf("default/%s", jdoc_path_str(pod, "metadata.name"));
		}
	}
}

static void part_finish(struct part *p)
{
	for (size_t i = 0; i < p->nwaiting; i++) {
		free(p->waiting[i]);
	}
}

/* Members are tried in an order of the scheduler's: the largest may be the first. */
static void sort_by_size(const struct judge *j, struct part *p)
{
	for (size_t i = 1; i < p->nwaiting; i++) {
		for (size_t k = i;
		     k > 0 && size_of(j, p->waiting[k - 1]) < size_of(j, p->waiting[k]); k--) {
			char *larger = p->waiting[k];

			p->waiting[k] = p->waiting[k - 1];
			p->waiting[k - 1] = larger;
		}
	}
}

static void judge_alone(const struct judge *j, const char *key)
{
	if (sim_oracle_fits(j->oracle, &key, 1)) {
		sim_world_fail(j->world, "end: %s waits although its queue has room", key);
	}
}

static void judge_gang(const struct judge *j, const struct jdoc *pod, const char *key, size_t min)
{
	struct part p;
	size_t need;

	collect(j, pod, &p);
	need = p.held < min ? min - p.held : 1;
	sort_by_size(j, &p);
	if (need <= p.nwaiting && !p.uncharged &&
	    sim_oracle_fits(j->oracle, (const char *const *)p.waiting, need)) {
		sim_world_fail(j->world, "end: %s waits although its queue has room for its gang",
			       key);
	}
	part_finish(&p);
}

static void judge_pod(const struct judge *j, const struct jdoc *pod)
{
	CLEANUP(xmalloc_freep)
	char *key = xmalloc_printf("default/%s", jdoc_path_str(pod, "metadata.name"));
	CLEANUP(xmalloc_freep) char *group_key = NULL;
	const struct jdoc *group;

	if (!sim_pod_is_opted_in(pod, j->world->sticky) || names_podgroup(pod) ||
	    !takes_pods(j->cluster, queue_of(pod))) {
		return;
	}
	if (group_of(pod) == NULL) {
		judge_alone(j, key);
		return;
	}
	group_key = xmalloc_printf("default/%s", group_of(pod));
	group = sim_view_get(j->world->view, SIM_KUBE_PODGROUPS, group_key);
	if (group == NULL) {
		return; /* it waits for it */
	}
	if (jdoc_path(group, "spec.schedulingPolicy.gang") == NULL) {
		judge_alone(j, key);
		return;
	}
	judge_gang(j, pod, key,
		   (size_t)jdoc_int(jdoc_path(group, "spec.schedulingPolicy.gang.minCount"), 0));
}

void sim_kube_groups_judge(struct sim_world *w, struct sim_oracle *o, const struct cluster *c)
{
	const struct judge j = { w, o, c };

	for (size_t i = 0; i < sim_view_count(w->view, SIM_PODS); i++) {
		const struct jdoc *pod = sim_view_at(w->view, SIM_PODS, i);

		if (sim_pod_is_theirs(pod) && is_waiting(pod)) {
			judge_pod(&j, pod);
		}
	}
}
