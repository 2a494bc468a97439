#include "base/mix.h"
#include "base/str.h"
#include "collections/hash.h"
#include "scheduler/workloads/model/quota_store.h"

static uint64_t mix_text(uint64_t h, const char *text)
{
	return mix(h, text == NULL ? 0 : hash_of(str_of(text)));
}

static uint64_t mix_terms(uint64_t h, const struct match_term *terms, size_t n)
{
	h = mix(h, n);
	for (size_t i = 0; i < n; i++) {
		h = mix(h, terms[i].nexprs);
		for (size_t k = 0; k < terms[i].nexprs; k++) {
			const struct match_expr *e = &terms[i].exprs[k];

			h = mix_text(h, e->key);
			h = mix(h, (uint64_t)e->op << 1 | e->on_field);
			h = mix(h, e->nvalues);
			for (size_t v = 0; v < e->nvalues; v++) {
				h = mix_text(h, e->values[v]);
			}
		}
	}
	return h;
}

/* Lengths go before lists, so that an element cannot be taken for one of the next list. Texts are
 * hashed, not their addresses, which differ from run to run. */
uint64_t podset_shape(const struct podset *p)
{
	uint64_t h = mix_text(0, p->name);

	h = mix(h, (uint64_t)(uint32_t)p->count << 32 | (uint32_t)p->min_count);
	h = mix(h, p->request.n);
	for (size_t i = 0; i < p->request.n; i++) {
		h = mix(h, p->request.v[i].id);
		h = mix(h, (uint64_t)p->request.v[i].value);
	}
	h = mix(h, p->nselector);
	for (size_t i = 0; i < p->nselector; i++) {
		h = mix_text(h, p->selector[i].key);
		h = mix_text(h, p->selector[i].value);
	}
	h = mix(h, p->has_required);
	h = mix_terms(h, p->required, p->nrequired);
	h = mix(h, p->ntolerations);
	for (size_t i = 0; i < p->ntolerations; i++) {
		const struct toleration *t = &p->tolerations[i];

		h = mix_text(h, t->key);
		h = mix_text(h, t->value);
		h = mix(h, (uint64_t)t->effect << 2 | (uint64_t)t->any_effect << 1 | t->exists);
	}
	h = mix_text(h, p->group);
	h = mix(h, p->wants_topology);
	return mix_text(h, p->invalid);
}
