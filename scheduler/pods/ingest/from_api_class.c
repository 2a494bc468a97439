#include <string.h>

#include "api/core/pod.h"
#include "base/arena.h"
#include "base/err.h"
#include "scheduler/base/match_from_api.h"
#include "scheduler/pods/ingest/from_api.h"
#include "scheduler/pods/model/images.h"

static int read_node_affinity(struct cluster *c, const struct api_node_affinity *a,
			      struct arena *scratch, struct pod_class *k, struct err *err)
{
	k->has_required = a->required != NULL;
	if (k->has_required && match_from_api_required(c->names, a->required, scratch, &k->required,
						       &k->nrequired, err) < 0) {
		return err_path(err, "spec.affinity.nodeAffinity"
				     ".requiredDuringSchedulingIgnoredDuringExecution.");
	}
	k->preferred = arena_zero(scratch, a->preferred.n, sizeof(k->preferred[0]));
	for (size_t i = 0; i < a->preferred.n; i++) {
		struct match_term *t = &k->preferred[k->npreferred];

		if (match_from_api_term(c->names, &a->preferred.v[i].preference, scratch, t, err) <
		    0) {
			return err_wrap(err,
					"spec.affinity.nodeAffinity"
					".preferredDuringSchedulingIgnoredDuringExecution[%zu]",
					i);
		}
		t->weight = a->preferred.v[i].weight;
		/* In Kubernetes an empty preference has no effect: the next one takes its place. */
		k->npreferred += t->nexprs > 0;
	}
	return 0;
}

static int read_port(struct cluster *c, const struct api_port *p, bool host_network,
		     struct pod_class *k, struct err *err)
{
	/* With hostNetwork a container port is a port of the node: the API server's default. */
	int32_t number = p->host_port == 0 && host_network ? p->container_port : p->host_port;
	struct host_port *port = &k->ports[k->nports];

	if (number == 0) {
		return 0;
	}
	if (number < 0 || number > UINT16_MAX) {
		return err_set(err, ERR_INVALID, "hostPort: not a port number");
	}
	port->port = (uint16_t)number;
	port->protocol = str_streq(p->protocol, "UDP") ? 1 : str_streq(p->protocol, "SCTP") ? 2 : 0;
	k->nports++;
	return from_api_text(c, p->host_ip == NULL ? "0.0.0.0" : p->host_ip, &port->ip, err);
}

static size_t count_ports(const struct api_containers *list)
{
	size_t n = 0;

	for (size_t i = 0; i < list->n; i++) {
		n += list->v[i].ports.n;
	}
	return n;
}

static int read_ports(struct cluster *c, const struct api_container *v, bool host_network,
		      struct pod_class *k, struct err *err)
{
	for (size_t i = 0; i < v->ports.n; i++) {
		if (read_port(c, &v->ports.v[i], host_network, k, err) < 0) {
			return err_wrap(err, "container %s: ports[%zu]",
					v->name == NULL ? "" : v->name, i);
		}
	}
	return 0;
}

/* Of init containers only those that keep running hold their ports. */
int from_api_class_ports(struct cluster *c, const struct api_pod *pod, struct arena *scratch,
			 struct pod_class *k, struct err *err)
{
	const struct api_pod_spec *spec = &pod->spec;
	size_t max = count_ports(&spec->containers) + count_ports(&spec->init_containers);

	k->ports = arena_zero(scratch, max, sizeof(k->ports[0]));
	for (size_t i = 0; i < spec->containers.n; i++) {
		if (read_ports(c, &spec->containers.v[i], spec->host_network, k, err) < 0) {
			return -ERR_INVALID;
		}
	}
	for (size_t i = 0; i < spec->init_containers.n; i++) {
		const struct api_container *v = &spec->init_containers.v[i];

		if (str_streq(v->restart_policy, "Always") &&
		    read_ports(c, v, spec->host_network, k, err) < 0) {
			return -ERR_INVALID;
		}
	}
	return 0;
}

/* The claim of a generic ephemeral volume has the name of the pod and of the volume. */
static int read_claim(struct cluster *c, const struct api_pod *pod, const struct api_volume *v,
		      struct arena *scratch, struct pod_claim *claim, struct err *err)
{
	const char *name = v->claim != NULL ? v->claim->claim_name
					    : arena_printf(scratch, "%s-%s", pod->meta.name,
							   v->name == NULL ? "" : v->name);

	if (from_api_text(c, name, &claim->name, err) < 0) {
		return -ERR_INVALID;
	}
	return v->claim != NULL ? 0 : from_api_text(c, pod->meta.uid, &claim->owner, err);
}

int from_api_class_claims(struct cluster *c, const struct api_pod *pod, struct arena *scratch,
			  struct pod_class *k, struct err *err)
{
	size_t max = pod->spec.volumes.n < POD_CLASS_CLAIMS_MAX ? pod->spec.volumes.n
								: POD_CLASS_CLAIMS_MAX;

	k->claims = arena_zero(scratch, max, sizeof(k->claims[0]));
	for (size_t i = 0; i < pod->spec.volumes.n; i++) {
		const struct api_volume *v = &pod->spec.volumes.v[i];

		if (v->claim == NULL && !v->ephemeral) {
			continue;
		}
		if (k->nclaims == POD_CLASS_CLAIMS_MAX) {
			k->unsupported = POD_CLASS_CLAIMS;
			return 0;
		}
		if (read_claim(c, pod, v, scratch, &k->claims[k->nclaims++], err) < 0) {
			return err_wrap(err, "spec.volumes[%zu]", i);
		}
	}
	return k->nclaims == 0
		       ? 0
		       : from_api_text(
				 c, pod->meta.namespace_ == NULL ? "default" : pod->meta.namespace_,
				 &k->claims_in, err);
}

/* The name that kubelets report: without tag and digest it is that of the tag latest. */
static const char *full_name(const char *image, struct arena *scratch)
{
	const char *colon = strrchr(image, ':'), *slash = strrchr(image, '/');
	bool tagged = colon != NULL && (slash == NULL || colon > slash);

	return tagged ? image : arena_printf(scratch, "%s:latest", image);
}

static void add_image(const char *image, struct arena *scratch, struct pod_class *k)
{
	const char *name;

	k->image_sources++;
	if (image == NULL || strlen(image) > IMAGES_NAME_MAX) {
		return; /* no node has it */
	}
	name = full_name(image, scratch);
	for (size_t i = 0; i < k->nimages; i++) {
		if (strcmp(k->images[i].name, name) == 0) {
			k->images[i].times++;
			return;
		}
	}
	if (k->nimages < POD_CLASS_IMAGES_MAX) {
		k->images[k->nimages++] = (struct pod_image){ .name = name, .times = 1 };
	}
}

/* In kube-scheduler's order. */
static void read_images(const struct api_pod_spec *spec, struct arena *scratch, struct pod_class *k)
{
	k->images = arena_zero(scratch, POD_CLASS_IMAGES_MAX, sizeof(k->images[0]));
	for (size_t i = 0; i < spec->init_containers.n; i++) {
		add_image(spec->init_containers.v[i].image, scratch, k);
	}
	for (size_t i = 0; i < spec->containers.n; i++) {
		add_image(spec->containers.v[i].image, scratch, k);
	}
	for (size_t i = 0; i < spec->volumes.n; i++) {
		if (spec->volumes.v[i].image != NULL) {
			add_image(spec->volumes.v[i].image->reference, scratch, k);
		}
	}
	k->image_sources = k->nimages == 0 ? 0 : k->image_sources;
}

/* Placing such a pod correctly needs rules that are not implemented. */
static const char *refusal(const struct api_pod_spec *spec)
{
	if (spec->claims.n > 0) {
		return POD_CLASS_RESOURCE_CLAIMS;
	}
	return spec->group != NULL ? POD_CLASS_SCHEDULING_GROUP : NULL;
}

static size_t count_exprs(const struct match_term *terms, size_t n)
{
	size_t sum = n;

	for (size_t i = 0; i < n; i++) {
		sum += terms[i].nexprs;
	}
	return sum;
}

static size_t count_parts(const struct pod_class *k)
{
	size_t sum = k->nselector + k->ntolerations + k->nports +
		     count_exprs(k->required, k->nrequired) +
		     count_exprs(k->preferred, k->npreferred);

	for (size_t i = 0; i < k->nterms; i++) {
		sum += k->terms[i].nnamespaces + count_exprs(&k->terms[i].namespaces_by, 1) +
		       count_exprs(&k->terms[i].pods, 1);
	}
	return sum;
}

int from_api_class_read(struct cluster *c, const struct api_pod *pod, struct arena *scratch,
			struct pod_class *k, struct err *err)
{
	const struct api_pod_spec *spec = &pod->spec;
	struct match_from_api_tolerations tolerations;

	k->unsupported = refusal(spec);
	if (match_from_api_selector(c->names, &spec->node_selector, scratch, &k->selector,
				    &k->nselector, err) < 0) {
		return err_wrap(err, "spec.nodeSelector");
	}
	if (match_from_api_tolerations(c->names, spec->tolerations.v, spec->tolerations.n, scratch,
				       &tolerations, err) < 0) {
		return err_path(err, "spec.");
	}
	k->tolerations = tolerations.v;
	k->ntolerations = tolerations.n;
	if ((spec->affinity != NULL && spec->affinity->node != NULL &&
	     read_node_affinity(c, spec->affinity->node, scratch, k, err) < 0)) {
		return -ERR_INVALID;
	}
	if (from_api_class_ports(c, pod, scratch, k, err) < 0) {
		return -ERR_INVALID;
	}
	if (from_api_terms_read(c, pod, true, scratch, k, err) < 0) {
		return -ERR_INVALID;
	}
	/* A pod that has its node is not placed again: its class is that of pods with other images.
	 */
	if (spec->node_name == NULL) {
		read_images(spec, scratch, k);
	}
	if (k->unsupported == NULL && count_parts(k) > POD_CLASS_PARTS_MAX) {
		k->unsupported = POD_CLASS_TOO_LARGE;
	}
	return 0;
}
