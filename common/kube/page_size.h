/* common/kube/page_size.h: the `limit` of the pages of a LIST. A page that exceeds the budget is
 * requested again with half the limit; after a page that used less than a quarter of the budget the
 * limit doubles. A page of one object has a larger budget: etcd accepts objects of 1.5 MB (some
 * clusters set 8 MB), and escapes can make six bytes of JSON from one.
 *
 * The cost of objects made large on purpose is bounded: a dropped answer shows that the next
 * `limit` objects exceed the budget, and each doubling needs an answered page. So the number of
 * dropped pages is at most that of answered pages plus nine, and a whole list reads a small
 * multiple of the stored bytes. Owner: one thread. */
#ifndef COMMON_KUBE_PAGE_SIZE_H
#define COMMON_KUBE_PAGE_SIZE_H

#include <stdbool.h>
#include <stddef.h>

#define PAGE_SIZE_MOST 500
#define PAGE_SIZE_BYTES ((size_t)16 << 20)
#define PAGE_SIZE_OBJECT_BYTES ((size_t)64 << 20)

struct page_size {
	unsigned limit, most;
};

void page_size_init(struct page_size *p, unsigned most); /* 0: PAGE_SIZE_MOST */
size_t page_size_budget(const struct page_size *p);      /* bytes of the next answer */
/* The answer was too large or took too long. False: the limit was 1 already. */
bool page_size_shrink(struct page_size *p);
void page_size_answered(struct page_size *p, size_t bytes);

#endif
