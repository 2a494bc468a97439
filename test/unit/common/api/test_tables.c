/* Walks every field table: rows are sane, and a full, an empty and a null-only object make the
 * round trip through decode and encode. */
#include "lib/unit.h"

#include <string.h>

#include "api/admission.h"
#include "api/core/event.h"
#include "api/core/pod.h"
#include "api/kinds.h"
#include "api/meta/selector.h"
#include "api/meta/status.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/decode.h"
#include "enc/encode.h"
#include "enc/json/jdoc.h"
#include "lib/recorded.h"

#define MAX_TABLES 200

static const struct field_table *tables[MAX_TABLES];
static size_t ntables;

static void collect(const struct field_table *t)
{
	for (size_t i = 0; i < ntables; i++) {
		if (tables[i] == t) {
			return;
		}
	}
	assert_true(ntables < MAX_TABLES);
	tables[ntables++] = t;
	for (unsigned i = 0; i < t->count; i++) {
		if (t->rows[i].sub != NULL) {
			collect(t->rows[i].sub);
		}
	}
}

static int collect_all(void **state)
{
	size_t n;
	const struct kinds_row *k = kinds_all(&n);
	(void)state;

	for (size_t i = 0; i < n; i++) {
		collect(k[i].fields);
	}
	collect(&admission_request_fields);
	collect(&event_reference_fields);
	collect(&pod_admission_fields);
	collect(&selector_fields);
	collect(&status_fields);
	return 0;
}

static size_t member_size(const struct field *f)
{
	switch (f->kind) {
	case FIELD_OBJS:
		return sizeof(struct field_list);
	case FIELD_OBJ_PTR:
		return sizeof(void *);
	default:
		return f->size;
	}
}

static void test_rows_are_sane(void **state)
{
	(void)state;

	assert_true(ntables > 40);
	for (size_t i = 0; i < ntables; i++) {
		const struct field_table *t = tables[i];

		assert_true(t->count > 0 && t->count <= FIELD_TABLE_MAX);
		for (unsigned a = 0; a < t->count; a++) {
			const struct field *f = &t->rows[a];
			bool has_sub = f->kind == FIELD_OBJ || f->kind == FIELD_OBJ_PTR ||
				       f->kind == FIELD_OBJS;

			assert_true(f->kind < FIELD_KIND_COUNT_);
			assert_int_equal(f->name_len, strlen(f->name));
			assert_null(strpbrk(f->name, "\"\\\n")); /* json_out_plain_key */
			assert_true(f->offset + member_size(f) <= t->size);
			assert_int_equal(f->sub != NULL, has_sub);
			if (has_sub) {
				assert_int_equal(f->sub->size, f->size);
			}
			for (unsigned b = 0; b < a; b++) {
				const struct field *g = &t->rows[b];

				assert_string_not_equal(f->name, g->name);
				assert_true(f->offset + member_size(f) <= g->offset ||
					    g->offset + member_size(g) <= f->offset);
			}
		}
	}
}

static struct jdoc *sample_of(const struct field_table *t);

static struct jdoc *parsed(const char *json)
{
	struct jdoc *d = NULL;

	assert_int_equal(jdoc_parse(str_of(json), &d, NULL), 0);
	return d;
}

static struct jdoc *sample(const struct field *f)
{
	struct jdoc *list;

	switch ((enum field_kind)f->kind) {
	case FIELD_STR:
		return jdoc_new_str(f->name);
	case FIELD_BOOL:
		return jdoc_new_bool(true);
	case FIELD_TRI:
		return jdoc_new_bool(false);
	case FIELD_I32:
		return jdoc_new_int(INT32_MIN);
	case FIELD_I32_OPT:
		return jdoc_new_int(0);
	case FIELD_I64:
	case FIELD_I64_OPT:
		return jdoc_new_int(INT64_C(-9007199254740992));
	case FIELD_TIME:
		return jdoc_new_str("2026-01-02T03:04:05Z");
	case FIELD_MICRO_TIME:
		return jdoc_new_str("2026-01-02T03:04:05.678901Z");
	case FIELD_QTY:
		return jdoc_new_str("1500m");
	case FIELD_RESOURCES:
		return parsed("{\"cpu\":\"100m\",\"memory\":\"1Gi\",\"nvidia.com/gpu\":\"2\"}");
	case FIELD_MAP:
		return parsed("{\"b\":\"2\",\"a\":\"\",\"c\":\"x\"}");
	case FIELD_INT_MAP:
		return parsed("{\"b\":2,\"a\":0}");
	case FIELD_STRS:
		return parsed("[\"b\",\"a\",\"\"]");
	case FIELD_OBJ:
	case FIELD_OBJ_PTR:
		return sample_of(f->sub);
	case FIELD_OBJS:
		list = jdoc_new_array();
		for (int i = 0; i < 5; i++) {
			jdoc_append_take(list, i == 3 ? jdoc_new_object() : sample_of(f->sub));
		}
		return list;
	case FIELD_RAW:
	case FIELD_RAW_SLICE:
		return parsed("{\"raw\":[1,{\"x\":null}]}");
	case FIELD_PRESENT:
	case FIELD_KIND_COUNT_:
		return NULL;
	}
	return NULL;
}

static struct jdoc *sample_of(const struct field_table *t)
{
	struct jdoc *d = jdoc_new_object(), *value;

	for (unsigned i = 0; i < t->count; i++) {
		value = sample(&t->rows[i]);
		if (value != NULL) {
			jdoc_set_take(d, t->rows[i].name, value);
		}
	}
	return d;
}

/* Through the tree, or through text without one. */
static void check_trip(const struct field_table *t, const struct jdoc *in, const struct jdoc *want,
		       bool as_text)
{
	struct strbuf text CLEANUP(strbuf_finish) = STRBUF_INIT;
	struct strbuf out CLEANUP(strbuf_finish) = STRBUF_INIT;
	struct arena *arena CLEANUP(arena_destroyp) = arena_create(0);
	struct jdoc *back CLEANUP(jdoc_destroyp) = NULL;
	void *obj CLEANUP(xmalloc_freep) = xmalloc(t->size);
	struct err err = ERR_INIT;
	int r;

	jdoc_format(in, &text);
	r = as_text ? decode_text(t, strbuf_str(&text), obj, arena, &err)
		    : decode_jdoc(t, in, obj, arena, &err);
	if (r != 0) {
		fail_msg("%s: %s", text.p, err.text);
	}
	encode_text(t, obj, &out);
	assert_int_equal(jdoc_parse(strbuf_str(&out), &back, NULL), 0);
	if (!jdoc_equal(want, back)) {
		fail_msg("in  %s\nout %s", text.p, out.p);
	}
}

static void test_round_trip(void **state)
{
	(void)state;

	for (size_t i = 0; i < ntables; i++) {
		struct jdoc *full CLEANUP(jdoc_destroyp) = sample_of(tables[i]);
		struct jdoc *none CLEANUP(jdoc_destroyp) = jdoc_new_object();
		struct jdoc *nulls CLEANUP(jdoc_destroyp) = jdoc_new_object();
		struct jdoc *more CLEANUP(jdoc_destroyp) = jdoc_copy(full);

		for (unsigned f = 0; f < tables[i]->count; f++) {
			jdoc_set_take(nulls, tables[i]->rows[f].name, jdoc_new_null());
		}
		jdoc_set_take(more, "unknownMember", parsed("{\"deep\":[1,2,{}]}"));
		for (int as_text = 0; as_text < 2; as_text++) {
			check_trip(tables[i], full, full, as_text != 0);
			check_trip(tables[i], more, full, as_text != 0);
			check_trip(tables[i], none, none, as_text != 0);
			check_trip(tables[i], nulls, none, as_text != 0);
		}
	}
}

/* --- which members are read --------------------------------------------------------------------*/

static const char *const kind_names[FIELD_KIND_COUNT_] = {
	[FIELD_STR] = "text",
	[FIELD_BOOL] = "bool",
	[FIELD_TRI] = "bool or absent",
	[FIELD_I32] = "int32",
	[FIELD_I64] = "int64",
	[FIELD_I32_OPT] = "int32 or absent",
	[FIELD_I64_OPT] = "int64 or absent",
	[FIELD_TIME] = "time",
	[FIELD_MICRO_TIME] = "time with microseconds",
	[FIELD_QTY] = "quantity",
	[FIELD_RESOURCES] = "quantities by name",
	[FIELD_MAP] = "texts by name",
	[FIELD_INT_MAP] = "integers by name",
	[FIELD_STRS] = "texts",
	[FIELD_OBJ] = "object",
	[FIELD_OBJ_PTR] = "object or absent",
	[FIELD_OBJS] = "list",
	[FIELD_RAW] = "JSON",
	[FIELD_RAW_SLICE] = "JSON",
	[FIELD_PRESENT] = "whether it is there",
};

static void list_members(const char *at, const struct field_table *t, struct strbuf *out)
{
	for (unsigned i = 0; i < t->count; i++) {
		const struct field *f = &t->rows[i];
		CLEANUP(xmalloc_freep)
		char *path =
			xmalloc_printf("%s.%s%s", at, f->name, f->kind == FIELD_OBJS ? "[]" : "");

		strbuf_printf(out, "%s: %s\n", path, kind_names[f->kind]);
		if (f->sub != NULL) {
			list_members(path, f->sub, out);
		}
	}
}

/* A member without its row is passed over as an unknown one is. */
static void test_members_are_those_of_the_list(void **state)
{
	struct strbuf got CLEANUP(strbuf_finish) = STRBUF_INIT;
	size_t n;
	const struct kinds_row *k = kinds_all(&n);

	(void)state;
	for (size_t i = 0; i < n; i++) {
		list_members(k[i].kind, k[i].fields, &got);
	}
	list_members("AdmissionRequest", &admission_request_fields, &got);
	list_members("Event.regarding", &event_reference_fields, &got);
	list_members("Pod (admission)", &pod_admission_fields, &got);
	list_members("LabelSelector", &selector_fields, &got);
	list_members("Status", &status_fields, &got);
	recorded_check("test/unit/common/api/members.txt", &got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_are_sane),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_members_are_those_of_the_list),
	};

	return cmocka_run_group_tests_name("tables", tests, collect_all, NULL);
}
