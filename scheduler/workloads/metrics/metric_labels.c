#include "scheduler/workloads/metrics/metric_labels.h"

#include <stdlib.h>

#include "api/meta/meta.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"

struct values {     /* of the labels of its kind, one after the other */
	char *text; /* each ends with a zero */
	size_t len;
	size_t sort; /* of a Workload, instead of the text */
};

struct metric_labels {
	const struct kueue_conf_metrics *conf;
	size_t n[KUEUE_CONF_METRICS_KINDS_];              /* labels */
	struct strmap *values[KUEUE_CONF_METRICS_KINDS_]; /* of the objects that were seen */
	struct strmap *shown;                             /* LocalQueues; NULL: all are */
};

static void values_free(void *p)
{
	struct values *v = p;

	free(v->text);
	free(v);
}

struct metric_labels *metric_labels_create(const struct kueue_conf_metrics *conf)
{
	struct metric_labels *l = xmalloc_zero(1, sizeof(*l));

	l->conf = conf;
	for (size_t i = 0; i < conf->nlabels; i++) {
		l->n[conf->labels[i].kind]++;
	}
	for (int kind = 0; kind < KUEUE_CONF_METRICS_KINDS_; kind++) {
		l->values[kind] = strmap_create(values_free);
	}
	l->shown = conf->some_local_queues ? strmap_create(NULL) : NULL;
	return l;
}

void metric_labels_destroy(struct metric_labels *l)
{
	if (l == NULL) {
		return;
	}
	for (int kind = 0; kind < KUEUE_CONF_METRICS_KINDS_; kind++) {
		strmap_destroy(l->values[kind]);
	}
	strmap_destroy(l->shown);
	free(l);
}

size_t metric_labels_names(const struct metric_labels *l, enum kueue_conf_metrics_kind kind,
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

bool metric_labels_matter(const struct metric_labels *l, enum kueue_conf_metrics_kind kind)
{
	return kind != KUEUE_CONF_METRICS_KINDS_ &&
	       (l->n[kind] > 0 || (kind == KUEUE_CONF_METRICS_LOCAL_QUEUE && l->shown != NULL));
}

size_t metric_labels_values(const struct metric_labels *l, enum kueue_conf_metrics_kind kind,
			    struct str key, const char **ret)
{
	const struct values *v = l->n[kind] == 0 ? NULL : strmap_get(l->values[kind], key);
	const char *at = v == NULL ? NULL : v->text;

	for (size_t i = 0; i < l->n[kind]; i++) {
		ret[i] = at == NULL ? "" : at;
		at = at == NULL ? NULL : at + strlen(at) + 1;
	}
	return l->n[kind];
}

static const char *raw_value(const struct kueue_conf_metrics_label *label, const struct api_meta *m)
{
	const char *value =
		field_map_get(label->is_annotation ? &m->annotations : &m->labels, label->key);

	return value == NULL ? "" : value;
}

/* Its place among the tracked ones; behind them: it is none of them. */
static size_t find_tracked(const struct kueue_conf_metrics_label *label, const char *value)
{
	size_t i = 0;

	while (i < label->ntracked && !str_streq(label->tracked[i], value)) {
		i++;
	}
	return i;
}

/* With trackedValues, all others are one series: the number of series stays bounded. */
static const char *value_of(const struct kueue_conf_metrics_label *label, const struct api_meta *m)
{
	const char *value = raw_value(label, m);

	return label->ntracked == 0 || find_tracked(label, value) < label->ntracked
		       ? value
		       : KUEUE_CONF_METRICS_UNTRACKED;
}

static bool set_values(struct metric_labels *l, enum kueue_conf_metrics_kind kind, struct str key,
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
	/* Most updates of an object leave its labels alone, and its series go on. */
	if (old != NULL && old->len == text.len && memcmp(old->text, text.p, text.len) == 0) {
		return false;
	}
	new = xmalloc_zero(1, sizeof(*new));
	new->len = text.len;
	new->text = strbuf_steal(&text, NULL);
	strmap_set(l->values[kind], key, new);
	return true;
}

static bool show(struct metric_labels *l, struct str key, const struct api_meta *m)
{
	bool before = strmap_has(l->shown, key);
	bool now = m != NULL && selector_match(&l->conf->of_local_queues, &m->labels);

	if (now) {
		strmap_set(l->shown, key, l);
	} else {
		(void)strmap_remove(l->shown, key);
	}
	/* Series of a LocalQueue that is not selected any more are to go. */
	return before && !now;
}

bool metric_labels_seen(struct metric_labels *l, enum kueue_conf_metrics_kind kind, struct str key,
			const struct api_meta *m)
{
	bool other = m == NULL;

	if (kind == KUEUE_CONF_METRICS_LOCAL_QUEUE && l->shown != NULL) {
		other |= show(l, key, m);
	}
	if (l->n[kind] > 0 && m == NULL) {
		(void)strmap_remove(l->values[kind], key);
	} else if (l->n[kind] > 0) {
		other |= set_values(l, kind, key, m);
	}
	return other;
}

/* --- Workloads ---------------------------------------------------------------------------------*/

/* The numeral of a sort has one digit for each label: the place of its value. */
static size_t digits(const struct kueue_conf_metrics_label *label)
{
	return label->kind == KUEUE_CONF_METRICS_WORKLOAD ? label->ntracked + 1 : 1;
}

size_t metric_labels_sorts(const struct metric_labels *l)
{
	size_t n = 1;

	for (size_t i = 0; i < l->conf->nlabels; i++) {
		n *= digits(&l->conf->labels[i]);
	}
	return n;
}

static size_t sort_of(const struct metric_labels *l, const struct api_meta *m)
{
	size_t sort = 0;

	for (size_t i = 0; i < l->conf->nlabels; i++) {
		const struct kueue_conf_metrics_label *label = &l->conf->labels[i];

		if (label->kind == KUEUE_CONF_METRICS_WORKLOAD) {
			sort = sort * digits(label) + find_tracked(label, raw_value(label, m));
		}
	}
	return sort;
}

void metric_labels_workload(struct metric_labels *l, struct str key, const struct api_meta *m)
{
	struct strmap *known = l->values[KUEUE_CONF_METRICS_WORKLOAD];
	struct values *v;

	if (l->n[KUEUE_CONF_METRICS_WORKLOAD] == 0) {
		return;
	}
	if (m == NULL) {
		(void)strmap_remove(known, key);
		return;
	}
	v = strmap_get(known, key);
	if (v == NULL) {
		v = xmalloc_zero(1, sizeof(*v));
		strmap_set(known, key, v);
	}
	v->sort = sort_of(l, m);
}

size_t metric_labels_sort(const struct metric_labels *l, struct str key)
{
	const struct values *v = l->n[KUEUE_CONF_METRICS_WORKLOAD] == 0
					 ? NULL
					 : strmap_get(l->values[KUEUE_CONF_METRICS_WORKLOAD], key);

	/* The last sort: every label has an untracked value. */
	return v == NULL ? metric_labels_sorts(l) - 1 : v->sort;
}

size_t metric_labels_sort_values(const struct metric_labels *l, size_t sort, const char **ret)
{
	size_t n = l->n[KUEUE_CONF_METRICS_WORKLOAD], at = n;

	for (size_t i = l->conf->nlabels; i > 0; i--) {
		const struct kueue_conf_metrics_label *label = &l->conf->labels[i - 1];
		size_t digit = sort % digits(label);

		if (label->kind == KUEUE_CONF_METRICS_WORKLOAD) {
			ret[--at] = digit < label->ntracked ? label->tracked[digit]
							    : KUEUE_CONF_METRICS_UNTRACKED;
			sort /= digits(label);
		}
	}
	return n;
}

bool metric_labels_shows(const struct metric_labels *l, struct str key)
{
	return l->shown == NULL || strmap_has(l->shown, key);
}
