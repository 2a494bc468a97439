#include "sim/controllers/sim_local_volumes.h"

#include <string.h>

#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "sim/controllers/sim_volumes.h"
#include "sim/world/sim_pod.h"
#include "sim/world/sim_view.h"

#define CLAIMS "/api/v1/namespaces/default/persistentvolumeclaims"
#define VOLUMES "/api/v1/persistentvolumes"
#define SPARE_GIGABYTES 9

static const char *name_of(const struct jdoc *object)
{
	return jdoc_path_str(object, "metadata.name");
}

bool sim_local_volumes_has(const struct jdoc *volume)
{
	return jdoc_path(volume, "spec.storageClassName") != NULL;
}

int64_t sim_local_volumes_size(const struct jdoc *object)
{
	const char *text = jdoc_path_str(object, "spec.capacity.storage");
	int64_t n = 0;

	if (text == NULL) {
		text = jdoc_path_str(object, "spec.resources.requests.storage");
	}
	(void)str_to_i64((struct str){ text, text == NULL ? 0 : strspn(text, "0123456789") }, &n);
	return n;
}

void sim_local_volumes_manifest(const char *name, const char *klass, unsigned gigabytes,
				const char *node, struct strbuf *out)
{
	strbuf_printf(out,
		      "{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"storageClassName\":\"%s\","
		      "\"accessModes\":[\"ReadWriteOnce\"],\"capacity\":{\"storage\":\"%uGi\"}",
		      name, klass, gigabytes);
	if (node != NULL) {
		strbuf_printf(out,
			      ",\"nodeAffinity\":{\"required\":{\"nodeSelectorTerms\":[{"
			      "\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\","
			      "\"values\":[\"%s\"]}]}]}}",
			      node);
	}
	strbuf_add_c(out, "}}");
}

static bool patch(struct sim_world *w, const char *url, const char *name, const char *sub,
		  const char *body)
{
	CLEANUP(xmalloc_freep) char *path = xmalloc_printf("%s/%s%s", url, name, sub);

	(void)sim_world_call(w, HTTP_PATCH, path, "application/merge-patch+json", str_of(body));
	return true;
}

static bool set_phase(struct sim_world *w, const struct jdoc *volume, const char *phase)
{
	CLEANUP(xmalloc_freep)
	char *body = xmalloc_printf("{\"status\":{\"phase\":\"%s\"}}", phase);

	if (jdoc_is_str(jdoc_path(volume, "status.phase"), phase)) {
		return false;
	}
	return patch(w, VOLUMES, name_of(volume), "/status", body);
}

/* Its data are gone, and any claim can have it; or it is made anew. */
static bool clean(struct sim_world *w, const struct jdoc *volume)
{
	CLEANUP(xmalloc_freep) char *path = xmalloc_printf(VOLUMES "/%s", name_of(volume));

	if (!sim_world_chance(w, 200)) {
		return false;
	}
	sim_world_trace(w, "volume %s is cleaned", name_of(volume));
	if (sim_world_chance(w, 300)) {
		(void)sim_world_call(w, HTTP_DELETE, path, NULL, STR_LIT(""));
		return true;
	}
	return patch(w, VOLUMES, name_of(volume), "",
		     "{\"metadata\":{\"annotations\":{\"" SIM_VOLUMES_RESERVED "\":null}},"
		     "\"spec\":{\"claimRef\":null}}");
}

static bool bind_claim(struct sim_world *w, const struct jdoc *volume, const struct jdoc *claim)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;

	if (!sim_world_chance(w, w->faults.on ? 100 : 400)) {
		return false;
	}
	strbuf_printf(&body,
		      "{\"metadata\":{\"annotations\":{\"" SIM_VOLUMES_BOUND "\":\"yes\"}},"
		      "\"spec\":{\"volumeName\":\"%s\"}}",
		      name_of(volume));
	sim_world_trace(w, "claim %s bound to %s", name_of(claim), name_of(volume));
	return patch(w, CLAIMS, name_of(claim), "", body.p);
}

static bool follow(struct sim_world *w, const struct jdoc *volume)
{
	const char *name = jdoc_path_str(volume, "spec.claimRef.name");
	CLEANUP(xmalloc_freep)
	char *key = xmalloc_printf("default/%s", name == NULL ? "" : name);
	const struct jdoc *claim = sim_view_get(w->view, SIM_CLAIMS, key);

	if (!sim_local_volumes_has(volume)) {
		return false;
	}
	if (name == NULL) {
		return set_phase(w, volume, "Available");
	}
	if (claim == NULL ||
	    !jdoc_is_str(jdoc_path(volume, "spec.claimRef.uid"), sim_pod_uid(claim))) {
		return set_phase(w, volume, "Released") || clean(w, volume);
	}
	if (sim_volumes_is_bound(claim)) {
		return jdoc_is_str(jdoc_path(claim, "spec.volumeName"), name_of(volume))
			       ? set_phase(w, volume, "Bound")
			       : clean(w, volume);
	}
	return jdoc_path(claim, "metadata.deletionTimestamp") == NULL &&
	       (set_phase(w, volume, "Bound") || bind_claim(w, volume, claim));
}

/* A volume that does for every claim on every node. */
static bool is_spare(const struct jdoc *volume)
{
	return jdoc_is_str(jdoc_path(volume, "spec.storageClassName"), SIM_VOLUMES_LOCAL) &&
	       jdoc_path(volume, "spec.claimRef") == NULL &&
	       jdoc_path(volume, "spec.nodeAffinity") == NULL &&
	       sim_local_volumes_size(volume) >= SPARE_GIGABYTES;
}

static bool has_spare(const struct sim_world *w)
{
	for (size_t i = 0; i < sim_view_count(w->view, SIM_VOLUMES); i++) {
		if (is_spare(sim_view_at(w->view, SIM_VOLUMES, i))) {
			return true;
		}
	}
	return false;
}

static bool needs_volume(const struct jdoc *claim)
{
	return !sim_volumes_is_bound(claim) &&
	       jdoc_is_str(jdoc_path(claim, "spec.storageClassName"), SIM_VOLUMES_LOCAL);
}

bool sim_local_volumes_must_wait(const struct sim_world *w)
{
	for (size_t i = 0; i < sim_view_count(w->view, SIM_CLAIMS); i++) {
		if (needs_volume(sim_view_at(w->view, SIM_CLAIMS, i)) && !has_spare(w)) {
			return true;
		}
	}
	return false;
}

/* When everything is to settle, no pod is to wait for a volume that does not come. */
static bool supply(struct sim_world *w, const struct jdoc *claim)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	CLEANUP(xmalloc_freep) char *name = NULL;

	if (w->faults.on || !needs_volume(claim) || !sim_world_chance(w, 20) || has_spare(w)) {
		return false;
	}
	name = xmalloc_printf("spare-%lld", (long long)w->clock.mono_ns);
	sim_local_volumes_manifest(name, SIM_VOLUMES_LOCAL, SPARE_GIGABYTES, NULL, &body);
	sim_world_trace(w, "volume %s is added", name);
	return sim_world_call(w, HTTP_POST, VOLUMES, "application/json", strbuf_str(&body)) < 300;
}

bool sim_local_volumes_step(struct sim_world *w)
{
	for (size_t i = 0; i < sim_view_count(w->view, SIM_VOLUMES); i++) {
		if (follow(w, sim_view_at(w->view, SIM_VOLUMES, i))) {
			return true;
		}
	}
	for (size_t i = 0; i < sim_view_count(w->view, SIM_CLAIMS); i++) {
		if (supply(w, sim_view_at(w->view, SIM_CLAIMS, i))) {
			return true;
		}
	}
	return false;
}
