#include "lib/pods/cycle_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/xmalloc.h"
#include "lib/pods/cluster_checksum.h"
#include "lib/pods/decision_name.h"
#include "lib/pods/invariants.h"
#include "lib/unit.h"
#include "scheduler/pods/cycle/known_names.h"
#include "scheduler/pods/ledger/ledger.h"
#include "scheduler/pods/session/action.h"

static void parse_conf(struct cycle_fixture *f, const char *text)
{
	const struct known_names_source from = { plugin_registry, plugin_registry_count,
						 action_registry, action_registry_count };
	struct conf_options opt = { .warn = NULL };
	struct err err = ERR_INIT;
	struct known_names names;

	known_names_init(&names, &from);
	opt.known = known_names_conf(&names);
	if (conf_parse(str_of(text == NULL ? conf_default_text() : text), "test.conf", &opt,
		       &f->conf, &err) < 0) {
		fail_msg("%s", err.text);
	}
	known_names_finish(&names);
}

void cycle_fixture_init(struct cycle_fixture *f, const char *conf_text)
{
	*f = (struct cycle_fixture){ .cluster = cluster_create(), .now = CYCLE_FIXTURE_START };
	strbuf_init(&f->text);
	parse_conf(f, conf_text);
	cycle_fixture_reconfigure(f);
}

void cycle_fixture_finish(struct cycle_fixture *f)
{
	cycle_destroy(f->cycle);
	conf_destroy(f->conf);
	for (size_t i = 0; i < f->cluster->tasks.n; i++) {
		if (f->cluster->tasks.v[i] != NULL) {
			ledger_release(f->cluster, f->cluster->tasks.v[i]);
		}
	}
	cluster_destroy(f->cluster);
	strbuf_finish(&f->text);
}

void cycle_fixture_reconfigure(struct cycle_fixture *f)
{
	struct err err = ERR_INIT;

	cycle_destroy(f->cycle);
	f->cycle = NULL;
	if (cycle_create(f->conf, &f->cycle, &err) < 0) {
		fail_msg("%s", err.text);
	}
}

static const char *name_of(const struct cluster *c, const struct decision *d)
{
	if (d->task != MODEL_NONE) {
		return c->tasks.v[d->task]->name;
	}
	if (d->podgroup != MODEL_NONE) {
		return c->podgroups.v[d->podgroup]->name;
	}
	return d->queue != MODEL_NONE ? c->queues.v[d->queue]->name : "-";
}

void cycle_fixture_format(const struct cluster *c, const struct decision *d, struct strbuf *out)
{
	static const char *const phases[] = { "Pending", "Inqueue", "Running", "Unknown",
					      "Completed" };

	strbuf_printf(out, "%s %s", decision_name(d->kind), name_of(c, d));
	if (d->kind == DECISION_UNGATE && d->uncharged) {
		strbuf_add_c(out, " uncharged");
	} else if (d->kind == DECISION_AWAIT) {
		strbuf_printf(out, " %s",
			      d->node == MODEL_NONE ? "nothing" : c->nodes.v[d->node]->name);
	} else if (d->kind == DECISION_BIND || d->kind == DECISION_FINISH_BIND) {
		strbuf_printf(out, " %s", c->nodes.v[d->node]->name);
	} else if (d->kind == DECISION_TAKE_VOLUME) {
		strbuf_printf(out, " %s", c->volumes.v[d->volume]->name);
	} else if (d->kind == DECISION_PODGROUP_PHASE) {
		strbuf_printf(out, " %s", phases[d->phase]);
	} else if (d->kind == DECISION_PODGROUP_CONDITION) {
		strbuf_printf(out, " %s", d->condition_type);
	} else if (d->kind == DECISION_CONDITION) {
		strbuf_printf(out, " %s", d->reason);
	}
}

static void format_all(const struct cluster *c, const struct decisions *d, struct strbuf *out)
{
	strbuf_reset(out);
	strbuf_add_c(out, "");
	for (size_t i = 0; i < d->n; i++) {
		if (d->v[i].kind == DECISION_EVENT || d->v[i].kind == DECISION_QUEUE_SCANNED) {
			continue;
		}
		if (out->len > 0) {
			strbuf_add_c(out, "; ");
		}
		cycle_fixture_format(c, &d->v[i], out);
	}
}

/* Texts about waiting are left out: they are written when a PodGroup is looked at. */
static void format_acts(const struct cluster *c, const struct decisions *d, struct strbuf *out)
{
	strbuf_add_c(out, "");
	for (size_t i = 0; i < d->n; i++) {
		if (d->v[i].kind != DECISION_EVENT && d->v[i].kind != DECISION_QUEUE_SCANNED &&
		    d->v[i].kind != DECISION_CONDITION &&
		    d->v[i].kind != DECISION_PODGROUP_CONDITION) {
			cycle_fixture_format(c, &d->v[i], out);
			strbuf_add_c(out, "; ");
		}
	}
}

/* A cycle that looks only at what is due, with what its plugins have kept, decides what a new one
 * would that looks at everything. */
static void compare_with_all(struct cycle_fixture *f, const struct decisions *d)
{
	CLEANUP(strbuf_finish) struct strbuf due = STRBUF_INIT, all = STRBUF_INIT;
	struct queue_scan *scans = xmalloc_zero(f->cluster->queues.n + 1, sizeof(*scans));
	struct cycle *other = NULL;

	format_acts(f->cluster, d, &due);
	assert_int_equal(cycle_create(f->conf, &other, NULL), 0);
	for (size_t i = 0; i < f->cluster->queues.n; i++) {
		if (f->cluster->queues.v[i] != NULL) {
			scans[i] = f->cluster->queues.v[i]->scan;
			f->cluster->queues.v[i]->scan.done = false;
		}
	}
	format_acts(f->cluster, cycle_run(other, f->cluster, f->now, NULL), &all);
	for (size_t i = 0; i < f->cluster->queues.n; i++) {
		if (f->cluster->queues.v[i] != NULL) {
			f->cluster->queues.v[i]->scan = scans[i];
		}
	}
	cycle_destroy(other);
	free(scans);
	assert_string_equal(due.p, all.p);
}

const char *cycle_fixture_run(struct cycle_fixture *f)
{
	CLEANUP(strbuf_finish) struct strbuf first = STRBUF_INIT;
	uint64_t checksum = cluster_checksum(f->cluster);
	const struct decisions *d = cycle_run(f->cycle, f->cluster, f->now, NULL);
	const char *wrong;

	format_all(f->cluster, d, &first);
	d = cycle_run(f->cycle, f->cluster, f->now, NULL);
	format_all(f->cluster, d, &f->text);
	assert_string_equal(strbuf_str(&first).p, strbuf_str(&f->text).p);
	compare_with_all(f, d);
	assert_true(checksum == cluster_checksum(f->cluster));
	wrong = invariants_of_decisions(f->cluster, d);
	if (wrong != NULL) {
		fail_msg("%s: %s", wrong, f->text.p);
	}
	f->decisions = d;
	cycle_assume(f->cluster, d, f->now);
	wrong = invariants_of_cluster(f->cluster);
	if (wrong == NULL) {
		wrong = invariants_of_nodes(f->cluster, d);
	}
	if (wrong == NULL && cycle_last_stats(f->cycle).has_quota_plugin) {
		wrong = invariants_of_quota(f->cluster);
	}
	if (wrong != NULL) {
		fail_msg("%s: %s", wrong, f->text.p);
	}
	f->now += CYCLE_FIXTURE_S;
	return f->text.p;
}

void cycle_fixture_acknowledge(struct cycle_fixture *f)
{
	struct cluster *c = f->cluster;

	for (size_t i = 0; i < c->tasks.n; i++) {
		struct task *t = c->tasks.v[i];

		if (t == NULL) {
			continue;
		}
		if (t->charge == CHARGE_PATCHING || (t->flags & TASK_UNGATING) != 0) {
			t->flags &= ~(uint32_t)(TASK_OUR_GATE | TASK_UNGATING);
			cluster_task_changed(c, t);
		}
		if (t->charge == CHARGE_PATCHING) {
			ledger_advance(c, t, CHARGE_UNGATED);
		}
		if (t->status == TASK_BINDING) {
			ledger_advance(c, t, CHARGE_BOUND);
			cluster_task_set_status(c, t, TASK_RUNNING, c->nodes.v[t->node]);
		}
	}
	cycle_fixture_acknowledge_withdrawals(f);
}

void cycle_fixture_acknowledge_withdrawals(struct cycle_fixture *f)
{
	struct cluster *c = f->cluster;

	for (size_t i = 0; i < c->tasks.n; i++) {
		if (c->tasks.v[i] != NULL && c->tasks.v[i]->charge == CHARGE_WITHDRAWING) {
			ledger_release(c, c->tasks.v[i]);
		}
	}
}

struct task *cycle_fixture_gated(struct cycle_fixture *f, const char *name, struct podgroup *g,
				 int64_t cpu)
{
	struct task *t = cluster_fixture_task(f->cluster, name, g, cpu);

	t->flags |= TASK_OPTED_IN | TASK_OUR_GATE;
	t->cond = POD_COND_GATED;
	cluster_task_changed(f->cluster, t);
	return t;
}
