#include "sim/controllers/sim_volumes.h"

#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "sim/controllers/sim_local_volumes.h"
#include "sim/world/sim_pod.h"
#include "sim/world/sim_view.h"

#define CLAIMS "/api/v1/namespaces/default/persistentvolumeclaims"
#define VOLUMES "/api/v1/persistentvolumes"

static const char *name_of(const struct jdoc *object)
{
	return jdoc_path_str(object, "metadata.name");
}

char *sim_volumes_claim_of(const struct jdoc *pod)
{
	const struct jdoc *v = jdoc_first(jdoc_path(pod, "spec.volumes"));

	if (jdoc_path(v, "persistentVolumeClaim") != NULL) {
		return xmalloc_printf("default/%s",
				      jdoc_path_str(v, "persistentVolumeClaim.claimName"));
	}
	return jdoc_path(v, "ephemeral") == NULL ? NULL
						 : xmalloc_printf("default/%s-%s", name_of(pod),
								  jdoc_str(jdoc_get(v, "name")));
}

static const struct jdoc *annotation(const struct jdoc *object, const char *key)
{
	return jdoc_get(jdoc_path(object, "metadata.annotations"), key);
}

bool sim_volumes_is_bound(const struct jdoc *claim)
{
	return annotation(claim, SIM_VOLUMES_BOUND) != NULL;
}

const char *sim_volumes_node_of(const struct jdoc *volume)
{
	const struct jdoc *terms =
		jdoc_path(volume, "spec.nodeAffinity.required.nodeSelectorTerms");
	const struct jdoc *field = jdoc_first(jdoc_get(jdoc_first(terms), "matchFields"));

	return jdoc_str(jdoc_first(jdoc_get(field, "values")));
}

static int patch(struct sim_world *w, const char *url, const char *name, const char *body)
{
	CLEANUP(xmalloc_freep) char *path = xmalloc_printf("%s/%s", url, name);

	return sim_world_call(w, HTTP_PATCH, path, "application/merge-patch+json", str_of(body));
}

static bool is_leaving(const struct jdoc *object)
{
	return jdoc_path(object, "metadata.deletionTimestamp") != NULL;
}

/* --- the controller of ephemeral volumes -------------------------------------------------------
 */

static bool make_claim(struct sim_world *w, const struct jdoc *pod)
{
	CLEANUP(xmalloc_freep) char *key = sim_volumes_claim_of(pod);
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;

	if (key == NULL || is_leaving(pod) || sim_pod_is_finished(pod) ||
	    jdoc_path(jdoc_first(jdoc_path(pod, "spec.volumes")), "ephemeral") == NULL ||
	    sim_view_get(w->view, SIM_CLAIMS, key) != NULL) {
		return false;
	}
	strbuf_printf(&body,
		      "{\"metadata\":{\"name\":\"%s\",\"ownerReferences\":[{\"apiVersion\":\"v1\","
		      "\"kind\":\"Pod\",\"name\":\"%s\",\"uid\":\"%s\",\"controller\":true}]},"
		      "\"spec\":{\"storageClassName\":\"" SIM_VOLUMES_LATE "\"}}",
		      key + sizeof("default/") - 1, name_of(pod), sim_pod_uid(pod));
	sim_world_trace(w, "claim %s made", key);
	(void)sim_world_call(w, HTTP_POST, CLAIMS, "application/json", strbuf_str(&body));
	return true;
}

/* --- provisioner and binder --------------------------------------------------------------------
 */

static bool take_node_back(struct sim_world *w, const struct jdoc *claim)
{
	sim_world_trace(w, "claim %s: no volume for this node", name_of(claim));
	(void)patch(w, CLAIMS, name_of(claim),
		    "{\"metadata\":{\"annotations\":{\"" SIM_VOLUMES_SELECTED "\":null}}}");
	return true;
}

/* node NULL, or sometimes: every node reaches it. */
static bool make_volume(struct sim_world *w, const struct jdoc *claim, const char *node)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;

	strbuf_printf(&body,
		      "{\"metadata\":{\"name\":\"v-%s\"},\"spec\":{\"claimRef\":{"
		      "\"namespace\":\"default\",\"name\":\"%s\",\"uid\":\"%s\"}",
		      jdoc_path_str(claim, "metadata.uid"), name_of(claim),
		      jdoc_path_str(claim, "metadata.uid"));
	if (node != NULL && sim_world_chance(w, 600)) {
		strbuf_printf(&body,
			      ",\"nodeAffinity\":{\"required\":{\"nodeSelectorTerms\":[{"
			      "\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\","
			      "\"values\":[\"%s\"]}]}]}}",
			      node);
	}
	strbuf_add_c(&body, "}}");
	(void)sim_world_call(w, HTTP_POST, VOLUMES, "application/json", strbuf_str(&body));
	return true;
}

static bool bind_claim(struct sim_world *w, const struct jdoc *claim, const char *volume)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;

	strbuf_printf(&body,
		      "{\"metadata\":{\"annotations\":{\"" SIM_VOLUMES_BOUND "\":\"yes\"}},"
		      "\"spec\":{\"volumeName\":\"%s\"}}",
		      volume);
	sim_world_trace(w, "claim %s bound", name_of(claim));
	(void)patch(w, CLAIMS, name_of(claim), body.p);
	return true;
}

/* One step towards a bound claim. */
static bool provision(struct sim_world *w, const struct jdoc *claim)
{
	CLEANUP(xmalloc_freep)
	char *volume = xmalloc_printf("v-%s", jdoc_path_str(claim, "metadata.uid"));
	const char *node = jdoc_str(annotation(claim, SIM_VOLUMES_SELECTED));
	bool late = jdoc_is_str(jdoc_path(claim, "spec.storageClassName"), SIM_VOLUMES_LATE);

	if (is_leaving(claim) || sim_volumes_is_bound(claim) || (late && node == NULL) ||
	    jdoc_is_str(jdoc_path(claim, "spec.storageClassName"), SIM_VOLUMES_LOCAL)) {
		return false;
	}
	if (sim_view_get(w->view, SIM_VOLUMES, volume) != NULL) {
		return bind_claim(w, claim, volume);
	}
	if (late && sim_view_get(w->view, SIM_NODES, node) == NULL) {
		return take_node_back(w, claim);
	}
	if (sim_world_chance(w, w->faults.on ? 700 : 300)) {
		return late && sim_world_chance(w, 400) && take_node_back(w, claim);
	}
	return make_volume(w, claim, late ? node : NULL);
}

/* When everything is to settle, no pod is to wait for the one node of its volume. */
static bool free_volume(struct sim_world *w, const struct jdoc *volume)
{
	if (w->faults.on || jdoc_path(volume, "spec.nodeAffinity") == NULL ||
	    !sim_world_chance(w, 20)) {
		return false;
	}
	sim_world_trace(w, "volume %s can be had on every node", name_of(volume));
	(void)patch(w, VOLUMES, name_of(volume), "{\"spec\":{\"nodeAffinity\":null}}");
	return true;
}

static bool each(struct sim_world *w, enum sim_resource r,
		 bool (*fn)(struct sim_world *w, const struct jdoc *object))
{
	for (size_t i = 0; i < sim_view_count(w->view, r); i++) {
		if (fn(w, sim_view_at(w->view, r, i))) {
			return true;
		}
	}
	return false;
}

bool sim_volumes_must_wait(const struct sim_world *w)
{
	for (size_t i = 0; i < sim_view_count(w->view, SIM_VOLUMES); i++) {
		if (jdoc_path(sim_view_at(w->view, SIM_VOLUMES, i), "spec.nodeAffinity") != NULL) {
			return true;
		}
	}
	return sim_local_volumes_must_wait(w);
}

bool sim_volumes_step(struct sim_world *w)
{
	return each(w, SIM_PODS, make_claim) || each(w, SIM_CLAIMS, provision) ||
	       sim_local_volumes_step(w) || each(w, SIM_VOLUMES, free_volume);
}
