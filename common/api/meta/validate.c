#include "api/meta/validate.h"

#include <stddef.h>
#include <string.h>

#define LABEL_MAX 63
#define SUBDOMAIN_MAX 253

static bool is_lower_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_alnum(char c)
{
	return is_lower_alnum(c) || (c >= 'A' && c <= 'Z');
}

/* Lower-case alphanumerics, with '-' inside; not empty, any length. */
static bool is_dns_label_text(struct str s)
{
	for (size_t i = 0; i < s.len; i++) {
		bool inside = i > 0 && i + 1 < s.len;

		if (!is_lower_alnum(s.p[i]) && !(inside && s.p[i] == '-')) {
			return false;
		}
	}
	return s.len > 0;
}

/* Alphanumerics, with '-', '_' and '.' inside; not empty. */
static bool is_qualified_part(struct str s)
{
	for (size_t i = 0; i < s.len; i++) {
		bool inside = i > 0 && i + 1 < s.len;
		char c = s.p[i];

		if (!is_alnum(c) && !(inside && (c == '-' || c == '_' || c == '.'))) {
			return false;
		}
	}
	return s.len > 0 && s.len <= LABEL_MAX;
}

bool validate_is_dns_label(struct str s)
{
	return s.len <= LABEL_MAX && is_dns_label_text(s);
}

bool validate_is_dns_subdomain(struct str s)
{
	struct str rest = s;

	if (s.len == 0 || s.len > SUBDOMAIN_MAX) {
		return false;
	}
	while (rest.p != NULL) {
		/* Kubernetes limits the length of the whole name, not of each label. */
		if (!is_dns_label_text(str_next(&rest, '.'))) {
			return false;
		}
	}
	return true;
}

bool validate_is_qualified_name(struct str s)
{
	const char *slash = s.len == 0 ? NULL : memchr(s.p, '/', s.len);
	size_t n;

	if (slash == NULL) {
		return is_qualified_part(s);
	}
	n = (size_t)(slash - s.p);
	return validate_is_dns_subdomain((struct str){ s.p, n }) &&
	       is_qualified_part((struct str){ slash + 1, s.len - n - 1 });
}

bool validate_is_label_value(struct str s)
{
	return s.len == 0 || is_qualified_part(s);
}
