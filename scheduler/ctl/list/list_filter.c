#include "scheduler/ctl/list/list_filter.h"

#include "base/arena.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"

#define NAME "metadata.name"
#define NAMESPACE "metadata.namespace"

/* Any other field would be compared as an empty text, and silently select nothing. */
static int check_fields(const struct selector *s, bool namespaced, struct err *err)
{
	for (size_t i = 0; i < s->n; i++) {
		const char *key = s->requirements[i].key;

		if (!str_streq(key, NAME) && !(namespaced && str_streq(key, NAMESPACE))) {
			return err_set(err, ERR_INVALID,
				       "field \"%s\" is not supported, only " NAME "%s", key,
				       namespaced ? " and " NAMESPACE : "");
		}
	}
	return 0;
}

int list_filter_parse(const char *labels, const char *fields, bool namespaced,
		      struct list_filter *ret, struct err *err)
{
	struct list_filter f = { .arena = arena_create(0) };
	int r = selector_parse_labels(str_of(labels), f.arena, &f.labels, err);

	if (r < 0) {
		err_wrap(err, "--selector %s", labels);
	} else {
		r = selector_parse_fields(str_of(fields), f.arena, &f.fields, err);
		r = r < 0 ? r : check_fields(&f.fields, namespaced, err);
		if (r < 0) {
			err_wrap(err, "--field-selector %s", fields);
		}
	}
	if (r < 0) {
		list_filter_finish(&f);
		return r;
	}
	*ret = f;
	return 0;
}

void list_filter_finish(struct list_filter *f)
{
	arena_destroy(f->arena);
	f->arena = NULL;
}

static const char *get_label(const void *labels, const char *key)
{
	return jdoc_str(jdoc_get(labels, key));
}

static const char *get_field(const void *object, const char *key)
{
	return jdoc_str_or(jdoc_path(object, key), "");
}

bool list_filter_matches(const struct list_filter *f, const struct jdoc *object)
{
	return selector_match_with(&f->labels, get_label, jdoc_path(object, "metadata.labels")) &&
	       selector_match_with(&f->fields, get_field, object);
}
