#include "webhook/admit/volcano/queue_amounts.h"

#define NANO_PER_UNIT 1000000000

/* Extended resources are integers; Kubernetes' own resources need not be. */
static bool is_extended(const char *name)
{
	return strchr(name, '/') != NULL && strstr(name, "kubernetes.io/") == NULL &&
	       !str_has_prefix(str_of(name), "requests.");
}

static const char *text_of(struct quantity amount, char out[QUANTITY_TEXT_MAX])
{
	quantity_format(amount, out);
	return out;
}

static void check_list(const struct admit_request *q, const char *path,
		       const struct field_resources *list, struct admit_answer *a)
{
	char text[QUANTITY_TEXT_MAX];

	for (size_t i = 0; i < list->n; i++) {
		const struct field_resource *r = &list->v[i];

		if (r->amount.nano < 0) {
			admit_deny_invalid(a, q->arena, "%s.%s: %s is negative", path, r->name,
					   text_of(r->amount, text));
		} else if (is_extended(r->name) && r->amount.nano % NANO_PER_UNIT != 0) {
			admit_deny_invalid(a, q->arena, "%s.%s: %s is not an integer", path,
					   r->name, text_of(r->amount, text));
		}
	}
}

/* Volcano's rule: a guarantee without deserved is refused, whichever plugin is in use. */
static void check_guarantee(const struct admit_request *q, const struct api_queue_spec *spec,
			    struct admit_answer *a)
{
	char have[QUANTITY_TEXT_MAX], want[QUANTITY_TEXT_MAX];

	for (size_t i = 0; i < spec->guarantee.resource.n; i++) {
		const struct field_resource *g = &spec->guarantee.resource.v[i];
		const struct quantity *d = field_resources_get(&spec->deserved, g->name);

		if (d == NULL) {
			admit_deny_invalid(
				a, q->arena,
				"spec.guarantee.resource.%s: required in spec.deserved, too",
				g->name);
		} else if (quantity_cmp(g->amount, *d) > 0) {
			admit_deny_invalid(
				a, q->arena,
				"spec.guarantee.resource.%s: %s is more than deserved (%s)",
				g->name, text_of(g->amount, want), text_of(*d, have));
		}
	}
}

/* A resource that the capability does not name is limited by the queues above. */
static void check_deserved(const struct admit_request *q, const struct api_queue_spec *spec,
			   struct admit_answer *a)
{
	char have[QUANTITY_TEXT_MAX], want[QUANTITY_TEXT_MAX];

	for (size_t i = 0; i < spec->deserved.n; i++) {
		const struct field_resource *d = &spec->deserved.v[i];
		const struct quantity *c = field_resources_get(&spec->capability, d->name);

		if (c != NULL && quantity_cmp(d->amount, *c) > 0) {
			admit_deny_invalid(a, q->arena,
					   "spec.deserved.%s: %s is more than the capability (%s)",
					   d->name, text_of(d->amount, want), text_of(*c, have));
		}
	}
}

void queue_amounts_check(const struct admit_request *q, const struct api_queue *queue,
			 struct admit_answer *ret)
{
	check_list(q, "spec.capability", &queue->spec.capability, ret);
	check_list(q, "spec.deserved", &queue->spec.deserved, ret);
	check_list(q, "spec.guarantee.resource", &queue->spec.guarantee.resource, ret);
	check_guarantee(q, &queue->spec, ret);
	check_deserved(q, &queue->spec, ret);
}

bool queue_amounts_equal(const struct field_resources *a, const struct field_resources *b)
{
	if (a->n != b->n) {
		return false;
	}
	for (size_t i = 0; i < a->n; i++) {
		if (!str_streq(a->v[i].name, b->v[i].name) ||
		    quantity_cmp(a->v[i].amount, b->v[i].amount) != 0) {
			return false;
		}
	}
	return true;
}
