#include "demo/chart.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "play/mirror.h"
#include "process/file.h"

#define ROWS_MAX 16
#define STEPS_MAX 8 /* changes of state of one pod */
#define NODES_MAX 32

#define COLUMNS 2
#define MARGIN 16
#define PANEL_WIDTH 456
#define GAP 24
#define LABEL_WIDTH 66
#define PLOT_WIDTH (PANEL_WIDTH - LABEL_WIDTH)
#define TITLE_HEIGHT 26
#define ROW_HEIGHT 16
#define BAR_HEIGHT 11
#define AXIS_HEIGHT 34
#define LEGEND_HEIGHT 34

enum state { ABSENT, GATED, RESERVED, PUBLISHED, RUNS, STATE_COUNT_ };

static const struct {
	const char *class, *meaning;
} states[STATE_COUNT_] = {
	[GATED] = { "gated", "gated: autoscalers ignore it" },
	[RESERVED] = { "reserved", "has quota, gate is off" },
	[PUBLISHED] = { "published", "Unschedulable: autoscalers buy a node" },
	[RUNS] = { "runs", "has a node" },
};

struct row {
	const char *key; /* borrowed from the history */
	struct {
		int64_t at;
		enum state state;
	} v[STEPS_MAX];
	size_t n;
};

struct panel {
	const struct chart_panel *of;
	int64_t began, ended;
	struct row rows[ROWS_MAX];
	size_t n;
	struct {
		const char *key;
		int64_t at; /* when it was there */
	} nodes[NODES_MAX];
	size_t nnodes;
};

struct chart {
	struct panel panels[3 * COLUMNS];
	size_t n;
	int64_t longest; /* of all panels */
	struct strbuf out;
};

static enum state state_of(const struct jdoc *pod)
{
	const char *phase = jdoc_path_str(pod, "status.phase");

	if (pod == NULL || str_streq(phase, "Succeeded") || str_streq(phase, "Failed")) {
		return ABSENT;
	}
	if (jdoc_path_str(pod, "spec.nodeName") != NULL) {
		return RUNS;
	}
	if (mirror_pod_triggers_scale_up(pod)) {
		return PUBLISHED;
	}
	if (mirror_pod_is_gated(pod)) {
		return GATED;
	}
	return jdoc_get(jdoc_path(pod, "metadata.annotations"), "headgate.io/reserved") != NULL
		       ? RESERVED
		       : ABSENT;
}

static struct row *row_of(struct panel *p, const char *key)
{
	for (size_t i = 0; i < p->n; i++) {
		if (strcmp(p->rows[i].key, key) == 0) {
			return &p->rows[i];
		}
	}
	if (p->n == ROWS_MAX) {
		return NULL;
	}
	p->rows[p->n].key = key;
	return &p->rows[p->n++];
}

static void add_pod(struct panel *p, const struct mirror_record *r, const struct jdoc *pod)
{
	struct row *row = row_of(p, r->key);
	enum state s = state_of(pod);

	if (row == NULL || row->n == STEPS_MAX ||
	    s == (row->n == 0 ? ABSENT : row->v[row->n - 1].state)) {
		return;
	}
	if (p->began == 0) {
		p->began = r->at;
	}
	row->v[row->n].at = r->at;
	row->v[row->n++].state = s;
	p->ended = r->at > p->ended ? r->at : p->ended;
}

static void add_node(struct panel *p, const struct mirror_record *r)
{
	for (size_t i = 0; i < p->nnodes; i++) {
		if (strcmp(p->nodes[i].key, r->key) == 0) {
			return;
		}
	}
	if (p->nnodes < NODES_MAX) {
		p->nodes[p->nnodes].key = r->key;
		p->nodes[p->nnodes++].at = r->at;
	}
}

static void add_record(struct chart *c, const struct mirror_record *r)
{
	CLEANUP(jdoc_destroyp) struct jdoc *object = NULL;

	if (r->text != NULL && jdoc_parse(str_of(r->text), &object, NULL) < 0) {
		return;
	}
	for (size_t i = 0; i < c->n; i++) {
		struct panel *p = &c->panels[i];

		if (r->resource == MIRROR_PODS && str_has_prefix(str_of(r->key), p->of->prefix)) {
			add_pod(p, r, object);
		} else if (r->resource == MIRROR_NODES &&
			   str_has_prefix(str_of(r->key), p->of->pool)) {
			add_node(p, r);
		}
	}
}

static double x_of(const struct chart *c, const struct panel *p, int64_t at)
{
	int64_t since = at < p->began ? 0 : at - p->began;

	return LABEL_WIDTH + (double)since / (double)c->longest * (PLOT_WIDTH - 12);
}

static void draw_row(struct chart *c, const struct panel *p, const struct row *r, unsigned y)
{
	const char *slash = strrchr(r->key, '/');

	strbuf_printf(&c->out, "<text class=\"label\" x=\"%d\" y=\"%u\">%s</text>\n",
		      LABEL_WIDTH - 6, y + BAR_HEIGHT - 1, slash == NULL ? r->key : slash + 1);
	for (size_t i = 0; i < r->n; i++) {
		double from = x_of(c, p, r->v[i].at);
		double to = x_of(c, p, i + 1 < r->n ? r->v[i + 1].at : p->ended);

		if (r->v[i].state != ABSENT && to > from) {
			strbuf_printf(&c->out,
				      "<rect class=\"%s\" x=\"%.1f\" y=\"%u\" width=\"%.1f\" "
				      "height=\"%d\"/>\n",
				      states[r->v[i].state].class, from, y, to - from, BAR_HEIGHT);
		}
	}
}

/* How many nodes were added, and when; those that came almost at once are one number. */
static void draw_nodes(struct chart *c, const struct panel *p, unsigned y)
{
	size_t counted = 0;

	strbuf_printf(&c->out, "<text class=\"label\" x=\"%d\" y=\"%u\">nodes</text>\n",
		      LABEL_WIDTH - 6, y + BAR_HEIGHT - 1);
	for (size_t i = 0; i < p->nnodes; i++) {
		double x = x_of(c, p, p->nodes[i].at);

		if (i + 1 < p->nnodes && x_of(c, p, p->nodes[i + 1].at) - x < 12) {
			continue;
		}
		strbuf_printf(&c->out,
			      "<path class=\"node\" d=\"M%.1f %u v%d\"/>"
			      "<text class=\"count\" x=\"%.1f\" y=\"%u\">+%zu</text>\n",
			      x, y - 2, BAR_HEIGHT + 2, x + 3, y + BAR_HEIGHT - 1, i + 1 - counted);
		counted = i + 1;
	}
}

static void draw_axis(struct chart *c, unsigned y)
{
	double half = (double)(CLOCK_NS_PER_S / 2) / (double)c->longest * (PLOT_WIDTH - 12);

	strbuf_printf(&c->out, "<path class=\"axis\" d=\"M%d %u h%d\"/>\n", LABEL_WIDTH, y,
		      PLOT_WIDTH - 12);
	for (unsigned i = 0; i * half <= PLOT_WIDTH - 12; i++) {
		strbuf_printf(&c->out, "<path class=\"axis\" d=\"M%.1f %u v4\"/>\n",
			      LABEL_WIDTH + i * half, y);
		if (i % 2 == 0) {
			strbuf_printf(&c->out,
				      "<text class=\"tick\" x=\"%.1f\" y=\"%u\">%u s</text>\n",
				      LABEL_WIDTH + i * half, y + 16, i / 2);
		}
	}
}

static unsigned panel_height(const struct panel *p)
{
	return TITLE_HEIGHT + (unsigned)(p->n + 1) * ROW_HEIGHT + AXIS_HEIGHT;
}

static void draw_panel(struct chart *c, const struct panel *p, unsigned x, unsigned y)
{
	unsigned at = TITLE_HEIGHT;

	strbuf_printf(&c->out,
		      "<g transform=\"translate(%u %u)\">\n"
		      "<text class=\"title\" x=\"0\" y=\"14\">%s</text>\n"
		      "<text class=\"bought\" x=\"%d\" y=\"14\">%zu %s bought</text>\n",
		      x, y, p->of->title, PANEL_WIDTH - 12, p->nnodes,
		      p->nnodes == 1 ? "node" : "nodes");
	for (size_t i = 0; i < p->n; i++, at += ROW_HEIGHT) {
		draw_row(c, p, &p->rows[i], at);
	}
	draw_nodes(c, p, at);
	draw_axis(c, at + ROW_HEIGHT);
	strbuf_add_c(&c->out, "</g>\n");
}

static void draw_legend(struct chart *c, unsigned y)
{
	static const unsigned widths[STATE_COUNT_] = { 0, 218, 186, 284, 0 };
	unsigned x = MARGIN + LABEL_WIDTH;

	for (unsigned i = GATED; i < STATE_COUNT_; i++) {
		strbuf_printf(&c->out,
			      "<rect class=\"%s\" x=\"%u\" y=\"%u\" width=\"14\" height=\"%d\"/>"
			      "<text x=\"%u\" y=\"%u\">%s</text>\n",
			      states[i].class, x, y, BAR_HEIGHT, x + 20, y + BAR_HEIGHT - 1,
			      states[i].meaning);
		x += widths[i];
	}
}

/* The picture paints its own background, so that it is readable on any page; a dark one where the
 * reader prefers that. */
static void begin(struct chart *c, unsigned width, unsigned height)
{
	strbuf_printf(
		&c->out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %u %u\" width=\"%u\" "
		"height=\"%u\" role=\"img\">\n"
		"<!-- ./run demo draws this picture: build/demo/timeline.svg -->\n"
		"<title>Pods over time, with the gate and without</title>\n"
		"<style>\n"
		"text { font: 12px sans-serif; fill: #1f2328 }\n"
		".title { font-weight: bold }\n"
		".bought, .label { text-anchor: end }\n"
		".tick { text-anchor: middle }\n"
		".page { fill: #ffffff }\n"
		".axis, .node { stroke: #656d76; fill: none }\n"
		".gated { fill: #c4cbd3 }\n"
		".reserved { fill: #0969da }\n"
		".published { fill: #e16f24 }\n"
		".runs { fill: #2da44e }\n"
		"@media (prefers-color-scheme: dark) {\n"
		"text { fill: #e6edf3 }\n"
		".page { fill: #0d1117 }\n"
		".axis, .node { stroke: #8d96a0 }\n"
		".gated { fill: #484f58 }\n"
		".reserved { fill: #58a6ff }\n"
		".published { fill: #f0883e }\n"
		".runs { fill: #3fb950 }\n"
		"}\n"
		"</style>\n"
		"<rect class=\"page\" width=\"%u\" height=\"%u\" rx=\"6\"/>\n",
		width, height, width, height, width, height);
}

static void draw(struct chart *c)
{
	unsigned heights[ARRAY_LEN(c->panels) / COLUMNS] = { 0 };
	unsigned y = MARGIN, total = 2 * MARGIN + LEGEND_HEIGHT;

	for (size_t i = 0; i < c->n; i++) {
		unsigned h = panel_height(&c->panels[i]);

		if (h > heights[i / COLUMNS]) {
			total += h - heights[i / COLUMNS];
			heights[i / COLUMNS] = h;
		}
	}
	begin(c, 2 * MARGIN + COLUMNS * PANEL_WIDTH + GAP, total - MARGIN / 2);
	for (size_t i = 0; i < c->n; i++) {
		draw_panel(c, &c->panels[i], MARGIN + (unsigned)(i % COLUMNS) * (PANEL_WIDTH + GAP),
			   y);
		if (i % COLUMNS == COLUMNS - 1 || i + 1 == c->n) {
			y += heights[i / COLUMNS];
		}
	}
	draw_legend(c, y + LEGEND_HEIGHT / 3);
	strbuf_add_c(&c->out, "</svg>\n");
}

int chart_write(struct mirror *m, const struct chart_panel *panels, size_t npanels,
		const char *path, struct err *err)
{
	struct chart c = { .n = npanels, .longest = 1, .out = STRBUF_INIT };
	size_t n;
	const struct mirror_record *records = mirror_history(m, &n);
	int r;

	assert(npanels <= ARRAY_LEN(c.panels));
	for (size_t i = 0; i < npanels; i++) {
		c.panels[i].of = &panels[i];
	}
	for (size_t i = 0; i < n; i++) {
		add_record(&c, &records[i]);
	}
	for (size_t i = 0; i < npanels; i++) {
		int64_t length = c.panels[i].ended - c.panels[i].began;

		c.longest = length > c.longest ? length : c.longest;
	}
	draw(&c);
	r = file_write_atomic(path, strbuf_str(&c.out), 0644, err);
	strbuf_finish(&c.out);
	return r;
}
