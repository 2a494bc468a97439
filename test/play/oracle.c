#include "play/oracle.h"

#include <stdlib.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/str.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "collections/vec.h"
#include "enc/json/jdoc.h"
#include "enc/quantity.h"

#define GATE_KEY "scheduling.volcano.sh/queue-allocation-gate"
#define GATE_KEY_ALIAS "volcano.sh/queue-allocation-gate"
#define GROUP_KEY "scheduling.k8s.io/group-name"
#define RESERVED_KEY "headgate.io/reserved"
#define BOUND_KEY "headgate.io/bound-by"
#define QUEUE_KEY "scheduling.volcano.sh/queue-name"
#define GATE_ONLY "default-scheduler"
#define MAX_DEPTH 32

/* Amounts by resource name in nano units. */
struct amount {
	char *name;
	__int128 nano;
};
struct amounts VEC(struct amount);

struct oracle_pod {
	char *group;  /* "namespace/name" of the PodGroup, NULL: none */
	char *former; /* the PodGroups that it named before, "a/b,c/d"; NULL: none */
	char *queue;  /* of a pod for which no PodGroup need be made; NULL: see group */
	char *made;   /* of such a pod: the PodGroup that may have been made for it all the same */
	char *left;   /* queues that it named before, "a,b"; NULL: none */
	char *mark;   /* the queue that granted its quota, by its mark; NULL: no mark */
	bool gated;   /* has our gate */
	bool let_go;  /* ungated by us for another scheduler, and not finished */
	bool adrift;  /* another client has ungated it: it may hold quota, which nothing shows */
	bool published, placed; /* let_go counts as placed */
	bool opted_in, leaving; /* leaving: on a node, and deleted */
	bool by_hand;           /* placed, and neither granted quota nor bound by the scheduler */
	struct amounts request;
};

struct oracle_queue {
	char *parent;
	struct amounts capability, guarantee;
	struct amounts published, allocated; /* of a check */
	struct amounts leaving, others; /* of allocated: terminating; of pods that did not opt in */
	size_t counted;                 /* the last pod that was added to them */
};

struct oracle {
	bool hierarchy, sticky;
	struct strmap *pods, *groups /* -> queue name */, *queues;
	struct strmap *left; /* PodGroups that were in other queues before -> those, "a,b" */
	bool everywhere;     /* pods that may be charged to several queues count in each */
	size_t counting;     /* the pod that is being added, from 1 */
	int64_t lowered_at;
	bool lowered;
	size_t published, peak;
	struct err breach; /* of the first ungating beyond a limit; empty text: none */
};

static void amounts_finish(struct amounts *a)
{
	for (size_t i = 0; i < a->n; i++) {
		free(a->v[i].name);
	}
	vec_finish(a);
}

static __int128 *amounts_slot(struct amounts *a, const char *name)
{
	struct amount fresh = { .nano = 0 };

	for (size_t i = 0; i < a->n; i++) {
		if (str_streq(a->v[i].name, name)) {
			return &a->v[i].nano;
		}
	}
	fresh.name = xmalloc_dup(name);
	vec_push(a, fresh);
	return &a->v[a->n - 1].nano;
}

static bool amounts_get(const struct amounts *a, const char *name, __int128 *ret)
{
	for (size_t i = 0; i < a->n; i++) {
		if (str_streq(a->v[i].name, name)) {
			*ret = a->v[i].nano;
			return true;
		}
	}
	return false;
}

static void amounts_add(struct amounts *to, const struct amounts *from)
{
	for (size_t i = 0; i < from->n; i++) {
		*amounts_slot(to, from->v[i].name) += from->v[i].nano;
	}
}

static void amounts_max(struct amounts *to, const struct amounts *from)
{
	for (size_t i = 0; i < from->n; i++) {
		__int128 *slot = amounts_slot(to, from->v[i].name);

		if (from->v[i].nano > *slot) {
			*slot = from->v[i].nano;
		}
	}
}

static void amounts_read(struct amounts *a, const struct jdoc *list)
{
	for (const struct jdoc *r = jdoc_first(list); r != NULL; r = jdoc_next(r)) {
		const char *text = jdoc_str(r);
		struct quantity q;

		if (text != NULL && quantity_parse(str_of(text), &q, NULL) == 0) {
			*amounts_slot(a, jdoc_key(r)) += q.nano;
		}
	}
}

static void pod_free(void *p)
{
	struct oracle_pod *pod = p;

	amounts_finish(&pod->request);
	free(pod->group);
	free(pod->former);
	free(pod->queue);
	free(pod->made);
	free(pod->left);
	free(pod->mark);
	free(pod);
}

static void queue_free(void *p)
{
	struct oracle_queue *q = p;

	amounts_finish(&q->capability);
	amounts_finish(&q->guarantee);
	amounts_finish(&q->published);
	amounts_finish(&q->allocated);
	amounts_finish(&q->leaving);
	amounts_finish(&q->others);
	free(q->parent);
	free(q);
}

struct oracle *oracle_create(bool hierarchy, bool sticky)
{
	struct oracle *o = xmalloc_zero(1, sizeof(*o));

	o->hierarchy = hierarchy;
	o->sticky = sticky;
	o->pods = strmap_create(pod_free);
	o->groups = strmap_create(free);
	o->queues = strmap_create(queue_free);
	o->left = strmap_create(free);
	return o;
}

void oracle_destroy(struct oracle *o)
{
	if (o != NULL) {
		strmap_destroy(o->pods);
		strmap_destroy(o->groups);
		strmap_destroy(o->queues);
		strmap_destroy(o->left);
		free(o);
	}
}

/* Kubernetes' effective request: containers and sidecars together, at least what any init container
 * needs beside the sidecars started before it, plus overhead. */
static void read_request(const struct jdoc *spec, struct amounts *ret)
{
	struct amounts sidecars = VEC_INIT, peak = VEC_INIT;
	const struct jdoc *c;

	for (c = jdoc_first(jdoc_get(spec, "initContainers")); c != NULL; c = jdoc_next(c)) {
		struct amounts one = VEC_INIT;

		amounts_read(&one, jdoc_path(c, "resources.requests"));
		if (jdoc_is_str(jdoc_get(c, "restartPolicy"), "Always")) {
			amounts_add(&sidecars, &one);
			amounts_max(&peak, &sidecars);
		} else {
			amounts_add(&one, &sidecars);
			amounts_max(&peak, &one);
		}
		amounts_finish(&one);
	}
	for (c = jdoc_first(jdoc_get(spec, "containers")); c != NULL; c = jdoc_next(c)) {
		amounts_read(ret, jdoc_path(c, "resources.requests"));
	}
	amounts_add(ret, &sidecars);
	amounts_max(ret, &peak);
	amounts_read(ret, jdoc_get(spec, "overhead"));
	*amounts_slot(ret, "pods") = (__int128)1000000000;
	amounts_finish(&sidecars);
	amounts_finish(&peak);
}

static bool is_unschedulable(const struct jdoc *pod)
{
	const struct jdoc *c = jdoc_first(jdoc_path(pod, "status.conditions"));

	for (; c != NULL; c = jdoc_next(c)) {
		if (jdoc_is_str(jdoc_get(c, "type"), "PodScheduled")) {
			return jdoc_is_str(jdoc_get(c, "status"), "False") &&
			       jdoc_is_str(jdoc_get(c, "reason"), "Unschedulable");
		}
	}
	return false;
}

/* No PodGroup is made for it. */
static bool is_alone(const struct jdoc *pod)
{
	const struct jdoc *owner = jdoc_first(jdoc_path(pod, "metadata.ownerReferences"));

	if (jdoc_is_str(jdoc_path(pod, "spec.schedulerName"), GATE_ONLY)) {
		return true;
	}
	for (; owner != NULL; owner = jdoc_next(owner)) {
		if (jdoc_bool(jdoc_get(owner, "controller"), false)) {
			return false;
		}
	}
	return jdoc_is_str(jdoc_path(pod, "spec.schedulerName"), "volcano");
}

static bool has_gate(const struct jdoc *pod)
{
	const struct jdoc *g = jdoc_first(jdoc_path(pod, "spec.schedulingGates"));

	for (; g != NULL; g = jdoc_next(g)) {
		if (jdoc_is_str(jdoc_get(g, "name"), GATE_KEY) ||
		    jdoc_is_str(jdoc_get(g, "name"), GATE_KEY_ALIAS)) {
			return true;
		}
	}
	return false;
}

/* Rules for a pod that another scheduler places: its conditions are no publication of ours,
 * it holds its quota from the moment it is ungated, and without opting in it holds none. */
static void set_gate_only(struct oracle_pod *pod, bool finished)
{
	pod->published = false;
	pod->adrift = pod->opted_in && !finished && !pod->gated && !pod->placed && !pod->let_go;
	pod->placed = (pod->placed || pod->let_go) && pod->opted_in;
}

static void set_made(struct oracle_pod *pod, const char *key, const struct jdoc *object)
{
	struct str rest = str_of(key), space = str_next(&rest, '/');

	pod->made = xmalloc_printf(STR_FMT "/podgroup-%s", STR_ARG(space),
				   jdoc_str_or(jdoc_path(object, "metadata.uid"), ""));
}

static void set_pod(struct oracle *o, const char *key, const struct jdoc *object)
{
	const struct jdoc *annotations = jdoc_path(object, "metadata.annotations");
	const char *group = jdoc_str(jdoc_get(annotations, GROUP_KEY)),
		   *phase = jdoc_path_str(object, "status.phase");
	const char *node = jdoc_path_str(object, "spec.nodeName");
	const char *mark = jdoc_str(jdoc_get(annotations, RESERVED_KEY));
	bool finished = str_streq(phase, "Succeeded") || str_streq(phase, "Failed");
	bool opted_in = jdoc_is_str(jdoc_get(annotations, GATE_KEY), "true") ||
			jdoc_is_str(jdoc_get(annotations, GATE_KEY_ALIAS), "true") ||
			(o->sticky && jdoc_get(annotations, RESERVED_KEY) != NULL);
	struct oracle_pod *pod = xmalloc_zero(1, sizeof(*pod));

	pod->placed = node != NULL && node[0] != '\0' && !finished;
	pod->by_hand = pod->placed && jdoc_get(annotations, RESERVED_KEY) == NULL &&
		       jdoc_get(annotations, BOUND_KEY) == NULL;
	pod->opted_in = opted_in;
	pod->mark = mark == NULL ? NULL : xmalloc_dup(mark);
	pod->gated = has_gate(object);
	pod->let_go = jdoc_is_str(jdoc_path(object, "spec.schedulerName"), GATE_ONLY) && opted_in &&
		      !finished && !pod->gated && jdoc_get(annotations, RESERVED_KEY) != NULL;
	pod->leaving = pod->placed && jdoc_path(object, "metadata.deletionTimestamp") != NULL;
	pod->published = opted_in && !finished && !pod->placed && is_unschedulable(object) &&
			 jdoc_path(object, "metadata.deletionTimestamp") == NULL;
	if (group != NULL) {
		struct str rest = str_of(key), space = str_next(&rest, '/');

		pod->group = xmalloc_printf(STR_FMT "/%s", STR_ARG(space), group);
	} else if (is_alone(object)) {
		const char *queue = jdoc_str(jdoc_get(annotations, QUEUE_KEY));

		pod->queue = xmalloc_dup(queue == NULL || queue[0] == '\0' ? "default" : queue);
		/* One under quota would name it. */
		if (!opted_in && !pod->gated && jdoc_get(annotations, RESERVED_KEY) == NULL) {
			set_made(pod, key, object);
		}
	}
	if (jdoc_is_str(jdoc_path(object, "spec.schedulerName"), GATE_ONLY)) {
		set_gate_only(pod, finished);
	}
	read_request(jdoc_get(object, "spec"), &pod->request);
	strmap_set(o->pods, str_of(key), pod);
}

static void set_queue(struct oracle *o, const char *key, const struct jdoc *object)
{
	struct oracle_queue *q = xmalloc_zero(1, sizeof(*q));
	const char *parent = jdoc_path_str(object, "spec.parent");

	q->parent = parent == NULL || parent[0] == '\0' ? NULL : xmalloc_dup(parent);
	amounts_read(&q->capability, jdoc_path(object, "spec.capability"));
	amounts_read(&q->guarantee, jdoc_path(object, "spec.guarantee.resource"));
	strmap_set(o->queues, str_of(key), q);
}

/* Some dimension of a has less in b, or is limited only there. */
static bool is_lowered(const struct amounts *a, const struct amounts *b)
{
	for (size_t i = 0; i < b->n; i++) {
		__int128 before;

		if (!amounts_get(a, b->v[i].name, &before) || b->v[i].nano < before) {
			return true;
		}
	}
	return false;
}

/* Some dimension has more in b than in a. */
static bool is_raised(const struct amounts *a, const struct amounts *b)
{
	for (size_t i = 0; i < b->n; i++) {
		__int128 before = 0;

		(void)amounts_get(a, b->v[i].name, &before);
		if (b->v[i].nano > before) {
			return true;
		}
	}
	return false;
}

/* There may be less room than before for pods of this queue or of its siblings. */
static bool is_queue_tighter(const struct oracle_queue *old, const struct oracle_queue *now)
{
	return !str_streq(old->parent, now->parent) ||
	       is_lowered(&old->capability, &now->capability) ||
	       is_raised(&old->guarantee, &now->guarantee) ||
	       is_raised(&now->guarantee, &old->guarantee);
}

/* The requests of a pod were raised after quota had been given to it. */
static bool has_grown(const struct oracle_pod *old, const struct oracle_pod *now)
{
	return (old->published || old->placed) && (now->published || now->placed) &&
	       is_raised(&old->request, &now->request);
}

/* The old value of a key that is about to be set or removed. */
static void *take_old(struct oracle *o, enum oracle_resource r, const char *key)
{
	struct strmap *maps[] = { o->pods, o->groups, o->queues };

	return strmap_take(maps[r], str_of(key));
}

static void set_object(struct oracle *o, enum oracle_resource r, const char *key,
		       const struct jdoc *object)
{
	if (r == ORACLE_PODS) {
		set_pod(o, key, object);
	} else if (r == ORACLE_QUEUES) {
		set_queue(o, key, object);
	} else {
		const char *queue = jdoc_path_str(object, "spec.queue");

		strmap_set(o->groups, str_of(key),
			   xmalloc_dup(queue == NULL || queue[0] == '\0' ? "default" : queue));
	}
}

/* A new list with name at its end; list remains the caller's. */
static char *list_with(const char *list, const char *name)
{
	return list == NULL ? xmalloc_dup(name) : xmalloc_printf("%s,%s", list, name);
}

/* The pod's owner put it into another PodGroup. */
static void remember_group(struct oracle_pod *now, const struct oracle_pod *before)
{
	bool left = before->group != NULL && !str_streq(before->group, now->group);

	if (before->queue != NULL && !str_streq(before->queue, now->queue)) {
		now->left = list_with(before->left, before->queue);
	} else if (before->left != NULL) {
		now->left = xmalloc_dup(before->left);
	}
	if (left) {
		now->former = list_with(before->former, before->group);
	} else if (before->former != NULL) {
		now->former = xmalloc_dup(before->former);
	}
}

/* True when a change from outside may make published pods exceed their room. */
static bool retire(struct oracle *o, enum oracle_resource r, const char *key, void *old)
{
	bool changed = false;

	if (r == ORACLE_PODS) {
		struct oracle_pod *now = strmap_get(o->pods, str_of(key));
		const struct oracle_pod *before = old;

		if (now != NULL) {
			remember_group(now, before);
		}
		changed = now != NULL && has_grown(old, now);
		o->published -= ((struct oracle_pod *)old)->published;
		pod_free(old);
	} else if (r == ORACLE_QUEUES) {
		const struct oracle_queue *now = strmap_get(o->queues, str_of(key));

		changed = now == NULL || is_queue_tighter(old, now);
		queue_free(old);
	} else {
		const char *now = strmap_get(o->groups, str_of(key));

		changed = now != NULL && !str_streq(old, now);
		if (!str_streq(old, now)) {
			strmap_set(o->left, str_of(key),
				   list_with(strmap_get(o->left, str_of(key)), old));
		}
		free(old);
	}
	return changed;
}

static bool is_in_grace(const struct oracle *o, int64_t now)
{
	return o->lowered && now - o->lowered_at <= ORACLE_GRACE_NS;
}

/* NULL for root and in flat mode. */
static struct oracle_queue *parent_of(const struct oracle *o, const char *name,
				      const struct oracle_queue *q)
{
	const char *parent = q->parent == NULL ? "root" : q->parent;

	return !o->hierarchy || str_streq(name, "root") ? NULL
							: strmap_get(o->queues, str_of(parent));
}

/* Its queue, which a tenant may have edited, decides, not the pod's annotation. */
static const char *queue_of_made(const struct oracle *o, const struct oracle_pod *pod)
{
	return pod->made == NULL ? NULL : strmap_get(o->groups, str_of(pod->made));
}

/* A pod on a node stays charged in the queue that granted it, or moves after an edit, if there is
 * room. */
static bool may_be_elsewhere(const struct oracle *o, const struct oracle_pod *pod)
{
	const char *queue = queue_of_made(o, pod);

	return pod->former != NULL || pod->left != NULL ||
	       (queue != NULL && !str_streq(queue, pod->queue)) ||
	       (pod->group != NULL && strmap_has(o->left, str_of(pod->group)));
}

static void add_to(struct oracle_queue *q, const struct oracle_pod *pod)
{
	amounts_add(pod->published ? &q->published : &q->allocated, &pod->request);
	if (pod->leaving) {
		amounts_add(&q->leaving, &pod->request);
	} else if (pod->placed && !pod->opted_in) {
		amounts_add(&q->others, &pod->request);
	}
}

/* In a queue and its ancestors, in each once. */
static void book_at(struct oracle *o, const char *name, const struct oracle_pod *pod)
{
	struct oracle_queue *q = name == NULL ? NULL : strmap_get(o->queues, str_of(name));

	for (unsigned depth = 0; q != NULL && depth < MAX_DEPTH; depth++) {
		struct oracle_queue *parent = parent_of(o, name, q);

		if (q->counted != o->counting) {
			q->counted = o->counting;
			add_to(q, pod);
		}
		name = q->parent == NULL ? "root" : q->parent;
		q = parent;
	}
}

/* names: "a,b", or NULL. */
static void book_at_each(struct oracle *o, const char *names, const struct oracle_pod *pod)
{
	struct str rest = str_of(names);

	while (rest.len > 0) {
		struct str one = str_next(&rest, ',');
		CLEANUP(xmalloc_freep) char *name = xmalloc_dup_n(one.p, one.len);

		book_at(o, name, pod);
	}
}

/* In the queues that this PodGroup is in or was in before. */
static void book_everywhere(struct oracle *o, const char *group, const struct oracle_pod *pod)
{
	book_at(o, strmap_get(o->groups, str_of(group)), pod);
	book_at_each(o, strmap_get(o->left, str_of(group)), pod);
}

/* NULL: none. */
static const char *queue_of(const struct oracle *o, const struct oracle_pod *pod)
{
	const char *made = queue_of_made(o, pod);

	return pod->group != NULL ? strmap_get(o->groups, str_of(pod->group))
	       : made != NULL     ? made
				  : pod->queue;
}

/* The mark is a tenant's to forge where no policy guards it. A scheduler that starts charges a pod
 * on a node to the queue of its mark, and moves the charge only if there is room. */
static bool is_marked_for_another(const struct oracle *o, const struct oracle_pod *pod)
{
	const char *queue = queue_of(o, pod);

	return pod->placed && pod->mark != NULL && queue != NULL && !str_streq(pod->mark, queue);
}

static bool counts(const struct oracle *o, const struct oracle_pod *pod, bool elsewhere)
{
	if (pod->published) {
		return true;
	}
	return o->everywhere ? pod->placed || pod->adrift
			     : pod->placed && !elsewhere && !pod->by_hand;
}

static bool book(struct str key UNUSED, void *value, void *ctx)
{
	const struct oracle_pod *pod = value;
	struct oracle *o = ctx;
	bool elsewhere = ((pod->placed || pod->adrift) && may_be_elsewhere(o, pod)) ||
			 is_marked_for_another(o, pod);
	struct str rest = str_of(pod->former);

	if (!counts(o, pod, elsewhere)) {
		return true;
	}
	o->counting++;
	if (!elsewhere) {
		book_at(o, queue_of(o, pod), pod);
		return true;
	}
	book_at(o, pod->queue, pod);
	book_at_each(o, pod->left, pod);
	book_at(o, pod->mark, pod);
	if (pod->group != NULL) {
		book_everywhere(o, pod->group, pod);
	} else if (pod->made != NULL) {
		book_everywhere(o, pod->made, pod);
	}
	while (rest.len > 0) {
		struct str one = str_next(&rest, ',');
		CLEANUP(xmalloc_freep) char *group = xmalloc_dup_n(one.p, one.len);

		book_everywhere(o, group, pod);
	}
	return true;
}

struct guarantees {
	const struct oracle *o;
	const struct oracle_queue *parent;
	const char *resource;
	__int128 sum;
};

static bool add_guarantee(struct str key, void *value, void *ctx)
{
	const struct oracle_queue *q = value;
	struct guarantees *g = ctx;
	CLEANUP(xmalloc_freep) char *name = xmalloc_dup_n(key.p, key.len);
	__int128 one;

	if (parent_of(g->o, name, q) == g->parent &&
	    amounts_get(&q->guarantee, g->resource, &one)) {
		g->sum += one;
	}
	return true;
}

/* The configured limit in one dimension; false: unlimited. */
static bool limit_of(const struct oracle *o, const char *name, const struct oracle_queue *q,
		     const char *resource, unsigned depth, __int128 *ret)
{
	const struct oracle_queue *parent = parent_of(o, name, q);
	__int128 own = 0, above, guarantee = 0;
	bool has_own = amounts_get(&q->capability, resource, &own);

	if (parent == NULL || depth > MAX_DEPTH ||
	    !limit_of(o, q->parent == NULL ? "root" : q->parent, parent, resource, depth + 1,
		      &above)) {
		*ret = own;
		return has_own;
	}
	struct guarantees g = { o, parent, resource, 0 };

	strmap_each(o->queues, add_guarantee, &g);
	(void)amounts_get(&q->guarantee, resource, &guarantee);
	above = (above > g.sum ? above - g.sum : 0) + guarantee;
	*ret = has_own && own < above ? own : above;
	return true;
}

struct verdict {
	const struct oracle *o;
	struct err *err;
	int code;
};

static double units(__int128 nano)
{
	return (double)nano / 1e9;
}

/* Pods that did not opt in may take the room of terminating pods, as in Volcano: that amount counts
 * once. */
static __int128 counted_twice(const struct verdict *v, const struct oracle_queue *q,
			      const char *resource)
{
	__int128 leaving = 0, others = 0;

	if (!v->o->everywhere) {
		(void)amounts_get(&q->leaving, resource, &leaving);
		(void)amounts_get(&q->others, resource, &others);
	}
	return leaving < others ? leaving : others;
}

static bool check_queue(struct str key, void *value, void *ctx)
{
	struct oracle_queue *q = value;
	struct verdict *v = ctx;
	CLEANUP(xmalloc_freep) char *name = xmalloc_dup_n(key.p, key.len);

	for (size_t i = 0; i < q->published.n; i++) {
		const char *resource = q->published.v[i].name;
		__int128 limit, allocated = 0, room;

		if (!limit_of(v->o, name, q, resource, 0, &limit)) {
			continue;
		}
		(void)amounts_get(&q->allocated, resource, &allocated);
		allocated -= counted_twice(v, q, resource);
		room = limit > allocated ? limit - allocated : 0;
		if (q->published.v[i].nano > room) {
			v->code = err_set(v->err, ERR_INTERNAL,
					  "queue %s: %g %s published, but limit %g - allocated %g",
					  name, units(q->published.v[i].nano), resource,
					  units(limit), units(allocated));
			return false;
		}
	}
	return true;
}

static bool clear_queue(struct str key UNUSED, void *value, void *ctx UNUSED)
{
	struct oracle_queue *q = value;

	amounts_finish(&q->published);
	amounts_finish(&q->allocated);
	amounts_finish(&q->leaving);
	amounts_finish(&q->others);
	return true;
}

static void sum_up(struct oracle *o)
{
	strmap_each(o->queues, clear_queue, NULL);
	strmap_each(o->pods, book, o);
}

/* Whether the queue is over its limit in what the pod requests. */
static bool is_over(const struct oracle *o, const char *name, const struct oracle_queue *q,
		    const struct oracle_pod *pod, struct err *err)
{
	const struct verdict v = { .o = o };

	for (size_t i = 0; i < pod->request.n; i++) {
		const char *resource = pod->request.v[i].name;
		__int128 limit, allocated = 0, published = 0;

		if (pod->request.v[i].nano == 0 || !limit_of(o, name, q, resource, 0, &limit)) {
			continue;
		}
		(void)amounts_get(&q->allocated, resource, &allocated);
		(void)amounts_get(&q->published, resource, &published);
		allocated += published - counted_twice(&v, q, resource);
		if (allocated > limit) {
			err_set(err, ERR_INTERNAL, "queue %s: %g %s held, but limit %g", name,
				units(allocated), resource, units(limit));
			return true;
		}
	}
	return false;
}

/* A pod of another scheduler that is ungated must fit its queue and each ancestor then: nothing can
 * take it back. */
static void check_ungating(struct oracle *o, const char *key, const struct oracle_pod *pod)
{
	const char *name = queue_of(o, pod);
	struct oracle_queue *q = name == NULL ? NULL : strmap_get(o->queues, str_of(name));

	if (!pod->let_go || may_be_elsewhere(o, pod) || o->breach.code != ERR_NONE) {
		return;
	}
	sum_up(o);
	for (unsigned depth = 0; q != NULL && depth < MAX_DEPTH; depth++) {
		struct oracle_queue *parent = parent_of(o, name, q);

		if (is_over(o, name, q, pod, &o->breach)) {
			err_wrap(&o->breach, "pod %s is ungated", key);
			return;
		}
		name = q->parent == NULL ? "root" : q->parent;
		q = parent;
	}
}

void oracle_set(struct oracle *o, enum oracle_resource r, const char *key,
		const struct jdoc *object, int64_t now)
{
	void *old = take_old(o, r, key);
	bool was_gated = r == ORACLE_PODS && old != NULL && ((const struct oracle_pod *)old)->gated;

	if (object != NULL) {
		set_object(o, r, key, object);
	}
	if (object != NULL && r == ORACLE_PODS) {
		o->published += oracle_is_published(o, key);
	}
	if (old != NULL && retire(o, r, key, old)) {
		o->lowered = true;
		o->lowered_at = now;
	}
	if (o->published > o->peak) {
		o->peak = o->published;
	}
	if (was_gated && object != NULL && !is_in_grace(o, now)) {
		check_ungating(o, key, strmap_get(o->pods, str_of(key)));
	}
}

int oracle_check(struct oracle *o, int64_t now, struct err *err)
{
	struct verdict v = { .o = o, .err = err, .code = 0 };

	if (o->breach.code != ERR_NONE) {
		return err_set(err, ERR_INTERNAL, "%s", o->breach.text);
	}
	if (o->published == 0 || is_in_grace(o, now)) {
		return 0;
	}
	sum_up(o);
	strmap_each(o->queues, check_queue, &v);
	return v.code;
}

bool oracle_has_room(struct oracle *o)
{
	int r;

	o->everywhere = true;
	r = oracle_check(o, INT64_MAX / 2, NULL);
	o->everywhere = false;
	return r == 0;
}

size_t oracle_published_peak(const struct oracle *o)
{
	return o->peak;
}

bool oracle_is_published(const struct oracle *o, const char *pod_key)
{
	const struct oracle_pod *pod = strmap_get(o->pods, str_of(pod_key));

	return pod != NULL && pod->published;
}
