/* Users make pods with PersistentVolumeClaims and ephemeral volumes, and edit and delete these
 * claims; administrators add local volumes, and give some away or take them off. All these pods
 * choose the pool "special", which grows for them. */
#include <stdio.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "sim/actors/actor_lists.h"
#include "sim/controllers/sim_local_volumes.h"
#include "sim/controllers/sim_volumes.h"
#include "sim/users/sim_manifest.h"
#include "sim/world/sim_pod.h"

#define PODS "/api/v1/namespaces/default/pods"
#define CLAIMS "/api/v1/namespaces/default/persistentvolumeclaims"
#define CLASSES "/apis/storage.k8s.io/v1/storageclasses"
#define VOLUMES "/api/v1/persistentvolumes"
#define CLAIMS_MAX 10
#define LOCAL_MAX 5
#define GIGABYTES_MAX 4

static const char *name_of(const struct jdoc *object)
{
	return jdoc_path_str(object, "metadata.name");
}

static bool make_class(struct sim_actors *a, const char *name, const char *provisioner,
		       const char *mode)
{
	char body[200];

	snprintf(body, sizeof(body),
		 "{\"metadata\":{\"name\":\"%s\"},\"provisioner\":\"%s\","
		 "\"volumeBindingMode\":\"%s\"}",
		 name, provisioner, mode);
	return sim_actors_send(a, HTTP_POST, CLASSES, "application/json", body) < 300;
}

static bool create_classes(struct sim_actors *a)
{
	bool late = make_class(a, SIM_VOLUMES_LATE, "example.com/disk", "WaitForFirstConsumer");
	bool local = make_class(a, SIM_VOLUMES_LOCAL, "kubernetes.io/no-provisioner",
				"WaitForFirstConsumer");

	return make_class(a, SIM_VOLUMES_NOW, "example.com/disk", "Immediate") || late || local;
}

static bool make_pod(struct sim_actors *a, const char *claim)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	struct sim_manifest_pod p = { .pool = "special",
				      .queue = "default",
				      .milli_cpu = 100 * (1 + sim_actors_below(a, 15)),
				      .opted_in = sim_actors_below(a, 2) == 0,
				      .claim = claim,
				      .own_claim = claim == NULL };

	snprintf(p.name, sizeof(p.name), "vol%u", a->next++);
	if (sim_actors_below(a, 2) == 0) {
		p.runs_for = "10s";
	}
	sim_manifest_pod(&p, &body);
	return sim_actors_send(a, HTTP_POST, PODS, "application/json", body.p) < 300;
}

static bool create(struct sim_actors *a, const char *klass)
{
	char name[32], body[300];

	if (sim_view_count(a->world->view, SIM_CLAIMS) >= CLAIMS_MAX) {
		return false;
	}
	(void)create_classes(a);
	snprintf(name, sizeof(name), "claim%u", a->next++);
	snprintf(body, sizeof(body),
		 "{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"storageClassName\":\"%s\","
		 "\"accessModes\":["
		 "\"ReadWriteOnce\"],\"resources\":{\"requests\":{\"storage\":\"%uGi\"}}}}",
		 name, klass, 1 + sim_actors_below(a, GIGABYTES_MAX));
	/* Either may come first. */
	return (sim_actors_below(a, 4) == 0 || make_pod(a, name)) &&
	       sim_actors_send(a, HTTP_POST, CLAIMS, "application/json", body) < 300;
}

static bool create_claim(struct sim_actors *a)
{
	return create(a, sim_actors_below(a, 4) == 0 ? SIM_VOLUMES_NOW : SIM_VOLUMES_LATE);
}

static bool create_local_claim(struct sim_actors *a)
{
	return create(a, SIM_VOLUMES_LOCAL);
}

static size_t count_local(const struct sim_actors *a)
{
	size_t n = 0;

	for (size_t i = 0; i < sim_view_count(a->world->view, SIM_VOLUMES); i++) {
		n += sim_local_volumes_has(sim_view_at(a->world->view, SIM_VOLUMES, i));
	}
	return n;
}

static bool create_volume(struct sim_actors *a)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	const struct jdoc *node = sim_actors_any(a, SIM_NODES);
	char name[32];

	if (node == NULL || count_local(a) >= LOCAL_MAX) {
		return false;
	}
	snprintf(name, sizeof(name), "disk%u", sim_actors_below(a, 2 * LOCAL_MAX));
	sim_local_volumes_manifest(
		name, sim_actors_below(a, 4) == 0 ? SIM_VOLUMES_LATE : SIM_VOLUMES_LOCAL,
		1 + sim_actors_below(a, GIGABYTES_MAX),
		sim_actors_below(a, 3) == 0 ? NULL : name_of(node), &body);
	return sim_actors_send(a, HTTP_POST, VOLUMES, "application/json", body.p) < 300;
}

/* That is there, and that no claim has got. NULL: the one that was drawn is none. */
static const struct jdoc *any_free(struct sim_actors *a)
{
	const struct jdoc *volume = sim_actors_any(a, SIM_VOLUMES);

	return volume != NULL && sim_local_volumes_has(volume) &&
			       jdoc_path(volume, "spec.claimRef") == NULL
		       ? volume
		       : NULL;
}

static bool give_volume_away(struct sim_actors *a)
{
	const struct jdoc *volume = any_free(a);

	return volume != NULL &&
	       sim_actors_patch(a, VOLUMES, name_of(volume),
				"{\"spec\":{\"claimRef\":{\"namespace\":\"default\",\"name\":"
				"\"elsewhere\",\"uid\":\"elsewhere\"}}}");
}

static bool delete_volume(struct sim_actors *a)
{
	const struct jdoc *volume = any_free(a);

	return volume != NULL && sim_actors_delete(a, VOLUMES, name_of(volume));
}

static bool use_claim(struct sim_actors *a)
{
	const struct jdoc *claim = sim_actors_any(a, SIM_CLAIMS);
	CLEANUP(xmalloc_freep) char *name = NULL;

	if (claim == NULL || jdoc_path(claim, "metadata.ownerReferences") != NULL) {
		return false;
	}
	name = xmalloc_dup(name_of(claim));
	return make_pod(a, name);
}

static bool create_own(struct sim_actors *a)
{
	if (sim_view_count(a->world->view, SIM_CLAIMS) >= CLAIMS_MAX) {
		return false;
	}
	(void)create_classes(a);
	return make_pod(a, NULL);
}

static bool delete_claim(struct sim_actors *a)
{
	const struct jdoc *claim = sim_actors_any(a, SIM_CLAIMS);

	return claim != NULL && sim_actors_delete(a, CLAIMS, name_of(claim));
}

static bool edit_claim(struct sim_actors *a)
{
	const struct jdoc *claim = sim_actors_any(a, SIM_CLAIMS);
	const struct jdoc *node = sim_actors_any(a, SIM_NODES);
	char body[200];

	if (claim == NULL || sim_volumes_is_bound(claim)) {
		return false;
	}
	if (sim_actors_below(a, 3) == 0 || node == NULL) {
		snprintf(body, sizeof(body),
			 "{\"metadata\":{\"annotations\":{\"" SIM_VOLUMES_SELECTED "\":%s}}}",
			 sim_actors_below(a, 2) == 0 ? "null" : "\"a node/of no kind\"");
	} else {
		snprintf(body, sizeof(body),
			 "{\"metadata\":{\"annotations\":{\"" SIM_VOLUMES_SELECTED "\":\"%s\"}}}",
			 name_of(node));
	}
	return sim_actors_patch(a, CLAIMS, name_of(claim), body);
}

/* No pod is to wait for a claim that does not come any more. */
static void leave(struct sim_actors *a)
{
	for (size_t i = 0; i < sim_view_count(a->world->view, SIM_PODS); i++) {
		const struct jdoc *pod = sim_view_at(a->world->view, SIM_PODS, i);
		CLEANUP(xmalloc_freep) char *key = sim_volumes_claim_of(pod);

		if (key != NULL && !sim_pod_is_placed(pod) &&
		    jdoc_path(pod, "metadata.deletionTimestamp") == NULL &&
		    jdoc_path(jdoc_first(jdoc_path(pod, "spec.volumes")), "ephemeral") == NULL &&
		    sim_view_get(a->world->view, SIM_CLAIMS, key) == NULL &&
		    sim_actors_delete(a, PODS, name_of(pod))) {
			i = SIZE_MAX; /* the order has changed */
		}
	}
}

static const struct sim_actors_act acts[] = {
	{ "claim and pod created", create_claim, 6 },
	{ "pod created for a claim", use_claim, 8 },
	{ "pod with an ephemeral volume created", create_own, 4 },
	{ "local claim and pod created", create_local_claim, 5 },
	{ "local volume created", create_volume, 6 },
	{ "local volume given away", give_volume_away, 1 },
	{ "local volume deleted", delete_volume, 1 },
	{ "claim deleted", delete_claim, 2 },
	{ "selected node edited", edit_claim, 1 },
};

const struct sim_actors_actor actor_volumes = {
	.acts = acts, .n = ARRAY_LEN(acts), .per_mille = 25, .pods = true, .end = leave
};
