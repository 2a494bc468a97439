/* scheduler/ctl/manifest/unknown_fields.h: fields that an object has and the API does not know. Of
 * our own kinds the schema says which; of core kinds the fields of Kubernetes 1.37 are listed, as
 * far as they bear on scheduling: below the members that unknown_fields.c does not describe
 * (volumes, probes, managedFields and so on) nothing is looked at. Pure. */
#ifndef SCHEDULER_CTL_MANIFEST_UNKNOWN_FIELDS_H
#define SCHEDULER_CTL_MANIFEST_UNKNOWN_FIELDS_H

struct jdoc;

/* near: the known name of this place that is nearest; NULL: none is near. */
typedef void (*unknown_fields_fn)(void *ctx, const char *path, const char *near);

/* schema: of a CustomResourceDefinition. */
void unknown_fields_of_schema(const struct jdoc *schema, const struct jdoc *object,
			      unknown_fields_fn fn, void *ctx);
/* kind: a core kind, or Topology. Of another kind that has a schema: what the schema leaves open, the
 * metadata and a Workload's pod templates. */
void unknown_fields_of_kind(const char *kind, const struct jdoc *object, unknown_fields_fn fn,
			    void *ctx);

#endif
