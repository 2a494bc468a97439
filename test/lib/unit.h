/* test/lib/unit.h: cmocka and its prerequisites in the order that it wants, for every unit test. */
#ifndef TEST_LIB_UNIT_H
#define TEST_LIB_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Names the row of a table that is tested next; when it fails, the runner prints the name above the
 * assertion. */
static inline void unit_row(const char *name)
{
	print_message("# row %s\n", name);
}

#endif
