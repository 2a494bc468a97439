/* scheduler/ctl/manifest/crd_schemas.h: the schemas of our own kinds, from the
 * CustomResourceDefinitions that the chart installs: their files are compiled in. One thread. */
#ifndef SCHEDULER_CTL_MANIFEST_CRD_SCHEMAS_H
#define SCHEDULER_CTL_MANIFEST_CRD_SCHEMAS_H

#include <stdbool.h>

#include "base/str.h"

struct crd_schemas;
struct jdoc;
struct strbuf;

struct crd_schemas *crd_schemas_create(void);
void crd_schemas_destroy(struct crd_schemas *s); /* NULL is fine */
/* The definition of a kind; NULL: it is not defined by one of ours. */
const struct jdoc *crd_schemas_find(const struct crd_schemas *s, const char *group,
				    const char *kind);
/* The schema of a version that is served; NULL: there is no such version. */
const struct jdoc *crd_schemas_version(const struct jdoc *crd, struct str version);
/* Appends the versions that are served: "v1beta1, v1beta2". */
void crd_schemas_versions(const struct jdoc *crd, struct strbuf *out);

#endif
