#include "enc/encode.h"

#include "base/clock.h"
#include "base/strbuf.h"
#include "enc/json/json_out.h"

/* How a kind of field is written, and how its absence is stored. */
struct writer {
	bool (*is_absent)(const void *at);
	void (*put)(const struct field *f, const void *at, struct json_out *o);
};

static bool is_null(const void *at)
{
	/* Lists, maps, raw text and pointers alike begin with the pointer. */
	return *(const void *const *)at == NULL;
}

static bool is_false(const void *at)
{
	return !*(const bool *)at;
}

static bool is_tri_absent(const void *at)
{
	return *(const int8_t *)at == FIELD_TRI_ABSENT;
}

static bool is_zero32(const void *at)
{
	return *(const int32_t *)at == 0;
}

static bool is_zero64(const void *at)
{
	return *(const int64_t *)at == 0;
}

static bool is_no32(const void *at)
{
	return *(const int32_t *)at == FIELD_NO_I32;
}

static bool is_no64(const void *at)
{
	return *(const int64_t *)at == FIELD_NO_I64;
}

static bool never(const void *at)
{
	(void)at;
	return false;
}

static bool always(const void *at)
{
	(void)at;
	return true;
}

static void put_str(const struct field *f, const void *at, struct json_out *o)
{
	(void)f;
	json_out_str(o, *(const char *const *)at);
}

static void put_bool(const struct field *f, const void *at, struct json_out *o)
{
	(void)f;
	json_out_bool(o, *(const bool *)at);
}

static void put_tri(const struct field *f, const void *at, struct json_out *o)
{
	(void)f;
	json_out_bool(o, *(const int8_t *)at > 0);
}

static void put_i32(const struct field *f, const void *at, struct json_out *o)
{
	(void)f;
	json_out_int(o, *(const int32_t *)at);
}

static void put_i64(const struct field *f, const void *at, struct json_out *o)
{
	(void)f;
	json_out_int(o, *(const int64_t *)at);
}

static void put_time(const struct field *f, const void *at, struct json_out *o)
{
	char text[CLOCK_RFC3339_MAX];

	if (f->kind == FIELD_MICRO_TIME) {
		clock_format_micro(*(const int64_t *)at, text);
	} else {
		clock_format_time(*(const int64_t *)at, text);
	}
	json_out_str(o, text);
}

static void put_amount(struct quantity q, struct json_out *o)
{
	char text[QUANTITY_TEXT_MAX];

	quantity_format(q, text);
	json_out_str(o, text);
}

static void put_quantity(const struct field *f, const void *at, struct json_out *o)
{
	(void)f;
	put_amount(**(const struct quantity *const *)at, o);
}

static void put_map(const struct field *f, const void *at, struct json_out *o)
{
	const struct field_map *m = at;

	(void)f;
	json_out_object(o);
	for (size_t i = 0; i < m->n; i++) {
		json_out_kv(o, m->v[i].key, m->v[i].value);
	}
	json_out_object_end(o);
}

static void put_int_map(const struct field *f, const void *at, struct json_out *o)
{
	const struct field_int_map *m = at;

	(void)f;
	json_out_object(o);
	for (size_t i = 0; i < m->n; i++) {
		json_out_kv_int(o, m->v[i].key, m->v[i].value);
	}
	json_out_object_end(o);
}

static void put_resources(const struct field *f, const void *at, struct json_out *o)
{
	const struct field_resources *r = at;

	(void)f;
	json_out_object(o);
	for (size_t i = 0; i < r->n; i++) {
		json_out_key(o, r->v[i].name);
		put_amount(r->v[i].amount, o);
	}
	json_out_object_end(o);
}

static void put_strs(const struct field *f, const void *at, struct json_out *o)
{
	const struct field_strs *s = at;

	(void)f;
	json_out_array(o);
	for (size_t i = 0; i < s->n; i++) {
		json_out_str(o, s->v[i]);
	}
	json_out_array_end(o);
}

static void put_obj_ptr(const struct field *f, const void *at, struct json_out *o)
{
	encode_object(f->sub, *(const void *const *)at, o);
}

static void put_objs(const struct field *f, const void *at, struct json_out *o)
{
	const struct field_list *list = at;

	json_out_array(o);
	for (size_t i = 0; i < list->n; i++) {
		encode_object(f->sub, (const char *)list->v + i * f->size, o);
	}
	json_out_array_end(o);
}

static void put_raw(const struct field *f, const void *at, struct json_out *o)
{
	(void)f;
	json_out_raw(o, *(const struct str *)at);
}

static const struct writer writers[FIELD_KIND_COUNT_] = {
	[FIELD_STR] = { is_null, put_str },
	[FIELD_BOOL] = { is_false, put_bool },
	[FIELD_TRI] = { is_tri_absent, put_tri },
	[FIELD_I32] = { is_zero32, put_i32 },
	[FIELD_I64] = { is_zero64, put_i64 },
	[FIELD_I32_OPT] = { is_no32, put_i32 },
	[FIELD_I64_OPT] = { is_no64, put_i64 },
	[FIELD_TIME] = { is_no64, put_time },
	[FIELD_MICRO_TIME] = { is_no64, put_time },
	[FIELD_QTY] = { is_null, put_quantity },
	[FIELD_RESOURCES] = { is_null, put_resources },
	[FIELD_MAP] = { is_null, put_map },
	[FIELD_INT_MAP] = { is_null, put_int_map },
	[FIELD_STRS] = { is_null, put_strs },
	[FIELD_OBJ] = { never, NULL }, /* encode_members itself */
	[FIELD_OBJ_PTR] = { is_null, put_obj_ptr },
	[FIELD_OBJS] = { is_null, put_objs },
	[FIELD_RAW] = { is_null, put_raw },
	[FIELD_RAW_SLICE] = { is_null, put_raw },
	[FIELD_PRESENT] = { always, NULL },
};

static bool is_listed(const void *const *members, const void *at)
{
	for (; members != NULL && *members != NULL; members++) {
		if (*members == at) {
			return true;
		}
	}
	return false;
}

void encode_members(const struct field_table *t, const void *obj, const void *const *nulls,
		    struct json_out *o)
{
	for (unsigned i = 0; i < t->count; i++) {
		const struct field *f = &t->rows[i];
		const struct str name = { f->name, f->name_len };
		const void *at = (const char *)obj + f->offset;
		struct json_out before;
		size_t len, empty;

		if (writers[f->kind].is_absent(at)) {
			if (is_listed(nulls, at)) {
				json_out_plain_key(o, name);
				json_out_null(o);
			}
			continue;
		}
		if (f->kind != FIELD_OBJ) {
			json_out_plain_key(o, name);
			writers[f->kind].put(f, at, o);
			continue;
		}
		/* An embedded struct has no mark of its own for absence: it is absent if all of its
		 * members are. */
		before = *o;
		len = o->buf->len;
		json_out_plain_key(o, name);
		empty = o->buf->len + 2;
		json_out_object(o);
		encode_members(f->sub, at, nulls, o);
		json_out_object_end(o);
		if (o->buf->len == empty) {
			/* The member came out as {}: remove it again. */
			strbuf_truncate(o->buf, len);
			*o = before;
		}
	}
}

void encode_object(const struct field_table *t, const void *obj, struct json_out *o)
{
	json_out_object(o);
	encode_members(t, obj, NULL, o);
	json_out_object_end(o);
}

void encode_text(const struct field_table *t, const void *obj, struct strbuf *out)
{
	struct json_out o;

	json_out_init(&o, out);
	encode_object(t, obj, &o);
	json_out_end(&o);
}

void encode_merge(const struct field_table *t, const void *obj, const void *const *nulls,
		  struct strbuf *out)
{
	struct json_out o;

	json_out_init(&o, out);
	json_out_object(&o);
	encode_members(t, obj, nulls, &o);
	json_out_object_end(&o);
	json_out_end(&o);
}
