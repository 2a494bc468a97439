#include "webhook/admit/jobs/queueing.h"

#include "api/kueue/kueue_keys.h"
#include "base/attrs.h"

static const char *label(const struct api_meta *m, const char *key)
{
	const char *value = field_map_get(&m->labels, key);

	return value != NULL && value[0] != '\0' ? value : NULL;
}

const char *queueing_queue(const struct api_meta *m)
{
	return label(m, KUEUE_QUEUE_NAME);
}

const char *queueing_class(const struct api_meta *m)
{
	return label(m, KUEUE_PRIORITY_CLASS);
}

bool queueing_is_same(const char *a, const char *b)
{
	return (a == NULL && b == NULL) || str_streq(a, b);
}

/* --- owners ------------------------------------------------------------------------------------
 */

/* Whether name, "Kind.version.group", is this kind; the version does not matter. */
static bool is_integration(struct str name, struct str group, struct str kind)
{
	struct str rest = name, first = str_next(&rest, '.');

	(void)str_next(&rest, '.');
	return str_eq(first, kind) && str_eq(rest, group);
}

bool queueing_is_owned_by_job(const struct api_meta *m)
{
	const struct api_owner *owner = meta_controller(m);

	return owner != NULL && str_streq(owner->api_version, "batch/v1") &&
	       str_streq(owner->kind, "Job");
}

static bool has_external_owner(const struct admit_options *o, const struct api_meta *m)
{
	const struct api_owner *owner = meta_controller(m);
	struct str list = str_of(o->integrations), version, group;

	/* A Job is queued by this program and not by another controller, even where the list of
	 * integrations names it. */
	if (owner == NULL || owner->kind == NULL || queueing_is_owned_by_job(m)) {
		return false;
	}
	version = str_of(owner->api_version);
	group = str_next(&version, '/');
	while (list.p != NULL) {
		struct str name = str_trim(str_next(&list, ','));

		if (name.len > 0 && is_integration(name, group, str_of(owner->kind))) {
			return true;
		}
	}
	return false;
}

/* Kubernetes' own controllers set the ownerReferences of the objects that they create, and no
 * tenant can have their names. */
static bool is_external_user(const struct admit_options *o, const char *user)
{
	struct str list = str_of(o->integration_users);

	if (user == NULL) {
		return false;
	}
	if (str_has_prefix(str_of(user), "system:serviceaccount:kube-system:") ||
	    str_streq(user, "system:kube-controller-manager")) {
		return true;
	}
	while (list.p != NULL) {
		if (str_eq_c(str_trim(str_next(&list, ',')), user)) {
			return true;
		}
	}
	return false;
}

enum queueing_owner queueing_owner(const struct admit_request *q, const struct api_meta *m)
{
	if (!has_external_owner(q->options, m)) {
		return QUEUED_OWNER_NONE;
	}
	/* Any tenant may write an ownerReference, and the object would then pass without quota:
	 * the account that writes decides. */
	return is_external_user(q->options, q->review->user.username) ? QUEUED_OWNER_EXTERNAL
								      : QUEUED_OWNER_FORGED;
}

/* --- patches -----------------------------------------------------------------------------------
 */

void queueing_add_labels(struct admit_answer *a, const struct api_meta *m,
			 const struct queueing_label *v, size_t n)
{
	bool has_map = m->labels.v != NULL;

	for (size_t i = 0; i < n; i++) {
		if (v[i].value == NULL) {
			continue;
		}
		/* JSON Patch adds a key only to a map that exists. */
		if (!has_map) {
			admit_patch_add(a, "/metadata/labels", NULL);
			json_out_object(&a->out);
			json_out_object_end(&a->out);
			admit_patch_end(a);
			has_map = true;
		}
		admit_patch_add(a, "/metadata/labels", v[i].key);
		json_out_str(&a->out, v[i].value);
		admit_patch_end(a);
	}
}

/* --- rules -------------------------------------------------------------------------------------
 */

static void check_time(const struct admit_check *c, const struct api_meta *m)
{
	const char *text = field_map_get(&m->labels, KUEUE_MAX_EXEC_TIME);
	int64_t n = 0;

	if (text != NULL && (!str_to_i64(str_of(text), &n) || n < 1 || n > INT32_MAX)) {
		admit_check_deny(c, QUEUEING_LABEL(KUEUE_MAX_EXEC_TIME),
				 "\"%s\" is not a number of seconds from 1 to %d", text, INT32_MAX);
	}
}

void queueing_check_labels(const struct admit_check *c, const struct api_meta *m)
{
	admit_check_subdomain(c, QUEUEING_LABEL(KUEUE_QUEUE_NAME), queueing_queue(m));
	admit_check_subdomain(c, QUEUEING_LABEL(KUEUE_PRIORITY_CLASS), queueing_class(m));
	admit_check_subdomain(c, QUEUEING_LABEL(KUEUE_PREBUILT_WORKLOAD),
			      field_map_get(&m->labels, KUEUE_PREBUILT_WORKLOAD));
	check_time(c, m);
}

void queueing_check_unsupported(const struct admit_check *c, const char *path,
				const struct api_meta *old, const struct api_meta *meta)
{
	static const struct {
		const char *key, *why;
	} rows[] = {
		{ KUEUE_ELASTIC_JOB, "elastic jobs are not supported" },
		{ KUEUE_TOPOLOGY_REQUIRED, "topology-aware scheduling is not supported" },
		{ KUEUE_TOPOLOGY_PREFERRED, "topology-aware scheduling is not supported" },
		{ KUEUE_TOPOLOGY_UNCONSTRAINED, "topology-aware scheduling is not supported" },
		{ KUEUE_TOPOLOGY_SLICE_REQUIRED, "topology-aware scheduling is not supported" },
		{ KUEUE_TOPOLOGY_SLICE_SIZE, "topology-aware scheduling is not supported" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *value = field_map_get(&meta->annotations, rows[i].key);
		const char *was = field_map_get(&old->annotations, rows[i].key);

		/* An annotation that the object had before is not refused: it could not be
		 * edited otherwise, not even to be suspended. */
		if (value != NULL && !str_streq(value, "false") && !str_streq(value, was)) {
			admit_check_deny(c, admit_check_path(c, "%s[%s]", path, rows[i].key), "%s",
					 rows[i].why);
		}
	}
}

void queueing_check_running(const struct admit_check *c, const struct api_meta *old,
			    const struct api_meta *meta, const char *state)
{
	const char *was = queueing_class(old), *is = queueing_class(meta);

	if (!queueing_is_same(queueing_queue(old), queueing_queue(meta))) {
		admit_check_deny(c, QUEUEING_LABEL(KUEUE_QUEUE_NAME), "field is immutable while %s",
				 state);
	}
	if (!queueing_is_same(field_map_get(&old->labels, KUEUE_MAX_EXEC_TIME),
			      field_map_get(&meta->labels, KUEUE_MAX_EXEC_TIME))) {
		admit_check_deny(c, QUEUEING_LABEL(KUEUE_MAX_EXEC_TIME),
				 "field is immutable while %s", state);
	}
	/* Another class is allowed: the scheduler takes its priority over. Kueue's rule forbids
	 * only to begin or to end having one. */
	if ((was == NULL) != (is == NULL)) {
		admit_check_deny(c, QUEUEING_LABEL(KUEUE_PRIORITY_CLASS), "cannot be %s while %s",
				 is == NULL ? "removed" : "added", state);
	}
}

static bool queues(const struct admit_check *c, const struct api_meta *m)
{
	return c->q->options->manage_jobs_without_queue || queueing_queue(m) != NULL;
}

void queueing_check_forged(const struct admit_check *c, const struct api_meta *meta)
{
	const char *user = c->q->review->user.username;

	if (queueing_owner(c->q, meta) == QUEUED_OWNER_FORGED) {
		admit_check_deny(
			c, "metadata.ownerReferences",
			"\"%s\" is not the controller of the %s: with such an owner the job "
			"would not be queued",
			user == NULL ? "" : user, meta_controller(meta)->kind);
	}
}

void queueing_check_owner(const struct admit_check *c, const struct api_meta *old,
			  const struct api_meta *meta)
{
	bool had = queues(c, old) && queueing_owner(c->q, old) != QUEUED_OWNER_NONE;

	/* An owner that stood there already is not refused, since every other edit of the Job
	 * would be, too. */
	if (!had && queues(c, meta)) {
		queueing_check_forged(c, meta);
	}
}

void queueing_check_removal(const struct admit_check *c, const struct api_meta *old,
			    const struct api_meta *meta)
{
	if (queueing_queue(old) != NULL && queueing_queue(meta) == NULL &&
	    admit_has_default_queue(c->q->view, c->q->review->namespace_)) {
		admit_check_deny(c, QUEUEING_LABEL(KUEUE_QUEUE_NAME),
				 "cannot be removed in a namespace with a LocalQueue \"default\"");
	}
}
