/* test/lib/pods/res_fixture.h: amounts of resources for tests. */
#ifndef TEST_LIB_PODS_RES_FIXTURE_H
#define TEST_LIB_PODS_RES_FIXTURE_H

#include <stdint.h>

struct res;
struct res_names;

/* Sets one dimension; names: as in res_edit_begin. */
void res_fixture_set(struct res_names *names, struct res *r, unsigned dim, int64_t value);

#endif
