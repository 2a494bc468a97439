/* The store: order, history, past states. Compared with a recording of every state. */
#include "lib/unit.h"

#include <stdio.h>
#include <string.h>

#include "apiserver/store/bucket.h"
#include "apiserver/store/object.h"
#include "base/attrs.h"
#include "base/rng.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"

#define NAMES 700
#define STEPS 3000
#define RING 500

static struct object *make(unsigned name, int64_t rv)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct jdoc *doc = NULL;
	struct object *o;

	strbuf_printf(&text, "{\"metadata\":{\"name\":\"n%04u\"},\"kind\":\"K\"}", name);
	assert_int_equal(jdoc_parse(strbuf_str(&text), &doc, NULL), 0);
	object_normalise(&doc, rv);
	o = object_create(doc, rv, NULL);
	jdoc_destroy(doc);
	return o;
}

static unsigned index_of(struct str name)
{
	uint64_t n = 0;

	assert_true(str_to_u64((struct str){ name.p + 1, name.len - 1 }, &n));
	return (unsigned)n;
}

/* versions[n]: of name n now, 0: absent. */
static void check_state(const struct bucket *b, int64_t rv, const int64_t *versions)
{
	struct bucket_walk w;
	unsigned next = 0;
	struct object *o;

	assert_true(bucket_walk_init(&w, b, rv, STR_LIT(""), false));
	while ((o = bucket_walk_next(&w)) != NULL) {
		unsigned n = index_of(o->name);

		for (; next < n; next++) {
			assert_int_equal(versions[next], 0);
		}
		assert_int_equal(versions[n], o->rv);
		next = n + 1;
	}
	for (; next < NAMES; next++) {
		assert_int_equal(versions[next], 0);
	}
	bucket_walk_finish(&w);
}

static void test_history(void **state)
{
	static int64_t versions[NAMES], then[NAMES];
	struct bucket b;
	struct rng rng;
	int64_t mark = 0;

	(void)state;
	memset(versions, 0, sizeof(versions));
	rng_init(&rng, 7);
	bucket_init(&b, RING);
	for (int64_t rv = 1; rv <= STEPS; rv++) {
		unsigned n = (unsigned)rng_below(&rng, NAMES);

		if (versions[n] != 0 && rng_below(&rng, 3) == 0) {
			char key[16];

			snprintf(key, sizeof(key), "n%04u", n);
			bucket_remove(&b, str_of(key), rv);
			versions[n] = 0;
		} else {
			struct object *o = make(n, rv);

			bucket_put(&b, o);
			object_unref(o);
			versions[n] = rv;
		}
		if (rv % 100 == 50) {
			mark = rv;
			memcpy(then, versions, sizeof(then));
		}
		if (rv % 100 == 99) {
			check_state(&b, -1, versions);
			check_state(&b, mark, then);
		}
	}
	assert_int_equal(b.ring_n, RING);
	assert_int_equal(b.compacted, STEPS - RING);
	bucket_compact(&b, STEPS - 1);
	assert_int_equal(b.ring_n, 1);
	assert_int_equal(bucket_after(&b, STEPS - 1), 0);
	assert_int_equal(bucket_after(&b, STEPS), 1);
	bucket_finish(&b);
}

static void test_object_text(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;
	struct object *o = make(1, 42);

	(void)state;
	object_append_at(o, 1234567, &out);
	assert_string_equal(out.p, "{\"kind\":\"K\",\"metadata\":{\"name\":\"n0001\","
				   "\"resourceVersion\":\"1234567\"}}");
	assert_true(str_eq_c(o->key, "n0001"));
	object_unref(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_history),
		cmocka_unit_test(test_object_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
