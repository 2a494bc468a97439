/* common/enc/yaml_scalar.h: what a plain YAML scalar means. Any thread. */
#ifndef COMMON_ENC_YAML_SCALAR_H
#define COMMON_ENC_YAML_SCALAR_H

#include <stdbool.h>

#include "base/str.h"

struct jdoc;

/* YAML 1.2 core schema; in addition a leading 0 means octal, as Kubernetes' YAML library reads it
 * (defaultMode: 0644). A new root; NULL for numbers that JSON does not have (.inf, .nan, 1e999). */
struct jdoc *yaml_scalar_resolve(struct str text);
/* Must a string be quoted so that no reader of YAML 1.1 or 1.2 takes it for something else? */
bool yaml_scalar_needs_quotes(struct str text);

#endif
