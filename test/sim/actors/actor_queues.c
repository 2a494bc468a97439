/* An administrator edits Volcano's Queues. */
#include <stdio.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "sim/actors/actor_lists.h"

#define QUEUES "/apis/scheduling.volcano.sh/v1beta1/queues"

static const char *name_of(const struct jdoc *object)
{
	return jdoc_path_str(object, "metadata.name");
}

/* Of those that the users made. */
static const struct jdoc *any_queue(struct sim_actors *a)
{
	const struct jdoc *q = sim_actors_any(a, SIM_QUEUES);
	const char *name = q == NULL ? "root" : name_of(q);

	return str_streq(name, "root") || str_streq(name, "default") ? NULL : q;
}

static bool set_state(struct sim_actors *a, const char *name, const char *state)
{
	CLEANUP(xmalloc_freep) char *status = xmalloc_printf("%s/status", name);
	char body[80];

	snprintf(body, sizeof(body), "{\"status\":{\"state\":\"%s\"}}", state);
	return sim_actors_patch(a, QUEUES, status, body);
}

static bool is_closed(const struct jdoc *queue)
{
	const char *state = jdoc_path_str(queue, "status.state");

	return str_streq(state, "Closed") || str_streq(state, "Closing");
}

static bool close_queue(struct sim_actors *a)
{
	const struct jdoc *q = any_queue(a);

	return q != NULL && set_state(a, name_of(q), is_closed(q) ? "Open" : "Closed");
}

static bool set_guarantee(struct sim_actors *a)
{
	const struct jdoc *q = any_queue(a);
	char body[120];

	snprintf(body, sizeof(body), "{\"spec\":{\"guarantee\":{\"resource\":{\"cpu\":\"%u\"}}}}",
		 sim_actors_below(a, 4));
	return q != NULL && sim_actors_patch(a, QUEUES, name_of(q), body);
}

static bool set_weight(struct sim_actors *a)
{
	const struct jdoc *q = any_queue(a);
	char body[80];

	snprintf(body, sizeof(body), "{\"spec\":{\"weight\":%u,\"deserved\":{\"cpu\":\"%u\"}}}",
		 1 + sim_actors_below(a, 9), sim_actors_below(a, 5));
	return q != NULL && sim_actors_patch(a, QUEUES, name_of(q), body);
}

/* And creates it anew at once, or later with the same name. */
static bool delete_queue(struct sim_actors *a)
{
	const struct jdoc *q = any_queue(a);
	CLEANUP(jdoc_destroyp) struct jdoc *copy = q == NULL ? NULL : jdoc_copy(q);
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	if (q == NULL) {
		return false;
	}
	jdoc_remove(jdoc_ensure_object(copy, "metadata"), "resourceVersion");
	jdoc_remove(jdoc_ensure_object(copy, "metadata"), "uid");
	jdoc_remove(copy, "status");
	jdoc_format(copy, &text);
	return sim_actors_delete(a, QUEUES, name_of(copy)) &&
	       sim_actors_send(a, HTTP_POST, QUEUES, "application/json", text.p) < 300;
}

static void open_all(struct sim_actors *a)
{
	for (size_t i = 0; i < sim_view_count(a->world->view, SIM_QUEUES); i++) {
		const struct jdoc *q = sim_view_at(a->world->view, SIM_QUEUES, i);

		if (is_closed(q) && set_state(a, name_of(q), "Open")) {
			i = SIZE_MAX; /* the order has changed */
		}
	}
}

static const struct sim_actors_act acts[] = {
	{ "Queue closed or opened", close_queue, 3 },
	{ "Queue's guarantee edited", set_guarantee, 2 },
	{ "Queue's weight edited", set_weight, 1 },
	{ "Queue deleted and made anew", delete_queue, 2 },
};

const struct sim_actors_actor actor_queues = {
	.acts = acts, .n = ARRAY_LEN(acts), .per_mille = 6, .pods = true, .end = open_all
};
