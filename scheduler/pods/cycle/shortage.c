#include "scheduler/pods/cycle/shortage.h"

#include "base/arena.h"
#include "base/strbuf.h"
#include "enc/quantity.h"
#include "scheduler/pods/model/cluster.h"
#include "scheduler/pods/session/gang.h"
#include "scheduler/pods/values/pod_class.h"

const char *shortage_amount(unsigned dim, int64_t amount, char *buf)
{
	quantity_format(dim == RES_CPU
				? quantity_of_milli(amount)
				: quantity_of(amount, dim == RES_MEMORY || dim == RES_EPHEMERAL
							      ? QUANTITY_BINARY_SI
							      : QUANTITY_DECIMAL_SI),
			buf);
	return buf;
}

static const char *end_text(const struct session *s, struct strbuf *text)
{
	if (strbuf_str(text).len == 0) {
		return "";
	}
	strbuf_add_ch(text, ')');
	return arena_dup(session_arena(s), text->p);
}

/* Bits of `over` that stand for one resource; the last one stands for all further ones. */
#define FOR_EACH_DIM(dim, over, bits)                                                              \
	for (uint32_t bits = (over) & ~RES_FURTHER;                                                \
	     bits != 0 && ((dim) = (unsigned)__builtin_ctz(bits), true); bits &= bits - 1)

/* need may be the sum of several pods. */
static const char *describe(const struct session *s, const struct queue *from,
			    const struct res *need, uint32_t mask)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	const struct cluster *c = session_cluster(s);
	const struct queue *q;

	QUEUE_FOR_EACH_UP (q, c, from->id) {
		const struct res *used = session_queue_charged(s, q);
		const struct res *limit = session_queue_limit(s, q);
		unsigned dim;

		FOR_EACH_DIM(dim, res_over(used, need, limit, mask), bits)
		{
			char asked[QUANTITY_TEXT_MAX], left[QUANTITY_TEXT_MAX],
				most[QUANTITY_TEXT_MAX];
			int64_t rest = res_get(limit, dim) - res_get(used, dim);

			strbuf_printf(&text, "%s%s %s requested, %s of %s left in queue %s",
				      strbuf_str(&text).len == 0 ? " (" : "; ",
				      shortage_amount(dim, res_get(need, dim), asked),
				      res_names_get(c->res, dim),
				      shortage_amount(dim, rest > 0 ? rest : 0, left),
				      shortage_amount(dim, res_get(limit, dim), most), q->name);
		}
		if (strbuf_str(&text).len > 0) {
			break;
		}
	}
	return end_text(s, &text);
}

const char *shortage_of_task(const struct session *s, const struct queue *from,
			     const struct task *t)
{
	return t->klass == NULL ? ""
				: describe(s, from, pod_class_charge(t->klass),
					   pod_class_charge_mask(t->klass));
}

const char *shortage_of_podgroup(const struct session *s, const struct queue *from,
				 const struct podgroup *g)
{
	struct res need = { .v = { 0 } };
	struct gang_need gang;
	uint32_t mask = 0;
	int32_t pods = 0;

	gang_need(s, g, GANG_RESERVED, &gang);
	/* Pods beyond a complete gang are reserved one by one, so that one of them stands for all.
	 */
	for (size_t i = 0; i < g->tasks.n && (pods == 0 || pods < gang.missing); i++) {
		const struct task *t = session_task(s, g->tasks.v[i]);

		if (gang_is_candidate(s, t)) {
			res_add(&need, pod_class_charge(t->klass));
			mask |= pod_class_charge_mask(t->klass);
			pods++;
		}
	}
	return describe(s, from, &need, mask);
}

const char *shortage_excess(const struct session *s, const struct queue *q)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	const struct res *used = session_queue_charged(s, q), *limit = session_queue_limit(s, q);
	unsigned dim;

	FOR_EACH_DIM(dim, res_exceeds(used, limit, UINT32_MAX), bits)
	{
		char charged[QUANTITY_TEXT_MAX], most[QUANTITY_TEXT_MAX];

		strbuf_printf(&text, "%s%s %s charged, the limit is %s",
			      strbuf_str(&text).len == 0 ? " (" : "; ",
			      shortage_amount(dim, res_get(used, dim), charged),
			      res_names_get(session_cluster(s)->res, dim),
			      shortage_amount(dim, res_get(limit, dim), most));
	}
	return end_text(s, &text);
}
