#include "scheduler/multikueue/manager/condition_text.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/strbuf.h"

void condition_text_message(const char *message, struct strbuf *out)
{
	size_t len = message == NULL ? 0 : strlen(message);
	size_t end = len < CONDITION_TEXT_MAX_MESSAGE ? len : CONDITION_TEXT_MAX_MESSAGE;

	/* Back to the beginning of the character that would be cut: bytes 10xxxxxx continue one. */
	while (end < len && end > 0 && ((unsigned char)message[end] & 0xc0) == 0x80) {
		end--;
	}
	strbuf_add(out, message == NULL ? "" : message, end);
}

static bool is_letter(char c)
{
	return isalpha((unsigned char)c) != 0;
}

static bool is_inner(char c)
{
	return isalnum((unsigned char)c) != 0 || c == '_' || c == ',' || c == ':';
}

const char *condition_text_reason(const char *reason)
{
	size_t n = reason == NULL ? 0 : strlen(reason);

	if (n == 0 || n > CONDITION_TEXT_MAX_REASON || !is_letter(reason[0]) ||
	    reason[n - 1] == ',' || reason[n - 1] == ':') {
		return CONDITION_TEXT_NO_REASON;
	}
	for (size_t i = 0; i < n; i++) {
		if (!is_inner(reason[i])) {
			return CONDITION_TEXT_NO_REASON;
		}
	}
	return reason;
}
