#include "scheduler/multikueue/worker/custom_lists.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "kube/reflector/reflector.h"
#include "kube/rest.h"
#include "scheduler/base/message.h"

struct custom_list {
	char *plural; /* NULL: not known, or it cannot be used */
	bool missing; /* the latter; text says why */
	bool fails;   /* discovery, list or watch; text is the answer */
	bool synced, fresh;
	int64_t failing_since; /* wall ns */
	char text[CUSTOM_LISTS_MAX_TEXT];
};

void custom_lists_init(struct custom_lists *l, struct custom_kinds kinds)
{
	l->kinds = kinds;
	l->v = xmalloc_zero(kinds.n + 1, sizeof(*l->v));
}

void custom_lists_reset(struct custom_lists *l)
{
	for (size_t i = 0; i < l->kinds.n; i++) {
		free(l->v[i].plural);
		l->v[i] = (struct custom_list){ .plural = NULL };
	}
}

void custom_lists_finish(struct custom_lists *l)
{
	custom_lists_reset(l);
	free(l->v);
	l->v = NULL;
}

static struct custom_list *list_of(const struct custom_lists *l, const struct custom_kind *k)
{
	return &l->v[k - l->kinds.v];
}

static void set_text(struct custom_list *list, const char *text)
{
	snprintf(list->text, sizeof(list->text), "%s", text);
}

static void on_resource(struct custom_list *list, const struct sched_msg *m)
{
	free(list->plural);
	list->plural = m->plural == NULL ? NULL : xmalloc_dup(m->plural);
	list->missing = m->plural == NULL;
	list->synced = false; /* SYNCED follows */
	set_text(list, m->text);
}

static void on_watch(struct custom_list *list, const struct sched_msg *m, int64_t now)
{
	bool fails = m->reason != REFLECTOR_REASON_NONE;

	if (fails && !list->fails) {
		list->failing_since = now;
	}
	list->fails = fails;
	if (fails) {
		set_text(list, m->text);
	}
}

void custom_lists_handle(struct custom_lists *l, const struct sched_msg *m, int64_t now)
{
	const struct custom_kind *k = custom_kinds_find(&l->kinds, m->key);
	struct custom_list *list = k == NULL ? NULL : list_of(l, k);

	if (list == NULL) {
		return;
	}
	if (m->kind == SCHED_MSG_RESOURCE) {
		on_resource(list, m);
	} else if (m->kind == SCHED_MSG_WATCH) {
		on_watch(list, m, now);
	} else if (m->kind == SCHED_MSG_SYNCED) {
		list->synced = true;
	} else if (m->kind == SCHED_MSG_REFRESHED) {
		list->fresh = true;
	}
}

bool custom_lists_are_settled(const struct custom_lists *l)
{
	for (size_t i = 0; i < l->kinds.n; i++) {
		const struct custom_list *list = &l->v[i];

		if (!list->fails && !list->missing && !list->synced) {
			return false;
		}
	}
	return true;
}

bool custom_lists_is_complete(const struct custom_lists *l, const struct custom_kind *k,
			      int64_t now, int64_t *ret_since)
{
	const struct custom_list *list = list_of(l, k);

	if (list->fails) {
		*ret_since = list->failing_since;
	} else if (!list->missing && !list->synced) {
		*ret_since = now;
	} else {
		return true;
	}
	return false;
}

bool custom_lists_is_fresh(const struct custom_lists *l, const struct custom_kind *k)
{
	return list_of(l, k)->fresh;
}

bool custom_lists_problem(const struct custom_lists *l, const struct custom_kind *k,
			  struct strbuf *out)
{
	const struct custom_list *list = list_of(l, k);

	if (list->fails) {
		strbuf_printf(out, "%s cannot be read: %s", k->name, list->text);
	} else if (list->missing) {
		strbuf_printf(out, "%s %s", k->name, list->text);
	}
	return list->fails || list->missing;
}

void custom_lists_add_problems(const struct custom_lists *l, struct strbuf *out)
{
	const char *separator = "";

	for (size_t i = 0; i < l->kinds.n; i++) {
		const struct custom_kind *k = &l->kinds.v[i];

		if (list_of(l, k)->fails || list_of(l, k)->missing) {
			strbuf_add_c(out, separator);
			(void)custom_lists_problem(l, k, out);
			separator = "; ";
		}
	}
}

static const char *plural_of(const struct custom_lists *l, const struct custom_kind *k)
{
	return k == NULL ? NULL : list_of(l, k)->plural;
}

static bool add_path(const struct custom_lists *l, struct str key, bool of_object, const char *sub,
		     struct strbuf *out)
{
	const struct custom_kind *k = custom_kinds_of_key(&l->kinds, key);
	struct str object = custom_kinds_object(key), space = str_next(&object, '/');
	CLEANUP(xmalloc_freep) char *in = xmalloc_dup_n(space.p, space.len);
	CLEANUP(xmalloc_freep) char *name = xmalloc_dup_n(object.p, object.len);
	const char *plural = plural_of(l, k);

	if (plural != NULL) {
		rest_path(out, k->group, k->version, in, plural, of_object ? name : NULL, sub);
	}
	return plural != NULL;
}

bool custom_lists_key_path(const struct custom_lists *l, struct str key, const char *sub,
			   struct strbuf *out)
{
	return add_path(l, key, true, sub, out);
}

bool custom_lists_collection(const struct custom_lists *l, struct str key, struct strbuf *out)
{
	return add_path(l, key, false, NULL, out);
}
