/* common/enc/decode.h: JSON to structs by field tables. Everything decoded lives in the arena and
 * does not refer to the document (except FIELD_RAW_SLICE). Unknown members are ignored, null counts
 * as absent; of duplicate members the last wins. Errors name the path:
 * `spec.containers[2].resources.requests.cpu: invalid quantity "1x"`. Any thread.
 *
 * Limits: DECODE_MAX_ITEMS items in one list or map: an item takes at least two bytes in etcd,
 * which accepts no request of more than 1.5 MiB, so no stored object has more. DECODE_MAX_BYTES of
 * memory for the lists and maps of one object, including room for growth: forty times the largest
 * stored object; only lists of empty objects reach it, and no schema of a decoded kind permits
 * those. Times are clamped to the years 1823 to 2116 (DECODE_MAX_TIME ns around 1970), so that
 * neither sum nor difference of two overflows. The depth limit is the scanner's (the tables
 * themselves are a finite tree). */
#ifndef COMMON_ENC_DECODE_H
#define COMMON_ENC_DECODE_H

#include "base/str.h"
#include "enc/field.h"

#define DECODE_MAX_ITEMS (3u << 18)
#define DECODE_MAX_BYTES (64u << 20)
#define DECODE_MAX_TIME (INT64_MAX / 2)

struct arena;
struct err;
struct jdoc;

/* Sets all members of obj to "absent". */
void decode_init(const struct field_table *t, void *obj);
/* Decodes as much of the text as is valid: an invalid member, list item or map entry is left out
 * (absent), an invalid amount in a map of resources becomes the largest amount. 0: all was valid;
 * -ERR_INVALID: obj has the valid part, *err names the first error. Of broken JSON the part before
 * the error is decoded. */
int decode_partial(const struct field_table *t, struct str text, void *obj, struct arena *arena,
		   struct err *err);
/* Decodes the whole text or tree, which must be an object. On an error obj is half filled. */
int decode_text(const struct field_table *t, struct str text, void *obj, struct arena *arena,
		struct err *err);
int decode_jdoc(const struct field_table *t, const struct jdoc *d, void *obj, struct arena *arena,
		struct err *err);

#endif
