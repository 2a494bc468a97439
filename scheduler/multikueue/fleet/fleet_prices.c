#include "scheduler/multikueue/fleet/fleet_prices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "collections/vec.h"
#include "process/log.h"
#include "scheduler/base/message.h"
#include "scheduler/multikueue/fleet/fleet_holders.h"
#include "scheduler/multikueue/fleet/fleet_view.h"
#include "scheduler/multikueue/records/fleet_clusters.h"
#include "scheduler/multikueue/records/fleet_workload.h"
#include "scheduler/multikueue/worker/link.h"
#include "scheduler/multikueue/worker/survey.h"

#define FRESH_NS (5 * CLOCK_NS_PER_S)
#define FAILED_NS (60 * CLOCK_NS_PER_S)

/* One connection, for the transports' threads: unchanged, and kept as long as the prices, since the
 * end of a reading may still be reported when a later connection is read. */
struct reading {
	struct fleet_prices *owner;
	uint64_t source;
};

/* One cluster. */
struct book {
	const struct reading *reading; /* of the connection that was read last; NULL: none was */
	struct survey *running;        /* NULL: none is */
	struct survey_answer
		*answer;          /* of the last reading; NULL: there is none, or it is too old */
	bool outdated;            /* a token has ended since the reading that runs began */
	bool repeated;            /* that reading is the second one for this reason */
	int64_t began_at;         /* wall ns at which the reading began */
	int64_t read_at;          /* mono ns */
	int64_t again_at;         /* mono ns: it could not be read, and is not before */
	char error[ERR_TEXT_MAX]; /* "" when it could */
};

struct fleet_prices {
	struct fleet_prices_options opt;
	struct strmap *books; /* struct book by the name of the cluster */
	struct VEC(struct reading *) readings;
};

static void close_book(struct book *b)
{
	survey_destroy(b->running);
	survey_answer_destroy(b->answer);
	b->running = NULL;
	b->answer = NULL;
}

static void free_book(void *value)
{
	close_book(value);
	free(value);
}

struct fleet_prices *fleet_prices_create(const struct fleet_prices_options *opt)
{
	struct fleet_prices *p = xmalloc_zero(1, sizeof(*p));

	p->opt = *opt;
	p->books = strmap_create(free_book);
	return p;
}

void fleet_prices_destroy(struct fleet_prices *p)
{
	if (p != NULL) {
		strmap_destroy(p->books);
		for (size_t i = 0; i < p->readings.n; i++) {
			free(p->readings.v[i]);
		}
		vec_finish(&p->readings);
		free(p);
	}
}

static struct book *book_of(struct fleet_prices *p, const char *cluster)
{
	struct book *b = strmap_get(p->books, str_of(cluster));

	if (b == NULL) {
		b = xmalloc_zero(1, sizeof(*b));
		strmap_set(p->books, str_of(cluster), b);
	}
	return b;
}

static void free_answer(void *answer)
{
	survey_answer_destroy(answer);
}

/* The transport's thread. */
static void on_done(void *ctx, struct survey_answer *answer)
{
	const struct reading *r = ctx;
	struct sched_msg *m = message_new(SCHED_MSG_SURVEY);

	m->source = r->source;
	m->payload = answer;
	m->free_payload = free_answer;
	r->owner->opt.post(r->owner->opt.ctx, m);
}

static const struct reading *reading_of(struct fleet_prices *p, const struct book *b,
					uint64_t source)
{
	struct reading *r;

	if (b->reading != NULL && b->reading->source == source) {
		return b->reading;
	}
	r = xmalloc_zero(1, sizeof(*r));
	*r = (struct reading){ p, source };
	vec_push(&p->readings, r);
	return r;
}

static void start(struct fleet_prices *p, struct book *b, const struct fleet_workload *w,
		  struct link *l)
{
	const struct survey_want want = { .key = w->key };
	struct survey_options so = { .transport = link_transport(l),
				     .clock = p->opt.clock,
				     .conf = p->opt.conf,
				     .on_done = on_done };

	close_book(b);
	b->reading = reading_of(p, b, link_source(l));
	b->began_at = clock_wall(p->opt.clock);
	so.ctx = (void *)(uintptr_t)b->reading;
	b->running = survey_start(&so, &want, 1);
}

/* The victims on this cluster of other Workloads that have its token. */
struct promises VEC(const char *);

static void add_promises(const struct fleet_holders *holders, const struct fleet_workload *w,
			 const char *cluster, struct promises *out)
{
	for (size_t i = 0; i < holders->n; i++) {
		const struct fleet_workload *other = holders->v[i];

		for (size_t k = 0;
		     other != w && str_streq(other->holding, cluster) && k < other->promised.n;
		     k++) {
			vec_push(out, other->promised.v[k]);
		}
	}
}

/* Without the victims that are promised to others. */
static void find_price(const struct book *b, const struct fleet_workload *w, const char *cluster,
		       const struct fleet_holders *holders, struct arena *arena, struct price *ret)
{
	struct promises promised = VEC_INIT;

	add_promises(holders, w, cluster, &promised);
	price_model_find(b->answer->model, str_of(w->key), promised.v, promised.n, arena, ret);
	vec_finish(&promised);
}

static void set_cost(const struct book *b, const struct fleet_workload *w,
		     const struct fleet_holders *holders, struct replica *r)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	struct price price;

	find_price(b, w, r->cluster, holders, arena, &price);
	r->cost = price.cost;
	if (price.cost == REPLICA_COST_UNKNOWN) {
		log_v(1, "cost of preemption is not known", LOG_STR("workload", w->key),
		      LOG_STR("cluster", r->cluster), LOG_STR("reason", price.message));
	}
}

/* A reading that began before the replica asked may not have it. (A time to come is from before the
 * clock was set back.) */
static bool serves(const struct book *b, const struct replica *r, const struct clock *clock)
{
	return b->answer != NULL && clock_mono(clock) - b->read_at < FRESH_NS &&
	       (r->signal_seen <= b->began_at || r->signal_seen > clock_wall(clock));
}

bool fleet_prices_set(struct fleet_prices *p, struct fleet_view *view,
		      const struct fleet_workload *w, struct fleet_clusters *clusters,
		      const struct fleet_holders *holders)
{
	int64_t now = clock_mono(p->opt.clock);
	size_t candidates = 0;
	bool complete = true;

	for (size_t i = 0; i < view->replicas.n; i++) {
		candidates += replica_class(&view->replicas.v[i]) == REPLICA_CANDIDATE;
	}
	for (size_t i = 0; candidates > 1 && i < view->replicas.n; i++) {
		struct replica *r = &view->replicas.v[i];
		const struct fleet_cluster *k = fleet_clusters_find(clusters, str_of(r->cluster));
		struct book *b;

		if (replica_class(r) != REPLICA_CANDIDATE || k == NULL || k->source == 0) {
			continue;
		}
		b = book_of(p, k->name);
		if (serves(b, r, p->opt.clock)) {
			set_cost(b, w, holders, r);
		} else if (b->running == NULL && now >= b->again_at) {
			start(p, b, w, k->link);
			complete = false;
		} else {
			complete &= b->running == NULL;
		}
	}
	return complete;
}

void fleet_prices_promise(struct fleet_prices *p, struct fleet_workload *w, const char *cluster,
			  const struct fleet_holders *holders)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	const struct book *b = strmap_get(p->books, str_of(cluster));
	struct price price;

	fleet_workload_forget_promises(w);
	if (b == NULL || b->answer == NULL) {
		return;
	}
	find_price(b, w, cluster, holders, arena, &price);
	for (size_t i = 0; price.verdict == PRICE_PREEMPTS && i < price.n; i++) {
		vec_push(&w->promised, xmalloc_dup(price.victims[i].key));
	}
}

void fleet_prices_ended(struct fleet_prices *p, const char *cluster)
{
	struct book *b = strmap_get(p->books, str_of(cluster));

	if (b != NULL && b->running != NULL) {
		b->outdated = true;
	} else if (b != NULL) {
		close_book(b);
	}
}

/* A reading that was outdated before it came is repeated once: where tokens end faster than a
 * cluster is read, an old price is better than none. */
static bool is_to_repeat(struct book *b)
{
	bool again = b->outdated && !b->repeated;

	b->outdated = false;
	b->repeated = again;
	return again;
}

void fleet_prices_handle(struct fleet_prices *p, const char *cluster, struct sched_msg *m)
{
	struct book *b = strmap_get(p->books, str_of(cluster));
	struct survey_answer *answer = m->payload;

	if (b == NULL || b->running == NULL || b->reading->source != m->source) {
		return; /* of a connection that has ended */
	}
	close_book(b);
	b->error[0] = '\0';
	if (answer->err.code != ERR_NONE) {
		b->again_at = clock_mono(p->opt.clock) + FAILED_NS;
		snprintf(b->error, sizeof(b->error), "%s", answer->err.text);
		log_warn("costs of preemption are not known", LOG_STR("cluster", cluster),
			 LOG_STR("error", b->error));
		return;
	}
	if (is_to_repeat(b)) {
		return;
	}
	b->read_at = clock_mono(p->opt.clock);
	b->answer = answer;
	m->payload = NULL;
}

void fleet_prices_lost(struct fleet_prices *p, const char *cluster)
{
	struct book *b = strmap_get(p->books, str_of(cluster));

	if (b != NULL) {
		close_book(b);
	}
}

const char *fleet_prices_error(const struct fleet_prices *p, const char *cluster)
{
	const struct book *b = strmap_get(p->books, str_of(cluster));

	return b == NULL || b->error[0] == '\0' ? NULL : b->error;
}
