#include "scheduler/multikueue/worker/survey.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "api/kinds.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "kube/page_size.h"
#include "kube/rest.h"
#include "kube/transport.h"
#include "scheduler/base/message_decode.h"
#include "scheduler/workloads/ingest/workload_cache.h"

struct survey_list { /* of one kind */
	struct survey *survey;
	enum sched_resource resource;
	struct strbuf next; /* the continue token */
	struct page_size page;
	uint64_t call; /* in flight; 0: none */
};

struct survey {
	struct survey_options opt;
	atomic_uint refs; /* one of the caller; one while anything is in flight */
	atomic_bool destroyed;
	struct survey_want *wants; /* in the answer's arena */
	size_t nwants;
	/* The rest belongs to the transport's thread: */
	struct survey_answer *answer; /* NULL: handed out, or dropped */
	int64_t until;                /* monotonic */
	size_t in_flight;             /* calls, and whatever runs now */
	size_t open;                  /* lists that are not complete */
	struct survey_list lists[SCHED_RESOURCE_COUNT_];
	struct strbuf forbidden; /* resources */
	size_t bytes;
};

/* --- the end -----------------------------------------------------------------------------------*/

static void unref(struct survey *s)
{
	if (atomic_fetch_sub(&s->refs, 1) != 1) {
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(s->lists); i++) {
		strbuf_finish(&s->lists[i].next);
	}
	strbuf_finish(&s->forbidden);
	survey_answer_destroy(s->answer);
	free(s);
}

/* Behind everything that runs on the transport's thread. The last one frees the survey. */
static void leave(struct survey *s)
{
	if (--s->in_flight == 0) {
		unref(s);
	}
}

/* A transport that is being destroyed ends its calls itself. */
static void cancel_calls(struct survey *s)
{
	for (size_t i = 0; i < ARRAY_LEN(s->lists); i++) {
		if (s->lists[i].call != 0 && !atomic_load(&s->opt.transport->stopping)) {
			transport_cancel(s->opt.transport, s->lists[i].call);
		}
	}
}

static void report(struct survey *s)
{
	struct survey_answer *a = take_ptr(&s->answer);

	if (a->err.code != ERR_NONE) {
		price_model_destroy(a->model);
		a->model = NULL;
	}
	if (atomic_load(&s->destroyed)) {
		survey_answer_destroy(a);
	} else {
		s->opt.on_done(s->opt.ctx, a);
	}
	cancel_calls(s);
}

static bool is_over(const struct survey *s)
{
	return s->answer == NULL;
}

/* With the error of the answer set. r: the resource that it is about. */
static void fail(struct survey *s, enum sched_resource r)
{
	const struct kinds_row *k = sched_kinds_names(r);

	(void)err_wrap(&s->answer->err, "%s%s%s", k->plural, k->group[0] == '\0' ? "" : ".",
		       k->group);
	report(s);
}

/* --- prices ------------------------------------------------------------------------------------*/

static void find_prices(struct survey *s)
{
	struct survey_answer *a = s->answer;
	struct survey_price *prices = arena_zero(a->arena, s->nwants + 1, sizeof(*prices));

	price_model_complete(a->model);
	for (size_t i = 0; i < s->nwants; i++) {
		const struct survey_want *w = &s->wants[i];

		prices[i].key = w->key;
		price_model_find(a->model, str_of(w->key), w->promised, w->npromised, a->arena,
				 &prices[i].price);
	}
	a->prices = prices;
	a->n = s->nwants;
	a->bad = price_model_bad(a->model);
	report(s);
}

/* --- lists -------------------------------------------------------------------------------------*/

static void on_done(void *ctx, const struct http_result *result);

static void request_page(struct survey_list *l)
{
	CLEANUP(strbuf_finish) struct strbuf url = STRBUF_INIT, path = STRBUF_INIT;
	struct survey *s = l->survey;
	int64_t left = s->until - clock_mono(s->opt.clock);
	struct http_call call = { .method = HTTP_GET,
				  .timeout_ns = left,
				  .max_body = page_size_budget(&l->page),
				  .on_done = on_done,
				  .ctx = l };

	if (left <= 0) {
		(void)err_set(&s->answer->err, ERR_TIMEOUT, "the time is over");
		fail(s, l->resource);
		return;
	}
	sched_kinds_path(l->resource, NULL, NULL, NULL, &path);
	rest_list_query(&url, &(struct rest_what){ .path = path.p }, l->page.limit,
			strbuf_str(&l->next));
	call.url = url.p;
	s->in_flight++;
	l->call = transport_submit(s->opt.transport, &call);
}

static void begin_list(struct survey *s, enum sched_resource r)
{
	struct survey_list *l = &s->lists[r];

	l->survey = s;
	l->resource = r;
	page_size_init(&l->page, 0);
	s->open++;
	request_page(l);
}

/* With the last of the lists that were begun together the next step follows. */
static void list_is_complete(struct survey *s, enum sched_resource r)
{
	if (--s->open > 0) {
		return;
	}
	if (s->forbidden.len > 0) {
		(void)err_set(&s->answer->err, ERR_FORBIDDEN, "may not list %s", s->forbidden.p);
		report(s);
	} else if (r == SCHED_WORKLOADS) {
		find_prices(s);
	} else {
		price_model_rules_complete(s->answer->model);
		begin_list(s, SCHED_WORKLOADS);
	}
}

/* All that may not be listed are named together. */
static void note_forbidden(struct survey *s, enum sched_resource r)
{
	const struct kinds_row *k = sched_kinds_names(r);

	strbuf_printf(&s->forbidden, "%s%s%s%s", s->forbidden.len > 0 ? ", " : "", k->plural,
		      k->group[0] == '\0' ? "" : ".", k->group);
}

static void on_item(void *ctx, struct str object, const struct cut_meta *meta)
{
	struct survey_list *l = ctx;
	struct survey *s = l->survey;

	if (++s->answer->objects <= s->opt.max_objects) {
		price_model_take(s->answer->model, message_decode_item(l->resource, object, meta));
	}
}

/* The objects of a page. -ERR_INVALID: it is none, or the last object is beyond the limits. */
static int read_page(struct survey_list *l, struct str body, struct err *err)
{
	struct survey *s = l->survey;
	struct list_page page;

	s->bytes += body.len;
	page_size_answered(&l->page, body.len);
	if (s->bytes > s->opt.max_bytes) {
		return err_set(err, ERR_INVALID, "the answers are longer than %zu bytes",
			       s->opt.max_bytes);
	}
	if (list_page_cut(body, on_item, l, &page, err) < 0) {
		return -ERR_INVALID;
	}
	if (s->answer->objects > s->opt.max_objects) {
		return err_set(err, ERR_INVALID, "there are more than %zu objects",
			       s->opt.max_objects);
	}
	strbuf_reset(&l->next);
	return cut_unescape(page.continue_, &l->next)
		       ? 0
		       : err_set(err, ERR_INVALID, "metadata.continue: broken");
}

static void take_page(struct survey_list *l, struct str body)
{
	struct survey *s = l->survey;

	if (read_page(l, body, &s->answer->err) < 0) {
		fail(s, l->resource);
	} else if (l->next.len > 0) {
		request_page(l);
	} else {
		list_is_complete(s, l->resource);
	}
}

static void take_answer(struct survey_list *l, const struct http_result *result)
{
	struct survey *s = l->survey;
	int r = rest_result(result, &s->answer->err);

	if (r == 0) {
		take_page(l, result->body);
	} else if (result->too_large && page_size_shrink(&l->page)) {
		s->answer->err = (struct err)ERR_INIT;
		request_page(l);
	} else if (r == -ERR_FORBIDDEN) {
		note_forbidden(s, l->resource);
		list_is_complete(s, l->resource);
	} else if (r == -ERR_NOT_FOUND && !sched_kinds_get(l->resource)->needed) {
		s->answer->err = (struct err)ERR_INIT;
		list_is_complete(s, l->resource);
	} else {
		fail(s, l->resource);
	}
}

static void on_done(void *ctx, const struct http_result *result)
{
	struct survey_list *l = ctx;
	struct survey *s = l->survey;

	l->call = 0;
	if (!is_over(s) && atomic_load(&s->destroyed)) {
		report(s);
	}
	if (!is_over(s)) {
		take_answer(l, result);
	}
	leave(s);
}

/* --- the beginning -----------------------------------------------------------------------------*/

static void begin(void *ctx)
{
	struct survey *s = ctx;

	s->until = clock_mono(s->opt.clock) + s->opt.limit_ns;
	if (atomic_load(&s->opt.transport->stopping) || atomic_load(&s->destroyed)) {
		(void)err_set(&s->answer->err, ERR_CANCELLED, "the connection is closed");
		report(s);
	}
	for (int r = 0; r < SCHED_RESOURCE_COUNT_ && !is_over(s); r++) {
		if (r != SCHED_WORKLOADS && workload_cache_reads((enum sched_resource)r)) {
			begin_list(s, (enum sched_resource)r);
		}
	}
	leave(s);
}

static void copy_wants(struct survey *s, const struct survey_want *wants, size_t n)
{
	struct arena *arena = s->answer->arena;

	s->wants = arena_zero(arena, n + 1, sizeof(*s->wants));
	s->nwants = n;
	for (size_t i = 0; i < n; i++) {
		const char **promised =
			arena_zero(arena, wants[i].npromised + 1, sizeof(*promised));

		for (size_t k = 0; k < wants[i].npromised; k++) {
			promised[k] = arena_dup(arena, wants[i].promised[k]);
		}
		s->wants[i] = (struct survey_want){ .key = arena_dup(arena, wants[i].key),
						    .promised = promised,
						    .npromised = wants[i].npromised };
	}
}

struct survey *survey_start(const struct survey_options *opt, const struct survey_want *wants,
			    size_t n)
{
	struct survey *s = xmalloc_zero(1, sizeof(*s));
	struct survey_answer *a = xmalloc_zero(1, sizeof(*a));

	s->opt = *opt;
	s->opt.limit_ns = opt->limit_ns == 0 ? SURVEY_LIMIT_NS : opt->limit_ns;
	s->opt.max_bytes = opt->max_bytes == 0 ? SURVEY_MAX_BYTES : opt->max_bytes;
	s->opt.max_objects = opt->max_objects == 0 ? SURVEY_MAX_OBJECTS : opt->max_objects;
	a->arena = arena_create(0);
	a->model = price_model_create(opt->conf);
	s->answer = a;
	copy_wants(s, wants, n);
	strbuf_init(&s->forbidden);
	for (size_t i = 0; i < ARRAY_LEN(s->lists); i++) {
		strbuf_init(&s->lists[i].next);
	}
	atomic_init(&s->refs, 2);
	s->in_flight = 1; /* begin */
	transport_call(opt->transport, 0, begin, s);
	return s;
}

void survey_destroy(struct survey *s)
{
	if (s != NULL) {
		atomic_store(&s->destroyed, true);
		unref(s);
	}
}

void survey_answer_destroy(struct survey_answer *a)
{
	if (a != NULL) {
		price_model_destroy(a->model);
		arena_destroy(a->arena);
		free(a);
	}
}
