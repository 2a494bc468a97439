#include "api/pod.h"
#include "base/arena.h"
#include "base/err.h"
#include "model/from_api.h"

bool from_api_class_effect(const char *text, uint8_t *ret)
{
	static const char *const names[] = {
		[TAINT_NO_SCHEDULE] = "NoSchedule",
		[TAINT_PREFER_NO_SCHEDULE] = "PreferNoSchedule",
		[TAINT_NO_EXECUTE] = "NoExecute",
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (str_streq(text, names[i])) {
			*ret = (uint8_t)i;
			return true;
		}
	}
	return false;
}

static int read_selector(struct cluster *c, const struct field_map *map, struct arena *scratch,
			 struct pod_class *k, struct err *err)
{
	k->selector = arena_zero(scratch, map->n, sizeof(k->selector[0]));
	for (size_t i = 0; i < map->n; i++) {
		if (from_api_text(c, map->v[i].key, &k->selector[i].key, err) < 0 ||
		    from_api_text(c, map->v[i].value, &k->selector[i].value, err) < 0) {
			return err_wrap(err, "spec.nodeSelector");
		}
	}
	k->nselector = map->n;
	return 0;
}

static int read_op(const char *text, enum match_op *ret, struct err *err)
{
	static const char *const names[] = {
		[MATCH_IN] = "In",         [MATCH_NOT_IN] = "NotIn",
		[MATCH_EXISTS] = "Exists", [MATCH_NOT_EXISTS] = "DoesNotExist",
		[MATCH_GT] = "Gt",         [MATCH_LT] = "Lt",
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (str_streq(text, names[i])) {
			*ret = (enum match_op)i;
			return 0;
		}
	}
	return err_set(err, ERR_INVALID, "operator: unknown \"%s\"", text == NULL ? "" : text);
}

static int read_expr(struct cluster *c, const struct api_node_req *req, bool on_field,
		     struct arena *scratch, struct match_expr *e, struct err *err)
{
	if (read_op(req->operator_, &e->op, err) < 0) {
		return -ERR_INVALID;
	}
	if (on_field && !str_streq(req->key, "metadata.name")) {
		return err_set(err, ERR_INVALID, "matchFields: only metadata.name can be matched");
	}
	e->on_field = on_field;
	e->values = arena_zero(scratch, req->values.n, sizeof(e->values[0]));
	for (size_t i = 0; i < req->values.n; i++) {
		if (from_api_text(c, req->values.v[i], &e->values[i], err) < 0) {
			return -ERR_INVALID;
		}
	}
	e->nvalues = req->values.n;
	return from_api_text(c, req->key, &e->key, err);
}

/* A term without expressions matches no node, so leaving it out of an "any of" changes nothing. */
static int read_term(struct cluster *c, const struct api_node_term *term, struct arena *scratch,
		     struct match_term *ret, struct err *err)
{
	size_t n = term->expressions.n + term->fields.n;

	ret->exprs = arena_zero(scratch, n, sizeof(ret->exprs[0]));
	for (size_t i = 0; i < n; i++) {
		bool on_field = i >= term->expressions.n;
		const struct api_node_req *req = on_field ? &term->fields.v[i - term->expressions.n]
							  : &term->expressions.v[i];

		if (read_expr(c, req, on_field, scratch, &ret->exprs[i], err) < 0) {
			return -ERR_INVALID;
		}
	}
	ret->nexprs = n;
	return 0;
}

static int read_required(struct cluster *c, const struct api_node_selector *sel,
			 struct arena *scratch, struct pod_class *k, struct err *err)
{
	k->has_required = true;
	k->required = arena_zero(scratch, sel->terms.n, sizeof(k->required[0]));
	for (size_t i = 0; i < sel->terms.n; i++) {
		struct match_term *t = &k->required[k->nrequired];

		if (read_term(c, &sel->terms.v[i], scratch, t, err) < 0) {
			return err_wrap(err,
					"requiredDuringSchedulingIgnoredDuringExecution"
					".nodeSelectorTerms[%zu]",
					i);
		}
		k->nrequired += t->nexprs > 0;
	}
	return 0;
}

static int read_node_affinity(struct cluster *c, const struct api_node_affinity *a,
			      struct arena *scratch, struct pod_class *k, struct err *err)
{
	if (a->required != NULL && read_required(c, a->required, scratch, k, err) < 0) {
		return err_wrap(err, "spec.affinity.nodeAffinity");
	}
	k->preferred = arena_zero(scratch, a->preferred.n, sizeof(k->preferred[0]));
	for (size_t i = 0; i < a->preferred.n; i++) {
		struct match_term *t = &k->preferred[k->npreferred];

		if (read_term(c, &a->preferred.v[i].preference, scratch, t, err) < 0) {
			return err_wrap(err,
					"spec.affinity.nodeAffinity"
					".preferredDuringSchedulingIgnoredDuringExecution[%zu]",
					i);
		}
		t->weight = a->preferred.v[i].weight;
		k->npreferred += t->nexprs > 0;
	}
	return 0;
}

/* An operator that we do not know tolerates nothing: the pod keeps off the tainted node. */
static int read_tolerations(struct cluster *c, const struct api_pod_spec *spec,
			    struct arena *scratch, struct pod_class *k, struct err *err)
{
	k->tolerations = arena_zero(scratch, spec->tolerations.n, sizeof(k->tolerations[0]));
	for (size_t i = 0; i < spec->tolerations.n; i++) {
		const struct api_toleration *a = &spec->tolerations.v[i];
		struct toleration *t = &k->tolerations[k->ntolerations];

		t->exists = str_streq(a->operator_, "Exists");
		t->any_effect = a->effect == NULL || a->effect[0] == '\0';
		if ((!t->exists && a->operator_ != NULL && !str_streq(a->operator_, "Equal")) ||
		    (!t->exists && a->key == NULL) ||
		    (!t->any_effect && !from_api_class_effect(a->effect, &t->effect))) {
			*t = (struct toleration){ .key = NULL };
			continue;
		}
		if ((a->key != NULL && from_api_text(c, a->key, &t->key, err) < 0) ||
		    from_api_text(c, a->value, &t->value, err) < 0) {
			return err_wrap(err, "spec.tolerations[%zu]", i);
		}
		k->ntolerations++;
	}
	return 0;
}

static int read_port(struct cluster *c, const struct api_port *p, bool host_network,
		     struct pod_class *k, struct err *err)
{
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

static const char *refusal(const struct api_pod_spec *spec)
{
	const struct api_affinity *a = spec->affinity;

	if (a != NULL && ((a->pod != NULL && a->pod->required.n > 0) ||
			  (a->pod_anti != NULL && a->pod_anti->required.n > 0))) {
		return POD_CLASS_POD_AFFINITY;
	}
	for (size_t i = 0; i < spec->spread.n; i++) {
		if (!str_streq(spec->spread.v[i].when_unsatisfiable, "ScheduleAnyway")) {
			return POD_CLASS_TOPOLOGY_SPREAD;
		}
	}
	for (size_t i = 0; i < spec->volumes.n; i++) {
		if (spec->volumes.v[i].claim != NULL || spec->volumes.v[i].ephemeral) {
			return POD_CLASS_VOLUMES;
		}
	}
	return spec->claims.n > 0 ? POD_CLASS_RESOURCE_CLAIMS : NULL;
}

int from_api_class_read(struct cluster *c, const struct api_pod *pod, struct arena *scratch,
			struct pod_class *k, struct err *err)
{
	const struct api_pod_spec *spec = &pod->spec;

	k->unsupported = refusal(spec);
	if (read_selector(c, &spec->node_selector, scratch, k, err) < 0 ||
	    (spec->affinity != NULL && spec->affinity->node != NULL &&
	     read_node_affinity(c, spec->affinity->node, scratch, k, err) < 0) ||
	    read_tolerations(c, spec, scratch, k, err) < 0) {
		return -ERR_INVALID;
	}
	return from_api_class_ports(c, pod, scratch, k, err);
}
