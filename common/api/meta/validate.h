/* common/api/meta/validate.h: names as Kubernetes allows them, by character classes. Any thread. */
#ifndef COMMON_API_META_VALIDATE_H
#define COMMON_API_META_VALIDATE_H

#include <stdbool.h>

#include "base/str.h"

/* RFC 1123 label: [a-z0-9]([-a-z0-9]*[a-z0-9])?, at most 63 bytes. */
bool validate_is_dns_label(struct str s);
/* Labels joined by dots, at most 253 bytes. */
bool validate_is_dns_subdomain(struct str s);
/* [prefix/]name: name of [A-Za-z0-9] with -_. inside, at most 63 bytes; prefix a subdomain. */
bool validate_is_qualified_name(struct str s);
/* Empty, or like the name part of a qualified name. */
bool validate_is_label_value(struct str s);

#endif
