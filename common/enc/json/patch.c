#include "enc/json/patch.h"

#include "base/attrs.h"
#include "base/strbuf.h"
#include "enc/json/json_out.h"

void patch_begin(struct json_out *o, struct strbuf *out)
{
	json_out_init(o, out);
	json_out_array(o);
}

void patch_end(struct json_out *o)
{
	json_out_array_end(o);
	json_out_end(o);
}

static void add_token(struct strbuf *pointer, const char *token)
{
	strbuf_add_ch(pointer, '/');
	for (; *token != '\0'; token++) {
		if (*token == '~') {
			strbuf_add(pointer, "~0", 2);
		} else if (*token == '/') {
			strbuf_add(pointer, "~1", 2);
		} else {
			strbuf_add_ch(pointer, *token);
		}
	}
}

static void open_operation(struct json_out *o, const char *op, const char *parent,
			   const char *token)
{
	CLEANUP(strbuf_finish) struct strbuf pointer = STRBUF_INIT;

	strbuf_add_c(&pointer, parent);
	if (token != NULL) {
		add_token(&pointer, token);
	}
	json_out_object(o);
	json_out_kv(o, "op", op);
	json_out_key(o, "path");
	json_out_slice(o, strbuf_str(&pointer));
}

void patch_add(struct json_out *o, const char *parent, const char *token)
{
	open_operation(o, "add", parent, token);
	json_out_key(o, "value");
}

void patch_add_end(struct json_out *o)
{
	json_out_object_end(o);
}

void patch_add_str(struct json_out *o, const char *parent, const char *token, struct str value)
{
	patch_add(o, parent, token);
	json_out_slice(o, value);
	patch_add_end(o);
}

void patch_remove(struct json_out *o, const char *parent, const char *token)
{
	open_operation(o, "remove", parent, token);
	json_out_object_end(o);
}

void patch_test_str(struct json_out *o, const char *parent, const char *token, struct str value)
{
	open_operation(o, "test", parent, token);
	json_out_key(o, "value");
	json_out_slice(o, value);
	json_out_object_end(o);
}
