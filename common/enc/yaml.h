/* common/enc/yaml.h: YAML to the JSON tree (the only user of libyaml), and back.
 * The YAML 1.2 core schema as Kubernetes reads it (yes/no/on/off as booleans are strings unless
 * true/false; quoted scalars are strings; merge keys and anchors resolved, tags refused).
 * Limits: YAML_MAX_BYTES, JDOC_MAX_DEPTH, YAML_MAX_DOCS documents, YAML_MAX_NODES nodes after
 * expanding aliases. Errors name line and column. Any thread. JSON text is YAML, too. */
#ifndef COMMON_ENC_YAML_H
#define COMMON_ENC_YAML_H

#include <stddef.h>

#include "base/str.h"

#define YAML_MAX_BYTES (16u << 20)
#define YAML_MAX_DOCS 10000
#define YAML_MAX_NODES 2000000

struct err;
struct jdoc;
struct strbuf;

/* Exactly one document (an empty stream gives a JDOC_NULL root). The caller owns *ret. */
int yaml_parse(struct str text, struct jdoc **ret, struct err *err);
/* A stream of documents separated by ---: a JDOC_ARRAY root of them, in which empty ones are
 * JDOC_NULL. */
int yaml_parse_all(struct str text, struct jdoc **ret, struct err *err);
/* Block style, keys in tree order, like kubectl -o yaml. */
void yaml_format(const struct jdoc *d, struct strbuf *out);

#endif
