#include "webhook/admit/admit_check.h"

#include <stdarg.h>

#include "api/kueue/kueue_keys.h"
#include "api/meta/validate.h"
#include "base/arena.h"
#include "enc/decode.h"

/* Only an UPDATE has an old object: at a CREATE there is none to decode, and a DELETE is no
 * write that could break a rule. */
int admit_check_read(const struct admit_request *q, const struct field_table *t, void *object,
		     void *old, struct err *err)
{
	bool update = admit_is_operation(q, "UPDATE");
	int r;

	if (!update && !admit_is_operation(q, "CREATE")) {
		return ADMIT_CHECK_OTHER;
	}
	r = decode_text(t, q->review->object, object, q->arena, err);
	if (r == 0 && update) {
		r = decode_text(t, q->review->old_object, old, q->arena, err);
	}
	if (r < 0) {
		return r;
	}
	return update ? ADMIT_CHECK_UPDATE : ADMIT_CHECK_CREATE;
}

void admit_check_deny(const struct admit_check *c, const char *path, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	admit_deny_invalid(c->answer, c->q->arena, "%s: %s", path,
			   arena_vprintf(c->q->arena, fmt, args));
	va_end(args);
}

const char *admit_check_path(const struct admit_check *c, const char *fmt, ...)
{
	const char *path;
	va_list args;

	va_start(args, fmt);
	path = arena_vprintf(c->q->arena, fmt, args);
	va_end(args);
	return path;
}

void admit_check_subdomain(const struct admit_check *c, const char *path, const char *value)
{
	if (value != NULL && !validate_is_dns_subdomain(str_of(value))) {
		admit_check_deny(c, path, "\"%s\" is not a DNS subdomain", value);
	}
}

void admit_check_label(const struct admit_check *c, const char *path, const char *value)
{
	if (value != NULL && !validate_is_dns_label(str_of(value))) {
		admit_check_deny(c, path, "\"%s\" is not a DNS label", value);
	}
}

void admit_check_qualified(const struct admit_check *c, const char *path, const char *value)
{
	if (value != NULL && !validate_is_qualified_name(str_of(value))) {
		admit_check_deny(c, path, "\"%s\" is not a qualified name", value);
	}
}

/* An absent value passes: it has the default of the CRD, or is required there. */
void admit_check_enum(const struct admit_check *c, const char *path, const char *value,
		      const char *const *allowed)
{
	const char *list = "";

	if (value == NULL) {
		return;
	}
	for (size_t i = 0; allowed[i] != NULL; i++) {
		if (str_streq(value, allowed[i])) {
			return;
		}
	}
	for (size_t i = 0; allowed[i] != NULL; i++) {
		list = admit_check_path(c, "%s%s%s", list, i == 0 ? "" : ", ", allowed[i]);
	}
	admit_check_deny(c, path, "\"%s\" is not one of %s", value, list);
}

void admit_check_stop_policy(const struct admit_check *c, const char *value)
{
	static const char *const allowed[] = { KUEUE_STOP_NONE, KUEUE_STOP_HOLD,
					       KUEUE_STOP_HOLD_AND_DRAIN, NULL };

	admit_check_enum(c, "spec.stopPolicy", value, allowed);
}

void admit_check_not_negative(const struct admit_check *c, const char *path,
			      const struct quantity *amount)
{
	char text[QUANTITY_TEXT_MAX];

	if (amount != NULL && amount->nano < 0) {
		quantity_format(*amount, text);
		admit_check_deny(c, path, "%s is negative", text);
	}
}

void admit_check_weight(const struct admit_check *c, const struct api_fair_sharing *f)
{
	static const char path[] = "spec.fairSharing.weight";

	admit_check_not_negative(c, path, f->weight);
	/* Kueue's rule: shares are divided by the weight. */
	if (f->weight != NULL && f->weight->nano == 1) {
		admit_check_deny(c, path, "1n is too small, it must be 0 or more than 1n");
	}
}

void admit_check_labels(const struct admit_check *c, const char *path, const struct field_map *m)
{
	for (size_t i = 0; i < m->n; i++) {
		admit_check_qualified(c, path, m->v[i].key);
		if (!validate_is_label_value(str_of(m->v[i].value))) {
			admit_check_deny(c, admit_check_path(c, "%s[%s]", path, m->v[i].key),
					 "\"%s\" is not a valid label value", m->v[i].value);
		}
	}
}

void admit_check_effect(const struct admit_check *c, const char *path, const char *value)
{
	static const char *const allowed[] = { "NoSchedule", "PreferNoSchedule", "NoExecute",
					       NULL };

	admit_check_enum(c, path, value, allowed);
}

/* Kubernetes' rules for tolerations of pods: they are copied into pods when the Workload starts,
 * and would be refused there, long after the object that names them. */
static void check_toleration(const struct admit_check *c, const char *path,
			     const struct api_toleration *t)
{
	static const char *const operators[] = { "Equal", "Exists", NULL };
	bool exists = str_streq(t->operator_, "Exists");

	admit_check_qualified(c, admit_check_path(c, "%s.key", path), t->key);
	admit_check_enum(c, admit_check_path(c, "%s.operator", path), t->operator_, operators);
	admit_check_effect(c, admit_check_path(c, "%s.effect", path), t->effect);
	if (t->key == NULL && !exists) {
		admit_check_deny(c, admit_check_path(c, "%s.operator", path),
				 "must be Exists when key is empty");
	}
	if (exists && t->value != NULL) {
		admit_check_deny(c, admit_check_path(c, "%s.value", path),
				 "must be empty when operator is Exists");
	}
	if (!exists && t->value != NULL && !validate_is_label_value(str_of(t->value))) {
		admit_check_deny(c, admit_check_path(c, "%s.value", path),
				 "\"%s\" is not a valid label value", t->value);
	}
	if (t->seconds != FIELD_NO_I64 && !str_streq(t->effect, "NoExecute")) {
		admit_check_deny(c, admit_check_path(c, "%s.effect", path),
				 "must be NoExecute when tolerationSeconds is set");
	}
}

void admit_check_tolerations(const struct admit_check *c, const char *path,
			     const struct api_toleration *list, size_t n)
{
	if (n > 8) {
		/* The limit of Kueue's CRDs, for flavors and for podSetUpdates. */
		admit_check_deny(c, path, "%zu items, at most 8 are allowed", n);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		check_toleration(c, admit_check_path(c, "%s[%zu]", path, i), &list[i]);
	}
}

void admit_check_add_finalizer(const struct api_meta *meta, struct admit_answer *ret)
{
	/* A manifest may have it already; the API server may also ask twice. */
	for (size_t i = 0; i < meta->finalizers.n; i++) {
		if (str_streq(meta->finalizers.v[i], KUEUE_FINALIZER)) {
			return;
		}
	}
	/* JSON Patch cannot append to a list that is not there. */
	if (meta->finalizers.v == NULL) {
		admit_patch_add(ret, "/metadata/finalizers", NULL);
		json_out_array(&ret->out);
		json_out_str(&ret->out, KUEUE_FINALIZER);
		json_out_array_end(&ret->out);
	} else {
		admit_patch_add(ret, "/metadata/finalizers", "-");
		json_out_str(&ret->out, KUEUE_FINALIZER);
	}
	admit_patch_end(ret);
	admit_patch_close(ret);
}
