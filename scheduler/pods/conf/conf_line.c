#include "scheduler/pods/conf/conf_line.h"

static bool is_word_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '_' || c == '.';
}

/* A '#' begins a comment at the start of the line or behind a blank. */
static struct str without_comment(struct str line)
{
	for (size_t i = 0; i < line.len; i++) {
		if (line.p[i] == '#' && (i == 0 || line.p[i - 1] == ' ' || line.p[i - 1] == '\t')) {
			line.len = i;
		}
	}
	return line;
}

static bool line_has_word(struct str line, struct str word)
{
	for (size_t i = 0; i + word.len <= line.len; i++) {
		size_t end = i + word.len;

		if (memcmp(line.p + i, word.p, word.len) == 0 &&
		    (i == 0 || !is_word_byte(line.p[i - 1])) &&
		    (end == line.len || !is_word_byte(line.p[end]))) {
			return true;
		}
	}
	return false;
}

unsigned conf_line_find(struct str text, struct str word)
{
	unsigned number = 0;

	if (word.len == 0) {
		return 0;
	}
	while (text.p != NULL) {
		struct str line = str_next(&text, '\n');

		number++;
		if (line.p != NULL && line_has_word(without_comment(line), word)) {
			return number;
		}
	}
	return 0;
}
