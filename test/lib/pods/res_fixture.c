#include "lib/pods/res_fixture.h"

#include "scheduler/pods/values/resources.h"

void res_fixture_set(struct res_names *names, struct res *r, unsigned dim, int64_t value)
{
	struct res_edit e = res_edit_begin(names, r);

	res_edit_set(&e, dim, value);
	res_edit_end(&e);
}
