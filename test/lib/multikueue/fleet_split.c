#include "lib/multikueue/fleet_split.h"

#include "lib/unit.h"

#include "api/kueue/kueue_keys.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "lib/multikueue/fleet_dialect.h"
#include "lib/multikueue/fleet_world.h"

#define WORKLOADS "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads"

static void must_patch(struct fleet_world *w, unsigned worker, const char *path, const char *patch)
{
	assert_int_equal(fleet_world_patch(w, (int)worker, path, patch), 200);
}

void fleet_split_label(struct fleet_world *w, unsigned worker, const char *name)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;

	strbuf_printf(&path, WORKLOADS "/%s", name);
	must_patch(w, worker, path.p,
		   "{\"metadata\":{\"labels\":{\"" KUEUE_VARIANTS_PARENT "\":\"true\"}}}");
}

void fleet_split_add(struct fleet_world *w, unsigned worker, const char *name, const char *flavor)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT, body = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *replica = NULL;

	strbuf_printf(&path, WORKLOADS "/%s", name);
	replica = fleet_world_get(w, (int)worker, path.p);
	assert_non_null(replica);
	strbuf_printf(&body,
		      "{\"apiVersion\":\"kueue.x-k8s.io/v1beta2\",\"kind\":\"Workload\","
		      "\"metadata\":{\"name\":\"%s-%s\",\"namespace\":\"default\",\"labels\":"
		      "{\"kueue.x-k8s.io/multikueue-origin\":\"multikueue\"},\"annotations\":",
		      name, flavor);
	/* Kueue copies those of the replica, that of its manager included. */
	if (jdoc_path(replica, "metadata.annotations") == NULL) {
		strbuf_add_c(&body, "{}");
	} else {
		jdoc_format(jdoc_path(replica, "metadata.annotations"), &body);
	}
	strbuf_printf(&body,
		      ",\"ownerReferences\":[{\"apiVersion\":\"kueue.x-k8s.io/v1beta2\",\"kind\":"
		      "\"Workload\",\"name\":\"%s\",\"uid\":\"%s\",\"controller\":true}]},"
		      "\"spec\":{\"queueName\":\"main\",\"priority\":0,\"preemptionGates\":["
		      "{\"name\":\"" KUEUE_GATE_MULTIKUEUE "\"},{\"name\":\"" FLEET_SPLIT_GATE
		      "\"}],\"podSets\":[{\"name\":\"main\",\"count\":1,\"template\":{\"spec\":"
		      "{\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"resources\":{"
		      "\"requests\":{\"cpu\":\"1\"}}}]}}}]}}",
		      name, jdoc_path_str(replica, "metadata.uid"));
	assert_int_equal(fleet_world_create_object(w, (int)worker, WORKLOADS, body.p), 201);
}

void fleet_split_open(struct fleet_world *w, unsigned worker, const char *variant)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT, patch = STRBUF_INIT;
	const char *field = fleet_dialect_field();

	strbuf_printf(&path, WORKLOADS "/%s/status", variant);
	strbuf_printf(&patch,
		      "{\"status\":{\"preemptionGates\":[{\"name\":\"" FLEET_SPLIT_GATE
		      "\",\"%s\":\"Open\",\"lastTransitionTime\":\"2027-01-15T08:00:00Z\"},"
		      "{\"name\":\"" KUEUE_GATE_MULTIKUEUE
		      "\",\"%s\":\"Closed\",\"lastTransitionTime\":\"2027-01-15T08:00:00Z\"}]}}",
		      field, field);
	must_patch(w, worker, path.p, patch.p);
}
