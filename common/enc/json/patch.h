/* common/enc/json/patch.h: writes a JSON Patch (RFC 6902) by json_out, operation after operation.
 * The place of each is parent, a JSON Pointer, followed by token, a name that may hold any
 * character (NULL: parent alone). Owner: one thread. */
#ifndef COMMON_ENC_JSON_PATCH_H
#define COMMON_ENC_JSON_PATCH_H

#include "base/str.h"

struct json_out;
struct strbuf;

void patch_begin(struct json_out *o, struct strbuf *out); /* appends to out */
void patch_end(struct json_out *o);
/* The caller writes the value to o and calls patch_add_end. */
void patch_add(struct json_out *o, const char *parent, const char *token);
void patch_add_end(struct json_out *o);
void patch_add_str(struct json_out *o, const char *parent, const char *token, struct str value);
void patch_remove(struct json_out *o, const char *parent, const char *token);
/* The whole patch is refused unless the string at the place equals value. */
void patch_test_str(struct json_out *o, const char *parent, const char *token, struct str value);

#endif
