#include "scheduler/workloads/dump/manifest_dump.h"

#include "api/kueue/kueue_keys.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "enc/json/json_out.h"
#include "enc/quantity.h"
#include "scheduler/base/match_from_api.h"
#include "scheduler/workloads/controller/owner_controller.h"
#include "scheduler/workloads/ingest/from_kueue.h"
#include "scheduler/workloads/ingest/workload_cache.h"
#include "scheduler/workloads/model/quota_store.h"

#define NANO 1e9

/* Opens an object of our group and its metadata. */
static void open_object(struct json_out *o, const char *kind, const char *name)
{
	json_out_object(o);
	json_out_kv(o, "apiVersion", KUEUE_API_VERSION);
	json_out_kv(o, "kind", kind);
	json_out_key(o, "metadata");
	json_out_object(o);
	json_out_kv(o, "name", name);
}

static void open_spec(struct json_out *o)
{
	json_out_object_end(o);
	json_out_key(o, "spec");
	json_out_object(o);
}

static void close_object(struct json_out *o)
{
	json_out_object_end(o);
	json_out_object_end(o);
}

void manifest_dump_labels(struct json_out *o, const char *key, const struct label *v, size_t n)
{
	json_out_key(o, key);
	json_out_object(o);
	for (size_t i = 0; i < n; i++) {
		json_out_kv(o, v[i].key, v[i].value);
	}
	json_out_object_end(o);
}

void manifest_dump_tolerations(struct json_out *o, const struct toleration *v, size_t n)
{
	json_out_key(o, "tolerations");
	json_out_array(o);
	for (size_t i = 0; i < n; i++) {
		json_out_object(o);
		if (v[i].key != NULL) {
			json_out_kv(o, "key", v[i].key);
		}
		json_out_kv(o, "operator", v[i].exists ? "Exists" : "Equal");
		json_out_kv(o, "value", v[i].value == NULL ? "" : v[i].value);
		if (!v[i].any_effect) {
			json_out_kv(o, "effect", match_from_api_effect_name(v[i].effect));
		}
		json_out_object_end(o);
	}
	json_out_array_end(o);
}

void manifest_dump_exprs(struct json_out *o, const struct match_expr *v, size_t n)
{
	json_out_object(o);
	json_out_key(o, "matchExpressions");
	json_out_array(o);
	for (size_t i = 0; i < n; i++) {
		json_out_object(o);
		json_out_kv(o, "key", v[i].key);
		json_out_kv(o, "operator", match_from_api_operator_name(v[i].op));
		json_out_key(o, "values");
		json_out_array(o);
		for (size_t k = 0; k < v[i].nvalues; k++) {
			json_out_str(o, v[i].values[k]);
		}
		json_out_array_end(o);
		json_out_object_end(o);
	}
	json_out_array_end(o);
	json_out_object_end(o);
}

/* --- small kinds -------------------------------------------------------------------------------*/

static bool write_namespace(struct str key UNUSED, void *value, void *ctx)
{
	const struct quota_namespace *n = value;
	struct json_out *o = ctx;

	json_out_object(o);
	json_out_kv(o, "apiVersion", "v1");
	json_out_kv(o, "kind", "Namespace");
	json_out_key(o, "metadata");
	json_out_object(o);
	json_out_kv(o, "name", n->name);
	manifest_dump_labels(o, "labels", n->labels, n->nlabels);
	close_object(o);
	return true;
}

static bool write_check(struct str key, void *value, void *ctx)
{
	const struct quota_admission_check *check = value;
	CLEANUP(xmalloc_freep) char *name = xmalloc_dup_n(key.p, key.len);
	struct json_out *o = ctx;

	open_object(o, "AdmissionCheck", name);
	json_out_object_end(o);
	json_out_key(o, "status");
	json_out_object(o);
	json_out_key(o, "conditions");
	json_out_array(o);
	json_out_object(o);
	json_out_kv(o, "type", KUEUE_ACTIVE);
	json_out_kv(o, "status", check->active ? "True" : "False");
	json_out_object_end(o);
	json_out_array_end(o);
	close_object(o);
	return true;
}

static bool write_topology(struct str key, void *value UNUSED, void *ctx)
{
	CLEANUP(xmalloc_freep) char *name = xmalloc_dup_n(key.p, key.len);
	struct json_out *o = ctx;

	open_object(o, "Topology", name);
	close_object(o);
	return true;
}

static void write_flavor(struct json_out *o, const struct flavor *f)
{
	open_object(o, "ResourceFlavor", f->name);
	open_spec(o);
	manifest_dump_labels(o, "nodeLabels", f->labels, f->nlabels);
	json_out_key(o, "nodeTaints");
	json_out_array(o);
	for (size_t i = 0; i < f->ntaints; i++) {
		json_out_object(o);
		json_out_kv(o, "key", f->taints[i].key);
		json_out_kv(o, "value", f->taints[i].value == NULL ? "" : f->taints[i].value);
		json_out_kv(o, "effect", match_from_api_effect_name(f->taints[i].effect));
		json_out_object_end(o);
	}
	json_out_array_end(o);
	manifest_dump_tolerations(o, f->tolerations, f->ntolerations);
	if (f->topology != NULL) {
		json_out_kv(o, "topologyName", f->topology);
	}
	close_object(o);
}

/* --- queues ------------------------------------------------------------------------------------*/

static void write_weight(struct json_out *o, double weight)
{
	const struct quantity q = { .nano = (__int128)(weight * NANO + 0.5) };
	char text[QUANTITY_TEXT_MAX];

	quantity_format(q, text);
	json_out_key(o, "fairSharing");
	json_out_object(o);
	json_out_kv(o, "weight", text);
	json_out_object_end(o);
}

static void write_limit(struct json_out *o, const char *key, const char *resource, int64_t amount)
{
	char text[QUANTITY_TEXT_MAX];

	if (amount != QUOTA_NO_LIMIT) {
		from_kueue_amount_text(resource, amount, text);
		json_out_kv(o, key, text);
	}
}

static void write_group_flavor(struct json_out *o, const struct quota *q,
			       const struct quota_node *n, const struct resource_group *g,
			       uint32_t flavor)
{
	json_out_object(o);
	json_out_kv(o, "name", q->flavors.v[flavor]->name);
	json_out_key(o, "resources");
	json_out_array(o);
	for (size_t i = 0; i < g->nresources; i++) {
		const char *resource = quota_resource_name(q, g->resources[i]);
		const struct quota_cell *cell =
			quota_node_cell(n, quota_pair_find(q, flavor, g->resources[i]));

		if (cell == NULL) {
			continue;
		}
		json_out_object(o);
		json_out_kv(o, "name", resource);
		write_limit(o, "nominalQuota", resource, cell->nominal);
		write_limit(o, "borrowingLimit", resource, cell->borrowing);
		write_limit(o, "lendingLimit", resource, cell->lending);
		json_out_object_end(o);
	}
	json_out_array_end(o);
	json_out_object_end(o);
}

static void write_groups(struct json_out *o, const struct quota *q, const struct quota_node *n)
{
	json_out_key(o, "resourceGroups");
	json_out_array(o);
	for (size_t i = 0; i < n->groups.n; i++) {
		const struct resource_group *g = &n->groups.v[i];

		json_out_object(o);
		json_out_key(o, "coveredResources");
		json_out_array(o);
		for (size_t k = 0; k < g->nresources; k++) {
			json_out_str(o, quota_resource_name(q, g->resources[k]));
		}
		json_out_array_end(o);
		json_out_key(o, "flavors");
		json_out_array(o);
		for (size_t k = 0; k < g->nflavors; k++) {
			write_group_flavor(o, q, n, g, g->flavors[k]);
		}
		json_out_array_end(o);
		json_out_object_end(o);
	}
	json_out_array_end(o);
}

static void write_selector(struct json_out *o, const struct namespace_selector *s)
{
	if (s->absent) {
		return;
	}
	json_out_key(o, "namespaceSelector");
	manifest_dump_exprs(o, s->exprs, s->nexprs);
}

static void write_checks(struct json_out *o, const struct quota *q,
			 const struct cluster_queue *queue)
{
	json_out_key(o, "admissionChecksStrategy");
	json_out_object(o);
	json_out_key(o, "admissionChecks");
	json_out_array(o);
	for (size_t i = 0; i < queue->checks.n; i++) {
		const struct quota_check *c = &queue->checks.v[i];

		json_out_object(o);
		json_out_kv(o, "name", c->name);
		json_out_key(o, "onFlavors");
		json_out_array(o);
		for (size_t k = 0; k < c->nflavors; k++) {
			json_out_str(o, q->flavors.v[c->flavors[k]]->name);
		}
		json_out_array_end(o);
		json_out_object_end(o);
	}
	json_out_array_end(o);
	json_out_object_end(o);
}

static void write_policies(struct json_out *o, const struct cluster_queue *queue)
{
	const char *const *searches = from_kueue_searches, *const *policies = from_kueue_policies;

	json_out_kv(o, "queueingStrategy", from_kueue_strategies[queue->strategy]);
	json_out_kv(o, "stopPolicy", from_kueue_stops[queue->stop]);
	json_out_key(o, "flavorFungibility");
	json_out_object(o);
	json_out_kv(o, "whenCanBorrow", searches[queue->when_can_borrow]);
	json_out_kv(o, "whenCanPreempt", searches[queue->when_can_preempt]);
	json_out_kv(o, "preference", from_kueue_preferences[queue->preference]);
	json_out_object_end(o);
	json_out_key(o, "preemption");
	json_out_object(o);
	json_out_kv(o, "withinClusterQueue", policies[queue->within_queue]);
	json_out_kv(o, "reclaimWithinCohort", policies[queue->reclaim]);
	json_out_key(o, "borrowWithinCohort");
	json_out_object(o);
	json_out_kv(o, "policy", policies[queue->borrow_within]);
	if (queue->has_threshold) {
		json_out_kv_int(o, "maxPriorityThreshold", queue->threshold);
	}
	json_out_object_end(o);
	json_out_object_end(o);
}

static void write_node(struct json_out *o, const struct quota *q, const struct quota_node *n)
{
	char epoch[CLOCK_RFC3339_MAX];

	open_object(o, n->is_queue ? "ClusterQueue" : "Cohort", n->name);
	if (n->is_queue && n->queue->terminating) {
		clock_format_time(0, epoch);
		json_out_kv(o, "deletionTimestamp", epoch);
	}
	open_spec(o);
	if (n->parent != NULL) {
		json_out_kv(o, n->is_queue ? "cohortName" : "parentName", n->parent);
	}
	write_weight(o, n->weight);
	write_groups(o, q, n);
	if (n->is_queue) {
		write_selector(o, &n->queue->namespaces);
		write_checks(o, q, n->queue);
		write_policies(o, n->queue);
		if (n->queue->usage_based) {
			json_out_key(o, "admissionScope");
			json_out_object(o);
			json_out_kv(o, "admissionMode", KUEUE_USAGE_BASED);
			json_out_object_end(o);
		}
	}
	close_object(o);
}

static void write_local(struct json_out *o, const struct local_queue *l)
{
	open_object(o, "LocalQueue", l->name);
	json_out_kv(o, "namespace", l->namespace_);
	open_spec(o);
	json_out_kv(o, "clusterQueue", l->queue == NULL ? "" : l->queue);
	json_out_kv(o, "stopPolicy", from_kueue_stops[l->stop]);
	write_weight(o, l->weight);
	close_object(o);
}

/* --- all ---------------------------------------------------------------------------------------*/

static void write_world(struct json_out *o, const struct quota *q)
{
	strmap_each(q->namespace_of, write_namespace, o);
	strmap_each(q->topology_of, write_topology, o);
	strmap_each(q->check_of, write_check, o);
	for (size_t i = 0; i < q->flavors.n; i++) {
		if (q->flavors.v[i] != NULL && q->flavors.v[i]->exists) {
			write_flavor(o, q->flavors.v[i]);
		}
	}
	for (size_t i = 0; i < q->nodes.n; i++) {
		if (q->nodes.v[i] != NULL && q->nodes.v[i]->exists) {
			write_node(o, q, q->nodes.v[i]);
		}
	}
	for (size_t i = 0; i < q->locals.n; i++) {
		if (q->locals.v[i] != NULL) {
			write_local(o, q->locals.v[i]);
		}
	}
}

void manifest_dump_write(const struct quota *q, const struct manifest_dump_source *source,
			 struct strbuf *out)
{
	struct json_out o;

	json_out_init(&o, out);
	json_out_object(&o);
	json_out_kv(&o, "apiVersion", "v1");
	json_out_kv(&o, "kind", "List");
	json_out_key(&o, "items");
	json_out_array(&o);
	write_world(&o, q);
	for (size_t i = 0; i < q->workloads.n; i++) {
		const struct workload *w = q->workloads.v[i];

		if (w != NULL) {
			manifest_dump_workload(&o, q, w, source);
		}
	}
	json_out_array_end(&o);
	json_out_object_end(&o);
	json_out_end(&o);
}

struct kept {
	const struct workload_cache *cache;
	const struct owner_controller *owners;
};

static const struct conditions *status_of(const void *ctx, const struct workload *w)
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

	manifest_dump_write(workload_cache_world(c), &source, out);
}
