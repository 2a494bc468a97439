#include <inttypes.h>
#include <stdio.h>

#include "api/kueue/kueue_keys.h"
#include "api/meta/meta.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "enc/json/json_out.h"
#include "enc/quantity.h"
#include "scheduler/workloads/dump/manifest_dump.h"
#include "scheduler/workloads/ingest/from_kueue.h"
#include "scheduler/workloads/model/quota_store.h"
#include "scheduler/workloads/writes/workload_status.h"

#define NOT_KNOWN "not in the snapshot"

/* --- metadata ----------------------------------------------------------------------------------*/

/* What cannot be said by requests and templates, and holds the Workload; NULL: nothing. */
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

static void write_allowed(struct json_out *o, const struct quota *q, const struct workload *w)
{
	CLEANUP(strbuf_finish) struct strbuf names = STRBUF_INIT;

	if (w->object.allowed == NULL) {
		return;
	}
	strbuf_add_c(&names, "");
	for (size_t i = 0; i < w->object.nallowed; i++) {
		strbuf_printf(&names, "%s%s", i > 0 ? "," : "",
			      q->flavors.v[w->object.allowed[i]]->name);
	}
	json_out_key(o, KUEUE_ALLOWED_FLAVORS);
	json_out_slice(o, strbuf_str(&names));
}

static void write_annotations(struct json_out *o, const struct quota *q, const struct workload *w)
{
	char boost[24];

	json_out_key(o, "annotations");
	json_out_object(o);
	if (what_holds(w) != NULL) {
		json_out_kv(o, KUEUE_ADMISSION_GATED_BY, what_holds(w));
	}
	if (w->object.boost != 0) {
		snprintf(boost, sizeof(boost), "%" PRId64, w->object.boost);
		json_out_kv(o, KUEUE_PRIORITY_BOOST, boost);
	}
	write_allowed(o, q, w);
	json_out_object_end(o);
}

static void write_owners(struct json_out *o, const struct api_meta *m)
{
	if (m == NULL || m->owners.n == 0) {
		return;
	}
	json_out_key(o, "ownerReferences");
	json_out_array(o);
	for (size_t i = 0; i < m->owners.n; i++) {
		const struct api_owner *ref = &m->owners.v[i];

		json_out_object(o);
		json_out_kv(o, "apiVersion", ref->api_version);
		json_out_kv(o, "kind", ref->kind);
		json_out_kv(o, "name", ref->name);
		json_out_kv(o, "uid", ref->uid);
		if (ref->controller == 1) {
			json_out_kv_bool(o, "controller", true);
		}
		json_out_object_end(o);
	}
	json_out_array_end(o);
}

static void write_meta(struct json_out *o, const struct quota *q, const struct workload *w,
		       const struct api_meta *m)
{
	char created[CLOCK_RFC3339_MAX];

	json_out_key(o, "metadata");
	json_out_object(o);
	json_out_kv(o, "name", quota_workload_name(w));
	json_out_kv(o, "namespace", w->object.namespace_);
	json_out_kv(o, "uid", w->object.uid);
	json_out_kv_int(o, "generation", w->object.generation);
	if (w->object.created != MODEL_TIME_NONE) {
		clock_format_time(w->object.created, created);
		json_out_kv(o, "creationTimestamp", created);
	}
	if (w->object.job_uid != NULL) {
		json_out_key(o, "labels");
		json_out_object(o);
		json_out_kv(o, KUEUE_JOB_UID, w->object.job_uid);
		json_out_object_end(o);
	}
	write_annotations(o, q, w);
	write_owners(o, m);
	json_out_object_end(o);
}

/* --- spec --------------------------------------------------------------------------------------*/

static void write_requests(struct json_out *o, const struct quota *q, const struct podset *p)
{
	char text[QUANTITY_TEXT_MAX];

	json_out_key(o, "containers");
	json_out_array(o);
	json_out_object(o);
	json_out_kv(o, "name", "all");
	json_out_key(o, "resources");
	json_out_object(o);
	json_out_key(o, "requests");
	json_out_object(o);
	for (size_t i = 0; i < p->request.n; i++) {
		const char *resource = quota_resource_name(q, p->request.v[i].id);

		from_kueue_amount_text(resource, p->request.v[i].value, text);
		json_out_kv(o, resource, text);
	}
	json_out_object_end(o);
	json_out_object_end(o);
	json_out_object_end(o);
	json_out_array_end(o);
}

static void write_affinity(struct json_out *o, const struct podset *p)
{
	if (!p->has_required) {
		return;
	}
	json_out_key(o, "affinity");
	json_out_object(o);
	json_out_key(o, "nodeAffinity");
	json_out_object(o);
	json_out_key(o, "requiredDuringSchedulingIgnoredDuringExecution");
	json_out_object(o);
	json_out_key(o, "nodeSelectorTerms");
	json_out_array(o);
	for (size_t i = 0; i < p->nrequired; i++) {
		manifest_dump_exprs(o, p->required[i].exprs, p->required[i].nexprs);
	}
	json_out_array_end(o);
	json_out_object_end(o);
	json_out_object_end(o);
	json_out_object_end(o);
}

static void write_topology(struct json_out *o, const struct podset *p)
{
	if (p->group == NULL && !p->wants_topology) {
		return;
	}
	json_out_key(o, "topologyRequest");
	json_out_object(o);
	if (p->group != NULL) {
		json_out_kv(o, "podSetGroupName", p->group);
	}
	if (p->wants_topology) {
		json_out_kv(o, "required", NOT_KNOWN);
	}
	json_out_object_end(o);
}

/* The pods that are left of it: others will not come back. */
static void write_podset(struct json_out *o, const struct quota *q, const struct podset *p)
{
	json_out_object(o);
	json_out_kv(o, "name", p->name);
	json_out_kv_int(o, "count", p->count);
	if (p->min_count > 0) {
		json_out_kv_int(o, "minCount", p->min_count);
	}
	write_topology(o, p);
	json_out_key(o, "template");
	json_out_object(o);
	json_out_key(o, "spec");
	json_out_object(o);
	write_requests(o, q, p);
	manifest_dump_labels(o, "nodeSelector", p->selector, p->nselector);
	manifest_dump_tolerations(o, p->tolerations, p->ntolerations);
	write_affinity(o, p);
	json_out_object_end(o);
	json_out_object_end(o);
	json_out_object_end(o);
}

static void write_gates(struct json_out *o, const struct workload *w)
{
	if (w->object.gates == NULL) {
		return;
	}
	json_out_key(o, "preemptionGates");
	json_out_array(o);
	for (const char **gate = w->object.gates; *gate != NULL; gate++) {
		json_out_object(o);
		json_out_kv(o, "name", *gate);
		json_out_object_end(o);
	}
	json_out_array_end(o);
}

static void write_spec(struct json_out *o, const struct quota *q, const struct workload *w)
{
	json_out_key(o, "spec");
	json_out_object(o);
	json_out_kv(o, "queueName", w->object.local_queue == NULL ? "" : w->object.local_queue);
	json_out_kv_int(o, "priority", w->object.priority);
	json_out_kv_bool(o, "active", w->object.active);
	write_gates(o, w);
	json_out_key(o, "podSets");
	json_out_array(o);
	for (size_t i = 0; i < w->object.npodsets; i++) {
		write_podset(o, q, &w->object.podsets[i]);
	}
	json_out_array_end(o);
	json_out_object_end(o);
}

/* --- the whole ---------------------------------------------------------------------------------*/

static void write_cost(struct json_out *o, const struct workload *w)
{
	const struct quantity cost = { .nano = w->object.cost };
	char text[QUANTITY_TEXT_MAX];

	if (w->object.has_cost) {
		quantity_format(cost, text);
		json_out_kv(o, "preemptionCost", text);
	}
}

void manifest_dump_workload(struct json_out *o, const struct quota *q, const struct workload *w,
			    const struct manifest_dump_source *source)
{
	const struct conditions *status = source->status(source->ctx, w);

	json_out_object(o);
	json_out_kv(o, "apiVersion", KUEUE_API_VERSION);
	json_out_kv(o, "kind", "Workload");
	write_meta(o, q, w, source->meta == NULL ? NULL : source->meta(source->ctx, w));
	write_spec(o, q, w);
	json_out_key(o, "status");
	json_out_object(o);
	workload_status_members(o, q, status, true);
	write_cost(o, w);
	json_out_object_end(o);
	json_out_object_end(o);
}
