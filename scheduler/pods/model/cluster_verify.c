#include <stdlib.h>

#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/intern.h"
#include "collections/strmap.h"
#include "scheduler/pods/model/cluster.h"
#include "scheduler/pods/model/selectors.h"
#include "scheduler/pods/model/volume_match.h"

static size_t count_set(void *const *v, size_t n)
{
	size_t set = 0;

	for (size_t i = 0; i < n; i++) {
		set += v[i] != NULL;
	}
	return set;
}

#define COUNT_SET(vec) count_set((void *const *)(vec).v, (vec).n)

static const char *check_lists(const struct cluster *c, const struct task *t)
{
	if (cluster_task_is_ending(t) &&
	    (t->ending_pos >= c->ending.n || c->ending.v[t->ending_pos] != t->id)) {
		return "a task that terminates is not at its place in the list";
	}
	if (t->bind_by != MODEL_TIME_NONE &&
	    (t->status != TASK_BINDING || t->binding_pos >= c->binding.n ||
	     c->binding.v[t->binding_pos] != t->id)) {
		return "a task that waits for its claims is not being bound, or not in its place";
	}
	if (t->budget < TASK_BUDGETS_SEVERAL &&
	    (t->budget >= c->budgets.n || c->budgets.v[t->budget] == NULL)) {
		return "a task has a budget that is gone";
	}
	if (t->retry_at == MODEL_TIME_NEVER && t->podgroup == MODEL_NONE) {
		return "a task that found no node has no PodGroup";
	}
	return NULL;
}

static bool uses(const struct cluster *c, const struct task *t, const struct claim *cl)
{
	for (size_t i = 0; t->klass != NULL && i < t->klass->nclaims; i++) {
		if (c->claims.v[t->klass->claims[i].id] == cl) {
			return true;
		}
	}
	return false;
}

static const char *check_claim(const struct cluster *c, const struct claim *cl)
{
	if (!cl->exists && cl->uses == 0 && cl->refs.n == 0) {
		return "a claim that nothing names is still there";
	}
	if ((cl->binders == 0) != (cl->node == MODEL_NONE)) {
		return "a claim has a node without tasks that are bound to it, or the other way "
		       "round";
	}
	for (size_t i = 0; i < cl->users.n; i++) {
		uint32_t id = cl->users.v[i];

		if (id >= c->tasks.n || c->tasks.v[id] == NULL || !uses(c, c->tasks.v[id], cl)) {
			return "a claim has a user that does not name it";
		}
	}
	if (cl->taken != NULL && (cl->taken->taker != cl || cl->bound || !cl->exists)) {
		return "a volume is reserved for a claim that is bound or gone, or for another one";
	}
	return NULL;
}

static const char *check_volume(const struct volume *v)
{
	size_t times = 0;

	for (size_t i = 0; v->klass != NULL && i < v->klass->unclaimed.n; i++) {
		times += v->klass->unclaimed.v[i] == v;
	}
	if (times != (size_t)volume_match_is_unclaimed(v)) {
		return "a volume is not unclaimed, and in the list of those, or the other way "
		       "round";
	}
	if (v->taker != NULL && v->taker->taken != v) {
		return "a volume is reserved for a claim that does not take it";
	}
	return v->exists || v->claims.n > 0 ? NULL : "a volume that nothing names is still there";
}

static const char *check_capacity(const struct storage_class *k, size_t at)
{
	const struct storage_capacity *p = k->capacities.v[at];

	if (p->klass != k) {
		return "a StorageClass lists a capacity that is not its own";
	}
	return at == 0 || (uintptr_t)k->capacities.v[at - 1]->value <= (uintptr_t)p->value
		       ? NULL
		       : "the capacities of a StorageClass are not in order";
}

struct capacity_check {
	const char *wrong;
	size_t listed;
};

static bool check_capacities_of(struct str key, void *value, void *ctx)
{
	const struct storage_class *k = value;
	struct capacity_check *check = ctx;

	(void)key;
	for (size_t i = 0; i < k->capacities.n && check->wrong == NULL; i++) {
		check->wrong = check_capacity(k, i);
		check->listed++;
	}
	return check->wrong == NULL;
}

static const char *check_capacities(const struct cluster *c)
{
	struct capacity_check check = { NULL, 0 };

	strmap_each(c->storage_class_by_name, check_capacities_of, &check);
	if (check.wrong == NULL && check.listed != strmap_count(c->capacity_by_key)) {
		return "StorageClasses list capacities too many or too few";
	}
	return check.wrong;
}

static const char *check_task(const struct cluster *c, const struct task *t, struct strbuf *key)
{
	strbuf_reset(key);
	strbuf_add_c(key, t->namespace_);
	strbuf_add_ch(key, '/');
	strbuf_add_c(key, t->name);
	if (cluster_task_find(c, strbuf_str(key)) != t) {
		return "a task is not found by its key";
	}
	if (t->klass == NULL && t->node != MODEL_NONE) {
		return "a task without class is on a node";
	}
	if (t->klass != NULL &&
	    (t->klass->id >= c->class_by_id.n || c->class_by_id.v[t->klass->id] != t->klass)) {
		return "a task's class is not in the table";
	}
	if (t->podgroup != MODEL_NONE &&
	    (t->podgroup >= c->podgroups.n || c->podgroups.v[t->podgroup] == NULL ||
	     t->podgroup_pos >= c->podgroups.v[t->podgroup]->tasks.n ||
	     c->podgroups.v[t->podgroup]->tasks.v[t->podgroup_pos] != t->id)) {
		return "a task is not at its place in its PodGroup";
	}
	if (t->node != MODEL_NONE && (t->node >= c->nodes.n || c->nodes.v[t->node] == NULL ||
				      t->node_pos >= c->nodes.v[t->node]->tasks.n ||
				      c->nodes.v[t->node]->tasks.v[t->node_pos] != t->id)) {
		return "a task is not at its place on its node";
	}
	if (t->nominated != MODEL_NONE &&
	    (t->nominated >= c->nodes.n || c->nodes.v[t->nominated] == NULL)) {
		return "a task is nominated to a node that is gone";
	}
	if (t->awaits != MODEL_NONE &&
	    (t->awaits >= c->nodes.n || c->nodes.v[t->awaits] == NULL ||
	     t->awaits_pos >= c->awaiting.n || c->awaiting.v[t->awaits_pos] != t->id)) {
		return "a task awaits a node that is gone, or is not at its place in the list";
	}
	if (t->awaits != MODEL_NONE && t->status != TASK_PENDING && t->status != TASK_BINDING) {
		return "a task with a node awaits one";
	}
	if (t->status >= TASK_STATUS_COUNT_ || t->status == TASK_ALLOCATED ||
	    t->status == TASK_PIPELINED) {
		return "a task has a status of sessions only";
	}
	if ((t->status == TASK_BINDING || t->status == TASK_BOUND || t->status == TASK_RUNNING) &&
	    t->node == MODEL_NONE) {
		return "a bound task has no node";
	}
	if ((t->status == TASK_PENDING || t->status == TASK_SUCCEEDED ||
	     t->status == TASK_FAILED) &&
	    t->node != MODEL_NONE) {
		return "a pending or finished task occupies a node";
	}
	if ((t->charge == CHARGE_NONE) != (t->charge_queue == MODEL_NONE)) {
		return "a task's charge and the queue of its charge disagree";
	}
	if (t->charge_queue != MODEL_NONE &&
	    (t->charge_queue >= c->queues.n || c->queues.v[t->charge_queue] == NULL)) {
		return "a task is charged to a queue that is gone";
	}
	return check_lists(c, t);
}

static const char *check_tasks(const struct cluster *c)
{
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;

	if (COUNT_SET(c->tasks) != strmap_count(c->task_by_key) ||
	    COUNT_SET(c->tasks) != slots_count(&c->tasks)) {
		return "the number of tasks is off";
	}
	for (size_t i = 0; i < c->tasks.n; i++) {
		const char *wrong;

		if (c->tasks.v[i] == NULL) {
			continue;
		}
		if (c->tasks.v[i]->id != i) {
			return "a task has another id than its place";
		}
		wrong = check_task(c, c->tasks.v[i], &key);
		if (wrong != NULL) {
			return wrong;
		}
	}
	return NULL;
}

static const char *check_labels(const struct cluster *c)
{
	size_t listed = 0, labelled = 0, carriers = 0;

	for (size_t i = 0; i < c->selectors->labels.n; i++) {
		const struct pod_labels *l = c->selectors->labels.v[i];

		listed += l == NULL ? 0 : l->tasks.n;
		if (l != NULL && l->tasks.n == 0) {
			return "labels are kept that no pod has";
		}
	}
	for (size_t i = 0; i < c->class_by_id.n; i++) {
		carriers += c->class_by_id.v[i] == NULL ? 0 : c->class_by_id.v[i]->tasks.n;
	}
	for (size_t i = 0; i < c->tasks.n; i++) {
		const struct task *t = c->tasks.v[i];

		if (t == NULL) {
			continue;
		}
		labelled += t->labels != NULL;
		carriers -= t->klass != NULL && t->klass->nterms > 0;
		if (t->labels != NULL && (t->labels_pos >= t->labels->tasks.n ||
					  t->labels->tasks.v[t->labels_pos] != t->id)) {
			return "a task is not at its place among those with its labels";
		}
		if (t->klass != NULL && t->klass->nterms > 0 &&
		    (t->class_pos >= t->klass->tasks.n ||
		     t->klass->tasks.v[t->class_pos] != t->id)) {
			return "a task is not at its place among those with its terms";
		}
	}
	if (listed != labelled || carriers != 0) {
		return "labels or classes list tasks too many or too few";
	}
	return selectors_verify(c);
}

static const char *check_classes(const struct cluster *c)
{
	uint32_t *refs = xmalloc_zero(c->class_by_id.n + 1, sizeof(*refs));
	const char *wrong = NULL;

	for (size_t i = 0; i < c->tasks.n; i++) {
		if (c->tasks.v[i] != NULL && c->tasks.v[i]->klass != NULL) {
			refs[c->tasks.v[i]->klass->id]++;
		}
	}
	if (COUNT_SET(c->class_by_id) != strmap_count(c->classes) ||
	    COUNT_SET(c->class_by_id) != slots_count(&c->class_by_id)) {
		wrong = "the number of pod classes is off";
	}
	for (size_t i = 0; i < c->class_by_id.n && wrong == NULL; i++) {
		const struct pod_class *k = c->class_by_id.v[i];

		if (k == NULL) {
			continue;
		}
		if (k->id != i || strmap_get(c->classes, str_of(k->signature)) != k) {
			wrong = "a pod class is not found by its signature";
		} else if (k->refs != refs[i]) {
			wrong = "a pod class's reference count is not the number of its tasks";
		}
	}
	free(refs);
	return wrong;
}

/* q: that it names. */
static const char *check_open(const struct queue *q, const struct podgroup *g)
{
	bool listed = false;

	if ((g->open_pos != MODEL_NONE) != (q != NULL && cluster_podgroup_is_open(g))) {
		return "a PodGroup is open, and not in the list, or the other way round";
	}
	if (g->open_pos != MODEL_NONE &&
	    (g->open_pos >= q->open.n || q->open.v[g->open_pos] != g->id)) {
		return "a PodGroup is not at its place among the open ones of its queue";
	}
	for (size_t i = 0; g->changed && q != NULL && i < q->changed.n; i++) {
		listed |= q->changed.v[i] == g->id;
	}
	return listed == g->changed ? NULL : "a changed PodGroup is not listed by its queue";
}

static const char *check_podgroup_queue(const struct cluster *c, const struct podgroup *g)
{
	const struct queue *q;

	if (g->queue_name == MODEL_NONE) {
		return g->queue == MODEL_NONE ? check_open(NULL, g)
					      : "a PodGroup is in a queue that it does not name";
	}
	q = queue_find(c, intern_str(c->names, g->queue_name));
	if (q == NULL) {
		return "the queue that a PodGroup names is not known";
	}
	if (g->queue != (q->exists ? q->id : MODEL_NONE)) {
		return "a PodGroup is not in the queue that it names";
	}
	if (q->exists ? g->queue_pos >= q->podgroups.n || q->podgroups.v[g->queue_pos] != g->id
		      : g->queue_pos >= q->waiting.n || q->waiting.v[g->queue_pos] != g->id) {
		return "a PodGroup is not at its place in its queue";
	}
	return check_open(q, g);
}

static const char *check_part(const struct cluster *c, const struct podgroup *g)
{
	const struct podgroup *whole = g->whole < c->podgroups.n ? c->podgroups.v[g->whole] : NULL;

	if (whole == NULL || whole->kind != PODGROUP_KUBE || whole->exists != g->exists ||
	    whole->min_member != g->min_member || whole->priority != g->priority ||
	    !str_streq(whole->name, g->name) || whole->namespace_ != g->namespace_) {
		return "a part of a PodGroup differs from it";
	}
	/* Each part is checked, so those behind the neighbours are, too. */
	if ((g->prev_part == MODEL_NONE ? whole->next_part
					: c->podgroups.v[g->prev_part]->next_part) != g->id ||
	    (g->next_part != MODEL_NONE && c->podgroups.v[g->next_part]->prev_part != g->id)) {
		return "a part of a PodGroup is not at its place";
	}
	return g->tasks.n == 0 ? "a part of a PodGroup has no pods" : NULL;
}

static const char *check_kind(const struct cluster *c, const struct podgroup *g)
{
	switch ((enum podgroup_kind)g->kind) {
	case PODGROUP_VOLCANO:
		return g->exists || g->tasks.n > 0
			       ? NULL
			       : "a PodGroup without PodGroup and pods is still there";
	case PODGROUP_ALONE:
		return g->exists && g->tasks.n == 1
			       ? NULL
			       : "a PodGroup that is alone has not its one pod";
	case PODGROUP_KUBE:
		return (g->exists || g->next_part != MODEL_NONE) && g->tasks.n == 0 &&
				       g->queue_name == MODEL_NONE
			       ? NULL
			       : "a PodGroup of Kubernetes has neither object nor parts, or pods";
	case PODGROUP_PART:
		return check_part(c, g);
	case PODGROUP_KIND_COUNT_:
		break;
	}
	return "a PodGroup is of no kind";
}

static const char *check_podgroup(const struct cluster *c, const struct podgroup *g,
				  struct strbuf *key)
{
	const struct podgroup_key parts = cluster_podgroup_key_of(c, g);
	uint32_t by_status[TASK_STATUS_COUNT_] = { 0 };
	uint32_t refused = 0, unplaced = 0;
	const char *wrong;

	strbuf_reset(key);
	cluster_podgroup_key(&parts, key);
	if (cluster_podgroup_find(c, strbuf_str(key)) != g) {
		return "a PodGroup is not found by its key";
	}
	wrong = check_kind(c, g);
	if (wrong != NULL) {
		return wrong;
	}
	for (size_t i = 0; i < g->tasks.n; i++) {
		const struct task *t =
			g->tasks.v[i] < c->tasks.n ? c->tasks.v[g->tasks.v[i]] : NULL;

		if (t == NULL || t->podgroup != g->id || t->podgroup_pos != i) {
			return "a PodGroup lists a task that is not its own";
		}
		by_status[t->status]++;
		refused += t->refused_queue != MODEL_NONE;
		unplaced += t->retry_at == MODEL_TIME_NEVER;
	}
	if (memcmp(by_status, g->by_status, sizeof(by_status)) != 0) {
		return "a PodGroup's counts by status are off";
	}
	if (refused != g->refused) {
		return "a PodGroup's count of tasks that a queue refused is off";
	}
	if (unplaced != g->unplaced) {
		return "a PodGroup's count of tasks that found no node is off";
	}
	for (size_t i = 1; i < g->role_min.n; i++) {
		if (g->role_min.v[i - 1].role >= g->role_min.v[i].role) {
			return "a PodGroup's roles are not sorted";
		}
	}
	return check_podgroup_queue(c, g);
}

static const char *check_podgroups(const struct cluster *c)
{
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;

	if (COUNT_SET(c->podgroups) != strmap_count(c->podgroup_by_key) ||
	    COUNT_SET(c->podgroups) != slots_count(&c->podgroups)) {
		return "the number of PodGroups is off";
	}
	for (size_t i = 0; i < c->podgroups.n; i++) {
		const char *wrong;

		if (c->podgroups.v[i] == NULL) {
			continue;
		}
		if (c->podgroups.v[i]->id != i) {
			return "a PodGroup has another id than its place";
		}
		wrong = check_podgroup(c, c->podgroups.v[i], &key);
		if (wrong != NULL) {
			return wrong;
		}
	}
	return NULL;
}

static const char *check_queue(const struct cluster *c, const struct queue *q)
{
	if (queue_find(c, str_of(q->name)) != q) {
		return "a queue is not found by its name";
	}
	if (q->exists ? q->waiting.n > 0 : q->podgroups.n > 0) {
		return "PodGroups wait for a queue that exists, or are in one that does not";
	}
	for (size_t i = 0; i < q->children.n; i++) {
		const struct queue *child = c->queues.v[q->children.v[i]];

		if (child == NULL || child->parent != q->id || child->depth != q->depth + 1) {
			return "a queue lists a child that is not its own";
		}
		if (i > 0 && strcmp(c->queues.v[q->children.v[i - 1]]->name, child->name) >= 0) {
			return "the children of a queue are not sorted by name";
		}
	}
	if (q->parent != MODEL_NONE &&
	    (q->parent >= c->queues.n || c->queues.v[q->parent] == NULL)) {
		return "the parent of a queue is gone";
	}
	if (!q->exists && q->id != c->root_queue && q->broken == NULL) {
		return "a queue that does not exist counts as usable";
	}
	return NULL;
}

static const char *check_queues(const struct cluster *c)
{
	size_t podgroups = 0, waiting = 0, named = 0, children = 0, parents = 0, open = 0;

	if (COUNT_SET(c->queues) != strmap_count(c->queue_by_name) ||
	    COUNT_SET(c->queues) != slots_count(&c->queues)) {
		return "the number of queues is off";
	}
	for (size_t i = 0; i < c->queues.n; i++) {
		const struct queue *q = c->queues.v[i];
		const char *wrong;

		if (q == NULL) {
			continue;
		}
		wrong = q->id != i ? "a queue has another id than its place" : check_queue(c, q);
		if (wrong != NULL) {
			return wrong;
		}
		podgroups += q->podgroups.n;
		waiting += q->waiting.n;
		open += q->open.n;
		children += q->children.n;
		parents += q->parent != MODEL_NONE;
	}
	for (size_t i = 0; i < c->podgroups.n; i++) {
		named += c->podgroups.v[i] != NULL && c->podgroups.v[i]->queue_name != MODEL_NONE;
		open -= c->podgroups.v[i] != NULL && c->podgroups.v[i]->open_pos != MODEL_NONE;
	}
	if (open != 0 || named != podgroups + waiting || children != parents) {
		return "queues list PodGroups or children too many or too few";
	}
	return NULL;
}

static const char *check_node(const struct cluster *c, const struct node *n)
{
	struct res used = { .more = NULL }, releasing = { .more = NULL };

	if (cluster_node_find(c, str_of(n->name)) != n) {
		return "a node is not found by its name";
	}
	if (!n->exists && n->tasks.n == 0 && n->nominations == 0 && n->limits.n == 0) {
		return "a node without object, pods and limits is still there";
	}
	for (size_t i = 0; i < n->tasks.n; i++) {
		const struct task *t =
			n->tasks.v[i] < c->tasks.n ? c->tasks.v[n->tasks.v[i]] : NULL;

		if (t == NULL || t->node != n->id || t->node_pos != i) {
			return "a node lists a task that is not on it";
		}
		res_add(&used, &t->klass->request);
		if (t->status == TASK_RELEASING) {
			res_add(&releasing, &t->klass->request);
		}
	}
	if (!res_eq(&used, &n->used) || !res_eq(&releasing, &n->releasing)) {
		return "a node's use is not the sum of its tasks";
	}
	for (size_t i = 1; i < n->labels.n; i++) {
		if (strcmp(n->labels.v[i - 1].key, n->labels.v[i].key) >= 0) {
			return "a node's labels are not sorted";
		}
	}
	return NULL;
}

static const char *check_nodes(const struct cluster *c)
{
	struct res total = { .more = NULL }, used = { .more = NULL };
	size_t nominated = 0, nominations = 0;

	if (COUNT_SET(c->nodes) != strmap_count(c->node_by_name) ||
	    COUNT_SET(c->nodes) != slots_count(&c->nodes)) {
		return "the number of nodes is off";
	}
	for (size_t i = 0; i < c->nodes.n; i++) {
		const struct node *n = c->nodes.v[i];
		const char *wrong;

		if (n == NULL) {
			continue;
		}
		wrong = n->id != i ? "a node has another id than its place" : check_node(c, n);
		if (wrong != NULL) {
			return wrong;
		}
		if (n->exists) {
			res_add(&total, &n->allocatable);
			res_add(&used, &n->used);
		}
		nominations += n->nominations;
	}
	for (size_t i = 0; i < c->tasks.n; i++) {
		const struct task *t = c->tasks.v[i];

		nominated += t != NULL && t->nominated != MODEL_NONE;
		nominated += t != NULL && t->awaits != MODEL_NONE;
	}
	if (nominated != nominations) {
		return "nodes count nominations too many or too few";
	}
	if (!res_eq(&used, &c->used)) {
		return "the cluster's use is not the sum of its nodes";
	}
	return res_eq(&total, &c->total) ? NULL : "the cluster's total is not the sum of its nodes";
}

static const char *check_images_of(const struct cluster *c, const struct node *n, uint32_t *nodes)
{
	if (!n->exists && n->images.n > 0) {
		return "a node that does not exist has images";
	}
	for (size_t i = 0; i < n->images.n; i++) {
		uint32_t id = n->images.v[i];

		if (id >= c->images.n || c->images.v[id] == NULL ||
		    (i > 0 && n->images.v[i - 1] >= id)) {
			return "a node's images are not known or not in order";
		}
		nodes[id]++;
	}
	return NULL;
}

static const char *check_image(const struct cluster *c, const struct image *i, uint32_t nodes,
			       uint32_t uses)
{
	if (strmap_get(c->image_by_name, str_of(i->name)) != i) {
		return "an image is not found by its name";
	}
	if (i->nodes != nodes || i->uses != uses) {
		return "an image counts nodes or classes too many or too few";
	}
	return nodes == 0 && (uses == 0 || i->bytes != 0)
		       ? "an image without nodes has a size, or is still there"
		       : NULL;
}

static const char *check_images(const struct cluster *c)
{
	uint32_t *nodes = xmalloc_zero(c->images.n + 1, sizeof(*nodes));
	uint32_t *uses = xmalloc_zero(c->images.n + 1, sizeof(*uses));
	const char *wrong = NULL;

	for (size_t i = 0; i < c->nodes.n && wrong == NULL; i++) {
		wrong = c->nodes.v[i] == NULL ? NULL : check_images_of(c, c->nodes.v[i], nodes);
	}
	for (size_t i = 0; i < c->class_by_id.n; i++) {
		const struct pod_class *k = c->class_by_id.v[i];

		for (size_t j = 0; k != NULL && j < k->nimages; j++) {
			uses[k->images[j].id]++;
		}
	}
	for (size_t i = 0; i < c->images.n && wrong == NULL; i++) {
		wrong = c->images.v[i] == NULL ? NULL
					       : check_image(c, c->images.v[i], nodes[i], uses[i]);
	}
	free(nodes);
	free(uses);
	return wrong;
}

/* Classes come before nodes: those read the requests. */
static const char *check_claims(const struct cluster *c)
{
	for (size_t i = 0; i < c->volumes.n; i++) {
		const char *wrong = c->volumes.v[i] == NULL ? NULL : check_volume(c->volumes.v[i]);

		if (wrong != NULL) {
			return wrong;
		}
	}
	for (size_t i = 0; i < c->claims.n; i++) {
		const char *wrong = c->claims.v[i] == NULL ? NULL : check_claim(c, c->claims.v[i]);

		if (wrong != NULL) {
			return wrong;
		}
	}
	return NULL;
}

const char *cluster_verify(const struct cluster *c)
{
	static const char *(*const checks[])(const struct cluster *) = {
		check_tasks, check_labels, check_classes, check_podgroups,  check_queues,
		check_nodes, check_claims, check_images,  check_capacities,
	};

	for (size_t i = 0; i < ARRAY_LEN(checks); i++) {
		const char *wrong = checks[i](c);

		if (wrong != NULL) {
			return wrong;
		}
	}
	return c->drift == 0 ? NULL : "an account went below zero";
}
