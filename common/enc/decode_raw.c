#include "base/arena.h"
#include "base/err.h"
#include "enc/decode_priv.h"
#include "enc/field.h"
#include "enc/json/jdoc.h"
#include "enc/json/reader.h"

int decode_raw(struct decoder *d, bool slice, struct str *ret)
{
	struct str raw = reader_raw(d->r, d->arena);

	if (raw.p == NULL) {
		return -ERR_INVALID;
	}
	*ret = slice ? raw : arena_str(d->arena, raw);
	return 0;
}

int decode_raw_list(struct decoder *d, struct field_raw_list *ret)
{
	struct str raw, key;
	struct reader inner;

	if (reader_kind(d->r) != JDOC_ARRAY) {
		return decode_wrong_kind(d, "array");
	}
	raw = reader_raw(d->r, d->arena);
	if (raw.p == NULL) {
		return -ERR_INVALID;
	}
	ret->n = 0;
	/* The items are only counted; the text of the list has been validated by reader_raw. */
	reader_of_text(&inner, raw, d->arena);
	reader_enter(&inner);
	while (reader_next(&inner, &key)) {
		reader_skip(&inner);
		ret->n++;
	}
	ret->json = arena_str(d->arena, raw);
	return 0;
}
