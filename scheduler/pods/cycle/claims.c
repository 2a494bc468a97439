#include "scheduler/pods/cycle/claims.h"

#include <string.h>

#include "scheduler/pods/model/volume_match.h"
#include "scheduler/pods/model/volumes.h"
#include "scheduler/pods/session/session_priv.h"
#include "scheduler/pods/values/pod_class.h"

enum verdict { VERDICT_WAIT, VERDICT_READY, VERDICT_FAILED };

struct finding {
	enum verdict verdict;
	const char *why; /* VERDICT_FAILED */
	const struct claim *claim;
};

static struct finding failed(const struct claim *cl, const char *why)
{
	return (struct finding){ VERDICT_FAILED, why, cl };
}

static struct finding look_at_bound(const struct claim *cl, const struct node *n)
{
	/* The watches of claims and volumes are not in step: it may come. */
	if (!cl->volume->exists) {
		return (struct finding){ .verdict = VERDICT_WAIT };
	}
	if (!volumes_fits_node(cl->volume, n)) {
		return failed(cl, "its volume cannot be had on the node");
	}
	return (struct finding){ .verdict = VERDICT_READY };
}

/* A volume that was there before. */
static struct finding look_at_reserved(const struct claim *cl, const struct volume *v,
				       const struct node *n)
{
	if (v->ref != NULL && v->ref != cl) {
		return failed(cl, "another claim has got its volume");
	}
	if (!volumes_fits_node(v, n)) {
		return failed(cl, "its volume cannot be had on the node");
	}
	return (struct finding){ .verdict = VERDICT_WAIT };
}

static struct finding look_at(const struct cluster *c, const struct claim *cl,
			      const struct pod_claim *of, const struct node *n)
{
	const struct volume *reserved;

	if (!cl->exists || cl->deleting || cl->lost) {
		return failed(cl, "it is gone, lost or being deleted");
	}
	if (of->owner != NULL && (cl->owner == NULL || strcmp(cl->owner, of->owner) != 0)) {
		return failed(cl, "it was not created for this pod (pod is not owner)");
	}
	if (cl->bound) {
		return look_at_bound(cl, n);
	}
	reserved = volume_match_reserved(c, cl);
	if (reserved != NULL) {
		return look_at_reserved(cl, reserved, n);
	}
	if (cl->klass == NULL || cl->klass->provisioner == NULL) {
		return failed(cl, "no volume is reserved for it");
	}
	/* The node may not be written yet, or not be seen yet. */
	if (cl->writing || cl->written > cl->resource_version ||
	    (cl->selected != NULL && strcmp(cl->selected, n->name) == 0)) {
		return (struct finding){ .verdict = VERDICT_WAIT };
	}
	return failed(cl, "provisioning failed");
}

/* The first claim that failed counts, else the first one that is waited for. */
static struct finding examine(const struct cluster *c, const struct task *t, int64_t now)
{
	struct finding all = { .verdict = VERDICT_READY };
	const struct node *n = c->nodes.v[t->node];

	for (size_t i = 0; i < t->klass->nclaims; i++) {
		const struct claim *cl = c->claims.v[t->klass->claims[i].id];
		struct finding one = look_at(c, cl, &t->klass->claims[i], n);

		one.claim = cl;
		if (one.verdict == VERDICT_FAILED) {
			return one;
		}
		all = one.verdict == VERDICT_WAIT && all.verdict == VERDICT_READY ? one : all;
	}
	if (!n->exists) {
		return failed(c->claims.v[t->klass->claims[0].id], "the node is gone");
	}
	return all.verdict == VERDICT_WAIT && t->bind_by <= now
		       ? failed(all.claim, "it was not bound in time")
		       : all;
}

bool claims_are_due(const struct cluster *c, int64_t now, int64_t *timer)
{
	bool any = false;

	for (size_t i = 0; i < c->binding.n; i++) {
		const struct task *t = c->tasks.v[c->binding.v[i]];

		any |= examine(c, t, now).verdict != VERDICT_WAIT;
		*timer = t->bind_by > now && t->bind_by < *timer ? t->bind_by : *timer;
	}
	return any;
}

static void give_back(struct session *s, const struct task *t, const struct finding *f)
{
	const char *message = arena_printf(s->arena, "persistentvolumeclaim \"%s\", node %s: %s",
					   volumes_claim_name(f->claim),
					   s->cluster->nodes.v[t->node]->name, f->why);
	struct decision *d = decision_add(&s->decisions, DECISION_GIVE_BACK);

	d->task = t->id;
	d->message = message;
	/* As after a Binding that is refused. */
	d->retry_at = s->now + cluster_task_pause(t->write_failures);
	d = decision_add(&s->decisions, DECISION_EVENT);
	d->task = t->id;
	d->warning = true;
	d->reason = "VolumesNotBound";
	d->message = message;
}

void claims_run(struct session *s)
{
	const struct cluster *c = s->cluster;

	for (size_t i = 0; i < c->binding.n; i++) {
		const struct task *t = c->tasks.v[c->binding.v[i]];
		struct finding f = examine(c, t, s->now);

		if (f.verdict == VERDICT_FAILED) {
			give_back(s, t, &f);
		} else if (f.verdict == VERDICT_READY) {
			struct decision *d = decision_add(&s->decisions, DECISION_FINISH_BIND);

			d->task = t->id;
			d->node = t->node;
		}
	}
}
