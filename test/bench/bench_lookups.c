/* bench_lookups: reviews of pods by a webhook of two threads over TLS, while as many reviews again
 * name queues that do not exist, and the API server takes 50 ms for each read of a queue. The API
 * server and the webhook are processes of their own. On 32 connections of this client reviews
 * name a queue that exists; their rate and latency are printed. Others send beside them, in many
 * short turns, so that other load on the machine comes to all kinds:
 * - known: 32 connections, the same queue;
 * - typo: 32 connections, one unknown queue, as pods of a Deployment that misspells its name;
 * - new: 48 connections, another unknown queue in each review. 16 reviews at a time wait for the
 *   API server, and the others are answered at once.
 * A connection sends its next review when the last one is answered. Another number of reviews of
 * each turn: bench_lookups REVIEWS. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "lib/wait.h"
#include "net/http_loop.h"
#include "play/stack.h"
#include "process/file.h"
#include "webhook/server/lookups.h"

#define MEASURED 32
#define BESIDE 32
#define CONNECTIONS (MEASURED + BESIDE + LOOKUPS_IN_FLIGHT)
#define ROUNDS 20
#define REVIEWS 1000 /* of the measured connections in each round */
#define CALL_NS (30 * CLOCK_NS_PER_S)
#define WAIT_NS (600 * CLOCK_NS_PER_S)
#define QUEUE "team-a"
#define QUEUE_FIELD "queue-name\":\""

static const char queue_yaml[] = "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\n"
				 "metadata: {name: " QUEUE "}\nspec: {weight: 1}\n";
static const char slow_reads[] = "[{fault: delay, delayMs: 50, method: GET, count: 0, path: "
				 "/apis/scheduling.volcano.sh/v1beta1/queues/}]";

enum beside { BESIDE_KNOWN, BESIDE_TYPO, BESIDE_NEW, BESIDE_COUNT_ };

static const char *const beside_names[BESIDE_COUNT_] = { "known", "typo", "new" };

/* Of all rounds of one kind. */
struct figures {
	double *ms; /* of each measured review */
	size_t n;
	double seconds;
	unsigned long others, reads; /* reviews of the others; reads of the API server */
};

struct bench {
	struct stack *stack;
	struct http_loop *loop;
	char url[80];
	struct strbuf review; /* names QUEUE */
	size_t name_at;       /* offset of that name */
	enum beside beside;   /* from here on: the loop's thread, between begin and idle */
	struct figures *f;
	size_t left;   /* measured reviews that have not been answered */
	int64_t ended; /* when the last of them was answered */
	unsigned long new_names;
	struct strbuf body;
	atomic_uint busy; /* connections with a review in flight */
	atomic_ulong failed;
};

struct connection {
	struct bench *b;
	unsigned i;
	int64_t sent;
};

static void on_done(void *ctx, const struct http_result *result);

/* The review with the name of the queue that is this connection's turn. */
static struct str next_body(struct bench *b, const struct connection *c)
{
	const char *text = b->review.p;

	if (c->i < MEASURED || b->beside == BESIDE_KNOWN) {
		return strbuf_str(&b->review);
	}
	strbuf_reset(&b->body);
	strbuf_printf(&b->body, "%.*s", (int)b->name_at, text);
	if (b->beside == BESIDE_TYPO) {
		strbuf_add_c(&b->body, "tema-a");
	} else {
		strbuf_printf(&b->body, "new-%lu", b->new_names++);
	}
	strbuf_add_c(&b->body, text + b->name_at + strlen(QUEUE));
	return strbuf_str(&b->body);
}

static void send_next(void *ctx)
{
	struct connection *c = ctx;
	struct http_call call = { .method = HTTP_POST,
				  .url = c->b->url,
				  .content_type = "application/json",
				  .timeout_ns = CALL_NS,
				  .on_done = on_done,
				  .ctx = c };

	if (c->b->left == 0) {
		atomic_fetch_sub(&c->b->busy, 1);
		return;
	}
	call.body = next_body(c->b, c);
	c->sent = clock_mono(clock_real());
	http_loop_submit(c->b->loop, &call);
}

static void on_done(void *ctx, const struct http_result *result)
{
	struct connection *c = ctx;
	struct bench *b = c->b;

	atomic_fetch_add(&b->failed, result->status != 200);
	if (c->i >= MEASURED) {
		b->f->others += b->left > 0;
	} else if (b->left > 0) {
		b->f->ms[b->f->n++] = (double)(clock_mono(clock_real()) - c->sent) / 1e6;
		b->left--;
		b->ended = clock_mono(clock_real());
	}
	send_next(c);
}

static int count_reads(struct bench *b, unsigned long *ret, struct err *err)
{
	CLEANUP(jdoc_destroyp) struct jdoc *answer = NULL;
	int r = stack_call(b->stack, "GET", "/debug/faults?kind=delay", (struct str){ 0 }, &answer,
			   err);

	if (r == 0) {
		*ret = (unsigned long)jdoc_int(jdoc_get(answer, "struck"), 0);
	}
	return r;
}

static int play(struct bench *b, struct connection *all, size_t count, struct err *err)
{
	unsigned n = b->beside == BESIDE_NEW ? CONNECTIONS : MEASURED + BESIDE;
	int64_t begun, deadline = wait_deadline(WAIT_NS);
	unsigned long before = 0, after = 0;
	int r = count_reads(b, &before, err);

	b->left = count;
	atomic_store(&b->busy, n);
	begun = clock_mono(clock_real());
	for (unsigned i = 0; i < n; i++) {
		http_loop_call(b->loop, 0, send_next, &all[i]);
	}
	while (atomic_load(&b->busy) > 0 && wait_until(deadline)) {
	}
	b->f->seconds += (double)(b->ended - begun) / 1e9;
	if (r == 0) {
		r = count_reads(b, &after, err);
	}
	b->f->reads += after - before;
	if (r == 0 && (atomic_load(&b->failed) > 0 || atomic_load(&b->busy) > 0)) {
		r = err_set(err, ERR_IO, "%lu reviews failed, %u have no answer",
			    atomic_load(&b->failed), atomic_load(&b->busy));
	}
	return r;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double part(const struct figures *f, size_t percent)
{
	return f->ms[(f->n - 1) * percent / 100];
}

static void print(struct figures f[BESIDE_COUNT_])
{
	double rate[BESIDE_COUNT_];

	for (unsigned i = 0; i < BESIDE_COUNT_; i++) {
		qsort(f[i].ms, f[i].n, sizeof(*f[i].ms), by_size);
		rate[i] = (double)f[i].n / f[i].seconds;
		printf("reviews of a known queue, others name %-5s  %6.0f/s  p50 %6.2f ms  p99 "
		       "%6.2f "
		       "ms; the others %6.0f/s, %lu reads of the API server\n",
		       beside_names[i], rate[i], part(&f[i], 50), part(&f[i], 99),
		       (double)f[i].others / f[i].seconds, f[i].reads);
	}
	for (unsigned i = BESIDE_TYPO; i < BESIDE_COUNT_; i++) {
		printf("%s / known: %.2f of the reviews/s, %.2f of the p50, %.2f of the p99\n",
		       beside_names[i], rate[i] / rate[BESIDE_KNOWN],
		       part(&f[i], 50) / part(&f[BESIDE_KNOWN], 50),
		       part(&f[i], 99) / part(&f[BESIDE_KNOWN], 99));
	}
}

static int run(struct bench *b, size_t count, struct err *err)
{
	struct figures f[BESIDE_COUNT_] = { 0 },
		       warm = { .ms = xmalloc_zero(count, sizeof(double)) };
	struct connection all[CONNECTIONS];
	int r;

	for (unsigned i = 0; i < CONNECTIONS; i++) {
		all[i] = (struct connection){ .b = b, .i = i };
	}
	b->beside = BESIDE_NEW; /* opens all connections */
	b->f = &warm;
	r = play(b, all, count, err);
	for (unsigned i = 0; i < BESIDE_COUNT_; i++) {
		f[i].ms = xmalloc_zero(ROUNDS * count, sizeof(double));
	}
	for (unsigned i = 0; r == 0 && i < ROUNDS * BESIDE_COUNT_; i++) {
		b->beside = i % BESIDE_COUNT_;
		b->f = &f[b->beside];
		r = play(b, all, count, err);
	}
	if (r == 0) {
		print(f);
	}
	for (unsigned i = 0; i < BESIDE_COUNT_; i++) {
		free(f[i].ms);
	}
	free(warm.ms);
	return r;
}

/* Reads the review, and opens a client that trusts the webhook's CA. */
static int open_client(struct bench *b, struct err *err)
{
	CLEANUP(xmalloc_freep) char *ca = xmalloc_printf("%s/ca.crt", stack_dir(b->stack));
	CLEANUP(xmalloc_freep)
	char *path = xmalloc_printf("%s/test/bench/review_pod.json", stack_source());
	const struct http_loop_tls tls = { .ca_file = ca };
	const struct http_loop_options opt = { .user_agent = "bench",
					       .tls = &tls,
					       .max_connections = CONNECTIONS,
					       .http1_only = true };
	const char *name;
	int r = file_read_all(path, 1 << 20, &b->review, err);

	if (r < 0) {
		return r;
	}
	strbuf_add_c(&b->review, "");
	name = strstr(b->review.p, QUEUE_FIELD QUEUE);
	if (name == NULL) {
		return err_set(err, ERR_INVALID, "%s names no queue " QUEUE, path);
	}
	b->name_at = (size_t)(name - b->review.p) + strlen(QUEUE_FIELD);
	snprintf(b->url, sizeof(b->url), "https://127.0.0.1:%u/pods/mutate",
		 stack_webhook_port(b->stack));
	return http_loop_start(&opt, &b->loop, err);
}

int main(int argc, char **argv)
{
	static const char *const threads[] = { "--threads=2", NULL };
	struct stack_options so = { .no_scheduler = true, .webhook_args = threads };
	struct bench b = { .review = STRBUF_INIT, .body = STRBUF_INIT };
	struct err err = ERR_INIT;
	uint64_t count = REVIEWS;
	int r;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 1 && (!str_to_u64(str_of(argv[1]), &count) || count < MEASURED)) {
		fprintf(stderr, "usage: bench_lookups [REVIEWS]\n");
		return 2;
	}
	r = stack_start(&so, &b.stack, &err);
	if (r == 0) {
		r = stack_apply(b.stack, str_of(queue_yaml), &err);
	}
	if (r == 0) {
		r = stack_call(b.stack, "PUT", "/debug/faults", str_of(slow_reads), NULL, &err);
	}
	if (r == 0) {
		r = open_client(&b, &err);
	}
	if (r == 0) {
		r = run(&b, count, &err);
	}
	if (r < 0) {
		fprintf(stderr, "bench_lookups: %s\n", err.text);
	}
	http_loop_destroy(b.loop);
	stack_stop(b.stack, r < 0);
	strbuf_finish(&b.review);
	strbuf_finish(&b.body);
	return r < 0;
}
