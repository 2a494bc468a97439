#include "scheduler/multikueue/check_active.h"

#include "api/kueue/kueue.h"
#include "api/kueue/kueue_keys.h"
#include "base/str.h"
#include "base/strbuf.h"

#define KIND "MultiKueueConfig"

static bool names_a_config(const struct api_check_parameters *p)
{
	return p != NULL && str_streq(p->api_group, KUEUE_GROUP) && str_streq(p->kind, KIND) &&
	       p->name != NULL;
}

/* " [a b]" of the clusters in this state, as Go prints a list. */
static size_t list(const struct check_active_config *config,
		   const struct check_active_source *source, enum check_active_cluster state,
		   const char *title, struct strbuf *out)
{
	size_t n = 0;

	for (size_t i = 0; i < config->n; i++) {
		if (source->cluster(source->ctx, config->clusters[i]) == state) {
			strbuf_printf(out, "%s%s", n == 0 ? title : " ", config->clusters[i]);
			n++;
		}
	}
	if (n > 0) {
		strbuf_add_ch(out, ']');
	}
	return n;
}

const char *check_active(const struct api_check_parameters *parameters,
			 const struct check_active_source *source, const char **ret_reason,
			 struct strbuf *message)
{
	struct check_active_config config = { 0 };
	size_t missing, inactive;

	*ret_reason = "BadConfig";
	if (!names_a_config(parameters)) {
		strbuf_add_c(message, "spec.parameters does not name a " KIND " of " KUEUE_GROUP);
		return "False";
	}
	if (!source->config(source->ctx, parameters->name, &config)) {
		strbuf_printf(message, KIND " %s does not exist", parameters->name);
		return "False";
	}
	/* A check with some clusters stays active, so that one lost cluster does not stop the
	 * queues. The message names the others: an operator sees them nowhere else in one place. */
	missing = list(&config, source, CHECK_ACTIVE_MISSING, "Missing clusters: [", message);
	inactive = list(&config, source, CHECK_ACTIVE_INACTIVE,
			missing == 0 ? "Inactive clusters: [" : ", Inactive clusters: [", message);
	if (missing + inactive == config.n) {
		*ret_reason = "NoUsableClusters";
		return "False";
	}
	*ret_reason = missing + inactive == 0 ? "Active" : "SomeActiveClusters";
	if (missing + inactive == 0) {
		strbuf_add_c(message, "The admission check is active");
	}
	return "True";
}
