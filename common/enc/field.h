/* common/enc/field.h: tables that say which JSON member goes to which struct member.
 *   static const struct field port_rows[] = {
 *           F_I32(struct api_port, host_port, "hostPort"),
 *           F_STR(struct api_port, host_ip, "hostIP"),
 *   };
 *   static const struct field_table port_fields = FIELD_TABLE(struct api_port, port_rows);
 * decode.h fills a struct from JSON by its table, encode.h writes it back. Rows in the order in
 * which Kubernetes writes the members decode fastest. Tables are constant: any thread.
 *
 * Absence is stored as (JSON null counts as absent):
 *   string NULL (an empty one counts as absent) · bool false · tri-state FIELD_TRI_ABSENT
 *   int 0, or with _OPT FIELD_NO_I32 / FIELD_NO_I64 · time FIELD_NO_TIME · pointer NULL
 *   list, map, resources, raw text: .v (.p) == NULL; an empty one has .v != NULL */
#ifndef COMMON_ENC_FIELD_H
#define COMMON_ENC_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/str.h"
#include "enc/quantity.h"

#define FIELD_NO_I32 INT32_MIN
#define FIELD_NO_I64 INT64_MIN
#define FIELD_NO_TIME FIELD_NO_I64
#define FIELD_TRI_ABSENT (-1)

/* Entries of maps begin with the key and are sorted by it, bytewise. */
struct field_pair {
	const char *key, *value; /* value not NULL, except in a merge patch (encode.h) */
};
struct field_map {
	const struct field_pair *v;
	size_t n;
};
struct field_int_pair {
	const char *key;
	int32_t value;
};
struct field_int_map {
	const struct field_int_pair *v;
	size_t n;
};
struct field_resource {
	const char *name;
	struct quantity amount;
};
struct field_resources {
	const struct field_resource *v;
	size_t n;
};
struct field_strs {
	const char *const *v;
	size_t n;
};
/* The member type of F_LIST: struct FIELD_LIST(struct api_port) ports; */
#define FIELD_LIST(type)                                                                           \
	{                                                                                          \
		type *v;                                                                           \
		size_t n;                                                                          \
	}
struct field_list FIELD_LIST(void); /* any of them */
/* Gives a list n items of zeros in the arena; one without items is empty, not absent. */
#define FIELD_LIST_MAKE(list, items, arena)                                                        \
	((list)->n = (items), (list)->v = arena_zero((arena), (list)->n, sizeof(*(list)->v)))

const char *field_map_get(const struct field_map *m, const char *key); /* NULL: absent */
bool field_map_is(const struct field_map *m, const char *key, const char *value);
const struct quantity *field_resources_get(const struct field_resources *r, const char *name);

enum field_kind {
	FIELD_STR,
	FIELD_BOOL,
	FIELD_TRI,
	FIELD_I32,
	FIELD_I64,
	FIELD_I32_OPT,
	FIELD_I64_OPT,
	FIELD_TIME,
	FIELD_MICRO_TIME, /* differs from TIME when written */
	FIELD_QTY,
	FIELD_RESOURCES,
	FIELD_MAP,
	FIELD_INT_MAP,
	FIELD_STRS,
	FIELD_OBJ,
	FIELD_OBJ_PTR,
	FIELD_OBJS,
	FIELD_RAW,       /* text copied into the arena */
	FIELD_RAW_SLICE, /* text borrowed from the decoded text, if the source is text */
	FIELD_PRESENT,   /* bool: the member is there; never written */
	FIELD_KIND_COUNT_
};

struct field_table;
struct field {
	const char *name;
	uint8_t name_len;
	uint8_t kind; /* enum field_kind */
	uint16_t offset;
	uint16_t size;                 /* of the member; of one item for FIELD_OBJS */
	const struct field_table *sub; /* FIELD_OBJ* */
	const char *skip;              /* FIELD_MAP: a key that is dropped, or NULL */
};

struct field_table {
	const struct field *rows;
	uint16_t count;
	uint16_t size; /* of the struct */
};

#define FIELD_TABLE_MAX 64 /* rows in one table */
#define FIELD_TABLE(type, table_rows)                                                              \
	{                                                                                          \
		.rows = (table_rows), .count = ARRAY_LEN(table_rows), .size = sizeof(type)         \
	}

/* 0, or a compile error when cond is false. */
#define FIELD_CHECK(cond)                                                                          \
	(0 * sizeof(struct {                                                                       \
		 _Static_assert(cond, "field kind and member type differ");                        \
		 int unused_;                                                                      \
	 }))
#define FIELD_IS(type, member, want)                                                               \
	FIELD_CHECK(__builtin_types_compatible_p(__typeof__(((type *)0)->member), want))
#define FIELD_ROW(type, member, json, k, check, item_size, table, skip_key)                        \
	{                                                                                          \
		.name = (json), .name_len = sizeof(json) - 1, .kind = (k),                         \
		.offset = offsetof(type, member) + (check), .size = (item_size), .sub = (table),   \
		.skip = (skip_key)                                                                 \
	}
#define FIELD_PLAIN(type, member, json, k, want)                                                   \
	FIELD_ROW(type, member, json, k, FIELD_IS(type, member, want), sizeof(want), NULL, NULL)

#define F_STR(type, member, json) FIELD_PLAIN(type, member, json, FIELD_STR, const char *)
#define F_BOOL(type, member, json) FIELD_PLAIN(type, member, json, FIELD_BOOL, bool)
#define F_TRI(type, member, json) FIELD_PLAIN(type, member, json, FIELD_TRI, int8_t)
#define F_I32(type, member, json) FIELD_PLAIN(type, member, json, FIELD_I32, int32_t)
#define F_I64(type, member, json) FIELD_PLAIN(type, member, json, FIELD_I64, int64_t)
#define F_I32_OPT(type, member, json) FIELD_PLAIN(type, member, json, FIELD_I32_OPT, int32_t)
#define F_I64_OPT(type, member, json) FIELD_PLAIN(type, member, json, FIELD_I64_OPT, int64_t)
#define F_TIME(type, member, json) FIELD_PLAIN(type, member, json, FIELD_TIME, int64_t)
#define F_MICRO_TIME(type, member, json) FIELD_PLAIN(type, member, json, FIELD_MICRO_TIME, int64_t)
#define F_QTY(type, member, json)                                                                  \
	FIELD_PLAIN(type, member, json, FIELD_QTY, const struct quantity *)
#define F_RESOURCES(type, member, json)                                                            \
	FIELD_PLAIN(type, member, json, FIELD_RESOURCES, struct field_resources)
#define F_MAP(type, member, json) FIELD_PLAIN(type, member, json, FIELD_MAP, struct field_map)
#define F_MAP_SKIP(type, member, json, key)                                                        \
	FIELD_ROW(type, member, json, FIELD_MAP, FIELD_IS(type, member, struct field_map),         \
		  sizeof(struct field_map), NULL, key)
#define F_INT_MAP(type, member, json)                                                              \
	FIELD_PLAIN(type, member, json, FIELD_INT_MAP, struct field_int_map)
#define F_STRS(type, member, json) FIELD_PLAIN(type, member, json, FIELD_STRS, struct field_strs)
#define F_RAW(type, member, json) FIELD_PLAIN(type, member, json, FIELD_RAW, struct str)
#define F_RAW_SLICE(type, member, json) FIELD_PLAIN(type, member, json, FIELD_RAW_SLICE, struct str)
#define F_PRESENT(type, member, json) FIELD_PLAIN(type, member, json, FIELD_PRESENT, bool)
/* An embedded struct, a pointer to one, a list of them. */
#define F_OBJ(type, member, json, table)                                                           \
	FIELD_ROW(type, member, json, FIELD_OBJ, 0, sizeof(((type *)0)->member), &(table), NULL)
#define F_OBJ_PTR(type, member, json, table)                                                       \
	FIELD_ROW(type, member, json, FIELD_OBJ_PTR,                                               \
		  FIELD_CHECK(sizeof(((type *)0)->member) == sizeof(void *)),                      \
		  sizeof(*((type *)0)->member), &(table), NULL)
#define F_LIST(type, member, json, table)                                                          \
	FIELD_ROW(type, member, json, FIELD_OBJS,                                                  \
		  FIELD_CHECK(sizeof(((type *)0)->member) == sizeof(struct field_list)),           \
		  sizeof(*((type *)0)->member.v), &(table), NULL)

#endif
