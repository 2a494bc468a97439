#include "scheduler/workloads/owners/owner_plan.h"

#include "api/kueue/kueue.h"
#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "enc/decode.h"
#include "enc/encode.h"
#include "enc/json/json_out.h"
#include "kube/rest.h"

void owner_plan_finish(struct owner_plan *p)
{
	vec_finish(&p->writes);
}

struct owner_write *owner_plan_add(struct owner_plan *p, enum owner_write_kind kind,
				   const struct api_workload *w, const struct strbuf *body)
{
	struct owner_write new = { .kind = kind,
				   .pods = p->pods,
				   .workload = w == NULL ? NULL : w->meta.name,
				   .about = p->about };

	new.body = arena_dup_n(p->arena, body->p, body->len);
	vec_push(&p->writes, new);
	return &p->writes.v[p->writes.n - 1];
}

void owner_plan_set_event(struct owner_write *w, const char *event, const char *message)
{
	w->event = event;
	w->message = message == NULL ? "" : message;
}

struct owner_write *owner_plan_note(struct owner_plan *p, bool warning, const char *event,
				    const char *message)
{
	CLEANUP(strbuf_finish) struct strbuf none = STRBUF_INIT;
	struct owner_write *w = owner_plan_add(p, OWNER_NOTE, NULL, &none);

	w->warning = warning;
	owner_plan_set_event(w, event, message);
	return w;
}

/* Kueue: the label of the owner goes before the class of its pods. */
void owner_plan_note_class(struct owner_plan *p, const struct api_meta *owner,
			   const char *priority_class)
{
	const char *name = field_map_get(&owner->labels, KUEUE_PRIORITY_CLASS);

	if (name != NULL && name[0] != '\0') {
		(void)owner_plan_note(
			p, true, "WorkloadPriorityClassNotFound",
			arena_printf(p->arena, "WorkloadPriorityClass \"%s\" not found", name));
	} else if (priority_class != NULL) {
		(void)owner_plan_note(
			p, true, "PriorityClassNotFound",
			arena_printf(p->arena, "PriorityClass \"%s\" not found", priority_class));
	}
}

const char *owner_plan_checks(const struct owner_plan *p, const struct api_workload *w)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	for (size_t i = 0; i < w->status.admission_checks.n; i++) {
		const struct api_check_state *c = &w->status.admission_checks.v[i];

		/* Of the others there is nothing to wait for. */
		if (str_streq(c->state, "Pending") && c->message != NULL) {
			strbuf_printf(&text, "%s%s: %s", text.len == 0 ? "" : "; ", c->name,
				      c->message);
		}
	}
	return text.len == 0 ? NULL : arena_dup(p->arena, text.p);
}

bool owner_plan_is_managed(const struct owner_plan_env *env, const struct api_meta *owner)
{
	const char *queue = field_map_get(&owner->labels, KUEUE_QUEUE_NAME);

	return env->without_queue_name || (queue != NULL && queue[0] != '\0');
}

bool owner_plan_is_admitted(const struct api_workload *w)
{
	/* The admission says on which flavors: without it nothing can be started, whatever the
	 * conditions are. */
	return kueue_workload_is_reserving(w) && kueue_workload_is_true(w, KUEUE_ADMITTED) &&
	       w->status.admission != NULL;
}

bool owner_plan_may_start(const struct owner_plan_env *env, const struct api_workload *w)
{
	return env->may_start == NULL || env->may_start(env->ctx, w);
}

bool owner_plan_is_owned_by(const struct api_workload *w, const struct api_meta *owner)
{
	const struct api_owner *o = meta_controller(&w->meta);

	return o != NULL && str_streq(o->uid, owner->uid);
}

bool owner_plan_has_finalizer(const struct api_meta *m, const char *finalizer)
{
	for (size_t i = 0; i < m->finalizers.n; i++) {
		if (str_streq(m->finalizers.v[i], finalizer)) {
			return true;
		}
	}
	return false;
}

/* --- patches -----------------------------------------------------------------------------------
 */

/* The API server refuses such a patch (409) when the object has changed, and the change brings a
 * new plan. So a plan never acts upon what it has not seen. */
void owner_plan_same(const struct api_meta *m, struct api_meta *ret)
{
	ret->uid = m->uid;
	ret->resource_version = m->resource_version;
}

/* A merge patch replaces a list as a whole, so the others are part of it. */
struct field_strs owner_plan_finalizers(const struct api_meta *m, const char *without,
					struct arena *arena)
{
	const char **v = arena_zero(arena, m->finalizers.n, sizeof(*v));
	size_t n = 0;

	for (size_t i = 0; i < m->finalizers.n; i++) {
		if (!str_streq(m->finalizers.v[i], without)) {
			v[n++] = m->finalizers.v[i];
		}
	}
	return (struct field_strs){ v, n };
}

/* --- writes about Workloads --------------------------------------------------------------------
 */

void owner_plan_drop_finalizer(struct owner_plan *p, const struct api_workload *w)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	struct api_workload patch;

	if (!owner_plan_has_finalizer(&w->meta, KUEUE_FINALIZER)) {
		return;
	}
	decode_init(&kueue_workload_fields, &patch);
	owner_plan_same(&w->meta, &patch.meta);
	patch.meta.finalizers = owner_plan_finalizers(&w->meta, KUEUE_FINALIZER, p->arena);
	encode_text(&kueue_workload_fields, &patch, &body);
	(void)owner_plan_add(p, OWNER_DROP_FINALIZER, w, &body);
}

void owner_plan_status(struct owner_plan *p, const struct api_workload *w,
		       const struct strbuf *body, bool finished)
{
	struct owner_write *new = owner_plan_add(p, OWNER_STATUS, w, body);

	/* Not again when the status of a finished one is written once more. */
	if (finished && !kueue_workload_is_true(w, KUEUE_FINISHED)) {
		owner_plan_set_event(new, "FinishedWorkload",
				     arena_printf(p->arena, "Workload '%s/%s' is declared finished",
						  p->namespace_, w->meta.name));
	}
}

void owner_plan_delete(struct owner_plan *p, const struct api_workload *w)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;

	if (w->meta.deleted != FIELD_NO_TIME ||
	    owner_plan_has_finalizer(&w->meta, KUEUE_FINALIZER)) {
		owner_plan_drop_finalizer(p, w); /* the change brings us here again */
		return;
	}
	rest_delete_options(w->meta.uid, NULL, &body);
	owner_plan_set_event(owner_plan_add(p, OWNER_DELETE, w, &body), "DeletedWorkload",
			     arena_printf(p->arena, "Deleted not matching Workload: %s/%s",
					  p->namespace_, w->meta.name));
}

static void add_owners(const struct owner_plan_refs *refs, struct arena *arena,
		       struct api_meta *ret)
{
	/* Kubernetes allows one controller: a group is owned by all of its pods, and controlled by
	 * none. */
	int8_t controls = refs->controller ? 1 : FIELD_TRI_ABSENT;

	FIELD_LIST_MAKE(&ret->owners, refs->n, arena);
	for (size_t i = 0; i < refs->n; i++) {
		ret->owners.v[i] = (struct api_owner){
			.api_version = refs->api_version,
			.kind = refs->kind,
			.name = refs->v[i].name,
			.uid = refs->v[i].uid,
			.controller = controls,
			.block_owner_deletion = controls,
		};
	}
}

/* The annotations that mean something are set by add_annotations itself. */
static bool is_copied(const char *annotation)
{
	return !str_streq(annotation, KUEUE_ADMISSION_GATED_BY) &&
	       !str_streq(annotation, KUEUE_IS_GROUP_WORKLOAD) &&
	       !str_has_prefix(str_of(annotation), KUEUE_PROVISIONING_PREFIX);
}

static void add_annotations(const struct owner_spec *s, bool group, struct arena *arena,
			    struct api_meta *ret)
{
	size_t owners = s->annotations == NULL ? 0 : s->annotations->n, n = 0;
	struct field_pair *v = arena_zero(arena, 2 + owners + s->notes.n, sizeof(*v));

	if (s->gated_by != NULL) {
		v[n++] = (struct field_pair){ KUEUE_ADMISSION_GATED_BY, s->gated_by };
	}
	if (group) {
		v[n++] = (struct field_pair){ KUEUE_IS_GROUP_WORKLOAD, "true" };
	}
	/* Those for its ProvisioningRequests. */
	for (size_t i = 0; i < owners; i++) {
		if (str_has_prefix(str_of(s->annotations->v[i].key), KUEUE_PROVISIONING_PREFIX)) {
			v[n++] = s->annotations->v[i];
		}
	}
	for (size_t i = 0; i < s->notes.n; i++) {
		if (is_copied(s->notes.v[i].key)) {
			v[n++] = s->notes.v[i];
		}
	}
	if (n > 0) {
		ret->annotations = (struct field_map){ v, n };
	}
}

static void add_labels(const struct owner_spec *s, const struct owner_plan_refs *refs,
		       struct arena *arena, struct api_meta *ret)
{
	struct field_pair *v = arena_zero(arena, 1 + s->labels.n, sizeof(*v));
	size_t n = 0;

	/* The UID of the owner, and never one that the owner bears as a label itself. */
	if (refs->controller) {
		v[n++] = (struct field_pair){ KUEUE_JOB_UID, refs->v[0].uid };
	}
	for (size_t i = 0; i < s->labels.n; i++) {
		if (!str_streq(s->labels.v[i].key, KUEUE_JOB_UID)) {
			v[n++] = s->labels.v[i];
		}
	}
	if (n > 0) {
		ret->labels = (struct field_map){ v, n };
	}
}

/* The pod sets with gaps: where the text is to be cut, one place per template. The templates are
 * read from the API server when the Workload is written (owner_request.c): decoded owners lack
 * fields that this program does not know. */
static size_t *write_podsets(struct owner_plan *p, struct json_out *o, const struct strbuf *body,
			     const struct owner_spec *s)
{
	size_t *cuts = arena_zero(p->arena, s->npodsets + 1, sizeof(*cuts));

	json_out_key(o, "podSets");
	json_out_array(o);
	for (size_t i = 0; i < s->npodsets; i++) {
		const struct owner_spec_podset *from = &s->podsets[i];
		struct api_pod_set set;

		decode_init(&kueue_workload_pod_set_fields, &set);
		set.name = from->name;
		set.count = from->count;
		set.min_count = from->min_count > 0 ? from->min_count : FIELD_NO_I32;
		json_out_object(o);
		encode_members(&kueue_workload_pod_set_fields, &set, NULL, o);
		json_out_key(o, "template");
		cuts[i] = body->len;
		json_out_raw(o, STR_LIT(""));
		json_out_object_end(o);
	}
	json_out_array_end(o);
	return cuts;
}

static struct owner_write *add_cut(struct owner_plan *p, enum owner_write_kind kind,
				   const struct owner_spec *s, const struct strbuf *text,
				   const size_t *cuts)
{
	struct owner_write_gap *gaps = arena_zero(p->arena, s->npodsets + 1, sizeof(*gaps));
	struct owner_write *w = owner_plan_add(p, kind, NULL, text);

	/* Each gap is followed by the text up to the next one. */
	w->body = arena_dup_n(p->arena, text->p, s->npodsets > 0 ? cuts[0] : text->len);
	for (size_t i = 0; i < s->npodsets; i++) {
		size_t end = i + 1 < s->npodsets ? cuts[i + 1] : text->len;

		gaps[i].from = s->podsets[i].from;
		gaps[i].tail = arena_dup_n(p->arena, text->p + cuts[i], end - cuts[i]);
	}
	w->gaps = gaps;
	w->ngaps = s->npodsets;
	return w;
}

/* A Workload without the templates of its pod sets, or a patch of one. */
static struct owner_write *add_with_gaps(struct owner_plan *p, enum owner_write_kind kind,
					 const struct owner_spec *s, const struct api_workload *w,
					 const void *const *nulls)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	struct json_out o;
	size_t *cuts;

	json_out_init(&o, &body);
	json_out_object(&o);
	/* A creation; a patch does not name its kind. */
	if (w->kind != NULL) {
		json_out_kv(&o, "apiVersion", w->api_version);
		json_out_kv(&o, "kind", w->kind);
	}
	json_out_key(&o, "metadata");
	encode_object(&meta_fields, &w->meta, &o);
	json_out_key(&o, "spec");
	json_out_object(&o);
	cuts = write_podsets(p, &o, &body, s);
	encode_members(&kueue_workload_spec_fields, &w->spec, nulls, &o);
	json_out_object_end(&o);
	json_out_object_end(&o);
	json_out_end(&o);
	return add_cut(p, kind, s, &body, cuts);
}

void owner_plan_create(struct owner_plan *p, const struct owner_spec *s,
		       const struct owner_plan_refs *refs, bool group)
{
	static const char *const finalizers[] = { KUEUE_FINALIZER };
	struct api_priority_ref ref;
	struct owner_write *new;
	struct api_workload w;

	decode_init(&kueue_workload_fields, &w);
	w.api_version = KUEUE_API_VERSION;
	w.kind = "Workload";
	w.meta.namespace_ = p->namespace_;
	w.meta.name = s->name;
	add_labels(s, refs, p->arena, &w.meta);
	add_annotations(s, group, p->arena, &w.meta);
	/* From the beginning: a Workload that is deleted stays until its owner has stopped. */
	w.meta.finalizers = (struct field_strs){ finalizers, ARRAY_LEN(finalizers) };
	add_owners(refs, p->arena, &w.meta);
	owner_spec_fill(s, &ref, &w.spec);
	new = add_with_gaps(p, OWNER_CREATE, s, &w, NULL);
	new->workload = s->name;
	owner_plan_set_event(
		new, "CreatedWorkload",
		arena_printf(p->arena, "Created Workload: %s/%s", p->namespace_, s->name));
}

struct follow { /* a patch by which a Workload follows its owner */
	struct api_workload patch;
	struct api_priority_ref ref;
	struct field_pair gate;
	const void *nulls[4];
};

/* Members that the owner does not set are removed by null: an absent member of a merge patch would
 * stay as it was. The gate is an annotation, which is removed by a pair without a value. */
static void follow(const struct owner_spec *s, const struct api_workload *w, struct follow *ret)
{
	decode_init(&kueue_workload_fields, &ret->patch);
	owner_plan_same(&w->meta, &ret->patch.meta);
	ret->gate = (struct field_pair){ KUEUE_ADMISSION_GATED_BY, s->gated_by };
	ret->patch.meta.annotations = (struct field_map){ &ret->gate, 1 };
	owner_spec_fill(s, &ret->ref, &ret->patch.spec);
	ret->nulls[0] = &ret->patch.spec.queue_name;
	ret->nulls[1] = &ret->patch.spec.priority_class_ref;
	ret->nulls[2] = &ret->patch.spec.max_execution_time;
	ret->nulls[3] = NULL;
}

void owner_plan_update(struct owner_plan *p, const struct owner_spec *s,
		       const struct api_workload *w)
{
	struct owner_write *new;
	struct follow f;

	follow(s, w, &f);
	new = add_with_gaps(p, OWNER_UPDATE, s, &f.patch, f.nulls);
	new->workload = w->meta.name;
	owner_plan_set_event(new, "UpdatedWorkload",
			     arena_printf(p->arena, "Updated not matching Workload: %s/%s",
					  p->namespace_, w->meta.name));
}

void owner_plan_sync(struct owner_plan *p, const struct owner_spec *wanted,
		     const struct api_workload *w)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	struct owner_spec s = *wanted;
	struct follow f;

	/* Another limit is no match: owner_plan_update, or another Workload. */
	s.max_execution =
		w->spec.max_execution_time == FIELD_NO_I32 ? 0 : w->spec.max_execution_time;
	/* Kueue's webhook: with quota, the queue is immutable, and so is the class, unless both are
	 * WorkloadPriorityClasses. */
	if (kueue_workload_is_reserving(w)) {
		const struct api_priority_ref *ref = w->spec.priority_class_ref;

		s.queue = w->spec.queue_name == NULL ? "" : w->spec.queue_name;
		if (ref == NULL || !str_streq(ref->group, KUEUE_GROUP) ||
		    !str_streq(s.class_group, KUEUE_GROUP)) {
			s.class_group = ref == NULL ? NULL : ref->group;
			s.class_kind = ref == NULL ? NULL : ref->kind;
			s.class_name = ref == NULL ? NULL : ref->name;
			s.priority = w->spec.priority == FIELD_NO_I32 ? 0 : w->spec.priority;
		}
	}
	if (owner_spec_is_synced(&s, w)) {
		return;
	}
	follow(&s, w, &f);
	encode_merge(&kueue_workload_fields, &f.patch, f.nulls, &body);
	(void)owner_plan_add(p, OWNER_SYNC, w, &body);
}

/* refs has all owners, those that the Workload has included: the list is replaced. */
void owner_plan_adopt(struct owner_plan *p, const struct owner_plan_refs *refs,
		      const struct api_workload *w)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	struct api_workload patch;

	decode_init(&kueue_workload_fields, &patch);
	owner_plan_same(&w->meta, &patch.meta);
	add_owners(refs, p->arena, &patch.meta);
	encode_text(&kueue_workload_fields, &patch, &body);
	(void)owner_plan_add(p, OWNER_SYNC, w, &body);
}
