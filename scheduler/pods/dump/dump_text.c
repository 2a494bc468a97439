#include "scheduler/pods/dump/dump_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/xmalloc.h"
#include "collections/intern.h"
#include "enc/json/jdoc.h"
#include "enc/json/json_out.h"
#include "scheduler/pods/model/cluster.h"

int dump_text_read(struct cluster *c, const struct jdoc *d, const char **ret, struct err *err)
{
	uint32_t id;

	if (jdoc_kind(d) == JDOC_NULL) {
		*ret = NULL;
		return 0;
	}
	if (jdoc_kind(d) != JDOC_STRING) {
		return err_set(err, ERR_INVALID, "not a text");
	}
	id = intern_id(c->names, str_of(jdoc_str(d)));
	if (id == INTERN_NONE) {
		return err_set(err, ERR_INVALID, "too many different texts");
	}
	*ret = intern_name(c->names, id);
	return 0;
}

int dump_text_read_needed(struct cluster *c, const struct jdoc *d, const char **ret,
			  struct err *err)
{
	if (jdoc_kind(d) == JDOC_NULL) {
		return err_set(err, ERR_INVALID, "a text is missing");
	}
	return dump_text_read(c, d, ret, err);
}

static int by_key(const void *a, const void *b)
{
	const struct label *x = a, *y = b;

	return strcmp(x->key, y->key);
}

int dump_text_read_labels(struct cluster *c, const struct jdoc *d, struct label **ret,
			  size_t *ret_n, struct err *err)
{
	size_t n = jdoc_count(d), i = 0;
	CLEANUP(xmalloc_freep) struct label *v = xmalloc_zero(n + 1, sizeof(*v));

	for (const struct jdoc *pair = jdoc_first(d); pair != NULL; pair = jdoc_next(pair), i++) {
		if (dump_text_read_needed(c, jdoc_at(pair, 0), &v[i].key, err) < 0 ||
		    dump_text_read_needed(c, jdoc_at(pair, 1), &v[i].value, err) < 0) {
			return err_wrap(err, "[%zu]", i);
		}
	}
	/* As match_label needs them: a dump may have been edited. */
	qsort(v, n, sizeof(*v), by_key);
	*ret = take_ptr(&v);
	*ret_n = n;
	return 0;
}

void dump_text_write_labels(struct json_out *o, const char *key, const struct label *v, size_t n)
{
	json_out_key(o, key);
	json_out_array(o);
	for (size_t i = 0; i < n; i++) {
		json_out_array(o);
		json_out_str(o, v[i].key);
		json_out_str(o, v[i].value);
		json_out_array_end(o);
	}
	json_out_array_end(o);
}
