#include "lib/decode_fixture.h"

#include "lib/unit.h"

#include "base/arena.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "enc/decode.h"

static struct arena *arena;

int decode_fixture_open(void **state)
{
	(void)state;
	arena = arena_create(0);
	return 0;
}

int decode_fixture_close(void **state)
{
	(void)state;
	arena_destroy(arena);
	return 0;
}

static struct str quoted(const char *text)
{
	char *copy = arena_dup_n(arena, text, strlen(text));

	for (char *p = copy; *p != '\0'; p++) {
		*p = *p == '\'' ? '"' : *p;
	}
	return str_of(copy);
}

void decode_fixture(const struct field_table *t, const char *text, void *obj)
{
	struct err err = ERR_INIT;

	if (decode_text(t, quoted(text), obj, arena, &err) < 0) {
		fail_msg("%s", err.text);
	}
}

void decode_fixture_fails(const struct field_table *t, const char *text, const char *want)
{
	void *obj CLEANUP(xmalloc_freep) = xmalloc(t->size);
	struct err err = ERR_INIT;

	assert_int_equal(decode_text(t, quoted(text), obj, arena, &err), -ERR_INVALID);
	assert_string_equal(err.text, want);
}
