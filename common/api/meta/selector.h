/* common/api/meta/selector.h: label and field selectors, parsed once and matched often.
 * Text: `a=b,c==d,e!=f,g in (x,y),h notin (z),i,!j` for labels; `a=b,c!=d` for fields.
 * Limits: SELECTOR_MAX_BYTES of text, SELECTOR_MAX_REQUIREMENTS requirements, SELECTOR_MAX_VALUES
 * values in one. Everything parsed lives in the arena. Any thread. */
#ifndef COMMON_API_META_SELECTOR_H
#define COMMON_API_META_SELECTOR_H

#include <stdbool.h>

#include "base/str.h"
#include "enc/field.h"

#define SELECTOR_MAX_REQUIREMENTS 256
#define SELECTOR_MAX_VALUES 1024
#define SELECTOR_MAX_BYTES 65536 /* of text */

struct arena;
struct err;
struct jdoc;

/* metav1.LabelSelector. */
struct api_label_requirement {
	const char *key, *operator_;
	struct field_strs values;
};
struct api_label_selector {
	struct field_map match_labels;
	struct FIELD_LIST(struct api_label_requirement) match_expressions;
};
extern const struct field_table selector_fields;

enum selector_op {
	SELECTOR_IN,     /* also = and == */
	SELECTOR_NOT_IN, /* also !=; holds when the key is absent */
	SELECTOR_EXISTS,
	SELECTOR_NOT_EXISTS,
	SELECTOR_GT, /* integers; node affinity only */
	SELECTOR_LT
};
struct selector_requirement {
	const char *key;
	enum selector_op op;
	struct field_strs values;
};
struct selector { /* all requirements must hold; none: everything matches */
	const struct selector_requirement *requirements;
	size_t n;
	bool matches_none; /* matches nothing at all */
};

/* -ERR_INVALID names the error. Empty text selects everything. */
int selector_parse_labels(struct str text, struct arena *arena, struct selector *ret,
			  struct err *err);
/* Keys are paths (metadata.name); which ones exist is for the caller to check. */
int selector_parse_fields(struct str text, struct arena *arena, struct selector *ret,
			  struct err *err);
/* NULL selects nothing, an empty one everything (Kubernetes' rule). */
int selector_from_struct(const struct api_label_selector *ls, struct arena *arena,
			 struct selector *ret, struct err *err);

/* The same for a metav1.LabelSelector in JSON. Texts are copied into the arena. */
int selector_from_json(const struct jdoc *d, struct arena *arena, struct selector *ret,
		       struct err *err);

bool selector_match(const struct selector *s, const struct field_map *labels);
/* get returns the value of a key or NULL when it is absent; for fields without a value it returns
 * "", so that `spec.nodeName=` selects objects without one. */
typedef const char *(*selector_get_fn)(const void *ctx, const char *key);
bool selector_match_with(const struct selector *s, selector_get_fn get, const void *ctx);

#endif
