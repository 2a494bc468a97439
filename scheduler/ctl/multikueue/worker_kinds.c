#include "scheduler/ctl/multikueue/worker_kinds.h"

#include "base/arena.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "kube/rest.h"
#include "net/http.h"
#include "process/flags.h"

int worker_kinds_parse(const struct flags_list *names, struct arena *arena,
		       struct custom_kinds *ret, struct err *err)
{
	struct custom_kind *v = arena_zero(arena, FLAGS_LIST_MAX, sizeof(*v));
	size_t n = 0;

	for (; names->v[n] != NULL; n++) {
		if (custom_kinds_parse(names->v[n], arena, &v[n], err) < 0) {
			return err_wrap(err, "--external-framework");
		}
	}
	*ret = (struct custom_kinds){ v, n };
	return 0;
}

int worker_kinds_ask(struct transport *t, const struct custom_kind *k, int64_t timeout_ns,
		     char **ret_plural, struct err *err)
{
	CLEANUP(xmalloc_freep) char *path = xmalloc_printf("/apis/%s", k->api_version);
	CLEANUP(jdoc_destroyp) struct jdoc *list = NULL;
	const char *plural = NULL, *why;
	int r = rest_call(t, HTTP_GET, path, NULL, (struct str){ NULL, 0 }, timeout_ns, &list, err);

	if (r < 0 && r != -ERR_NOT_FOUND) {
		return err_wrap(err, "%s", k->name);
	}
	why = custom_kinds_problem(k, list, &plural);
	if (why != NULL) {
		return err_set(err, ERR_NOT_FOUND, "%s %s", k->name, why);
	}
	*ret_plural = xmalloc_dup(plural);
	return 0;
}
