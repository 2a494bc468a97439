/* scheduler/pods/dump/dump_fields.h: the scalar members of the model's structs, one table per
 * struct, from which a dump is written and read, so that both directions cannot disagree. Any
 * thread. */
#ifndef SCHEDULER_PODS_DUMP_DUMP_FIELDS_H
#define SCHEDULER_PODS_DUMP_DUMP_FIELDS_H

#include <stddef.h>
#include <stdint.h>

struct err;
struct jdoc;
struct json_out;
struct res;
struct unoffered;
struct res_names;

enum dump_field_kind { DUMP_BOOL, DUMP_U8, DUMP_U32, DUMP_I32, DUMP_I64, DUMP_U64 };

struct dump_field {
	const char *key; /* NULL ends a table */
	size_t offset;
	enum dump_field_kind kind;
	int64_t def; /* not written, and what an absent member reads as */
	int64_t max; /* of DUMP_U8 and DUMP_U32; def is always accepted */
};

extern const struct dump_field dump_fields_cluster[], dump_fields_pod_term[], dump_fields_task[],
	dump_fields_podgroup[], dump_fields_queue[], dump_fields_node[], dump_fields_budget[];

/* As members of the object that is open in o. */
void dump_fields_write(const struct dump_field *fields, const void *obj, struct json_out *o);
/* -ERR_INVALID naming the key. */
int dump_fields_read(const struct dump_field *fields, const struct jdoc *d, void *obj,
		     struct err *err);
/* A whole number: as a string beyond 2^53, which JSON readers would round. */
void dump_fields_write_int(struct json_out *o, int64_t n);
/* d may be NULL (absent). -ERR_INVALID unless an integer from min to max. */
int dump_fields_read_int(const struct jdoc *d, int64_t min, int64_t max, int64_t *ret,
			 struct err *err);
/* Member `key`: amounts by resource name, those that differ from def; left out when none does. */
void dump_fields_write_res(struct json_out *o, const char *key, const struct res_names *names,
			   const struct res *r, int64_t def);
/* Amounts are not negative. */
int dump_fields_read_res(const struct jdoc *d, const char *key, struct res_names *names,
			 int64_t def, struct res *ret, struct err *err);

/* An object of name and amount; left out when the list is empty. */
void dump_fields_write_unoffered(struct json_out *o, const char *key, const struct unoffered *u);
int dump_fields_read_unoffered(const struct jdoc *d, const char *key, struct unoffered *ret,
			       struct err *err);

#endif
