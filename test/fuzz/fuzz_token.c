/* Texts in the annotation that holds the token: those that can be read stay the same when they are
 * written and read again, and the others count as a token that was lost. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "scheduler/orchestrate/replica.h"
#include "scheduler/orchestrate/token.h"

#define NOW INT64_C(1800000000000000000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT, again = STRBUF_INIT;
	struct token t, back;
	struct token_room room;

	if (token_parse((struct str){ (const char *)data, size }, NOW, arena, &t, NULL) < 0) {
		assert(t.phase == TOKEN_FREE && t.lost_at == NOW && t.n == 0 && t.epoch == 0);
	}
	assert(t.n <= TOKEN_MAX_ATTEMPTS);
	assert((t.phase == TOKEN_FREE) == (t.holder == NULL));
	token_format(&t, &text);
	if (text.len > TOKEN_MAX_BYTES) {
		return 0; /* names of clusters that no cluster can have */
	}
	assert(token_parse(strbuf_str(&text), NOW, arena, &back, NULL) == 0);
	token_format(&back, &again);
	assert(str_eq(strbuf_str(&text), strbuf_str(&again)));
	if (t.phase != TOKEN_FREE) {
		token_end(&t, TOKEN_TIMEOUT, NOW, size, &room);
		assert(t.n > 0 && t.n <= TOKEN_MAX_ATTEMPTS);
	}
	return 0;
}
