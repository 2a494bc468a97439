#include "lib/pods/core_fixture.h"

#include <string.h>

#include "base/err.h"
#include "lib/unit.h"
#include "scheduler/pods/cycle/due.h"

void core_fixture_init(struct core_fixture *sf, const char *conf_text)
{
	struct err err = ERR_INIT;

	*sf = (struct core_fixture){ .s = NULL };
	cycle_fixture_init(&sf->f, conf_text);
	if (hooks_create(sf->f.conf, plugin_registry, plugin_registry_count, &sf->hooks, &err) <
	    0) {
		fail_msg("%s", err.text);
	}
	sf->s = session_create(sf->f.conf, sf->hooks);
}

void core_fixture_open(struct core_fixture *sf)
{
	const struct cluster *c = sf->f.cluster;

	arena_reset(sf->s->arena);
	sf->s->decisions.n = 0;
	due_list(sf->s, c, sf->f.now, true);
	session_open(sf->s, c, sf->f.now);
}

void core_fixture_finish(struct core_fixture *sf)
{
	session_close(sf->s);
	session_destroy(sf->s);
	hooks_destroy(sf->hooks);
	cycle_fixture_finish(&sf->f);
}

static uint64_t mix(uint64_t h, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;

	for (size_t i = 0; i < n; i++) {
		h = (h ^ p[i]) * UINT64_C(0x100000001b3);
	}
	return h;
}

static uint64_t mix_node(uint64_t h, const struct session *s, const struct node *n)
{
	const struct task *t;

	h = mix(h, session_node_used(s, n), sizeof(struct res));
	h = mix(h, session_node_pipelined(s, n), sizeof(struct res));
	h = mix(h, session_node_releasing(s, n), sizeof(struct res));
	for (size_t i = 0; (t = session_node_added(s, n, i)) != NULL; i++) {
		h = mix(h, &t->id, sizeof(t->id));
	}
	return h;
}

static uint64_t mix_podgroup(uint64_t h, const struct session *s, const struct podgroup *g)
{
	int32_t be = session_podgroup_best_effort_pending(s, g);
	enum podgroup_phase phase = session_podgroup_phase(s, g);

	for (int i = 0; i < TASK_STATUS_COUNT_; i++) {
		uint32_t n = session_podgroup_count(s, g, (enum task_status)i);

		h = mix(h, &n, sizeof(n));
	}
	return mix(mix(h, &be, sizeof(be)), &phase, sizeof(phase));
}

uint64_t core_fixture_checksum(const struct session *s)
{
	const struct cluster *c = session_cluster(s);
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < c->tasks.n; i++) {
		const struct task *t = c->tasks.v[i];
		uint32_t words[] = { session_task_status(s, t), session_task_charge(s, t),
				     session_task_node(s, t), session_task_was_revoked(s, t) };

		h = mix(h, words, sizeof(words));
	}
	for (size_t i = 0; i < c->nodes.n; i++) {
		h = mix_node(h, s, c->nodes.v[i]);
	}
	for (size_t i = 0; i < c->podgroups.n; i++) {
		h = mix_podgroup(h, s, c->podgroups.v[i]);
	}
	for (size_t i = 0; i < c->queues.n; i++) {
		h = mix(h, session_queue_charged(s, c->queues.v[i]), sizeof(struct res));
		h = mix(h, session_queue_releasing(s, c->queues.v[i]), sizeof(struct res));
	}
	return h;
}

const char *core_fixture_decisions(struct core_fixture *sf)
{
	strbuf_reset(&sf->f.text);
	strbuf_add_c(&sf->f.text, "");
	for (size_t i = 0; i < sf->s->decisions.n; i++) {
		const struct decision *d = &sf->s->decisions.v[i];

		if (d->kind != DECISION_EVENT) {
			strbuf_add_c(&sf->f.text, sf->f.text.len == 0 ? "" : "; ");
			cycle_fixture_format(sf->f.cluster, d, &sf->f.text);
		}
	}
	return sf->f.text.p;
}
