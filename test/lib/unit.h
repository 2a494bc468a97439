/* test/lib/unit.h: cmocka and its prerequisites in the order that it wants, for every unit test. */
#ifndef TEST_LIB_UNIT_H
#define TEST_LIB_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Names the row of a table that is tested next; when it fails, the runner prints the name above the
 * assertion. Bytes that are not printable become dots, so that a name stays on its line; NULL is
 * fine. */
static inline void unit_row(const char *name)
{
	char text[200];
	size_t n = 0;

	for (; name != NULL && name[n] != '\0' && n < sizeof(text) - 1; n++) {
		text[n] = (char)(name[n] >= ' ' && name[n] <= '~' ? name[n] : '.');
	}
	text[n] = '\0';
	print_message("# row %s\n", text);
}

/* The same for a row that has nothing to be called by: counted from 0, as in the source. */
static inline void unit_row_number(size_t i)
{
	print_message("# row %zu\n", i);
}

#endif
