/* Volcano's nodeorder plugin: the scores of kube-scheduler, each 0 to 100, with a weight each.
 *
 * Arguments: leastrequested.weight (1), mostrequested.weight (0), balancedresource.weight (1),
 * nodeaffinity.weight (2), tainttoleration.weight (3), imagelocality.weight (1),
 * podaffinity.weight (2), podtopologyspread.weight (2).
 *
 * Unlike in Volcano, the best sum of preferences and the largest number of taints, which count as
 * 100, are those of all nodes that the pod's class may use, also of full ones: a score changes with
 * its own node alone then. Containers without requests count as nothing. */
#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/str.h"
#include "base/xmalloc.h"
#include "scheduler/base/match.h"
#include "scheduler/pods/conf/conf_args.h"
#include "scheduler/pods/plugins/nodeorder_domains.h"
#include "scheduler/pods/plugins/nodeorder_images.h"
#include "scheduler/pods/plugins/registry.h"
#include "scheduler/pods/predicates/predicates_match.h"
#include "scheduler/pods/session/domains.h"
#include "scheduler/pods/session/hooks.h"
#include "scheduler/pods/session/session.h"
#include "scheduler/pods/values/pod_class.h"

#define SCORE_MAX 100

enum nodeorder_score {
	SCORE_LEAST,
	SCORE_MOST,
	SCORE_BALANCED,
	SCORE_AFFINITY,
	SCORE_TAINTS,
	SCORE_IMAGES,
	SCORE_POD_AFFINITY,
	SCORE_SPREAD,
	SCORE_COUNT_
};

/* Of a pod class, made at the first use. */
struct of_class {
	bool has_maxima, has_images;
	int64_t affinity, taints; /* maxima: the most that a node which the class may use has */
	struct nodeorder_images images;
};

struct nodeorder {
	double weight[SCORE_COUNT_];
	/* Of this session: */
	struct of_class *by_class;        /* by class id */
	size_t nodes;                     /* that exist */
	int gpu;                          /* dimension of nvidia.com/gpu, -1: no object has it */
	bool has_soft_taints;             /* a node has a taint PreferNoSchedule */
	struct nodeorder_domains domains; /* memory for their scores */
};

#define WEIGHT(score, key, weight_)                                                                \
	{                                                                                          \
		key ".weight", CONF_ARGS_AT(struct nodeorder, NUMBER, weight[SCORE_##score]),      \
			.def = (weight_)                                                           \
	}
static const struct conf_args_row nodeorder_arguments[] = {
	WEIGHT(LEAST, "leastrequested", 1),
	WEIGHT(MOST, "mostrequested", 0),
	WEIGHT(BALANCED, "balancedresource", 1),
	WEIGHT(AFFINITY, "nodeaffinity", 2),
	WEIGHT(TAINTS, "tainttoleration", 3),
	WEIGHT(IMAGES, "imagelocality", 1),
	WEIGHT(POD_AFFINITY, "podaffinity", 2),
	WEIGHT(SPREAD, "podtopologyspread", 2),
	{ .name = NULL },
};

static int nodeorder_create(const struct plugin_args *args, void **ret_state, struct err *err)
{
	struct nodeorder *p = xmalloc_zero(1, sizeof(*p));
	int r = conf_args_read(nodeorder_arguments, args->v, args->n, p, err);

	if (r < 0) {
		free(p);
		return r;
	}
	*ret_state = p;
	return 0;
}

static bool is_soft(const struct taint *t)
{
	return t->effect == TAINT_PREFER_NO_SCHEDULE;
}

static void nodeorder_open(void *state, struct session *s)
{
	const struct cluster *c = session_cluster(s);
	struct nodeorder *p = state;

	p->by_class = arena_zero(session_arena(s), c->class_by_id.n + 1, sizeof(*p->by_class));
	p->gpu = res_names_find(c->res, STR_LIT("nvidia.com/gpu"));
	p->domains.scores = arena_alloc(session_arena(s), (c->nodes.n + 1) * sizeof(int64_t));
	p->domains.sums = arena_alloc(session_arena(s), (c->nodes.n + 1) * sizeof(double));
	p->domains.marks = arena_alloc(session_arena(s), (c->nodes.n + 1) * sizeof(uint32_t));
	p->has_soft_taints = false;
	p->nodes = 0;
	for (size_t i = 0; i < c->nodes.n; i++) {
		const struct node *n = c->nodes.v[i];

		if (n == NULL || !n->exists) {
			continue;
		}
		p->nodes++;
		for (size_t k = 0; k < n->taints.n; k++) {
			p->has_soft_taints |= is_soft(&n->taints.v[k]);
		}
	}
}

/* Amounts of one dimension on a node, with the pod, and with those that wait for room there. */
struct use {
	int64_t used, allocatable;
};

static struct use use_of(const struct session *s, const struct pod_class *k, const struct node *n,
			 unsigned dim)
{
	return (struct use){ .used = res_get(session_node_used(s, n), dim) +
				     res_get(session_node_pipelined(s, n), dim) +
				     res_get(&k->request, dim),
			     .allocatable = res_get(&n->allocatable, dim) };
}

/* amount as a part of SCORE_MAX, cut off as kube-scheduler does. */
static int64_t percent(int64_t amount, int64_t of)
{
	return (int64_t)((__int128)amount * SCORE_MAX / of);
}

/* The means over cpu and memory, of those that the node has. */
static int64_t score_requested(const struct session *s, const struct pod_class *k,
			       const struct node *n, bool most)
{
	static const unsigned dims[] = { RES_CPU, RES_MEMORY };
	int64_t sum = 0, count = 0;

	for (size_t i = 0; i < ARRAY_LEN(dims); i++) {
		struct use u = use_of(s, k, n, dims[i]);

		if (u.allocatable <= 0) {
			continue;
		}
		count++;
		if (u.used <= u.allocatable) {
			sum += percent(most ? u.used : u.allocatable - u.used, u.allocatable);
		} else if (most) {
			sum += SCORE_MAX;
		}
	}
	return count > 0 ? sum / count : 0;
}

/* SCORE_MAX less the standard deviation of the used parts of cpu, memory and, when the pod requests
 * some, GPUs. */
static int64_t score_balanced(const struct nodeorder *p, const struct session *s,
			      const struct pod_class *k, const struct node *n)
{
	const int dims[] = { RES_CPU, RES_MEMORY, p->gpu };
	double part[ARRAY_LEN(dims)], sum = 0, squares = 0;
	size_t count = 0;

	for (size_t i = 0; i < ARRAY_LEN(dims); i++) {
		struct use u;

		if (dims[i] < 0 ||
		    (dims[i] == p->gpu && res_get(&k->request, (unsigned)dims[i]) == 0)) {
			continue;
		}
		u = use_of(s, k, n, (unsigned)dims[i]);
		if (u.allocatable > 0) {
			part[count] =
				u.used < u.allocatable ? (double)u.used / (double)u.allocatable : 1;
			sum += part[count++];
		}
	}
	for (size_t i = 0; i < count; i++) {
		double off = part[i] - sum / (double)count;

		squares += off * off;
	}
	/* Rounded first: 50 is not to become 49 by the last bit of a root. */
	return count == 0 ? SCORE_MAX
			  : (int64_t)floor(
				    round((1 - sqrt(squares / (double)count)) * SCORE_MAX * 1e6) /
				    1e6);
}

static int64_t preferences(const struct pod_class *k, const struct node *n)
{
	int64_t sum = 0;

	for (size_t i = 0; i < k->npreferred; i++) {
		if (cluster_node_matches(n, &k->preferred[i])) {
			sum += k->preferred[i].weight;
		}
	}
	return sum;
}

static int64_t soft_taints(const struct pod_class *k, const struct node *n)
{
	int64_t count = 0;

	for (size_t i = 0; i < n->taints.n; i++) {
		count += is_soft(&n->taints.v[i]) &&
			 !match_tolerates(k->tolerations, k->ntolerations, &n->taints.v[i]);
	}
	return count;
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* O(nodes) for each class with preferences, or where there are soft taints. */
static const struct of_class *maxima_of(const struct nodeorder *p, const struct session *s,
					const struct pod_class *k)
{
	const struct cluster *c = session_cluster(s);
	struct of_class *m = &p->by_class[k->id];

	if (m->has_maxima) {
		return m;
	}
	m->has_maxima = true;
	for (size_t i = 0; i < c->nodes.n; i++) {
		const struct node *n = c->nodes.v[i];

		if (n != NULL && n->exists && hooks_class_predicate(s, k, n, NULL)) {
			m->affinity = larger(m->affinity, preferences(k, n));
			m->taints = larger(m->taints, soft_taints(k, n));
		}
	}
	return m;
}

static const struct nodeorder_images *images_of(const struct nodeorder *p, const struct session *s,
						const struct pod_class *k)
{
	struct of_class *m = &p->by_class[k->id];

	if (!m->has_images) {
		m->images =
			nodeorder_images_judge(session_cluster(s), k, p->nodes, session_arena(s));
		m->has_images = true;
	}
	return &m->images;
}

static int64_t score_affinity(const struct nodeorder *p, const struct session *s,
			      const struct pod_class *k, const struct node *n)
{
	int64_t most = k->npreferred == 0 ? 0 : maxima_of(p, s, k)->affinity;

	return most == 0 ? 0 : percent(preferences(k, n), most);
}

static int64_t score_taints(const struct nodeorder *p, const struct session *s,
			    const struct pod_class *k, const struct node *n)
{
	int64_t most = p->has_soft_taints ? maxima_of(p, s, k)->taints : 0;

	return most == 0 ? SCORE_MAX : SCORE_MAX - percent(soft_taints(k, n), most);
}

/* Apart from the images, the shape has all that the scores go by. */
static void nodeorder_node_score_key(void *state, const struct session *s,
				     const struct pod_class *k, struct strbuf *out)
{
	const struct nodeorder *p = state;

	if (k->nimages > 0 && p->weight[SCORE_IMAGES] != 0) {
		nodeorder_images_format(images_of(p, s, k), out);
	}
}

static int64_t score_images(const struct nodeorder *p, const struct session *s,
			    const struct pod_class *k, const struct node *n)
{
	return k->nimages == 0 ? 0 : nodeorder_images_score(images_of(p, s, k), n);
}

static double nodeorder_node_score(void *state, const struct session *s, const struct pod_class *k,
				   const struct node *n)
{
	const struct nodeorder *p = state;
	const double *w = p->weight;

	return (w[SCORE_LEAST] == 0 ? 0 : w[SCORE_LEAST] * score_requested(s, k, n, false)) +
	       (w[SCORE_MOST] == 0 ? 0 : w[SCORE_MOST] * score_requested(s, k, n, true)) +
	       (w[SCORE_BALANCED] == 0 ? 0 : w[SCORE_BALANCED] * score_balanced(p, s, k, n)) +
	       (w[SCORE_AFFINITY] == 0 ? 0 : w[SCORE_AFFINITY] * score_affinity(p, s, k, n)) +
	       (w[SCORE_TAINTS] == 0 ? 0 : w[SCORE_TAINTS] * score_taints(p, s, k, n)) +
	       (w[SCORE_IMAGES] == 0 ? 0 : w[SCORE_IMAGES] * score_images(p, s, k, n));
}

static void add_weighted(const struct nodeorder_domains *d, double weight, double *scores)
{
	for (size_t i = 0; i < d->n; i++) {
		scores[i] += weight * (double)d->scores[i];
	}
}

static void nodeorder_domain_scores(void *state, const struct session *s, const struct task *t,
				    const struct node *const *nodes, size_t n, double *scores)
{
	const struct domain_view *v = domains_view(s, t);
	const struct nodeorder *p = state;
	struct nodeorder_domains d = p->domains;

	d.nodes = nodes;
	d.n = n;
	if (p->weight[SCORE_POD_AFFINITY] != 0) {
		nodeorder_domains_affinity(v, t->klass, &d);
		add_weighted(&d, p->weight[SCORE_POD_AFFINITY], scores);
	}
	if (p->weight[SCORE_SPREAD] != 0 && nodeorder_domains_spread(s, v, t->klass, &d)) {
		add_weighted(&d, p->weight[SCORE_SPREAD], scores);
	}
}

const struct plugin_ops nodeorder_ops = {
	.name = "nodeorder",
	.arguments = nodeorder_arguments,
	.create = nodeorder_create,
	.destroy = free,
	.open = nodeorder_open,
	.node_score = nodeorder_node_score,
	.node_score_key = nodeorder_node_score_key,
	.domain_scores = nodeorder_domain_scores,
};
