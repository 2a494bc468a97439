#include "scheduler/ctl/multikueue/fleet_check_text.h"

#include <string.h>

#include "base/attrs.h"
#include "base/quote.h"
#include "base/strbuf.h"
#include "enc/json/json_out.h"
#include "scheduler/ctl/cli/columns.h"

#define WIDTH 80
#define TEXT_MIN 32       /* of the last column, whatever the names are */
#define MIDDLE_COLUMNS 24 /* "LocalQueues" and "unknown", with three blanks behind each */

/* The next line of the text, cut at a blank where there is one; moves *rest on. */
static struct str next_line(struct str *rest, size_t width)
{
	struct str line = *rest;
	size_t cut = width;

	if (line.len <= width) {
		*rest = (struct str){ NULL, 0 };
		return line;
	}
	while (cut > 0 && line.p[cut] != ' ') {
		cut--;
	}
	cut = cut == 0 ? width : cut;
	line.len = cut;
	rest->p += cut;
	rest->len -= cut;
	*rest = str_trim(*rest);
	return line;
}

static void add_finding(struct columns *table, const char *cluster, const struct worker_finding *f,
			size_t width)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct str rest;

	/* Much of it is what a worker has answered. */
	quote_plain(&text, str_of(f->text));
	rest = strbuf_str(&text);
	columns_add(table, "%s", cluster);
	columns_add(table, "%s", f->about);
	columns_add(table, "%s", worker_check_state_name(f->state));
	for (;;) {
		struct str line = next_line(&rest, width);

		columns_add(table, STR_FMT, STR_ARG(line));
		if (rest.p == NULL) {
			break;
		}
		columns_add(table, "%s", "");
		columns_add(table, "%s", "");
		columns_add(table, "%s", "");
	}
}

void fleet_check_text_print(const struct worker_check *checks, size_t n, FILE *to)
{
	static const char *const heads[] = { "CLUSTER", "CHECK", "STATE", "DETAILS", NULL };
	CLEANUP(columns_destroyp) struct columns *table = columns_create(heads);
	size_t longest = strlen(heads[0]), width;

	for (size_t i = 0; i < n; i++) {
		size_t len = strlen(checks[i].cluster);

		longest = len > longest ? len : longest;
	}
	width = WIDTH > longest + 3 + MIDDLE_COLUMNS + TEXT_MIN
			? WIDTH - longest - 3 - MIDDLE_COLUMNS
			: TEXT_MIN;
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < checks[i].findings.n; k++) {
			add_finding(table, checks[i].cluster, &checks[i].findings.v[k], width);
		}
	}
	columns_print(table, to);
}

void fleet_check_text_print_json(const struct worker_check *checks, size_t n, FILE *to)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct json_out o;

	json_out_init(&o, &text);
	json_out_object(&o);
	json_out_key(&o, "clusters");
	json_out_array(&o);
	for (size_t i = 0; i < n; i++) {
		json_out_object(&o);
		json_out_kv(&o, "name", checks[i].cluster);
		json_out_kv_bool(&o, "good", worker_check_is_good(&checks[i]));
		json_out_key(&o, "checks");
		json_out_array(&o);
		for (size_t k = 0; k < checks[i].findings.n; k++) {
			const struct worker_finding *f = &checks[i].findings.v[k];

			json_out_object(&o);
			json_out_kv(&o, "check", f->about);
			json_out_kv(&o, "state", worker_check_state_name(f->state));
			json_out_kv(&o, "details", f->text);
			json_out_object_end(&o);
		}
		json_out_array_end(&o);
		json_out_object_end(&o);
	}
	json_out_array_end(&o);
	json_out_object_end(&o);
	json_out_end(&o);
	fprintf(to, "%s\n", text.p);
}
