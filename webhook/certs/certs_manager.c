#include "webhook/certs/certs_manager.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/rng.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "certs/pair.h"
#include "enc/base64.h"
#include "enc/json/cut.h"
#include "kube/lease.h"
#include "kube/reflector/reflector.h"
#include "kube/rest.h"
#include "kube/transport.h"
#include "kube/wakeup.h"
#include "obs/metric.h"
#include "process/backoff.h"
#include "process/log.h"
#include "webhook/certs/ca_bundles.h"
#include "webhook/certs/cert_names.h"
#include "webhook/certs/cert_secret.h"

/* One step() per event, one request at a time:
 * 1. Not all lists are complete, or a request is in flight: nothing. The end of either calls
 *    step() again.
 * 2. Not leading, or backoff after a failure of the Secret: sleep.
 * 3. The facts of the Secret and of the registrations give an action (cert_rules.h). An action
 *    is one write of the Secret, conditional on the version from which the facts were read: a
 *    replica that is behind gets 409 and decides again.
 * 4. No action: patch one registration that does not have the bundle. The Secret comes first,
 *    since an action may change the bundle.
 * 5. All have it: note since when, and sleep until time alone changes a fact. When spread_ns
 *    have passed, API servers had time to see the next CA, and step 3 makes it the current one.
 *
 * All decisions follow from what the API server has, and from the time since when the bundle is
 * everywhere. A new leader counts that time anew: the CA is promoted later, never earlier. */

#define CALL_NS (5 * CLOCK_NS_PER_S)
#define LEAVE_MS 3000
#define RETRY_MIN_NS CLOCK_NS_PER_S /* not sooner: each attempt at the Secret makes new keys */
#define RETRY_MAX_NS (30 * CLOCK_NS_PER_S)
#define KEEP_OLD_FACTOR 5 /* replicas get that much more time than API servers */

enum kind { KIND_SECRET, KIND_MUTATING, KIND_VALIDATING, KIND_COUNT_ };

static const char *const registration_paths[KIND_COUNT_] = {
	[KIND_MUTATING] = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
	[KIND_VALIDATING] = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
};

struct watch {
	struct certs_manager *m;
	enum kind kind;
	struct reflector *reflector;
	bool synced;
};

struct certs_manager {
	char *namespace_, *secret_name, *lease_name, *selector, *identity;
	struct cert_names names;
	struct cert_secret_options secret_options;
	int64_t spread_ns;
	struct transport *transport;
	const struct clock *clock;
	struct watch watch[KIND_COUNT_];
	struct lease *lease;
	struct wakeup *wakeup;
	struct rng rng;
	struct backoff backoff;
	struct metric_registry *counters; /* borrowed */
	struct metric_cell *failures;

	char *secret_version; /* NULL: there is no Secret */
	struct cert_secret secret;
	struct ca_bundles *bundles;
	int64_t spread_since;  /* CLOCK_NEVER: some registration does not have the bundle */
	struct strbuf writing; /* path of the object that the request in flight writes */
	enum kind writing_kind;
	enum cert_action action;
	bool busy, closed;
	int64_t retry_at;

	int fd, left_fd;
	pthread_mutex_t lock; /* guards pair */
	struct pair pair;
};

static void step(struct certs_manager *m);

static void wake(int fd)
{
	uint64_t one = 1;
	ssize_t n = write(fd, &one, sizeof(one));

	(void)n; /* a full eventfd is readable already */
}

/* ---- the Secret ---- */

/* Passes the pair to the server if key and certificate match: someone may be editing the Secret. */
static void publish(struct certs_manager *m)
{
	const struct pair *leaf = &m->secret.leaf;

	if (pair_check(strbuf_str(&leaf->cert), strbuf_str(&leaf->key), NULL) < 0) {
		return;
	}
	pthread_mutex_lock(&m->lock);
	pair_finish(&m->pair);
	strbuf_add_str(&m->pair.cert, strbuf_str(&leaf->cert));
	strbuf_add_str(&m->pair.key, strbuf_str(&leaf->key));
	pthread_mutex_unlock(&m->lock);
	wake(m->fd);
}

static void forget_secret(struct certs_manager *m)
{
	free(m->secret_version);
	m->secret_version = NULL;
	cert_secret_finish(&m->secret);
}

/* Adopts the Secret as read. The bundle may have changed with it. */
static void take_secret(struct certs_manager *m, struct str json)
{
	CLEANUP(cert_secret_finish) struct cert_secret read;
	struct err err = ERR_INIT;
	struct cut_meta meta = { 0 };

	cert_secret_init(&read);
	if (cert_secret_parse(json, &read, &err) < 0) {
		log_warn("cannot decode the Secret with the certificates",
			 LOG_STR("error", err.text));
		return;
	}
	forget_secret(m);
	m->secret = read;
	/* The buffers have moved: the end of the block must not free them. */
	cert_secret_init(&read);
	(void)cut_meta(json, &meta);
	m->secret_version = xmalloc_dup_n(meta.resource_version.p, meta.resource_version.len);
	m->spread_since = CLOCK_NEVER;
	publish(m);
}

static void registration_path(enum kind kind, struct str name, struct strbuf *out)
{
	strbuf_printf(out, "%s/" STR_FMT, registration_paths[kind], STR_ARG(name));
}

static void on_registration(struct certs_manager *m, enum kind kind,
			    const struct reflector_event *event)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;

	registration_path(kind, event->key, &path);
	if (event->kind == REFLECTOR_DELETE) {
		ca_bundles_remove(m->bundles, strbuf_str(&path));
	} else if (!ca_bundles_set(m->bundles, strbuf_str(&path), event->object)) {
		log_warn("cannot decode a webhook registration", LOG_STR("path", path.p));
	}
}

static void on_event(void *ctx, const struct reflector_event *event)
{
	struct watch *w = ctx;
	struct certs_manager *m = w->m;

	switch (event->kind) {
	case REFLECTOR_SYNCED:
		w->synced = true;
		break;
	case REFLECTOR_UPSERT:
	case REFLECTOR_DELETE:
		if (w->kind != KIND_SECRET) {
			on_registration(m, w->kind, event);
		} else if (event->kind == REFLECTOR_UPSERT) {
			take_secret(m, event->object);
		} else {
			/* A deleted Secret is made anew at once. Until then the pair that was
			 * published goes on being served. */
			forget_secret(m);
		}
		break;
	case REFLECTOR_RELISTED:
	case REFLECTOR_REFRESHED:
	default:
		return;
	}
	step(m);
}

/* ---- writing ---- */

static void on_done(void *ctx, const struct http_result *result)
{
	struct certs_manager *m = ctx;
	struct err err = ERR_INIT;
	int r = rest_result(result, &err);

	m->busy = false;
	if (result->error == ERR_CANCELLED) {
		/* The transport is being destroyed: no more requests. */
		m->closed = true;
		return;
	}
	if (r < 0) {
		int64_t at = clock_mono(m->clock) + backoff_next(&m->backoff, &m->rng);

		metric_cell_add(m->failures, 1);
		log_warn("cannot write certificates", LOG_STR("path", m->writing.p),
			 LOG_STR("error", err.text));
		/* A registration that cannot be patched must not hold up the others, nor the
		 * renewal of the certificate; everything waits for the Secret. */
		if (m->writing_kind == KIND_SECRET) {
			m->retry_at = at;
		} else {
			ca_bundles_defer(m->bundles, strbuf_str(&m->writing), at);
		}
	} else {
		backoff_reset(&m->backoff);
		if (m->writing_kind == KIND_SECRET) {
			log_info("wrote certificates to the Secret",
				 LOG_STR("change", cert_rules_name(m->action)));
		} else {
			log_info("wrote caBundle to the webhook registration",
				 LOG_STR("path", m->writing.p));
		}
		/* The answer counts at once: until the watch delivers it, step() would make the
		 * same change of the former state again. The reflector drops it when the watch was
		 * faster and has delivered a later edit, for which no further event comes. */
		(void)reflector_offer(m->watch[m->writing_kind].reflector, result->body);
	}
	step(m);
}

/* Sends a write of the object at m->writing. */
static void submit(struct certs_manager *m, enum kind kind, enum http_method method,
		   const char *content_type, struct str body)
{
	struct http_call call = { .method = method,
				  .url = m->writing.p,
				  .content_type = content_type,
				  .body = body,
				  .timeout_ns = CALL_NS,
				  .on_done = on_done,
				  .ctx = m };

	m->writing_kind = kind;
	m->busy = true;
	transport_submit(m->transport, &call);
}

static void write_secret(struct certs_manager *m, enum cert_action action)
{
	CLEANUP(cert_secret_finish) struct cert_secret next;
	CLEANUP(strbuf_wipe) struct strbuf body = STRBUF_INIT;
	struct err err = ERR_INIT;
	int r;

	cert_secret_init(&next);
	cert_secret_copy(&m->secret, &next);
	/* On a copy: what is served and known stays as it is until the write is through. */
	r = cert_secret_apply(&next, action, &m->secret_options, clock_wall(m->clock), &err);
	if (r < 0) {
		metric_cell_add(m->failures, 1);
		log_error("cannot create certificates", LOG_STR("error", err.text));
		m->retry_at = clock_mono(m->clock) + backoff_next(&m->backoff, &m->rng);
		/* No request is in flight, so nothing else would call step() again. */
		wakeup_set(m->wakeup, m->retry_at);
		return;
	}
	m->action = action;
	cert_secret_format(&next, m->namespace_, m->secret_name, m->secret_version, &body);
	strbuf_reset(&m->writing);
	rest_path(&m->writing, "", "v1", m->namespace_, "secrets",
		  m->secret_version == NULL ? NULL : m->secret_name, NULL);
	submit(m, KIND_SECRET, m->secret_version == NULL ? HTTP_POST : HTTP_PATCH,
	       m->secret_version == NULL ? "application/json" : "application/merge-patch+json",
	       strbuf_str(&body));
}

/* A registration with another caBundle, and the patch that sets it. */
struct stale_registration {
	struct strbuf path, patch;
	bool found;
	int64_t at; /* not found: when to search again; CLOCK_NEVER: all have the bundle */
};

static void stale_finish(struct stale_registration *stale)
{
	strbuf_finish(&stale->path);
	strbuf_finish(&stale->patch);
}

/* Also notes since when every registration has the current bundle. */
static void find_stale_registration(struct certs_manager *m, int64_t now,
				    struct stale_registration *ret)
{
	CLEANUP(strbuf_finish) struct strbuf pem = STRBUF_INIT, bundle = STRBUF_INIT;

	/* Without registrations there is none to wait for: the bundle counts as spread. */
	cert_secret_bundle(&m->secret, &pem);
	base64_encode(strbuf_str(&pem), &bundle);
	ret->found = ca_bundles_next(m->bundles, strbuf_str(&bundle), now, &ret->path, &ret->patch,
				     &ret->at);
	if (ret->found || ret->at != CLOCK_NEVER) {
		m->spread_since = CLOCK_NEVER;
	} else if (m->spread_since == CLOCK_NEVER) {
		m->spread_since = now;
	}
}

static void write_bundle(struct certs_manager *m, const struct stale_registration *stale)
{
	bool mutating = str_has_prefix(strbuf_str(&stale->path), registration_paths[KIND_MUTATING]);

	strbuf_reset(&m->writing);
	strbuf_add_str(&m->writing, strbuf_str(&stale->path));
	submit(m, mutating ? KIND_MUTATING : KIND_VALIDATING, HTTP_PATCH,
	       "application/json-patch+json", strbuf_str(&stale->patch));
}

/* Wakes up at the next time at which there may be something to write. Certificates expire by the
 * wall clock. */
static void sleep_until(struct certs_manager *m, unsigned facts, int64_t wall, int64_t mono)
{
	int64_t at = mono;

	if (wall != CLOCK_NEVER) {
		/* The wake-up runs by the monotonic clock; a jump of the other one is seen at
		 * the next event. */
		at = clock_earlier(at, clock_mono(m->clock) + (wall - clock_wall(m->clock)));
	}
	if ((facts & CERT_HAS_NEXT) != 0 && m->spread_since != CLOCK_NEVER) {
		at = clock_earlier(at, m->spread_since + m->spread_ns);
	}
	wakeup_set(m->wakeup, at);
}

static bool is_blocked(const struct certs_manager *m)
{
	for (unsigned i = 0; i < KIND_COUNT_; i++) {
		if (!m->watch[i].synced) {
			return true;
		}
	}
	return m->busy || m->closed || atomic_load(&m->transport->stopping);
}

/* Registrations are looked at before the action is chosen, since that notes since when all of
 * them have the bundle, which is one of the facts. */
static void write_next(struct certs_manager *m, int64_t now)
{
	CLEANUP(stale_finish)
	struct stale_registration stale = { .path = STRBUF_INIT, .patch = STRBUF_INIT };
	int64_t until = CLOCK_NEVER;
	unsigned facts =
		cert_secret_facts(&m->secret, &m->secret_options, clock_wall(m->clock), &until);
	enum cert_action action;

	find_stale_registration(m, now, &stale);
	if (m->spread_since != CLOCK_NEVER && now - m->spread_since >= m->spread_ns) {
		facts |= CERT_NEXT_SPREAD;
	}
	action = cert_rules_next(facts);
	if (action != CERT_WAIT) {
		write_secret(m, action);
	} else if (stale.found) {
		write_bundle(m, &stale);
	} else {
		sleep_until(m, facts, until, stale.at);
	}
}

static void step(struct certs_manager *m)
{
	int64_t now = clock_mono(m->clock);

	if (is_blocked(m)) {
		return;
	}
	if (!lease_may_send(m->lease)) {
		/* Gaining the Lease is reported; the end of the former holder's writes is not. */
		int64_t from = lease_writes_from(m->lease);

		m->spread_since = CLOCK_NEVER;
		wakeup_set(m->wakeup, from > now ? from : CLOCK_NEVER);
	} else if (now < m->retry_at) {
		wakeup_set(m->wakeup, m->retry_at);
	} else {
		write_next(m, now);
	}
}

static void on_wakeup(void *ctx)
{
	step(ctx);
}

static void on_lease(void *ctx, bool held)
{
	struct certs_manager *m = ctx;

	log_info(held ? "this replica now renews the certificates"
		      : "this replica no longer renews the certificates");
	step(m);
}

/* ---- life ---- */

int certs_manager_create(const struct certs_manager_options *opt, struct certs_manager **ret,
			 struct err *err)
{
	struct certs_manager *m = xmalloc_zero(1, sizeof(*m));
	int r;

	m->namespace_ = xmalloc_dup(opt->namespace_);
	m->secret_name = xmalloc_dup(opt->secret);
	m->lease_name = xmalloc_dup(opt->lease);
	m->selector = xmalloc_dup(opt->selector);
	m->identity = xmalloc_dup(opt->identity);
	m->secret_options =
		(struct cert_secret_options){ .names = &m->names,
					      .ca_ns = opt->ca_ns,
					      .leaf_ns = opt->leaf_ns,
					      .keep_old_ns = opt->spread_ns * KEEP_OLD_FACTOR };
	m->spread_ns = opt->spread_ns;
	m->spread_since = CLOCK_NEVER;
	m->counters = opt->registry;
	m->failures = metric_cell(
		metric_register(opt->registry, "headgate_webhook_certificate_write_errors_total",
				"Writes of the certificates' Secret and of registrations that "
				"failed.",
				METRIC_COUNTER, NULL),
		NULL);
	m->bundles = ca_bundles_create();
	cert_secret_init(&m->secret);
	strbuf_init(&m->writing);
	pair_init(&m->pair);
	pthread_mutex_init(&m->lock, NULL);
	rng_init(&m->rng, opt->seed);
	backoff_init(&m->backoff, RETRY_MIN_NS, RETRY_MAX_NS, 0.2);
	m->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	m->left_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = m->fd < 0 || m->left_fd < 0
		    ? err_set(err, ERR_IO, "eventfd: %s", strerror(errno))
		    : cert_names_of(&m->names, opt->namespace_, opt->service, opt->url, err);
	if (r < 0) {
		certs_manager_destroy(m);
		return r;
	}
	*ret = m;
	return 0;
}

void certs_manager_destroy(struct certs_manager *m)
{
	if (m == NULL) {
		return;
	}
	for (unsigned i = 0; i < KIND_COUNT_; i++) {
		reflector_destroy(m->watch[i].reflector);
	}
	lease_destroy(m->lease);
	wakeup_destroy(m->wakeup);
	ca_bundles_destroy(m->bundles);
	forget_secret(m);
	strbuf_finish(&m->writing);
	pair_finish(&m->pair);
	pthread_mutex_destroy(&m->lock);
	cert_names_finish(&m->names);
	free(m->namespace_);
	free(m->secret_name);
	free(m->lease_name);
	free(m->selector);
	free(m->identity);
	if (m->fd >= 0) {
		close(m->fd);
	}
	if (m->left_fd >= 0) {
		close(m->left_fd);
	}
	free(m);
}

static void start_watch(struct certs_manager *m, enum kind kind, const char *path,
			const char *labels, const char *fields)
{
	static const char *const names[] = { [KIND_MUTATING] = "mutatingwebhookconfigurations",
					     [KIND_VALIDATING] = "validatingwebhookconfigurations",
					     [KIND_SECRET] = "secrets" };
	struct reflector_options ro = { .path = path,
					.resource = names[kind],
					.counters = m->counters,
					.label_selector = labels,
					.field_selector = fields,
					.transport = m->transport,
					.clock = m->clock,
					.on_event = on_event,
					.ctx = &m->watch[kind],
					.seed = rng_next(&m->rng) };

	m->watch[kind].m = m;
	m->watch[kind].kind = kind;
	m->watch[kind].reflector = reflector_create(&ro);
	reflector_start(m->watch[kind].reflector);
}

void certs_manager_connect(struct certs_manager *m, struct transport *t, const struct clock *clock)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT, field = STRBUF_INIT;
	struct lease_options lo = { .namespace_ = m->namespace_,
				    .name = m->lease_name,
				    .identity = m->identity,
				    .transport = t,
				    .clock = clock,
				    .on_change = on_lease,
				    .ctx = m,
				    .seed = rng_next(&m->rng) };

	m->transport = t;
	m->clock = clock;
	m->wakeup = wakeup_create(t, clock, on_wakeup, m);
	m->lease = lease_create(&lo);
	/* The chart grants one Secret by its name: such a right covers a list or a watch only if
	 * its field selector says the name. */
	rest_path(&path, "", "v1", m->namespace_, "secrets", NULL, NULL);
	strbuf_printf(&field, "metadata.name=%s", m->secret_name);
	start_watch(m, KIND_SECRET, path.p, NULL, field.p);
	start_watch(m, KIND_MUTATING, registration_paths[KIND_MUTATING], m->selector, NULL);
	start_watch(m, KIND_VALIDATING, registration_paths[KIND_VALIDATING], m->selector, NULL);
	lease_start(m->lease);
}

static void on_left(void *ctx)
{
	struct certs_manager *m = ctx;

	wake(m->left_fd);
}

void certs_manager_leave(struct certs_manager *m)
{
	struct pollfd fd = { .fd = m->left_fd, .events = POLLIN };

	if (m->lease != NULL) {
		/* Otherwise the next replica would wait until the Lease has expired. An API
		 * server that does not answer must not hold up the end for longer than LEAVE_MS. */
		lease_release(m->lease, on_left, m);
		(void)poll(&fd, 1, LEAVE_MS);
	}
}

int certs_manager_fd(const struct certs_manager *m)
{
	return m->fd;
}

bool certs_manager_pair(struct certs_manager *m, struct pair *ret)
{
	uint64_t drained;
	ssize_t n = read(m->fd, &drained, sizeof(drained));
	bool there;

	/* Emptied before the pair is read: a pair that is published in between makes it readable
	 * again, and is at worst read twice. */
	(void)n; /* the eventfd may be empty */
	pthread_mutex_lock(&m->lock);
	there = m->pair.cert.len > 0;
	strbuf_add_str(&ret->cert, strbuf_str(&m->pair.cert));
	strbuf_add_str(&ret->key, strbuf_str(&m->pair.key));
	pthread_mutex_unlock(&m->lock);
	return there;
}
