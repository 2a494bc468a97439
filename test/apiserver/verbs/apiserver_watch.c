#include "apiserver/verbs/apiserver_watch.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "apiserver/kstatus.h"
#include "apiserver/kubectl/table.h"
#include "apiserver/options.h"
#include "apiserver/server.h"
#include "apiserver/store/commit.h"
#include "apiserver/store/object.h"
#include "apiserver/store/selector.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "collections/vec.h"

#define BOOKMARK_NS (60 * CLOCK_NS_PER_S)
#define LAST_BOOKMARK_NS (2 * CLOCK_NS_PER_S)
#define DEFAULT_TIMEOUT_S 1800

struct apiserver_watch {
	struct apiserver *s;
	struct resource *res;
	struct selector *selector;
	enum table_form form;
	char *prefix; /* "namespace/"; NULL: of all namespaces */
	struct VEC(struct object *) initial;
	size_t initial_at;
	bool initial_bookmark; /* still to be sent */
	bool bookmarks, columns_sent, ended;
	int64_t rv; /* all changes up to here have been sent or skipped */
	int64_t end_at, bookmark_at;
	struct watch_faults faults;
	int64_t frames;
	int64_t seen_rv, seen_at; /* late streams: newest change noticed, and when */
};

static const struct watch_faults no_faults = { 0, -1, -1, -1, -1 };

static void next_bookmark(struct apiserver_watch *w, int64_t now)
{
	w->bookmark_at = now + BOOKMARK_NS;
	if (now < w->end_at - LAST_BOOKMARK_NS && w->bookmark_at > w->end_at - LAST_BOOKMARK_NS) {
		w->bookmark_at = w->end_at - LAST_BOOKMARK_NS;
	}
}

static bool in_scope(const struct apiserver_watch *w, const struct object *o)
{
	return w->prefix == NULL || str_has_prefix(o->key, w->prefix);
}

static void collect_initial(struct apiserver_watch *w)
{
	const struct sorted *objects = &w->res->bucket.objects;
	struct sorted_pos pos =
		sorted_seek(objects, str_of(w->prefix == NULL ? "" : w->prefix), false);
	struct object *o;

	while ((o = sorted_next(objects, &pos)) != NULL && in_scope(w, o)) {
		if (selector_matches(w->selector, o)) {
			vec_push(&w->initial, object_ref(o));
		}
	}
}

static int parse_start(struct call *c, struct apiserver_watch *w)
{
	int64_t rv = 0;

	if (c->info.has_rv && (!str_to_i64(strbuf_str(&c->info.rv), &rv) || rv < 0)) {
		return kstatus_fail(c->resp, 500, "",
				    "resourceVersion: Invalid value: \"%s\": strconv.ParseUint: "
				    "parsing \"%s\": invalid syntax",
				    c->info.rv.p, c->info.rv.p);
	}
	if (c->info.send_initial && !str_eq_c(strbuf_str(&c->info.rv_match), "NotOlderThan")) {
		return options_refuse_list(c, "FieldValueForbidden", "resourceVersionMatch",
					   "Forbidden: sendInitialEvents requires setting "
					   "resourceVersionMatch to NotOlderThan");
	}
	w->rv = rv;
	if (rv == 0 || c->info.send_initial) {
		w->rv = c->s->rv;
		collect_initial(w);
		w->initial_bookmark = c->info.send_initial && c->info.bookmarks;
	}
	return 0;
}

static int parse_scope(struct call *c, struct apiserver_watch *w)
{
	struct err err = ERR_INIT;

	if (selector_parse(strbuf_str(&c->info.label_selector), strbuf_str(&c->info.field_selector),
			   c->res, &w->selector, &err) < 0) {
		return kstatus_bad_request(c->resp, "%s", err.text);
	}
	if (c->info.ns.p != NULL && c->info.ns.len > 0) {
		w->prefix = xmalloc_printf(STR_FMT "/", STR_ARG(c->info.ns));
	}
	return 0;
}

int apiserver_watch_open(struct call *c, const struct watch_faults *faults)
{
	struct apiserver_watch *w = xmalloc_zero(1, sizeof(*w));
	int64_t timeout_s = c->info.timeout_s > 0 ? c->info.timeout_s : DEFAULT_TIMEOUT_S;
	int r;

	w->s = c->s;
	w->res = c->res;
	w->form = table_form_of(c->req->accept);
	w->bookmarks = c->info.bookmarks;
	w->faults = faults != NULL ? *faults : no_faults;
	w->end_at = timeout_s > INT64_MAX / CLOCK_NS_PER_S / 2
			    ? INT64_MAX
			    : c->now + timeout_s * CLOCK_NS_PER_S;
	w->s->watches++;
	next_bookmark(w, c->now);
	r = parse_scope(c, w);
	if (r == 0) {
		r = parse_start(c, w);
	}
	if (r < 0) {
		apiserver_watch_close(w);
		return r;
	}
	w->seen_rv = w->rv;
	w->seen_at = c->now;
	c->resp->status = 200;
	c->resp->watch = w;
	return 0;
}

void apiserver_watch_close(struct apiserver_watch *w)
{
	if (w == NULL) {
		return;
	}
	w->s->watches--;
	for (size_t i = w->initial_at; i < w->initial.n; i++) {
		object_unref(w->initial.v[i]);
	}
	vec_finish(&w->initial);
	selector_destroy(w->selector);
	free(w->prefix);
	free(w);
}

static void frame(struct apiserver_watch *w, const char *type, struct object *o, int64_t rv,
		  int64_t now, struct strbuf *out)
{
	const struct table_frame format = { w->form, !w->columns_sent, rv, now };

	strbuf_printf(out, "{\"type\":\"%s\",\"object\":", type);
	table_format_event(w->res, o, &format, out);
	w->columns_sent = true;
	strbuf_add_c(out, "}\n");
}

static void bookmark_frame(const struct apiserver_watch *w, bool initial_end, struct strbuf *out)
{
	bool table = w->form == TABLE_TABLE;

	strbuf_printf(out,
		      "{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"%s\",\"apiVersion\":\"%s\","
		      "\"metadata\":{\"resourceVersion\":\"%" PRId64
		      "\",\"creationTimestamp\":null%s}%s}}\n",
		      table ? "Table" : w->res->kind,
		      table ? "meta.k8s.io/v1" : w->res->api_version, w->rv,
		      initial_end ? ",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}"
				  : "",
		      table ? ",\"columnDefinitions\":null,\"rows\":[]" : "");
}

static void gone_frame(const struct apiserver_watch *w, struct strbuf *out)
{
	strbuf_printf(out,
		      "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"apiVersion\":\"v1\","
		      "\"metadata\":{},\"status\":\"Failure\",\"message\":\"too old resource "
		      "version: %" PRId64 " (%" PRId64 ")\",\"reason\":\"Expired\","
		      "\"code\":410}}\n",
		      w->rv, w->res->bucket.compacted + 1);
}

/* The type of watch event that a change is through the selector; NULL: no event. */
static const char *seen_as(const struct apiserver_watch *w, const struct bucket_event *e)
{
	bool was = e->prev != NULL && selector_matches(w->selector, e->prev);
	bool is = e->op != BUCKET_DELETED && selector_matches(w->selector, e->obj);

	if (!in_scope(w, e->obj)) {
		return NULL;
	}
	if (is) {
		return was ? "MODIFIED" : "ADDED";
	}
	return was ? "DELETED" : NULL;
}

/* 1: *ret is the next change that the watch sees, as that type of event. 0: there is none yet. -1:
 * they were compacted. */
static int next_change(struct apiserver_watch *w, int64_t now, const struct bucket_event **ret,
		       const char **ret_type)
{
	const struct bucket *b = &w->res->bucket;
	int64_t limit = w->s->rv;

	if (w->rv < b->compacted) {
		return -1;
	}
	if (w->faults.late_ns > 0) { /* changes become visible a batch at a time */
		if (w->seen_rv == w->rv && w->s->rv > w->rv) {
			w->seen_rv = w->s->rv;
			w->seen_at = now;
		}
		limit = now >= w->seen_at + w->faults.late_ns ? w->seen_rv : w->rv;
	}
	for (size_t i = bucket_after(b, w->rv); i < b->ring_n; i++) {
		const struct bucket_event *e = bucket_event(b, i);
		const char *type = seen_as(w, e);

		if (e->rv > limit) {
			break;
		}
		w->rv = e->rv;
		if (type != NULL) {
			*ret = e;
			*ret_type = type;
			return 1;
		}
	}
	if (limit > w->rv) { /* a watch may begin in the future */
		w->rv = limit;
	}
	if (w->faults.late_ns > 0) {
		w->seen_rv = w->rv > w->seen_rv ? w->rv : w->seen_rv;
	}
	return 0;
}

static bool is_deletion(const char *type)
{
	return type[0] == 'D';
}

static int change_frame(struct apiserver_watch *w, int64_t now, struct strbuf *out)
{
	const struct bucket_event *e = NULL;
	const char *type = NULL;
	int r = next_change(w, now, &e, &type);

	if (r < 0) {
		gone_frame(w, out);
	} else if (r > 0) {
		frame(w, type, is_deletion(type) ? e->prev : e->obj, e->rv, now, out);
	}
	return r;
}

static int next_frame(struct apiserver_watch *w, int64_t now, struct strbuf *out)
{
	int r;

	if (w->initial_at < w->initial.n) {
		struct object *o = w->initial.v[w->initial_at++];

		frame(w, "ADDED", o, o->rv, now, out);
		object_unref(o);
		return 1;
	}
	if (w->initial_bookmark) {
		w->initial_bookmark = false;
		bookmark_frame(w, true, out);
		return 1;
	}
	r = change_frame(w, now, out);
	if (r != 0) {
		return r;
	}
	if (now >= w->end_at) {
		return -1;
	}
	if (w->bookmarks && now >= w->bookmark_at) {
		next_bookmark(w, now);
		bookmark_frame(w, false, out);
		return 1;
	}
	return 0;
}

/* Applies scripted faults to the frame that was appended behind mark. */
static int spoil(struct apiserver_watch *w, size_t mark, struct strbuf *out)
{
	int64_t n = w->frames++;

	if (n == w->faults.gone_at) {
		strbuf_truncate(out, mark);
		gone_frame(w, out);
		return -1;
	}
	if (n == w->faults.close_at) {
		strbuf_truncate(out, mark);
		return -1;
	}
	if (n == w->faults.cut_at) {
		strbuf_truncate(out, mark + (out->len - mark) / 2);
		return -1;
	}
	if (n == w->faults.dup_at) {
		char *copy = xmalloc_dup_n(out->p + mark, out->len - mark);

		strbuf_add_c(out, copy);
		free(copy);
	}
	return 1;
}

int apiserver_watch_next(struct apiserver_watch *w, int64_t now, struct strbuf *out)
{
	size_t mark = out->len;
	int r;

	if (w->ended) {
		return -1;
	}
	r = next_frame(w, now, out);
	if (r == 1) {
		r = spoil(w, mark, out);
	}
	w->ended = r < 0;
	return r;
}

int apiserver_watch_next_change(struct apiserver_watch *w, int64_t now,
				struct apiserver_change *ret)
{
	const struct bucket_event *e = NULL;
	const char *type = NULL;
	int r;

	assert(w->s->opt.keeps_trees && w->initial_at == w->initial.n);
	r = next_change(w, now, &e, &type);
	if (r > 0) {
		bool deleted = is_deletion(type);

		*ret = (struct apiserver_change){ .deleted = deleted,
						  .version = e->rv,
						  .key = e->obj->key,
						  .object = deleted ? NULL : object_doc(e->obj) };
	}
	return r;
}

int64_t apiserver_watch_wake_at(const struct apiserver_watch *w)
{
	int64_t at = w->end_at;

	if (w->bookmarks && w->bookmark_at < at) {
		at = w->bookmark_at;
	}
	if (w->faults.late_ns > 0 && w->seen_rv > w->rv && w->seen_at + w->faults.late_ns < at) {
		at = w->seen_at + w->faults.late_ns;
	}
	return at;
}
