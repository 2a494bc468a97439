/* Selectors of both grammars are refused or match within their limits. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "api/meta/selector.h"
#include "api/meta/validate.h"
#include "base/arena.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *get(const void *ctx, const char *key)
{
	(void)ctx;
	return key[0] == 'm' ? "x" : "";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct field_pair pairs[] = { { "a", "1" }, { "app", "web" } };
	static const struct field_map labels = { pairs, ARRAY_LEN(pairs) };
	struct arena *arena CLEANUP(arena_destroyp) = arena_create(0);
	const struct str text = { (const char *)data, size };
	struct selector s;

	if (selector_parse_labels(text, arena, &s, NULL) == 0) {
		assert(s.n <= SELECTOR_MAX_REQUIREMENTS);
		for (size_t i = 0; i < s.n; i++) {
			assert(validate_is_qualified_name(str_of(s.requirements[i].key)));
			assert(s.requirements[i].values.n <= SELECTOR_MAX_VALUES);
		}
		(void)selector_match(&s, &labels);
	}
	if (selector_parse_fields(text, arena, &s, NULL) == 0) {
		assert(s.n <= SELECTOR_MAX_REQUIREMENTS);
		(void)selector_match_with(&s, get, NULL);
	}
	return 0;
}
