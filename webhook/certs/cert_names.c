#include "webhook/certs/cert_names.h"

#include <arpa/inet.h>
#include <stdlib.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/str.h"
#include "base/xmalloc.h"

/* A client that connects to an address compares it with the entries for addresses alone, so an
 * address among the DNS names would be useless. */
static void add(struct cert_names *n, char *name_take)
{
	unsigned char bytes[sizeof(struct in6_addr)];

	n->all[n->count++] = name_take;
	if (inet_pton(AF_INET, name_take, bytes) == 1 ||
	    inet_pton(AF_INET6, name_take, bytes) == 1) {
		n->ip[n->ip_count++] = name_take;
	} else {
		n->dns[n->dns_count++] = name_take;
	}
}

/* The API server connects to service.namespace.svc. */
static void add_service(struct cert_names *n, const char *namespace_, const char *service)
{
	static const char *const suffixes[] = { ".svc", ".svc.cluster.local", "" };

	for (size_t i = 0; i < ARRAY_LEN(suffixes); i++) {
		add(n, xmalloc_printf("%s.%s%s", service, namespace_, suffixes[i]));
	}
}

/* "https://host[:port][/path]", "https://[v6]:port" */
static int add_url(struct cert_names *n, const char *url, struct err *err)
{
	static const char scheme[] = "https://";
	struct str rest = str_of(url), host;

	if (!str_has_prefix(rest, scheme)) {
		return err_set(err, ERR_INVALID, "\"%s\" does not begin with https://", url);
	}
	rest = (struct str){ url + sizeof(scheme) - 1, rest.len - (sizeof(scheme) - 1) };
	rest = str_next(&rest, '/');
	if (rest.len > 0 && rest.p[0] == '[') {
		/* The colons of an IPv6 address do not begin a port. */
		rest = (struct str){ rest.p + 1, rest.len - 1 };
		host = str_next(&rest, ']');
	} else {
		host = str_next(&rest, ':');
	}
	if (host.len == 0 || host.len > CERT_NAMES_MAX_BYTES) {
		return err_set(err, ERR_INVALID, "\"%s\" names no host", url);
	}
	add(n, xmalloc_dup_n(host.p, host.len));
	return 0;
}

int cert_names_of(struct cert_names *ret, const char *namespace_, const char *service,
		  const char *url, struct err *err)
{
	*ret = (struct cert_names){ .count = 0 };
	if (service == NULL && url == NULL) {
		return err_set(err, ERR_INVALID,
			       "a certificate needs a name: of a service or of a URL");
	}
	if (service != NULL) {
		add_service(ret, namespace_, service);
	}
	return url == NULL ? 0 : add_url(ret, url, err);
}

void cert_names_finish(struct cert_names *n)
{
	for (size_t i = 0; i < n->count; i++) {
		free(n->all[i]);
	}
	*n = (struct cert_names){ .count = 0 };
}
