/* common/enc/yaml_scalar.h: types of plain YAML scalars. Any thread. */
#ifndef COMMON_ENC_YAML_SCALAR_H
#define COMMON_ENC_YAML_SCALAR_H

#include <stdbool.h>

#include "base/str.h"

struct jdoc;

/* YAML 1.2 core schema; in addition a leading 0 means octal, as Kubernetes' YAML library reads it
 * (defaultMode: 0644). A new root; NULL for numbers that JSON does not have (.inf, .nan, 1e999). */
struct jdoc *yaml_scalar_resolve(struct str text);
/* Whether a string must be quoted because a reader of YAML 1.1 or 1.2 would take the plain text for
 * another type. */
bool yaml_scalar_needs_quotes(struct str text);

#endif
