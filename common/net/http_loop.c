/* The loop's thread: takes messages, runs due timers, lets curl move bytes, reports completed
 * calls, and sleeps until one of these has work. curl's own time-outs are not used (they do not run
 * while a call waits for a free connection): deadlines and the silence of streams are timers in our
 * heap, next to those of http_loop_call. */
#include "net/http_loop.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "collections/heap.h"
#include "collections/list.h"
#include "collections/mpsc.h"
#include "collections/vec.h"
#include "net/http_transfer.h"

#define LOOP_BUCKETS 1024 /* calls by id; a power of two */
#define LOOP_CONNECTIONS 64
#define LOOP_STREAMS 250L /* per HTTP/2 connection, if the server allows */
#define LOOP_SPARE_HANDLES 64
#define LOOP_MAX_POLL_MS 60000

enum message_kind { MESSAGE_SUBMIT, MESSAGE_CANCEL, MESSAGE_TIMER, MESSAGE_STOP };

struct loop_timer {
	int64_t due_ns;
	uint64_t seq;
	size_t index; /* in the heap; SIZE_MAX: not in it */
	void (*fn)(void *ctx);
	void *ctx;
	struct loop_call *call; /* NULL: a timer of http_loop_call */
};

struct loop_call {
	struct list_node bucket;
	uint64_t id;
	struct http_loop *loop;
	struct http_transfer transfer;
	struct loop_timer timer;
	int64_t start_ns;
};

struct loop_message {
	struct mpsc_node node; /* first member */
	enum message_kind kind;
	uint64_t id;
	struct loop_call *call;
	struct loop_timer *timer;
};

struct http_loop {
	pthread_t thread;
	CURLM *multi;
	struct mpsc *inbox;
	struct http_transfer_config config;
	_Atomic uint64_t next_id;

	/* owner: the loop's thread */
	bool stopping;
	uint64_t timer_seq;
	struct heap timers;
	struct list_node calls[LOOP_BUCKETS];
	struct VEC(CURL *) spare;
};

static pthread_once_t curl_once = PTHREAD_ONCE_INIT;

static void *resize_bytes(void *p, size_t size)
{
	return xmalloc_resize(p, size, 1);
}

/* With our allocators a NULL from curl means bad input, never exhaustion. */
static void init_curl(void)
{
	curl_global_init_mem(CURL_GLOBAL_DEFAULT, xmalloc, free, resize_bytes, xmalloc_dup,
			     xmalloc_zero);
}

static int64_t now_ns(void)
{
	return clock_mono(clock_real());
}

static int cmp_timers(const void *a, const void *b, const void *ctx)
{
	const struct loop_timer *x = a, *y = b;

	(void)ctx;
	if (x->due_ns != y->due_ns) {
		return x->due_ns < y->due_ns ? -1 : 1;
	}
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

static void timer_moved(void *elem, size_t index)
{
	((struct loop_timer *)elem)->index = index;
}

static void timer_start(struct http_loop *l, struct loop_timer *t)
{
	t->seq = l->timer_seq++;
	heap_push(&l->timers, t);
}

static void timer_stop(struct http_loop *l, struct loop_timer *t)
{
	if (t->index != SIZE_MAX) {
		heap_remove(&l->timers, t->index);
	}
}

static struct list_node *bucket_of(struct http_loop *l, uint64_t id)
{
	return &l->calls[id % LOOP_BUCKETS];
}

static struct loop_call *find_call(struct http_loop *l, uint64_t id)
{
	LIST_FOR_EACH (node, bucket_of(l, id)) {
		struct loop_call *c = LIST_ENTRY(node, struct loop_call, bucket);

		if (c->id == id) {
			return c;
		}
	}
	return NULL;
}

/* Handles are used again: the options that all calls share stay set on them. */
static CURL *take_handle(struct http_loop *l)
{
	CURL *easy;

	if (l->spare.n > 0) {
		return vec_pop(&l->spare);
	}
	easy = curl_easy_init();
	http_transfer_set_up(&l->config, easy);
	return easy;
}

static void give_handle(struct http_loop *l, CURL *easy)
{
	if (l->spare.n >= LOOP_SPARE_HANDLES) {
		curl_easy_cleanup(easy);
		return;
	}
	vec_push(&l->spare, easy);
}

/* Removes the call from the loop, calls its on_done and frees it. */
static void end_call(struct loop_call *c, const struct http_result *result)
{
	struct http_loop *l = c->loop;

	timer_stop(l, &c->timer);
	list_remove(&c->bucket);
	if (c->transfer.easy != NULL) {
		curl_multi_remove_handle(l->multi, c->transfer.easy);
	}
	/* The result borrows from the transfer, which is freed afterwards. */
	c->transfer.call.on_done(c->transfer.call.ctx, result);
	if (c->transfer.easy != NULL) {
		http_transfer_release(&c->transfer);
		give_handle(l, c->transfer.easy);
	}
	http_transfer_finish(&c->transfer);
	free(c);
}

static void abort_call(struct loop_call *c, enum err_code error, const char *text)
{
	struct http_result result = { .error = (int)error,
				      .may_have_been_sent = c->transfer.sent,
				      .retry_after_s = -1,
				      .body = STR_LIT(""),
				      .error_text = text };

	end_call(c, &result);
}

static bool is_stream(const struct loop_call *c)
{
	return c->transfer.call.on_data != NULL && c->transfer.call.timeout_ns <= 0;
}

/* The next time at which the call may have passed its deadline or its silence limit. */
static int64_t next_due(const struct loop_call *c)
{
	const struct http_call *call = &c->transfer.call;
	int64_t due = CLOCK_NEVER;

	if (call->timeout_ns > 0) {
		due = c->start_ns + call->timeout_ns;
	}
	if (call->silence_ns > 0 && c->transfer.last_bytes_ns + call->silence_ns < due) {
		due = c->transfer.last_bytes_ns + call->silence_ns;
	}
	return due;
}

/* A deadline or too long a silence. If nothing at all was received in the meantime, the connection
 * itself is suspect (a peer that vanished sends no end): it is shut down, so that neither a retry
 * nor other calls on the same HTTP/2 connection wait on it. */
static void on_call_timer(struct loop_call *c)
{
	struct http_loop *l = c->loop;
	int64_t due = next_due(c);
	int64_t quiet_since = is_stream(c) ? c->transfer.last_bytes_ns : c->start_ns;

	if (due > now_ns()) {
		/* Bytes have moved the limit. They do not touch the heap: the timer looks when it
		 * fires. */
		c->timer.due_ns = due;
		timer_start(l, &c->timer);
		return;
	}
	if (c->transfer.sent && (is_stream(c) || c->transfer.received == 0) &&
	    l->config.last_bytes_ns <= quiet_since) {
		http_transfer_cut_connection(&c->transfer);
	}
	abort_call(c, ERR_TIMEOUT,
		   is_stream(c) ? "the stream was silent for too long" : "no answer in time");
}

static void start_call(struct http_loop *l, struct loop_call *c)
{
	CURLMcode r;

	c->loop = l;
	/* Before anything can end the call, since end_call takes it out again. */
	list_append(bucket_of(l, c->id), &c->bucket);
	if (l->stopping) {
		abort_call(c, ERR_CANCELLED, "the HTTP client is stopping");
		return;
	}
	/* The deadline counts from here: a call may have waited in the inbox. */
	c->start_ns = now_ns();
	http_transfer_prepare(&c->transfer, &l->config, take_handle(l));
	r = curl_multi_add_handle(l->multi, c->transfer.easy);
	if (r != CURLM_OK) {
		abort_call(c, ERR_INTERNAL, curl_multi_strerror(r));
		return;
	}
	c->timer.due_ns = next_due(c);
	if (c->timer.due_ns != CLOCK_NEVER) {
		timer_start(l, &c->timer);
	}
}

static void take_timer(struct http_loop *l, struct loop_timer *t)
{
	if (l->stopping) {
		free(t);
		return;
	}
	timer_start(l, t);
}

static void on_message(struct http_loop *l, struct loop_message *m)
{
	struct loop_call *c;

	switch (m->kind) {
	case MESSAGE_SUBMIT:
		start_call(l, m->call);
		break;
	case MESSAGE_CANCEL:
		c = find_call(l, m->id);
		if (c != NULL) {
			abort_call(c, ERR_CANCELLED, "cancelled");
		}
		break;
	case MESSAGE_TIMER:
		take_timer(l, m->timer);
		break;
	case MESSAGE_STOP:
		l->stopping = true;
		break;
	}
	free(m);
}

static bool drain_inbox(struct http_loop *l)
{
	struct mpsc_node *node = mpsc_drain(l->inbox);
	bool any = node != NULL;

	while (node != NULL) {
		struct mpsc_node *next = node->next;

		on_message(l, (struct loop_message *)node);
		node = next;
	}
	return any;
}

static void run_timers(struct http_loop *l)
{
	int64_t now = now_ns();
	struct loop_timer *t;

	/* Timers that these set come through the inbox, so the loop ends. */
	while (!l->stopping && (t = heap_peek(&l->timers)) != NULL && t->due_ns <= now) {
		heap_pop(&l->timers);
		if (t->call != NULL) {
			on_call_timer(t->call);
			continue;
		}
		t->fn(t->ctx);
		free(t);
	}
}

static void report_done(struct http_loop *l)
{
	CURLMsg *m;
	int left;

	while ((m = curl_multi_info_read(l->multi, &left)) != NULL) {
		struct http_transfer *t = NULL;
		CURLcode code = m->data.result;
		struct http_result result;

		if (m->msg != CURLMSG_DONE) {
			continue;
		}
		/* All of m is read before end_call, which removes the handle and so makes m
		 * invalid. */
		curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &t);
		http_transfer_result(t, (int)code, &result);
		end_call(CONTAINER_OF(t, struct loop_call, transfer), &result);
	}
}

static int poll_ms(struct http_loop *l)
{
	const struct loop_timer *t = heap_peek(&l->timers);
	int64_t wait;

	if (t == NULL) {
		return LOOP_MAX_POLL_MS;
	}
	wait = t->due_ns - now_ns();
	if (wait <= 0) {
		return 0;
	}
	/* Rounded up: with 0 the loop would spin for the last part of a millisecond. */
	wait = (wait + CLOCK_NS_PER_MS - 1) / CLOCK_NS_PER_MS;
	return wait < LOOP_MAX_POLL_MS ? (int)wait : LOOP_MAX_POLL_MS;
}

/* The callbacks may submit again: repeat until nothing is left. */
static void cancel_all(struct http_loop *l)
{
	do {
		for (size_t i = 0; i < LOOP_BUCKETS; i++) {
			while (!list_is_empty(&l->calls[i])) {
				abort_call(LIST_ENTRY(l->calls[i].next, struct loop_call, bucket),
					   ERR_CANCELLED, "the HTTP client is stopping");
			}
		}
	} while (drain_inbox(l));
	/* Timers of calls went with them. These are of http_loop_call, and do not run. */
	while (l->timers.n > 0) {
		free(heap_pop(&l->timers));
	}
}

/* One round:
 *   1. messages, which may add calls and timers;
 *   2. timers that are due, deadlines among them;
 *   3. bytes, and the calls that are complete with them;
 *   4. sleep until a socket or the inbox is ready, or a timer is due. A message that comes after 1
 *      leaves the inbox readable. */
static void *loop_main(void *arg)
{
	struct http_loop *l = arg;
	struct curl_waitfd inbox = { .fd = mpsc_fd(l->inbox), .events = CURL_WAIT_POLLIN };
	int running;

	for (;;) {
		drain_inbox(l);
		run_timers(l);
		if (l->stopping) {
			break;
		}
		curl_multi_perform(l->multi, &running);
		report_done(l);
		curl_multi_poll(l->multi, &inbox, 1, poll_ms(l), NULL);
	}
	cancel_all(l);
	return NULL;
}

static void loop_free(struct http_loop *l)
{
	for (size_t i = 0; i < l->spare.n; i++) {
		curl_easy_cleanup(l->spare.v[i]);
	}
	vec_finish(&l->spare);
	heap_finish(&l->timers);
	if (l->inbox != NULL) {
		mpsc_destroy(l->inbox);
	}
	curl_multi_cleanup(l->multi);
	http_transfer_config_finish(&l->config);
	free(l);
}

static void set_limits(CURLM *multi, unsigned max_connections)
{
	long n = max_connections != 0 ? (long)max_connections : LOOP_CONNECTIONS;

	curl_multi_setopt(multi, CURLMOPT_PIPELINING, (long)CURLPIPE_MULTIPLEX);
	curl_multi_setopt(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, LOOP_STREAMS);
	curl_multi_setopt(multi, CURLMOPT_MAX_HOST_CONNECTIONS, n);
	curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, n);
}

int http_loop_start(const struct http_loop_options *opt, struct http_loop **ret, struct err *err)
{
	struct http_loop *l = xmalloc_zero(1, sizeof(*l));

	pthread_once(&curl_once, init_curl);
	http_transfer_config_init(&l->config, opt);
	heap_init(&l->timers, cmp_timers, timer_moved, NULL);
	for (size_t i = 0; i < LOOP_BUCKETS; i++) {
		list_init(&l->calls[i]);
	}
	l->multi = curl_multi_init();
	if (l->multi == NULL) {
		loop_free(l);
		return err_set(err, ERR_INTERNAL, "curl_multi_init failed");
	}
	set_limits(l->multi, opt->max_connections);
	l->inbox = mpsc_create();
	if (pthread_create(&l->thread, NULL, loop_main, l) != 0) {
		loop_free(l);
		return err_set(err, ERR_INTERNAL, "cannot start the thread of the HTTP client");
	}
	*ret = l;
	return 0;
}

static void post(struct http_loop *l, struct loop_message m)
{
	struct loop_message *copy = xmalloc(sizeof(*copy));

	*copy = m;
	mpsc_push(l->inbox, &copy->node);
}

void http_loop_destroy(struct http_loop *l)
{
	if (l == NULL) {
		return;
	}
	post(l, (struct loop_message){ .kind = MESSAGE_STOP });
	pthread_join(l->thread, NULL);
	/* The thread may have ended before the last messages: their calls end as cancelled, on this
	 * thread. */
	drain_inbox(l);
	loop_free(l);
}

uint64_t http_loop_submit(struct http_loop *l, const struct http_call *call)
{
	struct loop_call *c = xmalloc_zero(1, sizeof(*c));
	uint64_t id = atomic_fetch_add(&l->next_id, 1) + 1;

	c->id = id;
	c->timer.call = c;
	c->timer.index = SIZE_MAX;
	http_transfer_copy(&c->transfer, call);
	post(l, (struct loop_message){ .kind = MESSAGE_SUBMIT, .call = c });
	return id;
}

void http_loop_cancel(struct http_loop *l, uint64_t id)
{
	post(l, (struct loop_message){ .kind = MESSAGE_CANCEL, .id = id });
}

void http_loop_call(struct http_loop *l, int64_t delay_ns, void (*fn)(void *ctx), void *ctx)
{
	struct loop_timer *t = xmalloc_zero(1, sizeof(*t));

	t->due_ns = now_ns() + (delay_ns > 0 ? delay_ns : 0);
	t->index = SIZE_MAX;
	t->fn = fn;
	t->ctx = ctx;
	post(l, (struct loop_message){ .kind = MESSAGE_TIMER, .timer = t });
}
