/* Scenarios: objects in, decisions out. Every test/scenario/NAME.yaml is one test:
 *
 *   about: the rule, in one sentence
 *   conf: scheduler configuration (absent: built in)
 *   hierarchy: false when the capacity plugin of conf has no hierarchy
 *   gatesAdmission: false: the feature gate is off;  reservationTimeout: a duration;
 *   onReservationTimeout: delete;
 *   reservationAttempts: a number;
 *   gateSticky: false: a pod without the annotation is not opted in, whatever it was before
 *   steps: each applies `queues`, `groups`, `kubeGroups`, `nodes`, `pods` (expand.h), `objects`,
 * then `change`
 *     ({kind, name, merge}) and `delete` ({kind, name}), waits `after`, acknowledges the writes of
 *     the cycle before unless `acknowledge: false`, and runs a cycle.
 *     expect: all its decisions in order;  published: the exact set afterwards;
 *     events: all its events;  phases: {group: phase};  says: {pod: message of its condition} */
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "enc/yaml.h"
#include "lib/unit.h"
#include "process/file.h"
#include "scenario/each_file.h"
#include "scenario/expand.h"
#include "scenario/world.h"

#define FOLDER "test/scenario"

static int64_t duration_of(const struct jdoc *d, int64_t def)
{
	int64_t ns = def;

	if (jdoc_str(d) != NULL) {
		assert_int_equal(clock_parse_duration(str_of(jdoc_str(d)), &ns), 0);
	}
	return ns;
}

static void apply_lists(struct world *w, const struct jdoc *step)
{
	static const char *const kinds[] = { "queues", "groups", "kubeGroups",
					     "nodes",  "pods",   "objects" };

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		const struct jdoc *o = jdoc_first(jdoc_get(step, kinds[i]));

		for (; o != NULL; o = jdoc_next(o)) {
			world_apply_take(w, expand_object(kinds[i], o));
		}
	}
}

static void apply_changes(struct world *w, const struct jdoc *step)
{
	const struct jdoc *c;

	for (c = jdoc_first(jdoc_get(step, "change")); c != NULL; c = jdoc_next(c)) {
		world_merge(w, jdoc_str(jdoc_get(c, "kind")), jdoc_str(jdoc_get(c, "name")),
			    jdoc_get(c, "merge"));
	}
	for (c = jdoc_first(jdoc_get(step, "delete")); c != NULL; c = jdoc_next(c)) {
		world_delete(w, jdoc_str(jdoc_get(c, "kind")), jdoc_str(jdoc_get(c, "name")));
	}
}

static void join(const struct jdoc *list, const char *separator, struct strbuf *out)
{
	strbuf_add_c(out, "");
	for (const struct jdoc *i = jdoc_first(list); i != NULL; i = jdoc_next(i)) {
		strbuf_printf(out, "%s%s", out->len == 0 ? "" : separator, jdoc_str_or(i, "?"));
	}
}

static void compare(const char *what, const struct jdoc *expected, const char *separator,
		    const char *got)
{
	CLEANUP(strbuf_finish) struct strbuf want = STRBUF_INIT;

	if (expected == NULL) {
		return;
	}
	join(expected, separator, &want);
	if (strcmp(want.p, got) != 0) {
		fail_msg("%s:\n  expected: %s\n  got:      %s", what, want.p, got);
	}
}

static void check_phases(struct world *w, const struct jdoc *phases)
{
	for (const struct jdoc *p = jdoc_first(phases); p != NULL; p = jdoc_next(p)) {
		assert_string_equal(world_phase(w, jdoc_key(p)), jdoc_str(p));
	}
}

static void check_messages(struct world *w, const struct jdoc *says)
{
	for (const struct jdoc *p = jdoc_first(says); p != NULL; p = jdoc_next(p)) {
		const char *message = world_message(w, jdoc_key(p));

		assert_string_equal(message == NULL ? "" : message, jdoc_str(p));
	}
}

static void run_step(struct world *w, const struct jdoc *step, size_t number)
{
	CLEANUP(strbuf_finish) struct strbuf published = STRBUF_INIT;
	const char *got;

	print_message("step %zu\n", number);
	if (jdoc_bool(jdoc_get(step, "acknowledge"), true)) {
		world_acknowledge(w);
	}
	apply_lists(w, step);
	apply_changes(w, step);
	w->f.now += duration_of(jdoc_get(step, "after"), 0);
	got = world_run(w);
	assert_non_null(jdoc_get(step, "expect"));
	compare("decisions", jdoc_get(step, "expect"), "; ", got);
	compare("events", jdoc_get(step, "events"), "; ", w->events.p);
	world_published(w, &published);
	compare("published", jdoc_get(step, "published"), " ", published.p);
	check_phases(w, jdoc_get(step, "phases"));
	check_messages(w, jdoc_get(step, "says"));
}

static struct jdoc *load(const char *name)
{
	CLEANUP(xmalloc_freep) char *path = xmalloc_printf("%s/%s", FOLDER, name);
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct err err = ERR_INIT;
	struct jdoc *d = NULL;

	if (file_read_all(path, YAML_MAX_BYTES, &text, &err) < 0 ||
	    yaml_parse(strbuf_str(&text), &d, &err) < 0) {
		fail_msg("%s: %s", path, err.text);
	}
	return d;
}

/* Every resource name after this gets a further dimension. */
static void fill_dense_dimensions(struct world *w)
{
	struct res_names *names = w->f.cluster->res;

	for (unsigned i = 0; res_names_count(names) < RES_DENSE + 3; i++) {
		CLEANUP(xmalloc_freep) char *name = xmalloc_printf("example.com/filler-%u", i);

		assert_true(res_names_add(names, str_of(name)) >= 0);
	}
	w->f.cluster->res_resolved = res_names_count(names);
}

static void play(const struct jdoc *d, bool filled)
{
	const struct jdoc *step = jdoc_first(jdoc_get(d, "steps"));
	struct world w;

	assert_non_null(jdoc_str(jdoc_get(d, "about")));
	assert_non_null(step);
	world_init(&w, jdoc_str(jdoc_get(d, "conf")), jdoc_bool(jdoc_get(d, "hierarchy"), true));
	w.f.conf->gates_admission = jdoc_bool(jdoc_get(d, "gatesAdmission"), true);
	w.f.cluster->annotation_decides = !jdoc_bool(jdoc_get(d, "gateSticky"), true);
	w.f.cluster->implies_podgroups = jdoc_bool(jdoc_get(d, "impliedPodGroups"), false);
	w.f.cluster->default_queue = queue_get(w.f.cluster, STR_LIT("default"))->id;
	w.f.conf->reservation_timeout_ns =
		duration_of(jdoc_get(d, "reservationTimeout"), w.f.conf->reservation_timeout_ns);
	w.f.conf->overdue_deletes = jdoc_is_str(jdoc_get(d, "onReservationTimeout"), "delete");
	w.f.conf->reservation_attempts = (uint32_t)jdoc_int(jdoc_get(d, "reservationAttempts"), 0);
	cycle_fixture_reconfigure(&w.f);
	if (filled) {
		fill_dense_dimensions(&w);
	}
	for (size_t i = 1; step != NULL; step = jdoc_next(step), i++) {
		run_step(&w, step, i);
	}
	world_finish(&w);
}

/* Runs it twice: decisions depend neither on the number of resources nor on their order. */
static void run_file(void **state)
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = load(*state);

	play(d, false);
	play(d, true);
}

int main(void)
{
	return each_file_run("scenario", FOLDER, run_file);
}
