#include "apiserver/store/object.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"

/* Bool and number fields are compared as text in selectors ("spec.unschedulable=true"). */
static void add_field_text(struct strbuf *blob, const struct jdoc *v)
{
	if (jdoc_kind(v) == JDOC_BOOL) {
		strbuf_add_c(blob, jdoc_bool(v, false) ? "true" : "false");
	} else if (jdoc_kind(v) == JDOC_NUMBER) {
		strbuf_printf(blob, "%" PRId64, jdoc_int(v, 0));
	} else {
		strbuf_add_c(blob, jdoc_str_or(v, ""));
	}
	strbuf_add_ch(blob, '\0');
}

static unsigned add_labels(struct strbuf *blob, const struct jdoc *labels)
{
	unsigned n = 0;

	if (jdoc_kind(labels) != JDOC_OBJECT) {
		return 0;
	}
	for (const struct jdoc *c = jdoc_first(labels); c != NULL; c = jdoc_next(c)) {
		strbuf_add_c(blob, jdoc_key(c));
		strbuf_add_ch(blob, '\0');
		strbuf_add_c(blob, jdoc_str_or(c, ""));
		strbuf_add_ch(blob, '\0');
		n++;
	}
	return n;
}

static size_t add_text(struct strbuf *blob, const char *text)
{
	size_t at = blob->len;

	strbuf_add_c(blob, text);
	strbuf_add_ch(blob, '\0');
	return at;
}

static void find_rv(struct object *o)
{
	char needle[64];
	const char *at;
	int n = snprintf(needle, sizeof(needle), "\"resourceVersion\":\"%" PRId64 "\"", o->rv);

	assert(n > 0 && (size_t)n < sizeof(needle));
	at = strstr(o->text.p, needle);
	assert(at != NULL);
	o->rv_at = (size_t)(at - o->text.p) + sizeof("\"resourceVersion\":\"") - 1;
	o->rv_len = (size_t)n - (sizeof("\"resourceVersion\":\"") - 1) - 1;
}

struct object *object_create(const struct jdoc *doc, int64_t rv, const char *const *fields)
{
	struct object *o = xmalloc_zero(1, sizeof(*o));
	struct strbuf text = STRBUF_INIT;
	struct strbuf blob = STRBUF_INIT;
	const struct jdoc *meta = jdoc_get(doc, "metadata");
	const char *ns = jdoc_str_or(jdoc_get(meta, "namespace"), "");
	const char *name = jdoc_str_or(jdoc_get(meta, "name"), "");
	const char *at;
	size_t ns_at, name_at, uid_at, key_at, fields_at;

	o->refs = 1;
	o->rv = rv;
	jdoc_format(doc, &text);
	o->text.len = text.len;
	o->text.p = strbuf_steal(&text, NULL);
	at = memmem(o->text.p, o->text.len, "\"metadata\":", sizeof("\"metadata\":") - 1);
	o->meta_at = at == NULL ? 1 : (size_t)(at - o->text.p);
	find_rv(o);
	o->n_labels = add_labels(&blob, jdoc_get(meta, "labels"));
	fields_at = blob.len;
	for (unsigned i = 0; fields != NULL && fields[i] != NULL; i++) {
		assert(i < OBJECT_MAX_FIELDS);
		add_field_text(&blob, jdoc_path(doc, fields[i]));
		o->n_fields++;
	}
	ns_at = add_text(&blob, ns);
	uid_at = add_text(&blob, jdoc_str_or(jdoc_get(meta, "uid"), ""));
	key_at = blob.len;
	if (ns[0] != '\0') {
		strbuf_add_c(&blob, ns);
		strbuf_add_ch(&blob, '/');
	}
	name_at = add_text(&blob, name);
	o->blob = strbuf_steal(&blob, NULL);
	o->labels = o->blob;
	o->fields = o->blob + fields_at;
	o->ns = str_of(o->blob + ns_at);
	o->name = str_of(o->blob + name_at);
	o->uid = str_of(o->blob + uid_at);
	o->key = str_of(o->blob + key_at);
	o->terminating = jdoc_get(meta, "deletionTimestamp") != NULL;
	o->has_finalizers = jdoc_first(jdoc_get(meta, "finalizers")) != NULL;
	return o;
}

struct object *object_ref(struct object *o)
{
	if (o != NULL) {
		o->refs++;
	}
	return o;
}

void object_unref(struct object *o)
{
	union {
		const char *borrowed;
		char *owned;
	} text;

	if (o == NULL || --o->refs > 0) {
		return;
	}
	text.borrowed = o->text.p;
	free(text.owned);
	free(o->blob);
	jdoc_destroy(o->doc);
	free(o);
}

void object_unrefp(struct object **o)
{
	object_unref(*o);
	*o = NULL;
}

struct jdoc *object_parse(const struct object *o)
{
	struct jdoc *d = NULL;
	int r = jdoc_parse(o->text, &d, NULL);

	assert(r == 0);
	return d;
}

const struct jdoc *object_doc(struct object *o)
{
	if (o->doc == NULL) {
		o->doc = object_parse(o);
	}
	return o->doc;
}

void object_keep_doc(struct object *o, struct jdoc *doc_take)
{
	object_drop_doc(o);
	o->doc = doc_take;
}

void object_drop_doc(struct object *o)
{
	jdoc_destroy(o->doc);
	o->doc = NULL;
}

void object_append_at(const struct object *o, int64_t rv, struct strbuf *out)
{
	size_t tail = o->rv_at + o->rv_len;

	strbuf_add(out, o->text.p, o->rv_at);
	strbuf_printf(out, "%" PRId64, rv);
	strbuf_add(out, o->text.p + tail, o->text.len - tail);
}

const char *object_label(const struct object *o, struct str key)
{
	const char *p = o->labels;

	for (unsigned i = 0; i < o->n_labels; i++) {
		const char *value = p + strlen(p) + 1;

		if (str_eq_c(key, p)) {
			return value;
		}
		p = value + strlen(value) + 1;
	}
	return NULL;
}

const char *object_field(const struct object *o, unsigned i)
{
	const char *p = o->fields;

	if (i >= o->n_fields) { /* its kind learned to select by it later */
		return "";
	}
	while (i-- > 0) {
		p += strlen(p) + 1;
	}
	return p;
}

static bool is_ordered(const struct jdoc *obj, const char *const *first)
{
	const struct jdoc *c = jdoc_first(obj);

	for (unsigned i = 0; first[i] != NULL; i++) {
		if (jdoc_get(obj, first[i]) == NULL) {
			continue;
		}
		if (c == NULL || !str_streq(jdoc_key(c), first[i])) {
			return false;
		}
		c = jdoc_next(c);
	}
	return true;
}

/* A new object with the members named in first leading, in that order. Consumes obj. */
static struct jdoc *reorder(struct jdoc *obj, const char *const *first)
{
	struct jdoc *res;
	const struct jdoc *c;

	if (is_ordered(obj, first)) {
		return obj;
	}
	res = jdoc_new_object();
	for (unsigned i = 0; first[i] != NULL; i++) {
		struct jdoc *m = jdoc_get_mut(obj, first[i]);

		if (m != NULL) {
			jdoc_set_take(res, first[i], jdoc_detach(obj, m));
		}
	}
	while ((c = jdoc_first(obj)) != NULL) {
		char *key = xmalloc_dup(jdoc_key(c));
		struct jdoc *m = jdoc_get_mut(obj, key);

		jdoc_set_take(res, key, jdoc_detach(obj, m));
		free(key);
	}
	jdoc_destroy(obj);
	return res;
}

void object_normalise(struct jdoc **doc, int64_t rv)
{
	static const char *const top[] = { "apiVersion", "kind", "metadata", NULL };
	static const char *const meta[] = { "name", "generateName",    "namespace",
					    "uid",  "resourceVersion", NULL };
	char text[24];
	struct jdoc *m = jdoc_ensure_object(*doc, "metadata");

	assert(m != NULL);
	snprintf(text, sizeof(text), "%" PRId64, rv);
	jdoc_set_str(m, "resourceVersion", text);
	m = reorder(jdoc_detach(*doc, m), meta);
	jdoc_set_take(*doc, "metadata", m);
	*doc = reorder(*doc, top);
}
