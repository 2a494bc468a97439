#include "apiserver/store/shape.h"

#include "apiserver/store/resource.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"

/* A member and its type: one string, or a list or map of strings or of objects. */
struct row {
	const char *plural; /* NULL: every resource */
	const char *path, *owner, *type, *item_type;
	enum jdoc_kind kind, item;
};

static const struct row rows[] = {
	{ NULL, "metadata.name", "ObjectMeta", "string", "", JDOC_STRING, JDOC_NULL },
	{ NULL, "metadata.namespace", "ObjectMeta", "string", "", JDOC_STRING, JDOC_NULL },
	{ NULL, "metadata.generateName", "ObjectMeta", "string", "", JDOC_STRING, JDOC_NULL },
	{ NULL, "metadata.uid", "ObjectMeta", "types.UID", "", JDOC_STRING, JDOC_NULL },
	{ NULL, "metadata.resourceVersion", "ObjectMeta", "string", "", JDOC_STRING, JDOC_NULL },
	{ NULL, "metadata.labels", "ObjectMeta", "map[string]string", "string", JDOC_OBJECT,
	  JDOC_STRING },
	{ NULL, "metadata.annotations", "ObjectMeta", "map[string]string", "string", JDOC_OBJECT,
	  JDOC_STRING },
	{ NULL, "metadata.finalizers", "ObjectMeta", "[]string", "string", JDOC_ARRAY,
	  JDOC_STRING },
	{ NULL, "metadata.ownerReferences", "ObjectMeta", "[]v1.OwnerReference",
	  "v1.OwnerReference", JDOC_ARRAY, JDOC_OBJECT },
	{ "configmaps", "data", "ConfigMap", "map[string]string", "string", JDOC_OBJECT,
	  JDOC_STRING },
	{ "secrets", "stringData", "Secret", "map[string]string", "string", JDOC_OBJECT,
	  JDOC_STRING },
	{ "pods", "spec.containers", "PodSpec", "[]v1.Container", "v1.Container", JDOC_ARRAY,
	  JDOC_OBJECT },
	{ "pods", "spec.initContainers", "PodSpec", "[]v1.Container", "v1.Container", JDOC_ARRAY,
	  JDOC_OBJECT },
	{ "pods", "spec.schedulingGates", "PodSpec", "[]v1.PodSchedulingGate",
	  "v1.PodSchedulingGate", JDOC_ARRAY, JDOC_OBJECT },
	{ "pods", "spec.nodeName", "PodSpec", "string", "", JDOC_STRING, JDOC_NULL },
	{ "pods", "spec.schedulerName", "PodSpec", "string", "", JDOC_STRING, JDOC_NULL },
	{ "pods", "spec.nodeSelector", "PodSpec", "map[string]string", "string", JDOC_OBJECT,
	  JDOC_STRING },
	{ "pods", "spec.tolerations", "PodSpec", "[]v1.Toleration", "v1.Toleration", JDOC_ARRAY,
	  JDOC_OBJECT },
};

static int refuse(const struct resource *res, const struct row *row, const struct jdoc *found,
		  const char *type, struct strbuf *why)
{
	static const char *const names[] = {
		"null", "bool", "number", "string", "array", "object"
	};
	const char *path = row->path;

	/* The metadata of custom resources is decoded on its own. */
	if (res->is_custom && str_has_prefix(str_of(path), "metadata.")) {
		path += sizeof("metadata.") - 1;
	}
	strbuf_printf(why, "json: cannot unmarshal %s into Go struct field %s.%s of type %s",
		      names[jdoc_kind(found)], row->owner, path, type);
	return -ERR_INVALID;
}

static int check_row(const struct resource *res, const struct row *row, const struct jdoc *doc,
		     struct strbuf *why)
{
	const struct jdoc *d = jdoc_path(doc, row->path);

	if (jdoc_kind(d) == JDOC_NULL) {
		return 0;
	}
	if (jdoc_kind(d) != row->kind) {
		return refuse(res, row, d, row->type, why);
	}
	for (const struct jdoc *i = row->item == JDOC_NULL ? NULL : jdoc_first(d); i != NULL;
	     i = jdoc_next(i)) {
		if (jdoc_kind(i) != row->item && jdoc_kind(i) != JDOC_NULL) {
			return refuse(res, row, i, row->item_type, why);
		}
	}
	return 0;
}

/* MicroTime; other times are texts to this server. */
static int check_times(const struct resource *res, const struct jdoc *doc, struct strbuf *why)
{
	static const char *const paths[] = { "spec.acquireTime", "spec.renewTime" };
	int64_t at;

	for (size_t i = 0; i < ARRAY_LEN(paths) && str_streq(res->plural, "leases"); i++) {
		const char *text = jdoc_path_str(doc, paths[i]);

		if (text != NULL && clock_parse_time(str_of(text), &at) < 0) {
			strbuf_printf(
				why,
				"parsing time \"%s\" as \"2006-01-02T15:04:05.000000Z07:00\": "
				"cannot parse \"%s\" as \"2006\"",
				text, text);
			return -ERR_INVALID;
		}
	}
	return 0;
}

int shape_check(const struct resource *res, const struct jdoc *doc, struct strbuf *why)
{
	const struct jdoc *meta = jdoc_get(doc, "metadata");

	if (meta != NULL && jdoc_kind(meta) != JDOC_OBJECT && jdoc_kind(meta) != JDOC_NULL) {
		const struct row row = { .path = "metadata",
					 .owner = res->is_custom ? "" : res->kind };

		return refuse(res, &row, meta, "v1.ObjectMeta", why);
	}
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		bool concerns = rows[i].plural == NULL ||
				(!res->is_custom && str_streq(rows[i].plural, res->plural));
		int r = concerns ? check_row(res, &rows[i], doc, why) : 0;

		if (r < 0) {
			return r;
		}
	}
	return res->is_custom ? 0 : check_times(res, doc, why);
}
