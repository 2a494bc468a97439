/* test/lib/compares.h: counts comparisons of texts, to show that a cost does not grow with the
 * square of a list. Included by one file of a program, where it takes the place of libc's strcmp.
 */
#ifndef TEST_LIB_COMPARES_H
#define TEST_LIB_COMPARES_H

#include <stddef.h>
#include <string.h>

static size_t compares_made;

/* As libc's, and counts the call. */
int strcmp(const char *a, const char *b)
{
	compares_made++;
	while (*a != '\0' && *a == *b) {
		a++;
		b++;
	}
	return (int)(unsigned char)*a - (int)(unsigned char)*b;
}

#endif
