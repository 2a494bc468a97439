/* test/lib/decode_fixture.h: objects from JSON with strings in single quotes, for tests of
 * field tables. One arena per program, made by decode_fixture_open. */
#ifndef TEST_LIB_DECODE_FIXTURE_H
#define TEST_LIB_DECODE_FIXTURE_H

#include "enc/field.h"

int decode_fixture_open(void **state);  /* cmocka group set-up */
int decode_fixture_close(void **state); /* cmocka group tear-down */
/* Fails the test when the text does not decode. */
void decode_fixture(const struct field_table *t, const char *text, void *obj);
/* Fails the test unless decoding ends with just this message. */
void decode_fixture_fails(const struct field_table *t, const char *text, const char *want);

#endif
