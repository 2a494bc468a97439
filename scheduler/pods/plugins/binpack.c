/* Volcano's binpack plugin: prefers the node that the pod fills up most, so that other nodes stay
 * empty and can be taken away by an autoscaler.
 *
 * Arguments: binpack.weight (1), binpack.cpu (1), binpack.memory (1), binpack.resources (names
 * joined by commas), binpack.resources.<name> (1). Negative weights of dimensions count as 1.
 *
 * This file is also the example of a plugin: arguments are read once in create, what depends on the
 * cluster is looked up in open, the extension point itself is arithmetic only, and the last lines
 * say which extension points there are. */
#include "scheduler/pods/plugins/binpack.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/str.h"
#include "base/xmalloc.h"
#include "scheduler/pods/conf/conf_args.h"
#include "scheduler/pods/plugins/registry.h"
#include "scheduler/pods/session/session.h"
#include "scheduler/pods/values/pod_class.h"

#define SCORE_MAX 100.0

struct named_weight {
	char *name;
	double weight;
};

struct binpack {
	double weight, cpu, memory;
	struct named_weight *extra;
	size_t nextra;
	struct binpack_weights
		weights; /* of this session: dimensions get their ids as they appear */
};

/* The mean of used/allocatable over the requested dimensions, weighted. With cpu and memory at
 * weight 1, a pod of 1 cpu and 2 GiB on a node of 4 cpu and 16 GiB, 2 cpu and 2 GiB of which are
 * used, gives ((2+1)/4 + (2+2)/16) / 2 * 100 = (0.75 + 0.25) / 2 * 100 = 50. */
double binpack_score(const struct binpack_weights *w, const struct res *request,
		     const struct res *used, const struct res *allocatable)
{
	double score = 0, weight_sum = 0;

	for (size_t i = 0; i < w->n; i++) {
		double weight = w->v[i].weight;
		int64_t asked = res_get(request, w->v[i].dim),
			room = res_get(allocatable, w->v[i].dim);
		double after = (double)res_get(used, w->v[i].dim) + (double)asked;

		if (asked <= 0) {
			continue;
		}
		weight_sum += weight;
		/* A dimension that the node does not have, or that has no weight, adds nothing and
		 * does not speak against the node either: whether the pod fits is asked elsewhere.
		 */
		if (room == 0 || weight == 0) {
			continue;
		}
		if (after > (double)room) {
			return 0;
		}
		score += after / (double)room * weight;
	}
	return weight_sum > 0 ? score / weight_sum * SCORE_MAX * w->plugin : 0;
}

static void binpack_destroy(void *state)
{
	struct binpack *b = state;

	for (size_t i = 0; i < b->nextra; i++) {
		free(b->extra[i].name);
	}
	free(b->extra);
	free(b->weights.v);
	free(b);
}

struct binpack_arguments {
	double weight, cpu, memory;
	const char *resources; /* "nvidia.com/gpu, example.com/foo" */
};
#define RESOURCE_PREFIX "binpack.resources."
static const struct conf_args_row binpack_arguments[] = {
	{ "binpack.weight", CONF_ARGS_AT(struct binpack_arguments, NUMBER, weight), .def = 1 },
	{ "binpack.cpu", CONF_ARGS_AT(struct binpack_arguments, NUMBER, cpu), .def = 1 },
	{ "binpack.memory", CONF_ARGS_AT(struct binpack_arguments, NUMBER, memory), .def = 1 },
	{ "binpack.resources", CONF_ARGS_AT(struct binpack_arguments, TEXT, resources) },
	{ RESOURCE_PREFIX, .kind = CONF_ARGS_PREFIX },
	{ .name = NULL },
};

static double weight_or_1(double weight)
{
	return weight < 0 ? 1 : weight;
}

static int read_extra(const struct plugin_args *args, const char *resources, struct binpack *b,
		      struct err *err)
{
	struct str rest = str_of(resources);

	while (rest.p != NULL) {
		struct str name = str_trim(str_next(&rest, ','));
		CLEANUP(xmalloc_freep) char *key = NULL;
		struct named_weight *w;
		int r;

		if (name.len == 0) {
			continue;
		}
		b->extra = xmalloc_resize(b->extra, b->nextra + 1, sizeof(b->extra[0]));
		w = &b->extra[b->nextra++];
		w->name = xmalloc_dup_n(name.p, name.len);
		key = xmalloc_printf(RESOURCE_PREFIX "%s", w->name);
		r = conf_args_number(args->v, args->n, key, 1, &w->weight, err);
		if (r < 0) {
			return r;
		}
		w->weight = weight_or_1(w->weight);
	}
	return 0;
}

static int binpack_create(const struct plugin_args *args, void **ret_state, struct err *err)
{
	struct binpack *b = xmalloc_zero(1, sizeof(*b));
	struct binpack_arguments a;
	int r = conf_args_read(binpack_arguments, args->v, args->n, &a, err);

	if (r == 0) {
		b->weight = a.weight;
		b->cpu = weight_or_1(a.cpu);
		b->memory = weight_or_1(a.memory);
		r = read_extra(args, a.resources, b, err);
	}
	if (r < 0) {
		binpack_destroy(b);
		return r;
	}
	b->weights.v = xmalloc_zero(b->nextra + 2, sizeof(b->weights.v[0])); /* cpu and memory */
	*ret_state = b;
	return 0;
}

/* The last weight of a dimension that is listed twice counts. */
static void set_weight(struct binpack_weights *w, unsigned dim, double weight)
{
	size_t i = 0;

	while (i < w->n && w->v[i].dim != dim) {
		i++;
	}
	w->v[i] = (struct binpack_weight){ dim, weight };
	w->n += i == w->n;
}

static void binpack_open(void *state, struct session *s)
{
	const struct res_names *names = session_cluster(s)->res;
	struct binpack *b = state;

	b->weights.plugin = b->weight;
	b->weights.n = 0;
	set_weight(&b->weights, RES_CPU, b->cpu);
	set_weight(&b->weights, RES_MEMORY, b->memory);
	for (size_t i = 0; i < b->nextra; i++) {
		int dim = res_names_find(names, str_of(b->extra[i].name));

		if (dim >= 0) {
			set_weight(&b->weights, (unsigned)dim, b->extra[i].weight);
		}
	}
}

static double binpack_node_score(void *state, const struct session *s, const struct pod_class *k,
				 const struct node *n)
{
	const struct binpack *b = state;

	return binpack_score(&b->weights, &k->request, session_node_used(s, n), &n->allocatable);
}

const struct plugin_ops binpack_ops = {
	.name = "binpack",
	.arguments = binpack_arguments,
	.create = binpack_create,
	.destroy = binpack_destroy,
	.open = binpack_open,
	.node_score = binpack_node_score,
};
