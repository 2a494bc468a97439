/* scheduler/workloads/ingest/from_kueue_priv.h: steps shared by from_kueue*.c only. Pure.
 */
#ifndef SCHEDULER_WORKLOADS_INGEST_FROM_KUEUE_PRIV_H
#define SCHEDULER_WORKLOADS_INGEST_FROM_KUEUE_PRIV_H

#include "scheduler/workloads/ingest/from_kueue.h"

struct api_label_selector;
struct api_pod_spec;
struct api_resource_groups;
struct arena;
struct quantity;

/* Error: the object has no name, or the table of names has no room for those in it. */
int from_kueue_check_names(const struct quota_model *q, const char *name, struct err *err);
/* Sets *ret to the index of text in names, which end with NULL; to `absent` when it is NULL or "".
 */
int from_kueue_enum(const char *text, const char *const *names, unsigned absent, unsigned *ret,
		    struct err *err);
/* fairSharing.weight; NULL: 1. */
int from_kueue_weight(const struct quantity *weight, double *ret, struct err *err);

/* resourceGroups: check finds every error; fill copies them into a node that was cleared. */
int from_kueue_groups_check(const struct api_resource_groups *groups, struct err *err);
void from_kueue_groups_fill(struct quota_model *q, const struct api_resource_groups *groups,
			    struct quota_node *n);

/* The request of one pod of the template by the rules: fills p->request, and p->invalid when no
 * such pod could be created. All in the arena. */
void from_kueue_request(struct quota_model *q, const struct from_kueue_rules *rules,
			struct str namespace_, const struct api_pod_spec *spec, struct arena *arena,
			struct podset *p);

/* Summary of the LimitRanges of a namespace (Kueue: lowest max, highest min, first default). */
struct from_kueue_limits {
	bool found; /* of this type */
	struct field_resources max, min, default_, default_request;
};
enum from_kueue_limit_type { FROM_KUEUE_LIMIT_CONTAINER, FROM_KUEUE_LIMIT_POD };
void from_kueue_rules_summary(const struct from_kueue_rules *r, struct str namespace_,
			      enum from_kueue_limit_type type, struct arena *arena,
			      struct from_kueue_limits *ret);
/* Overhead of a RuntimeClass; NULL: none, or not known. */
const struct field_resources *from_kueue_rules_overhead(const struct from_kueue_rules *r,
							const char *runtime_class);
const struct kueue_conf_resources *from_kueue_rules_resources(const struct from_kueue_rules *r);

/* Of lists of amounts, sorted by name; results live in the arena: a, and the resources that only b
 * has. */
struct field_resources from_kueue_rules_first(struct arena *arena, struct field_resources a,
					      struct field_resources b);
/* The resources of both; of those in both lists the smaller amount, or with `largest` the larger.
 */
struct field_resources from_kueue_rules_extreme(struct arena *arena, struct field_resources a,
						struct field_resources b, bool largest);

#endif
