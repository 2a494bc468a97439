#include "api/storage/storage.h"

static const struct field requirement_rows[] = {
	F_RESOURCES(struct api_storage_requirements, requests, "requests"),
};
static const struct field_table requirement_fields =
	FIELD_TABLE(struct api_storage_requirements, requirement_rows);

static const struct field claim_spec_rows[] = {
	F_STRS(struct api_persistent_claim_spec, access_modes, "accessModes"),
	F_OBJ(struct api_persistent_claim_spec, resources, "resources", requirement_fields),
	F_OBJ_PTR(struct api_persistent_claim_spec, selector, "selector", selector_fields),
	F_STR(struct api_persistent_claim_spec, storage_class, "storageClassName"),
	F_STR(struct api_persistent_claim_spec, attributes_class, "volumeAttributesClassName"),
	F_STR(struct api_persistent_claim_spec, volume_mode, "volumeMode"),
	F_STR(struct api_persistent_claim_spec, volume_name, "volumeName"),
};
static const struct field_table claim_spec_fields =
	FIELD_TABLE(struct api_persistent_claim_spec, claim_spec_rows);

static const struct field claim_status_rows[] = {
	F_STR(struct api_persistent_claim_status, phase, "phase"),
};
static const struct field_table claim_status_fields =
	FIELD_TABLE(struct api_persistent_claim_status, claim_status_rows);

static const struct field claim_rows[] = {
	F_STR(struct api_persistent_claim, api_version, "apiVersion"),
	F_STR(struct api_persistent_claim, kind, "kind"),
	F_OBJ(struct api_persistent_claim, meta, "metadata", meta_fields),
	F_OBJ(struct api_persistent_claim, spec, "spec", claim_spec_fields),
	F_OBJ(struct api_persistent_claim, status, "status", claim_status_fields),
};
const struct field_table storage_claim_fields =
	FIELD_TABLE(struct api_persistent_claim, claim_rows);

static const struct field reference_rows[] = {
	F_STR(struct api_claim_reference, name, "name"),
	F_STR(struct api_claim_reference, namespace_, "namespace"),
	F_STR(struct api_claim_reference, uid, "uid"),
};
static const struct field_table reference_fields =
	FIELD_TABLE(struct api_claim_reference, reference_rows);

static const struct field csi_source_rows[] = {
	F_STR(struct api_csi_source, driver, "driver"),
};
static const struct field_table csi_source_fields =
	FIELD_TABLE(struct api_csi_source, csi_source_rows);

static const struct field affinity_rows[] = {
	F_OBJ_PTR(struct api_volume_affinity, required, "required", pod_node_selector_fields),
};
static const struct field_table affinity_fields =
	FIELD_TABLE(struct api_volume_affinity, affinity_rows);

static const struct field volume_spec_rows[] = {
	F_STRS(struct api_persistent_volume_spec, access_modes, "accessModes"),
	F_RESOURCES(struct api_persistent_volume_spec, capacity, "capacity"),
	F_OBJ_PTR(struct api_persistent_volume_spec, claim, "claimRef", reference_fields),
	F_OBJ_PTR(struct api_persistent_volume_spec, csi, "csi", csi_source_fields),
	F_OBJ_PTR(struct api_persistent_volume_spec, affinity, "nodeAffinity", affinity_fields),
	F_STR(struct api_persistent_volume_spec, storage_class, "storageClassName"),
	F_STR(struct api_persistent_volume_spec, attributes_class, "volumeAttributesClassName"),
	F_STR(struct api_persistent_volume_spec, volume_mode, "volumeMode"),
};
static const struct field_table volume_spec_fields =
	FIELD_TABLE(struct api_persistent_volume_spec, volume_spec_rows);

static const struct field volume_status_rows[] = {
	F_STR(struct api_persistent_volume_status, phase, "phase"),
};
static const struct field_table volume_status_fields =
	FIELD_TABLE(struct api_persistent_volume_status, volume_status_rows);

static const struct field volume_rows[] = {
	F_STR(struct api_persistent_volume, api_version, "apiVersion"),
	F_STR(struct api_persistent_volume, kind, "kind"),
	F_OBJ(struct api_persistent_volume, meta, "metadata", meta_fields),
	F_OBJ(struct api_persistent_volume, spec, "spec", volume_spec_fields),
	F_OBJ(struct api_persistent_volume, status, "status", volume_status_fields),
};
const struct field_table storage_volume_fields =
	FIELD_TABLE(struct api_persistent_volume, volume_rows);

static const struct field topology_label_rows[] = {
	F_STR(struct api_topology_label, key, "key"),
	F_STRS(struct api_topology_label, values, "values"),
};
static const struct field_table topology_label_fields =
	FIELD_TABLE(struct api_topology_label, topology_label_rows);

static const struct field topology_term_rows[] = {
	F_LIST(struct api_topology_term, labels, "matchLabelExpressions", topology_label_fields),
};
static const struct field_table topology_term_fields =
	FIELD_TABLE(struct api_topology_term, topology_term_rows);

static const struct field class_rows[] = {
	F_LIST(struct api_storage_class, topologies, "allowedTopologies", topology_term_fields),
	F_STR(struct api_storage_class, api_version, "apiVersion"),
	F_STR(struct api_storage_class, kind, "kind"),
	F_OBJ(struct api_storage_class, meta, "metadata", meta_fields),
	F_STR(struct api_storage_class, provisioner, "provisioner"),
	F_STR(struct api_storage_class, binding_mode, "volumeBindingMode"),
};
const struct field_table storage_class_fields = FIELD_TABLE(struct api_storage_class, class_rows);

static const struct field allocatable_rows[] = {
	F_I32_OPT(struct api_csi_allocatable, count, "count"),
};
static const struct field_table allocatable_fields =
	FIELD_TABLE(struct api_csi_allocatable, allocatable_rows);

static const struct field driver_rows[] = {
	F_OBJ_PTR(struct api_csi_driver, allocatable, "allocatable", allocatable_fields),
	F_STR(struct api_csi_driver, name, "name"),
};
static const struct field_table driver_fields = FIELD_TABLE(struct api_csi_driver, driver_rows);

static const struct field csi_node_spec_rows[] = {
	F_LIST(struct api_csi_node_spec, drivers, "drivers", driver_fields),
};
static const struct field_table csi_node_spec_fields =
	FIELD_TABLE(struct api_csi_node_spec, csi_node_spec_rows);

static const struct field csi_node_rows[] = {
	F_STR(struct api_csi_node, api_version, "apiVersion"),
	F_STR(struct api_csi_node, kind, "kind"),
	F_OBJ(struct api_csi_node, meta, "metadata", meta_fields),
	F_OBJ(struct api_csi_node, spec, "spec", csi_node_spec_fields),
};
const struct field_table storage_csi_node_fields = FIELD_TABLE(struct api_csi_node, csi_node_rows);

static const struct field csi_driver_spec_rows[] = {
	F_BOOL(struct api_csi_driver_object_spec, storage_capacity, "storageCapacity"),
};
static const struct field_table csi_driver_spec_fields =
	FIELD_TABLE(struct api_csi_driver_object_spec, csi_driver_spec_rows);

static const struct field csi_driver_rows[] = {
	F_STR(struct api_csi_driver_object, api_version, "apiVersion"),
	F_STR(struct api_csi_driver_object, kind, "kind"),
	F_OBJ(struct api_csi_driver_object, meta, "metadata", meta_fields),
	F_OBJ(struct api_csi_driver_object, spec, "spec", csi_driver_spec_fields),
};
const struct field_table storage_csi_driver_fields =
	FIELD_TABLE(struct api_csi_driver_object, csi_driver_rows);

static const struct field capacity_rows[] = {
	F_STR(struct api_storage_capacity, api_version, "apiVersion"),
	F_QTY(struct api_storage_capacity, capacity, "capacity"),
	F_STR(struct api_storage_capacity, kind, "kind"),
	F_QTY(struct api_storage_capacity, maximum, "maximumVolumeSize"),
	F_OBJ(struct api_storage_capacity, meta, "metadata", meta_fields),
	F_OBJ_PTR(struct api_storage_capacity, nodes, "nodeTopology", selector_fields),
	F_STR(struct api_storage_capacity, storage_class, "storageClassName"),
};
const struct field_table storage_capacity_fields =
	FIELD_TABLE(struct api_storage_capacity, capacity_rows);

const struct quantity *storage_capacity_limit(const struct api_storage_capacity *p)
{
	return p->maximum != NULL ? p->maximum : p->capacity;
}

static const char *class_of(const struct api_meta *meta, const char *field)
{
	const char *beta = field_map_get(&meta->annotations, STORAGE_BETA_CLASS);

	if (beta == NULL) {
		return field;
	}
	return beta[0] == '\0' ? NULL : beta;
}

const char *storage_claim_class(const struct api_persistent_claim *c)
{
	return class_of(&c->meta, c->spec.storage_class);
}

const char *storage_volume_class(const struct api_persistent_volume *v)
{
	return class_of(&v->meta, v->spec.storage_class);
}

bool storage_claim_is_bound(const struct api_persistent_claim *c)
{
	return c->spec.volume_name != NULL &&
	       field_map_get(&c->meta.annotations, STORAGE_BIND_COMPLETED) != NULL;
}
