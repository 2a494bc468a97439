#include "scheduler/workloads/pending/usage.h"

#include <math.h>
#include <string.h>

#include "base/xmalloc.h"
#include "scheduler/workloads/model/quota_store.h"
#include "scheduler/workloads/pending/pending_heap.h"

#define NANO ((__int128)1000000000)
#define NANO_PER_MILLI ((__int128)1000000)
#define CONSUMED_MAX ((__int128)INT64_MAX * NANO) /* the largest quantity */
#define SAMPLING_MIN_NS INT64_C(1000000000)       /* the grain of lastUpdate */

double usage_alpha(int64_t elapsed_ns, int64_t half_life_ns)
{
	if (half_life_ns <= 0) {
		return 1;
	}
	/* expm1 keeps the digits of a part that is small: minutes of a week. */
	return elapsed_ns <= 0 ? 0 : -expm1(-M_LN2 * (double)elapsed_ns / (double)half_life_ns);
}

double usage_of(const struct quota_model *q, const struct workload *w)
{
	const struct local_queue *l = quota_local_of(q, w);

	return l == NULL ? 0 : l->usage;
}

/* NULL: its ClusterQueue does not exist or does not go by usage. */
static struct cluster_queue *queue_of(const struct quota_model *q, const struct local_queue *l)
{
	const struct quota_node *n =
		q->options.admission_fair_sharing ? quota_local_queue(q, l) : NULL;

	return n != NULL && n->queue->usage_based ? n->queue : NULL;
}

static int64_t interval(const struct quota_model *q)
{
	int64_t ns = q->options.usage.sampling_ns;

	return ns > SAMPLING_MIN_NS ? ns : SAMPLING_MIN_NS;
}

/* --- what is consumed --------------------------------------------------------------------------*/

/* Amounts in nano units need 128 bits: 64 would end at 9 GB of memory. */
static __int128 part(double alpha, __int128 amount)
{
	return (__int128)(alpha * (double)amount);
}

static __int128 nano_of(const struct quota_model *q, uint32_t resource, int64_t amount)
{
	bool cpu = strcmp(quota_resource_name(q, resource), "cpu") == 0;

	return amount * (cpu ? NANO_PER_MILLI : NANO);
}

static void add(struct local_queue *l, uint32_t resource, __int128 nano)
{
	size_t i = 0;

	while (i < l->consumed.n && l->consumed.v[i].resource != resource) {
		i++;
	}
	if (i == l->consumed.n) {
		vec_push(&l->consumed, ((struct quota_consumed){ resource, 0 }));
	}
	nano += l->consumed.v[i].nano;
	l->consumed.v[i].nano = nano < 0 ? 0 : nano > CONSUMED_MAX ? CONSUMED_MAX : nano;
}

/* The usage of w, times factor. */
static void add_held(const struct quota_model *q, struct local_queue *l, const struct workload *w,
		     double factor)
{
	for (size_t i = 0; i < w->holding.usage.n; i++) {
		uint32_t resource = q->pairs.v[w->holding.usage.v[i].id].resource;

		add(l, resource, part(factor, nano_of(q, resource, w->holding.usage.v[i].value)));
	}
}

static void decay(struct local_queue *l, double alpha)
{
	for (size_t i = 0; i < l->consumed.n; i++) {
		/* Rounded down, as in Kueue: a rest that is rounded up never ends. */
		l->consumed.v[i].nano = part(1 - alpha, l->consumed.v[i].nano);
	}
}

/* A resource that has decayed to nothing is removed, so that the status does not list it. */
static void drop_nothing(struct local_queue *l)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->consumed.n; i++) {
		if (l->consumed.v[i].nano > 0) {
			l->consumed.v[kept++] = l->consumed.v[i];
		}
	}
	l->consumed.n = kept;
}

static double weight_of(const struct quota_model *q, uint32_t resource)
{
	const struct quota_usage_rules *rules = &q->options.usage;
	const char *name = quota_resource_name(q, resource);

	for (size_t i = 0; i < rules->nweights; i++) {
		if (strcmp(rules->weights[i].resource, name) == 0) {
			return rules->weights[i].weight;
		}
	}
	return 1;
}

static void weigh(const struct quota_model *q, struct local_queue *l)
{
	double sum = 0;

	for (size_t i = 0; i < l->consumed.n; i++) {
		sum += weight_of(q, l->consumed.v[i].resource) *
		       ((double)l->consumed.v[i].nano / (double)NANO);
	}
	/* One of weight 0 comes after all others, also while it has used nothing (Kueue: +Inf). */
	l->usage = l->weight > 0 ? sum / l->weight : (double)INFINITY;
}

void usage_weigh(struct quota_model *q, struct local_queue *l)
{
	double before = l->usage;
	struct cluster_queue *queue = queue_of(q, l);

	weigh(q, l);
	/* Heaps compare by usage, so they are out of order as soon as it changes. */
	if (queue != NULL && (l->usage < before || l->usage > before)) {
		pending_heap_reorder(q, queue);
	}
}

/* --- entry penalty -----------------------------------------------------------------------------*/

static void penalize(struct quota_model *q, const struct workload *w, double sign)
{
	const struct quota_usage_rules *rules = &q->options.usage;
	struct local_queue *l;

	if (!q->options.admission_fair_sharing || rules->half_life_ns <= 0) {
		return;
	}
	l = quota_local_of(q, w);
	if (l != NULL && queue_of(q, l) != NULL) {
		add_held(q, l, w, sign * usage_alpha(interval(q), rules->half_life_ns));
		usage_weigh(q, l);
	}
}

void usage_enter(struct quota_model *q, const struct workload *w)
{
	penalize(q, w, 1);
}

void usage_revoke(struct quota_model *q, const struct workload *w)
{
	penalize(q, w, -1);
}

/* --- sampling ----------------------------------------------------------------------------------*/

/* The alpha of each LocalQueue that is due, 0 for others. True: some are. */
static bool begin_samples(struct quota_model *q, int64_t now, double *alphas)
{
	bool any = false;

	for (size_t i = 0; i < q->locals.n; i++) {
		struct local_queue *l = q->locals.v[i];

		if (l == NULL || queue_of(q, l) == NULL) {
			continue;
		}
		/* A first sample needs an interval, which begins here. One from the future, by
		 * another clock or before this one was set back, would otherwise be the last until
		 * then. */
		if (l->sampled_at == MODEL_TIME_NONE || l->sampled_at > now) {
			l->sampled_at = now;
		}
		if (now - l->sampled_at >= interval(q)) {
			alphas[i] = usage_alpha(now - l->sampled_at, q->options.usage.half_life_ns);
			decay(l, alphas[i]);
			l->sampled_at = now;
			any = true;
		}
	}
	return any;
}

static void add_admitted(struct quota_model *q, const double *alphas)
{
	for (size_t i = 0; i < q->workloads.n; i++) {
		const struct workload *w = q->workloads.v[i];
		struct local_queue *l =
			w == NULL || w->holding.node == MODEL_NONE || !w->flags.admitted
				? NULL
				: quota_local_of(q, w);

		if (l != NULL && alphas[l->id] > 0) {
			add_held(q, l, w, alphas[l->id]);
		}
	}
}

static void reorder_all(struct quota_model *q)
{
	for (size_t i = 0; i < q->nodes.n; i++) {
		const struct quota_node *n = q->nodes.v[i];

		if (n != NULL && n->is_queue && n->queue->usage_based) {
			pending_heap_reorder(q, n->queue);
		}
	}
}

static int64_t next_due(const struct quota_model *q)
{
	int64_t next = INT64_MAX;

	for (size_t i = 0; i < q->locals.n; i++) {
		const struct local_queue *l = q->locals.v[i];

		if (l != NULL && queue_of(q, l) != NULL && l->sampled_at + interval(q) < next) {
			next = l->sampled_at + interval(q);
		}
	}
	return next;
}

/* 1. The past of the LocalQueues that are due decays; how much, depends on the time since their
 *    last sample.
 * 2. One pass over all Workloads adds what is held, in the proportion that the past has lost.
 *    Without a half-life nothing is remembered, so nothing is added.
 * 3. Usage is weighed again, and the heaps are ordered by it. */
int64_t usage_sample(struct quota_model *q, int64_t now)
{
	CLEANUP(xmalloc_freep) double *alphas = xmalloc_zero(q->locals.n + 1, sizeof(*alphas));

	if (begin_samples(q, now, alphas)) {
		if (q->options.usage.half_life_ns > 0) {
			add_admitted(q, alphas);
		}
		for (size_t i = 0; i < q->locals.n; i++) {
			if (q->locals.v[i] != NULL && alphas[i] > 0) {
				drop_nothing(q->locals.v[i]);
				weigh(q, q->locals.v[i]);
			}
		}
		reorder_all(q);
	}
	return next_due(q);
}
