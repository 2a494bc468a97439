#include "lib/field_flip.h"

#include <stdio.h>
#include <string.h>

#include "base/xmalloc.h"
#include "lib/unit.h"

struct flip {
	field_flip_fn *fn;
	void *ctx;
};

static void walk(const struct flip *f, const struct field_table *t, void *obj, const char *path);

/* Calls fn while the size bytes at `at` are those at `other`. */
static void with(const struct flip *f, const char *path, void *at, const void *other, size_t size)
{
	char old[64];

	assert_true(size <= sizeof(old));
	memcpy(old, at, size);
	memcpy(at, other, size);
	f->fn(f->ctx, path);
	memcpy(at, old, size);
}

static void with_number(const struct flip *f, const char *path, void *at, size_t size)
{
	int64_t n;

	if (size == sizeof(int32_t)) {
		n = *(int32_t *)at == FIELD_NO_I32 ? 1 : *(int32_t *)at + 1;
		with(f, path, at, &(int32_t){ (int32_t)n }, size);
		return;
	}
	n = *(int64_t *)at == FIELD_NO_I64 ? 1 : *(int64_t *)at + INT64_C(1000000000);
	with(f, path, at, &n, size);
}

/* All lists and maps begin with a pointer and a count. */
static void shorter(const struct flip *f, const char *path, void *at)
{
	struct field_list *list = at;
	CLEANUP(xmalloc_freep) char *longer = xmalloc_printf("%s shorter", path);

	with(f, longer, &list->n, &(size_t){ list->n - 1 }, sizeof(list->n));
}

/* The first entry of a map or list of plain values. */
static void walk_entries(const struct flip *f, const struct field *row, void *at, const char *path)
{
	struct field_list *list = at;

	if (list->v == NULL || list->n == 0) {
		return;
	}
	shorter(f, path, at);
	if (row->kind == FIELD_MAP) {
		struct field_pair *p = list->v;

		with(f, path, &p->value, &(const char *){ "other" }, sizeof(p->value));
	} else if (row->kind == FIELD_RESOURCES) {
		struct field_resource *p = list->v;
		struct quantity more = quantity_add(p->amount, quantity_of(1, QUANTITY_DECIMAL_SI));

		with(f, path, &p->amount, &more, sizeof(more));
	} else if (row->kind == FIELD_INT_MAP) {
		struct field_int_pair *p = list->v;

		with_number(f, path, &p->value, sizeof(p->value));
	} else {
		with(f, path, list->v, &(const char *){ "other" }, sizeof(const char *));
	}
}

static void walk_objects(const struct flip *f, const struct field *row, void *at, const char *path)
{
	struct field_list *list = at;

	if (list->v == NULL || list->n == 0) {
		return;
	}
	shorter(f, path, at);
	for (size_t i = 0; i < list->n; i++) {
		walk(f, row->sub, (char *)list->v + i * row->size, path);
	}
}

static void walk_field(const struct flip *f, const struct field *row, void *at, const char *path)
{
	switch ((enum field_kind)row->kind) {
	case FIELD_STR:
		if (*(const char **)at != NULL) {
			with(f, path, at, &(const char *){ "other" }, sizeof(const char *));
		}
		break;
	case FIELD_BOOL:
	case FIELD_PRESENT:
		with(f, path, at, &(bool){ !*(bool *)at }, sizeof(bool));
		break;
	case FIELD_TRI:
		with(f, path, at, &(int8_t){ *(int8_t *)at != 1 }, sizeof(int8_t));
		break;
	case FIELD_I32:
	case FIELD_I32_OPT:
		with_number(f, path, at, sizeof(int32_t));
		break;
	case FIELD_I64:
	case FIELD_I64_OPT:
	case FIELD_TIME:
	case FIELD_MICRO_TIME:
		with_number(f, path, at, sizeof(int64_t));
		break;
	case FIELD_QTY: {
		struct quantity other = quantity_of(12345, QUANTITY_DECIMAL_SI);
		const struct quantity *to = &other;

		with(f, path, at, &to, sizeof(to));
		break;
	}
	case FIELD_RESOURCES:
	case FIELD_MAP:
	case FIELD_INT_MAP:
	case FIELD_STRS:
		walk_entries(f, row, at, path);
		break;
	case FIELD_OBJ:
		walk(f, row->sub, at, path);
		break;
	case FIELD_OBJ_PTR:
		if (*(void **)at != NULL) {
			walk(f, row->sub, *(void **)at, path);
		}
		break;
	case FIELD_OBJS:
		walk_objects(f, row, at, path);
		break;
	case FIELD_RAW:
	case FIELD_RAW_SLICE:
		with(f, path, at, &STR_LIT("{}"), sizeof(struct str));
		break;
	case FIELD_KIND_COUNT_:
		fail();
	}
}

static void walk(const struct flip *f, const struct field_table *t, void *obj, const char *path)
{
	for (unsigned i = 0; i < t->count; i++) {
		char longer[256];

		snprintf(longer, sizeof(longer), "%s%s%s", path, path[0] == '\0' ? "" : ".",
			 t->rows[i].name);
		walk_field(f, &t->rows[i], (char *)obj + t->rows[i].offset, longer);
	}
}

void field_flip_each(const struct field_table *t, void *obj, field_flip_fn *fn, void *ctx)
{
	walk(&(struct flip){ fn, ctx }, t, obj, "");
}
