#include "apiserver/kubectl/openapi_proto.h"

#include "apiserver/store/resource.h"
#include "base/attrs.h"
#include "base/strbuf.h"

/* Field numbers of the messages of openapi.v2. */
enum field {
	DOCUMENT_SWAGGER = 1,
	DOCUMENT_PATHS = 8,
	PATHS_PATH = 2,
	NAMED_NAME = 1,
	NAMED_VALUE = 2,
	PATH_ITEM_PATCH = 8,
	OPERATION_PARAMETERS = 8,
	OPERATION_EXTENSION = 13,
	ANY_YAML = 2,
	PARAMETERS_ITEM_PARAMETER = 1,
	PARAMETER_NON_BODY = 2,
	NON_BODY_QUERY = 3,
	QUERY_IN = 2,
	QUERY_NAME = 4,
};

#define WIRE_BYTES 2u

static void add_varint(struct strbuf *out, size_t n)
{
	while (n >= 0x80) {
		strbuf_add_ch(out, (char)((n & 0x7f) | 0x80));
		n >>= 7;
	}
	strbuf_add_ch(out, (char)n);
}

static void add_bytes(struct strbuf *out, enum field field, struct str bytes)
{
	add_varint(out, (size_t)field << 3 | WIRE_BYTES);
	add_varint(out, bytes.len);
	strbuf_add_str(out, bytes);
}

/* Wraps what b holds into a message with that one field. */
static void wrap(struct strbuf *b, enum field field)
{
	struct strbuf outer = STRBUF_INIT;

	add_bytes(&outer, field, strbuf_str(b));
	strbuf_finish(b);
	*b = outer;
}

static void add_parameter(struct strbuf *operation, const char *name)
{
	CLEANUP(strbuf_finish) struct strbuf p = STRBUF_INIT;

	add_bytes(&p, QUERY_IN, STR_LIT("query"));
	add_bytes(&p, QUERY_NAME, str_of(name));
	wrap(&p, NON_BODY_QUERY);
	wrap(&p, PARAMETER_NON_BODY);
	wrap(&p, PARAMETERS_ITEM_PARAMETER);
	add_bytes(operation, OPERATION_PARAMETERS, strbuf_str(&p));
}

static void add_kind(struct strbuf *operation, const struct resource *r)
{
	CLEANUP(strbuf_finish) struct strbuf yaml = STRBUF_INIT;
	CLEANUP(strbuf_finish) struct strbuf any = STRBUF_INIT;
	CLEANUP(strbuf_finish) struct strbuf named = STRBUF_INIT;

	strbuf_printf(&yaml, "group: \"%s\"\nkind: %s\nversion: %s\n", r->group, r->kind,
		      r->version);
	add_bytes(&any, ANY_YAML, strbuf_str(&yaml));
	add_bytes(&named, NAMED_NAME, STR_LIT("x-kubernetes-group-version-kind"));
	add_bytes(&named, NAMED_VALUE, strbuf_str(&any));
	add_bytes(operation, OPERATION_EXTENSION, strbuf_str(&named));
}

static void add_path(struct strbuf *paths, const struct resource *r)
{
	CLEANUP(strbuf_finish) struct strbuf operation = STRBUF_INIT;
	CLEANUP(strbuf_finish) struct strbuf url = STRBUF_INIT;
	CLEANUP(strbuf_finish) struct strbuf named = STRBUF_INIT;

	add_parameter(&operation, "dryRun");
	add_parameter(&operation, "fieldManager");
	add_kind(&operation, r);
	wrap(&operation, PATH_ITEM_PATCH);
	strbuf_printf(&url, "/%s/%s/%s/{name}", r->group[0] == '\0' ? "api" : "apis",
		      r->api_version, r->plural);
	add_bytes(&named, NAMED_NAME, strbuf_str(&url));
	add_bytes(&named, NAMED_VALUE, strbuf_str(&operation));
	add_bytes(paths, PATHS_PATH, strbuf_str(&named));
}

void openapi_proto_format(const struct resource_table *t, struct strbuf *out)
{
	CLEANUP(strbuf_finish) struct strbuf paths = STRBUF_INIT;

	for (size_t i = 0; i < t->n; i++) {
		if (!t->v[i]->removed) {
			add_path(&paths, t->v[i]);
		}
	}
	add_bytes(out, DOCUMENT_SWAGGER, STR_LIT("2.0"));
	add_bytes(out, DOCUMENT_PATHS, strbuf_str(&paths));
}
