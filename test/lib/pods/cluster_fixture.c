#include "lib/pods/cluster_fixture.h"

#include <stdlib.h>

#include "base/xmalloc.h"
#include "collections/intern.h"

struct queue *cluster_fixture_queue(struct cluster *c, const char *name, const char *parent,
				    int64_t cpu)
{
	struct queue *q = queue_get(c, str_of(name));

	q->exists = true;
	free(q->parent_name);
	q->parent_name = parent == NULL ? NULL : xmalloc_dup(parent);
	q->capability.v[RES_CPU] = cpu < 0 ? RES_UNLIMITED : cpu;
	(void)queue_topology_changed(c);
	return q;
}

const char *cluster_fixture_name(struct cluster *c, const char *text)
{
	return intern_name(c->names, intern_id(c->names, str_of(text)));
}

void cluster_fixture_label(struct cluster *c, struct node *n, const char *key, const char *value)
{
	struct label l = { cluster_fixture_name(c, key), cluster_fixture_name(c, value) };

	vec_push(&n->labels, l);
}

struct node *cluster_fixture_node(struct cluster *c, const char *name, int64_t cpu)
{
	struct node *n = cluster_node_get(c, str_of(name));
	struct res old = n->allocatable;
	bool existed = n->exists;

	n->exists = true;
	n->allocatable.v[RES_CPU] = cpu;
	n->allocatable.v[RES_PODS] = 110;
	cluster_node_changed(c, n, existed ? &old : NULL, true);
	return n;
}

struct podgroup *cluster_fixture_podgroup(struct cluster *c, const char *name, const char *queue,
					  int32_t min_member)
{
	struct podgroup *g = cluster_podgroup_get(c, STR_LIT("ns"), str_of(name));

	g->exists = true;
	g->min_member = min_member;
	cluster_podgroup_set_queue(c, g, str_of(queue));
	return g;
}

const struct pod_class *cluster_fixture_class(struct cluster *c, int64_t cpu)
{
	struct pod_class k = { .request = { .v = { [RES_CPU] = cpu } } };

	pod_class_normalise(&k);
	return cluster_class_intern(c, &k);
}

struct task *cluster_fixture_task(struct cluster *c, const char *name, struct podgroup *podgroup,
				  int64_t cpu)
{
	char *uid = xmalloc_printf("uid-%s", name);
	struct task *t = cluster_task_add(c, STR_LIT("ns"), str_of(name), str_of(uid));

	free(uid);
	t->flags = TASK_OURS;
	t->priority = 1;
	cluster_task_set_class(c, t, cluster_fixture_class(c, cpu));
	cluster_task_set_podgroup(c, t, podgroup);
	return t;
}

void cluster_fixture_request(struct cluster *c, struct task *t, const struct unoffered *u)
{
	struct pod_class *k = pod_class_copy(t->klass, "");

	unoffered_finish(&k->unoffered);
	k->unoffered = unoffered_copy(u);
	pod_class_normalise(k);
	cluster_task_set_class(c, t, cluster_class_intern(c, k));
	pod_class_destroy(k);
}
