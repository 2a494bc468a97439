#include "scheduler/pods/actions/evict_gang.h"

#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "scheduler/pods/conf/conf.h"
#include "scheduler/pods/search/rivals.h"
#include "scheduler/pods/session/gang.h"
#include "scheduler/pods/session/statement.h"

#define TRIED_MAX 16 /* PodGroups that are remembered, so that looking them up costs little */
#define SPARE_MAX 16 /* gangs among which superfluous ones are looked for */

struct evict_gang_arguments {
	bool whole;
};
const struct conf_args_row evict_gang_arguments[] = {
	{ "allowWholeBundle", CONF_ARGS_AT(struct evict_gang_arguments, SWITCH, whole), .def = 1 },
	{ "maxDomains", .kind = CONF_ARGS_NO_EFFECT },
	{ .name = NULL },
};

static int parse(const struct conf_action *a, struct evict_gang_arguments *ret, struct err *err)
{
	return conf_args_read(evict_gang_arguments, a->args, a->nargs, ret, err);
}

int evict_gang_check(const struct conf_action *a, struct err *err)
{
	struct evict_gang_arguments args;
	int r = parse(a, &args, err);

	return r < 0 ? err_wrap(err, "action %s", a->name) : 0;
}

enum evict_gangs evict_gang_mode(const struct session *s, const char *action)
{
	const struct conf_action *a = conf_action(session_conf(s), action);
	struct evict_gang_arguments args;

	return a != NULL && parse(a, &args, NULL) == 0 && !args.whole ? EVICT_GANGS_SPARED
								      : EVICT_GANGS_WHOLE;
}

/* Gangs that may be evicted as a whole for one PodGroup, the first victims first. */
struct gangs {
	struct session *session;
	struct evict_work *work;
	struct victims *victims;
	size_t first; /* of work->tasks */
	const struct task *preemptor;
	const struct podgroup **v;
	size_t n;
};

/* Evicts the first count of the gangs but left_out, and serves the PodGroup. Without keep it is
 * only a trial. */
static bool serve_with(struct gangs *g, size_t count, size_t left_out, bool keep)
{
	struct evict_work *w = g->work;
	struct statement st = statement_begin(g->session);
	size_t end = w->n;
	bool served;

	w->next = g->first;
	for (size_t i = 0; i < count; i++) {
		if (i != left_out &&
		    victims_evict_podgroup(g->victims, w->queue, g->preemptor, g->v[i])) {
			w->evicts = true;
		}
	}
	served = w->evicts && evict_step_serve(g->session, w, g->victims);
	w->evicts = false;
	w->n = end;
	if (served && keep) {
		statement_commit(g->session, st);
		return true;
	}
	statement_discard(g->session, st);
	victims_restored(g->victims);
	return served;
}

static bool serves(struct gangs *g, size_t count)
{
	return serve_with(g, count, g->n, false);
}

/* The least number of gangs from the front that is enough; 0: all of them are not. More gangs never
 * make less room, so doubling and halving finds it. */
static size_t find_count(struct gangs *g)
{
	size_t low = 0, high = 1;

	if (g->n == 0 || !serves(g, g->n)) {
		return 0;
	}
	while (high < g->n && !serves(g, high)) {
		low = high;
		high *= 2;
	}
	high = high < g->n ? high : g->n;
	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;

		if (serves(g, mid)) {
			high = mid;
		} else {
			low = mid;
		}
	}
	return high;
}

/* Without those that plugins protect. */
static size_t keep_permitted(struct gangs *g, size_t count)
{
	struct statement st = statement_begin(g->session);
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		if (victims_evict_podgroup(g->victims, g->work->queue, g->preemptor, g->v[i])) {
			g->v[kept++] = g->v[i];
		}
	}
	statement_discard(g->session, st);
	return kept;
}

/* An earlier gang is superfluous when a later one makes room enough. */
static size_t spare_some(struct gangs *g, size_t count)
{
	for (size_t i = count - 1; count <= SPARE_MAX && i-- > 0;) {
		if (serve_with(g, count, i, false)) {
			memmove(&g->v[i], &g->v[i + 1], (count - i - 1) * sizeof(g->v[0]));
			count--;
		}
	}
	return count;
}

static void list(struct gangs *g)
{
	while (victims_podgroup(g->victims, g->n) != NULL) {
		g->n++;
	}
	g->v = arena_alloc(session_arena(g->session), (g->n + 1) * sizeof(g->v[0]));
	for (size_t i = 0; i < g->n; i++) {
		g->v[i] = victims_podgroup(g->victims, i);
	}
}

/* Then a result for one of them holds for the other. */
static bool are_equal(const struct session *s, const struct evict_work *a,
		      const struct evict_work *b)
{
	const struct podgroup *x = a->podgroup, *y = b->podgroup;

	if (a->queue != b->queue || a->n != b->n || x->min_member != y->min_member ||
	    x->priority != y->priority || x->role_min.n + y->role_min.n > 0 ||
	    rivals_may_exist(s, x) || rivals_may_exist(s, y) ||
	    gang_count(s, x, GANG_PIPELINED) != gang_count(s, y, GANG_PIPELINED)) {
		return false;
	}
	for (size_t i = 0; i < a->n; i++) {
		const struct task *t = a->tasks[i], *u = b->tasks[i];

		if (t->klass != u->klass || t->priority != u->priority ||
		    t->granted_priority != u->granted_priority || t->flags != u->flags ||
		    session_task_charge(s, t) != session_task_charge(s, u)) {
			return false;
		}
	}
	return true;
}

static bool was_tried(const struct session *s, const struct evict_gang_tried *tried,
		      const struct evict_work *w)
{
	for (size_t i = 0; i < tried->in_vain.n; i++) {
		if (are_equal(s, tried->in_vain.v[i], w)) {
			return true;
		}
	}
	return false;
}

/* With gangs that are evicted as a whole:
 * 1. as few from the front as are enough;
 * 2. those of them are spared without which it is enough as well. */
static bool serve_by_gangs(struct session *s, struct evict_work *w, struct victims *v, size_t first)
{
	struct gangs g = { .session = s, .work = w, .victims = v, .first = first };
	size_t count;

	w->next = first;
	g.preemptor = evict_step_preemptor(s, w);
	list(&g);
	count = keep_permitted(&g, find_count(&g));
	return count > 0 && serve_with(&g, spare_some(&g, count), g.n, true);
}

/* Pods that gangs can spare may be enough; this is tried first. */
bool evict_gang_serve(struct session *s, struct evict_work *w, struct victims *v,
		      struct evict_gang_tried *tried)
{
	size_t first = w->next;

	if (was_tried(s, tried, w)) {
		w->next = w->n;
		return false;
	}
	w->fits = false;
	if (evict_step_serve(s, w, v) || (!w->fits && serve_by_gangs(s, w, v, first))) {
		vec_clear(&tried->in_vain);
		return true;
	}
	w->next = w->n;
	if (!w->fits && tried->in_vain.n < TRIED_MAX) {
		vec_push(&tried->in_vain, w);
	}
	return false;
}
