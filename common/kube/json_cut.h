/* common/kube/json_cut.h: finds the borders of values in JSON text without building a tree and
 * without validating what is inside them. Good enough to cut pages and frames into objects, whose
 * decoder validates them one by one. Any thread, no allocation except in json_cut_unescape.
 * Limit: JSON_CUT_MAX_DEPTH levels inside one value. */
#ifndef COMMON_KUBE_JSON_CUT_H
#define COMMON_KUBE_JSON_CUT_H

#include <stdbool.h>

#include "base/str.h"
#include "enc/scan.h"

#define JSON_CUT_MAX_DEPTH (SCAN_MAX_DEPTH + 10) /* an object within a page or a frame */

struct strbuf;

/* A position in text; the error is sticky: after it every call says "no". */
struct json_cut {
	const char *pos, *end;
	bool first, failed;
};

/* What an object says about itself; slices of the text, raw (still escaped). Absent: not there. */
struct json_cut_meta {
	struct str namespace_, name, resource_version;
};

void json_cut_init(struct json_cut *c, struct str text);
/* Enters an object ('{') or array ('['); false: something else is there. */
bool json_cut_open(struct json_cut *c, char bracket);
/* Next member of an object: raw key without quotes, value with its quotes or brackets. False:
 * the object is left, or an error (c->failed). */
bool json_cut_member(struct json_cut *c, struct str *ret_key, struct str *ret_value);
bool json_cut_item(struct json_cut *c, struct str *ret_value); /* next item of an array */
bool json_cut_value(struct json_cut *c, struct str *ret_value);
bool json_cut_at_end(struct json_cut *c); /* only blanks are left */

/* The raw contents of a string value ("\"a\"" -> "a"); absent when it is no string. */
struct str json_cut_string(struct str value);
bool json_cut_int(struct str value, int64_t *ret);
/* metadata.{namespace,name,resourceVersion} of an object; false: no object, or no metadata. */
bool json_cut_meta(struct str object, struct json_cut_meta *ret);
/* Appends raw string contents with the escapes resolved (\u0000: SCAN_NUL); false: a broken one. */
bool json_cut_unescape(struct str raw, struct strbuf *out);

#endif
