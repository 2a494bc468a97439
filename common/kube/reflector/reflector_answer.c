#include "kube/reflector/reflector_private.h"

#include "api/meta/status.h"
#include "base/clock.h"
#include "base/err.h"
#include "enc/json/cut.h"
#include "kube/list_page.h"
#include "kube/reflector/seen.h"
#include "kube/wakeup.h"

/* A stream that ends sooner than this without a frame has delivered nothing; a server (or proxy)
 * that ends more than a few of them in a row is not working. */
#define QUICK_END_NS CLOCK_NS_PER_S
#define QUICK_ENDS_MAX 3

/* ---- what consumers see ---- */

static void emit(struct reflector *r, enum reflector_event_kind kind, struct str key,
		 struct str object, int64_t version)
{
	const struct reflector_event e = {
		.kind = kind, .key = key, .object = object, .resource_version = version
	};

	atomic_fetch_add_explicit(&r->events, 1, memory_order_relaxed);
	atomic_store_explicit(&r->objects, seen_count(r->seen), memory_order_relaxed);
	r->opt.on_event(r->opt.ctx, &e);
}

static void emit_complete(struct reflector *r)
{
	const struct str none = { NULL, 0 };
	bool first = !atomic_exchange(&r->synced, true);

	emit(r, first ? REFLECTOR_SYNCED : REFLECTOR_RELISTED, none, none, r->position_n);
}

/* Everything stored when the refresh was requested has been delivered. */
static void end_refresh(struct reflector *r)
{
	const struct str none = { NULL, 0 };

	if (r->refreshing) {
		r->refreshing = false;
		r->probed_n = 0;
		wakeup_set(r->catch_up, CLOCK_NEVER);
		emit(r, REFLECTOR_REFRESHED, none, none, r->position_n);
	}
}

/* The deletion itself was missed, so neither the object nor the version of its deletion is
 * known. */
static void on_swept(void *ctx, struct str key)
{
	emit(ctx, REFLECTOR_DELETE, key, (struct str){ NULL, 0 }, 0);
}

static int64_t number_of(struct str version)
{
	int64_t n;

	return cut_int(version, &n) && n > 0 ? n : 0;
}

/* False: a broken escape; the text is empty then. */
static bool set_text(struct strbuf *to, struct str raw)
{
	strbuf_reset(to);
	return cut_unescape(raw, to);
}

static void set_position(struct reflector *r, struct str version)
{
	(void)set_text(&r->position, version);
	r->position_n = number_of(strbuf_str(&r->position));
}

static struct str make_key(struct reflector *r, const struct cut_meta *meta)
{
	strbuf_reset(&r->key);
	if (meta->namespace_.len > 0) {
		cut_unescape(meta->namespace_, &r->key);
		strbuf_add_ch(&r->key, '/');
	}
	cut_unescape(meta->name, &r->key);
	return strbuf_str(&r->key);
}

/* An item of a list. Versions are compared for equality alone: a server that was restored from a
 * backup lists objects with lower versions, and that is their present state. */
static void on_item(void *ctx, struct str object, const struct cut_meta *meta)
{
	struct reflector *r = ctx;
	struct str key = make_key(r, meta);
	int64_t version = number_of(meta->resource_version), known;
	bool same = seen_get(r->seen, key, &known) && known == version && version != 0;

	seen_set(r->seen, key, version, r->list_no);
	if (!same) {
		emit(r, REFLECTOR_UPSERT, key, object, version);
	}
}

/* A change from the stream. Versions only grow along a watch: one that is not newer than the
 * position has been delivered before. */
static void on_change(struct reflector *r, const struct watch_frame *f)
{
	int64_t version = number_of(f->meta.resource_version);
	struct str key = make_key(r, &f->meta);

	if (version != 0 && version <= r->position_n) {
		return;
	}
	if (f->type == WATCH_FRAME_DELETED) {
		/* The consumer does not have a key that is not known here. */
		if (seen_remove(r->seen, key)) {
			emit(r, REFLECTOR_DELETE, key, f->object, version);
		}
	} else {
		seen_set(r->seen, key, version, r->list_no);
		emit(r, REFLECTOR_UPSERT, key, f->object, version);
	}
	set_position(r, f->meta.resource_version);
}

/* Everything up to the position has been delivered, deletions included. A list in flight may be
 * older than the object or may have been read after its deletion: the mark of an earlier list lets
 * the sweep remove the object where the list does not show it, and a watch from that list's version
 * brings it back if it exists. */
bool reflector_answer_offer(struct reflector *r, struct str object)
{
	struct cut_meta meta;
	int64_t version, known = 0;
	struct str key;

	if (!cut_meta(object, &meta) || meta.name.len == 0) {
		return false;
	}
	version = number_of(meta.resource_version);
	key = make_key(r, &meta);
	if (version == 0 || version <= r->position_n ||
	    (seen_get(r->seen, key, &known) && version <= known)) {
		return false;
	}
	seen_set(r->seen, key, version, r->list_no - 1);
	emit(r, REFLECTOR_UPSERT, key, object, version);
	return true;
}

static enum reflector_event_id event_of_code(const struct reflector *r, int code)
{
	enum err_code err = status_to_err(code);

	if (err == ERR_GONE) {
		return EVENT_GONE;
	}
	if ((err == ERR_NOT_FOUND && r->opt.missing_ok) ||
	    (code == STATUS_FORBIDDEN && r->opt.forbidden_ok)) {
		return EVENT_ABSENT;
	}
	return err == ERR_TIMEOUT || err == ERR_UNAVAILABLE ? EVENT_FAILED : EVENT_REFUSED;
}

/* Ends the streaks of failures: the server has delivered something, or held a stream open. */
static void note_progress(struct reflector *r)
{
	backoff_reset(&r->backoff);
	r->gone_streak = 0;
	r->quick_ends = 0;
}

/* The stream has delivered everything up to its position: a refresh may be complete. */
static void note_position(struct reflector *r)
{
	if (r->probed_n != 0 && r->position_n >= r->probed_n) {
		end_refresh(r);
	}
}

static bool on_frame(void *ctx, const struct watch_frame *f)
{
	struct reflector_fetch *fetch = ctx;
	struct reflector *r = fetch->owner;

	if (f->type == WATCH_FRAME_ERROR) {
		/* A stream that has begun with 200 reports an error as a frame: a Status with the
		 * code that the answer would have had, mostly 410. */
		const struct http_result result = { .status = f->code == 0 ? STATUS_INVALID
									   : f->code };

		reflector_report_answer(&r->report, &result);
		fetch->verdict = event_of_code(r, f->code);
		return false;
	}
	fetch->had_frame = true;
	r->silent_streak = 0;
	note_progress(r);
	reflector_report_contact(&r->report);
	if (f->type == WATCH_FRAME_BOOKMARK) {
		r->has_bookmarks = true;
		/* Versions that are not numbers count as 0, and the last one is taken. */
		if (number_of(f->meta.resource_version) >= r->position_n) {
			set_position(r, f->meta.resource_version);
		}
	} else if (f->meta.name.len > 0) {
		on_change(r, f);
	}
	note_position(r);
	return true;
}

enum reflector_event_id reflector_answer_data(struct reflector_fetch *f, struct str bytes)
{
	struct err err = ERR_INIT;

	if (watch_frame_feed(&f->frames, bytes, on_frame, f, &err) < 0) {
		reflector_report_failed(&f->owner->report, REFLECTOR_REASON_INVALID, err.text);
		f->verdict = EVENT_REFUSED;
	}
	return f->verdict;
}

/* ---- the end of a request ---- */

static enum reflector_event_id judge_watch_end(struct reflector *r, const struct reflector_fetch *f)
{
	if (watch_frame_is_partial(&f->frames)) {
		reflector_report_failed(&r->report, REFLECTOR_REASON_UNREACHABLE,
					"the stream ended within a frame");
		return EVENT_FAILED;
	}
	if (f->had_frame) {
		return EVENT_ENDED;
	}
	if (clock_mono(r->opt.clock) - f->opened_at >= QUICK_END_NS) {
		note_progress(r);
		return EVENT_ENDED;
	}
	if (++r->quick_ends <= QUICK_ENDS_MAX) {
		return EVENT_ENDED;
	}
	reflector_report_failed(&r->report, REFLECTOR_REASON_UNREACHABLE,
				"streams end at once, without a frame");
	return EVENT_FAILED;
}

/* An open stream has been silent for longer than a bookmark takes. Resuming it costs one request.
 * If the next one is silent too, watches may not get through at all (or the server sends no
 * bookmarks and nothing changes): then a LIST is made, so that a consumer is never further behind
 * than two such times, at the cost of one LIST in them. */
enum reflector_event_id reflector_answer_silence(struct reflector *r)
{
	atomic_fetch_add(&r->cuts, 1);
	if (r->has_bookmarks) {
		reflector_report_failed(&r->report, REFLECTOR_REASON_SILENT,
					"an open stream sends neither changes nor bookmarks");
	}
	return ++r->silent_streak % 2 == 0 ? EVENT_SILENT_TWICE : EVENT_SILENT_ONCE;
}

static enum reflector_event_id judge_page(struct reflector *r, struct str body)
{
	struct list_page page;
	struct err err = ERR_INIT;

	if (list_page_cut(body, on_item, r, &page, &err) < 0) {
		reflector_report_failed(&r->report, REFLECTOR_REASON_INVALID, err.text);
		return EVENT_FAILED;
	}
	atomic_fetch_add(&r->pages, 1);
	page_size_answered(&r->page, body.len);
	/* Not the last page, although the token is empty now: the list starts again. */
	if (!set_text(&r->next, page.continue_)) {
		reflector_report_failed(&r->report, REFLECTOR_REASON_INVALID,
					"list: metadata.continue: broken");
		return EVENT_FAILED;
	}
	if (r->next.len > 0) {
		return EVENT_PAGE;
	}
	/* Only now: pages of a list that breaks off do not cover everything up to the version. */
	set_position(r, page.resource_version);
	return EVENT_LISTED;
}

static bool is_timeout(const struct http_result *result)
{
	return result->error == ERR_TIMEOUT ||
	       (result->error == 0 && status_to_err(result->status) == ERR_TIMEOUT);
}

/* The event for an unsuccessful answer. */
static enum reflector_event_id judge_failure(struct reflector *r, const struct reflector_fetch *f,
					     const struct http_result *result)
{
	bool smaller;

	if (f->is_watch && result->error == ERR_TIMEOUT) {
		return reflector_answer_silence(r);
	}
	if (result->error == 0 && event_of_code(r, result->status) == EVENT_ABSENT) {
		return EVENT_ABSENT; /* nothing has failed: reflector_answer_missing says it once */
	}
	reflector_report_answer(&r->report, result);
	if (f->is_watch && rest_is_version_ahead(result)) {
		/* Only a new LIST helps. */
		return EVENT_GONE;
	}
	/* A page that the server or the network cannot deliver in time is made smaller, too. */
	smaller = !f->is_watch && (result->too_large || is_timeout(result)) &&
		  page_size_shrink(&r->page);
	atomic_fetch_add(&r->pages, smaller ? 1 : 0);
	/* At once, since the server has answered. After a timeout the smaller page waits for the
	 * backoff. */
	if (smaller && result->too_large) {
		return EVENT_BULKY;
	}
	return result->error != 0 || result->status == 0 ? EVENT_FAILED
							 : event_of_code(r, result->status);
}

enum reflector_event_id reflector_answer_judge(struct reflector *r, const struct reflector_fetch *f,
					       const struct http_result *result)
{
	if (result->error == ERR_CANCELLED) {
		return EVENT_CLOSED;
	}
	if (result->error != 0 || !status_is_success(result->status)) {
		return judge_failure(r, f, result);
	}
	return f->is_watch ? judge_watch_end(r, f) : judge_page(r, result->body);
}

static void skip_item(void *ctx, struct str object, const struct cut_meta *meta)
{
	(void)ctx;
	(void)object;
	(void)meta;
}

bool reflector_answer_probe(struct reflector *r, const struct http_result *result)
{
	struct list_page page = { .items = 0 };

	if (result->error != 0 || !status_is_success(result->status) ||
	    list_page_cut(result->body, skip_item, NULL, &page, NULL) < 0) {
		return false;
	}
	r->probed_n = number_of(page.resource_version);
	note_position(r);
	return r->probed_n != 0 || !r->refreshing;
}

/* The order is the contract: what the list shows, what it no longer shows, then that it is
 * complete, then that a refresh is complete. */
void reflector_answer_listed(struct reflector *r)
{
	r->missing = false;
	seen_sweep(r->seen, r->list_no, on_swept, r);
	reflector_report_contact(&r->report);
	emit_complete(r);
	end_refresh(r);
}

/* A list with a number that no key has: all keys are swept. That this list is complete is reported
 * once, not with each retry. */
void reflector_answer_missing(struct reflector *r)
{
	r->position_n = 0;
	seen_sweep(r->seen, ++r->list_no, on_swept, r);
	reflector_report_contact(&r->report);
	if (!r->missing) {
		r->missing = true;
		reflector_report_missing(&r->report);
		emit_complete(r);
	}
	end_refresh(r);
}
