#include "scheduler/workloads/owners/owner_write.h"

#include "base/attrs.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "scheduler/workloads/owners/job_podset.h"

bool owner_write_add_template(bool pods, const struct jdoc *owner, struct strbuf *body)
{
	CLEANUP(jdoc_destroyp) struct jdoc *template_ = NULL;

	if (pods) {
		if (jdoc_kind(jdoc_get(owner, "spec")) != JDOC_OBJECT) {
			return false;
		}
		strbuf_add_c(body, "{\"spec\":");
		jdoc_format(jdoc_get(owner, "spec"), body);
		strbuf_add_ch(body, '}');
		return true;
	}
	template_ = job_podset_template(owner);
	if (template_ == NULL) {
		return false;
	}
	jdoc_format(template_, body);
	return true;
}
