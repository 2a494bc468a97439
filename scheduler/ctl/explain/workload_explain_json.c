#include "scheduler/ctl/explain/workload_explain_json.h"

#include "base/clock.h"
#include "enc/json/json_out.h"
#include "scheduler/ctl/explain/offer_text.h"
#include "scheduler/ctl/sim/workload_step.h"
#include "scheduler/workloads/model/quota_store.h"

static const struct quota_model *model_of(const struct workload_explanation *x)
{
	return forest_model(x->forest);
}

static void write_amount(struct json_out *o, const char *key, const char *resource, int64_t amount)
{
	char text[WORKLOAD_STEP_AMOUNT_MAX];

	if (amount != QUOTA_UNLIMITED && amount != QUOTA_NO_LIMIT) {
		json_out_kv(o, key, workload_step_amount(resource, amount, text));
	}
}

static void write_usage(const struct quota_model *q, const struct workload *w, struct json_out *o)
{
	json_out_key(o, "holds");
	json_out_array(o);
	for (size_t i = 0; i < w->holding.usage.n; i++) {
		struct flavor_resource pair = q->pairs.v[w->holding.usage.v[i].id];
		const char *resource = quota_resource_name(q, pair.resource);

		json_out_object(o);
		json_out_kv(o, "flavor", q->flavors.v[pair.flavor]->name);
		json_out_kv(o, "resource", resource);
		write_amount(o, "amount", resource, w->holding.usage.v[i].value);
		json_out_object_end(o);
	}
	json_out_array_end(o);
}

static void write_place(const char *key, struct quota_place p, struct json_out *o)
{
	if (p.at == 0) {
		return;
	}
	json_out_key(o, key);
	json_out_object(o);
	json_out_kv_int(o, "place", (int64_t)p.at);
	json_out_kv_int(o, "of", (int64_t)p.of);
	json_out_object_end(o);
}

static void write_obstacles(const struct workload_explanation *x, struct json_out *o)
{
	json_out_key(o, "heldBy");
	json_out_array(o);
	for (size_t i = 0; i < x->obstacles.n; i++) {
		json_out_object(o);
		json_out_kv(o, "kind", x->obstacles.v[i].kind);
		json_out_kv(o, "name", x->obstacles.v[i].name);
		json_out_kv(o, "state", x->obstacles.v[i].state);
		json_out_kv(o, "message", x->obstacles.v[i].message);
		json_out_object_end(o);
	}
	json_out_array_end(o);
}

static void write_level(const struct workload_explanation *x, const struct request_level *l,
			struct json_out *o)
{
	const struct quota_node *n = model_of(x)->nodes.v[l->node];
	struct flavor_resource pair = model_of(x)->pairs.v[l->pair];
	const char *resource = quota_resource_name(model_of(x), pair.resource);

	json_out_object(o);
	json_out_kv(o, "flavor", model_of(x)->flavors.v[pair.flavor]->name);
	json_out_kv(o, "resource", resource);
	json_out_kv(o, "kind", n->is_queue ? "ClusterQueue" : "Cohort");
	json_out_kv(o, "name", n->name);
	write_amount(o, "nominal", resource, l->nominal);
	write_amount(o, "lendingLimit", resource, l->lending);
	write_amount(o, "borrowingLimit", resource, l->borrowing);
	write_amount(o, "quota", resource, l->quota);
	write_amount(o, "used", resource, l->used);
	if (!x->holds) {
		write_amount(o, "asked", resource, l->asked);
	}
	write_amount(o, "left", resource, l->available);
	if (!x->holds) {
		json_out_kv_bool(o, "short", l->shortage != NULL);
	}
	if (!x->holds && l->shortage != NULL) {
		json_out_kv(o, "shortage", l->shortage);
	}
	json_out_object_end(o);
}

static void write_levels(const struct workload_explanation *x, struct json_out *o)
{
	json_out_key(o, "quota");
	json_out_array(o);
	for (size_t i = 0; i < x->levels.n; i++) {
		write_level(x, &x->levels.v[i], o);
	}
	json_out_array_end(o);
	json_out_key(o, "unfitFlavors");
	json_out_array(o);
	for (size_t i = 0; i < x->mismatches.n; i++) {
		json_out_object(o);
		json_out_kv(o, "flavor", model_of(x)->flavors.v[x->mismatches.v[i].flavor]->name);
		json_out_kv(o, "message", x->mismatches.v[i].why);
		json_out_object_end(o);
	}
	json_out_array_end(o);
}

static void write_target(const struct workload_explanation *x, const struct preemption_target *t,
			 struct json_out *o)
{
	static const char *const states[] = { [QUOTA_TARGET_VICTIM] = "Victim",
					      [QUOTA_TARGET_POSSIBLE] = "CouldBe",
					      [QUOTA_TARGET_PROTECTED] = "Protected" };
	const struct workload *w = t->order.w;
	char since[CLOCK_RFC3339_MAX];

	json_out_object(o);
	json_out_kv(o, "workload", w->key);
	json_out_kv(o, "clusterQueue", model_of(x)->nodes.v[w->holding.node]->name);
	json_out_kv_int(o, "priority", t->order.priority);
	if (w->flags.reserved_at != MODEL_TIME_NONE) {
		clock_format_time(w->flags.reserved_at, since);
		json_out_kv(o, "quotaReservedSince", since);
	}
	write_usage(model_of(x), w, o);
	json_out_kv(o, "preemption", states[t->state]);
	json_out_kv_bool(o, "ongoing", w->flags.evicted);
	json_out_kv(o, t->state == QUOTA_TARGET_VICTIM ? "reason" : "message", t->text);
	json_out_object_end(o);
}

static void write_targets(const struct workload_explanation *x, struct json_out *o)
{
	json_out_key(o, "holders");
	json_out_array(o);
	for (size_t i = 0; i < x->targets.n; i++) {
		write_target(x, &x->targets.v[i], o);
	}
	json_out_array_end(o);
}

static void write_threats(const struct workload_explanation *x, struct json_out *o)
{
	json_out_key(o, "mayBePreemptedBy");
	json_out_array(o);
	for (size_t i = 0; i < x->threats.n; i++) {
		const struct quota_threat *t = &x->threats.v[i];

		json_out_object(o);
		json_out_kv(o, "clusterQueue", model_of(x)->nodes.v[t->node]->name);
		json_out_kv_bool(o, "may", t->may);
		json_out_kv(o, "message", t->text);
		json_out_object_end(o);
	}
	json_out_array_end(o);
	if (x->wanted_by != NULL) {
		json_out_kv(o, "wantedBy", x->wanted_by);
	}
}

void workload_explain_json_write(const struct workload_explanation *x, struct strbuf *out)
{
	struct json_out o;

	json_out_init(&o, out);
	json_out_object(&o);
	json_out_kv(&o, "namespace", x->w->object.namespace_);
	json_out_kv(&o, "name", x->w->key + strlen(x->w->object.namespace_) + 1);
	json_out_kv(&o, "verdict", x->verdict);
	json_out_kv(&o, "reason", x->reason);
	json_out_kv(&o, "localQueue", x->local);
	json_out_kv(&o, "clusterQueue", x->queue == NULL ? NULL : x->queue->name);
	write_place("inClusterQueue", x->place, &o);
	write_place("inLocalQueue", x->local_place, &o);
	json_out_kv_int(&o, "priority", workload_priority(model_of(x), x->w));
	write_obstacles(x, &o);
	offer_text_write_json(&x->offer, &o);
	write_levels(x, &o);
	if (x->holds) {
		write_usage(model_of(x), x->w, &o);
		write_threats(x, &o);
	} else {
		write_targets(x, &o);
	}
	json_out_object_end(&o);
}
