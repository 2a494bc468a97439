/* common/kube/page_size.h: how many objects one page of a LIST asks for. A page whose answer is
 * larger than the budget is asked for again with half the limit; after a page that used less than
 * a quarter of the budget the limit doubles. A page of one object has a larger budget: etcd takes
 * objects of 1.5 MB (some clusters set 8 MB), and escapes can make six bytes of JSON from one.
 *
 * Cost of objects made large on purpose: an answer that is dropped has shown that the next `limit`
 * objects hold more than the budget, and doubling takes an answered page for each step. So at most
 * as many pages are dropped as are answered plus nine, and a whole list reads a small multiple of
 * what is stored. Owner: one thread. */
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
