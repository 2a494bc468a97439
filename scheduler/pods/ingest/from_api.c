#include "scheduler/pods/ingest/from_api.h"

#include "api/core/disruption_budget.h"
#include "api/volcano/scheduling.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "enc/field.h"
#include "scheduler/base/match_from_api.h"
#include "scheduler/pods/model/budgets.h"

int from_api_text(struct cluster *c, const char *text, const char **ret, struct err *err)
{
	return match_from_api_text(c->names, text, ret, err);
}

static int check_amount(const struct field_resource *r, int64_t amount, int64_t max,
			struct err *err)
{
	char text[QUANTITY_TEXT_MAX];

	if (r->amount.nano < 0) {
		return err_set(err, ERR_INVALID, "%s: negative", r->name);
	}
	if (amount <= max) {
		return 0;
	}
	quantity_format(r->amount, text);
	return err_set(err, ERR_INVALID, "%s: %s is more than can be counted", r->name, text);
}

/* Rounded down; dim may be -1. */
static int64_t offered_amount(struct quantity q, int dim)
{
	return dim == RES_CPU ? quantity_milli_floor(q) : quantity_value_floor(q);
}

int from_api_offered(struct cluster *c, const struct field_resources *r, int64_t max,
		     struct res *ret, struct err *err)
{
	struct res_edit edit;

	/* The names are added only when nothing is wrong: an object that is refused shall not use
	 * up those of others. */
	for (size_t i = 0; i < r->n; i++) {
		int dim = res_names_find(c->res, str_of(r->v[i].name));

		if (check_amount(&r->v[i], offered_amount(r->v[i].amount, dim), max, err) < 0) {
			return -ERR_INVALID;
		}
	}
	edit = res_edit_begin(c->res, ret);
	for (size_t i = 0; i < r->n; i++) {
		int dim = res_names_add(c->res, str_of(r->v[i].name));

		if (dim >= 0) {
			res_edit_set(&edit, (unsigned)dim, offered_amount(r->v[i].amount, dim));
		}
	}
	res_edit_end(&edit);
	return 0;
}

int from_api_requested(const struct cluster *c, const struct field_resources *r, int64_t max,
		       struct res *ret, struct unoffered *ret_unoffered, struct err *err)
{
	struct res_edit edit = res_edit_begin(c->res, ret);
	int rc = 0;

	for (size_t i = 0; i < r->n && rc == 0; i++) {
		struct quantity q = r->v[i].amount;
		int dim = res_names_find(c->res, str_of(r->v[i].name));
		int64_t amount = dim == RES_CPU ? quantity_milli(q) : quantity_value(q);

		rc = check_amount(&r->v[i], amount, max, err);
		if (dim >= 0) {
			res_edit_set(&edit, (unsigned)dim, amount);
		} else if (amount > 0) {
			ret_unoffered->v[ret_unoffered->n++] =
				(struct unoffered_amount){ r->v[i].name, amount };
		}
	}
	res_edit_end(&edit);
	return rc;
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

int from_api_budget(struct cluster *c, const struct api_disruption_budget *budget, struct err *err)
{
	const char *namespace_ = budget->meta.namespace_;
	const struct budgets_spec spec = {
		.namespace_ = str_of(namespace_ == NULL ? "default" : namespace_),
		.name = str_of(budget->meta.name),
		.uid = budget->meta.uid,
		.generation = budget->meta.generation,
		.selector = budget->spec.selector,
		.allowed = (uint32_t)disruption_budget_allowed(budget),
		.unready_go = disruption_budget_lets_unready_go(budget),
	};

	return spec.name.len == 0 ? err_set(err, ERR_INVALID, "metadata.name: missing")
				  : budgets_set(c, &spec, err);
}
