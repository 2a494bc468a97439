/* scheduler/base/match_from_api.h: selectors, affinity terms, taints' effects and tolerations from
 * API objects to what base/match.h compares. Texts are interned in `names`, lists live in the
 * arena. -ERR_INVALID names the place below the list and the cause. Pure; owner of names. */
#ifndef SCHEDULER_BASE_MATCH_FROM_API_H
#define SCHEDULER_BASE_MATCH_FROM_API_H

#include "scheduler/base/match.h"

struct api_label_selector;
struct api_node_selector;
struct api_node_term;
struct api_toleration;
struct arena;
struct err;
struct field_map;
struct intern;

/* An interned copy; NULL counts as "". Fails when the table is full. */
int match_from_api_text(struct intern *names, const char *text, const char **ret, struct err *err);
/* nodeSelector, nodeLabels, labels; in the order of the map: by key. */
int match_from_api_selector(struct intern *names, const struct field_map *map, struct arena *arena,
			    struct label **ret, size_t *ret_n, struct err *err);
/* All requirements of a term, labels before fields. */
int match_from_api_term(struct intern *names, const struct api_node_term *term, struct arena *arena,
			struct match_term *ret, struct err *err);
/* Terms with requirements: a term without any matches no node, so leaving it out of the
 * alternatives changes nothing. */
int match_from_api_required(struct intern *names, const struct api_node_selector *sel,
			    struct arena *arena, struct match_term **ret, size_t *ret_n,
			    struct err *err);
/* All terms, without their matchFields, because Kueue matches flavors, which have no node names. */
int match_from_api_labels_only(struct intern *names, const struct api_node_selector *sel,
			       struct arena *arena, struct match_term **ret, size_t *ret_n,
			       struct err *err);
struct match_from_api_tolerations {
	struct toleration *v;
	size_t n;
};
/* A toleration with an unknown operator or effect tolerates nothing: it is left out. */
int match_from_api_tolerations(struct intern *names, const struct api_toleration *v, size_t n,
			       struct arena *arena, struct match_from_api_tolerations *ret,
			       struct err *err);
/* "NoSchedule", ... -> enum taint_effect; false: unknown. */
bool match_from_api_effect(const char *text, uint8_t *ret);
/* The other way round. */
const char *match_from_api_effect_name(uint8_t effect);
const char *match_from_api_operator_name(enum match_op op);
/* A label selector: matchLabels become In with one value. */
int match_from_api_label_selector(struct intern *names, const struct api_label_selector *sel,
				  struct arena *arena, struct match_expr **ret, size_t *ret_n,
				  struct err *err);

#endif
