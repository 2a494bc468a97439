#include "scheduler/workloads/ingest/from_kueue.h"

#include <stdlib.h>

#include "api/core/namespace.h"
#include "api/kueue/kueue.h"
#include "api/kueue/kueue_keys.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "collections/intern.h"
#include "scheduler/base/match_from_api.h"
#include "scheduler/workloads/ingest/from_kueue_priv.h"

/* More names than one object of the API can have. */
#define NAMES_OF_ONE_OBJECT (1u << 20)

const char *const from_kueue_strategies[] = { [QUOTA_BEST_EFFORT_FIFO] = KUEUE_BEST_EFFORT_FIFO,
					      [QUOTA_STRICT_FIFO] = KUEUE_STRICT_FIFO,
					      NULL };
const char *const from_kueue_stops[] = { [QUOTA_RUN] = KUEUE_STOP_NONE,
					 [QUOTA_HOLD] = KUEUE_STOP_HOLD,
					 [QUOTA_HOLD_AND_DRAIN] = KUEUE_STOP_HOLD_AND_DRAIN,
					 NULL };
const char *const from_kueue_searches[] = { [QUOTA_MAY_STOP_SEARCH] = KUEUE_MAY_STOP_SEARCH,
					    [QUOTA_TRY_NEXT_FLAVOR] = KUEUE_TRY_NEXT_FLAVOR,
					    NULL };
const char *const from_kueue_preferences[] = { [QUOTA_BORROWING_OVER_PREEMPTION] =
						       KUEUE_BORROWING_OVER_PREEMPTION,
					       [QUOTA_PREEMPTION_OVER_BORROWING] =
						       KUEUE_PREEMPTION_OVER_BORROWING,
					       NULL };
const char *const from_kueue_policies[] = { [QUOTA_NEVER] = KUEUE_NEVER,
					    [QUOTA_LOWER_PRIORITY] = KUEUE_LOWER_PRIORITY,
					    [QUOTA_LOWER_OR_NEWER_EQUAL] = KUEUE_LOWER_OR_NEWER,
					    [QUOTA_ANY] = KUEUE_ANY,
					    NULL };

int from_kueue_check_names(const struct quota_model *q, const char *name, struct err *err)
{
	if (name == NULL || name[0] == '\0') {
		return err_set(err, ERR_INVALID, "metadata.name: missing");
	}
	/* Room for all names of an object is asked for before it is read, so that interning them
	 * cannot fail in the middle. */
	if (intern_live(q->names) > INTERN_MAX - NAMES_OF_ONE_OBJECT ||
	    intern_live(q->resources) > INTERN_MAX - NAMES_OF_ONE_OBJECT) {
		return err_set(err, ERR_INVALID, "too many different names in the cluster");
	}
	return 0;
}

int from_kueue_enum(const char *text, const char *const *names, unsigned absent, unsigned *ret,
		    struct err *err)
{
	if (text == NULL || text[0] == '\0') {
		*ret = absent;
		return 0;
	}
	for (unsigned i = 0; names[i] != NULL; i++) {
		if (str_streq(text, names[i])) {
			*ret = i;
			return 0;
		}
	}
	return err_set(err, ERR_INVALID, "unknown \"%s\"", text);
}

int from_kueue_weight(const struct quantity *weight, double *ret, struct err *err)
{
	if (weight == NULL) {
		*ret = 1;
		return 0;
	}
	if (weight->nano < 0) {
		return err_set(err, ERR_INVALID, "spec.fairSharing.weight: negative");
	}
	*ret = (double)weight->nano / 1e9;
	return 0;
}

int64_t from_kueue_amount(struct str resource, struct quantity amount)
{
	return str_eq_c(resource, "cpu") ? quantity_milli(amount) : quantity_value(amount);
}

/* --- ResourceFlavor -----------------------------------------------------------------------------
 */

static int read_taints(struct quota_model *q, const struct api_resource_flavor *rf,
		       struct arena *arena, struct flavor *f, struct err *err)
{
	f->ntaints = rf->spec.node_taints.n;
	f->taints = arena_zero(arena, f->ntaints, sizeof(*f->taints));
	for (size_t i = 0; i < f->ntaints; i++) {
		const struct api_taint *a = &rf->spec.node_taints.v[i];
		struct taint *t = &f->taints[i];

		if (!match_from_api_effect(a->effect, &t->effect)) {
			return err_set(err, ERR_INVALID,
				       "spec.nodeTaints[%zu].effect: unknown \"%s\"", i,
				       a->effect == NULL ? "" : a->effect);
		}
		if (match_from_api_text(q->names, a->key, &t->key, err) < 0 ||
		    match_from_api_text(q->names, a->value, &t->value, err) < 0) {
			return err_wrap(err, "spec.nodeTaints[%zu]", i);
		}
	}
	return 0;
}

static int read_flavor(struct quota_model *q, const struct api_resource_flavor *rf,
		       struct arena *arena, struct flavor *f, struct err *err)
{
	struct match_from_api_tolerations tolerations;

	if (from_kueue_check_names(q, rf->meta.name, err) < 0 ||
	    read_taints(q, rf, arena, f, err) < 0) {
		return -ERR_INVALID;
	}
	if (match_from_api_selector(q->names, &rf->spec.node_labels, arena, &f->labels, &f->nlabels,
				    err) < 0) {
		return err_wrap(err, "spec.nodeLabels");
	}
	if (match_from_api_tolerations(q->names, rf->spec.tolerations.v, rf->spec.tolerations.n,
				       arena, &tolerations, err) < 0) {
		return err_path(err, "spec.");
	}
	f->tolerations = tolerations.v;
	f->ntolerations = tolerations.n;
	return 0;
}

static void *keep(const void *v, size_t n, size_t size)
{
	void *copy;

	if (n == 0) {
		return NULL;
	}
	copy = xmalloc(n * size);
	memcpy(copy, v, n * size);
	return copy;
}

int from_kueue_flavor(struct quota_model *q, const struct api_resource_flavor *rf, struct err *err)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	struct flavor read = { .exists = true }, *f;

	if (read_flavor(q, rf, arena, &read, err) < 0) {
		return err_wrap(err, "ResourceFlavor %s",
				rf->meta.name == NULL ? "" : rf->meta.name);
	}
	/* From here on nothing fails: the flavor is replaced as a whole. */
	f = quota_flavor_get(q, str_of(rf->meta.name));
	quota_flavor_clear(f);
	f->exists = true;
	f->labels = keep(read.labels, read.nlabels, sizeof(*f->labels));
	f->nlabels = read.nlabels;
	f->taints = keep(read.taints, read.ntaints, sizeof(*f->taints));
	f->ntaints = read.ntaints;
	f->tolerations = keep(read.tolerations, read.ntolerations, sizeof(*f->tolerations));
	f->ntolerations = read.ntolerations;
	if (rf->spec.topology_name != NULL) {
		f->topology = quota_name(q, str_of(rf->spec.topology_name));
	}
	return 0;
}

/* --- the small ones -----------------------------------------------------------------------------
 */

void from_kueue_check(struct quota_model *q, const struct api_admission_check *ac)
{
	const char *controller = ac->spec.controller_name;

	if (ac->meta.name != NULL) {
		quota_check_set(q, str_of(ac->meta.name),
				meta_condition_is_true(&ac->status.conditions, KUEUE_ACTIVE),
				str_streq(controller, KUEUE_MULTIKUEUE_CONTROLLER)
					? QUOTA_CHECK_MULTIKUEUE
				: str_streq(controller, KUEUE_PROVISIONING_CONTROLLER)
					? QUOTA_CHECK_PROVISIONING
					: QUOTA_CHECK_OTHER);
	}
}

void from_kueue_topology(struct quota_model *q, const struct api_topology *t)
{
	if (t->meta.name != NULL) {
		quota_topology_set(q, str_of(t->meta.name), true);
	}
}

int from_kueue_namespace(struct quota_model *q, const struct api_namespace *ns, struct err *err)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	struct quota_namespace *n;
	struct label *labels;
	size_t nlabels;

	if (from_kueue_check_names(q, ns->meta.name, err) < 0 ||
	    match_from_api_selector(q->names, &ns->meta.labels, arena, &labels, &nlabels, err) <
		    0) {
		return err_wrap(err, "Namespace %s", ns->meta.name == NULL ? "" : ns->meta.name);
	}
	n = quota_namespace_get(q, str_of(ns->meta.name));
	free(n->labels);
	n->labels = keep(labels, nlabels, sizeof(*labels));
	n->nlabels = nlabels;
	return 0;
}

static int read_local(struct quota_model *q, const struct api_local_queue *lq, unsigned *ret_stop,
		      double *ret_weight, struct err *err)
{
	if (from_kueue_check_names(q, lq->meta.name, err) < 0) {
		return -ERR_INVALID;
	}
	if (from_kueue_enum(lq->spec.stop_policy, from_kueue_stops, QUOTA_RUN, ret_stop, err) < 0) {
		return err_wrap(err, "spec.stopPolicy");
	}
	return from_kueue_weight(lq->spec.fair_sharing.weight, ret_weight, err);
}

int from_kueue_local(struct quota_model *q, const struct api_local_queue *lq, struct err *err)
{
	CLEANUP(xmalloc_freep) char *key = NULL;
	const char *ns = lq->meta.namespace_ == NULL ? "" : lq->meta.namespace_;
	struct local_queue *l;
	unsigned stop;
	double weight;

	if (read_local(q, lq, &stop, &weight, err) < 0) {
		return err_wrap(err, "LocalQueue %s/%s", ns,
				lq->meta.name == NULL ? "" : lq->meta.name);
	}
	key = xmalloc_printf("%s/%s", ns, lq->meta.name);
	l = quota_local_get(q, str_of(key));
	l->queue = quota_name(q, str_of(lq->spec.cluster_queue));
	l->stop = (enum quota_stop)stop;
	l->weight = weight;
	return 0;
}

void from_kueue_local_usage(struct quota_model *q, struct local_queue *l,
			    const struct api_local_queue *lq)
{
	const struct api_local_fair_sharing_status *status = lq->status.fair_sharing;

	/* As another leader left it, or this one before a restart. */
	vec_clear(&l->consumed);
	l->sampled_at = MODEL_TIME_NONE;
	if (status == NULL || status->admission == NULL) {
		return;
	}
	for (size_t i = 0; i < status->admission->consumed.n; i++) {
		const struct field_resource *r = &status->admission->consumed.v[i];
		struct quota_consumed one = { quota_resource(q, str_of(r->name)), r->amount.nano };

		if (one.nano > 0) {
			vec_push(&l->consumed, one);
		}
	}
	if (status->admission->last_update != FIELD_NO_TIME) {
		l->sampled_at = status->admission->last_update;
	}
}
