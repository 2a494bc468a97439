#include "apiserver/verbs/list.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "apiserver/kstatus.h"
#include "apiserver/kubectl/table.h"
#include "apiserver/options.h"
#include "apiserver/server.h"
#include "apiserver/store/commit.h"
#include "apiserver/store/object.h"
#include "apiserver/store/selector.h"
#include "apiserver/verbs/scale.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "collections/vec.h"
#include "enc/base64.h"

int list_get(struct call *c)
{
	struct object *o;
	int64_t rv;

	o = commit_find(c->res, c->info.ns, c->info.name);
	if (c->stale_rv >= 0) {
		CLEANUP(xmalloc_freep)
		char *key = resource_is_namespaced(c->res)
				    ? xmalloc_printf(STR_FMT "/" STR_FMT, STR_ARG(c->info.ns),
						     STR_ARG(c->info.name))
				    : xmalloc_dup_n(c->info.name.p, c->info.name.len);

		o = bucket_get_at(&c->res->bucket, str_of(key), c->stale_rv);
	}
	if (c->info.has_rv && str_to_i64(strbuf_str(&c->info.rv), &rv) && rv > c->s->rv) {
		return kstatus_too_large(c->resp, rv, c->s->rv);
	}
	if (o == NULL) {
		return kstatus_not_found(c->resp, c->res, c->info.name);
	}
	c->resp->status = 200;
	if (call_is_sub(c, "scale")) {
		return scale_get(c, o);
	}
	if (call_is_sub(c, "binding") || call_is_sub(c, "eviction")) {
		return kstatus_method(c->resp);
	}
	table_format_one(c, o, &c->resp->body);
	return 0;
}

/* Where a list reads: the version it sees and the key it starts at. */
struct range {
	int64_t rv; /* -1: now */
	struct str from;
	bool after;
	bool counted; /* the answer may have a remainingItemCount */
	struct strbuf token;
};

static bool number(struct str text, int64_t *ret)
{
	return str_to_i64(text, ret) && *ret >= 0;
}

/* A continue token is base64 of "version:last key". */
static int parse_token(struct call *c, struct range *g)
{
	struct str rest, rv;

	if (c->info.has_rv && !str_eq_c(strbuf_str(&c->info.rv), "0")) {
		return kstatus_bad_request(c->resp, "specifying resource version is not allowed "
						    "when using continue");
	}
	if (base64_decode(strbuf_str(&c->info.continue_token), &g->token, NULL) < 0) {
		return kstatus_bad_request(c->resp, "continue key is not valid");
	}
	rest = strbuf_str(&g->token);
	rv = str_next(&rest, ':');
	if (!number(rv, &g->rv) || rest.p == NULL || g->rv > c->s->rv) {
		return kstatus_bad_request(c->resp, "continue key is not valid");
	}
	g->from = rest;
	g->after = true;
	if (g->rv < c->res->bucket.compacted) {
		return kstatus_gone(c->resp,
				    "The provided continue parameter is too old to display a "
				    "consistent list result. You can start a new list without the "
				    "continue parameter.");
	}
	return 0;
}

/* resourceVersion with resourceVersionMatch as the API concepts page has them: unset = most recent,
 * 0 = any, NotOlderThan (the default with a version) = now, Exact = that state. */
static int parse_version(struct call *c, struct range *g)
{
	struct str match = strbuf_str(&c->info.rv_match);
	bool exact = str_eq_c(match, "Exact");
	int64_t rv = 0;

	if (match.len > 0 && !c->info.has_rv) {
		return options_refuse_list(c, "FieldValueForbidden", "resourceVersionMatch",
					   "Forbidden: resourceVersionMatch is forbidden unless "
					   "resourceVersion is provided");
	}
	if (match.len > 0 && !exact && !str_eq_c(match, "NotOlderThan")) {
		CLEANUP(xmalloc_freep)
		char *why = xmalloc_printf("Unsupported value: \"" STR_FMT "\": supported values: "
					   "\"Exact\", \"NotOlderThan\", \"\"",
					   STR_ARG(match));

		return options_refuse_list(c, "FieldValueNotSupported", "resourceVersionMatch",
					   why);
	}
	if (c->info.has_rv && !number(strbuf_str(&c->info.rv), &rv)) {
		return kstatus_bad_request(c->resp,
					   "invalid resource version: resourceVersion: Invalid "
					   "value: \"%s\": strconv.ParseUint: parsing \"%s\": "
					   "invalid syntax",
					   c->info.rv.p, c->info.rv.p);
	}
	if (exact && rv == 0) {
		return options_refuse_list(c, "FieldValueForbidden", "resourceVersionMatch",
					   "Forbidden: resourceVersionMatch \"exact\" is forbidden "
					   "for resourceVersion \"0\"");
	}
	if (rv > c->s->rv) {
		return kstatus_too_large(c->resp, rv, c->s->rv);
	}
	if (exact) {
		if (rv < c->res->bucket.compacted) {
			return kstatus_gone(
				c->resp, "The resourceVersion for the provided list is too old.");
		}
		g->rv = rv;
	}
	return 0;
}

static int find_range(struct call *c, struct range *g, struct strbuf *prefix)
{
	int r;

	if (c->info.ns.p != NULL && c->info.ns.len > 0) {
		strbuf_add_str(prefix, c->info.ns);
		strbuf_add_ch(prefix, '/');
	}
	g->rv = c->stale_rv;
	g->from = strbuf_str(prefix);
	r = c->info.continue_token.len > 0 ? parse_token(c, g) : parse_version(c, g);
	if (r == 0 && g->rv < 0 && c->info.limit > 0) {
		g->rv = c->s->rv; /* later pages show the same state */
	}
	return r;
}

static void make_token(int64_t rv, const struct object *last, struct strbuf *out)
{
	struct strbuf plain = STRBUF_INIT;

	strbuf_printf(&plain, "%" PRId64 ":" STR_FMT, rv, STR_ARG(last->key));
	base64_encode(strbuf_str(&plain), out);
	strbuf_finish(&plain);
}

struct page {
	struct object **v; /* referenced by the bucket or the walk */
	size_t n, cap;
	bool more;
};

static void collect(struct call *c, struct bucket_walk *w, const struct selector *sel,
		    struct str prefix, struct page *p)
{
	struct object *o;

	while ((o = bucket_walk_next(w)) != NULL) {
		if (prefix.len > 0 && !str_has_prefix(o->key, prefix.p)) {
			break;
		}
		if (!selector_matches(sel, o)) {
			continue;
		}
		if (c->info.limit > 0 && p->n == (size_t)c->info.limit) {
			p->more = true;
			break;
		}
		vec_grow((void **)&p->v, &p->cap, p->n + 1, sizeof(p->v[0]));
		p->v[p->n++] = o;
	}
}

int list_collection(struct call *c)
{
	CLEANUP(strbuf_finish) struct strbuf prefix = STRBUF_INIT;
	CLEANUP(strbuf_finish) struct strbuf token = STRBUF_INIT;
	struct range g = { .rv = -1, .token = STRBUF_INIT };
	struct selector *sel = NULL;
	struct bucket_walk w;
	struct page p = { 0 };
	struct err err = ERR_INIT;
	int r;

	if (selector_parse(strbuf_str(&c->info.label_selector), strbuf_str(&c->info.field_selector),
			   c->res, &sel, &err) < 0) {
		return kstatus_bad_request(c->resp, "%s", err.text);
	}
	r = find_range(c, &g, &prefix);
	if (r == 0 && !bucket_walk_init(&w, &c->res->bucket, g.rv, g.from, g.after)) {
		r = kstatus_gone(c->resp, "The resourceVersion for the provided list is too old.");
	}
	if (r == 0) {
		collect(c, &w, sel, strbuf_str(&prefix), &p);
		if (p.more) {
			make_token(g.rv, p.v[p.n - 1], &token);
		}
		c->resp->status = 200;
		table_format_list(
			c, p.v, p.n,
			&(struct table_list){ g.rv < 0 ? c->s->rv : g.rv, strbuf_str(&token) },
			&c->resp->body);
		bucket_walk_finish(&w);
	}
	free(p.v);
	strbuf_finish(&g.token);
	selector_destroy(sel);
	return r;
}
