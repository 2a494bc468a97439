#include "kube/list_page.h"

#include "base/err.h"

static int cut_items(struct str items, list_page_fn fn, void *ctx, size_t *ret_n, struct err *err)
{
	struct cut c;
	struct str item;
	size_t n = 0;

	cut_init(&c, items);
	if (!cut_open(&c, '[')) {
		/* Go encodes a nil slice as null. */
		return str_eq_c(items, "null")
			       ? 0
			       : err_set(err, ERR_INVALID, "list: items: not an array");
	}
	while (cut_item(&c, &item)) {
		struct cut_meta meta;

		if (++n > LIST_PAGE_MAX_ITEMS) {
			return err_set(err, ERR_INVALID, "list: items: more than %d",
				       LIST_PAGE_MAX_ITEMS);
		}
		/* An item without a name has no key; a broken item does not stop the others. */
		if (cut_meta(item, &meta) && meta.name.len > 0) {
			fn(ctx, item, &meta);
		}
	}
	if (c.failed) {
		return err_set(err, ERR_INVALID, "list: items[%zu]: broken JSON", n);
	}
	*ret_n = n;
	return 0;
}

static bool cut_metadata(struct str metadata, struct list_page *page)
{
	struct cut c;
	struct str key, value;

	cut_init(&c, metadata);
	if (!cut_open(&c, '{')) {
		return false;
	}
	while (cut_member(&c, &key, &value)) {
		if (str_eq_c(key, "resourceVersion")) {
			page->resource_version = cut_string(value);
		} else if (str_eq_c(key, "continue")) {
			page->continue_ = cut_string(value);
		}
	}
	return !c.failed;
}

int list_page_cut(struct str body, list_page_fn fn, void *ctx, struct list_page *ret,
		  struct err *err)
{
	struct list_page page = { { NULL, 0 }, { NULL, 0 }, 0 };
	struct str key, value, items = { NULL, 0 }, metadata = { NULL, 0 };
	struct cut c;
	int r;

	/* The order of the members of a list is not fixed, so they are found first and read
	 * afterwards. */
	cut_init(&c, body);
	if (!cut_open(&c, '{')) {
		return err_set(err, ERR_INVALID, "list: not an object");
	}
	while (cut_member(&c, &key, &value)) {
		if (str_eq_c(key, "items")) {
			items = value;
		} else if (str_eq_c(key, "metadata")) {
			metadata = value;
		}
	}
	if (!cut_at_end(&c)) {
		return err_set(err, ERR_INVALID, "list: broken JSON");
	}
	if (!cut_metadata(metadata, &page)) {
		return err_set(err, ERR_INVALID, "list: metadata: missing or broken");
	}
	if (items.p == NULL) {
		return err_set(err, ERR_INVALID, "list: items: missing");
	}
	r = cut_items(items, fn, ctx, &page.items, err);
	if (r < 0) {
		return r;
	}
	*ret = page;
	return 0;
}
