#include "scheduler/workloads/owners/owner_plan.h"

#include "api/kueue/kueue.h"
#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "enc/json/json_out.h"

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

void owner_plan_tell(struct owner_write *w, const char *event, const char *message)
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
	owner_plan_tell(w, event, message);
	return w;
}

void owner_plan_note_class(struct owner_plan *p, const struct api_meta *owner)
{
	const char *name = field_map_get(&owner->labels, KUEUE_PRIORITY_CLASS);

	if (name != NULL && name[0] != '\0') {
		(void)owner_plan_note(
			p, true, "WorkloadPriorityClassNotFound",
			arena_printf(p->arena, "WorkloadPriorityClass \"%s\" not found", name));
	}
}

const char *owner_plan_checks(const struct owner_plan *p, const struct api_workload *w)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	for (size_t i = 0; i < w->status.admission_checks.n; i++) {
		const struct api_check_state *c = &w->status.admission_checks.v[i];

		if (str_streq(c->state, "Pending") && c->message != NULL && c->message[0] != '\0') {
			strbuf_printf(&text, "%s%s: %s", text.len == 0 ? "" : "; ", c->name,
				      c->message);
		}
	}
	return text.len == 0 ? NULL : arena_dup(p->arena, text.p);
}

bool owner_plan_is_true(const struct api_workload *w, const char *condition)
{
	return kueue_condition_is_true(&w->status.conditions, condition);
}

bool owner_plan_is_managed(const struct owner_plan_env *env, const struct api_meta *owner)
{
	const char *queue = field_map_get(&owner->labels, KUEUE_QUEUE_NAME);

	return env->without_queue_name || (queue != NULL && queue[0] != '\0');
}

bool owner_plan_is_admitted(const struct api_workload *w)
{
	return kueue_workload_is_reserving(w) && owner_plan_is_true(w, KUEUE_ADMITTED) &&
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

void owner_plan_open(struct json_out *o, struct strbuf *body, const struct api_meta *m)
{
	json_out_init(o, body);
	json_out_object(o);
	json_out_key(o, "metadata");
	json_out_object(o);
	json_out_kv(o, "uid", m->uid);
	json_out_kv(o, "resourceVersion", m->resource_version);
}

void owner_plan_write_finalizers(struct json_out *o, const struct api_meta *m, const char *without)
{
	json_out_key(o, "finalizers");
	json_out_array(o);
	for (size_t i = 0; i < m->finalizers.n; i++) {
		if (!str_streq(m->finalizers.v[i], without)) {
			json_out_str(o, m->finalizers.v[i]);
		}
	}
	json_out_array_end(o);
}

void owner_plan_write_delete(const struct api_meta *m, struct strbuf *body)
{
	struct json_out o;

	json_out_init(&o, body);
	json_out_object(&o);
	json_out_kv(&o, "apiVersion", "v1");
	json_out_kv(&o, "kind", "DeleteOptions");
	json_out_key(&o, "preconditions");
	json_out_object(&o);
	json_out_kv(&o, "uid", m->uid);
	json_out_object_end(&o);
	json_out_object_end(&o);
	json_out_end(&o);
}

/* --- writes about Workloads --------------------------------------------------------------------
 */

void owner_plan_release(struct owner_plan *p, const struct api_workload *w)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	struct json_out o;

	if (!owner_plan_has_finalizer(&w->meta, KUEUE_FINALIZER)) {
		return;
	}
	owner_plan_open(&o, &body, &w->meta);
	owner_plan_write_finalizers(&o, &w->meta, KUEUE_FINALIZER);
	json_out_object_end(&o);
	json_out_object_end(&o);
	json_out_end(&o);
	(void)owner_plan_add(p, OWNER_RELEASE, w, &body);
}

void owner_plan_status(struct owner_plan *p, const struct api_workload *w,
		       const struct strbuf *body, bool finished)
{
	struct owner_write *new = owner_plan_add(p, OWNER_STATUS, w, body);

	if (finished && !kueue_condition_is_true(&w->status.conditions, KUEUE_FINISHED)) {
		owner_plan_tell(new, "FinishedWorkload",
				arena_printf(p->arena, "Workload '%s/%s' is declared finished",
					     p->namespace_, w->meta.name));
	}
}

void owner_plan_delete(struct owner_plan *p, const struct api_workload *w)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;

	if (w->meta.deleted != FIELD_NO_TIME ||
	    owner_plan_has_finalizer(&w->meta, KUEUE_FINALIZER)) {
		owner_plan_release(p, w); /* the change brings us here again */
		return;
	}
	owner_plan_write_delete(&w->meta, &body);
	owner_plan_tell(owner_plan_add(p, OWNER_DELETE, w, &body), "DeletedWorkload",
			arena_printf(p->arena, "Deleted not matching Workload: %s/%s",
				     p->namespace_, w->meta.name));
}

static void write_owners(struct json_out *o, const struct owner_plan_refs *refs)
{
	json_out_key(o, "ownerReferences");
	json_out_array(o);
	for (size_t i = 0; i < refs->n; i++) {
		json_out_object(o);
		json_out_kv(o, "apiVersion", refs->api_version);
		json_out_kv(o, "kind", refs->kind);
		json_out_kv(o, "name", refs->v[i].name);
		json_out_kv(o, "uid", refs->v[i].uid);
		if (refs->controller) {
			json_out_kv_bool(o, "controller", true);
			json_out_kv_bool(o, "blockOwnerDeletion", true);
		}
		json_out_object_end(o);
	}
	json_out_array_end(o);
}

/* What is meant for its ProvisioningRequests; NULL: no (more of them). */
static const struct field_pair *next_passed_note(const struct owner_spec *s, size_t *i)
{
	while (s->annotations != NULL && *i < s->annotations->n) {
		const struct field_pair *a = &s->annotations->v[(*i)++];

		if (str_has_prefix(str_of(a->key), KUEUE_PROVISIONING_PREFIX)) {
			return a;
		}
	}
	return NULL;
}

static void write_notes(struct json_out *o, const struct owner_spec *s)
{
	json_out_key(o, "annotations");
	json_out_object(o);
	json_out_kv(o, KUEUE_ADMISSION_GATED_BY, s->gated_by);
	json_out_object_end(o);
}

/* Those that mean something have been written, or were left out for a reason. */
static void write_copied_notes(struct json_out *o, const struct owner_spec *s)
{
	for (size_t i = 0; i < s->notes.n; i++) {
		const struct field_pair *a = &s->notes.v[i];

		if (!str_streq(a->key, KUEUE_ADMISSION_GATED_BY) &&
		    !str_streq(a->key, KUEUE_IS_GROUP_WORKLOAD) &&
		    !str_has_prefix(str_of(a->key), KUEUE_PROVISIONING_PREFIX)) {
			json_out_kv(o, a->key, a->value);
		}
	}
}

static void write_new_notes(struct json_out *o, const struct owner_spec *s, bool group)
{
	size_t i = 0;
	const struct field_pair *passed = next_passed_note(s, &i);

	if (s->gated_by == NULL && !group && passed == NULL && s->notes.n == 0) {
		return;
	}
	json_out_key(o, "annotations");
	json_out_object(o);
	if (s->gated_by != NULL) {
		json_out_kv(o, KUEUE_ADMISSION_GATED_BY, s->gated_by);
	}
	if (group) {
		json_out_kv(o, KUEUE_IS_GROUP_WORKLOAD, "true");
	}
	for (; passed != NULL; passed = next_passed_note(s, &i)) {
		json_out_kv(o, passed->key, passed->value);
	}
	write_copied_notes(o, s);
	json_out_object_end(o);
}

static void write_labels(struct json_out *o, const struct owner_spec *s,
			 const struct owner_plan_refs *refs)
{
	if (!refs->controller && s->labels.n == 0) {
		return;
	}
	json_out_key(o, "labels");
	json_out_object(o);
	if (refs->controller) {
		json_out_kv(o, KUEUE_JOB_UID, refs->v[0].uid);
	}
	for (size_t i = 0; i < s->labels.n; i++) {
		if (!str_streq(s->labels.v[i].key, KUEUE_JOB_UID)) {
			json_out_kv(o, s->labels.v[i].key, s->labels.v[i].value);
		}
	}
	json_out_object_end(o);
}

/* The pod sets with gaps: where the text is to be cut, one place per template. */
static size_t *write_podsets(struct owner_plan *p, struct json_out *o, const struct strbuf *body,
			     const struct owner_spec *s)
{
	size_t *cuts = arena_zero(p->arena, s->npodsets + 1, sizeof(*cuts));

	json_out_key(o, "podSets");
	json_out_array(o);
	for (size_t i = 0; i < s->npodsets; i++) {
		owner_spec_open_podset(&s->podsets[i], o);
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

static void write_new_meta(struct owner_plan *p, struct json_out *o, const struct owner_spec *s,
			   const struct owner_plan_refs *refs, bool group)
{
	json_out_key(o, "metadata");
	json_out_object(o);
	json_out_kv(o, "namespace", p->namespace_);
	json_out_kv(o, "name", s->name);
	write_labels(o, s, refs);
	write_new_notes(o, s, group);
	json_out_key(o, "finalizers");
	json_out_array(o);
	json_out_str(o, KUEUE_FINALIZER);
	json_out_array_end(o);
	write_owners(o, refs);
	json_out_object_end(o);
}

void owner_plan_create(struct owner_plan *p, const struct owner_spec *s,
		       const struct owner_plan_refs *refs, bool group)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	struct owner_write *w;
	struct json_out o;
	size_t *cuts;

	json_out_init(&o, &body);
	json_out_object(&o);
	json_out_kv(&o, "apiVersion", KUEUE_API_VERSION);
	json_out_kv(&o, "kind", "Workload");
	write_new_meta(p, &o, s, refs, group);
	json_out_key(&o, "spec");
	json_out_object(&o);
	cuts = write_podsets(p, &o, &body, s);
	owner_spec_write(s, false, &o);
	json_out_object_end(&o);
	json_out_object_end(&o);
	json_out_end(&o);
	w = add_cut(p, OWNER_CREATE, s, &body, cuts);
	w->workload = s->name;
	owner_plan_tell(w, "CreatedWorkload",
			arena_printf(p->arena, "Created Workload: %s/%s", p->namespace_, s->name));
}

void owner_plan_update(struct owner_plan *p, const struct owner_spec *s,
		       const struct api_workload *w)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	struct owner_write *new;
	struct json_out o;
	size_t *cuts;

	owner_plan_open(&o, &body, &w->meta);
	write_notes(&o, s);
	json_out_object_end(&o);
	json_out_key(&o, "spec");
	json_out_object(&o);
	cuts = write_podsets(p, &o, &body, s);
	owner_spec_write(s, true, &o);
	json_out_object_end(&o);
	json_out_object_end(&o);
	json_out_end(&o);
	new = add_cut(p, OWNER_UPDATE, s, &body, cuts);
	new->workload = w->meta.name;
	owner_plan_tell(new, "UpdatedWorkload",
			arena_printf(p->arena, "Updated not matching Workload: %s/%s",
				     p->namespace_, w->meta.name));
}

void owner_plan_sync(struct owner_plan *p, const struct owner_spec *wanted,
		     const struct api_workload *w)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	struct owner_spec s = *wanted;
	struct json_out o;

	s.max_execution =
		w->spec.max_execution_time == FIELD_NO_I32 ? 0 : w->spec.max_execution_time;
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
	owner_plan_open(&o, &body, &w->meta);
	write_notes(&o, &s);
	json_out_object_end(&o);
	json_out_key(&o, "spec");
	json_out_object(&o);
	owner_spec_write(&s, true, &o);
	json_out_object_end(&o);
	json_out_object_end(&o);
	json_out_end(&o);
	(void)owner_plan_add(p, OWNER_SYNC, w, &body);
}

void owner_plan_adopt(struct owner_plan *p, const struct owner_plan_refs *refs,
		      const struct api_workload *w)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	struct json_out o;

	owner_plan_open(&o, &body, &w->meta);
	write_owners(&o, refs);
	json_out_object_end(&o);
	json_out_object_end(&o);
	json_out_end(&o);
	(void)owner_plan_add(p, OWNER_SYNC, w, &body);
}
