#include "lib/multikueue/fleet_judge.h"

#include <stdio.h>
#include <string.h>

#include "api/kueue/kueue_keys.h"
#include "api/kueue/preemption_gate.h"
#include "base/attrs.h"
#include "enc/json/jdoc.h"
#include "lib/multikueue/fleet_dialect.h"

#define WORKLOADS "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads/"

/* The object of the token; NULL: there is none. The caller destroys it. */
static struct jdoc *read_token(struct fleet_world *w, const char *name)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct jdoc *token = NULL;

	fleet_world_token(w, name, &text);
	if (text.len > 0) {
		(void)jdoc_parse(strbuf_str(&text), &token, NULL);
	}
	return token;
}

/* From before a gate is opened until after it is closed. */
static bool names(const struct jdoc *token, unsigned worker, const char *uid)
{
	char cluster[16];

	snprintf(cluster, sizeof(cluster), "w%u", worker);
	return jdoc_is_str(jdoc_get(token, "holder"), cluster) &&
	       jdoc_is_str(jdoc_get(token, "uid"), uid);
}

static bool is_true(const struct jdoc *replica, const char *type)
{
	for (const struct jdoc *c = jdoc_first(jdoc_path(replica, "status.conditions")); c != NULL;
	     c = jdoc_next(c)) {
		if (jdoc_is_str(jdoc_get(c, "type"), type)) {
			return jdoc_is_str(jdoc_get(c, "status"), "True");
		}
	}
	return false;
}

static bool is_open(const struct jdoc *replica)
{
	for (const struct jdoc *g = jdoc_first(jdoc_path(replica, "status.preemptionGates"));
	     g != NULL; g = jdoc_next(g)) {
		if (jdoc_is_str(jdoc_get(g, "name"), KUEUE_GATE_MULTIKUEUE)) {
			return jdoc_is_str(jdoc_get(g, fleet_dialect_field()),
					   PREEMPTION_GATE_OPEN);
		}
	}
	return false;
}

/* Returns whether the gate was opened since the last call. */
static bool look(struct fleet_judge_gate *g, struct fleet_world *w, const char *name,
		 unsigned worker, bool away)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;
	const char *uid;
	bool was_open = g->open;

	strbuf_printf(&path, WORKLOADS "%s", name);
	d = fleet_world_get(w, (int)worker, path.p);
	uid = jdoc_path_str(d, "metadata.uid");
	if (uid == NULL || strcmp(uid, g->uid) != 0) {
		*g = (struct fleet_judge_gate){ .open = false };
		snprintf(g->uid, sizeof(g->uid), "%s", uid == NULL ? "" : uid);
		was_open = false;
	}
	g->open = is_open(d);
	g->away = g->open && (g->away || away);
	g->token_lost = g->open && g->token_lost;
	g->admitted = is_true(d, KUEUE_ADMITTED);
	if (is_true(d, KUEUE_QUOTA_RESERVED)) {
		g->evicted_epoch = 0; /* its status does not show the eviction any more */
	}
	return g->open && !was_open;
}

static bool is_in_use(const struct fleet_judge_gate *at)
{
	return at->open && !at->away && !at->admitted;
}

bool fleet_judge_counts(const struct fleet_judge *g, unsigned worker)
{
	return is_in_use(&g->at[worker]) && !g->at[worker].token_lost;
}

const char *fleet_judge_check(struct fleet_judge *g, struct fleet_world *w, const char *name,
			      const bool *away, unsigned workers)
{
	CLEANUP(jdoc_destroyp) struct jdoc *token = read_token(w, name);
	int64_t epoch = jdoc_int(jdoc_get(token, "epoch"), 0);
	unsigned open = 0;

	for (unsigned i = 0; i < workers; i++) {
		struct fleet_judge_gate *at = &g->at[i];
		bool opened = look(at, w, name, i, away[i]);

		g->opened += opened;
		if (!is_in_use(at)) {
			continue;
		}
		if (!at->token_lost && !names(token, i, at->uid)) {
			return "a gate is open, and the token does not name its replica";
		}
		if (opened && at->evicted_epoch != 0 && at->evicted_epoch == epoch) {
			return "a gate is open again in the grant in which its replica was evicted";
		}
		open++;
	}
	return open > 1 ? "several gates are open" : NULL;
}

void fleet_judge_evicted(struct fleet_judge *g, struct fleet_world *w, const char *name,
			 unsigned worker, bool reachable)
{
	CLEANUP(jdoc_destroyp) struct jdoc *token = read_token(w, name);
	struct fleet_judge_gate *at = &g->at[worker];

	at->evicted_epoch = 0;
	at->open = false;
	if (reachable && jdoc_is_str(jdoc_get(token, "phase"), "Granted") &&
	    names(token, worker, at->uid)) {
		at->evicted_epoch = jdoc_int(jdoc_get(token, "epoch"), 0);
		g->evictions++;
	}
}

void fleet_judge_restarted(struct fleet_judge *g)
{
	for (unsigned i = 0; i < FLEET_JUDGE_WORKERS; i++) {
		g->at[i].evicted_epoch = 0;
	}
}

void fleet_judge_token_lost(struct fleet_judge *g)
{
	for (unsigned i = 0; i < FLEET_JUDGE_WORKERS; i++) {
		g->at[i].token_lost = g->at[i].open;
		g->at[i].evicted_epoch = 0;
	}
}
