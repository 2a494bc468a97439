/* Volcano's overcommit plugin: PodGroups are enqueued as long as what they announce fits the
 * cluster as if it were larger by a factor; those beyond would only wait. Gates do not depend on it
 * (pods/actions/allocate_gate.h).
 *
 * Argument: overcommit-factor (1.2). Less than 1 counts as 1.2, as in Volcano. Unlike there, from
 * what an Inqueue PodGroup announces, the requests of its pods that have nodes are taken off, since
 * they are counted as used already. */
#include <stdlib.h>

#include "base/arena.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "scheduler/pods/conf/conf_args.h"
#include "scheduler/pods/plugins/capacity.h"
#include "scheduler/pods/plugins/podgroup_sums.h"
#include "scheduler/pods/plugins/registry.h"
#include "scheduler/pods/session/session.h"
#include "scheduler/pods/values/pod_class.h"

#define FACTOR_DEFAULT 1.2

struct overcommit {
	double factor;
	struct podgroup_sums announced; /* of Inqueue PodGroups, as the cluster has them */
	/* From the first vote of a session on. */
	bool is_built;
	struct res idle;
	struct res inqueue; /* with what this session has enqueued */
};

static const struct conf_args_row overcommit_arguments[] = {
	{ "overcommit-factor", CONF_ARGS_AT(struct overcommit, NUMBER, factor),
	  .def = FACTOR_DEFAULT },
	{ .name = NULL },
};

static int overcommit_create(const struct plugin_args *args, void **ret_state, struct err *err)
{
	struct overcommit *o = xmalloc_zero(1, sizeof(*o));
	int r = conf_args_read(overcommit_arguments, args->v, args->n, o, err);

	if (r < 0) {
		free(o);
		return r;
	}
	if (!(o->factor >= 1)) {
		o->factor = FACTOR_DEFAULT;
	}
	*ret_state = o;
	return 0;
}

static void overcommit_destroy(void *state)
{
	struct overcommit *o = state;

	podgroup_sums_finish(&o->announced);
	free(o);
}

static int64_t scale(int64_t amount, double factor)
{
	double scaled = (double)amount * factor;

	return scaled < (double)INT64_MAX ? (int64_t)scaled : INT64_MAX;
}

static void compute_idle(const struct cluster *c, double factor, struct res *ret)
{
	struct res_edit edit = res_edit_begin(c->res, ret);

	*ret = (struct res){ .v = { 0 } };
	for (unsigned d = 0; d < res_names_count(c->res); d++) {
		res_edit_set(&edit, d, scale(res_get(&c->total, d), factor));
	}
	res_edit_end(&edit);
	res_sub(ret, &c->used);
}

/* The part of minResources that is still to come. */
static void announced(const struct session *s, const struct podgroup *g, struct res *ret)
{
	*ret = g->min_resources;
	for (size_t i = 0; i < g->tasks.n; i++) {
		const struct task *t = session_task(s, g->tasks.v[i]);

		if (session_task_node(s, t) != MODEL_NONE && t->klass != NULL) {
			res_sub_floor(ret, &t->klass->request);
		}
	}
	capacity_demand_without_gated(s, g, ret);
}

static void count(const struct session *s, const struct podgroup *g, struct res *ret)
{
	if (capacity_demand_is_inqueue(s, g)) {
		announced(s, g, ret);
	}
}

static void overcommit_open(void *state, struct session *s)
{
	struct overcommit *o = state;

	podgroup_sums_open(&o->announced, s, NULL, count);
	o->is_built = false;
}

static void build(struct overcommit *o, const struct session *s)
{
	if (o->is_built) {
		return;
	}
	o->is_built = true;
	compute_idle(session_cluster(s), o->factor, &o->idle);
	podgroup_sums_get(&o->announced, s, NULL, &o->inqueue);
}

static enum vote refuse(const struct session *s, const char *dims, struct reason *why)
{
	if (why != NULL) {
		*why = (struct reason){
			.code = "resource in cluster is overused",
			.detail = arena_dup(session_arena(s), dims),
		};
	}
	return VOTE_REJECT;
}

static enum vote overcommit_job_enqueueable(void *state, struct session *s,
					    const struct podgroup *g, struct reason *why)
{
	CLEANUP(strbuf_finish) struct strbuf dims = STRBUF_INIT;
	struct overcommit *o = state;
	uint32_t over;

	if (!g->has_min_resources) {
		return VOTE_PERMIT;
	}
	build(o, s);
	/* Volcano leaves the number of pods out of its comparisons. */
	over = res_over(&o->inqueue, &g->min_resources, &o->idle,
			res_mask(&g->min_resources) & ~RES_PODS_BIT);
	if (over != 0) {
		res_describe_over(session_cluster(s)->res, over, &dims);
		return refuse(s, dims.p, why);
	}
	if (g->min_unoffered.n > 0) {
		strbuf_printf(&dims, "insufficient %s", g->min_unoffered.v[0].name);
		return refuse(s, dims.p, why);
	}
	return VOTE_PERMIT;
}

static void overcommit_job_enqueued(void *state, struct session *s, const struct podgroup *g)
{
	struct overcommit *o = state;
	struct res demand;

	if (!g->has_min_resources) {
		return;
	}
	build(o, s);
	announced(s, g, &demand);
	res_add(&o->inqueue, &demand);
}

const struct plugin_ops overcommit_ops = {
	.name = "overcommit",
	.arguments = overcommit_arguments,
	.create = overcommit_create,
	.destroy = overcommit_destroy,
	.open = overcommit_open,
	.job_enqueueable = overcommit_job_enqueueable,
	.job_enqueued = overcommit_job_enqueued,
};
