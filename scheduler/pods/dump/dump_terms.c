#include "scheduler/pods/dump/dump_terms.h"

#include "base/err.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "enc/json/json_out.h"
#include "scheduler/pods/dump/dump_fields.h"
#include "scheduler/pods/dump/dump_text.h"
#include "scheduler/pods/model/model.h"

static void put_expr(struct json_out *o, const struct match_expr *e)
{
	json_out_object(o);
	json_out_kv(o, "key", e->key);
	json_out_kv_int(o, "op", (int64_t)e->op);
	if (e->on_field) {
		json_out_kv_bool(o, "onField", true);
	}
	json_out_key(o, "values");
	json_out_array(o);
	for (size_t i = 0; i < e->nvalues; i++) {
		json_out_str(o, e->values[i]);
	}
	json_out_array_end(o);
	json_out_object_end(o);
}

void dump_terms_write(struct json_out *o, const char *key, const struct match_term *v, size_t n)
{
	json_out_key(o, key);
	json_out_array(o);
	for (size_t i = 0; i < n; i++) {
		json_out_object(o);
		json_out_kv_int(o, "weight", v[i].weight);
		json_out_key(o, "exprs");
		json_out_array(o);
		for (size_t j = 0; j < v[i].nexprs; j++) {
			put_expr(o, &v[i].exprs[j]);
		}
		json_out_array_end(o);
		json_out_object_end(o);
	}
	json_out_array_end(o);
}

static int load_expr(struct cluster *c, const struct jdoc *d, struct match_expr *e, struct err *err)
{
	const struct jdoc *values = jdoc_get(d, "values");
	int64_t op = 0;

	if (dump_text_read_needed(c, jdoc_get(d, "key"), &e->key, err) < 0 ||
	    dump_fields_read_int(jdoc_get(d, "op"), 0, MATCH_LT, &op, err) < 0) {
		return err_wrap(err, "key or op");
	}
	e->op = (enum match_op)op;
	e->on_field = jdoc_bool(jdoc_get(d, "onField"), false);
	e->values = xmalloc_zero(jdoc_count(values) + 1, sizeof(e->values[0]));
	for (const struct jdoc *v = jdoc_first(values); v != NULL; v = jdoc_next(v)) {
		if (dump_text_read_needed(c, v, &e->values[e->nvalues], err) < 0) {
			return err_wrap(err, "values");
		}
		e->nvalues++;
	}
	return 0;
}

int dump_terms_read(struct cluster *c, const struct jdoc *d, struct match_term **ret, size_t *ret_n,
		    struct err *err)
{
	*ret = xmalloc_zero(jdoc_count(d) + 1, sizeof(**ret));
	for (const struct jdoc *row = jdoc_first(d); row != NULL; row = jdoc_next(row)) {
		const struct jdoc *exprs = jdoc_get(row, "exprs");
		/* Counted before it is filled, so that what was read is freed when the rest fails.
		 */
		struct match_term *t = &(*ret)[(*ret_n)++];
		int64_t weight = 0;

		if (dump_fields_read_int(jdoc_get(row, "weight"), INT32_MIN, INT32_MAX, &weight,
					 err) < 0) {
			return err_wrap(err, "weight");
		}
		t->weight = (int32_t)weight;
		t->exprs = xmalloc_zero(jdoc_count(exprs) + 1, sizeof(t->exprs[0]));
		for (const struct jdoc *e = jdoc_first(exprs); e != NULL; e = jdoc_next(e)) {
			if (load_expr(c, e, &t->exprs[t->nexprs++], err) < 0) {
				return -ERR_INVALID;
			}
		}
	}
	return 0;
}
