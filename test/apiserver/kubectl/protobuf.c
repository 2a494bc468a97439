#include "apiserver/kubectl/protobuf.h"

#include <string.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/utf8.h"
#include "enc/base64.h"
#include "enc/json/jdoc.h"

static const char magic[] = { 'k', '8', 's', '\0' };

enum wire { WIRE_VARINT = 0, WIRE_BYTES = 2 };

/* Field numbers. */
enum { UNKNOWN_TYPE = 1, UNKNOWN_RAW = 2 };
enum { TYPE_API_VERSION = 1, TYPE_KIND = 2 };
enum { ENTRY_KEY = 1, ENTRY_VALUE = 2 };
enum { TIME_SECONDS = 1 };
enum { QUANTITY_TEXT = 1 };
enum { INT_OR_STRING_TYPE = 1, INT_OR_STRING_INT = 2, INT_OR_STRING_TEXT = 3 };

#define INTEGER_MAX (INT64_C(1) << 53) /* in JSON */

/* One field on the wire: a number or bytes. */
struct item {
	unsigned number;
	bool is_bytes;
	int64_t n;
	struct str bytes;
};

static int broken(struct err *err)
{
	return err_set(err, ERR_INVALID, "broken protobuf");
}

static int read_varint(struct str *rest, uint64_t *ret)
{
	uint64_t n = 0;

	for (unsigned shift = 0; shift < 64 && rest->len > 0; shift += 7) {
		unsigned char c = (unsigned char)rest->p[0];

		rest->p++;
		rest->len--;
		n |= (uint64_t)(c & 0x7f) << shift;
		if (c < 0x80) {
			*ret = n;
			return 0;
		}
	}
	return -ERR_INVALID;
}

/* The next field of a message. 1: there is none. */
static int next_item(struct str *rest, struct item *ret, struct err *err)
{
	uint64_t tag, n;

	if (rest->len == 0) {
		return 1;
	}
	if (read_varint(rest, &tag) < 0 || tag >> 3 == 0 || tag >> 3 > UINT32_MAX ||
	    read_varint(rest, &n) < 0) {
		return broken(err);
	}
	*ret = (struct item){ .number = (unsigned)(tag >> 3), .n = (int64_t)n };
	if ((tag & 7) == WIRE_VARINT) {
		return 0;
	}
	if ((tag & 7) != WIRE_BYTES || n > rest->len) {
		return broken(err);
	}
	ret->is_bytes = true;
	ret->bytes = (struct str){ rest->p, (size_t)n };
	rest->p += n;
	rest->len -= (size_t)n;
	return 0;
}

/* The last occurrence of a field; without one *ret stays as it is. */
static int find_item(struct str message, unsigned number, struct item *ret, struct err *err)
{
	struct item item;
	int r;

	while ((r = next_item(&message, &item, err)) == 0) {
		if (item.number == number) {
			*ret = item;
		}
	}
	return r < 0 ? r : 0;
}

/* --- values ----------------------------------------------------------------------------------- */

static int read_text(struct str bytes, struct jdoc **ret, struct err *err)
{
	for (size_t i = 0, n; i < bytes.len; i += n) {
		n = utf8_len(bytes.p + i, bytes.p + bytes.len);
		if (n == 0 || bytes.p[i] == '\0') {
			return err_set(err, ERR_INVALID, "a text that is not UTF-8");
		}
	}
	*ret = jdoc_new_str_n(bytes);
	return 0;
}

static int read_integer(int64_t n, struct jdoc **ret, struct err *err)
{
	if (n > INTEGER_MAX || n < -INTEGER_MAX) {
		return err_set(err, ERR_INVALID, "an integer out of bounds");
	}
	*ret = jdoc_new_int(n);
	return 0;
}

static void read_bytes(struct str bytes, struct jdoc **ret)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	base64_encode(bytes, &text);
	*ret = jdoc_new_str_n(strbuf_str(&text));
}

static int read_time(struct str message, struct jdoc **ret, struct err *err)
{
	struct item seconds = { .n = 0 };
	char text[CLOCK_RFC3339_MAX];
	int r = find_item(message, TIME_SECONDS, &seconds, err);

	if (r < 0) {
		return r;
	}
	if (seconds.n < 0 || seconds.n > CLOCK_LATEST_NOW / CLOCK_NS_PER_S) {
		return err_set(err, ERR_INVALID, "a time out of bounds");
	}
	clock_format_time(seconds.n * CLOCK_NS_PER_S, text);
	*ret = jdoc_new_str(seconds.n == 0 ? "" : text);
	return 0;
}

static int read_quantity(struct str message, struct jdoc **ret, struct err *err)
{
	struct item text = { .n = 0 };
	int r = find_item(message, QUANTITY_TEXT, &text, err);

	return r < 0 ? r : read_text(text.bytes, ret, err);
}

static int read_int_or_string(struct str message, struct jdoc **ret, struct err *err)
{
	struct item type = { .n = 0 }, n = { .n = 0 }, text = { .n = 0 };
	int r = find_item(message, INT_OR_STRING_TYPE, &type, err);

	r = r < 0 ? r : find_item(message, INT_OR_STRING_INT, &n, err);
	r = r < 0 ? r : find_item(message, INT_OR_STRING_TEXT, &text, err);
	if (r < 0) {
		return r;
	}
	return type.n == 0 ? read_integer(n.n, ret, err) : read_text(text.bytes, ret, err);
}

static int read_message(struct str name, struct str bytes, struct jdoc *object, struct err *err);

/* type is that of one item: no list, no map. */
static int read_value(struct str type, const struct item *item, struct jdoc **ret, struct err *err)
{
	CLEANUP(jdoc_destroyp) struct jdoc *object = NULL;
	char letter = type.len == 1 ? type.p[0] : '\0';
	bool is_number = letter == 'b' || letter == 'i';
	int r;

	if (is_number == item->is_bytes) {
		return broken(err);
	}
	switch (letter) {
	case 's':
		return read_text(item->bytes, ret, err);
	case 'i':
		return read_integer(item->n, ret, err);
	case 'b':
		*ret = jdoc_new_bool(item->n != 0);
		return 0;
	case 'B':
		read_bytes(item->bytes, ret);
		return 0;
	case 'T':
		return read_time(item->bytes, ret, err);
	case 'Q':
		return read_quantity(item->bytes, ret, err);
	case 'O':
		return read_int_or_string(item->bytes, ret, err);
	default:
		object = jdoc_new_object();
		r = read_message(type, item->bytes, object, err);
		if (r == 0) {
			*ret = take_ptr(&object);
		}
		return r;
	}
}

/* --- messages --------------------------------------------------------------------------------- */

struct field {
	struct str name, type;
	bool keeps_zero, is_list, is_map, is_inline;
};

static bool find_field(const struct protobuf_message *m, unsigned number, struct field *ret)
{
	struct str rest = str_of(m->fields);

	while (rest.p != NULL) {
		struct str type = str_trim(str_next(&rest, ','));
		struct str name = str_next(&type, ' '), digits = str_next(&type, ' ');
		uint64_t n = 0;

		if (!str_to_u64(digits, &n) || n != number) {
			continue;
		}
		*ret = (struct field){ .name = name, .type = type };
		ret->is_inline = str_eq_c(name, "^");
		ret->keeps_zero = name.p[name.len - 1] == '!';
		ret->name.len -= ret->keeps_zero;
		ret->is_list = type.p[0] == '*';
		ret->is_map = type.p[0] == '%';
		if (ret->is_list || ret->is_map) {
			ret->type = (struct str){ type.p + 1, type.len - 1 };
		}
		return true;
	}
	return false;
}

static bool is_zero(const struct jdoc *d)
{
	return jdoc_is_str(d, "") || jdoc_num(d, 1) == 0 ||
	       (jdoc_kind(d) == JDOC_BOOL && !jdoc_bool(d, true)) ||
	       (jdoc_kind(d) == JDOC_OBJECT && jdoc_first(d) == NULL);
}

static int read_entry(const struct field *f, struct str entry, struct jdoc *map, struct err *err)
{
	struct item key = { .is_bytes = true }, item = { .is_bytes = true };
	struct jdoc *name = NULL, *value = NULL;
	int r = find_item(entry, ENTRY_KEY, &key, err);

	r = r < 0 ? r : find_item(entry, ENTRY_VALUE, &item, err);
	r = r < 0 ? r : read_text(key.bytes, &name, err);
	r = r < 0 ? r : read_value(f->type, &item, &value, err);
	if (r == 0) {
		jdoc_set_take(map, jdoc_str(name), value);
	}
	jdoc_destroy(name);
	return r;
}

static int read_field(const struct field *f, const struct item *item, struct jdoc *object,
		      struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf name = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *value = NULL;
	int r;

	strbuf_add_str(&name, f->name);
	if ((f->is_map || f->is_inline) && !item->is_bytes) {
		return broken(err);
	}
	if (f->is_map) {
		return read_entry(f, item->bytes, jdoc_ensure_object(object, name.p), err);
	}
	if (f->is_inline) {
		return read_message(f->type, item->bytes, object, err);
	}
	r = read_value(f->type, item, &value, err);
	if (r < 0) {
		return r;
	}
	if (f->is_list) {
		jdoc_append_take(jdoc_ensure_array(object, name.p), take_ptr(&value));
	} else if (f->keeps_zero || !is_zero(value)) {
		jdoc_set_take(object, name.p, take_ptr(&value));
	}
	return 0;
}

/* Adds the members of a message to an object. Kubernetes' servers ignore unknown fields, among them
 * every status. */
static int read_message(struct str name, struct str bytes, struct jdoc *object, struct err *err)
{
	const struct protobuf_message *m = protobuf_messages_find(name);
	struct item item;
	struct field f;
	int r;

	if (m == NULL) {
		return err_set(err, ERR_INVALID, "protobuf of kind " STR_FMT " is not known here",
			       STR_ARG(name));
	}
	while ((r = next_item(&bytes, &item, err)) == 0) {
		if (find_field(m, item.number, &f)) {
			r = read_field(&f, &item, object, err);
			if (r < 0) {
				return err_wrap(err, STR_FMT, STR_ARG(f.name));
			}
		}
	}
	return r < 0 ? r : 0;
}

int protobuf_parse(struct str body, struct jdoc **ret, struct err *err)
{
	struct item type = { .n = 0 }, raw = { .n = 0 }, version = { .n = 0 }, kind = { .n = 0 };
	CLEANUP(jdoc_destroyp) struct jdoc *object = jdoc_new_object();
	struct jdoc *text = NULL;
	int r;

	if (body.len < sizeof(magic) || memcmp(body.p, magic, sizeof(magic)) != 0) {
		return err_set(err, ERR_INVALID,
			       "the body is not in Kubernetes' protobuf encoding");
	}
	body = (struct str){ body.p + sizeof(magic), body.len - sizeof(magic) };
	r = find_item(body, UNKNOWN_TYPE, &type, err);
	r = r < 0 ? r : find_item(body, UNKNOWN_RAW, &raw, err);
	r = r < 0 ? r : find_item(type.bytes, TYPE_API_VERSION, &version, err);
	r = r < 0 ? r : find_item(type.bytes, TYPE_KIND, &kind, err);
	r = r < 0 ? r : read_text(version.bytes, &text, err);
	if (r < 0) {
		return r;
	}
	jdoc_set_take(object, "apiVersion", text);
	r = read_text(kind.bytes, &text, err);
	if (r < 0) {
		return r;
	}
	jdoc_set_take(object, "kind", text);
	r = read_message(kind.bytes, raw.bytes, object, err);
	if (r == 0) {
		*ret = take_ptr(&object);
	}
	return r;
}
