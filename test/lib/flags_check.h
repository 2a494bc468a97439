/* test/lib/flags_check.h: checks that every table of flags must pass. */
#ifndef TEST_LIB_FLAGS_CHECK_H
#define TEST_LIB_FLAGS_CHECK_H

struct flags;

/* Names and letters are unique, each row with effect has a meaning that begins with a capital, ends
 * without a period and does not repeat the default, and fits the width of --help. Fails the running
 * test. */
void flags_check(const struct flags *f);

#endif
