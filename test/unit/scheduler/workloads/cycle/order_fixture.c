#include "unit/scheduler/workloads/cycle/order_fixture.h"

#include <string.h>

#include "base/arena.h"
#include "lib/unit.h"

static const char *name_of(const struct workload *w)
{
	return strchr(w->key, '/') + 1;
}

static bool begins_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

static void add_entry(struct order_fixture *x, struct workload *w)
{
	struct entry *e = &x->entries[x->n];
	struct assign_request r = { .forest = x->world.f, .w = w };

	assert_true(x->n < ORDER_FIXTURE_MAX);
	e->w = w;
	e->node = w->holding.node == MODEL_NONE ? w->pending.queue : w->holding.node;
	e->status = ENTRY_NOMINATED;
	e->is_preemptor = begins_with(name_of(w), "preemptor");
	r.node = e->node;
	assign_flavors(&r, x->arena, &e->assignment);
	e->has_assignment = true;
	x->given[x->n++] = e;
}

void order_fixture_init(struct order_fixture *x, const char *world)
{
	memset(x, 0, sizeof(*x));
	strbuf_init(&x->text);
	x->arena = arena_create(0);
	quota_world_init(&x->world, world);
	for (size_t i = 0; i < x->world.q->workloads.n; i++) {
		struct workload *w = x->world.q->workloads.v[i];

		if (w != NULL && !begins_with(name_of(w), "used")) {
			add_entry(x, w);
		}
	}
}

void order_fixture_finish(struct order_fixture *x)
{
	strbuf_finish(&x->text);
	arena_destroy(x->arena);
	quota_world_finish(&x->world);
}

void order_fixture_admit(struct order_fixture *x, const struct entry *e)
{
	if (e->w->holding.node == MODEL_NONE && e->assignment.mode == ASSIGN_FIT &&
	    forest_fits(x->world.f, e->node, &e->assignment.usage)) {
		forest_add(x->world.f, e->node, &e->assignment.usage);
	}
}

const char *order_fixture_run(struct order_fixture *x)
{
	size_t mark = forest_mark(x->world.f);
	struct entry_order *o = entry_order_create(x->world.f, x->given, x->n, x->arena);

	strbuf_reset(&x->text);
	for (struct entry *e = entry_order_next(o); e != NULL; e = entry_order_next(o)) {
		strbuf_printf(&x->text, "%s%s", x->text.len == 0 ? "" : " ", name_of(e->w));
		order_fixture_admit(x, e);
	}
	assert_null(entry_order_next(o));
	forest_undo(x->world.f, mark);
	return x->text.p;
}

void order_fixture_expect(const char *world, const char *expected)
{
	struct order_fixture x;

	order_fixture_init(&x, world);
	assert_string_equal(order_fixture_run(&x), expected);
	for (size_t i = 0; i < x.n; i++) {
		x.given[i] = &x.entries[x.n - 1 - i];
	}
	assert_string_equal(order_fixture_run(&x), expected);
	order_fixture_finish(&x);
}
