#include "unit/scheduler/workloads/assign/assign_fixture.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "lib/unit.h"

static enum assign_answer answer(void *ctx, const struct workload *w, uint32_t pair, int64_t amount,
				 unsigned *level)
{
	struct assign_fixture *x = ctx;
	const struct quota_model *q = x->world.q;

	assert_ptr_equal(w, x->w);
	strbuf_printf(&x->asked, "%s/%s=%lld ", q->flavors.v[q->pairs.v[pair].flavor]->name,
		      quota_resource_name(q, q->pairs.v[pair].resource), (long long)amount);
	for (size_t i = 0; i < x->nanswers; i++) {
		if (x->answers[i].pair == pair) {
			*level = x->answers[i].level;
			return x->answers[i].answer;
		}
	}
	return ASSIGN_NO_TARGETS;
}

void assign_fixture_init(struct assign_fixture *x, const char *world)
{
	memset(x, 0, sizeof(*x));
	strbuf_init(&x->text);
	strbuf_init(&x->asked);
	x->arena = arena_create(0);
	quota_world_init(&x->world, world);
	x->w = quota_world_workload(&x->world, "w");
	x->request = (struct assign_request){
		.forest = x->world.f,
		.w = x->w,
		.node = quota_world_id(&x->world, "q"),
		.probe = answer,
		.ctx = x,
	};
}

void assign_fixture_finish(struct assign_fixture *x)
{
	strbuf_finish(&x->text);
	strbuf_finish(&x->asked);
	arena_destroy(x->arena);
	quota_world_finish(&x->world);
}

void assign_fixture_set(struct assign_fixture *x, const char *flavor, const char *resource,
			enum assign_answer what, unsigned level)
{
	assert_true(x->nanswers < ARRAY_LEN(x->answers));
	x->answers[x->nanswers++] =
		(struct assign_fixture_answer){ quota_world_pair(&x->world, flavor, resource), what,
						level };
}

static const char *reason_name(enum nofit_reason r)
{
	return r == QUOTA_NO_MATCHING_FLAVOR  ? " NoMatchingFlavor"
	       : r == QUOTA_EXCEEDS_MAX_QUOTA ? " ExceedsMaxQuota"
	       : r == QUOTA_WAITING_FOR_QUOTA ? " WaitingForQuota"
	       : r == QUOTA_REASON_NONE       ? ""
					      : " Other";
}

const char *assign_fixture_run(struct assign_fixture *x)
{
	static const char *const modes[] = { "NoFit", "Preempt", "DeferredFit", "Fit" };
	static const char *const flavor_modes[] = { "NoFit", "NoCandidates", "Preempt", "Reclaim",
						    "Fit" };
	const struct quota_model *q = x->world.q;

	assign_flavors(&x->request, x->arena, &x->result);
	strbuf_reset(&x->text);
	strbuf_printf(&x->text, "%s %u%s |", modes[x->result.mode], x->result.level,
		      reason_name(x->result.reason));
	for (size_t i = 0; i < x->result.npodsets; i++) {
		const struct assigned_podset *p = &x->result.podsets[i];

		strbuf_printf(&x->text, "%s %s*%d", i == 0 ? "" : ";", x->w->object.podsets[i].name,
			      p->count);
		for (size_t k = 0; k < p->nflavors; k++) {
			const struct assigned_flavor *f = &p->flavors[k];

			strbuf_printf(&x->text, " %s=%s/%s/%u/%d",
				      quota_resource_name(q, f->resource),
				      q->flavors.v[f->flavor]->name, flavor_modes[f->mode],
				      f->level, f->tried);
		}
	}
	return x->text.p;
}

/* "flavor/resource=outside@1 ..." */
static void read_answers(struct assign_fixture *x, const char *answers)
{
	char flavor[64], resource[64], what[16];
	unsigned level;
	int used;

	while (answers != NULL && sscanf(answers, " %63[^/]/%63[^=]=%15[^@]@%u%n", flavor, resource,
					 what, &level, &used) == 4) {
		assign_fixture_set(x, flavor, resource,
				   strcmp(what, "inside") == 0 ? ASSIGN_TARGETS_INSIDE
							       : ASSIGN_TARGETS_OUTSIDE,
				   level);
		answers += used;
	}
	assert_true(answers == NULL || answers[0] == '\0');
}

void assign_fixture_expect(const char *world, const char *answers, const char *expected)
{
	struct assign_fixture x;

	assign_fixture_init(&x, world);
	read_answers(&x, answers);
	assert_string_equal(assign_fixture_run(&x), expected);
	assign_fixture_finish(&x);
}
