/* common/enc/encode.h: structs to JSON by the field tables that decode them.
 * Absent members are left out, embedded objects without members as well. Any thread. */
#ifndef COMMON_ENC_ENCODE_H
#define COMMON_ENC_ENCODE_H

#include "enc/field.h"

struct json_out;
struct strbuf;

/* One object as the next value of o, or as a whole text appended to out. */
void encode_object(const struct field_table *t, const void *obj, struct json_out *o);
void encode_text(const struct field_table *t, const void *obj, struct strbuf *out);
/* Appends a merge patch (RFC 7386). nulls: addresses of members of obj, or of objects embedded in
 * it, that are written as null if they are absent; NULL ends the list. A value of NULL in a map is
 * null as well. */
void encode_merge(const struct field_table *t, const void *obj, const void *const *nulls,
		  struct strbuf *out);
/* The members alone, into the object that is open in o. nulls may be NULL. */
void encode_members(const struct field_table *t, const void *obj, const void *const *nulls,
		    struct json_out *o);

#endif
