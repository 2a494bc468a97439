#include "enc/yaml.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "base/utf8.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "enc/json/jdoc.h"
#include "enc/yaml_scalar.h"

#define MERGE_KEY "<<"

/* An anchored value: a copy, because the original may be dropped (a merge) or changed. */
struct anchor {
	struct jdoc *value;
	size_t nodes;
	unsigned depth;
};

/* A mapping or sequence that is still open. */
struct frame {
	struct jdoc *container; /* owned until it is closed */
	char *key;              /* of the member that gets the next value; NULL: a key comes next */
	char *anchor;
	struct jdoc *merge;  /* array of mappings named by <<, NULL: none */
	struct strmap *seen; /* member names, for finding duplicates */
	size_t first_node;   /* nodes counted before this one */
};

struct builder {
	yaml_parser_t parser;
	struct frame frames[JDOC_MAX_DEPTH];
	unsigned depth;
	struct strmap *anchors;
	struct jdoc *root; /* of the current document */
	size_t nodes;
	yaml_mark_t mark; /* of the current event */
	struct err *err;
};

static int bad(struct builder *b, const char *what)
{
	return err_set(b->err, ERR_INVALID, "invalid YAML at line %zu column %zu: %s",
		       b->mark.line + 1, b->mark.column + 1, what);
}

static void anchor_free(void *p)
{
	struct anchor *a = p;

	jdoc_destroy(a->value);
	free(a);
}

static void frame_finish(struct frame *f)
{
	jdoc_destroy(f->container);
	jdoc_destroy(f->merge);
	strmap_destroy(f->seen);
	free(f->key);
	free(f->anchor);
	*f = (struct frame){ 0 };
}

static void builder_finish(struct builder *b)
{
	while (b->depth > 0) {
		frame_finish(&b->frames[--b->depth]);
	}
	jdoc_destroyp(&b->root);
	strmap_destroyp(&b->anchors);
	yaml_parser_delete(&b->parser);
}

static int count_nodes(struct builder *b, size_t n)
{
	/* An alias counts with all that it copies, because a list of two aliases doubles
	 * the tree. */
	if (n > YAML_MAX_NODES - b->nodes) {
		return bad(b, "too many nodes");
	}
	b->nodes += n;
	return 0;
}

static int remember(struct builder *b, const char *anchor, const struct jdoc *value, size_t nodes)
{
	struct anchor *a;
	int r;

	if (anchor == NULL) {
		return 0;
	}
	r = count_nodes(b, nodes);
	if (r < 0) {
		return r;
	}
	a = xmalloc_zero(1, sizeof(*a));
	a->value = jdoc_copy(value);
	a->nodes = nodes;
	a->depth = jdoc_depth(value);
	strmap_set(b->anchors, str_of(anchor), a);
	return 0;
}

/* The value of <<: a mapping, or a sequence of mappings. Takes value. */
static int take_merge(struct builder *b, struct frame *f, struct jdoc *value_take)
{
	struct jdoc *value CLEANUP(jdoc_destroyp) = value_take;

	if (f->merge != NULL) {
		return bad(b, "duplicate key \"<<\"");
	}
	if (jdoc_kind(value) == JDOC_OBJECT) {
		f->merge = jdoc_new_array();
		jdoc_append_take(f->merge, take_ptr(&value));
		return 0;
	}
	for (const struct jdoc *c = jdoc_first(value); c != NULL; c = jdoc_next(c)) {
		if (jdoc_kind(c) != JDOC_OBJECT) {
			return bad(b, "\"<<\" needs a mapping or a list of mappings");
		}
	}
	if (jdoc_kind(value) != JDOC_ARRAY) {
		return bad(b, "\"<<\" needs a mapping or a list of mappings");
	}
	f->merge = take_ptr(&value);
	return 0;
}

/* Adds a finished value to the open mapping or sequence, or makes it the root; takes it. */
static int place(struct builder *b, struct jdoc *value_take)
{
	struct jdoc *value CLEANUP(jdoc_destroyp) = value_take;
	struct frame *f = b->depth == 0 ? NULL : &b->frames[b->depth - 1];
	int r;

	if (f == NULL) {
		/* A document has one root, and the caller of next_document takes it. */
		assert(b->root == NULL);
		b->root = take_ptr(&value);
		return 0;
	}
	if (jdoc_kind(f->container) == JDOC_ARRAY) {
		jdoc_append_take(f->container, take_ptr(&value));
		return 0;
	}
	if (f->key == NULL) {
		return bad(b, "a key must be a scalar");
	}
	if (strcmp(f->key, MERGE_KEY) == 0) {
		r = take_merge(b, f, take_ptr(&value));
		xmalloc_freep(&f->key);
		return r;
	}
	strmap_set(f->seen, str_of(f->key), f);
	/* The key is new: appending does not search. */
	jdoc_add_take(f->container, f->key, take_ptr(&value));
	xmalloc_freep(&f->key);
	return 0;
}

static int on_key(struct builder *b, struct frame *f, struct str text)
{
	if (strmap_has(f->seen, text)) {
		return bad(b, "duplicate key");
	}
	f->key = xmalloc_dup_n(text.p, text.len);
	return 0;
}

/* Converts the NULs of a quoted "\0" to UTF8_NUL, as in all strings in memory. */
static struct str with_nul_pair(struct str text, struct strbuf *out)
{
	for (size_t i = 0; i < text.len; i++) {
		if (text.p[i] == '\0') {
			strbuf_add_c(out, UTF8_NUL);
		} else {
			strbuf_add_ch(out, text.p[i]);
		}
	}
	return strbuf_str(out);
}

static int on_scalar(struct builder *b, const yaml_event_t *ev)
{
	struct frame *f = b->depth == 0 ? NULL : &b->frames[b->depth - 1];
	struct str text = { (const char *)ev->data.scalar.value, ev->data.scalar.length };
	CLEANUP(strbuf_finish) struct strbuf replaced = STRBUF_INIT;
	struct jdoc *value;
	int r = count_nodes(b, 1);

	if (r < 0) {
		return r;
	}
	if (ev->data.scalar.tag != NULL) {
		return bad(b, "tags are not supported");
	}
	if (memchr(text.p, '\0', text.len) != NULL) {
		text = with_nul_pair(text, &replaced);
	}
	if (f != NULL && f->key == NULL && jdoc_kind(f->container) == JDOC_OBJECT) {
		return on_key(b, f, text);
	}
	if (ev->data.scalar.style == YAML_PLAIN_SCALAR_STYLE) {
		value = yaml_scalar_resolve(text);
	} else {
		value = jdoc_new_str_n(text);
	}
	if (value == NULL) {
		return bad(b, "number is not representable in JSON");
	}
	r = remember(b, (const char *)ev->data.scalar.anchor, value, 1);
	if (r < 0) {
		jdoc_destroy(value);
		return r;
	}
	return place(b, value);
}

static int on_alias(struct builder *b, const yaml_event_t *ev)
{
	const struct anchor *a =
		strmap_get(b->anchors, str_of((const char *)ev->data.alias.anchor));
	int r;

	if (a == NULL) {
		return bad(b, "unknown anchor");
	}
	if (b->depth + a->depth > JDOC_MAX_DEPTH) {
		return bad(b, "nested too deeply");
	}
	r = count_nodes(b, a->nodes);
	if (r < 0) {
		return r;
	}
	return place(b, jdoc_copy(a->value));
}

static int on_open(struct builder *b, bool mapping, const yaml_char_t *anchor,
		   const yaml_char_t *tag)
{
	struct frame *f = b->depth == 0 ? NULL : &b->frames[b->depth - 1];
	int r = count_nodes(b, 1);

	if (r < 0) {
		return r;
	}
	if (tag != NULL) {
		return bad(b, "tags are not supported");
	}
	if (f != NULL && f->key == NULL && jdoc_kind(f->container) == JDOC_OBJECT) {
		return bad(b, mapping ? "a key must be a scalar (a template with {{ }} has to be "
					"rendered first)"
				      : "a key must be a scalar");
	}
	if (b->depth == JDOC_MAX_DEPTH) {
		return bad(b, "nested too deeply");
	}
	f = &b->frames[b->depth++];
	*f = (struct frame){ .first_node = b->nodes - 1 };
	f->container = mapping ? jdoc_new_object() : jdoc_new_array();
	f->seen = mapping ? strmap_create(NULL) : NULL;
	f->anchor = anchor == NULL ? NULL : xmalloc_dup((const char *)anchor);
	return 0;
}

/* Members of merged mappings that the mapping itself lacks; earlier mappings win. */
static void apply_merge(struct frame *f)
{
	for (const struct jdoc *m = jdoc_first(f->merge); m != NULL; m = jdoc_next(m)) {
		for (const struct jdoc *c = jdoc_first(m); c != NULL; c = jdoc_next(c)) {
			if (strmap_has(f->seen, str_of(jdoc_key(c)))) {
				continue;
			}
			strmap_set(f->seen, str_of(jdoc_key(c)), f);
			jdoc_add_take(f->container, jdoc_key(c), jdoc_copy(c));
		}
	}
}

/* A mapping gets its merged members when it is complete, because its own members win wherever they
 * stand. Only then is it copied for an anchor. */
static int on_close(struct builder *b)
{
	struct frame *f = &b->frames[b->depth - 1];
	struct jdoc *value CLEANUP(jdoc_destroyp) = NULL;
	int r;

	apply_merge(f);
	r = remember(b, f->anchor, f->container, b->nodes - f->first_node);
	if (r < 0) {
		return r;
	}
	value = take_ptr(&f->container);
	frame_finish(f);
	b->depth--;
	return place(b, take_ptr(&value));
}

/* The tree grows by libyaml's events, with a frame for each mapping and sequence that is open:
 *   1. A scalar is a key where the innermost frame is a mapping without one, else it is a value.
 *   2. An opening pushes a frame; its end pops the frame, and the container becomes a value.
 *   3. A value goes to the key that waits for it, or to the end of the sequence, or is the root.
 *   4. A value with an anchor is copied as well; an alias is another copy of it. */
static int on_event(struct builder *b, const yaml_event_t *ev)
{
	b->mark = ev->start_mark;
	switch (ev->type) {
	case YAML_DOCUMENT_START_EVENT:
		/* Anchors belong to their document. */
		strmap_clear(b->anchors);
		return 0;
	case YAML_SCALAR_EVENT:
		return on_scalar(b, ev);
	case YAML_ALIAS_EVENT:
		return on_alias(b, ev);
	case YAML_MAPPING_START_EVENT:
		return on_open(b, true, ev->data.mapping_start.anchor, ev->data.mapping_start.tag);
	case YAML_SEQUENCE_START_EVENT:
		return on_open(b, false, ev->data.sequence_start.anchor,
			       ev->data.sequence_start.tag);
	case YAML_MAPPING_END_EVENT:
	case YAML_SEQUENCE_END_EVENT:
		return on_close(b);
	case YAML_NO_EVENT:
	case YAML_STREAM_START_EVENT:
	case YAML_STREAM_END_EVENT:
	case YAML_DOCUMENT_END_EVENT:
		break;
	}
	return 0;
}

/* Parses up to the end of the next document: 1, b->root is set; 0: end of the stream. */
static int next_document(struct builder *b)
{
	yaml_event_type_t type;
	yaml_event_t ev;
	int r;

	do {
		if (!yaml_parser_parse(&b->parser, &ev)) {
			b->mark = b->parser.problem_mark;
			return bad(b,
				   b->parser.problem == NULL ? "not readable" : b->parser.problem);
		}
		type = ev.type;
		r = on_event(b, &ev);
		yaml_event_delete(&ev);
		if (r < 0) {
			return r;
		}
	} while (type != YAML_DOCUMENT_END_EVENT && type != YAML_STREAM_END_EVENT);
	return type == YAML_DOCUMENT_END_EVENT;
}

static int start(struct builder *b, struct str text, struct err *err)
{
	if (text.len > YAML_MAX_BYTES) {
		return err_set(err, ERR_INVALID, "invalid YAML: more than %u bytes",
			       YAML_MAX_BYTES);
	}
	if (!yaml_parser_initialize(&b->parser)) {
		return err_set(err, ERR_INTERNAL, "cannot start the YAML parser");
	}
	yaml_parser_set_input_string(
		&b->parser, (const unsigned char *)(text.p == NULL ? "" : text.p), text.len);
	b->anchors = strmap_create(anchor_free);
	b->err = err;
	return 0;
}

static int parse_one(struct builder *b)
{
	struct jdoc *first CLEANUP(jdoc_destroyp) = NULL;
	int r = next_document(b);

	if (r < 0) {
		return r;
	}
	if (r == 0) {
		b->root = jdoc_new_null();
		return 0;
	}
	first = take_ptr(&b->root);
	r = next_document(b);
	if (r < 0) {
		return r;
	}
	if (r > 0) {
		return bad(b, "more than one document");
	}
	b->root = take_ptr(&first);
	return 0;
}

int yaml_parse(struct str text, struct jdoc **ret, struct err *err)
{
	struct builder *b = xmalloc_zero(1, sizeof(*b));
	int r = start(b, text, err);

	if (r == 0) {
		r = parse_one(b);
		if (r == 0) {
			*ret = take_ptr(&b->root);
		}
		builder_finish(b);
	}
	free(b);
	return r;
}

static int parse_all(struct builder *b, struct jdoc *docs)
{
	size_t n = 0;
	int r;

	while ((r = next_document(b)) > 0) {
		if (++n > YAML_MAX_DOCS) {
			return bad(b, "too many documents");
		}
		jdoc_append_take(docs, take_ptr(&b->root));
	}
	return r;
}

int yaml_parse_all(struct str text, struct jdoc **ret, struct err *err)
{
	struct jdoc *docs CLEANUP(jdoc_destroyp) = jdoc_new_array();
	struct builder *b = xmalloc_zero(1, sizeof(*b));
	int r = start(b, text, err);

	if (r == 0) {
		r = parse_all(b, docs);
		builder_finish(b);
	}
	free(b);
	if (r == 0) {
		*ret = take_ptr(&docs);
	}
	return r;
}

static int write_out(void *ctx, unsigned char *bytes, size_t len)
{
	strbuf_add(ctx, bytes, len);
	return 1;
}

/* libyaml fails here only because of bugs of ours: running out of memory aborts, and the sink never
 * fails. */
static void emit(yaml_emitter_t *e, yaml_event_t *ev)
{
	int ok = yaml_emitter_emit(e, ev);

	assert(ok);
}

static void emit_scalar(yaml_emitter_t *e, struct str text, yaml_scalar_style_t style)
{
	/* libyaml wants non-const bytes but copies them. */
	char *bytes CLEANUP(xmalloc_freep) = xmalloc_dup_n(text.p, text.len);
	yaml_event_t ev;
	int ok = yaml_scalar_event_initialize(&ev, NULL, NULL, (yaml_char_t *)bytes, (int)text.len,
					      1, 1, style);

	assert(ok);
	emit(e, &ev);
}

/* libyaml refuses UTF8_NUL, which is not UTF-8, but writes a NUL as an escape. */
static struct str without_nul_pair(struct str text, struct strbuf *out)
{
	for (const char *p = text.p, *end = p + text.len; p < end; p++) {
		bool nul = utf8_is_nul(p, end);

		strbuf_add_ch(out, nul ? '\0' : *p);
		p += nul;
	}
	return strbuf_str(out);
}

static void emit_string(yaml_emitter_t *e, const char *text)
{
	CLEANUP(strbuf_finish) struct strbuf plain = STRBUF_INIT;
	struct str s = str_of(text);
	yaml_scalar_style_t style = YAML_PLAIN_SCALAR_STYLE;

	if (strstr(text, UTF8_NUL) != NULL) {
		s = without_nul_pair(s, &plain);
		style = YAML_DOUBLE_QUOTED_SCALAR_STYLE;
	} else if (memchr(s.p, '\n', s.len) != NULL) {
		style = YAML_LITERAL_SCALAR_STYLE;
	} else if (yaml_scalar_needs_quotes(s)) {
		style = YAML_DOUBLE_QUOTED_SCALAR_STYLE;
	}
	emit_scalar(e, s, style);
}

static void emit_node(yaml_emitter_t *e, const struct jdoc *d);

static void emit_children(yaml_emitter_t *e, const struct jdoc *d)
{
	bool mapping = jdoc_kind(d) == JDOC_OBJECT;
	yaml_event_t ev;

	if (mapping) {
		yaml_mapping_start_event_initialize(&ev, NULL, NULL, 1, YAML_BLOCK_MAPPING_STYLE);
	} else {
		yaml_sequence_start_event_initialize(&ev, NULL, NULL, 1, YAML_BLOCK_SEQUENCE_STYLE);
	}
	emit(e, &ev);
	for (const struct jdoc *c = jdoc_first(d); c != NULL; c = jdoc_next(c)) {
		if (mapping) {
			emit_string(e, jdoc_key(c));
		}
		emit_node(e, c);
	}
	if (mapping) {
		yaml_mapping_end_event_initialize(&ev);
	} else {
		yaml_sequence_end_event_initialize(&ev);
	}
	emit(e, &ev);
}

static void emit_node(yaml_emitter_t *e, const struct jdoc *d)
{
	struct strbuf text CLEANUP(strbuf_finish) = STRBUF_INIT;

	switch (jdoc_kind(d)) {
	case JDOC_STRING:
		emit_string(e, jdoc_str(d));
		return;
	case JDOC_ARRAY:
	case JDOC_OBJECT:
		emit_children(e, d);
		return;
	case JDOC_NULL:
	case JDOC_BOOL:
	case JDOC_NUMBER:
		jdoc_format(d, &text);
		emit_scalar(e, strbuf_str(&text), YAML_PLAIN_SCALAR_STYLE);
		return;
	}
}

void yaml_format(const struct jdoc *d, struct strbuf *out)
{
	yaml_emitter_t e;
	yaml_event_t ev;
	int ok = yaml_emitter_initialize(&e);

	assert(ok);
	yaml_emitter_set_output(&e, write_out, out);
	yaml_emitter_set_unicode(&e, 1);
	/* Lines are not folded. */
	yaml_emitter_set_width(&e, -1);
	yaml_stream_start_event_initialize(&ev, YAML_UTF8_ENCODING);
	emit(&e, &ev);
	yaml_document_start_event_initialize(&ev, NULL, NULL, NULL, 1);
	emit(&e, &ev);
	emit_node(&e, d);
	yaml_document_end_event_initialize(&ev, 1);
	emit(&e, &ev);
	yaml_stream_end_event_initialize(&ev);
	emit(&e, &ev);
	yaml_emitter_delete(&e);
}
