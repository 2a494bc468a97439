#include "enc/decode.h"

#include <assert.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"
#include "enc/json/jdoc.h"
#include "enc/json/reader.h"
#include "enc/sorted.h"

#define FIRST_ITEMS 4 /* room of a list at first; doubled when full */
#define LARGE_ITEM 64 /* bytes; lists of larger ones have mostly one (pod sets, containers) */

/* Paths of errors are built on the way up: each level puts its element before ": <error>". */
struct decoder {
	struct reader *r;
	struct arena *arena;
	struct err *err;
	size_t room; /* bytes that lists and maps may still take */
	/* For a partial decode: */
	bool partial;
	struct err *first; /* the first error, NULL: none yet */
	struct err *later; /* takes the errors after it */
};

/* A member, list item or map entry being read. */
struct part {
	struct reader_mark mark;
	bool complete; /* nothing was left out before it */
};

void decode_init(const struct field_table *t, void *obj)
{
	memset(obj, 0, t->size);
	for (unsigned i = 0; i < t->count; i++) {
		const struct field *f = &t->rows[i];
		char *at = (char *)obj + f->offset;

		/* All others are absent when zero. */
		if (f->kind == FIELD_OBJ) {
			decode_init(f->sub, at);
		} else if (f->kind == FIELD_TRI) {
			*(int8_t *)at = FIELD_TRI_ABSENT;
		} else if (f->kind == FIELD_I32_OPT) {
			*(int32_t *)(void *)at = FIELD_NO_I32;
		} else if (f->kind == FIELD_I64_OPT || f->kind == FIELD_TIME ||
			   f->kind == FIELD_MICRO_TIME) {
			*(int64_t *)(void *)at = FIELD_NO_TIME;
		}
	}
}

static const char *const kind_names[] = {
	[JDOC_NULL] = "null",     [JDOC_BOOL] = "boolean", [JDOC_NUMBER] = "number",
	[JDOC_STRING] = "string", [JDOC_ARRAY] = "array",  [JDOC_OBJECT] = "object",
};

static int wrong_kind(struct decoder *d, const char *want)
{
	enum jdoc_kind is = reader_kind(d->r);

	if (reader_has_failed(d->r)) {
		return -ERR_INVALID;
	}
	return err_set(d->err, ERR_INVALID, ": expected %s, got %s", want, kind_names[is]);
}

static int get_str(struct decoder *d, const char **ret)
{
	if (UNLIKELY(reader_kind(d->r) != JDOC_STRING)) {
		return wrong_kind(d, "string");
	}
	*ret = reader_str_dup(d->r, d->arena);
	return *ret == NULL ? -ERR_INVALID : 0;
}

static int get_int(struct decoder *d, int64_t min, int64_t max, int64_t *ret)
{
	int64_t n;

	if (reader_kind(d->r) != JDOC_NUMBER) {
		return wrong_kind(d, "integer");
	}
	if (!reader_int(d->r, &n) || n < min || n > max) {
		return err_set(d->err, ERR_INVALID, ": not an integer between %lld and %lld",
			       (long long)min, (long long)max);
	}
	*ret = n;
	return 0;
}

static int get_i32(struct decoder *d, bool optional, void *at)
{
	int64_t n = 0;
	/* INT32_MIN stands for absence. */
	int r = get_int(d, optional ? INT32_MIN + 1 : INT32_MIN, INT32_MAX, &n);

	if (r == 0) {
		*(int32_t *)at = (int32_t)n;
	}
	return r;
}

static int get_bool(struct decoder *d, bool *ret)
{
	if (reader_kind(d->r) != JDOC_BOOL) {
		return wrong_kind(d, "boolean");
	}
	*ret = reader_bool(d->r);
	return 0;
}

static int get_time(struct decoder *d, int64_t *ret)
{
	struct str s;

	if (reader_kind(d->r) != JDOC_STRING) {
		return wrong_kind(d, "time");
	}
	s = reader_str(d->r);
	if (s.p == NULL) {
		return -ERR_INVALID;
	}
	if (s.len > 0 && clock_parse_time(s, ret) < 0) {
		return err_set(d->err, ERR_INVALID, ": invalid time \"" STR_FMT "\"",
			       s.len > 64 ? 64 : (int)s.len, s.p);
	}
	if (s.len > 0) {
		*ret = *ret > DECODE_MAX_TIME    ? DECODE_MAX_TIME
		       : *ret < -DECODE_MAX_TIME ? -DECODE_MAX_TIME
						 : *ret;
	}
	return 0;
}

/* Kubernetes accepts quantities as numbers, too. */
static int get_quantity(struct decoder *d, struct quantity *ret)
{
	enum jdoc_kind kind = reader_kind(d->r);
	struct err inner = ERR_INIT;
	struct str s;
	int r;

	if (kind == JDOC_STRING) {
		s = reader_str(d->r);
	} else if (kind == JDOC_NUMBER) {
		s = reader_raw(d->r, d->arena);
	} else {
		return wrong_kind(d, "quantity");
	}
	if (s.p == NULL) {
		return -ERR_INVALID;
	}
	r = quantity_parse(s, ret, &inner);
	return r == 0 ? 0 : err_set(d->err, ERR_INVALID, ": %s", inner.text);
}

static struct part begin_part(const struct decoder *d)
{
	return (struct part){ reader_mark(d->r), d->first == NULL };
}

/* Ends a part that failed, or any part of a partial decode:
 *   1. A failed part of a partial decode is left out: the reader goes back to its beginning and
 *      skips it, unless the text itself is broken.
 *   2. The first error is kept; those after it go to `later`, which nothing reads.
 *   3. The first error gets this part in its path if it was noticed within the part, that is, if
 *      nothing had been left out when the part began. */
static NOINLINE int end_failed_part(struct decoder *d, const struct part *p, int r,
				    struct err **ret_named)
{
	if (r < 0 && d->partial && !reader_has_failed(d->r)) {
		reader_rewind(d->r, &p->mark);
		reader_skip(d->r);
		if (d->first == NULL) {
			d->first = d->err;
			d->err = d->later;
		}
		r = 1;
	}
	*ret_named = r < 0 ? d->err : p->complete ? d->first : NULL;
	return r;
}

/* r: the result of reading the part. Positive: leave the part out; the reader is past it.
 * *ret_named: the error that still lacks this part in its path, NULL: none. */
static inline int end_part(struct decoder *d, const struct part *p, int r, struct err **ret_named)
{
	if (LIKELY(r == 0 && !d->partial)) {
		*ret_named = NULL;
		return 0;
	}
	return end_failed_part(d, p, r, ret_named);
}

/* Room for one more item after n; the arena keeps the outgrown array until it is reset. NULL: a
 * limit is reached; the error is set. */
static char *make_room(struct decoder *d, char *items, size_t n, size_t *cap, size_t size)
{
	char *more;

	if (n == DECODE_MAX_ITEMS) {
		err_set(d->err, ERR_INVALID, ": more than %u items", DECODE_MAX_ITEMS);
		return NULL;
	}
	if (n < *cap) {
		return items;
	}
	*cap = *cap == 0 ? (size > LARGE_ITEM ? 1 : FIRST_ITEMS) : *cap * 2;
	if (*cap * size > d->room) {
		err_set(d->err, ERR_INVALID, ": lists and maps of more than %u bytes in memory",
			DECODE_MAX_BYTES);
		return NULL;
	}
	/* Outgrown arrays count as well, since their memory is held until the end. */
	d->room -= *cap * size;
	more = arena_alloc(d->arena, *cap * size);
	if (n > 0) {
		memcpy(more, items, n * size);
	}
	return more;
}

static int get_pair_value(struct decoder *d, unsigned kind, char *item)
{
	int64_t n = 0;
	int r;

	if (kind == FIELD_MAP) {
		return get_str(d, &((struct field_pair *)(void *)item)->value);
	}
	if (kind == FIELD_RESOURCES) {
		return get_quantity(d, &((struct field_resource *)(void *)item)->amount);
	}
	r = get_int(d, INT32_MIN, INT32_MAX, &n);
	((struct field_int_pair *)(void *)item)->value = (int32_t)n;
	return r;
}

static size_t pair_size(unsigned kind)
{
	if (kind == FIELD_MAP) {
		return sizeof(struct field_pair);
	}
	return kind == FIELD_RESOURCES ? sizeof(struct field_resource)
				       : sizeof(struct field_int_pair);
}

/* Whether an invalid map entry is kept: an amount, as the largest one, because left out it would
 * count as no need at all. */
static bool keep_pair(unsigned kind, int r, char *item)
{
	if (r < 0 || kind != FIELD_RESOURCES) {
		return false;
	}
	((struct field_resource *)(void *)item)->amount =
		quantity_of(INT64_MAX, QUANTITY_DECIMAL_SI);
	return true;
}

/* Reads the members of an object into sorted pairs. A null value drops its key. Room is made before
 * the first item, since an empty map has a v that is not NULL, too (field.h). */
static int get_map(struct decoder *d, const struct field *f, struct field_list *ret)
{
	size_t size = pair_size(f->kind), n = 0, cap = 0;
	char *items = make_room(d, NULL, 0, &cap, size);
	struct err *named;
	struct part part;
	struct str key;
	int r;

	if (reader_kind(d->r) != JDOC_OBJECT) {
		return wrong_kind(d, "object");
	}
	reader_enter(d->r);
	while (reader_next(d->r, &key)) {
		if (reader_kind(d->r) == JDOC_NULL || (f->skip != NULL && str_eq_c(key, f->skip))) {
			reader_skip(d->r);
			continue;
		}
		items = make_room(d, items, n, &cap, size);
		if (UNLIKELY(items == NULL)) {
			return -ERR_INVALID;
		}
		memset(items + n * size, 0, size);
		part = begin_part(d);
		r = end_part(d, &part, get_pair_value(d, f->kind, items + n * size), &named);
		if (UNLIKELY(named != NULL)) {
			(void)err_path(named, "." STR_FMT, STR_ARG(key));
		}
		if (UNLIKELY(r != 0) && !keep_pair(f->kind, r, items + n * size)) {
			if (r < 0) {
				return r;
			}
			continue;
		}
		*(const char **)(void *)(items + n * size) = arena_dup_n(d->arena, key.p, key.len);
		n++;
	}
	ret->n = sorted_by_key(items, n, size, d->arena);
	ret->v = items;
	return 0;
}

static int get_strs(struct decoder *d, struct field_strs *ret)
{
	size_t n = 0, cap = 0;
	char *items = make_room(d, NULL, 0, &cap, sizeof(char *));
	struct err *named;
	struct part part;
	struct str key;
	int r;

	if (reader_kind(d->r) != JDOC_ARRAY) {
		return wrong_kind(d, "array");
	}
	reader_enter(d->r);
	while (reader_next(d->r, &key)) {
		items = make_room(d, items, n, &cap, sizeof(char *));
		if (UNLIKELY(items == NULL)) {
			return -ERR_INVALID;
		}
		part = begin_part(d);
		r = get_str(d, (const char **)(void *)(items + n * sizeof(char *)));
		r = end_part(d, &part, r, &named);
		if (UNLIKELY(named != NULL)) {
			(void)err_path(named, "[%zu]", n);
		}
		if (UNLIKELY(r < 0)) {
			return r;
		}
		n += r == 0;
	}
	ret->v = (const char *const *)(void *)items;
	ret->n = n;
	return 0;
}

static int get_object(struct decoder *d, const struct field_table *t, void *obj);

static int get_objects(struct decoder *d, const struct field *f, struct field_list *ret)
{
	size_t n = 0, cap = 0;
	char *items = make_room(d, NULL, 0, &cap, f->size);
	struct err *named;
	struct part part;
	struct str key;
	int r;

	assert(f->size == f->sub->size);
	if (reader_kind(d->r) != JDOC_ARRAY) {
		return wrong_kind(d, "array");
	}
	reader_enter(d->r);
	while (reader_next(d->r, &key)) {
		items = make_room(d, items, n, &cap, f->size);
		if (UNLIKELY(items == NULL)) {
			return -ERR_INVALID;
		}
		decode_init(f->sub, items + n * f->size);
		part = begin_part(d);
		r = end_part(d, &part, get_object(d, f->sub, items + n * f->size), &named);
		if (UNLIKELY(named != NULL)) {
			(void)err_path(named, "[%zu]", n);
		}
		if (UNLIKELY(r < 0)) {
			return r;
		}
		n += r == 0;
	}
	ret->v = items;
	ret->n = n;
	return 0;
}

/* A value as text; slice: borrowed from the document. */
static int get_raw(struct decoder *d, bool slice, struct str *ret)
{
	struct str raw = reader_raw(d->r, d->arena);

	if (raw.p == NULL) {
		return -ERR_INVALID;
	}
	*ret = slice ? raw : arena_str(d->arena, raw);
	return 0;
}

static int get_text(struct decoder *d, const char **ret)
{
	const char *text = NULL;
	int r = get_str(d, &text);

	/* As with Go's omitempty: an empty string and none are the same. */
	*ret = text != NULL && text[0] != '\0' ? text : NULL;
	return r;
}

static int get_tri(struct decoder *d, int8_t *ret)
{
	bool b = false;
	int r = get_bool(d, &b);

	*ret = r == 0 ? b : FIELD_TRI_ABSENT;
	return r;
}

static int get_obj_ptr(struct decoder *d, const struct field *f, void **ret)
{
	void *obj = arena_alloc(d->arena, f->size);

	assert(f->size == f->sub->size);
	decode_init(f->sub, obj);
	*ret = obj;
	return get_object(d, f->sub, obj);
}

static int get_quantity_ptr(struct decoder *d, const struct quantity **ret)
{
	struct quantity *q = arena_alloc(d->arena, sizeof(*q));
	int r = get_quantity(d, q);

	*ret = r == 0 ? q : NULL;
	return r;
}

static int get_value(struct decoder *d, const struct field *f, void *at)
{
	switch ((enum field_kind)f->kind) {
	case FIELD_STR:
		return get_text(d, at);
	case FIELD_BOOL:
		return get_bool(d, at);
	case FIELD_TRI:
		return get_tri(d, at);
	case FIELD_I32:
	case FIELD_I32_OPT:
		return get_i32(d, f->kind == FIELD_I32_OPT, at);
	case FIELD_I64:
		return get_int(d, INT64_MIN, INT64_MAX, at);
	case FIELD_I64_OPT:
		return get_int(d, INT64_MIN + 1, INT64_MAX, at);
	case FIELD_TIME:
	case FIELD_MICRO_TIME:
		return get_time(d, at);
	case FIELD_QTY:
		return get_quantity_ptr(d, at);
	case FIELD_RESOURCES:
	case FIELD_MAP:
	case FIELD_INT_MAP:
		return get_map(d, f, at);
	case FIELD_STRS:
		return get_strs(d, at);
	case FIELD_OBJ:
		return get_object(d, f->sub, at);
	case FIELD_OBJ_PTR:
		return get_obj_ptr(d, f, at);
	case FIELD_OBJS:
		return get_objects(d, f, at);
	case FIELD_RAW:
	case FIELD_RAW_SLICE:
		return get_raw(d, f->kind == FIELD_RAW_SLICE, at);
	case FIELD_PRESENT:
		*(bool *)at = true;
		reader_skip(d->r);
		return 0;
	case FIELD_KIND_COUNT_:
		break;
	}
	assert(!"unknown field kind");
	return -ERR_INTERNAL;
}

/* The row of key. JSON members mostly come in the order of the rows, so the search starts after the
 * last row found. */
static const struct field *find_row(const struct field_table *t, struct str key, unsigned *hint)
{
	unsigned i = *hint;

	for (unsigned n = t->count; n > 0; n--) {
		const struct field *f = &t->rows[i];

		i = i + 1 == t->count ? 0 : i + 1;
		if (f->name_len == key.len && memcmp(f->name, key.p, key.len) == 0) {
			*hint = i;
			return f;
		}
	}
	return NULL;
}

/* A duplicate member: the last one wins, so the value of the first is cleared. */
static void clear_member(const struct field *f, char *obj)
{
	const struct field_table one = { .rows = f, .count = 1, .size = 0 };
	size_t size = f->kind == FIELD_OBJ_PTR ? sizeof(void *) : f->size;

	memset(obj + f->offset, 0, f->kind == FIELD_OBJS ? sizeof(struct field_list) : size);
	decode_init(&one, obj);
}

static int get_object(struct decoder *d, const struct field_table *t, void *obj)
{
	const struct field *f;
	uint64_t seen = 0, bit;
	unsigned hint = 0;
	struct err *named;
	struct part part;
	struct str key;
	int r;

	assert(t->count <= FIELD_TABLE_MAX);
	if (reader_kind(d->r) != JDOC_OBJECT) {
		return wrong_kind(d, "object");
	}
	reader_enter(d->r);
	while (reader_next(d->r, &key)) {
		f = find_row(t, key, &hint);
		if (f == NULL) {
			reader_skip(d->r);
			continue;
		}
		bit = UINT64_C(1) << (f - t->rows);
		if (UNLIKELY((seen & bit) != 0)) {
			clear_member(f, obj);
		}
		seen |= bit;
		if (reader_kind(d->r) == JDOC_NULL) {
			reader_skip(d->r);
			continue;
		}
		part = begin_part(d);
		r = end_part(d, &part, get_value(d, f, (char *)obj + f->offset), &named);
		if (UNLIKELY(named != NULL)) {
			(void)err_path(named, ".%s", f->name);
		}
		if (UNLIKELY(r < 0)) {
			return r;
		}
		if (UNLIKELY(r > 0)) {
			clear_member(f, obj);
		}
	}
	return reader_has_failed(d->r) ? -ERR_INVALID : 0;
}

/* ".spec.x: wrong" or, for the object itself, ": wrong". */
static int whole_path(const struct err *inner, struct err *err)
{
	const char *text = inner->text;

	text += text[0] == '.' ? 1 : text[0] == ':' ? 2 : 0;
	return err_set(err, ERR_INVALID, "%s", text);
}

/* An error of the reader itself goes before that of the value. */
static int read_object(const struct field_table *t, struct reader *r, void *obj,
		       struct arena *arena, struct err *err)
{
	struct err inner = ERR_INIT;
	struct decoder d = {
		.r = r, .arena = arena, .err = err == NULL ? NULL : &inner, .room = DECODE_MAX_BYTES
	};
	int rc;

	decode_init(t, obj);
	rc = get_object(&d, t, obj);
	if (reader_has_failed(r)) {
		return reader_finish(r, err);
	}
	return rc < 0 ? whole_path(&inner, err) : 0;
}

int decode_text(const struct field_table *t, struct str text, void *obj, struct arena *arena,
		struct err *err)
{
	struct reader r;
	int rc;

	reader_of_text(&r, text, arena);
	rc = read_object(t, &r, obj, arena, err);
	return rc < 0 ? rc : reader_finish(&r, err);
}

int decode_jdoc(const struct field_table *t, const struct jdoc *d, void *obj, struct arena *arena,
		struct err *err)
{
	struct reader r;
	int rc;

	reader_of_jdoc(&r, d);
	rc = read_object(t, &r, obj, arena, err);
	return rc < 0 ? rc : reader_finish(&r, err);
}

int decode_partial(const struct field_table *t, struct str text, void *obj, struct arena *arena,
		   struct err *err)
{
	struct err inner = ERR_INIT, later = ERR_INIT;
	struct reader r;
	struct decoder d = { .r = &r,
			     .arena = arena,
			     .err = &inner,
			     .room = DECODE_MAX_BYTES,
			     .partial = true,
			     .later = &later };
	int rc;

	reader_of_text(&r, text, arena);
	decode_init(t, obj);
	rc = get_object(&d, t, obj);
	if (reader_has_failed(&r)) {
		return reader_finish(&r, err);
	}
	return rc < 0 || d.first != NULL ? whole_path(&inner, err) : reader_finish(&r, err);
}
