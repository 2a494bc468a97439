#include <inttypes.h>

#include "api/core/resource_amount.h"
#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "base/arena.h"
#include "base/strbuf.h"
#include "enc/decode.h"
#include "scheduler/base/match_from_api.h"
#include "scheduler/workloads/dump/manifest_dump.h"
#include "scheduler/workloads/ingest/from_kueue.h"
#include "scheduler/workloads/model/quota_store.h"
#include "scheduler/workloads/writes/status_writer.h"

#define NOT_KNOWN "not in the snapshot"

/* --- metadata ----------------------------------------------------------------------------------*/

/* The reason for which the Workload is held, if requests and templates do not show it; NULL: none.
 */
static const char *what_holds(const struct workload *w)
{
	for (size_t i = 0; i < w->object.npodsets; i++) {
		if (w->object.podsets[i].invalid != NULL) {
			return w->object.podsets[i].invalid;
		}
	}
	return w->object.unsupported != NULL ? w->object.unsupported
	       : w->object.admission_gated   ? NOT_KNOWN
					     : NULL;
}

/* Names of the flavors that it may have, with commas between. */
static const char *allowed(const struct quota_model *q, const struct workload *w,
			   struct arena *arena)
{
	CLEANUP(strbuf_finish) struct strbuf names = STRBUF_INIT;

	for (size_t i = 0; i < w->object.nallowed; i++) {
		strbuf_printf(&names, "%s%s", i > 0 ? "," : "",
			      q->flavors.v[w->object.allowed[i]]->name);
	}
	return arena_dup_n(arena, names.p, names.len);
}

static struct field_map annotations(const struct quota_model *q, const struct workload *w,
				    struct arena *arena)
{
	struct field_pair *v = arena_zero(arena, 3, sizeof(*v));
	const char *holds = what_holds(w);
	size_t n = 0;

	if (holds != NULL) {
		v[n++] = (struct field_pair){ KUEUE_ADMISSION_GATED_BY, holds };
	}
	if (w->object.boost != 0) {
		v[n++] = (struct field_pair){ KUEUE_PRIORITY_BOOST,
					      arena_printf(arena, "%" PRId64, w->object.boost) };
	}
	if (w->object.allowed != NULL) {
		v[n++] = (struct field_pair){ KUEUE_ALLOWED_FLAVORS, allowed(q, w, arena) };
	}
	return (struct field_map){ v, n };
}

static void add_meta(const struct quota_model *q, const struct workload *w,
		     const struct api_meta *m, struct arena *arena, struct api_meta *ret)
{
	const struct label job = { KUEUE_JOB_UID, w->object.job_uid };

	ret->name = quota_workload_name(w);
	ret->namespace_ = w->object.namespace_;
	ret->uid = w->object.uid;
	ret->generation = w->object.generation;
	ret->created = w->object.created == MODEL_TIME_NONE ? FIELD_NO_TIME : w->object.created;
	/* Only that it is being deleted is known: any time will do. */
	ret->deleted = w->object.deleting ? 0 : FIELD_NO_TIME;
	if (w->object.job_uid != NULL) {
		ret->labels = manifest_dump_labels(&job, 1, arena);
	}
	ret->annotations = annotations(q, w, arena);
	if (m != NULL) {
		ret->owners.v = m->owners.v;
		ret->owners.n = m->owners.n;
	}
}

/* --- spec --------------------------------------------------------------------------------------*/

static void add_requests(const struct quota_model *q, const struct podset *p, struct arena *arena,
			 struct api_containers *ret)
{
	struct field_resource *v = arena_zero(arena, p->request.n, sizeof(*v));

	for (size_t i = 0; i < p->request.n; i++) {
		v[i].name = quota_resource_name(q, p->request.v[i].id);
		v[i].amount = resource_amount_quantity(v[i].name, p->request.v[i].value);
	}
	FIELD_LIST_MAKE(ret, 1, arena);
	/* The model has sums, not containers: one container asks for all, so that the sum is the
	 * same. */
	ret->v[0].name = "all";
	ret->v[0].resources.requests = (struct field_resources){ v, p->request.n };
}

static struct api_affinity *affinity(const struct podset *p, struct arena *arena)
{
	struct api_affinity *ret;
	struct api_node_selector *required;

	if (!p->has_required) {
		return NULL;
	}
	ret = arena_zero(arena, 1, sizeof(*ret));
	ret->node = arena_zero(arena, 1, sizeof(*ret->node));
	ret->node->required = required = arena_zero(arena, 1, sizeof(*required));
	FIELD_LIST_MAKE(&required->terms, p->nrequired, arena);
	for (size_t i = 0; i < p->nrequired; i++) {
		const struct match_term *term = &p->required[i];
		struct api_node_term *to = &required->terms.v[i];

		FIELD_LIST_MAKE(&to->expressions, term->nexprs, arena);
		for (size_t k = 0; k < term->nexprs; k++) {
			to->expressions.v[k] = (struct api_node_requirement){
				term->exprs[k].key,
				match_from_api_operator_name(term->exprs[k].op),
				{ term->exprs[k].values, term->exprs[k].nvalues },
			};
		}
	}
	return ret;
}

static struct api_topology_request *topology(const struct podset *p, struct arena *arena)
{
	struct api_topology_request *ret;

	if (p->group == NULL && !p->wants_topology) {
		return NULL;
	}
	ret = arena_zero(arena, 1, sizeof(*ret));
	ret->unconstrained = FIELD_TRI_ABSENT;
	ret->sub_group_count = ret->slice_size = FIELD_NO_I32;
	ret->group_name = p->group;
	ret->required = p->wants_topology ? NOT_KNOWN : NULL;
	return ret;
}

/* The pods that are left of it: others will not come back. */
static void add_podset(const struct quota_model *q, const struct podset *p, struct arena *arena,
		       struct api_pod_set *ret)
{
	struct api_pod_spec *spec = &ret->template_.spec;

	ret->name = p->name;
	ret->count = p->count;
	ret->min_count = p->min_count > 0 ? p->min_count : FIELD_NO_I32;
	ret->topology_request = topology(p, arena);
	add_requests(q, p, arena, &spec->containers);
	spec->node_selector = manifest_dump_labels(p->selector, p->nselector, arena);
	spec->tolerations.v = manifest_dump_tolerations(p->tolerations, p->ntolerations, arena);
	spec->tolerations.n = p->ntolerations;
	spec->affinity = affinity(p, arena);
}

static void add_spec(const struct quota_model *q, const struct workload *w, struct arena *arena,
		     struct api_workload_spec *ret)
{
	size_t n = 0;

	ret->queue_name = w->object.local_queue == NULL ? "" : w->object.local_queue;
	ret->priority = w->object.priority;
	ret->active = w->object.active;
	while (w->object.gates != NULL && w->object.gates[n] != NULL) {
		n++;
	}
	FIELD_LIST_MAKE(&ret->preemption_gates, n, arena);
	for (size_t i = 0; i < n; i++) {
		ret->preemption_gates.v[i].name = w->object.gates[i];
	}
	FIELD_LIST_MAKE(&ret->pod_sets, w->object.npodsets, arena);
	for (size_t i = 0; i < w->object.npodsets; i++) {
		decode_init(&kueue_workload_pod_set_fields, &ret->pod_sets.v[i]);
		add_podset(q, &w->object.podsets[i], arena, &ret->pod_sets.v[i]);
	}
}

/* --- the whole ---------------------------------------------------------------------------------*/

void manifest_dump_workload(const struct quota_model *q, const struct workload *w,
			    const struct manifest_dump_source *source, struct arena *arena,
			    struct api_workload *ret)
{
	const struct workload_status *status = source->status(source->ctx, w);
	const struct quantity cost = { .nano = w->object.cost };

	decode_init(&kueue_workload_fields, ret);
	ret->api_version = KUEUE_API_VERSION;
	ret->kind = "Workload";
	add_meta(q, w, source->meta == NULL ? NULL : source->meta(source->ctx, w), arena,
		 &ret->meta);
	add_spec(q, w, arena, &ret->spec);
	/* With the conditions of all managers: Finished and PodsReady decide as well. */
	status_writer_make(q, status, true, arena, &ret->status);
	ret->status.preemption_cost = w->object.has_cost ? quantity_dup(cost, arena) : NULL;
}
