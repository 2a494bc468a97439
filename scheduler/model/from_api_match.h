/* scheduler/model/from_api_match.h: selectors, affinity terms, taints' effects and tolerations from
 * API objects to what model/match.h compares. Texts are interned in `names`, lists live in the
 * arena. -ERR_INVALID names the place below the list and the cause. Pure; owner of names. */
#ifndef SCHEDULER_MODEL_FROM_API_MATCH_H
#define SCHEDULER_MODEL_FROM_API_MATCH_H

#include "model/match.h"

struct api_label_selector;
struct api_node_selector;
struct api_node_term;
struct api_toleration;
struct arena;
struct err;
struct field_map;
struct intern;

/* An interned copy; NULL counts as "". Fails when the table is full. */
int from_api_match_text(struct intern *names, const char *text, const char **ret, struct err *err);
/* nodeSelector, nodeLabels, labels; in the order of the map: by key. */
int from_api_match_selector(struct intern *names, const struct field_map *map, struct arena *arena,
			    struct label **ret, size_t *ret_n, struct err *err);
/* All expressions, fields behind labels. */
int from_api_match_term(struct intern *names, const struct api_node_term *term, struct arena *arena,
			struct match_term *ret, struct err *err);
/* Terms that say anything: one without expressions matches no node, so leaving it out of an "any
 * of" changes nothing. */
int from_api_match_required(struct intern *names, const struct api_node_selector *sel,
			    struct arena *arena, struct match_term **ret, size_t *ret_n,
			    struct err *err);
/* All terms, without their matchFields: what a term says of labels (Kueue: flavors have no names of
 * nodes). */
int from_api_match_labels_only(struct intern *names, const struct api_node_selector *sel,
			       struct arena *arena, struct match_term **ret, size_t *ret_n,
			       struct err *err);
struct from_api_match_tolerations {
	struct toleration *v;
	size_t n;
};
/* An operator or effect that is not known tolerates nothing: it is left out. */
int from_api_match_tolerations(struct intern *names, const struct api_toleration *v, size_t n,
			       struct arena *arena, struct from_api_match_tolerations *ret,
			       struct err *err);
/* "NoSchedule", ... -> enum taint_effect; false: unknown. */
bool from_api_match_effect(const char *text, uint8_t *ret);
/* The other way round. */
const char *from_api_match_effect_name(uint8_t effect);
const char *from_api_match_operator_name(enum match_op op);
/* A label selector: matchLabels become In with one value. */
int from_api_match_label_selector(struct intern *names, const struct api_label_selector *sel,
				  struct arena *arena, struct match_expr **ret, size_t *ret_n,
				  struct err *err);

#endif
