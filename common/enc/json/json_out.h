/* common/enc/json/json_out.h: writes JSON text straight into a strbuf, no tree.
 * Commas and nesting are kept by the writer; json_out_end asserts that all is closed.
 * Owner: one thread. Invalid UTF-8 in strings becomes U+FFFD. */
#ifndef COMMON_ENC_JSON_JSON_OUT_H
#define COMMON_ENC_JSON_JSON_OUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

#define JSON_OUT_MAX_DEPTH 64

struct strbuf;
struct jdoc;

struct json_out {
	struct strbuf *buf; /* borrowed */
	unsigned depth;
	bool has_item[JSON_OUT_MAX_DEPTH];
	bool after_key;
};

void json_out_init(struct json_out *o, struct strbuf *buf);
void json_out_end(const struct json_out *o);
void json_out_object(struct json_out *o);
void json_out_object_end(struct json_out *o);
void json_out_array(struct json_out *o);
void json_out_array_end(struct json_out *o);
void json_out_key(struct json_out *o, const char *key);
void json_out_plain_key(struct json_out *o, struct str key); /* of which nothing is escaped */
void json_out_str(struct json_out *o, const char *text);     /* NULL writes null */
void json_out_slice(struct json_out *o, struct str s);
void json_out_int(struct json_out *o, int64_t n);
void json_out_bool(struct json_out *o, bool b);
void json_out_null(struct json_out *o);
void json_out_raw(struct json_out *o, struct str json); /* text that is JSON already */
void json_out_doc(struct json_out *o, const struct jdoc *d);
/* key and value at once */
void json_out_kv(struct json_out *o, const char *key, const char *text);
void json_out_kv_int(struct json_out *o, const char *key, int64_t n);
void json_out_kv_bool(struct json_out *o, const char *key, bool b);

#endif
