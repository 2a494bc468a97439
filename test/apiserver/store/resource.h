/* test/apiserver/store/resource.h: the kinds of the server: the built-in table, the kinds
 * added by CustomResourceDefinitions, and their stored objects. Owner: the server's thread. A
 * struct resource lives as long as the server (a deleted CRD is only marked). */
#ifndef TEST_APISERVER_STORE_RESOURCE_H
#define TEST_APISERVER_STORE_RESOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "apiserver/store/bucket.h"
#include "base/str.h"

#define RESOURCE_SUB_STATUS (1u << 0)
#define RESOURCE_SUB_SCALE (1u << 1)
#define RESOURCE_NAMESPACED (1u << 2)
#define RESOURCE_GENERATION (1u << 3) /* metadata.generation counts changes of spec */
#define RESOURCE_VIRTUAL (1u << 4)    /* create answers, nothing is stored (access reviews) */
#define RESOURCE_POD (1u << 5)

struct jdoc;
struct strmap;

struct resource {
	const char *group, *version, *plural, *singular, *kind, *list_kind, *api_version;
	const char *short_names; /* "po,pods" or "" */
	const char *categories;  /* "all" or "" */
	unsigned flags;
	const char *const *fields; /* selectable, beside metadata.name and metadata.namespace */
	bool is_custom, removed;
	const struct jdoc *schema;     /* openAPIV3Schema, NULL: free form */
	const struct jdoc *columns;    /* additionalPrinterColumns or NULL */
	const char *scale_path;        /* CRD: specReplicasPath, ".spec.replicas" */
	const char *scale_status_path; /* CRD: statusReplicasPath */
	const char **own_fields;       /* of a CRD, behind fields; NULL: none */
	struct strmap *patterns;       /* of schema; NULL where there is none */
	struct jdoc *crd;              /* owns schema and columns; NULL: built in */
	struct bucket bucket;
};

struct resource_table {
	struct resource **v; /* in order of registration */
	size_t n, cap;
	size_t ring_max;
	struct strmap *by_path; /* "group/version/plural" and "group/plural" */
};

void resource_table_init(struct resource_table *t, size_t ring_max); /* with all built-in kinds */
void resource_table_finish(struct resource_table *t);
/* version NULL: whichever is served. NULL: unknown or removed. */
struct resource *resource_find(const struct resource_table *t, struct str group, struct str version,
			       struct str plural);
bool resource_has_version(const struct resource_table *t, struct str group, struct str version);
struct resource *resource_find_kind(const struct resource_table *t, const char *api_version,
				    const char *kind);
/* Adds or updates the resource of a CustomResourceDefinition that has been validated. */
struct resource *resource_add_crd(struct resource_table *t, const struct jdoc *crd);
void resource_remove_crd(struct resource_table *t, const struct jdoc *crd);
static inline bool resource_is_namespaced(const struct resource *r)
{
	return (r->flags & RESOURCE_NAMESPACED) != 0;
}
/* Whether the sub-resource exists ("" is the resource itself). */
bool resource_has_sub(const struct resource *r, struct str sub);

#endif
