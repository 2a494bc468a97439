#include "collections/idset.h"

#include <string.h>

/* Index of the word, or where it belongs. */
static size_t find(const struct idset *s, uint32_t at)
{
	size_t from = 0, to = s->words.n;

	while (from < to) {
		size_t mid = from + (to - from) / 2;

		if (s->words.v[mid].at < at) {
			from = mid + 1;
		} else {
			to = mid;
		}
	}
	return from;
}

static uint64_t bit(uint32_t id)
{
	return (uint64_t)1 << (id % 64);
}

bool idset_has(const struct idset *s, uint32_t id)
{
	size_t i = find(s, id / 64);

	return i < s->words.n && s->words.v[i].at == id / 64 && (s->words.v[i].bits & bit(id)) != 0;
}

bool idset_add(struct idset *s, uint32_t id)
{
	struct idset_word word = { .bits = bit(id), .at = id / 64 };
	size_t i = find(s, word.at);

	if (i < s->words.n && s->words.v[i].at == word.at) {
		bool is_new = (s->words.v[i].bits & word.bits) == 0;

		s->words.v[i].bits |= word.bits;
		return is_new;
	}
	vec_push(&s->words, word);
	memmove(&s->words.v[i + 1], &s->words.v[i], (s->words.n - 1 - i) * sizeof(s->words.v[0]));
	s->words.v[i] = word;
	return true;
}

bool idset_remove(struct idset *s, uint32_t id)
{
	size_t i = find(s, id / 64);

	if (i == s->words.n || s->words.v[i].at != id / 64 || (s->words.v[i].bits & bit(id)) == 0) {
		return false;
	}
	s->words.v[i].bits &= ~bit(id);
	if (s->words.v[i].bits == 0) {
		memmove(&s->words.v[i], &s->words.v[i + 1],
			(s->words.n - i - 1) * sizeof(s->words.v[0]));
		s->words.n--;
	}
	return true;
}

bool idset_equal(const struct idset *a, const struct idset *b)
{
	if (a->words.n != b->words.n) {
		return false;
	}
	for (size_t i = 0; i < a->words.n; i++) {
		if (a->words.v[i].at != b->words.v[i].at ||
		    a->words.v[i].bits != b->words.v[i].bits) {
			return false;
		}
	}
	return true;
}

size_t idset_count(const struct idset *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->words.n; i++) {
		n += (size_t)__builtin_popcountll(s->words.v[i].bits);
	}
	return n;
}

void idset_finish(struct idset *s)
{
	vec_finish(&s->words);
}
