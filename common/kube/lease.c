#include "kube/lease.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "api/meta/status.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/rng.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/list.h"
#include "enc/json/jdoc.h"
#include "kube/rest.h"
#include "kube/transport.h"
#include "kube/wakeup.h"

/* One attempt is GET, a decision, and a PUT or POST; a holder that knows the current object skips
 * the GET. All of it runs on the transport's thread, at most one request at a time.
 *
 *   1. every retry period (at once after a conflict while held): attempt()
 *   2. held by us: renew; released or expired: take it; absent: create it; else wait
 *   3. a successful write extends the time until which we may send, counted from the moment the
 *      write was *sent*, because other candidates may count from as early as that
 *   4. no successful write within the renew deadline: lost */

enum claim {
	CLAIM_RENEW,   /* ours and held */
	CLAIM_REOWN,   /* ours by name, but not held */
	CLAIM_FREE,    /* released by its holder, or just created */
	CLAIM_EXPIRED, /* held by another candidate, but expired */
	CLAIM_RELEASE,
	CLAIM_NONE,
};

struct request {
	struct lease *owner; /* NULL: the lease was destroyed; ignore the answer */
	uint64_t id;
	bool is_get;
	enum claim claim;
	int64_t sent_at;
};

/* A start or a release requested by another thread, queued for the transport's thread. */
struct command {
	struct list_node node;
	struct lease *owner;
	bool release;
	void (*on_done)(void *ctx);
	void *ctx;
};

struct lease {
	struct lease_options opt;
	char *namespace_, *name, *identity;
	char *item_path, *list_path;
	struct rng rng;
	struct wakeup *attempt_timer, *deadline_timer;
	struct request *request;
	pthread_mutex_t lock; /* guards commands */
	struct list_node commands;
	struct jdoc *doc;    /* the Lease as last seen; NULL: unknown or absent */
	bool doc_is_current; /* may be written without a GET */
	int64_t observed_at; /* when this spec was first seen */
	/* No other process of our name can have written since: we took the lease while it was free
	 * or expired, or set earlier_writes_end_at; no other holder was seen after that. */
	bool taken_by_us;
	bool retried_at_once; /* after a conflict; not twice in a row */
	bool stopped;         /* released or closed: no more attempts */
	bool releasing, release_retried;
	int64_t earlier_writes_end_at; /* mono: until then, an earlier process of our name may
					  still write */
	void (*on_released)(void *ctx);
	void *released_ctx;
	/* The transport's thread sets them, other threads read; release_requested is set by the
	 * thread that requests it, before `releasing`. */
	atomic_bool is_held, release_requested;
	_Atomic int64_t send_from, send_until;
};

static void attempt(struct lease *l);

static int64_t now_of(const struct lease *l)
{
	return clock_mono(l->opt.clock);
}

/* ---- the record ---- */

static const char *holder_of(const struct jdoc *doc)
{
	const char *holder = jdoc_path_str(doc, "spec.holderIdentity");

	return holder == NULL ? "" : holder;
}

/* How long the holder keeps the lease after a renewal, as the Lease says; our own duration in place
 * of a value that the API server would not accept. */
static int64_t duration_of(const struct lease *l, const struct jdoc *doc)
{
	int64_t s = jdoc_int(jdoc_path(doc, "spec.leaseDurationSeconds"), 0);

	return s > 0 && s < INT64_MAX / CLOCK_NS_PER_S ? s * CLOCK_NS_PER_S : l->opt.duration_ns;
}

/* Takes doc. The age of a record counts from when we first saw it; its renewTime is ignored. */
static void observe(struct lease *l, struct jdoc *doc)
{
	if (l->doc == NULL || !jdoc_equal(jdoc_get(l->doc, "spec"), jdoc_get(doc, "spec"))) {
		l->observed_at = now_of(l);
	}
	/* Another holder, or a release by an earlier process of our name. */
	if (!str_streq(holder_of(doc), l->identity)) {
		l->taken_by_us = false;
	}
	jdoc_destroy(l->doc);
	l->doc = doc;
	l->doc_is_current = jdoc_path_str(doc, "metadata.resourceVersion") != NULL;
}

static enum claim decide(const struct lease *l)
{
	const char *holder = holder_of(l->doc);

	/* Without a resourceVersion a write would not be conditional. */
	if (!l->doc_is_current) {
		return CLAIM_NONE;
	}
	if (str_streq(holder, l->identity)) {
		return l->releasing ? CLAIM_RELEASE : lease_is_held(l) ? CLAIM_RENEW : CLAIM_REOWN;
	}
	if (l->releasing) {
		return CLAIM_NONE;
	}
	if (holder[0] == '\0') {
		return CLAIM_FREE;
	}
	return now_of(l) - l->observed_at >= duration_of(l, l->doc) ? CLAIM_EXPIRED : CLAIM_NONE;
}

/* Rounded up: candidates may wait longer for us, but not shorter than we believe. */
static int64_t whole_seconds(int64_t ns)
{
	return (ns + CLOCK_NS_PER_S - 1) / CLOCK_NS_PER_S;
}

static struct jdoc *new_lease(const struct lease *l)
{
	struct jdoc *doc = jdoc_new_object();
	struct jdoc *meta;

	jdoc_set_str(doc, "apiVersion", "coordination.k8s.io/v1");
	jdoc_set_str(doc, "kind", "Lease");
	meta = jdoc_ensure_object(doc, "metadata");
	jdoc_set_str(meta, "name", l->name);
	jdoc_set_str(meta, "namespace", l->namespace_);
	return doc;
}

/* The object as last seen with our fields changed: unknown fields are kept, and its resourceVersion
 * makes the write conditional. NULL: its spec is not an object. */
static struct jdoc *claimed(const struct lease *l, enum claim claim)
{
	struct jdoc *doc = l->doc == NULL ? new_lease(l) : jdoc_copy(l->doc);
	struct jdoc *spec = jdoc_ensure_object(doc, "spec");
	int64_t transitions = jdoc_int(jdoc_get(spec, "leaseTransitions"), 0);
	bool counts =
		transitions >= 0 && transitions < INT32_MAX; /* else the stored value is invalid */
	char now[CLOCK_RFC3339_MAX];
	bool release = claim == CLAIM_RELEASE;

	if (spec == NULL) {
		jdoc_destroy(doc);
		return NULL;
	}
	clock_format_micro(clock_wall(l->opt.clock), now);
	/* client-go releases a lease in the same way; the API server accepts no duration below a
	 * second. */
	jdoc_set_str(spec, "holderIdentity", release ? "" : l->identity);
	jdoc_set_int(spec, "leaseDurationSeconds", release ? 1 : whole_seconds(l->opt.duration_ns));
	jdoc_set_str(spec, "renewTime", now);
	/* Neither a renewal nor our own lease found again is a change of the holder. */
	if (l->doc == NULL || (claim != CLAIM_RENEW && claim != CLAIM_REOWN)) {
		jdoc_set_str(spec, "acquireTime", now);
	}
	if (counts && l->doc != NULL && (claim == CLAIM_FREE || claim == CLAIM_EXPIRED)) {
		transitions++;
	}
	jdoc_set_int(spec, "leaseTransitions", counts ? transitions : 0);
	return doc;
}

/* ---- gaining and losing ---- */

/* A candidate reads the lease twice per renewal of the holder, because a record's age counts from
 * when it was seen, and once more when it expires. */
static int64_t next_candidate_attempt(struct lease *l)
{
	int64_t now = now_of(l), wait = l->opt.retry_ns / 2, left;

	/* Jitter, so that candidates do not read at the same moment. */
	wait += (int64_t)rng_below(&l->rng, (uint64_t)wait / 5 + 1);
	if (l->doc != NULL && holder_of(l->doc)[0] != '\0') {
		left = duration_of(l, l->doc) - (now - l->observed_at);
		wait = left > 0 && left < wait ? left : wait;
	}
	return now + wait;
}

static void retry_later(struct lease *l)
{
	l->retried_at_once = false;
	wakeup_set(l->attempt_timer,
		   lease_is_held(l) ? now_of(l) + l->opt.retry_ns : next_candidate_attempt(l));
}

/* The end of the permission comes first, since other threads read these members one by one. */
static void forget_hold(struct lease *l)
{
	atomic_store(&l->send_until, 0);
	atomic_store(&l->send_from, CLOCK_NEVER);
	atomic_store(&l->is_held, false);
	wakeup_set(l->deadline_timer, CLOCK_NEVER);
}

static void lose(struct lease *l)
{
	if (lease_is_held(l)) {
		forget_hold(l);
		if (!l->releasing) {
			l->opt.on_change(l->opt.ctx, false);
		}
	}
}

static void hold(struct lease *l, enum claim claim, int64_t sent_at)
{
	int64_t now = now_of(l);
	bool gained = !lease_is_held(l);

	if (gained && claim == CLAIM_REOWN && !l->taken_by_us) {
		/* An earlier process of our name may have writes in flight. */
		l->earlier_writes_end_at = now + l->opt.duration_ns;
	}
	if (gained) {
		/* Before send_until, which is 0 here: no thread sees the new end with the old
		 * beginning. */
		atomic_store(&l->send_from,
			     l->earlier_writes_end_at > now ? l->earlier_writes_end_at : now);
	}
	l->taken_by_us = true;
	atomic_store(&l->send_until, sent_at + l->opt.renew_deadline_ns);
	atomic_store(&l->is_held, true);
	wakeup_set(l->deadline_timer, sent_at + l->opt.renew_deadline_ns);
	if (gained && !l->releasing) {
		l->opt.on_change(l->opt.ctx, true);
	}
}

/* The lease is never acquired again: it was released, or the transport is closing. */
static void end(struct lease *l)
{
	void (*fn)(void *ctx) = l->on_released;

	forget_hold(l);
	l->stopped = true;
	l->on_released = NULL;
	wakeup_set(l->attempt_timer, CLOCK_NEVER);
	if (fn != NULL) {
		fn(l->released_ctx);
	}
}

/* ---- requests ---- */

static void on_done(void *ctx, const struct http_result *result);

static void submit(struct lease *l, struct http_call *call, struct request req)
{
	struct request *r = xmalloc_zero(1, sizeof(*r));
	/* A request that is never answered leaves time for a second one within the renew
	 * deadline. */
	int64_t timeout = l->opt.renew_deadline_ns / 2;

	*r = req;
	r->owner = l;
	r->sent_at = now_of(l);
	call->timeout_ns =
		timeout < l->opt.request_deadline_ns ? timeout : l->opt.request_deadline_ns;
	call->on_done = on_done;
	call->ctx = r;
	l->request = r;
	r->id = transport_submit(l->opt.transport, call);
}

static void get(struct lease *l)
{
	struct http_call call = { .method = HTTP_GET, .url = l->item_path };

	submit(l, &call, (struct request){ .is_get = true, .claim = CLAIM_NONE });
}

static void write_claim(struct lease *l, enum claim claim)
{
	CLEANUP(jdoc_destroyp) struct jdoc *doc = claimed(l, claim);
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	struct http_call call = { .content_type = "application/json" };

	if (doc == NULL) {
		retry_later(l);
		return;
	}
	jdoc_format(doc, &body);
	call.method = l->doc == NULL ? HTTP_POST : HTTP_PUT;
	call.url = l->doc == NULL ? l->list_path : l->item_path;
	call.body = strbuf_str(&body);
	l->doc_is_current = false; /* until the answer shows its current state */
	/* Set before the answer: if it is lost and a GET then shows our name, we have taken the
	 * lease. */
	l->taken_by_us |= claim == CLAIM_FREE || claim == CLAIM_EXPIRED;
	submit(l, &call, (struct request){ .claim = claim });
}

/* A candidate always reads first, because what it knows may be as old as its last attempt. */
static void attempt(struct lease *l)
{
	enum claim claim;

	assert(l->request == NULL && !l->stopped);
	claim = lease_is_held(l) && l->doc != NULL ? decide(l) : CLAIM_NONE;
	if (claim == CLAIM_NONE) {
		get(l);
	} else {
		write_claim(l, claim);
	}
}

/* After a write that lost a race: read again at once, but not in a tight loop. */
static void after_conflict(struct lease *l)
{
	if (l->releasing) {
		if (l->release_retried) {
			end(l);
			return;
		}
		l->release_retried = true;
		get(l);
	} else if (lease_is_held(l) && !l->retried_at_once) {
		l->retried_at_once = true;
		get(l);
	} else {
		retry_later(l);
	}
}

static void after_get(struct lease *l, const struct http_result *result)
{
	struct jdoc *doc;
	enum claim claim;

	if (result->status == STATUS_NOT_FOUND && result->error == 0) {
		jdoc_destroy(l->doc);
		l->doc = NULL;
		if (l->releasing) {
			end(l);
		} else {
			/* A POST succeeds for one candidate alone, so a holder loses nothing by a
			 * deletion. */
			write_claim(l, lease_is_held(l) ? CLAIM_RENEW : CLAIM_FREE);
		}
		return;
	}
	/* The hold is not lost by this: the deadline decides. */
	if (rest_result(result, NULL) < 0 || jdoc_parse(result->body, &doc, NULL) < 0) {
		if (l->releasing) {
			end(l);
		} else {
			retry_later(l);
		}
		return;
	}
	observe(l, doc);
	claim = decide(l);
	if (claim != CLAIM_NONE) {
		write_claim(l, claim);
	} else if (l->releasing) {
		end(l);
	} else {
		lose(l);
		retry_later(l);
	}
}

/* After any other failure than a conflict the write may have been done: the next attempt begins
 * with a GET, since doc_is_current is false. */
static void after_write(struct lease *l, const struct request *req,
			const struct http_result *result)
{
	struct jdoc *doc;
	int r = rest_result(result, NULL);

	if (r == -ERR_CONFLICT || r == -ERR_NOT_FOUND) {
		after_conflict(l);
		return;
	}
	if (req->claim == CLAIM_RELEASE) {
		end(l);
		return;
	}
	if (r == 0) {
		if (jdoc_parse(result->body, &doc, NULL) == 0) {
			observe(l, doc);
		}
		/* An answer that is processed too late (the process was stopped) does not count. */
		if (now_of(l) - req->sent_at < l->opt.renew_deadline_ns) {
			hold(l, req->claim, req->sent_at);
		}
	}
	if (l->releasing) {
		attempt(l);
	} else {
		retry_later(l);
	}
}

static void on_done(void *ctx, const struct http_result *result)
{
	struct request req = *(struct request *)ctx;
	struct lease *l = req.owner;

	free(ctx);
	if (l == NULL) {
		return;
	}
	l->request = NULL;
	/* The lease cancels no request but in lease_destroy: the transport is closing. */
	if (result->error == ERR_CANCELLED) {
		end(l);
	} else if (req.is_get) {
		after_get(l, result);
	} else {
		after_write(l, &req, result);
	}
}

static void on_attempt(void *ctx)
{
	struct lease *l = ctx;

	if (l->request == NULL && !l->stopped) {
		attempt(l);
	}
}

/* Whatever is in flight, the last permission has run out. A release has nothing left to release. */
static void on_deadline(void *ctx)
{
	struct lease *l = ctx;

	lose(l);
	if (l->releasing && l->request == NULL && !l->stopped) {
		end(l);
	}
}

/* ---- life ---- */

static int64_t or_default(int64_t ns, int64_t def_s)
{
	return ns > 0 ? ns : def_s * CLOCK_NS_PER_S;
}

struct lease *lease_create(const struct lease_options *opt)
{
	static const char group[] = "coordination.k8s.io";
	struct lease *l = xmalloc_zero(1, sizeof(*l));
	struct strbuf path = STRBUF_INIT;

	l->opt = *opt;
	l->opt.duration_ns = or_default(opt->duration_ns, 15);
	l->opt.renew_deadline_ns = or_default(opt->renew_deadline_ns, 10);
	l->opt.retry_ns = or_default(opt->retry_ns, 2);
	l->opt.request_deadline_ns = or_default(opt->request_deadline_ns, 5);
	assert(l->opt.retry_ns < l->opt.renew_deadline_ns);
	assert(l->opt.renew_deadline_ns + l->opt.request_deadline_ns <= l->opt.duration_ns);
	l->namespace_ = xmalloc_dup(opt->namespace_);
	l->name = xmalloc_dup(opt->name);
	l->identity = xmalloc_dup(opt->identity);
	rest_path(&path, group, "v1", l->namespace_, "leases", NULL, NULL);
	l->list_path = strbuf_steal(&path, NULL);
	rest_path(&path, group, "v1", l->namespace_, "leases", l->name, NULL);
	l->item_path = strbuf_steal(&path, NULL);
	rng_init(&l->rng, opt->seed);
	pthread_mutex_init(&l->lock, NULL);
	list_init(&l->commands);
	l->attempt_timer = wakeup_create(opt->transport, opt->clock, on_attempt, l);
	l->deadline_timer = wakeup_create(opt->transport, opt->clock, on_deadline, l);
	atomic_store(&l->send_from, CLOCK_NEVER);
	return l;
}

static void begin_release(struct lease *l, struct command *w)
{
	l->on_released = w->on_done;
	l->released_ctx = w->ctx;
	l->releasing = true;
	if (!lease_is_held(l) && l->request == NULL) {
		end(l);
	} else if (l->request == NULL) {
		attempt(l);
	}
	/* Otherwise the answer to the request in flight continues the release. */
}

static void on_command(void *ctx)
{
	struct command *w = ctx;
	struct lease *l = w->owner;
	bool closed = l == NULL || l->stopped || atomic_load(&l->opt.transport->stopping);

	if (l != NULL) {
		pthread_mutex_lock(&l->lock);
		list_remove(&w->node);
		pthread_mutex_unlock(&l->lock);
	}
	if (closed || (w->release && l->releasing)) {
		/* Each release reports that it is done, also where there is nothing to do. */
		if (w->on_done != NULL) {
			w->on_done(w->ctx);
		}
	} else if (w->release) {
		begin_release(l, w);
	} else if (l->request == NULL) {
		attempt(l);
	}
	free(w);
}

static void post_command(struct lease *l, bool release, void (*on_done_fn)(void *ctx), void *ctx)
{
	struct command *w = xmalloc_zero(1, sizeof(*w));

	w->owner = l;
	w->release = release;
	w->on_done = on_done_fn;
	w->ctx = ctx;
	pthread_mutex_lock(&l->lock);
	list_append(&l->commands, &w->node);
	pthread_mutex_unlock(&l->lock);
	transport_call(l->opt.transport, 0, on_command, w);
}

void lease_start(struct lease *l)
{
	post_command(l, false, NULL, NULL);
}

void lease_release(struct lease *l, void (*on_done_fn)(void *ctx), void *ctx)
{
	atomic_store(&l->release_requested, true);
	post_command(l, true, on_done_fn, ctx);
}

bool lease_is_held(const struct lease *l)
{
	return atomic_load(&l->is_held);
}

bool lease_may_send(const struct lease *l)
{
	int64_t now = now_of(l);

	return !atomic_load(&l->release_requested) && now >= atomic_load(&l->send_from) &&
	       now < atomic_load(&l->send_until);
}

int64_t lease_writes_from(const struct lease *l)
{
	return atomic_load(&l->send_from);
}

void lease_destroy(struct lease *l)
{
	if (l == NULL) {
		return;
	}
	LIST_FOR_EACH (node, &l->commands) {
		/* The transport runs each function that was given to it once; this one then frees
		 * the command alone. */
		list_remove(node);
		LIST_ENTRY(node, struct command, node)->owner = NULL;
	}
	pthread_mutex_destroy(&l->lock);
	wakeup_destroy(l->attempt_timer);
	wakeup_destroy(l->deadline_timer);
	if (l->request != NULL) {
		l->request->owner = NULL;
		transport_cancel(l->opt.transport, l->request->id);
	}
	jdoc_destroy(l->doc);
	free(l->namespace_);
	free(l->name);
	free(l->identity);
	free(l->item_path);
	free(l->list_path);
	free(l);
}
