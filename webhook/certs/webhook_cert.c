#include "webhook/certs/webhook_cert.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "net/http_server.h"
#include "obs/metric.h"
#include "process/dirwatch.h"
#include "process/log.h"
#include "webhook/certs/certs_manager.h"

struct webhook_cert {
	struct certs_manager *manager; /* or */
	const char *cert_path, *key_path;
	struct dirwatch *watch;
	struct pair pair;
	_Atomic int64_t not_after_ns;
	struct metric_cell *expiry, *reloads, *errors;
};

static int read_pair(const struct webhook_cert *c, struct pair *ret, int64_t *ret_not_after,
		     struct err *err)
{
	int64_t not_before;
	int r = c->manager == NULL ? pair_read(c->cert_path, c->key_path, ret, err)
		: certs_manager_pair(c->manager, ret)
			? 0
			: err_set(err, ERR_NOT_FOUND, "the Secret contains no certificate yet");

	if (r < 0) {
		return r;
	}
	/* Certificate and key are two files, or two members that someone edits: for a moment
	 * they do not belong together. */
	r = pair_check(strbuf_str(&ret->cert), strbuf_str(&ret->key), err);
	if (r == 0) {
		r = pair_validity(strbuf_str(&ret->cert), &not_before, ret_not_after, err);
	}
	return r < 0 && c->manager == NULL ? err_wrap(err, "%s and %s", c->cert_path, c->key_path)
					   : r;
}

/* Makes the pair the current one. */
static void adopt(struct webhook_cert *c, struct pair *p, int64_t not_after)
{
	pair_finish(&c->pair);
	c->pair = *p;
	pair_init(p);
	atomic_store(&c->not_after_ns, not_after);
	metric_cell_set(c->expiry, (double)not_after / (double)CLOCK_NS_PER_S);
}

static void register_metrics(struct webhook_cert *c, struct metric_registry *r)
{
	c->expiry = metric_cell(metric_register(r, "headgate_webhook_certificate_expiry_seconds",
						"When the serving certificate expires, Unix time.",
						METRIC_GAUGE, NULL),
				NULL);
	c->reloads = metric_cell(
		metric_register(r, "headgate_webhook_certificate_reloads_total",
				"Serving certificates loaded after a change of files or Secret.",
				METRIC_COUNTER, NULL),
		NULL);
	c->errors = metric_cell(
		metric_register(r, "headgate_webhook_certificate_reload_errors_total",
				"Changes of files or Secret that held no usable certificate.",
				METRIC_COUNTER, NULL),
		NULL);
}

int webhook_cert_open(const char *cert_path, const char *key_path, struct metric_registry *registry,
		      struct webhook_cert **ret, struct err *err)
{
	struct webhook_cert *c = xmalloc_zero(1, sizeof(*c));
	CLEANUP(pair_finish) struct pair p = PAIR_INIT;
	int64_t not_after = 0;
	int r;

	c->cert_path = cert_path;
	c->key_path = key_path;
	pair_init(&c->pair);
	register_metrics(c, registry);
	r = read_pair(c, &p, &not_after, err);
	if (r == 0) {
		/* A change between the read and the watch is not reported. The owner also reads
		 * from time to time, and finds it then. */
		r = dirwatch_create(&c->watch, err);
	}
	if (r == 0) {
		r = dirwatch_add_file(c->watch, cert_path, err);
	}
	if (r == 0) {
		r = dirwatch_add_file(c->watch, key_path, err);
	}
	if (r < 0) {
		webhook_cert_close(c);
		return r;
	}
	adopt(c, &p, not_after);
	*ret = c;
	return 0;
}

/* Nothing is read yet: the first pair may take as long as another replica holds the Lease, and
 * the owner waits for it. */
struct webhook_cert *webhook_cert_of(struct certs_manager *manager,
				     struct metric_registry *registry)
{
	struct webhook_cert *c = xmalloc_zero(1, sizeof(*c));

	c->manager = manager;
	pair_init(&c->pair);
	register_metrics(c, registry);
	return c;
}

void webhook_cert_close(struct webhook_cert *c)
{
	if (c == NULL) {
		return;
	}
	dirwatch_destroy(c->watch);
	pair_finish(&c->pair);
	free(c);
}

const struct pair *webhook_cert_pair(const struct webhook_cert *c)
{
	return &c->pair;
}

int webhook_cert_fd(const struct webhook_cert *c)
{
	return c->manager != NULL ? certs_manager_fd(c->manager) : dirwatch_fd(c->watch);
}

static bool is_same(const struct pair *a, const struct pair *b)
{
	return str_eq(strbuf_str(&a->cert), strbuf_str(&b->cert)) &&
	       str_eq(strbuf_str(&a->key), strbuf_str(&b->key));
}

bool webhook_cert_reload(struct webhook_cert *c, struct http_server *server)
{
	CLEANUP(pair_finish) struct pair p = PAIR_INIT;
	struct err err = ERR_INIT;
	int64_t not_after = 0;
	int r;

	/* Emptied before the read: a change in between makes it readable again. */
	if (c->watch != NULL) {
		(void)dirwatch_drain(c->watch);
	}
	r = read_pair(c, &p, &not_after, &err);
	/* Called often without a change; and before the first pair its absence is no error. */
	if ((r == 0 && is_same(&p, &c->pair)) || (r == -ERR_NOT_FOUND && c->pair.cert.len == 0)) {
		return false;
	}
	/* The server decides last: a pair that it refuses does not become the current one. */
	if (r == 0 && server != NULL) {
		r = http_server_set_certificate(server, strbuf_str(&p.cert), strbuf_str(&p.key),
						&err);
	}
	if (r < 0) {
		metric_cell_add(c->errors, 1);
		log_warn("cannot load the new certificate, serving the old one",
			 LOG_STR("error", err.text));
		return false;
	}
	adopt(c, &p, not_after);
	metric_cell_add(c->reloads, 1);
	log_info("loaded a new certificate",
		 LOG_STR("source", c->manager != NULL ? "Secret" : c->cert_path));
	return true;
}

bool webhook_cert_is_valid(void *ctx, char *detail, size_t detail_size)
{
	struct webhook_cert *c = ctx;
	/* The only member that another thread reads: the health server runs this. */
	int64_t end = atomic_load(&c->not_after_ns);
	char text[CLOCK_RFC3339_MAX];

	if (clock_wall(clock_real()) < end) {
		return true;
	}
	if (end == 0) {
		snprintf(detail, detail_size, "no certificate yet");
		return false;
	}
	clock_format_time(end, text);
	snprintf(detail, detail_size, "expired at %s", text);
	return false;
}
