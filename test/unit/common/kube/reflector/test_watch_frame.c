#include "kube/reflector/watch_frame.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/err.h"

#define POD(name, rv) "{\"metadata\":{\"name\":\"" name "\",\"resourceVersion\":\"" rv "\"}}"
#define FRAME(type, object) "{\"type\":\"" type "\",\"object\":" object "}\n"

struct seen_frames {
	struct strbuf log; /* "ADDED a;" */
	unsigned stop_after;
	unsigned n;
};

static bool note(void *ctx, const struct watch_frame *f)
{
	static const char types[] = "AMDBE";
	struct seen_frames *s = ctx;

	strbuf_printf(&s->log, "%c " STR_FMT " " STR_FMT " %d;", types[f->type],
		      STR_ARG(f->meta.name), STR_ARG(f->meta.resource_version), f->code);
	return ++s->n != s->stop_after;
}

static int feed(struct watch_frame_splitter *w, struct seen_frames *s, const char *text)
{
	return watch_frame_feed(w, str_of(text), note, s, NULL);
}

static void test_types(void **state)
{
	struct watch_frame_splitter w;
	struct seen_frames s = { .log = STRBUF_INIT };
	(void)state;

	watch_frame_init(&w, 0);
	assert_int_equal(
		feed(&w, &s,
		     FRAME("ADDED", POD("a", "1")) FRAME("MODIFIED", POD("a", "2")) FRAME(
			     "DELETED",
			     POD("a", "3")) "\r\n\n"
					    "{\"object\":" POD(
						    "", "9") ",\"type\":\"BOOKMARK\"}"
							     "\r\n" FRAME("ERROR",
									  "{\"kind\":\"Status\","
									  "\"code\":410}")),
		0);
	assert_string_equal(s.log.p, "A a 1 0;M a 2 0;D a 3 0;B  9 0;E   410;");
	assert_false(watch_frame_is_partial(&w));
	watch_frame_finish(&w);
	strbuf_finish(&s.log);
}

/* The same frames come out wherever the stream is cut. */
static void test_every_cut(void **state)
{
	static const char text[] = FRAME("ADDED", POD("a", "1")) FRAME("MODIFIED", POD("b", "22"));
	(void)state;

	for (size_t cut = 0; cut < sizeof(text); cut++) {
		struct watch_frame_splitter w;
		struct seen_frames s = { .log = STRBUF_INIT };

		watch_frame_init(&w, 0);
		assert_int_equal(watch_frame_feed(&w, (struct str){ text, cut }, note, &s, NULL),
				 0);
		assert_int_equal(watch_frame_is_partial(&w),
				 cut > 0 && cut < sizeof(text) - 1 && text[cut - 1] != '\n');
		assert_int_equal(feed(&w, &s, text + cut), 0);
		assert_string_equal(s.log.p, "A a 1 0;M b 22 0;");
		watch_frame_finish(&w);
		strbuf_finish(&s.log);
	}
}

static void test_line_limit(void **state)
{
	static const char frame[] = FRAME("ADDED", POD("a", "1"));
	const size_t len = sizeof(frame) - 2; /* without NUL and line end */
	(void)state;

	for (int over = 0; over <= 1; over++) {
		for (int split = 0; split <= 1; split++) {
			struct watch_frame_splitter w;
			struct seen_frames s = { .log = STRBUF_INIT };
			int r;

			watch_frame_init(&w, len - (size_t)over);
			r = 0;
			if (split) {
				r = watch_frame_feed(&w, (struct str){ frame, 10 }, note, &s, NULL);
				assert_int_equal(r, 0);
			}
			r = feed(&w, &s, frame + (split ? 10 : 0));
			assert_int_equal(r, over ? -ERR_INVALID : 0);
			if (over) {
				/* Of no more use. */
				assert_int_equal(feed(&w, &s, "\n"), -ERR_INVALID);
			}
			watch_frame_finish(&w);
			strbuf_finish(&s.log);
		}
	}
}

static void test_broken(void **state)
{
	static const struct {
		const char *line, *error;
	} rows[] = {
		{ "[]", "watch frame: not an object" },
		{ "{\"type\":\"ADDED\",\"object\":{}", "watch frame: broken JSON" },
		{ "{\"type\":\"ADDED\",\"object\":{}} x", "watch frame: broken JSON" },
		{ "{\"type\":\"NEW\",\"object\":{\"metadata\":{}}}",
		  "watch frame: type: unknown \"NEW\"" },
		{ "{\"object\":{\"metadata\":{}}}", "watch frame: type: unknown \"\"" },
		{ "{\"type\":\"ADDED\"}", "watch frame: object: missing" },
		{ "{\"type\":\"ADDED\",\"object\":[]}", "watch frame: object: missing" },
		{ "{\"type\":\"ADDED\",\"object\":{}}", "watch frame: object.metadata: missing" },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err = ERR_INIT;
		struct watch_frame f;

		unit_row(rows[i].line);
		assert_int_equal(watch_frame_parse(str_of(rows[i].line), &f, &err), -ERR_INVALID);
		assert_string_equal(err.text, rows[i].error);
	}
}

static void test_stop(void **state)
{
	struct watch_frame_splitter w;
	struct seen_frames s = { .log = STRBUF_INIT, .stop_after = 1 };
	(void)state;

	watch_frame_init(&w, 0);
	assert_int_equal(feed(&w, &s, FRAME("ADDED", POD("a", "1")) FRAME("ADDED", POD("b", "2"))),
			 0);
	assert_int_equal(s.n, 1);
	watch_frame_finish(&w);
	strbuf_finish(&s.log);
}

static void test_status_codes(void **state)
{
	static const struct {
		const char *object;
		int code;
	} rows[] = {
		{ "{\"code\":410}", 410 },   { "{}", 0 },
		{ "{\"code\":\"410\"}", 0 }, { "{\"code\":99999}", 0 },
		{ "{\"code\":-1}", 0 },      { "{\"details\":{\"code\":1},\"code\":500}", 500 },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf line = STRBUF_INIT;
		struct watch_frame f;

		unit_row(rows[i].object);
		strbuf_printf(&line, "{\"type\":\"ERROR\",\"object\":%s}", rows[i].object);
		assert_int_equal(watch_frame_parse(strbuf_str(&line), &f, NULL), 0);
		assert_int_equal(f.code, rows[i].code);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_types),      cmocka_unit_test(test_every_cut),
		cmocka_unit_test(test_line_limit), cmocka_unit_test(test_broken),
		cmocka_unit_test(test_stop),       cmocka_unit_test(test_status_codes),
	};

	return cmocka_run_group_tests_name("watch_frame", tests, NULL, NULL);
}
