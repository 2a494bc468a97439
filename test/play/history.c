#include "play/history.h"

#include <string.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "collections/strmap.h"
#include "enc/json/jdoc.h"
#include "play/mirror.h"
#include "play/oracle.h"

/* A reaction for which the oracle allows one second takes so many seconds on a busy machine. */
#define SLOWNESS 24

static bool is_finished(const struct jdoc *pod)
{
	const char *phase = jdoc_path_str(pod, "status.phase");

	return str_streq(phase, "Succeeded") || str_streq(phase, "Failed");
}

static const enum oracle_resource oracle_kinds[MIRROR_RESOURCE_COUNT_] = {
	[MIRROR_PODS] = ORACLE_PODS,
	[MIRROR_QUEUES] = ORACLE_QUEUES,
	[MIRROR_PODGROUPS] = ORACLE_PODGROUPS,
};

static void check(struct oracle *o, int64_t now, struct history *ret, struct err *err)
{
	if (!ret->breach && oracle_check(o, now, err) < 0) {
		ret->breach = true;
	}
}

void history_examine(struct mirror *m, struct history *ret, struct err *err)
{
	struct oracle *o = oracle_create(true, true);
	int64_t now = 0;
	size_t n;
	const struct mirror_record *r = mirror_history(m, &n);

	*ret = (struct history){ .changes = n };
	for (size_t i = 0; i < n; i++) {
		CLEANUP(jdoc_destroyp) struct jdoc *object = NULL;

		if (r[i].resource == MIRROR_NODES || r[i].resource >= MIRROR_JOBS) {
			continue;
		}
		if (r[i].text != NULL && jdoc_parse(str_of(r[i].text), &object, NULL) < 0) {
			continue;
		}
		ret->gated_bound += r[i].resource == MIRROR_PODS && mirror_pod_is_gated(object) &&
				    jdoc_path_str(object, "spec.nodeName") != NULL;
		/* Streams of different resources may be seen out of order. */
		now = r[i].at / SLOWNESS > now ? r[i].at / SLOWNESS : now;
		check(o, now, ret, err); /* the state until now */
		oracle_set(o, oracle_kinds[r[i].resource], r[i].key, object, now);
		check(o, now, ret, err);
	}
	check(o, clock_mono(clock_real()) / SLOWNESS, ret, err);
	ret->published_peak = oracle_published_peak(o);
	oracle_destroy(o);
}

/* Whether a pod holds quota according to its object: no gate and not finished. */
static bool holds(const struct mirror_record *r)
{
	CLEANUP(jdoc_destroyp) struct jdoc *object = NULL;

	return r->text != NULL && jdoc_parse(str_of(r->text), &object, NULL) == 0 &&
	       !mirror_pod_is_gated(object) && !is_finished(object);
}

bool history_never_together(struct mirror *m, const char *a, const char *b)
{
	bool holds_a = false, holds_b = false, seen_a = false, seen_b = false;
	size_t n;
	const struct mirror_record *r = mirror_history(m, &n);

	for (size_t i = 0; i < n; i++) {
		if (r[i].resource != MIRROR_PODS) {
			continue;
		}
		if (strcmp(r[i].key, a) == 0) {
			holds_a = holds(&r[i]);
			seen_a |= holds_a;
		} else if (strcmp(r[i].key, b) == 0) {
			holds_b = holds(&r[i]);
			seen_b |= holds_b;
		}
		if (holds_a && holds_b) {
			return false;
		}
	}
	return seen_a && seen_b;
}

bool history_gang_at_once(struct mirror *m, const char *prefix, size_t members)
{
	size_t n, gated = 0, seen = 0;
	const struct mirror_record *r = mirror_history(m, &n);

	for (size_t i = 0; i < n; i++) {
		CLEANUP(jdoc_destroyp) struct jdoc *object = NULL;
		bool first = true, was_gated = false;

		if (r[i].resource != MIRROR_PODS ||
		    strncmp(r[i].key, prefix, strlen(prefix)) != 0 || r[i].text == NULL ||
		    jdoc_parse(str_of(r[i].text), &object, NULL) < 0) {
			continue;
		}
		for (size_t k = i; k-- > 0 && first;) {
			if (r[k].resource == MIRROR_PODS && strcmp(r[k].key, r[i].key) == 0 &&
			    r[k].text != NULL) {
				CLEANUP(jdoc_destroyp) struct jdoc *before = NULL;

				first = false;
				was_gated = jdoc_parse(str_of(r[k].text), &before, NULL) == 0 &&
					    mirror_pod_is_gated(before);
			}
		}
		seen += first;
		gated += (size_t)mirror_pod_is_gated(object) - (first ? 0 : (size_t)was_gated);
		if ((seen < members || gated > 0) &&
		    (mirror_pod_triggers_scale_up(object) ||
		     jdoc_path_str(object, "spec.nodeName") != NULL)) {
			return false;
		}
	}
	return seen == members;
}

static bool is_live(const struct jdoc *pod)
{
	return !is_finished(pod) && jdoc_path(pod, "metadata.deletionTimestamp") == NULL;
}

static bool record_is(const struct mirror_record *r, bool (*is)(const struct jdoc *pod))
{
	CLEANUP(jdoc_destroyp) struct jdoc *pod = NULL;

	return r->text != NULL && jdoc_parse(str_of(r->text), &pod, NULL) == 0 && is(pod);
}

static size_t most_at_once(struct mirror *m, const char *prefix, bool (*is)(const struct jdoc *pod))
{
	struct strmap *counted = strmap_create(NULL);
	size_t n, most = 0;
	const struct mirror_record *r = mirror_history(m, &n);

	for (size_t i = 0; i < n; i++) {
		if (r[i].resource != MIRROR_PODS || !str_has_prefix(str_of(r[i].key), prefix)) {
			continue;
		}
		if (record_is(&r[i], is)) {
			strmap_set(counted, str_of(r[i].key), counted);
		} else {
			(void)strmap_take(counted, str_of(r[i].key));
		}
		most = strmap_count(counted) > most ? strmap_count(counted) : most;
	}
	strmap_destroy(counted);
	return most;
}

size_t history_most_at_once(struct mirror *m, const char *prefix)
{
	return most_at_once(m, prefix, is_live);
}

size_t history_most_unschedulable(struct mirror *m, const char *prefix)
{
	return most_at_once(m, prefix, mirror_pod_triggers_scale_up);
}

size_t history_starts(struct mirror *m, const char *key)
{
	size_t n, starts = 0;
	bool was_live = false;
	const struct mirror_record *r = mirror_history(m, &n);

	for (size_t i = 0; i < n; i++) {
		bool is_it = r[i].resource == MIRROR_PODS && strcmp(r[i].key, key) == 0;

		if (is_it) {
			starts += !was_live && record_is(&r[i], is_live);
			was_live = record_is(&r[i], is_live);
		}
	}
	return starts;
}
