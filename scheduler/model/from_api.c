#include "model/from_api.h"

#include "api/scheduling.h"
#include "base/err.h"
#include "base/strmap.h"
#include "base/xmalloc.h"
#include "enc/field.h"
#include "model/from_api_match.h"

int from_api_text(struct cluster *c, const char *text, const char **ret, struct err *err)
{
	return from_api_match_text(c->names, text, ret, err);
}

static int64_t amount_of(struct quantity q, unsigned dim, enum from_api_rounding rounding)
{
	if (rounding == FROM_API_REQUEST) {
		return dim == RES_CPU ? quantity_milli(q) : quantity_value(q);
	}
	return dim == RES_CPU ? quantity_milli_floor(q) : quantity_value_floor(q);
}

/* Everything that can be wrong with the list; the dimensions exist afterwards only if nothing is:
 * an object that is refused shall not use up the names of others. */
static int check_amounts(const struct cluster *c, const struct field_resources *r,
			 enum from_api_rounding rounding, int64_t max, struct err *err)
{
	unsigned names = res_names_count(c->res);

	for (size_t i = 0; i < r->n; i++) {
		struct quantity q = r->v[i].amount;
		int dim = res_names_find(c->res, str_of(r->v[i].name));

		if (q.nano < 0) {
			return err_set(err, ERR_INVALID, "%s: negative", r->v[i].name);
		}
		if (rounding == FROM_API_REQUEST && quantity_is_zero(q)) {
			continue;
		}
		if (dim < 0 && names++ >= RES_MAX) {
			return err_set(err, ERR_INVALID,
				       "resource %s: more than %d resource names in this cluster",
				       r->v[i].name, RES_MAX);
		}
		if (amount_of(q, dim < 0 ? RES_MAX : (unsigned)dim, rounding) > max) {
			return err_set(err, ERR_INVALID, "%s: absurdly large", r->v[i].name);
		}
	}
	return 0;
}

int from_api_amounts(struct cluster *c, const struct field_resources *r,
		     enum from_api_rounding rounding, int64_t max, struct res *ret, struct err *err)
{
	int dim = check_amounts(c, r, rounding, max, err);

	if (dim < 0) {
		return dim;
	}
	for (size_t i = 0; i < r->n; i++) {
		struct quantity q = r->v[i].amount;

		if (rounding == FROM_API_REQUEST && quantity_is_zero(q)) {
			continue;
		}
		dim = res_names_add(c->res, str_of(r->v[i].name), err);
		if (dim < 0) {
			return dim;
		}
		ret->v[dim] = amount_of(q, (unsigned)dim, rounding);
	}
	return 0;
}

int from_api_priority_class(struct cluster *c, const struct api_priority_class *pc, struct err *err)
{
	struct priority_class *p;

	if (pc->meta.name == NULL) {
		return err_set(err, ERR_INVALID, "metadata.name: missing");
	}
	p = xmalloc_zero(1, sizeof(*p));
	p->value = pc->value;
	p->global_default = pc->global_default;
	strmap_set(c->priority_classes, str_of(pc->meta.name), p);
	return 0;
}
