#include "webhook/certs/ca_bundles.h"

#include <stdlib.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "enc/json/jdoc.h"
#include "enc/json/json_out.h"
#include "enc/json/patch.h"

struct registration {
	struct jdoc *object;
	int64_t retry_at;
};

struct ca_bundles {
	struct strmap *registrations; /* by path */
};

static void free_registration(void *value)
{
	struct registration *r = value;

	jdoc_destroy(r->object);
	free(r);
}

struct ca_bundles *ca_bundles_create(void)
{
	struct ca_bundles *b = xmalloc_zero(1, sizeof(*b));

	b->registrations = strmap_create(free_registration);
	return b;
}

void ca_bundles_destroy(struct ca_bundles *b)
{
	if (b != NULL) {
		strmap_destroy(b->registrations);
		free(b);
	}
}

bool ca_bundles_set(struct ca_bundles *b, struct str path, struct str json)
{
	struct registration *r = strmap_get(b->registrations, path);
	struct jdoc *object;

	if (jdoc_parse(json, &object, NULL) < 0) {
		return false;
	}
	if (r == NULL) {
		r = xmalloc_zero(1, sizeof(*r));
		strmap_set(b->registrations, path, r);
	}
	/* retry_at stays: an edit by others does not cut a backoff short. */
	jdoc_destroy(r->object);
	r->object = object;
	return true;
}

void ca_bundles_remove(struct ca_bundles *b, struct str path)
{
	(void)strmap_remove(b->registrations, path);
}

void ca_bundles_defer(struct ca_bundles *b, struct str path, int64_t retry_at)
{
	struct registration *r = strmap_get(b->registrations, path);

	if (r != NULL) {
		r->retry_at = retry_at;
	}
}

static bool has_bundle(const struct jdoc *webhook, struct str bundle64)
{
	const char *has = jdoc_path_str(webhook, "clientConfig.caBundle");

	return str_eq(str_of(has), bundle64);
}

/* One without webhooks is never stale: there is no place for a bundle. */
static bool is_stale(const struct registration *r, struct str bundle64)
{
	for (const struct jdoc *w = jdoc_first(jdoc_get(r->object, "webhooks")); w != NULL;
	     w = jdoc_next(w)) {
		if (!has_bundle(w, bundle64)) {
			return true;
		}
	}
	return false;
}

/* A place in the list is the only address that a JSON patch has. The test of the name refuses
 * the whole patch when others have moved the webhooks meanwhile; the watch then delivers the new
 * order. Each webhook of a registration has a caBundle of its own. */
static void format_patch(const struct registration *r, struct str bundle64, struct strbuf *out)
{
	struct json_out o;
	size_t i = 0;

	patch_begin(&o, out);
	for (const struct jdoc *w = jdoc_first(jdoc_get(r->object, "webhooks")); w != NULL;
	     w = jdoc_next(w), i++) {
		CLEANUP(strbuf_finish) struct strbuf webhook = STRBUF_INIT;

		if (has_bundle(w, bundle64)) {
			continue;
		}
		strbuf_printf(&webhook, "/webhooks/%zu", i);
		patch_test_str(&o, webhook.p, "name", str_of(jdoc_str_or(jdoc_get(w, "name"), "")));
		strbuf_add_c(&webhook, "/clientConfig");
		patch_add_str(&o, webhook.p, "caBundle", bundle64);
	}
	patch_end(&o);
}

struct search {
	struct str bundle64, path;
	int64_t now, at;
	const struct registration *found;
};

/* Which stale one is found first does not matter: all are patched, one after the other. */
static bool check_registration(struct str path, void *value, void *ctx)
{
	const struct registration *r = value;
	struct search *s = ctx;

	if (!is_stale(r, s->bundle64)) {
		return true;
	}
	/* One that was refused a moment ago does not keep the others from being patched. */
	if (r->retry_at > s->now) {
		s->at = r->retry_at < s->at ? r->retry_at : s->at;
		return true;
	}
	s->path = path;
	s->found = r;
	return false;
}

bool ca_bundles_next(const struct ca_bundles *b, struct str bundle64, int64_t now,
		     struct strbuf *ret_path, struct strbuf *ret_patch, int64_t *ret_at)
{
	struct search s = { .bundle64 = bundle64, .now = now, .at = CLOCK_NEVER };

	strmap_each(b->registrations, check_registration, &s);
	if (s.found == NULL) {
		*ret_at = s.at;
		return false;
	}
	strbuf_add_str(ret_path, s.path);
	format_patch(s.found, bundle64, ret_patch);
	return true;
}
