#include "scheduler/workloads/dump/manifest_dump.h"

#include "api/core/namespace.h"
#include "api/core/resource_amount.h"
#include "api/kueue/kueue.h"
#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "collections/strmap.h"
#include "enc/decode.h"
#include "enc/encode.h"
#include "enc/json/json_out.h"
#include "scheduler/base/match_from_api.h"
#include "scheduler/workloads/controller/owner_controller.h"
#include "scheduler/workloads/ingest/from_kueue.h"
#include "scheduler/workloads/ingest/workload_cache.h"
#include "scheduler/workloads/model/quota_store.h"
#include "scheduler/workloads/writes/queue_statuses_body.h"

#define NANO 1e9

struct dump {
	const struct quota_model *q;
	struct arena *arena; /* of the object that is written */
	struct json_out o;
};

/* The arena is emptied after each object: it needs the memory of the largest one. */
static void put(struct dump *d, const struct field_table *t, const void *object)
{
	encode_object(t, object, &d->o);
	arena_reset(d->arena);
}

struct field_map manifest_dump_labels(const struct label *v, size_t n, struct arena *arena)
{
	struct field_pair *pairs = arena_zero(arena, n, sizeof(*pairs));

	for (size_t i = 0; i < n; i++) {
		pairs[i] = (struct field_pair){ v[i].key, v[i].value };
	}
	return (struct field_map){ pairs, n };
}

struct api_toleration *manifest_dump_tolerations(const struct toleration *v, size_t n,
						 struct arena *arena)
{
	struct api_toleration *ret = arena_zero(arena, n, sizeof(*ret));

	for (size_t i = 0; i < n; i++) {
		ret[i].key = v[i].key;
		ret[i].operator_ = v[i].exists ? "Exists" : "Equal";
		ret[i].value = v[i].value;
		/* No effect stands for every effect. */
		ret[i].effect = v[i].any_effect ? NULL : match_from_api_effect_name(v[i].effect);
		ret[i].seconds = FIELD_NO_I64;
	}
	return ret;
}

/* --- small kinds -------------------------------------------------------------------------------*/

static bool write_namespace(struct str key UNUSED, void *value, void *ctx)
{
	const struct quota_namespace *n = value;
	struct dump *d = ctx;
	struct api_namespace o;

	decode_init(&namespace_fields, &o);
	o.api_version = "v1";
	o.kind = "Namespace";
	o.meta.name = n->name;
	o.meta.labels = manifest_dump_labels(n->labels, n->nlabels, d->arena);
	put(d, &namespace_fields, &o);
	return true;
}

static bool write_check(struct str key, void *value, void *ctx)
{
	static const char *const controllers[] = {
		[QUOTA_CHECK_OTHER] = NULL,
		[QUOTA_CHECK_MULTIKUEUE] = KUEUE_MULTIKUEUE_CONTROLLER,
		[QUOTA_CHECK_PROVISIONING] = KUEUE_PROVISIONING_CONTROLLER,
	};
	const struct quota_admission_check *check = value;
	struct dump *d = ctx;
	struct api_condition active = { .type = KUEUE_ACTIVE,
					.status = check->active ? "True" : "False",
					.last_transition = FIELD_NO_TIME };
	struct api_admission_check o;

	decode_init(&kueue_admission_check_fields, &o);
	o.api_version = KUEUE_API_VERSION;
	o.kind = "AdmissionCheck";
	o.meta.name = arena_dup_n(d->arena, key.p, key.len);
	o.spec.controller_name = controllers[check->kind];
	o.status.conditions.v = &active;
	o.status.conditions.n = 1;
	put(d, &kueue_admission_check_fields, &o);
	return true;
}

static bool write_topology(struct str key, void *value UNUSED, void *ctx)
{
	struct dump *d = ctx;
	struct api_topology o;

	decode_init(&kueue_topology_fields, &o);
	o.api_version = KUEUE_API_VERSION;
	o.kind = "Topology";
	o.meta.name = arena_dup_n(d->arena, key.p, key.len);
	put(d, &kueue_topology_fields, &o);
	return true;
}

static void write_flavor(struct dump *d, const struct flavor *f)
{
	struct api_resource_flavor o;

	decode_init(&kueue_resource_flavor_fields, &o);
	o.api_version = KUEUE_API_VERSION;
	o.kind = "ResourceFlavor";
	o.meta.name = f->name;
	o.spec.node_labels = manifest_dump_labels(f->labels, f->nlabels, d->arena);
	FIELD_LIST_MAKE(&o.spec.node_taints, f->ntaints, d->arena);
	for (size_t i = 0; i < f->ntaints; i++) {
		o.spec.node_taints.v[i] =
			(struct api_taint){ f->taints[i].key, f->taints[i].value,
					    match_from_api_effect_name(f->taints[i].effect) };
	}
	o.spec.tolerations.v = manifest_dump_tolerations(f->tolerations, f->ntolerations, d->arena);
	o.spec.tolerations.n = f->ntolerations;
	o.spec.topology_name = f->topology;
	put(d, &kueue_resource_flavor_fields, &o);
}

/* --- queues ------------------------------------------------------------------------------------*/

/* Rounded: most fractions have no exact double. */
static const struct quantity *weight_of(double weight, struct arena *arena)
{
	const struct quantity q = { .nano = (__int128)(weight * NANO + 0.5) };

	return quantity_dup(q, arena);
}

/* NULL: there is none. */
static const struct quantity *limit(const char *resource, int64_t amount, struct arena *arena)
{
	return amount == QUOTA_NO_LIMIT
		       ? NULL
		       : quantity_dup(resource_amount_quantity(resource, amount), arena);
}

static void add_group_flavor(const struct dump *d, const struct quota_node *n,
			     const struct resource_group *g, uint32_t flavor,
			     struct api_flavor_quotas *ret)
{
	ret->name = d->q->flavors.v[flavor]->name;
	FIELD_LIST_MAKE(&ret->resources, g->nresources, d->arena);
	ret->resources.n = 0;
	for (size_t i = 0; i < g->nresources; i++) {
		const char *resource = quota_resource_name(d->q, g->resources[i]);
		const struct quota_cell *cell =
			quota_node_cell(n, quota_pair_find(d->q, flavor, g->resources[i]));

		/* A ClusterQueue that got past the webhook may lack an amount. */
		if (cell != NULL) {
			ret->resources.v[ret->resources.n++] = (struct api_resource_quota){
				.name = resource,
				.nominal = limit(resource, cell->nominal, d->arena),
				.borrowing_limit = limit(resource, cell->borrowing, d->arena),
				.lending_limit = limit(resource, cell->lending, d->arena),
			};
		}
	}
}

static void add_groups(const struct dump *d, const struct quota_node *n,
		       struct api_resource_groups *ret)
{
	FIELD_LIST_MAKE(ret, n->groups.n, d->arena);
	for (size_t i = 0; i < n->groups.n; i++) {
		const struct resource_group *g = &n->groups.v[i];
		const char **names = arena_zero(d->arena, g->nresources, sizeof(*names));

		for (size_t k = 0; k < g->nresources; k++) {
			names[k] = quota_resource_name(d->q, g->resources[k]);
		}
		ret->v[i].covered_resources = (struct field_strs){ names, g->nresources };
		FIELD_LIST_MAKE(&ret->v[i].flavors, g->nflavors, d->arena);
		for (size_t k = 0; k < g->nflavors; k++) {
			add_group_flavor(d, n, g, g->flavors[k], &ret->v[i].flavors.v[k]);
		}
	}
}

static struct api_label_selector *selector(const struct namespace_selector *s, struct arena *arena)
{
	struct api_label_selector *ret;

	if (s->absent) {
		return NULL;
	}
	ret = arena_zero(arena, 1, sizeof(*ret));
	FIELD_LIST_MAKE(&ret->match_expressions, s->nexprs, arena);
	for (size_t i = 0; i < s->nexprs; i++) {
		ret->match_expressions.v[i] = (struct api_label_requirement){
			s->exprs[i].key,
			match_from_api_operator_name(s->exprs[i].op),
			{ s->exprs[i].values, s->exprs[i].nvalues },
		};
	}
	return ret;
}

static void add_checks(const struct dump *d, const struct cluster_queue *queue,
		       struct api_check_strategy *ret)
{
	FIELD_LIST_MAKE(&ret->checks, queue->checks.n, d->arena);
	for (size_t i = 0; i < queue->checks.n; i++) {
		const struct quota_check *c = &queue->checks.v[i];
		const char **names = arena_zero(d->arena, c->nflavors, sizeof(*names));

		for (size_t k = 0; k < c->nflavors; k++) {
			names[k] = d->q->flavors.v[c->flavors[k]]->name;
		}
		ret->checks.v[i].name = c->name;
		ret->checks.v[i].on_flavors = (struct field_strs){ names, c->nflavors };
	}
}

static void add_policies(const struct cluster_queue *queue, struct api_cluster_queue_spec *ret)
{
	const char *const *searches = from_kueue_searches, *const *policies = from_kueue_policies;

	ret->queueing_strategy = from_kueue_strategies[queue->strategy];
	ret->stop_policy = from_kueue_stops[queue->stop];
	ret->flavor_fungibility.when_can_borrow = searches[queue->when_can_borrow];
	ret->flavor_fungibility.when_can_preempt = searches[queue->when_can_preempt];
	ret->flavor_fungibility.preference = from_kueue_preferences[queue->preference];
	ret->preemption.within_cluster_queue = policies[queue->within_queue];
	ret->preemption.reclaim_within_cohort = policies[queue->reclaim];
	ret->preemption.borrow_within_cohort.policy = policies[queue->borrow_within];
	if (queue->has_threshold) {
		ret->preemption.borrow_within_cohort.max_priority_threshold = queue->threshold;
	}
}

static void write_queue(struct dump *d, const struct quota_node *n)
{
	struct api_admission_scope usage_based = { KUEUE_USAGE_BASED };
	struct api_cluster_queue o;

	decode_init(&kueue_cluster_queue_fields, &o);
	o.api_version = KUEUE_API_VERSION;
	o.kind = "ClusterQueue";
	o.meta.name = n->name;
	/* Only that it is being deleted is known: any time will do. */
	o.meta.deleted = n->queue->terminating ? 0 : FIELD_NO_TIME;
	o.spec.cohort = n->parent;
	o.spec.fair_sharing.weight = weight_of(n->weight, d->arena);
	add_groups(d, n, &o.spec.resource_groups);
	o.spec.namespace_selector = selector(&n->queue->namespaces, d->arena);
	add_checks(d, n->queue, &o.spec.admission_checks);
	add_policies(n->queue, &o.spec);
	o.spec.admission_scope = n->queue->usage_based ? &usage_based : NULL;
	put(d, &kueue_cluster_queue_fields, &o);
}

static void write_cohort(struct dump *d, const struct quota_node *n)
{
	struct api_cohort o;

	decode_init(&kueue_cohort_fields, &o);
	o.api_version = KUEUE_API_VERSION;
	o.kind = "Cohort";
	o.meta.name = n->name;
	o.spec.parent = n->parent;
	o.spec.fair_sharing.weight = weight_of(n->weight, d->arena);
	add_groups(d, n, &o.spec.resource_groups);
	put(d, &kueue_cohort_fields, &o);
}

static void write_local(struct dump *d, const struct local_queue *l)
{
	struct api_local_queue o;

	decode_init(&kueue_local_queue_fields, &o);
	o.api_version = KUEUE_API_VERSION;
	o.kind = "LocalQueue";
	o.meta.name = l->name;
	o.meta.namespace_ = l->namespace_;
	o.spec.cluster_queue = l->queue == NULL ? "" : l->queue;
	o.spec.stop_policy = from_kueue_stops[l->stop];
	o.spec.fair_sharing.weight = weight_of(l->weight, d->arena);
	o.status.fair_sharing = queue_statuses_body_consumed(d->q, l, d->arena);
	put(d, &kueue_local_queue_fields, &o);
}

/* --- all ---------------------------------------------------------------------------------------*/

static void write_objects(struct dump *d)
{
	const struct quota_model *q = d->q;

	strmap_each(q->namespace_of, write_namespace, d);
	strmap_each(q->topology_of, write_topology, d);
	strmap_each(q->check_of, write_check, d);
	for (size_t i = 0; i < q->flavors.n; i++) {
		if (q->flavors.v[i] != NULL && q->flavors.v[i]->exists) {
			write_flavor(d, q->flavors.v[i]);
		}
	}
	for (size_t i = 0; i < q->nodes.n; i++) {
		const struct quota_node *n = q->nodes.v[i];

		if (n != NULL && n->exists) {
			(n->is_queue ? write_queue : write_cohort)(d, n);
		}
	}
	for (size_t i = 0; i < q->locals.n; i++) {
		if (q->locals.v[i] != NULL) {
			write_local(d, q->locals.v[i]);
		}
	}
}

void manifest_dump_write(const struct quota_model *q, const struct manifest_dump_source *source,
			 struct strbuf *out)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	struct dump d = { .q = q, .arena = arena };
	struct api_workload workload;

	json_out_init(&d.o, out);
	json_out_object(&d.o);
	json_out_kv(&d.o, "apiVersion", "v1");
	json_out_kv(&d.o, "kind", "List");
	json_out_key(&d.o, "items");
	json_out_array(&d.o);
	write_objects(&d);
	for (size_t i = 0; i < q->workloads.n; i++) {
		const struct workload *w = q->workloads.v[i];

		if (w != NULL) {
			manifest_dump_workload(q, w, source, arena, &workload);
			put(&d, &kueue_workload_fields, &workload);
		}
	}
	json_out_array_end(&d.o);
	json_out_object_end(&d.o);
	json_out_end(&d.o);
}

struct kept {
	const struct workload_cache *cache;
	const struct owner_controller *owners;
};

static const struct workload_status *status_of(const void *ctx, const struct workload *w)
{
	return workload_cache_status(((const struct kept *)ctx)->cache, w);
}

static const struct api_meta *meta_of(const void *ctx, const struct workload *w)
{
	return owner_controller_meta(((const struct kept *)ctx)->owners, str_of(w->key));
}

void manifest_dump_cache(const struct workload_cache *c, const struct owner_controller *owners,
			 struct strbuf *out)
{
	const struct kept kept = { c, owners };
	const struct manifest_dump_source source = { status_of, meta_of, &kept };

	manifest_dump_write(workload_cache_model(c), &source, out);
}
