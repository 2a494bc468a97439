/* common/api/storage/storage.h: the kinds on which the placement of pods with persistent volumes
 * depends: PersistentVolumeClaim and PersistentVolume of v1, StorageClass, CSINode,
 * CSIDriver and CSIStorageCapacity of storage.k8s.io/v1, as far as that goes. Plain data in an
 * arena. */
#ifndef COMMON_API_STORAGE_STORAGE_H
#define COMMON_API_STORAGE_STORAGE_H

#include "api/core/pod.h"
#include "api/meta/meta.h"
#include "api/meta/selector.h"
#include "enc/field.h"

/* Annotations of a claim that Kubernetes' controllers and schedulers agree on. */
#define STORAGE_SELECTED_NODE "volume.kubernetes.io/selected-node"
#define STORAGE_BIND_COMPLETED "pv.kubernetes.io/bind-completed"
/* On a volume: its claimRef was written for a claim, not by the volume's administrator. */
#define STORAGE_BOUND_BY_CONTROLLER "pv.kubernetes.io/bound-by-controller"
#define STORAGE_BETA_CLASS "volume.beta.kubernetes.io/storage-class"
/* The provisioner of classes that provision nothing. */
#define STORAGE_NO_PROVISIONER "kubernetes.io/no-provisioner"

struct api_storage_requirements {
	struct field_resources requests;
};
struct api_persistent_claim_spec {
	const char *volume_name, *volume_mode;
	const char *storage_class; /* NULL: absent or empty */
	struct field_strs access_modes;
	struct api_storage_requirements resources;
	struct api_label_selector *selector;
	const char *attributes_class;
};
struct api_persistent_claim_status {
	const char *phase;
};
struct api_persistent_claim {
	const char *api_version, *kind;
	struct api_meta meta;
	struct api_persistent_claim_spec spec;
	struct api_persistent_claim_status status;
};

struct api_claim_reference {
	const char *namespace_, *name, *uid;
};
struct api_csi_source {
	const char *driver;
};
struct api_volume_affinity {
	struct api_node_selector *required; /* NULL: any node */
};
struct api_persistent_volume_spec {
	const char *storage_class, *volume_mode;
	const char *attributes_class;
	struct field_strs access_modes;
	struct field_resources capacity;
	struct api_claim_reference *claim; /* NULL: none */
	struct api_csi_source *csi;        /* NULL: another kind of source */
	struct api_volume_affinity *affinity;
};
struct api_persistent_volume_status {
	const char *phase;
};
struct api_persistent_volume {
	const char *api_version, *kind;
	struct api_meta meta;
	struct api_persistent_volume_spec spec;
	struct api_persistent_volume_status status;
};

struct api_topology_label { /* the node has one of the values */
	const char *key;
	struct field_strs values;
};
struct api_topology_term { /* all of the labels */
	struct FIELD_LIST(struct api_topology_label) labels;
};
struct api_storage_class {
	const char *api_version, *kind;
	struct api_meta meta;
	const char *provisioner, *binding_mode;
	struct FIELD_LIST(struct api_topology_term) topologies; /* any of them; none: any node */
};

struct api_csi_allocatable {
	int32_t count; /* FIELD_NO_I32: no limit */
};
struct api_csi_driver {
	const char *name;
	struct api_csi_allocatable *allocatable;
};
struct api_csi_node_spec {
	struct FIELD_LIST(struct api_csi_driver) drivers;
};
struct api_csi_node { /* it has the name of its node */
	const char *api_version, *kind;
	struct api_meta meta;
	struct api_csi_node_spec spec;
};

struct api_csi_driver_object_spec {
	bool storage_capacity;
};
struct api_csi_driver_object {
	const char *api_version, *kind;
	struct api_meta meta;
	struct api_csi_driver_object_spec spec;
};

struct api_storage_capacity {
	const char *api_version, *kind;
	struct api_meta meta;
	const char *storage_class;
	const struct quantity *capacity, *maximum; /* NULL: absent */
	struct api_label_selector *nodes;          /* NULL: absent */
};

extern const struct field_table storage_claim_fields;
extern const struct field_table storage_volume_fields;
extern const struct field_table storage_class_fields;
extern const struct field_table storage_csi_node_fields;
extern const struct field_table storage_csi_driver_fields;
extern const struct field_table storage_capacity_fields;

/* The largest volume that it has room for; NULL: it says nothing. */
const struct quantity *storage_capacity_limit(const struct api_storage_capacity *p);

/* The class of the volume, by the same rule as that of a claim. */
const char *storage_volume_class(const struct api_persistent_volume *v);
/* The class that the claim asks for: the beta annotation comes before the field, as in Kubernetes.
 * NULL: none. */
const char *storage_claim_class(const struct api_persistent_claim *c);
/* The claim and its volume are bound to each other, and both say so. */
bool storage_claim_is_bound(const struct api_persistent_claim *c);

#endif
