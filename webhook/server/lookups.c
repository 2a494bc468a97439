/* A look-up, and the requests that wait for it:
 * 1. lookups_ask, on a thread of the server. Under the lock: a name that is being read already
 *    has a number, which this request shares; a name that was answered within the last second
 *    gets 0, since the view has what the answer brought; any other name takes a slot and a new
 *    number. The read is submitted outside of the lock.
 * 2. The handler returns the number, and the server suspends the connection. When the read ends
 *    before that, the server finds out by the count of its wakes and calls the handler again
 *    instead of suspending.
 * 3. on_done, on the transport's thread: first the object goes to the lister, then the slot
 *    counts as answered, then the number is woken. A request that is resumed finds the queue in
 *    a new view.
 * 4. A read that fails or finds nothing wakes them as well: they are answered from the view as
 *    it is.
 * 5. Last of all in_flight is counted down, for which lookups_stop waits: after it no wake can
 *    reach a server that is about to be destroyed.
 *
 * Numbers are never used twice, so a wake that comes late finds nothing to resume. */
#include "webhook/server/lookups.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "api/meta/validate.h"
#include "api/volcano/keys.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "kube/rest.h"
#include "kube/transport.h"
#include "net/http_server.h"
#include "obs/metric.h"

#define LOOKUPS_MAX_BODY ((size_t)4 << 20) /* more than etcd stores of one object */

enum lookup_result {
	LOOKUP_FOUND,
	LOOKUP_ABSENT,
	LOOKUP_FAILED,
	LOOKUP_LIMITED, /* not begun: too many were in flight */
	LOOKUP_COUNT_
};

/* A name that is being read, or was read a moment ago. */
struct slot {
	char *name;      /* NULL: free */
	uint64_t number; /* not 0 while in flight */
	int64_t until;   /* answered: not to be read again before */
	struct http_server *server;
};

struct lookups {
	struct lookups_options opt;
	struct metric_cell *results[LOOKUP_COUNT_];

	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t ended;
	bool stopping;
	unsigned in_flight;
	uint64_t last_number;
	struct slot slots[LOOKUPS_SLOTS];
};

/* One read in flight. */
struct lookup {
	struct lookups *owner;
	uint64_t number;
};

static void register_metric(struct lookups *l)
{
	static const char *const labels[] = { "result", NULL };
	static const char *const names[LOOKUP_COUNT_] = { "found", "absent", "failed", "limited" };
	struct metric_family *f =
		metric_register(l->opt.registry, "headgate_webhook_queue_lookups_total",
				"Single reads of queues that the webhook's watch had not seen, by "
				"outcome; limited: not "
				"started because too many were in flight.",
				METRIC_COUNTER, labels);

	for (size_t i = 0; i < LOOKUP_COUNT_; i++) {
		l->results[i] = metric_cell(f, &names[i]);
	}
}

static void count(const struct lookups *l, enum lookup_result result)
{
	if (l->results[result] != NULL) {
		metric_cell_add(l->results[result], 1);
	}
}

struct lookups *lookups_create(const struct lookups_options *opt)
{
	struct lookups *l = xmalloc_zero(1, sizeof(*l));

	l->opt = *opt;
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->ended, NULL);
	if (opt->registry != NULL) {
		register_metric(l);
	}
	return l;
}

void lookups_destroy(struct lookups *l)
{
	if (l == NULL) {
		return;
	}
	for (size_t i = 0; i < LOOKUPS_SLOTS; i++) {
		free(l->slots[i].name);
	}
	pthread_cond_destroy(&l->ended);
	pthread_mutex_destroy(&l->lock);
	free(l);
}

static struct slot *find_locked(struct lookups *l, const char *name)
{
	for (size_t i = 0; i < LOOKUPS_SLOTS; i++) {
		if (l->slots[i].name != NULL && str_streq(l->slots[i].name, name)) {
			return &l->slots[i];
		}
	}
	return NULL;
}

/* A free slot, else the one answered longest ago. There are more slots than reads in flight. */
static struct slot *take_slot_locked(struct lookups *l)
{
	struct slot *best = NULL;

	for (size_t i = 0; i < LOOKUPS_SLOTS; i++) {
		struct slot *s = &l->slots[i];

		if (s->name == NULL) {
			return s;
		}
		if (s->number == 0 && (best == NULL || s->until < best->until)) {
			best = s;
		}
	}
	free(best->name);
	best->name = NULL;
	return best;
}

/* The number to wait for, 0: none. *ret_new: the caller must start the read. */
static uint64_t enter_locked(struct lookups *l, const char *name, struct http_server *server,
			     bool *ret_new)
{
	struct slot *s = find_locked(l, name);

	/* Joining costs nothing, so it comes before all limits, and is allowed while stopping.
	 * The server of the first request is that of all: a process has one for reviews. */
	if (s != NULL && s->number != 0) {
		return s->number;
	}
	/* The answer is a moment old: reading again would give names that do not exist a way to
	 * load the API server. */
	if (l->stopping || (s != NULL && clock_mono(l->opt.clock) < s->until)) {
		return 0;
	}
	/* Answered from the view instead of queued: a queue of reads would outlast the time-out
	 * of the reviews that wait in it. */
	if (l->in_flight == LOOKUPS_IN_FLIGHT) {
		count(l, LOOKUP_LIMITED);
		return 0;
	}
	if (s == NULL) {
		s = take_slot_locked(l);
		s->name = xmalloc_dup(name);
	}
	s->number = ++l->last_number;
	s->server = server;
	l->in_flight++;
	*ret_new = true;
	return s->number;
}

/* Returns the server to wake. The slot is found by the number and not by the name: a slot in
 * flight is never given to another name, so there is exactly one. */
static struct http_server *note_answer(struct lookups *l, uint64_t number)
{
	struct http_server *server = NULL;

	pthread_mutex_lock(&l->lock);
	for (size_t i = 0; i < LOOKUPS_SLOTS; i++) {
		struct slot *s = &l->slots[i];

		if (s->number == number) {
			server = s->server;
			s->server = NULL;
			s->number = 0;
			s->until = clock_mono(l->opt.clock) + LOOKUPS_REMEMBER_NS;
		}
	}
	pthread_mutex_unlock(&l->lock);
	return server;
}

static void on_done(void *ctx, const struct http_result *result)
{
	struct lookup *up = ctx;
	struct lookups *l = up->owner;
	int r = rest_result(result, NULL);
	struct http_server *server;

	/* Before the wake: a request that is resumed takes its view from the lister at once. */
	if (r == 0) {
		l->opt.on_found(l->opt.ctx, result->body);
	}
	count(l, r == 0 ? LOOKUP_FOUND : r == -ERR_NOT_FOUND ? LOOKUP_ABSENT : LOOKUP_FAILED);
	server = note_answer(l, up->number);
	if (server != NULL) {
		http_server_wake_waiting(server, up->number);
	}
	free(up);
	/* Counted down after the wake: lookups_stop must not return while the server is in use. */
	pthread_mutex_lock(&l->lock);
	l->in_flight--;
	pthread_cond_broadcast(&l->ended);
	pthread_mutex_unlock(&l->lock);
}

static void submit(struct lookups *l, const char *name, uint64_t number)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;
	struct lookup *up = xmalloc_zero(1, sizeof(*up));
	struct http_call call = { .method = HTTP_GET,
				  .timeout_ns = LOOKUPS_DEADLINE_NS,
				  .max_body = LOOKUPS_MAX_BODY,
				  .on_done = on_done,
				  .ctx = up };

	*up = (struct lookup){ .owner = l, .number = number };
	rest_path(&path, KEYS_VOLCANO_GROUP, KEYS_VOLCANO_VERSION, NULL, "queues", name, NULL);
	call.url = path.p;
	transport_submit(l->opt.transport, &call);
}

uint64_t lookups_ask(struct lookups *l, const char *name, struct http_server *server)
{
	bool is_new = false;
	uint64_t number;

	/* No queue can have such a name. The name was written by a tenant: neither a request nor
	 * a slot is spent on it. */
	if (!validate_is_dns_subdomain(str_of(name))) {
		return 0;
	}
	pthread_mutex_lock(&l->lock);
	number = enter_locked(l, name, server, &is_new);
	pthread_mutex_unlock(&l->lock);
	if (is_new) {
		submit(l, name, number);
	}
	return number;
}

void lookups_stop(struct lookups *l)
{
	pthread_mutex_lock(&l->lock);
	/* Reads end within LOOKUPS_DEADLINE_NS, so this does not wait for long. */
	l->stopping = true;
	while (l->in_flight > 0) {
		pthread_cond_wait(&l->ended, &l->lock);
	}
	pthread_mutex_unlock(&l->lock);
}
