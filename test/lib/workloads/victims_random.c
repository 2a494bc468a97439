#include "lib/workloads/victims_random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/xmalloc.h"
#include "scheduler/workloads/forest/precedence.h"

struct input {
	const uint8_t *p;
	size_t n;
	struct strbuf *out;
	unsigned ncohorts, nqueues, npairs;
};

struct asked { /* a request and the answer */
	struct victims_request r;
	struct quota_amounts need;
	uint32_t pairs[16];
	struct victims found;
};

static const char *const flavors[] = { "x", "x", "y", "y" };
static const char *const resources[] = { "cpu", "gpu", "cpu", "gpu" };

static unsigned take(struct input *in, unsigned bound)
{
	if (in->n == 0) {
		return 0;
	}
	in->n--;
	return *in->p++ % bound;
}

static void add_options(struct input *in)
{
	unsigned b = take(in, 256);

	strbuf_printf(in->out,
		      "option fair_sharing=%s lte_final=%s lt_initial=%s "
		      "preempt_within_nominal=%s admission_fair_sharing=%s priority_boost=%s\n",
		      (b & 1) != 0 ? "true" : "false", (b & 6) != 0 ? "true" : "false",
		      (b & 6) != 2 ? "true" : "false", (b & 56) != 0 ? "true" : "false",
		      (b & 192) == 64 ? "true" : "false", (b & 192) == 128 ? "true" : "false");
}

static void add_quota(struct input *in, const char *node, bool is_root, unsigned most)
{
	for (unsigned i = 0; i < in->npairs; i++) {
		unsigned nominal = take(in, most), limits = take(in, 32);

		strbuf_printf(in->out, "quota %s %s %s nominal=%u", node, flavors[i], resources[i],
			      nominal);
		if (!is_root && (limits & 3) == 0) {
			strbuf_printf(in->out, " borrow=%u", limits >> 2);
		}
		if (!is_root && (limits & 3) == 1) {
			strbuf_printf(in->out, " lend=%u", (limits >> 2) % (nominal + 1));
		}
		strbuf_add_c(in->out, "\n");
	}
}

static void add_cohorts(struct input *in)
{
	in->ncohorts = take(in, 5);
	for (unsigned i = 0; i < in->ncohorts; i++) {
		static const char *const weights[] = { "1", "1", "2", "0" };
		bool is_root = i == 0 || take(in, 8) == 7;
		char node[32];

		strbuf_printf(in->out, "cohort c%u weight=%s", i, weights[take(in, 4)]);
		if (!is_root) {
			strbuf_printf(in->out, " parent=c%u", take(in, i));
		}
		strbuf_add_c(in->out, "\n");
		snprintf(node, sizeof(node), "cohort/c%u", i);
		if (take(in, 2) == 1) {
			add_quota(in, node, is_root, 5);
		}
	}
}

static void add_queues(struct input *in)
{
	static const char *const within[] = { "Never", "LowerPriority", "LowerPriority",
					      "LowerOrNewerEqualPriority" };
	static const char *const reclaim[] = { "Never", "LowerPriority", "LowerPriority", "Any" };
	static const char *const weights[] = { "1", "1", "1", "2", "0.5", "0" };

	in->nqueues = 1 + take(in, 6);
	for (unsigned i = 0; i < in->nqueues; i++) {
		bool is_root = in->ncohorts == 0 || take(in, 16) == 15;
		unsigned b = take(in, 128);
		char node[32];

		strbuf_printf(in->out, "queue q%u within=%s reclaim=%s weight=%s usage-based", i,
			      within[b & 3], reclaim[(b >> 2) & 3], weights[take(in, 6)]);
		if (!is_root) {
			strbuf_printf(in->out, " cohort=c%u", take(in, in->ncohorts));
		}
		if ((b & 16) != 0) {
			strbuf_add_c(in->out, " borrow=LowerPriority");
		}
		if ((b & 48) == 48) {
			strbuf_printf(in->out, " threshold=%d", (int)(b >> 6));
		}
		strbuf_add_c(in->out, "\n");
		snprintf(node, sizeof(node), "q%u", i);
		add_quota(in, node, is_root, 7);
	}
}

static void add_workload(struct input *in, unsigned i, unsigned queue)
{
	unsigned b = take(in, 256), c = take(in, 256), pair = take(in, in->npairs);

	strbuf_printf(in->out,
		      "workload ns/w%u queue=q%u prio=%d boost=%d cost=%d created=-%us "
		      "reserved=-%us holds=%s local=q%ul%u cpu=%u",
		      i, queue, (int)(b & 3), (b & 12) == 12 ? -1 : 0, (int)(b >> 4 & 3) - 1, c & 3,
		      c >> 2 & 3, flavors[pair], queue, b >> 6 & 1, 1 + (c >> 4 & 3));
	if (in->npairs > 1 && in->npairs != 3) {
		strbuf_printf(in->out, " gpu=%u", c >> 6 & 3);
	}
	strbuf_add_c(in->out, take(in, 8) == 7 ? " evicted=-1s\n" : "\n");
}

static void make_world(struct input *in)
{
	unsigned n;

	in->npairs = 1 + take(in, 4);
	add_options(in);
	add_cohorts(in);
	add_queues(in);
	n = take(in, 32);
	for (unsigned i = 0; i < n; i++) {
		add_workload(in, i, take(in, in->nqueues));
	}
	strbuf_printf(in->out, "workload ns/p queue=q%u cpu=1 prio=%u created=-%us\n",
		      take(in, in->nqueues), take(in, 5), take(in, 5));
}

static bool fits_alone(const struct victims_request *r, const struct quota_amount *a)
{
	struct quota_amounts one = { .n = 1, .cap = 1 };
	struct quota_amount copy = *a;

	one.v = &copy;
	return forest_fits(r->forest, r->node, &one);
}

/* Finds the pairs of the request that do not fit without preemption, as flavor assignment does. */
static void contest(struct victims_request *r, uint32_t *pairs)
{
	for (size_t i = 0; i < r->need->n; i++) {
		if (!fits_alone(r, &r->need->v[i])) {
			pairs[r->npairs++] = r->need->v[i].id;
		}
	}
}

static void make_request(struct victims_random *x, struct input *in)
{
	struct victims_request *r = &x->v.r;

	victims_fixture_init(&x->v, &x->w, "p", "");
	for (unsigned i = 0; i < in->npairs; i++) {
		uint32_t pair = quota_world_pair(&x->w, flavors[i], resources[i]);
		unsigned amount = take(in, 8);

		if (i == 0 || take(in, 2) == 1) {
			quota_amounts_add(&x->v.need, pair,
					  (int64_t)amount *
						  (strcmp(resources[i], "cpu") == 0 ? 1000 : 1));
		}
	}
	contest(r, x->v.pairs);
	x->is_blocked = r->npairs > 0;
}

/* Workloads that do not fit, in the order of ids, hold nothing afterwards. */
static void admit_what_fits(struct victims_random *x)
{
	struct quota_model *q = x->w.q;
	size_t n = q->workloads.n;
	uint32_t *held = xmalloc_zero(n + 1, sizeof(*held));

	for (size_t i = 0; i < n; i++) {
		held[i] = q->workloads.v[i]->holding.node;
		if (held[i] != MODEL_NONE) {
			forest_release(x->w.f, q->workloads.v[i]);
		}
	}
	for (size_t i = 0; i < n; i++) {
		struct workload *w = q->workloads.v[i];

		if (held[i] != MODEL_NONE && forest_fits(x->w.f, held[i], &w->holding.usage)) {
			forest_hold(x->w.f, w, held[i]);
		}
	}
	free(held);
}

void victims_random_init(struct victims_random *x, const uint8_t *bytes, size_t n)
{
	struct input in = { .p = bytes, .n = n, .out = &x->text };

	strbuf_init(&x->text);
	make_world(&in);
	quota_world_init(&x->w, x->text.p);
	if (take(&in, 4) != 0) {
		admit_what_fits(x);
	}
	make_request(x, &in);
}

void victims_random_finish(struct victims_random *x)
{
	victims_fixture_finish(&x->v);
	quota_world_finish(&x->w);
	strbuf_finish(&x->text);
}

static bool is_same(const struct victims *a, const struct victims *b)
{
	if (a->n != b->n) {
		return false;
	}
	for (size_t i = 0; i < a->n; i++) {
		if (a->v[i].workload != b->v[i].workload || a->v[i].reason != b->v[i].reason) {
			return false;
		}
	}
	return true;
}

/* The victims stop and lose their quota, and w holds what it needs. */
static void preempt(struct victims_random *x, struct workload *w, const struct victims_request *r,
		    const struct victims *found)
{
	for (size_t i = 0; i < found->n; i++) {
		struct workload *victim = x->w.q->workloads.v[found->v[i].workload];

		precedence_record(x->w.f, w, victim);
		victim->flags.evicted = true;
		victim->flags.evicted_at = victim->flags.preempted_at = x->w.now;
		forest_release(x->w.f, victim);
	}
	w->holding.usage.n = 0;
	for (size_t i = 0; i < r->need->n; i++) {
		quota_amounts_add(&w->holding.usage, r->need->v[i].id, r->need->v[i].value);
	}
	w->flags.reserved_at = x->w.now;
	forest_hold(x->w.f, w, r->node);
}

static bool has(const struct victims *found, const struct workload *w)
{
	for (size_t i = 0; i < found->n; i++) {
		if (found->v[i].workload == w->id) {
			return true;
		}
	}
	return false;
}

/* Searches for victims for a workload that lost its quota, with its former usage as request. */
static void ask(struct victims_random *x, const struct workload *w, struct asked *a,
		struct arena *arena)
{
	*a = (struct asked){ 0 };
	for (size_t i = 0; i < w->holding.usage.n; i++) {
		quota_amounts_add(&a->need, w->holding.usage.v[i].id, w->holding.usage.v[i].value);
	}
	a->r = (struct victims_request){ .forest = x->w.f,
					 .w = w,
					 .node = w->pending.queue,
					 .need = &a->need,
					 .pairs = a->pairs,
					 .now = x->w.now };
	contest(&a->r, a->pairs);
	if (a->r.npairs > 0) {
		victims_find(&a->r, arena, &a->found);
	}
}

/* A victim must not preempt its preemptor, also where policies allow both to preempt each other. */
static bool preempts_back(struct victims_random *x, const struct workload *victim,
			  const struct workload *p, struct arena *arena)
{
	struct asked back;
	bool does;

	ask(x, victim, &back, arena);
	does = has(&back.found, p);
	quota_amounts_finish(&back.need);
	return does;
}

bool victims_random_check(struct victims_random *x, struct arena *arena, struct victims *ret,
			  struct strbuf *problems)
{
	uint64_t before = victims_fixture_usage(&x->w);
	struct victims again;
	struct workload *p;

	victims_find(&x->v.r, arena, ret);
	victims_find(&x->v.r, arena, &again);
	if (!is_same(ret, &again)) {
		strbuf_add_c(problems, "equal input, other output\n");
	}
	if (victims_fixture_usage(&x->w) != before) {
		strbuf_add_c(problems, "usage is not as before\n");
	}
	victims_fixture_check(&x->v.r, ret, problems);
	if (ret->n == 0 || problems->len > 0) {
		return problems->len == 0;
	}
	p = quota_world_workload(&x->w, "p");
	preempt(x, p, &x->v.r, ret);
	for (size_t i = 0; i < ret->n; i++) {
		const struct workload *victim = x->w.q->workloads.v[ret->v[i].workload];

		if (preempts_back(x, victim, p, arena)) {
			strbuf_printf(problems, "%s (%s) preempts p back\n", victim->key,
				      victim_reason_name(ret->v[i].reason));
			return false;
		}
	}
	return true;
}
