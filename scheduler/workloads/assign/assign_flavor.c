#include "scheduler/workloads/assign/assign_flavor.h"

#include "base/attrs.h"
#include "collections/intern.h"
#include "scheduler/workloads/forest/amount.h"
#include "scheduler/workloads/model/quota_store.h"

static const struct cluster_queue *queue_of(const struct assign_request *r)
{
	return forest_model(r->forest)->nodes.v[r->node]->queue;
}

/* "cpu in flavor spot: 4 requested besides 2 of other pod sets, <rest>"; rest in four parts. */
static void add_reason(const struct assign_request *r, const struct assign_need *need,
		       struct assign_reasons *why, const char *const rest[4])
{
	const struct quota_model *q = forest_model(r->forest);
	const char *resource = intern_name(q->resources, need->resource);
	char amount[ASSIGN_REASON_AMOUNT_MAX], earlier[ASSIGN_REASON_AMOUNT_MAX];
	bool besides = need->earlier != 0;
	const char *const parts[] = {
		resource,
		" in flavor ",
		q->flavors.v[need->flavor]->name,
		": ",
		amount,
		besides ? " requested besides " : " requested, ",
		besides ? earlier : "",
		besides ? " of other pod sets, " : "",
		rest[0],
		rest[1],
		rest[2],
		rest[3],
	};

	assign_reason_amount(resource, need->amount, amount);
	assign_reason_amount(resource, need->earlier, earlier);
	assign_reason_add_parts(why, parts, ARRAY_LEN(parts));
}

static void add_too_large(const struct assign_request *r, const struct assign_need *need,
			  struct assign_reasons *why, int64_t most)
{
	char amount[ASSIGN_REASON_AMOUNT_MAX];
	const char *const rest[] = { "the most it can have is ", amount, "", "" };

	assign_reason_amount(intern_name(forest_model(r->forest)->resources, need->resource), most,
			     amount);
	add_reason(r, need, why, rest);
}

/* Requests are bounded: their sum stays below QUOTA_UNLIMITED. */
static int64_t sum_of(const struct assign_need *need)
{
	int64_t sum = amount_add(need->earlier, need->amount);

	return sum == QUOTA_UNLIMITED ? AMOUNT_REQUEST_MAX : sum;
}

static void add_short(const struct assign_request *r, const struct assign_need *need,
		      struct assign_reasons *why, int64_t available)
{
	const char *resource = intern_name(forest_model(r->forest)->resources, need->resource);
	char have[ASSIGN_REASON_AMOUNT_MAX], lack[ASSIGN_REASON_AMOUNT_MAX];
	const char *const rest[] = { have, " free, ", lack, " too little" };

	assign_reason_amount(resource, available, have);
	assign_reason_amount(resource, amount_short(sum_of(need), available), lack);
	add_reason(r, need, why, rest);
}

/* Preemption can help beyond the nominal quota: with borrowWithinCohort by lower priorities, with
 * fair sharing by larger shares. */
static bool preempts_while_borrowing(const struct assign_request *r)
{
	const struct cluster_queue *queue = queue_of(r);

	return queue->borrow_within != QUOTA_NEVER ||
	       (forest_model(r->forest)->options.fair_sharing && queue->reclaim != QUOTA_NEVER);
}

static struct assign_fit ask_probe(const struct assign_request *r, uint32_t pair, int64_t amount,
				   unsigned level)
{
	enum assign_answer answer = ASSIGN_NO_TARGETS;
	unsigned level_then = level;

	if (r->probe != NULL) {
		answer = r->probe(r->ctx, r->w, pair, amount, &level_then);
	}
	switch (answer) {
	case ASSIGN_TARGETS_OUTSIDE:
		return (struct assign_fit){ FLAVOR_RECLAIM, level_then };
	case ASSIGN_TARGETS_INSIDE:
		return (struct assign_fit){ FLAVOR_PREEMPT, level_then };
	case ASSIGN_NO_TARGETS:
		break;
	}
	return (struct assign_fit){ FLAVOR_NO_CANDIDATES, level };
}

/* 1. More than the queue could have if all else were idle never fits.
 * 2. Available quota fits, at the level up to which the queue has to borrow.
 * 3. Preemption is asked for only where it can help: when the nominal quota is enough; when a
 *    subtree smaller than the whole tree is, from which borrowers can be preempted; or when the
 *    queue may preempt while it borrows. The probe is a whole search for victims, the dearest step
 *    of a cycle.
 * 4. Otherwise it waits for quota. */
struct assign_fit assign_flavor_fit(const struct assign_request *r, const struct assign_need *need,
				    struct assign_reasons *why, enum nofit_reason *ret_reason)
{
	const struct forest *f = r->forest;
	uint32_t pair = quota_pair_find(forest_model(f), need->flavor, need->resource);
	int64_t amount = sum_of(need);
	int64_t most = pair == MODEL_NONE ? 0 : forest_potential(f, r->node, pair);
	int64_t available;
	struct assign_fit fit = { FLAVOR_FIT, 0 };
	bool may_reclaim;

	*ret_reason = QUOTA_REASON_NONE;
	if (amount > most) {
		*ret_reason = QUOTA_EXCEEDS_MAX_QUOTA;
		add_too_large(r, need, why, most);
		return (struct assign_fit){ FLAVOR_NO_FIT, 0 };
	}
	if (pair == MODEL_NONE) {
		return fit; /* zero of a resource that no flavor defines */
	}
	fit.level = forest_level(f, r->node, pair, amount, &may_reclaim);
	available = forest_available(f, r->node, pair);
	/* Less than nothing is available where a quota was lowered: a request of 0 still fits
	 * (Kueue). */
	available = available > 0 ? available : 0;
	if (amount <= available) {
		return fit;
	}
	add_short(r, need, why, available);
	if (forest_nominal(f, r->node, pair) >= amount || may_reclaim ||
	    preempts_while_borrowing(r)) {
		return ask_probe(r, pair, amount, fit.level);
	}
	*ret_reason = QUOTA_WAITING_FOR_QUOTA;
	fit.mode = FLAVOR_NO_FIT;
	return fit;
}

/* 0: cannot be used; 1: only by preemption, but there are no candidates; 2: now or by preemption.
 * Kueue compares these before the preference of the queue. */
static int rank(enum flavor_mode m)
{
	return m == FLAVOR_NO_FIT ? 0 : m == FLAVOR_NO_CANDIDATES ? 1 : 2;
}

bool assign_flavor_is_preferred(struct assign_fit a, struct assign_fit b, enum quota_preference p)
{
	if (rank(a.mode) != rank(b.mode) || a.mode == FLAVOR_NO_FIT) {
		return rank(a.mode) > rank(b.mode);
	}
	if (p == QUOTA_PREEMPTION_OVER_BORROWING) {
		return a.level != b.level ? a.level < b.level : a.mode > b.mode;
	}
	return a.mode != b.mode ? a.mode > b.mode : a.level < b.level;
}

/* Kueue: shouldTryNextFlavor. A preemption that also borrows is subject to both settings. */
bool assign_flavor_try_next(const struct cluster_queue *queue, struct assign_fit fit)
{
	switch (fit.mode) {
	case FLAVOR_NO_FIT:
	case FLAVOR_NO_CANDIDATES:
		return true;
	case FLAVOR_PREEMPT:
	case FLAVOR_RECLAIM:
		if (queue->when_can_preempt == QUOTA_TRY_NEXT_FLAVOR) {
			return true;
		}
		break;
	case FLAVOR_FIT:
		break;
	}
	return fit.level > 0 && queue->when_can_borrow == QUOTA_TRY_NEXT_FLAVOR;
}
