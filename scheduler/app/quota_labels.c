#include "app/quota_labels.h"

#include <stdlib.h>

#include "api/meta.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/xmalloc.h"

struct values {     /* of the labels of its kind, one after the other */
	char *text; /* each ends with a zero */
	size_t len;
};

struct quota_labels {
	const struct quota_conf_metrics *conf;
	size_t n[QUOTA_CONF_METRICS_KINDS_];              /* labels */
	struct strmap *values[QUOTA_CONF_METRICS_KINDS_]; /* of the objects that were seen */
	struct strmap *shown;                             /* LocalQueues; NULL: all are */
};

static void values_free(void *p)
{
	struct values *v = p;

	free(v->text);
	free(v);
}

struct quota_labels *quota_labels_create(const struct quota_conf_metrics *conf)
{
	struct quota_labels *l = xmalloc_zero(1, sizeof(*l));

	l->conf = conf;
	for (size_t i = 0; i < conf->nlabels; i++) {
		l->n[conf->labels[i].kind]++;
	}
	for (int kind = 0; kind < QUOTA_CONF_METRICS_KINDS_; kind++) {
		l->values[kind] = strmap_create(values_free);
	}
	l->shown = conf->some_local_queues ? strmap_create(NULL) : NULL;
	return l;
}

void quota_labels_destroy(struct quota_labels *l)
{
	if (l == NULL) {
		return;
	}
	for (int kind = 0; kind < QUOTA_CONF_METRICS_KINDS_; kind++) {
		strmap_destroy(l->values[kind]);
	}
	strmap_destroy(l->shown);
	free(l);
}

size_t quota_labels_names(const struct quota_labels *l, enum quota_conf_metrics_kind kind,
			  const char **ret)
{
	size_t n = 0;

	for (size_t i = 0; i < l->conf->nlabels; i++) {
		if (l->conf->labels[i].kind == kind) {
			ret[n++] = l->conf->labels[i].name;
		}
	}
	return n;
}

bool quota_labels_matter(const struct quota_labels *l, enum quota_conf_metrics_kind kind)
{
	return kind != QUOTA_CONF_METRICS_KINDS_ &&
	       (l->n[kind] > 0 || (kind == QUOTA_CONF_METRICS_LOCAL_QUEUE && l->shown != NULL));
}

void quota_labels_values(const struct quota_labels *l, enum quota_conf_metrics_kind kind,
			 struct str key, const char **ret)
{
	const struct values *v = l->n[kind] == 0 ? NULL : strmap_get(l->values[kind], key);
	const char *at = v == NULL ? NULL : v->text;

	for (size_t i = 0; i < l->n[kind]; i++) {
		ret[i] = at == NULL ? "" : at;
		at = at == NULL ? NULL : at + strlen(at) + 1;
	}
}

static const char *value_of(const struct quota_conf_metrics_label *label, const struct api_meta *m)
{
	const char *value =
		field_map_get(label->is_annotation ? &m->annotations : &m->labels, label->key);

	value = value == NULL ? "" : value;
	for (size_t i = 0; i < label->ntracked; i++) {
		if (str_streq(label->tracked[i], value)) {
			return value;
		}
	}
	return label->ntracked == 0 ? value : QUOTA_CONF_METRICS_UNTRACKED;
}

static bool set_values(struct quota_labels *l, enum quota_conf_metrics_kind kind, struct str key,
		       const struct api_meta *m)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	const struct values *old = strmap_get(l->values[kind], key);
	struct values *new;

	for (size_t i = 0; i < l->conf->nlabels; i++) {
		if (l->conf->labels[i].kind == kind) {
			strbuf_add_c(&text, value_of(&l->conf->labels[i], m));
			strbuf_add_ch(&text, '\0');
		}
	}
	if (old != NULL && old->len == text.len && memcmp(old->text, text.p, text.len) == 0) {
		return false;
	}
	new = xmalloc_zero(1, sizeof(*new));
	new->len = text.len;
	new->text = strbuf_steal(&text, NULL);
	strmap_set(l->values[kind], key, new);
	return true;
}

static bool show(struct quota_labels *l, struct str key, const struct api_meta *m)
{
	bool before = strmap_has(l->shown, key);
	bool now = m != NULL && selector_match(&l->conf->of_local_queues, &m->labels);

	if (now) {
		strmap_set(l->shown, key, l);
	} else {
		(void)strmap_remove(l->shown, key);
	}
	return before && !now;
}

bool quota_labels_seen(struct quota_labels *l, enum quota_conf_metrics_kind kind, struct str key,
		       const struct api_meta *m)
{
	bool other = m == NULL;

	if (kind == QUOTA_CONF_METRICS_LOCAL_QUEUE && l->shown != NULL) {
		other |= show(l, key, m);
	}
	if (l->n[kind] > 0 && m == NULL) {
		(void)strmap_remove(l->values[kind], key);
	} else if (l->n[kind] > 0) {
		other |= set_values(l, kind, key, m);
	}
	return other;
}

bool quota_labels_shows(const struct quota_labels *l, struct str key)
{
	return l->shown == NULL || strmap_has(l->shown, key);
}
