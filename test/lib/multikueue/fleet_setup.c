#include "lib/multikueue/fleet_setup.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/strbuf.h"
#include "enc/base64.h"
#include "enc/json/jdoc.h"
#include "lib/multikueue/fleet_world.h"

#define DEFINITION                                                                                 \
	"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/workloads.kueue.x-k8s.io"
#define KUEUE "/apis/kueue.x-k8s.io/v1beta2/"

static void must_create(struct fleet_world *w, int server, const char *collection, const char *json)
{
	int status = fleet_world_create_object(w, server, collection, json);

	if (status != 201) {
		fail_msg("POST %s: %d: %s", collection, status, json);
	}
}

void fleet_setup_cluster(struct fleet_world *w, unsigned i)
{
	static const char config[] =
		"apiVersion: v1\nkind: Config\ncurrent-context: c\n"
		"contexts: [{name: c, context: {cluster: c, user: u}}]\n"
		"clusters: [{name: c, cluster: {server: \"https://worker.example:6443\"}}]\n"
		"users: [{name: u, user: {token: t}}]\n";
	CLEANUP(strbuf_finish)
	struct strbuf data = STRBUF_INIT, secret = STRBUF_INIT, cluster = STRBUF_INIT;

	base64_encode(str_of(config), &data);
	strbuf_printf(&secret,
		      "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"w%u\","
		      "\"namespace\":\"" FLEET_SETUP_SYSTEM "\"},\"data\":{\"kubeconfig\":\"%s\"}}",
		      i, data.p);
	must_create(w, FLEET_WORLD_MANAGER, "/api/v1/namespaces/" FLEET_SETUP_SYSTEM "/secrets",
		    secret.p);
	strbuf_printf(&cluster,
		      "{\"apiVersion\":\"kueue.x-k8s.io/v1beta2\",\"kind\":\"MultiKueueCluster\","
		      "\"metadata\":{\"name\":\"w%u\"},\"spec\":{\"clusterSource\":{\"kubeConfig\":"
		      "{\"location\":\"w%u\",\"locationType\":\"Secret\"}}}}",
		      i, i);
	must_create(w, FLEET_WORLD_MANAGER, KUEUE "multikueueclusters", cluster.p);
	must_create(w, (int)i, KUEUE "resourceflavors",
		    "{\"apiVersion\":\"kueue.x-k8s.io/"
		    "v1beta2\",\"kind\":\"ResourceFlavor\",\"metadata\":"
		    "{\"name\":\"f\"}}");
	must_create(
		w, (int)i, KUEUE "clusterqueues",
		"{\"apiVersion\":\"kueue.x-k8s.io/v1beta2\",\"kind\":\"ClusterQueue\",\"metadata\":"
		"{\"name\":\"cq\"},\"spec\":{\"namespaceSelector\":{},\"preemption\":"
		"{\"withinClusterQueue\":\"LowerPriority\"},\"resourceGroups\":[{"
		"\"coveredResources\":"
		"[\"cpu\"],\"flavors\":[{\"name\":\"f\",\"resources\":[{\"name\":\"cpu\","
		"\"nominalQuota\":\"1\"}]}]}]}}");
	must_create(
		w, (int)i, KUEUE "namespaces/default/localqueues",
		"{\"apiVersion\":\"kueue.x-k8s.io/v1beta2\",\"kind\":\"LocalQueue\",\"metadata\":"
		"{\"name\":\"main\",\"namespace\":\"default\"},\"spec\":{\"clusterQueue\":\"cq\"}"
		"}");
}

void fleet_setup_check(struct fleet_world *w)
{
	must_create(w, FLEET_WORLD_MANAGER, "/api/v1/namespaces",
		    "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":"
		    "\"" FLEET_SETUP_SYSTEM "\"}}");
	must_create(w, FLEET_WORLD_MANAGER, KUEUE "admissionchecks",
		    "{\"apiVersion\":\"kueue.x-k8s.io/v1beta2\",\"kind\":\"AdmissionCheck\","
		    "\"metadata\":{\"name\":\"mk\"},\"spec\":{\"controllerName\":"
		    "\"kueue.x-k8s.io/multikueue\",\"parameters\":{\"apiGroup\":\"kueue.x-k8s.io\","
		    "\"kind\":\"MultiKueueConfig\",\"name\":\"all\"}}}");
}

void fleet_setup_config(struct fleet_world *w, unsigned workers)
{
	CLEANUP(strbuf_finish) struct strbuf config = STRBUF_INIT;

	strbuf_add_c(&config, "{\"apiVersion\":\"kueue.x-k8s.io/v1beta2\",\"kind\":"
			      "\"MultiKueueConfig\",\"metadata\":{\"name\":\"all\"},\"spec\":"
			      "{\"clusters\":[");
	for (unsigned i = 0; i < workers; i++) {
		strbuf_printf(&config, "%s\"w%u\"", i == 0 ? "" : ",", i);
	}
	strbuf_add_c(&config, "]}}");
	must_create(w, FLEET_WORLD_MANAGER, KUEUE "multikueueconfigs", config.p);
}

static void set_entry(struct jdoc *version, const char *properties)
{
	static const char *const path[] = { "schema",     "openAPIV3Schema", "properties", "status",
					    "properties", "preemptionGates", "items" };
	CLEANUP(jdoc_destroyp) struct jdoc *entry = NULL;
	struct jdoc *items = version, *name;

	for (size_t i = 0; i < ARRAY_LEN(path) && items != NULL; i++) {
		items = jdoc_get_mut(items, path[i]);
	}
	if (items == NULL) {
		return; /* of an older version */
	}
	assert_int_equal(jdoc_parse(str_of(properties), &entry, NULL), 0);
	name = jdoc_get_mut(jdoc_get_mut(items, "properties"), "name");
	(void)jdoc_add_take(entry, "name", jdoc_detach(jdoc_get_mut(items, "properties"), name));
	(void)jdoc_set_take(items, "properties", take_ptr(&entry));
}

void fleet_setup_gate_entry(struct fleet_world *w, int server, const char *properties)
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = fleet_world_get(w, server, DEFINITION);
	CLEANUP(strbuf_finish) struct strbuf patch = STRBUF_INIT;
	struct jdoc *versions = jdoc_get_mut(jdoc_get_mut(d, "spec"), "versions");

	for (size_t i = 0; i < jdoc_count(versions); i++) {
		set_entry(jdoc_at_mut(versions, i), properties);
	}
	strbuf_add_c(&patch, "{\"spec\":{\"versions\":");
	jdoc_format(versions, &patch);
	strbuf_add_c(&patch, "}}");
	assert_int_equal(fleet_world_patch(w, server, DEFINITION, patch.p), 200);
}
