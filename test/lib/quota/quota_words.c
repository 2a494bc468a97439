#include "lib/quota/quota_words.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "base/xmalloc.h"
#include "lib/unit.h"

/* Up to the end of the line, lines joined, comments cut off. */
static void split(struct quota_words *l, struct str line)
{
	char *p;

	l->text = xmalloc_dup_n(line.p, line.len);
	l->n = 0;
	for (p = l->text; *p != '\0';) {
		size_t blanks = strspn(p, " \t\n\\");

		if (blanks > 0) {
			memset(p, 0, blanks);
			p += blanks;
		}
		if (*p == '#') {
			*p = '\0';
		} else if (*p != '\0') {
			assert_true(l->n < QUOTA_WORDS_MAX);
			l->used[l->n] = false;
			l->v[l->n++] = p;
			p += strcspn(p, " \t\n\\");
		}
	}
}

bool quota_words_next(struct quota_words *l, const char **text)
{
	while (**text != '\0') {
		const char *end = strchrnul(*text, '\n');
		struct str line = { .p = *text };

		while (*end != '\0' && end > *text && end[-1] == '\\') {
			end = strchrnul(end + 1, '\n');
		}
		line.len = (size_t)(end - *text);
		*text = *end == '\0' ? end : end + 1;
		split(l, line);
		if (l->n > 0) {
			return true;
		}
		quota_words_finish(l);
	}
	return false;
}

void quota_words_finish(struct quota_words *l)
{
	free(l->text);
	l->text = NULL;
}

void quota_words_need(struct quota_words *l, size_t n)
{
	if (l->n < n) {
		fail_msg("%s: too few words", l->v[0]);
	}
	for (size_t i = 0; i < n; i++) {
		l->used[i] = true;
	}
}

void quota_words_end(const struct quota_words *l)
{
	for (size_t i = 0; i < l->n; i++) {
		if (!l->used[i]) {
			fail_msg("%s %s: not understood: %s", l->v[0], l->n > 1 ? l->v[1] : "",
				 l->v[i]);
		}
	}
}

const char *quota_words_get(struct quota_words *l, const char *key)
{
	size_t len = strlen(key);

	for (size_t i = 1; i < l->n; i++) {
		if (strncmp(l->v[i], key, len) == 0 && l->v[i][len] == '=') {
			l->used[i] = true;
			return l->v[i] + len + 1;
		}
	}
	return NULL;
}

bool quota_words_has(struct quota_words *l, const char *word)
{
	for (size_t i = 2; i < l->n; i++) {
		if (str_streq(l->v[i], word)) {
			l->used[i] = true;
			return true;
		}
	}
	return false;
}

bool quota_words_int(struct quota_words *l, const char *key, int64_t *ret)
{
	const char *text = quota_words_get(l, key);

	if (text == NULL) {
		return false;
	}
	if (!str_to_i64(str_of(text), ret)) {
		fail_msg("%s: not a number: %s", key, text);
	}
	return true;
}

unsigned quota_words_enum(struct quota_words *l, const char *key, const char *const *names,
			  unsigned absent)
{
	const char *text = quota_words_get(l, key);

	if (text == NULL) {
		return absent;
	}
	for (unsigned i = 0; names[i] != NULL; i++) {
		if (str_streq(names[i], text)) {
			return i;
		}
	}
	fail_msg("%s: unknown: %s", key, text);
	return absent;
}

/* Word i without "KIND:"; absent when it is something else. */
static struct str behind_kind(struct quota_words *l, size_t i, const char *kind)
{
	size_t len = strlen(kind);

	if (strncmp(l->v[i], kind, len) != 0 || l->v[i][len] != ':') {
		return (struct str){ .p = NULL };
	}
	l->used[i] = true;
	return str_of(l->v[i] + len + 1);
}

size_t quota_words_labels(struct quota_words *l, struct quota_model *q, const char *kind,
			  struct label *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++) {
		struct str rest = behind_kind(l, i, kind);

		if (rest.p != NULL) {
			ret[n].key = quota_name(q, str_next(&rest, '='));
			ret[n++].value = quota_name(q, rest);
		}
	}
	return n;
}

static uint8_t effect_of(struct str text)
{
	static const char *const names[] = { "NoSchedule", "PreferNoSchedule", "NoExecute" };

	for (uint8_t i = 0; i < ARRAY_LEN(names); i++) {
		if (str_eq_c(text, names[i])) {
			return i;
		}
	}
	fail_msg("not an effect: " STR_FMT, STR_ARG(text));
	return 0;
}

size_t quota_words_taints(struct quota_words *l, struct quota_model *q, struct taint *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++) {
		struct str rest = behind_kind(l, i, "taint"), pair;

		if (rest.p != NULL) {
			pair = str_next(&rest, ':');
			ret[n].key = quota_name(q, str_next(&pair, '='));
			ret[n].value = quota_name(q, pair);
			ret[n++].effect = effect_of(rest);
		}
	}
	return n;
}

size_t quota_words_tolerations(struct quota_words *l, struct quota_model *q, struct toleration *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++) {
		struct str rest = behind_kind(l, i, "toleration"), pair;
		struct toleration t = { .value = "" };

		if (rest.p == NULL) {
			continue;
		}
		pair = str_next(&rest, ':');
		t.key = quota_name(q, str_next(&pair, '='));
		t.exists = pair.p == NULL;
		t.value = quota_name(q, pair);
		t.any_effect = rest.p == NULL;
		t.effect = t.any_effect ? 0 : effect_of(rest);
		ret[n++] = t;
	}
	return n;
}

void quota_words_affinity(struct quota_words *l, struct quota_model *q, struct arena *arena,
			  struct podset *p)
{
	p->required = arena_zero(arena, l->n, sizeof(*p->required));
	for (size_t i = 0; i < l->n; i++) {
		struct str rest = behind_kind(l, i, "affinity"), value;
		struct match_expr *e;

		if (rest.p == NULL) {
			continue;
		}
		e = arena_zero(arena, 1, sizeof(*e));
		e->key = quota_name(q, str_next(&rest, '='));
		e->op = MATCH_IN;
		e->values = arena_zero(arena, rest.len + 1, sizeof(*e->values));
		for (value = str_next(&rest, ','); value.p != NULL; value = str_next(&rest, ',')) {
			e->values[e->nvalues++] = quota_name(q, value);
		}
		p->required[p->nrequired++] = (struct match_term){ .exprs = e, .nexprs = 1 };
		p->has_required = true;
	}
}
