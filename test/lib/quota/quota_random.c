#include "lib/quota/quota_random.h"

#include <stdio.h>

#define PICK(r, ...)                                                                               \
	pick(r, (const char *const[]){ __VA_ARGS__ },                                              \
	     sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *))

void quota_random_seed(struct quota_random *r, uint64_t seed)
{
	*r = (struct quota_random){ .bytes = NULL };
	rng_init(&r->rng, seed);
}

void quota_random_bytes(struct quota_random *r, const uint8_t *bytes, size_t n)
{
	static const uint8_t none[1];

	*r = (struct quota_random){ .bytes = n > 0 ? bytes : none, .n = n };
}

unsigned quota_random_below(struct quota_random *r, unsigned bound)
{
	if (r->bytes == NULL) {
		return (unsigned)rng_below(&r->rng, bound);
	}
	if (r->n == 0) {
		return 0;
	}
	r->n--;
	return *r->bytes++ % bound;
}

static const char *pick(struct quota_random *r, const char *const *v, size_t n)
{
	return v[quota_random_below(r, (unsigned)n)];
}

static void add_quota(struct quota_random *r, struct strbuf *out, const char *node, bool has_parent)
{
	for (int f = 0; f < 2; f++) {
		strbuf_printf(out, "quota %s %c cpu nominal=%u", node, "xy"[f],
			      quota_random_below(r, 6));
		if (has_parent && quota_random_below(r, 4) == 0) {
			strbuf_printf(out, " borrow=%u", quota_random_below(r, 4));
		}
		if (has_parent && quota_random_below(r, 6) == 0) {
			strbuf_printf(out, " lend=%u", quota_random_below(r, 4));
		}
		strbuf_add_c(out, "\n");
	}
}

static void add_policies(struct quota_random *r, struct strbuf *out, unsigned i)
{
	strbuf_printf(out, "queue q%u within=%s reclaim=%s strategy=%s", i,
		      PICK(r, "Never", "LowerPriority", "LowerOrNewerEqualPriority"),
		      PICK(r, "Never", "LowerPriority", "Any"),
		      PICK(r, "StrictFIFO", "BestEffortFIFO", "BestEffortFIFO"));
	strbuf_printf(out, " whenborrow=%s whenpreempt=%s weight=%s",
		      PICK(r, "MayStopSearch", "TryNextFlavor"),
		      PICK(r, "MayStopSearch", "TryNextFlavor"), PICK(r, "1", "1", "2", "0"));
	if (quota_random_below(r, 3) == 0) {
		strbuf_add_c(out, " borrow=LowerPriority");
	}
}

static void add_queue(struct quota_random *r, struct strbuf *out, unsigned i, unsigned ncohorts)
{
	char name[32];

	add_policies(r, out, i);
	if (ncohorts > 0) {
		strbuf_printf(out, " cohort=c%u", quota_random_below(r, ncohorts));
	}
	strbuf_add_c(out, "\n");
	snprintf(name, sizeof(name), "q%u", i);
	add_quota(r, out, name, ncohorts > 0);
}

void quota_random_workload(struct quota_random *r, struct strbuf *out, unsigned i, unsigned nqueues)
{
	unsigned pods = 1 + quota_random_below(r, 3);

	strbuf_printf(out, "workload w%u queue=q%u", i, quota_random_below(r, nqueues));
	strbuf_printf(out, " prio=%u", quota_random_below(r, 4));
	strbuf_printf(out, " cpu=%u pods=%u created=-%us", 1 + quota_random_below(r, 2), pods,
		      1000 - i % 7);
	if (pods > 1 && quota_random_below(r, 3) == 0) {
		strbuf_add_c(out, " min=1");
	}
	strbuf_add_c(out, "\n");
	if (quota_random_below(r, 4) == 0) {
		strbuf_printf(out, "podset more pods=1 cpu=%u\n", 1 + quota_random_below(r, 2));
	}
}

static void add_options(struct quota_random *r, struct strbuf *out)
{
	strbuf_printf(out, "option fair_sharing=%s lte_final=true lt_initial=true",
		      PICK(r, "true", "false"));
	strbuf_printf(out, " heads=%u", 1 + (unsigned)(quota_random_below(r, 4) == 0));
	strbuf_printf(out, " prioritize_preemptors=%s\n", PICK(r, "true", "false"));
}

struct quota_random_shape quota_random_world(struct quota_random *r, struct strbuf *out)
{
	struct quota_random_shape shape = { .cohorts = quota_random_below(r, 4) };

	shape.queues = 1 + quota_random_below(r, 4);
	shape.workloads = 2 + quota_random_below(r, 14);
	add_options(r, out);
	for (unsigned i = 0; i < shape.cohorts; i++) {
		char name[32];

		strbuf_printf(out, "cohort c%u", i);
		if (i > 0) {
			strbuf_printf(out, " parent=c%u", quota_random_below(r, i));
		}
		strbuf_add_c(out, "\n");
		snprintf(name, sizeof(name), "cohort/c%u", i);
		add_quota(r, out, name, i > 0);
	}
	for (unsigned i = 0; i < shape.queues; i++) {
		add_queue(r, out, i, shape.cohorts);
	}
	for (unsigned i = 0; i < shape.workloads; i++) {
		quota_random_workload(r, out, i, shape.queues);
	}
	return shape;
}

void quota_random_edit(struct quota_random *r, struct strbuf *out, struct quota_random_shape shape)
{
	bool is_queue = shape.cohorts == 0 || quota_random_below(r, 2) == 0;
	unsigned i = quota_random_below(r, is_queue ? shape.queues : shape.cohorts);
	char name[32];

	if (quota_random_below(r, 2) == 0) {
		snprintf(name, sizeof(name), "%s%u", is_queue ? "q" : "cohort/c", i);
		add_quota(r, out, name, shape.cohorts > 0 && (is_queue || i > 0));
	} else if (is_queue) {
		add_policies(r, out, i);
		strbuf_printf(out, " stop=%s\n", PICK(r, "None", "None", "Hold"));
	} else {
		strbuf_printf(out, "cohort c%u parent=c%u\n", i,
			      quota_random_below(r, shape.cohorts));
	}
}
