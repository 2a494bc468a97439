#include "api/storage/storage.h"

#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "scheduler/base/match_from_api.h"
#include "scheduler/pods/ingest/from_api.h"
#include "scheduler/pods/model/storage_capacity.h"
#include "scheduler/pods/model/volumes.h"

static int check_name(const struct api_meta *m, struct err *err)
{
	return m->name == NULL ? err_set(err, ERR_INVALID, "metadata.name: missing") : 0;
}

/* A mode that is not known is no mode of any volume or claim. */
static uint8_t read_access(const struct field_strs *modes)
{
	static const struct {
		const char *mode;
		enum volume_access access;
	} rows[] = { { "ReadWriteOnce", VOLUME_ONCE },
		     { "ReadOnlyMany", VOLUME_READ_ONLY_MANY },
		     { "ReadWriteMany", VOLUME_MANY },
		     { "ReadWriteOncePod", VOLUME_ONCE_POD } };
	unsigned mask = 0;

	for (size_t i = 0; i < modes->n; i++) {
		for (size_t r = 0; r < ARRAY_LEN(rows); r++) {
			mask |= str_streq(modes->v[i], rows[r].mode) ? rows[r].access : 0;
		}
	}
	return (uint8_t)mask;
}

/* Saturates: no volume is as large as such a claim asks for. */
static int64_t read_bytes(const struct field_resources *amounts, bool up)
{
	const struct quantity *q = field_resources_get(amounts, "storage");

	if (q == NULL) {
		return 0;
	}
	return up ? quantity_value(*q) : quantity_value_floor(*q);
}

/* A name without text is none. */
static int read_form(struct cluster *c, const char *volume_mode, const char *attributes,
		     struct volume_form *form, struct err *err)
{
	form->block = str_streq(volume_mode, "Block");
	if (attributes != NULL && attributes[0] != '\0' &&
	    from_api_text(c, attributes, &form->attributes, err) < 0) {
		return err_wrap(err, "spec.volumeAttributesClassName");
	}
	return 0;
}

/* field: for errors. */
static int read_selector(struct cluster *c, const struct api_label_selector *from,
			 const char *field, struct arena *scratch, const struct match_term **ret,
			 struct err *err)
{
	struct match_term *t;

	if (from == NULL) {
		return 0;
	}
	if (from->match_labels.n + from->match_expressions.n > FROM_API_SELECTOR_MAX) {
		return err_set(err, ERR_INVALID, "%s: more than %d requirements", field,
			       FROM_API_SELECTOR_MAX);
	}
	t = arena_zero(scratch, 1, sizeof(*t));
	if (match_from_api_label_selector(c->names, from, scratch, &t->exprs, &t->nexprs, err) <
	    0) {
		return err_wrap(err, "%s", field);
	}
	*ret = t;
	return 0;
}

int from_api_volumes_claim(struct cluster *c, const struct api_persistent_claim *claim,
			   struct arena *scratch, bool *ret_changed, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;
	const struct api_owner *owner = meta_controller(&claim->meta);
	struct volumes_claim_spec spec = {
		.volume = str_of(claim->spec.volume_name),
		.klass = str_of(storage_claim_class(claim)),
		.uid = claim->meta.uid,
		.owner = owner == NULL ? NULL : owner->uid,
		.selected = field_map_get(&claim->meta.annotations, STORAGE_SELECTED_NODE),
		.bound = storage_claim_is_bound(claim),
		.lost = str_streq(claim->status.phase, "Lost"),
		.deleting = claim->meta.deleted != FIELD_NO_TIME,
		.form.access = read_access(&claim->spec.access_modes),
		.form.bytes = read_bytes(&claim->spec.resources.requests, true),
		.resource_version = meta_version(&claim->meta),
	};

	if (check_name(&claim->meta, err) < 0 ||
	    read_form(c, claim->spec.volume_mode, claim->spec.attributes_class, &spec.form, err) <
		    0 ||
	    read_selector(c, claim->spec.selector, "spec.selector", scratch, &spec.selector, err) <
		    0) {
		return -ERR_INVALID;
	}
	strbuf_printf(&key, "%s/%s",
		      claim->meta.namespace_ == NULL ? "default" : claim->meta.namespace_,
		      claim->meta.name);
	spec.key = strbuf_str(&key);
	*ret_changed = volumes_set_claim(c, &spec);
	return 0;
}

static const char *const zone_labels[] = {
	"failure-domain.beta.kubernetes.io/region",
	"failure-domain.beta.kubernetes.io/zone",
	"topology.kubernetes.io/region",
	"topology.kubernetes.io/zone",
};

/* "a__b" means either; an empty part is an error, as in Kubernetes. */
static int read_zone(struct cluster *c, const char *key, const char *value, struct arena *scratch,
		     struct match_expr *e, struct err *err)
{
	struct str rest = str_of(value);
	size_t max = rest.len + 1;

	e->op = MATCH_IN;
	e->values = arena_zero(scratch, max, sizeof(e->values[0]));
	while (rest.p != NULL) {
		const char *sep = strstr(rest.p, "__");
		size_t len = sep == NULL ? strlen(rest.p) : (size_t)(sep - rest.p);
		const char *part = arena_dup_n(scratch, rest.p, len);

		if (len == 0) {
			return err_set(err, ERR_INVALID, "metadata.labels[%s]: an empty zone", key);
		}
		if (from_api_text(c, part, &e->values[e->nvalues++], err) < 0) {
			return -ERR_INVALID;
		}
		rest = str_of(sep == NULL ? NULL : sep + 2);
	}
	return from_api_text(c, key, &e->key, err);
}

static int read_zones(struct cluster *c, const struct field_map *labels, struct arena *scratch,
		      struct volumes_volume_spec *spec, struct err *err)
{
	struct match_term *term = arena_zero(scratch, 1, sizeof(*term));

	term->exprs = arena_zero(scratch, ARRAY_LEN(zone_labels), sizeof(term->exprs[0]));
	for (size_t i = 0; i < ARRAY_LEN(zone_labels); i++) {
		const char *value = field_map_get(labels, zone_labels[i]);

		if (value != NULL && read_zone(c, zone_labels[i], value, scratch,
					       &term->exprs[term->nexprs++], err) < 0) {
			return -ERR_INVALID;
		}
	}
	spec->zones = term;
	spec->nzones = term->nexprs > 0;
	return 0;
}

/* The part of the volume that matters as long as no claim is bound to it. */
static int read_claimable(struct cluster *c, const struct api_persistent_volume *volume,
			  struct arena *scratch, struct volumes_volume_spec *spec, struct err *err)
{
	const struct api_claim_reference *ref = volume->spec.claim;
	struct label *labels = NULL;

	spec->klass = str_of(storage_volume_class(volume));
	spec->form.access = read_access(&volume->spec.access_modes);
	spec->form.bytes = read_bytes(&volume->spec.capacity, false);
	spec->available = str_streq(volume->status.phase, "Available");
	spec->deleting = volume->meta.deleted != FIELD_NO_TIME;
	spec->uid = volume->meta.uid;
	spec->resource_version = meta_version(&volume->meta);
	if (ref != NULL && ref->name != NULL) {
		spec->ref = str_of(arena_printf(scratch, "%s/%s",
						ref->namespace_ == NULL ? "" : ref->namespace_,
						ref->name));
		spec->ref_uid = ref->uid;
	}
	if (match_from_api_selector(c->names, &volume->meta.labels, scratch, &labels,
				    &spec->nlabels, err) < 0) {
		return err_wrap(err, "metadata.labels");
	}
	spec->labels = labels;
	return read_form(c, volume->spec.volume_mode, volume->spec.attributes_class, &spec->form,
			 err);
}

int from_api_volumes_volume(struct cluster *c, const struct api_persistent_volume *volume,
			    struct arena *scratch, struct err *err)
{
	const struct api_volume_affinity *affinity = volume->spec.affinity;
	struct volumes_volume_spec spec = { .name = str_of(volume->meta.name) };

	if (check_name(&volume->meta, err) < 0 ||
	    read_zones(c, &volume->meta.labels, scratch, &spec, err) < 0 ||
	    read_claimable(c, volume, scratch, &spec, err) < 0) {
		return -ERR_INVALID;
	}
	spec.restricted = affinity != NULL && affinity->required != NULL;
	if (spec.restricted && match_from_api_required(c->names, affinity->required, scratch,
						       &spec.affinity, &spec.naffinity, err) < 0) {
		return err_path(err, "spec.nodeAffinity.required.");
	}
	if (volume->spec.csi != NULL && volume->spec.csi->driver != NULL &&
	    from_api_text(c, volume->spec.csi->driver, &spec.driver, err) < 0) {
		return err_wrap(err, "spec.csi.driver");
	}
	volumes_set_volume(c, &spec);
	return 0;
}

static int read_topology(struct cluster *c, const struct api_topology_term *from,
			 struct arena *scratch, struct match_term *t, struct err *err)
{
	t->exprs = arena_zero(scratch, from->labels.n, sizeof(t->exprs[0]));
	for (size_t i = 0; i < from->labels.n; i++) {
		const struct api_topology_label *label = &from->labels.v[i];
		struct api_node_requirement in = { .key = label->key,
						   .operator_ = "In",
						   .values = label->values };
		struct api_node_term one = { .expressions = { &in, 1 } };
		struct match_term read;

		if (match_from_api_term(c->names, &one, scratch, &read, err) < 0) {
			return -ERR_INVALID;
		}
		t->exprs[t->nexprs++] = read.exprs[0];
	}
	return 0;
}

int from_api_volumes_storage_class(struct cluster *c, const struct api_storage_class *k,
				   struct arena *scratch, struct err *err)
{
	struct volumes_class_spec spec = {
		.name = str_of(k->meta.name),
		.waits = str_streq(k->binding_mode, "WaitForFirstConsumer"),
		.restricted = k->topologies.n > 0,
		.topologies = arena_zero(scratch, k->topologies.n, sizeof(spec.topologies[0])),
	};

	if (check_name(&k->meta, err) < 0) {
		return -ERR_INVALID;
	}
	for (; spec.ntopologies < k->topologies.n; spec.ntopologies++) {
		if (read_topology(c, &k->topologies.v[spec.ntopologies], scratch,
				  &spec.topologies[spec.ntopologies], err) < 0) {
			return err_wrap(err, "allowedTopologies[%zu]", spec.ntopologies);
		}
	}
	if (k->provisioner != NULL && !str_streq(k->provisioner, STORAGE_NO_PROVISIONER) &&
	    from_api_text(c, k->provisioner, &spec.provisioner, err) < 0) {
		return err_wrap(err, "provisioner");
	}
	volumes_set_class(c, &spec);
	return 0;
}

int from_api_volumes_csi_node(struct cluster *c, const struct api_csi_node *node,
			      struct arena *scratch, struct err *err)
{
	struct volume_limit *limits = arena_zero(scratch, node->spec.drivers.n, sizeof(*limits));
	size_t n = 0;

	if (check_name(&node->meta, err) < 0) {
		return -ERR_INVALID;
	}
	for (size_t i = 0; i < node->spec.drivers.n; i++) {
		const struct api_csi_driver *d = &node->spec.drivers.v[i];

		/* A driver without a count, or with one below 0, has no limit. */
		if (d->name == NULL || d->allocatable == NULL || d->allocatable->count < 0) {
			continue;
		}
		if (from_api_text(c, d->name, &limits[n].driver, err) < 0) {
			return err_wrap(err, "spec.drivers[%zu].name", i);
		}
		limits[n++].count = (uint32_t)d->allocatable->count;
	}
	volumes_set_limits(c, str_of(node->meta.name), limits, n);
	return 0;
}

int from_api_volumes_driver(struct cluster *c, const struct api_csi_driver_object *driver,
			    bool *ret_changed, struct err *err)
{
	if (check_name(&driver->meta, err) < 0) {
		return -ERR_INVALID;
	}
	*ret_changed = storage_capacity_set_driver(c, str_of(driver->meta.name),
						   driver->spec.storage_capacity);
	return 0;
}

/* Nothing, and a negative amount, is room for no volume. */
static int64_t read_limit(const struct quantity *limit)
{
	int64_t bytes = limit == NULL ? -1 : quantity_value_floor(*limit);

	return bytes < 0 ? -1 : bytes;
}

int from_api_volumes_capacity(struct cluster *c, const struct api_storage_capacity *capacity,
			      struct arena *scratch, bool *ret_changed, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;
	struct storage_capacity_spec spec = {
		.klass = str_of(capacity->storage_class),
		.bytes = read_limit(storage_capacity_limit(capacity)),
	};

	if (check_name(&capacity->meta, err) < 0) {
		return -ERR_INVALID;
	}
	if (spec.klass.len == 0) {
		return err_set(err, ERR_INVALID, "storageClassName: missing");
	}
	if (read_selector(c, capacity->nodes, "nodeTopology", scratch, &spec.nodes, err) < 0) {
		return -ERR_INVALID;
	}
	strbuf_printf(&key, "%s/%s",
		      capacity->meta.namespace_ == NULL ? "default" : capacity->meta.namespace_,
		      capacity->meta.name);
	spec.key = strbuf_str(&key);
	*ret_changed = storage_capacity_set(c, &spec);
	return 0;
}
