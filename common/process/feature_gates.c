#include "process/feature_gates.h"

#include "base/attrs.h"
#include "base/err.h"

#define NO_MEMBER SIZE_MAX

/* The gates of Volcano's daemons. Those without a member have no effect here, but a Deployment that
 * was written for Volcano has to start. */
static const struct row {
	const char *name;
	size_t offset; /* of a bool in struct feature_gates */
	const char *effect;
} rows[] = {
	{ "AllAlpha", NO_MEMBER, NULL },
	{ "AllBeta", NO_MEMBER, NULL },
	{ "CSIStorage", NO_MEMBER, NULL },
	{ "CronVolcanoJobSupport", NO_MEMBER, NULL },
	{ "InPlacePodVerticalScaling", NO_MEMBER, NULL },
	{ "PodDisruptionBudgetsSupport", NO_MEMBER, NULL },
	{ "PriorityClass", NO_MEMBER, NULL },
	{ "QueueCommandSync", NO_MEMBER, NULL },
	{ "ResourceTopology", NO_MEMBER, NULL },
	{ "SchedulingGatesQueueAdmission", offsetof(struct feature_gates, queue_admission),
	  "Pods that opt in stay gated until their queue has quota for them; false removes all "
	  "gates "
	  "of Headgate" },
	{ "VolcanoJobSupport", NO_MEMBER, NULL },
	{ "WorkLoadSupport", NO_MEMBER, NULL },
};

static const struct row *find(struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (str_eq_c(name, rows[i].name)) {
			return &rows[i];
		}
	}
	return NULL;
}

static void note_ignored(struct flags_list *list, const char *name)
{
	for (size_t i = 0; i < list->n; i++) {
		if (str_streq(list->v[i], name)) {
			return;
		}
	}
	_Static_assert(ARRAY_LEN(rows) <= FLAGS_LIST_MAX, "each gate has a place");
	list->v[list->n++] = name;
}

int feature_gates_set(void *gates, const char *value, struct err *err)
{
	struct feature_gates *g = gates;
	struct str rest = str_of(value);

	while (rest.p != NULL) {
		struct str one = str_trim(str_next(&rest, ','));
		struct str state = one, name = str_trim(str_next(&state, '='));
		const struct row *row = find(name);
		bool on;

		if (one.len == 0) {
			continue;
		}
		if (row == NULL) {
			return err_set(err, ERR_INVALID, "unknown feature gate \"" STR_FMT "\"",
				       STR_ARG(name));
		}
		if (!flags_parse_bool(str_trim(state), &on)) {
			return err_set(err, ERR_INVALID, "%s is neither true nor false", row->name);
		}
		if (row->offset == NO_MEMBER) {
			note_ignored(&g->ignored, row->name);
		} else {
			*(bool *)((char *)g + row->offset) = on;
		}
	}
	return 0;
}

const char *feature_gates_at(size_t i, const char **ret_effect)
{
	if (i >= ARRAY_LEN(rows)) {
		return NULL;
	}
	*ret_effect = rows[i].effect;
	return rows[i].name;
}
