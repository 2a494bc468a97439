#include "controllers/job_start.h"

#include "api/batch.h"
#include "api/kueue.h"
#include "api/kueue_keys.h"
#include "api/kueue_workload.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "controllers/job_podset.h"
#include "enc/encode.h"
#include "enc/json_out.h"

#define LABEL_VALUE_MAX 63

struct pairs VEC(struct field_pair);
struct tolerations VEC(const struct api_toleration *);

struct merge { /* what the pod template gets; borrowed texts */
	struct pairs labels, annotations, selector;
	struct tolerations tolerations;
};

static void merge_finish(struct merge *m)
{
	vec_finish(&m->labels);
	vec_finish(&m->annotations);
	vec_finish(&m->selector);
	vec_finish(&m->tolerations);
}

static int add_pair(struct pairs *to, const struct field_map *base, const struct field_pair *p,
		    const char *what, struct err *err)
{
	const char *old = field_map_get(base, p->key);

	for (size_t i = 0; old == NULL && i < to->n; i++) {
		if (str_streq(to->v[i].key, p->key)) {
			old = to->v[i].value;
		}
	}
	if (old == NULL) {
		vec_push(to, *p);
		return 0;
	}
	if (!str_streq(old, p->value)) {
		return err_set(err, ERR_INVALID, "%s %s: cannot be both %s and %s", what, p->key,
			       old, p->value);
	}
	return 0;
}

static int add_map(struct pairs *to, const struct field_map *base, const struct field_map *from,
		   const char *what, struct err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < from->n; i++) {
		r = add_pair(to, base, &from->v[i], what, err);
	}
	return r;
}

static bool is_same_toleration(const struct api_toleration *a, const struct api_toleration *b)
{
	return str_streq(a->key, b->key) && str_streq(a->operator_, b->operator_) &&
	       str_streq(a->value, b->value) && str_streq(a->effect, b->effect) &&
	       a->seconds == b->seconds;
}

static void add_tolerations(struct merge *m, const struct api_toleration *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t k = 0;

		while (k < m->tolerations.n && !is_same_toleration(m->tolerations.v[k], &v[i])) {
			k++;
		}
		if (k == m->tolerations.n) {
			vec_push(&m->tolerations, &v[i]);
		}
	}
}

static int merge_flavors(struct merge *m, const struct api_job *job,
			 const struct api_pod_set_assignment *a,
			 const struct job_start_flavors *flavors, struct err *err)
{
	const struct field_map *base = &job->spec.template_.spec.node_selector;
	int r = 0;

	/* Resources share flavors; what was added once is there already. */
	for (size_t i = 0; r == 0 && i < a->flavors.n; i++) {
		const char *name = a->flavors.v[i].value;
		const struct api_resource_flavor *rf = flavors->find(flavors->ctx, name);

		if (rf == NULL) {
			return err_set(err, ERR_NOT_FOUND, "ResourceFlavor %s is not known", name);
		}
		r = add_map(&m->selector, base, &rf->spec.node_labels, "node selector", err);
		add_tolerations(m, rf->spec.tolerations.v, rf->spec.tolerations.n);
	}
	return r;
}

static int merge_update(struct merge *m, const struct api_job *job,
			const struct api_pod_set_update *u, struct err *err)
{
	const struct api_pod_template *t = &job->spec.template_;
	int r = add_map(&m->labels, &t->meta.labels, &u->labels, "label", err);

	if (r == 0) {
		r = add_map(&m->annotations, &t->meta.annotations, &u->annotations, "annotation",
			    err);
	}
	if (r == 0) {
		r = add_map(&m->selector, &t->spec.node_selector, &u->node_selector,
			    "node selector", err);
	}
	add_tolerations(m, u->tolerations.v, u->tolerations.n);
	return r;
}

static int merge_checks(struct merge *m, const struct api_job *job, const struct api_workload *w,
			struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < w->status.admission_checks.n; i++) {
		const struct api_check_state *k = &w->status.admission_checks.v[i];

		for (size_t j = 0; r == 0 && j < k->updates.n; j++) {
			if (str_streq(k->state, KUEUE_CHECK_READY) &&
			    str_streq(k->updates.v[j].name, JOB_PODSET_MAIN)) {
				r = merge_update(m, job, &k->updates.v[j], err);
			}
		}
	}
	return r;
}

static void add_label(struct merge *m, const char *key, const char *value)
{
	struct field_pair p = { key, value };

	if (value != NULL && strlen(value) <= LABEL_VALUE_MAX) {
		vec_push(&m->labels, p);
	}
}

static void write_pairs(struct json_out *o, const char *name, const struct pairs *p)
{
	if (p->n == 0) {
		return;
	}
	json_out_key(o, name);
	json_out_object(o);
	for (size_t i = 0; i < p->n; i++) {
		json_out_kv(o, p->v[i].key, p->v[i].value);
	}
	json_out_object_end(o);
}

static void write_tolerations(struct json_out *o, const struct api_toleration *const *v, size_t n)
{
	json_out_key(o, "tolerations");
	if (n == 0) {
		json_out_null(o);
		return;
	}
	json_out_array(o);
	for (size_t i = 0; i < n; i++) {
		encode_object(&pod_toleration_fields, v[i], o);
	}
	json_out_array_end(o);
}

/* Leaves metadata open. */
static void open_patch(struct json_out *o, struct strbuf *body, const struct api_job *job)
{
	json_out_init(o, body);
	json_out_object(o);
	json_out_key(o, "metadata");
	json_out_object(o);
	json_out_kv(o, "uid", job->meta.uid);
	json_out_kv(o, "resourceVersion", job->meta.resource_version);
}

static void close_patch(struct json_out *o)
{
	json_out_object_end(o);
	json_out_end(o);
}

/* Fewer pods than asked for; with the annotation completions follow (Indexed Jobs). */
static void write_count(struct json_out *o, const struct api_job *job, int32_t count)
{
	json_out_kv_int(o, "parallelism", count);
	if (field_map_is(&job->meta.annotations, KUEUE_JOB_COMPLETIONS_EQUAL, "true")) {
		json_out_kv_int(o, "completions", count);
	}
}

static void write_start(const struct api_job *job, const struct merge *m, int32_t count,
			struct strbuf *body)
{
	struct json_out o;

	open_patch(&o, body, job);
	json_out_object_end(&o);
	json_out_key(&o, "spec");
	json_out_object(&o);
	json_out_kv_bool(&o, "suspend", false);
	if (count > 0) {
		write_count(&o, job, count);
	}
	json_out_key(&o, "template");
	json_out_object(&o);
	json_out_key(&o, "metadata");
	json_out_object(&o);
	write_pairs(&o, "labels", &m->labels);
	write_pairs(&o, "annotations", &m->annotations);
	json_out_object_end(&o);
	json_out_key(&o, "spec");
	json_out_object(&o);
	write_pairs(&o, "nodeSelector", &m->selector);
	if (m->tolerations.n > job->spec.template_.spec.tolerations.n) {
		write_tolerations(&o, m->tolerations.v, m->tolerations.n);
	}
	json_out_object_end(&o);
	json_out_object_end(&o);
	json_out_object_end(&o);
	close_patch(&o);
}

int job_start_patch(const struct api_job *job, const struct api_workload *w,
		    const struct job_start_flavors *flavors, struct strbuf *body, struct err *err)
{
	CLEANUP(merge_finish) struct merge m = { 0 };
	const struct api_pod_set_assignment *a = kueue_workload_assignment(w, JOB_PODSET_MAIN);
	const struct api_pod_set *set = w->spec.pod_sets.v;
	int32_t count = 0;
	int r;

	if (a == NULL || w->spec.pod_sets.n != 1) {
		return err_set(err, ERR_INVALID, "the admission has no pod set %s",
			       JOB_PODSET_MAIN);
	}
	/* All that the Job tolerates itself stays, duplicates as well. */
	for (size_t i = 0; i < job->spec.template_.spec.tolerations.n; i++) {
		vec_push(&m.tolerations, &job->spec.template_.spec.tolerations.v[i]);
	}
	r = merge_flavors(&m, job, a, flavors, err);
	if (r == 0) {
		r = merge_checks(&m, job, w, err);
	}
	if (r < 0) {
		return r;
	}
	add_label(&m, KUEUE_PODSET, JOB_PODSET_MAIN);
	add_label(&m, KUEUE_MANAGED, "true");
	add_label(&m, KUEUE_LOCAL_QUEUE_NAME, w->spec.queue_name);
	add_label(&m, KUEUE_CLUSTER_QUEUE_NAME, w->status.admission->cluster_queue);
	if (set->min_count != FIELD_NO_I32 && a->count != FIELD_NO_I32) {
		count = a->count;
	}
	write_start(job, &m, count, body);
	return 0;
}

void job_start_suspend(const struct api_job *job, struct strbuf *body)
{
	struct json_out o;

	open_patch(&o, body, job);
	json_out_key(&o, "annotations");
	json_out_object(&o);
	json_out_kv(&o, KUEUE_STOPPING, "true");
	json_out_object_end(&o);
	json_out_object_end(&o);
	json_out_key(&o, "spec");
	json_out_object(&o);
	json_out_kv_bool(&o, "suspend", true);
	json_out_object_end(&o);
	close_patch(&o);
}

void job_start_reset(const struct api_job *job, struct strbuf *body)
{
	struct json_out o;

	open_patch(&o, body, job);
	json_out_object_end(&o);
	json_out_key(&o, "status");
	json_out_object(&o);
	json_out_kv(&o, "startTime", NULL);
	json_out_object_end(&o);
	close_patch(&o);
}

/* What a merge patch needs to make `now` into `then`. */
static void write_difference(struct json_out *o, const char *name, const struct field_map *now,
			     const struct field_map *then)
{
	json_out_key(o, name);
	json_out_object(o);
	for (size_t i = 0; i < now->n; i++) {
		if (field_map_get(then, now->v[i].key) == NULL &&
		    !job_podset_is_controller_label(now->v[i].key)) {
			json_out_kv(o, now->v[i].key, NULL);
		}
	}
	for (size_t i = 0; i < then->n; i++) {
		if (!field_map_is(now, then->v[i].key, then->v[i].value)) {
			json_out_kv(o, then->v[i].key, then->v[i].value);
		}
	}
	json_out_object_end(o);
}

static void write_template(struct json_out *o, const struct api_pod_template *now,
			   const struct api_pod_template *then)
{
	struct tolerations t = VEC_INIT;

	json_out_key(o, "template");
	json_out_object(o);
	json_out_key(o, "metadata");
	json_out_object(o);
	write_difference(o, "labels", &now->meta.labels, &then->meta.labels);
	write_difference(o, "annotations", &now->meta.annotations, &then->meta.annotations);
	json_out_object_end(o);
	json_out_key(o, "spec");
	json_out_object(o);
	write_difference(o, "nodeSelector", &now->spec.node_selector, &then->spec.node_selector);
	for (size_t i = 0; i < then->spec.tolerations.n; i++) {
		vec_push(&t, &then->spec.tolerations.v[i]);
	}
	write_tolerations(o, t.v, t.n);
	json_out_object_end(o);
	json_out_object_end(o);
	vec_finish(&t);
}

void job_start_restore(const struct api_job *job, const struct api_workload *w, struct strbuf *body)
{
	const struct api_pod_set *set =
		w == NULL || w->spec.pod_sets.n != 1 ? NULL : w->spec.pod_sets.v;
	struct json_out o;

	open_patch(&o, body, job);
	json_out_key(&o, "annotations");
	json_out_object(&o);
	json_out_kv(&o, KUEUE_STOPPING, NULL);
	json_out_object_end(&o);
	json_out_object_end(&o);
	if (set != NULL) {
		json_out_key(&o, "spec");
		json_out_object(&o);
		if (set->min_count != FIELD_NO_I32) {
			write_count(&o, job, set->count == FIELD_NO_I32 ? 1 : set->count);
		}
		write_template(&o, &job->spec.template_, &set->template_);
		json_out_object_end(&o);
	}
	close_patch(&o);
}
