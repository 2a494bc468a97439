#include "apiserver/verbs/update.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "apiserver/kstatus.h"
#include "apiserver/kubectl/table.h"
#include "apiserver/rules/admission.h"
#include "apiserver/rules/defaults.h"
#include "apiserver/rules/pods.h"
#include "apiserver/rules/validate.h"
#include "apiserver/server.h"
#include "apiserver/store/commit.h"
#include "apiserver/store/object.h"
#include "apiserver/verbs/apply.h"
#include "apiserver/verbs/body.h"
#include "apiserver/verbs/create.h"
#include "apiserver/verbs/patching.h"
#include "apiserver/verbs/scale.h"
#include "base/attrs.h"
#include "enc/json/jdoc.h"
#include "schema/causes.h"

#define ATTEMPTS 5
#define AGAIN 1

static const char modified[] = "the object has been modified; please apply your changes to the "
			       "latest version and try again";

/* Copies member key of `from` over that of `to`, removing it when absent. */
static void copy_member(struct jdoc *to, const struct jdoc *from, const char *key)
{
	const struct jdoc *v = jdoc_get(from, key);

	if (v == NULL) {
		jdoc_remove(to, key);
	} else {
		jdoc_set_take(to, key, jdoc_copy(v));
	}
}

/* Kubernetes: strategies with AllowUnconditionalUpdate false, and all custom resources. */
static bool needs_version(const struct call *c)
{
	return (c->res->is_custom && !call_is_sub(c, "scale")) ||
	       strcmp(c->res->group, "admissionregistration.k8s.io") == 0 ||
	       strcmp(c->res->group, "coordination.k8s.io") == 0;
}

static int refuse_unconditional(struct call *c, const struct object *old)
{
	CLEANUP(jdoc_destroyp) struct jdoc *causes = jdoc_new_array();
	CLEANUP(jdoc_destroyp) struct jdoc *zero = jdoc_new_int(0);

	causes_add_value(causes, "metadata.resourceVersion", zero,
			 "must be specified for an update");
	return kstatus_invalid_kind(c->resp, c->res->group, c->res->plural, old->name, causes);
}

static int check_version(struct call *c, const struct object *old, const struct jdoc *new,
			 bool is_put)
{
	const char *rv = jdoc_path_str(new, "metadata.resourceVersion");
	int64_t n;

	if (rv == NULL || rv[0] == '\0') {
		return is_put && needs_version(c) ? refuse_unconditional(c, old) : 0;
	}
	if (!str_to_i64(str_of(rv), &n)) {
		return kstatus_fail(c->resp, 500, "",
				    "strconv.ParseUint: parsing \"%s\": invalid syntax", rv);
	}
	return n == old->rv ? 0 : kstatus_conflict(c->resp, c->res, NULL, old->name, modified);
}

static int check_uid(struct call *c, const struct object *old, const struct jdoc *new, bool is_put)
{
	const char *uid = jdoc_path_str(new, "metadata.uid");
	CLEANUP(jdoc_destroyp) struct jdoc *causes = NULL;

	if (uid == NULL || uid[0] == '\0' || str_eq_c(old->uid, uid)) {
		return 0;
	}
	if (is_put) {
		return kstatus_other_uid(c->resp, c->res, old->ns, old->name, uid, old->uid);
	}
	causes = jdoc_new_array();
	causes_add_value(causes, "metadata.uid", jdoc_path(new, "metadata.uid"),
			 "field is immutable");
	return kstatus_invalid(c->resp, c->res, old->name, causes);
}

/* Restores what the request may not decide. */
static void restore(struct call *c, const struct jdoc *old, struct jdoc *new)
{
	static const char *const fixed[] = { "uid",
					     "creationTimestamp",
					     "deletionTimestamp",
					     "deletionGracePeriodSeconds",
					     "generation",
					     "namespace",
					     "generateName",
					     "resourceVersion" };
	const struct jdoc *old_meta = jdoc_get(old, "metadata");
	struct jdoc *meta = jdoc_get_mut(new, "metadata");

	if (call_is_sub(c, "status")) {
		const char *const keep[] = { "spec", "data", "webhooks" };

		for (size_t i = 0; i < ARRAY_LEN(keep); i++) {
			copy_member(new, old, keep[i]);
		}
		copy_member(meta, old_meta, "ownerReferences");
		copy_member(meta, old_meta, "finalizers");
		if (c->res->is_custom) {
			copy_member(meta, old_meta, "labels");
			copy_member(meta, old_meta, "annotations");
		}
	} else if ((c->res->flags & RESOURCE_SUB_STATUS) != 0 && !c->trusted) {
		copy_member(new, old, "status");
	}
	for (size_t i = 0; i < ARRAY_LEN(fixed); i++) {
		copy_member(meta, old_meta, fixed[i]);
	}
	jdoc_remove(meta, "selfLink");
}

/* Anything but metadata and, where it is a sub-resource, status. */
static bool spec_changed(const struct call *c, const struct jdoc *old, const struct jdoc *new)
{
	bool has_status = (c->res->flags & RESOURCE_SUB_STATUS) != 0;

	if (!c->res->is_custom) {
		return !jdoc_equal(jdoc_get(old, "spec"), jdoc_get(new, "spec")) ||
		       !jdoc_equal(jdoc_get(old, "webhooks"), jdoc_get(new, "webhooks"));
	}
	for (const struct jdoc *m = jdoc_first(new); m != NULL; m = jdoc_next(m)) {
		const char *key = jdoc_key(m);

		if (str_streq(key, "metadata") || (has_status && str_streq(key, "status"))) {
			continue;
		}
		if (!jdoc_equal(jdoc_get(old, key), m)) {
			return true;
		}
	}
	for (const struct jdoc *m = jdoc_first(old); m != NULL; m = jdoc_next(m)) {
		if (!(has_status && str_streq(jdoc_key(m), "status")) &&
		    jdoc_get(new, jdoc_key(m)) == NULL) {
			return true;
		}
	}
	return false;
}

static void count_generation(struct call *c, const struct jdoc *old, struct jdoc *new)
{
	int64_t n = jdoc_int(jdoc_path(old, "metadata.generation"), 0);

	if ((c->res->flags & RESOURCE_GENERATION) != 0 && spec_changed(c, old, new)) {
		jdoc_set_int(jdoc_get_mut(new, "metadata"), "generation", n + 1);
	}
}

/* Steps from the wanted state to what may be stored. *new may be replaced. */
static int prepare(struct call *c, const struct jdoc *old, struct jdoc **new)
{
	int r = defaults_apply(c, *new);

	if (r == 0 && !c->trusted) {
		r = admission_mutate(c, ADMISSION_UPDATE, old, new);
	}
	if (r < 0) {
		return r;
	}
	restore(c, old, *new);
	if (c->patched) {
		r = defaults_apply(c, *new);
	}
	if (r < 0) {
		return r;
	}
	if ((c->res->flags & RESOURCE_POD) != 0) {
		pods_prepare_update(c, old, *new);
	}
	count_generation(c, old, *new);
	r = validate_object(c, *new, old);
	if (r == 0 && !c->trusted) {
		r = admission_validate(c, ADMISSION_UPDATE, old, *new);
	}
	return r;
}

/* A terminating object without finalizers is removed (pods wait for their kubelet). */
static bool is_finished(const struct call *c, const struct jdoc *doc)
{
	const struct jdoc *meta = jdoc_get(doc, "metadata");

	if (jdoc_get(meta, "deletionTimestamp") == NULL ||
	    jdoc_first(jdoc_get(meta, "finalizers")) != NULL) {
		return false;
	}
	return (c->res->flags & RESOURCE_POD) == 0 ||
	       jdoc_int(jdoc_get(meta, "deletionGracePeriodSeconds"), 0) == 0;
}

static int answer_object(struct call *c, struct object *o)
{
	if (c->resp->status == 0) {
		c->resp->status = 200;
	}
	if (call_is_sub(c, "scale")) {
		return scale_get(c, o);
	}
	table_format_one(c, o, &c->resp->body);
	return 0;
}

static int store(struct call *c, struct object *old, const struct jdoc *old_doc, struct jdoc **new)
{
	if (jdoc_equal(old_doc, *new)) {
		return answer_object(c, old); /* no change, no version */
	}
	if (c->info.dry_run) {
		c->resp->status = 200;
		jdoc_format(*new, &c->resp->body);
		return 0;
	}
	if (is_finished(c, *new)) {
		commit_remove(c->s, c->res, old->key);
		c->resp->status = 200;
		jdoc_format(*new, &c->resp->body);
		return 0;
	}
	return answer_object(c, commit_put(c->s, c->res, new, c->now));
}

static int attempt(struct call *c, update_make_fn make, bool is_put)
{
	CLEANUP(object_unrefp)
	struct object *old = object_ref(commit_find(c->res, c->info.ns, c->info.name));
	CLEANUP(jdoc_destroyp) struct jdoc *new = NULL;
	CLEANUP(jdoc_destroyp) struct jdoc *parsed = NULL;
	const struct jdoc *old_doc;
	int r;

	if (old == NULL) {
		return kstatus_not_found(c->resp, c->res, c->info.name);
	}
	if (!c->s->opt.keeps_trees) {
		parsed = object_parse(old);
	}
	old_doc = parsed != NULL ? parsed : object_doc(old);
	r = make(c, old_doc, &new);
	r = r < 0 ? r : check_uid(c, old, new, is_put);
	r = r < 0 ? r : check_version(c, old, new, is_put);
	if (r < 0) {
		return r;
	}
	restore(c, old_doc, new);
	apply_note_update(c, old_doc, new);
	r = prepare(c, old_doc, &new);
	if (r < 0) {
		return r;
	}
	if (commit_find(c->res, c->info.ns, c->info.name) != old) {
		return AGAIN; /* another write came during a call-out */
	}
	r = store(c, old, old_doc, &new);
	if (parsed == NULL && commit_find(c->res, c->info.ns, c->info.name) != old) {
		object_drop_doc(old);
	}
	return r;
}

int update_run(struct call *c, update_make_fn make, bool is_put)
{
	for (int i = 0; i < ATTEMPTS; i++) {
		int r = attempt(c, make, is_put);

		if (r != AGAIN) {
			return r;
		}
	}
	return kstatus_conflict(c->resp, c->res, NULL, c->info.name, modified);
}

static int make_put(struct call *c, const struct jdoc *old, struct jdoc **ret)
{
	(void)old;
	if (call_is_sub(c, "scale")) {
		return scale_make_put(c, old, ret);
	}
	return body_parse_object(c, ret);
}

int update_put(struct call *c)
{
	return update_run(c, make_put, true);
}

static int make_patch(struct call *c, const struct jdoc *old, struct jdoc **ret)
{
	int r;

	if (call_is_sub(c, "scale")) {
		return scale_make_patch(c, old, ret);
	}
	r = patching_make(c, old, ret);
	r = r < 0 ? r : body_check_object(c, *ret);
	return r < 0 ? r : body_check_strict(c, *ret);
}

int update_patch(struct call *c)
{
	int r;

	if (str_has_prefix(c->req->content_type, "application/apply-patch")) {
		return apply_run(c);
	}
	r = patching_check_type(c);
	return r < 0 ? r : update_run(c, make_patch, false);
}
