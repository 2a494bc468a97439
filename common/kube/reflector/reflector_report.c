#include "kube/reflector/reflector_report.h"

#include "api/meta/status.h"
#include "base/clock.h"
#include "base/err.h"
#include "kube/rest.h"
#include "obs/metric.h"
#include "process/log.h"

static const char *const names[REFLECTOR_REASON_COUNT_] = {
	[REFLECTOR_REASON_NONE] = "none",       [REFLECTOR_REASON_UNREACHABLE] = "unreachable",
	[REFLECTOR_REASON_TIMEOUT] = "timeout", [REFLECTOR_REASON_TOO_LARGE] = "too_large",
	[REFLECTOR_REASON_SERVER] = "server",   [REFLECTOR_REASON_REFUSED] = "refused",
	[REFLECTOR_REASON_GONE] = "gone",       [REFLECTOR_REASON_INVALID] = "invalid",
	[REFLECTOR_REASON_SILENT] = "silent",
};

void reflector_report_init(struct reflector_report *r, const char *resource,
			   struct metric_registry *registry, const struct clock *clock)
{
	static const char *const by_resource[] = { "resource", NULL };
	static const char *const by_reason[] = { "resource", "reason", NULL };
	const char *values[] = { resource, NULL };

	*r = (struct reflector_report){ .resource = resource,
					.clock = clock,
					.contact_at = CLOCK_NEVER };
	if (resource == NULL || registry == NULL) {
		return;
	}
	r->errors =
		metric_register(registry, "headgate_reflector_errors_total",
				"Failed lists and watches by reason", METRIC_COUNTER, by_reason);
	r->lists = metric_cell(metric_register(registry, "headgate_reflector_lists_total",
					       "Lists begun", METRIC_COUNTER, by_resource),
			       values);
	r->relists = metric_cell(metric_register(registry, "headgate_reflector_relists_total",
						 "Lists begun after the first was complete",
						 METRIC_COUNTER, by_resource),
				 values);
	r->watches = metric_cell(metric_register(registry, "headgate_reflector_watches_total",
						 "Watches opened, each restart included",
						 METRIC_COUNTER, by_resource),
				 values);
}

const char *reflector_report_reason(enum reflector_reason reason)
{
	return names[reason];
}

void reflector_report_list(struct reflector_report *r, bool again)
{
	if (r->lists != NULL) {
		metric_cell_add(r->lists, 1);
		metric_cell_add(r->relists, again ? 1 : 0);
	}
}

void reflector_report_watch(struct reflector_report *r)
{
	if (r->watches != NULL) {
		metric_cell_add(r->watches, 1);
	}
}

static void notify(const struct reflector_report *r, enum reflector_reason reason, int status,
		   const char *text)
{
	const struct reflector_health h = { reason, status, text };

	if (r->on_health != NULL) {
		r->on_health(r->ctx, &h);
	}
}

static void failed(struct reflector_report *r, enum reflector_reason reason, int status,
		   const char *detail)
{
	if (r->errors != NULL) {
		const char *values[] = { r->resource, names[reason], NULL };

		metric_cell_add(metric_cell(r->errors, values), 1);
	}
	/* Retries fail for the same reason again and again: only the first one is logged. */
	if (atomic_exchange(&r->reason, reason) != reason && r->resource != NULL) {
		log_warn("list or watch failed", LOG_STR("resource", r->resource),
			 LOG_STR("reason", names[reason]), LOG_STR("error", detail));
	}
	notify(r, reason, status, detail);
}

void reflector_report_failed(struct reflector_report *r, enum reflector_reason reason,
			     const char *detail)
{
	failed(r, reason, 0, detail);
}

/* The size comes first, because such an answer counts as cut (ERR_IO) as well. */
static enum reflector_reason reason_of(const struct http_result *result)
{
	if (result->too_large) {
		return REFLECTOR_REASON_TOO_LARGE;
	}
	if (result->error != 0 || result->status == 0) {
		return result->error == ERR_TIMEOUT ? REFLECTOR_REASON_TIMEOUT
						    : REFLECTOR_REASON_UNREACHABLE;
	}
	switch ((unsigned)status_to_err(result->status)) {
	case ERR_GONE:
		return REFLECTOR_REASON_GONE;
	case ERR_TIMEOUT:
		return REFLECTOR_REASON_TIMEOUT;
	case ERR_UNAVAILABLE:
		return REFLECTOR_REASON_SERVER;
	default:
		return REFLECTOR_REASON_REFUSED;
	}
}

void reflector_report_answer(struct reflector_report *r, const struct http_result *result)
{
	struct err err = ERR_INIT;

	(void)rest_result(result, &err);
	failed(r, reason_of(result), result->status, err.text);
}

void reflector_report_missing(const struct reflector_report *r)
{
	if (r->resource != NULL) {
		log_info("resource is not served or may not be listed, and counts as empty",
			 LOG_STR("resource", r->resource));
	}
}

void reflector_report_contact(struct reflector_report *r)
{
	atomic_store(&r->contact_at, clock_mono(r->clock));
	if (atomic_exchange(&r->reason, REFLECTOR_REASON_NONE) == REFLECTOR_REASON_NONE) {
		return;
	}
	if (r->resource != NULL) {
		log_info("list and watch work again", LOG_STR("resource", r->resource));
	}
	notify(r, REFLECTOR_REASON_NONE, 0, "");
}

int64_t reflector_report_silent_since(const struct reflector_report *r)
{
	return atomic_load(&r->reason) == REFLECTOR_REASON_NONE ? CLOCK_NEVER
								: atomic_load(&r->contact_at);
}
