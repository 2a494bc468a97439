/* test/lib/unit.h: what every unit test includes, in the order that cmocka wants. */
#ifndef TEST_LIB_UNIT_H
#define TEST_LIB_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
