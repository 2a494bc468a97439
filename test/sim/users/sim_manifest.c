#include "sim/users/sim_manifest.h"

#include "api/volcano/keys.h"
#include "base/strbuf.h"
#include "enc/json/json_out.h"

static void annotations(const struct sim_manifest_pod *p, struct json_out *o)
{
	json_out_key(o, "annotations");
	json_out_object(o);
	if (p->opted_in) {
		json_out_kv(o,
			    p->alias ? "volcano.sh/queue-allocation-gate"
				     : "scheduling.volcano.sh/queue-allocation-gate",
			    "true");
	}
	if (p->group[0] != '\0') {
		json_out_kv(o, "scheduling.k8s.io/group-name", p->group);
	} else if (p->queue != NULL) {
		json_out_kv(o, "scheduling.volcano.sh/queue-name", p->queue);
	}
	if (p->role != NULL) {
		json_out_kv(o, KEYS_TASK_SPEC, p->role);
	}
	if (p->runs_for != NULL) {
		json_out_kv(o, "demo.headgate.io/runs-for", p->runs_for);
	}
	if (p->deletion_cost != NULL) {
		json_out_kv(o, KEYS_DELETION_COST, p->deletion_cost);
	}
	if (p->task_priority != NULL) {
		json_out_kv(o, KEYS_TASK_PRIORITY, p->task_priority);
	}
	if (p->kept) {
		json_out_kv(o, KEYS_PREEMPTABLE, "false");
	}
	json_out_object_end(o);
}

static void container(const struct sim_manifest_pod *p, struct json_out *o)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	json_out_object(o);
	json_out_kv(o, "name", "main");
	json_out_kv(o, "image", "registry.example.com/pause");
	if (!p->best_effort) {
		json_out_key(o, "resources");
		json_out_object(o);
		json_out_key(o, "requests");
		json_out_object(o);
		strbuf_printf(&text, "%um", p->milli_cpu);
		json_out_kv(o, "cpu", text.p);
		strbuf_reset(&text);
		strbuf_printf(&text, "%uMi", p->milli_cpu);
		json_out_kv(o, "memory", text.p);
		for (unsigned i = 0; i < p->invented; i++) {
			strbuf_reset(&text);
			strbuf_printf(&text, "example.com/%s-%u", p->name, i);
			json_out_kv(o, text.p, "1");
		}
		json_out_object_end(o);
		json_out_object_end(o);
	}
	json_out_object_end(o);
}

static void volumes(const struct sim_manifest_pod *p, struct json_out *o)
{
	json_out_key(o, "volumes");
	json_out_array(o);
	json_out_object(o);
	json_out_kv(o, "name", "own");
	json_out_key(o, p->own_claim ? "ephemeral" : "persistentVolumeClaim");
	json_out_object(o);
	if (!p->own_claim) {
		json_out_kv(o, "claimName", p->claim);
	}
	json_out_object_end(o);
	json_out_object_end(o);
	json_out_array_end(o);
}

static void spec(const struct sim_manifest_pod *p, struct json_out *o)
{
	json_out_key(o, "spec");
	json_out_object(o);
	json_out_kv(o, "schedulerName", "volcano");
	if (p->class_ != NULL) {
		json_out_kv(o, "priorityClassName", p->class_);
	}
	if (p->foreign_gate) {
		json_out_key(o, "schedulingGates");
		json_out_array(o);
		json_out_object(o);
		json_out_kv(o, "name", SIM_MANIFEST_FOREIGN_GATE);
		json_out_object_end(o);
		json_out_array_end(o);
	}
	if (p->pool != NULL) {
		json_out_key(o, "nodeSelector");
		json_out_object(o);
		json_out_kv(o, "pool", p->pool);
		json_out_object_end(o);
	}
	if (p->own_claim || p->claim != NULL) {
		volumes(p, o);
	}
	json_out_key(o, "containers");
	json_out_array(o);
	container(p, o);
	json_out_array_end(o);
	json_out_object_end(o);
}

void sim_manifest_pod(const struct sim_manifest_pod *p, struct strbuf *out)
{
	struct json_out o;

	json_out_init(&o, out);
	json_out_object(&o);
	json_out_kv(&o, "apiVersion", "v1");
	json_out_kv(&o, "kind", "Pod");
	json_out_key(&o, "metadata");
	json_out_object(&o);
	json_out_kv(&o, "name", p->name);
	annotations(p, &o);
	json_out_object_end(&o);
	spec(p, &o);
	json_out_object_end(&o);
	json_out_end(&o);
}

void sim_manifest_group(const char *name, const char *queue, const char *class_,
			unsigned min_member, struct strbuf *out)
{
	strbuf_printf(out,
		      "{\"apiVersion\":\"scheduling.volcano.sh/v1beta1\",\"kind\":\"PodGroup\","
		      "\"metadata\":{\"name\":\"%s\"},\"spec\":{\"queue\":\"%s\","
		      "\"minMember\":%u",
		      name, queue, min_member);
	if (class_ != NULL) {
		strbuf_printf(out, ",\"priorityClassName\":\"%s\"", class_);
	}
	strbuf_add_c(out, "}}");
}

void sim_manifest_queue(const struct sim_manifest_queue *q, struct strbuf *out)
{
	strbuf_printf(out,
		      "{\"apiVersion\":\"scheduling.volcano.sh/v1beta1\",\"kind\":\"Queue\","
		      "\"metadata\":{\"name\":\"%s\"},\"spec\":{\"weight\":1,\"reclaimable\":true",
		      q->name);
	if (q->parent != NULL) {
		strbuf_printf(out, ",\"parent\":\"%s\"", q->parent);
	}
	if (q->cpu > 0) {
		strbuf_printf(out, ",\"capability\":{\"cpu\":\"%u\",\"memory\":\"%uGi\"}", q->cpu,
			      q->cpu);
	}
	if (q->deserved > 0) {
		strbuf_printf(out, ",\"deserved\":{\"cpu\":\"%u\"}", q->deserved);
	}
	if (q->guarantee > 0) {
		strbuf_printf(out, ",\"guarantee\":{\"resource\":{\"cpu\":\"%u\"}}", q->guarantee);
	}
	strbuf_add_c(out, "}}");
}
