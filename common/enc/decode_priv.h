/* common/enc/decode_priv.h: shared by the files of the decoder. Any thread. */
#ifndef COMMON_ENC_DECODE_PRIV_H
#define COMMON_ENC_DECODE_PRIV_H

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct err;
struct field_raw_list;
struct reader;
struct str;

struct decoder {
	struct reader *r;
	struct arena *arena;
	struct err *err;
	size_t room; /* bytes that lists and maps may still take */
	/* For a partial decode: */
	bool partial;
	struct err *first; /* the first error, NULL: none yet */
	struct err *later; /* takes the errors after it */
};

/* Paths are built on the way up: each level puts its element before ": <error>". */
int decode_wrong_kind(struct decoder *d, const char *want);
/* A value as text; slice: borrowed from the document. */
int decode_raw(struct decoder *d, bool slice, struct str *ret);
int decode_raw_list(struct decoder *d, struct field_raw_list *ret);

#endif
