/* test/apiserver/kubectl/table.h: how objects leave the server: as they are, as meta.k8s.io Tables
 * (what `kubectl get` asks for), or as PartialObjectMetadata. The Accept header of the request
 * decides. Objects as they are are copied from their cached text. */
#ifndef TEST_APISERVER_KUBECTL_TABLE_H
#define TEST_APISERVER_KUBECTL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct call;
struct object;
struct resource;
struct strbuf;

enum table_form { TABLE_NONE, TABLE_TABLE, TABLE_METADATA };

struct table_list {
	int64_t rv;
	struct str continue_token; /* empty: last page */
};

enum table_form table_form_of(struct str accept);
void table_format_one(struct call *c, struct object *o, struct strbuf *out);
void table_format_list(struct call *c, struct object *const *v, size_t n,
		       const struct table_list *list, struct strbuf *out);
struct table_frame {
	enum table_form form;
	bool with_columns; /* tables carry their headers */
	int64_t rv, now;
};
/* One object of a watch. */
void table_format_event(const struct resource *res, struct object *o,
			const struct table_frame *frame, struct strbuf *out);

#endif
