#include "api/core/pod.h"
#include "api/core/pod_request.h"
#include "api/meta/validate.h"
#include "api/volcano/gate.h"
#include "api/volcano/keys.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "collections/intern.h"
#include "scheduler/base/match_from_api.h"
#include "scheduler/pods/ingest/from_api.h"
#include "scheduler/pods/model/selectors.h"

static const char *annotation_or_label(const struct api_meta *m, const char *key)
{
	const char *value = field_map_get(&m->annotations, key);

	return value != NULL ? value : field_map_get(&m->labels, key);
}

/* The spellings that Go's strconv.ParseBool takes for true. */
static bool is_true(const char *text)
{
	static const char *const words[] = { "1", "t", "T", "true", "TRUE", "True" };

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (str_streq(text, words[i])) {
			return true;
		}
	}
	return false;
}

/* otherwise: where the annotation is absent, or no 32-bit integer. */
static int32_t annotation_i32(const struct api_pod *pod, const char *key, int32_t otherwise)
{
	const char *text = field_map_get(&pod->meta.annotations, key);
	int64_t n;

	return text != NULL && str_to_i64(str_of(text), &n) && n >= INT32_MIN && n <= INT32_MAX
		       ? (int32_t)n
		       : otherwise;
}

static int32_t priority_of(const struct api_pod *pod)
{
	/* Volcano's rule: 1 where the pod has none. */
	return annotation_i32(pod, KEYS_TASK_PRIORITY,
			      pod->spec.priority == FIELD_NO_I32 ? 1 : pod->spec.priority);
}

static bool is_listed(const char *const *names, const char *name)
{
	for (; names != NULL && *names != NULL; names++) {
		if (str_streq(name, *names)) {
			return true;
		}
	}
	return false;
}

static void read_gates(const struct api_pod *pod, struct from_api_pod *p)
{
	for (size_t i = 0; i < pod->spec.gates.n; i++) {
		const struct gate_row *row = gate_by_name(pod->spec.gates.v[i].name);

		if (row == NULL) {
			p->flags |= TASK_FOREIGN_GATE;
		} else if ((p->flags & TASK_OUR_GATE) == 0) {
			/* The patch removes all spellings: which of them is seen first does not
			 * matter. */
			p->flags |= TASK_OUR_GATE;
			p->gate_row = (uint8_t)gate_index(row);
		}
	}
}

static bool is_critical(const struct api_pod *pod)
{
	return str_streq(pod->spec.priority_class_name, "system-cluster-critical") ||
	       str_streq(pod->spec.priority_class_name, "system-node-critical") ||
	       str_streq(pod->meta.namespace_, "kube-system");
}

static void read_flags(const struct api_pod *pod, struct from_api_pod *p)
{
	const char *preemptable = annotation_or_label(&pod->meta, KEYS_PREEMPTABLE);

	read_gates(pod, p);
	if (gate_opt_in(&pod->meta.annotations) != NULL) {
		p->flags |= TASK_OPTED_IN;
	}
	/* Volcano's rule: a value that does not parse counts as false. */
	if (preemptable == NULL || is_true(preemptable)) {
		p->flags |= TASK_PREEMPTABLE;
	}
	if (str_streq(pod->spec.preemption_policy, "Never")) {
		p->flags |= TASK_PREEMPT_NEVER;
	}
	if (p->reserved.p != NULL) {
		p->flags |= TASK_RESERVED_MARK;
	}
	if (field_map_get(&pod->meta.annotations, KEYS_BOUND_BY) != NULL) {
		p->flags |= TASK_BOUND_MARK;
	}
	if (pod->status.phase != NULL && !str_streq(pod->status.phase, "Pending")) {
		p->flags |= TASK_STARTED;
	}
	if (is_critical(pod)) {
		p->flags |= TASK_CRITICAL;
	}
	if (pod_request_limits_cpu(pod)) {
		p->flags |= TASK_HAS_CPU_LIMITS;
	}
}

/* Of the pods that other schedulers place, those that opted in are under quota. The gate and the
 * mark show that a pod has been, unless the annotation decides. */
static void read_scheduler(const struct cluster *c, const struct api_pod *pod,
			   const struct from_api_schedulers *names, struct from_api_pod *p)
{
	uint32_t shows = (uint32_t)TASK_OPTED_IN | TASK_OUR_GATE;

	if (!c->annotation_decides) {
		shows |= TASK_RESERVED_MARK;
	}
	if (is_listed(names->ours, pod->spec.scheduler_name)) {
		p->flags |= TASK_OURS;
	} else if (is_listed(names->gated, pod->spec.scheduler_name) && (p->flags & shows) != 0) {
		p->flags |= (uint32_t)TASK_OURS | TASK_GATE_ONLY;
		p->flags |= meta_controller(&pod->meta) != NULL ? TASK_CONTROLLED : 0;
	}
}

static enum task_status status_of(const struct api_pod *pod)
{
	const char *phase = pod->status.phase;
	bool has_node = pod->spec.node_name != NULL;

	if (str_streq(phase, "Succeeded")) {
		return TASK_SUCCEEDED;
	}
	if (str_streq(phase, "Failed")) {
		return TASK_FAILED;
	}
	/* After the phases that are final: a pod that has ended holds nothing, also while it is
	 * being deleted. */
	if (pod->meta.deleted != FIELD_NO_TIME) {
		return TASK_RELEASING;
	}
	if (phase == NULL || str_streq(phase, "Pending")) {
		return has_node ? TASK_BOUND : TASK_PENDING;
	}
	/* No kubelet reports Running for a pod without a node; such a pod is not to be placed. */
	return str_streq(phase, "Running") && has_node ? TASK_RUNNING : TASK_UNKNOWN;
}

#define MAX_ATTEMPTS 1000000

static void read_attempts(const struct api_pod *pod, struct from_api_pod *p)
{
	const struct api_condition *c =
		meta_condition(&pod->status.conditions, KEYS_CONDITION_ATTEMPTS);
	struct str rest = str_of(c == NULL ? NULL : c->message);
	uint64_t n;

	p->attempts = 0;
	p->attempts_at = p->retry_at = MODEL_TIME_NONE;
	if (c != NULL && str_to_u64(str_next(&rest, ' '), &n)) {
		p->attempts = n < MAX_ATTEMPTS ? (uint32_t)n : MAX_ATTEMPTS;
		p->attempts_at = c->last_transition;
	}
}

/* Volcano's rule: the label comes first. */
static void read_cooldown(const struct api_pod *pod, struct from_api_pod *p)
{
	const char *label = field_map_get(&pod->meta.labels, KEYS_COOLDOWN);
	const char *text =
		label != NULL ? label : field_map_get(&pod->meta.annotations, KEYS_COOLDOWN);
	const struct api_condition *c =
		meta_condition(&pod->status.conditions, KEYS_CONDITION_SCHEDULED);

	p->cooldown = 0;
	p->bad_cooldown = text != NULL && clock_parse_duration(str_of(text), &p->cooldown) < 0;
	p->placed_at =
		c != NULL && str_streq(c->status, "True") && str_streq(pod->status.phase, "Running")
			? c->last_transition
			: MODEL_TIME_NONE;
}

static void read_condition(const struct api_pod *pod, struct from_api_pod *p)
{
	static const struct {
		const char *reason;
		enum pod_cond cond;
	} reasons[] = {
		{ KEYS_REASON_GATED, POD_COND_GATED },
		{ KEYS_REASON_UNSCHEDULABLE, POD_COND_UNSCHEDULABLE },
		{ KEYS_REASON_NOT_READY, POD_COND_NOT_READY },
		{ KEYS_REASON_SCHEDULABLE, POD_COND_SCHEDULABLE },
		{ KEYS_REASON_ERROR, POD_COND_ERROR },
	};
	const struct api_condition *c =
		meta_condition(&pod->status.conditions, KEYS_CONDITION_SCHEDULED);

	p->published_at = MODEL_TIME_NONE;
	read_attempts(pod, p);
	if (c == NULL) {
		return;
	}
	if (str_streq(c->status, "True")) {
		p->cond = POD_COND_TRUE;
		return;
	}
	p->cond = POD_COND_OTHER;
	if (!str_streq(c->status, "False")) {
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(reasons); i++) {
		if (str_streq(c->reason, reasons[i].reason)) {
			p->cond = reasons[i].cond;
		}
	}
	if (p->cond == POD_COND_UNSCHEDULABLE) {
		p->published_at = c->last_transition;
	}
	/* The API server's message on a gated pod is not one of ours. */
	if (p->cond != POD_COND_GATED && c->message != NULL) {
		p->cond_message = str_hash(str_of(c->message));
	}
}

static int read_role(struct cluster *c, const struct api_pod *pod, uint32_t *ret, struct err *err)
{
	const char *role = annotation_or_label(&pod->meta, KEYS_TASK_SPEC);
	const char *interned;

	*ret = MODEL_NONE;
	if (role == NULL || role[0] == '\0') {
		return 0;
	}
	if (from_api_text(c, role, &interned, err) < 0) {
		return err_wrap(err, "%s", KEYS_TASK_SPEC);
	}
	*ret = intern_find(c->names, str_of(interned));
	return 0;
}

static int read_class(struct cluster *c, const struct api_pod *pod, struct arena *scratch,
		      struct from_api_pod *p, struct err *err)
{
	struct field_resources request;
	int r;

	p->klass = arena_zero(scratch, 1, sizeof(*p->klass));
	pod_request_sum(pod, scratch, &request);
	p->klass->unoffered.v = arena_alloc(scratch, request.n * sizeof(*p->klass->unoffered.v));
	if (from_api_requested(c, &request, FROM_API_MAX_AMOUNT, &p->klass->request,
			       &p->klass->unoffered, err) < 0) {
		return err_wrap(err, "requests");
	}
	/* Where a pod of another scheduler may run does not matter here. */
	if ((p->flags & (TASK_OURS | TASK_GATE_ONLY)) == TASK_OURS) {
		r = from_api_class_read(c, pod, scratch, p->klass, err);
	} else {
		r = from_api_class_ports(c, pod, scratch, p->klass, err);
		r = r < 0 ? r : from_api_terms_read(c, pod, false, scratch, p->klass, err);
	}
	/* Whether one is in use matters for all pods. */
	if (r < 0 || from_api_class_claims(c, pod, scratch, p->klass, err) < 0) {
		return -ERR_INVALID;
	}
	if (p->names_both) {
		p->klass->unsupported = POD_CLASS_TWO_GROUPS;
	}
	pod_class_normalise(p->klass);
	return 0;
}

static int read_labels(struct cluster *c, const struct api_pod *pod, struct arena *scratch,
		       struct from_api_pod *p, struct err *err)
{
	return match_from_api_selector(c->names, &pod->meta.labels, scratch, &p->labels,
				       &p->nlabels, err) < 0
		       ? err_wrap(err, "metadata.labels")
		       : 0;
}

/* A name that no queue can have counts as none. */
static uint32_t read_mark(struct cluster *c, const struct from_api_pod *p)
{
	const char *interned;

	if ((p->flags & TASK_OURS) == 0 || !validate_is_dns_subdomain(p->reserved) ||
	    from_api_text(c, p->reserved.p, &interned, NULL) < 0) {
		return MODEL_NONE;
	}
	return intern_find(c->names, str_of(interned));
}

/* NULL: absent, or empty. */
static struct str annotation(const struct api_pod *pod, const char *key)
{
	const char *value = field_map_get(&pod->meta.annotations, key);

	return str_of(value == NULL || value[0] == '\0' ? NULL : value);
}

/* Where PodGroups are made for such pods, none is for one that another process has placed or
 * ungated without: the PodGroup of a gated pod comes before its quota. */
static bool gets_no_podgroup(const struct cluster *c, const struct api_pod *pod,
			     const struct from_api_pod *p)
{
	bool was_let_go = (p->flags & TASK_RESERVED_MARK) != 0 && (p->flags & TASK_OUR_GATE) == 0;

	return (p->flags & TASK_GATE_ONLY) != 0 ||
	       ((c->implies_podgroups || p->node.p != NULL || was_let_go) &&
		meta_controller(&pod->meta) == NULL);
}

static bool is_kube_group(const struct api_pod *pod)
{
	return validate_is_dns_subdomain(str_of(pod->spec.group->pod_group));
}

/* Other schedulers than ours honour spec.schedulingGroup. A pod that names a PodGroup of Volcano
 * besides has neither: which of them is to count cannot be known. */
static void read_kube_group(const struct api_pod *pod, struct from_api_pod *p)
{
	if ((p->flags & TASK_GATE_ONLY) == 0 || pod->spec.group == NULL) {
		return;
	}
	p->names_both = p->group.p != NULL;
	if (p->names_both) {
		p->group = str_of(NULL);
	} else if (is_kube_group(pod)) {
		p->kube_group = str_of(pod->spec.group->pod_group);
	}
}

/* The PodGroup, or the queue of a pod for which there is none to be made. The queue's name is
 * interned with the task, which cannot fail: here it can. */
static int read_group(struct cluster *c, const struct api_pod *pod, struct from_api_pod *p,
		      struct err *err)
{
	const char *min = field_map_get(&pod->meta.annotations, KEYS_GROUP_MIN_MEMBER);
	uint64_t n;

	p->min_member = 1;
	if ((p->flags & TASK_OURS) == 0) {
		return 0;
	}
	p->group = annotation(pod, KEYS_GROUP_NAME);
	read_kube_group(pod, p);
	if (p->group.p != NULL || (p->kube_group.p == NULL && !gets_no_podgroup(c, pod, p))) {
		return 0;
	}
	p->alone = p->kube_group.p == NULL;
	p->queue = annotation(pod, KEYS_QUEUE_NAME);
	if (p->queue.p == NULL && c->default_queue != MODEL_NONE) {
		p->queue = str_of(c->queues.v[c->default_queue]->name);
	}
	if (min != NULL && str_to_u64(str_of(min), &n) && n <= INT32_MAX) {
		p->min_member = (int32_t)n;
	}
	return from_api_text(c, p->queue.p, &(const char *){ NULL }, err);
}

int from_api_pod_plain(struct cluster *c, const struct api_pod *pod,
		       const struct from_api_schedulers *names, struct from_api_pod *ret,
		       struct err *err)
{
	const char *namespace_ = pod->meta.namespace_ == NULL ? "default" : pod->meta.namespace_;
	struct from_api_pod p = {
		.namespace_ = str_of(namespace_),
		.name = str_of(pod->meta.name),
		.uid = str_of(pod->meta.uid),
		.node = str_of(pod->spec.node_name),
		.nominated = str_of(pod->status.nominated_node_name),
		.reserved = str_of(field_map_get(&pod->meta.annotations, KEYS_RESERVED)),
		.role = MODEL_NONE,
		.reserved_name = MODEL_NONE,
		.priority = priority_of(pod),
		.class_priority = pod->spec.priority == FIELD_NO_I32 ? 0 : pod->spec.priority,
		.deletion_cost = annotation_i32(pod, KEYS_DELETION_COST, 0),
		.granted_priority =
			pod->spec.priority == FIELD_NO_I32 ? INT32_MAX : pod->spec.priority,
		.status = status_of(pod),
		.created = pod->meta.created,
		.deleted = pod->meta.deleted,
		.resource_version = meta_version(&pod->meta),
	};

	if (p.name.len == 0) {
		return err_set(err, ERR_INVALID, "metadata.name: missing");
	}
	read_flags(pod, &p);
	read_scheduler(c, pod, names, &p);
	read_condition(pod, &p);
	read_cooldown(pod, &p);
	p.ends_by = p.cools_until = MODEL_TIME_NONE;
	p.reserved_name = read_mark(c, &p);
	/* The namespace is interned when the task is made, which cannot fail: here it can. */
	if (from_api_text(c, namespace_, &(const char *){ NULL }, err) < 0 ||
	    read_group(c, pod, &p, err) < 0) {
		return -ERR_INVALID;
	}
	*ret = p;
	return 0;
}

int from_api_pod_read(struct cluster *c, const struct api_pod *pod,
		      const struct from_api_schedulers *names, struct arena *scratch,
		      struct from_api_pod *ret, struct err *err)
{
	struct from_api_pod p;

	if (pod->spec.group != NULL && !is_kube_group(pod)) {
		return err_set(err, ERR_INVALID,
			       "spec.schedulingGroup.podGroupName: missing, or not a name");
	}
	if (from_api_pod_plain(c, pod, names, &p, err) < 0 || read_role(c, pod, &p.role, err) < 0 ||
	    read_class(c, pod, scratch, &p, err) < 0 || read_labels(c, pod, scratch, &p, err) < 0) {
		return -ERR_INVALID;
	}
	*ret = p;
	return 0;
}

#define ENDS_MAX_NS (INT64_C(3600) * 1000000000) /* longer graces do not keep others waiting */

/* The time that the pod shows was taken from another clock. */
static int64_t ends_by(const struct from_api_pod *p, int64_t now, int64_t wall)
{
	int64_t left;

	if (p->deleted == MODEL_TIME_NONE) {
		return MODEL_TIME_NONE;
	}
	if (__builtin_sub_overflow(p->deleted, wall, &left)) {
		left = p->deleted < wall ? -ENDS_MAX_NS : ENDS_MAX_NS;
	}
	left = left < -ENDS_MAX_NS ? -ENDS_MAX_NS : left > ENDS_MAX_NS ? ENDS_MAX_NS : left;
	return now + left;
}

/* Likewise; a pod that seems to have been placed in the future was so now. */
static int64_t cools_until(const struct from_api_pod *p, int64_t now, int64_t wall)
{
	int64_t age, until;

	if (p->cooldown == 0 || p->placed_at == MODEL_TIME_NONE ||
	    __builtin_sub_overflow(wall, p->placed_at, &age)) {
		return MODEL_TIME_NONE;
	}
	age = age < 0 ? 0 : age;
	if (age >= p->cooldown) {
		return MODEL_TIME_NONE;
	}
	return __builtin_add_overflow(now, p->cooldown - age, &until) ? INT64_MAX : until;
}

void from_api_pod_times(struct from_api_pod *p, int64_t now, int64_t wall)
{
	p->ends_by = ends_by(p, now, wall);
	p->cools_until = cools_until(p, now, wall);
}

/* Ungated since it was first seen so. */
static void apply_ungated(const struct from_api_pod *p, struct task *t)
{
	if ((p->flags & (TASK_OUR_GATE | TASK_FOREIGN_GATE)) != 0) {
		t->published_at = MODEL_TIME_NONE;
	} else if (t->published_at == MODEL_TIME_NONE) {
		t->published_at = p->published_at;
	}
}

/* The API server writes SchedulingGated at creation and never again, and the condition is never
 * removed: an update that shows either was sent before what we know or assume. */
static void apply_condition(const struct from_api_pod *p, struct task *t)
{
	if ((p->cond == POD_COND_NONE || p->cond == POD_COND_GATED) && t->cond != POD_COND_NONE &&
	    t->cond != POD_COND_GATED) {
		return;
	}
	/* The message of another scheduler is no report of ours. */
	if ((p->cond != POD_COND_GATED || t->cond != POD_COND_GATED) &&
	    (p->flags & TASK_GATE_ONLY) == 0) {
		t->cond_message = p->cond_message;
	}
	/* As long as it stays published it is so since we first knew; the time that the pod shows
	 * is of a clock that may have been set meanwhile. */
	if ((p->flags & TASK_GATE_ONLY) != 0) {
		apply_ungated(p, t);
	} else if (p->cond != POD_COND_UNSCHEDULABLE || t->cond != POD_COND_UNSCHEDULABLE ||
		   t->published_at == MODEL_TIME_NONE) {
		t->published_at = p->published_at;
	}
	t->cond = (uint8_t)p->cond;
}

/* An adopted pod stays so until it names a PodGroup itself, or has to: opted-in pods do at
 * once. Without its PodGroup it needs a new one. */
static bool stays_adopted(const struct cluster *c, const struct from_api_pod *p,
			  const struct task *t)
{
	return (t->flags & TASK_ADOPTED) != 0 && p->group.p == NULL && t->podgroup != MODEL_NONE &&
	       c->podgroups.v[t->podgroup]->exists && (p->flags & TASK_OURS) != 0 &&
	       (p->flags & TASK_OPTED_IN) == 0;
}

/* The PodGroup that a process with --podgroup-per-pod has made for a pod that waits; NULL: none. A
 * pod under quota would name it. */
static struct podgroup *find_made(const struct cluster *c, const struct from_api_pod *p)
{
	const uint32_t names_it =
		(uint32_t)TASK_OPTED_IN | TASK_OUR_GATE | TASK_RESERVED_MARK | TASK_FOREIGN_GATE;
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;
	struct podgroup *g;

	if (p->node.p != NULL || p->status != TASK_PENDING || (p->flags & names_it) != 0) {
		return NULL;
	}
	strbuf_printf(&key, STR_FMT "/podgroup-" STR_FMT, STR_ARG(p->namespace_), STR_ARG(p->uid));
	g = cluster_podgroup_find(c, strbuf_str(&key));
	return g != NULL && g->exists ? g : NULL;
}

/* NULL: none, or none yet. */
static struct podgroup *podgroup_of(struct cluster *c, const struct from_api_pod *p,
				    const struct task *t, bool *ret_adopted)
{
	struct podgroup *made = p->alone ? find_made(c, p) : NULL;

	*ret_adopted = made != NULL;
	if (made != NULL) {
		return made;
	}
	if (p->group.p != NULL) {
		return cluster_podgroup_get(c, p->namespace_, p->group);
	}
	if (p->kube_group.p != NULL) {
		return cluster_podgroup_get_part(c, p->namespace_, p->kube_group, p->queue);
	}
	return p->alone ? from_api_podgroup_alone(c, p, t) : NULL;
}

/* The gate and the mark show that the pod has been under quota: its owner, who may edit the
 * annotation at any time, does not end that. */
static bool stays_opted_in(const struct cluster *c, const struct from_api_pod *p)
{
	return !c->annotation_decides && (p->flags & TASK_OURS) != 0 &&
	       (p->flags & ((uint32_t)TASK_OUR_GATE | TASK_RESERVED_MARK)) != 0;
}

enum task_status from_api_pod_status(const struct from_api_pod *p, const struct task *t)
{
	return p->status == TASK_RELEASING && (t->flags & TASK_STUCK) != 0 ? TASK_UNKNOWN
									   : p->status;
}

/* The mark comes with the patch of the process that reserves quota. */
static bool is_ungated_elsewhere(const struct from_api_pod *p, const struct task *t)
{
	const uint32_t patched = (uint32_t)TASK_UNGATING | TASK_UNGATE_TRIED;

	return (t->flags & TASK_OUR_GATE) != 0 && t->charge != CHARGE_PATCHING &&
	       (t->flags & patched) == 0 &&
	       (p->flags & ((uint32_t)TASK_OUR_GATE | TASK_RESERVED_MARK)) == TASK_RESERVED_MARK;
}

void from_api_pod_apply(struct cluster *c, const struct from_api_pod *p, struct task *t)
{
	uint32_t kept = (uint32_t)TASK_PARKED | TASK_UNGATING | TASK_GREW | TASK_OVERDUE |
			TASK_STUCK | TASK_UNGATE_TRIED | TASK_UNGATED_ELSEWHERE |
			TASK_EVICTION_REFUSED;
	const struct pod_labels *labels = t->labels;
	struct node *nominated = NULL;
	bool adopted = false, other_gates = ((p->flags ^ t->flags) & TASK_FOREIGN_GATE) != 0;

	/* The pod may show an older number than the process has decided; a bound one starts from
	 * zero. */
	if (p->node.p == NULL && p->attempts > t->attempts) {
		t->attempts = p->attempts;
	}
	cluster_task_set_class(c, t, cluster_class_intern(c, p->klass));
	selectors_set_labels(c, t, p->labels, p->nlabels);
	if (stays_adopted(c, p, t)) {
		kept |= TASK_ADOPTED;
	} else {
		cluster_task_set_podgroup(c, t, podgroup_of(c, p, t, &adopted));
	}
	if (p->nominated.p != NULL) {
		nominated = cluster_node_get(c, p->nominated);
	}
	cluster_task_set_nominated(c, t, nominated);
	if (t->role != p->role || t->labels != labels || other_gates) {
		cluster_task_try_again(c, t);
	}
	t->role = p->role;
	t->reserved = p->reserved_name;
	t->priority = p->priority;
	c->demand_gen += other_gates;
	t->granted_priority = p->granted_priority;
	t->deletion_cost = p->deletion_cost;
	t->flags |= is_ungated_elsewhere(p, t) ? TASK_UNGATED_ELSEWHERE : 0;
	t->flags = p->flags | (t->flags & kept);
	if (stays_opted_in(c, p)) {
		t->flags |= TASK_OPTED_IN;
	}
	if (adopted) {
		t->flags |= TASK_ADOPTED;
	}
	t->gate_row = p->gate_row;
	apply_condition(p, t);
	t->created = p->created;
	t->ends_by = p->ends_by;
	t->cools_until = p->cools_until;
	t->resource_version = p->resource_version;
	cluster_task_changed(c, t);
}
