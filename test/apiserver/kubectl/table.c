#include "apiserver/kubectl/table.h"

#include <inttypes.h>
#include <stdio.h>

#include "apiserver/kubectl/columns.h"
#include "apiserver/server.h"
#include "apiserver/store/object.h"
#include "base/attrs.h"
#include "enc/json/jdoc.h"

struct table_look {
	int64_t now;
	bool with_columns, no_objects;
};

static bool has(struct str text, const char *word)
{
	return text.len > 0 && memmem(text.p, text.len, word, strlen(word)) != NULL;
}

/* The first media type that we can serve decides, as the client orders them by preference. */
enum table_form table_form_of(struct str accept)
{
	while (accept.p != NULL) {
		struct str one = str_next(&accept, ',');

		if (!has(one, "application/json")) {
			continue;
		}
		if (has(one, "as=Table") && has(one, "g=meta.k8s.io")) {
			return TABLE_TABLE;
		}
		return has(one, "as=PartialObjectMetadata") ? TABLE_METADATA : TABLE_NONE;
	}
	return TABLE_NONE;
}

static void format_metadata(const struct object *o, int64_t rv, struct strbuf *out)
{
	char text[24];
	CLEANUP(jdoc_destroyp) struct jdoc *doc = object_parse(o);
	CLEANUP(jdoc_destroyp) struct jdoc *part = jdoc_new_object();

	snprintf(text, sizeof(text), "%" PRId64, rv);
	jdoc_set_str(jdoc_get_mut(doc, "metadata"), "resourceVersion", text);
	jdoc_set_str(part, "kind", "PartialObjectMetadata");
	jdoc_set_str(part, "apiVersion", "meta.k8s.io/v1");
	jdoc_set_take(part, "metadata", jdoc_detach(doc, jdoc_get_mut(doc, "metadata")));
	jdoc_format(part, out);
}

static void format_rows(const struct resource *res, struct object *const *v, size_t n,
			const struct table_look *look, struct strbuf *out)
{
	for (size_t i = 0; i < n; i++) {
		CLEANUP(jdoc_destroyp) struct jdoc *doc = object_parse(v[i]);
		CLEANUP(jdoc_destroyp) struct jdoc *cells = columns_cells(res, doc, look->now);

		strbuf_add_c(out, i == 0 ? "{\"cells\":" : ",{\"cells\":");
		jdoc_format(cells, out);
		strbuf_add_c(out, ",\"object\":");
		if (look->no_objects) {
			strbuf_add_c(out, "null");
		} else {
			format_metadata(v[i], v[i]->rv, out);
		}
		strbuf_add_ch(out, '}');
	}
}

static void format_table(const struct resource *res, struct object *const *v, size_t n,
			 const struct table_look *look, struct strbuf *out)
{
	strbuf_add_c(out, ",\"columnDefinitions\":");
	if (look->with_columns) {
		CLEANUP(jdoc_destroyp) struct jdoc *columns = columns_headers(res);

		jdoc_format(columns, out);
	} else {
		strbuf_add_c(out, "null");
	}
	strbuf_add_c(out, ",\"rows\":[");
	format_rows(res, v, n, look, out);
	strbuf_add_c(out, "]}");
}

void table_format_event(const struct resource *res, struct object *o,
			const struct table_frame *frame, struct strbuf *out)
{
	if (frame->form == TABLE_NONE) {
		object_append_at(o, frame->rv, out);
	} else if (frame->form == TABLE_METADATA) {
		format_metadata(o, frame->rv, out);
	} else {
		strbuf_printf(out,
			      "{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/v1\",\"metadata\":{"
			      "\"resourceVersion\":\"%" PRId64 "\"}",
			      frame->rv);
		format_table(res, &o, 1,
			     &(struct table_look){ frame->now, frame->with_columns, false }, out);
	}
}

void table_format_one(struct call *c, struct object *o, struct strbuf *out)
{
	const struct table_frame frame = { table_form_of(c->req->accept), true, o->rv, c->now };

	table_format_event(c->res, o, &frame, out);
}

void table_format_list(struct call *c, struct object *const *v, size_t n,
		       const struct table_list *list, struct strbuf *out)
{
	enum table_form form = table_form_of(c->req->accept);
	const char *kind = form == TABLE_TABLE      ? "Table"
			   : form == TABLE_METADATA ? "PartialObjectMetadataList"
						    : c->res->list_kind;

	strbuf_printf(out,
		      "{\"kind\":\"%s\",\"apiVersion\":\"%s\",\"metadata\":{\"resourceVersion\":"
		      "\"%" PRId64 "\"",
		      kind, form == TABLE_NONE ? c->res->api_version : "meta.k8s.io/v1", list->rv);
	if (list->continue_token.len > 0) {
		strbuf_printf(out, ",\"continue\":\"" STR_FMT "\"", STR_ARG(list->continue_token));
	}
	strbuf_add_ch(out, '}');
	if (form == TABLE_TABLE) {
		format_table(c->res, v, n, &(struct table_look){ c->now, true, c->info.no_objects },
			     out);
		return;
	}
	strbuf_add_c(out, ",\"items\":[");
	for (size_t i = 0; i < n; i++) {
		if (i > 0) {
			strbuf_add_ch(out, ',');
		}
		if (form == TABLE_METADATA) {
			format_metadata(v[i], v[i]->rv, out);
		} else if (c->res->is_custom) {
			strbuf_add_str(out, v[i]->text);
		} else { /* items of typed lists have no kind */
			strbuf_add_ch(out, '{');
			strbuf_add(out, v[i]->text.p + v[i]->meta_at,
				   v[i]->text.len - v[i]->meta_at);
		}
	}
	strbuf_add_c(out, "]}");
}
