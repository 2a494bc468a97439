/* common/enc/json/cut.h: finds the borders of values in JSON text without building a tree and
 * without validating the values. It cuts pages and frames into objects; the decoder then validates
 * each object, so that a broken one does not affect the others. Strings are those of scan.h. Any
 * thread, no allocation except in cut_unescape. Limit: CUT_MAX_DEPTH levels inside one value. */
#ifndef COMMON_ENC_JSON_CUT_H
#define COMMON_ENC_JSON_CUT_H

#include <stdbool.h>

#include "base/str.h"
#include "enc/json/scan.h"

#define CUT_MAX_DEPTH (SCAN_MAX_DEPTH + 10) /* an object within a page or a frame */

struct strbuf;

/* A position in text; the error is sticky: after it every call returns false. */
struct cut {
	const char *pos, *end;
	bool first, failed;
};

/* Fields of an object's metadata; slices of the text, raw (still escaped). Absent fields are absent
 * slices. */
struct cut_meta {
	struct str namespace_, name, resource_version;
};

void cut_init(struct cut *c, struct str text);
/* Enters an object ('{') or array ('['); false: the value is of another type. */
bool cut_open(struct cut *c, char bracket);
/* Next member of an object: raw key without quotes, value with its quotes or brackets. False:
 * the object is left, or an error (c->failed). */
bool cut_member(struct cut *c, struct str *ret_key, struct str *ret_value);
bool cut_item(struct cut *c, struct str *ret_value); /* next item of an array */
bool cut_value(struct cut *c, struct str *ret_value);
bool cut_at_end(struct cut *c); /* only blanks are left */

/* The raw contents of a string value ("\"a\"" -> "a"); absent when it is no string. */
struct str cut_string(struct str value);
bool cut_int(struct str value, int64_t *ret);
/* metadata.{namespace,name,resourceVersion} of an object; false: no object, or no metadata. */
bool cut_meta(struct str object, struct cut_meta *ret);
/* Appends raw string contents with the escapes resolved; false, with nothing appended: a broken
 * escape. */
bool cut_unescape(struct str raw, struct strbuf *out);

#endif
