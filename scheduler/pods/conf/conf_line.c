#include "scheduler/pods/conf/conf_line.h"

static bool is_word_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '_' || c == '.';
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

/* The end of the next word at or behind from; 0: there is none. A '#' begins a comment at the start
 * of a line or behind a blank. */
static size_t find_word(struct str text, size_t from, struct str word)
{
	for (size_t i = from; word.len > 0 && i + word.len <= text.len; i++) {
		size_t end = i + word.len;

		if (text.p[i] == '#' && (i == 0 || is_blank(text.p[i - 1]))) {
			while (i + 1 < text.len && text.p[i + 1] != '\n') {
				i++;
			}
		} else if (memcmp(text.p + i, word.p, word.len) == 0 &&
			   (i == 0 || !is_word_byte(text.p[i - 1])) &&
			   (end == text.len || !is_word_byte(text.p[end]))) {
			return end;
		}
	}
	return 0;
}

/* The end of the n-th word from there on, or of the last one. */
static size_t find_words(struct str text, size_t from, struct str word, size_t n)
{
	for (size_t next = from; n > 0 && (next = find_word(text, from, word)) > 0; n--) {
		from = next;
	}
	return from;
}

/* Items of lists are found by the key that each of them has, and mostly first. */
unsigned conf_line_find(struct str text, struct str path, struct str word)
{
	struct str name = { NULL, 0 }, key = name;
	unsigned line = 1;
	size_t at = 0;
	int64_t index;

	while (path.len > 0) {
		struct str item = str_next(&path, '.');

		name = str_next(&item, '[');
		/* The key by which an item was found is not searched for again. */
		at = str_eq(name, key) ? at : find_words(text, at, name, 1);
		key = (struct str){ NULL, 0 };
		if (item.len > 0 && str_to_i64((struct str){ item.p, item.len - 1 }, &index)) {
			key = str_eq_c(name, "tiers") ? STR_LIT("plugins") : STR_LIT("name");
			at = find_words(text, at, key, (size_t)index + 1);
		}
	}
	if (!str_eq(word, name) && !str_eq(word, key)) {
		at = find_words(text, at, word, 1);
	}
	for (size_t i = 0; i < at; i++) {
		line += text.p[i] == '\n';
	}
	return at == 0 ? 0 : line;
}
